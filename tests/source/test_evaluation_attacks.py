"""Test attacks through what Python and libraries evaluate for a source: none of its own code runs meanwhile."""

import sys
from pathlib import Path

import pytest
from canary_kit import RUN, refused

from tea.errors import BadComponent
from tea.source.agent_file import agent_in

pytestmark = pytest.mark.usefixtures("canary")

EVIL = f"def evil(*a, **k):\n    {RUN}\n    return 1\n"
HEAD = '# /// script\n# dependencies = ["pydantic"]\n# ///\nfrom tea import Agent, Environment, action, tool\n'
ASKED = (
    "expandtabs", "isidentifier", "keys", "replace", "rfind", "rpartition", "split", "startswith", "strip", "translate",
)  # fmt: skip
HITS = "".join(f"    def {name}(self, *a, **k):\n        {RUN}\n        return 'a'\n" for name in ASKED)
TEXT = "from enum import Enum\nclass K(str, Enum):\n    A = 'a.b'\n"
CLASS = "class K:\n" + HITS.replace("    def", "    @staticmethod\n    def").replace("(self, ", "(")
KEYS = f"def keys():\n    {RUN}\n    return []\n"
STATE = '    async def state(self) -> int:\n        """S."""\n        return 1\n'
MODEL = "from pydantic import BaseModel\nclass D(BaseModel):\n    a: int = 1\n"


def tool(head: str, parameter: str = "x: int") -> str:
    """A tool with this parameter, after these lines."""
    return f'{HEAD}{EVIL}{head}\n\n@tool\nasync def t({parameter}) -> int:\n    """Doc."""\n    return 1\n'


def environment(line: str, head: str = TEXT, bases: str = "Environment") -> str:
    """An environment with this line in its class."""
    return f'{HEAD}{EVIL}{head}\n\nclass E({bases}):\n    """Doc."""\n    {line}\n{STATE}'


METHODS = {
    "pattern": "import re\nX = re.escape(K.A)",
    "logger": "import logging\nX = logging.getLogger(K.A)",
    "fields of a named tuple": "from collections import namedtuple\nX = namedtuple('N', K.A)",
    "name of a type": "from typing import NewType\nX = NewType(K.A, int)",
    "delimiter": "import string\nclass T(string.Template):\n    delimiter = K.A",
    "delimiter by another module": "import logging\nclass T(logging.Template):\n    delimiter = K.A",
    "inherited delimiter": "import string\nclass M:\n    delimiter = K.A\nclass T(M, string.Template):\n    pass",
}
DOCUMENTED = {
    "model": MODEL + "    __doc__ = K.A",
    "annotated": MODEL + "    __doc__: str = K.A",
    "unpacked": MODEL + "    __doc__, __version__ = K.A, 1",
    "class": MODEL + "    __doc__ = K",
    "inner class": MODEL
    + "    class __doc__:\n"
    + HITS.replace("    def", "        def")
    .replace("\n        import", "\n            import")
    .replace("\n        return", "\n            return"),
    "dataclass": "from dataclasses import dataclass\n@dataclass\nclass D:\n    a: int = 1\n    __doc__ = K.A",
    "enum": "class D(Enum):\n    a = 1\n    __doc__ = K.A",
}
DECOYS = {
    "module": ("from ._t import w\nC = {**w}", KEYS, "w = {}\n"),
    "module as an argument": ("from ._t import w\nC = dict(w)", KEYS, "w = {}\n"),
    "class in a class": (
        "from ._t import w\nC = {**w.H.K}",
        f"class H:\n    class K:\n        def keys():\n            {RUN}\n            return []\n",
        "K = {}\n",
    ),
    "field of an instance": (
        "from ._t.w import P\nC = {**P.x}",
        f"from typing import NamedTuple\n{CLASS}class N(NamedTuple):\n    x: object\nP = N(K)\n",
        "x = {}\n",
    ),
}

CODE = f"[{RUN!r}]"
MEMBER = "import enum\nclass K(enum.Enum):\n    A = 1\n"
PROPERTY = f"    @property\n    def boo(self):\n        {RUN}\n"
REBOUND = {
    "before an assignment": f"X = sorted({CODE}, key=exec)\nexec = 1",
    "before an import": f"X = exec({RUN!r})\nfrom textwrap import dedent as exec",
    "before one in a class": f"class C:\n    X = sorted({CODE}, key=exec)\n    exec = 1",
    "in a loop of a class": f"class C:\n    exec = 1\n    X = [sorted({CODE}, key=exec) for i in (1,)]",
    "in a class before the file's": f"class C:\n    X = sorted({CODE}, key=exec)\nexec = 1",
    "as a generic": "def f(x: list['evil()']): pass\nfrom typing import Literal as list",
    "by what a module imports": f"import re\nX = sorted({CODE}, key=re.enum.bltns.exec)",
}
CLASSES = {
    "setter": f"class H:\n    @staticmethod\n    def setter(c):\n        {RUN}\n@H.setter\nclass Z:\n    pass",
    "property": f"{MEMBER}    @property\n    class boo:\n"
    f"        def __init__(self, m):\n            {RUN}\nX = K.A.boo",
    "class method": "class H:\n    @classmethod\n    @property\n    class boo:\n"
    f"        def __init__(self, m):\n            {RUN}\nX = H.boo",
}
RENAMED = {
    "in its class": f"{MEMBER}{PROPERTY}    foo = boo\nX = K.A.foo",
    "unpacked": f"{MEMBER}{PROPERTY}    foo, bar = boo, 1\nX = [m.foo for m in [K.A]]",
    "out of a list": f"{MEMBER}{PROPERTY}    foo = [boo][0]\nX = K.A.foo",
    "of no class": f"@property\ndef boo(m):\n    {RUN}\n{MEMBER}    foo = boo\nX = K.A.foo",
    "of no class, cached": f"import functools\n@functools.cached_property\ndef boo(m):\n    {RUN}\n"
    f"P = (boo,)\n{MEMBER}    foo = P[0]\nX = K.A.foo",
}
ADDRESSES = {
    "in its class": "class U(AnyUrl):\n    _constraints = C\n",
    "in a class beside": "class M:\n    _constraints = C\nclass U(M, AnyUrl):\n    pass\n",
    "as a class": "class U(AnyUrl):\n    class _constraints:\n        defined_constraints = X\n",
}
READS = {
    "as what it stands for": "    value = I.exploded\n",
    "as its name": "    name: object = Q\n",
    "out of a list": "    value = P[0]\n",
    "unpacked": "    value, b = I.exploded, 2\n",
    "under a name that the file binds too": "    x = I.exploded\n    value = x\n",
    "by the file": "    v = I.exploded\nX = K.A.v\n",
    "by an annotation": "    v = I.exploded\ndef g(x: Annotated[int, K.A.v]): pass\n",
}
OVERRIDES = {
    "method": f"    def startswith(self, *a):\n        {RUN}\n",
    "assigned": "    startswith = evil\n",
    "lambda": f"    startswith = lambda *a: exec({RUN!r})\n",
    "unpacked": "    startswith, b = evil, 1\n",
}
LOOSE = "from pydantic import BaseModel, ConfigDict, Field\nfrom typing import Annotated\nclass D(BaseModel):\n"
LOOSE += "    model_config = ConfigDict(strict=False, frozen=True, from_attributes=True)\n"
DEFAULTS = {
    "hashed": (f"    def __hash__(self):\n        {RUN}\n        return 1\n", "set[D]", "[{'boo': 1}]"),
    "compared": (f"    def __eq__(self, o):\n        {RUN}\n", "set[D]", "[{'boo': 1}, {'boo': 1}]"),
    "read": ("", "D", "K.A"),
    "read in a list": ("", "list[D]", "[K.A]"),
}
LATE = "    Y = sorted([1], key=key)"
CALLED = f"    def key(x):\n        {RUN}\n        return 0\n"
HIDDEN = {
    "by a function": f"key = None\nclass C:\n{CALLED}{LATE}",
    "by an async function": f"key = None\nclass C:\n{CALLED.replace('def', 'async def')}{LATE}; Z = [*key]",
    "by a class": f"key = None\nclass C:\n    class key:\n        def __init__(self, x):\n            {RUN}\n{LATE}",
    "by a function and a value": f"class C:\n    key = None\n{CALLED}{LATE}",
    "in a default": f"key = None\nclass C:\n{CALLED}    def f(self, y=max([1], key=key)): pass",
    "in a decorator": "import functools\nkey = 1\nclass C:\n" + CALLED + "    @functools.lru_cache(maxsize=key)\n"
    "    def f(self): pass",
    "in an inner class": f"class O:\n    class C:\n{CALLED.replace('    ', '        ')}    {LATE}\nkey = None",
    "in options of a model": "from pydantic import BaseModel, ConfigDict\nkey = None\nclass D(BaseModel):\n"
    f"{CALLED}    model_config = ConfigDict(alias_generator=key)\n    y: int = 1",
    "behind a name": "key = evil\nclass C:\n    evil = None\n" + LATE,
    "behind a name for a class": f"class K:\n    def __init__(self, x):\n        {RUN}\nkey = K\n"
    f"class C:\n    K = None\n{LATE}",
    "behind a part of a list": "P = (evil,)\nclass C:\n    evil = None\n    Y = sorted([1], key=P[0])",
}
IN_CLASSES = {
    "named by another": ("class K:\n    B = 'evil()'\n    a = B", "x: K.a"),
    "named like a type": ("B = int\nclass K:\n    B = 'evil()'\n    a = B", "x: K.a"),
    "in a model": (f"{MODEL}    B: ClassVar = 'evil()'\n    y: A\nA = 'B'", "x: D"),
    "in a model, by a name before": (f"A = 'B'\n{MODEL}    B: ClassVar = 'evil()'\n    y: A", "x: D"),
    "in a base of a model": (f"A = 'B'\nclass M:\n    B = 'evil()'\n{MODEL.replace('(', '(M, ')}    y: A", "x: D"),
    "in a model around": (
        "A = 'B'\nfrom pydantic import BaseModel\nclass O(BaseModel):\n    B: ClassVar = 'evil()'\n"
        "    class D(BaseModel):\n        y: A",
        "x: O.D",
    ),
    "brackets": (f"{MODEL}    Literal: ClassVar = List\n    y: 'Literal[\"evil()\"]'", "x: D"),
    "part": (f"class K:\n    X = 'evil()'\n{MODEL}    pydantic: ClassVar = K\n    y: 'pydantic.X'", "x: D"),
}
NAMED = {
    "assigned": "class D(tuple):\n    _fields = ('a',)\n    _field_defaults = C\n    a: int\n",
    "of a derived one": "from typing import NamedTuple\nclass N(NamedTuple):\n    a: int\n"
    "class D(N):\n    _field_defaults = C\n",
    "inherited": "class M:\n    _fields = ('a',)\n    _field_defaults = C\nclass D(M, tuple):\n    a: int\n",
    "class": "class D(tuple):\n    _fields = ('a',)\n    a: int\n    class _field_defaults:\n"
    f"        def get(self, *a):\n            {RUN}\n",
}


@pytest.mark.parametrize("lines", NAMED.values(), ids=NAMED)
def test_no_named_tuple_says_itself_where_its_defaults_are(lines: str) -> None:
    asked = f"class C:\n    @staticmethod\n    def get(*a):\n        {RUN}\n"
    assert refused(tool(f"{asked}{lines}", "x: D"))


@pytest.mark.parametrize("lines", HIDDEN.values(), ids=HIDDEN)
def test_a_name_that_a_class_binds_too_is_not_taken_for_the_plain_one(lines: str) -> None:
    assert refused(tool(lines))


def test_a_class_works_with_its_own_values_and_those_of_the_file() -> None:
    own = "LIMIT = 3\nclass C:\n    MOST = LIMIT * 2\n    ALL = [MOST + 1, LIMIT]\n    def LIMITS(self): pass\n"
    assert not refused(tool(f"{own}    class D:\n        MOST = LIMIT\n        ALL = [MOST] * 2"))


@pytest.mark.parametrize(("lines", "parameter"), IN_CLASSES.values(), ids=IN_CLASSES)
def test_a_name_of_a_type_stands_for_types_in_every_class(lines: str, parameter: str) -> None:
    assert refused(tool(f"import pydantic\nfrom typing import ClassVar, List, Literal\n{lines}", parameter))


def test_a_class_of_another_file_gives_types_alone() -> None:
    for head, parameter in (("from ._t.w import K", "x: K.a"), ("from ._t import w", "x: w.K.a")):
        assert refused(tool(head, parameter), {"_t/w.py": f"{EVIL}class K:\n    B = 'evil()'\n    a = B\n"})
    head = f"from ._t.w import B\nA = B\n{MODEL}    B: ClassVar = int\n    y: A = 1"
    assert refused(tool(f"from typing import ClassVar\n{head}", "x: D"), {"_t/w.py": "B = 'evil()'\n"})


@pytest.mark.parametrize("line", REBOUND.values(), ids=REBOUND)
def test_a_builtin_name_that_is_bound_later_is_not_taken_for_what_is_bound(line: str) -> None:
    assert refused(tool(line))


@pytest.mark.parametrize("lines", CLASSES.values(), ids=CLASSES)
def test_no_class_is_decorated_by_what_calls_it(lines: str) -> None:
    assert refused(tool(lines))


@pytest.mark.parametrize("method", ["__new__", "__init__"])
def test_no_class_gets_the_members_of_an_enum_by_its_metaclass(method: str) -> None:
    made = f"import enum\nclass K(metaclass=enum.EnumMeta):\n    A = 1\n    def {method}(self, *a):\n        {RUN}\n"
    assert refused(tool(made))


@pytest.mark.parametrize("lines", RENAMED.values(), ids=RENAMED)
def test_a_property_gets_no_second_name(lines: str) -> None:
    assert refused(tool(lines))


@pytest.mark.parametrize("line", OVERRIDES.values(), ids=OVERRIDES)
def test_no_enum_overrides_what_texts_and_numbers_can_do(line: str) -> None:
    head = f"from enum import Enum\nfrom zoneinfo import ZoneInfo\nclass K(str, Enum):\n    A = 'UTC'\n{line}"
    assert refused(tool(head, "x: ZoneInfo = K.A"))


def test_members_and_methods_of_an_enum_may_have_other_names() -> None:
    assert not refused(tool(f"{TEXT}    title = 'b'\n    def shown(self):\n        return self\n", "x: K = K.title"))
    assert not refused(tool(f"{MEMBER}    def title(self):\n        return 'a'\n", "x: K = K.A"))


@pytest.mark.parametrize("line", ADDRESSES.values(), ids=ADDRESSES)
def test_no_type_of_pydantic_makes_its_schema_of_an_object_of_the_source(line: str) -> None:
    head = f"from pydantic import AnyUrl\nclass X:\n    def keys():\n        {RUN}\n        return ()\n"
    assert refused(tool(f"{head}class C:\n    defined_constraints = X\n{line}", "x: U"))


def test_types_of_pydantic_are_derived_from() -> None:
    head = "from pydantic import AnyUrl, BaseModel\nclass U(AnyUrl):\n    '''Address.'''\n"
    model = "class M(BaseModel):\n    u: U\nclass N(M):\n    _of = M\n"
    assert not refused(tool(f"{head}{model}", "x: N"))


@pytest.mark.parametrize("line", READS.values(), ids=READS)
@pytest.mark.parametrize("base", ["Enum", "str, Enum"])
def test_no_member_of_an_enum_is_read_by_a_property_of_a_library(base: str, line: str) -> None:
    head = "from enum import Enum\nfrom ipaddress import IPv4Address as I\nfrom typing import Annotated\n"
    head += "P = (I.exploded,)\nQ = I.exploded\nx = 1\n"
    called = f"    def _explode_shorthand_ip_string(self):\n        {RUN}\n        return 'x'\n"
    assert refused(tool(f"{head}class K(Enum):\n    A = 'a'\n{called}{line}".replace("(Enum", f"({base}"), "x: K"))


def test_members_of_an_enum_are_types_functions_and_numbers_of_python() -> None:
    head = "import datetime as dt\nimport enum\ndef f(self): return 1\n"
    types = "class T(enum.Enum):\n    A = dt.date\n    B = list[str]\n    C = f\n    G = (f, 1)\n"
    numbers = "class K(enum.Enum):\n    A = enum.auto()\n    B, C = enum.auto(), 9\nX = K.A.value\n"
    assert not refused(tool(f"{head}{types}{numbers}", "x: int"))


def test_no_property_of_a_member_is_read_to_find_actions() -> None:
    reads = "".join(PROPERTY.replace("boo", name) for name in ("fget", "func"))
    assert not refused(environment("x = K.A", f"{MEMBER}{reads}"))


@pytest.mark.parametrize(("methods", "kind", "default"), DEFAULTS.values(), ids=DEFAULTS)
def test_no_value_of_a_class_is_made_to_check_a_default(methods: str, kind: str, default: str) -> None:
    head = f"{MEMBER}{PROPERTY}{LOOSE}    boo: int = 1\n{methods}"
    assert not refused(tool(head, f"x: Annotated[{kind}, Field(strict=False)] = {default}"))


@pytest.mark.parametrize("line", METHODS.values(), ids=METHODS)
def test_no_library_is_given_a_text_with_methods_of_the_source(line: str) -> None:
    assert refused(tool(f"{TEXT}{line}"))


@pytest.mark.parametrize("lines", DOCUMENTED.values(), ids=DOCUMENTED)
def test_documentation_is_plain_text(lines: str) -> None:
    assert refused(tool(f"{TEXT}{lines}", "x: D"))


@pytest.mark.parametrize(("line", "file", "decoy"), DECOYS.values(), ids=DECOYS)
def test_a_value_of_the_same_name_in_another_file_vouches_for_nothing(line: str, file: str, decoy: str) -> None:
    assert refused(tool(line), {"_t/w.py": file, "_t/v.py": decoy})


def test_a_field_named_like_a_builtin_type_is_no_factory() -> None:
    made = "@dataclass\nclass D:\n    list: object = evil\n    a: int = field(default_factory=list)\nX = D()\n"
    assert refused(tool(f"from dataclasses import dataclass, field\n{made}"))


@pytest.mark.parametrize("line", ["rules = K.A", "rules: str = K.A", "rules, x = K.A, 1", "__doc__ = K.A"])
def test_facts_of_a_component_are_plain(line: str) -> None:
    assert refused(environment(line))


def test_inherited_facts_of_a_component_are_plain() -> None:
    mixed = f"{TEXT}class M:\n    rules = K.A\n"
    assert refused(environment("x = 1", mixed, "M, Environment"))
    assert refused(environment("x = 1", "from ._t.w import M as N\n", "N, Environment"), {"_t/w.py": mixed})
    assert refused(environment("class rules:\n        def strip():\n            evil()\n"))
    assert not refused(environment('rules = WORDS + "b"', "WORDS = 'a'\n"))


@pytest.mark.parametrize("option", ["effects=K.A", "metadata={'a': K.A}", "metadata={'a': evil}"])
def test_options_of_tools_are_plain(option: str) -> None:
    source = tool(TEXT).replace("@tool", f"@tool({option})")
    assert refused(source)


@pytest.mark.parametrize("fact", ["name=K.A", "instructions=K.A", "model=K.A", "output={'$ref': K.A}"])
def test_a_declared_agent_is_declared_by_plain_values(fact: str, tmp_path: Path) -> None:
    given = ", ".join(
        {"name": "name='probe'", "instructions": "instructions='Do it.'", fact[: fact.index("=")]: fact}.values()
    )
    with (
        pytest.raises(BadComponent),
        agent_in(tmp_path / "probe.py", f"from tea import Agent\n{TEXT}probe = Agent({given})\n"),
    ):
        pass


@pytest.mark.parametrize(
    "lines",
    [
        f"x = exec({RUN!r})\nfrom tea import Agent as exec\nprobe = exec(name='probe', instructions='Do it.')\n",
        f"import string\n{TEXT}class T(string.Template):\n    delimiter = K.A\n"
        "from tea import Agent\nprobe = Agent(name='probe', instructions='Do it.')\n",
    ],
    ids=["called like a builtin", "obeying class"],
)
def test_what_stands_beside_a_declared_agent_is_held_to_the_same_rules(lines: str, tmp_path: Path) -> None:
    with pytest.raises(BadComponent), agent_in(tmp_path / "probe.py", lines):
        pass


def test_the_output_of_an_agent_is_plain() -> None:
    source = f'from tea import Agent\n{TEXT}class A(Agent):\n    """Doc."""\n    output = {{"$ref": K.A}}\n'
    assert refused(source)


def test_values_of_other_files_are_worked_with() -> None:
    head = "from ._t import w\nfrom ._t.w import A\nB = A * 2 + w.A\nC = {**w.D, 'b': len(w.D)}\n"
    assert not refused(tool(head), {"_t/w.py": "A = 'x'\nD = {'a': str}\n"})


@pytest.mark.filterwarnings("ignore:.*PyObject")
@pytest.mark.parametrize(
    ("kind", "default"),
    [("pydantic.PyObject", "colorsys.rgb_to_hsv"), ("fractions.Fraction", "1e99999999")],
    ids=["imported", "worked out"],
)
def test_no_library_works_on_a_default_because_it_is_described(kind: str, default: str) -> None:
    before = sys.modules.pop("colorsys", None)
    assert not refused(tool(f"import {kind.partition('.')[0]}", f"x: {kind} = {default!r}"))
    assert "colorsys" not in sys.modules
    if before is not None:
        sys.modules["colorsys"] = before


HIT = f"def maketrans(*a):\n    {RUN}\n    return {{}}\n"
WORDS = "Evil = \"__import__('builtins').__dict__.update(canary=1)\"\n"
TYPED = "from typing import TypedDict\nclass D(TypedDict):\n"
NAMESAKES = {
    "builtin": ('X = str.maketrans("a", "b")', "str.py", HIT, ""),
    "in a folder": ('X = str.maketrans("a", "b")', "str/__init__.py", HIT, ""),
    "module that is imported later": ('X = re.escape("a")\nimport re', "re.py", HIT.replace("maketrans", "escape"), ""),
    "constant that comes later": ('X = w.upper()\nw = "a"', "w.py", HIT.replace("maketrans", "upper"), ""),
    "builtins": ("X = len([1])", "__builtins__.py", HIT.replace("maketrans", "len"), ""),
    "type in a text": ("from ._t import D", "_t/str.py", WORDS, f'{TYPED}    y: "str.Evil"\n'),
    "type after the future": (
        "from ._t import D", "_t/str.py", WORDS, f"from __future__ import annotations\n{TYPED}    y: list[str.Evil]\n"
    ),
    "name that a function binds": (
        "from ._t import D", "_t/q.py", WORDS, f'{TYPED}    y: "q.Evil"\ndef f():\n    q = 1\n    return q\n'
    ),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "path", "text", "package"), NAMESAKES.values(), ids=NAMESAKES)
def test_a_file_beside_another_stands_for_nothing_but_itself(lines: str, path: str, text: str, package: str) -> None:
    files = {path: text, **({"_t/__init__.py": package} if package else {})}
    assert refused(tool(lines, "x: D" if package else "x: int"), files)


def test_a_file_has_a_builtin_name_where_nothing_stands_for_it() -> None:
    files = {"_t/format.py": "X = str(1)\n", "_t/str.py": "Y = format\n"}
    assert not refused(tool("from ._t.format import X"), files)


@pytest.mark.parametrize(
    "member",
    ["f = evil", "f = lambda self: 1", "__doc__ = 'x'", "__x = 1", "__x, __y = 1, 2", "a, b = evil, evil"],
)
def test_no_class_derives_from_an_enum_and_makes_its_members(member: str) -> None:
    base = f"from enum import Enum\nclass B(Enum):\n    {member}\n"
    made = f"class K(B):\n    A = 1\n    def __init__(self, v):\n        {RUN}\n"
    assert refused(tool(base + made, "x: K"))


DECODED = "class K(str, Enum):\n    A = (b'evil()', 'UTF8')\n"
REPEATED = "from typing import List\ndef ForwardRef(a):\n    return evil()\nclass K(str, Enum):\n    A = List['K']\n"


@pytest.mark.parametrize("kind", ["K.A", "'K.A'", "list[K.A]", "K.A | None", "X", "M"])
@pytest.mark.parametrize("member", [DECODED, REPEATED])
def test_no_member_of_an_enum_is_evaluated_as_a_type(member: str, kind: str) -> None:
    head = f"import typing\nfrom enum import Enum\nfrom pydantic import BaseModel\n{member}X = K.A\n"
    assert refused(tool(f"{head}class M(BaseModel):\n    a: K.A\n", f"x: {kind}"))


def test_no_member_of_an_enum_of_another_file_is_evaluated_as_a_type() -> None:
    file = f"from enum import Enum\n{EVIL}{DECODED}"
    assert refused(tool("from ._a import K\n", "x: K.A"), {"_a.py": file})
    assert refused(tool("from . import _a\n", "x: _a.K.A"), {"_a.py": file})


@pytest.mark.parametrize("kind", ["K", "'K'", "Literal[K.A]", "Annotated[K, K.A]"])
def test_enums_and_literals_of_their_members_are_types(kind: str) -> None:
    head = "from enum import Enum, auto\nfrom typing import Annotated, Literal\nclass K(Enum):\n    A = auto()\n"
    assert not refused(tool(head, f"x: {kind} = K.A"))


SIGNATURE = "B(x=K.A.boo)\n--\n\n"
SIGNED = {
    "docstring": f"class B:\n    {SIGNATURE!r}\n",
    "docstring written out": 'class B:\n    """B(x=K.A.boo)\n    --\n    """\n'.replace("    --\n    ", "--\n\n"),
    "assigned": f"class B:\n    __doc__ = {SIGNATURE!r}\n",
    "put together": "class B:\n    __doc__ = 'B(x=K.A.boo)' + '\\n--\\n\\n'\n",
    "annotated": f"class B:\n    __doc__: str = {SIGNATURE!r}\n",
    "unpacked": f"class B:\n    __doc__, __version__ = {SIGNATURE!r}, 1\n",
}
DESCRIBED = {
    "base": "@dataclass(init=False)\nclass D(B):\n    y: int\n",
    "factory": "@dataclass\nclass D:\n    y: int = field(default_factory=B)\n",
}


@pytest.mark.parametrize("use", DESCRIBED.values(), ids=DESCRIBED)
@pytest.mark.parametrize("lines", SIGNED.values(), ids=SIGNED)
def test_no_documentation_of_a_class_is_read_as_its_signature(lines: str, use: str) -> None:
    assert refused(tool(f"from dataclasses import dataclass, field\n{MEMBER}{PROPERTY}{lines}{use}", "x: D"))


@pytest.mark.parametrize("words", ["B(x) is short.", "Two:\n\n--\nof them.", "B(x=1)\n---\n"])
def test_classes_are_documented_in_any_words(words: str) -> None:
    assert not refused(tool(f"class B:\n    {words!r}\nclass C:\n    __doc__ = {words!r}\n"))


NAMED = {
    "variable": "TypeVar('1, b=K.A.boo)\\n--\\n\\n', covariant=True)",
    "parameters": "ParamSpec('1, b=K.A.boo)\\n--\\n\\n', covariant=True)",
    "new type": "NewType('K.A.boo', int), TypeVar(')\\n--\\n\\n')",
}


@pytest.mark.parametrize("made", NAMED.values(), ids=NAMED)
def test_no_name_of_a_type_is_read_as_the_signature_of_a_class_made_again_with_slots(made: str) -> None:
    made = f"from typing import NewType, ParamSpec, TypeVar\nN = {made}\n"
    slots = "@dataclass(init=False, slots=True)\nclass D:\n    def __init__(self, a=N): pass\n"
    use = "class F(dict, D): pass\n@dataclass(init=False)\nclass G(F):\n    y: int\n"
    assert refused(tool(f"from dataclasses import dataclass\n{MEMBER}{PROPERTY}{made}{slots}{use}", "x: int"))


PATTERN = "from logging import getLogger\nfrom re import compile as make\nN, L = make('a' * 300), getLogger(\"'))\")\n"
WRITTEN = {
    "a module": "from collections import namedtuple\nN = namedtuple('N', 'a', module='1, b=K.A.boo)\\n--\\n\\n')\n",
    "a pattern": PATTERN,
}


@pytest.mark.parametrize("made", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("words", ["", "    ''\n", "    __doc__ = None\n", "    'D.'\n    __doc__ = None\n"])
@pytest.mark.parametrize("options", ["slots=True", "slots=1, init=False", "init=False, slots=bool(1)"])
def test_a_class_made_again_with_slots_has_documentation_of_its_own(made: str, words: str, options: str) -> None:
    slots = f"@dataclass({options})\nclass D:\n{words}    def __init__(self, a=N): pass\n"
    assert refused(tool(f"from dataclasses import dataclass\n{MEMBER}{PROPERTY}{made}{slots}", "x: int"))


@pytest.mark.parametrize("lines", ["slots=True)\nclass D:\n    'D.'\n", "slots=False)\nclass D:\n"])
def test_a_class_with_slots_and_documentation_is_described(lines: str) -> None:
    assert not refused(tool(f"from dataclasses import dataclass\n@dataclass({lines}    a: int = 1\n", "x: int"))


def test_types_are_made_under_names() -> None:
    made = "T = TypeVar('T', bound='K')\nP = ParamSpec('P')\nId = NewType('Id', int)\nR = TypedDict('R', {'a b': int})"
    assert not refused(tool(f"from typing import NewType, ParamSpec, TypedDict, TypeVar\n{MEMBER}{made}", "x: Id"))


BINDING = f"    def __get__(self, *a):\n        {RUN}\n"
VALIDATORS = "class B(TypedDict):\n    a: int\n    @field_validator('a')\n    def v(cls, x): return x\n"
OVERRIDING = {
    "a class": f"class X:\n{BINDING}class A(TypedDict):\n    v = X\n",
    "an inner class": f"class A(TypedDict):\n    class v:\n{BINDING.replace('    ', '        ')}",
}


@pytest.mark.parametrize("lines", OVERRIDING.values(), ids=OVERRIDING)
def test_no_class_in_a_typed_dict_is_asked_for_the_validator_of_another(lines: str) -> None:
    head = "from pydantic import field_validator\nfrom typing_extensions import TypedDict\n"
    assert refused(tool(f"{head}{VALIDATORS}{lines}class D(A, B):\n    c: int\n", "x: D"))


FACTORIES = {
    "with a default": "_dflt_x: object\n    x: list = field(default_factory=list)",
    "made alone": "_dflt_x: object\n    x: list = field(default_factory=list, init=False)",
    "given alone": "_dflt_x: InitVar[object]\n    x: list = field(default_factory=list)",
}


@pytest.mark.parametrize("fields", FACTORIES.values(), ids=FACTORIES)
def test_no_field_of_a_dataclass_is_called_as_the_factory_of_another(fields: str) -> None:
    head = "from dataclasses import InitVar, dataclass, field\n@dataclass\nclass D:\n    "
    assert refused(tool(f"{head}{fields}\nX = D(evil)"))


def test_fields_behind_a_mark_are_given_by_name() -> None:
    lines = (
        "from dataclasses import KW_ONLY, dataclass\n@dataclass\nclass D:\n    a: int\n    _: KW_ONLY\n    b: int = 1\n"
    )
    assert not refused(tool(lines, "x: D"))


@pytest.mark.parametrize("given", ["default_factory=dict", "default=None", "None"])
def test_a_model_has_attributes_of_its_own(given: str) -> None:
    head = "from pydantic import BaseModel, PrivateAttr\nclass D(BaseModel):\n    a: int = 1\n"
    assert not refused(tool(f"{head}    _x: dict[str, int] | None = PrivateAttr({given})\n", "x: D"))


LATER = (
    "from dataclasses import dataclass, field\nfrom datetime import datetime\nfrom typing import Annotated, Generic\n"
)
LATER += "from typing import NamedTuple, TypedDict, TypeVar\nfrom uuid import UUID, uuid4\nimport uuid\n"
LATER += "from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, RootModel\n"
LATER += "class S(BaseModel):\n    model_config = ConfigDict(validate_default=True)\n"
LATER += "    a: int = Field(default_factory=evil, validate_default=True)\nmake = lambda: evil()\n"
MADE_LATER = {
    "function of a package": "class D(BaseModel):\n    a: UUID = Field(default_factory=uuid4)",
    "function of a module": "class D(BaseModel):\n    a: UUID = Field(default_factory=uuid.uuid4)",
    "method of a class": "class D(BaseModel):\n    a: datetime = Field(default_factory=datetime.now)",
    "own function": "class D(BaseModel):\n    a: int = Field(default_factory=evil)",
    "lambda": "class D(BaseModel):\n    a: list[int] = Field(default_factory=lambda: [evil()])",
    "named lambda": "class D(BaseModel):\n    a: int = Field(default_factory=make)",
    "given fields": "class D(BaseModel):\n    a: int = 1\n    b: int = Field(default_factory=lambda data: evil(data))",
    "model": "class D(BaseModel):\n    a: S = Field(default_factory=S, validate_default=True)\n    b: S = {}",
    "list of models": "class D(BaseModel):\n    a: list[S] = Field(default_factory=list[S])\n    b: list[S] = [{}]",
    "beside a type": "class D(BaseModel):\n    a: Annotated[int, Field(default_factory=evil)]",
    "attribute": "class D(BaseModel):\n    a: int = 1\n    _x: int = PrivateAttr(default_factory=evil)",
    "inherited": "class D(S):\n    b: int = Field(default_factory=evil)\n    a: int",
    "root": "class D(RootModel[int]):\n    root: int = Field(default_factory=evil)",
    "generic": "T = TypeVar('T')\nclass G(BaseModel, Generic[T]):\n    a: T = Field(default_factory=evil)\n"
    "class D(BaseModel):\n    g: G[int] = Field(default_factory=evil)",
    "typed dict": "class D(TypedDict):\n    a: Annotated[int, Field(default_factory=evil)]",
    "named tuple": "class D(NamedTuple):\n    a: int = Field(default_factory=evil)",
    "dataclass": "@dataclass(slots=True, order=True)\nclass B:\n    'B.'\n    a: int = field(default_factory=evil)\n"
    "@dataclass\nclass D:\n    a: B = field(default_factory=B)\n    b: int = Field(default_factory=evil)",
}


BY_EVIL = "Field(default_factory=evil)"


@pytest.mark.parametrize(
    "use", ["x: D", "x: D = {}", f"x: D = {BY_EVIL}", "x: list[D] = [{}]", f"x: Annotated[D, {BY_EVIL}]"]
)
@pytest.mark.parametrize("lines", MADE_LATER.values(), ids=MADE_LATER)
def test_no_factory_of_a_field_is_called_to_describe_it(lines: str, use: str) -> None:
    given = use.removeprefix("x: ").partition(" = ")[0]
    assert not refused(tool(LATER + lines, use).replace("-> int", f"-> {given}"))


OBJECTS = {
    "member of an enum": "class K(Enum):\n    A = 1\n",
    "instance": "@dataclass\nclass C:\n    x: object\nX = C(evil)\n",
    "name that is bound again": "def f():\n    return 1\nf = 1\n",
}
ASKED_FOR = {
    "member of an enum": "K.A",
    "instance": "X",
    "name that is bound again": "f",
    "result of a call": "evil()",
    "name of another file": "other",
    "module": "_t",
    "value in a list": "[evil][0]",
}


@pytest.mark.parametrize("kept", ["Field", "PrivateAttr", "field"])
@pytest.mark.parametrize("factory", ASKED_FOR.values(), ids=ASKED_FOR)
def test_a_factory_of_a_field_is_a_function_or_a_class(factory: str, kept: str) -> None:
    lines = f"from enum import Enum\nfrom ._t import other\nfrom . import _t\n{LATER}{''.join(OBJECTS.values())}"
    cls = "@dataclass\nclass D:\n    " if kept == "field" else "class D(BaseModel):\n    "
    name = "_a" if kept == "PrivateAttr" else "a"
    source = tool(f"{lines}{cls}{name}: int = {kept}(default_factory={factory})", "x: D")
    assert refused(source, {"_t.py": "def other():\n    pass\nother = 1\n"})


def test_a_factory_of_another_file_is_a_function() -> None:
    line = "from ._t import other\nclass D(BaseModel):\n    a: int = Field(default_factory=other)"
    assert not refused(tool(LATER + line, "x: D = {}"), {"_t.py": f"def other():\n    {RUN}\n"})


VALIDATED = "from pydantic import AfterValidator, BeforeValidator, PlainValidator, StringConstraints, WrapValidator\n"
VALIDATED += f"from typing import Literal\nK = Literal['b']\ndef check(v):\n    {RUN}\n    return v\n"
VALIDATED += "def wrap(v, handler):\n    return check(v)\n"
VALIDATORS_OF_TYPES = [
    "AfterValidator(check)", "AfterValidator(func=check)", "AfterValidator(lambda v, info: check(v))",
    "BeforeValidator(check)", "BeforeValidator(str.strip)", "PlainValidator(check)", "WrapValidator(wrap)",
]  # fmt: skip
TYPES = {
    "parameter": ("", "Annotated[str, V]", "'b'"),
    "alias": ("A = Annotated[str, V, StringConstraints(max_length=9)]", "list[A]", "['b']"),
    "key": ("", "dict[Annotated[K, V], int]", "{'b': 1}"),
    "union": ("", "Annotated[str, V] | Annotated[int, V] | None", "'b'"),
    "model": ("class D(BaseModel):\n    a: Annotated[str, V] = Field('b', validate_default=True)", "D", "{}"),
    "dataclass": ("@dataclass(slots=True)\nclass D:\n    'D.'\n    a: Annotated[str, V] = 'b'", "D", "{}"),
    "instance": ("@dataclass\nclass D:\n    a: Annotated[str, V] = 'b'\nX = D('b')", "D", "X"),
    "named tuple": ("class D(NamedTuple):\n    a: Annotated[str, V] = 'b'\nX = D('b')", "D", "X"),
    "typed dict": ("class D(TypedDict):\n    a: Annotated[str, V]", "D", "{'a': 'b'}"),
    "root": ("class D(RootModel[Annotated[str, V]]):\n    root: Annotated[str, V] = 'b'", "D", "'b'"),
    "generic": ("T = TypeVar('T')\nclass G(BaseModel, Generic[T]):\n    a: T = 'b'", "G[Annotated[str, V]]", "{}"),
}


@pytest.mark.parametrize("validator", VALIDATORS_OF_TYPES)
@pytest.mark.parametrize(("lines", "kind", "default"), TYPES.values(), ids=TYPES)
def test_no_validator_beside_a_type_is_called_to_describe_it(
    lines: str, kind: str, default: str, validator: str
) -> None:
    source = tool(LATER + VALIDATED + lines, f"x: {kind} = {default}").replace("-> int", f"-> {kind}")
    assert not refused(source.replace(" V]", f" {validator}]").replace(" V,", f" {validator},"))


@pytest.mark.parametrize(
    "made",
    [
        "AfterValidator(evil())", "AfterValidator(M.A)", "BeforeValidator(check, json_schema_input_type='evil()')",
        "AfterValidator(*[check])", "PlainSerializer(check)", "StringConstraints(pattern=check)",
        "StringConstraints(pattern='(a{1000}){1000}')", "'AfterValidator(check)'.join([check])",
    ],
)  # fmt: skip
def test_validators_beside_a_type_are_functions(made: str) -> None:
    lines = "from enum import Enum\nfrom pydantic import PlainSerializer\nclass M(Enum):\n    A = 1\n"
    assert refused(tool(f"{LATER}{VALIDATED}{lines}A = Annotated[str, {made}]", "x: A"))


MADE_BY = f"    @property\n    def __init__(self):\n        {RUN}\n        return int\n"
CONSTRUCTORS = {
    "factory": f"class B:\n{MADE_BY}@dataclass\nclass D:\n    a: B = field(default_factory=B)",
    "base": f"class B:\n{MADE_BY}@dataclass(init=False)\nclass D(B):\n    a: int",
    "cached": f"import functools\nclass A:\n{MADE_BY.replace('property', 'functools.cached_property')}"
    "class B(A): pass\n"
    "class D(BaseModel):\n    a: int = Field(default_factory=B)",
    "with a setter": f"class B:\n{MADE_BY}    @__init__.setter\n    def __init__(self, v): pass\n"
    "class D(BaseModel):\n    a: int = Field(default_factory=B)",
}


@pytest.mark.parametrize("lines", CONSTRUCTORS.values(), ids=CONSTRUCTORS)
def test_no_property_is_given_a_class_to_find_its_parameters(lines: str) -> None:
    assert refused(tool(LATER + lines, "x: D"))


def test_no_property_is_given_an_environment_to_find_its_parameters() -> None:
    assert refused(environment(f"x = 1\n{MADE_BY}"))
