"""Test annotations evaluated where they stand: what a file with postponed ones describes is what it would without."""

from time import process_time

import pytest
from canary_kit import MANAGER, refused

from tea.errors import BadComponent

pytestmark = pytest.mark.slow

REQUIRES = '# /// script\n# dependencies = ["pydantic"]\n# ///\n'
FUTURE = "from __future__ import annotations\n"
HEAD = "from typing import Annotated, Generic, Literal, TYPE_CHECKING, TypeVar\nfrom pydantic import BaseModel, Field\n"
LATER = "class Later(BaseModel):\n    n: int\n"
TREE = "class Tree(BaseModel):\n    name: str\n"


def tool(head: str, kind: str) -> str:
    return f'{HEAD}{head}from tea import tool\n@tool\ndef t(x: {kind}) -> int:\n    """Doc."""\n    return 1\n'


def parameters(source: str, files: dict[str, str] | None = None) -> str:
    """The parameters in the description of a source."""
    found = MANAGER.describe(MANAGER.check(REQUIRES + source, files), version="1.0.0")
    return str(found.operations["call"].parameters)


WRITTEN = {
    "a class of its own": (f"{TREE}    parts: list[Tree] = []\n", f"{TREE}    parts: 'list[Tree]' = []\n"),
    "one of two": (f"{TREE}    up: Tree | None = None\n", f"{TREE}    up: 'Tree | None' = None\n"),
    "a class with metadata": (
        f"{TREE}    parts: Annotated[list[Tree], Field(max_length=3)] = []\n",
        f"{TREE}    parts: Annotated['list[Tree]', Field(max_length=3)] = []\n",
    ),
    "metadata inside": (
        f"{TREE}    parts: dict[str, Annotated[Tree, Field(title='x')]] = {{}}\n",
        f"{TREE}    parts: dict[str, Annotated['Tree', Field(title='x')]] = {{}}\n",
    ),
    "a later class": (f"{TREE}    a: tuple[Later, int]\n{LATER}", f"{TREE}    a: tuple['Later', int]\n{LATER}"),
    "a generic class": (
        f"T = TypeVar('T')\n{TREE}    page: Page[Later]\nclass Page(BaseModel, Generic[T]):\n    a: list[T]\n{LATER}",
        f"T = TypeVar('T')\n{TREE}    page: 'Page[Later]'\nclass Page(BaseModel, Generic[T]):\n    a: list[T]\n{LATER}",
    ),
    "a class inside": (
        f"{TREE}    class Leaf(BaseModel):\n        n: int\n    leaf: Leaf\n    up: Tree | None = None\n",
        f"{TREE}    class Leaf(BaseModel):\n        n: int\n    leaf: Leaf\n    up: 'Tree | None' = None\n",
    ),
    "a text": (f"{TREE}    up: 'Tree' = None\n", f"{TREE}    up: 'Tree' = None\n"),
    "a name that a field has too": (
        f"from datetime import date\n{TREE}    date: Annotated[date, Field(title='d')]\n    until: date\n",
        f"from datetime import date\n{TREE}    date: Annotated[date, Field(title='d')]\n    until: date\n",
    ),
}


@pytest.mark.parametrize(("postponed", "plain"), WRITTEN.values(), ids=WRITTEN)
def test_postponed_annotations_are_described_as_those_written_with_texts(postponed: str, plain: str) -> None:
    found = parameters(FUTURE + tool(postponed, "Tree"))
    assert found == parameters(tool(plain, "Tree"))
    assert "Tree" in found


def test_annotations_inside_of_a_function_are_evaluated_by_nobody() -> None:
    hidden = "if TYPE_CHECKING:\n    from decimal import Decimal as Unknown\n"
    inner = "    def inner(one: Unknown) -> Unknown:\n        return one + 1\n"
    head = f"{hidden}def count(n: int) -> int:\n{inner}    found: Unknown = inner(n)\n    return found\n"
    source = tool(head, "int").replace("return 1", "return count(x)")
    assert "integer" in parameters(FUTURE + source)


@pytest.mark.parametrize(
    "field", ["Annotated[int, Field(le=LATER)]", "Literal[Color.RED]", "list[Annotated[int, Field(le=LATER)]]"]
)
def test_a_value_that_is_bound_later_is_refused(field: str) -> None:
    later = "LATER = 3\nclass Color:\n    RED = 'red'\n"
    assert refused(FUTURE + tool(f"class K(BaseModel):\n    a: {field}\n{later}", "K"))


def test_names_that_mean_something_else_in_another_file_are_of_no_matter() -> None:
    fields = "    a: datetime.date\n    b: Annotated[int, Field(le=LIMIT)]\n"
    file = f"{FUTURE}{HEAD}import datetime\nLIMIT = 3\nclass A(BaseModel):\n{fields}"
    head = "from ._a import A\nfrom datetime import datetime\nLIMIT = 4\nclass B(A):\n"
    fields = "    c: Annotated[datetime, Field(title='c')]\n    d: Annotated[int, Field(le=LIMIT)]\n"
    found = parameters(FUTURE + tool(head + fields, "B"), {"_a.py": file})
    assert "'maximum': 3" in found
    assert "'maximum': 4" in found


LONG = {
    "members": "class A:\n" + "".join(f" a{n}=1\n" for n in range(40_000)),
    "functions": "".join(f"def a{n}():0\n" for n in range(20_000)),
    "methods": "class A:\n" + "".join(f" def a{n}(s):0\n" for n in range(20_000)),
    "variables": "".join(f"a{n}=1\n" for n in range(20_000)) + "x:int\n" * 30_000,
    "types in types": f"x: {'list[' * 180}tuple[{'int,' * 20_000} Later]{']' * 180}\nLater = int\n",
}


@pytest.mark.parametrize("lines", LONG.values(), ids=LONG)
def test_postponed_annotations_of_a_long_file_take_time_by_its_length(lines: str) -> None:
    def seconds(head: str) -> float:
        begun = process_time()
        with pytest.raises(BadComponent):
            MANAGER.check(head + lines)
        return process_time() - begun

    plain = seconds("")
    assert seconds(FUTURE) < 3 * plain + 1
