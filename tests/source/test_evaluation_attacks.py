"""Test attacks through what Python and libraries evaluate for a source: none of its own code runs meanwhile."""

import builtins
from collections.abc import Iterator
from pathlib import Path

import pytest

from tea.errors import BadComponent
from tea.source.agent_file import agent_in
from tea.source.dynamic import DynamicManager

MANAGER = DynamicManager(lambda digest: True)
RUN = "import builtins; builtins.canary = 1"
EVIL = f"def evil(*a, **k):\n    {RUN}\n    return 1\n"
HEAD = '# /// script\n# dependencies = ["pydantic"]\n# ///\nfrom tea import Agent, Environment, action, tool\n'
ASKED = (
    "expandtabs", "isidentifier", "keys", "replace", "rfind", "rpartition", "split", "startswith", "strip", "translate",
)  # fmt: skip
HITS = "".join(f"    def {name}(self, *a, **k):\n        {RUN}\n        return 'a'\n" for name in ASKED)
TEXT = f"from enum import Enum\nclass K(str, Enum):\n    A = 'a.b'\n{HITS}"
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


@pytest.fixture(autouse=True)
def canary() -> Iterator[None]:
    """Fail after any execution of a source."""
    yield
    ran = hasattr(builtins, "canary")
    if ran:
        delattr(builtins, "canary")
    assert not ran, "the source ran"


def refused(source: str, files: dict[str, str] | None = None) -> bool:
    """Whether a source is refused before anything of it runs; else its description must run nothing."""
    try:
        text = MANAGER.check(source, files)
    except BadComponent as error:
        return "never defined" not in str(error)
    MANAGER.describe(text, version="1.0.0")
    return False


METHODS = {
    "pattern": "import re\nX = re.escape(K.A)",
    "logger": "import logging\nX = logging.getLogger(K.A)",
    "fields of a named tuple": "from collections import namedtuple\nX = namedtuple('N', K.A)",
    "name of a type": "from typing import NewType\nX = NewType(K.A, int)",
    "delimiter": "import string\nclass T(string.Template):\n    delimiter = K.A",
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


@pytest.mark.parametrize("fact", ["name=K.A", "instructions=K.A", "model=K.A"])
def test_a_declared_agent_is_declared_by_plain_values(fact: str, tmp_path: Path) -> None:
    given = ", ".join(
        {"name": "name='probe'", "instructions": "instructions='Do it.'", fact[: fact.index("=")]: fact}.values()
    )
    with (
        pytest.raises(BadComponent),
        agent_in(tmp_path / "probe.py", f"from tea import Agent\n{TEXT}probe = Agent({given})\n"),
    ):
        pass


def test_values_of_other_files_are_worked_with() -> None:
    head = "from ._t import w\nfrom ._t.w import A\nB = A * 2 + w.A\nC = {**w.D, 'b': len(w.D)}\n"
    assert not refused(tool(head), {"_t/w.py": "A = 'x'\nD = {'a': str}\n"})
