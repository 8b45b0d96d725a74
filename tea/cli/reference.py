"""A person's names for components: a ref, without its kind if the name is unique among kinds."""

import asyncio
import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tea.errors import BadRef, UnknownComponent
from tea.refs import Kind, Ref, plural

if TYPE_CHECKING:
    from tea.platform import AnyManager, Platform

KEPT: tuple[Kind, ...] = ("tool", "environment", "agent", "prompt", "model", "memory", "solution")
CALLED: tuple[Kind, ...] = ("tool", "environment", "agent")

Part = Literal["component", "version", "operation"]
RefArgument = Annotated[str, typer.Argument(metavar="REF", help="kind:name, the kind only where the name needs it.")]


def kind_named(text: str) -> Kind | None:
    """Return the kind named by a word, in the singular or the plural; None if there is none."""
    return next((kind for kind in KEPT if text in (kind, plural(kind))), None)


async def find(
    tea: "Platform", text: str, kinds: Sequence[Kind] = KEPT, *, gone: bool = False, upto: Part = "version"
) -> tuple["AnyManager", Ref]:
    """Return the library of a component, and its whole ref.

    Args:
        tea: The platform.
        text: What the person wrote.
        kinds: The kinds that make sense here.
        gone: Whether what was unregistered is meant too.
        upto: The smallest part of a component that makes sense here; what names a smaller one is refused.

    Raises:
        BadRef: It is not a ref, of a kind that makes no sense here, or may mean several components.
        UnknownComponent: There is none of that name; the error names the nearest.
    """
    if ":" in text.partition("#")[0].partition("@")[0]:
        ref = _checked(Ref.parse(text), upto)
        if ref.kind not in kinds:
            raise BadRef(f"A {ref.kind} cannot be used here.", fix=f"name one of {', '.join(kinds)}.")
        return tea.libraries[ref.kind], ref
    ref = _checked(Ref.parse(text, kind=kinds[0]), upto)
    names: dict[Kind, set[str]] = {kind: await _names(tea, kind, gone=gone) for kind in kinds}
    found: list[Kind] = [kind for kind in kinds if ref.name in names[kind]]
    if not found:
        hidden: list[Kind] = [kind for kind in kinds if ref.name in await asyncio.to_thread(tea.versions.names, kind)]
        raise _hidden(hidden[0], ref.name) if hidden else _unknown(ref.name, names)
    if len(found) > 1:
        choice = ", ".join(f"{kind}:{text}" for kind in found)
        raise BadRef(f"{text[:80]!r} may mean {len(found)} components.", fix=f"write one of {choice}.")
    return tea.libraries[found[0]], Ref.parse(text, kind=found[0])


def _checked(ref: Ref, upto: Part) -> Ref:
    if ref.operation is not None and upto != "operation":
        raise BadRef(f"A component is needed here, not its operation '#{ref.operation}'.", fix="leave it out.")
    if ref.selector is not None and upto == "component":
        raise BadRef(f"A component is needed here, not its version '@{ref.selector}'.", fix="leave it out.")
    return ref


async def _names(tea: "Platform", kind: Kind, *, gone: bool) -> set[str]:
    names = {one.name for one in await tea.libraries[kind].list(state=None)}
    return names.union(await asyncio.to_thread(tea.versions.names, kind)) if gone else names


def _hidden(kind: Kind, name: str) -> UnknownComponent:
    fix = "to have it again, `tea register` its source; runs that pinned a version still find it."
    return UnknownComponent(f"{kind}:{name} was unregistered.", fix=fix)


def _unknown(name: str, names: dict[Kind, set[str]]) -> UnknownComponent:
    known = {one: kind for kind in reversed(names) for one in names[kind]}
    near = difflib.get_close_matches(name, known, n=1)
    fix = f"did you mean {known[near[0]]}:{near[0]}?" if near else "`tea list` shows what there is."
    return UnknownComponent(f"No component is named {name!r}.", fix=fix)
