"""Runner: an evaluation carried out as ordinary runs, and continued after an interruption."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tea.characters import on_one_line
from tea.clock import timestamp
from tea.errors import (
    Abstained,
    ApprovalNeeded,
    BadInput,
    BudgetExceeded,
    Conflict,
    Damaged,
    ErrorRecord,
    Interrupted,
    ProviderError,
    StorageError,
    TeaError,
    error_from,
    sole_error,
)
from tea.evaluate.evaluation import RESULTS, Evaluation, ScoredRun
from tea.evaluate.judge import Judging, judging_of
from tea.evaluate.ledger import OwnLedger, own_ledger
from tea.evaluate.plan import Plan, Snapshot, snapshot_of
from tea.evaluate.scoring import JUDGED, Grade, Helpers, Question, grade
from tea.evaluate.statistics import smallest_visible, visible_words
from tea.evaluate.task import digest_of
from tea.evaluate.task_set import PlacedTask, TaskSet
from tea.journal.header import Closed
from tea.journal.history import History
from tea.journal.record import as_mapping
from tea.source.seal import MARK, unmarked
from tea.store.evaluations import HEAD, NUMBER, FileEvaluations
from tea.store.strict import dumps
from tea.types import JsonObject

if TYPE_CHECKING:
    from tea.journal.recorder import Event
    from tea.platform import Platform
    from tea.runs.outcome import Outcome

CONCURRENCY = 8
Watch = Callable[[int, int, ScoredRun], None]
_INFRASTRUCTURE = (ProviderError, StorageError, Interrupted)
_MOST_WORDS = 80  # characters of a task, to know it again in a table


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """The limits of one call of `evaluate`; open runs at the moment of reaching one are ended properly.

    Args:
        usd: US dollars; a run of an unknown price ends such a budget.
        runs: Runs begun or resumed.
        tokens: Tokens of all model calls.
    """

    usd: float | None = None
    runs: int | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    """One run to make: a task in one epoch, and its keys in the ledger."""

    task: PlacedTask
    epoch: int
    key: str
    scoring: str


@dataclass(slots=True)
class _LedgerLines:
    """The content of a ledger, by key."""

    begun: dict[str, str] = field(default_factory=dict[str, str])
    ended: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    graded: dict[tuple[str, str], JsonObject] = field(default_factory=dict[tuple[str, str], JsonObject])

    def take(self, line: JsonObject) -> None:
        """Read one line; later lines replace earlier ones."""
        key = str(line.get("key"))
        match line.get("what"):
            case "begun":
                self.begun[key] = str(line["run"])
            case "ended":
                self.ended[key] = line
            case "graded":
                self.graded[key, str(line["scoring"])] = line
            case "again":
                self.ended.pop(key, None)
                self.begun.pop(key, None)
            case _:
                pass


async def evaluate(
    platform: Platform,
    tasks: TaskSet,
    plan: Plan | None = None,
    *,
    epochs: int = 1,
    concurrency: int = CONCURRENCY,
    series: str = "",
    retry: bool = False,
    judging: Judging | None = None,
    watch: Watch | None = None,
    tell: Callable[[str], object] | None = None,
    spending: Spending | None = None,
) -> Evaluation:
    """Run every task of a set as an ordinary run, score the outcomes, and keep all of it.

    What this account ran before counts again, by the digest of everything that counts, the task and the repetition;
    what was interrupted is resumed. All runs use the same versions, whatever is registered meanwhile.

    Args:
        platform: Runs the tasks.
        tasks: The tasks.
        plan: Who works on them, with what.
        epochs: How often each task is run.
        concurrency: How many runs go on at once.
        series: Name of a series of repetitions; another one gives fresh runs.
        retry: Whether to run again what a provider or this machine made fail.
        judging: Which model judges, in which words; the platform's default model by default.
        watch: Told of each scored run, with how many there are and will be.
        tell: Told in a line what of the home does not count.
        spending: What may be spent now.

    Raises:
        BudgetExceeded: What may be spent now is spent before the end; the runs are kept, and the next call goes on.
        BadInput: The plan cannot be used, or there is no task; nothing is run.
        ProviderError: A judge is needed and not there; nothing is run. Or it failed: the runs are kept.
        Conflict: Another process is at the same evaluation.
    """
    if not len(tasks) or epochs < 1 or concurrency < 1:
        raise BadInput("An evaluation needs a task, an epoch and a run at once.", fix="give numbers from 1.")
    asked = _closing(plan or Plan(), tasks).checked()
    judge, helpers = _helpers(platform, tasks, judging)
    request = digest_of([asked.to_json(), tasks.digest, epochs, series])
    store = FileEvaluations(platform.home / "traces" / "evaluations")
    used, snapshot, begun = await _parts(platform, asked, store, request)
    digest = snapshot.digest(used)
    evaluation = Evaluation(
        id=digest_of([digest, tasks.digest, epochs, series, used.label])[:12], name=tasks.name, set_digest=tasks.digest,
        plan=used, plan_digest=digest, epochs=epochs, series=series, runs=(),
        components=snapshot.use, model=snapshot.model, begun=begun,
    )  # fmt: skip
    cells = _cells(tasks, epochs, series, judge)
    with own_ledger(store, digest, platform.seal) as ledger:
        save = partial(_save, platform, store, request, await asyncio.to_thread(store.next))
        await save(evaluation)
        work = _Work(platform, used, snapshot.pins, ledger, helpers, retry=retry, watch=watch, total=len(cells),
                     spending=spending or Spending())  # fmt: skip
        await work.run(cells, concurrency, tell)
    done = replace(evaluation, runs=tuple(work.scored[cell.key] for cell in cells), fresh=work.fresh)
    return await save(done, finished=True)


async def _save(
    platform: Platform,
    store: FileEvaluations,
    request: str,
    number: int,
    evaluation: Evaluation,
    *,
    finished: bool = False,
) -> Evaluation:
    """Write an evaluation, and return it.

    Its head has the mark of this account, as it decides which versions a later call uses.
    """
    head = {**evaluation.head(finished=finished, request=request), NUMBER: number}
    files = {HEAD: dumps({**head, MARK: platform.seal(head)})}
    if finished:
        files[RESULTS] = b"".join(dumps(one.to_json()) + b"\n" for one in evaluation.runs)
    await asyncio.to_thread(store.write, evaluation.id, files)
    return evaluation


def _closing(plan: Plan, tasks: TaskSet) -> Plan:
    """Return the plan with the parts of the web closed by a task set closed too."""
    deny = tuple(dict.fromkeys((*plan.closed.deny, *tasks.deny)))
    canaries = tuple(dict.fromkeys((*plan.closed.canaries, *tasks.canaries)))
    return replace(plan, closed=Closed(deny=deny, canaries=canaries))


def _cells(tasks: TaskSet, epochs: int, series: str, judge: str) -> list[_Cell]:
    """Return the runs to make, epoch by epoch."""
    return [
        _Cell(
            task=task,
            epoch=epoch,
            key=digest_of([task.work, series, epoch])[:32],
            scoring=digest_of([task.scoring, judge if task.task.scorer in JUDGED else ""]),
        )
        for epoch in range(1, epochs + 1)
        for task in tasks.tasks
    ]


def preview(tasks: TaskSet, *, rates: Sequence[float] = ()) -> str:
    """Return in words the smallest improvement visible with a set.

    Args:
        tasks: The tasks.
        rates: The mean score of each so far; half of the runs right if unknown.
    """
    clusters = len({one.cluster for one in tasks.tasks})
    share = smallest_visible(rates or [0.5] * clusters)
    return f"With {clusters} tasks, {visible_words(share)} found reliably."


class _Work:
    """The work of one evaluation in progress."""

    def __init__(
        self,
        platform: Platform,
        plan: Plan,
        use: Mapping[str, str],
        ledger: OwnLedger,
        helpers: Helpers,
        *,
        retry: bool,
        watch: Watch | None,
        total: int,
        spending: Spending,
    ) -> None:
        self._platform, self._plan, self._use = platform, plan, use
        self._ledger, self._helpers, self._watch, self._total = ledger, helpers, watch, total
        self._retry, self._spending = retry, spending
        self._spent = {"usd": 0.0, "tokens": 0.0}
        self._known = _LedgerLines()
        self.scored: dict[str, ScoredRun] = {}
        self.fresh = 0
        self._unscored: TeaError | None = None

    async def run(self, cells: Sequence[_Cell], concurrency: int, tell: Callable[[str], object] | None) -> None:
        """Run and score all cells; tell the uncounted part of the ledger in a line.

        Raises:
            TeaError: One could not be scored; the runs are kept.
        """
        for line in await asyncio.to_thread(self._ledger.lines):
            self._known.take(line)
        if tell is not None and self._ledger.foreign:
            tell(self._ledger.foreign)
        waiting = iter(cells)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(concurrency, len(cells))):
                    group.create_task(self._take(waiting))
        except BaseExceptionGroup as error:
            if (one := sole_error(error)) is not None:
                raise one from error
            raise
        await asyncio.to_thread(self._ledger.sync)
        if self._unscored is not None:
            raise self._unscored
        if (left := len(cells) - len(self.scored)) and (end := self._end):
            problem = f"The evaluation's budget ended: {end}; {left} of {len(cells)} runs are left."
            raise BudgetExceeded(problem, fix="call it again, and it goes on where it stopped.")

    @property
    def _end(self) -> str:
        """The limit reached by the spending so far, empty for none."""
        for name, value in (("runs", self.fresh), *self._spent.items()):
            limit = getattr(self._spending, name)
            if limit is not None and value >= limit:
                return f"{limit:g} {name}"
        return ""

    async def _take(self, waiting: Iterator[_Cell]) -> None:
        for cell in waiting:
            ended = self._known.ended.get(cell.key)
            if ended is not None and self._retry and ended.get("infrastructure"):
                self._write({"what": "again", "key": cell.key})
                ended = None
            if ended is None and self._end:
                continue  # runs of earlier calls still count
            if ended is None:
                ended = await self._run_cell(cell)
                self._spend(ended)
            given = self._known.graded.get((cell.key, cell.scoring))
            if given is None and ended["status"] == "done" and self._unscored is None:
                given = await self._grade(cell, ended)
            if given is not None or ended["status"] != "done":
                one = self.scored[cell.key] = _scored(cell, ended, given or {})
                if self._watch is not None:
                    self._watch(len(self.scored), self._total, one)

    def _spend(self, ended: JsonObject) -> None:
        """Count the cost of a run; one of an unknown price ends a budget in US dollars.

        It counts as that much, since it may have cost anything.
        """
        unknown = ended["usd"] is None and ended["tokens"] and self._spending.usd is not None
        self._spent["usd"] += float(self._spending.usd or 0) if unknown else ended["usd"] or 0.0
        self._spent["tokens"] += ended["tokens"] or 0

    async def _run_cell(self, cell: _Cell) -> JsonObject:
        """Resume or begin the run of a cell, and return its end."""
        self.fresh += 1
        started = time.monotonic()
        run = self._known.begun.get(cell.key)
        found = await self._resumed(run) if run is not None else None
        if found is None:
            found = await self._begun(cell)
        seconds = found.pop("seconds", None)
        line = {"what": "ended", "key": cell.key, **found,
                "seconds": round(time.monotonic() - started if seconds is None else seconds, 4)}  # fmt: skip
        self._write(line)
        return line

    async def _begun(self, cell: _Cell) -> dict[str, Any]:
        run = ""

        def watch(event: Event) -> None:
            nonlocal run
            if event.kind == "run" and not run:
                run = str(as_mapping(as_mapping(event.data)["setting"])["run"])
                self._write({"what": "begun", "key": cell.key, "run": run, "task": cell.task.id, "epoch": cell.epoch})

        task = self._plan.task_file(cell.task, self._use, f"eval-{cell.key}")
        try:
            return _ended(await self._platform.execute(task, cell.task.paths, watch))
        except TeaError as error:
            return self._broken(error, run)

    async def _resumed(self, run: str) -> dict[str, Any] | None:
        """Return how an interrupted run ended; None if it cannot be resumed and has to begin anew."""
        if not await asyncio.to_thread(self._platform.tracer.is_own, run):
            return None  # its limits and its answer are those of others
        try:
            if not await asyncio.to_thread(self._platform.tracer.ended, run):
                await self._platform.resume(run)
        except Conflict:
            raise
        except ApprovalNeeded as error:
            return self._broken(error, run)
        except TeaError as error:
            return self._broken(error, run) if isinstance(error, _INFRASTRUCTURE) else None
        return await asyncio.to_thread(self._left, run)

    def _left(self, run: str) -> dict[str, Any]:
        history = History.of(run, self._platform.tracer.records(run), "")
        end, cost = history.end, as_mapping(history.end.get("cost"))
        return {
            "run": run,
            "status": end["status"],
            "answer": end["answer"],
            "reason": end["reason"],
            "error": end["error"],
            "infrastructure": _is_infrastructure(end["error"]),
            **{name: cost.get(name) for name in ("usd", "tokens", "steps")},
            "seconds": history.seconds,
        }

    def _broken(self, error: TeaError, run: str) -> dict[str, Any]:
        """Return the end of a run without an outcome."""
        record = self._platform.mask.data(error.record())
        status = "waiting" if isinstance(error, ApprovalNeeded) else "error"
        return {"run": run, "status": status, "answer": None, "reason": record["problem"], "error": record,
                "infrastructure": isinstance(error, _INFRASTRUCTURE), "usd": None, "tokens": 0, "steps": 0}  # fmt: skip

    async def _grade(self, cell: _Cell, ended: JsonObject) -> JsonObject | None:
        task = cell.task.task
        asked = Question(task=task.task, answer=ended["answer"], expected=task.expected, options=task.options)
        try:
            given: Grade = await grade(task.scorer, asked, self._helpers)
        except TeaError as error:  # the judge failed, not the agent, so the score is not 0
            self._unscored = self._unscored or error
            return None
        line = {"what": "graded", "key": cell.key, "scoring": cell.scoring, "score": given.score, "why": given.why,
                "details": dict(given.details), "tokens": given.tokens, "usd": given.usd}  # fmt: skip
        self._write(line)
        return line

    def _write(self, line: JsonObject) -> None:
        self._ledger.append(line)
        self._known.take(line)


async def _parts(platform: Platform, plan: Plan, store: FileEvaluations, request: str) -> tuple[Plan, Snapshot, str]:
    """Return the plan, its exact parts, and the time of its begin: those of the same evaluation if it is unfinished."""
    used, snapshot = await snapshot_of(platform, plan)

    def unfinished() -> JsonObject | None:
        for id in store.list():
            with suppress(Damaged):
                head = store.head(id)
                asked = head.get("request") == request and not head.get("finished")
                if asked and platform.seal.made(head.get(MARK), unmarked(head)):
                    return head
        return None

    if (head := await asyncio.to_thread(unfinished)) is not None:
        return used, snapshot.earlier(head["components"], head["model"]), str(head["begun"])
    return used, snapshot, timestamp()


def _helpers(platform: Platform, tasks: TaskSet, judging: Judging | None) -> tuple[str, Helpers]:
    """Return the digest of the judge, empty if none is needed, and the helpers of the scorers, checked beforehand."""
    needed = sorted({one.task.scorer for one in tasks.tasks} & {*JUDGED})
    judge = judging_of(platform, judging, needed) if needed else None

    async def sandbox() -> JsonObject:
        return await platform.sandboxes.terms("")

    return "" if judge is None else judge.digest, Helpers(judge=judge, sandbox=sandbox)


def _ended(outcome: Outcome) -> dict[str, Any]:
    data = outcome.to_json()
    return {
        **{name: data[name] for name in ("run", "status", "answer", "reason", "error")},
        "infrastructure": _is_infrastructure(outcome.error),
        "usd": outcome.cost.usd,
        "tokens": outcome.cost.tokens,
        "steps": outcome.cost.steps,
    }


def _is_infrastructure(error: ErrorRecord | None) -> bool:
    return error is not None and isinstance(error_from(error), _INFRASTRUCTURE)


def _scored(cell: _Cell, ended: JsonObject, grade: JsonObject) -> ScoredRun:
    """Return a run with its score: only the outcome of a successful run can have one."""
    score = float(grade.get("score", 0.0))
    return ScoredRun(
        id=cell.task.id,
        epoch=cell.epoch,
        score=score,
        kind=_kind(ended, score),
        status=ended["status"],
        answer=ended["answer"],
        reason=str(grade.get("why", "")) if grade else ended["reason"],
        run=ended["run"],
        usd=ended["usd"],
        tokens=ended["tokens"] or 0,
        steps=ended["steps"] or 0,
        seconds=ended["seconds"],
        tags=cell.task.task.tags,
        split=cell.task.split,
        cluster=cell.task.cluster,
        work=cell.task.work,
        details=grade.get("details", {}),
        infrastructure=bool(ended.get("infrastructure")),
        judging={name: grade[name] for name in ("tokens", "usd")} if grade.get("tokens") else {},
        words=on_one_line(cell.task.task.task[: 2 * _MOST_WORDS])[:_MOST_WORDS],
    )


def _kind(ended: JsonObject, score: float) -> str:
    if ended["status"] == "done":
        return "" if score >= 1 else "partly wrong" if score > 0 else "wrong"
    if ended["status"] in ("waiting", "exhausted"):
        return str(ended["status"])
    error = ended.get("error")
    if error is None:
        return "failed"
    code = str(error["code"])
    return {Abstained.__name__: "abstained", BudgetExceeded.__name__: "exhausted"}.get(code, code)
