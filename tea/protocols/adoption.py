"""Adoption: a generated tool with passed tests gets a name, becomes a version of another, or neither."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tea.components.manifest import Lineage, Manifest, is_recipe, source_digest
from tea.components.operation import Signature
from tea.errors import BadComponent, Conflict
from tea.protocols.manager import ContextManager
from tea.refs import numbered
from tea.registry.change import change_between
from tea.registry.own_words import words_digest
from tea.registry.row import INTERNAL
from tea.source.rename import renamed
from tea.source.text import SourceText
from tea.types import JsonObject
from tea.untrusted.cases import Case, read_cases
from tea.untrusted.evaluation import Evaluation, evaluate, passes

How = Literal["new", "version", "reused"]
_NEAR = 4  # of the tools that are there, those looked at
_MOST_TASK = 2_000
Library = ContextManager


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """The outcome of adopting a generated tool.

    Args:
        evaluation: How it did.
        how: What it became; empty where it was refused.
        manifest: The version to use, None where it was refused.
    """

    evaluation: Evaluation
    how: How | Literal[""] = ""
    manifest: Manifest | None = None

    def to_json(self) -> JsonObject:
        """Return it as a JSON object."""
        found = self.evaluation.to_json()
        if self.manifest is None:
            return found
        ref = str(self.manifest.ref)
        return {**found, "how": self.how, "ref": ref, "refs": [ref], "digest": self.manifest.digest}


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A generated tool with the tests it is judged by.

    Args:
        source: Its main file.
        cases: Its tests.
        task: What it was made for.
        run: The run that made it.
        given: Arguments taken from the task itself.
        files: Files that it finds in its workspace, by name.
    """

    source: str
    cases: Sequence[Case]
    task: str
    run: str
    given: JsonObject | None = None
    files: Mapping[str, bytes] | None = None


async def adopt(library: Library, offer: Offer, evaluation: Evaluation | None = None) -> Adopted:
    """Evaluate a generated tool, and register it, untrusted, unless an existing one does the same.

    Done twice it has the effect of once: the second time the first one's version is found.

    Args:
        library: The tools.
        offer: The tool.
        evaluation: Its evaluation, if there was one with the same tests.

    Raises:
        ToolError: There is no sandbox.
        RegistryError: It cannot be registered.
    """
    sandboxes = library.services.sandboxes()
    found = evaluation or await evaluate(offer.source, offer.cases, sandboxes, given=offer.given, files=offer.files)
    if not found.ok or found.manifest is None:
        return Adopted(evaluation=found)
    for last in (False, False, True):
        try:
            how, chosen = await _placed(library, offer, found.manifest)
        except Conflict:  # the name was taken, or the version replaced, since it was looked at
            if last:
                raise
        else:
            return Adopted(evaluation=found, how=how, manifest=chosen)
    return Adopted(evaluation=found)


async def _placed(library: Library, offer: Offer, made: Manifest) -> tuple[How, Manifest]:
    """Return the version for a tool with passed tests: an existing or a new one."""
    near, sandboxes = await _near(library, made), library.services.sandboxes()
    for one in near:
        same_words = words_digest(one) == words_digest(made)  # else they are a sender's
        if same_words and _digest_as(made, one.name) == one.digest:
            return "version" if one.lineage.parent else "new", one
    for one in near:
        if _is_alike(one, made) and await passes(_text(one), offer.cases, sandboxes, offer.files):
            return "reused", one
    for one in near:
        if await _improves(library, one, made, offer):
            return "version", await _registered(library, made, offer, one)
    return "new", await _registered(library, made, offer)


async def _near(library: Library, made: Manifest) -> list[Manifest]:
    """Return the possible twins of a tool: those of its name, and the nearest in meaning."""
    rows = {one.name: one for one in await library.list() if one.category not in INTERNAL}
    names = [name for name in numbered(made.name) if name in rows]
    matches = await library.retrieve(made.words()[:1_000], _NEAR, among=list(rows)) if rows else []
    names += [one.listing.name for one in matches]
    found = [await library.info(name) for name in dict.fromkeys(names)]
    return [one for one in found if not is_recipe(one.source)]


async def _improves(library: Library, old: Manifest, new: Manifest, offer: Offer) -> bool:
    """Return whether a tool may continue a generated, untrusted one: it must pass the tests of both.

    A version that a person trusts is never replaced by one that a model wrote.
    """
    if old.lineage.how != "generator" or library.services.trust(old.digest) or not old.lineage.tests:
        return False
    if not _is_alike(old, new) or change_between(old, new) == "major":
        return False
    tests = read_cases(old.lineage.tests)
    return await passes(_text(new), tests, library.services.sandboxes(), offer.files)


async def _registered(library: Library, made: Manifest, offer: Offer, old: Manifest | None = None) -> Manifest:
    name = old.name if old is not None else await _free_name(library, made.name)
    source = made.source
    if name != made.name:
        source, _ = renamed(made.source, {}, made.name, name)
    before = () if old is None else old.lineage.tests
    tests = {str(one["arguments"]): one for one in (*before, *(one.to_json() for one in offer.cases))}
    lineage = Lineage(
        how="generator",
        run=offer.run,
        parent=None if old is None else old.version,
        task=offer.task[:_MOST_TASK],
        tests=tuple(tests.values()),
    )
    digest = source_digest("tool", name, source, {}, made.requires)
    await asyncio.to_thread(library.services.trust.adopted.grant, digest, f"tool:{name}")
    head = library.services.versions.head("tool", name)
    if old is not None and head.current != old.version:
        raise Conflict(f"tool:{name} was changed at the same time.", fix="try again.")
    why = f"generated for: {offer.task[:200]}"
    return await library.register(source, reason=why, lineage=lineage, author="tea", after=head.number)


async def _free_name(library: Library, name: str) -> str:
    """Return a name never used by a tool: the given one, or with a number."""
    return (await library.missing(numbered(name)))[0]


def _digest_as(made: Manifest, name: str) -> str:
    """Return the digest of a tool under a name."""
    try:
        source = made.source if name == made.name else renamed(made.source, {}, made.name, name)[0]
    except BadComponent:
        return ""
    return source_digest("tool", name, source, {}, made.requires)


def _is_alike(one: Manifest, other: Manifest) -> bool:
    """Return whether arguments for one tool may be given to the other: the same names, the same ones needed."""
    return _shape(one.operation("call")) == _shape(other.operation("call"))


def _shape(signature: Signature) -> tuple[frozenset[str], frozenset[str]]:
    parameters = signature.parameters
    return frozenset(parameters.get("properties", {})), frozenset(parameters.get("required", []))


def _text(found: Manifest) -> SourceText:
    return SourceText(
        kind=found.kind,
        name=found.name,
        source=found.source,
        files=found.files,
        requires=found.requires,
        description=found.description,
        metadata=found.metadata,
        evolvable=found.evolvable,
    )
