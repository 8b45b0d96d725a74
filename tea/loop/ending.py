"""Ending: the answer of a task, from the parts that were found to the end that holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from tea.errors import ToolError
from tea.loop.checks import Sources, evidence_in, joined, with_doubts
from tea.loop.ledger import Ledger
from tea.loop.observation import Outcome
from tea.loop.toolset import DONE
from tea.loop.window import Window
from tea.managers.json_schema import value_faults
from tea.models.format import braced
from tea.types import Evidence, Fact, JsonObject, JsonValue, Result, Task

UNSEEN = "`done` stands beside calls whose results nobody has seen yet."
NOTHING_READ = (
    "These words are not an answer yet: nothing has been read or worked out. Call the functions that do it, or call "
    "`done` if you are sure."
)


class Ending:
    """What a task has come to, and whether an end holds.

    Args:
        task: What was asked.
        ledger: Its facts and plan.
        window: Its results.
    """

    def __init__(self, task: Task, ledger: Ledger, window: Window) -> None:
        self._task, self._ledger, self._window = task, ledger, window
        self._words = task.text
        self._parts: list[tuple[str, Result]] = []
        self._failed: dict[str, str] = {}
        self._report: str | None = None
        self._returned: set[str] = set()
        self.accepted: Result | None = None

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What parts of the task have brought, for agents that get another part."""
        return tuple(
            Fact(fact=f"{text[:500]} {_said(one.answer)}", source=source.source, quote=source.quote)
            for text, one in self._parts
            for source in one.evidence or (Evidence(source=""),)
        )

    def hear(self, text: str) -> None:
        """Take note of what a person said since: it may change what is asked."""
        self._words = f"{self._words}\n{text}"
        self._returned.clear()

    def check(self, outcome: Outcome, others: Sequence[Outcome], *, last: bool) -> Outcome:
        """Return the outcome of `done`, refused where the end does not hold.

        Args:
            outcome: What `done` was given.
            others: The other calls of its step.
            last: Whether this is the last question, so that what cannot be mended is marked instead.
        """
        value = cast(JsonObject, outcome.value)
        if any(not one.repeated for one in others) and not last:
            return _refused(outcome, UNSEEN, "look at their results, then call `done` alone.")
        if not value["success"]:
            self.accepted = self._result(value, evidence_in(value), last=last)
            return outcome
        if self._task.answer is not None and (faults := value_faults(self._task.answer, value["answer"])):
            return _refused(
                outcome, f"The answer does not fit: {'; '.join(faults)}.", "give it in the form that the task states."
            )
        evidence = joined(evidence_in(value), [source for _, one in self._parts for source in one.evidence])
        marked = with_doubts(evidence, self._sources())
        if not last and (problem := self._once(marked)):
            return _refused(outcome, problem, "mend it, or call `done` again as it is if that is right.")
        self.accepted = self._result(value, marked, last=False)
        return outcome

    def proposed(self, text: str, *, last: bool) -> str:
        """Return why words without a call do not end the task, nothing where they do."""
        text, schema = text.strip(), self._task.answer
        answer: JsonValue = text if schema is None else _formed(text, schema)
        if schema is not None and (faults := value_faults(schema, answer)):
            return f"The answer does not fit: {'; '.join(faults)}. Call `done` with `answer` in the form of the task."
        if not last:
            if self._task.files and not self._window.results and "nothing" not in self._returned:
                self._returned.add("nothing")
                return NOTHING_READ
            if problem := self._once(()):
                return f"{problem} Go on, or say again that this is the answer."
        evidence = tuple(source for _, one in self._parts for source in one.evidence)
        value = {"answer": answer, "success": True, "reason": ""}
        self.accepted = self._result(value, with_doubts(evidence, self._sources()), last=False)
        return ""

    def finished(self, outcomes: Sequence[Outcome], results: Sequence[Result | None] = ()) -> Result | None:
        """Take note of what agents gave, and return the result if `done` counted."""
        for outcome, result in zip(outcomes, results, strict=False):
            if result is not None:
                self._take(outcome, result)
        return self.accepted if any(one.name == DONE and one.ok for one in outcomes) else None

    def so_far(self) -> Result | None:
        """Return the answer so far, None where there is none."""
        return self.best("", ok=True) if self._parts else None

    def best(self, reason: str, *, exhausted: bool = True, ok: bool = False) -> Result:
        """Return what was found of the task, marked as unfinished unless it is `ok`."""
        found = [one for _, one in self._parts]
        answer: JsonValue = found[0].answer if len(found) == 1 else "\n".join(_part(*one) for one in self._parts)
        evidence = tuple(source for one in found for source in one.evidence)
        return Result(
            answer=answer, ok=ok, reason=reason, evidence=evidence, report=self._report, exhausted=exhausted and not ok
        )

    def _take(self, outcome: Outcome, result: Result) -> None:
        text = str(outcome.arguments.get("task", ""))
        self._report = result.report or self._report
        if not result.ok:
            self._failed[text] = result.reason or f"{outcome.name} did not succeed"
            return
        self._failed.pop(text, None)
        if result.answer != "" and result.report is None:
            self._parts.append((text, result))

    def _once(self, evidence: Sequence[Evidence]) -> str:
        """Return what is asked about once before an end is accepted, nothing where all was asked."""
        asked = {
            "evidence": "; ".join(f"{one.doubt}" for one in evidence if one.doubt),
            "plan": "; ".join(self._ledger.open_items),
            "failed": "; ".join(f"{text[:100]!r}: {why}" for text, why in self._failed.items()),
        }
        words = {
            "evidence": "The evidence could not be confirmed: {}.",
            "plan": "These items of the plan are open: {}.",
            "failed": "These parts failed: {}.",
        }
        new = {name: text for name, text in asked.items() if text and name not in self._returned}
        self._returned.update(new)
        return " ".join(words[name].format(text) for name, text in new.items())

    def _sources(self) -> Sources:
        return Sources(self._words, (*self._task.facts, *self._ledger.facts), self._window.results.values())

    def _result(self, value: JsonObject, evidence: tuple[Evidence, ...], *, last: bool) -> Result:
        success = bool(value["success"])
        return Result(
            answer=value["answer"],
            ok=success,
            reason=value["reason"],
            evidence=evidence,
            report=self._report,
            exhausted=last and not success,
        )


def _refused(outcome: Outcome, problem: str, fix: str) -> Outcome:
    return Outcome.refused(outcome.id, outcome.name, outcome.arguments, ToolError(problem, fix=fix))


def _formed(text: str, schema: JsonObject) -> JsonValue:
    """Return words as a value of the wanted form, where they hold one; else the words."""
    for candidate in (text, braced(text)):
        try:
            value: Any = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if not value_faults(dict(schema), value):
            return value
    return text


def _part(text: str, result: Result) -> str:
    return f"{' '.join(text.split())[:200]}: {_said(result.answer)}"


def _said(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
