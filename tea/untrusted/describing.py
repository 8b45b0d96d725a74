"""Describing: the manifest of untrusted source, made by a worker after executing it and its examples."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, cast

from tea.components.manifest import Lineage, Manifest
from tea.errors import BadComponent, TeaError, ToolError
from tea.source.text import SourceText
from tea.types import JsonObject, as_object
from tea.untrusted.bridge import error_in
from tea.untrusted.worker import MODULE, silent, with_runtime

if TYPE_CHECKING:
    from tea.sandbox.levels import Sandboxes

_SECONDS = 240.0  # the portable level loads all of pydantic anew, in half a minute on a busy machine
_MOST_FAILED = 3


def described(
    text: SourceText, sandboxes: Sandboxes, *, version: str, lineage: Lineage, created: str, reason: str
) -> Manifest:
    """Return the manifest of a checked source after executing it in a sandbox; blocks, and starts a loop of its own.

    Where it comes from is told here: what the sandbox answers counts for the description alone.

    Args:
        text: The source.
        sandboxes: Gives the sandbox.
        version: Its version, `X.Y.Z`.
        lineage: Where it comes from.
        created: When, ISO 8601 in UTC.
        reason: Why, in words.

    Raises:
        BadComponent: It cannot be described, or an example in it gives something else than it says.
        ToolError: There is no sandbox.
    """
    message = description_of(text, version=version, lineage=lineage, created=created, reason=reason)
    data, examples = asyncio.run(_asked(message, text, sandboxes))
    made = manifest_of(data, text)
    if failed := [one for one in examples if one.get("ok") is not True]:
        said = "; ".join(f"{one.get('call')} gave {_said(one.get('found'))}" for one in failed[:_MOST_FAILED])
        problem = f"{text.kind}:{text.name} does not do what its examples say: {said}."
        raise BadComponent(problem, fix="mend the source, or the example.")
    return replace(made, version=version, lineage=lineage, created=created, reason=reason, changes=text.changes)


def description_of(
    text: SourceText, *, version: str, lineage: Lineage, created: str = "", reason: str = ""
) -> JsonObject:
    """Return the message asking a worker to describe a source; see `described`."""
    return {
        "kind": text.kind,
        "source": text.source,
        "files": dict(text.files),
        "requires": list(text.requires),
        "version": version,
        "lineage": asdict(replace(lineage, task=None, tests=())),  # its tests are not shown to what they test
        "created": created,
        "reason": reason,
    }


async def _asked(message: JsonObject, text: SourceText, sandboxes: Sandboxes) -> tuple[Any, list[JsonObject]]:
    from tea.sandbox.session import opened

    terms = await sandboxes.terms("")
    packages = with_runtime(terms, text.requires)
    ref = f"{text.kind}:{text.name}"
    async with opened({**terms, "packages": packages}) as sandbox:

        async def ask(do: str) -> Any:
            try:
                found = await sandbox.converse(MODULE, {**message, "do": do}, silent, seconds=_SECONDS)
            except ToolError as error:
                problem = f"{ref} cannot be described: {error.problem}"
                raise BadComponent(problem, fix=error.fix) from error
            if "value" not in found:
                error = error_in(found.get("error"), ref)
                raise BadComponent(f"{ref} cannot be described: {error.problem}", fix=error.fix)
            return found["value"]

        data = await ask("describe")
        examples: object = await ask("examples") if text.kind != "agent" else []
    listed = cast("list[object]", examples) if isinstance(examples, list) else []
    return data, [as_object(cast(object, one)) for one in listed if isinstance(one, dict)]


def manifest_of(data: object, text: SourceText) -> Manifest:
    """Return the received manifest of a source.

    Args:
        data: What came.
        text: The source.

    Raises:
        BadComponent: It is not a manifest, or one of something else.
    """
    try:
        made = Manifest.from_json(as_object(cast(object, data)) if isinstance(data, dict) else {})
    except TeaError as error:
        problem = f"{text.kind}:{text.name} cannot be described: what came back is not a manifest."
        raise BadComponent(problem, fix="mend its declaration.") from error
    if (made.kind, made.name, made.source, dict(made.files), made.requires) != (
        text.kind,
        text.name,
        text.source,
        dict(text.files),
        text.requires,
    ):
        problem = f"{text.kind}:{text.name} describes itself as something else."
        raise BadComponent(problem, fix="mend its declaration.")
    return made


def _said(found: object) -> str:
    return str(found)[:200]
