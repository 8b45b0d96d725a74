"""The end of a run on the terminal: the answer, the location of its records, and its cost."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from tea.cli.command import Command
from tea.cli.failure import complain, most_of
from tea.cli.progress import Progress
from tea.cli.terminal import answer_text, brief, counted, one_line, say, shown
from tea.errors import BadRef, BudgetExceeded, CallFailed, Interrupted, TeaError, error_from
from tea.refs import Ref

if TYPE_CHECKING:
    from tea.chat.transcript import Turn
    from tea.runs.budget import Spent
    from tea.runs.outcome import Outcome

MOST_FILES, MOST_DOUBTS = 8, 5  # that are named at the end of a run
MOST_EVIDENCE, MOST_OF_DETAIL, MOST_FOUND = 300, 100, 1_000  # characters
_FLAGS = {"usd": "--max-cost", "token": "--max-tokens", "second": "--timeout", "step": "--max-steps"}


@asynccontextmanager
async def interruptible(command: Command, progress: Progress) -> AsyncGenerator[None]:
    """Turn the cancellation of a run into a message on how to resume it from its journal.

    Raises:
        Interrupted: The body was cancelled.
    """
    try:
        yield
    except asyncio.CancelledError:
        raise _interrupted(command, progress.run) from None
    finally:
        progress.close()


def conclude(command: Command, outcome: "Outcome", **more: Any) -> int:
    """Write the end of a run, for programs with `more` about it, and return the exit code."""
    fault = _fault(command, outcome)
    data = {**outcome.to_json(), **more}
    if command.as_json:
        command.show("", {**data, "error": fault.record() if fault else None})
        return outcome.exit_code
    if outcome.answer not in (None, ""):
        say(answer_text(outcome.answer, sys.stdout))
    if fault is not None:
        complain(fault)
    if outcome.handoff is not None:
        handed = one_line(f"{outcome.handoff}: {outcome.task or ''}", 300)
        command.tell(f"hands over, and `tea chat` starts that agent: {handed}")
    for line in _attempt_lines(outcome):
        command.tell(line)
    for line in about(outcome, command.at, whole=bool(command.verbose)):
        command.tell(line)
    if not command.verbose:
        command.tell(f"trace: tea trace {outcome.run}{command.at} ({cost_words(outcome.cost)})")
        return outcome.exit_code
    command.tell(f"trace: {one_line(str(outcome.trace))} (tea trace {outcome.run}{command.at})")
    command.tell(f"cost: {cost_words(outcome.cost)}")
    for who, one in sorted(outcome.cost.by.items()):
        if one["tokens"]:
            command.tell(f"  {one_line(who)}: {_words(one['calls'], one['tokens'], one['cached'], one['usd'], 'call')}")
    return outcome.exit_code


def about(outcome: "Outcome", at: str, *, whole: bool) -> list[str]:
    """Return the lines beside an answer: remarks, results, refusals, evidence, gaps, unheard messages, tools, files.

    Args:
        outcome: The end of the run.
        at: What a command needs to reach the home.
        whole: Whether each piece of evidence has its own line.
    """
    remark = [f"remark: {one_line(outcome.reason, 600)}"] if outcome.ok and outcome.reason else []
    remark += [f"remark of {one_line(one, 600)}" for one in outcome.doubts[:MOST_DOUBTS]]
    if (more := len(outcome.doubts) - MOST_DOUBTS) > 0:
        remark.append(f"further remarks on parts of the task: {more}, in the trace")
    found = [f"found until then: {one_line(one, MOST_FOUND)}" for one in outcome.found]
    refused = [f"refused: {one} `tea trace {outcome.run}{at}` shows it." for one in outcome.remedies]
    lines = [*remark, *found, *refused, *_evidence_line(outcome, whole=whole)]
    if outcome.gaps:
        named = "incomplete" if outcome.partial else "gaps"
        gaps = "; ".join(outcome.gaps)
        lines.append(f"{named}: {one_line(gaps, max(600, most_of(gaps)))}")
    if outcome.unheard:
        lines.append(f"not heard, as the work was over: {one_line('; '.join(outcome.unheard), 300)}")
    lines += _made_lines(outcome, at)
    return [*lines, *([written] if (written := _file_words(outcome)) else [])]


def _made_lines(outcome: "Outcome", at: str) -> list[str]:
    """Describe each tool made in a run in a line, with the command to show it."""
    lines: list[str] = []
    for text in outcome.made:
        with suppress(BadRef):  # a journal from elsewhere may hold other words
            ref = Ref.parse(text)
            lines.append(f"made: {ref} (to trust it: tea show {ref} --source{at})")
    return lines


def _evidence_line(outcome: "Outcome", *, whole: bool) -> list[str]:
    """Return the evidence of an answer in one line, with the unconfirmed part marked; `whole` for a line each."""
    parts = list(dict.fromkeys(_source_words(one.source, one.detail, one.quote) for one in outcome.evidence))
    doubts = list(dict.fromkeys(one.doubt for one in outcome.evidence if one.doubt))
    if whole:
        return [*(f"evidence: {one}" for one in parts), *(f"not confirmed: {one_line(one)}" for one in doubts)]
    shown = [f"evidence: {brief('; '.join(parts), MOST_EVIDENCE)}"] if parts else []
    if doubts:
        told = "; ".join([*(one.removesuffix(".") for one in doubts[:-1]), doubts[-1]])
        shown.append(f"not confirmed: {one_line(told, MOST_EVIDENCE)}")
    return ["; ".join(shown)] if shown else []


def _attempt_lines(outcome: "Outcome") -> list[str]:
    """Describe each of several attempts in a line: end, cost, answer, and the judge's objection or choice."""
    lines: list[str] = []
    for number, one in enumerate(outcome.attempts, 1):
        sure = [] if one.confidence is None else [f"confidence {one.confidence}"]
        cost = [_words(one.cost["steps"], one.cost["tokens"], 0, one.cost["usd"], "step")] if one.cost else []
        said = f"refuted: {one.objection}" if one.objection else "chosen" if one.chosen else ""
        about = "; ".join([", ".join([one.status, *sure, *cost]), *([said] if said else [])])
        answer = one.answer if isinstance(one.answer, str) else shown(one.answer)
        what = answer if one.answer not in (None, "") else one.reason
        lines.append(one_line(f"attempt {number} ({about}): {what}", max(MOST_EVIDENCE, most_of(what))))
    return lines


def _source_words(source: str, detail: str, quote: str) -> str:
    """Return a source with its detail and the words quoted from it."""
    said = f'"{one_line(quote, MOST_OF_DETAIL)}"' if quote.strip(" \t\n") else ""
    about = ": ".join(one for one in (one_line(detail, MOST_OF_DETAIL), said) if one)
    return f"{one_line(source)} ({about})" if about else one_line(source)


def _file_words(outcome: "Outcome") -> str:
    """Return the files written by a run in one line: the report with its path, then other files, then records."""
    own = "" if outcome.report is None else str(outcome.report.relative_to(outcome.trace / "workspace"))
    records = f"{own.partition('/')[0]}/"  # what was kept beside a report in a folder comes last
    names = sorted((name for name in outcome.files if name != own), key=lambda name: name.startswith(records))
    report = [f"report: {one_line(str(outcome.report))}"] if outcome.report is not None else []
    more = f"{len(names) - MOST_FILES} more, " if len(names) > MOST_FILES else ""
    place = f"{more}in {outcome.trace / 'workspace'}"
    files = [f"files: {one_line(', '.join((*names[:MOST_FILES], place)), 400)}"] if names else []
    return "; ".join([*report, *files])


def author_words(outcome: "Outcome") -> str:
    """Return the words before the reason of a run's end: if a model was asked, they name its agent as the author."""
    return ", as its agent says" if outcome.reason and outcome.cost.tokens else ""


def reason_of(turn: "Turn") -> str:
    """Return the reason for a failed turn, behind a colon, with its author."""
    last, reason, told = turn.parts[-1], turn.reason or "no reason was given", ""
    if last.outcome is not None and last.reason == turn.reason:
        reason, told = last.outcome.reason or reason, author_words(last.outcome)
    return f"{told}: {reason}"


def cost_words(cost: "Spent") -> str:
    """Return steps, tokens and money as text."""
    words = _words(cost.steps, cost.tokens, cost.cached, cost.usd, "step")
    known = sum(one["usd"] or 0.0 for one in cost.by.values()) if cost.usd is None else 0.0
    words += f" beside ${_money(known)}" if known else ""
    if unsettled := cost.unsettled:
        tokens, usd = unsettled["tokens"], unsettled["usd"]
        money = "price unknown" if usd is None else f"${_money(usd)}"
        words += f"; unsettled: {counted(unsettled['calls'], 'call')}, at most {tokens} tokens, {money}"
    return words


def _words(count: int, tokens: int, cached: int, usd: float | None, noun: str) -> str:
    money = "price unknown" if usd is None else f"${_money(usd)}"
    from_cache = f" ({cached} cached)" if cached else ""
    return f"{counted(count, noun)}, {tokens} tokens{from_cache}, {money}"


def _money(usd: float) -> str:
    """Return dollars as text, small amounts with enough digits to differ from zero."""
    return f"{usd:.{4 if usd >= 0.0001 else 8}f}".rstrip("0").rstrip(".")


def _fault(command: Command, outcome: "Outcome") -> TeaError | None:
    """Return the reason for a run's failure, as an error."""
    if outcome.ok:
        return None
    if outcome.error is not None:
        return error_from(outcome.error)
    if outcome.status == "exhausted":
        problem = f"The budget was exhausted before the task was done{author_words(outcome)}: "
        problem += outcome.reason or "no reason was given"
        if "known price" in problem:
            return BudgetExceeded(problem, fix="state the model's prices, or allow it with --allow-unknown-price.")
        flag = next((flag for word, flag in _FLAGS.items() if word in problem), _FLAGS["step"])
        return BudgetExceeded(problem, fix=f"raise the task's budget, for example with {flag}.")
    doubted = "" if outcome.answer in (None, "") else ", and the answer shown is in doubt"
    problem = f"The task did not succeed{doubted}{author_words(outcome)}: {outcome.reason or 'no reason was given'}"
    return CallFailed(problem, fix=f"`tea trace {outcome.run}{command.at}` shows what was tried.")


def _interrupted(command: Command, run: str) -> Interrupted:
    if not run:
        return Interrupted("Interrupted before the run began.", fix="start it again.")
    fix = f"`tea resume {run}{command.at}` goes on with it."
    return Interrupted(f"Interrupted; the run {run} is kept.", fix=fix, run=run)
