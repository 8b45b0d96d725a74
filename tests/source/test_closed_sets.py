"""Test the names evaluated in a source: types out of a closed set, small constants, and nothing with an effect."""

import time

import pytest

from tea.errors import BadComponent
from tea.source.dynamic import DynamicManager

MANAGER = DynamicManager(lambda digest: False)


def tool(parameter: str = "x: int", head: str = "") -> str:
    """A tool with this parameter, after these lines."""
    return f'from tea import tool\n{head}\n\n@tool\nasync def t({parameter}) -> int:\n    """Doc."""\n    return 1\n'


GENERIC = "from typing import Generic, TypeVar\nT = TypeVar('T')\nclass B(Generic[T]):\n    pass"
NUMBERS = "from decimal import Decimal\nfrom fractions import Fraction\n"
NUMPY = "import numpy as np\nfrom numpy.typing import NDArray\nfrom tea"
ENUM = "from enum import StrEnum\nclass K(StrEnum):\n    a = 'evil()'\n"
LOOKED_UP = {
    "argument of the command line": tool("x: sys.argv[2]", "import sys"),
    "variable of the environment": tool('x: os.environ["X"]', "import os"),
    "variable, imported": tool('x: env["X"]', "from os import environ as env"),
    "variable in a text": tool("x: \"os.environ['X']\"", "import os"),
    "variable under a name": tool("x: A", 'import os\nA = os.environ["X"]'),
    "argument under a name": tool("x: A", "import sys\nA = sys.argv[2]"),
    "variable in a list": tool("x: list[os.environ['X']]", "import os"),
    "variable annotated": tool("x: Annotated[os.environ['X'], 1]", "import os\nfrom typing import Annotated"),
    "variable in a union": tool("x: int | os.environ['X']", "import os"),
    "variable in a default": tool('x: str = os.environ["X"]', "import os"),
    "argument in a default": tool("x: str = sys.argv[1]", "import sys"),
    "version in a text": tool("x: platform.sys.version", "import platform"),
    "text of a module": tool("x: os.linesep", "import os"),
    "text of a module, imported": tool("x: crlf", "from os import linesep as crlf"),
    "text of a module of a package": tool("x: numpy.os.linesep", "import numpy").replace(
        "from tea", '# /// script\n# dependencies = ["numpy"]\n# ///\nfrom tea', 1
    ),
    "text in capitals": tool("x: ftplib.CRLF", "import ftplib"),
    "modules by name": tool('x: sys.modules["os"]', "import sys"),
    "private part": tool("x: collections._sys.Argv", "import collections"),
    "method of a type": tool("x: str.join"),
    "function": tool("x: print"),
    "member of an enum by its name": tool('x: K["a"]', ENUM),
    "own class without parameters": tool("x: K[int]", "class K:\n    pass"),
    "list of types": tool("x: A[0]", "A = (int,)"),
    "mapping of types": tool('x: A["a"]', 'A = {"a": int}'),
    "field of a module's list": tool("x: w.paths[0]", "import sys as w"),
    "return": "import os\n" + tool().replace("-> int", '-> os.environ["X"]'),
    "base class": tool("x: C", 'import os\nclass C(os.environ["X"]):\n    pass'),
    "bound of a parameter": tool(
        "x: T", 'import os\nfrom typing import TypeVar\nT = TypeVar("T", bound=os.environ["X"])'
    ),
    "native library": tool("x: ctypes.cdll.evil", "import ctypes"),
    "native library by name": tool('x: ctypes.cdll["evil.so"]', "import ctypes"),
    "native library in a text": tool('x: "ctypes.cdll.Evil"', "import ctypes"),
    "enum under a private name": tool("x: K", "from signal import _IntEnum\nclass K(_IntEnum):\n    a = 1"),
}
ACTING = {
    "standard input through a module": "import os\nX = list(os.sys.stdin)",
    "standard input, imported": "from os import sys as s\nX = s.stdin",
    "standard input, deep": "import subprocess\nX = ''.join(subprocess.os.sys.stdin)",
    "native library": "import ctypes\nX = ctypes.cdll.evil",
    "native library by name": "import ctypes\nX = ctypes.cdll['evil.so']",
    "native library by number": "import ctypes\nX = ctypes.cdll[0]",
    "native library of a class": "import ctypes\nclass K:\n    a = ctypes\nX = K.a.cdll.evil",
    "native library of a dict": "import ctypes\nD = {'a': ctypes}\nX = D['a'].cdll.evil",
    "native library of another name": "import ctypes\nc = ctypes\nX = c.cdll.evil",
    "native library, imported": "from ctypes import cdll as c\nX = c.evil",
    "native library through a package": "import multiprocessing as m\nX = m.ctypes.pydll.evil",
    "argument of the command line": "import sys\nX = sys.argv[1]",
    "slice of the arguments": "import sys\nX = sys.argv[1:]",
}
LARGE = {
    "fraction": "from fractions import Fraction\nX = Fraction('1e999999999')",
    "fraction of a name": "from fractions import Fraction\nA = '1e999999999'\nX = Fraction(A)",
    "fraction with gaps": "from fractions import Fraction\nX = Fraction('1E+9_9_9_9_9')",
    "fraction put together": "from fractions import Fraction\nX = Fraction('1e' + '9' * 9)",
    "fraction of a decimal": NUMBERS + "X = Fraction(Decimal('1e999999999'))",
    "whole part of a decimal": "from decimal import Decimal\nX = int(Decimal('1e999999999'))",
    "decimal of parts": "from decimal import Decimal\nX = int(Decimal((0, (1,), 999999999)))",
    "decimal written out": "from decimal import Decimal\nX = f\"{Decimal('1e999999999'):f}\"",
    "chain of repeats": "A = 'x' * 1000\nB = A * 1000\nC = B * 1000\nD = C * 1000",
    "chain of lists": "A = [0] * 1000\nB = A * 1000\nC = B * 1000",
    "chain of sums": "A0 = 'x' * 1000\n" + "".join(f"A{n + 1} = A{n} + A{n}\n" for n in range(20)),
    "chain of formats": "A0 = 'x' * 1000\n" + "".join(f"A{n + 1} = f'{{A{n}}}{{A{n}}}'\n" for n in range(20)),
    "chain of unpacking": "A0 = [0] * 1000\n" + "".join(f"A{n + 1} = [*A{n}, *A{n}]\n" for n in range(20)),
    "chain of tuples": "A0, = ('x' * 1000,)\n" + "".join(f"A{n + 1}, = (A{n} + A{n},)\n" for n in range(20)),
    "chain of squares": "A0 = 10 ** 60\n" + "".join(f"A{n + 1} = A{n} * A{n}\n" for n in range(30)),
    "chain of one name": "A = 'x' * 1000\n" + "A = A + A\n" * 20,
    "chain through classes": "class K0:\n    a = 'x' * 1000\n"
    + "".join(f"class K{n + 1}:\n    a{n} = K{n}.a{n - 1 if n else ''} * 9\n" for n in range(8)),
    "joined with itself": "A = 'x' * 1000\nB = A.join(A)\nC = B.join(A)",
    "replaced letters": "A = 'x' * 1000\nB = A.translate({120: A})\nC = B.translate({120: A})",
    "loops over names": "A = list(range(100000))\nX = [0 for a in A for b in A]",
    "loops over texts": "A = 'x' * 1000\nX = [0 for a in A for b in A for c in A]",
    "loops over loops": "A = [0 for a in range(1000)]\nB = [0 for a in A for b in A]\nC = [0 for a in B for b in A]",
    "many large ones": "".join(f"A{n} = [0 for a in range(100000)]\n" for n in range(200)),
    "member of a range": "X = 0.5 in range(10 ** 10)",
    "unpacked range": "X = (*range(10 ** 9),)",
    "range unpacked into names": "R = range(10 ** 9)\nA, *B = R",
    "range under a name": "R = range(10 ** 9)\nX = list(R)",
    "sum of lists": "A = [[0]] * 1000\nX = sum([[0] * 1000 for a in A], [])",
    "codec": "A = ('x' * 1000 + 'y') * 200\nX = A.encode('punycode')",
}
SMALL = [
    "MINUTE = 60\nHOUR = 60 * MINUTE\nDAY = 24 * HOUR\nWEEK = 7 * DAY\nHALF = 0.5 * WEEK",
    "LINE = '-'\nRULE = LINE * 80\nHEAD = RULE + LINE.join(('a', 'b'))",
    "from datetime import timedelta\nSTEP = timedelta(minutes=5)\nLONG = STEP * 12",
    "import math\nFULL = 2 * math.pi\nBOTH = FULL * FULL",
    NUMBERS + "RATE = Decimal('1.5e-3')\nPART = Fraction(1, 3) + Fraction('2/7')",
    "SIZES = [2 * n for n in range(12)]\nNAMES = {n: f'{n:>12,}' for n in SIZES}",
    "MASK = (1 << 64) - 1\nBLOCK = 4 * 1024 * 1024",
    "WORDS = 'a b; c d'\nFORMS = {form: line.split()[0] for line in WORDS.split(';') for form in line.split()[1:]}",
]
TYPES = [
    tool("x: np.ndarray[Any, np.dtype[np.float64]] | NDArray[np.float64]", "from typing import Any").replace(
        "from tea",
        '# /// script\n# dependencies = ["numpy"]\n# ///\n' + NUMPY,
        1,
    ),
    tool("x: B[int]", GENERIC),
    tool("x: A[int]", "from typing import TypeVar\nT = TypeVar('T')\nA = dict[str, T]"),
    tool("x: A[int]", "A = list"),
    tool("x: dt.datetime, y: uuid.UUID, z: re.Pattern[str]", "import datetime as dt\nimport re\nimport uuid"),
    tool(
        "x: type[ast.operator], y: deque[int], z: os.PathLike[str]",
        "import ast\nimport os\nfrom collections import deque",
    ),
    tool("x: 'Sequence[int] | None'", "from collections.abc import Sequence"),
]


def refusal(source: str, files: dict[str, str] | None = None) -> float:
    """Return how many seconds the refusal of a source takes."""
    start = time.process_time()
    with pytest.raises(BadComponent):
        MANAGER.check(source, files)
    return time.process_time() - start


@pytest.mark.parametrize("source", LOOKED_UP.values(), ids=LOOKED_UP)
def test_an_annotation_looks_nothing_up(source: str) -> None:
    refusal(source)


@pytest.mark.parametrize("head", ACTING.values(), ids=ACTING)
def test_a_constant_reads_nothing_that_acts(head: str) -> None:
    refusal(tool(head=head))


@pytest.mark.parametrize("head", LARGE.values(), ids=LARGE)
def test_a_constant_is_small_however_many_lines_make_it(head: str) -> None:
    assert refusal(tool(head=head)) < 5


@pytest.mark.parametrize("head", SMALL)
def test_ordinary_constants_are_not_refused(head: str) -> None:
    MANAGER.check(tool(head=head))


@pytest.mark.parametrize("source", TYPES)
def test_ordinary_types_are_not_refused(source: str) -> None:
    MANAGER.check(source)


def test_an_enum_under_another_name_of_another_file_is_no_base_class() -> None:
    main = tool("x: K", "from ._t.w import Base\nclass K(str, Base):\n    a = 1\n    def _missing_(v): print(v)")
    refusal(main, {"_t/w.py": "from enum import Enum as Base\n"})
    refusal(main, {"_t/w.py": "from .v import Root as Base\n", "_t/v.py": "from enum import Enum as Root\n"})
    refusal(
        main.replace("import Base", "import w").replace("str, Base", "str, w.Base"),
        {"_t/w.py": "from enum import Enum as Base\n"},
    )
    refusal(tool('x: J["a"]', "from ._t.w import K as J"), {"_t/w.py": ENUM})
    MANAGER.check(
        tool("x: K", "from ._t.w import Base\nclass K(Base):\n    a = 1"), {"_t/w.py": "class Base:\n    b = 2\n"}
    )


def test_what_acts_acts_through_another_file_too() -> None:
    refusal(tool(head="from ._t.w import s\nX = list(s.stdin)"), {"_t/w.py": "import sys as s\n"})
    refusal(tool(head="from ._t.w import q\nX = list(q)"), {"_t/w.py": "from sys import stdin as q\n"})
    refusal(tool(head="from ._t import w\nX = w.c.cdll.evil"), {"_t/w.py": "import ctypes as c\n"})
    refusal(tool(head="from ._t.w import A\nB = A * 1000"), {"_t/w.py": "A = 'x' * 100_000\n"})
    MANAGER.check(tool(head="from ._t.w import A\nB = A * 10"), {"_t/w.py": "A = 'x' * 100\n"})
