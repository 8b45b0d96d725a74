"""Defects: what goes wrong inside tea itself is never mistaken for a component's own failure."""

from __future__ import annotations

from types import TracebackType

from tea.errors import InternalError, TeaError, words_of


def as_defects(what: str) -> _Defects:
    """Turn exceptions that nobody foresaw into an InternalError, which no component may swallow as its own.

    Args:
        what: What was being done, for the message.
    """
    return _Defects(what)


class _Defects:
    __slots__ = ("_what",)

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, TeaError | TimeoutError):
            raise InternalError(f"{self._what} failed: {words_of(error)}.", fix="report this defect.") from error
