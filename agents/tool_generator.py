"""The tool generator: a missing tool is written, tested and registered; the sandbox runs its code.

Source: the paper, section 4.3 and Appendix D.6: analyse, retrieve, create, evaluate, register.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

from tea import Agent, BadOutput, Context, Result, Task, consult

STEPS = 10  # questions to the model
CANDIDATES, MOST_OF_CANDIDATE = 3, 400
OWN = ("done", "todo")  # of the loop, whatever the task
MOST_SHOWN = 1_500
MOST_FILES = 5
MOST_WHY = 300  # characters of what a test is for

TEXT: dict[str, Any] = {"type": "string", "maxLength": 4_000}
SAID: dict[str, Any] = {**TEXT, "default": ""}
OBJECT: dict[str, Any] = {"type": "object"}
OBJECT_OR_NONE: dict[str, Any] = {"anyOf": [OBJECT, {"type": "null"}], "default": None}
TEXTS: dict[str, Any] = {"type": "array", "items": {"type": "string", "maxLength": 200}, "maxItems": 5, "default": []}
PARAMETER: dict[str, Any] = {
    "type": "object",
    "properties": {"name": TEXT, "type": TEXT, "description": SAID},
    "required": ["name", "type", "description"],
}


# The members of each answer, all of them required.
ANALYSIS: dict[str, Any] = {
    "name": {"type": "string", "pattern": "^[a-z][a-z0-9_]{2,47}$"},
    "description": TEXT,
    "parameters": {"type": "array", "items": PARAMETER, "minItems": 1, "maxItems": 8},
    "returns": TEXT,
    "refuses": SAID,
    "plan": SAID,
    "input": OBJECT_OR_NONE,
    "files": TEXTS,
}
CHOICE: dict[str, Any] = {
    "use": {"type": "string", "maxLength": 64},
    "arguments": OBJECT_OR_NONE,
    "why": SAID,
}
CASE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "arguments": OBJECT,
        "returns": {},
        "fails": {"type": "boolean"},
        "why": {"type": "string", "maxLength": MOST_WHY},
    },
    "required": ["arguments"],
}
CASES: dict[str, Any] = {"cases": {"type": "array", "items": CASE, "minItems": 3, "maxItems": 12}}
SOURCE: dict[str, Any] = {"source": {"type": "string", "maxLength": 40_000}}
VERDICT: dict[str, Any] = {"right": {"type": "boolean"}, "why": SAID, "input": OBJECT_OR_NONE}
DOUBT: dict[str, Any] = {
    "quote": {"type": "string", "maxLength": 500, "default": ""},
    "steps": TEXT,
    "wrong": {"enum": ["test", "code"]},
    "returns": {"default": None},
    "fails": {"type": "boolean", "default": False},
}
JUDGED_WRONG = (
    "The tool passed its tests, and you judged this result to be wrong: {}. Work the right result out again, step by "
    "step, from the task alone, and say in `why` where the two differ; if they are the same, `right` is true."
)
PASSED = "it passed its tests, and on the task's own input"
MISQUOTED = (
    "The quote {!r} does not stand in the task or its files: give words exactly as they stand there, "
    'or "" where it is common knowledge, with all steps.'
)
TYPES: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "list": (list,),
    "dict": (dict,),
}


class ToolGenerator(Agent):
    """Make a tool for a task that no tool does: reuse one that fits, else write, test and register one."""

    role = "Tool maker"
    competencies = (
        "find a tool that is there and does what is needed",
        "write a small tool for a computation or a file format that has to be right each time, and test it",
    )
    objectives = ("a tool that passes tests made from the task", "no tool twice", "no tool that fails its tests")
    relations = {"planner": "hierarchical"}
    environments = ("workspace",)
    metadata: ClassVar[Mapping[str, Any]] = {"topics": "convert function program script tool"}

    async def run(self, ctx: Context, task: Task) -> Result:
        """Go from the task to a registered tool in at most ten questions."""
        if not ctx.sandbox:
            return Result(ok=False, reason="No tool is made: this machine has no sandbox for its code.")
        work = _Work(ctx, task)
        try:
            return await work.whole()
        except _Spent:
            return Result(ok=False, reason=f"No tool was made within {STEPS} questions: {work.trouble}")


class _Spent(Exception):
    """The end of the questions."""


class _Work:
    """The work on one task.

    Args:
        ctx: What it may reach.
        task: What is asked for.
    """

    def __init__(self, ctx: Context, task: Task) -> None:
        self.ctx, self.task = ctx, task
        self.asked = 0
        self.trouble = "none was written."
        self.given: dict[str, Any] | None = None  # the tool's arguments for the task itself
        self.given_checked = False  # whether they were mended, or looked at after a refusal
        self.materials: list[dict[str, str]] = []
        self.failing: int | None = None  # the place of the test failed last, None where another stage failed
        self.earlier: list[str] = []  # sources and troubles of earlier trials
        self.doubted: list[dict[str, Any]] = []  # arguments of the tests asked about

    async def whole(self) -> Result:
        """Analyse, retrieve, create, evaluate, register."""
        self.materials = [await _material(self.ctx, name) for name in self.task.files[:MOST_FILES]]
        spec = await self.ask("analyse", ANALYSIS, _InputReader().read)
        self.note("analyse", spec["plan"], {"name": spec["name"], "input": spec["input"]})
        self.given = spec["input"]
        if (reused := await self.reuse(spec)) is not None:
            return reused
        cases = await self.tests(spec)
        trials: list[dict[str, str]] = []
        while True:
            source = _unfenced((await self.ask("write", SOURCE, spec=spec, trials=trials))["source"])
            result, trouble = await self.adopted(spec, cases, source)
            self.trouble = trouble
            again = source in self.earlier or trouble in self.earlier
            self.earlier += [source, trouble]
            if again and self.failing is not None and cases[self.failing]["arguments"] not in self.doubted:
                mended, why = await self.doubt(spec, cases, self.failing, trouble)
                trouble = f"{trouble}. The test was looked at again, and stands: {why}"
                if mended is not None:
                    cases = mended
                    result, trouble = await self.adopted(spec, cases, source)
            if result is not None:
                return result
            self.trouble = trouble
            trials = [*[one for one in trials if one["source"] != source][-1:], {"source": source, "trouble": trouble}]

    async def ask(
        self,
        stage: str,
        members: dict[str, Any],
        read: Callable[[dict[str, Any]], dict[str, Any]] = dict,
        **variables: Any,
    ) -> dict[str, Any]:
        """Ask the model one question of a stage, and return the members of its answer as `read` gives them."""
        if self.asked >= STEPS:
            raise _Spent
        self.asked += 1
        given = {"stage": stage, "task": self.task.text, "materials": self.materials, **variables}
        output: dict[str, Any] = {"type": "object", "properties": members, "required": list(members)}
        return await consult(self.ctx, "tool_generator", given, lambda response: read(response.output), output=output)

    async def reuse(self, spec: dict[str, Any]) -> Result | None:
        """Return the result with an existing tool, None if none does the task."""
        query = f"{spec['name'].replace('_', ' ')}: {spec['description']}"
        found = await self.ctx.tcp.retrieve(query, CANDIDATES, among=["*"], besides=OWN)
        if not found:
            return None
        facts = await self.ctx.tcp.facts([str(one["name"]) for one in found])
        known = {str(one["name"]): one for one in facts}
        candidates = [_candidate(one) for one in facts]
        chosen = await self.ask("choose", CHOICE, spec=spec, candidates=candidates)
        name, arguments = chosen["use"], chosen["arguments"]
        if name not in known:
            self.note("retrieve", "No tool that is there does it.", {"found": sorted(known)})
            return None
        if arguments is None:
            self.note("retrieve", chosen["why"], {"use": name})
            return Result(answer=f"The tool {name!r} is there and does it: {chosen['why']}")
        response = await self.ctx.tcp.invoke(name, arguments)
        self.note("retrieve", chosen["why"], {"use": name, "ok": response.ok})
        if not response.ok:
            return None
        return Result(answer=f"The tool {name!r} is there; {_given(arguments)} gives {_short(response.value)}.")

    async def tests(self, spec: dict[str, Any]) -> list[dict[str, Any]]:
        """Return tests of the tool, made from the task before there is any code."""
        trouble = ""
        while True:
            found = (await self.ask("test", CASES, spec=spec, trouble=trouble))["cases"]
            cases = [_typed_case(spec, _case(one)) for one in found]
            (first, *_) = (await self.ctx.tcp.evaluate("", cases))["stages"]  # the tests alone, as there is no code yet
            trouble = "; ".join(filter(None, (_case_fault(spec, one) for one in cases)))
            trouble = trouble or ("" if first["ok"] else str(first["words"]))
            self.note("test", f"{len(cases)} tests made from the task.", {"trouble": trouble, "cases": cases})
            if not trouble:
                return cases
            self.trouble = f"the tests themselves were not usable: {trouble}"

    async def doubt(
        self, spec: dict[str, Any], cases: list[dict[str, Any]], number: int, trouble: str
    ) -> tuple[list[dict[str, Any]] | None, str]:
        """Ask whether a failing test or the code is wrong; return the tests with that one replaced, or why it stands.

        A test falls only to another value worked out in steps, never to the code's result alone; words that are quoted
        for it have to stand in the task.
        """
        case = cases[number]
        self.doubted.append(case["arguments"])
        try:
            found = await self.ask("doubt", DOUBT, spec=spec, case=case, trouble=trouble)
            if self.misquotes(found):
                again = f"{trouble}\n{MISQUOTED.format(found['quote'][:MOST_WHY])}"
                found = await self.ask("doubt", DOUBT, spec=spec, case=case, trouble=again)
        except BadOutput:
            return None, "what was said about it could not be read"
        wanted = _typed_case(spec, _case({**found, "arguments": case["arguments"]}))
        replaced = {**wanted, "why": f"{_wanted(case)} was wanted before; {found['steps']}"[:MOST_WHY]}
        mended = [*cases[:number], replaced, *cases[number + 1 :]]
        why = _case_fault(spec, wanted) or await self.standing(found, mended, same=_wanted(wanted) == _wanted(case))
        record = {"case": case, "replaced": None if why else replaced, "quote": found["quote"], "ok": not why}
        self.note("doubt", why or found["steps"], record)
        return (None, why) if why else (mended, "")

    async def standing(self, found: dict[str, Any], mended: list[dict[str, Any]], *, same: bool) -> str:
        """Return why a doubted test stands; empty if it is replaced."""
        if found["wrong"] == "code" or same:
            return str(found["steps"])
        if self.misquotes(found) or not found["steps"].strip():
            return "no other value was worked out, in steps and from words of the task where any are quoted"
        (first, *_) = (await self.ctx.tcp.evaluate("", mended))["stages"]
        return "" if first["ok"] else f"without it the tests would not be usable: {first['words']}"

    def misquotes(self, found: dict[str, Any]) -> bool:
        """Return whether a test is called wrong by words that do not stand in the task or its files."""
        words = "\n".join([self.task.text, *(one["content"] for one in self.materials)])
        quote = _plain(found["quote"])
        return found["wrong"] == "test" and quote not in _plain(words)

    async def adopted(
        self, spec: dict[str, Any], cases: list[dict[str, Any]], source: str
    ) -> tuple[Result | None, str]:
        """Evaluate a tool, look at its result on the task's own input, and register it; or return the fault."""
        files = [one for one in spec["files"] if one in self.task.files]
        tools = self.ctx.tcp
        tried = await tools.evaluate(source, cases, given=self.given, files=files)
        self.note("evaluate", _stages(tried), {"ok": tried["ok"], "passed": tried["passed"]})
        last = tried["stages"][-1]["stage"]
        self.failing = tried["passed"] if not tried["ok"] and last == "tests" else None
        if not tried["ok"] and (last != "task" or self.given_checked):
            return None, _failure(tried)
        if self.given is not None and not (tried["ok"] and _is_tested(cases, self.given, tried["result"])):
            mended, trouble = await self.judged(spec, tried)
            if mended is not None:
                self.given = mended or None
                return await self.adopted(spec, cases, source)
            if trouble:
                return None, trouble
        made = await tools.adopt(source, cases, self.task.text, given=self.given, files=files)
        self.note("register", made.get("ref", ""), {"how": made.get("how", ""), "digest": made.get("digest", "")})
        if not made["ok"]:
            return None, _failure(made)
        return Result(answer=_answer(made, spec, self.given)), ""

    async def judged(self, spec: dict[str, Any], tried: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
        """Ask whether the result on the task's own input is right; return a mended input, or the fault of the tool."""
        result = _short(tried["result"], MOST_SHOWN) if tried["ok"] else _failure(tried)
        found = f"{PASSED} it gave {_short(tried['result'])}" if tried["ok"] else _failure(tried)
        self.trouble = f"{found}; no question was left to judge it"
        verdict = await self.ask("judge", VERDICT, spec=spec, given=self.given, result=result)
        if tried["ok"] and not verdict["right"] and verdict["input"] is None:
            again = JUDGED_WRONG.format(str(verdict["why"]).rstrip("."))
            verdict = await self.ask("judge", VERDICT, spec=spec, given=self.given, result=result, trouble=again)
        mended, fault = _typed_input(spec, verdict["input"] or {})
        right = tried["ok"] and verdict["right"]
        changed = not (right or fault or self.given_checked or verdict["input"] is None or mended == self.given)
        self.given_checked = self.given_checked or changed or not tried["ok"]
        record = {"right": verdict["right"], "result": tried["result"], **({"input": mended} if changed else {})}
        self.note("judge", verdict["why"], record)
        return (mended, "") if changed else (None, "" if right else f"{found}: {verdict['why']}")

    def note(self, stage: str, words: str, data: dict[str, Any]) -> None:
        """Write a step of the work into the journal."""
        record: dict[str, Any] = {
            "agent": self.ctx.agent,
            "step": self.asked,
            "observation": {},
            "thinking": words,
            "evaluation": "",
            "memory": "",
            "next_goal": "",
            "calls": [{"name": stage, "arguments": {}}],
            "results": [{"name": stage, "ok": data.get("ok", True), **data}],
        }
        self.ctx.note("step", record)


class _InputReader:
    """A reader of analyses: an unfit input is asked for once more, and then left out."""

    def __init__(self) -> None:
        self._refused = False

    def read(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Return an analysis with its input in the types of the parameters, None for one without arguments.

        Raises:
            BadOutput: The first input does not fit.
        """
        given, fault = _typed_input(spec, spec["input"] or {})
        if fault and not self._refused:
            self._refused = True
            raise BadOutput(f"The `input` cannot be used: {fault}.", fix="give the parameters by name, or null.")
        return {**spec, "input": None if fault else given or None}


def _typed_input(spec: dict[str, Any], said: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return arguments in the types of the parameters, and why they do not fit; empty if they do, or are none."""
    types = {one["name"]: _type_of(one["type"]) for one in spec["parameters"]}
    given = {name: _typed(types.get(name, ""), value) for name, value in said.items()}
    return given, _input_fault(spec, types, given) if given else ""


def _input_fault(spec: dict[str, Any], types: Mapping[str, str], given: Mapping[str, Any]) -> str:
    """Return why arguments do not fit the parameters of a described tool; empty if they do."""
    if unknown := [name for name in given if name not in types]:
        return f"{unknown[0]!r} is not a parameter of the tool; there are {', '.join(types)}"
    needed = [one["name"] for one in spec["parameters"] if not _OPTIONAL.search(f"{one['type']} {one['description']}")]
    if lacking := [name for name in needed if name not in given]:
        return f"it lacks {', '.join(lacking)}; give all parameters, or null instead of the whole input"
    wrong = [name for name, value in given.items() if not _is_of(types[name], value)]
    return f"{wrong[0]!r} has to be of type {types[wrong[0]]}, and is {_short(given[wrong[0]], 80)}" if wrong else ""


def _type_of(words: str) -> str:
    """Return the plain Python type at the beginning of words; empty for another one."""
    found = _TYPE.match(words)
    return found[1] if found else ""


def _typed(kind: str, value: Any) -> Any:
    """Return a value in a plain type, if nothing is lost by it: a number as text, or the number written as a text."""
    if kind == "str" and type(value) in (int, float):
        return json.dumps(value)
    if kind in ("int", "float") and isinstance(value, str) and _NUMBER[kind].fullmatch(value):
        return int(value) if kind == "int" else float(value)
    return int(value) if kind == "int" and isinstance(value, float) and value.is_integer() else value


def _is_of(kind: str, value: Any) -> bool:
    """Return whether a value is of a plain type; of others nothing is known."""
    return kind not in TYPES or (isinstance(value, TYPES[kind]) and (kind == "bool" or not isinstance(value, bool)))


def _typed_case(spec: Mapping[str, Any], case: dict[str, Any]) -> dict[str, Any]:
    """Return a case with the types of the described tool, as far as nothing is lost by it; wrong input stays."""
    if case.get("fails"):
        return case
    types = {one["name"]: _type_of(one["type"]) for one in spec["parameters"]}
    arguments = {name: _typed(types.get(name, ""), value) for name, value in case["arguments"].items()}
    return {**case, "arguments": arguments, "returns": _typed(_type_of(spec["returns"]), case["returns"])}


def _case_fault(spec: Mapping[str, Any], case: Mapping[str, Any]) -> str:
    """Return why the value wanted by a case cannot come from the described tool; empty if it can."""
    kind = _type_of(spec["returns"])
    if case.get("fails") or _is_of(kind, case["returns"]):
        return ""
    given = _given(case["arguments"])
    return f"the test of {given} wants {_short(case['returns'], 80)}, and the tool returns a value of type {kind}"


async def _material(ctx: Context, name: str) -> dict[str, str]:
    """Return the beginning of a file of the task, or why it cannot be shown."""
    response = await ctx.ecp.invoke("workspace#read", {"name": name, "limit": MOST_SHOWN})
    if not response.ok:
        return {"source": name, "content": "(its beginning is not text)"}
    page = response.unwrap()
    text = str(page["text"])
    if page["left"]:
        shown = text.rpartition("\n")[0] or text
        left = int(page["left"]) + len(text) - len(shown)
        text = f"{shown}\n[{left:,} more characters are not shown here]"
    return {"source": name, "content": text}


def _candidate(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return a candidate in short: its first words, and of many parameters their types alone."""
    parameters = cast("list[dict[str, Any]]", facts["operations"])[0]["parameters"].get("properties", {})
    given = json.dumps(parameters, ensure_ascii=False)
    if len(given) > MOST_OF_CANDIDATE:
        given = json.dumps({name: one.get("type", "any") for name, one in parameters.items()}, ensure_ascii=False)
    about = str(facts["description"]).partition("\n\n")[0]
    return {"name": str(facts["name"]), "description": about, "parameters": _cut(given, MOST_OF_CANDIDATE)}


def _case(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return a case in the form of an evaluation: one with an error has no value."""
    wanted = {"fails": True} if one.get("fails") else {"returns": one.get("returns")}
    why = {"why": str(one["why"])} if one.get("why") else {}
    return {"arguments": one["arguments"], **wanted, **why}


def _is_tested(cases: list[dict[str, Any]], given: Mapping[str, Any], result: Any) -> bool:
    """Return whether a test wants a result for the same input."""
    return any(one["arguments"] == given and not one.get("fails") and one["returns"] == result for one in cases)


def _wanted(case: Mapping[str, Any]) -> str:
    return "an error" if case.get("fails") else _short(case["returns"])


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _stages(tried: Mapping[str, Any]) -> str:
    return "; ".join(f"{one['stage']} {'passed' if one['ok'] else 'failed'}" for one in tried["stages"])


def _failure(tried: Mapping[str, Any]) -> str:
    failed = next(one for one in tried["stages"] if not one["ok"])
    return f"it did not pass the stage {failed['stage']}: {failed['words']}"


def _answer(made: Mapping[str, Any], spec: Mapping[str, Any], given: Mapping[str, Any] | None) -> str:
    name = str(made["ref"]).removeprefix("tool:").partition("@")[0]
    how = {
        "new": "was made, passed its tests, and can be called",
        "version": "was improved, passed its tests and those it had, and can be called",
        "reused": "was there already and passes the tests",
    }
    words = f"The tool {name!r} {how[made['how']]} with {', '.join(one['name'] for one in spec['parameters'])}."
    return words if given is None else f"{words} {_given(given)} gives {_short(made['result'])}."


def _given(arguments: Mapping[str, Any]) -> str:
    return _cut(", ".join(f"{name}={_short(value, 80)}" for name, value in arguments.items()), 300)


def _short(value: Any, most: int = 600) -> str:
    return _cut(json.dumps(value, ensure_ascii=False), most)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


_FENCE = re.compile(r"^```[a-z]*[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
_OPTIONAL = re.compile(r"\b(?:optional|default|none|null|omitted|left out)", re.IGNORECASE)
_TYPE = re.compile(r"\s*`?(str|int|float|bool|list|dict)\b(?!\s*(?:\||or\b))(?!\[[^\]\n]{0,80}\]\s*(?:\||or\b))")
_NUMBER = {"int": re.compile(r"-?\d{1,18}", re.ASCII), "float": re.compile(r"-?\d{1,18}(?:\.\d{1,18})?", re.ASCII)}


def _unfenced(source: str) -> str:
    """Return source without the fence put around code by models, and without the words around the fence."""
    found = _FENCE.findall(source)
    return found[0] if len(found) == 1 else source
