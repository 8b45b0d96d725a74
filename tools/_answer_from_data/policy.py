"""Which way a task is worked on: by arithmetic, from tables, or from texts."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from . import tables_policy, text_policy
from .answers import Outcome, answer_value
from .arithmetic import expression
from .cleaning import Asked, cleaned
from .steps import History, Step, call, given_up, result_of, step

_TABLES = {".csv", ".tsv", ".tab", ".psv", ".dat", ".data", ".json", ".jsonl", ".ndjson", ".geojson", ".xlsx", ".xlsm"}
MOST_CHARACTERS = 1_000
_ABOUT_ALL = re.compile(
    r"(?:is|are|do|does|did|has|have|was|were) (?:all|every|each|most|half|none|no|both)\b", re.IGNORECASE
)


def next_step(task: str, files: list[str], history: History, answer: Mapping[str, Any] | None) -> Step:
    """Return the next step of the work on a task; a pure function of its arguments."""
    if len(task) > MOST_CHARACTERS:
        return given_up("the task is too long for the rules that stand in for a model")
    asked = cleaned(task, files)
    if sum_ := expression(asked.question):
        return _calculate(asked, sum_, history, answer)
    if _ABOUT_ALL.match(asked.question):
        return given_up("whether something holds for all is more than the rules can tell")
    if not files:
        return given_up("there are no files to look into, and the task is not arithmetic")
    tables = [file for file in files if PurePosixPath(file).suffix.lower() in _TABLES]
    texts = [file for file in files if file not in tables]
    if tables:
        return tables_policy.next_step(asked, tables, history, answer)
    return text_policy.next_step(asked, texts, history, answer)


def _calculate(asked: Asked, sum_: str, history: History, answer: Mapping[str, Any] | None) -> Step:
    wanted = call("calculator", expression=sum_)
    result = result_of(history, wanted)
    if result is None:
        return step("The task is arithmetic.", "Nothing was done yet.", "", "Compute the value.", wanted)
    if not result.get("ok"):
        return given_up("the expression has no value")
    value = answer_value(Outcome(values=(result["value"],)), answer, asked.places)
    if value is None:
        return given_up("the answer is not of the wanted type")
    done = call("done", answer=value, success=True, evidence=[], reason="")
    return step(f"The value is {value}.", "The calculator gave a value.", "", "Report the value.", done)
