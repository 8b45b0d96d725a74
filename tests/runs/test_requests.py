"""Test a run's refusal of unknown requests."""

import json
from typing import Any

import pytest

from tea.components.port import REQUESTS, request_of
from tea.runs.ports import AgentPort
from tea.testing import platform

OWN = {"owner": "agent:every", "lasting": False}
PUT = {**OWN, "changes": [], "expected": []}
DATA: dict[tuple[str, str], Any] = {
    ("registry", "list"): {"kind": "tool"},
    ("registry", "info"): {"kind": "tool", "ref": "calculator"},
    ("registry", "facts"): {"kind": "tool", "refs": ["calculator"]},
    ("registry", "retrieve"): {
        "kind": "tool",
        "query": "sum",
        "k": 1,
        "route": False,
        "among": ["*", "calculator"],
        "besides": [],
    },
    ("registry", "rank"): {"kind": "tool", "query": "sum", "k": 1, "texts": {"a": "sum", "b": "dog"}},
    ("memory", "record"): {"kind": "seen", "data": {}},
    ("memory", "recall"): {"query": "", "limit": 1},
    ("memory", "summarise"): {"earlier": False},
    ("memory", "insights"): {"earlier": False},
    ("state", "load"): OWN,
    ("state", "save"): {**OWN, "document": {}},
    ("state", "merge"): {**OWN, "patch": {"a": 1}},
    ("state", "swap"): {**OWN, "old": None, "new": 1},
    ("state", "put"): PUT,
    ("state", "put_in_turn"): {**PUT, "seconds": 1.0},
    ("state", "claim"): {**OWN, "seconds": 1.0},
    ("state", "give_back"): OWN,
    ("person", "ask"): {"question": "Well?", "choices": ["yes"]},
    ("model", "facts"): {"name": None},
    ("media", "look"): {"names": []},
    ("messages", "take"): {},
    ("budget", "remaining"): {},
    ("clock", "now"): {},
    ("clock", "today"): {},
    ("random", "random"): {},
    ("random", "id"): {},
    ("registry", "solutions"): {"query": "sum", "k": 3},
    ("sandbox", "terms"): {},
    ("sandbox", "packages"): {},
    ("sandbox", "parsers"): {},
    ("sandbox", "cache"): {},
    ("session", "folder"): {"name": "workspace"},
    ("search", "search"): {"queries": ["sum"], "since": ""},
    ("search", "corpus"): {"query": "sum", "found": 20, "kept": 5},
    ("search", "entities"): {"kind": "country", "conditions": [], "columns": [], "language": "en"},
    ("search", "document"): {"url": "file:///nowhere"},
    ("hosts", "read"): {"wanted": "github"},
    ("hosts", "identity"): {},
    ("skills", "list"): {},
    ("skills", "read"): {"name": "pdf_forms"},
    ("web", "settings"): {},
    ("generated", "try"): {"source": "", "cases": [], "given": None, "files": []},
    ("generated", "adopt"): {"source": "", "cases": [], "given": None, "files": [], "task": ""},
    ("generated", "adopt_agent"): {"draft": {}, "tests": [], "task": "", "check": True},
    ("generated", "open"): {"ref": "done"},
    ("generated", "mend"): {"ref": "tool:done@1.0.0", "texts": {}, "why": ""},
    ("new_tools", "take"): {"seen": 0},
}
EVERY = '''
"""Asks for everything."""
import json
from tea import Agent, Context, Result, Task, TeaError


class Every(Agent):
    """Makes each request once."""

    async def run(self, task: Task, ctx: Context) -> Result:
        """Ask, and tell what came of it."""
        found = {}
        for service, verb, data in json.loads(task.text):
            try:
                said = await ctx.port.serve((service, verb, data))
            except TeaError as error:
                said = error
            found[f"{service} {verb}"] = type(said).__name__
        return Result(answer=found, ok=True)
'''

ASKER = '''
"""Asks for what no run serves."""
from tea import Agent, Context, Result, Task, TeaError


class Asker(Agent):
    """Keeps something, and asks its port for what is not a request."""

    async def run(self, task: Task, ctx: Context) -> Result:
        """Ask, and tell what came of it."""
        await ctx.state.save({"kept": 1})
        told = []
        for odd in ("drop", {"service": "state", "verb": "drop"}, ("agent:asker", False, {})):
            try:
                await ctx.port.serve(odd)
            except TeaError as error:
                told.append(error.record())
        inside = await ctx.tcp.invoke("odd", {})
        return Result(answer={"told": told, "inside": inside.error, "kept": await ctx.state.load()}, ok=True)
'''
ODD = '''
"""A tool."""
from tea import Context, tool


@tool(effects="reads")
async def odd(ctx: Context) -> str:
    """Ask for what no run serves."""
    return await ctx.port.serve("drop")
'''


async def test_a_run_refuses_what_is_no_request_and_changes_nothing() -> None:
    async with platform() as stage:
        await stage.tcp.register(ODD)
        await stage.acp.register(ASKER)
        outcome = await stage.run("Ask.", agent="asker")
        answer: Any = outcome.answer
        fix = "use the methods of the context."
        assert [one["problem"] for one in answer["told"]] == [
            f"A run cannot serve a {one}." for one in ("str", "dict", "tuple")
        ]
        assert {(one["code"], one["fix"]) for one in answer["told"]} == {("BadArguments", fix)}
        assert (answer["inside"]["code"], answer["inside"]["problem"]) == ("BadArguments", "A run cannot serve a str.")
        assert answer["kept"] == {"kept": 1}


class NamingPort(AgentPort):
    """A port for an agent naming its requests, as it cannot import them."""

    async def serve(self, request: Any) -> Any:
        return await super().serve(request_of(*request))


async def test_a_run_serves_every_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tea.runs.run.AgentPort", NamingPort)

    async def yes(question: str, choices: Any) -> str:
        return "yes"

    assert set(DATA) == set(REQUESTS)
    async with platform(person=yes) as stage:
        await stage.acp.register(EVERY)
        outcome = await stage.run(json.dumps([[*one, data] for one, data in DATA.items()]), agent="every")
        found: Any = outcome.answer
        assert (outcome.status, list(found)) == ("done", [" ".join(one) for one in DATA]), outcome
        refused = {name for name, kind in found.items() if kind == "NotConfigured"}
        assert refused == {"search entities", "search search"}  # no engine is configured
        assert "BadArguments" not in found.values()
