"""Defects: internal errors of tea, kept apart from a component's own failures."""

from __future__ import annotations

from types import TracebackType

from tea.errors import InternalError, TeaError, words_of


def as_defects(what: str) -> _Defects:
    """Convert unforeseen exceptions into an InternalError, not to be caught by components as their own.

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
