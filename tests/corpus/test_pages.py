"""Web pages of a corpus are parsed in a sandbox, together, and one page does not spoil another."""

from pathlib import Path
from typing import Any

import lxml.html
import pytest

import tea.reading.pages
from tea.corpus.converting import sandboxed
from tea.corpus.corpus import Corpus
from tea.corpus.index import Index
from tea.errors import ToolError
from tea.reading.pages import PageReader
from tea.retrieval.embedding.builtin import StaticEmbedder
from tea.sandbox.levels import Sandboxes
from tea.sandbox.session import Sandbox
from tea.sandbox.settings import SandboxSettings
from tea.source.seal import Seal
from tea.web import WebSettings

SANDBOXES = Sandboxes(SandboxSettings())
DIES = """
import os
from pathlib import Path
if any("deadly" in Path(name).read_text() for name in {names!r}):
    os._exit(3)
"""


async def test_no_page_is_parsed_in_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a page was parsed in this process")

    monkeypatch.setattr(lxml.html, "document_fromstring", refused)
    monkeypatch.setattr("html_to_markdown.convert", refused)
    opened = list[str]()
    around = Sandbox.around

    async def counted(terms: Any, folder: Path, **options: Any) -> Sandbox:
        opened.append(terms["level"])
        return await around(terms, folder, **options)

    monkeypatch.setattr(Sandbox, "around", counted)
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(40):
        text = f"<title>Page {number}</title><nav>Home</nav><main><h1>Tide</h1><p>Mark{number} rises.</p></main>"
        (docs / f"{number}.html").write_text(text)
    index, readers = Index(tmp_path / "corpus.sqlite", StaticEmbedder()), sandboxed(SANDBOXES.parser_terms)
    one = Corpus(index, WebSettings(), readers, seal=Seal(tmp_path))
    updated = await one.add(str(docs))
    assert (updated.added, updated.problems) == (40, {})
    assert len(opened) == 1
    (best, *_) = await one.find("mark33")
    assert (best.title, best.passage.heading) == ("Page 33", "Tide")
    assert "Home" not in best.passage.text


async def test_a_page_that_ends_its_parser_is_one_error_among_the_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tea.reading.pages, "_READ", DIES + tea.reading.pages._READ)
    reader = PageReader(SANDBOXES.parser_terms)
    try:
        first, second, third = await reader.read(["<p>one<a href='b.html'>x</a>", "<p>deadly", "<p>three"])
    finally:
        await reader.close()
    assert not isinstance(first, ToolError)
    assert (first.text, first.links) == ("onex", ("b.html",))
    assert isinstance(second, ToolError)
    assert "died" in second.problem
    assert not isinstance(third, ToolError)
    assert third.text == "three"


@pytest.mark.parametrize("answer", ["[]", "{", '{"title": 1, "text": "", "links": []}', '{"error": "too deep"}'])
async def test_the_words_of_the_parser_are_not_believed(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    writing = f"from pathlib import Path\nfor name in {{names!r}}: Path(name + '.json').write_text({answer!r})"
    monkeypatch.setattr(tea.reading.pages, "_READ", writing.replace("'{", "'{{").replace("}'", "}}'"))
    reader = PageReader(SANDBOXES.parser_terms)
    try:
        (found,) = await reader.read(["<p>one"])
    finally:
        await reader.close()
    assert isinstance(found, ToolError)
    assert "cannot be read" in found.problem
