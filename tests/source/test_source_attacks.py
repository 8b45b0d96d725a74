"""Test attacks on the static check: sources acting on import or description, without effect."""

import sys
from pathlib import Path

import pytest
from canary_kit import MANAGER, RUN, refused

from tea.errors import BadComponent
from tea.source.agent_file import agent_in
from tea.source.declared import declared_source

pytestmark = pytest.mark.usefixtures("canary")

EVIL = f"def evil(*a, **k):\n    {RUN}\n    return 1\n"
HEAD = '# /// script\n# dependencies = ["pydantic"]\n# ///\nfrom tea import Environment, action, tool\n'


def tool(parameter: str = "x: int", head: str = "", result: str = "int") -> str:
    """A tool with this parameter, after these lines."""
    return f'{HEAD}{head}\n\n@tool\nasync def t({parameter}) -> {result}:\n    """Doc."""\n    return 1\n'


def environment(body: str, head: str = "") -> str:
    """An environment with these members."""
    state = '    async def state(self) -> int:\n        """S."""\n        return 1\n'
    return f'{HEAD}{head}\n\nclass E(Environment):\n    """Doc."""\n{body}\n{state}'


def model(body: str, head: str = "", parameter: str = "x: D", result: str = "D") -> str:
    """A tool taking and giving a pydantic model with these members."""
    names = "BaseModel, ConfigDict, Field, computed_field, field_validator, model_validator"
    return tool(parameter, f"from pydantic import {names}\n{head}class D(BaseModel):\n{body}", result)


def method(name: str, *marks: str, indent: str = "    ") -> str:
    """A hitting method."""
    lines = [*(f"@{mark}" for mark in marks), f"def {name}(self, *a, **k):", f"    {RUN}", "    return 1"]
    return "".join(f"{indent}{line}\n" for line in lines)


TEXTS = {
    "text": tool('x: "evil()"', EVIL),
    "result": tool(result='"evil()"', head=EVIL),
    "inside a list": tool('x: list["evil()"]', EVIL),
    "only by keyword": tool('*, x: "evil()"', EVIL),
    "text in a text": tool("x: \"'evil()'\"", EVIL),
    "text after the future": "from __future__ import annotations\n" + tool('x: "evil()"', EVIL),
    "starred text": tool('x: "*int,)[0] or evil() or (1"', EVIL),
    "put together": tool('x: "evil(" + ")"', EVIL),
    "formatted": tool('x: f"evil({1})"', EVIL),
    "joined": tool('x: "".join(["evil(", ")"])', EVIL),
    "constant": tool("x: A", f'{EVIL}A = "evil()"'),
    "constant in a text": tool('x: "A"', f'{EVIL}A = "evil()"'),
    "constant in a list": tool("x: list[A]", f'{EVIL}A = "evil()"'),
    "constant of a constant": tool("x: A", f'{EVIL}B = "evil()"\nA = B'),
    "constant later": tool("x: A", f'{EVIL}A = int\nA = "evil()"'),
    "one of several": tool("x: A", f'{EVIL}A, B = "evil()", 1'),
    "declared an alias": tool("x: A", f'from typing import TypeAlias\n{EVIL}A: TypeAlias = "evil()"'),
    "conditional": tool("x: int if False else A", f'{EVIL}A = "evil()"'),
    "of a tuple": tool("x: T[0]", f'{EVIL}T = ("evil()",)'),
    "alias of a list": tool("x: L", f'from typing import List\n{EVIL}L = List["evil()"]'),
    "alias that is optional": tool("x: L", f'from typing import Optional\n{EVIL}L = Optional["evil()"]'),
    "cast": tool("x: A", f'from typing import cast\n{EVIL}A = cast(type, "evil()")'),
    "docstring": f'"""evil()"""\n{tool("x: __doc__", EVIL)}',
    "docstring of a class": tool("x: K.__doc__", f'{EVIL}class K:\n    """evil()"""'),
    "attribute of a class": tool("x: K.a", f'{EVIL}class K:\n    a = "evil()"'),
    "inherited attribute": tool("x: K.a", f'{EVIL}class P:\n    a = "evil()"\nclass K(P):\n    pass'),
    "member of an enum": tool("x: K.a", f'from enum import StrEnum\n{EVIL}class K(StrEnum):\n    a = "evil()"'),
    "value of a member": tool("x: K.a.value", f'from enum import Enum\n{EVIL}class K(Enum):\n    a = "evil()"'),
    "literal by name only": tool('x: Literal["evil()"]', f"from typing import List as Literal\n{EVIL}"),
    "annotated": tool('x: Annotated["evil()", 1]', f"from typing import Annotated\n{EVIL}"),
    "annotated by name only": tool('x: Annotated[int, "evil()"]', f"from typing import Union as Annotated\n{EVIL}"),
    "typed dict": tool("x: D", f'from typing import TypedDict\n{EVIL}class D(TypedDict):\n    y: "evil()"'),
    "typed dict made": tool("x: D", f'from typing import TypedDict\n{EVIL}D = TypedDict("D", {{"y": "evil()"}})'),
    "named tuple": tool("x: D", f'from typing import NamedTuple\n{EVIL}class D(NamedTuple):\n    y: "evil()"'),
    "named tuple made": tool("x: D", f'from typing import NamedTuple\n{EVIL}D = NamedTuple("D", [("y", "evil()")])'),
    "new type": tool("x: D", f'from typing import NewType\n{EVIL}D = NewType("D", "evil()")'),
    "typed dict by keyword": tool("x: D", f'from typing import TypedDict\n{EVIL}D = TypedDict("D", y="evil()")'),
    "named tuple by keyword": tool("x: D", f'from typing import NamedTuple\n{EVIL}D = NamedTuple("D", y="evil()")'),
    "named tuple unfolded": tool(
        "x: D", f'from typing import NamedTuple\n{EVIL}D = NamedTuple("D", [(*("y", "evil()"),)])'
    ),
    "new type unfolded": tool("x: D", f'from typing import NewType\n{EVIL}D = NewType(*("D", "evil()"))'),
    "new type as a value": tool(head=f'from typing import NewType\n{EVIL}D = NewType("D", "evil()")'),
    "union as a value": tool(head=f'from typing import List\n{EVIL}D = List[int] | "evil()"'),
    "bound": tool("x: T", f'from typing import TypeVar\n{EVIL}T = TypeVar("T", bound="evil()")'),
    "constraint": tool("x: T", f'from typing import TypeVar\n{EVIL}T = TypeVar("T", "evil()", int)'),
    "dataclass": tool("x: D", f'from dataclasses import dataclass\n{EVIL}@dataclass\nclass D:\n    y: "evil()"'),
    "inner class": tool(
        "x: K.D",
        f'from dataclasses import dataclass\n{EVIL}class K:\n    @dataclass\n    class D:\n        y: "evil()"',
    ),
    "model": model('    y: "evil()"', EVIL),
    "model by a constant": model("    y: A", f'{EVIL}A = "evil()"\n'),
    "generic": tool(
        'x: B["evil()"]',
        "from pydantic import BaseModel\nfrom typing import Generic, TypeVar\nT = TypeVar('T')\n"
        f"{EVIL}class B(BaseModel, Generic[T]):\n    y: T",
    ),
    "generic as a value": tool(
        head="from pydantic import BaseModel\nfrom typing import Generic, TypeVar\nT = TypeVar('T')\n"
        f'{EVIL}class B(BaseModel, Generic[T]):\n    y: T\nX = B["evil()"]'
    ),
    "computed": model(
        '    y: int\n    @computed_field(return_type="" + "evil()")\n    @property\n    def z(self):\n        return 1',
        EVIL,
    ),
    "action": environment(
        '    @action\n    async def go(self, x: "evil()") -> int:\n        """G."""\n        return 1\n', EVIL
    ),
}
ANNOTATED = f"from typing import Annotated, Literal, List\nfrom collections import namedtuple\n{EVIL}"
PARTS = {
    "metadata": tool('x: "Annotated[int, evil()]"', ANNOTATED),
    "metadata of a result": tool(result='"Annotated[int, evil()]"', head=ANNOTATED),
    "metadata in a list": tool('x: List["Annotated[int, evil()]"]', ANNOTATED),
    "metadata of an alias": tool("x: A", f'{ANNOTATED}A = "Annotated[int, evil()]"'),
    "metadata that is named": tool('x: "Annotated[int, (y := evil())]"', ANNOTATED),
    "metadata as a value": tool(head=f'{ANNOTATED}X = List["Annotated[int, evil()]"]'),
    "metadata in a model": model('    y: "Annotated[int, evil()]"', ANNOTATED),
    "metadata in a dataclass": tool(
        "x: D", f'from dataclasses import dataclass\n{ANNOTATED}@dataclass\nclass D:\n    y: "Annotated[int, evil()]"'
    ),
    "literal": tool('x: "Literal[evil()]"', ANNOTATED),
    "condition": tool('x: "int if evil() else str"', EVIL),
    "name of a new type": tool('x: "NewType(evil(), int)"', f"from typing import NewType\n{EVIL}"),
    "made of a call": tool('x: "namedtuple(evil())"', ANNOTATED),
    "bound": tool("x: T", f'from typing import TypeVar\n{ANNOTATED}T = TypeVar("T", bound="Annotated[int, evil()]")'),
    "line that goes on": tool('x: "evil()\\\\\\n"', EVIL),
    "line that goes on in a list": tool('x: list["evil() \\\\\\n "]', EVIL),
}
MEMBER = f"{ANNOTATED}from enum import Enum\nclass K(Enum):\n    A = 1\n{method('boo', 'property')}"
PARTS |= {
    "property in a literal": tool('x: "Literal[K.A.boo]"', MEMBER),
    "property in a literal in a list": tool('x: list["Literal[K.A.boo]"]', MEMBER),
    "property in metadata": tool('x: "Annotated[int, K.A.boo]"', MEMBER),
    "property in a literal of a model": model('    y: "Literal[K.A.boo]"', MEMBER),
    "look in a literal": tool("x: \"Literal[K.a['HOME']]\"", f"{ANNOTATED}import os\nclass K:\n    a = os.environ"),
    "library in metadata": tool(
        'x: "Annotated[int, K.a.cdll.evil]"', f"{ANNOTATED}import ctypes\nclass K:\n    a = ctypes"
    ),
}
IMPORT = "__import__('builtins').__dict__.update(canary=1)"
FILES = {
    "maker of another name": (
        tool("x: D", "from collections import namedtuple as NewType\nfrom ._t.w import D"),
        f'from typing import NewType\nD = NewType("D", "{IMPORT}")\n',
    ),
    "text of a class of the same name": (
        tool("x: X", f'from ._t.w import X\nclass K:\n    A = "{IMPORT}"'),
        'class K:\n    class A:\n        pass\nX = list["K.A"]\n',
    ),
    "property of a member of the same name": (
        tool("x: X", f"from ._t.w import X\n{MEMBER}"),
        'class K:\n    class A:\n        class boo:\n            pass\nX = list["K.A.boo"]\n',
    ),
    "same name in both": (
        tool("x: tuple[A, B]", "from ._t.w import B\nA = int"),
        f'A = "{IMPORT}"\nB = A\n',
    ),
    "attribute of a class": (tool("x: K.a", "from ._t.w import K"), f'class K:\n    a = "{IMPORT}"\n'),
    "attribute in a module": (tool("x: w.K.a", "from ._t import w"), f'class K:\n    a = "{IMPORT}"\n'),
    "value of a member": (
        tool("x: K.a.value", "from ._t.w import K"),
        f'from enum import Enum\nclass K(Enum):\n    a = "{IMPORT}"\n',
    ),
    "type that imports": (
        tool("x: I = 'antigravity'", "from ._t.w import I"),
        "from pydantic import ImportString as I\n",
    ),
    "literal of another name": (
        tool("x: D", "from typing import List as Literal\nfrom ._t.w import D"),
        f'from typing import Literal, NewType\nD = NewType(\'D\', "Literal[\\"{IMPORT}\\"]")\n',
    ),
    "name that means something else": (
        tool("x: D", f'from ._t.w import D\nA = "{IMPORT}"'),
        "from typing import NewType\nA = int\nD = NewType('D', 'A')\n",
    ),
}
PROPERTY = ("classmethod", "property")
HOOKS = {
    "import by a default": tool("x: ImportString = 'antigravity'", "from pydantic import ImportString"),
    "import by a field": model(
        "    y: pydantic.ImportString = Field('this', validate_default=True)", "import pydantic\n"
    ),
    "property of a class": environment(method("boo", *PROPERTY)),
    "metadata as one": environment(method("metadata", *PROPERTY)),
    "computed of a class": model(f"    y: int\n{method('z', 'classmethod', 'computed_field')}"),
    "compared by one": tool(
        head=f"from functools import total_ordering\nclass B:\n{method('__lt__', *PROPERTY)}@total_ordering\n"
        f"class C(B):\n{method('__gt__', *PROPERTY)}"
    ),
    "pattern of a template": tool(head=f"import string\nclass T(string.Template):\n{method('pattern', *PROPERTY)}"),
    "default of a dataclass": tool(
        head=f"from dataclasses import dataclass\nclass P:\n{method('x', *PROPERTY)}@dataclass\nclass C(P):\n    x: int"
    ),
    "hash of a member": tool(
        head=f"from enum import Enum\nclass K(Enum):\n    a = 1\n{method('__hash__')}X = {{K.a: 1}}"
    ),
    "hash that is assigned": tool(
        head=f"from enum import Enum\n{EVIL}class K(Enum):\n    a = 1\n    __hash__ = evil\nX = {{K.a: 1}}"
    ),
    "value of a default": tool(
        "x: K = K.a", f"from enum import Enum\nclass K(Enum):\n    a = 'a'\n{method('value', 'property')}"
    ),
    "setter of another class": tool(
        head=f"class K:\n{method('setter', 'staticmethod')}class C:\n    @property\n    def x(self): return 1\n"
        "    x = K\n    @x.setter\n    def x(self, v): pass"
    ),
    "validators of old": tool("x: D", f"class D:\n{method('__get_validators__', 'classmethod')}"),
    "when complete": tool(
        "x: D",
        f"from pydantic import BaseModel\nclass B(BaseModel):\n"
        f"{method('__pydantic_on_complete__', 'classmethod')}class D(B):\n    y: int = 1",
    ),
    "name of a generic": tool(
        "x: D[int]",
        "from pydantic import BaseModel\nfrom typing import Generic, TypeVar\nT = TypeVar('T')\n"
        f"class D(BaseModel, Generic[T]):\n    y: T\n{method('model_parametrized_name', 'classmethod')}",
    ),
    "before a default is validated": model(
        "    y: int = 1\n    @model_validator(mode='before')\n    @classmethod\n"
        f"    def v(cls, data):\n        {RUN}\n        return data\n",
        parameter="x: D = None",
    ),
    "configured by an annotation": model(
        "    model_config: ClassVar = {'alias_generator': evil}\n    y: int", f"from typing import ClassVar\n{EVIL}"
    ),
    "configured by a dict": model("    model_config = dict(alias_generator=evil)\n    y: int", EVIL),
    "configured by a cast": model(
        "    model_config = cast(dict, {'alias_generator': evil})\n    y: int", f"from typing import cast\n{EVIL}"
    ),
    "configured by a base": tool(
        "x: D",
        f"from pydantic import BaseModel\n{EVIL}class B:\n"
        f"    model_config = dict(alias_generator=evil)\nclass D(BaseModel, B):\n    y: int",
    ),
    "configured by a class": model("    class Config:\n        alias_generator = evil\n    y: int", EVIL),
    "schema": tool(
        "x: Annotated[int, Field(json_schema_extra=evil)]",
        f"from typing import Annotated\nfrom pydantic import Field\n{EVIL}",
    ),
    "schema unfolded": tool(
        "x: Annotated[int, Field(**{'json_schema_extra': evil})]",
        f"from typing import Annotated\nfrom pydantic import Field\n{EVIL}",
    ),
    "title": model("    y: int = Field(field_title_generator=evil)", EVIL),
    "title of a computed field": model(
        "    y: int\n    @computed_field(field_title_generator=evil)\n    @property\n"
        "    def z(self) -> int:\n        return 1",
        EVIL,
    ),
    "metadata of a field": tool(
        "x: D",
        f"from dataclasses import dataclass, field\n{EVIL}@dataclass\nclass D:\n"
        f"    y: int = field(metadata={{'json_schema_extra': evil}})",
    ),
    "namespace as a hook": tool(
        "x: Annotated[int, SimpleNamespace(__get_pydantic_core_schema__=evil)]",
        f"from typing import Annotated\nfrom types import SimpleNamespace\n{EVIL}",
    ),
}
CALLS = {
    "namespace": tool(head=f"from types import SimpleNamespace\nX = SimpleNamespace(get=exec).get('{RUN}')"),
    "dataclass": tool(
        head=f"from dataclasses import dataclass\n@dataclass\nclass P:\n    get: object\nX = P(exec).get('{RUN}')"
    ),
    "named tuple": tool(
        head=f"from typing import NamedTuple\nclass P(NamedTuple):\n    get: object\nX = P(exec).get('{RUN}')"
    ),
    "default": tool(f"x: int = SimpleNamespace(get=exec).get('{RUN}')", "from types import SimpleNamespace"),
    "annotation": tool(
        f"x: Annotated[int, SimpleNamespace(get=exec).get('{RUN}')]",
        "from types import SimpleNamespace\nfrom typing import Annotated",
    ),
}
COPIES = {
    "by modules": "X = sys.modules['shutil'].copy(A, B)",
    "in a list": "X = [shutil][0].copy(A, B)",
    "another name": "M = shutil\nX = M.copy(A, B)",
    "inside of another": "M = zipfile.shutil\nX = M.copy(A, B)",
    "in a loop": "X = [m.copy(A, B) for m in [shutil]]",
    "the largest": "X = max([shutil]).copy(A, B)",
    "cast": "X = cast(Any, shutil).copy(A, B)",
    "in a class": "class K:\n    m = shutil\nX = K.m.copy(A, B)",
    "in a variable": "X = ContextVar('x', default=shutil).get().copy(A, B)",
    "chosen": "X = (shutil if 1 else 0).copy(A, B)",
}

OUTPUTS = {
    "new type": 'T = NewType("T", "evil()")',
    "typed dict": 'T = TypedDict("T", {"y": "evil()"})',
    "named tuple": 'T = NamedTuple("T", [("y", "evil()")])',
    "bound": 'T = TypeVar("T", bound="evil()")',
    "union": 'T = List[int] | "evil()"',
    "union of a name": 'A = "evil()"\nT = List[int] | A',
    "inside a list": 'T = list["evil()"]',
    "out of a tuple": 'T = (List[int], "evil()")',
}
MODULE = "import shutil as f\nfrom functools import cache as __c, cache as kept\n"
READ = "f.copy('x', 'y')"
SCOPES = {
    "bound twice": f"class A:\n    f = 'x'\n    import shutil as f\n    y = {READ}",
    "a class bound twice": f"class A:\n    f = 'x'\n    class f:\n{method('copy', 'staticmethod', indent=' ' * 8)}"
    "    y = f.copy()",
    "an import alone": "class A:\n    import shutil",
    "read before it is bound": f"class A:\n    y = {READ}\n    f = 'x'",
    "nested": f"class A:\n    f = 'x'\n    class B:\n        y = {READ}",
    "a loop": f"class A:\n    f = 'x'\n    y = [{READ} for i in (1,)]",
    "a callback": f"class A:\n    f = 'x'\n    y = max([1], key=lambda v: {READ})",
    "a factory": "from dataclasses import dataclass, field\n@dataclass\nclass D:\n"
    f"    x: str = field(default_factory=lambda: {READ})\nclass A:\n    f = 'x'\n    y = D()",
    "a nested annotation": "from os import environ\nclass A:\n    environ = list\n"
    "    class B:\n        x: environ['1']",
    "a private decorator": f"def _A__c(g):\n    {RUN}\n    return g\nclass A:\n    @__c\n    def m(self): return 1",
    "a private name of a module": "import shutil as _A__f\n__f = 'x'\nclass A:\n    y = __f.copy('x', 'y')",
    "a private name of a class": "class A:\n    __g = f\n    y = _A__g.copy('x', 'y')",
    "a private text": f"{EVIL}from dataclasses import dataclass\n@dataclass\nclass A:\n    __g = 'evil()'\n"
    "    y: '_A__g' = 1",
    "a private property": f"from enum import Enum\nclass K(Enum):\n    a = 1\n{method('__p', 'property')}X = K.a._K__p",
    "a private base": "from typing import Generic as __E\nfrom enum import Enum as _A__E\nclass A:\n    class B(__E):\n"
    f"        X = 1\n{method('__new__', indent=' ' * 8)}",
    "a decorator of an outer class": "class A:\n    from functools import cache\n    class B:\n        @cache\n"
    "        def m(self): return 1",
}

USED = "from enum import unique\nfrom functools import cache, lru_cache, total_ordering\n"
USED += "from abc import abstractmethod\nfrom contextlib import asynccontextmanager, contextmanager\n"
USED += "from typing import final, runtime_checkable\n"
DECORATORS = [
    "abstractmethod(evil)", "asynccontextmanager(evil)", "cache(evil)", "contextmanager(evil)", "final(evil)",
    "final(lambda f: evil())", "lru_cache(evil)", "lru_cache(maxsize=evil)", "lru_cache(**{'maxsize': evil})",
    "runtime_checkable(evil)", "staticmethod(evil)", "tool(evil)", "total_ordering(evil)", "unique(evil)",
]  # fmt: skip
FACTORY = "field(default_factory=evil)"
FACTORIES = {
    "under a name": (f"F = {FACTORY}\n", "F"),
    "under two names": (f"F = {FACTORY}\nG = F\n", "G"),
    "of a lambda": ("F = field(default_factory=lambda: evil())\n", "F"),
    "in a tuple": (f"F, G = {FACTORY}, 1\n", "F"),
    "in a class": (f"class H:\n    f: int = {FACTORY}\n", "H.f"),
    "left in a data class": (f"@dataclass\nclass H:\n    _: KW_ONLY = {FACTORY}\n", "H._"),
    "the largest": (f"F = {FACTORY}\n", "max([F])"),
    "the sum": (f"F = {FACTORY}\n", "sum([], F)"),
    "chosen": (f"F = {FACTORY}\n", "F if 1 else 2"),
    "cast": ("", f"cast(int, {FACTORY})"),
}
MADE = "@dataclass\nclass D:\n    y: int = {}\nX = D()\n"
HELD = "from dataclasses import KW_ONLY, dataclass, field\nfrom typing import cast\n"


@pytest.mark.parametrize("source", TEXTS.values(), ids=TEXTS)
def test_a_text_that_stands_for_a_type_is_held_to_the_rule_of_expressions(source: str) -> None:
    assert refused(source)


@pytest.mark.parametrize(("items", "evaluated"), [("evil()", True), ("list[evil()]", True), ("list[int]", False)])
def test_a_text_for_the_other_items_of_a_typed_dict_is_too(items: str, evaluated: bool) -> None:
    imports = f"from pydantic import BaseModel\nfrom typing_extensions import TypedDict\n{EVIL}"
    classes = f"class T(TypedDict, extra_items='{items}'):\n    y: int\nclass D(BaseModel):\n    t: T\n"
    assert refused(tool("x: D", imports + classes)) is evaluated


def test_a_text_holds_constants_beside_types() -> None:
    texts = ["Literal['a', -1, None]", "Annotated[int, 'words', (1, 2)]", "List[Literal['a']]", "L"]
    assert not any(refused(tool(f'x: "{text}"', f"{MEMBER}L = Literal[K.A]\n")) for text in texts)


def test_a_text_in_another_file_is_too() -> None:
    files = {"_t/w.py": f'{EVIL}A = "evil()"\n'}
    assert refused(tool("x: A", "from ._t.w import A"), files)
    assert refused(tool("x: w.A", "from ._t import w"), files)
    assert refused(tool("x: B", "from ._t.v import B"), {**files, "_t/v.py": "from .w import A as B\n"})


@pytest.mark.parametrize("source", PARTS.values(), ids=PARTS)
def test_every_part_of_a_text_that_stands_for_a_type_is_held_to_it(source: str) -> None:
    assert refused(source)


@pytest.mark.parametrize(("source", "file"), FILES.values(), ids=FILES)
def test_a_type_is_followed_into_the_file_that_makes_it(source: str, file: str) -> None:
    assert refused(source, {"_t/w.py": file})


def test_types_of_another_file_are_taken() -> None:
    files = {
        "_t/w.py": "from dataclasses import dataclass\nfrom enum import Enum\nfrom typing import Literal\n"
        'Way = Literal["<", "a b"]\nclass K:\n    class D(Enum):\n        A = 1\n@dataclass\nclass E:\n    y: "Way"\n'
    }
    assert not refused(tool("x: Way, y: w.K.D, z: E, v: 'w.E'", "from ._t import w\nfrom ._t.w import E, Way"), files)


@pytest.mark.parametrize("source", HOOKS.values(), ids=HOOKS)
def test_nothing_that_python_or_pydantic_calls_runs(source: str) -> None:
    assert refused(source) or "model_validator" in source


@pytest.mark.parametrize("base", ["uuid.Enum", "http.IntEnum", "socket.IntEnum"])
def test_an_enum_of_another_module_is_refused(base: str) -> None:
    module = base.partition(".")[0]
    assert refused(tool("x: K", f"import {module}\nclass K({base}):\n    a = 1\n{method('__init__')}"))


def test_an_enum_out_of_a_file_of_its_own_is_refused() -> None:
    made = tool("x: K", f"from ._t.w import Enum\nclass K(Enum):\n    a = 1\n{method('__init__')}")
    assert refused(made, {"_t/w.py": "from enum import Enum\n"})


@pytest.mark.parametrize(
    "head",
    [
        f"from dataclasses import dataclass\n@dataclass\nclass D:\n    y: int = 1\n{method('__post_init__')}",
        f"from pydantic import BaseModel\nclass D(BaseModel):\n    y: int = 1\n{method('model_post_init')}",
        f"from pydantic import BaseModel\nclass D(BaseModel):\n    y: int = 1\n{method('__init__')}",
        f"from pydantic import BaseModel\nclass B:\n{method('__new__')}class D(B, BaseModel):\n    y: int = 1\n",
    ],
)
@pytest.mark.parametrize("parameter", ['x: D = {"y": 1}', 'x: list[D] = [{"y": 1}]'])
def test_nothing_makes_a_default_while_it_is_described(parameter: str, head: str) -> None:
    assert not refused(tool(parameter, head))


@pytest.mark.parametrize("source", CALLS.values(), ids=CALLS)
def test_methods_are_called_of_builtin_values_only(source: str) -> None:
    assert refused(source)


@pytest.mark.parametrize("line", COPIES.values(), ids=COPIES)
def test_no_module_is_reached_in_disguise(line: str) -> None:
    head = (
        "import shutil, sys, zipfile\nfrom typing import Any, cast\nfrom contextvars import ContextVar\nA = B = 'x'\n"
    )
    assert refused(tool(head=head + line))


@pytest.mark.parametrize("lines", OUTPUTS.values(), ids=OUTPUTS)
def test_no_text_in_the_answer_type_of_a_declared_agent_is_evaluated(lines: str, tmp_path: Path) -> None:
    imports = "from typing import List, NamedTuple, NewType, TypedDict, TypeVar\nfrom tea import Agent\n"
    file = f'{imports}{EVIL}{lines}\nprobe = Agent(name="probe", instructions="Do it.", output=T)\n'
    with pytest.raises(BadComponent), agent_in(tmp_path / "probe.py", file) as agent:
        declared_source(agent)


@pytest.mark.parametrize("output", ['[Agent(name="a", output=T) for T in ("int",)][0]', 'Agent(**{"name": "a"})'])
def test_an_agent_is_declared_where_names_mean_what_they_mean_at_the_top_level(output: str, tmp_path: Path) -> None:
    file = f"from tea import Agent\nprobe = Agent(name='probe', instructions='Do it.', agents=[{output}])\n"
    with pytest.raises(BadComponent), agent_in(tmp_path / "probe.py", file):
        pass


def test_no_other_agent_of_a_class_is_taken_for_a_declaration(tmp_path: Path) -> None:
    file = f"from tea import Agent\n{EVIL}class A:\n    Agent = evil\n    x = Agent(1)\nprobe = Agent(name='probe')\n"
    with pytest.raises(BadComponent), agent_in(tmp_path / "probe.py", file):
        pass


@pytest.mark.parametrize("output", ["{'type': 'string'}", "SCHEMA", "list[Report]", "Optional[Report]", "None"])
def test_types_and_schemas_of_answers_are_taken(output: str, tmp_path: Path) -> None:
    head = "from typing import Optional\nfrom pydantic import BaseModel\nfrom tea import Agent\n"
    head += "SCHEMA = {'type': 'object', 'properties': {}}\nclass Report(BaseModel):\n    words: list['str']\n"
    file = f"{head}probe = Agent(name='probe', instructions='Do it.', output={output})\n"
    with agent_in(tmp_path / "probe.py", file) as agent:
        assert declared_source(agent)


@pytest.mark.parametrize("lines", SCOPES.values(), ids=SCOPES)
def test_names_in_a_class_are_read_as_python_reads_them(lines: str) -> None:
    assert refused(tool(head=f"{MODULE}{lines}"))


@pytest.mark.parametrize(
    "line",
    [
        "import antigravity",
        "import distutils.tests.test_filelist",
        "import rlcompleter",
        "from ctypes.test import test_functions",
        "from turtle import Turtle",
        "from unittest import test",
        "import this",
        "import unittest.__main__",
        "from unittest import __main__",
        "import idlelib.idle",
        "import sys\nX = list(sys.stdin)",
    ],
)
def test_modules_that_work_when_they_are_imported_are_refused(line: str) -> None:
    assert refused(tool(head=line))
    assert "antigravity" not in sys.modules


if sys.version_info >= (3, 12):

    @pytest.mark.parametrize(
        "head",
        [
            'def f[T: "evil()"](x: T) -> T: return x',
            "def f[T: evil()](x: T) -> T: return x",
            'type A = "evil()"',
            'from typing import Literal\ntype Literal[T] = list[T]\nX = Literal["evil()"]',
            "from typing import Annotated\ndef f[T: Annotated[int, evil()]](x: T) -> T: return x",
            "from typing import Annotated\nclass K[T: Annotated[int, evil()]]: pass",
            'class K[T: "evil()"]: pass',
        ],
    )
    def test_type_parameters_are_held_to_it_too(head: str) -> None:
        assert refused(tool(head=EVIL + head))


@pytest.mark.parametrize(
    "source",
    [
        tool('x: "Optional[int]" = None', "from typing import Optional"),
        tool(
            "x: Json",
            "from collections.abc import Mapping, Sequence\nJson = None | bool | Sequence['int'] | Mapping[str, 'int']",
        ),
        tool(
            "x: Words",
            "from typing import Annotated\nfrom pydantic import Field\n"
            "Words = Annotated[str, Field(min_length=1, description='a call(like) this')]",
        ),
        tool("x: Literal['evil()', 'a b'] = 'a b'", "from typing import Literal"),
        tool(
            "x: 'K.D'",
            "from dataclasses import dataclass\nclass K:\n    @dataclass\n    class D:\n        y: 'int | None'",
        ),
        tool("x: D", "from typing import NotRequired, TypedDict\nclass D(TypedDict):\n    y: NotRequired['list[str]']"),
        tool("x: Id", "from typing import NewType\nId = NewType('Id', 'int')"),
        tool(
            "x: Color = Color.RED",
            "from enum import Enum\nclass Color(str, Enum):\n    RED = 'r'\n    def shown(self): return 1",
        ),
        model(
            "    model_config = ConfigDict(extra='forbid')\n"
            "    y: int = Field(default_factory=int, json_schema_extra={'a': 1})"
        ),
        model(
            "    y: int\n    @field_validator('y')\n    @classmethod\n"
            "    def check(cls, v: int) -> int:\n        return v\n    @computed_field\n"
            "    @property\n    def z(self) -> int:\n        return 1"
        ),
        tool(
            "x: P, y: D, z: Id",
            "from typing import NamedTuple, NewType, TypedDict, TypeVar\n"
            "P = NamedTuple('P', [('x', int), ('y', 'str')])\n"
            "D = TypedDict('D', {'x': 'list[int]'}, total=False)\nId = NewType('Id', int)\nT = TypeVar('T', bound='P')",
        ),
        tool(
            head="import re\nname = 'x'\nclass A:\n    name = name\n    __kept = {'a': 1}\n    flags = re.I | re.M\n"
            "    @property\n    def __part(self): return self.__kept\n"
            "    @__part.setter\n    def __part(self, v): pass\n"
            "    words = [one for one in ('a', 'b')]\n    class B:\n        words = ('c',)\n        first = words[0]"
        ),
        tool(
            head="NAMES = 'a b'.split()\nUPPER = [one.upper() for one in NAMES]\n"
            "TABLE = dict.fromkeys(UPPER, 0)\nX = {**TABLE}"
        ),
        tool(
            head="class C:\n    @property\n    def x(self): return 1\n    @x.setter\n"
            "    def x(self, v): pass\n    def __enter__(self): return self\n"
            "    def __exit__(self, *a): pass"
        ),
    ],
)
def test_what_components_are_written_with_is_not_refused(source: str) -> None:
    assert not refused(source)


def test_no_more_texts_are_read_than_a_component_needs() -> None:
    many = ", ".join(f'"A{number}"' for number in range(6_000))
    assert refused(tool("x: A", f"A = [{many}]"))


@pytest.mark.parametrize("mark", DECORATORS)
def test_no_decorator_calls_what_it_is_given(mark: str) -> None:
    assert refused(tool(head=f"{USED}{EVIL}@{mark}\ndef f(): return 1\n"))
    assert refused(tool(head=f"{USED}{EVIL}class K:\n    @{mark}\n    def f(self): return 1\n"))


@pytest.mark.parametrize(("lines", "value"), FACTORIES.values(), ids=FACTORIES)
def test_no_factory_runs_that_a_field_keeps_elsewhere(lines: str, value: str) -> None:
    assert refused(tool(head=f"{HELD}{EVIL}{lines}{MADE.format(value)}"))


def test_no_factory_of_another_file_runs() -> None:
    file = f"{HELD}{EVIL}F = {FACTORY}\n"
    assert refused(tool(head=f"{HELD}from ._t.w import F\n{MADE.format('F')}"), {"_t/w.py": file})
    assert refused(tool(head=f"{HELD}from ._t import w\n{MADE.format('w.F')}"), {"_t/w.py": file})


@pytest.mark.parametrize("value", ["F", "pi", "(*F,)", "field(default_factory=list)", "None", "-1"])
def test_plain_defaults_of_data_classes_are_taken(value: str) -> None:
    lines = "from math import pi\nF = (1, 2)\n"
    assert not refused(tool(head=f"{HELD}{lines}{MADE.format(value)}"))


def test_a_declared_agent_is_captured_from_the_text_that_was_checked(tmp_path: Path) -> None:
    path = tmp_path / "team.py"
    head = "from tea import Agent\n\ndef t(x: int) -> int:\n    "
    tail = '\n    return 1\n\nteam = Agent(name="team", instructions="Add.", tools=[t])\n'
    checked, changed = (f'{head}"""{words}."""{tail}' for words in ("Add", "Take"))
    path.write_text(changed)
    with agent_in(path, checked) as agent:
        assert agent.declaration is not None
        (function,) = agent.declaration.tools
        assert '"""Add."""' in MANAGER.capture(function).source


KEYED = "class K:\n" + "".join(method(name, "staticmethod") for name in ("keys", "replace", "expandtabs", "split"))


@pytest.mark.parametrize(
    "line",
    [
        "C = dict(K)",
        "C = {**K}",
        "C = dict(**K)",
        "C = {'a': {**K}}",
        "A = K\nC = {**A}",
        "C = {**(K if True else {})}",
        "C = {**max(K, key=str)}",
        "C = [dict(one) for one in (K,)]",
        "C = [{**one} for one in (K,)]",
        "def d(): pass\nd = K\nC = {**d}",
        "from collections import OrderedDict\nC = OrderedDict(K)",
        "from collections import namedtuple\nC = namedtuple('N', 'a', **K)",
        "from inspect import cleandoc\nC = cleandoc(K)",
        "from inspect import cleandoc\nC = cleandoc(doc=K)",
        "from textwrap import dedent\nC = dedent(K)",
        "from textwrap import dedent\nC = dedent(text=K)",
        "from uuid import UUID\nC = UUID(K)",
        "from uuid import UUID\nC = UUID(hex=K)",
        "from types import SimpleNamespace\nC = dict(SimpleNamespace(keys=evil))",
        "from dataclasses import dataclass\n@dataclass\nclass D:\n    keys: object = evil\nC = dict(D())",
        "from dataclasses import dataclass\n@dataclass\nclass D:\n    keys: object = evil\nC = {**D()}",
        "from dataclasses import dataclass\n@dataclass\nclass D:\n    x: int = 1\nC = D(**K)",
        "@tool(**K)\ndef f(): return 1",
    ],
)
def test_no_method_is_called_by_what_unpacks_a_value(line: str) -> None:
    assert refused(tool(head=f"{EVIL}{KEYED}{line}"))


def test_no_method_of_another_file_is_called_by_what_unpacks_a_value() -> None:
    assert refused(tool(head="from ._t import w\nC = {**w}"), {"_t/w.py": f"def keys():\n    {RUN}\n    return []\n"})
    assert refused(tool(head="from ._t.w import K\nC = {**K}"), {"_t/w.py": KEYED})


@pytest.mark.parametrize(
    "line",
    [
        "class K: pass\nB = {'a': K, 'b': str}\nC = {**B, 'c': 1}",
        "ROWS = [{'a': 1}]\nC = [dict(row) for row in ROWS]",
        "C = dict(zip('ab', (1, 2)))",
        "from uuid import UUID\nC = UUID('12345678123456781234567812345678')",
        "from typing import ParamSpec\nP = ParamSpec('P')\ndef f(*args: P.args, **kwargs: P.kwargs) -> None: pass",
    ],
)
def test_data_is_unpacked(line: str) -> None:
    assert not refused(tool(head=line))


def test_data_of_another_file_is_unpacked() -> None:
    assert not refused(tool(head="from ._t.w import B\nC = {**B}"), {"_t/w.py": "B = {'a': 1}\n"})


@pytest.mark.parametrize("part", ["args", "kwargs"])
@pytest.mark.parametrize("written", ["K.{}", "'K.{}'", "A.{}"])
def test_no_text_of_a_class_is_taken_for_parameters(part: str, written: str) -> None:
    assert refused(tool(f"x: {written.format(part)}", f'{EVIL}class K:\n    {part} = "evil()"\nA = K'))


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        ("", "field(default_factory=lambda list=evil, /: list('a'))"),
        (f"def f(): pass\nf = {FACTORY}\n", "f"),
        (f"f = {FACTORY}\ndef f(): pass\nf = {FACTORY}\n", "f"),
    ],
)
def test_no_factory_runs_under_a_name_of_something_else(lines: str, value: str) -> None:
    assert refused(tool(head=f"{HELD}{EVIL}{lines}{MADE.format(value)}"))


def test_no_factory_of_a_dictionary_calls_its_own_parameter() -> None:
    made = "from collections import defaultdict\nC = defaultdict(lambda list=evil, /: list('a'))\n"
    assert refused(tool(head=f"{EVIL}{made}X = 'a'.translate(C)"))
