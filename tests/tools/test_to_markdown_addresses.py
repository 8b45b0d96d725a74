"""Files at addresses, read as Markdown: through the guard, into the workspace, in a run and its replay."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import docx
import pytest
from sites import Page, Site
from swapping import swapping

from tea.platform import Platform
from tea.testing import ScriptedModel

pytestmark = pytest.mark.asyncio(loop_scope="module")


def word_file(words: str) -> bytes:
    document = docx.Document()
    document.add_paragraph(words)
    data = io.BytesIO()
    document.save(data)
    return data.getvalue()


def settings(folder: Path, site: Site, **more: Any) -> None:
    given = {"allow": [site.place], "retries": [0, 0], "seconds": 5, **more}
    lines = [f"{name} = {json.dumps(value)}" for name, value in given.items()]
    (folder / "tea.toml").write_text("\n".join(["[web]", *lines]))


async def test_a_file_at_an_address_is_kept_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = Page(body=word_file("The lamp was lit in 1871."), headers={"content-type": "application/octet-stream"})
    async with Site({"/files/report.docx": page, "/gone": Page(status=404)}).open() as site:
        settings(tmp_path, site)
        async with Platform(tmp_path, state=tmp_path / "state", trust_home=True) as tea:
            got = (await tea.tcp.invoke("to_markdown", {"source": f"{site.url}/files/report.docx"})).unwrap()
            assert got["kind"] == "docx"
            assert got["label"] == "untrusted"
            first, words, last = got["text"].splitlines()
            assert (words, got["document"] in first, got["document"] in last) == (
                "The lamp was lit in 1871.",
                True,
                True,
            )
            assert got["source"].startswith("downloads/report-")
            assert (tmp_path / got["source"]).read_bytes() == page.body
            again = (await tea.tcp.invoke("to_markdown", {"source": got["source"], "find": "LAMP"})).unwrap()
            assert again["total"] == 1
            for path in ("/gone", "/nowhere"):
                assert (await tea.tcp.invoke("to_markdown", {"source": site.url + path})).error is not None
            refused = await tea.tcp.invoke("to_markdown", {"source": "http://169.254.169.254/latest/"})
            assert refused.error is not None
            assert "guard" in refused.error["problem"]


async def test_a_folder_that_becomes_a_link_meanwhile_takes_no_page_out_of_the_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.chdir(tmp_path)
    outside, downloads = tmp_path_factory.mktemp("outside"), tmp_path / "downloads"
    downloads.mkdir()
    pages = {f"/{number}.txt": Page(body=b"own") for number in range(60)}
    async with Site(pages).open() as site:
        settings(tmp_path, site)
        async with Platform(tmp_path, state=tmp_path / "state", trust_home=True) as tea:
            with swapping(downloads, outside):
                for path in pages:
                    await tea.tcp.invoke("save_page", {"url": f"{site.url}{path}"})
            await tea.tcp.invoke("save_page", {"url": f"{site.url}/0.txt"})
    assert list(outside.iterdir()) == []
    assert list(downloads.iterdir())


async def test_a_run_reads_an_archive_once_and_its_replay_touches_nothing(tmp_path: Path) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a.txt", "The lamp was lit in 1871.")
    words = dict.fromkeys(("thinking", "evaluation", "memory", "next_goal"), "")
    async with Site({"/a.zip": Page(body=data.getvalue())}).open() as site:
        settings(tmp_path, site)
        call = {"name": "to_markdown", "arguments": {"source": f"{site.url}/a.zip"}}
        replies = [{**words, "calls": [call]}, {**words, "calls": [{"name": "done", "arguments": {"answer": 1}}]}]
        model = ScriptedModel(replies)
        async with Platform(tmp_path, state=tmp_path / "state", model=model, trust_home=True) as tea:
            outcome = await tea.run(f"What is in {site.url}/a.zip?", also=["to_markdown"])
            assert outcome.ok
            told = str(model.requests[1].messages)
            assert "a.txt" in told
            asked = len(site.asked)
            assert (await tea.replay(outcome.run)).ok
            assert len(site.asked) == asked
