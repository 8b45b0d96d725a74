"""Archives: their content, and their files as a folder, archives inside of archives too, within limits."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import shutil
import stat
import subprocess
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePath
from typing import IO, Any

from tea.reading.inside.document import Order, Parsed, Unreadable
from tea.reading.inside.kinds import kind_of, packed_kind
from tea.reading.inside.parts import kept_part, part_name
from tea.reading.inside.unpacked import MOST_PARTS, Counter, opened_zip

MOST_BYTES = 200_000_000
MOST_FILES = 2_000
MOST_NESTED = 3
_MOST_LISTED = 1_000
_PROGRAMS = ("7zz", "7z", "7za")
_INSTALL = "install it: apt-get install 7zip (or p7zip-full)."
_SECONDS = 25.0
_MOST_LEFT_OUT = 10
_ENCRYPTED = ("is encrypted", "give a copy without a password.")
_DAMAGED = (
    zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError, ValueError,
    NotImplementedError, RuntimeError,
)  # fmt: skip


class _Folder:
    """The folder made of an archive."""

    def __init__(self, order: Order) -> None:
        self.order, self.counter = order, Counter(MOST_BYTES)
        self.files: list[dict[str, Any]] = []
        self.left_out: list[str] = []

    def add(self, name: str, read: Callable[[], bytes] | None, deep: int) -> None:
        """Add a file, with its content if it is an archive itself; anything else is left out."""
        if read is None:
            self.left_out.append(f"{name[:100]!r} (a link or device)")
            return
        wanted = part_name(name)
        if not wanted:
            self.left_out.append(f"{name[:100]!r} (leads out of its folder)")
            return
        if len(self.files) >= MOST_FILES:
            raise Unreadable(f"holds more than {MOST_FILES:,} files", "unpack the needed part by hand, and name that.")
        data = read()
        nested = kind_of(data[:600], wanted)
        if nested.family == "archive" and packed_kind_of(nested.name, data) is None:
            if deep < MOST_NESTED:
                self._nest(wanted, nested.name, data, deep)
                return
            self.left_out.append(f"what is in {wanted[:100]!r} (more than {MOST_NESTED} archives deep)")
        self.files.append(kept_part(self.order, wanted, data))

    def _nest(self, name: str, kind: str, data: bytes, deep: int) -> None:
        """Unpack an archive in an archive into a folder of its name; a damaged one stays a file."""
        inner = self.order.out / f".nested-{deep}"
        inner.write_bytes(data)
        before = len(self.files)
        try:
            for part, read in members(inner, kind, PurePath(name).name, self.counter):
                self.add(f"{name}.d/{part}", read, deep + 1)
        except (Unreadable, *_DAMAGED) as error:
            if self.counter.left < 0:
                raise
            if len(self.files) == before:
                self.files.append(kept_part(self.order, name, data))
            self.left_out.append(f"what is in {name[:100]!r} ({error})"[:300])
        finally:
            inner.unlink(missing_ok=True)


def packed_kind_of(name: str, data: bytes) -> object:
    """Return the further kind of a ZIP archive, None for a mere ZIP archive and for other archives."""
    return packed_kind(data) if name == "zip" else None


def parse_archive(order: Order, kind: str) -> Parsed:
    """Return the content of an archive; with `unpack` its files are written into the folder of parts.

    Raises:
        Unreadable: It is damaged, encrypted or a bomb.
    """
    folder = _Folder(order)
    try:
        if order.unpack:
            for name, read in members(order.path, kind, order.name, folder.counter):
                folder.add(name, read, 1)
        else:
            for name, read in members(order.path, kind, order.name, folder.counter):
                if read is not None:
                    folder.files.append({"name": name[:300], "bytes": len(read()) if read.size is None else read.size})
                if len(folder.files) > MOST_PARTS:
                    raise Unreadable(f"holds more than {MOST_PARTS:,} files", "unpack it by hand.")
    except _DAMAGED as error:
        raise Unreadable(f"is a damaged or encrypted archive: {error}"[:300], "check it, or get it again.") from error
    return _listed(kind, folder, order)


def _listed(kind: str, folder: _Folder, order: Order) -> Parsed:
    lines = [f"- {one['name']} ({one['bytes']:,} bytes)" for one in folder.files[:_MOST_LISTED]]
    if len(folder.files) > _MOST_LISTED:
        lines.append(f"- and {len(folder.files) - _MOST_LISTED:,} more")
    found = Parsed(kind=kind, text="\n".join(lines) or "(empty)", facts={"files": len(folder.files)})
    if folder.left_out:
        more = f"; and {len(folder.left_out) - _MOST_LEFT_OUT:,} more" if len(folder.left_out) > _MOST_LEFT_OUT else ""
        found.notes.append(f"Left out: {'; '.join(folder.left_out[:_MOST_LEFT_OUT])}{more}.")
    if not order.unpack:
        found.notes.append("Its files were not unpacked; `unpack` writes them into a folder of the workspace.")
    return found


class _Part:
    """A part of an archive: its bytes when called, and its size if known."""

    def __init__(self, read: Callable[[], bytes], size: int | None = None) -> None:
        self._read, self.size = read, size

    def __call__(self) -> bytes:
        return self._read()


def members(path: Path, kind: str, name: str, counter: Counter) -> Iterator[tuple[str, _Part | None]]:
    """Yield the files in an archive: name, and a callable for their counted bytes, None for a link or device.

    Args:
        path: The archive.
        kind: `zip`, `tar`, `gzip`, `bzip2`, `xz` or `7z`.
        name: Its name, by which a packed file without one is called.
        counter: Counts.
    """
    if kind == "zip":
        with opened_zip(path, MOST_BYTES) as archive:
            for one in archive.infolist():
                if stat.S_ISLNK(one.external_attr >> 16):
                    yield one.filename, None
                elif not one.is_dir():
                    yield one.filename, _Part(lambda one=one: counter.read(archive.open(one)), one.file_size)
    elif kind == "tar":
        with path.open("rb") as file:
            yield from _of_tar(file, counter)
    elif kind == "7z":
        yield from _of_7z(path, counter)
    else:
        yield from _of_stream(path, kind, name, counter)


def _of_stream(path: Path, kind: str, name: str, counter: Counter) -> Iterator[tuple[str, _Part | None]]:
    """Yield the file packed in a stream, or the files of the TAR archive in it."""
    streams: dict[str, Callable[[Path], Any]] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
    with streams[kind](path) as file:
        data = counter.read(file)
    if kind_of(data[:600]).name == "tar":
        yield from _of_tar(io.BytesIO(data), counter)
        return
    bare = PurePath(name)
    inner = bare.name.removesuffix(bare.suffix) if bare.suffix.lower() in (".gz", ".bz2", ".xz") else f"{bare.name}.out"
    yield inner or "content", _Part(lambda: data, len(data))


def _of_tar(file: IO[bytes], counter: Counter) -> Iterator[tuple[str, _Part | None]]:
    """Yield the files of a TAR archive."""
    with tarfile.open(fileobj=file, mode="r:") as archive:
        for number, one in enumerate(archive):
            if number >= MOST_PARTS:
                raise Unreadable(f"has more than {MOST_PARTS:,} parts", "unpack the needed part by hand.")
            stream = archive.extractfile(one) if one.isreg() else None
            if stream is None and not one.isdir():
                yield one.name, None
            elif stream is not None:
                yield one.name, _Part(lambda stream=stream: counter.read(stream), one.size)


def _of_7z(path: Path, counter: Counter) -> Iterator[tuple[str, _Part | None]]:
    """Yield the files of a 7Z archive, unpacked by the program of the system into a watched folder."""
    program = next((one for one in _PROGRAMS if shutil.which(one)), None)
    if program is None:
        raise Unreadable("needs the program 7z, which is not installed", _INSTALL)
    told = _ran([program, "l", "-slt", "-p", str(path)])
    if "Encrypted = +" in told:
        raise Unreadable(*_ENCRYPTED)
    sizes = [int(line.removeprefix("Size = ")) for line in told.splitlines() if line.startswith("Size = ") and line[7:]]
    if sum(sizes) > MOST_BYTES or len(sizes) > MOST_PARTS:
        raise Unreadable(f"unpacks to more than {MOST_BYTES // 1_000_000} MB", "unpack the needed part by hand.")
    target = path.parent / f".unpacked-{path.name[:40]}"
    try:
        _ran([program, "x", "-y", "-p", "-bd", f"-o{target}", str(path)])
        for folder, _, names in os.walk(target):
            for name in sorted(names):
                one = Path(folder, name)
                if one.is_symlink() or not one.is_file():
                    yield one.relative_to(target).as_posix(), None
                else:
                    with one.open("rb") as file:
                        data = counter.read(file)
                    yield one.relative_to(target).as_posix(), _Part(lambda data=data: data, len(data))
    finally:
        with suppress(OSError):
            shutil.rmtree(target)


def _ran(line: list[str]) -> str:
    try:
        done = subprocess.run(line, capture_output=True, check=False, timeout=_SECONDS, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as error:
        raise Unreadable("takes too long to unpack", "unpack the needed part by hand, and name that.") from error
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode:
        if "password" in (text + done.stderr.decode("utf-8", "replace")).lower():
            raise Unreadable(*_ENCRYPTED)
        raise Unreadable("is damaged, so 7z refuses it", "check the archive, or get it again.")
    return text
