"""Diff: the differences between two versions of a component, for people to read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any, cast

from tea.characters import path_line
from tea.components.line_diff import unified_diff
from tea.components.manifest import Manifest
from tea.registry.change import change_between

_UNENDED = "\\ no newline at the end\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """The differences between two versions: unified diffs of source and schema, and the kind of change."""

    old: str
    new: str
    change: str
    source: str
    schema: str


def diff(old: Manifest, new: Manifest) -> Diff:
    """Return the differences between two versions."""
    return Diff(
        old=str(old.ref),
        new=str(new.ref),
        change="none" if old.digest == new.digest else change_between(old, new),
        source=_sources(old, new),
        schema=_unified(_schemas(old), _schemas(new), old, new),
    )


def _sources(old: Manifest, new: Manifest) -> str:
    """Return the changes of the main file and of each further one, below its path.

    What a file holds begins with a blank, + or -, so nothing in it looks like the beginning of another file.
    """
    paths = [path for path in sorted({*old.files, *new.files}) if old.files.get(path) != new.files.get(path)]
    parts = 1 + len(paths)
    changes = _unified(_lines(old.source), _lines(new.source), old, new, parts).split("\n")
    head, found = changes[:2], changes[2:]
    for path in paths:
        before, after = old.files.get(path), new.files.get(path)
        whose = " (new)" if before is None else " (gone)" if after is None else ""
        changes = _unified(_lines(before or ""), _lines(after or ""), old, new, parts).split("\n")
        head = head if head[0] else changes[:2] if changes[0] else [f"--- {old.ref}", f"+++ {new.ref}"]
        found += [f"# file: {path_line(path)}{whose}", *changes[2:]]
    return "\n".join([*head, *found])


def _lines(text: str) -> list[str]:
    """Return the lines with their newlines; other line ends stay in them, visible to a reader."""
    return [*StringIO(text, newline="\n")]


def _schemas(manifest: Manifest) -> list[str]:
    operations = {name: one.to_json() for name, one in manifest.operations.items()}
    facts = {"operations": operations, "rules": manifest.rules, "metadata": dict(manifest.metadata)}
    facts |= {"requires": list(manifest.requires)} if manifest.requires else {}
    text = json.dumps(cast("dict[str, Any]", facts), indent=2, sort_keys=True, default=str)
    return [f"{line}\n" for line in text.split("\n")]


def _unified(old: Sequence[str], new: Sequence[str], a: Manifest, b: Manifest, parts: int = 1) -> str:
    """Return a unified diff; a line without newline is followed by a mark, with a beginning no content line has."""
    lines = unified_diff(old, new, str(a.ref), str(b.ref), context=2, end="\n", parts=parts)
    found = StringIO()  # a list of all lines would take many times the space of a text of short ones
    found.writelines(line if line.endswith("\n") else f"{line}\n{_UNENDED}" for line in lines)
    return found.getvalue().removesuffix("\n")
