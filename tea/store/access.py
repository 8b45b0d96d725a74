"""Access: the other accounts with control of a file, or with permission to read it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tea.errors import Damaged
from tea.store.files import followed, open_regular, read_open
from tea.store.strict import Refused

_ROOT = 0
_OTHERS_READ = stat.S_IROTH | stat.S_IXOTH
_GROUP_READS = stat.S_IRGRP | stat.S_IXGRP
_KIND_AND_HANDS = 0o170000 | stat.S_IWGRP | stat.S_IWOTH
_RULES = "system.posix_acl_access"  # rules for named accounts, which the mode does not show


def foreign_hand(place: Path | int) -> str:
    """Return why accounts other than this one and root control the content of a file or folder; empty if none do.

    For root, an owner that has no account on this machine, as in a mounted folder of another, is nobody.

    Args:
        place: A path, whose links are followed, or the descriptor of an open file.

    Raises:
        OSError: It cannot be looked at.
    """
    facts = os.stat(place)
    if reason := _foreign_owner(facts.st_uid):
        return reason
    if facts.st_mode & stat.S_IWOTH:
        return "every account may write it"
    if facts.st_mode & stat.S_IWGRP and (_has_rules(place) or not _is_private(facts.st_gid)):
        return "its group has other members, and may write it"
    return ""


def foreign_path(folder: Path) -> str:
    """Return why accounts other than this one and root control a folder or its path; empty if none do.

    What is missing is not judged. In a folder with the sticky bit, such as `/tmp`, others than its owner cannot move
    what is not theirs.

    Raises:
        OSError: One of them cannot be looked at.
    """
    for one in dict.fromkeys((folder.absolute(), *folder.absolute().parents, *followed(folder).parents)):
        try:
            facts = os.stat(one)
            sticky = one != folder.absolute() and facts.st_mode & stat.S_ISVTX
            if reason := _foreign_owner(facts.st_uid) if sticky else foreign_hand(one):
                return reason if one == folder.absolute() else f"of {str(one)[-60:]!r} above it, {reason}"
        except FileNotFoundError:
            continue
    return ""


def require_own_folders(component: Path) -> None:
    """Raise Damaged if a component's folder is a link, or controlled by another account.

    Args:
        component: The folder of one name in a registry; what is missing is not judged.

    Raises:
        Damaged: The error names the folder.
        OSError: It cannot be looked at.
    """
    for folder in (component, component / "heads", component / "versions"):
        try:
            facts = os.lstat(folder)
        except FileNotFoundError:
            continue
        if facts.st_uid == os.geteuid() and facts.st_mode & _KIND_AND_HANDS == stat.S_IFDIR:
            continue
        reason = "it is a link" if stat.S_ISLNK(facts.st_mode) else foreign_hand(folder)
        if reason:
            problem = f"The folder {str(folder)[-100:]!r} is not used: {reason}."
            raise Damaged(problem, fix="put a folder of your own there, which no other account may write.")


def readable_by_others(path: Path) -> bool:
    """Return whether accounts other than this one and root may read a file, or enter or list a folder.

    Raises:
        OSError: It cannot be looked at.
    """
    facts = os.lstat(path)
    if stat.S_ISLNK(facts.st_mode):
        return False
    by_group = facts.st_mode & _GROUP_READS and (_has_rules(path) or not _is_private(facts.st_gid))
    return bool(facts.st_mode & _OTHERS_READ or by_group)


def exposed_runs(traces: Path) -> int:
    """Return the number of folders of runs, or of their memory, readable by other accounts; new ones are private.

    Args:
        traces: The folder of the journals; a missing one has none.
    """
    try:
        if not readable_by_others(traces):
            return 0
        with os.scandir(traces) as entries:
            return sum(readable_by_others(Path(one.path)) for one in entries if one.is_dir(follow_symlinks=False))
    except OSError:  # what cannot be looked at, other looks tell
        return 0


def require_own_run(*places: Path) -> None:
    """Raise Damaged for a run's folder or file controlled by another account.

    Raises:
        Damaged: The error names it.
        OSError: It cannot be looked at.
    """
    for place in places:
        if reason := foreign_hand(place):
            problem = f"The run at {str(place)[-100:]!r} does not go on: {reason}."
            raise Damaged(problem, fix="make it yours with chown and `chmod go-w` if it is, else run its task again.")


def foreign_runs(traces: Path) -> list[str]:
    """Return the names of folders of runs, or of their memory, controlled by accounts other than this one and root.

    Args:
        traces: The folder of the journals; a missing one has none.
    """
    try:
        with os.scandir(traces) as entries:
            folders = [one for one in entries if one.is_dir(follow_symlinks=False)]
        return sorted(one.name for one in folders if foreign_hand(Path(one.path)))
    except OSError:  # what cannot be looked at, other looks tell
        return []


def read_own(path: Path, limit: int, *, alone: bool = False) -> bytes:
    """Return the bytes of a regular file controlled only by this account and root.

    What is judged is the file that was opened, so none can be put in its place meanwhile.

    Args:
        path: The file.
        limit: Most bytes.
        alone: Whether it may have no other name, as a hard link leads elsewhere like any link.

    Raises:
        OSError: The system refuses.
        Refused: It is not a regular file, another account decides about it, or it is larger than `limit` bytes.
    """
    descriptor = open_regular(path)
    try:
        if reason := foreign_hand(descriptor):
            raise Refused(reason)
        if alone and os.fstat(descriptor).st_nlink > 1:
            raise Refused("it has another name, perhaps in another home (a hard link)")
        return read_open(descriptor, limit)
    finally:
        os.close(descriptor)


def _is_private(group: int) -> bool:
    """Return whether a group has no members but this account and root, as far as the machine lists its accounts."""
    import grp
    import pwd

    accounts = {one.pw_name: one for one in pwd.getpwall()}
    own = next((one for one in accounts.values() if one.pw_uid == os.geteuid()), None)
    try:
        found = grp.getgrgid(group)
    except KeyError:
        return False
    if own is None:  # accounts that a directory keeps are not listed, so nobody knows whose group it is
        return False
    members = {accounts[name].pw_uid if name in accounts else None for name in found.gr_mem}
    members |= {one.pw_uid for one in accounts.values() if one.pw_gid == group}
    return bool(members) and members <= {own.pw_uid, _ROOT}


def _foreign_owner(uid: int) -> str:
    """Return that a file belongs to another account than this one and root, empty if it does not."""
    own = os.geteuid()
    if uid in (own, _ROOT) or (own == _ROOT and _account(uid) is None):
        return ""
    return f"it belongs to the account {_account(uid) or uid}"


def _account(uid: int) -> str | None:
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def _has_rules(place: Path | int) -> bool:
    look = getattr(os, "getxattr", None)  # of Linux alone
    try:
        return look is not None and bool(look(place, _RULES))
    except OSError:
        return False
