"""Test the static check: refusals, additions, and no execution."""

import builtins
import keyword
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tea
from tea.errors import BadComponent, TeaError
from tea.source.bundled import bundled_files, read_source
from tea.source.check import check_source, located
from tea.source.dynamic import DynamicManager
from tea.source.imports import VOCABULARY
from tea.source.text import SourceText

MANAGER = DynamicManager(lambda digest: False)

TOOL = '''"""A tool."""

from tea import tool


@tool
async def double(number: int) -> int:
    """Double a number."""
    return 2 * number
'''
AGENT = '''from tea import Agent, Context, Result, Task


class Worker(Agent):
    """Work."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work on a task."""
        BODY
        return Result(answer=task.text)
'''


def check(source: str | bytes, files: dict[str, str] | None = None, **options: object) -> SourceText:
    return MANAGER.check(source, files, **options)  # type: ignore[arg-type]


def refusal_of(source: str | bytes, files: dict[str, str] | None = None, **options: object) -> str:
    with pytest.raises(BadComponent) as caught:
        check(source, files, **options)
    assert len(str(caught.value)) <= 300
    assert str(caught.value).isprintable()
    return str(caught.value)


def agent(body: str, head: str = "") -> str:
    return head + AGENT.replace("BODY", body)


def test_a_complete_source_comes_back_as_it_is() -> None:
    found = check(TOOL)
    assert (found.kind, found.name, found.source, found.changes) == ("tool", "double", TOOL, ())
    assert found.description == "Double a number."


def test_a_component_is_found_wherever_it_stands_and_by_any_alias() -> None:
    source = (
        "import tea as t\nfrom tea import Environment as Base\n\n\ndef helper() -> int:\n    return 1\n\n\n"
        'class _Common(Base):\n    metadata = {"a": 1}\n\n\n'
        'class BrowserTab(_Common):\n    """A tab."""\n\n    async def state(self) -> int:\n        """Look."""\n'
        "        return helper()\n\n    @t.action\n    async def go(self) -> None:\n        "
        '"""Go."""\n\n\nLAST = (1, 2)\n'
    )
    found = check(source)
    assert (found.kind, found.name, found.metadata, found.evolvable) == ("environment", "browser_tab", {"a": 1}, True)


def test_what_is_declared_as_a_literal_is_known_without_running() -> None:
    source = TOOL.replace("@tool", '@tool(evolvable=False, metadata={"category": "sums"}, effects="reads")')
    found = check(source)
    assert (found.evolvable, found.metadata) == (False, {"category": "sums"})
    named = AGENT.replace("    async", '    name = "the_worker"\n\n    async').replace("BODY", "pass")
    assert check(named).name == "the_worker"


def test_missing_imports_are_written_in_after_the_docstring_and_the_future() -> None:
    source = (
        '"""Doc."""\nfrom __future__ import annotations\n\nLIMIT: Final = 3\n\n\n@tool\n'
        'async def look(when: datetime, path: "Path | None" = None) -> dict[str, Any]:\n    """Look."""\n'
        '    return {"at": json.dumps(os.path.join("a", urllib.parse.quote("b"))), "n": math.pi, "c": Counter("ab")}\n'
    )
    found = check(source)
    assert found.changes == (
        "import json",
        "import math",
        "import os",
        "import urllib.parse",
        "from collections import Counter",
        "from datetime import datetime",
        "from pathlib import Path",
        "from typing import Any, Final",
        "from tea import tool",
    )
    head = found.source.split("\n")
    assert head[:4] == ['"""Doc."""', "from __future__ import annotations", "", "import json"]
    assert check(found.source).source == found.source
    assert check(found.source).changes == ()


@pytest.mark.parametrize(
    ("use", "line"),
    [
        ("datetime.now().isoformat()", "from datetime import datetime"),
        ("datetime.datetime.now().isoformat()", "import datetime"),
        ("str(datetime.timedelta(1))", "import datetime"),
        ("str(copy([1]))", "from copy import copy"),
        ("str(copy.deepcopy([1]))", "import copy"),
        ("str(xml.etree.ElementTree)", "import xml.etree.ElementTree"),
    ],
)
def test_an_ambiguous_name_is_imported_as_it_is_used(use: str, line: str) -> None:
    source = TOOL.replace("2 * number", f"len({use})")
    assert check(source).changes == (line,)


def test_a_docstring_that_shares_its_line_stays_first() -> None:
    found = check('"""Doc."""; LIMIT = 3\n' + TOOL.partition("\n\n")[2] + "TEXT = json\n")
    assert found.source.startswith('"""Doc."""; \nimport json\nLIMIT = 3\n')


@pytest.mark.parametrize("head", ["#!/usr/bin/env python\n# words\n", '"""Doc."""; ', "", '"""Doc."""\n# a comment\n'])
def test_imports_find_their_place_after_any_beginning(head: str) -> None:
    source = head + "LIMIT = 3\n@tool\nasync def a() -> str:\n    '''A.'''\n    return json.dumps(LIMIT)\n"
    found = check(source)
    assert found.changes == ("import json", "from tea import tool")
    assert check(found.source).source == found.source


def test_names_that_nobody_defines_are_listed_in_one_line() -> None:
    said = refusal_of(TOOL.replace("2 * number", "fetch(number) + helper + json_"))
    assert "line 9: names are used and never defined: fetch, helper, json_." in said


def test_names_in_inner_scopes_are_not_taken_for_missing() -> None:
    body = """y = [x for x in [number]]
    def inner(json: int) -> int:
        nonlocal y
        class Local:
            math = json
            def get(self) -> int:
                return __class__ and self.math
        return Local().get()
    try:
        match number:
            case int() as found: return inner(found)
    except ValueError as error:
        del error
    return lambda os: os"""
    assert check(TOOL.replace("return 2 * number", body)).changes == ()


@pytest.mark.parametrize(
    "statement",
    [
        "print('hello')",
        "X = open('x')",
        "def compute(): return 1\nX = compute()",
        "for x in (1, 2): pass",
        "while True: pass",
        "if 1: X = 1",
        "with x: pass",
        "try: X = 1\nexcept ValueError: pass",
        "json.loads = 3",
        "X = {}\nX['a'] = 1",
        "X: int = int('3') if open('x') else 2",
        "def f(x=print(1)): pass",
        "def f(x: print(1)): pass",
        "@print\ndef f(): pass",
        "class A(print(1)): pass",
        "class M(type): pass\nclass A(metaclass=M): pass",
        "class A:\n    print(1)",
        "class A:\n    x = open('x')",
        "class A:\n    def __init_subclass__(cls): print(1)",
        "X = (lambda: print(1))()",
        "X = sorted([1], key=lambda x: print(x))",
        "X = sorted([1], key=lambda x: 1)",
        "def work(x): print(x)\nX = max([1], key=work)",
        "X = 10 ** 10 ** 10",
        "X = 10 ** 1000000000",
        "X = 1 << 1000000000",
        "X = 'a' * 10 ** 9",
        "X = [1] * 10000000",
        "X = sum(range(10 ** 12))",
        "X = sum(range(1000000000000))",
        "L = [0] * 1000\nX = [1 for a in L for b in L for c in L]",
        "from json import *",
        "import shutil\nX = shutil.copy('a', 'b')",
        "import os\nX = os.replace('a', 'b')",
        "from os import replace\nX = replace('a', 'b')",
        "class P:\n    def __init__(self): print(1)\nX = P()",
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    def __post_init__(self): print(1)\nX = P()",
        "X = f'{open(1)}'",
        "X = [open(y) for y in 'ab']",
        "del X",
        "assert X",
        "raise ValueError",
        "X = (Y := 1)",
        "def frozenset(x): print(1)\nX = frozenset(1)",
        "import sys\nX = sys.exit()",
        "sys.exit()",
        "X = max(['touch pwn'], key=os.system)",
        "X = max(['touch pwn'], **{'key': os.system})",
        "X = defaultdict(os.system)['a']",
        "X = defaultdict(partial(os.system, 'touch pwn'))['a']",
        "@dataclass\nclass A:\n    n: int\n    def __add__(self, other): print(1)\nX = A(1) + A(2)",
        "@dataclass\nclass A:\n    n: int\n    @property\n    def prop(self): print(1)\nX = A(1).prop",
        "@dataclass\nclass A:\n    n: int\n    __str__ = print\nX = f'{A(1)}'",
        "def f(): print(1)\n@dataclass\nclass A:\n    n: int = field(default_factory=f)\nX = A()",
        "@dataclass\nclass A:\n    n: int\nclass C(A(1)): pass",
        "class E(Enum):\n    A = 1\n    def __init__(self, x): print(x)",
        "def f(*x): print(x)\nclass E(Enum):\n    _generate_next_value_ = f\n    A = auto()",
        "class M:\n    def __init__(self, x): print(x)\nclass E(M, Enum):\n    A = 1",
        "class E(Enum):\n    def f(self): print(1)",
        "class E(Enum):\n    A = 1\n    @property\n    def p(self): print(1)\nX = E.A.p",
        "def f(cls): print(1)\nclass A:\n    __init_subclass__ = f\nclass C(A): pass",
        "from dataclasses import dataclass\ndef dataclass(f): print(1)\n@dataclass\nclass Q: pass",
        "from os import system as dataclass\n@dataclass\nclass Q: pass\nfrom dataclasses import dataclass",
        "class A:\n    frozenset = print\n    X = frozenset(1)",
        "class A:\n    @staticmethod\n    def get(x): print(x)\nX = A.get(1)",
        "class A:\n    @staticmethod\n    def setter(f): print(f)\n@A.setter\ndef g(): pass",
        "X = [frozenset('a') for frozenset in (print,)]",
        "X = type('C', (), {})",
        "def __getattr__(name): print(name)",
        "from pydantic import BaseModel\nclass Q(BaseModel):\n    model_config = {'alias_generator': print}",
        "X = [0 for a in range(100000) for b in range(100000)]",
        "X = [[0 for a in range(100000)] for b in range(100000)]",
        "A = [0]\nC = 10 ** 10\nX = A * C",
        "A = 10000000\nX = 10 ** A",
        "X = f'{1:9999999999}'",
        "X = '%9999999999d' % 1",
        "X = bytes(10000000000)",
    ],
)
def test_work_at_the_top_level_is_refused(statement: str) -> None:
    source = f"{TOOL}\nX: object = ()\nB = x = ()\n{statement}\n"
    assert "never defined" not in refusal_of(source)


@pytest.mark.parametrize(
    "statement",
    [
        "X: Final[int] = -3 ** 2",
        "WORD = re.compile(r'\\w+', re.ASCII)",
        "NAMES = frozenset('a b c'.split())",
        "LETTERS = str.maketrans({'a': 'b'})",
        "T = TypeVar('T', bound='Point')",
        "Json = None | bool | Sequence['Json'] | Mapping[str, 'Json']",
        "HANDLERS = {'a': lambda x: print(x), 'b': math.sqrt}",
        "TABLE = {n: f'{n:>3}' for n in range(10)}",
        "TEXT = '-' * 80 + 'x'.join(('a', 'b'))",
        "@dataclass(frozen=True)\nclass P:\n    x: int = field(default_factory=int)\nZERO = P(x=0)",
        "class Color(Enum):\n    RED = auto()\n    BLUE = 'b'",
        "class Row(TypedDict, total=False):\n    name: Literal['a', 'b c']",
        "@functools.lru_cache(maxsize=10)\ndef f(x): return x",
        "class C:\n    @property\n    def x(self): return 1\n    @x.setter\n    def x(self, value): pass",
        "if typing.TYPE_CHECKING:\n    import decimal",
        "A, (B, *C) = 1, (2, 3)",
        "HERE = timedelta(seconds=3)",
        "X = max(len('a'), 2)\nY = 24 * 60 * 60\nZ = 10 ** 6 * 4",
        "@dataclass(frozen=True)\nclass P:\n    x: list[int] = field(default_factory=list)\nPOINTS = (P(), P([1]))",
        "class Color(str, Enum):\n    RED = 'r'\n    def shown(self): return 1\nFIRST = Color.RED",
        "@typing.overload\ndef f(x: int) -> int: ...\ndef f(x): return x",
        "FIRST = TABLES[0]['x'] if DEBUG else None\nTABLES = ()\nDEBUG = __debug__",
    ],
)
def test_constants_and_definitions_may_stand_at_the_top_level(statement: str) -> None:
    found = check(f"{TOOL}\n{statement}\n")
    assert check(found.source).source == found.source


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import asyncio", "agents do not use 'asyncio'. Fix: use ctx.group"),
        ("import asyncio as quiet", "use ctx.group"),
        ("from time import sleep", "use ctx.now, ctx.sleep"),
        ("import random", "use ctx.random"),
        ("from datetime import datetime as when", "use ctx.now"),
        ("import uuid", "use ctx.new_id"),
        ("from pathlib import Path", "through a tool or the workspace environment"),
        ("import urllib.request", "reach the network through a tool"),
        ("import threading", "use ctx.group"),
        ("import numpy", "import tea and pure modules only"),
        ("print(1)", "use ctx.note"),
        ("say = print", "use ctx.note"),
        ("open('x')", "through a tool"),
        ("__import__('os')", "call a tool"),
        ("eval('1')", "call a tool"),
        ("key = id(task)", "use ctx.new_id"),
        ("key = hash('a')", "compare the values"),
        ("global seen; seen = 1", "agents keep no global state"),
        ("for x in {'a', 'b'}: pass", "sorted(...) around it"),
        ("x = list(set(task.files))", "sorted(...) around it"),
        ("x = ', '.join(f for f in set(task.files))", "sorted(...) around it"),
        ("x = set(task.files)\n        for y in x: pass", "use dict.fromkeys(...)"),
        ("getattr(task, 'text')", "name the attribute"),
        ("setattr(self, 'text', 1)", "name the attribute"),
        ("x = self.__dict__", "call a tool"),
        ("x = self.__class__", "call a tool"),
        ("import dataclasses; dataclasses.sys", "a module inside of another"),
        ("import dataclasses; d = dataclasses; d.sys", "use it as it is imported"),
        ("import statistics; statistics.NormalDist(0, 1).samples(3)", "use ctx.random"),
        ("from statistics import Decimal", "use the public names of statistics"),
        ("import operator; operator.attrgetter('x')", "name the attribute"),
        ("from pydantic import ImportString", "agents do not use pydantic.ImportString"),
        ("import pydantic; pydantic.create_model('x')", "for the types of answers"),
        ("import json; json.x = 3", "outlives a run"),
        ("Worker.seen = 1", "outlives a run"),
        ("def inner(x=[]): pass", "a replay differ"),
        ("ctx.path('a')", "through tools and environments"),
        ("import json as j; j.codecs.open('x')", "a module inside of another"),
        ("from json import codecs", "a module inside of another"),
        ("from collections import abc; abc.sys", ""),
        ("().__class__.__base__.__subclasses__()", "call a tool"),
        ("import tools.calculator", "reach it by name, through ctx"),
        ("from agents import planner", "reach it by name, through ctx"),
        ("from tea.runs import gate", "write `from tea import ...`"),
        ("import tea.components.context", "write `from tea import ...`"),
        ("import tea; tea.components.context.Context", "is not for components"),
        ("from tea import component", "is not for components"),
        ("time.sleep(1)", "use ctx.now, ctx.sleep"),
    ],
)
def test_agents_reach_outside_only_through_their_context(body: str, said: str) -> None:
    if said:
        assert said in refusal_of(agent(body))


@pytest.mark.parametrize("value", ["[]", "{}", "{1}", "[1 for x in 'a']", "dict()", "list()", "([],)"])
def test_agents_keep_nothing_that_changes_in_their_class(value: str) -> None:
    source = agent("pass").replace("    async", f"    seen = {value}\n\n    async")
    assert "a replay differ" in refusal_of(source)
    assert "changes SEEN, which outlives a run" in refusal_of(agent("SEEN.append(1)", "SEEN = []\n"))


def test_agents_declare_their_relations_and_metadata_as_mappings() -> None:
    declared = '    relations = {"planner": "hierarchical"}\n    metadata = {"a": 1}\n\n    async'
    assert check(agent("pass").replace("    async", declared)).metadata == {"a": 1}


@pytest.mark.parametrize("name", ["agents", "competencies", "environments", "objectives", "tools"])
def test_agents_declare_what_they_list_in_lists_too(name: str) -> None:
    declared = agent("pass").replace("    async", f'    {name} = ["one_of_them"]\n\n    async')
    assert check(declared).source == declared


@pytest.mark.parametrize("name", ["metadata", "tools"])
def test_other_classes_keep_nothing_under_the_names_that_an_agent_declares(name: str) -> None:
    shelf = f"class Shelf:\n    {name} = []\n\n\n"
    assert "shared by all runs" in refusal_of(agent(f"Shelf.{name}.append(task.text)", shelf))


def test_the_lint_names_the_line() -> None:
    assert refusal_of(agent("import asyncio")).startswith("line 9: agents do not use 'asyncio'.")


def test_agents_may_use_pure_modules_and_names_that_only_look_forbidden() -> None:
    body = (
        "id = 3; x = sorted(set(task.files) & {1}); z = len(set(x)); v = id in {1, 2}; w = json.dumps(type(x).__name__)"
    )
    found = check(agent(body, "import json\nimport collections.abc\nfrom dataclasses import dataclass\n"))
    assert found.kind == "agent"


def test_an_agents_helper_files_are_held_to_the_same_rules() -> None:
    source = agent("pass", "from ._worker.words import split\n")
    assert "_worker/words.py line 1: agents do not use 'os'" in refusal_of(
        source, {"_worker/words.py": "import os\nsplit = 1\n"}
    )


@pytest.mark.parametrize(
    "code",
    [
        "def due(\u05d0, \u05d1): return \u05d0 - \u05d1",
        "def due(a): return a.\u05d0",
        "def due(a): return a(\u05d0=1)",
        "def due():\n    global \u0627",
        "def due(a):\n    match a:\n        case {**\u05d0}: return 1",
        "import json as \u05d0",
        "def due(a\u0661): return a\u0661 - 1",
    ],
)
def test_no_name_is_written_from_right_to_left_as_code_beside_it_would_be_shown_in_another_order(code: str) -> None:
    assert "is written from right to left" in refusal_of(f"{TOOL}\n\n{code}\n")
    assert "is written from right to left" in refusal_of(TOOL, {"helper.py": f"{code}\n"})


def test_texts_and_comments_are_written_in_any_direction() -> None:
    assert check(f'{TOOL}\n\ndef words(caf\u00e9): return "\u05d0, \u05d1"  # \u05d0 - \u05d1\n').kind == "tool"


def test_tools_import_the_standard_library_and_what_they_require() -> None:
    source = TOOL.replace("from tea", "import sqlite3\nimport openpyxl\nfrom tea")
    said = refusal_of(source)
    assert "line 4: imports 'openpyxl'" in said
    assert '`# /// script`, `# dependencies = ["openpyxl"]`' in said
    assert check(source, requires=("openpyxl>=3",)).requires == ("openpyxl>=3",)
    block = '# /// script\n# dependencies = ["openpyxl>=3"]\n# ///\n'
    assert check(block + source).requires == ("openpyxl>=3",)
    yaml = TOOL.replace("from tea", "import yaml\nfrom tea")
    assert check(yaml, requires=("PyYAML",)).requires == ("PyYAML",)
    assert "not TOML" in refusal_of("# /// script\n# dependencies = [\n# ///\n" + TOOL)
    assert "not a requirement" in refusal_of(TOOL, requires=("!",))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("from .. import words", "leads out of the component"),
        ("from ._missing import words", "_missing.py"),
        ("from . import missing", "missing.py"),
        ("from ._double.nothing import words", "nothing.py"),
    ],
)
def test_relative_imports_stay_inside_the_files(line: str, said: str) -> None:
    assert said in refusal_of(TOOL.replace("from tea", f"{line}\nfrom tea"), {"_double/words.py": "words = 1\n"})


@pytest.mark.parametrize(
    "path",
    [
        "/x.py",
        "../x.py",
        "a/../b.py",
        "x.txt",
        "a b.py",
        "",
        ".py",
        "__init__.py",
        "a//b.py",
        "ä.py",
        "x" * 300 + ".py",
    ],
)
def test_paths_of_files_stay_inside_the_component(path: str) -> None:
    refusal_of(TOOL, {path: ""})


def test_a_helper_file_holds_no_component_of_its_own() -> None:
    assert "_double/other.py line 7: 'double' is a component." in refusal_of(TOOL, {"_double/other.py": TOOL})


def test_files_that_stand_for_one_module_are_refused() -> None:
    assert "also a folder" in refusal_of(TOOL, {"a.py": "", "a/b.py": ""})
    assert "already" in refusal_of(TOOL, {"a.py": "", "a/__init__.py": ""})


def test_a_tool_need_not_be_async_and_an_agent_need_not_write_how_it_works() -> None:
    assert check(TOOL.replace("async def", "def")).name == "double"
    declared = 'from tea import Agent\n\n\nclass Idle(Agent):\n    """Declare."""\n\n    output = {"type": "integer"}\n'
    assert (check(declared).kind, check(declared).name) == ("agent", "idle")


def test_a_package_takes_names_of_its_files() -> None:
    source = TOOL.replace("from tea import tool\n", "from tea import tool\nfrom ._lib import LIMIT\n", 1)
    files = {"_lib/__init__.py": "from .words import LIMIT\n", "_lib/words.py": "LIMIT = 3\n"}
    MANAGER.describe(MANAGER.check(source, files), version="1.0.0")


def test_files_may_not_import_each_other_in_a_circle() -> None:
    files = {"_a/x.py": "from .y import v\nw = v\n", "_a/y.py": "from .x import w\nv = w\n"}
    assert "circle" in refusal_of(TOOL, files)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "defines no component"),
        (TOOL + TOOL.partition("tool\n\n")[2].replace("double", "triple"), "defines 2 components: double, triple"),
        (TOOL.replace('    """Double a number."""\n', ""), "has no docstring"),
        (TOOL.replace("double", "Double"), "not a name"),
        (agent("pass").replace("    async", "    name = 3 + 4\n\n    async"), "name is not text"),
        (TOOL.replace("(number", "(number,,"), "line 7: this is not Python"),
        (TOOL + "return 3\n", "this is not Python"),
        ("# coding: latin-1\n" + TOOL, "declares the encoding 'latin-1'"),
        (TOOL + "#\0", "NUL"),
        (TOOL + "#\ud800", "not UTF-8"),
        (TOOL.encode() + b"#\xff", "not UTF-8"),
        (TOOL + "#" * (1 << 20), "larger than 1 MiB"),
        (TOOL + "# ü" * 400_000, "larger than 1 MiB"),
        (TOOL + 'x = f"' + "{TOOL}" * 40_000 + '"\n', "f-strings, and more than 10,000 braces"),
        ("(" * 5_000, "this is not Python"),
        ("x = " + "-" * 50_000 + "1", ""),
        ("x = " + "+".join(["a"] * 100_000), ""),
        ("x" * 100_000, ""),
        ("9" * 5_000, "this is not Python"),
        (TOOL + "".join(f"def f{number}(): pass\n" for number in range(3_000)), "too many names"),
    ],
)
def test_text_that_is_no_component_is_refused_in_one_line(source: str | bytes, said: str) -> None:
    assert said in refusal_of(source)


def test_the_kind_must_be_the_one_asked_for() -> None:
    assert "is of kind tool, not agent" in refusal_of(TOOL, kind="agent")


def test_line_ends_and_byte_order_marks_make_no_difference() -> None:
    assert check("\ufeff" + TOOL.replace("\n", "\r\n")).source == TOOL
    assert check(b"\xef\xbb\xbf" + TOOL.replace("\n", "\r\n").encode()).source == TOOL


def test_components_know_every_public_name_of_tea_but_those_that_start_runs() -> None:
    assert set(tea.__all__) - VOCABULARY == {"run", "stream"}
    assert set(dir(tea)) >= VOCABULARY


FETCHING = "from tea.web import UrlGuard\n" + TOOL


def test_a_tool_takes_what_the_way_out_offers() -> None:
    assert check(FETCHING).source == FETCHING


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (FETCHING.replace("UrlGuard", "Target"), "takes 'Target' from tea.web"),
        (FETCHING.replace("tea.web", "tea.web.guard"), "a part of tea's inside"),
        (TOOL.replace("from tea import tool", "import tea.web\nfrom tea import tool"), "a part of tea's inside"),
        ("from tea.web import UrlGuard\n" + agent("pass"), "agents do not use 'tea.web'"),
    ],
)
def test_nobody_takes_more_of_it(source: str, said: str) -> None:
    assert said in refusal_of(source)


CANARY = "setattr(__import__('builtins'), 'canary', 1)"
PIECES = [
    "@tool", "@tool(effects='reads')", "async def f(x: int) -> int:", "    '''Doc.'''", "    return json.dumps(x)",
    CANARY, f"X = {CANARY}", f"class A(Agent, x={CANARY}):", f"    y = {CANARY}", "import os", "from tea import tool",
    f"def g(x={CANARY}): pass", f"@{CANARY}", '"""', "X = 3", "\\", "(", ")", "    async def run(self): pass",
    "from __future__ import annotations", "#", "\r", "\x0c", "\u2028", "'''Doc''';", "lambda: 0", "match x:",
]  # fmt: skip


@given(
    st.one_of(
        st.text(),
        st.binary(),
        st.text(alphabet=string.printable),
        st.lists(st.sampled_from(PIECES + keyword.kwlist), max_size=14).map("\n".join),
        st.lists(st.text(max_size=20), max_size=3).map(lambda parts: TOOL + "\n".join(parts)),
    )
)
def test_no_text_raises_anything_else_or_runs(source: str | bytes) -> None:
    found = outcome(source, {})
    if isinstance(found, SourceText):
        again = outcome(found.source, {})
        assert isinstance(again, SourceText)
        assert (again.source, again.changes) == (found.source, ())
    assert not hasattr(builtins, "canary")


@given(st.dictionaries(st.one_of(st.text(), st.sampled_from(["_a/x.py", "_a/y.py"])), st.text(), max_size=3))
def test_no_files_raise_anything_else(files: dict[str, str]) -> None:
    outcome(TOOL, files)


def outcome(source: str | bytes, files: dict[str, str]) -> SourceText | None:
    """The checked source, or None when it was refused in one printable line."""
    said = ""
    try:
        return check(source, files)
    except TeaError as error:
        said = str(error)
    assert len(said) <= 300
    assert said.isprintable()
    return None


@pytest.mark.parametrize(
    "path", [*bundled_files("tool"), *bundled_files("environment"), *bundled_files("agent")], ids=lambda p: p.name
)
def test_bundled_components_pass_the_check_as_they_are(path: Path) -> None:
    source, files = read_source(path)
    found = check_source(source, files, None, ())
    assert (found.text.name, found.text.changes) == (path.stem, ())
    read = located(found.text)
    assert (read.text, read.binding, read.order) == (found.text, found.binding, found.order)
