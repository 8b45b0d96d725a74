"""Test newcomers' first steps: paths as text, keywords as arguments, docstrings of other styles, and mistakes."""

from pathlib import Path
from typing import Any

import pytest

from tea import Agent, Context, Environment, Platform, Result, Task, action, tool
from tea.errors import BadComponent, BadInput, InternalError, UnknownComponent
from tea.runs.policy import CallRequest, Decision
from tea.testing import FunctionModel
from tea.types import ModelRequest

NUMPY = '''
from tea import tool


@tool
async def repeat(words: str, times: int = 1) -> str:
    """Repeat words.

    Parameters
    ----------
    words : str
        What is repeated.
    times : int, optional
        How often.

    Examples
    --------
    >>> repeat("a", 2)
    'aa'
    """
    return words * times
'''
SPHINX = '''
from tea import tool


@tool
async def repeat(words: str, times: int = 1) -> str:
    """Repeat words.

    :param words: What is repeated.
    :param int times: How often.
    :returns: The words.
    """
    return words * times
'''


@pytest.mark.parametrize("source", [NUMPY, SPHINX])
async def test_parameters_of_numpy_and_sphinx_docstrings_reach_the_schema(tmp_path: Path, source: str) -> None:
    async with Platform(tmp_path / "home", state=tmp_path) as tea:
        found = await tea.tcp.register(source)
        call = found.operations["call"]
        assert found.description == call.description == "Repeat words."
        words = {name: one["description"] for name, one in call.parameters["properties"].items()}
        assert words == {"words": "What is repeated.", "times": "How often."}
        assert [one.call for one in call.examples] == (['repeat("a", 2)'] if source is NUMPY else [])


async def test_a_path_may_be_given_as_text(tmp_path: Path) -> None:
    (tmp_path / "repeat.py").write_text(NUMPY)
    async with Platform(tmp_path / "home", state=tmp_path) as tea:
        assert (await tea.tcp.register(str(tmp_path / "repeat.py"))).name == "repeat"
        assert (await tea.tcp.update("repeat", str(tmp_path / "repeat.py"))).version == "1.0.0"


class Tally(Environment):
    """Count."""

    count = 0

    @action(effects="writes")
    async def add(self, by: int = 1, session: str = "") -> str:
        """Count on.

        Args:
            by: How far.
            session: A word.
        """
        self.count += by
        return f"{self.count}{session}"

    async def state(self) -> int:
        """Return the count."""
        return self.count


async def test_arguments_are_given_as_keywords_and_actions_by_name(tmp_path: Path) -> None:
    async with Platform(tmp_path / "home", state=tmp_path) as tea:
        await tea.tcp.register(NUMPY)
        await tea.ecp.register(Tally)
        assert (await tea.tcp.invoke("repeat", words="ab", times=2)).value == "abab"
        assert (await tea.tcp.invoke("repeat", {"words": "ab"}, times=2)).value == "abab"
        assert (await tea.ecp.invoke("tally", "add", {"by": 2})).value == "2"
        assert (await tea.ecp.invoke("tally", "add", by=3)).value == "3"
        assert (await tea.ecp.invoke("tally#add", {"by": 4, "session": "x"}, session="s")).value == "4x"
        twice = await tea.tcp.invoke("repeat", {"words": "ab"}, words="cd")
        assert not twice.ok
        assert twice.error is not None
        assert "'words' of repeat is given twice" in twice.error["problem"]


async def test_a_component_gives_arguments_as_keywords_too(tmp_path: Path) -> None:
    class Caller(Agent):
        """Call a tool and an environment."""

        async def run(self, ctx: Context, task: Task) -> Result:
            """Work on a task."""
            repeated = await ctx.tcp.invoke("repeat", {"words": "ab"}, times=2)
            counted = await ctx.ecp.invoke("tally", "add", by=3)
            again = await ctx.ecp.invoke("tally#add", by=4)
            return Result(answer=[repeated.value, counted.value, again.value])

    async with Platform(tmp_path / "home", state=tmp_path) as tea:
        await tea.tcp.register(NUMPY)
        await tea.ecp.register(Tally)
        await tea.acp.register(Caller)
        assert (await tea.run("Count.", agent="caller")).answer == ["abab", "3", "7"]


async def test_an_agent_gives_another_one_the_text_of_a_task(tmp_path: Path) -> None:
    class Echo(Agent):
        """Answer with the task."""

        async def run(self, ctx: Context, task: Task) -> Result:
            """Work on a task."""
            return Result(answer=task.text)

    class Asker(Agent):
        """Ask another agent."""

        async def run(self, ctx: Context, task: Task) -> Result:
            """Work on a task."""
            return (await ctx.acp.invoke("echo", f"{task.text}?")).result

    async with Platform(tmp_path / "home", state=tmp_path) as tea:
        await tea.acp.register(Echo)
        await tea.acp.register(Asker)
        assert (await tea.run("Who", agent="asker")).answer == "Who?"


async def test_a_component_whose_init_needs_arguments_is_refused_when_it_is_registered(tmp_path: Path) -> None:
    class Counter(Environment):
        """Count."""

        def __init__(self, start: int) -> None:
            self.start = start

        async def state(self) -> int:
            """Return the count."""
            return self.start

    class Worker(Agent):
        """Work."""

        def __init__(self, name: str) -> None:
            self.name = name

        async def run(self, ctx: Context, task: Task) -> Result:
            """Work on a task."""
            return Result(answer=self.name)

    async with Platform(tmp_path / "home", state=tmp_path) as tea:
        with pytest.raises(BadComponent, match=r"`__init__` of Counter needs .*'start'"):
            await tea.ecp.register(Counter)
        with pytest.raises(BadComponent, match=r"`__init__` of Worker needs .*'name'"):
            await tea.acp.register(Worker)


async def test_a_platform_that_was_not_entered_says_so(tmp_path: Path) -> None:
    tea = Platform(tmp_path / "home", state=tmp_path)
    with pytest.raises(UnknownComponent, match=r"before a platform is entered\. Fix: use it inside"):
        await tea.run("What is 2 + 2?")
    response = await tea.tcp.invoke("calculator", expression="2 + 2")
    assert response.error is not None
    assert "before a platform is entered" in response.error["problem"]
    for asked in (tea.tcp.list(), tea.tcp.retrieve("add numbers"), tea.acp.list(state=None)):
        with pytest.raises(BadInput, match=r"The platform was not entered.* Fix: use it inside `async with"):
            await asked


async def test_an_adapter_or_policy_without_its_method_is_refused(tmp_path: Path) -> None:
    for options in ({"policy": 3}, {"model": object()}):
        with pytest.raises(BadInput, match=r"without a method `(decide|complete)`"):
            Platform(tmp_path, **options)  # pyright: ignore[reportArgumentType]


class Broken:
    async def decide(self, request: CallRequest) -> Decision:
        """Fail."""
        raise KeyError("rule")

    async def complete(self, *given: object) -> str:
        """Give words in place of an answer."""
        return "words"


class Failing:
    async def complete(self, *given: object) -> str:
        """Fail."""
        raise KeyError("reply")


def _forgetful(request: ModelRequest) -> str:
    return {"known": "reply"}[str(request.prompt)]


def _numeric(request: ModelRequest) -> Any:
    return len(request.messages)


@tool(effects="reads")
async def asks() -> str:
    """Return nothing."""
    return ""


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"policy": Broken()}, "The policy Broken raised KeyError: 'rule'"),
        ({"model": Broken()}, "The model adapter Broken answered with a str"),
        ({"model": Failing()}, "The model adapter Failing raised KeyError: 'reply'"),
        ({"model": FunctionModel(_forgetful)}, "The function _forgetful of the FunctionModel raised KeyError"),
        (
            {"model": FunctionModel(_numeric)},
            "The function _numeric of the FunctionModel returned an object of type int",
        ),
    ],
)
async def test_what_a_user_wrote_wrongly_is_named_as_the_culprit(
    tmp_path: Path, options: dict[str, Any], problem: str
) -> None:
    async with Platform(tmp_path / "home", state=tmp_path, **options) as tea:
        with pytest.raises(InternalError, match=f"^{problem}"):
            await tea.run("What is 2 + 2?")


class Clerk(Agent):
    """Repeat words."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work on a task."""
        if task.text == "inner":
            return Result(answer=(await ctx.tcp.invoke("repeat", {"words": "in"})).value)
        await ctx.tcp.invoke("repeat", {"words": "ab", "times": 2})
        await ctx.tcp.invoke("repeat", {"times": 2})
        inner = await ctx.acp.invoke("clerk", Task(text="inner"))
        return Result(answer=inner.value["answer"])


async def test_calls_of_an_agent_with_a_run_of_its_own_are_its_steps(tmp_path: Path) -> None:
    async with Platform(tmp_path / "home", state=tmp_path) as tea:
        await tea.tcp.register(NUMPY)
        outcome = await tea.run("outer", agent=Clerk)
        assert outcome.answer == "in"
        steps = tea.tracer.run_steps(outcome.run)
        assert [one.agent for one in steps] == ["clerk"] * 4
        assert [one.data["calls"][0]["name"].partition("@")[0] for one in steps] == [
            "tool:repeat", "tool:repeat", "tool:repeat", "agent:clerk",
        ]  # fmt: skip
        assert [one.data["results"][0]["ok"] for one in steps] == [True, False, True, True]
        assert steps[0].data["results"][0]["value"] == "abab"
        assert [one.index for one in steps] == [0, 1, 2, 3]
        planned = await tea.run("What is 2 + 3 * 7?")
        assert {one.data["calls"][0]["name"] for one in tea.tracer.run_steps(planned.run)} == {"calculator", "done"}


async def test_texts_are_embedded_by_the_model_manager(tmp_path: Path) -> None:
    async with Platform(tmp_path / "home", state=tmp_path) as tea:
        rows = await tea.models.embed(["a sweet apple", "an apple that is sweet", "the rate of taxes"])
        near, far = (sum(a * b for a, b in zip(rows[0], row, strict=True)) for row in rows[1:])
        assert near > far
        assert sum(one * one for one in rows[0]) == pytest.approx(1, abs=1e-4)
