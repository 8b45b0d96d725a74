"""The files of a workspace: their listing, and the nearest match for a missing name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path, PurePath

from tea.errors import ToolError

MOST_VISITED = 20_000
_MOST_TOLD = 10
_LONGEST = 4_096  # characters of a path
_LEAST = 3
_TYPOGRAPHIC = ("\N{LEFT DOUBLE QUOTATION MARK}", "\N{RIGHT DOUBLE QUOTATION MARK}")


def files_in(root: str | Path) -> Iterator[tuple[str, Path]]:
    """Yield names and paths of a folder's regular files, folder by folder, without hidden ones and links leading out.

    Args:
        root: The folder, of which at most 20,000 files are looked at.
    """
    inside, visited = Path(root).resolve(), 0
    for folder, folders, names in os.walk(inside):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            visited += 1
            path = Path(folder, name)
            if visited > MOST_VISITED:
                return
            if not name.startswith(".") and _is_file_within(inside, path):
                yield path.relative_to(inside).as_posix(), path


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the known name nearest to another, None if none is near.

    Case, and what is neither letter nor digit, count for nothing; a name that holds all words of the other is near.

    Args:
        name: Any words.
        names: The names there are, the first of which is taken where several are equally near.
    """
    folded = dict[str, str]()
    for one in names:
        folded.setdefault(_folded(one), one)
    wanted = _folded(name)
    if not wanted:
        return None
    if wanted in folded:
        return folded[wanted]
    holding = [one for one in folded if _holds(one, wanted) or _holds(wanted, one)]
    found = holding or get_close_matches(wanted, folded, n=1)
    return folded[min(found, key=lambda one: abs(len(one) - len(wanted)))] if found else None


def named_file(name: str, names: Iterable[str]) -> str:
    """Return the file meant by a name, also without its folder, its ending or its case; empty for none or several.

    Args:
        name: What was named.
        names: The files there are.
    """
    known, wanted = list(names), name.strip().casefold()
    if name in known:
        return name
    for form in (str.casefold, _base, _stem):
        found = [one for one in known if form(one) in (wanted, _base(wanted))]
        if len(found) == 1:
            return found[0]
    return ""


def missing_file(root: str | Path, name: str, *, corpus: bool = False) -> ToolError:
    """Return the error for a missing file of a workspace, with the nearest name or the existing ones.

    Args:
        root: The workspace.
        name: What was named.
        corpus: Whether it could be a document of a corpus.
    """
    names = [known for known, _ in files_in(root)]
    near = _near_file(name, names) or _nearest_by_file_name(name, names)
    told = ", ".join(quoted_name(one[:100]) for one in names[:_MOST_TOLD])
    more = f" and {len(names) - _MOST_TOLD} more" if len(names) > _MOST_TOLD else ""
    fix = (
        f"did you mean {quoted_name(near)}?"
        if near
        else f"there are {told}{more}."
        if names
        else "the workspace holds no file."
    )
    if corpus and near is None:
        fix = f"{fix} A local document of the corpus is found with `web_search`."
    return ToolError(f"There is no file {quoted_name(name[:100])}.", fix=fix)


def quoted_name(name: str) -> str:
    """Return a file's name in quotes, in typographic ones if it holds both others: no backslash is added to it.

    Backticks stand around commands of tea's own.
    """
    found = repr(name)
    plain = found[1:-1] == name or not name.isprintable() or any(one in name for one in _TYPOGRAPHIC)
    return found if plain else name.join(_TYPOGRAPHIC)


def _near_file(name: str, names: Sequence[str]) -> str | None:
    """Return the file nearest to a name; an extension common to both does not count."""
    near, ending = nearest(name, names), PurePath(name).suffix
    if near is None or not ending or PurePath(near).suffix != ending:
        return near
    stem = near.removesuffix(ending)
    return near if nearest(name.removesuffix(ending), [stem]) else None


def existing_file(path_of: Callable[[str], Path], root: str | Path, name: str, *, corpus: bool = False) -> Path:
    """Return the path of an existing file.

    Args:
        path_of: Gives the path of a name in the workspace.
        root: The workspace.
        name: What was named.
        corpus: Whether it could be a document of a corpus.

    Raises:
        ToolError: There is none of that name, no copy of a file called by it, or it leads out of the workspace; the
            nearest is told.
    """
    copy, problem = copied_name(root, name), None
    try:
        path = path_of(name)
    except ToolError as error:
        path, problem = Path(root), error.problem
    if path.is_file():
        return path
    if copy is not None:
        return path_of(copy)
    if problem is not None:
        raise ToolError(problem, fix=missing_file(root, name).fix)
    raise _no_file(path, root, name) or missing_file(root, name, corpus=corpus)


def _no_file(path: Path, root: str | Path, name: str) -> ToolError | None:
    """Return the error for anything but a regular file, None for nothing there."""
    if path.is_dir():
        prefix = f"{name.strip('/')}/"
        held = [one for one, _ in files_in(root) if one.startswith(prefix)][:_MOST_TOLD]
        fix = f"name a file of it, such as {', '.join(map(quoted_name, held))}." if held else "name a file."
        return ToolError(f"{quoted_name(name[:100])} is a folder.", fix=fix)
    if path.exists():
        return ToolError(f"{name[:100]!r} is a pipe, socket or device, which is not read.", fix="name a regular file.")
    return None


def copied_name(root: str | Path, name: str) -> str | None:
    """Return the name of the workspace's copy of a file given by its path outside, None if there is no copy.

    Of `/data/2024/cities.csv` this is the first existing of `data/2024/cities.csv`, `2024/cities.csv`, `cities.csv`.

    Args:
        root: The workspace.
        name: A path, also of another system, or an address that begins with `file://`.
    """
    inside = Path(root).resolve()
    parts = [part for part in re.split(r"[/\\]+", name[:_LONGEST].removeprefix("file:")) if part not in ("", ".")]
    if "\0" in name or (parts and parts[-1] == ".."):
        return None
    for start in range(len(parts)):
        if ".." in parts[start:] or any(part.startswith(".") for part in parts[start:]):
            continue
        path = inside.joinpath(*parts[start:])
        if _is_file_within(inside, path):
            return "/".join(parts[start:])
    return None


def _is_file_within(folder: Path, path: Path) -> bool:
    """Return whether a path leads to a file within a folder; False if it cannot be examined."""
    try:
        return path.is_file() and path.resolve().is_relative_to(folder)
    except (OSError, RuntimeError):
        return False


def _nearest_by_file_name(name: str, names: Iterable[str]) -> str | None:
    """Return the known name nearest to another one, comparing file names without their folders."""
    parts = dict[str, str]()
    for one in names:
        parts.setdefault(one.rpartition("/")[2], one)
    near = _near_file(re.split(r"[/\\]", name)[-1], list(parts))
    return None if near is None else parts[near]


def _base(name: str) -> str:
    return name.casefold().rpartition("/")[2]


def _stem(name: str) -> str:
    base = _base(name)
    return base.rpartition(".")[0] or base


def _holds(words: str, others: str) -> bool:
    return len(others) >= _LEAST and {*others.split()} <= {*words.split()}


def _folded(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text[:1_000].casefold()))


def path_in(workspace: str, name: str) -> Path:
    """Return the absolute path of a file inside a workspace.

    Raises:
        ToolError: The name leads out of the workspace.
    """
    root = Path(workspace)
    try:
        path = (root / name).resolve()
        inside = path.is_relative_to(root.resolve())
    except (OSError, ValueError, RuntimeError):
        inside, path = False, root
    if not inside:
        raise ToolError(f"{name[:100]!r} is outside of the workspace.", fix="name a file inside it.")
    return path
