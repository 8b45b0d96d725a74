"""Test attacks on postponed annotations: the names that classes lend them while they are evaluated."""

from contextlib import suppress
from pathlib import Path
from types import FunctionType

import pydantic
import pytest
from canary_kit import RUN, harmless, refused

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
    assert harmless(tool(f"from ._t import D\n{head}", parameter), {"_t.py": file})


MADE = "NamedTuple('Literal', [('v', \"Literal['evil()']\")])", "TypedDict('Literal', {'v': \"Literal['evil()']\"})"


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("future", ["", FUTURE])
def test_a_made_class_is_lent_under_the_name_that_it_is_bound_to(made: str, future: str) -> None:
    assert harmless(tool(f"{future}def evil():\n    {RUN}\n    return int\nD = {made}\n", "D"), {})
    assert not refused(tool(f"{future}K, V = TypeVar('K'), TypeVar('V')\n", "int"), {})
    fields = "{'v': \"Literal['evil()']\"}"
    assert not refused(tool(f"{future}class Outer:\n    D = TypedDict('D', {fields})\n", "Outer.D"), {})


@pytest.mark.parametrize("base", ["NamedTuple", "TypedDict"])
def test_a_class_lends_nothing_to_one_of_its_own_file(base: str) -> None:
    head = f"{FUTURE}{FIELD}class D({base}):\n    v: {CALL}\n{nested(model('Field'))}"
    assert harmless(tool(head, "Outer.Field"), {})


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


def reading(annotation: str) -> str:
    """A model `G` with a field of this type, and with a member for the annotations of a function of its name."""
    function = "from pydantic import Field as F\ndef read(a: Annotated[int, F(gt=1)]) -> int:\n    return 1\n"
    return f"{FUTURE}{function}{SLOTS}class G(BaseModel):\n    read: {annotation}\n    def F(gt):\n        {RUN}\n"


LISTED = "class dft(BaseModel):\n    a: int\n"
VARIABLES.update(
    {
        "a default within brackets": encoded(f"{FUTURE}{LISTED}", "list[dft]"),
        "a default within brackets in a text": encoded(LISTED, "'list[dft]'"),
        "a default under a name that no file binds": encoded("from typing import List\nN = List['dft']\n", "N"),
        "a name of a field": (f"{reading('field_name')}class field_name(BaseModel):\n    a: int\n", "G"),
        "a name with a point": (f"{reading('f.name')}import pydantic as f\n", "G"),
    }
)
VARIABLES["of a function that encodes a default"] = (ADAPTER, "Any = D()")


@pytest.mark.parametrize(("head", "parameter"), VARIABLES.values(), ids=VARIABLES)
def test_no_function_of_a_library_lends_its_variables_to_a_postponed_annotation(head: str, parameter: str) -> None:
    assert harmless(tool(head, parameter), {})


@pytest.mark.parametrize("annotation", ["_field_defaults", "'_field_defaults'"])
def test_no_named_tuple_lends_its_defaults_to_an_annotation_as_a_schema(annotation: str) -> None:
    head = f"{FUTURE * (annotation[0] == '_')}{EVIL}class _field_defaults(BaseModel):\n    a: int\n"
    fields = f"    x: {annotation}\n    type: str = 'any'\n    metadata: object = {{'pydantic_js_functions': [evil]}}\n"
    assert harmless(tool(f"{head}class D(NamedTuple):\n{fields}", "D"), {})
    assert not refused(tool("class _Row(BaseModel):\n    a: list['_Row']\n", "_Row"), {})


@pytest.mark.parametrize("annotation", ["model_config['title']", "\"model_config['title']\""])
def test_no_model_lends_its_options_to_an_annotation(annotation: str) -> None:
    head = f"{FUTURE * (annotation[0] == 'm')}from typing import List as model_config\n{EVIL}title = int\n"
    assert harmless(tool(f"{head}class M(BaseModel, title='evil()'):\n    a: {annotation}\n", "M"), {})


def test_names_that_no_function_lends_have_any_meaning() -> None:
    head = f"{FUTURE}import datetime as dt\nimport typing as tp\n{FIELD}least = 3\nclass Link(BaseModel):\n    a: int\n"
    fields = "date: dt.date = Field(title='day')", "b: tp.Optional[Link]", "c: tp.Annotated[int, Field(le=least)]"
    row = "".join(f"    {one}\n" for one in fields)
    assert not refused(tool(f"{head}class M(BaseModel):\n{row}", "M"), {})


@pytest.mark.parametrize("loop", ["[G[int] for F in (evil,)]", "tuple(G[int] for F in (evil,))"])
@pytest.mark.parametrize("holder", ["", "class Outer:\n    "], ids=["a file", "a class"])
def test_no_loop_lends_its_variables_to_a_postponed_annotation(loop: str, holder: str) -> None:
    lines = "    a: Annotated[dict[str, Later], F(title='x')]\n    b: T\n"
    head = f"{FUTURE}from pydantic import Field as F\n{EVIL}T = TypeVar('T')\nclass G(BaseModel, Generic[T]):\n{lines}"
    assert harmless(tool(f"{head}{WAITING}{holder}X = {loop}\n", "int"), {})


def test_brackets_in_a_loop_stand_behind_no_variable_of_it() -> None:
    head = f"T = TypeVar('T')\n{EVIL}class G(BaseModel, Generic[T]):\n    b: T\n"
    assert harmless(tool(f"{head}X = [Literal['evil()'] for Literal in (G,)]\n", "int"), {})
    assert not refused(tool("X = {name: list[int] for name in ('a', 'b')}\n", "int"), {})


def test_a_function_is_no_type_whose_annotations_a_class_lends_its_members() -> None:
    head = f"{FUTURE}from pydantic import Field as F\ndef helper(a: Annotated[int, F(gt=1)]) -> int:\n    return 1\n"
    assert harmless(tool(f"{head}class K(BaseModel):\n    x: helper\n    def F(gt):\n        {RUN}\n", "K"), {})


@pytest.mark.parametrize("annotation", ["Annotated[int, F(gt=1)]", "Annotated[int, Field(json_schema_extra=F)]"])
def test_a_file_lends_nothing_to_the_typed_dict_of_another(annotation: str) -> None:
    value = "from pydantic import Field as F\n" if annotation.endswith("F(gt=1)]") else "F = {}\n"
    file = f"{FUTURE}from typing import Annotated, TypedDict\n{FIELD}{value}class A(TypedDict):\n    x: {annotation}\n"
    head = f"from ._a import A\ndef F(*a, **k):\n    {RUN}\nclass B(A):\n    y: int\n"
    assert harmless(tool(head, "B"), {"_a.py": file})


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
    assert harmless(tool(source, "B"), files)


@pytest.mark.parametrize("packages", [[], ["_t/p/__init__.py"]], ids=["a folder", "a package"])
def test_a_file_lends_nothing_under_the_name_of_a_file_that_another_reads(packages: list[str]) -> None:
    lines = f"class A(BaseModel):\n    a: dict[X.date, Later]\n{WAITING}"
    files = {"_t/a.py": f"{FUTURE}{IMPORTS}from .p import X\n{lines}", "_t/p/X.py": "date = int\n"}
    source = f"from ._t.a import A, Later\n{EVIL}class P(NamedTuple):\n    date: str\n"
    files.update(dict.fromkeys(packages, ""))
    assert harmless(tool(f"{source}X = P('evil()')\nclass B(A):\n    y: int\n", "B"), files)
    assert not refused(tool(source, "A"), files)


def test_a_file_lends_no_name_of_a_file_that_it_reads_to_another() -> None:
    head = f"{FUTURE}{IMPORTS}import datetime as X\n"
    files = {
        "_t/a.py": f"{head}class A(BaseModel):\n    a: dict[X.date, Later]\n{WAITING}",
        "_t/b.py": f"from .a import A, Later\nfrom .p import X\n{EVIL}class B(A):\n    y: int\n",
        "_t/p/X.py": "date = 'evil()'\n",
    }
    assert harmless(tool("from ._t.b import B\n", "B"), files)
    files = {"_t/a.py": f"{FUTURE}{IMPORTS}from .p import X\nclass A(BaseModel):\n    a: X.date\n"}
    files |= {"_t/p/__init__.py": "", "_t/p/X.py": "date = int\n"}
    assert not refused(tool("from ._t.a import A\n", "A"), files)


def test_a_file_lends_nothing_to_a_field_that_another_declares_anew() -> None:
    mark = "from dataclasses import dataclass\n"
    file = f"{IMPORTS}{mark}def F(*a, **k):\n    {RUN}\n@dataclass\nclass A:\n    x: int\n"
    head = f"{FUTURE}from ._a import A\nfrom pydantic import Field as F\n{mark}"
    assert harmless(tool(f"{head}@dataclass\nclass B(A):\n    x: Annotated[int, F(gt=1)]\n", "B"), {"_a.py": file})


@pytest.mark.parametrize("files", [{}, {"_a.py": "from pydantic import InstanceOf, UrlConstraints\n"}], ids=["", "far"])
def test_a_library_lends_nothing_to_a_field_that_a_dataclass_declares_anew(files: dict[str, str]) -> None:
    base = "from pydantic import InstanceOf, UrlConstraints\nclass Base(InstanceOf, UrlConstraints):\n    pass\n"
    files = dict.fromkeys(files, base)
    head = "from ._a import Base\n" if files else base
    field = f"max_length: Annotated[int, _build_type_adapter(\"exec('{RUN}')\")] = 1"
    named = "from dataclasses import dataclass\nfrom pydantic import Field as _build_type_adapter\n"
    source = f"{FUTURE}{named}{head}@dataclass(init=False)\nclass K"
    assert harmless(tool(f"{source}(Base):\n    {field}\n", "K"), files)
    assert harmless(tool(f"{source}:\n    {field}\nclass L(K, Base):\n    pass\n", "L"), files)


def test_a_dataclass_derives_from_classes_of_its_source_and_of_python() -> None:
    mark = "from dataclasses import dataclass, field\n@dataclass\n"
    bases = (
        "class A(ABC, Generic[T]):\n    a: int = 1\n",
        "class B(A[int]):\n    b: list[int] = field(default_factory=list)\n",
    )
    head = f"{FUTURE}from abc import ABC\nT = TypeVar('T')\n" + "".join(mark + one for one in bases)
    assert not refused(tool(f"{head}{mark}class E(ValueError):\n    c: int\n", "B"), {})


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


@pytest.mark.parametrize("future", ["", FUTURE])
def test_the_annotations_of_a_declared_agents_file_mean_what_stands_around_them(tmp_path: Path, future: str) -> None:
    add = 'def add(x: int) -> int:\n    """Add."""\n    return x\n'
    made = 'agent = Agent(name="a", instructions="Add.", tools=[add], output=Outer.Field)\n'
    types = f"class D(NamedTuple):\n    v: {CALL}\n{nested(model('Field'))}"
    text = f"{future}{IMPORTS}{FIELD}from tea import Agent\n{types}{add}{made}"
    path = tmp_path / "agent.py"
    path.write_text(text)
    with agent_in(path, text) as agent:
        assert agent.declaration is not None
        answers = AnswerType.of(agent.declaration.output)
        assert answers is not None
        assert "exclusiveMinimum" in str(answers.schema)
        assert captured(agent.declaration.tools[0]).source.startswith("from __future__ import annotations") == bool(
            future
        )


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
    assert harmless(tool(f"{FIELD}{head}", "K").replace('["pydantic"]', '["pydantic", "httpx"]'), {})


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
