"""Defects: what goes wrong inside tea itself is never mistaken for a component's own failure."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from tea.errors import InternalError, TeaError


@contextmanager
def as_defects(what: str) -> Generator[None]:
    """Turn exceptions that nobody foresaw into an InternalError, which no component may swallow as its own.

    Args:
        what: What was being done, for the message.
    """
    try:
        yield
    except (TeaError, TimeoutError):
        raise
    except Exception as error:
        words = str(error).partition("\n")[0][:150]
        raise InternalError(f"{what} failed: {type(error).__name__}: {words}.", fix="report this defect.") from error
