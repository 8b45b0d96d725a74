"""Test prompts: read, inherited, rendered, and a model's answers checked."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tea.components.manifest import Lineage, Manifest
from tea.errors import BadArguments, BadComponent, BadOutput
from tea.prompts.manager import Prompt, PromptManager
from tea.prompts.source import read_heading
from tea.types import Message, TextPart

AGENTS = Path(__file__).parents[2] / "agents"
BASE = (AGENTS / "tool_calling.md").read_text(encoding="utf-8")
PROMPT = """---
name: greeter
description: Greets.
variables:
  who: string
  times: integer?
  tone: {type: string, enum: [warm, cool], default: warm}
  friends: array?
output: {type: object, properties: {greeting: {type: string}}, required: [greeting]}
solver: tool:greet_offline
trainable: [manner]
metadata: {category: small talk, since: 2024-01-01}
---
# system
Be {{ tone }}. {{ manner }}

# message
Greet {{ who }}{% for friend in friends %}, {{ loop.index }}. {{ friend.name }}{% endfor %}.

# module: manner
Keep it short.
"""

manager = PromptManager()


def source(front: str = "", body: str = "# system\ns\n\n# message\nm\n") -> str:
    return f"---\nname: probe\ndescription: Probes.\n{front}---\n{body}"


def words(messages: tuple[Message, ...]) -> list[str]:
    parts = [message.content[0] for message in messages]
    return [part.text for part in parts if isinstance(part, TextPart)]


def test_a_source_says_everything_about_its_prompt() -> None:
    prompt = manager.parse(PROMPT)
    assert (prompt.name, prompt.description, prompt.solver) == ("greeter", "Greets.", "tool:greet_offline")
    assert prompt.required == ("who",)
    assert prompt.variables["times"] == {"type": ["integer", "null"], "default": None}
    assert prompt.modules == {"manner": "Keep it short."}
    assert prompt.metadata == {"category": "small talk", "since": "2024-01-01"}
    assert prompt.evolvable
    assert prompt.uses is None


def test_a_description_keeps_white_space_that_is_no_blank_and_no_new_line() -> None:
    source = 'name: probe\ndescription: " \\fSay hello.\\u2028\\f\\n"\n'
    assert read_heading(f"---\n{source}---\n# message\n\nHello.\n")[1] == "\fSay hello.\u2028\f"


def test_a_prompt_is_rendered_into_a_system_and_a_user_message() -> None:
    messages = manager.render(manager.parse(PROMPT), {"who": "Ada", "friends": [{"name": "Bob"}, {"name": "Cy"}]})
    assert [message.role for message in messages] == ["system", "user"]
    assert words(messages) == ["Be warm. Keep it short.", "Greet Ada, 1. Bob, 2. Cy."]


def test_what_is_not_text_is_written_as_json_with_sorted_keys() -> None:
    prompt = manager.parse(source("variables: {data: {}}\n", "# system\n{{ data }}\n# message\n{{ data|tojson(1) }}"))
    assert words(manager.render(prompt, {"data": {"b": None, "a": "é"}}))[0] == '{"a": "é", "b": null}'
    assert words(manager.render(prompt, {"data": True})) == ["true", "true"]


def test_a_variable_is_never_read_as_a_template() -> None:
    messages = manager.render(manager.parse(PROMPT), {"who": "{{ manner }}{% if %}<b>&"})
    assert words(messages)[1] == "Greet {{ manner }}{% if %}<b>&."


def test_a_module_may_show_another_module_but_not_itself() -> None:
    body = "# system\n{{ outer }}\n# message\nm\n# module: outer\n[{{ inner }}]\n# module: inner\n"
    assert words(manager.render(manager.parse(source(body=body + "in")), {}))[0] == "[in]"
    with pytest.raises(BadComponent, match="show each other"):
        manager.parse(source(body=body + "{{ outer }}"))


def test_other_headings_belong_to_the_text() -> None:
    prompt = manager.parse(source(body="# system\n# Rules\n## system\ntext\n\n# message\nm"))
    assert prompt.system == "# Rules\n## system\ntext"


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({}, "lacks 'who'"),
        ({"who": 3}, "variable 'who' .* 3 is not of type 'string'"),
        ({"who": "x", "tone": "icy"}, "variable 'tone'"),
        ({"who": "x", "tine": "warm"}, r"no variable 'tine'.*did you mean 'tone'"),
        ({"who": "x", "times": float("nan")}, "cannot be used"),
        ({"who": object()}, "cannot be used"),
        ({"who": "x" * 5_000_000}, "exceed 4 MiB"),
        ({"who": "x", "friends": [{}]}, "no attribute 'name'"),
    ],
)
def test_a_variable_that_does_not_fit_is_named(variables: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadArguments, match=problem):
        manager.render(manager.parse(PROMPT), variables)


def test_a_variable_left_out_has_its_default_and_nobody_else_s_copy() -> None:
    prompt = manager.parse(PROMPT)
    filled = manager.fill(prompt, {"who": "Ada"})
    assert filled == {"who": "Ada", "times": None, "tone": "warm", "friends": []}
    filled["friends"].append("changed")
    assert manager.fill(prompt, {"who": "Ada"})["friends"] == []


def test_a_value_that_fitted_before_is_the_value_that_was_given_and_nobody_else_s_copy() -> None:
    prompt = manager.parse(PROMPT)
    for _ in range(2):
        filled = manager.fill(prompt, {"who": "Ada", "times": 1, "friends": [{"name": "Bo"}]})
        assert filled["friends"] == [{"name": "Bo"}]
        filled["friends"][0]["name"] = "changed"
        with pytest.raises(BadArguments, match="'times'"):
            manager.fill(prompt, {"who": "Ada", "times": True})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("no front matter", "no front matter"),
        (source("nmae: x\n"), "unknown field 'nmae'.*'name'"),
        (source("name: other\n"), "'name' stands twice"),
        (source().replace("name: probe\n", ""), "'name' is missing"),
        (source().replace("probe", "Probe!"), "not a name for a prompt"),
        (source("evolvable: maybe\n"), "'evolvable' is not true or false"),
        (source("variables: {x: strin}\n"), "unknown type 'strin'.*'string'"),
        (source("variables: {X: string}\n"), "'X' is not a name"),
        (source("variables: {x: {type: text}}\n"), "not a usable JSON Schema"),
        (source("variables: {x: {type: integer, default: a}}\n"), "default of 'x'"),
        (
            source('variables: {x: {additionalProperties: {type: string}, default: {"Run it first": 1}}}\n'),
            "default of 'x' does not fit its schema: \"Run it first\": 1 is not",
        ),
        (source("output: {$ref: 'https://example.org/s.json'}\n"), "leads out of the schema"),
        (source("output: {$ref: '#/$defs/none'}\n"), "points at no schema"),
        (source("output: {pattern: '('}\n"), "not a usable JSON Schema"),
        (source("solver: prompt:other\n"), "not a tool"),
        (source("uses: tool_calling\n"), "does not name a kind"),
        (source("trainable: [mood]\n"), "'mood' is to be trained"),
        (source("trainable: [system, system]\n"), "different names"),
        (source("metadata: {prompt: x}\n"), "key 'prompt'"),
        (source("variables: {system: string}\n"), "both a variable and a section"),
        (source(body="hello\n# system\ns\n# message\nm"), "before its first section"),
        (source(body="# system\ns"), "no section `# message`"),
        (source(body="# system\ns\n# System\nt\n# message\nm"), "looks like a section"),
        (source(body="# system\ns\n# message\nm\n# module: Bad Name\nx"), "looks like a section"),
        (source(body="# system\ns\n# system\nt\n# message\nm"), "two sections 'system'"),
        (source(body="# system\n{{ nobody }}\n# message\nm"), "uses 'nobody'"),
        (source(body="# system\n{% if %}\n# message\nm"), "not a template at line 1"),
        (source(body="# system\n\0\n# message\nm"), "not text"),
    ],
)
def test_a_source_that_is_no_prompt_is_refused_in_one_line(text: str, problem: str) -> None:
    with pytest.raises(BadComponent, match=problem) as caught:
        manager.parse(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= 300


def test_a_prompt_becomes_a_manifest_that_round_trips() -> None:
    manifest = manager.manifest(PROMPT, version="1.0.0", lineage=Lineage(how="bundled"), reason="first")
    assert (manifest.kind, manifest.name, manifest.operations) == ("prompt", "greeter", {})
    assert manifest.metadata["category"] == "small talk"
    assert manifest.metadata["prompt"]["trainable"] == ["manner"]
    assert Manifest.from_json(json.loads(json.dumps(manifest.to_json()))) == manifest


def child(front: str = "", body: str = "") -> Prompt:
    return manager.parse(source(f"uses: prompt:tool_calling\n{front}", body))


async def test_a_prompt_inherits_what_it_lacks() -> None:
    asked = list[str]()

    async def find(ref: str) -> Prompt:
        asked.append(ref)
        return manager.parse(BASE)

    own = child("variables: {mood: string}\n", "# module: agent_profile\nYou are {{ mood }} about {{ task }}.")
    whole = await manager.resolve(own, find)
    system, message = words(manager.render(whole, {"task": "T", "mood": "glad"}))
    assert asked == ["prompt:tool_calling"]
    assert system.startswith("You are glad about T.")
    assert "call `done` alone" in system
    assert "<task>\nT\n</task>" in message
    assert (whole.name, whole.required, whole.trainable) == ("probe", ("task", "mood"), ())


@pytest.mark.parametrize("functions", [True, False])
@pytest.mark.parametrize("given", [{}, {"environments": [{"name": "e", "rules": "R", "state": "S"}]}])
@pytest.mark.parametrize("body", ["", "# module: introduction\n- One.", "# module: examples\nAn example."])
def test_parts_that_say_nothing_leave_no_lines_in_the_question_of_an_agent(
    functions: bool, given: dict[str, Any], body: str
) -> None:
    whole = manager.inherit(child(body=body), manager.parse(BASE))
    for text in words(manager.render(whole, {"task": "T", "functions": functions, **given})):
        assert "\n\n\n" not in text
        assert text == text.strip()
    assert all(part in text for part in body.splitlines()[1:] if "example" in part)


async def test_a_circle_of_inheritance_ends() -> None:
    async def find(ref: str) -> Prompt:
        return child()

    with pytest.raises(BadComponent, match="more than 8"):
        await manager.resolve(child(), find)


def test_a_prompt_that_lacks_its_base_is_not_rendered() -> None:
    with pytest.raises(BadComponent, match="not whole without prompt:tool_calling"):
        manager.render(child(), {})


def test_a_child_that_uses_what_neither_declares_is_refused() -> None:
    with pytest.raises(BadComponent, match="uses 'nobody'"):
        manager.inherit(child(body="# module: examples\n{{ nobody }}"), manager.parse(BASE))


def test_the_base_prompt_says_the_same_whatever_the_order_of_its_variables() -> None:
    prompt = manager.parse(BASE)
    tools = [{"name": name, "description": "d", "parameters": {"b": 1, "a": 2}} for name in ("zip", "add")]
    given = {"task": "Count.", "files": ["a.csv"], "memories": ["m"], "facts": ["f (a)"], "max_steps": 7}
    environments = [{"name": "workspace", "rules": "Be careful.", "state": {"files": 1}}]
    one = manager.render(prompt, {**given, "tools": tools, "environments": environments})
    two = PromptManager().render(prompt, {**given, "tools": tools[::-1], "environments": environments})
    assert one == two
    system, message = words(one)
    assert '"next_goal"' in system
    assert message.index('<tool name="add">') < message.index('<tool name="zip">')
    for shown in ("Count.", "a.csv", "- f (a)", "- m", "Be careful.", '{"files": 1}', '{"a": 2, "b": 1}'):
        assert shown in message
    functions = manager.render(prompt, {**given, "tools": tools, "functions": True})
    assert '"next_goal"' not in words(functions)[0]
    assert "<tool" not in words(functions)[1]


STEP = {"thinking": "t", "evaluation": "e", "memory": "m", "next_goal": "g", "calls": [{"name": "x", "arguments": {}}]}


@pytest.mark.parametrize("text", ["{}", "```json\n{}\n```", "Here:\n\n```python\nprint()\n```\n```\n{}\n```\nbye"])
def test_a_step_is_read_from_bare_or_fenced_json(text: str) -> None:
    assert manager.parse_output(manager.parse(BASE), text.replace("{}", json.dumps(STEP, indent=1))) == STEP


@pytest.mark.parametrize(
    ("change", "problem"),
    [({"calls": []}, "calls: "), ({"extra": 1, "calls": []}, "'extra' was"), ({"memory": None}, "memory: None is not")],
)
def test_a_step_that_does_not_fit_is_refused_with_its_reason(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadOutput, match=problem):
        manager.check_output(manager.parse(BASE), {**STEP, **change})


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"count": "2"}, {"count": 2}),
        ({"count": 2, "note": None}, {"count": 2}),
        ({"count": 2, "of": "a"}, {"count": 2, "of": ["a"]}),
    ],
)
def test_an_answer_is_read_in_the_types_of_its_schema(given: dict[str, Any], read: dict[str, Any]) -> None:
    form = (
        "output: {type: object, required: [count], additionalProperties: false, properties: "
        "{count: {type: integer}, note: {type: string}, of: {type: array, items: {type: string}}}}\n"
    )
    prompt = manager.parse(source(form))
    assert (manager.check_output(prompt, given), manager.parse_output(prompt, json.dumps(given))) == (read, read)


def test_an_answer_with_several_faults_is_told_of_all_of_them() -> None:
    faults = {"evaluation": True, "memory": True, "next_goal": True, "calls": [{"name": True}]}
    with pytest.raises(BadOutput) as refused:
        manager.check_output(manager.parse(BASE), {**faults, "extra": 1})
    told = refused.value.problem
    assert [name for name in (*faults, "extra") if name not in told] == [], told


@pytest.mark.parametrize(
    "text", ["", "I think so.", "```json\n{\n```", "NaN", "[" * 100_000, '{"a":1,"a":2}', "\ud800"]
)
def test_text_that_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(BadOutput, match="not JSON"):
        manager.parse_output(manager.parse(BASE), text)


@pytest.mark.parametrize("file", sorted(AGENTS.glob("*.md")), ids=lambda file: file.stem)
def test_a_bundled_prompt_says_the_form_of_its_answer_in_words(file: Path) -> None:
    prompt = manager.parse(file.read_text(encoding="utf-8"))
    told = "\n".join(prompt.sections.values())
    names = (prompt.output or {}).get("properties", {})
    assert [name for name in names if f'"{name}"' not in told and f"`{name}`" not in told] == []


def test_many_fences_are_read_in_linear_time() -> None:
    with pytest.raises(BadOutput):
        manager.parse_output(manager.parse(BASE), "```x\n" * 100_000)


def test_without_a_schema_the_text_is_the_output() -> None:
    assert manager.parse_output(manager.parse(source()), "Hello") == "Hello"


def test_a_schema_that_refers_to_itself_without_end_is_an_answer_not_a_crash() -> None:
    endless = manager.parse(source("output: {$ref: '#'}\n"))
    with pytest.raises(BadOutput, match="without end"):
        manager.check_output(endless, {})


def test_what_an_answer_leaves_out_has_the_default_of_its_schema() -> None:
    said = Path("agents/debate_statement.md").read_text()
    found = manager.parse_output(manager.parse(said), '{"position": "1975", "argument": "It was.", "confidence": 90}')
    assert found == {"position": "1975", "argument": "It was.", "confidence": 90, "rebuttals": [], "agrees": []}
    task = {"type": "LITERATURE", "objective": "Is it known?"}
    plan = manager.parse(Path("agents/research_plan.md").read_text())
    assert manager.check_output(plan, {"objective": "", "tasks": [task]}) == {
        "objective": "",
        "tasks": [{**task, "datasets": []}],
    }
    with pytest.raises(BadOutput, match="'tasks' is a required property"):
        manager.check_output(plan, {"objective": ""})


SOURCE = (
    "output: {type: object, required: [source], additionalProperties: false, properties: "
    "{source: {type: string, maxLength: 40000}}}\n"
)
CODE = 'import re\n\nFORM = re.compile(r"^\\d+\\b\\n")\nNAMES = {"a": 1}\n'


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"source": CODE}),
        json.dumps({"source": CODE}).replace("\\n\\n", "\n\n"),
        '{"source": "' + CODE.replace('"', '\\"').replace("\\n", "\\\\n") + '"}',
        "Here it is:\n```json\n" + json.dumps({"source": CODE}).replace("\\\\d", "\\d") + "\n```",
        "{'source': " + repr(CODE) + "}",
    ],
)
def test_source_in_an_answer_is_read_with_its_line_breaks_and_backslashes(text: str) -> None:
    assert manager.parse_output(manager.parse(source(SOURCE)), text) == {"source": CODE}


@pytest.mark.parametrize("text", [CODE, f"```python\n{CODE}```", f"<think>{{}}</think>\n```\n{CODE}```\n"])
def test_text_is_the_only_long_text_of_a_form(text: str) -> None:
    assert manager.parse_output(manager.parse(source(SOURCE)), text, whole=True)["source"].strip() == CODE.strip()


@pytest.mark.parametrize(
    ("form", "text", "whole"),
    [
        (SOURCE, CODE, False),
        (SOURCE, "", True),
        (SOURCE, "I cannot do that.", True),
        (SOURCE, '{"source": "a "b" c"}', True),
        (SOURCE, 'Here:\n{"source": "a', True),
        (SOURCE, '{"code": "a"}', True),
        (SOURCE, f"```python\n{CODE}", True),
        (SOURCE.replace("40000", "400"), "I do not know.\nSorry.", True),
        (SOURCE.replace("maxLength: 40000", "minLength: 1"), "I do not know.\nSorry.", True),
        (SOURCE.replace("[source]", "[source, x]"), CODE, True),
    ],
)
def test_text_of_another_form_or_of_broken_json_is_not_taken_for_the_answer(form: str, text: str, whole: bool) -> None:
    with pytest.raises(BadOutput):
        manager.parse_output(manager.parse(source(form)), text, whole=whole)


def test_an_answer_that_is_not_json_is_told_how_to_write_it() -> None:
    with pytest.raises(BadOutput) as refused:
        manager.parse_output(manager.parse(BASE), '{"thinking": "He said "no".')
    assert "at at" not in str(refused.value)
    assert r"a line break as \n, a quotation mark as \"" in refused.value.problem


FORM = """output:
  type: object
  required: [sure, right, sources, parts, why]
  additionalProperties: false
  properties:
    sure: {type: integer, minimum: 0, maximum: 100}
    share: {type: number, minimum: 0, maximum: 1}
    right: {type: boolean}
    why: {type: string, default: ""}
    name: {type: string, pattern: "^[a-z][a-z0-9_]{2,10}$"}
    sources: {type: array, items: {type: integer}}
    parts:
      type: array
      items: {type: object, required: [a], additionalProperties: false, properties: {a: {type: integer}}}
"""
FITTING = {"sure": 80, "right": True, "sources": [1], "parts": [{"a": 1}], "why": ""}


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ({"sure": 0.8}, {}),
        ({"sure": "0.8"}, {}),
        ({"sure": "80%"}, {}),
        ({"sure": " 80 %"}, {}),
        ({"sure": "80"}, {}),
        ({"sure": "85%"}, {"sure": 85}),
        ({"sure": 1}, {"sure": 1}),
        ({"share": "80%"}, {"share": 0.8}),
        ({"share": 0.8}, {"share": 0.8}),
        ({"right": "yes"}, {}),
        ({"right": "No"}, {"right": False}),
        ({"right": "TRUE"}, {}),
        ({"why": None}, {}),
        ({"sources": None}, {"sources": []}),
        ({"sources": ["1"], "parts": [{"a": "1", "more": 2}], "extra": {}}, {}),
        ({"why": 5}, {"why": "5"}),
        ({"why": ["a", "b"]}, {"why": "a\nb"}),
        ({"name": "Ada One-2"}, {"name": "ada_one_2"}),
        ({"name": "countWords"}, {"name": "count_words"}),
    ],
)
def test_a_slip_with_a_clear_meaning_is_set_right(slip: dict[str, Any], meant: dict[str, Any]) -> None:
    found = manager.check_output(manager.parse(source(FORM)), {**FITTING, **slip})
    assert json.dumps(found, sort_keys=True) == json.dumps({**FITTING, **meant}, sort_keys=True)


@pytest.mark.parametrize(
    "slip",
    [
        {"sure": 0.123},
        {"sure": "120%"},
        {"sure": 1.5},
        {"right": "perhaps"},
        {"right": 1},
        {"sources": "none"},
        {"name": "1 A"},
    ],
)
def test_a_slip_without_a_clear_meaning_is_refused(slip: dict[str, Any]) -> None:
    with pytest.raises(BadOutput):
        manager.check_output(manager.parse(source(FORM)), {**FITTING, **slip})


ENDING = """output:
  type: object
  properties:
    final:
      anyOf:
        - type: object
          properties:
            answer: {type: string}
            sure: {type: integer, minimum: 0, maximum: 100}
            success: {type: boolean}
          required: [success]
          additionalProperties: false
        - {type: "null"}
    parts: {type: [array, "null"], items: {type: object, properties: {right: {type: boolean}}}}
    more: {type: object}
"""
END = {"answer": "a", "success": True}


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ({"final": {"answer": "a", "success": "yes"}}, {"final": END}),
        (
            {"final": {"answer": 5, "success": "No", "sure": "85%"}},
            {"final": {**END, "answer": "5", "success": False, "sure": 85}},
        ),
        ({"final": {**END, "extra": 1}}, {"final": END}),
        ({"final": json.dumps({**END, "success": "yes"})}, {"final": END}),
        ({"final": "{'answer': 'a', 'success': True}"}, {"final": END}),
        ({"final": None, "more": "{'a': 1}"}, {"final": None, "more": {"a": 1}}),
        ({"parts": [{"right": "yes"}]}, {"parts": [{"right": True}]}),
        ({"parts": "[{'right': True}]"}, {"parts": [{"right": True}]}),
    ],
)
def test_a_slip_in_one_of_several_forms_or_in_a_written_value_is_set_right(
    slip: dict[str, Any], meant: dict[str, Any]
) -> None:
    assert manager.check_output(manager.parse(source(ENDING)), slip) == meant


def test_a_value_that_has_none_of_several_forms_is_refused() -> None:
    several = "{anyOf: [{type: boolean}, {type: integer, minimum: 0, maximum: 100}]}"
    prompt = manager.parse(source(f"output: {{type: object, properties: {{a: {several}}}}}\n"))
    assert manager.check_output(prompt, {"a": "85%"}) == {"a": 85}
    for said in ("perhaps", "{'a': 1}", ["yes"]):
        with pytest.raises(BadOutput):
            manager.check_output(prompt, {"a": said})


def test_forms_that_refer_to_themselves_end() -> None:
    one = "{type: object, properties: {a: {$ref: '#/$defs/a'}}, required: [b]}"
    forms = f"$defs: {{a: {{anyOf: [{one}, {one}, {{$ref: '#/$defs/a'}}]}}}}"
    prompt = manager.parse(source(f"output: {{type: object, properties: {{a: {{$ref: '#/$defs/a'}}}}, {forms}}}\n"))
    value: Any = "yes"
    for _ in range(60):
        value = {"a": value}
    with pytest.raises(BadOutput):
        manager.check_output(prompt, value)


def test_only_the_true_faults_of_an_answer_are_told() -> None:
    with pytest.raises(BadOutput) as refused:
        manager.check_output(manager.parse(source(FORM)), {**FITTING, "parts": [{"a": "1"}, {}], "sources": ["2"]})
    assert str(refused.value.problem).count(";") == 0
    assert "parts.1: 'a' is a required property" in refused.value.problem


def test_what_the_code_of_an_agent_can_do_without_may_be_left_out() -> None:
    prompts = {name: manager.parse((AGENTS / f"{name}.md").read_text()) for name in ("debate_invitation", "reflector")}
    experts = {"question": "Which?", "experts": [{"name": "Ada", "role": "r"}, {"name": "Ben", "relation": None}]}
    found: Any = manager.check_output(prompts["debate_invitation"], experts)
    assert [(one["agent"], one["relation"]) for one in found["experts"]] == [("", "competitive")] * 2
    said: Any = manager.check_output(
        prompts["reflector"], {"cause": "c", "component": "prompt:a", "variable": "rules", "text": "t", "why": None}
    )
    assert (said["missing_facts"], said["why"]) == ([], "")


@pytest.mark.parametrize("file", sorted(AGENTS.glob("*.md")), ids=lambda file: file.stem)
def test_an_example_of_an_answer_gives_numbers_as_numbers(file: Path) -> None:
    assert re.findall(r'^\s*"\w+": (?:\d+ to|the) .*', file.read_text(encoding="utf-8"), re.MULTILINE) == []


PLAN, PAPER, REFLECTION = "research_plan", "research_paper", "research_reflection"
LABELS = {"abstract": "Abstract", "figure": "Figure", "references": "References"}


@pytest.mark.parametrize(
    ("name", "said", "meant"),
    [
        (
            PLAN,
            {"tasks": [{"type": "analysis", "objective": "a", "dataset": "a.csv"}]},
            {"objective": "", "tasks": [{"type": "ANALYSIS", "objective": "a", "datasets": ["a.csv"]}]},
        ),
        (PLAN, {"tasks": [], "done": True}, {"objective": "", "tasks": []}),
        (PLAN, {"task": "Compare."}, {"objective": "", "tasks": [{"objective": "Compare.", "datasets": []}]}),
        (
            PAPER,
            {"title": "t", "abstract": "a", "sections": [{"heading": "h", "text": "x [1]."}]},
            {
                "title": "t",
                "abstract": ["a"],
                "sections": [{"heading": "h", "paragraphs": ["x [1]."], "figures": []}],
                "words": LABELS,
            },
        ),
        (
            "debate_statement",
            {"position": "p", "argument": "a", "rebuttal": "a text without its addressee", "confidence": 5},
            {"position": "p", "argument": "a", "rebuttals": [], "agrees": [], "confidence": 5},
        ),
        (
            "debate_statement",
            {"position": "p", "argument": "a", "rebuttal": {"to": "Ada", "point": "x"}, "confidence": 5},
            {
                "position": "p",
                "argument": "a",
                "agrees": [],
                "confidence": 5,
                "rebuttals": [{"to": "Ada", "point": "x"}],
            },
        ),
        (
            REFLECTION,
            {"insights": [{"insight": "East leads.", "tasks": ["ana-0-1", "ana-0-2"]}, {"text": "b"}]},
            {
                **dict.fromkeys(("title", "evolving_objective", "current_objective", "methodology"), ""),
                "insights": ["East leads. (ana-0-1, ana-0-2)", "b"],
            },
        ),
        (
            "research_discovery",
            {"discoveries": [{"claim": "c", "evidence": ["ana-1-1: 19 %"], "confidence": "high", "replaces": None}]},
            {
                "discoveries": [
                    {
                        "claim": "c",
                        "evidence": [{"task": "ana-1-1: 19 %", "explanation": ""}],
                        "novelty": "",
                        "confidence": "high",
                        "replaces": 0,
                    }
                ]
            },
        ),
    ],
)
def test_a_part_of_an_answer_under_a_near_name_or_in_a_near_form_is_read(name: str, said: Any, meant: Any) -> None:
    prompt = manager.parse((AGENTS / f"{name}.md").read_text())
    assert manager.check_output(prompt, said) == meant


NEAR = """output:
  type: object
  required: [supports, claims]
  additionalProperties: false
  properties:
    supports: {type: string}
    kind: {enum: [a, b]}
    claims:
      type: array
      items:
        type: object
        required: [source, quote]
        additionalProperties: false
        properties: {source: {type: integer}, quote: {type: string}}
"""


@pytest.mark.parametrize("named", ["source 2", "Source #2", "[2]", "2", "[source 2]"])
def test_a_number_beside_the_name_of_its_member_is_that_number(named: str) -> None:
    said = {"supports": "s", "claims": [{"source": named, "quote": "q"}]}
    found = manager.check_output(manager.parse(source(NEAR)), said)
    assert found == {"supports": "s", "claims": [{"source": 2, "quote": "q"}]}


@pytest.mark.parametrize(
    "said",
    [
        {"contradicts": "s", "claims": []},
        {"supports": "s", "claims": ["a text for an object with two needed members"]},
        {"supports": "s", "claims": [{"source": "page 2", "quote": "q"}]},
        {"supports": "s", "claims": [{"source": 2, "quotes": ["q"]}]},
        {"text": "s"},
    ],
)
def test_a_name_or_a_form_for_something_else_is_refused(said: Any) -> None:
    with pytest.raises(BadOutput):
        manager.check_output(manager.parse(source(NEAR)), said)


@pytest.mark.parametrize("name", ["browser", "computer"])
@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({"action": "click", "index": 5}, {"action": "click", "arguments": {"index": 5}}),
        ({"click": {"index": 5}}, {"action": "click", "arguments": {"index": 5}}),
        ({"wait": None}, {"action": "wait", "arguments": {}}),
        ({"action": "click", "arguments": {"index": 5}, "why": "x"}, {"action": "click", "arguments": {"index": 5}}),
    ],
)
def test_the_arguments_of_an_action_beside_or_under_its_name_are_read(name: str, said: Any, meant: Any) -> None:
    prompt = manager.parse((AGENTS / f"{name}.md").read_text())
    assert manager.check_output(prompt, {"actions": [said]}) == {"actions": [meant]}


@pytest.mark.parametrize("said", [{"press": {"index": 5}}, {"click": {}, "wait": {}}, {"click": 5}])
def test_an_action_without_a_known_name_is_refused(said: Any) -> None:
    with pytest.raises(BadOutput):
        manager.check_output(manager.parse((AGENTS / "browser.md").read_text()), {"actions": [said]})
