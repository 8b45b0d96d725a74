"""Reach: the components a component can call or read, found in its source without executing it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from tea.components.manifest import Manifest, is_recipe
from tea.protocols.reading import Services
from tea.recipes.recipe import LOOP_PROMPT, Chooser, ToolsToEnvironment, read_recipe
from tea.refs import Kind, Ref
from tea.source.mentions import Mentions

IsKnown = Callable[[Kind, str], bool]
_LOOP = (Ref(kind="tool", name="done"), Ref(kind="prompt", name="fold"))  # what `work` uses whatever an agent declares


def reached(config: Manifest, is_known: IsKnown, services: Services) -> Iterator[Ref]:
    """Yield the components directly reachable from one, not further ones; an exact version if it pins one.

    Args:
        config: The component.
        is_known: Tells whether there is a component of a kind and name.
        services: What reads sources, and keeps what it read.
    """
    if config.memory is not None:
        yield config.memory
    if config.kind == "prompt":
        prompt = services.prompts.parse(config.source)
        yield from _parsed([("tool", prompt.solver), ("prompt", prompt.uses)])
    elif config.kind == "memory":
        return
    elif is_recipe(config.source):
        recipe = read_recipe(config.source)
        yield from (replace(one.parsed, operation=None) for one in recipe.operands)
        if isinstance(recipe, ToolsToEnvironment):
            yield from _parsed([("tool", recipe.state)])
        if isinstance(recipe, Chooser):
            yield from (*_parsed([("prompt", recipe.prompt), ("tool", recipe.guard)]), *_LOOP)
    else:
        if config.kind == "tool":
            yield from _parsed([("tool", one.traits.check) for one in config.operations.values()])
        own = services.dynamic.mentions(config.source)
        if config.kind == "agent" and not own.has_context:  # then it works in the loop
            yield from (*_LOOP, Ref.parse(LOOP_PROMPT))
            yield from _known(own, is_known)
        helpers = (text for name, text in config.files.items() if name.endswith(".py"))
        for found in (own, *map(services.dynamic.mentions, helpers)):
            if found.has_context:
                yield from _LOOP if found.works else ()
                yield from _known(found, is_known)


def _parsed(texts: Iterable[tuple[Kind, str | None]]) -> Iterator[Ref]:
    for kind, text in texts:
        if text:
            ref = Ref.parse(text, kind=kind)
            yield Ref(kind=ref.kind, name=ref.name, selector=ref.selector)


def _known(mentions: Mentions, is_known: IsKnown) -> Iterator[Ref]:
    return (one.ref for one in mentions.texts if is_known(one.kind, one.name))
