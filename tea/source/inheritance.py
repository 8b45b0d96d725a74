"""Inheritance: the work of building derived classes, bounded before any is built."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence

from tea.source.describing import Uses
from tea.source.names import Names
from tea.source.text import ParsedFile
from tea.source.weights import MOST, expand, weight

_STEPS = 4  # for a member that is inherited: libraries make each field again, and Python looks for abstract methods

_DESCRIBED = 16  # of what options of a model weigh, described in the time of one step


def check_inheritance(files: Sequence[tuple[ParsedFile, Names]]) -> None:
    """Count the members and the types of fields inherited or used by classes, by the names of these alone.

    Raises:
        BadComponent: It is more than the component may have.
    """
    held = _Held(files)
    for file, names in files:
        for node in file.nodes:
            if isinstance(node, ast.ClassDef):
                names.effort.spend(_STEPS * sum(map(held.weigh, held.bases(node, names))))
    Uses(files, held.bases, held.weigh).check()


class _Held:
    """Counts of the members of a component's classes, by their names; classes of one name count together."""

    def __init__(self, files: Sequence[tuple[ParsedFile, Names]]) -> None:
        self._own: defaultdict[str, int] = defaultdict(int)
        self._bases: defaultdict[str, set[str]] = defaultdict(set)
        self._known: dict[str, int] = {}
        for file, names in files:
            for name, origin in names.imports.items():
                if origin.startswith("."):
                    self._bases[name] |= {origin.rpartition(".")[2]} - {name}
            for node in file.nodes:
                if isinstance(node, ast.ClassDef):
                    self._own[node.name] += _members(node, names)
                    self._bases[node.name] |= self.bases(node, names)

    @staticmethod
    def bases(node: ast.ClassDef, names: Names) -> set[str]:
        """Return the names of a class's bases, each without its module."""
        plain = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
        return {(names.origin(base) or ast.unparse(base)).rpartition(".")[2] for base in plain}

    def weigh(self, name: str) -> int:
        """Return how much classes of a name hold, inherited members included."""
        if name not in self._known:
            self._known[name] = 0  # as long as it is worked out: a class does not derive from itself
            self._known[name] = self._own.get(name, 0) + sum(map(self.weigh, self._bases.get(name, ())))
        return self._known[name]


def _members(node: ast.ClassDef, names: Names) -> int:
    """Return how many members and types a class holds itself."""
    before = names.effort.left
    for one in node.body:
        match one:
            case ast.AnnAssign(annotation=annotation):
                expand(annotation, names)
            case ast.Assign(targets=[ast.Name(id="model_config")], value=value):
                names.effort.spend(int(min(weight(value, names), MOST)) // _DESCRIBED)
            case _:
                pass
    return len(node.body) + before - names.effort.left
