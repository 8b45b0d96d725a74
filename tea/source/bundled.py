"""The locations of components: those shipped with tea, and those of installed packages."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

from tea.errors import StorageError
from tea.refs import Kind
from tea.source.text import MOST_BYTES, one_line, read_text, refusal

FOLDERS: dict[str, str] = {"agent": "agents", "environment": "environments", "tool": "tools", "prompt": "agents"}
GROUP = "tea.components"
SOLVERS = "offline"
_PACKAGE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPointRoots:
    """The component folders of installed packages.

    Args:
        roots: Folders with `agents`, `environments` and `tools` in them, by entry point.
        problems: What is wrong with those that were skipped, one line each.
    """

    roots: dict[str, Path]
    problems: tuple[str, ...]


def bundled_root() -> Path:
    """Return the folder of tea's own `agents`, `environments`, `tools` and `offline`.

    Raises:
        StorageError: They are neither inside the package nor beside it in a checkout.
    """
    inside, checkout = _PACKAGE / "_bundled", _PACKAGE.parent
    if inside.is_dir():
        return inside
    if (checkout / "pyproject.toml").is_file() and (checkout / "agents").is_dir():
        return checkout
    fix = f"install tea again: {Path(sys.executable).name} -m pip install --force-reinstall tea-protocol"
    raise StorageError("The components that ship with tea are missing.", fix=fix)


def bundled_roots() -> tuple[Path, ...]:
    """Return the folders with components of tea's own: the bundled ones, and the solvers in place of a model.

    Raises:
        StorageError: They are neither inside the package nor beside it in a checkout.
    """
    root = bundled_root()
    return root, root / SOLVERS


def bundled_files(kind: Kind, root: Path | None = None) -> list[Path]:
    """Return the component files of one kind: Python, or for prompts the Markdown beside the agents.

    Args:
        kind: `tool`, `environment`, `agent` or `prompt`; other kinds have no files.
        root: Where to look; tea's own by default.
    """
    if kind not in FOLDERS:
        return []
    suffix = "*.md" if kind == "prompt" else "*.py"
    folders = [one / FOLDERS[kind] for one in ((root,) if root else bundled_roots())]
    found = (path for folder in folders for path in folder.glob(suffix))
    return sorted(path for path in found if path.is_file() and path.name[0].isalpha())


def read_source(path: Path) -> tuple[str, dict[str, str]]:
    """Return a component file's text, and those of its helper folder `_<stem>/` beside it.

    Raises:
        StorageError: A file cannot be read.
        BadComponent: A file is too large or not UTF-8 text.
    """
    folder = path.parent / f"_{path.stem}"
    helpers = sorted(folder.rglob("*.py")) if path.suffix == ".py" and folder.is_dir() else []
    files = {helper.relative_to(path.parent).as_posix(): _text(helper) for helper in helpers}
    return _text(path), files


def entry_point_roots() -> EntryPointRoots:
    """Return the component folders of installed packages; an unresolvable one is reported and skipped."""
    roots: dict[str, Path] = {}
    problems: list[str] = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        folder = _folder(point)
        if folder is None or point.name in roots:
            why = "names no package folder" if folder is None else "is there twice"
            problems.append(one_line(f"The entry point {point.name!r} = {point.value!r} in {GROUP!r} {why}.", 300))
        else:
            roots[point.name] = folder
    return EntryPointRoots(roots=roots, problems=tuple(problems))


def _folder(point: EntryPoint) -> Path | None:
    """Find a package's folder; importing a dotted name's parents is foreign code, so it may raise anything."""
    try:
        spec = find_spec(point.value)
    except Exception:
        return None
    places = list(spec.submodule_search_locations or ()) if spec else []
    return next((Path(place) for place in places if Path(place).is_dir()), None)


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            raise StorageError(f"{path.name!r} is not a file.", fix="name a component's file.")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StorageError(f"{path.name!r} cannot be read: {reason}.", fix="check its permissions.") from error
    if len(data) > MOST_BYTES:
        raise refusal(f"{path.name!r} is larger than 1 MiB.", "write a smaller component.")
    return read_text(data, path.name)
