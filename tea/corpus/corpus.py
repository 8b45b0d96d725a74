"""Corpus: folders and sites of the operator's choice, kept in an index, and searched as the engine `local`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from tea.clock import epoch_seconds, to_second
from tea.corpus.dates import stated_day
from tea.corpus.index import Index, Match, Ways
from tea.corpus.passages import joined, passages
from tea.corpus.reading import Readers
from tea.corpus.site import Page, pages_of
from tea.corpus.work import Waiting, Work
from tea.errors import BadInput, TeaError
from tea.reading.nearness import NEAR_BEST
from tea.retrieval.embedding.embedder import Embedder
from tea.source.seal import MARK, Seal, unmarked
from tea.store.files import followed, read_regular
from tea.store.strict import Refused
from tea.types import JsonObject, JsonValue
from tea.web.search.engine import Hit, Query
from tea.web.settings import WebSettings

MOST_PAGES = 500
LEAST = 0.03  # of a hit: less than half of the nearest meaning gives, without any word of the query

_FILE = "file://"
_HERE = "added_here"
_NOT_HERE = "this account did not add it; `tea corpus update SOURCE` reads it, `tea corpus rm SOURCE` removes it."
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated:
    """The effects of an update on a source.

    Args:
        root: The source.
        added: New documents.
        changed: Documents that were read again.
        removed: Documents that are gone.
        same: Documents that were left alone.
        problems: Why documents were left out, by address.
    """

    root: str
    added: int = 0
    changed: int = 0
    removed: int = 0
    same: int = 0
    problems: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document of the corpus.

    Args:
        url: Its address.
        title: Its title.
        date: The day that it or its page states, `YYYY-MM-DD`, or the year alone; empty if unknown.
        lines: Its text.
    """

    url: str
    title: str
    date: str
    lines: list[str]


class Corpus:
    """The corpus of a home.

    Args:
        index: Its passages.
        web: The settings by which sites are read.
        readers: Readers of documents.
        seal: Marks the sources added by this account; no others are read again unasked.
    """

    name, tier = "local", 1

    def __init__(self, index: Index, web: WebSettings, readers: Readers | None = None, *, seal: Seal) -> None:
        self._index, self._web, self._readers, self._seal = index, web, readers or Readers(), seal

    @property
    def embedder(self) -> Embedder:
        """The source of the vectors of its texts."""
        return self._index.embedder

    def is_empty(self) -> bool:
        """Return whether there is nothing to search; blocks."""
        return self._index.is_empty()

    async def sources(self) -> dict[str, dict[str, Any]]:
        """Return the facts about each source, by its root: the time of its update, its documents and passages.

        A corpus may have come with its home: `added_here` says whether this account added the source.
        """

        def found() -> dict[str, dict[str, Any]]:
            return {root: self._facts(root, one) for root, one in self._index.sources().items()}

        return await asyncio.to_thread(found)

    async def add(self, root: str, *, pages: int = MOST_PAGES, tell: Tell | None = None) -> Updated:
        """Add a folder, a file or a site, and index it; update one already in the corpus.

        Args:
            root: A path, or an address (http or https) below which pages are read.
            pages: Most pages of a site.
            tell: Told of each document that is read.

        Raises:
            BadInput: It is neither, or there is nothing to read.
        """
        name = await asyncio.to_thread(_root, root)
        updated = await self._update(name, pages, tell or (lambda line: None))
        if not (updated.added or updated.changed or updated.same):
            await self.remove(name)
            why = next(iter(updated.problems.values()), "it holds no document of a kind that is read")
            raise BadInput(f"There is nothing to index in {root[:200]!r}: {why}", fix="name another folder or site.")
        return updated

    async def update(self, root: str | None = None, *, tell: Tell | None = None) -> list[Updated]:
        """Index anew the changed documents of a source, or of all.

        Args:
            root: A source as it is listed; None for all that this account added. Of the others, which whoever made the
                corpus chose, nothing is read, and the problem of each says so.
            tell: Told of each document that is read.

        Raises:
            BadInput: There is no such source.
        """
        known = await self.sources()
        chosen = list(known) if root is None else [_find_source(root, known)]
        done = list[Updated]()
        for one in chosen:
            if root is None and not known[one][_HERE]:
                done.append(Updated(root=one, problems={one: _NOT_HERE}))
                continue
            pages = known[one]["pages"] if known[one][_HERE] else MOST_PAGES
            done.append(await self._update(one, pages, tell or (lambda line: None)))
        return done

    async def remove(self, root: str) -> str:
        """Remove a source from the index, and return it; its documents themselves are not touched.

        Raises:
            BadInput: There is no such source.
        """
        name = _find_source(root, await self.sources())

        def drop() -> None:
            with self._index.changing() as change:
                change.drop(name)

        await asyncio.to_thread(drop)
        return name

    async def find(self, query: str, k: int = 10, ways: Ways = "both") -> list[Match]:
        """Return the passages with the best fit to a query; see `Index.search`."""
        return await asyncio.to_thread(self._index.search, query, k, ways)

    async def document(self, url: str) -> Document | None:
        """Return a document as it was indexed, None if it is not in the corpus; no file is opened.

        Args:
            url: Its address, `file://` and a path for a file; a fragment does not count.
        """
        path = url.partition("#")[0]
        address = f"{_FILE}{quote(unquote(urlsplit(path).path))}" if path.startswith(_FILE) else path
        matches = await asyncio.to_thread(self._index.document, address)
        if not matches:
            return None
        lines = joined([one.passage for one in matches])
        return Document(url=address, title=matches[0].title, date=matches[0].date, lines=lines)

    async def search(self, query: Query) -> Sequence[Hit]:
        """Return the hits of a query, without those far below the best; see `tea.web.search.Engine`."""
        return [hit_of(one) for one in near_best(await self.find(query.text, query.most))]

    def _facts(self, root: str, document: JsonObject) -> dict[str, Any]:
        """Return the recorded facts about a source, and whether this account recorded them."""
        made = self._seal.made(document.get(MARK), _mark_content(root, document.get("pages")))
        return {**unmarked(document), "updated": str(document.get("updated", "")), _HERE: made}

    async def _update(self, root: str, most: int, tell: Tell) -> Updated:
        about = {"pages": most, "updated": to_second(epoch_seconds()), MARK: self._seal(_mark_content(root, most))}
        pages = self._readers.pages() if self._readers.pages is not None else None
        work = Work(self._readers, pages, asyncio.get_running_loop())
        try:
            if root.startswith(_FILE):
                return await asyncio.to_thread(self._index_files, root, about, tell, work)
            read, problems = await pages_of(root, self._web, most, tell, work.links)
            return await asyncio.to_thread(self._index_site, root, about, read, problems, work)
        finally:
            if pages is not None:
                await pages.close()

    def _index_files(self, root: str, about: dict[str, Any], tell: Tell, work: Work) -> Updated:
        """Index the files below a path: read those with a new size or time, and remove those gone."""
        path, problems = Path(unquote(urlsplit(root).path)), dict[str, str]()
        counts, waiting = {"added": 0, "changed": 0, "same": 0}, list[Waiting]()
        with self._index.changing() as change:
            source = change.source(root, about)
            before = change.documents(source)
            for file in _files(path, self._readers):
                url = f"{_FILE}{quote(str(file))}"
                known = before.pop(url, None)
                with suppress(OSError):
                    facts = file.stat()
                    state = f"{facts.st_size} {facts.st_mtime_ns}"
                    if known is not None and known.state.startswith(f"{state} "):
                        counts["same"] += 1
                        continue
                    try:
                        data = read_regular(file, self._readers.most_bytes(file.name))
                    except Refused as reason:
                        problems[url] = f"{reason}."
                        continue
                    digest = sha256(data).hexdigest()[:32]
                    if known is not None and known.state.endswith(f" {digest}"):
                        change.mark(source, url, f"{state} {digest}")
                        counts["same"] += 1
                        continue
                    tell(str(file))
                    told: dict[str, Any] = {"url": url, "state": f"{state} {digest}", "name": file.name, "date": ""}
                    waiting.append(Waiting(**told, data=data, known=known is not None))
                if work.is_full(waiting):
                    self._put(change, source, waiting, work, counts, problems)
            self._put(change, source, waiting, work, counts, problems)
            for url in before:
                change.remove(source, url)
        return Updated(root=root, **counts, removed=len(before), problems=problems)

    def _index_site(
        self,
        root: str,
        about: dict[str, Any],
        pages: Sequence[Page],
        problems: dict[str, str],
        work: Work,
    ) -> Updated:
        """Index the pages of a site; pages answered otherwise than with a page stay until they are gone."""
        counts, waiting = {"added": 0, "changed": 0, "same": 0}, list[Waiting]()
        with self._index.changing() as change:
            source = change.source(root, about)
            before = change.documents(source)
            for page in pages:
                known = before.pop(page.url, None)
                digest = sha256(page.body).hexdigest()[:32]
                if known is not None and known.state == digest:
                    counts["same"] += 1
                    continue
                told = {"url": page.url, "state": digest, "name": page.name, "date": page.date}
                waiting.append(Waiting(**told, data=page.body, known=known is not None))
                if work.is_full(waiting):
                    self._put(change, source, waiting, work, counts, problems)
            self._put(change, source, waiting, work, counts, problems)
            gone = [url for url in before if url not in problems]
            for url in gone:
                change.remove(source, url)
        return Updated(root=root, **counts, removed=len(gone), problems=problems)

    def _put(
        self,
        change: Any,
        source: int,
        waiting: list[Waiting],
        work: Work,
        counts: dict[str, int],
        problems: dict[str, str],
    ) -> None:
        """Read the waiting documents, put them into the index, and let none wait any more.

        Raises:
            TeaError: There is no room for more passages.
        """
        for one, document in zip(waiting, work.read(waiting), strict=True):
            try:
                if isinstance(document, TeaError):
                    raise document
                parts = list(passages(document.parts))
                # The time of a file is that of its copying, so it tells nothing of the age of its words.
                date = stated_day("\n".join(part.text for part in document.parts[:2])) or one.date
                change.put(source, one.url, one.state, document.title or one.name, date, parts)
                counts["changed" if one.known else "added"] += 1
            except TeaError as error:
                if "passages" in error.problem:
                    raise
                problems[one.url] = error.problem
        waiting.clear()


def near_best(found: Sequence[Match]) -> Sequence[Match]:
    """Return the matches without those far below the best, and those fitting nothing of the query.

    Args:
        found: The best first.
    """
    bar = max(LEAST, NEAR_BEST * found[0].score) if found else LEAST
    return [one for one in found if one.score >= bar]


def hit_of(match: Match) -> Hit:
    """Return a passage in the form of a hit."""
    one = match.passage
    place = f"page {one.page}" if one.page else f"line {one.line}"
    place = f"{place}, {one.heading}" if one.heading else place
    return Hit(url=match.url, title=match.title, snippet=one.text, date=match.date, place=place)


def _mark_content(root: str, pages: JsonValue) -> JsonObject:
    """Return the content to be marked for a source."""
    return {"source": root, "pages": pages}


def _root(root: str) -> str:
    """Return the name of a source: an address, or `file://` and a path.

    Raises:
        BadInput: There is no such file or folder.
    """
    if root.startswith(("http://", "https://")):
        return root
    path = followed(Path(root.removeprefix(_FILE)).expanduser())
    if not path.exists():
        raise BadInput(f"There is no file or folder {root[:200]!r}.", fix="name one, or an address with https://.")
    return f"{_FILE}{quote(str(path))}"


def _find_source(root: str, sources: dict[str, dict[str, Any]]) -> str:
    """Return a source by its name or path.

    Raises:
        BadInput: There is no such source.
    """
    names = (root, f"{_FILE}{quote(str(followed(Path(root.removeprefix(_FILE)).expanduser())))}")
    found = next((one for one in names if one in sources), None)
    if found is None:
        raise BadInput(f"{root[:200]!r} is not in the corpus.", fix="`tea corpus ls` shows what is.")
    return found


def _files(path: Path, readers: Readers) -> Iterator[Path]:
    """Yield the files below a path, in order, without hidden ones; links to folders are not followed."""
    if path.is_file():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and readers.has(name):
                yield Path(folder, name)
