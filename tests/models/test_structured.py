"""Test typed answers: enforced by the provider if possible, validated, mended once, in the journal."""

import json
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, Say, said
from loopback import Loopback, Reply
from pydantic import BaseModel
from run_kit import home

from tea.components.json_schema import closed
from tea.models.schema import OPENAI, enforced
from tea.platform import Platform
from tea.runs.outcome import Outcome

PROMPT = """---
name: trip
description: Asks for a trip.
---
# system

Plan.

# message

Now.
"""
AGENT = '''
from tea import Agent, Context, Result, Task, ask_for
from dataclasses import dataclass


@dataclass
class Leg:
    """A part of a trip."""

    to: str
    hours: float = 1.0


@dataclass
class Trip:
    """A trip."""

    legs: list[Leg]
    note: str | None = None


class Travels(Agent):
    """Plan a trip."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask for it."""
        trip = await ask_for(ctx, Trip, "trip", {})
        return Result(answer=sum(leg.hours for leg in trip.legs))
'''
MODELS = '''
from pydantic import BaseModel, Field, field_validator
from tea import Agent, Context, Result, Task, ask_for


class Leg(BaseModel):
    """A part of a trip."""

    to: str
    hours: float = Field(default=1.0, gt=0)


class Trip(BaseModel):
    """A trip."""

    legs: list[Leg]
    note: str | None = None

    @field_validator("legs")
    @classmethod
    def has_one(cls, legs: list[Leg]) -> list[Leg]:
        if not legs:
            raise ValueError("a trip has a leg")
        return legs


class Travels(Agent):
    """Plan a trip."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask for it."""
        trip = await ask_for(ctx, Trip, "trip", {})
        return Result(answer=sum(leg.hours for leg in trip.legs))
'''
GOOD = '{"legs": [{"to": "Ulm", "hours": 2}], "note": null}'


class Leg(BaseModel):
    """A part of a trip."""

    to: str
    hours: float = 1.0


class Trip(BaseModel):
    """A trip."""

    legs: list[Leg]
    note: str | None = None


NUMBERS = '''
from tea import Agent, Context, Result, Task, ask_for


class Travels(Agent):
    """Count."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask for what is not a closed object."""
        numbers = await ask_for(ctx, list[int], "trip", {})
        counts = await ask_for(ctx, dict[str, int], "trip", {})
        return Result(answer=[numbers, counts])
'''


async def travel(
    folder: Path, dialect: Dialect, *replies: Reply, agent: str = AGENT, **options: Any
) -> tuple[Outcome, list[Any]]:
    async with Loopback(*replies).open() as server:
        home(folder, dialect, server.url, capabilities=["schema"])
        async with Platform(folder, state=folder / "state") as tea:
            await tea.acp.register(agent)
            await tea.libraries["prompt"].register(PROMPT)
            outcome = await tea.run("go", agent="travels", **options)
            assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
        return outcome, [asked.raw.decode() for asked in server.asked]


async def test_an_answer_of_a_type_is_enforced_validated_and_mended_once(dialect: Dialect, tmp_path: Path) -> None:
    replies = said(dialect, Say(text='{"legs": 3}')), said(dialect, Say(text=GOOD))
    outcome, sent = await travel(tmp_path, dialect, *replies)
    assert (outcome.answer, outcome.cost.steps, outcome.cost.tokens) == (2, 2, 240)
    assert '"json_schema"' in sent[0]
    assert dialect.name == "anthropic_messages" or '"strict":true' in sent[0]
    assert "could not be used" in sent[1]
    assert '{\\"legs\\": 3}' in sent[1]


@pytest.mark.parametrize("wrong", ['{"legs": []}', '{"legs": [{"to": "Ulm", "hours": -1}]}'])
async def test_an_agent_asks_for_a_model_of_pydantic_whose_own_rules_hold(
    dialect: Dialect, tmp_path: Path, wrong: str
) -> None:
    replies = said(dialect, Say(text=wrong)), said(dialect, Say(text=GOOD))
    outcome, sent = await travel(tmp_path, dialect, *replies, agent=MODELS)
    assert (outcome.answer, len(sent)) == (2, 2)
    assert "could not be used" in sent[1]


async def test_what_no_provider_enforces_can_be_asked_for_too(dialect: Dialect, tmp_path: Path) -> None:
    replies = said(dialect, Say(text="[1, 2]")), said(dialect, Say(text='{"a": 3}'))
    outcome, sent = await travel(tmp_path, dialect, *replies, agent=NUMBERS)
    assert outcome.answer == [[1, 2], {"a": 3}]
    assert "fits this JSON Schema" in sent[0]
    assert ("json_schema" in sent[1]) is ("fits this JSON Schema" not in sent[1])


async def test_an_answer_that_cannot_be_mended_is_an_error(dialect: Dialect, tmp_path: Path) -> None:
    outcome, sent = await travel(tmp_path, dialect, *[said(dialect, Say(text="no"))] * 3)
    assert (outcome.exit_code, len(sent)) == (1, 2)
    assert "not JSON" in outcome.reason


async def test_the_form_of_a_tasks_answer_stands_in_the_schema_of_done(dialect: Dialect, tmp_path: Path) -> None:
    """Tell a model with functions by its provider; an unfit answer is told why."""
    wanted = {"type": "array", "items": {"type": "integer"}, "maxItems": 2}
    wrong, right = (Say(calls=(("c", "done", {"answer": one}),)) for one in ("1, 2", [1, 2]))
    async with Loopback(said(dialect, wrong), said(dialect, right)).open() as server:
        home(tmp_path, dialect, server.url, capabilities=["tools"])
        async with Platform(tmp_path, state=tmp_path / "state") as tea:
            outcome = await tea.run("Two numbers.", answer=wanted)
            assert outcome.answer == [1, 2]
            assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
    tools = json.dumps(server.asked[0].body["tools"], sort_keys=True)
    assert json.dumps(wanted, sort_keys=True) in tools
    assert "does not fit" in server.asked[1].raw.decode()


async def test_a_form_with_references_is_left_out_of_done(tmp_path: Path) -> None:
    chat = DIALECTS["openai_chat"]
    wanted = {"$defs": {"n": {"type": "integer"}}, "type": "array", "items": {"$ref": "#/$defs/n"}}
    async with Loopback(said(chat, Say(calls=(("c", "done", {"answer": [1]}),)))).open() as server:
        home(tmp_path, chat, server.url, capabilities=["tools"])
        async with Platform(tmp_path, state=tmp_path / "state") as tea:
            assert (await tea.run("Numbers.", answer=wanted)).answer == [1]
    assert "#/$defs/n" not in json.dumps(server.asked[0].body["tools"])


def test_the_schema_of_a_type_is_one_that_providers_can_enforce() -> None:
    assert enforced(Trip.model_json_schema(), OPENAI) is None
    assert enforced(closed(Trip.model_json_schema()), OPENAI) is not None


NESTED = {"properties": {"properties": {"type": "object"}}}


@pytest.mark.parametrize(
    ("value", "more"),
    [({}, {}), ({"properties": "odd"}, {}), (NESTED, {"additionalProperties": False, "required": ["properties"]})],
)
def test_odd_schemas_are_closed_without_an_error(value: dict[str, Any], more: dict[str, Any]) -> None:
    assert closed(value) == {**value, **more}
