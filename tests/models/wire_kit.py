"""Whole runs with a scripted model behind the wire, and the contents of their requests, in any format."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dialects import Dialect, Say, said, streamed
from loopback import Asked, Loopback, Reply
from run_kit import home

from tea.platform import Platform
from tea.runs.outcome import Outcome

NATIVE = ["tools", "schema", "streaming"]


def call(name: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    return name, arguments


def says(*calls: tuple[str, Any], text: str = "") -> Say:
    """A step of these calls."""
    return Say(text=text, calls=tuple((f"own_{n}", name, given) for n, (name, given) in enumerate(calls, 1)))


def ends(answer: Any, **more: Any) -> Say:
    return says(call("done", answer=answer, **more))


@dataclass
class Script:
    """A model's answers, in order or made of each request, and its requests.

    It counts so many tokens for each four bytes of a request.
    """

    dialect: Dialect
    answers: Sequence[Say | Reply] | Callable[["Question"], Say | Reply]
    stream: bool = False
    counts: float = 1
    asked: list["Question"] = field(default_factory=list["Question"])

    def answer(self, asked: Asked) -> Reply:
        question = Question(self.dialect, asked.body, len(asked.raw), len(self.asked) + 1)
        self.asked.append(question)
        if callable(self.answers):
            say = self.answers(question)
        else:
            say = self.answers[min(question.number, len(self.answers)) - 1]
        if isinstance(say, Reply):
            return say
        size = int(question.size * self.counts)
        tokens = {"input": size, "cached": 0, "output": 20 if self.counts else 0, "thought": 0}
        given = Say(**{**vars(say), "tokens": tokens})
        return (streamed if asked.body.get("stream") else said)(self.dialect, given)

    @property
    def steps(self) -> list["Question"]:
        """The questions for a step, without those about carrying on."""
        return [one for one in self.asked if one.functions]


@dataclass
class Question:
    """One request, as a test reads it."""

    dialect: Dialect
    body: Any
    bytes: int
    number: int

    @property
    def size(self) -> int:
        return self.bytes // 4

    @property
    def messages(self) -> list[Any]:
        return plain(self.body.get("messages") or self.body["input"])

    @property
    def functions(self) -> list[str]:
        return [one.get("function", one)["name"] for one in self.body.get("tools", ())]

    @property
    def words(self) -> str:
        """All texts of the conversation, in any holder."""
        return "\n".join(texts([self.body.get("system", ""), self.body.get("instructions", ""), self.messages]))

    @property
    def beginning(self) -> str:
        """The text before the conversation, as sent; later words may be parts of one message."""
        given = {name: plain(self.body[name]) for name in ("system", "instructions", "tools") if name in self.body}
        first = next(at for at, one in enumerate(self.messages) if one.get("role") == "user")
        content = self.messages[first]["content"]
        return json.dumps([given, self.messages[:first], content if isinstance(content, str) else content[0]])

    @property
    def results(self) -> dict[str, str]:
        """The results, by the id of their call; it holds each call of one, in its place."""
        calls, results = [], {}
        for one in self.messages:
            blocks = one["content"] if self.dialect.name == "anthropic_messages" else [one]
            for block in blocks if isinstance(blocks, list) else ():
                waiting = [id for id in calls if id not in results]
                match block:
                    case {"role": "assistant", "tool_calls": made}:
                        assert not waiting, waiting
                        calls += [each["id"] for each in made]
                    case {"type": "function_call" | "tool_use"}:
                        calls.append(block.get("call_id") or block["id"])
                    case (
                        {"role": "tool", "tool_call_id": id}
                        | {"type": "function_call_output", "call_id": id}
                        | {"type": "tool_result", "tool_use_id": id}
                    ):
                        assert id in waiting, (id, calls)
                        given = block.get("content") if "content" in block else block["output"]
                        results[id] = "\n".join(texts(given))
                    case {"role": "user"} | {"type": "text"}:
                        assert not waiting, waiting
                    case _:
                        pass
        assert set(calls) == set(results)
        assert len(calls) == len(set(calls))
        return results


def texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [one for part in value.values() for one in texts(part)]
    return [one for part in value for one in texts(part)] if isinstance(value, list) else []


def plain(value: Any) -> Any:
    """A body without the moving marks of cacheable parts."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items() if name != "cache_control"}
    return value


@asynccontextmanager
async def playing(
    folder: Path,
    dialect: Dialect,
    answers: Sequence[Say | Reply] | Callable[[Question], Say | Reply],
    *,
    counts: float = 1,
    more: str = "",
    **options: Any,
) -> AsyncIterator[tuple[Platform, Script]]:
    """A platform in a home with a model saying this."""
    script = Script(dialect, answers, counts=counts)
    async with Loopback(answer=script.answer).open() as server:
        home(folder, dialect, server.url, more, **{"capabilities": NATIVE, **options})
        async with Platform(folder, state=folder / "state") as tea:
            yield tea, script


async def played(
    folder: Path, dialect: Dialect, answers: Any, *components: str, task: Mapping[str, Any], **options: Any
) -> tuple[Outcome, Script]:
    """Run a task to its end, and see a replay give the same without another question."""
    async with playing(folder, dialect, answers, **options) as (tea, script):
        for one in components:
            await tea.tcp.register(one)
        outcome = await tea.run(task["text"], **{name: one for name, one in task.items() if name != "text"})
        count = len(script.asked)
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
        assert len(script.asked) == count
    return outcome, script
