"""Models for several attempts at a task and for debates: a reply by prompt, and by how often it was asked."""

from collections import defaultdict
from collections.abc import Awaitable, Mapping
from typing import Any

from tea.models.manager import CallTool, ModelConfig
from tea.models.scripted import response_of
from tea.types import ModelRequest, ModelResponse, TextPart

WORDS = {"thinking": "", "evaluation": "", "memory": "", "next_goal": ""}
TASK = "Which city?"


class Cast:
    """A model with replies by prompt: one for all questions, a list in their order, or a function of the request."""

    def __init__(self, **replies: Any) -> None:
        self.replies = replies
        self.requests: dict[str, list[ModelRequest]] = defaultdict(list)

    async def complete(self, request: ModelRequest, config: ModelConfig, call_tool: CallTool) -> ModelResponse:
        name = str(request.prompt).removeprefix("prompt:").partition("@")[0]
        reply, number = self.replies[name], len(self.requests[name])
        self.requests[name].append(request)
        if isinstance(reply, list):
            reply = reply[min(number, len(reply) - 1)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if callable(reply):
            reply = reply(request)
        if isinstance(reply, Awaitable):
            reply = await reply  # pyright: ignore[reportUnknownVariableType]
        if isinstance(reply, Exception):
            raise reply
        return response_of(reply, config.name)  # pyright: ignore[reportArgumentType, reportUnknownArgumentType]

    def asked(self) -> dict[str, int]:
        return {name: len(requests) for name, requests in self.requests.items()}


def shown(request: ModelRequest) -> str:
    """The words of a request."""
    return "\n".join(part.text for one in request.messages for part in one.content if isinstance(part, TextPart))


def step(name: str, **arguments: Any) -> dict[str, Any]:
    return {**WORDS, "calls": [{"name": name, "arguments": arguments}]}


def steps(*calls: tuple[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {**WORDS, "calls": [{"name": name, "arguments": dict(arguments)} for name, arguments in calls]}


def answered(answer: Any, confidence: int | None = None, **more: Any) -> dict[str, Any]:
    return step("done", answer=answer, **({} if confidence is None else {"confidence": confidence}), **more)


def verdict(choice: int, *refuted: int, reason: str = "it is sourced", **more: Any) -> dict[str, Any]:
    objections = [{"answer": one, "objection": f"answer {one} has no source", "refuted": True} for one in refuted]
    return {"refutations": objections, "choice": choice, "reason": reason, "confidence": 70, **more}


def statement(position: str, confidence: int = 60, **more: Any) -> dict[str, Any]:
    usual: dict[str, Any] = {"argument": f"because of {position}", "rebuttals": [], "agrees": []}
    return {"position": position, "confidence": confidence, **usual, **more}


def expert(name: str, agent: str = "", relation: str = "competitive", role: str = "Knows it.") -> dict[str, str]:
    return {"name": name, "agent": agent, "role": role, "relation": relation}


def invitation(*experts: dict[str, str], question: str = "Is it a good investment?") -> dict[str, Any]:
    return {"question": question, "experts": list(experts)}
