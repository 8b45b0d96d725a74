"""Test small sources made to take long: each is checked, or refused, in time proportional to its length."""

import sys
from contextlib import suppress
from inspect import Parameter
from itertools import islice, product
from pathlib import Path

import pytest

from tea.errors import BadComponent
from tea.source.agent_file import agent_in
from tea.source.dynamic import DynamicManager

pytestmark = pytest.mark.slow

MANAGER = DynamicManager(lambda digest: True)
HEAD = "from tea import tool\n\n"
REQUIRES = '# /// script\n# dependencies = ["pydantic"]\n# ///\n'
TOOL = '\n\n@tool\ndef t(x: int) -> int:\n    """Say."""\n    return x\n'


def chain(first: str, step: str, length: int = 40) -> str:
    """Lines making a constant each, of the one before."""
    return f"a0 = {first}\n" + "".join(f"a{i} = {step.replace('B', f'a{i - 1}')}\n" for i in range(1, length))


def nested(depth: int) -> str:
    """Loops in each other."""
    return "[" * depth + "1" + "".join(f" for x{i} in 'ab']" for i in range(depth))


def refused(source: str, files: dict[str, str] | None = None) -> str:
    """Check a source, and return the problem with it."""
    with pytest.raises(BadComponent) as caught:
        MANAGER.check(source, files)
    return str(caught.value)


CHAINS = {
    "sum": chain("1", "B + B"),
    "greatest": chain("1", "max(B, B)"),
    "count": chain("'x'", "len([B, B])", 17) + "b = a16[0]\n" * 400,
    "fraction": "from fractions import Fraction\n" + chain("1", "Fraction(B, B)"),
    "in a loop": chain("1", "B + B") + "b = [a39 + a39 for x in 'ab']",
    "calls in a loop": f"b = [{'len(' * 80}'a'{')' * 80} for x in 'ab']",
    "comparisons in a loop": f"b = [{'(1 in ' * 80}'a'{')' * 80} for x in 'ab']",
    "loops over loops": f"b = {'[x for x in ' * 60}'a'{']' * 60}",
    "codecs in a loop": f"b = [x{'.encode().decode()' * 40} for x in 'ab']",
}


@pytest.mark.parametrize("lines", CHAINS.values(), ids=CHAINS.keys())
def test_each_value_is_followed_once_however_often_it_is_used(lines: str) -> None:
    with suppress(BadComponent):  # whether it is small enough to be taken is the point of other tests
        MANAGER.check(HEAD + lines + TOOL)


def test_the_work_of_following_values_is_bounded() -> None:
    assert "take too long to follow" in refused(f"{HEAD}a = {nested(20)}{TOOL}")


def indented(lines: list[str]) -> str:
    """Each line in the block that the one before it begins."""
    return "".join(f"{' ' * depth}{line}\n" for depth, line in enumerate(lines))


BLOCKS = {
    "loops": f"a = {nested(25)}",
    "a loop in loops": indented(["def f():", *["for x in 'ab':"] * 20, f"return {nested(1)}"]),
    "a loop in tries": indented(["def f():", *["try:"] * 8, f"a = {nested(1)}"])
    + "".join(f"{' ' * depth}finally: pass\n" for depth in range(8, 0, -1)),
    "a loop in contexts": indented(["def f(x):", f"with {', '.join(['x'] * 20)}:", f"return {nested(1)}"]),
    "a default in loops": indented(["def f():", *["for x in 'ab':"] * 18, f"def g(a={nested(5)}): pass"]),
}


@pytest.mark.parametrize("lines", BLOCKS.values(), ids=BLOCKS)
def test_loops_are_nested_no_deeper_than_compilers_can(lines: str) -> None:
    assert "nests loops too deeply" in refused(f"{HEAD}{lines}{TOOL}")


def test_a_function_begins_its_own_nest() -> None:
    inner = f"a = {'[(lambda: ' * 12}{nested(10)}{')() for x in []]' * 12}"
    MANAGER.check(f"{HEAD}def f():\n    {inner}\n{TOOL}")
    MANAGER.check(f"{HEAD}{indented(['def f():', *['for x in []:'] * 15, 'def g():', f'return {nested(10)}'])}{TOOL}")


NAMES = {
    "aliases": "".join(f"type A{i} = int\n" for i in range(20_000)),
    "parameters": f"class A[{', '.join(f'T{i}' for i in range(20_000))}]: pass\n",
}


@pytest.mark.parametrize("lines", NAMES.values(), ids=NAMES)
def test_names_of_types_are_bounded(lines: str) -> None:
    wanted = "too many names" if sys.version_info >= (3, 12) else "this is not Python"  # they are new in 3.12
    assert wanted in refused(f"{HEAD}{lines}{TOOL}")


def test_classes_imported_in_circles_are_refused() -> None:
    files = {
        f"_own/f{j}.py": "".join(f"from .f{(j + 1) % 3} import N{i + 1} as N{i}\n" for i in range(24))
        + '\n\nclass N24:\n    """N."""\n'
        for j in range(3)
    }
    source = f'{HEAD}from ._own.f0 import N0\n\n\nclass K(N0):\n    """K."""\n{TOOL}'
    assert "in a circle" in refused(source, files)


def test_long_ways_of_imports_are_taken_once_and_then_refused() -> None:
    names = [f"N{i}" for i in range(200)]
    files = {f"_h/f{j}.py": f"from .f{j + 1} import {', '.join(names)}\n" for j in range(180)}
    files["_h/f180.py"] = "".join(f'class {name}:\n    """N."""\n' for name in names)
    classes = "".join(f'class K{name}({name}):\n    """K."""\n' for name in names)
    source = f"{HEAD}from ._h.f0 import {', '.join(names)}\n{classes}{TOOL}"
    assert "take too long to follow" in refused(source, files)


BLANK = "\n" * 300_000
DOCSTRINGS = {
    "tool": f'{HEAD}@tool\ndef t(x: int) -> int:\n    """{BLANK}Say."""\n    return x\n',
    "helper": f'{HEAD}def h() -> int:\n    """{BLANK}Say."""\n    return 1\n{TOOL}',
    "action": "from tea import Environment, action\n\n\nclass E(Environment):\n"
    f'    """Say."""\n\n    @action\n    async def a(self) -> int:\n        """{BLANK}Say."""\n        return 1\n',
}


@pytest.mark.parametrize("source", DOCSTRINGS.values(), ids=DOCSTRINGS.keys())
def test_a_docstring_of_very_many_lines_is_refused(source: str) -> None:
    assert "docstring has more than 5000 lines" in refused(source)


def test_an_assigned_docstring_of_very_many_lines_is_refused() -> None:
    source = (
        f"from tea import Environment, action\n\n\nclass E(Environment):\n    __doc__ = {BLANK + 'Say.'!r}\n"
        '    """Say."""\n\n    @action\n    async def a(self) -> int:\n        """Say."""\n        return 1\n'
    )
    with pytest.raises(BadComponent, match="docstring"):
        MANAGER.describe(MANAGER.check(source), version="1.0.0")


@pytest.mark.parametrize("made", [repr(BLANK + "a"), "'\\n' * 300_000 + 'a'"], ids=["written", "repeated"])
def test_an_assigned_docstring_of_any_class_is_short(made: str) -> None:
    model = f"from pydantic import BaseModel\nclass D(BaseModel):\n    __doc__ = {made}\n    y: int = 1\n"
    refused(f"{REQUIRES}{HEAD}{model}{TOOL}")


def test_a_docstring_beside_a_declared_agent_is_short(tmp_path: Path) -> None:
    source = (
        f'from tea import Agent\nclass D:\n    """{BLANK}a"""\nprobe = Agent(name="probe", instructions="Do it.")\n'
    )
    with pytest.raises(BadComponent, match="docstring"), agent_in(tmp_path / "probe.py", source):
        pass


DOCUMENTED = {
    "by a call": "(BaseModel):\n    model_config = ConfigDict(use_attribute_docstrings=True)\n",
    "by an option": "(BaseModel, use_attribute_docstrings=True):\n",
}


@pytest.mark.parametrize("line", DOCUMENTED.values(), ids=DOCUMENTED)
@pytest.mark.parametrize("mark", ["class K{}(TypedDict):\n", "@dataclass\nclass K{}:\n"])
def test_a_file_is_not_read_again_for_each_class_with_words_of_fields(mark: str, line: str) -> None:
    head = f"{REQUIRES}{HEAD}from dataclasses import dataclass\nfrom typing_extensions import TypedDict\n"
    head += f"from pydantic import BaseModel, ConfigDict\nX = [{'1,' * 1_000}]\n"
    classes = "".join(f"{mark.format(n)}    a: int\n" for n in range(100))
    fields = "".join(f"    a{n}: K{n}\n" for n in range(100))
    assert "use_attribute_docstrings" in refused(f"{head}{classes}class D{line}{fields}{TOOL}")


IN_TEMPLATES = {
    "sets": "idpattern = '[\\u0101-\\uffff]' * 5_000",
    "sets in braces": "braceidpattern = '[\\u0101-\\uffff]' * 5_000",
    "sets written out": f"pattern = {'[ā-ž]' * 5_000!r}",
    "alternatives": "idpattern = '(a|(' * 200_000",
}


@pytest.mark.parametrize("line", IN_TEMPLATES.values(), ids=IN_TEMPLATES)
@pytest.mark.parametrize(
    "holder", ["class T(Template):\n    ", "class M:\n    {}\nclass T(M, Template):\n    x = 1\n    "]
)
def test_the_pattern_of_a_template_is_short(line: str, holder: str) -> None:
    classes = holder.format(line) if "{}" in holder else holder + line
    refused(f"{HEAD}from string import Template\n{classes}\n{TOOL}")


def test_templates_have_patterns() -> None:
    lines = "    delimiter = '%'\n    idpattern = '[a-z_][a-z0-9_]*'\n    flags = 0\n"
    MANAGER.check(f"{HEAD}from string import Template\nclass T(Template):\n{lines}{TOOL}")


def test_a_name_of_very_many_parts_is_refused() -> None:
    lines = f"    os{'.a' * 900}\n" * 10
    assert "more than 32 parts" in refused(f"import os\n{HEAD}def f():\n{lines}{TOOL}")
    MANAGER.check(f"import os\n{HEAD}def f(x):\n    return x{'.a' * 30}{'.b()' * 60}\n{TOOL}")


def test_a_requirement_block_with_a_deep_key_is_refused() -> None:
    block = f"# /// script\n# a{'.a' * 100_000}=1\n# ///\n"
    assert "more than 32 parts" in refused(block + HEAD + TOOL)


def test_very_many_functions_of_one_name_are_refused() -> None:
    setters = "    @x.setter\n    def x(self, v):\n        pass\n" * 16_000
    source = f"{HEAD}class K:\n    @property\n    def x(self):\n        return 1\n{setters}{TOOL}"
    assert "too many names" in refused(source)


def test_a_constant_is_small_however_many_files_make_it() -> None:
    files = {
        "_h/c.py": f"X = {'x' * 1000!r}\n",
        "_h/b.py": "from .c import X\nY = X * 1000\n",
    }
    source = f"{HEAD}from ._h.b import Y\nZ = Y * 1000\n{TOOL}"
    assert "memory" in refused(source, files)


def test_ordinary_tables_and_helpers_are_taken() -> None:
    rows = "".join(f"    'k{i}': ('ab', {i}, 'cd'),\n" for i in range(5_000))
    pairs = "PAIRS = {name: (first, last) for name, (first, _, last) in TABLE.items()}\n"
    MANAGER.check(f"{HEAD}TABLE = {{\n{rows}}}\n{pairs}{TOOL}")


def finally_in_finally(levels: int, ways_out: int) -> str:
    """A function copying the code behind a `try` for each way out of it."""
    lines = ["def g(a):"]
    for depth in range(1, levels + 1):
        blank = "    " * depth
        lines += [f"{blank}try:", *[f"{blank}    if a: return"] * ways_out, f"{blank}finally:"]
    return "\n".join([*lines, f"{'    ' * (levels + 1)}a()", ""])


LARGE = 2**61 - 1
LETTERS = [f"a{i}" for i in range(100)]
REPEATED = "'x'*4096"
COMPILED = {
    "finally": (finally_in_finally(6, 4), "to compile"),
    "or in a pattern": (
        f"def g(a):\n match a:\n  case [{','.join(LETTERS)}] | [{','.join(LETTERS[::-1])}]:\n   pass\n",
        "to compile",
    ),
    "names in a pattern": (
        f"def g(a):\n match a:\n  case [{','.join(LETTERS)},{','.join(f'b{one}' for one in LETTERS)}]:\n   pass\n",
        "to compile",
    ),
    "large numbers": (f"def g():\n return [{','.join(str(i * LARGE) for i in range(1, 5_000))}]\n", "to compile"),
    "numbers worked out": (f"def g():\n return [{','.join(f'{i}*{LARGE}' for i in range(5_000))}]\n", "to compile"),
    "other numbers worked out": (
        f"def g():\n return [{','.join(f'{1_000_003 * i}.0-{i}j' for i in range(1, 5_000))}]\n",
        "to compile",
    ),
    "tuples with one hash": (
        f"def g():\n return [{','.join(str(one) for one in islice(product((-1, -2), repeat=13), 5_000))}]\n",
        "to compile",
    ),
    "texts joined": (f"def g():\n return {'+'.join([REPEATED] * 800)}\n", "to compile"),
    "tuples joined": (f"def g():\n return {'+'.join(['(1,)*256'] * 400)}\n", "to compile"),
    "keywords": (f"def g(a):\n return a({','.join(f'k{i}=a' for i in range(20_000))})\n", "to compile"),
    "keywords in a pattern": (
        f"def g(a):\n match a:\n  case A({','.join(f'k{i}=_' for i in range(20_000))}):\n   pass\n",
        "to compile",
    ),
    "ways out of with": (
        f"async def g(a):\n async with {','.join('a' * 19)}:\n  {'return;' * 5_000}pass\n",
        "to compile",
    ),
    "scopes": (
        f"def g():\n    {'='.join(f'a{i}' for i in range(3_000))} = 0\n    def h():\n        "
        f"return [{'lambda: 0,' * 3_000}]\n",
        "too many names",
    ),
}


@pytest.mark.parametrize(("lines", "said"), COMPILED.values(), ids=COMPILED.keys())
def test_a_source_from_which_python_would_make_very_much_is_not_compiled(lines: str, said: str) -> None:
    assert said in refused(HEAD + lines + TOOL)


def test_ordinary_constants_keywords_and_ways_out_of_with_are_compiled() -> None:
    rows = "".join(f"    ({i}, -{i}, 'k' + 'v' * 20, dict(a={i}, b=1)),\n" for i in range(4_000))
    exits = "".join(f"        if x == {i}:\n            return {i}\n" for i in range(200))
    MANAGER.check(f"{HEAD}def g(x):\n    with x, x:\n{exits}    return [\n{rows}]\n{TOOL}")


def test_ordinary_ways_out_of_try_are_compiled() -> None:
    exits = "".join(f"        if x == {i}:\n            return {i}\n" for i in range(50))
    closing = "        print(1)\n" * 20
    MANAGER.check(f"{HEAD}def g(x):\n    try:\n{exits}    finally:\n{closing}{TOOL}")


FIELD = '# /// script\n# dependencies = ["pydantic"]\n# ///\nfrom pydantic import BaseModel, Field\n\n'
QUOTIENTS = "A0 = Decimal('1e999')\nB0 = Decimal('1e-999')\n" + "".join(  # exponents twice as long in each line
    f"A{i + 1} = A{i} / B{i}\nB{i + 1} = B{i} / A{i}\n" for i in range(9)
)
VALUES = {
    "bytes as a member": "import enum\n\n\nclass E(bytes, enum.Enum):\n    A = 2**31\n",
    "text as a member": "import enum\n\n\nclass E(str, enum.Enum):\n    A = (b'a-' + b'bz' * 20000, 'punycode')\n",
    "codec": "X = str(b'a-' + b'b' * 200000, 'punycode')\n",
    "logger": "import logging\n\nX = logging.getLogger('.' * 100000)\n",
    "docstring": "import inspect\n\nX = inspect.cleandoc('\\n' * 250000 + 'x')\n",
    "alternatives": "import re\n\nX = re.compile('a' * 100000 + '|' + 'a' * 100000)\n",
    "sets of characters": "import re\n\nX = re.compile('(?i)' + r'[\\x00-\\uffff]' * 5000)\n",
    "sets under a flag": "import re\n\nX = re.compile(r'[\\x00-\\uffff]' * 500, re.I)\n",
    "sets put together": "import re\n\nX = re.compile(('[a-' + chr(92) + 'uffff]') * 5000, re.I)\n",
    "sets in a loop": "import re\n\nX = [re.compile(p * 5000, re.I) for p in ['[a-\\uffff]']]\n",
    "sets cut out": "import re\n\nX = re.compile('[ a - \\\\ u f f f f ]'[::2] * 5000, re.I)\n",
    "far places": "X = round(1, -10**9)\n",
    "far places of a fraction": "from fractions import Fraction\n\nX = [round(Fraction(1, 3), n) for n in [10**9]]\n",
    "pattern of a field": f"{FIELD}X = Field(pattern=r'(\\w{{100}}){{100}}')\n",
    "repeated repetition of a field": f"{FIELD}X = Field(pattern='a{{1000}}{{1000}}')\n",
    "patterns of fields": f"{FIELD}P = r'\\w{{140}}'\nX = [Field(pattern=P) for i in range(100)]\n",
    "verbose pattern of a field": f"{FIELD}X = Field(pattern='(?x)a {{ # \\n 1000000}}')\n",
    "alternatives of a field": f"{FIELD}X = Field(pattern='{'a' * 100_000}|{'a' * 100_000}')\n",
    "sets of a field": f"{FIELD}X = Field(pattern='(?i){'[a-z]' * 5_000}')\n",
    "pattern of a field in a loop": f"{FIELD}P = 'a'\nX = [Field(pattern=P) for P in [r'(\\w{{100}}){{100}}']]\n",
    "joined pattern of a field": f"{FIELD}X = Field(pattern='a' + '{{1000}}' * 3)\n",
    "instances": "from dataclasses import dataclass, field\n\n\n@dataclass\nclass K:\n"
    "    x: list = field(default_factory=lambda: [0] * 30000)\n\n\nX = [K() for i in range(9000)]\n",
    "texts of instances": "from typing import NamedTuple\n\n\nclass K(NamedTuple):\n    x: str = 'a' * 30000\n\n\n"
    "X = [str(K()) for i in range(9000)]\n",
    "text of a class": f"class K{'a' * 30000}:\n    pass\n\n\nX = [str(K{'a' * 30000}) for i in range(9000)]\n",
    "text of a type": f"X = [str(list['{'a' * 30000}']) for i in range(9000)]\n",
    "documentation": f"def f():\n    '''{'a' * 100000}'''\n\n\nX = [f.__doc__ + 'b' for i in range(9000)]\n",
    "all that is there": "X = [str(__builtins__) for i in range(9000)]\n",
    "signs taken off": "X = ('\u0101' * 90000).lstrip('\u0100' * 90000 + '\u0101')\n",
    "a long separator from behind": f"A = '{'a' * 60}'\nX = (A * 7000).rsplit('ab' + A * 2500)\n",
    "a quotient of large numbers": f"A = '{'f' * 60}'\nX = int(A * 2000, 16) // int(A * 1000, 16)\n",
    "a long exact number": f"from decimal import Decimal\n\nX = int(Decimal('{'1' * 200000}'))\n",
    "the whole part of a quotient of exact numbers": f"from decimal import Decimal\n\n{QUOTIENTS}X = int(A9)\n",
    "a rounded quotient of exact numbers": f"from decimal import Decimal\n\n{QUOTIENTS}X = round(A9)\n",
    "many sets": "".join(f"A{i} = [{{1}} for x in range(210000)]\n" for i in range(20)),
    "many sets of calls": "".join(f"A{i} = [set() for x in range(250000)]\n" for i in range(25)),
    "many functions": "".join(f"A{i} = [lambda: 1 for x in range(300000)]\n" for i in range(20)),
    "one value for many keys": f"A = '{'a' * 60}' * 500\nX = str(dict.fromkeys(range(30000), A))\n",
    "one value in many places": f"A = '{'a' * 60}' * 1000\nX = '{'%(a)s' * 3000}' % {{'a': A}}\n",
    "wide parts of a date": f"from datetime import date\n\nX = f'{{date(2020, 1, 1):{'%999d' * 1000}}}' * 340\n",
    "words of a date": f"from datetime import date\n\nX = f'{{date(2020, 1, 1):{'a' * 30000}}}' * 340\n",
    "name of a time zone": "import datetime as dt\n\nZONE = dt.timezone(dt.timedelta(0), 'a' * 30000)\n"
    f"X = f'{{dt.datetime(2020, 1, 1, tzinfo=ZONE):{'%Z' * 12000}}}'\n",
}


@pytest.mark.parametrize("lines", VALUES.values(), ids=VALUES.keys())
def test_a_short_line_that_stands_for_seconds_or_gigabytes_is_refused(lines: str) -> None:
    assert any(words in refused(HEAD + lines + TOOL) for words in ("take", "work", "large", "another class"))


def test_ordinary_patterns_and_members_are_taken() -> None:
    MANAGER.check(
        f"import enum\nimport logging\nimport re\nfrom datetime import date\n{HEAD}"
        "DAYS = [f'{date(2020, 1, day):%A, %d. %B %Y}' for day in range(1, 32)]\n"
        f"ROWS = [{', '.join(f'{{{i}: 1, {i + 1}: 2}}' for i in range(3000))}]\n"
        "CODES = ['0123 '.strip(' 0123456789'), 'a/b/c'.rsplit('/', 1)[0], str(2**64 // 10**6)]\n"
        "ZEROS = [row for row in dict.fromkeys(range(300), (0,) * 300)]\n"
        "LINE = '%(name)s lives in %(town)s, and %(name)s likes %(town)s.' % {'name': 'Ann', 'town': 'Ulm'}\n"
        "MONTH = '|'.join(f'{name}|{name[:3]}\\\\.?' for name in ('january', 'may'))\n"
        "DATE = re.compile(rf'\\b(?P<m>{MONTH}) [0-9]+', re.IGNORECASE)\n"
        "WORD = re.compile(r'[a-z\\u00e4-\\u017f]+', re.I)\n"
        "SPLIT = {one: re.compile(rf'[1-9]{re.escape(one)}') for one in ',.'}\n"
        "LOG = logging.getLogger(__name__)\n\n\n"
        f"class E(str, enum.Enum):\n    A = 'a'\n{TOOL}"
    )


def test_ordinary_whole_parts_of_exact_and_other_numbers_are_taken() -> None:
    MANAGER.check(
        f"from decimal import Decimal\nfrom fractions import Fraction\n{HEAD}"
        "RATE = Decimal('1.5e-3') / Decimal('1e6')\nPART = round(Fraction(22, 7)) + int(RATE + 1) + round(RATE, 2)\n"
        "PARTS = [int(one / 3) for one in (Decimal('1e20'), Decimal(7))]\n"
        f"CODES = [int(one) for one in '{'1234567 ' * 5000}'.split()]\n{TOOL}"
    )


def test_ordinary_patterns_of_fields_and_rounded_numbers_are_taken() -> None:
    patterns = [
        r"^[\\w.+-]+@[\\w-]+\\.[\\w.-]+$",
        r"^\\d{4}-\\d{2}-\\d{2}$",
        r"^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$",
        r"^[a-z]{1,63}(\\.[a-z]{1,63}){1,10}$",
    ]
    fields = "".join(
        f"    f{i}: str = Field('', pattern='{one}')\n" for i, one in enumerate(patterns[:-1] * 5 + patterns)
    )
    model = f"class D(BaseModel):\n{fields}    g: str = Field('', pattern=HASH)\n"
    head = f"{FIELD}HASH = '^[0-9a-f]{{64}}$'\nX = round(2 / 3, 2) * 2.5\n\n\n"
    MANAGER.check(f"{HEAD}{head}{model}{TOOL}")


@pytest.mark.parametrize("lines", ["A = {}\nX = sum(x for x in A)\n", f"X = 'a' * 0x{'f' * 300}\n"])
def test_loops_without_rounds_and_huge_factors_are_no_errors_of_the_check(lines: str) -> None:
    with suppress(BadComponent):
        MANAGER.check(HEAD + lines + TOOL)


def test_what_is_unpacked_is_a_collection() -> None:
    endless = "from multiprocessing.process import _process_counter\n*X, = _process_counter"
    assert "is not a collection" in refused(f"{HEAD}{endless}{TOOL}")
    MANAGER.check(f"{HEAD}a, *b = 'x', 'y'\n(c, d), e = [(1, len), *b]{TOOL}")


def classes(base: str, body: str, count: int) -> str:
    """Classes deriving from each other, each with this body."""
    made = (f"class A{i}({f'A{i - 1}' if i else base}):\n    {body.replace('N', str(i))}\n" for i in range(count))
    return "".join(made)


TYPING = "from typing import Generic, TypeVar, TypedDict\nfrom dataclasses import dataclass\nT = TypeVar('T')\n"
DOUBLED = {
    "types": chain("int", "tuple[B, B]", 16),
    "texts": "A0 = int\n" + "".join(f"A{i} = tuple['A{i - 1}', 'A{i - 1}']\n" for i in range(1, 16)),
    "texts that name each other": "".join(
        f"A{i} = tuple[{', '.join(repr(f'A{j}') for j in range(9))}]\n" for i in range(16)
    ),
    "an alias with variables": f"{TYPING}P = tuple[T, T]\n{chain('int', 'P[B]', 16)}",
    "a generic class": f"{TYPING}class G(TypedDict, Generic[T]):\n    x: T\n{chain('int', 'G[tuple[B, B]]', 16)}",
}
GROWING = {
    "fields of dataclasses": TYPING
    + classes("", "yN: int = 1", 600).replace("class", "@dataclass\nclass").replace("()", ""),
    "fields of models": f"from pydantic import BaseModel\n{classes('BaseModel', 'yN: int = 1', 300)}",
    "abstract methods": "import abc\n" + classes("abc.ABC", "@abc.abstractmethod\n    def yN(self): pass", 900),
    "types of few fields": f"from pydantic import BaseModel\n{chain('int', 'tuple[B, B]', 7)}"
    + classes("BaseModel", "yN: a6", 100),
    "defaults": f"A = [0] * 200_000\ndef f({', '.join(f'x{i}: list[int] = A' for i in range(200))}): pass\n",
    "members of an enum": "import enum\nB = [0] * 2_000\nclass K(enum.Enum):\n"
    + "".join(f"    A{i} = B + [{i}]\n" for i in range(1_000)),
}
MODELS = "from typing import Annotated, Literal\nfrom pydantic import BaseModel, ConfigDict, Field\n"
FIELDS = "class D(BaseModel):\n" + "".join(f"    y{i}: A\n" for i in range(100))
DERIVED = "".join(f"class D{i}(B): pass\n" for i in range(300))
LARGE = {
    "options of fields": f"{MODELS}A = Annotated[int, Field(json_schema_extra={{'a': [0] * 200_000}})]\n{FIELDS}",
    "words of fields": f"{MODELS}A = Annotated[int, Field(description='a' * 200_000)]\n{FIELDS}",
    "words in literals": f"{MODELS}W = 'a' * 200_000\nA = Literal[W]\n{FIELDS}",
    "words written in literals": f"{MODELS}A = Literal['{'a' * 200_000}']\n{FIELDS}",
    "options of models": f"{MODELS}class B(BaseModel):\n"
    f"    model_config = ConfigDict(json_schema_extra={{'a': [0] * 1_000}})\n{DERIVED}",
}
LARGE["fields of named tuples"] = (
    f"{MODELS}from collections import namedtuple\nB = namedtuple('B', [f'a{{i}}' for i in range(300)])\n"
    + "".join(f"class M{i}(BaseModel):\n    b: B\n" for i in range(400))
)
GROWING |= LARGE
USING = "from dataclasses import dataclass\nfrom typing import Generic, NamedTuple, TypeVar\n"
USING += "from typing_extensions import TypedDict\nfrom pydantic import BaseModel, field_validator\nT = TypeVar('T')\n"
MANY = "".join(f"    f{i}: int\n" for i in range(2_000))
MARKS = {
    "dataclass": "@dataclass\nclass B:\n",
    "typed dict": "class B(TypedDict):\n",
    "named tuple": "class B(NamedTuple):\n",
}
TYPES = [f"tuple[{', '.join(['int', 'str', 'bool', 'bytes'][i // 4**n % 4] for n in range(4))}]" for i in range(200)]
AGAIN = {
    **{
        f"{what} in {name}": f"{USING}{mark}{MANY}{alias}"
        + "".join(f"class M{i}(BaseModel):\n    b: {kind}\n" for i in range(200))
        for what, mark in MARKS.items()
        for name, alias, kind in (
            ("models", "", "B"),
            ("texts", "", "'list[B]'"),
            ("aliases", "A = list[B]\n", "A"),
            ("others", "@dataclass\nclass A:\n    b: B\n", "A"),
        )
    },
    "enum in models": f"{USING}from enum import Enum\nclass B(Enum):\n{MANY.replace(': int', ' = 1')}"
    + "".join(f"class M{i}(BaseModel):\n    b: B\n" for i in range(200)),
    "model in actions": f"from tea import Environment, action\n{USING}class B(BaseModel):\n{MANY}class E:\n"
    + "".join(f"    @action\n    async def a{i}(self, b: B) -> int:\n        return 1\n" for i in range(200)),
    "validators": f"{USING}from pydantic import field_validator as v\nclass B(BaseModel):\n{MANY}"
    + "".join(f"    @v('*')\n    @classmethod\n    def v{i}(cls, x): return x\n" for i in range(200)),
    "types of a root": f"{USING}from pydantic import RootModel\n{MARKS['dataclass']}{MANY}"
    + "".join(f"X{i} = RootModel[tuple[B, {one}]]\n" for i, one in enumerate(TYPES)),
    "generic model": f"{USING}class B(BaseModel, Generic[T]):\n    x: T\n{MANY}"
    f"class D(BaseModel):\n{''.join(f'    b{i}: B[{one}]' + chr(10) for i, one in enumerate(TYPES))}",
    "generic models as values": f"{USING}class B(BaseModel, Generic[T]):\n    x: T\n{MANY}"
    f"{''.join(f'X{i} = B[{one}]' + chr(10) for i, one in enumerate(TYPES))}",
    "generic dataclass": f"{USING}@dataclass\nclass B(Generic[T]):\n    x: T\n{MANY}"
    f"class D(BaseModel):\n{''.join(f'    b{i}: B[{one}]' + chr(10) for i, one in enumerate(TYPES))}",
}
PAIRS = f"({', '.join(f'x{i}' for i in range(13))}) {' '.join(f'for x{i} in (-1, -2)' for i in range(13))}"
ALIKE = {
    "set": f"X = {{{PAIRS}}}\n",
    "dict": f"X = {{{PAIRS.replace(') for', '): 1 for', 1)}}}\n",
    "list made a set": f"X = [{PAIRS}]\nY = set(X)\n",
    "list unpacked": f"X = [{PAIRS}]\nY = {{*X}}\n",
    "loop made a dict": f"X = dict.fromkeys([{PAIRS}])\n",
}


@pytest.mark.parametrize("lines", [*DOUBLED.values(), *GROWING.values()], ids=[*DOUBLED, *GROWING])
def test_what_is_described_again_for_each_use_is_bounded(lines: str) -> None:
    needs = '# /// script\n# dependencies = ["pydantic"]\n# ///\n'
    used = TOOL.replace("x: int", "x: a15") if "a15 =" in lines else TOOL
    said = refused(f"{needs}{HEAD}{lines}{used}")
    assert "too long to follow" in said or "very many large members" in said


@pytest.mark.parametrize("lines", AGAIN.values(), ids=AGAIN)
def test_a_large_class_is_not_described_again_for_very_many_types(lines: str) -> None:
    assert "described again" in refused(f"{REQUIRES}{HEAD}{lines}{TOOL}")


def test_classes_are_used_by_many_models_and_actions() -> None:
    rows = "".join(f"@dataclass\nclass B{i}:\n" + "".join(f"    f{n}: int\n" for n in range(12)) for i in range(40))
    every = f"tuple[{', '.join(f'B{i}' for i in range(40))}]"
    models = "".join(f"class M{i}(BaseModel):\n    a: {every}\n    b: list[M{i - 1}]\n" for i in range(1, 120))
    models += (
        "class C(BaseModel):\n"
        + "".join(f"    c{i}: int\n" for i in range(100))
        + ("".join(f"    @field_validator('*')\n    @classmethod\n    def v{i}(cls, x): return x\n" for i in range(10)))
    )
    head = f"{REQUIRES}{HEAD}{USING}{rows}class M0(BaseModel):\n    x: int\n"
    MANAGER.check(f"{head}{models}{TOOL.replace('x: int', 'x: M119')}")


LONG_NAMES = {
    "a list": "A = [f'a{i}' for i in range(50_000)]\nX = namedtuple('X', A)\n",
    "a text": "A = ' '.join(f'a{i}' for i in range(50_000))\nX = namedtuple('X', A)\n",
    "an option": "A = [f'a{i}' for i in range(50_000)]\nX = namedtuple('X', field_names=A)\n",
    "a loop": "A = [f'a{i}' for i in range(50_000)]\nX = [namedtuple('X', one) for one in [A]]\n",
}


@pytest.mark.parametrize("lines", LONG_NAMES.values(), ids=LONG_NAMES)
def test_a_named_tuple_has_few_fields(lines: str) -> None:
    assert "a call does work" in refused(f"from collections import namedtuple\n{HEAD}{lines}{TOOL}")


TYPES_MADE = {
    "models": "class X{}(BaseModel): a: int\n",
    "dataclasses": "@dataclass(slots=True)\nclass X{}:\n    'X.'\n    a: int\n",
    "named tuples": "X{} = namedtuple('X{}', 'a')\n",
}


@pytest.mark.parametrize("line", TYPES_MADE.values(), ids=TYPES_MADE)
def test_a_component_makes_few_types_in_all_its_files(line: str) -> None:
    head = "from typing import Literal\nfrom pydantic import BaseModel, RootModel\nfrom dataclasses import dataclass\n"
    head += "from collections import namedtuple\n"
    names = iter(range(6_000))
    files = {f"m{n}.py": head + "".join(line.replace("{}", str(next(names))) for _ in range(200)) for n in range(30)}
    imports = "".join(f"from .{path[:-3]} import X{n * 200}\n" for n, path in enumerate(files))
    assert "more than 5,000 classes" in refused(f"{REQUIRES}{HEAD}{imports}{TOOL}", files)
    few = dict(islice(files.items(), 10))
    MANAGER.check(f"{REQUIRES}{HEAD}{''.join(imports.splitlines(keepends=True)[:10])}{TOOL}", few)


BRACKETS = ["R", "RootModel[T]", "Optional[RootModel[T]]", "RootModel[T] | None"]


@pytest.mark.parametrize("alias", BRACKETS)
def test_brackets_make_few_models(alias: str) -> None:
    head = f"{REQUIRES}{HEAD}from typing import Literal, Optional, TypeVar\nfrom pydantic import RootModel\n"
    head += f"from pydantic import RootModel as R\nT = TypeVar('T')\nA = {alias}\n"
    lines = [f"X = A[Literal[{n}]]\n" for n in range(2_000)]
    assert "too long to follow" in refused(f"{head}{''.join(lines)}{TOOL}")
    fields = "".join(f"    x{n}: list['A[Literal[{n}]]']\n" for n in range(2_000))
    assert "too long to follow" in refused(f"{head}class D:\n{fields}{TOOL}")
    MANAGER.check(f"{head}{''.join(lines[:200])}{lines[0] * 300}{TOOL}")


def test_no_loop_makes_models() -> None:
    head = f"{REQUIRES}{HEAD}from pydantic import RootModel\nfrom typing import Literal\n"
    loop = (
        "X = [RootModel[Literal[i]] for i in range(500)]\nY = [list[RootModel[Literal[i, 'a']]] for i in range(500)]\n"
    )
    refused(f"{head}{loop}{TOOL}")
    MANAGER.check(f"{head}X = [list[Literal[i]] for i in range(500)]\nY = RootModel[Literal['a']]\n{TOOL}")


def test_named_tuples_have_fields_out_of_lists() -> None:
    lines = "A = ('a', 'b')\nX = namedtuple('X', A)\nY = namedtuple('Y', 'a b', defaults=(1,))\n"
    MANAGER.check(f"from collections import namedtuple\n{HEAD}{lines}{TOOL}")


def test_the_options_of_a_model_are_short() -> None:
    options = "protected_namespaces=('a_',) * 100_000"
    head = f"{REQUIRES}{HEAD}{MODELS}class B(BaseModel):\n    model_config = ConfigDict({options})\n    y: int\n{TOOL}"
    assert "options of a model are large" in refused(head)
    MANAGER.check(head.replace("100_000", "3"))


def test_fields_have_long_words() -> None:
    fields = "".join(f"    y{i}: Annotated[int, Field(description='{'word ' * 100}')] = {i}\n" for i in range(300))
    MANAGER.check(f"{REQUIRES}{HEAD}{MODELS}class B(BaseModel):\n{fields}{TOOL}")


@pytest.mark.parametrize("lines", ALIKE.values(), ids=ALIKE)
def test_entries_that_may_have_one_hash_are_few(lines: str) -> None:
    said = refused(f"{HEAD}{lines}{TOOL}")
    assert "takes long or much memory" in said or "a call does work" in said


def test_ordinary_types_classes_and_sets_are_taken() -> None:
    lines = (
        "from typing import Generic, Sequence, TypeVar, Union\nfrom dataclasses import dataclass\n"
        "Json = Union[None, int, str, Sequence['Json'], dict[str, 'Json']]\nT = TypeVar('T')\nP = tuple[T, T]\n"
        "@dataclass\nclass A(Generic[T]):\n    x: P[int]\n    y: list[Json] | None = None\n"
        f"@dataclass\nclass B(A[int]):\n    z: A[P[str]] | None = None\n"
        f"WORDS = frozenset('{'word ' * 3_000}'.split())\n"
        "FORMS = {form: line[0] for line in 'a b'.split(';') for form in line.split()[1:]}\n"
        "NUMBERS = {i: chr(i) for i in range(3_000)}\ndef f(a: Json, b: 'list[B]', c: str = 'x' * 5_000): pass\n"
    )
    MANAGER.check(f"{HEAD}{lines}{TOOL}")


def test_a_typed_dict_of_typed_dicts_is_described_once() -> None:
    first = "from typing import TypedDict\nclass A0(TypedDict):\n    x: int\n"
    more = "".join(f"class A{i}(TypedDict):\n    x: tuple[A{i - 1}, A{i - 1}]\n" for i in range(1, 25))
    text = MANAGER.check(f"{HEAD}{first}{more}{TOOL.replace('x: int', 'x: A24')}")
    assert "A24" in str(MANAGER.describe(text, version="1.0.0").operations["call"].parameters)


def test_a_class_of_very_many_members_is_refused() -> None:
    def source(members: int) -> str:
        fields = "".join(f"    a{i}: int\n" for i in range(members))
        return f"from dataclasses import dataclass\n{HEAD}@dataclass\nclass K:\n{fields}{TOOL}"

    MANAGER.check(source(4_000))
    assert "more than 5,000 members" in refused(source(6_000))


def test_a_function_of_very_many_parameters_is_described_without_comparing_each_with_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[object] = []
    monkeypatch.setattr(Parameter, "__eq__", lambda one, _: compared.append(one))
    given = ", ".join(f"a{i}: int" for i in range(300))
    source = f'{HEAD}@tool\ndef t({given}) -> int:\n    """Say."""\n    return 1\n'
    found = MANAGER.describe(MANAGER.check(source), version="1.0.0")
    assert len(found.operation("call").parameters["properties"]) == 300
    assert compared == []


ASKED = {
    "of a model": "class D(BaseModel):\n    a: int = Field(default_factory=f)\n",
    "of a dataclass": "@dataclass\nclass D:\n    a: int = field(default_factory=f)\n",
    "of a private attribute": "class D(BaseModel):\n    _a: int = PrivateAttr(default_factory=f)\n",
    "of a validated field": "class D(BaseModel):\n    a: int\n    @field_validator('a')\n"
    "    def v(cls, GIVEN): return a0\n",
    "of a validated model": "class D(BaseModel):\n    a: int\n    @model_validator(mode='wrap')\n"
    "    def v(cls, GIVEN): return a0\n",
}
FUNCTIONS = {
    "function": "def f(GIVEN): pass\n",
    "lambda": "f = lambda GIVEN: 1\n",
    "class": "@dataclass\nclass f:\n    FIELDS\n",
}
FUNCTIONS["derived class"] = f"{FUNCTIONS['class'].replace('f:', 'e:')}class f(e): pass\n"
FUNCTIONS["method"] = "class f:\n    def __init__(self, GIVEN): pass\n"


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("lines", ASKED.values(), ids=ASKED)
def test_a_function_asked_for_its_parameters_for_each_field_has_few(lines: str, function: str) -> None:
    def source(given: int) -> str:
        names = [f"a{i}" for i in range(given)]
        imports = "from dataclasses import dataclass, field\n"
        imports += "from pydantic import BaseModel, Field, PrivateAttr, field_validator, model_validator\n"
        found = f"{REQUIRES}{imports}{HEAD}{function}{lines}{TOOL}"
        return found.replace("GIVEN", ", ".join(f"{one}=1" for one in names)).replace(
            "FIELDS", "; ".join(f"{one}: int = 1" for one in names)
        )

    MANAGER.check(source(9))
    assert refused(source(90))
