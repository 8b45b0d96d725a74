"""Parts: the results of other agents, as parts of one task."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from tea.loop.checks import ANSWER, gaps_about
from tea.loop.end_words import part_words, short
from tea.loop.findings import MOST_ASKED, MOST_FINDING, told_once
from tea.loop.grounds import narrowed
from tea.loop.observation import Observation, clipped
from tea.types import Evidence, Fact, JsonValue, Result, as_text

LEAST_LETTERS = 4  # of a word that tells of what a sentence says
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_SENTENCE = re.compile(r"\n|;|(?<=[.!?])\s")


@dataclass(slots=True)
class Parts:
    """The results of agents asked for a part of a task.

    Args:
        done: The task of each finished part, and its result.
        failed: The reasons of failed parts, by their tasks.
        failures: Those reasons, also where later results made good for it.
        report: Name of the report as it was last written, None without one.
        report_gaps: What that report lacks.
        ids: Ids of the calls.
    """

    done: list[tuple[str, Result]] = field(default_factory=list[tuple[str, Result]])
    failed: dict[str, str] = field(default_factory=dict[str, str])
    failures: dict[str, str] = field(default_factory=dict[str, str])
    report: str | None = None
    report_gaps: tuple[str, ...] = ()
    ids: set[str] = field(default_factory=set[str])
    _reported: list[tuple[str, Fact]] = field(default_factory=list[tuple[str, Fact]])

    def take(self, outcome: Observation, result: Result) -> None:
        """Add the result of an agent."""
        self.ids.add(outcome.id)
        text = str(outcome.arguments.get("task", ""))
        if result.report:
            self.report, self.report_gaps = result.report, result.gaps
        if not result.ok:
            self.failed[text] = self.failures[text] = result.reason or f"{outcome.name} did not succeed"
            return
        self.failed.pop(text, None)
        self.failures.pop(text, None)
        if result.answer != "" and result.report is None:
            self.done.append((text, result))
        elif result.answer != "":
            said = (
                f"{outcome.name}, asked {clipped(text, MOST_ASKED)!r}: {clipped(as_text(result.answer), MOST_FINDING)}"
            )
            named = result.evidence or (Evidence(source=result.report or ""),)
            self._reported += [(outcome.name, fact) for fact in told_once(said, named)]

    @property
    def results(self) -> list[Result]:
        """The results of finished parts."""
        return [one for _, one in self.done]

    @property
    def answer(self) -> JsonValue:
        """The answer of the only finished part, else all in one text."""
        found = self.results
        return found[0].answer if len(found) == 1 else "\n".join(part_words(*one) for one in self.done)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Facts from finished parts, for agents working on another part."""
        parts = ((f"{clipped(text, MOST_ASKED)} {as_text(one.answer)}", one.evidence) for text, one in self.done)
        return tuple(fact for said, sources in parts for fact in told_once(said, sources or (Evidence(source=""),)))

    def open_points(self, result: Result, raised: Collection[str]) -> list[str]:
        """Return a line for each failed part, each gap of a result, and each doubt; none without parts.

        What the words beside the answer name already is not among them.

        Args:
            result: The result.
            raised: Doubts that were asked about before; so was a doubt about the answer itself.
        """
        if not self.ids:
            return []
        failed = [f"{short(text)!r} failed, as {why.rstrip('.')}" for text, why in self.failures.items()]
        doubts = [one.doubt for one in result.evidence if one.doubt and one.source != ANSWER]
        gaps = [*self.report_gaps, *gaps_about(self.results, as_text(result.answer))]
        points = dict.fromkeys([*failed, *gaps, *(one for one in doubts if one not in raised)])
        return [one for one in points if not _is_named(one, result.reason)]

    def reported(self, agent: str) -> Iterator[Fact]:
        """Yield the answers of agents with reports, but for one agent."""
        return (fact for name, fact in self._reported if name != agent)

    @property
    def evidence(self) -> list[Evidence]:
        """The evidence of finished parts."""
        return [source for one in self.results for source in one.evidence]

    @property
    def are_doubted(self) -> bool:
        """Whether the answer of any finished part is in doubt."""
        return any(one.source == ANSWER for one in self.evidence)

    def evidence_for(self, answer: str, known: Callable[[str], bool]) -> list[Evidence]:
        """Return the evidence of finished parts, with doubts about numbers limited to those in an answer.

        Args:
            answer: The answer.
            known: Tells whether numbers are known without the parts.
        """
        found = [
            source
            if source.source != ANSWER
            else source.model_copy(update={"doubt": narrowed(source.doubt, as_text(one.answer), answer, known)})
            for one in self.results
            for source in one.evidence
        ]
        return [one for one in found if one.source != ANSWER or one.doubt]


def _is_named(point: str, words: str) -> bool:
    """Return whether a sentence of some words has at least half of its longer words and numbers from a point."""
    known = _told(point)
    sentences = (_told(one) for one in _SENTENCE.split(words))
    return any(one and 2 * len(one & known) >= len(one) for one in sentences)


def _told(text: str) -> set[str]:
    return {one for one in _WORD.findall(text.casefold()) if len(one) >= LEAST_LETTERS or one[0].isdecimal()}
