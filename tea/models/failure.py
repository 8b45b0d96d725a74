"""CallFailure: a failed attempt at a model call, and whether to retry it."""

from __future__ import annotations

import email.utils
import math
from collections.abc import Mapping, Sequence

from tea.characters import on_one_line
from tea.clock import epoch_seconds
from tea.models.context_length import exceeds

RETRIED = frozenset({408, 409, 425, 429})
LASTING = ("insufficient_quota",)  # waiting does not help, though the status is one of temporary failures


class CallFailure(Exception):
    """A failed attempt; it never leaves `tea.models`.

    Args:
        problem: What went wrong, in words; some come from the provider, so they are put on one printable line, with
            escapes of Python in the place of hidden characters, and of backslashes.
        again: Whether another try may succeed.
        status: The HTTP status, if there was a response.
        wait: Seconds that the provider asks to wait.
        unheard: Whether it may have been answered nonetheless, and be billed.
        code: What the provider itself calls it.
    """

    def __init__(
        self,
        problem: str,
        *,
        again: bool,
        status: int | None = None,
        wait: float | None = None,
        unheard: bool = False,
        code: str = "",
    ) -> None:
        super().__init__(problem)
        self.problem = "".join(map(_printable, on_one_line(problem)))
        self.too_long = exceeds(self.problem, code, status)
        self.again = again and not self.too_long  # the same question is not shorter at another time
        self.status, self.wait, self.unheard = status, wait, unheard


def _printable(one: str) -> str:
    return one if one.isprintable() and one != "\\" else repr(one)[1:-1]


def repeatable(status: int) -> bool:
    """Return whether a status may be transient: too many requests, a timeout, a conflict, or a server error."""
    return status in RETRIED or status >= 500


def remedy(status: int | None, keys: Sequence[str] = ()) -> str:
    """Return a fix for a failed attempt, addressed to a person.

    Args:
        status: The HTTP status, if there was a response.
        keys: Names of the variables that hold the keys.
    """
    match status:
        case 401 | 403 if keys:
            return f"check the key in {' or '.join(keys)}, and what it may use."
        case 401 | 403:
            return "the server wants a key: name the variable that holds it as `key_env`."
        case 301 | 302 | 307 | 308 | 404 | 405:
            return "check its base_url and the model's id."
        case 400 | 413 | 422:
            return "see what the provider says; perhaps the model lacks a capability that its configuration states."
        case 402 | 429:
            return "wait, or give the model more keys or fallbacks."
        case None:
            return "check its base_url and the network, or try again later."
        case _:
            return "try again later, or give the model fallbacks."


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the delay in seconds requested by a response: `retry-after-ms`, or `Retry-After` (RFC 9110, 10.2.3)."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after", "")
    seconds = _number(text)
    if seconds is not None or not text:
        return seconds
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - epoch_seconds())
    except ValueError:
        return None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < math.inf else None
