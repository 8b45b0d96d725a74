"""Test the corpus: indexed, found, updated and left-out files."""

import gzip
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from sites import Page, Site, html, redirect

from tea.corpus.converting import sandboxed
from tea.corpus.corpus import Corpus
from tea.corpus.index import Index
from tea.corpus.passages import Section
from tea.corpus.reading import Document, Readers
from tea.errors import BadInput
from tea.retrieval.embedding.builtin import StaticEmbedder
from tea.sandbox.levels import Sandboxes
from tea.sandbox.settings import SandboxSettings
from tea.source.seal import Seal
from tea.web import WebSettings
from tea.web.search.engine import Query

EMBEDDER = StaticEmbedder()
SANDBOXES = Sandboxes(SandboxSettings())


def corpus(
    folder: Path, *, most: int = 1_000, web: WebSettings | None = None, readers: Readers | None = None
) -> Corpus:
    return Corpus(
        Index(folder / "index" / "corpus.sqlite", EMBEDDER, most),
        web or WebSettings(),
        readers or sandboxed(SANDBOXES.parser_terms),
        seal=Seal(folder / "state"),
    )


def docs(folder: Path) -> Path:
    place = folder / "docs"
    (place / "below").mkdir(parents=True)
    (place / "tower.md").write_text("# Tower\n\nIt is tall.\n\n## Lamp\n\nThe lamp burns paraffin.\n")
    (place / "below" / "ship.html").write_text(
        "<!doctype html><title>Ships</title><nav>Home About</nav><script>var paraffin</script>"
        "<main><h1>Ships</h1><p>Vessels <a href=x>pass</a> the cape.</p></main>"
    )
    (place / "notes.txt.gz").write_bytes(gzip.compress(b"The keeper sleeps by day.\n"))
    (place / "image.png").write_bytes(b"\x89PNG\0")
    (place / ".hidden.md").write_text("secret paraffin")
    return place


async def urls(one: Corpus, query: str) -> list[str]:
    return [match.url.rpartition("/")[2] for match in await one.find(query)]


async def test_documents_are_found_by_words_and_by_meaning_with_their_place(tmp_path: Path) -> None:
    one, place = corpus(tmp_path), docs(tmp_path)
    updated = await one.add(str(place))
    assert (updated.added, updated.problems) == (3, {})
    (best, *_) = await one.find("what does the lamp burn?")
    assert best.url == (place / "tower.md").as_uri()
    assert best.title == "Tower"
    assert (best.passage.line, best.passage.heading) == (1, "Tower; Tower > Lamp")
    assert (await one.find("boats", ways="meaning"))[0].url.endswith("ship.html")
    assert await one.find("boats", ways="words") == []
    assert await urls(one, "asleep keeper") == ["notes.txt.gz", *(await urls(one, "asleep keeper"))[1:]]
    (ship,) = [match for match in await one.find("vessels cape") if match.url.endswith("ship.html")]
    assert "Home" not in ship.passage.text
    assert "var paraffin" not in ship.passage.text
    assert "Vessels pass the cape." in ship.passage.text


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Published 2021 by the Climate Office, on the years 1950-2019.", "2021"),
        ("Posted 3 May 2016. In 2015 it was hot.", "2016-05-03"),
        ("*Last updated:* May 3rd, 2016", "2016-05-03"),
        ("date: 2019-02-28", "2019-02-28"),
        ("Published in 2019, updated on 1 June 2020.", "2020-06-01"),
        ("Updated 2019-02-31. The harbour of 2020.", ""),
        ("Published 1950-2019 in volumes; written 2000,5 times.", ""),
        ("It rained on 3 May 2016.", ""),
        ("It rains. " * 80 + "Published 2021.", ""),
    ],
)
async def test_the_date_of_a_document_is_the_one_stated_near_its_beginning(tmp_path: Path, text: str, day: str) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "rain.md").write_text(f"# Rain\n\n{text}\n\nThe harbour is wet.\n")
    one = corpus(tmp_path)
    await one.add(str(tmp_path / "docs"))
    (best, *_) = await one.find("a wet harbour")
    assert best.date == day


async def test_the_first_source_of_a_new_home_is_indexed(tmp_path: Path) -> None:
    assert (await corpus(tmp_path / "home").add(str(docs(tmp_path)))).added == 3


async def test_only_what_has_changed_is_read_again(tmp_path: Path) -> None:
    one, place = corpus(tmp_path), docs(tmp_path)
    await one.add(str(place))
    told: list[str] = []
    (first,) = await one.update(tell=told.append)
    assert (first.same, told) == (3, [])
    os.utime(place / "tower.md", (1, 1))
    (place / "below" / "ship.html").unlink()
    (place / "notes.txt.gz").write_bytes(gzip.compress(b"The keeper reads by night.\n"))
    (place / "new.txt").write_text("A new storm.")
    (second,) = await one.update(tell=told.append)
    assert (second.added, second.changed, second.removed, second.same) == (1, 1, 1, 1)
    assert [Path(one).name for one in told] == ["new.txt", "notes.txt.gz"]
    assert "ship.html" not in await urls(one, "vessels cape")
    assert (await one.find("reads night"))[0].passage.text.strip() == "The keeper reads by night."
    assert all("sleeps" not in match.passage.text for match in await one.find("sleeps"))


async def test_a_source_is_removed_by_its_path(tmp_path: Path) -> None:
    one, place = corpus(tmp_path), docs(tmp_path)
    await one.add(str(place))
    assert [known["documents"] for known in (await one.sources()).values()] == [3]
    assert await one.remove(str(place)) == place.as_uri()
    assert await one.sources() == {}
    assert await one.find("lamp") == []
    assert one.is_empty()
    with pytest.raises(BadInput, match="not in the corpus"):
        await one.remove(str(place))


@pytest.mark.parametrize(
    "query",
    ["AND OR NOT", "a*b (c", "NEAR(x y)", "body:x", "x" * 5_000, "-- '; DROP TABLE texts", "ÄÖ 灯塔", 'lamp "of" ^the'],
)
async def test_any_query_is_words_and_no_syntax(tmp_path: Path, query: str) -> None:
    one = corpus(tmp_path)
    await one.add(str(docs(tmp_path)))
    assert len(await one.find(query)) <= 10
    assert len(await one.find("lamp")) > 0
    with pytest.raises(BadInput, match="not contain a word"):
        await one.find('"')


async def test_what_cannot_be_read_is_left_out_and_named(tmp_path: Path) -> None:
    one, place = corpus(tmp_path), docs(tmp_path)
    (place / "bytes.txt").write_bytes(b"a\0b")
    (place / "packed.md.gz").write_bytes(b"no gzip")
    (place / "bomb.txt.gz").write_bytes(gzip.compress(bytes(32) * 400_000))
    (place / "latin.txt").write_bytes("Grüße vom Kap".encode("latin-1"))
    os.mkfifo(place / "pipe.txt")
    updated = await one.add(str(place))
    assert updated.added == 4
    told = {url.rpartition("/")[2]: problem for url, problem in updated.problems.items()}
    assert set(told) == {"bytes.txt", "packed.md.gz", "bomb.txt.gz", "pipe.txt"}
    assert "not text" in told["bytes.txt"]
    assert "10,000,000 bytes" in told["bomb.txt.gz"]
    assert (await one.find("Grüße"))[0].passage.text == "Grüße vom Kap"


async def test_a_corpus_has_a_limit_and_stays_as_it_was(tmp_path: Path) -> None:
    one, place = corpus(tmp_path, most=3), docs(tmp_path)
    await one.add(str(place))
    (place / "more.txt").write_text("One too many.")
    with pytest.raises(BadInput, match="more than 3 passages"):
        await one.update()
    assert len(await one.find("keeper lamp ships")) == 3


@pytest.mark.parametrize("root", ["missing", "https://", "http://user:x@a.example/"])
async def test_what_is_neither_folder_nor_site_is_refused(tmp_path: Path, root: str) -> None:
    with pytest.raises(BadInput):
        await corpus(tmp_path).add(root)


async def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    one = corpus(tmp_path)
    with pytest.raises(BadInput, match="nothing to index"):
        await one.add(str(tmp_path / "empty"))
    assert await one.sources() == {}


async def test_another_embedder_indexes_anew(tmp_path: Path) -> None:
    class Other(StaticEmbedder):
        name = "other"

    await corpus(tmp_path).add(str(docs(tmp_path)))
    readers = sandboxed(SANDBOXES.parser_terms)
    other = Corpus(
        Index(tmp_path / "index" / "corpus.sqlite", Other()), WebSettings(), readers, seal=Seal(tmp_path / "state")
    )
    (updated,) = await other.update()
    assert (updated.added, updated.same) == (3, 0)


async def test_further_kinds_are_read_by_what_is_given(tmp_path: Path) -> None:
    def read(data: bytes, name: str) -> Document:
        parts = tuple(Section(text=text, line=1, page=n) for n, text in enumerate(data.decode().split("\f"), 1))
        return Document(title=name, parts=parts)

    place = docs(tmp_path)
    (place / "book.pages").write_text("nothing\fthe tide rises")
    one = corpus(tmp_path, readers=Readers({".pages": read}))
    await one.add(str(place))
    assert (await one.find("tide"))[0].passage.page == 2


async def test_a_site_is_read_below_its_address_as_far_as_it_permits(tmp_path: Path) -> None:
    def linking(*links: str) -> Page:
        return html("<main><p>Words of a page.</p>" + "".join(f"<a href='{one}'>x</a>" for one in links) + "</main>")

    async with Site({}).open() as site:
        site.pages |= {
            "/robots.txt": Page(body=b"User-agent: *\nDisallow: /docs/private", headers={"content-type": "text/plain"}),
            "/docs/": linking(
                "a.html", "/other/", "private.html", "gone.html", "moved.html", "http://169.254.169.254/"
            ),
            "/docs/a.html": html("<title>A</title><main><p>The tide rises.</p><a href='./#top'>x</a></main>"),
            "/docs/private.html": linking(),
            "/docs/moved.html": redirect("/other/"),
            "/other/": linking(),
        }
        one = corpus(tmp_path, web=WebSettings(allow=(site.place,), retries=(), fresh=0))
        updated = await one.add(f"{site.url}/docs/")
        assert updated.added == 2
        told = {url.rpartition("/")[2]: problem for url, problem in updated.problems.items()}
        assert set(told) == {"private.html", "gone.html"}
        assert "robots.txt" in told["private.html"]
        (best, *_) = await one.find("tide")
        assert (best.url, best.title) == (f"{site.url}/docs/a.html", "A")
        site.pages["/docs/"] = linking()
        (again,) = await one.update()
        assert (again.changed, again.removed) == (1, 1)
        assert "/docs/private.html" not in site.paths()


def test_a_reader_is_chosen_by_the_suffix() -> None:
    names: Sequence[str] = ("a.md", "a.HTML", "README", "a.txt.gz", "x/y.htm", ".bashrc")
    readers = sandboxed(SANDBOXES.parser_terms)
    assert all(readers.has(name) for name in names)
    assert not any(readers.has(name) for name in ("a.png", "a.rar", "a.tar.gz"))
    assert [Readers().has(name) for name in names] == [True, False, True, True, False, True]


async def test_a_search_gives_no_document_far_below_the_best(tmp_path: Path) -> None:
    place = tmp_path / "docs"
    place.mkdir()
    (place / "guild.md").write_text("# The pilots' guild of Oster\n\nThe pilots' guild was founded in 1788 by Veer.\n")
    (place / "roofs.md").write_text("# Roofs\n\nLight paving reflects the sun, and dark roofs grow hot at noon.\n")
    (place / "pilots.md").write_text("# Pilots\n\nEach of the pilots of the guild knew every shoal of Oster.\n")
    one = corpus(tmp_path)
    await one.add(str(place))
    hits = await one.search(Query(text="pilots' guild of Oster founded", most=10))
    assert [hit.url.rpartition("/")[2] for hit in hits] == ["guild.md", "pilots.md"]
    assert len(await one.find("pilots' guild of Oster founded")) == 3
    assert not await one.search(Query(text="zebra unicorn", most=10))
