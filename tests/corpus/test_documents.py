"""Test foreign documents in a corpus: PDF, Office and books by their real producers, found with their places."""

import gzip
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from sites import Page, Site, html

from tea.corpus.converting import parted, sandboxed
from tea.corpus.corpus import Corpus, hit_of
from tea.corpus.index import Index
from tea.platform import Platform
from tea.retrieval.embedding.builtin import StaticEmbedder
from tea.source.seal import Seal
from tea.testing import platform
from tea.web import WebSettings

in_one_loop = pytest.mark.asyncio(loop_scope="module")
DATA = Path(__file__).parents[2] / "examples" / "data"
FILES = ("bzip2_manual.pdf", "sqlite_limits.docx", "sqlite_uses.odt", "sqlite_file_format.epub", "placeholders.pptx")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def indexed(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Platform, Path]]:
    """A folder of documents in the corpus of a home."""
    folder = tmp_path_factory.mktemp("documents")
    for name in FILES:
        shutil.copyfile(DATA / name, folder / name)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    async with platform() as tea:
        updated = await tea.corpus.add(str(folder))
        told = {Path(url).name: problem for url, problem in updated.problems.items()}
        assert (updated.added, set(told)) == (len(FILES), {"broken.pdf"})
        assert "damaged PDF" in told["broken.pdf"]
        yield tea, folder


@in_one_loop
@pytest.mark.parametrize(
    ("query", "name", "place", "words"),
    [
        ("memory bunzip2 requires default 900k block size", "bzip2_manual.pdf", "page 8", "about 3700 kbytes"),
        ("maximum number of attached databases", "sqlite_limits.docx", "line 1", "cannot be increased above 125"),
        ("many concurrent writers choose client/server", "sqlite_uses.odt", "line 1", "Many concurrent writers?"),
        ("page size two-byte integer at offset 16", "sqlite_file_format.epub", "line ", "offset of 16 bytes"),
        ("sales 3rd Qtr 4th Qtr", "placeholders.pptx", "line ", "| 3rd Qtr | 1.4 |"),
    ],
)
async def test_a_document_is_found_with_its_place(
    indexed: tuple[Platform, Path], query: str, name: str, place: str, words: str
) -> None:
    found = await indexed[0].corpus.find(query, 5)
    (best, *_) = [one for one in found if one.url.endswith(f"/{name}") and words in one.passage.text]
    assert hit_of(best).place.startswith(place)


@in_one_loop
async def test_what_is_the_same_is_not_converted_again(indexed: tuple[Platform, Path]) -> None:
    told = list[str]()
    (updated,) = await indexed[0].corpus.update(tell=told.append)
    assert (updated.same, updated.changed) == (len(FILES), 0)
    assert [Path(one).name for one in told] == ["broken.pdf"]


@in_one_loop
async def test_a_slide_is_named_as_the_place_of_its_words(indexed: tuple[Platform, Path]) -> None:
    found = await indexed[0].corpus.find("sales 3rd Qtr 4th Qtr", 5)
    (best, *_) = [one for one in found if one.url.endswith("/placeholders.pptx")]
    assert "slide 4" in best.passage.heading


@in_one_loop
async def test_a_packed_document_is_unpacked_first(indexed: tuple[Platform, Path], tmp_path: Path) -> None:
    packed = tmp_path / "limits.docx.gz"
    packed.write_bytes(gzip.compress((DATA / "sqlite_limits.docx").read_bytes()))
    assert (await indexed[0].corpus.add(str(packed))).added == 1


@in_one_loop
async def test_documents_of_a_site_are_read_whatever_their_types_say(
    indexed: tuple[Platform, Path], tmp_path: Path
) -> None:
    files = {
        "manual": ("bzip2_manual.pdf", "application/pdf"),
        "uses": ("sqlite_uses.odt", "application/octet-stream"),
        "limits.bin": ("sqlite_limits.docx", "text/html"),
        "slides": ("placeholders.pptx", ""),
    }
    links = "".join(f"<a href='{one}'>x</a>" for one in (*files, "picture", "plain"))
    async with Site({"/docs/": html(f"<main><p>Some books.</p>{links}</main>")}).open() as site:
        for path, (name, kind) in files.items():
            site.pages[f"/docs/{path}"] = Page(body=(DATA / name).read_bytes(), headers={"content-type": kind})
        site.pages["/docs/picture"] = Page(body=b"\x89PNG\r\n\x1a\n<html>", headers={"content-type": "text/html"})
        site.pages["/docs/plain"] = Page(body=b"The tide <a href=no.html>x</a>", headers={"content-type": "text/plain"})
        readers = sandboxed(indexed[0].sandboxes.parser_terms)
        web = WebSettings(allow=(site.place,), retries=(), fresh=0)
        one = Corpus(Index(tmp_path / "corpus.sqlite", StaticEmbedder()), web, readers, seal=Seal(tmp_path))
        updated = await one.add(f"{site.url}/docs/")
        assert (updated.added, updated.problems) == (6, {})
    for query, path, place in (
        ("memory bunzip2 requires default 900k block size", "manual", "page 8"),
        ("maximum number of attached databases", "limits.bin", "line "),
        ("many concurrent writers choose client/server", "uses", "line "),
        ("sales 3rd Qtr 4th Qtr", "slides", "line "),
    ):
        (best, *_) = [match for match in await one.find(query, 5) if match.url.endswith(f"/docs/{path}")]
        assert hit_of(best).place.startswith(place)


def test_no_section_reaches_across_two_pages_and_lines_are_counted_through() -> None:
    lines = ["[page 1]", "", "# A", "one", "", "[page 2]", "", "two", "## B", "three"]
    assert [(one.page, one.line, one.heading) for one in parted(lines)] == [(1, 3, "A"), (2, 1 + 6, ""), (2, 9, "B")]
    assert [one.heading for one in parted(["[sheet Tides]", "", "| a |"])] == ["sheet Tides"]
    assert [one.line for one in parted(["alone"])] == [1]
