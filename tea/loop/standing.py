"""Standing: the answer given last and not accepted yet, and replies about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tea.loop.confirmation import confirms, remark_of, speaks_of
from tea.loop.offer import CONFIDENCE, DONE
from tea.loop.step import Reply
from tea.types import JsonObject, JsonValue, Result, ToolCall, as_text, changed

_ANSWER, _SUCCESS, _REASON, _DOUBTS, _EVIDENCE = "answer", "success", "reason", "doubts", "evidence"


@dataclass(slots=True)
class Standing:
    """The answer refused last, until another is given.

    Args:
        given: It as the arguments of `done`, None without one.
        asked: Whether unclear words about it were asked about.
    """

    given: JsonObject | None = None
    asked: bool = False

    def keep(self, arguments: JsonObject) -> None:
        """Keep a refused answer, or a refused failure, in place of the one before."""
        if arguments.get(_ANSWER) not in (None, "") or arguments.get(_SUCCESS) is False:
            self.given, self.asked = arguments, False

    def drop(self) -> None:
        """Drop the answer, as another counts."""
        self.given, self.asked = None, False

    def is_unclear(self, text: str, task: str) -> bool:
        """Return whether words speak of the answer without confirming it, once for an answer."""
        if self.given is None or self.asked or not speaks_of(text, task):
            return False
        self.asked = True
        return True

    def read(
        self,
        reply: Reply,
        step: int,
        is_end: Callable[[ToolCall], bool],
        *,
        task: str,
        held: Result | None = None,
        told: bool = False,
        last: bool = False,
    ) -> Reply:
        """Return a reply with the answer confirmed by it, in words or as the answer of `done`; another unchanged.

        An end that speaks of the answer without confirming it becomes words, which are asked about once. Words
        about an answer held for a look stay as they are.

        Args:
            reply: The reply.
            step: Number of its step.
            is_end: Tells whether a call is one of `done`.
            task: The words of the task.
            held: The answer held for a look, None without one.
            told: Whether words about that were asked about.
            last: Whether no words can be asked about.
        """
        given = self.given if self.given is not None or held is None else _arguments(held)
        ends = [one for one in reply.calls if is_end(one) and not one.unreadable]
        if given is None or len(ends) > 1 or (reply.calls and not ends) or not (ends or self.given):
            return reply
        call = ends[0] if ends else ToolCall(id=f"c{step}_1", name=DONE, arguments={})
        text, answer = _spoken(call) if ends else reply.said, as_text(given.get(_ANSWER, ""))
        speaks = speaks_of(text, task)
        if text and (speaks or not ends) and confirms(text, answer):
            return _with(reply, call, given, remark_of(text, answer))
        if not speaks or len(reply.calls) > 1:
            return reply
        asked = last or (told if self.given is None else self.asked)
        if not asked:
            return replace(reply, text=text, calls=(), recorded=False) if ends else reply
        return _with(reply, call, given, text) if not ends or 2 * len(text) < len(answer) else reply


def _with(reply: Reply, call: ToolCall, given: JsonObject, remark: str) -> Reply:
    """Return a reply with the given answer as its end, and with the words beside the confirmation."""
    own = {name: one for name in (CONFIDENCE, _EVIDENCE) if (one := call.arguments.get(name))}
    said = [given.get(_REASON), *(call.arguments.get(name) for name in (_REASON, _DOUBTS)), remark]
    reason = " ".join(str(one) for one in said if one)
    end = changed(call, arguments={**given, **own, **({_REASON: reason} if reason else {})})
    calls = tuple(end if one.id == call.id else one for one in reply.calls)
    return replace(reply, calls=calls) if calls else replace(reply, text="", calls=(end,))


def _spoken(call: ToolCall) -> str:
    """Return the words given to `done` as its answer, empty for a failure or another value."""
    answer: JsonValue = call.arguments.get(_ANSWER)
    return answer.strip() if isinstance(answer, str) and call.arguments.get(_SUCCESS) is not False else ""


def _arguments(held: Result) -> JsonObject:
    """Return a held answer as the arguments of `done`."""
    evidence = [{"source": one.source, "detail": one.detail, "quote": one.quote} for one in held.evidence]
    return {_ANSWER: held.answer, _REASON: held.reason, _EVIDENCE: evidence}
