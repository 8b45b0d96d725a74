"""Test owners' documents: whole, changed once for each key, by any number of writers."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea.errors import BadArguments
from tea.memory.state import States
from tea.store.events import FileEvents

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)
OBJECT = st.dictionaries(st.text(max_size=2), JSON, max_size=3)


@pytest.fixture
def states(tmp_path: Path) -> States:
    return States(FileEvents(tmp_path))


async def test_a_document_is_kept_for_a_session_or_for_good_and_for_one_owner(states: States, tmp_path: Path) -> None:
    await states.save("agent:a", "s", {"n": 1}, "k1")
    await states.save("agent:a", None, {"n": 2}, "k2")
    again = States(FileEvents(tmp_path))
    assert await again.load("agent:a", "s") == {"n": 1}
    assert await again.load("agent:a", None) == {"n": 2}
    assert await again.load("agent:a", "other") is None
    assert await again.load("agent:b", "s") is None


async def test_a_change_with_the_same_key_counts_once(states: States) -> None:
    await states.save("agent:a", "s", {"n": 1}, "k")
    await states.save("agent:a", "s", {"n": 2}, "later")
    await states.save("agent:a", "s", {"n": 1}, "k")
    await states.merge("agent:a", "s", {"m": 3}, "k")
    assert await states.swap("agent:a", "s", "anything", {"n": 1}, "k")
    assert await states.load("agent:a", "s") == {"n": 2}


async def test_a_question_that_is_asked_again_is_answered_as_before_what_its_effect_changed_then(
    states: States,
) -> None:
    for number, by in enumerate(["other", "r/0.1", "r/0.1!0~3", "r/0.1~3", "later", "r/0.10~4"]):
        await states.save("agent:a", "s", number, by)
    answers = {"": 5, "r/0.1": 2, "r/0.1~2": 2, "r/0.1~3": 5, "r/0.1!0": 1, "r/0.1!0~3": 5, "r/0.10": 4, "x/0.1": 5}
    assert {again: await states.load("agent:a", "s", again) for again in answers} == answers


async def test_a_turn_is_had_by_one_at_a_time_and_ends_when_it_is_given_back(states: States, tmp_path: Path) -> None:
    other = States(FileEvents(tmp_path))
    give_back = await states.claim("environment:a", "s", 0)
    assert give_back is not None
    assert await other.claim("environment:a", "s", 0.005) is None
    await other.put("environment:a", "s", [(["n"], 1)], "k")
    for free in ("environment:a", "t"), ("environment:b", "s"):
        turn = await other.claim(*free, 0)
        assert turn is not None
        turn()
    waiting = asyncio.create_task(other.claim("environment:a", "s", 60))
    await asyncio.sleep(0)
    give_back()
    turn = await waiting
    assert turn is not None
    turn()
    assert list(tmp_path.glob("*.lock")) == []


async def test_single_values_change_only_where_others_are_as_expected(states: States) -> None:
    assert await states.put("e", "s", [(["v", "n"], None)], "k1", [(["v", "n"], [])])
    assert not await states.put("e", "s", [(["v", "n"], 2)], "k2", [(["v", "n"], [])])
    assert await states.put("e", "s", [(["v", "n"], 2)], "k3", [(["v", "n"], [None]), (["w"], [])])
    assert await states.load("e", "s") == {"v": {"n": 2}}


async def test_many_writers_lose_nothing(tmp_path: Path) -> None:
    async def count(states: States, name: str) -> None:
        for turn in range(10):
            while True:
                old = await states.load("agent:a", "s")
                new = {"n": (old or {"n": 0})["n"] + 1}
                if await states.swap("agent:a", "s", old, new, f"{name}/{turn}"):
                    break

    writers = [States(FileEvents(tmp_path)) for _ in range(3)]
    async with asyncio.TaskGroup() as group:
        for number, writer in enumerate(writers):
            group.create_task(count(writer, str(number)))
    assert await writers[0].load("agent:a", "s") == {"n": 30}


@pytest.mark.parametrize(
    ("document", "words"), [({"n": float("nan")}, "cannot be kept"), ("x" * 70_000, "65,536 are allowed")]
)
async def test_what_cannot_be_kept_is_refused(states: States, document: object, words: str) -> None:
    with pytest.raises(BadArguments, match=words):
        await states.save("agent:a", "s", document, "k")
    assert await states.load("agent:a", "s") is None


@given(OBJECT, OBJECT)
def test_a_patch_changes_its_members_and_no_others(
    tmp_path_factory: pytest.TempPathFactory, old: object, patch: object
) -> None:
    states = States(FileEvents(tmp_path_factory.mktemp("patch")))

    async def patched() -> object:
        await states.save("agent:a", None, old, "k1")
        await states.merge("agent:a", None, patch, "k2")  # type: ignore[arg-type]
        return await states.load("agent:a", None)

    found = asyncio.run(patched())
    assert isinstance(found, dict)
    assert isinstance(old, dict)
    assert isinstance(patch, dict)
    for name in {*old, *patch, *found}:
        if name not in patch:
            assert found[name] == old[name]
        elif patch[name] is None:
            assert name not in found
        elif not isinstance(patch[name], dict):
            assert found[name] == patch[name]


async def test_single_values_are_replaced_whole(states: States) -> None:
    await states.save("agent:a", "s", {"last": {"x": {"ok": False, "fault": 2}}, "n": 1}, "k1")
    await states.put("agent:a", "s", [(["last", "x"], {"ok": True}), (["new", "y"], None), (["n"], 2)], "k2")
    assert await states.load("agent:a", "s") == {"last": {"x": {"ok": True}}, "new": {"y": None}, "n": 2}
