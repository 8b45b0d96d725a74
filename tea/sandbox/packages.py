"""Packages: the files of this Python's installed distributions open to imports in a sandbox."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from tea.errors import BadInput
from tea.sandbox.settings import USUAL

_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_NOT_IMPORTED = {"__pycache__", "..", "bin"}


def declared(names: tuple[str, ...] | None) -> tuple[Path, ...]:
    """Return the files and folders of some distributions, and of the distributions needed by them.

    Args:
        names: Names of distributions; None for the usual ones that are installed.

    Raises:
        BadInput: One that was named is not installed.
    """
    found = dict[str, metadata.Distribution]()
    left = list(USUAL if names is None else names)
    needed = set(names or ())
    while left:
        name = left.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in found:
            continue
        try:
            one = metadata.distribution(name)
        except metadata.PackageNotFoundError as error:
            if name in needed:
                problem = f"{name[:60]!r} of 'packages' in [sandbox] of tea.toml is not installed."
                raise BadInput(problem, fix="install it beside tea, or leave it out.") from error
            continue
        found[key] = one
        left += _needs(one)
    return tuple(sorted({path for one in found.values() for path in _roots(one)}))


def importable(names: tuple[str, ...] | None) -> list[str]:
    """Return the import names of some distributions, as far as they are installed.

    Args:
        names: Names of distributions; None for the usual ones.
    """
    found = list[str]()
    for name in USUAL if names is None else names:
        try:
            tops = (metadata.distribution(name).read_text("top_level.txt") or name).split()
        except metadata.PackageNotFoundError:
            continue
        found += [top for top in tops if not top.startswith("_")] or [name.replace("-", "_")]
    return found


def _needs(one: metadata.Distribution) -> Iterator[str]:
    """Yield the names of a distribution's needs in any case, leaving out the needs of an extra alone."""
    for line in one.requires or ():
        if "extra ==" not in line and (name := _NAME.match(line)):
            yield name[1]


def _roots(one: metadata.Distribution) -> Iterable[Path]:
    """Return the outermost files and folders of a distribution."""
    lines = (one.read_text("RECORD") or "").splitlines()
    tops = {line.partition(",")[0].strip('"').partition("/")[0] for line in lines} - _NOT_IMPORTED - {""}
    folder = Path(str(one.locate_file("")))
    return {folder / name for name in tops if (folder / name).exists() and not name.endswith(".pth")}
