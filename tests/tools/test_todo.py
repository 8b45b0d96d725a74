"""The plan in todo.md."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from swapping import swapping

from tea.platform import Platform
from tea.types import ToolResponse

Todo = Callable[..., Coroutine[Any, Any, ToolResponse]]


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace of a call from outside of a run is the current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def todo(tea: Platform, folder: Path) -> Todo:
    async def todo(action: str, **arguments: Any) -> ToolResponse:
        return await tea.tcp.invoke("todo", {"action": action, **arguments})

    return todo


def states(response: ToolResponse) -> dict[str, str]:
    return {item["text"]: item["state"] for item in response.unwrap()["items"]}


async def test_a_plan_goes_through_its_states(todo: Todo, folder: Path) -> None:
    made = await todo("create", items=["read", "count", "answer"], state="in_progress")
    assert states(made) == {"read": "in_progress", "count": "pending", "answer": "pending"}
    await todo("complete", id=1)
    await todo("update", id=2, state="failed", text="count rows")
    shown = await todo("list")
    assert states(shown) == {"read": "done", "count rows": "failed", "answer": "pending"}
    assert shown.unwrap()["progress"] == "1 of 3 done"
    lines = ["# To do", "", "- [x] 1. read", "- [!] 2. count rows", "- [ ] 3. answer"]
    assert (folder / "todo.md").read_text().splitlines() == lines


async def test_replace_starts_anew_and_create_adds_what_is_missing(todo: Todo) -> None:
    await todo("create", items=["old"])
    await todo("replace", items=["a", "b"])
    added = await todo("create", items=["b", "c", "c"])
    assert [(item["id"], item["text"]) for item in added.unwrap()["items"]] == [(1, "a"), (2, "b"), (3, "c")]


async def test_a_plan_that_becomes_a_link_meanwhile_is_none_from_outside(
    todo: Todo, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    await todo("create", items=["own"])
    outside = tmp_path_factory.mktemp("outside") / "plan.md"
    outside.write_text("- [ ] 1. secret\n")
    with swapping(folder / "todo.md", outside):
        shown = [str((await todo("list")).value) for _ in range(300)]
    assert "secret" not in "".join(shown)
    assert states(await todo("list")) == {"own": "pending"}


async def test_list_writes_nothing(todo: Todo, folder: Path) -> None:
    assert (await todo("list")).unwrap() == {"items": [], "progress": "0 of 0 done"}
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "create"},
        {"action": "replace", "items": ["  "]},
        {"action": "update", "id": 9, "state": "done"},
        {"action": "update", "id": 1},
        {"action": "complete"},
        {"action": "update", "id": 1, "state": "finished"},
        {"action": "forget"},
        {"action": "create", "items": [f"item {number}" for number in range(101)]},
    ],
)
async def test_what_makes_no_sense_is_refused_and_changes_nothing(
    todo: Todo, folder: Path, arguments: dict[str, Any]
) -> None:
    await todo("create", items=["a"])
    before = (folder / "todo.md").read_bytes()
    assert (await todo(**arguments)).error is not None
    assert (folder / "todo.md").read_bytes() == before


async def test_lines_of_a_person_stay(todo: Todo, folder: Path) -> None:
    (folder / "todo.md").write_text("# My list\n\n- [ ] buy milk\n- [~] 4. half done\n")
    await todo("create", items=["new"])
    text = (folder / "todo.md").read_text()
    assert text.splitlines() == ["# My list", "", "- [ ] buy milk", "- [~] 4. half done", "- [ ] 5. new"]


async def test_a_todo_file_that_cannot_be_used_is_refused(todo: Todo, folder: Path) -> None:
    (folder / "todo.md").mkdir()
    assert "not an ordinary file" in str((await todo("list")).error)


async def test_a_todo_file_that_leads_out_is_refused(todo: Todo, folder: Path) -> None:
    outside = folder.parent / "outside.md"
    (folder / "todo.md").symlink_to(outside)
    assert "outside of the workspace" in str((await todo("create", items=["a"])).error)
    assert not outside.exists()


@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=1, max_size=5))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_texts_are_read_back_as_they_were_shown(todo: Todo, folder: Path, texts: list[str]) -> None:
    made = await todo("replace", items=texts)
    assert not made.ok or (await todo("list")).value["items"] == made.value["items"]
