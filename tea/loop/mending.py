"""Mending: the repair of a failing own component during the work, once and for this run alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from tea.components.context import Context
from tea.components.port import MendOwn, OpenOwn
from tea.components.variable import tagged
from tea.errors import UnknownComponent
from tea.journal.steps import call_words
from tea.loop.actions import Actions
from tea.loop.observation import Observation
from tea.types import JsonObject, Task

NOTE = "mended"
REFLECTOR = "reflector"
MENDED = "{name} failed by a fault of its own, and was mended: {why} Call it again."
_FAULTS = ("CallFailed", "BadOutput", "CallTimeout")  # a ToolError is the tool's own word, and may be right
_MOST_WHY = 400


@dataclass(frozen=True, slots=True)
class Mending:
    """The repair of own tools, agents and environments during the work on a task.

    Args:
        ctx: What the agent may reach.
        task: What it works on.
        actions: Made the calls.
    """

    ctx: Context
    task: Task
    actions: Actions

    async def after(self, outcomes: Sequence[Observation]) -> list[Observation]:
        """Return the outcomes of a step, those of a mended component with a hint to call it again."""
        found: list[Observation] = []
        for one in outcomes:
            why = await self._mended(one) if _is_fault(one) else ""
            found.append(replace(one, hint=MENDED.format(name=one.name, why=why)) if why else one)
        return found

    async def _mended(self, failed: Observation) -> str:
        """Return the words for a repair, empty without one."""
        limits, ref = self.actions.limits, self.actions.toolset.component(failed.name)
        if not ref or limits.questions <= 1 or not limits.can_share(1):
            return ""
        own = await self.ctx.port.serve(OpenOwn(ref))
        if own is None:
            return ""
        found = await self._reflected(own, failed)
        await limits.look()
        if found is None:
            return ""
        why = str(found.get("why", ""))[:_MOST_WHY]
        texts = {str(found.get("variable")): str(found.get("text", ""))}
        made = await self.ctx.port.serve(MendOwn(str(own["ref"]), texts, why))
        self.ctx.note(NOTE, {"before": own["ref"], "after": made["ref"], "problem": made["problem"], "why": why})
        if not made["ref"]:
            return ""
        for name in await self.actions.toolset.learn():
            self.actions.forget(name)
        return why or "its source was changed."

    async def _reflected(self, own: JsonObject, failed: Observation) -> Mapping[str, Any] | None:
        """Return the reflector's answer about a failed call, None without a usable one."""
        task = Task(text=self._material(own, failed), budget=self.actions.limits.share(1))
        try:
            result = (await self.ctx.acp.invoke(REFLECTOR, task)).result
        except UnknownComponent:  # switched off, or not there
            return None
        if not result.ok or not isinstance(result.answer, Mapping):
            return None
        return cast("Mapping[str, Any]", result.answer)

    def _material(self, own: JsonObject, failed: Observation) -> str:
        """Return the component's texts and the failed call, in the words of a reflection on whole runs."""
        component = str(own["ref"]).partition("@")[0]
        texts = cast("Mapping[str, str]", own["texts"])
        return "\n".join(
            [
                "Variables that may be rewritten:",
                *(tagged(component, name, text) for name, text in texts.items()),
                "1 of 1 runs failed:",
                "<run task='this' score=0 ended='in a call'>",
                f"task: {self.task.text}",
                call_words(failed.record()),
                "</run>",
            ]
        )


def _is_fault(outcome: Observation) -> bool:
    """Return whether a call failed by a fault of the called component; an agent with a result has none."""
    return outcome.error is not None and outcome.value is None and outcome.error["code"] in _FAULTS
