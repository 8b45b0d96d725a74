"""Reuse: how often generated tools are called again, and whether like tasks end better with them than without."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field

from tea.errors import BadRef, TeaError
from tea.journal.record import TraceRecord, as_mapping
from tea.journal.tracer import Tracer
from tea.refs import Ref
from tea.retrieval.likeness import ALIKE, share_of, words_of
from tea.retrieval.usage import RunReader
from tea.types import JsonObject

_WELL = "done"
_MOST_STEPS = 2**25  # of the comparison of tasks, for all tools together: two seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """The facts of one ended run.

    Args:
        id: The run.
        begun: When, ISO 8601 in UTC.
        task: Its task in words.
        well: Whether it ended well.
        calls: How often each tool was called in it.
        good: How often each tool gave a value.
    """

    id: str
    begun: str
    task: str
    well: bool
    calls: Mapping[str, int]
    good: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A generated tool with all versions of its lineage.

    Args:
        name: Its name.
        version: The current version.
        versions: How many there are.
        created: When the first was made, ISO 8601 in UTC.
        runs: The runs that made them.
        trusted: Whether a person trusts the current one.
    """

    name: str
    version: str
    versions: int
    created: str
    runs: Set[str] = field(default_factory=frozenset[str])
    trusted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reuse:
    """The uses of one generated tool; runs of its makers count for nothing.

    Args:
        made: The tool.
        calls: How often other runs called it.
        failed: How many of these calls gave an error.
        runs: How many other runs called it.
        well: How many of those ended well.
        others: How many runs of like tasks began since it was made and did not call it. A task is like another with
            at least half of their words in common; those of its makers and of the runs that called it count.
        others_well: How many of those ended well.
    """

    made: Made
    calls: int
    failed: int
    runs: int
    well: int
    others: int
    others_well: int

    @property
    def net(self) -> float | None:
        """The share of runs with it ended well, less the share of like ones without; None if one is empty."""
        if not self.runs or not self.others:
            return None
        return self.well / self.runs - self.others_well / self.others

    def to_json(self) -> JsonObject:
        """Return it as a JSON object."""
        counts = {name: getattr(self, name) for name in ("calls", "failed", "runs", "well", "others", "others_well")}
        facts = {"name": self.made.name, "version": self.made.version, "versions": self.made.versions}
        return {**facts, "trusted": self.made.trusted, "made_by": sorted(self.made.runs), **counts, "net": self.net}


def reuse_of(made: Iterable[Made], runs: Iterable[RunFacts]) -> list[Reuse]:
    """Return the uses of each tool, the most used first.

    Args:
        made: The tools.
        runs: All runs, the newest first; where their tasks are very many, each is compared to the newest of a tool.
    """
    tools, known = list(made), list(runs)
    words = {run.task: words_of(run.task) for run in known}
    found = [_reuse(one, known, words, _MOST_STEPS // len(tools)) for one in tools]
    return sorted(found, key=lambda one: (-one.runs, -one.calls, one.made.name))


def run_facts(tracer: Tracer) -> list[RunFacts]:
    """Return the facts of all ended, readable runs; it blocks."""
    found: list[RunFacts] = []
    for run in tracer.runs():
        try:
            if tracer.ended(run):
                found.append(facts_of(run, tracer.records(run, wanted=_Reader())))
        except TeaError:  # a damaged journal is not evidence
            continue
    return found


def facts_of(run: str, records: Iterable[TraceRecord]) -> RunFacts:
    """Return the facts of one run from its journal."""
    names: dict[str, str] = {}
    calls, good = dict[str, int](), dict[str, int]()
    begun, task, status = "", "", ""
    for record in records:
        data = as_mapping(record.data)
        begun = begun or record.time
        if record.kind == "run":
            task = str(as_mapping(data.get("task")).get("task", ""))
        elif record.kind == "end":
            status = str(data.get("status"))
        elif record.kind == "start" and data.get("kind") == "tool" and (name := _name(str(data.get("target")))):
            names[record.key] = name
            calls[name] = calls.get(name, 0) + 1
        elif record.kind == "done" and record.key in names and as_mapping(data.get("data")).get("ok") is True:
            good[names[record.key]] = good.get(names[record.key], 0) + 1
    return RunFacts(id=run, begun=begun, task=task, well=status == _WELL, calls=calls, good=good)


class _Reader:
    """A selector of the lines of one journal relevant to `facts_of`: its first, and those for uses."""

    def __init__(self) -> None:
        self._rest: RunReader | None = None

    def __call__(self, line: bytes) -> bool:
        """Return whether a record has to be read."""
        if self._rest is None:
            self._rest = RunReader()
            return True
        return self._rest(line)


def _reuse(made: Made, facts: list[RunFacts], words: Mapping[str, frozenset[str]], most: int) -> Reuse:
    runs = [run for run in facts if run.id not in made.runs]
    with_it = [run for run in runs if made.name in run.calls]
    served = dict.fromkeys(run.task for run in facts if run.id in made.runs or made.name in run.calls)
    since = [run for run in runs if made.name not in run.calls and run.begun >= made.created]
    tasks = dict.fromkeys(run.task for run in since)
    each = sum(len(words[task]) + 1 for task in tasks) + 1
    compared = [words[task] for task in served][: most // each + 1]
    alike = {task for task in tasks if any(share_of(words[task], one) >= ALIKE for one in compared)}
    without = [run for run in since if run.task in alike]
    calls = sum(run.calls[made.name] for run in with_it)
    return Reuse(
        made=made,
        calls=calls,
        failed=calls - sum(run.good.get(made.name, 0) for run in with_it),
        runs=len(with_it),
        well=sum(run.well for run in with_it),
        others=len(without),
        others_well=sum(run.well for run in without),
    )


def _name(target: str) -> str:
    try:
        return Ref.parse(target).name
    except BadRef:
        return ""
