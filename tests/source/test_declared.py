"""Agents declared by a call: canonical source, inert instructions, and the type of answers."""

from __future__ import annotations

import typing
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar, Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, field_validator

from tea import Agent, Context, Result, Task, tool
from tea.components.answer_type import AnswerType
from tea.components.definition import define
from tea.errors import BadComponent, BadOutput
from tea.prompts.manager import PromptManager
from tea.prompts.template import Templates
from tea.source.cache import SourceCache
from tea.source.declared import description_of, prompt_source
from tea.source.dynamic import DynamicManager

MANAGER = DynamicManager(lambda digest: True)


@dataclass
class City:
    """A city."""

    name: str
    founded: date | None = None


class Even(BaseModel):
    number: int

    @field_validator("number")
    @classmethod
    def _is_even(cls, number: int) -> int:
        if number % 2:
            raise ValueError("is odd")
        return number


class Old(typing.TypedDict):
    name: str


@tool(effects="reads")
async def look(name: str) -> str:
    """Look something up."""
    return name


def people(city: str) -> int:
    """Count the people."""
    return len(city)


def declared(**more: Any) -> Agent:
    facts = {"name": "capitals", "instructions": "Answer questions about capitals. Never guess.", **more}
    return Agent(**facts)


class Written(Agent):
    r"""Say "it" with \ and more.

    In several lines.
    """

    role = "Sayer"
    relations: ClassVar = {"planner": "hierarchical"}
    tools = ("calculator",)
    max_steps = 7
    output: ClassVar = {"type": "integer"}
    rules = "Be brief."


class Coded(Agent):
    """Work otherwise."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        return Result(answer=task.text)


def test_a_declaration_becomes_source_that_we_write() -> None:
    text = MANAGER.capture(declared(tools=[people, "calculator", look], agents=["planner"], output=int, max_steps=9))
    assert text.source == (
        "from tea import Agent\n\n\n"
        "class CapitalsAgent(Agent):\n"
        '    """Answer questions about capitals."""\n\n'
        '    name = "capitals"\n'
        '    tools = ("people", "calculator", "look")\n'
        '    agents = ("planner",)\n'
        '    prompt = "capitals"\n'
        "    max_steps = 9\n"
        '    output = {"type": "integer"}\n'
    )
    assert (text.kind, text.name, text.changes) == ("agent", "capitals", ())


def test_equal_declarations_have_equal_digests_and_others_have_others() -> None:
    def digest(**more: Any) -> str:
        return MANAGER.describe(MANAGER.capture(declared(**more)), version="1.0.0").digest

    same = {"tools": [people, look], "output": City, "agents": [declared(name="other")]}
    assert digest(**same) == digest(**same)
    assert len({digest(), digest(**same), digest(tools=[look, people]), digest(output=list[int])}) == 4


def test_a_class_that_only_declares_needs_no_text_to_be_captured() -> None:
    made = type("Somewhere", (Written,), {"__doc__": "Be elsewhere.", "__module__": "nowhere"})
    for found, words in ((Written, 'Say "it" with \\ and more.\n\nIn several lines.'), (made, "Be elsewhere.")):
        manifest = MANAGER.describe(MANAGER.capture(found), version="1.0.0")
        defined = define(found)
        assert (manifest.description, dict(manifest.metadata)) == (words, dict(defined.metadata))
        assert (manifest.rules, manifest.name) == ("Be brief.", defined.name)


def test_a_class_with_code_is_captured_with_it() -> None:
    assert "return Result(answer=task.text)" in MANAGER.capture(Coded).source
    exec_made: dict[str, Any] = {"Agent": Agent, "Context": Context, "Task": Task, "Result": Result}
    exec(
        "class Typed(Agent):\n    'Work.'\n    async def run(self, ctx: Context, task: Task) -> Result:\n        ...",
        exec_made,
    )
    with pytest.raises(BadComponent, match="not available"):
        MANAGER.capture(exec_made["Typed"])


TRICKY = [
    "{{ x }}", "{% if a %}", "{# no #}", "{%- endraw -%}", "# system", "#  Message :", "# module: it", "{{{", "}}",
    "plain", "", "  indented", "é \U0001f600", "---", '"quoted" \\', "{{ '{{' }}",
]  # fmt: skip
WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
LINES = st.lists(st.sampled_from(TRICKY) | WORDS, min_size=1, max_size=6)


@given(LINES)
def test_instructions_are_shown_as_they_were_written(lines: list[str]) -> None:
    agent = declared(instructions="\n".join(lines), description="It.")
    source = prompt_source(agent.declaration)
    if source is None:
        return
    prompt = PromptManager().parse(source)
    parts = {"system": "{{ agent_profile }}", **prompt.modules}
    (shown,) = Templates(parts, ("system",), (), SourceCache()).render({})
    assert shown == agent.declaration.instructions
    assert (prompt.name, prompt.uses, list(prompt.modules)) == ("capitals", "prompt:tool_calling", ["agent_profile"])


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), min_size=1, max_size=60))
@example('"""')
@example("\x1c")
@example("a\n\x1c\x85\u2028\nb\n\x0b")
@example('a \\"')
def test_any_words_are_a_description(words: str) -> None:
    agent = declared(description=words)
    assert MANAGER.capture(agent).description == description_of(agent.declaration)


@pytest.mark.parametrize("words", ["a\0b", "half \ud800", "a\rb", "a\r\r\nb", "a\r"])
def test_words_that_are_no_text_are_refused(words: str) -> None:
    with pytest.raises(BadComponent):
        MANAGER.capture(declared(description=words))
    with pytest.raises(BadComponent):
        PromptManager().parse(prompt_source(declared(instructions=words).declaration) or "")


@pytest.mark.parametrize(
    ("instructions", "description"),
    [("Be good. Be quick.", "Be good."), ("Go on", "Go on"), ("\n    First.\n    Second.\n", "First.")],
)
def test_without_a_description_an_agent_is_described_by_its_first_sentence(instructions: str, description: str) -> None:
    assert MANAGER.capture(declared(instructions=instructions)).description == description


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"name": "No Name"}, "not a name for an agent"),
        ({"name": 3}, "not a name for an agent"),
        ({"instructions": ""}, "The agent 'capitals' has neither instructions nor a description"),
        ({"instructions": 3}, "`instructions` is 3, not text"),
        ({"tools": "calculator"}, "`tools` is 'calculator', not a list"),
        ({"tools": [lambda x: x]}, "`tools` holds '<lambda>'"),
        ({"tools": [len]}, "`tools` holds 'len'"),
        ({"agents": [Written]}, "`agents` holds 'Written'"),
        ({"environments": [3]}, "`environments` holds 3"),
        ({"max_steps": 0}, "max_steps of CapitalsAgent is 0"),
        ({"memory": "tool:x"}, "'tool:x' as its memory"),
        ({"output": "City"}, "`output` is the text 'City'"),
        ({"output": object()}, "which has no JSON Schema"),
        ({"output": {"type": "nope"}}, "not a usable JSON Schema"),
        ({"environments": ["A b"]}, "'A b' is not a name for one of environments"),
    ],
)
def test_what_cannot_be_declared_is_one_clear_error(facts: dict[str, Any], said: str) -> None:
    with pytest.raises(BadComponent) as caught:
        MANAGER.describe(MANAGER.capture(declared(**facts)), version="1.0.0")
    assert said in caught.value.problem
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (
            {"instructions": "Look numbers up."},
            "Nothing reads the `instructions` in the class Capitals. Fix: write Agent(",
        ),
        (
            {"tools": ["calculator", people]},
            "cannot be declared in a class. Fix: write text, numbers, lists or dicts; a",
        ),
        (
            {"output": City},
            "City'> cannot be declared in a class. Fix: write text, numbers, lists or dicts; a call, Agent(",
        ),
    ],
)
def test_what_only_a_call_declares_is_refused_in_a_class(facts: dict[str, Any], said: str) -> None:
    with pytest.raises(BadComponent) as caught:
        MANAGER.capture(type("Capitals", (Agent,), {"__doc__": "Know capitals.", **facts}))
    assert said in str(caught.value)


def test_a_written_class_with_instructions_for_nobody_is_refused_too() -> None:
    source = 'from tea import Agent\n\n\nclass Capitals(Agent):\n    """Know."""\n\n    instructions = "Look it up."\n'
    with pytest.raises(BadComponent, match="Nothing reads the `instructions`"):
        MANAGER.describe(MANAGER.check(source), version="1.0.0")


def test_the_name_of_the_base_prompt_is_taken() -> None:
    with pytest.raises(BadComponent, match="is the prompt that declared agents build on"):
        prompt_source(declared(name="tool_calling").declaration)


@pytest.mark.parametrize(
    ("output", "answer", "value"),
    [
        (City, {"name": "Rome", "founded": "0753-04-21"}, City("Rome", date(753, 4, 21))),
        (list[int], [1, 2], [1, 2]),
        (tuple[int, str], [1, "a"], (1, "a")),
        (Literal["a", "b"], "a", "a"),
        (Even, {"number": 2}, Even(number=2)),
        (Old, {"name": "x"}, {"name": "x"}),
        ({"type": "array"}, [1], [1]),
    ],
)
def test_an_answer_becomes_a_value_of_its_type(output: Any, answer: Any, value: Any) -> None:
    found = AnswerType.of(output)
    assert found is not None
    assert found.read(answer) == value
    assert type(found.read(answer)) is type(value)


def test_an_answer_that_is_no_value_of_its_type_says_why() -> None:
    found = AnswerType.of(Even)
    assert found is not None
    with pytest.raises(BadOutput, match="number: Value error, is odd"):
        found.read({"number": 1})
