"""Trust: the sources allowed to run, and those allowed to leave the workspace, by digest, outside any registry."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from urllib.parse import quote, unquote

from tea.errors import BadInput, Quarantined, StorageError
from tea.refs import Ref
from tea.store.access import foreign_path, read_own
from tea.store.files import open_regular
from tea.store.scratch import PRIVATE_FILE, make_private
from tea.store.strict import Refused

_LIMIT = 2**26  # bytes of a list

Stamp = tuple[int, int, int]


class Trust:
    """The operator's list of trusted digests, shared by every process of this account.

    A digest proves integrity, never authorship: a person grants it, and save and load never carry it.

    Args:
        folder: Where the list is kept; `TEA_STATE`, else the account's state folder, by default.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._list = _List(folder, "trusted")
        self.told = Told(folder)
        self.adopted = Adopted(folder)
        self.path = self._list.path
        self._shipped: set[str] = set()

    def ship(self, digests: Iterable[str]) -> None:
        """Trust the digests installed with tea or with an installed package, for this process."""
        self._shipped.update(digests)

    def __call__(self, digest: str) -> bool:
        """Return whether source with the given digest may run in process."""
        return digest in self._shipped or digest in self._list.read()

    def digests(self) -> Set[str]:
        """Return all digests of source allowed to run in process, as of now."""
        return self._shipped | self._list.read()

    def stamp(self) -> object:
        """Return a mark of the list of trust, equal as long as nothing is added."""
        return len(self._shipped), self._list.stamp()

    def grant(self, digest: str, what: str) -> None:
        """Trust a digest from now on, with a description of its source for people."""
        self._list.add(digest, what)


class Adopted:
    """The tested generated tools of this account: offered to models, and still run in the sandbox.

    What a bundle or a version file says of its origin is its sender's word, so this list alone counts.

    Args:
        folder: Where the list is kept; `TEA_STATE`, else the account's state folder, by default.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._list = _List(folder, "adopted")

    def __call__(self, digest: str) -> bool:
        """Return whether a digest was adopted."""
        return digest in self._list.read()

    def digests(self) -> Set[str]:
        """Return all adopted digests, as of now."""
        return self._list.read()

    def grant(self, digest: str, what: str) -> None:
        """Record a digest from now on, with a description of its source for people."""
        self._list.add(digest, what)


class Consents:
    """The versions with a person's consent to effects beyond the workspace, shared by every process of this account.

    Args:
        folder: Where the list is kept; `TEA_STATE`, else the account's state folder, by default.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._list = _List(folder, "consented")

    def __call__(self, version: str) -> bool:
        """Return whether a person consented to a version, `digest/effects`."""
        return version in self._list.read()

    def grant(self, version: str, what: str) -> None:
        """Record consent from now on, with a description of the operation for people."""
        self._list.add(version, what)


class GrantedHomes:
    """The homes allowed by a person to send keys elsewhere, by digest and place, for all of this account.

    Args:
        folder: Where the list is kept; `TEA_STATE`, else the account's state folder, by default.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._list = _List(folder, "homes")

    def __call__(self, digest: str, home: Path) -> bool:
        """Return whether a person granted a digest to the home at a place."""
        return bool(digest) and _at_home(digest, home) in self._list.read()

    def grant(self, digest: str, home: Path) -> None:
        """Grant a digest to one home from now on; its place is recorded for people, in ASCII and on one line."""
        self._list.add(_at_home(digest, home), str(home.resolve()).encode("unicode_escape").decode("ascii"))


def _at_home(digest: str, home: Path) -> str:
    """Return the entry of a grant: no other home has it, though its settings were the same."""
    place = sha256(os.fsencode(home.resolve())).hexdigest()
    return "sha256:" + sha256(f"{digest}@{place}".encode()).hexdigest()


class AllowedDestinations:
    """The destinations allowed for good by a person, each to one version, for all of this account.

    Args:
        folder: Where the list is kept; `TEA_STATE`, else the account's state folder, by default.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._list = _List(folder, "allowed")

    def __call__(self, digest: str, destinations: Sequence[str]) -> bool:
        """Return whether a version, by its digest, may send to all of some destinations."""
        known = self._list.read()
        return bool(digest) and all(_allowance(digest, one) in known for one in destinations)

    def grant(self, digest: str, ref: str, destinations: Sequence[str]) -> None:
        """Allow destinations to a version from now on; the ref is recorded for people."""
        for one in destinations:
            self._list.add(_allowance(digest, one), ref)

    def list(self) -> list[tuple[str, str, str]]:
        """Return the permissions: an id, the operation and the destination of each, in order."""
        found = list[tuple[str, str, str]]()
        for entry, ref in self._list.lines().items():
            found.append((_short(entry), ref, unquote(entry.partition(">")[2])))
        return found

    def revoke(self, id: str) -> bool:
        """Withdraw the permission with an id, and return whether there was one."""
        entries = [one for one in self._list.lines() if _short(one) == id]
        self._list.remove(entries)
        return bool(entries)


def _allowance(digest: str, destination: str) -> str:
    return f"{digest}>{quote(destination, safe='')}"


def _short(entry: str) -> str:
    return sha256(entry.encode()).hexdigest()[:12]


class Told:
    """The manifests made or compared with their source by this account: `digest/digest of words`.

    Args:
        folder: Where the list is kept; `TEA_STATE`, else the account's state folder, by default.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._list = _List(folder, "told")

    def __call__(self, entry: str) -> bool:
        """Return whether a manifest is recorded as agreeing with its source."""
        return entry in self._list.read()

    def entries(self) -> Set[str]:
        """Return all recorded entries, as of now."""
        return self._list.read()

    def grant(self, entry: str, what: str) -> None:
        """Record a manifest from now on; an entry lost in a crash is determined again."""
        self._list.add(entry, what, durable=False)


class _List:
    """A list of the operator's: a line for each entry, without spaces, followed by its description in words."""

    def __init__(self, folder: Path | None, name: str) -> None:
        self.path = (folder or state_folder()) / name
        self._name = str(self.path)
        self._granted = _Entries()

    def add(self, digest: str, what: str, *, durable: bool = True) -> None:
        """Write a new entry."""
        if digest in self.read():
            return
        try:
            make_private(self.path.parent)
            with _locked(self._place()) as handle:
                known, before = self._granted, _stamp(os.fstat(handle))
                line = (b"" if known.data.endswith(b"\n") else b"\n") + f"{digest} {what}\n".encode()
                os.write(handle, line)
                if durable:
                    os.fsync(handle)
                self._granted = known.grown(line, digest, before, _stamp(os.fstat(handle)))
        except OSError as error:
            problem = f"The operator's list {str(self.path)!r} cannot be written: {error.strerror}."
            raise StorageError(problem, fix="set TEA_STATE to a folder you may write.") from error
        except Refused as reason:
            raise self._unusable("written", reason) from reason

    def read(self) -> set[str]:
        """Return all entries, as of now."""
        known = self._granted
        try:
            stamp = _stamp(os.stat(self._name))
            if stamp != known.stamp:
                known = self._granted = known.followed(read_own(self._place(), _LIMIT), stamp)
        except FileNotFoundError:
            known = self._granted = _Entries()
        except OSError as error:
            problem = f"The operator's list {str(self.path)!r} cannot be read: {error.strerror}."
            raise StorageError(problem, fix="set TEA_STATE to a folder you may read.") from error
        except Refused as reason:
            raise self._unusable("read", reason) from reason
        return known.digests

    def stamp(self) -> Stamp:
        """Return a mark of the file, as of now."""
        self.read()
        return self._granted.stamp

    def lines(self) -> dict[str, str]:
        """Return all entries with their descriptions, in their order."""
        if not self.read():
            return {}
        parts = [line.partition(" ") for line in self._granted.data.decode("utf-8", "replace").splitlines() if line]
        return {entry: what for entry, _, what in parts}

    def remove(self, entries: Iterable[str]) -> None:
        """Write the list without some entries."""
        gone = set(entries)
        if not gone:
            return
        place = self._place()
        try:
            with _locked(place):
                kept = "".join(f"{entry} {what}\n" for entry, what in self.lines().items() if entry not in gone)
                with NamedTemporaryFile(dir=place.parent, delete=False) as written:  # it is the account's alone
                    written.write(kept.encode())
                    written.flush()
                    os.fsync(written.fileno())
                os.replace(written.name, place)
        except OSError as error:
            problem = f"The operator's list {str(self.path)!r} cannot be written: {error.strerror}."
            raise StorageError(problem, fix="set TEA_STATE to a folder you may write.") from error
        except Refused as reason:
            raise self._unusable("written", reason) from reason

    def _place(self) -> Path:
        """Return the list's location: a person may keep it elsewhere, behind a link."""
        return self.path.resolve()

    def _unusable(self, verb: str, reason: Refused) -> StorageError:
        problem = f"The operator's list {str(self.path)!r} cannot be {verb}: {reason}."
        return StorageError(problem, fix="put a regular file back, or set TEA_STATE to another folder.")


@dataclass(frozen=True, slots=True)
class _Entries:
    """The entries of the list, as of one look at the file; if it only grew, only the new lines are read."""

    stamp: Stamp = (0, 0, 0)
    data: bytearray = field(default_factory=lambda: bytearray(b"\n"))
    digests: set[str] = field(default_factory=set[str])

    def grown(self, line: bytes, digest: str, before: Stamp, after: Stamp) -> _Entries:
        """Return the entries with a line of our own, if there were no other writes; else the file is read again."""
        (inode, size, _), (inode_after, size_after, _) = before, after
        if before != self.stamp or (inode_after, size_after) != (inode, size + len(line)):
            return self
        self.data.extend(line)
        self.digests.add(digest)
        return _Entries(after, self.data, self.digests)

    def followed(self, data: bytes, stamp: Stamp) -> _Entries:
        """Return the current entries of the list."""
        grew = self.data.endswith(b"\n") and data.startswith(self.data)
        lines = data[len(self.data) if grew else 0 :].decode("utf-8", "replace").splitlines()
        digests = self.digests if grew else set[str]()
        digests.update(line.partition(" ")[0] for line in lines)
        return _Entries(stamp, bytearray(data), digests)


@contextmanager
def _locked(place: Path) -> Generator[int]:
    """Open a list for one writer at a time: the file that is in its place once the lock is held."""
    import fcntl  # not there where untrusted code is described without a kernel, and nothing is granted

    while True:
        handle = open_regular(place, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE_FILE)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(handle), os.stat(place)):
                yield handle
                return
        finally:
            os.close(handle)


def _stamp(facts: os.stat_result) -> Stamp:
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def untrusted(ref: Ref, named: Ref | None = None) -> Quarantined:
    """Return the error for the use of untrusted source; `named` is its name for a person, if different."""
    fix = f"read its source, then grant it with `tea trust {named or ref}`."
    return Quarantined(f"{ref} is not trusted, so it is not used.", fix=fix)


def require_own_state(folder: Path) -> None:
    """Refuse a state folder controlled by accounts other than this one and root, also by a folder above it.

    Whoever may write one of them can put any file of this account in the place of a list, also behind a link.

    Raises:
        StorageError: It is refused, or cannot be looked at.
    """
    try:
        reason = foreign_path(folder)
    except OSError as error:
        reason = f"it cannot be looked at ({error.strerror})"
    if reason:
        problem = f"The operator's state in {str(folder)[-100:]!r} is not used: {reason}."
        raise StorageError(
            problem, fix="make it yours with chown and `chmod go-w`, or set TEA_STATE to another folder."
        )


def state_folder() -> Path:
    """Return the folder for the operator's own state: `TEA_STATE`, `XDG_STATE_HOME/tea`, or the usual one.

    As the XDG specification asks, a relative `XDG_STATE_HOME` does not count.

    Raises:
        BadInput: `TEA_STATE` is relative, so that it would name a folder of whatever project this is started in.
    """
    if chosen := os.environ.get("TEA_STATE"):
        if not Path(chosen).is_absolute():
            raise BadInput(f"TEA_STATE={chosen[:80]!r} is a relative path.", fix="set it to an absolute path.")
        return Path(chosen)
    base = Path(os.environ.get("XDG_STATE_HOME", ""))
    if base.is_absolute():
        return base / "tea"
    return Path.home() / ".local" / "state" / "tea"
