"""Requires: the distributions needed by a component, given beside its source, or written in the source itself.

Source: Python packaging's inline script metadata (PEP 723) and normalised names (PEP 503).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from typing import Any

from tea.source.text import check_content, refusal
from tea.toml import read_toml

_REQUIREMENT = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_START, _END = "# /// script", "# ///"


def requirements(source: str, requires: Iterable[str]) -> tuple[str, ...]:
    """Return the given requirements with those of the source's own `# /// script` block, each once.

    Args:
        source: The main file's text.
        requires: Requirements such as `openpyxl>=3.1`.

    Raises:
        BadComponent: One is not a requirement, or the block is not TOML.
    """
    every = tuple(dict.fromkeys((*requires, *_written(source))))
    check_content((), every)
    return every


def distribution_name(requirement: str) -> str:
    """Return the normalised name in a requirement such as `PyYAML>=6`.

    Raises:
        BadComponent: It is not a requirement.
    """
    found = _REQUIREMENT.match(requirement.strip("_ "))
    if found is None or len(requirement) > 200:
        raise refusal(
            f"{requirement[:60]!r} is not a requirement.", "write a distribution's name, perhaps with a version."
        )
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def distribution_of(root: str) -> str | None:
    """Return the installed distribution of a top-level module, or None."""
    found = packages_distributions().get(root)
    return found[0] if found else None


def installed(requires: Iterable[str]) -> str:
    """Return the installed versions of requirements, as one text; a missing one is listed without a version."""
    found: list[str] = []
    for name in map(distribution_name, requires):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(name)
    return "\n".join(found)


def _written(source: str) -> list[str]:
    lines = source.split("\n")
    if _START not in lines:
        return []
    start = lines.index(_START) + 1
    end = next((row for row in range(start, len(lines)) if not lines[row].startswith("#") or lines[row] == _END), start)
    try:
        data: dict[str, Any] = read_toml("\n".join(line[1:].removeprefix(" ") for line in lines[start:end]))
    except ValueError as error:
        raise refusal(f"The block {_START!r} is not TOML: {error}.", "write `# dependencies = [...]` in it.") from None
    found: Any = data.get("dependencies", [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):  # pyright: ignore[reportUnknownVariableType]
        raise refusal("`dependencies` is not a list of texts.", 'write, for example, `# dependencies = ["openpyxl"]`.')
    return found  # pyright: ignore[reportUnknownVariableType]
