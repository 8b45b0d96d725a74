"""Words about ends: the last question, faults of an end, and work without an answer."""

from __future__ import annotations

from collections.abc import Sequence

from tea.characters import on_one_line
from tea.loop.fields import MOST_NAMED
from tea.types import Result, as_text

MOST_PART = 120
SHORT_QUESTION = (
    "This is the last question, and the budget allows a short answer only. The last calls and their results{cut}:\n"
    "{results}\nCall `done` now with what is known, and say in `doubts` what is missing; with success false and the "
    "reason only if nothing is known."
)
NO_ANSWER = "`done` came without an answer."
ANNOUNCED = (
    "These words say what comes next, but this reply calls no function. Call it now; if they are the answer, say so "
    "with `done`."
)
EMPTY_WORDS = (
    "These words hold nothing of what was read, and this reply calls no function. If they say what comes next, call it "
    "now; if they are the answer, say so with `done`, or with success false and the reason if it cannot be found."
)
UNCONFIRMED = "The evidence could not be confirmed: {}."
OF_PARTS = "The answer of an agent that worked on a part was in doubt: {}."
NOT_THERE = "write it, or name what was read instead; if the task cannot be done, success false with the reason."
NO_FILE = "There is no file {} in the workspace."
GUESSED = "No function has given a result yet, and what was shown does not tell these numbers for sure: {}."
EXAMPLES = "No result holds {}: the head of a file shows it as one of several values."
BEGUN = (
    "No function has given a result yet, and only the first lines of {} were shown. Read on, or call `done` again with "
    "the passage that says it as evidence (source and quote)."
)
UNFOUNDED = "These numbers of the answer stand in no result, and follow from none by simple arithmetic: {}."
WRITTEN = (
    "These numbers of a file that you wrote stand in no result, and follow from none by simple arithmetic: {}. If they "
    "are wrong, write the file anew."
)
TELL = "call what tells them, or call `done` again if they are right."
MEND = "mend it, or call `done` again if it is right."
TELL_OR_KEEP = 'call what tells them; if they are right, call `done` with "The answer holds." to keep the whole answer.'
MEND_OR_KEEP = 'mend it; if it is right, call `done` with "The answer holds." to keep the whole answer.'
IN_WORDS = (" again", " with the whole answer")  # where words were to be the end
UNSEEN = "`done` stands beside calls whose results nobody has seen yet."
NO_RESULT = "No function has given a result yet."
NOT_RUN = (
    "These words hold code, but no function has run it: what it gives is not known. Run it with a call now; if they "
    "are the answer as they are, say so with `done`."
)
GAVE_UP = "The task was given up before any function was called."
TRY = (
    "if what was shown holds the answer, give it; else call the function that can tell it; if it really cannot be "
    "done, call `done` again with success false and the reason."
)
NEXT = (
    "If these words are the answer, say so with `done`; if it cannot be done, call `done` with success false and the "
    "reason; else call the function that you need next."
)
PROBLEMS = {
    "fields": "These fields of the answer have no value yet: {}.",
    "files": "The task and the answer name it, but {}.",
    "evidence": UNCONFIRMED,
    "parts": OF_PARTS,
    "examples": "{}.",
    "numbers": UNFOUNDED,
    "warning": 'The last result warned: "{}". If that can change the answer, call again with what it says.',
    "written": WRITTEN,
    "unrun": (_UNRUN := "{}. Run it, or say in the answer what did not run or did not pass."),
    "failing": _UNRUN,
    "lost": "{}. Unless that is meant, write it again with all that is to stay, or restore it and edit it.",
    "unchanged": "{}. Write it with a call, or say in the answer that it is as it was.",
    "unopened": "{}. Open it, or say in the answer that it was not opened.",
    "expression": "{} is arithmetic, not its value.",
    "sums": "{}.",
    "unsaid": "{}. If it cannot be done, say so with success false and the reason.",
    "plan": "These items of the plan are open: {}.",
    "failed": "These parts failed: {}.",
}
_LAST_QUESTION = (
    "{first}{beside}. Call `done` now with what is known, and say in `doubts` what is missing; with "
    "success false and the reason only if nothing is known. {task}"
)
_LIMIT = "This is the last question"
_DEAD_END = "The last {steps} steps brought nothing new, so the work ends here"
_STUCK = "Its last {steps} steps brought nothing new{which}, so the work ended. {remedy}"
_AGAIN = ": it made the same call of {name!r} again"
_UNUSABLE = "The model's answers could not be used, {strikes} times in a row: {problem} {remedy}"
_REMEDY = "Ask another model, or put the task in other words or smaller parts."
_BESIDE = "; only here a call that writes what the answer names may stand beside `done`"


def last_question(task: str, *, steps: int, writes: bool) -> str:
    """Return the question for the end.

    Args:
        task: The task, once more.
        steps: How many last steps brought nothing new, and end the work; 0 if a limit ends it.
        writes: Whether calls that write are offered beside `done`.
    """
    first = _DEAD_END.format(steps=steps) if steps else _LIMIT
    return _LAST_QUESTION.format(first=first, beside=_BESIDE if writes else "", task=task)


def stuck_words(steps: int, again: str) -> str:
    """Return the reason of an end after steps without anything new; `again` is the function called again, if any."""
    return _STUCK.format(steps=steps, which=_AGAIN.format(name=again) if again else "", remedy=_REMEDY)


def unusable_words(strikes: int, problem: str) -> str:
    """Return the reason of an end after so many unusable answers in a row, the last with this problem."""
    return _UNUSABLE.format(strikes=strikes, problem=problem, remedy=_REMEDY)


def remedy(*, tells: bool, whole: bool) -> str:
    """Return the remedy of doubts about an answer.

    Args:
        tells: Whether calls can tell what is missing.
        whole: Whether words can keep the answer as it is; one in a form is given again.
    """
    if whole:
        return TELL_OR_KEEP if tells else MEND_OR_KEEP
    return TELL if tells else MEND


def example_words(values: Sequence[str]) -> str:
    """Return the problem of values known as examples only; empty without any."""
    return EXAMPLES.format(", ".join(map(repr, values[:MOST_NAMED]))) if values else ""


def no_file(name: str) -> str:
    """Return the problem of a missing file, to stand within a sentence."""
    return NO_FILE.format(repr(name[:100])).removesuffix(".").replace("There", "there", 1)


def absent_words(names: Sequence[str]) -> str:
    """Return the problem of an end naming missing files; empty if none is missing."""
    return NO_FILE.format(repr(names[0][:100])) if names else ""


def short(text: str) -> str:
    """Return the beginning of the task of a part, for a line about it."""
    return text if len(text) <= MOST_PART else f"{text[:MOST_PART].rpartition(' ')[0]} ..."


def part_words(text: str, result: Result) -> str:
    """Return the answer of a part as one of several.

    Args:
        text: The task of the part.
        result: Its result.
    """
    return f"{on_one_line(text)[:200]}: {as_text(result.answer)}"
