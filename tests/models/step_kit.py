"""Agents asking for steps themselves, to test questions and answers without a loop between."""

from pathlib import Path
from typing import Any

from dialects import Dialect
from loopback import Loopback, Reply
from run_kit import home

from tea.platform import Platform
from tea.runs.outcome import Outcome

PROMPT = """---
name: steps
description: Asks for a step.
variables:
  tools: {type: array, default: []}
  functions: {type: boolean, default: false}
output:
  type: object
  properties:
    thinking: {type: string}
    next_goal: {type: string}
    calls:
      type: array
      minItems: 1
      items:
        type: object
        properties: {name: {type: string}, arguments: {type: object}}
        required: [name, arguments]
        additionalProperties: false
  required: [thinking, next_goal, calls]
  additionalProperties: false
---
# system

Work.
{% if not functions %}
{% for tool in tools %}
You may call {{ tool.name }}: {{ tool.description }}
{% endfor %}
{% endif %}

# message

Now.
"""
STEPPER = '''
from tea import Agent, Context, Message, Result, Task, TextPart

ANY = {"type": "object", "properties": {}}
TOOLS = [
    {"name": "add", "description": "Add up numbers.", "parameters": ANY},
    {"name": "done", "description": "End the work.", "parameters": ANY},
]


class Stepper(Agent):
    """Take steps until `done` is called, or words come."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask, answer each call with its number, and ask again."""
        history = ()
        for step in range(1, 9):
            answer = await ctx.ask("steps", {"tools": TOOLS}, history, tool_choice=task.text)
            made = [call.model_dump() for call in answer.calls] or (answer.output or {}).get("calls", [])
            calls = [{**call, "id": f"c{step}_{number}"} for number, call in enumerate(made, 1)]
            if not calls:
                return Result(answer=answer.text, ok=not answer.unusable, reason=answer.unusable)
            if calls[-1]["name"] == "done":
                return Result(answer=calls[-1]["arguments"]["answer"])
            content = [one.model_dump() for one in answer.reasoning]
            content += [{"type": "text", "text": answer.text}] if answer.text else []
            spoken = Message.model_validate({"role": "assistant", "content": content, "calls": calls})
            results = (
                Message(role="tool", content=(TextPart(text=f"result of {one['id']}"),), call_id=one["id"])
                for one in calls
            )
            history = (*history, spoken, *results)
        return Result(ok=False)
'''
ASKER = '''
from tea import Agent, Context, Result, Task

ANY = {"type": "object", "properties": {}}
TOOLS = [{"name": name, "description": "Do it.", "parameters": ANY} for name in ("add", "done")]


class Asker(Agent):
    """Ask for one step."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Return what came."""
        answer = (await ctx.ask("steps", {"tools": TOOLS})).model_dump()
        return Result(answer={name: answer[name] for name in ("text", "output", "calls", "unusable", "reasoning")})
'''


async def stepped(
    folder: Path, dialect: Dialect, *replies: Reply, choice: str = "auto", more: str = "", **options: Any
) -> tuple[Outcome, Loopback]:
    """Run the stepper with a model of these replies, and replay it."""
    async with Loopback(*replies).open() as server:
        home(folder, dialect, server.url, **options)
        with (folder / "tea.toml").open("a") as file:
            file.write(more.replace("URL", server.url))
        async with Platform(folder, state=folder / "state") as tea:
            await tea.acp.register(STEPPER)
            await tea.libraries["prompt"].register(PROMPT)
            outcome = await tea.run(choice, agent="stepper")
            assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
        return outcome, server
