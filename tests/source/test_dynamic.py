"""Test loading: leave to run, single runs, lifetimes, and words of errors."""

import gc
import inspect
import linecache
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from tea.components.manifest import Lineage, Manifest
from tea.errors import BadComponent, CallFailed, Damaged, Quarantined
from tea.source.check import check_source
from tea.source.checked import Checked
from tea.source.dynamic import DynamicManager

TOOL = '''from tea import tool


@tool(effects="reads")
async def add(a: int, b: int = 1) -> int:
    """Add two numbers.

    Args:
        a: One number.
        b: Another.
    """
    if a < 0:
        raise KeyError(a)
    return a + b
'''
ENVIRONMENT = '''from tea import Environment, action


class Counter(Environment):
    """Count."""

    rules = "Count up only."
    recovery = "rerun"

    def __init__(self) -> None:
        self.total = 0

    async def state(self) -> int:
        """Look."""
        return self.total

    @action(effects="writes")
    async def up(self) -> int:
        """Count one."""
        from ._counter.steps import STEP

        self.total += STEP
        return self.total
'''
FILES = {
    "_counter/steps.py": "from .deep.one import ONE\nfrom . import names\nSTEP = ONE * len(names.NAMES)\n",
    "_counter/names.py": "NAMES = ('a', 'b')\n",
    "_counter/deep/one.py": "from .. import names\nONE = 1\n",
}
EVENTS = "tests_of_loading_events"


@pytest.fixture
def manager() -> DynamicManager:
    return DynamicManager(lambda digest: True)


@pytest.fixture
def events() -> Iterator[list[str]]:
    """A module for sources under test to import, recording their runs."""
    module = ModuleType(EVENTS)
    seen: list[str] = []

    def tell(name: str) -> str:
        if name.startswith("__"):
            raise AttributeError(name)
        seen.append(name)
        return name

    module.__getattr__ = tell  # type: ignore[method-assign]
    sys.modules[EVENTS] = module
    yield seen
    del sys.modules[EVENTS]


def manifest(manager: DynamicManager, source: str = TOOL, files: dict[str, str] | None = None) -> Manifest:
    return manager.describe(manager.check(source, files), version="1.0.0")


def eventful(manager: DynamicManager) -> Manifest:
    """A manifest with a source recording its run; not yet executed."""
    source = TOOL.replace("from tea", f"from {EVENTS} import executed\nfrom tea")
    text = manager.check(source, requires=(EVENTS,))
    return replace(manifest(manager), source=text.source, requires=text.requires)


def private_modules() -> set[str]:
    return {name for name in sys.modules if name.startswith("_tea_")}


def kept() -> set[str]:
    gc.collect()
    return private_modules() | {name for name in linecache.cache if name.startswith("<_tea_")}


def test_a_description_holds_all_that_is_stored(manager: DynamicManager) -> None:
    text = manager.check(ENVIRONMENT, FILES)
    lineage = Lineage(how="copy", parent="1.0.0")
    found = manager.describe(
        text, version="1.1.0", lineage=lineage, created="2024-01-01T00:00:00Z", reason="for a test"
    )
    assert (found.kind, found.name, found.version, found.description) == ("environment", "counter", "1.1.0", "Count.")
    assert (found.rules, found.recovery, found.evolvable) == ("Count up only.", "rerun", True)
    assert sorted(found.operations) == ["state", "up"]
    assert (found.lineage, found.created, found.reason) == (lineage, "2024-01-01T00:00:00Z", "for a test")
    assert Manifest.from_json(found.to_json()) == found


def test_a_configuration_tells_its_kind(manager: DynamicManager) -> None:
    agent = (
        "class A(Agent):\n    'Doc.'\n    async def run(self, ctx: Context, task: Task) -> Result:\n        'Run.'\n"
    )
    found = manifest(manager, agent + "        return Result()\n")
    assert found.kind == "agent"
    assert found.changes == ("from tea import Agent, Context, Result, Task",)
    assert manifest(manager).kind == "tool"


@pytest.mark.parametrize("changes", [{"recovery": "lost"}, {"sharing": "private"}, {"rules": ""}])
def test_what_a_manifest_says_otherwise_than_its_source_is_damage(
    manager: DynamicManager, changes: dict[str, Any]
) -> None:
    with pytest.raises(Damaged, match="does not match its source"):
        manager.load(replace(manifest(manager, ENVIRONMENT, FILES), **changes))


async def test_a_loaded_tool_works(manager: DynamicManager) -> None:
    found = manager.load(manifest(manager))
    assert await found.operations["call"].executor(None, {"a": 2}, None) == 3


async def test_helper_files_import_each_other_also_inside_of_functions(manager: DynamicManager) -> None:
    found = manager.load(manifest(manager, ENVIRONMENT, FILES))
    assert found.create is not None
    assert await found.operations["up"].executor(found.create(), {}, None) == 2


def test_source_that_is_not_trusted_is_not_executed(manager: DynamicManager, events: list[str]) -> None:
    stored = eventful(manager)
    asked: list[str] = []
    with pytest.raises(Quarantined, match=r"tool:add@1\.0\.0 is not trusted.* Fix: .*`tea trust tool:add@1\.0\.0`"):
        DynamicManager(lambda digest: bool(asked.append(digest))).load(stored)
    assert (asked, events) == ([stored.digest], [])


def test_checking_executes_nothing_and_loading_once(manager: DynamicManager, events: list[str]) -> None:
    stored = eventful(manager)
    assert events == []
    first = manager.load(stored)
    assert manager.load(replace(stored, version="2.0.0")) is first
    assert events == ["executed"]


def test_what_was_checked_is_not_checked_again_and_everything_else_is(
    manager: DynamicManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks: list[str | bytes] = []

    def counted(source: str | bytes, *rest: Any) -> Checked:
        checks.append(source)
        return check_source(source, *rest)

    monkeypatch.setattr("tea.source.check.check_source", counted)
    text = manager.check(TOOL)
    found = manager.describe(text, version="1.0.0")
    assert len(checks) == 1
    assert manager.load(found).name == "add"
    assert len(checks) == 1
    assert manager.describe(text, version="1.0.0") == found
    assert len(checks) == 2
    other = replace(manager.check(TOOL), source=TOOL.replace("async def", "import os\nos.getcwd()\nasync def"))
    with pytest.raises(BadComponent):
        manager.describe(other, version="1.0.0")
    for number in range(40):
        manager.check(TOOL.replace("add", f"add_{number}"))
    checks.clear()
    assert manager.describe(text, version="1.0.0") == found
    assert len(checks) == 1, "only the latest are remembered"


def test_trust_is_asked_again_for_what_is_loaded_already(manager: DynamicManager) -> None:
    trusted = True
    asking = DynamicManager(lambda digest: trusted)
    found, stored = asking.load(manifest(manager)), manifest(manager)
    trusted = False
    with pytest.raises(Quarantined):
        asking.load(stored)
    assert found.name == "add"


def test_threads_that_load_one_source_execute_it_once(manager: DynamicManager, events: list[str]) -> None:
    stored = eventful(manager)
    everybody_asked = threading.Barrier(8)

    def trusted(digest: str) -> bool:
        everybody_asked.wait(timeout=30)
        return True

    busy = DynamicManager(trusted)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: busy.load(stored), range(8)))
    assert len({id(one) for one in found}) == 1
    assert events == ["executed"]


def test_a_tampered_manifest_is_another_source_and_needs_its_own_trust(manager: DynamicManager) -> None:
    stored = manifest(manager)
    careful = DynamicManager(lambda digest: digest == stored.digest)
    assert careful.load(stored).name == "add"
    for tampered in (
        replace(stored, source=stored.source.replace("a + b", "a - b")),
        replace(stored, files={"_add/x.py": ""}),
        replace(stored, requires=("openpyxl",)),
        replace(stored, name="sub"),
    ):
        with pytest.raises(Quarantined):
            careful.load(tampered)
    data = stored.to_json()
    with pytest.raises(Damaged):
        Manifest.from_json({**data, "source": data["source"] + "#"})


def test_a_manifest_must_name_what_its_source_defines(manager: DynamicManager) -> None:
    stored = manifest(manager)
    with pytest.raises(BadComponent, match="defines tool:add"):
        manager.load(replace(stored, name="sub"))
    with pytest.raises(BadComponent, match="is of kind tool, not agent"):
        manager.load(replace(stored, kind="agent"))
    with pytest.raises(BadComponent, match="not complete"):
        manager.load(replace(stored, source=stored.source.replace("from tea import tool\n", "")))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("from json import nothing", r"ImportError: cannot import name 'nothing'"),
        ("LIMIT = 1 / 0", r"ZeroDivisionError"),
        ("LIMIT = {}['a']", r"KeyError"),
        ("from tests_of_loading_exit import x", r"SystemExit"),
    ],
)
def test_a_source_that_raises_leaves_nothing_behind(manager: DynamicManager, line: str, said: str) -> None:
    def leave(name: str) -> Any:
        raise SystemExit(3) if name == "x" else AttributeError(name)

    module = sys.modules["tests_of_loading_exit"] = ModuleType("tests_of_loading_exit")
    module.__getattr__ = leave  # type: ignore[method-assign]
    before = kept()
    text = manager.check(
        TOOL.replace("from tea", f"{line}\nfrom tea"), {"_add/x.py": "X = 1\n"}, requires=(module.__name__,)
    )
    with pytest.raises(BadComponent, match=said) as caught:
        manager.describe(text, version="1.0.0")
    assert len(str(caught.value)) <= 300
    assert "\n" not in str(caught.value)
    del caught, sys.modules[module.__name__]
    assert kept() == before


def test_a_bad_declaration_is_one_line(manager: DynamicManager) -> None:
    source = "class E(Environment):\n    'Doc.'\n    @action\n    async def go(self) -> None:\n        'Go.'\n"
    with pytest.raises(BadComponent, match="E has no state"):
        manifest(manager, source)


def test_modules_stay_while_the_definition_or_an_instance_lives(manager: DynamicManager) -> None:
    before = kept()
    found = manager.load(manifest(manager, ENVIRONMENT, FILES))
    assert len(kept() - before) == 10
    assert found.create is not None
    instance = found.create()
    del found
    assert len(kept() - before) == 10
    assert sys.modules[type(instance).__module__].__dict__["Counter"] is type(instance)
    del instance
    assert kept() == before


def test_tools_stay_while_their_definition_lives(manager: DynamicManager) -> None:
    before = kept()
    found = manager.load(manifest(manager))
    assert len(kept() - before) == 2
    del found
    assert kept() == before


def test_two_managers_keep_their_modules_apart(manager: DynamicManager) -> None:
    other = DynamicManager(lambda digest: True)
    stored = manifest(manager)
    one, two = manager.load(stored), other.load(stored)
    functions = [found.operations["call"].executor.function for found in (one, two)]  # type: ignore[attr-defined]
    assert functions[0].__globals__ is not functions[1].__globals__
    assert len({function.__module__ for function in functions}) == 2
    assert {function.__module__ for function in functions} <= private_modules()


async def test_tracebacks_and_inspect_show_the_source(manager: DynamicManager) -> None:
    found = manager.load(manifest(manager))
    with pytest.raises(CallFailed) as caught:
        await found.operations["call"].executor(None, {"a": -1}, None)
    cause = caught.value.__cause__
    assert cause is not None
    assert "raise KeyError(a)" in "".join(traceback.format_exception(cause))
    function: Callable[..., Any] = found.operations["call"].executor.function  # type: ignore[attr-defined]
    linecache.checkcache()
    assert "async def add" in inspect.getsource(function)


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
@pytest.mark.parametrize("annotation", ['Optional["Word"]', 'List["Word"]', 'Dict[str, "Word"]'])
def test_a_text_in_an_annotation_means_what_its_own_file_says(
    manager: DynamicManager, annotation: str, future: str
) -> None:
    for word in ("mine", "yours"):
        head = f"{future}from typing import Dict, List, Literal, Optional\nfrom tea import tool\n"
        source = (
            f'{head}Word = Literal["{word}"]\n@tool\ndef say(x: {annotation}) -> int:\n    """Say."""\n    return 1\n'
        )
        found = manager.describe(manager.check(source), version="1.0.0")
        assert f"'{word}'" in str(found.operations["call"].parameters)


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ('Optional[Literal["a", "b"]]', 'Optional[Literal["b", "a"]]', "['b', 'a']"),
        ("List[Union[int, str]]", "List[Union[str, int]]", "[{'type': 'string'}, {'type': 'integer'}]"),
    ],
)
def test_the_parts_of_a_type_stand_in_the_order_of_their_own_file(
    manager: DynamicManager, first: str, second: str, shown: str, future: str
) -> None:
    head = f"{future}from typing import List, Literal, Optional, Union\nfrom tea import tool\n"
    for annotation in (first, second):
        source = f'{head}@tool\ndef say(x: {annotation}) -> int:\n    """Say."""\n    return 1\n'
        found = manager.describe(manager.check(source), version="1.0.0")
    assert shown in str(found.operations["call"].parameters)


def test_memory_does_not_grow_with_sources_that_are_no_longer_used(manager: DynamicManager) -> None:
    def blocks_after(numbers: range) -> int:
        for number in numbers:
            manager.load(manifest(manager, f"{TOOL}\nNUMBER = {number}\n"))
        gc.collect()
        return sys.getallocatedblocks()

    start = blocks_after(range(100))
    assert blocks_after(range(100, 500)) <= start + 200, "something is kept of each"
