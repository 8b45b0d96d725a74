"""Declaring tools, environments and agents."""

import doctest
import importlib
from functools import cached_property
from typing import Any, ClassVar

import pytest

from tea import Agent, Context, Environment, Result, Task, action, tool
from tea.components.component import component_name
from tea.components.definition import define
from tea.components.operation import Traits
from tea.errors import BadComponent


@tool(effects="reads", idempotent=True, metadata={"category": "text"}, evolvable=False)
async def word_count(text: str, *, unique: bool = False) -> int:
    """Count the words in a text.

    Args:
        text: Any text.
        unique: Count each distinct word once.
    """
    words = text.split()
    return len(set(words) if unique else words)


class WebBrowser(Environment):
    """A browser."""

    recovery = "rerun"
    rules = """
        Look before you click.
    """

    async def state(self) -> str:
        """Return the page."""
        return "page"

    @action(effects="external", before="a page is open", after="another page is open")
    async def click(self, ctx: Context, index: int) -> str:
        """Click."""
        return str(index)

    @action
    async def close(self) -> None:
        """Close."""

    async def helper(self) -> None:
        """Not an action."""


class HTTPReader(Agent):
    """Reads."""

    role = "reader"
    competencies = ("reading",)
    tools = ("word_count",)
    relations: ClassVar = {"planner": "hierarchical"}
    metadata: ClassVar = {"category": "agents"}

    async def run(self, ctx: Context, task: Task) -> Result:
        """Read."""
        return Result(answer=task.text)


def test_what_an_agent_lists_in_a_list_cannot_be_changed_by_its_runs() -> None:
    lists = {"competencies": ["reading"], "tools": ["word_count"], "environments": ["workspace"], "agents": ["judge"]}
    found = type("Lister", (HTTPReader,), {"__doc__": "Lists.", **lists})
    made = define(found)
    assert {name: made.metadata[name] for name in lists} == lists
    assert all(isinstance(getattr(found, name), tuple) for name in lists)


async def test_a_tool_is_still_its_function() -> None:
    assert await word_count("to be or not to be", unique=True) == 4
    assert (word_count.__name__, word_count.__module__) == ("word_count", __name__)
    found = define(word_count)
    assert (found.kind, found.name, found.evolvable, found.metadata) == (
        "tool",
        "word_count",
        False,
        {"category": "text"},
    )
    assert found.operations["call"].signature.traits == Traits(effects="reads", idempotent=True)
    assert found.create is not None
    assert await found.create()("a b") == 2  # type: ignore[operator]


def test_an_environment_has_its_actions_and_a_state() -> None:
    found = define(WebBrowser)
    assert (found.kind, found.name, found.recovery, found.sharing, found.rules) == (
        "environment", "web_browser", "rerun", "shared", "Look before you click.",
    )  # fmt: skip
    assert define(type("Own", (WebBrowser,), {"__doc__": "It.", "sharing": "private"})).sharing == "private"
    assert set(found.operations) == {"click", "close", "state"}
    click = found.operations["click"].signature
    assert list(click.parameters["properties"]) == ["index"]
    assert (click.traits.effects, click.traits.before) == ("external", "a page is open")
    state = found.operations["state"].signature.traits
    assert (state.effects, state.idempotent, state.network) == ("reads", True, False)


def test_an_agent_says_what_it_is() -> None:
    found = define(HTTPReader)
    assert (found.kind, found.name, list(found.operations)) == ("agent", "http_reader", ["run"])
    assert found.operations["run"].signature.traits.scope
    assert found.metadata["role"] == "reader"
    assert found.metadata["tools"] == ["word_count"]
    assert found.metadata["category"] == "agents"
    assert list(found.operations["run"].signature.parameters["properties"]) == ["task"]


def test_a_tool_that_is_not_async_is_still_its_function() -> None:
    @tool(effects="reads")
    def double(number: int) -> int:
        """Double."""
        return 2 * number

    assert double(4) == 8
    assert define(double).operations["call"].signature.traits.effects == "reads"


def test_what_an_agent_works_with_is_told_as_a_copy() -> None:
    facts = {"__doc__": "It.", "tools": ("a",), "prompt": "p@1.0.0", "max_steps": 3, "output": {"type": "array"}}
    found = define(type("Facts", (Agent,), {**facts, "model": "small"}))
    declared = {"tools": ["a"], "agents": [], "environments": [], "prompt": "p@1.0.0", "max_steps": 3}
    assert found.declared == {**declared, "output": {"type": "array"}}
    assert found.metadata["model"] == "small"
    found.declared["output"]["type"] = "object"
    assert found.declared["output"] == {"type": "array"}
    assert define(WebBrowser).declared == {}


@pytest.mark.parametrize("place", ["tea.components.component", "tea.testing.samples", "tea.testing.model"])
def test_the_examples_of_public_names_give_what_they_say(place: str) -> None:
    assert doctest.testmod(importlib.import_module(place)).failed == 0
    assert doctest.testmod(importlib.import_module(place)).attempted > 0


@pytest.mark.parametrize(
    ("name", "snake"),
    [("Counter", "counter"), ("WebBrowser", "web_browser"), ("HTTPReader", "http_reader"), ("A1B2", "a1_b2"),
     ("_Hidden", "hidden"), ("already_snake", "already_snake")],
)  # fmt: skip
def test_a_class_is_called_by_its_name_in_snake_case(name: str, snake: str) -> None:
    assert component_name(type(name, (Environment,), {})) == snake


def test_a_declared_name_comes_first() -> None:
    assert component_name(type("Counter", (Environment,), {"name": "mine"})) == "mine"


async def state(self: object) -> int:
    """Return it."""
    return 1


async def run(self: object, ctx: Context, task: Task) -> Result:
    """Work."""
    return Result()


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (type("Silent", (Environment,), {"state": state}), "has no docstring"),
        (type("Stateless", (Environment,), {"__doc__": "It."}), "has no state"),
        (type("Named", (Environment,), {"__doc__": "It.", "state": state, "name": "No Name"}), "not a name"),
        (type("Eager", (Agent,), {"__doc__": "It.", "max_steps": 0}), "max_steps of Eager is 0"),
        (type("Vain", (Agent,), {"__doc__": "It.", "prompt": "tool:x"}), "'tool:x' as its prompt"),
        (type("Formal", (Agent,), {"__doc__": "It.", "output": str}), "output of Formal is"),
        (type("Told", (Agent,), {"__doc__": "It.", "model": 3}), "model of Told holds 3"),
        (type("Mute", (Agent,), {"run": run}), "has no docstring"),
        (type("Bare", (Agent,), {"__doc__": "It.", "run": run, "metadata": [1]}), "metadata of Bare is"),
        (type("Twice", (Agent,), {"__doc__": "It.", "run": run, "metadata": {"role": 1}}), "repeats 'role'"),
        (type("Vague", (Agent,), {"__doc__": "It.", "run": run, "memory": "No Ref"}), "memory of Vague is not a ref"),
        (type("Odd", (Agent,), {"__doc__": "It.", "run": run, "memory": "tool:x"}), "'tool:x' as its memory"),
        (type("Told", (Environment,), {"__doc__": "It.", "state": state, "rules": 3}), "rules of Told is 3"),
        (type("Fixed", (Environment,), {"__doc__": "It.", "state": state, "evolvable": "no"}), "evolvable of Fixed is"),
        (
            type("Lucky", (Environment,), {"__doc__": "It.", "state": state, "recovery": "luck"}),
            "unknown recovery 'luck'",
        ),
        (
            type("Odd", (Environment,), {"__doc__": "It.", "state": state, "sharing": "most"}),
            "unknown sharing 'most'",
        ),
        (type("Static", (Environment,), {"__doc__": "It.", "state": staticmethod(state)}), "'state' of Static is no"),
        (type("Bare", (Environment,), {"__doc__": "It.", "state": state, "setup": state}), "'setup' of Bare cannot"),
        (type("Sync", (Environment,), {"__doc__": "It.", "state": state, "teardown": print}), "'teardown' of Sync"),
        (type("Left", (Environment,), {"__doc__": "It.", "state": state, "restore": None}), "'restore' of Left"),
        (Environment, "not a component"),
        (Agent, "not a component"),
        (state, "not a component"),
        (3, "not a component"),
    ],
)
def test_a_bad_declaration_is_one_clear_error(found: Any, said: str) -> None:
    with pytest.raises(BadComponent, match=said):
        define(found)


@pytest.mark.parametrize(
    "declared",
    [
        {"effects": "none"}, {"idempotent": "yes"}, {"network": None}, {"sandbox_network": "all"},
        {"secrets": "KEY"}, {"secrets": ("KEY", 1)},
        {"before": 1}, {"odd": True},
    ],
)  # fmt: skip
def test_what_an_operation_cannot_declare_is_refused_where_it_stands(declared: dict[str, Any]) -> None:
    async def click(self: object) -> int:
        """Click."""
        return 1

    for decorate in (tool(**declared), action(**declared)):
        with pytest.raises(BadComponent, match=f"'{next(iter(declared))}' cannot be declared as"):
            decorate(click)


def test_an_action_stands_on_a_method() -> None:
    with pytest.raises(BadComponent, match="which is not a method"):
        action(staticmethod(state))


@pytest.mark.parametrize("wrapper", [property, cached_property, staticmethod, classmethod])
def test_an_action_under_what_is_no_method_is_refused(wrapper: Any) -> None:
    async def look(self: Any) -> int:
        """Look."""
        return 1

    odd = type("Odd", (WebBrowser,), {"__doc__": "Odd.", "look": wrapper(action(look))})
    with pytest.raises(BadComponent, match="'look' of Odd is not an instance method"):
        define(odd)


RUNS = ["self, ctx: Context", "self, task: str", "self, ctx: Context, text: Task", "self, task: Task | None = None"]


@pytest.mark.parametrize("parameters", RUNS)
def test_an_agent_whose_run_takes_no_task_is_refused(parameters: str) -> None:
    names: dict[str, Any] = {"Agent": Agent, "Context": Context, "Result": Result, "Task": Task}
    exec(f'async def run({parameters}) -> Result:\n    "Work."\n    return Result(answer=1)', names)
    with pytest.raises(BadComponent, match=r"`run` of Odd does not take a task.*ctx: Context, task: Task"):
        define(type("Odd", (Agent,), {"__doc__": "Odd.", "run": names["run"]}))


def test_a_class_does_not_inherit_the_words_of_its_base() -> None:
    with pytest.raises(BadComponent, match="no docstring"):
        define(type("Child", (WebBrowser,), {}))


def test_an_action_needs_a_name_that_a_ref_can_hold() -> None:
    async def click(self: object) -> int:
        """Click."""
        return 1

    found = type("Loud", (Environment,), {"__doc__": "It.", "state": state, "Click": action(click)})
    with pytest.raises(BadComponent, match="'Click' is not a name for an action"):
        define(found)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"relations": {"planner": "friendly"}}, "'friendly' to 'planner', which is not a relation"),
        ({"relations": {"The Planner": "cooperative"}}, "'The Planner' is not a name for an agent"),
        ({"relations": ("planner",)}, "not a mapping"),
        ({"role": 3}, "role of Odd holds 3, which is not a text"),
        ({"competencies": "read"}, "competencies of Odd is not a list"),
        ({"objectives": (1,)}, "objectives of Odd holds 1"),
        ({"tools": ("Not A Name",)}, "is not a name for one of tools"),
    ],
)
def test_what_an_agent_says_of_itself_is_checked(facts: dict[str, Any], words: str) -> None:
    async def run(self: Any, ctx: Context, task: Task) -> Result:
        """Work."""
        return Result()

    odd = type("Odd", (Agent,), {"__doc__": "Odd.", "run": run, **facts})
    with pytest.raises(BadComponent, match=words) as raised:
        define(odd)
    assert raised.value.fix
