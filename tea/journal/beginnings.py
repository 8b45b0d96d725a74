"""Beginnings: the first records of runs, read without the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from tea.errors import BadInput, StorageError
from tea.journal.status import understood
from tea.journal.tracer import Tracer, TraceRecord

T = TypeVar("T")


def beginnings(
    tracer: Tracer, runs: Iterable[str], read: Callable[[str, TraceRecord], T | None], problems: list[str] | None = None
) -> Iterator[T]:
    """Yield the meaning of the first records of runs, in order, without runs removed meanwhile.

    Args:
        tracer: Reads the journals.
        runs: Ids of the runs.
        read: Gives the meaning of a run's first record, None for a run to be left out.
        problems: Takes what is wrong with journals that cannot be read.
    """
    for run in runs:
        try:
            with understood(run):
                first = next(tracer.records(run), None)
                found = None if first is None else read(run, first)
        except BadInput:  # another process removed it meanwhile
            continue
        except StorageError as error:
            if problems is not None:
                problems.append(error.problem)
            continue
        if found is not None:
            yield found
