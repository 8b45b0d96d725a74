"""Reflecting: the obedient model derives a change from the traces shown to it, and from nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from tea.types import JsonObject

_VARIABLE = re.compile(r"<variable component='(\S+)' name='(\S+)'>\n(.*?)\n</variable>", re.DOTALL)
_RUN = re.compile(r"<run task='(.*?)' score=(\S+) ended='(.*?)'>\n(.*?)</run>", re.DOTALL)
_STEP = re.compile(r"^ *(?:\w+:)?(\w+)(?:@\S+)?\((.*)\) -> (.*)$", re.MULTILINE)
_IMPROVED = "<IMPROVED_VARIABLE>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """A found cause, and the text to remove it.

    Args:
        component: Where it is, `kind:name`; empty if no trace shows a cause.
        variable: Name of the variable.
        text: Its whole new text.
        why: The cause in one line.
    """

    component: str
    variable: str
    text: str
    why: str

    def to_json(self) -> JsonObject:
        """Return the answer in the form wanted by the prompt of the agent `reflector`."""
        lists = ("failure_points", "missing_facts", "wrong_assumptions", "unsafe_actions")
        own = {name: getattr(self, name) for name in ("component", "variable", "text", "why")}
        return {**{name: [] for name in lists}, "cause": self.why, **own}

    def text_for(self, question: str) -> str:
        """Return the new text in the form wanted by an optimiser's question."""
        if _IMPROVED in question:  # asked for feedback only, it quotes the material
            return f"{_IMPROVED}{self.text}</IMPROVED_VARIABLE>"
        if "```" in question:
            return f"{self.why}\n```\n{self.text}\n```"
        return "\n".join(dict.fromkeys(one[0] for one in _RUN.finditer(question)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRun:
    """A run as a reflection shows it."""

    score: float
    ended: str
    task: str
    expected: str
    answered: str
    reason: str
    steps: Sequence[tuple[str, str, str]]

    @classmethod
    def of(cls, score: str, ended: str, body: str) -> ShownRun:
        """Read a run; a hidden line is empty."""
        fields = {
            name: found[1] if (found := re.search(rf"^{name}: (.*)$", body, re.MULTILINE)) else ""
            for name in ("expected", "answered", "reason")
        }
        task = re.search(r"^task: (.*?)(?=^(?:expected|answered|reason|step)\b|\Z)", body, re.MULTILINE | re.DOTALL)
        steps = [(one[1], one[2], one[3]) for one in _STEP.finditer(body)]
        return cls(score=float(score), ended=ended, task=task[1].strip() if task else "", steps=steps, **fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The material of a reflection: variables by component and name, and failed runs."""

    variables: Mapping[tuple[str, str], str]
    failed: Sequence[ShownRun]

    @classmethod
    def of(cls, text: str) -> Shown:
        """Read the material of a reflection."""
        runs = [ShownRun.of(*one.groups()[1:]) for one in _RUN.finditer(text)]
        variables = {(one[1], one[2]): one[3] for one in _VARIABLE.finditer(text)}
        return cls(variables=variables, failed=[one for one in runs if one.score < 1])

    def of_kind(self, kind: str) -> Iterator[tuple[str, str, str]]:
        """Yield component, variable and text of those of a kind."""
        yield from ((where, name, text) for (where, name), text in self.variables.items() if where.startswith(kind))


def reflection(text: str) -> Diagnosis:
    """Return a change derived from the material; one without much effect if no cause is shown."""
    shown = Shown.of(text)
    for find in _FINDERS:
        if (found := find(shown)) is not None:
            return found
    return _aimless(shown)


def _aimless(shown: Shown) -> Diagnosis:
    """Return a change without effect, for material without a cause."""
    for (component, variable), text in shown.variables.items():
        if component.startswith(("memory:", "solution:", "agent:")) and text.lstrip().startswith("{"):
            changed = _json(text, lambda data: {**data, "description": f"{data.get('description', '')} Checked."})
        elif component.startswith("prompt:"):
            changed = f"{text}\nWork with care."
        else:  # without a visible cause code is left unchanged
            changed = text
        return Diagnosis(component=component, variable=variable, text=changed, why="No cause is shown.")
    return Diagnosis(component="", variable="", text="", why="No variable is shown.")


def _rule(shown: Shown, about: str, rule: str, why: str) -> Diagnosis | None:
    """Return a rule put in place of the one about the same thing, or added."""
    for component, variable, text in shown.of_kind("prompt:"):
        lines = [line for line in text.splitlines() if not re.search(about, line)]
        changed = "\n".join([*lines, rule])
        if changed != text:
            return Diagnosis(component=component, variable=variable, text=changed, why=why)
    return None


def _letters(shown: Shown) -> Diagnosis | None:
    """Find answers right but for their letters."""
    for run in shown.failed:
        if run.expected and run.expected != run.answered and run.expected.casefold() == run.answered.casefold():
            form = "in capitals" if run.expected.isupper() else "in small letters"
            return _rule(shown, "^Write words ", f"Write words {form}.", "The letters have the wrong form.")
    return None


def _decimals(shown: Shown) -> Diagnosis | None:
    """Find numbers right but for their decimals."""
    for run in shown.failed:
        noun, wanted = re.search(r"the (\w+) of", run.task), re.fullmatch(r"\d+\.(\d+)", run.expected)
        same = re.fullmatch(r"[\d.]+", run.answered) and wanted and float(run.answered) == float(run.expected)
        if noun and wanted and same:
            rule = f"Write {noun[1]}s with {len(wanted[1])} decimals."
            return _rule(shown, rf"^Write {noun[1]}s with", rule, "Decimals are missing.")
    return None


def _unit(shown: Shown) -> Diagnosis | None:
    """Find numbers without a unit."""
    for run in shown.failed:
        noun, behind = re.search(r"the (\w+) of", run.task), re.fullmatch(r"([\d.]+) ([a-z]+)", run.expected)
        if noun and behind and behind[1] == run.answered:
            rule = f"Write {behind[2]} behind {noun[1]}s."
            return _rule(shown, rf"behind {noun[1]}s", rule, "The unit is missing.")
    return None


def _dates(shown: Shown) -> Diagnosis | None:
    """Find dates in the wrong order."""
    for run in shown.failed:
        wanted = re.fullmatch(r"(\d{2})\.(\d{2})\.(\d{4})", run.expected)
        if wanted and run.answered == f"{wanted[3]}-{wanted[2]}-{wanted[1]}":
            return _rule(shown, "^Write dates", "Write dates as day.month.year.", "Dates have the wrong order.")
    return None


def _wrong_tool(shown: Shown) -> Diagnosis | None:
    """Find tools with a result other than described."""
    for run in shown.failed:
        noun = re.search(r"the (\w+) of", run.task)
        for name, _, result in run.steps if noun else ():
            told = re.match(r'\{"(\w+)":', result)
            text = shown.variables.get((f"tool:{name}", "source"), "")
            line = f'"""Tell the {noun[1]} of an item.' if noun else ""
            if noun and told and told[1] not in (noun[1], "code") and line in text:
                changed = text.replace(line, f'"""Tell the {told[1]} of an item.')
                why = f"{name} is described as telling the {noun[1]}, and tells the {told[1]}."
                return Diagnosis(component=f"tool:{name}", variable="source", text=changed, why=why)
    return None


def _wrong_unit(shown: Shown) -> Diagnosis | None:
    """Find tools with input in another unit than described."""
    for run in shown.failed:
        for name, _, result in run.steps:
            text = shown.variables.get((f"tool:{name}", "source"), "")
            if '"km":' in result and "in miles" in text:
                why = f"{name} takes kilometres, and is described as taking miles."
                changed = text.replace("in miles", "in kilometres")
                return Diagnosis(component=f"tool:{name}", variable="source", text=changed, why=why)
    return None


def _wrong_sum(shown: Shown) -> Diagnosis | None:
    """Find sums with a number left out."""
    for run in shown.failed:
        for name, arguments, result in run.steps:
            text = shown.variables.get((f"tool:{name}", "source"), "")
            numbers = [int(one) for one in re.findall(r"\d+", arguments)]
            given, wanted = re.search(r"\d+", result), re.fullmatch(r"\d+", run.expected)
            if not (numbers and given and wanted):
                continue
            left_out = int(wanted[0]) - int(given[0])
            for slice, number in (("[1:]", numbers[0]), ("[:-1]", numbers[-1])):
                if left_out == number and slice in text:
                    changed, why = text.replace(slice, ""), f"{name} leaves a number out."
                    return Diagnosis(component=f"tool:{name}", variable="source", text=changed, why=why)
    return None


def _raising(shown: Shown) -> Diagnosis | None:
    """Find tools failing on names of one word, or on capital letters."""
    repairs = (("not enough values to unpack", "first, second = ", "first, *second = "),
               ("KeyError", "[item[0]]", "[item[0].lower()]"))  # fmt: skip
    for run in shown.failed:
        for name, _, result in run.steps:
            text = shown.variables.get((f"tool:{name}", "source"), "")
            for error, old, new in repairs:
                if error in result and old in text:
                    why = f"{name} fails: {error}."
                    return Diagnosis(component=f"tool:{name}", variable="source", text=text.replace(old, new), why=why)
    return None


def _limit(shown: Shown) -> Diagnosis | None:
    """Find agents with too few steps."""
    if any(word in run.reason for run in shown.failed for word in ("step budget ended", "too many questions")):
        for component, variable, text in shown.of_kind("agent:"):
            if text.lstrip().startswith("{"):
                changed = _json(text, lambda data: {**data, "max_steps": 4 * int(data.get("max_steps", 20))})
            else:
                changed = re.sub(r"(max_steps = |range\()(\d+)", lambda one: f"{one[1]}{4 * int(one[2])}", text)
            return Diagnosis(component=component, variable=variable, text=changed, why="There are too few steps.")
    return None


def _dropped(shown: Shown) -> Diagnosis | None:
    """Find memories dropping a needed fact."""
    for run in shown.failed:
        said = re.search(r"nothing is recalled, (\d+) facts are", " ".join(one[2] for one in run.steps))
        for component, variable, text in shown.of_kind("memory:") if said else ():
            drop = ("kinds", "scope") if said and said[1] == "0" else ("limit",)
            changed = _json(text, lambda data, drop=drop: {key: one for key, one in data.items() if key not in drop})
            return Diagnosis(component=component, variable=variable, text=changed, why="The memory drops facts.")
    return None


def _stale(shown: Shown) -> Diagnosis | None:
    """Find solutions with an old rate: each payment tells the present one."""
    for run in shown.failed:
        paid = re.search(r"Pay (\d+) crowns", run.task)
        for component, variable, text in shown.of_kind("solution:") if paid and run.expected.isdigit() else ():
            rate = int(run.expected) // int(paid[1]) if paid else 0
            changed = _json(text, lambda data, rate=rate: {**data, "content": rate})
            return Diagnosis(component=component, variable=variable, text=changed, why="The rate is an old one.")
    return None


def _json(text: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> str:
    return json.dumps(change(cast("dict[str, Any]", json.loads(text))), indent=2) + "\n"


_FINDERS: Sequence[Callable[[Shown], Diagnosis | None]] = (
    _letters, _decimals, _unit, _dates, _wrong_tool, _wrong_unit, _wrong_sum, _raising, _limit, _dropped, _stale,
)  # fmt: skip
