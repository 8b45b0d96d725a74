"""The files of a run: listing, paged reading and atomic writing, inside one folder."""

import asyncio
import json
import os
import secrets
import stat
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NotRequired, TypedDict, TypeVar

from tea import Context, Environment, ToolError, action

T = TypeVar("T")

MOST_NAME = 1_000
MOST_PART = 255
MOST_LISTED = 1_000
STATE_FILES = 100
MOST_SHOWN = 16_000
MOST_TEXT = 5_000_000
MOST_FILE = 50_000_000
BLOCK = 1 << 20

_TYPES = {
    "table": "csv tsv tab xlsx xlsm",
    "json": "json jsonl ndjson geojson",
    "text": "txt md markdown rst log ini cfg conf toml yaml yml xml html htm tex srt",
    "code": "py js ts java c h cpp rs go sh sql css",
    "document": "pdf docx docm pptx odt odp epub eml ipynb rtf",
    "image": "png jpg jpeg gif webp bmp svg tiff",
    "audio": "mp3 wav ogg flac m4a",
    "video": "mp4 mov mkv webm avi",
    "archive": "zip tar gz tgz bz2 xz 7z",
}
_BY_ENDING = {ending: kind for kind, endings in _TYPES.items() for ending in endings.split()}


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One file: its name from the workspace's root, its size in bytes, and what its ending says it is."""

    name: str
    size: int
    type: str


class Listing(TypedDict):
    """Some of the files, in the order of their names; `more` follow from `next_offset` on."""

    files: list[File]
    more: int
    next_offset: NotRequired[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A part of a text; `next_offset` says where more follows."""

    text: str
    offset: int
    next_offset: int | None = None


class Workspace(Environment):
    """The files that a run may read and write.

    Names are relative to the workspace, with `/` between folders. Nothing outside of it can be reached.
    """

    name = "workspace"
    recovery = "durable"
    rules = """
        Names are relative to the workspace, such as `notes/summary.md`; hidden files are not listed.
        A file that is written again is replaced unless `replace` is false. Long texts go on at `next_offset`.
    """

    async def state(self, ctx: Context) -> Listing:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the first files with their sizes and types."""
        return await _work(_listing, await ctx.files(), 0, STATE_FILES)

    @action(effects="reads", idempotent=True, network=False)
    async def list_files(self, ctx: Context, names: tuple[str, ...] = (), limit: int = 200, offset: int = 0) -> Listing:
        """List files with their sizes and types.

        Args:
            names: Only these.
            limit: Most files.
            offset: Files to skip.
        """
        if limit < 1 or offset < 0:
            raise ToolError(f"limit {limit}, offset {offset}.", fix="ask for 1 file or more, from 0 on.")
        if not names:
            return await _work(_shown, await ctx.files(), offset, min(limit, MOST_LISTED))
        chosen = {name: _path(ctx, name) for name in names[:MOST_LISTED]}
        return await _work(_listing, chosen, offset, min(limit, MOST_LISTED))

    @action(effects="reads", idempotent=True, network=False)
    async def read(self, ctx: Context, name: str, offset: int = 0, limit: int = MOST_SHOWN) -> Page:
        """Read a UTF-8 text, or a page of it.

        Args:
            name: File name.
            offset: Characters to skip.
            limit: Most characters.
        """
        if offset < 0 or limit < 1:
            raise ToolError(f"offset {offset} with limit {limit}.", fix="offset from 0, limit from 1.")
        return await _work(_read, await _existing(ctx, name), name, offset, min(limit, MOST_SHOWN))

    @action(effects="writes", idempotent=True, network=False, after="the file holds exactly the text")
    async def write(self, ctx: Context, name: str, text: str, replace: bool = True) -> File:
        """Write a whole text file, and the folders it needs.

        Args:
            name: File name.
            text: All it shall hold.
            replace: Replace an existing file.
        """
        return await _work(_write, _path(ctx, name), name, _encoded(text), replace)

    @action(effects="writes", network=False, after="the file ends with the text")
    async def append(self, ctx: Context, name: str, text: str) -> File:
        """Add text to the end of a file, or create it.

        Args:
            name: File name.
            text: What to add.
        """
        return await _work(_append, _path(ctx, name), name, _encoded(text))

    @action(effects="writes", network=False, before="the file exists", after="it does not")
    async def delete(self, ctx: Context, name: str) -> File:
        """Delete one file, never a folder.

        Args:
            name: File name.
        """
        await _existing(ctx, name)
        return await _work(_delete, Path(ctx.workspace) / name, name)


def _path(ctx: Context, name: str) -> Path:
    if any(ord(letter) < 32 or 0xD800 <= ord(letter) < 0xE000 for letter in name):
        raise ToolError(f"{name[:60]!r} holds unprintable characters.", fix="use letters, digits, - _ . and /.")
    if not 0 < len(name) <= MOST_NAME or any(len(part.encode()) > MOST_PART for part in name.split("/")):
        raise ToolError(f"{name[:60]!r} is no usable name.", fix=f"1 to {MOST_NAME} characters, {MOST_PART} a part.")
    path = ctx.path(name)
    if path == Path(ctx.workspace).resolve():
        raise ToolError(f"{name[:60]!r} is the workspace itself.", fix="name a file inside it.")
    return path


async def _existing(ctx: Context, name: str) -> Path:
    """Return the path of what exists; the error about anything else tells the nearest file."""
    path = _path(ctx, name)
    return path if await _work(path.exists) else await ctx.file(name)


async def _work(function: Callable[..., T], /, *arguments: object) -> T:
    try:
        return await asyncio.to_thread(function, *arguments)
    except OSError as error:
        words = error.strerror or type(error).__name__
        raise ToolError(f"The workspace refuses: {words}.", fix="choose another name, or list the files.") from error


def _listing(paths: Mapping[str, Path], offset: int, limit: int) -> Listing:
    names = [name for name in sorted(paths) if paths[name].is_file()]
    after = min(len(names), offset + limit)
    files = [_described(name, paths[name]) for name in names[offset:after]]
    listing = Listing(files=files, more=len(names) - after)
    if listing["more"]:
        listing["next_offset"] = after
    return listing


def _shown(paths: Mapping[str, Path], offset: int, limit: int) -> Listing:
    """Return a listing with no more files than there is room for."""
    found = _listing(paths, offset, limit)
    files, left, count = found["files"], MOST_SHOWN, 0
    while count < len(files) and (left := left - len(json.dumps(asdict(files[count]))) - 2) >= 0:
        count += 1
    return found if count == len(files) else _listing(paths, offset, count)


def _described(name: str, path: Path) -> File:
    return File(name=name, size=path.stat().st_size, type=_BY_ENDING.get(path.suffix.lower()[1:], "other"))


def _read(path: Path, name: str, offset: int, limit: int) -> Page:
    _check_file(path, name)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            left = offset
            while left and (skipped := file.read(min(left, BLOCK))):
                left -= len(skipped)
            text = file.read(limit + 1)
    except UnicodeDecodeError as error:
        raise ToolError(f"{name[:100]!r} is not UTF-8 text.", fix="read it with a tool for its type.") from error
    return Page(text=text[:limit], offset=offset, next_offset=offset + limit if len(text) > limit else None)


def _write(path: Path, name: str, data: bytes, replace: bool) -> File:
    if path.is_dir():
        raise ToolError(f"{name[:100]!r} is a folder.", fix="name a file.")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.parent / f".tea-{secrets.token_hex(8)}"
    try:
        with part.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            part.replace(path)
        else:
            os.link(part, path)
    except FileExistsError:
        if not _holds(path, data):
            raise ToolError(f"{name[:100]!r} exists.", fix="choose another name, or set replace.") from None
    finally:
        part.unlink(missing_ok=True)
    return _described(name, path)


def _holds(path: Path, data: bytes) -> bool:
    """Tell whether the file is what a repeated call wrote already."""
    return path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data


def _append(path: Path, name: str, data: bytes) -> File:
    if path.exists():
        _check_file(path, name)
        if path.stat().st_size + len(data) > MOST_FILE:
            raise ToolError(f"{name[:100]!r} would grow beyond {MOST_FILE} bytes.", fix="begin another file.")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return _described(name, path)


def _delete(path: Path, name: str) -> File:
    if path.is_symlink():
        raise ToolError(f"{name[:100]!r} is a link.", fix="name the file itself.")
    _check_file(path, name)
    file = _described(name, path)
    path.unlink()
    return file


def _check_file(path: Path, name: str) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise ToolError(f"There is no file {name[:100]!r}.", fix="list the files.") from None
    if not stat.S_ISREG(mode):
        raise ToolError(f"{name[:100]!r} is no ordinary file.", fix="name a file, not a folder or device.")


def _encoded(text: str) -> bytes:
    if len(text) > MOST_TEXT:
        raise ToolError(f"The text is longer than {MOST_TEXT} characters.", fix="append it in parts.")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ToolError("The text holds half a character.", fix="send complete characters.") from error
