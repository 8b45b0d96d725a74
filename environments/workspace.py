"""The files of a run: listing, reading, finding, changing and taking back, inside one folder."""

import asyncio
import fcntl
import os
import re
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from tea import Context, Environment, RootedFolder, ToolError, action, copied_name

from ._workspace.files import (
    MOST_LISTED,
    MOST_SHOWN,
    Compared,
    File,
    Files,
    Found,
    Listing,
    Page,
    Restored,
    Saved,
    TakenBack,
    Written,
    encoded,
)
from ._workspace.finding import MOST_PATTERN, by_pattern, literal
from ._workspace.history import History
from ._workspace.patching import MOST_DIFF, NOWHERE, FilePatch, read_diff

P = ParamSpec("P")
T = TypeVar("T")
MOST_NAME = 1_000
MOST_PART = 255
STATE_FILES = 100
MOST_MATCHES = 50


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

    def __init__(self) -> None:
        self._aside: dict[str, tempfile.TemporaryDirectory[str]] = {}

    async def teardown(self) -> None:
        """Forget the changes made outside of any run and any session with a name."""
        for folder in self._aside.values():
            await asyncio.to_thread(folder.cleanup)

    async def state(self, ctx: Context) -> Listing:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the first files with their sizes and types."""
        return await self._work(ctx, Files.listing, (), 0, STATE_FILES)

    @action(effects="reads", idempotent=True, network=False)
    async def list_files(self, ctx: Context, names: tuple[str, ...] = (), limit: int = 200, offset: int = 0) -> Listing:
        """List files with their sizes and types.

        Args:
            names: Only these.
            limit: Most files.
            offset: Files to skip.
        """
        if limit < 1 or offset < 0:
            raise ToolError(f"Out of range: limit {limit}, offset {offset}.", fix="ask for 1 file or more, from 0 on.")
        chosen = tuple(_name(ctx, name, odd=True) for name in names[:MOST_LISTED])
        listed = Files.listing if names else Files.shown
        return await self._work(ctx, listed, chosen, offset, min(limit, MOST_LISTED))

    @action(effects="reads", idempotent=True, network=False)
    async def read(self, ctx: Context, name: str, offset: int = 0, limit: int = MOST_SHOWN) -> Page:
        """Read a UTF-8 text, or a page of it.

        Args:
            name: File name.
            offset: Characters to skip.
            limit: Most characters.
        """
        if offset < 0 or limit < 1:
            raise ToolError(f"Out of range: offset {offset}, limit {limit}.", fix="give offset from 0, limit from 1.")
        return await self._work(ctx, Files.read, await _existing(ctx, name), offset, min(limit, MOST_SHOWN))

    @action(effects="reads", idempotent=True, network=False)
    async def find(self, ctx: Context, query: str, name: str = "", pattern: bool = False) -> Found:
        """Find lines of texts.

        Args:
            query: Text, in any case.
            name: Only this file or folder.
            pattern: It is a regular expression.
        """
        if not 0 < len(query) <= MOST_PATTERN:
            raise ToolError("The query is empty or too long.", fix=f"write 1 to {MOST_PATTERN} characters.")
        texts, whole = await self._work(ctx, Files.texts, _name(ctx, name) if name else "")
        found = (
            await by_pattern(query, texts, MOST_MATCHES)
            if pattern
            else await asyncio.to_thread(literal, query, texts, MOST_MATCHES)
        )
        return Found(matches=found[:MOST_MATCHES], more=len(found) > MOST_MATCHES or not whole)

    @action(effects="reads", idempotent=True, network=False)
    async def diff(self, ctx: Context, name: str, other: str = "", snapshot: str = "") -> Compared:
        """Compare a text with what its last change replaced.

        Args:
            name: File name.
            other: Or with this file.
            snapshot: Or with this snapshot.
        """
        old = _name(ctx, other) if other else ""
        return await self._work(ctx, Files.diff, _name(ctx, name), old, snapshot)

    @action(effects="writes", idempotent=True, network=False, after="the file holds exactly the text")
    async def write(self, ctx: Context, name: str, text: str, replace: bool = True) -> Written:
        """Write a whole text file, and the folders it needs.

        Args:
            name: File name.
            text: All it shall hold.
            replace: Replace an existing file.
        """
        return await self._work(ctx, Files.write, _name(ctx, name), encoded(text), replace)

    @action(effects="writes", network=False, after="the file ends with the text")
    async def append(self, ctx: Context, name: str, text: str) -> File:
        """Add text to the end of a file, or create it.

        Args:
            name: File name.
            text: What to add.
        """
        return await self._work(ctx, Files.append, _name(ctx, name), encoded(text))

    @action(effects="writes", network=False, before="the old text is in the file", after="the new text is")
    async def replace(self, ctx: Context, name: str, old: str, new: str) -> File:
        """Replace an exact passage of a text file.

        Args:
            name: File name.
            old: The passage, which stands there once.
            new: What takes its place.
        """
        return await self._work(ctx, Files.exchange, _name(ctx, name), old, new)

    @action(effects="writes", network=False, after="all files of the diff are changed, or none")
    async def patch(self, ctx: Context, diff: str) -> list[File]:
        """Apply a unified diff to text files, all of it or nothing.

        Args:
            diff: With `--- a/NAME`, `+++ b/NAME` (`/dev/null` for none) and hunks with context.
        """
        if len(diff) > MOST_DIFF:
            raise ToolError(f"The diff is longer than {MOST_DIFF} characters.", fix="apply it in parts.")
        return await self._work(ctx, Files.patch, [_mapped(ctx, one) for one in read_diff(diff)])

    @action(effects="writes", network=False, before="the file exists, the new name is free", after="it has that name")
    async def move(self, ctx: Context, name: str, new: str) -> str:
        """Rename a file or folder, and make the folders it needs.

        Args:
            name: What to move.
            new: Its new name, with folders.
        """
        return await self._work(ctx, Files.move, _name(ctx, name), _name(ctx, new))

    @action(effects="writes", network=False, before="the file exists", after="it does not")
    async def delete(self, ctx: Context, name: str) -> File:
        """Delete one file, never a folder; of a link the link itself.

        Args:
            name: File name.
        """
        if name.partition("/")[0] not in ("", ".tea") and await self._work(ctx, Files.delete_link, name):
            return File(name=name, size=0, type="link")
        own = copied_name(ctx.workspace, name) if _is_absolute(name) else None
        name = own or await _existing(ctx, name, copies=False)
        return await self._work(ctx, Files.delete, name)

    @action(effects="writes", network=False, after="the last change is taken back")
    async def undo(self, ctx: Context) -> TakenBack:
        """Take back the last change made here; again for the one before."""
        _check_session(ctx)
        return await self._work(ctx, Files.undo)

    @action(effects="writes", network=False, after="the files can be restored")
    async def save_snapshot(self, ctx: Context, name: str) -> Saved:
        """Keep all files as they are now, under a name.

        Args:
            name: Name of the snapshot.
        """
        _check_session(ctx)
        return await self._work(ctx, Files.save, name)

    @action(effects="writes", idempotent=True, network=False, after="the files are those of the snapshot")
    async def restore_snapshot(self, ctx: Context, name: str) -> Restored:
        """Bring all files back as they were; can be undone.

        Args:
            name: Name of the snapshot.
        """
        _check_session(ctx)
        return await self._work(ctx, Files.restore, name)

    async def _work(
        self, ctx: Context, function: Callable[Concatenate[Files, P], T], *arguments: P.args, **named: P.kwargs
    ) -> T:
        def work() -> T:
            with self._opened(ctx, kept) as files:
                return function(files, *arguments, **named)

        ctx.path("")
        looks = function in (Files.listing, Files.shown, Files.read, Files.texts)
        kept = None if looks else await ctx.session_folder(self.name)
        try:
            return await asyncio.to_thread(work)
        except OSError as error:
            words = error.strerror or type(error).__name__
            raise ToolError(
                f"The workspace cannot be changed: {words}.", fix="choose another name, or list the files."
            ) from error

    @contextmanager
    def _opened(self, ctx: Context, kept: Path | None) -> Generator[Files]:
        """Open the workspace, and the history of its changes: in a person's own folder nothing of it is left.

        Args:
            ctx: The context of the call.
            kept: Where a session with a name keeps it.
        """
        with RootedFolder(ctx.workspace) as folder:
            if folder.root != Path.cwd():
                yield Files(folder, History(folder, folder), bounded=True)
                return
            place = kept or self._passing(ctx.workspace)
            with _alone_in(place), RootedFolder(place) as history:
                yield Files(folder, History(folder, history), bounded=False)

    def _passing(self, workspace: str) -> Path:
        """Return the folder for the history in a session ending with its call."""
        found = self._aside.get(workspace)
        if found is None:
            found = tempfile.TemporaryDirectory(prefix="tea-", ignore_cleanup_errors=True)
            self._aside[workspace] = found
        return Path(found.name)


@contextmanager
def _alone_in(folder: Path) -> Generator[None]:
    """Wait until no other process or thread works on a history."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def _check_session(ctx: Context) -> None:
    """Refuse a call without a history shared with another.

    Raises:
        ToolError: It has a session of its own.
    """
    if not ctx.agent and ctx.session == ctx.run:
        problem = "This call has a session of its own, so there is no change and no snapshot of another call."
        raise ToolError(problem, fix="name one session in all calls: `tea call --session NAME`.")


def _name(ctx: Context, name: str, *, odd: bool = False) -> str:
    """Return a usable name; of a path elsewhere the name of its copy, if there is one.

    Args:
        ctx: Of the action.
        name: The name.
        odd: Whether it may hold what nothing is written under, as the name of a file from elsewhere does.
    """
    if any((ord(letter) < 32 and not odd) or 0xD800 <= ord(letter) < 0xE000 for letter in name):
        raise ToolError(f"{name[:60]!r} holds unprintable characters.", fix="use letters, digits, - _ . and /.")
    own = copied_name(ctx.workspace, name) if _is_absolute(name) else None
    if own is not None:
        return own
    if not 0 < len(name) <= MOST_NAME or any(len(part.encode()) > MOST_PART for part in name.split("/")):
        raise ToolError(f"{name[:60]!r} is not a usable name.", fix=f"1 to {MOST_NAME} characters, {MOST_PART} a part.")
    path = ctx.path(name)
    root = Path(ctx.workspace).resolve()
    if path == root:
        raise ToolError(f"{name[:60]!r} is the workspace itself.", fix="name a file inside it.")
    if ".tea" in path.relative_to(root).parts[:1]:
        raise ToolError(f"{name[:60]!r} belongs to the history of the workspace.", fix="choose another name.")
    return name


async def _existing(ctx: Context, name: str, *, copies: bool = True) -> str:
    """Return the name of an existing file; the error about anything else tells the nearest one."""
    try:
        usable = _name(ctx, name)
        if await asyncio.to_thread(ctx.path(usable).exists):
            return usable
    except ToolError:
        if not copies or copied_name(ctx.workspace, name) is None:
            raise
    found = await ctx.file(name)
    if not copies:
        raise ToolError(f"There is no file {name[:100]!r}.", fix=f"did you mean {found.name!r}?")
    return found.relative_to(ctx.path("")).as_posix()


def _is_absolute(name: str) -> bool:
    """Return whether a name is a path from a root, of this or another system."""
    return name.startswith(("/", "~", "\\\\", "file:")) or re.match(r"[A-Za-z]:[\\/]", name) is not None


def _mapped(ctx: Context, patch: FilePatch) -> FilePatch:
    """Return a patch with usable names."""
    old, new = (one if one == NOWHERE else _name(ctx, one) for one in (patch.old, patch.new))
    return FilePatch(old=old, new=new, hunks=patch.hunks)
