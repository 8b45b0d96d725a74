"""Test the misbehaving model: the same from the same seed, and no run is broken by it."""

import asyncio
import os
import re
import shutil
import sys
import tempfile
from asyncio.subprocess import PIPE
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest

from tea.components.json_schema import value_faults
from tea.errors import BadInput, ProviderError
from tea.models.manager import ModelConfig
from tea.platform import Platform
from tea.testing import ChaosModel, platform
from tea.testing.behaviours import Behaviour
from tea.testing.schema_values import value_of
from tea.types import JsonObject, ModelRequest, ModelResponse, Response

pytestmark = pytest.mark.slow

RUNS = int(os.environ.get("TEA_TEST_CHAOS", "24"))  # the benchmark makes as many as it is asked for
BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "chaos.py"
CONFIG = ModelConfig(name="chaos", provider="given", capabilities=("tools",))
PARAMETERS = {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]}
TOOLS: tuple[dict[str, Any], ...] = (
    {"name": "calculator", "description": "Compute.", "parameters": PARAMETERS},
    {"name": "done", "description": "End.", "parameters": {"type": "object", "properties": {"answer": {}}}},
)


def only(behaviour: Behaviour, seed: int = 0) -> ChaosModel:
    weights: dict[Behaviour, float] = dict.fromkeys(get_args(Behaviour), 0.0)
    return ChaosModel(seed, weights={**weights, behaviour: 1.0})


async def no_tool(ref: str, arguments: JsonObject) -> Response:
    raise AssertionError(ref)


async def said(model: ChaosModel, task: str, times: int) -> list[ModelResponse | str]:
    request = ModelRequest(prompt="prompt:planner@1.0.0", variables={"task": task}, tools=TOOLS)
    found: list[ModelResponse | str] = []
    for _ in range(times):
        try:
            found.append(await model.complete(request, CONFIG, no_tool))
        except ProviderError as error:
            found.append(str(error))
    return found


async def test_the_same_seed_behaves_the_same_in_whatever_order_tasks_are_asked_about() -> None:
    one, other = ChaosModel(5), ChaosModel(5)
    first = [await said(one, "a", 40), await said(one, "b", 40)]
    second = [await said(other, "b", 40), await said(other, "a", 40)]
    assert repr(first) == repr(second[::-1])  # NaN equals nothing
    assert one.chosen == other.chosen
    assert repr(first) != repr([await said(ChaosModel(6), "a", 40), await said(ChaosModel(6), "b", 40)])


async def test_every_behaviour_comes_in_time() -> None:
    model = ChaosModel(1)
    for task in "abcdefghijkl":
        await said(model, task, 60)
    assert set(model.chosen) == set(get_args(Behaviour))


async def test_a_repetition_makes_the_same_calls_for_a_while() -> None:
    found = await said(only("repeat"), "a", 5)
    calls = [[(call.name, call.arguments) for call in one.calls] for one in found if isinstance(one, ModelResponse)]
    assert calls[0]
    assert calls == [calls[0]] * 5


@pytest.mark.parametrize(
    ("weights", "words"),
    [({"refusals": 1}, "did you mean 'refusal'"), ({"sense": -1}, "not usable"), ({"xyz": 1}, "is one of")],
)
def test_weights_that_mean_nothing_are_refused(weights: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        ChaosModel(weights=weights)


async def test_values_fit_the_schemas_of_the_bundled_tools() -> None:
    async with platform() as tea:
        schemas = [
            operation.parameters
            for one in await tea.tcp.list()
            for operation in (await tea.tcp.info(one.name)).operations.values()
        ]
    assert schemas
    for schema in schemas:
        for seed in range(30):
            assert not value_faults(schema, value_of(schema, Random(seed)))


@pytest.fixture
def cities(tmp_path: Path) -> Path:
    path = tmp_path / "cities.csv"
    path.write_text("city,people\nOslo,700000\nRome,2800000\n")
    return path


async def run_and_replay(tea: Platform, model: ChaosModel, **options: Any) -> int:
    tea.models.add(CONFIG, model)
    async with asyncio.timeout(60):
        outcome = await tea.run("Which city has the most people?", model="chaos", **options)
        again = await tea.replay(outcome.run)
    assert (again.status, again.reason, again.cost) == (outcome.status, outcome.reason, outcome.cost)
    assert repr(again.answer) == repr(outcome.answer)
    return outcome.exit_code


@pytest.mark.parametrize("behaviour", get_args(Behaviour))
async def test_a_run_whose_model_only_behaves_so_ends_and_is_replayed(behaviour: Behaviour, cities: Path) -> None:
    async with platform() as tea:
        for agent in ("planner", "analyzer"):
            budget = {"steps": 6}
            code = await run_and_replay(tea, only(behaviour), agent=agent, files=[cities], budget=budget)
            assert code in (0, 1, 4, 5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runs", "options"),
    [
        *((RUNS, ("--agent", name)) for name in ("tool_generator", "agent_generator", "debate", "reporter", "triage")),
        *((RUNS, ("--agent", name)) for name in ("researcher", "scientist", "research_clarify", "research_chat")),
        (RUNS, ("--agent", "reflector")),
        (RUNS // 4, ("--agent", "computer")),  # each with a desktop of its own
        (RUNS, ("--attempts", "3")),
    ],
    ids=lambda given: "-".join(given)[2:] if isinstance(given, tuple) else str(given),
)
async def test_runs_of_other_agents_end_and_are_replayed(runs: int, options: tuple[str, str]) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, BENCHMARK, "--runs", str(runs), *options, stdout=PIPE, stderr=PIPE
    )
    async with asyncio.timeout(1_200):
        out, err = await process.communicate()
    assert process.returncode == 0, (out + err).decode()
    assert f"| replays identical | {runs} |" in out.decode()
    assert "| faults | 0 |" in out.decode()
    if "--attempts" in options or "debate" in options:
        assert re.search(r"^Runs in which an agent asked: .*\bjudge \d+", out.decode(), re.MULTILINE)


@pytest.mark.slow
async def test_sixty_runs_with_tools_agents_files_budgets_and_forms_end_and_are_replayed() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, BENCHMARK, "--runs", "60", "--seed", "3", stdout=PIPE, stderr=PIPE
    )
    async with asyncio.timeout(300):
        out, err = await process.communicate()
    assert process.returncode == 0, (out + err).decode()
    assert "| replays identical | 60 |" in out.decode()
    assert "| faults | 0 |" in out.decode()


@pytest.mark.slow
async def test_ten_runs_with_chromium_end_are_replayed_and_leave_no_process() -> None:
    folder = tempfile.mkdtemp(prefix="tea-chaos-")  # its path is short, as sockets want it
    mark = {**os.environ, "TMPDIR": folder}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        BENCHMARK,
        "--runs",
        "10",
        "--at-once",
        "2",
        "--agent",
        "browser",
        stdout=PIPE,
        stderr=PIPE,
        env=mark,
    )
    async with asyncio.timeout(1_200):
        out, err = await process.communicate()
    assert process.returncode == 0, (out + err).decode()
    assert "| replays identical | 10 |" in out.decode()
    assert "| faults | 0 |" in out.decode()
    async with asyncio.timeout(60):
        while any(folder in command_of(one) for one in Path("/proc").glob("[0-9]*")):  # noqa: ASYNC110
            await asyncio.sleep(0.1)  # the last children end behind their parent
    shutil.rmtree(folder)


def command_of(process: Path) -> str:
    """Return the command line of a process, empty once it has ended."""
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
