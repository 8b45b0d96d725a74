"""Ending: the answer of a task, from the finished parts to the accepted end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from tea.components.context import Context
from tea.components.json_schema import value_faults
from tea.loop.beside import early_doubts, is_told
from tea.loop.checks import (
    ANSWER,
    Sources,
    doubts_in,
    evidence_in,
    gaps_about,
    insisted,
    joined,
    standing_in,
    with_doubts,
)
from tea.loop.claims import (
    announces,
    file_names,
    gives_up,
    holds_program,
    is_choice,
    is_expression,
    is_program,
    is_talk,
    without_label,
)
from tea.loop.confirmation import confirms
from tea.loop.done_arguments import confidence, is_blank
from tea.loop.end_words import (
    ANNOUNCED,
    BEGUN,
    EMPTY_WORDS,
    GAVE_UP,
    GUESSED,
    IN_WORDS,
    NEXT,
    NO_ANSWER,
    NO_RESULT,
    NOT_RUN,
    NOT_THERE,
    PROBLEMS,
    TRY,
    UNSEEN,
    absent_words,
    example_words,
    no_file,
    remedy,
    short,
)
from tea.loop.fields import MOST_NAMED, Fields
from tea.loop.findings import findings_of
from tea.loop.form import formed, read_as
from tea.loop.grounds import Grounds, unknown_words
from tea.loop.heeding import ignored, unheeded
from tea.loop.ledger import Ledger
from tea.loop.media import is_media
from tea.loop.named_files import NamedFiles
from tea.loop.naming import to_be_written
from tea.loop.observation import Observation
from tea.loop.offer import CONFIDENCE, DONE
from tea.loop.opening import Head
from tea.loop.parts import Parts
from tea.loop.standing import Standing
from tea.loop.undone import undone
from tea.loop.values import holds_value, names_shown, shown_values
from tea.loop.window import Window
from tea.loop.work_state import work_state
from tea.loop.written import Functions, Written
from tea.types import (
    Evidence,
    Fact,
    JsonObject,
    JsonValue,
    Result,
    Task,
    ToolCall,
    WorkState,
    as_text,
    changed,
)

MOST_SCHEMA = 600
MOST_FINDINGS = 16


class Ending:
    """The state of a task's answer, and the check of its end.

    Args:
        task: What was asked.
        ledger: Its facts and plan.
        window: Its results.
        functions: The functions of the agent.
        solver: Whether a solver works on it, which computes its numbers itself.

    `words` are the task and what a person said since, `heads` are what was shown of the task's files before the first
    step, `told` what else, and `today` the date; `pressed` says whether words were just refused, so that the next reply
    should be a call; `refused` is what a `done` gave that was refused in the last step, None without one; `standing` is
    the answer refused last; `unseen` are results of calls beside it.
    """

    def __init__(
        self,
        task: Task,
        ledger: Ledger,
        window: Window,
        functions: Functions,
        *,
        solver: bool = False,
    ) -> None:
        self._functions, self._written = functions, Written(window, functions)
        self._task, self._ledger, self._window = task, ledger, window
        self._named = NamedFiles(task)
        self._solver = solver
        self.words, self.today = task.text, ""
        self._words_held = ""
        self.heads: Sequence[Head] = ()
        self.told: Sequence[str] = ()
        self._parts = Parts()
        self._returned, self._raised = set[str](), set[str]()
        self.accepted: Result | None = None
        self._withdrawn: Result | None = None
        self._judged: JsonValue = None
        self._announced: set[str] = set()
        self._challenged = -1
        self.pressed = False
        self.refused: JsonObject | None = None
        self.standing = Standing()
        self.unseen: Sequence[Observation] = ()
        self._unfit: JsonValue = None
        self._confidence: int | None = None

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Facts from the finished parts of the task, for agents working on another part."""
        return self._parts.facts

    def findings(self, agent: str) -> tuple[Fact, ...]:
        """Return the question, the answers of other agents with reports, and the latest results.

        Args:
            agent: Name of the agent to write of them; its own earlier reports are left out.
        """
        question = Fact(fact=f"The question was: {self.words}")
        return (question, *self._parts.reported(agent), *self._latest())

    def _latest(self) -> list[Fact]:
        kept = self._window.results.values()
        results = [one for one in kept if one.ok and not one.repeated and one.id not in self._parts.ids]
        return [fact for one in results[-MOST_FINDINGS:] for fact in findings_of(one)]

    def reopen(self) -> None:
        """Withdraw an accepted end, so the work goes on; only another answer is doubted anew."""
        self._withdrawn, self.accepted = self.accepted or self._withdrawn, None
        self.standing.drop()

    def hear(self, text: str) -> None:
        """Add the words of a person to the task, and withdraw an end accepted before them."""
        self.reopen()
        self._returned.clear()
        self.words = f"{self.words}\n{text}"

    async def look(self, ctx: Context, arguments: JsonValue) -> None:
        """Look up the files named by a proposed end, unless the run has read or written them.

        Args:
            ctx: What the agent may reach.
            arguments: What `done` gave, or words that are to be the answer.
        """
        await self._named.look(ctx, arguments, self.words, self._words_held, self._sources().knows)

    def stated(self, call: ToolCall) -> ToolCall:
        """Keep the confidence stated beside an answer, and return the call of `done` without it."""
        given = {name: one for name, one in call.arguments.items() if name != CONFIDENCE}
        self._confidence = confidence(call.arguments.get(CONFIDENCE))
        return changed(call, arguments=given)

    def state(self, result: Result) -> WorkState:
        """Return the state of the work at its result: facts, failures, and leads left open."""
        sure, facts = self._confidence if result.ok else None, (*self.facts, *self._latest())
        return work_state(self._ledger, self._window.results.values(), self._parts.failed, facts, sure)

    def check(
        self,
        outcome: Observation,
        others: Sequence[Observation],
        *,
        last: bool,
        unseen: Sequence[Observation] = (),
        more: bool = False,
    ) -> Observation:
        """Return the outcome of `done`, refused if the end does not hold.

        Args:
            outcome: What `done` was given.
            others: The other calls of its step.
            last: Whether this is the last question, so that what cannot be mended is marked instead.
            unseen: Those of them with a result for the model to see.
            more: Whether the budget allows another question after the last one, which is asked once for such results.
        """
        value = cast(JsonObject, outcome.value)
        unseen = () if is_told(value["answer"], unseen) else unseen
        self.unseen = unseen or self.unseen
        if unseen and (not last or (more and "unseen" not in self._returned)):
            self._returned |= {"unseen"} if last else set()
            return outcome.refusal(UNSEEN, "look at their results, then call `done` alone.")
        if failed := [one.name for one in others if not one.ok]:
            return outcome.refusal(f"{failed[0]!r} failed beside `done`.", "say so in the reason, or leave it out.")
        if value["success"] and self._parts.report is None and is_blank(outcome.arguments, self._task.answer):
            return outcome.refusal(NO_ANSWER, "give `answer`, or success false with `reason`.")
        if not value["success"]:
            if not last and (early := self._early(str(value["reason"]))):
                return outcome.refusal(early, TRY)
            self.accepted = self._result(value, evidence_in(value), last=last)
            return outcome
        if (schema := self._task.answer) is not None:
            value = {**value, "answer": read_as(schema, value["answer"])}
            if faults := value_faults(schema, value["answer"]):
                self._unfit = value["answer"]
                fix = f"`answer` must fit {json.dumps(schema, ensure_ascii=False)[:MOST_SCHEMA]}"
                return outcome.refusal(f"The answer does not fit: {'; '.join(faults)}.", fix)
        self._judge(value["answer"])
        sources = self._sources(value["answer"])
        evidence = joined([sources.located(one) for one in evidence_in(value)], self._of_parts(value["answer"]))
        marked = with_doubts(evidence, sources)
        said = f"{self.words}\n{as_text(value['answer'])}"
        absent = [one.source for one in marked if (name := one.source.strip()) in self._named.missing and name in said]
        absent += self._unwritten(value["answer"])
        known = {*self._returned}
        guessed = "" if absent else self._guess(value["answer"], evidence)
        problem = self._once(marked, value["answer"], anew=bool(absent))
        if not last and (held := f"{guessed} {problem}".strip()):
            fix = NOT_THERE if absent else self._fix(known)
            return outcome.refusal(held, fix)
        if absent:
            value = {**value, "success": False, "reason": absent_words(absent)}
        marked = (*self._with_claims(marked, value["answer"], str(value["reason"])), *early_doubts(self.unseen))
        self.accepted = self._result(value, marked, last=bool(absent))
        return outcome

    def points(self, result: Result) -> list[str]:
        """Return the points of an answer left open by other agents, without those asked about."""
        return self._parts.open_points(result, self._raised)

    def proposed(self, text: str, *, last: bool) -> str:
        """Return the reason text without a call does not end the task, empty if it does."""
        problem = self._problem_of(without_label(text.strip(), self._task.text), last=last)
        self.pressed = problem != ""
        return problem

    def _problem_of(self, text: str, *, last: bool) -> str:
        """Return the reason words do not end the task; if they do, accept them as its answer."""
        schema = self._task.answer
        answer: JsonValue = text if schema is None else read_as(schema, formed(text, schema))
        if schema is not None and (faults := value_faults(schema, answer)):
            self._returned.add("nothing")  # one question is enough
            return f"The answer does not fit: {'; '.join(faults)}. Call `done` with `answer` in the form of the task."
        if schema is None and text not in self._announced and (announces(text) or is_program(text, self._task.text)):
            self._announced.add(text)
            return ANNOUNCED
        talk, meant = schema is None and self._is_talk(text), self._confirmed(answer)
        absent = self._unwritten(meant)
        self._judge(meant)
        if not last:
            if schema is None and self._is_not_run(text):
                return self._hold(text, NOT_RUN)
            if "nothing" not in self._returned and not talk and self._has_nothing(text):
                unsure = "" if self._sees else self._guess(answer, ())
                self._returned.add("nothing")
                return self._hold(text, f"{unsure or NO_RESULT} {NEXT}")
            if schema is None and not talk and self._is_empty(text):
                problem = self._once((), answer)
                return self._hold(text, f"{EMPTY_WORDS} {problem}".rstrip())
        again = text in self._announced and announces(text)
        if schema is None and not talk and (again or gives_up(text, self.words)):
            return self._given_up(text, last=last)
        if not last:
            known = {*self._returned}
            if problem := self._once((), self._confirmed(answer), anew=bool(absent)):
                fix = self._fix(known).replace(*IN_WORDS)
                return self._hold(text, f"{problem} {fix[0].upper()}{fix[1:]}")
        answer = self._confirmed(answer)
        self._once((), answer)
        value = {"answer": answer, "success": not absent, "reason": absent_words(absent)}
        marked = self._with_claims(with_doubts(self._of_parts(answer), self._sources()), answer)
        self.accepted = self._result(value, marked, last=bool(absent))
        return ""

    def _is_not_run(self, text: str) -> bool:
        """Return whether words before any call hold code for an open function to run; once."""
        if self._window.results or "run" in self._returned:
            return False
        code, sql = self._functions.runs()
        if not holds_program(text, self.words, code=code, sql=sql):
            return False
        self._returned.add("run")
        return True

    def _given_up(self, text: str, *, last: bool) -> str:
        """Accept words about the lack of an answer as the reason of a failure; without results ask once."""
        grounds = self._grounds()
        asked = "nothing" in self._returned or text in self._announced
        if not (asked or last or grounds.results or grounds.whole):
            self._returned.add("nothing")
            return self._hold(text, f"{NO_RESULT} {NEXT}")
        if not last and (warned := self._unheeded()):
            return self._hold(text, f"{warned} {NEXT}")
        self.accepted = self._result({"answer": "", "success": False, "reason": text}, (), last=last)
        return ""

    def _fix(self, known: set[str]) -> str:
        """Return the remedy of the problems raised since."""
        tells = (self._returned - known) & {"examples", "nothing", "numbers", "parts"}
        return remedy(tells=bool(tells), whole=self._task.answer is None)

    def _judge(self, answer: JsonValue) -> None:
        """Begin to judge an answer; raise all doubts anew if it differs from a withdrawn one."""
        if self._withdrawn is not None and answer != self._judged:
            self._returned.clear()
        self._judged = answer

    def has_form(self, text: str) -> bool:
        """Return whether a text is an answer in the task's form; False if the task has none."""
        schema = self._task.answer
        answer = "" if schema is None else read_as(schema, formed(text.strip(), schema))
        return schema is not None and not isinstance(answer, str) and not value_faults(schema, answer)

    def _grounds(self, evidence: Sequence[Evidence] = ()) -> Grounds:
        spoken = [one.text for one in self._task.history]
        facts = (f"{one.fact}\n{one.quote}" for one in (*self._task.facts, *self._ledger.facts))
        told, quotes = [*self.told, *spoken, *facts], [one.quote for one in evidence if one.quote.strip()]
        results, silent = self._window.results.values(), set[str]() if self._solver else self._written.silent
        read = [json.dumps(one.arguments, ensure_ascii=False) for one in results if self._functions.reads(one.name)]
        return Grounds.of(self.words, told, self.heads, results, quotes, spoken, read, silent, self.today)

    def _written_words(self, grounds: Grounds) -> str:
        """Return the unfounded numbers of written files, in one line."""
        found = self._written.unknown(grounds.numbers).items()
        return "; ".join(f"{name!r}: {', '.join(map(grounds.near, one[:MOST_NAMED]))}" for name, one in found)

    def _is_unread(self, grounds: Grounds) -> bool:
        """Return whether files or an address were given, or calls made, without any result or any file shown whole."""
        given = self._task.files or self._window.results or "://" in self.words
        return bool(given) and not (grounds.results or grounds.whole)

    def _has_nothing(self, text: str) -> bool:
        """Return whether something was given, or calls made, without any result, and the words are new."""
        return self._is_unread(grounds := self._grounds()) and not grounds.tells(text)

    def _early(self, reason: str) -> str:
        """Return the problem of files given up before any call or question, or after a warning; each once."""
        tried = self._window.results or "nothing" in self._returned or self._challenged >= 0
        looked = names_shown(reason, self.words, (one.all for one in self.heads))
        if self._solver or tried or looked or not self._task.files:
            return self._unheeded()
        self._returned.add("nothing")
        return GAVE_UP

    def _unheeded(self) -> str:
        """Return the problem of giving up after a result with a warning, once."""
        warned = self._warned()
        self._returned |= {"warning"} if warned else set()
        return PROBLEMS["warning"].format(warned) if warned else ""

    def _warned(self, answer: JsonValue = None) -> str:
        """Return the warning of the last result, empty if told before or for an answer of something."""
        if self._solver or "warning" in self._returned:
            return ""
        return unheeded(self._window.results.values(), answer)

    def _is_talk(self, text: str) -> bool:
        """Return whether words are talk in a conversation, such as thanks, without a value from the shown results."""
        return self._task.talk and is_talk(self._task.text, text) and not self._holds_value(text)

    @property
    def _sees(self) -> bool:
        """Whether a model may know more than texts hold."""
        return any(is_media(name) for name in self._task.files)

    def _guess(self, answer: JsonValue, evidence: Sequence[Evidence]) -> str:
        """Return the problem of an answer with values shown nowhere, after calls without a result; once."""
        known = self._parts.done or self._task.facts or self._ledger.facts
        grounds = self._grounds(evidence)
        if "nothing" in self._returned or self._sees or known or not self._is_unread(grounds):
            return ""
        numbers = ", ".join(grounds.numbers(answer)[:MOST_NAMED])
        problem = GUESSED.format(numbers) if numbers else example_words(grounds.examples(answer))
        if not problem and (begun := grounds.begun(answer)):
            problem = BEGUN.format(", ".join(begun[:MOST_NAMED]))
        self._returned |= {"nothing"} if problem else set()
        return problem

    def _insisted(self, answer: JsonValue, evidence: Sequence[Evidence]) -> str:
        """Return the doubt about an answer if it was raised before and still holds."""
        grounds = self._grounds(evidence)
        unread, known = self._is_unread(grounds), self._parts.done or self._task.facts or self._ledger.facts
        if not self._returned & {"nothing", "examples", "numbers"} or self._sees or self._solver or (unread and known):
            return ""
        return grounds.doubt(answer)

    def _is_empty(self, text: str) -> bool:
        """Return whether words hold nothing of the results and heads, and were not asked about since the last result.

        Without results and heads they could hold nothing. A written file, or a choice of the task, is enough.
        """
        results = [one for one in self._window.results.values() if one.ok and not one.repeated]
        if self._words_held or self._challenged == len(results) or not (results or self.heads):
            return False
        names = {*file_names(text)} & to_be_written(self.words)
        written = any(one in self._named.made or self._sources().knows(one) for one in names)
        if written or is_choice(text, self.words) or self._holds_value(text) or self._grounds().follows(text):
            return False
        self._challenged = len(results)
        return True

    def is_answer(self, text: str) -> bool:
        """Return whether words beside an end without an answer are one: they hold a value, and announce nothing."""
        free = self._task.answer is None and self._parts.report is None
        return free and not announces(text) and self._holds_value(text)

    def _holds_value(self, text: str) -> bool:
        """Return whether words hold a value out of the results, the heads, or the known facts."""
        results = [one.value for one in self._window.results.values() if one.ok and not one.repeated]
        facts = [one.fact for one in (*self._task.facts, *self._ledger.facts)]
        asked = "\n".join([self.words, *self._task.files])
        return holds_value(text, asked, [*results, *(shown_values(one.all) for one in self.heads), facts])

    def _unwritten(self, answer: JsonValue) -> list[str]:
        """Return the missing files claimed by a text."""
        return self._named.unwritten(answer, self.words, self._window.results.values())

    def _with_claims(self, evidence: Sequence[Evidence], answer: JsonValue, reason: str = "") -> tuple[Evidence, ...]:
        """Return evidence with the doubt about a repeated answer, and one for each missing file it names."""
        known = {one.source.strip() for one in evidence}
        claims = [
            Evidence(source=name, doubt=no_file(name))
            for name in self._named.claimed(answer, self.words)
            if name not in known
        ]
        if "written" in self._returned:
            found = self._written.unknown(self._grounds().numbers)
            claims += [Evidence(source=name, doubt=unknown_words(numbers)) for name, numbers in found.items()]
        claims += ignored(self._window.results.values(), answer, reason)
        left = self._undone(answer)
        claims += [Evidence(source=ANSWER, doubt=one) for name, one in left.items() if one and name in self._asked]
        return (*insisted(evidence, self._insisted(answer, evidence)), *claims)

    @property
    def _asked(self) -> set[str]:
        """The problems asked about; an end without anything read is one of pages as well."""
        return self._returned | ({"unopened"} if "nothing" in self._returned else set())

    def _undone(self, answer: JsonValue) -> dict[str, str]:
        """Return the problems of an answer about undone work, by their names; none for a solver."""
        results, shown = self._window.results.values(), [*self.told, *(one.all for one in self.heads)]
        return {} if self._solver else undone(results, self._functions, answer, self._task, self.words, shown)

    def _hold(self, text: str, problem: str) -> str:
        """Keep words refused for now, as the next reply may only confirm them; return the problem."""
        self._words_held, self.refused = as_text(self._confirmed(text)), None
        self.standing.keep({"answer": self._words_held})
        return problem

    def _confirmed(self, answer: JsonValue) -> JsonValue:
        """Return an answer, or the text kept before if the answer only confirms it, or is much shorter."""
        if not isinstance(answer, str) or not self._words_held or self._holds_value(answer):
            return answer
        return self._words_held if confirms(answer) or 2 * len(answer) < len(self._words_held) else answer

    def finished(self, outcomes: Sequence[Observation], results: Sequence[Result | None] = ()) -> Result | None:
        """Record the results of agents, and return the final result if `done` was accepted."""
        self._words_held, self.pressed = "", False
        self.refused = next((one.arguments for one in outcomes if one.name == DONE and not one.ok), None)
        self.standing.keep(self.refused or {})
        if any(one.ok and not one.repeated and one.name != DONE for one in outcomes):
            self._parts.failed.clear()  # what came later made good for it, or went round it
        for outcome, result in zip(outcomes, results, strict=False):
            if result is not None:
                self._parts.take(outcome, result)
        return self.accepted if any(one.name == DONE and one.ok for one in outcomes) else None

    def so_far(self) -> Result | None:
        """Return the answer so far, None if there is none."""
        return self.best("", ok=True) if self._parts.done or self._formed_so_far() is not None else None

    def _formed_so_far(self) -> JsonValue:
        """Return the best object in the form asked for, None if the task wants none or nothing of it is known."""
        fields = self._ledger.fields
        return (
            None if fields is None else fields.best(self._unfit, *(one.answer for one in reversed(self._parts.results)))
        )

    def best(self, reason: str, *, exhausted: bool = True, ok: bool = False) -> Result:
        """Return the joined answers of the parts, or one held back for a person's word, as unfinished unless `ok`."""
        if self._withdrawn is not None and not ok:
            return changed(self._withdrawn, ok=False, reason=reason, exhausted=exhausted)
        answer = self._parts.answer
        formed, gaps = self._formed_so_far(), tuple[str, ...]()
        if formed is not None:
            answer, gaps = formed, self._gaps(formed)
        return Result(
            answer=answer,
            ok=ok,
            reason=reason,
            evidence=tuple(self._parts.evidence),
            report=self._parts.report,
            exhausted=exhausted and not ok,
            gaps=gaps,
            partial=bool(gaps),
        )

    def with_report(self, result: Result) -> Result:
        """Return a held answer with the report as it was last written."""
        if result.report == self._parts.report:
            return result
        return changed(result, report=self._parts.report, gaps=(*self._gaps(result.answer), *self._parts.report_gaps))

    def _gaps(self, answer: JsonValue) -> tuple[str, ...]:
        """Return a line for each place of an answer in a form without a value."""
        schema = self._task.answer
        return () if schema is None else tuple((self._ledger.fields or Fields(schema)).gaps(answer)[:MOST_NAMED])

    def _once(self, evidence: Sequence[Evidence], answer: JsonValue, *, anew: bool = False) -> str:
        """Return the problems to raise once before an end is accepted; empty if all were raised.

        Args:
            evidence: The evidence, with its doubts.
            answer: The answer.
            anew: Whether doubts and missing files are raised again.
        """
        fields = self._ledger.fields
        self._returned -= {"files", "evidence", "parts"} if anew else set()
        cited = {one.source.strip() for one in evidence}
        grounds = self._grounds()
        checked = bool(grounds.shown or grounds.whole) and not (self._sees or self._solver)
        asked = {
            "fields": ", ".join(fields.unresolved(answer)[:MOST_NAMED]) if fields is not None else "",
            "files": "; ".join(
                map(no_file, (name for name in self._named.claimed(answer, self.words) if name not in cited))
            ),
            "evidence": doubts_in(one for one in evidence if one.source != ANSWER),
            "parts": doubts_in(one for one in evidence if one.source == ANSWER),
            "examples": example_words(grounds.examples(answer)) if checked else "",
            "numbers": ", ".join(map(grounds.near, grounds.numbers(answer)[:MOST_NAMED])) if checked else "",
            "written": self._written_words(grounds) if checked else "",
            **self._undone(answer),
            "expression": str(answer) if is_expression(answer) else "",
            "plan": "; ".join(self._ledger.open_items),
            "failed": "; ".join(f"{short(text)!r}: {why.rstrip('.')}" for text, why in self._parts.failed.items()),
        }
        new = {name: text for name, text in asked.items() if text and name not in self._asked}
        if warned := self._warned(None if new else answer):
            new["warning"] = warned
        self._raised |= {one.doubt for one in evidence if one.doubt} if new.keys() & {"evidence", "parts"} else set()
        self._returned.update(new)
        return " ".join(PROBLEMS[name].format(text.rstrip(".")) for name, text in new.items())

    def _of_parts(self, answer: JsonValue) -> list[Evidence]:
        """Return the evidence of finished parts; doubts about numbers are limited to those in the answer."""
        if answer is None:
            return self._parts.evidence
        known = standing_in(self._own_texts() if self._parts.are_doubted else "")
        return self._parts.evidence_for(as_text(answer), known)

    def _own_texts(self) -> str:
        """Return the task and the results read for it by this agent itself."""
        kept = self._window.results.values()
        return "\n".join([self.words, *(one.text for one in kept if one.ok and one.id not in self._parts.ids)])

    def _sources(self, answer: JsonValue = None) -> Sources:
        """Return the sources for evidence; heads count as whole files if they tell the answer for sure."""
        heads = self.heads
        if answer is not None and self._grounds().shows(answer):
            heads = [one._replace(whole=True) for one in heads]
        facts = (*self._task.facts, *self._ledger.facts)
        results, of_parts = self._window.results.values(), self._of_parts(answer)
        return Sources(
            self.words, facts, results, of_parts, heads, self._named.missing, self._named.made, self._parts.ids
        )

    def _result(self, value: JsonObject, evidence: tuple[Evidence, ...], *, last: bool) -> Result:
        success = bool(value["success"])
        gaps = self._gaps(value["answer"]) if success else ()
        return Result(
            answer=value["answer"],
            ok=success,
            reason=value["reason"],
            evidence=evidence,
            report=self._parts.report,
            exhausted=last and not success,
            gaps=(*gaps, *self._parts.report_gaps, *gaps_about(self._parts.results, as_text(value["answer"]))),
            partial=bool(gaps),
        )
