"""Reader: converts foreign files in a sandbox of their own, without network and within limits."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from tea.errors import ToolError
from tea.reading.cache import FOLDER, DocumentCache
from tea.reading.document import Document, Match, digest_of
from tea.reading.inside.charset import text_lines
from tea.reading.inside.kinds import HEAD, Kind, kind_of, size_words
from tea.reading.inside.main import PARTS, RESULT, TEXT
from tea.reading.sheets import Sheets, sheets_from
from tea.reading.taken import taken_out
from tea.reading.windows import MOST_CHARACTERS, lines_of
from tea.sandbox.packages import declared
from tea.sandbox.session import Sandbox
from tea.sandbox.settings import Limits
from tea.store.files import open_regular
from tea.store.rooted import open_resolved
from tea.store.strict import Refused
from tea.types import JsonObject

MOST_BYTES = 200_000_000  # of a file
PACKAGES = (
    "charset-normalizer", "html-to-markdown", "lxml", "openpyxl", "pillow", "pypdfium2", "python-docx", "python-pptx",
    "pyyaml",
)  # fmt: skip
LIMITS = Limits(memory_mb=512, cpu_seconds=30, call_seconds=30, disk_mb=600, processes=16, output_kb=100)
SHEET_LIMITS = Limits(
    memory_mb=512, cpu_seconds=120, call_seconds=480, disk_mb=1_500, processes=16, output_kb=100
)  # all rows of a workbook are read, and not its first ones
_PROGRAM, _SOURCE = "convert.py", "source"
_BEGIN = "import sys\nsys.path.insert(0, '.')\nfrom tea.reading.inside.main import main\nmain()\n"
_INSIDE = Path(__file__).parent / "inside"
_CHUNK = 1 << 20
_MOST_RESULT, _MOST_TEXT = 5_000_000, 50_000_000
_AS_IT_IS = frozenset({"text", "json", "jsonl", "xml", "yaml", "markdown"})
_PLAIN = frozenset({"text", "markdown"})  # which need no parser where they are UTF-8
_AS_TEXT: dict[str, Any] = {
    "family": "text",
    "title": "",
    "facts": {"encoding": "utf-8"},
    "notes": [],
    "truncated": False,
}
_CHEAPER: Mapping[str, str] = {
    "pdf": "name fewer pages, as in pages='1-10'.",
    "xlsx": "ask table_query, or save the needed sheet as CSV.",
    "ods": "ask table_query, or save the needed sheet as CSV.",
    "csv": "ask table_query, which needs less.",
    "archive": "unpack the needed part by hand, and name that.",
    "image": "make it smaller, or show it to a model that takes images.",
    "audio": "cut out the needed part, and name that.",
    "video": "cut out the needed part, and name that.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a file is read.

    Args:
        url: Where it comes from, against which links are resolved.
        content_type: What its server says that it is.
        kind: `html`, `pdf` or `text` where the caller knows it already, else empty.
        pages: First and last page, from 1; 0 for the end.
        most_pages: Most pages at once.
        characters: Most characters.
        ocr: Whether pages and images without text are recognised by tesseract.
        unpack: Whether files in it are taken out: of an archive, a mail, a video.
        language: Languages of recognition, as tesseract names them: `eng`, `deu+fra`.
    """

    url: str = ""
    content_type: str = ""
    kind: str = ""
    pages: tuple[int, int] = (1, 0)
    most_pages: int = 400
    characters: int = 10_000_000
    ocr: bool = False
    unpack: bool = False
    language: str = "eng"


class Reader:
    """A converter of files to Markdown, working in sandboxes of its own, each ended after its work.

    Args:
        terms: What `ctx.parser_terms()` gives.

    Example:
        reader = Reader(await ctx.parser_terms())
        document = await reader.read(await ctx.file("report.pdf"), "report.pdf")
    """

    def __init__(self, terms: JsonObject) -> None:
        self._terms = terms
        folder = terms.get("cache")
        self._cache = DocumentCache(Path(str(folder)) / FOLDER if folder else None)

    async def read(
        self, source: Path | bytes, name: str, options: Options | None = None, *, parts: Path | None = None
    ) -> Document:
        """Return a file as Markdown.

        Args:
            source: The file, at a path without links, or its bytes.
            name: What its user calls it, for messages.
            options: How it is read.
            parts: Folder for files that are taken out of it, which is made; a path without links.

        Raises:
            ToolError: It cannot be read; the error says what it is, and what to do.
        """
        wanted = options or Options()
        with tempfile.TemporaryDirectory(prefix="tea-reading-", ignore_cleanup_errors=True) as made:
            folder = Path(made)
            kind, digest = await asyncio.to_thread(_brought, source, name, folder)
            if not wanted.kind and await asyncio.to_thread(_is_page, folder / _SOURCE, kind, wanted.content_type):
                wanted = replace(wanted, kind="html")
            key = sha256(json.dumps([digest, name, asdict(wanted), _version()]).encode()).hexdigest()
            if (wanted.kind or kind.name) in _PLAIN and (plain := await asyncio.to_thread(_plain, folder / _SOURCE)):
                told = {**_AS_TEXT, "kind": wanted.kind or kind.name, "truncated": len(plain) > wanted.characters}
                return _document(name, told, plain[: wanted.characters], [])
            kept = None if wanted.unpack else await asyncio.to_thread(self._cache.read, key)
            if kept is not None:
                return Document(**kept)
            order: JsonObject = {"path": _SOURCE, "options": {"name": name, **asdict(wanted)}}
            told = await self._run_parser(folder, order, name, kind)
            text = await asyncio.to_thread(_file_text, folder / TEXT)
            packed = source if isinstance(source, Path) and kind.is_packed else None
            taken = await asyncio.to_thread(taken_out, folder / PARTS, parts, packed) if parts is not None else []
        document = _document(name, told, text, taken)
        if not wanted.unpack:
            await asyncio.to_thread(self._cache.write, key, asdict(document))
        return document

    async def search(self, document: Document, pattern: str, *, ignore_case: bool = True) -> tuple[list[Match], int]:
        """Return the lines of a document matching a regular expression, and their number in all.

        Args:
            document: Where to look.
            pattern: The expression, as Python reads it.
            ignore_case: Whether capitals count for nothing.

        Raises:
            ToolError: It is not an expression, or takes too long.
        """
        with tempfile.TemporaryDirectory(prefix="tea-reading-", ignore_cleanup_errors=True) as made:
            folder = Path(made)
            text = "\n".join(document.lines).encode("utf-8", "replace")
            await asyncio.to_thread(_brought, text, document.name, folder)
            order: JsonObject = {"path": _SOURCE, "pattern": pattern[:1_000], "ignore_case": ignore_case}
            told = await self._run_parser(folder, order, document.name, None)
        return document.matches((one["line"], one["text"]) for one in told["matches"]), int(told["total"])

    @asynccontextmanager
    async def sheets(self, source: Path, name: str) -> AsyncGenerator[Sheets]:
        """Yield the rows of the sheets of an XLSX or ODS workbook, removed at the end of the block.

        Args:
            source: The file.
            name: What its user calls it, for messages.

        Raises:
            ToolError: It cannot be read; the error says what it is, and what to do.
        """
        with tempfile.TemporaryDirectory(prefix="tea-reading-", ignore_cleanup_errors=True) as made:
            folder = Path(made)
            kind, _ = await asyncio.to_thread(_brought, source, name, folder)
            fix = "save the needed sheet as CSV."
            order: JsonObject = {"path": _SOURCE, "sheets": True}
            yield sheets_from(await self._run_parser(folder, order, name, kind, SHEET_LIMITS, fix), name, folder)

    async def _run_parser(
        self,
        folder: Path,
        order: JsonObject,
        name: str,
        kind: Kind | None,
        limits: Limits = LIMITS,
        cheaper: str = "",
    ) -> dict[str, Any]:
        """Run the parsers' program in a sandbox around a folder, and return its output.

        Raises:
            ToolError: It refuses, fails, or was stopped.
        """
        fix, shown = cheaper or _cheaper(kind), await asyncio.to_thread(packages)
        sandbox = await Sandbox.around(self._terms, folder, packages=shown, limits=limits.to_json())
        try:
            ran = await sandbox.program(_PROGRAM, json.dumps(order))
        except ToolError as error:
            raise ToolError(f"{name!r} was not read: {error.problem}", fix=fix) from error
        finally:
            await sandbox.close()
        if ran.exit != 0:
            last = ran.stderr.text.strip().rpartition("\n")[2][:200]
            much = "MemoryError" in last or "bad_alloc" in last or ran.exit is None
            why = f"it takes more than {limits.memory_mb} MB" if much else f"its parser failed: {last or 'no words'}"
            raise ToolError(f"{name!r} was not read: {why}.", fix=fix)
        told: Any = json.loads(await asyncio.to_thread(file_bytes, folder / RESULT, _MOST_RESULT))
        if "error" in told:
            raise ToolError(f"{name!r} {told['error']['problem']}.", fix=str(told["error"]["fix"]))
        return told


def _is_page(path: Path, kind: Kind, content_type: str) -> bool:
    """Return whether a text without a page's beginning is a page, as its server says."""
    return kind.name in _PLAIN and "html" in content_type.lower() and b"<" in path.read_bytes()


def _plain(path: Path) -> str:
    """Return a text in UTF-8, empty for one in another encoding."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        return ""


def _document(name: str, fields: Mapping[str, Any], text: str, taken: list[str]) -> Document:
    kind, notes = str(fields["kind"]), [str(one) for one in fields["notes"]]
    lines = _broken(text, notes) if kind in _AS_IT_IS else lines_of(text)
    return Document(
        name=name,
        kind=kind,
        family=str(fields["family"]),
        title=str(fields["title"]),
        lines=lines,
        facts=fields["facts"],
        notes=notes,
        truncated=bool(fields["truncated"]),
        digest=digest_of(lines),
        parts=taken,
    )


def _broken(text: str, notes: list[str]) -> list[str]:
    """Return the lines of a text as they are numbered in it, except for those too long to be shown."""
    lines = text_lines(text)
    if all(len(line) < MOST_CHARACTERS for line in lines):
        return lines
    notes.append("Very long lines were broken, so the numbers of lines are not those of the file.")
    most = MOST_CHARACTERS - 1
    return [line[at : at + most] for line in lines for at in range(0, max(1, len(line)), most)]


def _cheaper(kind: Kind | None) -> str:
    """Return the next cheaper way to read a file after its parser was stopped."""
    if kind is None:
        return "find a plain text, or a simpler expression."
    return _CHEAPER.get(kind.name) or _CHEAPER.get(kind.family) or "split the file, or save it as a text."


def _brought(source: Path | bytes, name: str, folder: Path) -> tuple[Kind, str]:
    """Copy a file and the parsers into a folder, and return the file's kind and its digest.

    Raises:
        ToolError: It cannot be read, or is too large.
    """
    bring_parsers(folder)
    (folder / _PROGRAM).write_text(_BEGIN, encoding="utf-8")
    digest, size, head = sha256(), 0, b""
    with (folder / _SOURCE).open("wb") as copy:
        for part in _pieces(source, name):
            head = head or part[:HEAD]
            size += len(part)
            if size > MOST_BYTES:
                kind = kind_of(head, name)
                problem = f"{name!r} is {kind.words} of more than {size_words(MOST_BYTES)}."
                raise ToolError(problem, fix=_cheaper(kind))
            digest.update(part)
            copy.write(part)
    return kind_of(head, name), digest.hexdigest()


def bring_parsers(folder: Path) -> None:
    """Copy the modules of the parsers into a folder, and let the sandbox's account enter it."""
    folder.chmod(0o755)
    for path in _INSIDE.glob("*.py"):
        target = folder / "tea" / "reading" / "inside" / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    for package in ("tea", "tea/reading"):
        (folder / package / "__init__.py").touch()


def _pieces(source: Path | bytes, name: str) -> Iterator[bytes]:
    if isinstance(source, bytes):
        yield source
        return
    try:
        with open_resolved(source) as file:
            while part := file.read(_CHUNK):
                yield part
    except OSError as error:
        raise ToolError(f"{name!r} cannot be read: {error.strerror}.", fix="check the file.") from error


def file_bytes(path: Path, most: int) -> bytes:
    """Return the parser's output; it is as untrusted as its input.

    Raises:
        ToolError: It is not a file of its own, or too large.
    """
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            data = file.read(most + 1)
    except (OSError, Refused) as error:
        raise ToolError("The parser's output is not readable.", fix="name another file.") from error
    if len(data) > most:
        raise ToolError("The parser gave too much to be read.", fix="name fewer pages, or split the file.")
    return data


def _file_text(path: Path) -> str:
    return file_bytes(path, _MOST_TEXT).decode("utf-8", "replace") if path.exists() else ""


@cache
def packages() -> tuple[Path, ...]:
    """Return the folders of the packages imported by the parsers."""
    return declared(PACKAGES)


@cache
def _version() -> str:
    """Return a mark of the parsers, to let a cache recognise results of other ones."""
    digest = sha256()
    for path in sorted(_INSIDE.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
