"""Evaluation: a generated tool held against its tests, stage by stage, in a sandbox of its own.

The agent, `tea new` and evolution judge with it. Source: the paper, Appendix D.6 (evaluate before registering).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from tea.components.json_schema import schema_fault
from tea.components.manifest import Lineage, Manifest
from tea.components.operation import Signature
from tea.errors import BadComponent, TeaError
from tea.refs import FIRST
from tea.source.dynamic import DynamicManager
from tea.source.text import SourceText
from tea.types import JsonObject, JsonSchema, JsonValue
from tea.untrusted.cases import Case, case_fault, same_value
from tea.untrusted.conduct import conduct_fault
from tea.untrusted.trial import Trial, Tried, opened_trial

if TYPE_CHECKING:
    from tea.sandbox.levels import Sandboxes

StageName = Literal[
    "cases", "source", "conduct", "load", "schema", "examples", "tests", "deeds", "state", "input", "task"
]
STAGES: tuple[StageName, ...] = get_args(StageName)
LARGE = 10_000_000  # characters of the input that no tool may break on
LONGER = 1_000  # characters and items of the tests' texts and lists, repeated, that each call has to end on
_LARGEST_ITEM = 1_000  # characters of an item as JSON; larger ones are repeated less often
_MOST_PARAMETERS = 12
_EFFECTS = ("reads", "writes")
_STRANGE: tuple[JsonValue, ...] = (None, True, -1.5, "\ud800x".encode("utf-8", "replace").decode(), [[]], {"a": {}})
_MOST_STRANGE = 8
_LARGE_SECONDS = 20.0
_CRASHED = (
    "that is a crash, and a refusal was wanted: before anything else fails, "
    'raise ToolError("What is wrong.", fix="What to do."), with both texts'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage: whether the tool passed it, and the observation."""

    name: StageName
    ok: bool
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The outcome of an evaluation; the first failed stage ends it.

    Args:
        stages: Those gone through, in their order.
        manifest: What the tool says of itself, where it could be loaded.
        result: What it gave for the task's own input.
        passed: How many of the tests it passed.
    """

    stages: tuple[Stage, ...]
    manifest: Manifest | None = None
    result: JsonValue = None
    passed: int = 0

    @property
    def ok(self) -> bool:
        """Whether no stage failed."""
        return all(one.ok for one in self.stages)

    @property
    def failed(self) -> Stage | None:
        """The failed stage, None without one."""
        return next((one for one in self.stages if not one.ok), None)

    def to_json(self) -> JsonObject:
        """Return the outcome as a JSON object, without the source."""
        stages = [{"stage": one.name, "ok": one.ok, "words": one.words} for one in self.stages]
        name = "" if self.manifest is None else self.manifest.name
        return {"ok": self.ok, "name": name, "passed": self.passed, "stages": stages, "result": self.result}


class _Refused(Exception):
    """The end of an evaluation: a stage failed."""


@dataclass(slots=True, kw_only=True)
class _Course:
    """An evaluation under way."""

    stages: list[Stage] = field(default_factory=list[Stage])
    manifest: Manifest | None = None
    result: JsonValue = None
    passed: int = 0

    def passes(self, name: StageName, words: str = "") -> None:
        self.stages.append(Stage(name=name, ok=True, words=words))

    def fails(self, name: StageName, words: str) -> _Refused:
        self.stages.append(Stage(name=name, ok=False, words=words))
        return _Refused()

    def outcome(self) -> Evaluation:
        return Evaluation(stages=tuple(self.stages), manifest=self.manifest, result=self.result, passed=self.passed)


async def evaluate(
    source: str,
    cases: Sequence[Case],
    sandboxes: Sandboxes,
    *,
    given: JsonObject | None = None,
    files: Mapping[str, bytes] | None = None,
) -> Evaluation:
    """Test a tool's source stage by stage, and return the stages reached; nothing is registered.

    Args:
        source: The main file.
        cases: Its tests, made from the task and not from the source.
        sandboxes: Gives the sandbox that all of its code runs in.
        given: Arguments taken from the task itself; the result on them is part of the outcome.
        files: Files of the workspace that it finds there, by name.

    Raises:
        ToolError: There is no sandbox.
    """
    course = _Course()
    try:
        if fault := case_fault(cases):
            raise course.fails("cases", fault)
        course.passes("cases", f"{len(cases)}, {sum(one.fails for one in cases)} with wrong input")
        text = await asyncio.to_thread(_checked, course, source)
        async with opened_trial(text, sandboxes, files or {}) as trial:
            await _loaded(course, trial)
            await _run_tests(course, trial, cases)
            await _strain(course, trial, cases)
            if given is not None:
                await _on_task(course, trial, given)
    except _Refused:
        pass
    return course.outcome()


async def passes(
    source: SourceText, cases: Sequence[Case], sandboxes: Sandboxes, files: Mapping[str, bytes] | None = None
) -> bool:
    """Return whether a known tool passes tests made for another.

    Args:
        source: Its checked source.
        cases: The tests.
        sandboxes: Gives the sandbox.
        files: Files of the workspace that it finds there, by name.

    Raises:
        ToolError: There is no sandbox.
    """
    course = _Course()
    try:
        async with opened_trial(source, sandboxes, files or {}) as trial:
            await _loaded(course, trial)
            await _run_tests(course, trial, cases)
    except _Refused:
        pass
    return course.passed == len(cases)


def _checked(course: _Course, source: str) -> SourceText:
    try:
        text = DynamicManager(lambda _: False).check(source, kind="tool")
    except BadComponent as error:
        raise course.fails("source", f"{error.problem} {error.fix}") from error
    course.passes("source")
    if fault := conduct_fault(text.source, text.name):
        raise course.fails("conduct", fault)
    course.passes("conduct")
    return text


async def _loaded(course: _Course, trial: Trial) -> None:
    try:
        course.manifest = await trial.describe(version=str(FIRST), lineage=Lineage(how="generator"))
    except TeaError as error:
        raise course.fails("load", error.problem) from error
    course.passes("load")
    if fault := _schema_fault(course.manifest.operation("call"), course.manifest):
        raise course.fails("schema", fault)
    course.passes("schema")
    try:
        examples = await trial.examples()
    except TeaError as error:
        raise course.fails("examples", error.problem) from error
    if failed := [one for one in examples if one.get("ok") is not True]:
        words = f"{failed[0].get('call')} gave {failed[0].get('found')}, and not {failed[0].get('wanted')}"
        raise course.fails("examples", words)
    course.passes("examples", f"{len(examples)} as written")


async def _run_tests(course: _Course, trial: Trial, cases: Sequence[Case]) -> None:
    """Run the tests, and again in reverse order: a result may not depend on the calls before."""
    first: list[Tried] = []
    for case in cases:
        tried = await trial.call(case.arguments)
        if fault := _case_fault(case, tried):
            raise course.fails("tests", fault)
        first.append(tried)
        course.passed += 1
    course.passes("tests", f"{len(cases)} passed")
    allowed = course.manifest is not None and course.manifest.operation("call").traits.effects == "writes"
    deeds = [one for tried in first for one in tried.did if not (allowed and one.startswith("writes the file"))]
    if deeds:
        raise course.fails("deeds", f"it {deeds[0]}")
    course.passes("deeds")
    for case, before in reversed(list(zip(cases, first, strict=True))):
        again = await trial.call(case.arguments)
        if again.ok != before.ok or not same_value(again.value, before.value):
            words = f"{_call(case.arguments)} gave {_shown(before)}, and {_shown(again)} when called again"
            raise course.fails("state", words)
    course.passes("state")


async def _strain(course: _Course, trial: Trial, cases: Sequence[Case]) -> None:
    """Call the tool with input outside the schema, with longer input, and with input too large for a result.

    Outside of the schema each call is an error. On the tests' input, repeated, it ends by itself, as a value or an
    error. Behind ten million characters, on which it may be stopped, it still works.
    """
    assert course.manifest is not None
    good = next(one for one in cases if not one.fails)
    for arguments in _outside(course.manifest.operation("call").parameters, good.arguments):
        tried = await trial.call(arguments)
        if tried.ok or tried.stopped:
            words = f"{_call(arguments)}, which its schema does not allow, gave {_shown(tried)}"
            raise course.fails("input", words)
    for case in cases:
        tried = await trial.call(_longer(case.arguments))
        if tried.stopped:
            words = f"{_call(case.arguments)} with its texts and lists repeated to {LONGER:,} gave {_shown(tried)}"
            raise course.fails("input", words)
    for arguments in _large(course.manifest.operation("call").parameters, good.arguments):
        await trial.call(arguments, seconds=_LARGE_SECONDS)
    tried = await trial.call(good.arguments)
    if not tried.ok or not same_value(tried.value, good.returns):
        raise course.fails("input", f"after input of {LARGE:,} characters it gave {_shown(tried)}")
    course.passes("input", f"errors outside of the schema; ended on {LONGER:,} characters, works behind {LARGE:,}")


async def _on_task(course: _Course, trial: Trial, given: JsonObject) -> None:
    tried = await trial.call(given)
    if not tried.ok:
        raise course.fails("task", f"on the task's own input: {_call(given)} gave {_shown(tried)}")
    course.result = tried.value
    course.passes("task", f"{_call(given)} gave {_shown(tried)}")


def _case_fault(case: Case, tried: Tried) -> str:
    said = f"{_call(case.arguments)} gave {_shown(tried)}"
    if case.fails:
        if tried.ok or tried.stopped:
            return f"{said}, and an error was wanted"
        return "" if tried.refused else f"{said}; {_CRASHED}"
    if not tried.ok or not same_value(tried.value, case.returns):
        return f"{said}, and {_clipped(json.dumps(case.returns, ensure_ascii=False))} was wanted"
    return ""


def _schema_fault(signature: Signature, manifest: Manifest) -> str:
    parameters: JsonSchema = signature.parameters
    fields: dict[str, Any] = parameters.get("properties", {})
    for what, schema in (("parameters", parameters), ("result", signature.returns)):
        if fault := schema_fault(schema):
            return f"the schema of its {what} cannot be used: {fault}"
    if not 0 < len(fields) <= _MOST_PARAMETERS:
        return f"it has {len(fields)} parameters, and 1 to {_MOST_PARAMETERS} are allowed"
    if loose := next((name for name, one in fields.items() if not _says_type(one)), None):
        return f"its parameter {loose!r} has no type"
    if silent := next((name for name, one in fields.items() if not one.get("description")), None):
        return f"its parameter {silent!r} is not described under Args"
    if not _says_type(signature.returns):
        return "its result has no type"
    traits = signature.traits
    if not traits.declared or traits.effects not in _EFFECTS or traits.network or traits.secrets or traits.scope:
        return 'it has to be declared @tool(effects="reads", idempotent=True, network=False), or "writes"'
    return "" if manifest.description else "it does not say what it is for"


def _says_type(schema: JsonSchema) -> bool:
    return bool({"type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"} & schema.keys())


def _outside(parameters: JsonSchema, good: JsonObject) -> list[JsonObject]:
    """Return arguments outside a schema: a name too many, one too few, values of other types."""
    from tea.components.json_schema import value_faults

    required = parameters.get("required", [])
    found: list[JsonObject] = [{**good, "not_a_parameter": 1}]
    found += [{name: value for name, value in good.items() if name != one} for one in required[:1]]
    strange = [{**good, name: value} for name in good for value in _STRANGE]
    found += [one for one in strange if value_faults(parameters, dict(one))][:_MOST_STRANGE]
    return found


def _longer(arguments: JsonObject) -> JsonObject:
    """Return arguments with each text and list repeated."""
    found = dict(arguments)
    for name, value in arguments.items():
        if isinstance(value, str | list):
            items = cast("str | list[JsonValue]", value)
            found[name] = items * max(1, LONGER // max(1, len(items), len(json.dumps(items)) // _LARGEST_ITEM))
    return found


def _large(parameters: JsonSchema, good: JsonObject) -> list[JsonObject]:
    """Return arguments of ten million characters: in a text, in a list, and under an unknown name."""
    fields: dict[str, Any] = parameters.get("properties", {})
    texts = [name for name, one in fields.items() if "string" in _types(one)]
    lists = [name for name, one in fields.items() if "array" in _types(one)]
    found: list[JsonObject] = [{**good, texts[0]: "a b, " * (LARGE // 5)}] if texts else []
    for name in lists[:1]:
        item = next(iter(good.get(name) or [0]))
        found.append({**good, name: [item] * (LARGE // max(2, len(json.dumps(item)) + 2))})
    return found or [{**good, "not_a_parameter": "x" * LARGE}]


def _types(schema: JsonSchema) -> set[str]:
    kind = schema.get("type", [])
    inner = [one for key in ("anyOf", "oneOf") for one in schema.get(key, ())]
    return {*([kind] if isinstance(kind, str) else kind), *(name for one in inner for name in _types(one))}


def _call(arguments: JsonObject) -> str:
    inside = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
    return f"call({_clipped(inside)})"


def _shown(tried: Tried) -> str:
    if tried.error is not None:
        return f"the error {_clipped(str(tried.error['problem']))!r}"
    return _clipped(json.dumps(tried.value, ensure_ascii=False))


def _clipped(text: str, most: int = 240) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
