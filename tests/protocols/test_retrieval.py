"""Test retrieval through the public doors: fitting components are found, in every kind, by every process."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from elsewhere import open_platform
from protocol_kit import Case, House
from retrieval_kit import USER, WORDS, names, stocked, tool

from tea.errors import BadInput, UnknownComponent
from tea.platform import Platform
from tea.testing import ScriptedModel, platform


@pytest.fixture
async def tea() -> AsyncIterator[Platform]:
    async with stocked() as made:
        yield made


@pytest.mark.parametrize(
    ("query", "name"),
    [("do I need an umbrella tomorrow", "rain"), ("dollars in euros", "coins"), ("what shall I cook", "recipes")],
)
async def test_a_wish_in_other_words_finds_its_tool(tea: Platform, query: str, name: str) -> None:
    first = (await tea.tcp.retrieve(query))[0]
    assert first.listing.name == name
    assert first.ref == f"tool:{name}@1.0.0"
    assert set(first.why) == {"meaning", "keywords", "served"}


async def test_every_kind_finds_its_own_in_every_process(house: House, case: Case) -> None:
    await house.register("greeter", words="Greet someone politely.")
    await house.register("farewell", words="Count the stars in the sky.")
    found = await house.door.retrieve("how many stars are there", 1)
    assert [match.ref for match in found] == [f"{case.kind}:farewell@1.0.0"]
    assert {match.listing.kind for match in await house.door.retrieve("stars", 50)} == {case.kind}


async def test_a_solution_is_found_by_the_task_that_it_answers_and_a_model_by_its_id(tea: Platform) -> None:
    for name, task in (("first", "Which planets have rings?"), ("second", "Sort the invoices by date.")):
        await tea.libraries["solution"].register({"name": name, "task": task, "content": "So."})
    for name, model in (("mine", "qwen3-coder"), ("yours", "llama3")):
        await tea.libraries["model"].register({"name": name, "provider": "openai_chat", "model": model})
    for kind, query, name in (("solution", "invoices in order", "second"), ("model", "llama3", "yours")):
        (found,) = await tea.libraries[kind].retrieve(query, 1)
        assert (found.listing.name, found.why["keywords"] > 0) == (name, True)


async def test_a_pictogram_is_a_word(tea: Platform) -> None:
    await tea.tcp.register(tool("dice", "Roll two of them. 🎲"))
    assert (await tea.tcp.retrieve("🎲"))[0].listing.name == "dice"
    assert (await tea.tcp.retrieve("🎲🎲 ☂️", 1))[0].listing.name == "dice"


@pytest.mark.parametrize("query", ["", "  \n", "?!", 5])
async def test_a_query_without_words_is_an_error(tea: Platform, query: Any) -> None:
    with pytest.raises(BadInput, match="not contain a word"):
        await tea.tcp.retrieve(query)


@pytest.mark.parametrize("k", [0, -1, 1_001, True, "5", 2.0])
async def test_a_number_of_results_out_of_range_is_an_error(tea: Platform, k: Any) -> None:
    with pytest.raises(BadInput, match="number of results"):
        await tea.tcp.retrieve("weather", k)


async def test_nothing_registered_means_nothing_found(tea: Platform) -> None:
    assert tea.retrieval.find([], "weather") == []


async def test_what_is_not_active_or_damaged_is_never_found(tea: Platform) -> None:
    query = "weather forecast for the city"
    assert (await names(tea, query))[0] == "rain"
    await tea.tcp.deprecate("rain")
    assert "rain" not in await names(tea, query, 50)
    await tea.tcp.activate("rain")
    assert (await names(tea, query))[0] == "rain"
    await tea.tcp.archive("rain")
    assert "rain" not in await names(tea, query, 50)
    await tea.tcp.activate("rain")
    (tea.home / "registry" / "tools" / "rain" / "versions" / "1.0.0.json").write_text("{")
    assert "rain" not in await names(tea, query, 50)
    await tea.tcp.unregister("coins")
    assert "coins" not in await names(tea, "currencies", 50)


async def test_a_new_version_is_found_by_its_new_words_at_once(tea: Platform) -> None:
    assert (await names(tea, "translate into French"))[0] != "rain"
    await tea.tcp.update("rain", tool("rain", "Translate a text into French."))
    found = (await tea.tcp.retrieve("translate into French"))[0]
    assert found.ref == "tool:rain@1.0.1"


async def test_an_update_embeds_nothing_but_what_changed(tea: Platform) -> None:
    await tea.tcp.retrieve("weather")
    asked: list[str] = []
    embedder: Any = tea.retrieval._embedder  # pyright: ignore[reportPrivateUsage]
    whole = embedder.embed
    embedder.embed = lambda texts: asked.extend(texts) or whole(texts)
    await tea.tcp.update("rain", tool("rain", "Translate a text into French."))
    await tea.tcp.retrieve("umbrella")
    assert len(asked) == 2
    assert "umbrella" in asked
    assert "French" in "".join(asked)


async def test_another_process_finds_the_vectors_that_this_one_made(tea: Platform, tmp_path: Path) -> None:
    before = await tea.tcp.retrieve("weather", 50)
    async with Platform(tea.home, state=tmp_path) as other:
        asked: list[str] = []
        embedder: Any = other.retrieval._embedder  # pyright: ignore[reportPrivateUsage]
        whole = embedder.embed
        embedder.embed = lambda texts: asked.extend(texts) or whole(texts)
        assert [match.score for match in await other.tcp.retrieve("weather", 50)] == [match.score for match in before]
    assert asked == ["weather"]


async def test_a_home_without_registry_is_left_alone(tmp_path: Path) -> None:
    async with Platform(tmp_path / "home", state=tmp_path / "state") as tea:
        assert (await names(tea, "evaluate an arithmetic expression", 1)) == ["calculator"]
    assert not (tmp_path / "home").exists()


@pytest.mark.slow
async def test_processes_that_register_and_ask_at_once_agree_in_the_end(tmp_path: Path) -> None:
    script = """
import asyncio, sys
sys.path.insert(0, sys.argv[3])
from pathlib import Path
from elsewhere import open_platform
from retrieval_kit import tool
async def main():
    tea = open_platform(Path(sys.argv[1]))
    print("ready", flush=True); sys.stdin.readline()
    for number in range(4):
        await tea.tcp.register(tool(f"{sys.argv[2]}_{number}", f"Weigh the {sys.argv[2]} number {number}."))
        assert await tea.tcp.retrieve("weigh a fish", 3)
asyncio.run(main())
"""
    here = str(Path(__file__).parent)
    runners = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path), fish, here],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for fish in ("trout", "perch")
    ]
    for one in runners:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    ended = [await asyncio.to_thread(one.communicate, "go\n", 60) for one in runners]
    assert [one.returncode for one in runners] == [0, 0], ended
    tea = open_platform(tmp_path)
    found = [match.listing.name for match in await tea.tcp.retrieve("weigh a fish, trout or perch", 8)]
    assert sorted(found) == sorted(f"{fish}_{number}" for fish in ("trout", "perch") for number in range(4))


async def test_an_agent_asks_as_an_effect_and_a_replay_answers_from_the_journal(tea: Platform) -> None:
    await tea.acp.register(USER)
    outcome = await tea.run("will it rain in Oslo", agent="user")
    assert outcome.answer == "rain"
    (asked,) = [one.key for one in tea.tracer.records(outcome.run) if as_dict(one.data).get("target") == "retrieve"]
    (answer,) = [
        as_dict(one.data)["data"] for one in tea.tracer.records(outcome.run) if one.key == asked and one.kind == "done"
    ]
    assert answer[0]["ref"] == "tool:rain@1.0.0"
    assert answer[0]["why"]["served"] == 0
    await tea.tcp.unregister("coins")
    await tea.tcp.register(tool("umbrella", "Will it rain in Oslo."))
    assert (await tea.replay(outcome.run)).answer == "rain"


def as_dict(value: Any) -> Any:
    return value if isinstance(value, dict) else {}


async def test_routing_prefers_the_toolkits_of_the_best_categories(tea: Platform) -> None:
    for number in range(4):
        await tea.tcp.register(
            tool(f"sky_{number}", f"Observe star number {number}.", category="astronomy", toolkit="sky")
        )
        await tea.tcp.register(
            tool(f"sea_{number}", f"Observe fish number {number}.", category="biology", toolkit="sea")
        )
    await tea.tcp.register(tool("star_chef", "Observe the stars of a restaurant.", category="food"))
    flat, routed = [await names(tea, "observe the stars at night", 9, route=route) for route in (False, True)]
    assert set(flat) == set(routed)
    assert set(routed[:4]) <= {f"sky_{number}" for number in range(4)} | {"star_chef", "rain"}
    assert await names(tea, "observe the stars", 3, among=["sea_1", "sky_2"]) == ["sky_2", "sea_1"]


async def test_a_name_among_others_that_is_not_there_is_an_error(tea: Platform) -> None:
    with pytest.raises(UnknownComponent, match="rein"):
        await tea.tcp.retrieve("weather", among=["rain", "rein"])


async def test_a_model_is_shown_the_nearest_of_too_many_tools_and_bookkeeping() -> None:
    model = ScriptedModel(
        [
            {
                "thinking": "",
                "evaluation": "",
                "memory": "",
                "next_goal": "",
                "calls": [{"name": "done", "arguments": {"answer": "x"}}],
            }
        ]
    )
    async with platform(model=model) as tea:
        for number in range(60):
            await tea.tcp.register(tool(f"weigh_{number}", f"Weigh the fish number {number}."))
        await tea.tcp.register(tool("wind", WORDS["rain"]))  # the last by name
        every = [one.name for one in await tea.tcp.list() if one.name not in ("plan_offline", "answer_from_data")]
        outcome = await tea.run("what will the weather be in Rome", tools=every)
        assert outcome.answer == "x"
        assert (await tea.replay(outcome.run)).answer == "x"
    shown = [one["name"] for one in model.requests[0].variables["tools"]]
    assert len(shown) + len(model.requests[0].variables["agents"]) <= 40
    assert {"wind", "done", "todo"} <= set(shown)
