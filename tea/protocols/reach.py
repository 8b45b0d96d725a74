"""Reach: the components a component can call or read, found in its source without executing it.

What stands in a source as the name of a component counts, where it stands as a text of its own; words in comments,
docstrings and longer texts do not. A name that a source puts together while it runs cannot be told from it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from tea.components.manifest import Manifest, is_recipe
from tea.errors import TeaError
from tea.prompts.manager import PromptManager
from tea.recipes.recipe import LOOP_PROMPT, Chooser, ToolsToEnvironment, read_recipe
from tea.refs import KINDS, Kind, Ref
from tea.source.text import ParsedFile

IsKnown = Callable[[Kind, str], bool]
_LOOP = (Ref(kind="tool", name="done"), Ref(kind="prompt", name="fold"))  # what `work` uses whatever an agent declares
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


def reached(config: Manifest, is_known: IsKnown) -> Iterator[Ref]:
    """Yield the components directly reachable from one, not further ones; an exact version if it pins one.

    Args:
        config: The component.
        is_known: Tells whether there is a component of a kind and name.
    """
    if config.memory is not None:
        yield config.memory
    if config.kind == "prompt":
        prompt = PromptManager().parse(config.source)
        yield from _parsed([("tool", prompt.solver), ("prompt", prompt.uses)])
    elif config.kind == "memory":
        return
    elif is_recipe(config.source):
        recipe = read_recipe(config.source)
        yield from (one.parsed.at(one.parsed.selector) for one in recipe.operands)
        if isinstance(recipe, ToolsToEnvironment):
            yield from _parsed([("tool", recipe.state)])
        if isinstance(recipe, Chooser):
            yield from (*_parsed([("prompt", recipe.prompt), ("tool", recipe.guard)]), *_LOOP)
    else:
        if config.kind == "tool":
            yield from _parsed([("tool", one.traits.check) for one in config.operations.values()])
        if config.kind == "agent" and not _is_given_context(config.source):  # then it works in the loop
            yield from (*_LOOP, Ref.parse(LOOP_PROMPT))
            yield from _texts(config.source, is_known)
        for source in (config.source, *(text for name, text in config.files.items() if name.endswith(".py"))):
            if _is_given_context(source):
                yield from _named(source, is_known)


def _parsed(texts: Iterable[tuple[Kind, str | None]]) -> Iterator[Ref]:
    for kind, text in texts:
        if text:
            ref = Ref.parse(text, kind=kind)
            yield Ref(kind=ref.kind, name=ref.name, selector=ref.selector)


def _is_given_context(source: str) -> bool:
    """Return whether anything in Python source receives a context; without one it cannot reach components."""
    return "Context" in _names(source)


def _names(source: str) -> set[str]:
    return {node.id for node in ast.walk(_tree(source)) if isinstance(node, ast.Name)}


def _tree(source: str) -> ast.Module:
    return ParsedFile.outline(source).tree


def _named(source: str, is_known: IsKnown) -> Iterator[Ref]:
    """Yield the components named in Python source."""
    if "work" in _names(source):
        yield from _LOOP
    yield from _texts(source, is_known)


def _texts(source: str, is_known: IsKnown) -> Iterator[Ref]:
    nodes = list(ast.walk(_tree(source)))
    places: dict[int, Kind | None] = {id(text): kind for node in nodes for text, kind in _placed(node)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < _LONGEST:
            kind = places.get(id(node))
            yield from _meant(node.value, (kind,) if kind else () if id(node) in places else KINDS, is_known)


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


def _meant(text: str, kinds: Sequence[Kind], is_known: IsKnown) -> Iterator[Ref]:
    """Yield the refs meant by a text: of its own kind if it has one, else of each of `kinds` with such a name."""
    for kind in kinds[:1] if ":" in text.partition("@")[0] else kinds:
        try:
            ref = Ref.parse(text, kind=kind)
        except TeaError:
            continue
        if is_known(ref.kind, ref.name):
            yield Ref(kind=ref.kind, name=ref.name, selector=ref.selector)
