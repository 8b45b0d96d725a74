"""GeneratedService: tools made in a run, evaluated and adopted as effects, and told to every agent of the run."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tea.components.files import files_in
from tea.components.port import AdoptAgent, AdoptTool, MendOwn, OpenOwn, TakeNewTools, TryTool
from tea.errors import BadArguments, ToolError
from tea.kernel.pending import Inline
from tea.runs.deps import RunContext
from tea.runs.mending_service import Mending
from tea.runs.service import Service
from tea.types import JsonValue

if TYPE_CHECKING:
    from tea.untrusted.evaluation import Evaluation

NEW_TOOLS = "new_tools"
_MOST_FILES, _MOST_BYTES = 20, 50_000_000
_USED = ("new", "version", "reused")
Request: TypeAlias = TryTool | AdoptTool | AdoptAgent | OpenOwn | MendOwn | TakeNewTools


class GeneratedService(Service):
    """The services `generated` and `new_tools`: only agents make or mend tools, each as one effect.

    A replay finds the adoption in the journal and registers nothing. What was adopted is kept from its outcome, so a
    resumed run knows it too.

    Args:
        run: The run's context.
    """

    def __init__(self, run: RunContext) -> None:
        super().__init__(run)
        self.made = list[str]()  # new components and versions
        self._adopted: list[str] = []
        self._passed: dict[str, Evaluation] = {}
        self._mending = Mending(run)

    async def serve(self, request: Request, agent: str) -> JsonValue:
        """Answer a request of an agent."""
        if isinstance(request, TakeNewTools):
            return await self._new(request)
        if not agent:
            raise ToolError("Tools are made for agents only.", fix="let an agent make it.")
        found: Any = await self.effect(request, agent)
        if isinstance(request, AdoptTool) and found.get("how") in _USED:
            self._adopted.append(str(found["ref"]))
            if found["how"] != "reused":
                self.made.append(str(found["ref"]))
                self._run.readings.made(str(found["ref"]))
        elif isinstance(request, OpenOwn):
            self._mending.opened(found)
        elif isinstance(request, MendOwn) and found["ref"]:
            self._adopted.append(str(found["ref"]))
            self._run.readings.made(str(found["ref"]))
        return found

    async def answer(self, request: Request, agent: str, key: str) -> JsonValue:
        """Answer a request inside an effect.

        Raises:
            ToolError: The run uses nothing but what its lock names.
        """
        if isinstance(request, TakeNewTools):
            return list(self._adopted[request.seen :])
        if isinstance(request, OpenOwn):
            return await self._mending.open(request)
        if self._run.run_config.locked:
            raise ToolError("This run is locked, so it cannot make a new tool.", fix="run it without its lock.")
        if isinstance(request, MendOwn):
            return await self._mending.mend(request)
        if isinstance(request, AdoptAgent):
            from tea.protocols.drafting import Proposal, adopt_agent

            given = Proposal(draft=request.draft, tests=request.tests, task=request.task, run=self._run.id)
            return await adopt_agent(self._run.deps.libraries, given, check=request.check)
        from tea.protocols.adoption import Offer, adopt
        from tea.untrusted.cases import read_cases
        from tea.untrusted.evaluation import evaluate

        cases = read_cases(request.cases)
        await self._run.attempts.prepare(key)
        files = await asyncio.to_thread(_files, Path(self._run.attempts.workspace(key)), list(request.files))
        library = self._run.deps.libraries["tool"]
        same = json.dumps([request.source, request.cases, request.given, request.files], sort_keys=True)
        if isinstance(request, TryTool):
            boxes = self._run.deps.sandboxes
            tried = await evaluate(request.source, cases, boxes, given=request.given, files=files)
            if tried.ok:  # then it is not tried a second time to be adopted
                self._passed[same] = tried
            return tried.to_json()
        offer = Offer(
            source=request.source,
            cases=cases,
            task=request.task,
            run=self._run.id,
            given=request.given,
            files=files,
        )
        return (await adopt(library, offer, self._passed.get(same))).to_json()

    async def _new(self, request: TakeNewTools) -> JsonValue:
        """Return the adoptions since; without any there is no record."""
        if not self._run.gate.due(NEW_TOOLS, lambda: len(self._adopted) > request.seen):
            return []
        return await self.effect(request, "", Inline.READ)


def _files(folder: Path, names: list[str]) -> dict[str, bytes]:
    """Return the contents of files of the workspace.

    Raises:
        BadArguments: They are too many or too large, or one is not there.
    """
    there = dict(files_in(str(folder))) if names else {}
    if missing := next((name for name in names if name not in there), None):
        raise BadArguments(f"There is no file {missing[:100]!r}.", fix="name files of the workspace.")
    sizes = sum(there[name].stat().st_size for name in names)
    if len(names) > _MOST_FILES or sizes > _MOST_BYTES:
        problem = f"{len(names)} files of {sizes:,} bytes are too much for a test."
        raise BadArguments(problem, fix=f"name at most {_MOST_FILES}, of {_MOST_BYTES:,} bytes.")
    return {name: there[name].read_bytes() for name in names}
