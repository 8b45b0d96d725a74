"""Test attacks on postponed annotations: the names that classes lend them while they are evaluated."""

from contextlib import suppress
from pathlib import Path
from types import FunctionType

import pydantic
import pytest
from canary_kit import RUN, refused

from tea.components.answer_type import AnswerType
from tea.errors import BadComponent
from tea.source.agent_file import agent_in
from tea.source.capture import captured

pytestmark = pytest.mark.usefixtures("canary")

FUTURE = "from __future__ import annotations\n"
IMPORTS = (
    "from enum import Enum\nfrom typing import Annotated, ClassVar, Generic, Literal, NamedTuple, TypeVar\n"
    "from typing_extensions import TypedDict\nfrom pydantic import BaseModel\n"
)
FIELD = "from pydantic import Field\n"
MARK = "from tea import tool\n"


def tool(head: str, parameter: str) -> str:
    """A tool with a parameter of this type, after these lines."""
    future, head = (FUTURE, head.removeprefix(FUTURE)) if head.startswith(FUTURE) else ("", head)
    requires = '# /// script\n# dependencies = ["pydantic"]\n# ///\n'
    return (
        f'{requires}{future}{IMPORTS}{head}@tool\nasync def t(x: {parameter}) -> int:\n    """Doc."""\n    return 1\n'
    )


def model(name: str, *lines: str) -> str:
    """A model with a part `D`, and an `__init__` that must not run."""
    members = [*lines, "a: D", "def __init__(self, *a, **k):", f"    {RUN}"]
    return f"class {name}(BaseModel):\n" + "".join(f"    {line}\n" for line in members)


def nested(text: str) -> str:
    """A class with these lines in it."""
    return "class Outer:\n" + "".join(f"    {line}\n" for line in text.splitlines())


def part(annotation: str, base: str = "NamedTuple", head: str = "") -> str:
    """A file with a part `D` of one postponed annotation."""
    return f"{FUTURE}{IMPORTS}{FIELD}{head}class D({base}):\n    v: {annotation}\n"


CALL = "Annotated[int, Field(gt=1)]"
LATER = "class Later(BaseModel):\n    a: int\n"
GENERIC = (
    f"T = TypeVar('T')\ndef evil():\n    {RUN}\n    return int\nclass X(BaseModel, Generic[T]):\n    b: T\n    a: D\n"
)
LOOKED_UP = "def evil():\n    return 1\nX = {'evil()': 1}\n"
LENT = {
    "its name": (model("Field"), "Field", part(CALL)),
    "its name to a typed dict": (model("Field"), "Field", part(CALL, "TypedDict")),
    "its name to a model that waits for another": (
        model("Field"),
        "Field",
        part("Annotated[Later, Field(title='x')]", "BaseModel") + LATER,
    ),
    "its name as what is given": (
        model("EXTRA"),
        "EXTRA",
        part("Annotated[int, Field(json_schema_extra=EXTRA)]", head="EXTRA = {}\n"),
    ),
    "its name before brackets": (GENERIC, "X", part("Annotated[int, X['evil()']]", head=LOOKED_UP)),
    "its name before brackets in a literal": (GENERIC, "X", part("Literal[X['evil()']]", head=LOOKED_UP)),
    "its name before brackets in a condition": (GENERIC, "X", part("int if X['evil()'] else str", head=LOOKED_UP)),
    "the name of a class around": (nested(model("Field")), "Outer.Field", part(CALL)),
    "a function around": (
        nested(f"def Field(gt):\n    {RUN}\nclass M(BaseModel):\n    a: D\n"),
        "Outer.M",
        part(CALL),
    ),
    "a text around": (
        nested(f"def evil():\n    {RUN}\nX = 'evil()'\nclass M(BaseModel):\n    a: D\n"),
        "Outer.M",
        part("X", head="X = int\n"),
    ),
    "a member of another": (
        model("K", "X: ClassVar[str] = 'K(1)'"),
        "K",
        part("K.X", head="class K:\n    X = int\n"),
    ),
}


@pytest.mark.parametrize(("head", "parameter", "file"), LENT.values(), ids=LENT)
def test_a_class_lends_nothing_to_a_postponed_annotation_of_another_file(head: str, parameter: str, file: str) -> None:
    assert refused(tool(f"from ._t import D\n{head}", parameter), {"_t.py": file})


MADE = "NamedTuple('Literal', [('v', \"Literal['evil()']\")])", "TypedDict('Literal', {'v': \"Literal['evil()']\"})"


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("future", ["", FUTURE])
def test_a_made_class_is_lent_under_the_name_that_it_is_bound_to(made: str, future: str) -> None:
    assert refused(tool(f"{future}def evil():\n    {RUN}\n    return int\nD = {made}\n", "D"), {})
    assert not refused(tool(f"{future}K, V = TypeVar('K'), TypeVar('V')\n", "int"), {})
    fields = "{'v': \"Literal['evil()']\"}"
    assert not refused(tool(f"{future}class Outer:\n    D = TypedDict('D', {fields})\n", "Outer.D"), {})


@pytest.mark.parametrize("base", ["NamedTuple", "TypedDict"])
def test_a_class_lends_nothing_to_one_of_its_own_file(base: str) -> None:
    head = f"{FUTURE}{FIELD}class D({base}):\n    v: {CALL}\n{nested(model('Field'))}"
    assert refused(tool(head, "Outer.Field"), {})


WAITING = "class Later(BaseModel):\n    a: int\n"
SLOTS = "from dataclasses import dataclass\n@dataclass(slots=True, init=False, repr=False, eq=False)\n"


def waiting(annotation: str, base: str = "BaseModel") -> str:
    """A model `G` with a postponed annotation, incomplete at first, and with an `__init__` for a canary."""
    lines = f"    a: dict[{annotation}, Later]\n    def __init__(self, *a, **k):\n        {RUN}\n"
    return f"class G({base}):\n    Decimal: ClassVar[str] = 'evil()'\n{lines}"


def generic(name: str, annotation: str) -> str:
    """A generic model `G`, held by a function of pydantic in its variable `type_`."""
    evil = f"T = TypeVar('T')\ndef evil():\n    {RUN}\n    return int\n"
    outer = f"class H(BaseModel, Generic[T]):\n    g: G[T]\n{WAITING}"
    return f"{FUTURE}{name}{evil}{waiting(annotation, 'BaseModel, Generic[T]')}    b: T\n{outer}"


VARIABLES = {
    "called": (generic("from pydantic import Field as type_\n", "Annotated[int, type_(title='x')]"), "H[int]"),
    "given": (
        generic(f"{FIELD}type_ = {{}}\n", "Annotated[int, Field(json_schema_extra=type_)]"),
        "H[int]",
    ),
    "with a member": (generic("import decimal as type_\n", "type_.Decimal"), "H[int]"),
    "of dataclasses": (
        f"{FUTURE}from pydantic import Field as cls\n{SLOTS}{waiting('Annotated[int, cls(gt=1)]')}{WAITING}",
        "G",
    ),
}


EVIL = f"def evil(*a, **k):\n    {RUN}\n    return int\n"
QUOTED = f"import typing as tp\nfrom typing import Literal as type_\n{EVIL}T = TypeVar('T')\n"
OUTER = f"class H(BaseModel, Generic[T]):\n    g: G[T]\n{WAITING}"


def bracketed(annotation: str, *members: str) -> str:
    """A generic model `G` with an annotation, held by a function of pydantic in its variable `type_`."""
    lines = "".join(f"    {one}\n" for one in (*members, f"a: {annotation}", "b: T"))
    return f"class G(BaseModel, Generic[T]):\n{lines}{OUTER}"


VARIABLES.update(
    {
        "before brackets": (FUTURE + QUOTED + bracketed("dict[type_['evil()'], Later]"), "H[int]"),
        "before brackets in a text": (QUOTED + bracketed("\"dict[type_['evil()'], Later]\""), "H[int]"),
        "with a member before brackets": (
            f"{FUTURE}import typing as type_\n{QUOTED.partition(chr(10))[2].partition(chr(10))[2]}"
            + bracketed("dict[type_.Literal['evil()'], Later]", "class Literal(BaseModel, Generic[T]):", "    b: T"),
            "H[int]",
        ),
    }
)


ADAPTER = f"{FUTURE}from pydantic import Field as TypeAdapter\nfrom typing import Any\ndef F():\n    {RUN}\n" + part(
    "Annotated[int, TypeAdapter('F()')] = 1"
).removeprefix(FUTURE)


def encoded(head: str, annotation: str, options: str = "") -> tuple[str, str]:
    """A default that a function of pydantic holds in its variable `dft`, beside a field of this type."""
    lines = f"class D(NamedTuple):\n    date: object\n    b: {annotation}\n"
    model = f"class M(BaseModel):\n    model_config = ConfigDict({options})\n    z: object = X\n"
    head += "from pydantic import ConfigDict\n"
    return f"{head}{EVIL}{lines}X = D('evil()', 1)\n{model}", "M"


VARIABLES.update(
    {
        "a default before a point": encoded(f"{FUTURE}import datetime as dft\n", "dft.date"),
        "the options of a model": encoded(f"{FUTURE}import pydantic as config\n", "config.title", "title='evil()'"),
        "its other options": encoded(f"{FUTURE}import typing as config\n", "config.Optional", "Optional='evil()'"),
        "a default before brackets": encoded(f"{FUTURE}from typing import List as dft\n", "dft[0]"),
        "a default before brackets in a text": encoded("from typing import Literal as dft\n", "'dft[0]'"),
        "a default named like a class": encoded("T = TypeVar('T')\nclass dft(Generic[T]):\n    pass\n", "'dft[0]'"),
    }
)
VARIABLES["of a function that encodes a default"] = (ADAPTER, "Any = D()")


@pytest.mark.parametrize(("head", "parameter"), VARIABLES.values(), ids=VARIABLES)
def test_no_function_of_a_library_lends_its_variables_to_a_postponed_annotation(head: str, parameter: str) -> None:
    assert refused(tool(head, parameter), {})


@pytest.mark.parametrize("annotation", ["model_config['title']", "\"model_config['title']\""])
def test_no_model_lends_its_options_to_an_annotation(annotation: str) -> None:
    head = f"{FUTURE * (annotation[0] == 'm')}from typing import List as model_config\n{EVIL}title = int\n"
    assert refused(tool(f"{head}class M(BaseModel, title='evil()'):\n    a: {annotation}\n", "M"), {})


def test_names_that_no_function_lends_have_any_meaning() -> None:
    head = (
        f"{FUTURE}import datetime as dt\nimport typing as tp\n{FIELD}least = 3\nclass type_(BaseModel):\n    a: int\n"
    )
    fields = "date: dt.date = Field(title='day')", "b: tp.Optional[type_]", "c: tp.Annotated[int, Field(le=least)]"
    row = "".join(f"    {one}\n" for one in fields)
    assert not refused(tool(f"{head}class M(BaseModel):\n{row}", "M"), {})


@pytest.mark.parametrize("loop", ["[G[int] for F in (evil,)]", "tuple(G[int] for F in (evil,))"])
@pytest.mark.parametrize("holder", ["", "class Outer:\n    "], ids=["a file", "a class"])
def test_no_loop_lends_its_variables_to_a_postponed_annotation(loop: str, holder: str) -> None:
    lines = "    a: Annotated[dict[str, Later], F(title='x')]\n    b: T\n"
    head = f"{FUTURE}from pydantic import Field as F\n{EVIL}T = TypeVar('T')\nclass G(BaseModel, Generic[T]):\n{lines}"
    assert refused(tool(f"{head}{WAITING}{holder}X = {loop}\n", "int"), {})


def test_brackets_in_a_loop_stand_behind_no_variable_of_it() -> None:
    head = f"T = TypeVar('T')\n{EVIL}class G(BaseModel, Generic[T]):\n    b: T\n"
    assert refused(tool(f"{head}X = [Literal['evil()'] for Literal in (G,)]\n", "int"), {})
    assert not refused(tool("X = {name: list[int] for name in ('a', 'b')}\n", "int"), {})


def test_a_function_is_no_type_whose_annotations_a_class_lends_its_members() -> None:
    head = f"{FUTURE}from pydantic import Field as F\ndef helper(a: Annotated[int, F(gt=1)]) -> int:\n    return 1\n"
    assert refused(tool(f"{head}class K(BaseModel):\n    x: helper\n    def F(gt):\n        {RUN}\n", "K"), {})


@pytest.mark.parametrize("annotation", ["Annotated[int, F(gt=1)]", "Annotated[int, Field(json_schema_extra=F)]"])
def test_a_file_lends_nothing_to_the_typed_dict_of_another(annotation: str) -> None:
    value = "from pydantic import Field as F\n" if annotation.endswith("F(gt=1)]") else "F = {}\n"
    file = f"{FUTURE}from typing import Annotated, TypedDict\n{FIELD}{value}class A(TypedDict):\n    x: {annotation}\n"
    head = f"from ._a import A\ndef F(*a, **k):\n    {RUN}\nclass B(A):\n    y: int\n"
    assert refused(tool(head, "B"), {"_a.py": file})


CALLING = f"{FUTURE}{IMPORTS}from pydantic import Field as F\n"
OTHERS = {
    "which a model inherits": ("", "y: int", "dict[str, Annotated[Later, F(title='x')]]", CALLING),
    "which a model inherits, as what is given": (
        "G = {}\n",
        "y: int",
        "dict[str, Annotated[Later, F(json_schema_extra=G)]]",
        f"{CALLING}G = {{'a': 1}}\n",
    ),
    "which a model inherits, as a type": ("X = 'F()'\n", "y: int", "dict[X, Later]", f"{CALLING}X = int\n"),
    "which a model inherits, as a member": (
        "from ._t.k import K as dt\n",
        "y: int",
        "dict[dt.date, Later]",
        f"{CALLING}import datetime as dt\n",
    ),
}


@pytest.mark.parametrize(("lines", "field", "annotation", "head"), OTHERS.values(), ids=OTHERS)
def test_a_file_lends_nothing_to_an_annotation_of_another(lines: str, field: str, annotation: str, head: str) -> None:
    files = {
        "_t/a.py": f"{head}class A(BaseModel):\n    a: {annotation}\n{WAITING}",
        "_t/k.py": "class K:\n    date = 'F()'\n",
    }
    source = f"from ._t.a import A, Later\ndef F(*a, **k):\n    {RUN}\n{lines}class B(A):\n    {field}\n"
    assert refused(tool(source, "B"), files)


def test_a_file_lends_nothing_to_a_field_that_another_declares_anew() -> None:
    mark = "from dataclasses import dataclass\n"
    file = f"{IMPORTS}{mark}def F(*a, **k):\n    {RUN}\n@dataclass\nclass A:\n    x: int\n"
    head = f"{FUTURE}from ._a import A\nfrom pydantic import Field as F\n{mark}"
    assert refused(tool(f"{head}@dataclass\nclass B(A):\n    x: Annotated[int, F(gt=1)]\n", "B"), {"_a.py": file})


def test_files_that_mean_the_same_share_names() -> None:
    own = "class Kind(BaseModel):\n    w: int\n"
    first = "    a: dict[str, Annotated[Later, Field(title='x')]]\n    b: datetime.date\n    c: Kind\n"
    file = f"{FUTURE}{IMPORTS}{FIELD}import datetime\n{own}class A(BaseModel):\n{first}"
    head = f"{FUTURE}{FIELD}import datetime\nfrom ._a import A, Later\n{own}"
    fields = "    y: Annotated[Later, Field(title='y')]\n    z: datetime.datetime\n    k: Kind\n"
    assert not refused(tool(f"{head}class B(A):\n{fields}", "B"), {"_a.py": file + WAITING})


@pytest.mark.parametrize("rest", ["", "    b: N\n"], ids=["", "also where it is read again"])
def test_what_reads_the_type_of_an_answer_lends_it_nothing(rest: str, tmp_path: Path) -> None:
    head = f"{FUTURE}{IMPORTS}from typing import NewType\nfrom pydantic import Field as output\nfrom tea import Agent\n"
    waits = "class W(BaseModel):\n    a: int\nN = NewType('N', 'W')\n"
    types = f"class D(NamedTuple):\n    a: Annotated[int, output(gt=1)]\n{rest}class K(D):\n"
    types += f"    def __new__(cls, *a, **k):\n        {RUN}\n        return 1\n"
    path = tmp_path / "agent.py"
    path.write_text(f'{head}{waits}{types}agent = Agent(name="a", instructions="Add.", output=K)\n')
    with suppress(BadComponent), agent_in(path, path.read_text()) as agent:
        captured(agent)


def test_postponed_annotations_call_and_look_up_what_means_the_same_everywhere() -> None:
    colors = "from enum import Enum\nclass Color(Enum):\n    RED = 'dark red'\n"
    head = f"{FUTURE}{FIELD}from ._t import LIMIT, Color, D\n" + model("M").replace(RUN, "pass")
    given = "Annotated[Color, Field(default=Color.RED)] = Color.RED, y: Annotated[M, Field(title='m')] | None = None"
    one = "class One(BaseModel):\n    z: Literal[Color.RED]\n    w: Annotated[int, WORDS['w']]\n"
    head += f"WORDS = {{'w': 'words'}}\n{one}"
    given += ", z: One | None = None"
    row = "class Row(BaseModel):\n    M: str = ''\n"  # which no function's annotations are evaluated among
    file = part("Annotated[int, Field(le=LIMIT)]", head=f"{colors}LIMIT = 2 * 5\n{row}")
    assert not refused(tool(head, given), {"_t.py": file})


def test_the_annotations_of_a_declared_agents_file_are_postponed_only_where_it_says_so(tmp_path: Path) -> None:
    add = 'def add(x: int) -> int:\n    """Add."""\n    return x\n'
    made = 'agent = Agent(name="a", instructions="Add.", tools=[add], output=Outer.Field)\n'
    types = f"class D(NamedTuple):\n    v: {CALL}\n{nested(model('Field'))}"
    text = f"{IMPORTS}{FIELD}from tea import Agent\n{types}{add}{made}"
    path = tmp_path / "agent.py"
    path.write_text(text)
    with agent_in(path, text) as agent:
        assert agent.declaration is not None
        answers = AnswerType.of(agent.declaration.output)
        assert answers is not None
        assert "exclusiveMinimum" in str(answers.schema)
        assert "__future__" not in captured(agent.declaration.tools[0]).source
    path.write_text(FUTURE + text)
    with pytest.raises(BadComponent), agent_in(path, FUTURE + text):
        pass


def test_many_postponed_annotations_in_many_files_are_followed() -> None:
    fields = "".join(f"    a{n}: Annotated[list[str], Field(min_length=1)]\n" for n in range(12))
    models = "".join(f"class M{n}(BaseModel):\n{fields}" for n in range(4))
    files = {f"_t/f{n}.py": f"{FUTURE}{IMPORTS}{FIELD}{models}" for n in range(60)}
    assert not refused(tool("from ._t.f0 import M0\n", "M0"), files)


FOREIGN = {
    "a function": (
        "from typing import Any, Callable\nfrom pydantic import AliasChoices, AliasPath\n"
        "from pydantic.fields import FieldInfo\n"
        f"class Color(Enum):\n    RED = 1\n    @property\n    def Discriminator(self):\n        {RUN}\n"
        "types = Color.RED\nclass K(BaseModel):\n    a: Field\n"
    ),
    "a method": (
        f"from typing import Any\nclass Color(Enum):\n    RED = 1\n    @property\n    def X(self):\n        {RUN}\n"
        "class K(BaseModel):\n    a: BaseModel.model_dump\n"
    ),
}

FOREIGN["a function of another package"] = (
    f"import httpx\nimport ssl\n{EVIL}AuthTypes = CookieTypes = HeaderTypes = ProxyTypes = int\n"
    "QueryParamTypes = URL = int\nTimeoutTypes = 'evil()'\nclass K(BaseModel):\n    a: httpx.get\n"
)


@pytest.mark.parametrize("head", FOREIGN.values(), ids=FOREIGN)
def test_no_function_of_a_package_is_a_type_whose_annotations_a_class_lends_its_names(head: str) -> None:
    assert refused(tool(f"{FIELD}{head}", "K").replace('["pydantic"]', '["pydantic", "httpx"]'), {})


def test_types_of_numpy_are_types_in_small_letters() -> None:
    line = "def mean(a: np.ndarray, c: httpx.Client) -> np.float64:\n    return a.mean()\n"
    head = f"import numpy as np\nimport httpx\n{line}"
    assert not refused(tool(head, "int").replace('["pydantic"]', '["numpy", "pydantic", "httpx"]'), {})


def test_each_function_of_pydantic_named_like_a_class_is_known() -> None:
    modules = [pydantic, pydantic.fields, pydantic.functional_validators, pydantic.json_schema, pydantic.types]
    found = {name for one in modules for name, value in vars(one).items() if isinstance(value, FunctionType)}
    named = {name for name in found if name[0].isupper()}
    assert {"Field", "PrivateAttr"} <= named
    assert all(refused(tool(f"from pydantic.fields import {name}\n", name)) for name in named)
