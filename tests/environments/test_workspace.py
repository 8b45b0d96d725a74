"""The workspace environment, through the platform's own door."""

import json
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tea.platform import Platform
from tea.testing import platform
from tea.types import ActionResponse

Act = Callable[..., Coroutine[Any, Any, ActionResponse]]


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea() -> AsyncIterator[Platform]:
    async with platform() as tea:
        yield tea


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace of a call from outside of a run is the current folder."""
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    monkeypatch.chdir(inside)
    return inside


@pytest.fixture
def act(tea: Platform, folder: Path) -> Act:
    async def act(action: str, **arguments: Any) -> ActionResponse:
        return await tea.ecp.invoke(f"workspace#{action}", arguments, session="s")

    return act


async def test_what_was_written_is_read_listed_and_observed(act: Act, folder: Path) -> None:
    written = await act("write", name="notes/a.md", text="héllo\n")
    assert written.unwrap() == {"name": "notes/a.md", "size": 7, "type": "text"}
    whole = {"text": "héllo\n", "offset": 0, "next_offset": None, "left": 0}
    assert (await act("read", name="notes/a.md")).unwrap() == whole
    expected = {"files": [{"name": "notes/a.md", "size": 7, "type": "text"}], "more": 0}
    assert (await act("list_files")).unwrap() == expected
    assert (await act("state")).unwrap() == expected
    assert (folder / "notes" / "a.md").read_text() == "héllo\n"


@pytest.mark.parametrize(
    ("before", "after", "was"),
    [
        (b"a;b\n1;2\n3;4\n", "a;b\n1;2", "12 bytes, 3 lines; now 7 bytes, 2 lines"),
        (b"", "x\n", "0 bytes, 0 lines; now 2 bytes, 1 line"),
        (b"\0\xff\n", "", "3 bytes; now 0 bytes, 0 lines"),
    ],
)
async def test_a_replaced_file_is_told_with_its_size_before(
    act: Act, folder: Path, before: bytes, after: str, was: str
) -> None:
    (folder / "a.csv").write_bytes(before)
    written = await act("write", name="a.csv", text=after)
    assert written.unwrap() == {"name": "a.csv", "size": len(after), "type": "table", "was": was}
    assert "was" not in (await act("write", name="a.csv", text=after)).unwrap()


async def test_files_are_classified_by_their_ending(act: Act, folder: Path) -> None:
    for name in ("b.CSV", "a.json", "c.xlsx", "d", "e.pdf", ".hidden"):
        (folder / name).write_text("x")
    files = (await act("list_files")).unwrap()["files"]
    assert [(file["name"], file["type"]) for file in files] == [
        ("a.json", "json"),
        ("b.CSV", "table"),
        ("c.xlsx", "table"),
        ("d", "other"),
        ("e.pdf", "document"),
    ]


async def test_a_listing_is_bounded_and_can_be_narrowed(act: Act, folder: Path) -> None:
    for number in range(105):
        (folder / f"{number:03}.txt").touch()
    assert (await act("state")).unwrap()["more"] == 5
    assert (await act("list_files", limit=2)).unwrap()["more"] == 103
    chosen = (await act("list_files", names=["104.txt", "missing.txt", "002.txt"])).unwrap()
    assert [file["name"] for file in chosen["files"]] == ["002.txt", "104.txt"]


async def test_long_texts_are_read_page_by_page(act: Act, folder: Path) -> None:
    text = "".join(f"line {number} ü\r\n" for number in range(1000))
    (folder / "long.txt").write_text(text, newline="")
    pages, offset = "", 0
    while offset is not None:
        page = (await act("read", name="long.txt", offset=offset, limit=999)).unwrap()
        pages, offset = pages + page["text"], page["next_offset"]
    assert pages == text


async def test_a_page_holds_no_more_than_a_result_shows(act: Act, folder: Path) -> None:
    (folder / "long.txt").write_text("x" * 40_000)
    page = (await act("read", name="long.txt", limit=100_000)).unwrap()
    assert (len(page["text"]), page["next_offset"]) == (16_000, 16_000)
    assert (await act("read", name="long.txt", offset=32_000)).unwrap()["next_offset"] is None


async def test_a_long_listing_is_read_on(act: Act, folder: Path) -> None:
    for number in range(400):
        (folder / f"{number:03}{'x' * 60}.txt").touch()
    names, offset = list[str](), 0
    while offset is not None:
        listing = (await act("list_files", limit=1_000, offset=offset)).unwrap()
        assert len(json.dumps(listing)) < 16_200
        names += [file["name"] for file in listing["files"]]
        assert listing["more"] == 400 - len(names)
        offset = listing.get("next_offset")
    assert names == sorted(path.name for path in folder.iterdir())


async def test_a_file_that_is_not_there_tells_the_nearest(act: Act, folder: Path) -> None:
    (folder / "report.md").write_text("x")
    for action in ("read", "delete"):
        error = (await act(action, name="Reports.md")).error
        assert error is not None
        assert (error["problem"], error["fix"]) == ("There is no file 'Reports.md'.", "did you mean 'report.md'?")


async def test_what_a_model_is_told_of_each_action_is_short(tea: Platform) -> None:
    for function in (await tea.ecp.info("workspace")).function_schemas():
        assert len(json.dumps(function["function"], separators=(",", ":"))) <= 400, function


async def test_append_creates_and_extends(act: Act, folder: Path) -> None:
    await act("append", name="log.txt", text="one\n")
    await act("append", name="log.txt", text="two\n")
    assert (folder / "log.txt").read_text() == "one\ntwo\n"


async def test_delete_takes_one_file_and_no_folder(act: Act, folder: Path) -> None:
    await act("write", name="a/b.txt", text="x")
    assert "not an ordinary file" in str((await act("delete", name="a")).error)
    assert (await act("delete", name="a/b.txt")).ok
    assert not (await act("delete", name="a/b.txt")).ok
    assert (folder / "a").is_dir()


async def test_without_replace_a_file_stays_but_the_same_write_may_be_repeated(act: Act, folder: Path) -> None:
    assert (await act("write", name="r.md", text="first", replace=False)).ok
    assert (await act("write", name="r.md", text="first", replace=False)).ok
    assert "exists" in str((await act("write", name="r.md", text="other", replace=False)).error)
    assert (folder / "r.md").read_text() == "first"
    assert sorted(path.name for path in folder.iterdir()) == ["r.md"]


async def test_a_write_that_fails_leaves_nothing_behind(act: Act, folder: Path) -> None:
    (folder / "file").write_text("x")
    for name in ("file/below.txt", "a" * 250 + "/" + "b" * 250 + "/" + "c" * 600):
        assert (await act("write", name=name, text="y")).error is not None
    (folder / "folder").mkdir()
    assert "is a folder" in str((await act("write", name="folder", text="y")).error)
    assert sorted(path.name for path in folder.iterdir()) == ["file", "folder"]


@pytest.mark.parametrize(
    "name",
    [
        "../secret.txt",
        "a/../../secret.txt",
        "/etc/passwd",
        "link.txt",
        "linked/secret.txt",
        "a\0b",
        "a\nb",
        "",
        ".",
        "./",
        "x" * 256,
        "é" * 200,
        "y/" * 600,
    ],
)
async def test_no_name_leads_out_or_breaks_anything(act: Act, folder: Path, name: str) -> None:
    (folder / "link.txt").symlink_to(folder.parent / "secret.txt")
    (folder / "linked").symlink_to(folder.parent)
    for action, more in (("read", {}), ("write", {"text": "x"}), ("append", {"text": "x"}), ("delete", {})):
        response = await act(action, name=name, **more)
        if (action, name) == ("delete", "link.txt"):  # the link itself goes, and nothing behind it
            assert response.ok
            continue
        assert response.error is not None, action
        assert response.error["code"] == "ToolError"
        assert len(response.error["problem"]) < 200
    assert (folder.parent / "secret.txt").read_text() == "secret"
    assert (await act("list_files")).unwrap()["files"] == []


async def test_a_link_inside_the_workspace_is_a_file_like_others(act: Act, folder: Path) -> None:
    (folder / "a.txt").write_text("x")
    (folder / "b.txt").symlink_to(folder / "a.txt")
    assert (await act("read", name="b.txt")).unwrap()["text"] == "x"
    assert [file["name"] for file in (await act("list_files")).unwrap()["files"]] == ["a.txt", "b.txt"]


async def test_a_link_is_deleted_itself_and_not_where_it_leads(act: Act, folder: Path) -> None:
    (folder / "a.txt").write_text("one")
    (folder.parent / "secret.txt").write_text("secret")
    for name, target in (("near", "a.txt"), ("far", folder.parent / "secret.txt"), ("gone", "nowhere")):
        (folder / name).symlink_to(target)
        assert (await act("delete", name=name)).unwrap() == {"name": name, "size": 0, "type": "link"}
    assert (folder / "a.txt").read_text() == "one"
    assert (folder.parent / "secret.txt").read_text() == "secret"
    assert sorted(one.name for one in folder.iterdir() if one.name != ".tea") == ["a.txt"]


async def test_what_is_no_text_or_no_ordinary_file_is_refused(act: Act, folder: Path) -> None:
    (folder / "image.png").write_bytes(b"\x89PNG\r\n\xff\xfe")
    os.mkfifo(folder / "pipe")
    assert "not UTF-8" in str((await act("read", name="image.png")).error)
    assert "not an ordinary file" in str((await act("read", name="pipe")).error)
    assert "no file" in str((await act("read", name="missing.txt")).error)


async def test_numbers_out_of_range_are_refused(act: Act, folder: Path) -> None:
    (folder / "a.txt").write_text("x")
    assert not (await act("read", name="a.txt", offset=-1)).ok
    assert not (await act("read", name="a.txt", limit=0)).ok
    assert not (await act("list_files", limit=0)).ok


@given(name=st.text(max_size=40), text=st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_name_is_written_inside_or_refused(act: Act, folder: Path, name: str, text: str) -> None:
    outside = sorted(path.name for path in folder.parent.iterdir())
    written = await act("write", name=name, text=text)
    if written.ok:
        assert (await act("read", name=name)).unwrap()["text"] == text
        assert (await act("delete", name=name)).ok
    assert sorted(path.name for path in folder.parent.iterdir()) == outside


async def test_a_file_with_an_odd_name_is_listed_with_the_others_that_are_named(act: Act, folder: Path) -> None:
    odd = "flights (copy)\n\u202e\x1b[31m.csv"
    for name in (odd, "flights.csv"):
        (folder / name).write_text("a,b\n")
    found = (await act("list_files", names=[odd, "flights.csv", "absent\n.csv"])).unwrap()["files"]
    assert {one["name"] for one in found} == {odd, "flights.csv"}
    assert not (await act("write", name=odd, text="")).ok
