"""Clerk: the agent of the desk, its prompt, and a model obeying both to the letter."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from tea.models.manager import CallTool, ModelConfig
from tea.testing.desk.reflecting import Diagnosis, reflection
from tea.types import DataPart, JsonObject, ModelRequest, ModelResponse, ToolCall, Usage, as_object

PROMPT = """---
name: desk
description: Answers a question at the desk, by the rules.
variables:
  task: string
  tools:
    type: array
    items:
      type: object
      required: [name, description, parameters]
      properties: {{name: {{type: string}}, description: {{type: string}}, parameters: {{type: object}}}}
    default: []
  results:
    type: array
    items:
      type: object
      required: [tool, value]
      properties: {{tool: {{type: string}}, value: {{}}}}
    default: []
  recalled: {{type: array, items: {{type: string}}, default: []}}
output:
  type: object
  properties:
    thinking: {{type: string}}
    tool: {{type: string}}
    arguments: {{type: object}}
    answer: {{type: string}}
  required: [thinking, tool, arguments, answer]
trainable: [rules]
---
# system

{{{{ rules }}}}

Reply with one JSON object: {{"thinking": "...", "tool": "...", "arguments": {{...}}, "answer": "..."}}
- To call a tool: its name in `tool`, its arguments by name, and an empty `answer`. Its result is in the next question.
- To answer: an empty `tool`, no arguments, and in `answer` the bare answer without a sentence around it.

# message

{{{{ task }}}}
{{% for one in tools %}}
<tool name="{{{{ one.name }}}}">
{{{{ one.description }}}}
parameters: {{{{ one.parameters }}}}
</tool>
{{% endfor %}}
{{% for one in recalled %}}
<recalled>
{{{{ one }}}}
</recalled>
{{% endfor %}}
{{% for one in results %}}
<result tool="{{{{ one.tool }}}}">
{{{{ one.value }}}}
</result>
{{% endfor %}}

# module: rules

{rules}
"""
AGENT = '''
from tea import Agent, Context, Result, Task, consult


class Clerk(Agent):
    """Answer a question at the desk."""

    tools = {tools}
    {memory}

    async def run(self, ctx: Context, task: Task) -> Result:
        """Remember what the task tells, then ask the model until it answers."""
        *told, question = task.text.split("\\n")
        for fact in told:
            await ctx.memory.record("fact", {{"text": fact}})
        recalled = [one["data"]["text"] for one in await ctx.memory.recall("", 50)] if told else []
        facts = await ctx.tcp.facts(ctx.declared["tools"])
        known = [(one["name"], one["operations"][0]) for one in facts]
        keys = ("description", "parameters")
        tools = [{{"name": name, **{{key: call[key] for key in keys}}}} for name, call in known]
        results = []
        for _ in range({questions}):
            variables = {{"task": question, "tools": tools, "results": results, "recalled": recalled}}
            said = await consult(ctx, "desk", variables, lambda found: found.output)
            if not said["tool"]:
                return Result(answer=said["answer"])
            response = await ctx.tcp.invoke(said["tool"], said["arguments"])
            results.append({{"tool": said["tool"], "value": response.value}})
            if not response.ok:
                return Result(ok=False, reason=response.error["problem"])
        return Result(ok=False, reason="There were too many questions to the tools.")
'''
RULES = ("Write words in small letters.", "Write prices with 2 decimals.", "Write kg behind weights.")
SEEKER = '''
from tea import Agent


class Seeker(Agent):
    """Look things up, one after the other."""

    tools = {tools}
    max_steps = {steps}
'''
_QUESTION = re.compile(r"What is the (\w+) of (.+)\?")
_SUM = re.compile(r"Add ([\d, ]+)\.")
_TRIP = re.compile(r"How many minutes are (\d+) km\?")
_LIKES = re.compile(r"What does (\w+) like\?")
_PAY = re.compile(r"Pay (\d+) crowns in coins, by the present rate\.")
_SAY = re.compile(r"Say the word (\w+)\.")
_FOR = re.compile(r"For (.+?) answer (.+)\.")
_MILE = 1.6
_CHARACTERS_A_TOKEN = 4


@dataclass(slots=True)
class ObedientModel:
    """A model without thoughts of its own: it obeys its prompt, and reflects on the material shown, to the letter.

    At the desk it follows the rules of the prompt and the descriptions of tools, wrong or not. Asked for a reflection,
    it derives a change from the traces shown to it; what the traces do not show, it does not know.

    Args:
        hidden: Parts of lines; lines with one of them are left out of what it reads for a reflection.
    """

    hidden: tuple[str, ...] = ()
    diagnoses: list[Diagnosis] = field(default_factory=list[Diagnosis])

    async def complete(self, request: ModelRequest, config: ModelConfig, call_tool: CallTool) -> ModelResponse:
        """Answer at the desk, or reflect."""
        text = "\n".join(_text(request))
        used = Usage(input_tokens=len(text) // _CHARACTERS_A_TOKEN, output_tokens=10)
        if "material" in request.variables or "question" in request.variables:
            return self._reflected(text, config, used)
        if "results" in request.variables:
            output = Desk.of(request, text).reply()
            return ModelResponse(text=json.dumps(output), output=output, answered_by=config.name, usage=used)
        calls = (_next_call(request),)
        return ModelResponse(calls=calls, finish="calls", answered_by=config.name, usage=used)

    def _reflected(self, text: str, config: ModelConfig, used: Usage) -> ModelResponse:
        shown = "\n".join(line for line in text.splitlines() if not any(one in line for one in self.hidden))
        found = reflection(shown)
        self.diagnoses.append(found)
        output = found.to_json()
        return ModelResponse(text=found.text_for(shown), output=output, answered_by=config.name, usage=used)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """One question at the desk, with all rules to obey."""

    task: str
    rules: str
    tools: Sequence[Mapping[str, str]]
    results: Sequence[Mapping[str, Any]]
    recalled: Sequence[str]

    @classmethod
    def of(cls, request: ModelRequest, text: str) -> Desk:
        """Read a question."""
        given = request.variables
        return cls(
            task=given["task"], rules=text, tools=given["tools"], results=given["results"], recalled=given["recalled"]
        )

    def reply(self) -> JsonObject:
        """Return the reply demanded by the rules: the next call of a tool, or the answer."""
        for asked, answer in _FOR.findall(self.rules):
            if asked == self.task.rstrip(".?"):
                return _answer(str(answer), "The rules tell the answer.")
        if found := _SAY.fullmatch(self.task):
            return _answer(self._lettered(found[1]), "It is about a word.")
        if found := _LIKES.fullmatch(self.task):
            return self._liked(found[1])
        if found := _SUM.fullmatch(self.task):
            return self._through("sum", {"numbers": [int(one) for one in found[1].split(",")]})
        if found := _TRIP.fullmatch(self.task):
            return self._trip(int(found[1]))
        if found := _QUESTION.fullmatch(self.task):
            return self._through(found[1], {"item": found[2]})
        return _answer("unknown", "No rule is about this.")

    def _through(self, noun: str, arguments: JsonObject) -> JsonObject:
        """Return a call of the tool with a noun in its description, or the answer from its result."""
        if self.results:
            given = next(iter(as_object(self.results[-1]["value"]).values()))
            return _answer(self._written(noun, given), f"The {noun} is {given}.")
        named = [one["name"] for one in self.tools if re.search(rf"\b{noun}\b", one["description"])]
        if not named:
            return _answer("unknown", f"No tool tells the {noun}.")
        return {"thinking": f"{named[0]} tells the {noun}.", "tool": named[0], "arguments": arguments, "answer": ""}

    def _trip(self, kilometres: int) -> JsonObject:
        miles = any("in miles" in one["description"] for one in self.tools if "minutes" in one["description"])
        return self._through("minutes", {"distance": kilometres / _MILE if miles else kilometres})

    def _liked(self, who: str) -> JsonObject:
        known = [one for one in self.recalled if one.startswith(f"{who} likes ")]
        if not known:
            return _answer("unknown", f"Of {who} nothing is recalled, {len(self.recalled)} facts are.")
        return _answer(self._lettered(known[-1].removeprefix(f"{who} likes ").rstrip(".")), "It is recalled.")

    def _lettered(self, word: str) -> str:
        return word.upper() if "Write words in capitals." in self.rules else word

    def _written(self, noun: str, value: object) -> str:
        decimals = re.search(rf"Write {noun}s with (\d) decimals\.", self.rules)
        unit = re.search(rf"Write (\w+) behind {noun}s\.", self.rules)
        text = f"{float(str(value)):.{decimals[1]}f}" if decimals else f"{value:g}" if isinstance(value, float) else ""
        date = re.fullmatch(r"(\d+)-(\d+)-(\d+)", str(value))
        if date and "Write dates as day.month.year." in self.rules:
            text = f"{date[3]}.{date[2]}.{date[1]}"
        return (text or str(value)) + (f" {unit[1]}" if unit else "")


def _answer(text: str, thinking: str) -> JsonObject:
    return {"thinking": thinking, "tool": "", "arguments": {}, "answer": text}


def _next_call(request: ModelRequest) -> ToolCall:
    """Return the next call in a conversation of the tool-calling loop: one thing at a time, then the answer."""
    task = str(request.variables["task"])
    done = [one for one in _results(request) if "value" in one]
    step = len(request.messages)
    if found := _PAY.search(task):
        rate = re.search(r"\((?:solution:\S+)\): .*? -> (\d+)", "\n".join(_text(request)))
        answer = str(int(found[1]) * int(rate[1])) if rate else "unknown"
        return ToolCall(id=f"call_{step}", name="done", arguments={"answer": answer})
    items = re.findall(r"the stock of (\w+)", task)
    if len(done) < len(items):
        offered = [str(one["name"]) for one in request.tools if "stock" in str(one.get("description", ""))]
        if offered:
            return ToolCall(id=f"call_{step}", name=offered[0], arguments={"item": items[len(done)]})
        why = {
            "answer": "",
            "success": False,
            "reason": f"The step budget ended before {items[len(done)]} was looked up.",
        }
        return ToolCall(id=f"call_{step}", name="done", arguments=why)
    total = sum(next(iter(cast("dict[str, int]", one["value"]).values())) for one in done)
    return ToolCall(id=f"call_{step}", name="done", arguments={"answer": str(total)})


def _results(request: ModelRequest) -> Iterable[dict[str, Any]]:
    for message in request.messages:
        if message.role == "tool":
            data = [part.data for part in message.content if isinstance(part, DataPart)]
            found = [cast("dict[str, Any]", one) for one in data if isinstance(one, dict)]
            yield from (one for one in found if one.get("ok"))


def _text(request: ModelRequest) -> Iterable[str]:
    for message in request.messages:
        yield from (getattr(part, "text", "") for part in message.content)
