"""Campaigns: proposals from training runs, each tested at the gate, with all of it on record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from tea.characters import in_sentence
from tea.clock import timestamp
from tea.errors import BadInput, BudgetExceeded, TeaError
from tea.evaluate.evaluation import Evaluation
from tea.evaluate.ledger import OwnLedger, own_ledger
from tea.evaluate.plan import Plan, Snapshot
from tea.evaluate.statistics import smallest_visible, visible_words
from tea.evaluate.task import PARTS, digest_of
from tea.evolve.acceptance import BASELINE_RUNS, LOOKS, MOST_TESTS, weak_tags
from tea.evolve.account import Account, Limits
from tea.evolve.gate import Gate, Verdict
from tea.evolve.proposal import Proposal, Staged, Strategy, StrategyInput, stage, variables_of
from tea.evolve.readiness import check_ready
from tea.refs import Ref
from tea.store.evaluations import FileEvaluations
from tea.types import JsonObject

if TYPE_CHECKING:
    from tea.evaluate.task_set import TaskSet
    from tea.platform import Platform

TRAIN, GATE, LOCKED = PARTS
LEAST_GATE, LEAST_LOCKED = 20, 60
MOST_LOCKED_LOOKS = 3
CANDIDATE = "candidate"
_TAKEN_UP = ("test", "refused", "repeated")  # what becomes of a proposal
_AGAIN = 1  # tries more of a test that a provider or this machine left undecided
Tell = Callable[[str], None]


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
    _others_looks: int = 0
    _setting: Snapshot = field(default_factory=lambda: Snapshot(use={}, model={}))
    _look: Literal["", "due", "begun"] = ""
    _proposed: Proposal | None = None
    _account: Account = field(default_factory=Account)
    _before: float | None = None
    _after: float | None = None
    _accepted: int = 0

    @property
    def id(self) -> str:
        """Its id: 12 hex digits of the digest of its components, tasks and agent; independent of the strategy."""
        plan = {name: one for name, one in self.plan.to_json().items() if name != "label"}
        return digest_of([sorted(self.refs), self.tasks.digest, plan])[:12]

    def preview(self) -> list[str]:
        """Return in lines the campaign's visible improvements and possible work before it begins."""
        gate = self.tasks.part(GATE)
        clusters = len({one.cluster for one in gate.tasks})
        sizes = ", ".join(f"{count} {name}" for name, count in self.tasks.sizes().items())
        lines = [
            f"{len(self.tasks)} tasks: {sizes}",
            f"with {clusters} gate tasks, {self._visible([0.5] * clusters)}",
            self._gate(gate).work,
        ]
        if clusters < LEAST_GATE:
            lines.append(f"fewer than {LEAST_GATE} gate tasks: what is accepted gets the alias `candidate` only")
        if self.tasks.sizes().get(LOCKED, 0) < LEAST_LOCKED:
            lines.append(f"fewer than {LEAST_LOCKED} locked tasks: no final check on unseen tasks")
        lines += self._looked_words()
        tags = {one.id: one.task.tags for one in gate.tasks}
        lines += [
            f"the protected tag {tag!r} has too few gate tasks to show anything"
            for tag in weak_tags(tags, self.protected)
        ]
        return lines

    def _visible(self, rates: Sequence[float], measured: int | None = None) -> str:
        share = smallest_visible(rates, runs=LOOKS[-1][0], baseline=BASELINE_RUNS, measured=measured)
        return f"{visible_words(share)} found reliably"

    async def run(self, limits: Limits | None = None) -> Report:
        """Propose and test until a limit or the strategy ends, counting the work of an earlier process.

        Raises:
            BadInput: The task set has no training or gate part, or a component has nothing to rewrite.
            Conflict: Another process is at a campaign on these tasks.
        """
        limits = limits or Limits()
        train, gate_tasks = self.tasks.part(TRAIN), self.tasks.part(GATE)
        await variables_of(self.platform, self.refs, {})
        await check_ready(self.platform, self.strategy, self.refs)
        store = FileEvaluations(self.platform.home / "traces" / "evolution")
        locked: JsonObject | None = None
        with own_ledger(store, self.tasks.digest[:16], self.platform.seal) as ledger:
            self._account = Account(limits=limits, write=partial(self._write, ledger, "spent"), tell=self.tell)
            await self._begin(ledger)
            self._require_locked()
            self._setting = await Snapshot.of(self.platform, self.plan)
            gate = self._gate(gate_tasks)
            try:
                await self._rounds(ledger, gate, train, limits)
                locked = await self._final(ledger)
            except BudgetExceeded as error:  # all that was made is kept, and the next call goes on from there
                self.tell(self._account.end or error.problem)
        spent = self._account
        return Report(
            campaign=self.id, tests=self._tests, accepted=self._accepted, use=dict(self._use), before=self._before,
            after=self._after, runs=spent.runs, usd=spent.usd, tokens=spent.tokens, all_runs=spent.all_runs,
            all_usd=spent.all_usd, all_tokens=spent.all_tokens, locked=locked,
        )  # fmt: skip

    def _gate(self, tasks: TaskSet) -> Gate:
        return Gate(
            self.platform, tasks, self.plan, self.id, self.concurrency, self.protected, self.strict,
            self._cheaper_tests, self._account,
        )  # fmt: skip

    async def _rounds(self, ledger: OwnLedger, gate: Gate, train: TaskSet, limits: Limits) -> None:
        """Propose and test, one candidate after the other.

        Raises:
            BudgetExceeded: What may be spent now is spent.
        """
        for line in self.preview():
            self.tell(line)
        base = await gate.baseline(self._use, self._promotions)
        self._before = self._after = _mean(base)
        anchor = base if self._anchor == self._promotions else await gate.baseline(self._anchor_use, self._anchor)
        self.tell(f"baseline {100 * _mean(base):.1f} %: {self._visible([*base.means().values()], base.epochs)}")
        for _ in range(limits.tests):
            if end := self._ended():
                self.tell(end)
                break
            if (proposal := await self._next(ledger, train)) is None:
                self.tell(f"{self.strategy.name} has nothing more to propose")
                break
            verdict, staged = await self._tested(ledger, gate, proposal, base, anchor)
            if verdict is not None and not verdict.decided:
                break
            if verdict is None or staged is None or not verdict.accepted:
                continue
            self._accepted += 1
            self._after = None  # until it was measured afresh
            base = await self._promote(ledger, gate, staged, verdict)
            self._after = _mean(base)
            anchor = anchor if verdict.cheaper else base

    async def _begin(self, ledger: OwnLedger) -> None:
        """Read the ledger's records of this campaign, and of others on the same tasks."""
        for line in await asyncio.to_thread(ledger.lines):
            if line.get("what") == "locked":
                self._locked_looks += 1
                self._others_looks += line.get("campaign") != self.id
            if line.get("campaign") != self.id:
                continue
            if line.get("what") in _TAKEN_UP:
                self._proposed = None
            match line.get("what"):
                case "spent":
                    self._account.take(line)
                case "proposed":
                    self._proposed = _proposal_of(line["proposal"])
                case "locked":
                    self._look = "begun"
                case "looked":
                    self._look = ""
                case "test":
                    self._tests = max(self._tests, int(line["test"]))
                    self._done.setdefault(line["digest"], line)
                    self._pending[line["digest"]] = _proposal_of(line["proposal"])
                case "verdict":
                    decided = _proposal_of(line["proposal"])
                    self._pending = {key: one for key, one in self._pending.items() if one != decided}
                    self._done[line["digest"]] = line
                    self._cheaper_tests = max(self._cheaper_tests, int(line["verdict"].get("cheaper_test", 0)))
                    self._verdicts.append((decided, bool(line["verdict"]["accepted"])))
                case "refused":
                    self._verdicts.append((_proposal_of(line["proposal"]), False))
                case "promoted":
                    self._use, self._look = dict(line["use"]), "due"
                    self._promotions += 1
                    self._anchor = self._anchor if line["cheaper"] else self._promotions
                    self._anchor_use = self._anchor_use if line["cheaper"] else dict(self._use)
                case _:
                    pass
        if ledger.foreign:
            self.tell(ledger.foreign)

    async def _next(self, ledger: OwnLedger, train: TaskSet) -> Proposal | None:
        """Return the proposal of an unfinished test or of an earlier process, else a new one; None if there is none.

        A proposal is written down before anything else, as it may have cost a lot.
        """
        if self._pending:
            return self._pending.pop(next(iter(self._pending)))
        if self._proposed is not None:
            found, self._proposed = self._proposed, None
            return found
        found = await self._proposal(train)
        if found is not None:
            await self._write(ledger, "proposed", proposal=_json_of(found))
        return found

    async def _proposal(self, train: TaskSet) -> Proposal | None:
        """Return the next proposal of the strategy, from fresh runs of the training part."""
        plan = replace(self.plan, use={**self.plan.use, **self._use}, label=f"{self.id}/train")
        runs = await self._account.evaluate(
            self.platform, train, plan, concurrency=self.concurrency, series=f"{self.id}/train"
        )
        variables = await variables_of(self.platform, self.refs, self._use)
        known = StrategyInput(
            variables=variables, tasks=train, runs=runs, verdicts=tuple(self._verdicts), plan=dict(self._use),
            account=self._account,
        )  # fmt: skip
        return await self.strategy.propose(self.platform, known)

    async def _tested(
        self, ledger: OwnLedger, gate: Gate, proposal: Proposal, base: Evaluation, anchor: Evaluation
    ) -> tuple[Verdict | None, Staged | None]:
        """Stage and test a proposal; an earlier decision is not made again."""
        allowed = {str(Ref.parse(one).at(None)) for one in self.refs}
        try:
            if strange := sorted(proposal.changes.keys() - allowed):
                raise BadInput(
                    f"The campaign may not rewrite {in_sentence(strange[0][:60])}.",
                    fix="rewrite the components it names.",
                )
            staged = await stage(self.platform, proposal, self._use)
        except TeaError as error:
            self._verdicts.append((proposal, False))
            await self._write(ledger, "refused", proposal=_json_of(proposal), reason=error.problem)
            self.tell(f"refused before any test: {error.problem}")
            return None, None
        key = self._key(staged)
        known = self._done.get(key)
        if known is not None and "verdict" in known:
            await self._write(ledger, "repeated", digest=key)
            self.tell(f"proposed again: {_words_of(proposal, staged)}; {_decided_words(known['verdict'])}")
            self._verdicts.append((proposal, bool(known["verdict"]["accepted"])))
            return None, None
        if known is None:
            self._tests += 1  # before anything runs, so that a crash refunds nothing
            await self._write(
                ledger,
                "test",
                digest=key,
                test=self._tests,
                use=dict(staged.use),
                proposal=_json_of(proposal),
            )
        number = self._tests if known is None else int(known["test"])
        self.tell(f"test {number}: {_words_of(proposal, staged)}")
        verdict = await self._decided(gate, {**self._use, **staged.use}, base, anchor, number)
        if not verdict.decided:
            self.tell(f"test {number}: {verdict.reason}; it is tried again where the campaign is called again")
            return verdict, staged
        self._verdicts.append((proposal, verdict.accepted))
        self._done[key] = {"verdict": asdict(verdict)}
        await self._write(
            ledger, "verdict", digest=key, use=dict(staged.use), proposal=_json_of(proposal),
            verdict=asdict(verdict), before=_mean(base),
        )  # fmt: skip
        self.tell(_decided_words(asdict(verdict)))
        return verdict, staged

    def _key(self, staged: Staged) -> str:
        """Return the digest of a candidate with everything else deciding its runs: a verdict holds for it alone."""
        pins = {name: digest for name, digest in self._setting.pins.items() if name not in self._use}
        return digest_of([staged.digest, pins, dict(self._setting.model)])

    async def _decided(
        self, gate: Gate, candidate: Mapping[str, str], base: Evaluation, anchor: Evaluation, number: int
    ) -> Verdict:
        """Return the verdict of one test, tried again if a provider or this machine made too many runs fail."""
        verdict = await gate.test(candidate, dict(self._use), anchor, base, number)
        for _ in range(_AGAIN):
            if not verdict.decided:
                verdict = await gate.test(candidate, dict(self._use), anchor, base, number)
        return verdict

    async def _promote(self, ledger: OwnLedger, gate: Gate, staged: Staged, verdict: Verdict) -> Evaluation:
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
        self._look = "due"
        return await gate.baseline(self._use, self._promotions)

    async def _final(self, ledger: OwnLedger) -> JsonObject | None:
        """Return the comparison of first and last version on the locked part, once for each change of the incumbent.

        Raises:
            BudgetExceeded: What may be spent now is spent; the next call goes on with the same look.
        """
        if not self._look or self.tasks.sizes().get(LOCKED, 0) < LEAST_LOCKED:
            return None
        if self._look == "due" and not await self._may_look(ledger):
            return None
        from tea.evaluate.compare import compare

        sides = [
            await self._account.evaluate(
                self.platform, self.tasks.part(LOCKED), replace(self.plan, use={**self.plan.use, **use}),
                epochs=LOOKS[-1][0], concurrency=self.concurrency, series=f"{self.id}/locked",
            )
            for use in ({}, self._use)
        ]  # fmt: skip
        await self._write(ledger, "looked", use=dict(self._use))
        self._look = ""
        return compare(*sides).to_json()

    def _looked_words(self) -> list[str]:
        """Return a warning in a line if the locked part was looked at before, else nothing."""
        if not self._locked_looks:
            return []
        return [f"the locked part was looked at {self._locked_looks} times before; its figures count less now"]

    def _require_locked(self) -> None:
        """Check for a look at the locked part left by other campaigns, before money goes into an unseen end.

        Raises:
            BadInput: They did not, and the operator did not say that it may be looked at again.
        """
        if self.reuse_locked or self._others_looks < MOST_LOCKED_LOOKS:
            return
        problem = f"The locked tasks are used up: other campaigns looked at them {self._others_looks} times."
        raise BadInput(problem, fix="take new tasks, or look again with --reuse-locked.")

    async def _may_look(self, ledger: OwnLedger) -> bool:
        """Return whether the locked part may be looked at now, and count the look."""
        if self._account.end:
            self.tell("the locked part was not looked at: nothing more may be spent now")
            return False
        for line in self._looked_words():
            self.tell(line)
        if self._locked_looks >= MOST_LOCKED_LOOKS and not self.reuse_locked:
            self.tell("the locked part is used up; `--reuse-locked` looks again")
            return False
        await self._write(ledger, "locked", use=dict(self._use))
        self._look = "begun"
        return True

    def _ended(self) -> str:
        """Return the limit reached by the campaign, empty if it reached none."""
        if self._tests >= MOST_TESTS:
            return f"{MOST_TESTS} candidates were tested; take new tasks for more"
        return self._account.end

    async def _write(self, ledger: OwnLedger, what: str, more: JsonObject | None = None, **line: Any) -> None:
        head = {"what": what, "campaign": self.id, "time": timestamp(), "strategy": self.strategy.name}
        whole = {**head, **(more or {}), **line}

        def write() -> None:
            ledger.append(whole)
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
        before: Mean score at the gate when it was called, None where that could not be measured.
        after: Mean score at the gate of the incumbent now, None where that could not be measured.
        runs: How many runs were made now, of tasks, counterfactuals and proposers.
        usd: What those cost, in US dollars.
        all_runs: How many were made in all processes so far.
        all_usd: What those cost.
        locked: First against last version on the locked tasks, None without.
    """

    campaign: str
    tests: int
    accepted: int
    use: Mapping[str, str]
    before: float | None
    after: float | None
    runs: int
    usd: float
    tokens: int
    all_runs: int
    all_usd: float
    all_tokens: int
    locked: JsonObject | None

    @property
    def scores(self) -> str:
        """Its scores in words."""
        if self.before is None:
            return "the score at the gate is not measured yet"
        after = "not measured yet" if self.after is None else f"{100 * self.after:.1f} %"
        return f"score at the gate {100 * self.before:.1f} % before, {after} after"


def _mean(found: Evaluation) -> float:
    return sum(one.score for one in found.runs) / len(found.runs)


def _words_of(proposal: Proposal, staged: Staged) -> str:
    """Return a proposal in one line: the versions and variables changed, the runs carried out with it, and why."""
    changed = ", ".join(f"{name}@{staged.use[name]} ({', '.join(texts)})" for name, texts in proposal.changes.items())
    tried = proposal.diagnosis.get("counterfactuals", ())
    right = sum(bool(one["right"]) for one in tried)
    shown = f"; {right} of {len(tried)} failed training runs came right with it" if tried else ""
    return f"{changed}{shown}: {in_sentence(proposal.why)}" if proposal.why else f"{changed}{shown}"


def _decided_words(verdict: JsonObject) -> str:
    return f"test {verdict['test']}: {'accepted' if verdict['accepted'] else 'rejected'}, {verdict['reason']}"


def _json_of(proposal: Proposal) -> JsonObject:
    return {**asdict(proposal), "changes": {name: dict(texts) for name, texts in proposal.changes.items()}}


def _proposal_of(data: JsonObject) -> Proposal:
    return Proposal(**data)
