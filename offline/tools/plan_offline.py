"""Plan without a model: by rules over the steps so far."""

import json
import re
from typing import Any

from tea import tool

from ._plan_offline.arithmetic import expression_of
from ._plan_offline.past import Call, Made, Past, Step, broke_off, questions_of, reason_of

MOST_FILES_ALONE = 5
_PLAN = "plan"
_ANALYST = "analyzer"
_WRITER = "reporter"
_SENTENCE_ENDS = re.compile(r"([.?!])")
_WRITES = re.compile(r"\b(?:write|make|prepare|draft|give)\b", re.IGNORECASE)
_REPORT = re.compile(r"\breport\b", re.IGNORECASE)
_WORD = re.compile(r"[^\s,;]+|[,;]")
_LEADS = ("and", "then", "please")


@tool(effects="reads", idempotent=True, network=False, metadata={"category": "solver"})
def plan_offline(
    task: str,
    files: list[str] | None = None,
    answer: dict[str, Any] | None = None,
    history: list[dict[str, Any]] | None = None,
) -> Step:
    """Decide a planner's next step: a pure function of the task and the steps so far.

    Arithmetic goes to the calculator; every other question is planned, given to the analyzer, tried in one other way
    where that fails, and reported where a report is asked for; what cannot be found out is given up with the reason.

    Args:
        task: The task in words.
        files: Names of the files it is about.
        answer: JSON Schema of the wanted answer.
        history: What was seen: for each step, its calls with their results.

    Examples:
        >>> plan_offline("What is 12% of 250?").calls[0].arguments
        {'expression': '12 / 100 * 250'}
    """
    past = Past(history or [])
    refused = [call for call in past.of("done") if not call["ok"]]
    if refused:
        return _end_again(refused)
    expression = expression_of(task)
    if expression is not None:
        return _calculate(expression, answer, past)
    return _Plan(task, files or [], answer, past).next_step()


def _calculate(expression: str, answer: dict[str, Any] | None, past: Past) -> Step:
    made = past.of("calculator")
    if not made:
        return _step(
            thinking="The task is arithmetic alone: one call answers it, and a plan would say nothing more.",
            memory=f"The expression is {expression}.",
            next_goal="Calculate it.",
            calls=[_call("calculator", expression=expression)],
        )
    if not made[-1]["ok"]:
        return _give_up([], reason_of(made[-1]))
    value = _formed(made[-1]["value"], answer)
    evidence = [{"source": "calculator", "detail": expression, "quote": str(made[-1]["value"])}]
    return _step(
        thinking="The calculator gave the value, and nothing else was asked.",
        evaluation="Success: the expression has a value.",
        memory=f"{expression} is {value}.",
        next_goal="Give the answer.",
        calls=[_call("done", answer=value, success=True, evidence=evidence)],
    )


class _Plan:
    """A question about files: analyse, report, answer."""

    def __init__(self, task: str, files: list[str], answer: dict[str, Any] | None, past: Past) -> None:
        rest, self.reports = _without_report(task)
        self.task = task = rest.strip() or task
        self.files = files
        self.answer = answer
        self.past = past
        self.questions = [task] if answer else questions_of(task)
        self.tries = past.of(_ANALYST)
        self.report_item = len(self.questions) + 1
        planned = [call for call in past.of(_PLAN) if call["ok"]]
        self.items: list[dict[str, str]] = planned[-1]["arguments"]["items"] if planned else []

    def next_step(self) -> Step:
        first, second = self.tries[: len(self.questions)], self.tries[len(self.questions) :]
        if not first:
            return self._begin()
        if all(one["ok"] for one in first):
            return self._conclude(first)
        other = self._other_way(first)
        if not second:
            return self._replan(first, other) if other else self._fail(first)
        agreed = self._agreed(first, second)
        return self._conclude(agreed) if agreed else self._fail(first)

    def _begin(self) -> Step:
        where = ", ".join(self.files) or "the task itself"
        items = [f"Find out from {where}: {question}" for question in self.questions]
        items += ["Write the report"] if self.reports else []
        planned = [{"item": one, "state": "open"} for one in (*items, "Give the answer")]
        plan = [_call(_PLAN, items=planned)] if len(items) > 1 else []
        return _step(
            thinking=f"The task asks {_count(len(self.questions), 'question')} about {where}. The analyzer reads "
            "files.",
            memory=f"Nothing is known yet; {_count(len(self.questions), 'part')} to find out.",
            next_goal=f"Have the analyzer answer from {where}.",
            calls=[*plan, *(self._analysis(question, self.files) for question in self.questions)],
        )

    def _other_way(self, first: list[Made]) -> list[Call]:
        """Return the calls of another way to the answer, or none."""
        if len(self.questions) > 1 or broke_off(first[0]):
            return [self._analysis(self.task, self.files)]
        if 1 < len(self.files) <= MOST_FILES_ALONE:
            return [self._analysis(self.task, [name]) for name in self.files]
        return []

    def _replan(self, first: list[Made], other: list[Call]) -> Step:
        failed = [number for number, one in enumerate(first, 1) if not one["ok"]]
        items = [f"Try another way: {', '.join(call.arguments['files']) or 'the whole task'}" for call in other]
        why = reason_of(first[failed[0] - 1])
        return _step(
            thinking=f"The first way failed: {why} There is one other way, and it has not been tried.",
            evaluation=f"Failure: {why}",
            memory=f"The first way failed: {why}",
            next_goal="Try the other way once.",
            calls=[*self._mark(dict.fromkeys(failed, "failed"), items), *other],
        )

    def _agreed(self, first: list[Made], second: list[Made]) -> list[Made]:
        """Return the findings of the second way, if they leave no doubt."""
        found = [one for one in second if one["ok"]]
        answers = {json.dumps(one["value"]["answer"], sort_keys=True) for one in found}
        return found[:1] if len(answers) == 1 else []

    def _conclude(self, found: list[Made]) -> Step:
        written = self.past.of(_WRITER)
        if self.reports and not written:
            return self._report(found)
        states = self._answered() | dict.fromkeys(range(self.report_item + 1, len(self.items) + 1), "done")
        states[self.report_item] = "failed" if written and not written[-1]["ok"] else "done"
        value = _answer(found)
        arguments = {"answer": value, "success": True, "evidence": _evidence(found)}
        return _step(
            thinking="The analyzer's answer stands, and its sources are known.",
            evaluation=_told_of(written),
            memory=f"The answer is {_short(value)}.",
            next_goal="Give the answer.",
            calls=[*self._mark(states), _call("done", **arguments)],
        )

    def _answered(self) -> dict[int, str]:
        """Return the state of the items with answered questions."""
        return {number: "done" for number in range(1, self.report_item) if self.tries[number - 1]["ok"]}

    def _report(self, found: list[Made]) -> Step:
        states = self._answered()
        value = _answer(found)
        return _step(
            thinking="The analyzer gave an answer with its sources; the reporter writes it down, to be checked.",
            evaluation=f"Success: the analyzer answered {_short(value)}.",
            memory=f"The answer is {_short(value)}.",
            next_goal="Have the report written.",
            calls=[*self._mark(states), _call(_WRITER, task=_assignment(self.task, value, found))],
        )

    def _fail(self, first: list[Made]) -> Step:
        failed = [one for one in first if not one["ok"]]
        states = {number: "failed" for number, one in enumerate(first, 1) if not one["ok"]}
        return _give_up(self._mark(states), "; ".join(dict.fromkeys(reason_of(one) for one in failed)))

    def _analysis(self, question: str, files: list[str]) -> Call:
        arguments: dict[str, Any] = {"task": question, "files": files}
        return _call(_ANALYST, **arguments, **({"answer": self.answer} if self.answer else {}))

    def _mark(self, states: dict[int, str], more: list[str] | None = None) -> list[Call]:
        """Return the call to change the states of plan items by number, and to add items, or none."""
        if not self.items:
            return []
        items = [{**one, "state": states.get(number, one["state"])} for number, one in enumerate(self.items, 1)]
        return [_call(_PLAN, items=[*items, *({"item": one, "state": "open"} for one in more or ())])]


def _end_again(refused: list[Made]) -> Step:
    last = refused[-1]
    if len(refused) > 1:
        return _give_up([], f"The answer was refused: {reason_of(last)}")
    return _step(
        thinking="The end was refused; without the other calls of that step it may hold.",
        evaluation=f"Failure: {reason_of(last)}",
        memory="The answer is known, and was refused once.",
        next_goal="Give the answer alone.",
        calls=[_call("done", **last["arguments"])],
    )


def _give_up(before: list[Call], reason: str) -> Step:
    return _step(
        thinking="No other way is left that has not been tried. An honest end is better than a guess.",
        evaluation=f"Failure: {reason}",
        memory=f"It could not be found out: {reason}",
        next_goal="Say that it could not be done, and why.",
        calls=[*before, _call("done", success=False, reason=" ".join(reason.split()))],
    )


def _assignment(task: str, answer: Any, found: list[Made]) -> str:
    """Return the reporter's task: words, and the findings as JSON."""
    findings = [
        {
            "content": f"{one['arguments']['task']} {_text(one['value']['answer'])}",
            "references": one["value"]["evidence"],
        }
        for one in found
    ]
    read = [name for one in found for name in one["arguments"].get("files", [])]
    where = ", ".join(dict.fromkeys(read)) or "the task alone"
    method = f"The planner gave the question to the analyzer, which worked on {where}."
    facts = {"question": task, "answer": _text(answer), "method": method, "findings": findings}
    return f"Write the report of this work.\n\n```json\n{json.dumps(facts, ensure_ascii=False, indent=1)}\n```"


def _answer(found: list[Made]) -> Any:
    if len(found) == 1:
        return found[0]["value"]["answer"]
    return "\n".join(f"{number}. {_text(one['value']['answer'])}" for number, one in enumerate(found, 1))


def _evidence(found: list[Made]) -> list[dict[str, str]]:
    return [source for one in found for source in one["value"]["evidence"]]


def _told_of(written: list[Made]) -> str:
    """Return the fate of the report."""
    if not written:
        return "Success: the analyzer gave an answer."
    report = str(written[-1]["value"]["report"] or "") if written[-1]["ok"] else ""
    return f"Success: the report is {report}." if report else f"No report: {reason_of(written[-1])}"


def _without_report(task: str) -> tuple[str, bool]:
    """Return a task without its wishes for a report, and whether there are any."""
    pieces, asked = list[str](), False
    texts = _SENTENCE_ENDS.split(task)
    for text, end in zip(texts[::2], [*texts[1::2], ""], strict=True):
        verb = _WRITES.search(text)
        if verb is None or _REPORT.search(text, verb.end()) is None:
            pieces += [text, end]
            continue
        asked = True
        pieces += [_without_leads(text[: verb.start()]), end if end == "?" else ""]
    return "".join(pieces), asked


def _without_leads(text: str) -> str:
    """Return the text before a clause, without its leading words and mark."""
    cut = len(text)
    for word in reversed(list(_WORD.finditer(text))):
        if word[0].lower() not in _LEADS:
            break
        cut = word.start()
    rest = text[:cut].rstrip()
    return rest[:-1] if rest.endswith((",", ";")) else rest


def _formed(value: int | float, answer: dict[str, Any] | None) -> Any:
    """Return a number without an empty fraction or rounding noise, as words if the schema wants words."""
    number = int(value) if value == int(value) else float(f"{value:.12g}")
    return str(number) if (answer or {}).get("type") == "string" else number


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(value: Any) -> str:
    text = " ".join(_text(value).split())
    return text if len(text) <= 120 else text[:117] + "..."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _call(name: str, **arguments: Any) -> Call:
    return Call(name=name, arguments=arguments)


def _step(*, thinking: str, memory: str, next_goal: str, calls: list[Call], evaluation: str = "") -> Step:
    return Step(
        thinking=thinking,
        evaluation=evaluation or "There was no goal before the first step.",
        memory=memory,
        next_goal=next_goal,
        calls=calls,
    )
