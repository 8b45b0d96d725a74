"""Pages: many web pages read in one sandbox, for an index."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from tea.errors import ToolError
from tea.reading.inside.plain import ANSWER
from tea.reading.reader import LIMITS, bring_parsers, file_bytes, packages
from tea.sandbox.session import Sandbox
from tea.types import JsonObject

MOST_AT_ONCE = 32
_MOST_ANSWER = 60_000_000
_READ = "from tea.reading.inside.plain import read_pages\nread_pages({names!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainPage:
    """A page as it was read.

    Args:
        title: What it calls itself; empty for nothing.
        text: Its main content in Markdown without links.
        links: The addresses of its links as they are written.
    """

    title: str
    text: str
    links: tuple[str, ...]


class PageReader:
    """A reader of web pages, in one sandbox from its first page to its end.

    Args:
        terms: Gives the terms of the sandbox, as `Sandboxes.parser_terms` does; asked for with the first page.
    """

    def __init__(self, terms: Callable[[], Awaitable[JsonObject]]) -> None:
        self._terms = terms
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._sandbox: Sandbox | None = None

    async def read(self, pages: Sequence[str]) -> list[PlainPage | ToolError]:
        """Return each page as it was read, or the error about it; one page does not spoil the others.

        Args:
            pages: Their texts, at most `MOST_AT_ONCE`.

        Raises:
            ToolError: There is no sandbox.
        """
        sandbox, folder = await self._opened()
        try:
            return await self._read(sandbox, folder, pages)
        except ToolError as error:
            if len(pages) == 1:
                return [error]
        return [(await self.read([one]))[0] for one in pages]

    async def close(self) -> None:
        """End the sandbox, and remove its files."""
        sandbox, folder = self._sandbox, self._folder
        self._sandbox = self._folder = None
        if sandbox is not None:
            await sandbox.close()
        if folder is not None:
            await asyncio.to_thread(folder.cleanup)

    async def _opened(self) -> tuple[Sandbox, Path]:
        if self._folder is None:
            terms = await self._terms()
            self._folder = tempfile.TemporaryDirectory(prefix="tea-pages-", ignore_cleanup_errors=True)
            path = Path(self._folder.name)
            await asyncio.to_thread(bring_parsers, path)
            shown = await asyncio.to_thread(packages)
            self._sandbox = await Sandbox.around(terms, path, packages=shown, limits=LIMITS.to_json())
        if self._sandbox is None:
            raise ToolError("The sandbox of the parser did not start.", fix="see `tea doctor --sandbox`.")
        return self._sandbox, Path(self._folder.name)

    async def _read(self, sandbox: Sandbox, folder: Path, pages: Sequence[str]) -> list[PlainPage | ToolError]:
        """Read pages together.

        Raises:
            ToolError: They took too much together.
        """
        names = [f"page-{number}.html" for number in range(len(pages))]
        await asyncio.to_thread(_write, folder, dict(zip(names, pages, strict=True)))
        ran = await sandbox.python(_READ.format(names=names))
        if ran.raised or ran.exit is not None:
            raise ToolError(f"The page's parser failed: {ran.raised or ran.exit}.", fix="leave the page out.")
        return await asyncio.to_thread(_taken, folder, names)


def _write(folder: Path, pages: dict[str, str]) -> None:
    for name, text in pages.items():
        (folder / name).unlink(missing_ok=True)  # the account of the parser owns the one before
        (folder / f"{name}{ANSWER}").unlink(missing_ok=True)
        (folder / name).write_bytes(text.encode("utf-8", "replace"))


def _taken(folder: Path, names: Sequence[str]) -> list[PlainPage | ToolError]:
    found = list[PlainPage | ToolError]()
    for name in names:
        try:
            found.append(_page(json.loads(file_bytes(folder / f"{name}{ANSWER}", _MOST_ANSWER))))
        except ToolError as error:
            found.append(error)
        except (ValueError, RecursionError):
            found.append(_broken("no answer"))
    return found


def _page(data: Any) -> PlainPage:
    """Return the page in a parser's output; the output is as untrusted as the page.

    Raises:
        ToolError: They are others.
    """
    fields = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    if "error" in fields:
        raise _broken(str(fields["error"])[:200])
    title, text, links = fields.get("title"), fields.get("text"), fields.get("links")
    if not (isinstance(title, str) and isinstance(text, str) and isinstance(links, list)):
        raise _broken("no answer")
    addresses = tuple(_whole(one) for one in cast("list[Any]", links) if isinstance(one, str))
    return PlainPage(title=_whole(title)[:120], text=_whole(text), links=addresses)


def _whole(text: str) -> str:
    """Return a text without halves of characters."""
    return text.encode("utf-8", "replace").decode()


def _broken(why: str) -> ToolError:
    return ToolError(f"The page cannot be read ({why}).", fix="leave it out, or mend it.")
