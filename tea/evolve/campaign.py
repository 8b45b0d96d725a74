"""Campaigns: proposals from training runs, each tested at the gate, with all of it on record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tea.clock import timestamp
from tea.errors import BadInput, TeaError
from tea.evaluate.evaluation import Evaluation
from tea.evaluate.plan import Plan
from tea.evaluate.runner import evaluate
from tea.evaluate.statistics import smallest_visible
from tea.evaluate.task import PARTS, digest_of
from tea.evolve.acceptance import BASELINE_RUNS, LOOKS, MOST_TESTS, weak_tags
from tea.evolve.gate import Gate, Verdict
from tea.evolve.proposal import Known, Proposal, Staged, Strategy, stage, variables_of
from tea.refs import Ref
from tea.store.evaluations import FileEvaluations, Ledger
from tea.types import JsonObject

if TYPE_CHECKING:
    from tea.evaluate.task_set import TaskSet
    from tea.platform import Platform

TRAIN, GATE, LOCKED = PARTS
LEAST_GATE, LEAST_LOCKED = 20, 60
MOST_LOCKED_LOOKS = 3
CANDIDATE = "candidate"
_AGAIN = 1  # tries more of a test that a provider or this machine left undecided
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When a campaign ends; it goes on later with other limits.

    Args:
        tests: How many candidates are tested now.
        runs: How many runs are made now.
        usd: US dollars that may be spent now.
    """

    tests: int = 10
    runs: int | None = None
    usd: float | None = None


@dataclass(slots=True, kw_only=True)
class Campaign:
    """A campaign: the improvement of some components on one task set; all strategies share its tests.

    Args:
        platform: Has the components and runs the tasks.
        tasks: The whole task set; its parts are found by the digests of its tasks.
        refs: What may be rewritten, `kind:name`.
        strategy: Makes proposals.
        plan: Who works on the tasks.
        protected: Tags that must be shown to be not worse.
        promote: Whether an accepted prompt becomes current; else, and for code, it gets the alias `candidate`.
        concurrency: How many runs go on at once.
        strict: Whether the strict mode decides; see `Gate`.
        reuse_locked: Whether the locked part may be looked at more often than three times.
        tell: Told of each event, in one line.
    """

    platform: Platform
    tasks: TaskSet
    refs: Sequence[str]
    strategy: Strategy
    plan: Plan = field(default_factory=Plan)
    protected: tuple[str, ...] = ()
    promote: bool = False
    concurrency: int = 8
    strict: bool | None = None
    reuse_locked: bool = False
    tell: Tell = lambda _: None
    _use: dict[str, str] = field(default_factory=dict[str, str])
    _anchor_use: dict[str, str] = field(default_factory=dict[str, str])
    _cheaper_tests: int = 0
    _done: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    _verdicts: list[tuple[Proposal, bool]] = field(default_factory=list[tuple[Proposal, bool]])
    _pending: dict[str, Proposal] = field(default_factory=dict[str, Proposal])
    _tests: int = 0
    _promotions: int = 0
    _anchor: int = 0
    _locked_looks: int = 0
    _spent: dict[str, float] = field(default_factory=lambda: {"runs": 0.0, "usd": 0.0})

    @property
    def id(self) -> str:
        """Its id, the same for the same components, tasks and agent, whatever the strategy: 12 hex digits."""
        plan = {name: one for name, one in self.plan.to_json().items() if name != "label"}
        return digest_of([sorted(self.refs), self.tasks.digest, plan])[:12]

    def preview(self, rates: Sequence[float] = ()) -> list[str]:
        """Return in lines the campaign's visible improvements and possible work before it begins."""
        gate = self.tasks.part(GATE)
        clusters = len({one.cluster for one in gate.tasks})
        points = 100 * smallest_visible(rates or [0.5] * clusters, runs=LOOKS[-1][0], baseline=BASELINE_RUNS)
        sizes = ", ".join(f"{count} {name}" for name, count in self.tasks.sizes().items())
        lines = [
            f"{len(self.tasks)} tasks: {sizes}",
            f"with {clusters} gate tasks, only improvements of about {points:.0f} points or more are found reliably",
        ]
        if clusters < LEAST_GATE:
            lines.append(f"fewer than {LEAST_GATE} gate tasks: what is accepted gets the alias `candidate` only")
        if self.tasks.sizes().get(LOCKED, 0) < LEAST_LOCKED:
            lines.append(f"fewer than {LEAST_LOCKED} locked tasks: no final check on unseen tasks")
        tags = {one.id: one.task.tags for one in gate.tasks}
        lines += [
            f"the protected tag {tag!r} has too few gate tasks to show anything"
            for tag in weak_tags(tags, self.protected)
        ]
        return lines

    async def run(self, limits: Limits | None = None) -> Report:
        """Propose and test until a limit or the strategy ends, counting the work of an earlier process.

        Raises:
            BadInput: The task set has no training or gate part, or a component has nothing to rewrite.
            Conflict: Another process is at a campaign on these tasks.
        """
        limits = limits or Limits()
        train, gate_tasks = self.tasks.part(TRAIN), self.tasks.part(GATE)
        await variables_of(self.platform, self.refs, {})
        store = FileEvaluations(self.platform.home / "traces" / "evolution")
        with store.ledger(self.tasks.digest[:16]) as ledger:
            await self._begin(ledger)
            gate = Gate(
                self.platform, gate_tasks, self.plan, self.id, self.concurrency, self.protected, self.strict,
                self._cheaper_tests,
            )  # fmt: skip
            base = self._paid(await gate.baseline(self._use, self._promotions))
            anchor = base if self._anchor == self._promotions else await gate.baseline(self._anchor_use, self._anchor)
            for line in self.preview([*base.means().values()]):
                self.tell(line)
            first, accepted = base, 0
            for _ in range(limits.tests):
                if (end := self._ended(limits)) is not None:
                    self.tell(end)
                    break
                if (proposal := await self._next(train)) is None:
                    self.tell(f"{self.strategy.name} has nothing more to propose")
                    break
                verdict, staged = await self._tested(ledger, gate, proposal, base, anchor)
                if verdict is not None and not verdict.decided:
                    break
                if verdict is None or staged is None or not verdict.accepted:
                    continue
                accepted += 1
                base = await self._promote(ledger, gate, staged, verdict)
                anchor = anchor if verdict.cheaper else base
            final = await self._final(ledger, accepted)
        return Report(
            campaign=self.id, tests=self._tests, accepted=accepted, use=dict(self._use), before=_mean(first),
            after=_mean(base), runs=int(self._spent["runs"]), usd=self._spent["usd"], locked=final,
        )  # fmt: skip

    async def _begin(self, ledger: Ledger) -> None:
        """Take over the ledger's records of this campaign, and of others on the same tasks."""
        for line in await asyncio.to_thread(ledger.lines):
            if line.get("what") == "locked":
                self._locked_looks += 1
            if line.get("campaign") != self.id:
                continue
            match line.get("what"):
                case "test":
                    self._tests = max(self._tests, int(line["test"]))
                    self._done.setdefault(line["digest"], line)
                    self._pending[line["digest"]] = _proposal_of(line["proposal"])
                case "verdict":
                    self._pending.pop(line["digest"], None)
                    self._done[line["digest"]] = line
                    self._cheaper_tests = max(self._cheaper_tests, int(line["verdict"].get("cheaper_test", 0)))
                    self._verdicts.append((_proposal_of(line["proposal"]), bool(line["verdict"]["accepted"])))
                case "refused":
                    self._verdicts.append((_proposal_of(line["proposal"]), False))
                case "promoted":
                    self._use = dict(line["use"])
                    self._promotions += 1
                    self._anchor = self._anchor if line["cheaper"] else self._promotions
                    self._anchor_use = self._anchor_use if line["cheaper"] else dict(self._use)
                case _:
                    pass

    async def _next(self, train: TaskSet) -> Proposal | None:
        """Return the proposal of a test begun and not decided, else a new one; None without any."""
        if self._pending:
            return self._pending.pop(next(iter(self._pending)))
        return await self._proposal(train)

    async def _proposal(self, train: TaskSet) -> Proposal | None:
        """Return the next proposal of the strategy, from fresh runs of the training part."""
        plan = replace(self.plan, use={**self.plan.use, **self._use}, label=f"{self.id}/train")
        runs = self._paid(
            await evaluate(
                self.platform, train, plan, concurrency=self.concurrency, series=f"{self.id}/train", retry=True
            )
        )
        variables = await variables_of(self.platform, self.refs, self._use)
        known = Known(variables=variables, tasks=train, runs=runs, verdicts=tuple(self._verdicts), plan=dict(self._use))
        return await self.strategy.propose(self.platform, known)

    async def _tested(
        self, ledger: Ledger, gate: Gate, proposal: Proposal, base: Evaluation, anchor: Evaluation
    ) -> tuple[Verdict | None, Staged | None]:
        """Stage and test a proposal; an earlier decision is not made again."""
        allowed = {str(Ref.parse(one).at(None)) for one in self.refs}
        try:
            if strange := sorted(proposal.changes.keys() - allowed):
                raise BadInput(f"{strange[0][:60]} is not among what may be rewritten.", fix="rewrite what was named.")
            staged = await stage(self.platform, proposal, self._use)
        except TeaError as error:
            self._verdicts.append((proposal, False))
            await self._write(ledger, "refused", proposal=_json_of(proposal), reason=error.problem)
            self.tell(f"refused before any test: {error.problem}")
            return None, None
        known = self._done.get(staged.digest)
        if known is not None and "verdict" in known:
            self.tell("proposed again what was decided already")
            self._verdicts.append((proposal, bool(known["verdict"]["accepted"])))
            return None, None
        if known is None:
            self._tests += 1  # before anything runs, so that a crash refunds nothing
            await self._write(
                ledger,
                "test",
                digest=staged.digest,
                test=self._tests,
                use=dict(staged.use),
                proposal=_json_of(proposal),
            )
        number = self._tests if known is None else int(known["test"])
        verdict = await self._decided(gate, {**self._use, **staged.use}, base, anchor, number)
        if not verdict.decided:
            self.tell(f"test {number}: {verdict.reason}; it is tried again where the campaign is called again")
            return verdict, staged
        self._verdicts.append((proposal, verdict.accepted))
        self._done[staged.digest] = {"verdict": asdict(verdict)}
        await self._write(
            ledger, "verdict", digest=staged.digest, use=dict(staged.use), proposal=_json_of(proposal),
            verdict=asdict(verdict), before=_mean(base),
        )  # fmt: skip
        self.tell(f"test {number}: {'accepted' if verdict.accepted else 'rejected'}, {verdict.reason}")
        return verdict, staged

    async def _decided(
        self, gate: Gate, candidate: Mapping[str, str], base: Evaluation, anchor: Evaluation, number: int
    ) -> Verdict:
        """Return the verdict of one test, tried again if a provider or this machine made too many runs fail."""
        verdict = await gate.test(candidate, dict(self._use), anchor, base, number)
        for _ in range(_AGAIN):
            if not verdict.decided:
                verdict = await gate.test(candidate, dict(self._use), anchor, base, number)
        return verdict

    async def _promote(self, ledger: Ledger, gate: Gate, staged: Staged, verdict: Verdict) -> Evaluation:
        """Make a candidate the incumbent of the campaign, name it in the registry, and measure it afresh."""
        small = len({one.cluster for one in gate.tasks.tasks}) < LEAST_GATE
        for name, version in staged.use.items():
            ref = Ref.parse(name)
            library = self.platform.libraries[ref.kind]
            reason = f"accepted by campaign {self.id}, test {verdict.test}: {verdict.reason}"
            if self.promote and not small and ref.kind == "prompt":
                await library.restore(ref.at(version), reason=reason, author="evolution")
            else:
                await library.alias(ref.at(version), CANDIDATE, reason=reason, author="evolution")
        self._use.update(staged.use)
        self._promotions += 1
        await self._write(ledger, "promoted", use=dict(self._use), cheaper=verdict.cheaper, test=verdict.test)
        return self._paid(await gate.baseline(self._use, self._promotions))

    async def _final(self, ledger: Ledger, accepted: int) -> JsonObject | None:
        """Return the comparison of first and last version on the locked part, if there is one and something changed."""
        if not accepted or self.tasks.sizes().get(LOCKED, 0) < LEAST_LOCKED:
            return None
        if self._locked_looks:
            self.tell(f"the locked part was looked at {self._locked_looks} times before; its figures count less now")
        if self._locked_looks >= MOST_LOCKED_LOOKS and not self.reuse_locked:
            self.tell("the locked part is used up; `--reuse-locked` looks again")
            return None
        await self._write(ledger, "locked", use=dict(self._use))
        from tea.evaluate.compare import compare

        sides = [
            await evaluate(self.platform, self.tasks.part(LOCKED), replace(self.plan, use={**self.plan.use, **use}),
                           epochs=LOOKS[-1][0], concurrency=self.concurrency, series=f"{self.id}/locked", retry=True)
            for use in ({}, self._use)
        ]  # fmt: skip
        return compare(*sides).to_json()

    def _paid(self, found: Evaluation) -> Evaluation:
        """Count the cost of an evaluation made now."""
        self._spent["runs"] += found.fresh
        share = found.fresh / len(found.runs) if found.runs else 0.0
        self._spent["usd"] += share * sum(one.usd or 0.0 for one in found.runs)
        return found

    def _ended(self, limits: Limits) -> str | None:
        """Return the limit reached by the campaign, None if it reached none."""
        if self._tests >= MOST_TESTS:
            return f"{MOST_TESTS} candidates were tested; take new tasks for more"
        if limits.runs is not None and self._spent["runs"] >= limits.runs:
            return f"{limits.runs} runs were made; the campaign goes on where it is called again"
        if limits.usd is not None and self._spent["usd"] >= limits.usd:
            return f"{limits.usd:g} US dollars were spent; the campaign goes on where it is called again"
        return None

    async def _write(self, ledger: Ledger, what: str, **line: Any) -> None:
        def write() -> None:
            ledger.append(
                {"what": what, "campaign": self.id, "time": timestamp(), "strategy": self.strategy.name, **line}
            )
            ledger.sync()

        await asyncio.to_thread(write)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The results of a campaign so far.

    Args:
        campaign: Its id.
        tests: How many candidates were tested in all.
        accepted: How many were accepted now.
        use: The versions of its incumbent by `kind:name`.
        before: Mean score at the gate when it was called.
        after: Mean score at the gate of the incumbent now.
        runs: How many runs were made for proposals and baselines now.
        usd: What those cost.
        locked: First against last version on the locked tasks, None without.
    """

    campaign: str
    tests: int
    accepted: int
    use: Mapping[str, str]
    before: float
    after: float
    runs: int
    usd: float
    locked: JsonObject | None


def _mean(found: Evaluation) -> float:
    return sum(one.score for one in found.runs) / len(found.runs)


def _json_of(proposal: Proposal) -> JsonObject:
    return {**asdict(proposal), "changes": {name: dict(texts) for name, texts in proposal.changes.items()}}


def _proposal_of(data: JsonObject) -> Proposal:
    return Proposal(**data)
