"""Test documents of the operator's corpus read by their addresses, and refusals of all other files."""

from pathlib import Path

import pytest
from loop_kit import Stage, done, observations, step

from tea.corpus.passages import joined, passages, sections
from tea.errors import TeaError
from tea.platform import Platform

TEXT = "# Ports\n\nThe harbour opens at six.\n\n## Fees\n\n" + "\n".join(
    f"Berth {number} costs {number * 7} crowns a night." for number in range(400)
)


async def test_a_document_of_the_corpus_is_read_whole_by_the_address_of_a_search(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "ports.md").write_text(TEXT)
    (tmp_path / "secret.md").write_text("The key is 17.")
    async with Platform(tmp_path / "home", state=tmp_path / "state") as tea:
        await tea.corpus.add(str(docs))
        found = (await tea.tcp.invoke("web_search", {"queries": ["berth crowns night"]})).unwrap()
        url = found["results"][0]["url"]
        assert url.startswith("file://")
        page = (await tea.tcp.invoke("fetch_page", {"url": url})).unwrap()
        assert "The harbour opens at six." in page["text"]
        rest = (await tea.tcp.invoke("fetch_page", {"url": url, "find": "Berth 399"})).unwrap()
        assert any("Berth 399 costs 2793 crowns" in one["text"] for one in rest["excerpts"])
        for other in (f"file://{tmp_path}/secret.md", f"file://{docs}/../../etc/passwd"):
            with pytest.raises(TeaError, match="not a document of the operator's corpus") as refused:
                (await tea.tcp.invoke("fetch_page", {"url": other})).unwrap()
            assert "read_file" in refused.value.fix


async def test_an_agent_opens_what_its_search_found_without_asking_anybody(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "ports.md").write_text(TEXT)
    async with Stage.open() as stage:
        await stage.tea.corpus.add(str(docs))
        search = step(("web_search", {"queries": ["berth crowns night"]}))
        opening = step(("fetch_page", {"url": f"file://{docs}/ports.md"}))
        other = step(("fetch_page", {"url": f"file://{tmp_path}/secret.md"}))
        task = "What does a berth cost, by the sources?"
        outcome, model = await stage.play(search, opening, other, step(done("7 crowns")), task=task)
        _, opened, refused = (one["calls"][0] for one in observations(model.requests[3]))
        assert "The harbour opens at six." in opened["value"]["text"]
        assert "not a document of the operator's corpus" in refused["error"]["problem"]
        assert (outcome.ok, outcome.answer) == (True, "7 crowns")
        assert (await stage.tea.replay(outcome.run)).answer == "7 crowns"


async def test_addresses_of_other_kinds_are_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    async with Platform(tmp_path / "home", state=tmp_path / "state") as tea:
        for url in ("ftp://example.org/a", "file:///etc/passwd"):
            with pytest.raises(TeaError, match="is no") as refused:
                (await tea.tcp.invoke("fetch_page", {"url": url})).unwrap()
            assert "read_file" in refused.value.fix


def test_passages_are_joined_to_the_document_they_come_from() -> None:
    assert joined(list(passages(sections(TEXT)))) == TEXT.split("\n")
