"""Mending: own tools, agents and environments opened and mended within a run, as effects of it.

A mended environment is an instance of its own, which begins with what its setup finds. So only one whose state lies
outside of it is mended in the midst of a run; the others are, where the run failed, in a fork of it.
"""

from __future__ import annotations

from typing import Any

from tea.components.manifest import Lineage, Manifest, is_recipe
from tea.components.port import MendOwn, OpenOwn
from tea.errors import NotLocked, TeaError, ToolError, UnknownComponent
from tea.protocols.staging import stage_version
from tea.refs import Ref
from tea.runs.deps import RunContext
from tea.types import JsonObject


class Mending:
    """The repairs of one run: at most one of each own component, as a version not made current.

    Args:
        run: The run's context.
    """

    def __init__(self, run: RunContext) -> None:
        self._run = run
        self._opened = set[str]()

    def opened(self, found: JsonObject | None) -> None:
        """Record a component as opened, also from an outcome in a journal."""
        if found is not None:
            self._opened.add(str(found["ref"]))

    async def open(self, request: OpenOwn) -> JsonObject | None:
        """Return an own component's exact ref and texts, None if this run does not mend it."""
        given = self._run.run_config
        if not given.evolve or given.locked:
            return None
        try:
            manifest = await self._run.pins.pin(Ref.parse(request.ref, kind="tool"))
        except (UnknownComponent, NotLocked):
            return None
        ref = str(manifest.ref)
        would_lose = manifest.ref.kind == "environment" and manifest.recovery != "durable"
        if would_lose or not self._is_own(manifest) or ref in self._opened:
            return None
        self._opened.add(ref)
        variables = await self._run.deps.libraries[manifest.ref.kind].vars(manifest.ref)
        texts = {one.name: one.value for one in variables if one.trainable}
        return {"ref": ref, "texts": texts} if texts else None

    def _is_own(self, manifest: Manifest) -> bool:
        """Return whether a version is a person's own: trusted or adopted here, and neither bundled nor a recipe."""
        trust = self._run.deps.libraries[manifest.ref.kind].services.trust
        if manifest.lineage.how == "bundled" or is_recipe(manifest.source):
            return False
        return trust(manifest.digest) or trust.adopted(manifest.digest)

    async def mend(self, request: MendOwn) -> JsonObject:
        """Return the stored version with new texts, or the problem with them.

        Raises:
            ToolError: The component was not opened.
        """
        if request.ref not in self._opened:
            raise ToolError(f"{request.ref[:100]!r} was not opened for mending.", fix="open it first.")
        ref = Ref.parse(request.ref)
        library: Any = self._run.deps.libraries[ref.kind]
        before = await library.info(ref)
        lineage = Lineage(how="reflection", parent=before.version, run=self._run.id)
        try:
            after = await stage_version(library, before, request.texts, request.why, lineage)
        except TeaError as error:
            return {"ref": "", "problem": error.problem}
        return {"ref": str(after.ref), "digest": after.digest, "problem": ""}
