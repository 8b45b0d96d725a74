"""Mentions: texts in Python source that would be names of components, found without executing it.

What stands in a source as the name of a component counts, where it stands as a text of its own; words in comments,
docstrings and longer texts do not. A name that a source puts together while it runs cannot be told from it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tea.errors import TeaError
from tea.refs import KINDS, Kind, Ref
from tea.source.cache import SourceCache
from tea.source.text import ParsedFile

_READ = "mentions"
_LONGEST = 200
_DOORS: Mapping[str, Kind] = {"tcp": "tool", "ecp": "environment", "acp": "agent"}
_WORDS = (  # what is only told of a component
    "relations", "role", "competencies", "objectives", "rules", "metadata", "model", "output",
)  # fmt: skip
_PLACES: Mapping[str, Kind | None] = {
    "tools": "tool",
    "agents": "agent",
    "environments": "environment",
    "prompt": "prompt",
    "check": "tool",
    "memory": "memory",
    **dict.fromkeys(_WORDS),
}


class Mention(NamedTuple):
    """A text that names a component of a kind, if there is one of this name."""

    kind: Kind
    name: str
    selector: str | None

    @property
    def ref(self) -> Ref:
        """The component."""
        return Ref(kind=self.kind, name=self.name, selector=self.selector)


class Mentions(NamedTuple):
    """The mentions of other components in a source.

    Args:
        has_context: Whether anything in it receives a context; without one it cannot reach components.
        works: Whether it names `work`, the loop.
        texts: The texts that would be names, in the order of the source.
    """

    has_context: bool
    works: bool
    texts: tuple[Mention, ...]

    @classmethod
    def of(cls, source: str, kept: SourceCache) -> Mentions:
        """Return the mentions in a source checked before.

        Args:
            source: The text.
            kept: Where they are kept for the next time.

        Raises:
            BadComponent: It is not Python text.
        """
        if (read := kept.read(_READ, source)) is not None:
            has_context, works, texts = read
            return cls(has_context, works, tuple(Mention(*one) for one in texts))
        nodes = list(ast.walk(ParsedFile.outline(source).tree))
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        found = cls("Context" in names, "work" in names, tuple(_texts(nodes)))
        kept.keep((found.has_context, found.works, tuple(map(tuple, found.texts))), _READ, source)
        return found


def _texts(nodes: Sequence[ast.AST]) -> Iterator[Mention]:
    places: dict[int, Kind | None] = {id(text): kind for node in nodes for text, kind in _placed(node)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < _LONGEST:
            kind = places.get(id(node))
            yield from _meant(node.value, (kind,) if kind else () if id(node) in places else KINDS)


def _placed(node: ast.AST) -> Iterator[tuple[ast.AST, Kind | None]]:
    """Yield the nodes inside a node in a known place for names, with the kind named there, None for other text."""
    found: tuple[ast.expr, Kind | None]
    match node:
        case ast.keyword(arg=str(place), value=value) if place in _PLACES:
            found = value, _PLACES[place]
        case ast.Assign(targets=[ast.Name(id=place)], value=value) if place in _PLACES:
            found = value, _PLACES[place]
        case ast.AnnAssign(target=ast.Name(id=place), value=ast.expr() as value) if place in _PLACES:
            found = value, _PLACES[place]
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=door)), args=[first, *_]) if door in _DOORS:
            found = first, _DOORS[door]
        case ast.Call(func=ast.Attribute(attr="ask"), args=[first, *_]):
            found = first, "prompt"
        case _:
            return
    for one in ast.walk(found[0]):
        yield one, found[1]


def _meant(text: str, kinds: Sequence[Kind]) -> Iterator[Mention]:
    """Yield the mentions of a text: of its own kind if it has one, else of each of `kinds`."""
    for kind in kinds[:1] if ":" in text.partition("@")[0] else kinds:
        try:
            ref = Ref.parse(text, kind=kind)
        except TeaError:
            continue
        yield Mention(ref.kind, ref.name, ref.selector)
