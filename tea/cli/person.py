"""The person at the terminal: questions from components, and the answers typed."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, TextIO

from tea.cli.lines import forget_typed
from tea.cli.terminal import fitting, folded, is_narrow, one_line, review, undisturbed

if TYPE_CHECKING:
    from tea.runs.human_input import Person

_WHOLE = "show"
_GIVEN_UP = "The question above is not asked any more. Press Enter to go on."
_STILL_TYPED = 20.0  # seconds
_NARROW = "A question is not asked in so few columns: make the terminal wider."


def person() -> Person | None:
    """Return the person at the terminal, None unless standard input and standard error are terminals."""
    source: TextIO | None = sys.stdin
    there = source is not None and source.isatty() and sys.stderr.isatty()
    return AtTerminal(source.fileno()) if source is not None and there else None


class AtTerminal:
    """A person at the terminal, asked one question at a time on standard error.

    Args:
        source: Descriptor that the answer is read from, line by line.
    """

    def __init__(self, source: int) -> None:
        self._source = source
        self._typed = b""
        self._turn = asyncio.Lock()
        self._given_up = -_STILL_TYPED  # when a question was last: its answer may just be typed

    async def __call__(self, question: str, choices: Sequence[str]) -> str | None:
        """Return the typed answer, None if the input was closed; ask again until it is one of the choices.

        Of what does not fit a screen the middle is left out, which is said; `show` is answered with the whole then.
        Nothing else is written to the terminal meanwhile. At a terminal too narrow for it nothing is asked.

        Soon after a question was given up, as its agent ran out of time, the next one is shown behind a further line of
        the person: an agent may time that, so that who is about to answer the one answers the other.
        """
        how = f"answer `{_WHOLE}` to see all"
        whole, all_choices = review(question), f"[{' / '.join(map(one_line, choices))}] > " if choices else "> "
        async with self._turn:
            self._forget()
            with undisturbed() as put:
                if monotonic() - self._given_up < _STILL_TYPED:
                    put(f"\n{folded(_GIVEN_UP, sys.stderr)}\n")
                    await self._line(put)
                    self._given_up = -_STILL_TYPED
                    self._forget()
                if is_narrow(sys.stderr):  # a wrapped row would look like another line
                    put(f"{_NARROW}\n")
                    return None
                part, some, is_whole = fitting(whole, how, sys.stderr, all_choices)  # the terminal may have changed
                put(f"\n{part}\n")
                while True:
                    put(folded(some, sys.stderr))
                    line = await self._line(put)
                    if line == _WHOLE and not is_whole:
                        put(f"\n{folded(whole, sys.stderr)}\n")
                        some = all_choices
                    elif line is None or not choices or line in choices:
                        return line

    def _forget(self) -> None:
        """Discard earlier input, as it cannot answer a question, or permit a call, not shown yet."""
        self._typed = b""
        forget_typed(self._source)

    async def _line(self, put: Callable[[str], None]) -> str | None:
        """Return the next line; the loop watches the input, so Ctrl-C and a deadline end the wait.

        Without a typed end of the line one is written: behind the question a terminal breaks other text anywhere.
        """
        try:
            await self._read()
        except asyncio.CancelledError:
            self._given_up = monotonic()
            raise
        finally:
            if b"\n" not in self._typed:
                put("\n")
        line, end, self._typed = self._typed.partition(b"\n")
        return line.decode("utf-8", "replace").strip() if line or end else None

    async def _read(self) -> None:
        """Read until the end of a line, or of the input."""
        loop = asyncio.get_running_loop()
        while b"\n" not in self._typed:
            ready = loop.create_future()
            loop.add_reader(self._source, lambda ready=ready: ready.done() or ready.set_result(None))
            try:
                await ready
            finally:
                loop.remove_reader(self._source)
            part = os.read(self._source, 4096)
            if not part:
                break
            self._typed += part
