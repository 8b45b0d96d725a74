"""The files of a workspace: the work of its actions, in a thread."""

import difflib
import hashlib
import io
import json
import os
import posixpath
import stat
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import NotRequired, TypedDict

from tea import RootedFolder, ToolError, unified_diff

from .finding import Match
from .history import Change, History
from .patching import NOWHERE, FilePatch, apply

MOST_LISTED = 1_000
MOST_SHOWN = 16_000
MOST_TEXT = 5_000_000
MOST_FILE = 50_000_000
MOST_FILES = 10_000
MOST_BYTES = 1_000_000_000
MOST_VISITED = 20_000
MOST_SEARCHED = 20_000_000
MOST_LIKE = 100  # characters of a line, by which the one most like another is found
BLOCK = 1 << 20

_TYPES = {
    "table": "csv tsv tab xlsx xlsm ods",
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
    """One file: its name from the workspace's root, its size in bytes, and its kind by its ending."""

    name: str
    size: int
    type: str


class Written(TypedDict):
    """A written file; of a replaced one also its size and lines before, and now."""

    name: str
    size: int
    type: str
    was: NotRequired[str]


class Listing(TypedDict):
    """Some of the files, in the order of their names; `more` follow from `next_offset` on."""

    files: list[File]
    more: int
    next_offset: NotRequired[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A part of a text; `next_offset` is the start of the next part, and `left` are the characters from there on."""

    text: str
    offset: int
    next_offset: int | None = None
    left: int = 0


class Found(TypedDict):
    """The lines found, and whether there are more."""

    matches: list[Match]
    more: bool


class Compared(TypedDict):
    """A unified diff, and whether its end is left out."""

    diff: str
    more: bool


class TakenBack(TypedDict):
    """The undone action, and its files."""

    action: str
    files: list[str]


class Saved(TypedDict):
    """A snapshot: its name, and how many files it holds."""

    name: str
    files: int


class Restored(TypedDict):
    """The files changed by restoring a snapshot."""

    changed: list[str]


class Files:
    """The actions on the files of one workspace; they block.

    Args:
        folder: The workspace.
        history: What its changes replaced.
        bounded: Whether all files together have limits, as in a run's own workspace.
    """

    def __init__(self, folder: RootedFolder, history: History, *, bounded: bool) -> None:
        self._folder, self._history, self._bounded = folder, history, bounded

    def listing(self, names: Sequence[str], offset: int, limit: int) -> Listing:
        """Return some of the files, or of those named, in the order of their names."""
        found = {name: status.st_size for name, status in self._listed(names)}
        chosen = sorted(found)
        after = min(len(chosen), offset + limit)
        files = [_described(name, found[name]) for name in chosen[offset:after]]
        listing = Listing(files=files, more=len(chosen) - after)
        if listing["more"]:
            listing["next_offset"] = after
        return listing

    def shown(self, names: Sequence[str], offset: int, limit: int) -> Listing:
        """Return a listing with no more files than there is room for."""
        found = self.listing(names, offset, limit)
        files, left, count = found["files"], MOST_SHOWN, 0
        while count < len(files) and (left := left - len(json.dumps(asdict(files[count]))) - 2) >= 0:
            count += 1
        return found if count == len(files) else self.listing(names, offset, count)

    def read(self, name: str, offset: int, limit: int) -> Page:
        """Return a page of a text."""
        self._check_file(name)
        try:
            with self._folder.reading(name) as bytes_, io.TextIOWrapper(bytes_, encoding="utf-8", newline="") as file:
                left = offset
                while left and (skipped := file.read(min(left, BLOCK))):
                    left -= len(skipped)
                text = file.read(limit + 1)
        except UnicodeDecodeError as error:
            raise _no_text(name) from error
        if len(text) <= limit:
            return Page(text=text, offset=offset)
        after = offset + limit
        return Page(text=text[:limit], offset=offset, next_offset=after, left=self._length(name) - after)

    def _length(self, name: str) -> int:
        """Return the number of characters of a text; bytes outside of UTF-8 count as one each."""
        with self._folder.reading(name) as bytes_:
            file = io.TextIOWrapper(bytes_, encoding="utf-8", errors="replace", newline="")
            with file:
                return sum(map(len, iter(lambda: file.read(BLOCK), "")))

    def texts(self, name: str) -> tuple[list[tuple[str, str]], bool]:
        """Return the texts of a file or below a folder, and whether these are all of them."""
        inside, found, left = self._folder.inside(name or "."), list[tuple[str, str]](), MOST_SEARCHED
        names = [one for one, _ in self._listed(()) if inside in (".", one) or one.startswith(f"{inside}/")]
        if not names and inside != ".":
            self._check_file(inside)
        for one in sorted(names):
            with self._folder.reading(one) as file:
                data = file.read(left + 1)
            if b"\0" in data[:BLOCK]:
                continue
            if len(data) > left:
                return found, False
            left -= len(data)
            found.append((one, data.decode("utf-8", "replace")))
        return found, True

    def diff(self, name: str, other: str, snapshot: str) -> Compared:
        """Return the difference of a file to another, to a snapshot, or to its content before."""
        before: bytes | None
        if other:
            before = self._bytes(other)
        elif snapshot:
            saved = self._history.saved(snapshot).get(name)
            before = None if saved is None else self._history.content(saved)
        else:
            before = self._history.before(name)
        after = self._bytes(name) if self._folder.is_file(name) or other else None
        old, new = ([] if one is None else _text(one, name).splitlines() for one in (before, after))
        heads = (NOWHERE if before is None else f"a/{other or name}", NOWHERE if after is None else f"b/{name}")
        text = "\n".join(unified_diff(old, new, *heads))
        return Compared(diff=text[:MOST_SHOWN], more=len(text) > MOST_SHOWN)

    def write(self, name: str, data: bytes, replace: bool) -> Written:
        """Write a file; equal content needs no change."""
        name, found = self._folder.inside(name), self._folder.status(name)
        if found is not None and stat.S_ISDIR(found.st_mode):
            raise ToolError(f"{name[:100]!r} is a folder.", fix="name a file.")
        written = Written(name=name, size=len(data), type=_type(name))
        if self._holds(name, data):
            return written
        if found is not None and not replace:
            raise ToolError(f"{name[:100]!r} exists.", fix="choose another name, or set replace.")
        if found is not None and stat.S_ISREG(found.st_mode):
            written["was"] = f"{self._measured(name, found.st_size)}; now {_measured(data)}"
        self._change("write", {name: data}, new=not replace)
        return written

    def _measured(self, name: str, size: int) -> str:
        """Return the size of a file, with its lines if it is no longer than a text may be."""
        return _measured(self._bytes(name)) if size <= MOST_TEXT else f"{size} bytes"

    def append(self, name: str, data: bytes) -> File:
        """Add to a file."""
        name, before = self._folder.inside(name), self._folder.status(name)
        if before is None:
            self._change("append", {name: data}, new=True)
            return _described(name, len(data))
        self._check_file(name)
        if before.st_size + len(data) > MOST_FILE:
            raise ToolError(f"{name[:100]!r} would grow beyond {MOST_FILE} bytes.", fix="begin another file.")
        self._check_room(len(data), 0)
        digest, after = self._history.extended(name, data)
        change = Change(name=name, before=digest, after=after, size=before.st_size)
        self._history.record("append", [change], lambda: self._folder.append(name, data))
        return _described(name, before.st_size + len(data))

    def exchange(self, name: str, old: str, new: str) -> File:
        """Replace a passage."""
        name = self._folder.inside(name)
        text = _text(self._bytes(name), name)
        count = text.count(old) if old else 0
        if count == 0:
            raise _no_passage(name, old, text)
        if count > 1:
            problem = f"The passage stands {count} times in {name[:80]!r}."
            raise ToolError(problem, fix="give more of the lines around it.")
        data = encoded(text.replace(old, new))
        if self._bytes(name) != data:
            self._change("replace", {name: data})
        return _described(name, len(data))

    def patch(self, patches: Sequence[FilePatch]) -> list[File]:
        """Apply patches to their files."""
        results = dict[str, bytes | None]()
        for one in patches:
            old, new = (name if name == NOWHERE else self._folder.inside(name) for name in (one.old, one.new))
            if old in results or new in results:
                raise ToolError(f"The diff changes {new[:80]!r} twice.", fix="join its hunks.")
            if new not in (NOWHERE, old) and self._folder.status(new) is not None:
                raise ToolError(f"{new[:100]!r} exists.", fix="give a diff of its lines.")
            text = "" if old == NOWHERE else _text(self._bytes(old), old)
            changed = apply(text, one)
            if old not in (NOWHERE, new):
                results[old] = None
            if new != NOWHERE:
                results[new] = encoded(changed)
            elif changed:
                raise ToolError(f"The diff leaves lines in {old[:80]!r}.", fix="take all of its lines away.")
        self._change("patch", results)
        return [_described(name, len(data)) for name, data in results.items() if data is not None]

    def move(self, name: str, new: str) -> str:
        """Rename a file or folder."""
        if Path(self._folder.root, name).is_symlink():
            raise _link(name)
        name, new = self._folder.inside(name), self._folder.inside(new)
        if self._folder.status(name) is None:
            raise ToolError(f"There is no file {name[:100]!r}.", fix="list the files.")
        if self._folder.status(new) is not None:
            raise ToolError(f"{new[:100]!r} exists.", fix="choose another name, or delete it first.")
        if f"{new}/".startswith(f"{name}/"):
            raise ToolError(f"{new[:100]!r} is inside of what is moved.", fix="choose another name.")
        digest = self._history.digest(name)
        change = Change(name=new, before=digest, after=digest, moved=name)
        self._history.record("move", [change], lambda: self._folder.move(name, new))
        return new

    def delete_link(self, name: str) -> bool:
        """Delete a link itself, and return whether there was one."""
        target = self._folder.link_target(name)
        if target is None:
            return False
        folder, _, last = name.rstrip("/").rpartition("/")
        change = Change(name=posixpath.normpath(f"{self._folder.inside(folder or '.')}/{last}"), link=target)
        self._history.record("delete", [change], lambda: self._remove_link(name))
        return True

    def _remove_link(self, name: str) -> None:
        if not self._folder.remove_link(name):
            raise ToolError(f"{name[:100]!r} is no longer a link.", fix="list the files.")

    def delete(self, name: str) -> File:
        """Delete a file."""
        name = self._folder.inside(name)
        self._check_file(name)
        found = self._folder.status(name)
        self._change("delete", {name: None})
        return _described(name, found.st_size if found else 0)

    def undo(self) -> TakenBack:
        """Take the last change back."""
        act, names = self._history.undo()
        return TakenBack(action=act, files=names)

    def save(self, name: str) -> Saved:
        """Keep all files."""
        return Saved(name=name, files=len(self._history.save(name)))

    def restore(self, name: str) -> Restored:
        """Bring all files back."""
        return Restored(changed=self._history.restore(name))

    def _change(self, act: str, results: dict[str, bytes | None], *, new: bool = False) -> None:
        """Write and remove files as one change."""
        before = {name: self._history.digest(name) for name in results}
        grown = [len(data) for name, data in results.items() if data is not None and before[name] is None]
        self._check_room(sum(len(data or b"") for data in results.values()), len(grown))
        changes = [Change(name=name, before=before[name], after=_digest(data)) for name, data in results.items()]

        def change() -> None:
            for name, data in results.items():
                if data is not None:
                    self._folder.write(name, data, replace=not new)
            for name, data in results.items():
                if data is None:
                    self._folder.remove(name)

        try:
            self._history.record(act, changes, change)
        except FileExistsError as error:
            raise ToolError("A file of that name exists.", fix="choose another name, or set replace.") from error

    def _check_room(self, size: int, files: int) -> None:
        """Refuse to make a run's own workspace too large."""
        if not self._bounded:
            return
        sizes = [status.st_size for _, status in self._folder.files(hidden=True)]
        if files and len(sizes) + files > MOST_FILES:
            raise ToolError(f"The workspace holds {MOST_FILES} files already.", fix="delete some of them.")
        if sum(sizes) + size > MOST_BYTES:
            raise ToolError(f"The workspace would hold more than {MOST_BYTES:,} bytes.", fix="delete some files.")

    def _listed(self, names: Sequence[str]) -> Iterator[tuple[str, os.stat_result]]:
        if not names:
            yield from islice(self._folder.files(), MOST_VISITED)
            return
        for name in names:
            found = self._folder.status(name)
            if found is not None and stat.S_ISREG(found.st_mode):
                yield name, found

    def _holds(self, name: str, data: bytes) -> bool:
        """Tell whether the file has the content a repeated call wrote already."""
        found = self._folder.status(name)
        return found is not None and found.st_size == len(data) and self._history.digest(name) == _digest(data)

    def _bytes(self, name: str) -> bytes:
        self._check_file(name)
        with self._folder.reading(name) as file:
            data = file.read(MOST_TEXT + 1)
        if len(data) > MOST_TEXT:
            raise ToolError(
                f"{name[:100]!r} is larger than {MOST_TEXT} bytes.", fix="use code for a file of that size."
            )
        return data

    def _check_file(self, name: str) -> None:
        found = self._folder.status(name)
        if found is None:
            raise ToolError(f"There is no file {name[:100]!r}.", fix="list the files.")
        if not stat.S_ISREG(found.st_mode):
            raise ToolError(f"{name[:100]!r} is not an ordinary file.", fix="name a file, not a folder or device.")


def _described(name: str, size: int) -> File:
    return File(name=name, size=size, type=_type(name))


def _type(name: str) -> str:
    return _BY_ENDING.get(Path(name).suffix.lower()[1:], "other")


def _measured(data: bytes) -> str:
    """Return the size of a file's content, with its lines if it is a text."""
    lines = data.count(b"\n") + (data != b"" and not data.endswith(b"\n"))
    return ", ".join([_many(len(data), "byte"), *([] if b"\0" in data else [_many(lines, "line")])])


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _no_text(name) from error


def _no_text(name: str) -> ToolError:
    return ToolError(f"{name[:100]!r} is not UTF-8 text.", fix="read it with a tool for its type.")


def _no_passage(name: str, old: str, text: str) -> ToolError:
    """Return the error for a missing passage, with the line most like its first one."""
    first = next((line for line in old.splitlines() if line.strip()), "")
    begun = [line[:MOST_LIKE] for line in text.splitlines()[:2_000]]
    near = difflib.get_close_matches(first[:MOST_LIKE], begun, n=1) if first else []
    fix = f"the nearest line is {near[0]!r}." if near else "read the file, and copy the passage exactly."
    return ToolError(f"The passage does not stand in {name[:80]!r}; nothing was changed.", fix=fix)


def _link(name: str) -> ToolError:
    return ToolError(f"{name[:100]!r} is a link.", fix="name the file itself.")


def _digest(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()


def encoded(text: str) -> bytes:
    """Return a text as UTF-8.

    Raises:
        ToolError: It is too long, or no UTF-8.
    """
    if len(text) > MOST_TEXT:
        raise ToolError(f"The text is longer than {MOST_TEXT} characters.", fix="append it in parts.")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ToolError("The text holds half a character.", fix="send complete characters.") from error
