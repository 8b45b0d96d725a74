"""Command: the shared base of every command, its common options and its way from the event loop to an exit code."""

import asyncio
import inspect
import logging
import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from gc import freeze
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tea.characters import shell_word
from tea.cli.failure import complain, report
from tea.cli.overseer import Overseer
from tea.cli.person import person
from tea.cli.stopping import Stopping
from tea.cli.terminal import document, folded, harmless, one_line, remove_passing, say, write
from tea.errors import TeaError

if TYPE_CHECKING:
    from tea.platform import Platform


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command being carried out.

    Args:
        home: The folder of `registry/` and `traces/` that was asked for.
        as_json: Whether a program reads the result.
        quiet: Whether to say nothing but the result and errors.
        verbose: How much more to say than usual.
    """

    home: Path | None = None
    as_json: bool = False
    quiet: bool = False
    verbose: int = 0

    @property
    def at(self) -> str:
        """The option that has another command use the same home, after a space; empty if none was given."""
        return f" --home {shell_word(str(self.home))}" if self.home else ""

    def platform(self) -> "Platform":
        """Return the platform of the home, importing it only here, as a help text does not need it."""
        from tea.platform import Platform

        freeze()  # what was imported stays, so no look for garbage need pass over it
        tea = Platform(home=self.home, person=person())
        keep_log(tea)
        return tea

    def show(self, text: str, data: Mapping[str, Any]) -> None:
        """Write the result: reviewed text for people, its long lines in marked rows at a terminal, or data."""
        if self.as_json:
            say(document(data))
        elif text:
            say(folded(harmless(text, sys.stdout), sys.stdout))

    def tell(self, line: str) -> None:
        """Write a message beside the result, on standard error, its long lines in marked rows at a terminal."""
        if not self.quiet:
            remove_passing()
            write(folded(harmless(line, sys.stderr), sys.stderr) + "\n", sys.stderr)

    def fail(self, fault: TeaError, data: Mapping[str, Any]) -> int:
        """Write a failure together with its data, and return its exit code."""
        if self.as_json:
            say(document({**data, "error": fault.record()}))
        else:
            complain(fault)
        return fault.exit_code


Work = Callable[..., Coroutine[Any, Any, int | None]]

_OPTIONS: dict[str, tuple[Any, Any]] = {
    "home": (
        Annotated[Path | None, typer.Option("--home", help="Folder of registry/ and traces/ (else TEA_HOME).")],
        None,
    ),
    "as_json": (Annotated[bool, typer.Option("--json", help="Print one JSON object for programs.")], False),
    "quiet": (Annotated[bool, typer.Option("--quiet", "-q", help="Print the result and errors only.")], False),
    "verbose": (
        Annotated[
            int, typer.Option("--verbose", "-v", count=True, help="Say more; twice for look-ups and tracebacks.")
        ],
        0,
    ),
}


def command(work: Work, overseer: Overseer | None = None) -> Callable[..., int]:
    """Make a command of typer from an async function: give it the common options, and run it.

    Args:
        work: Takes the `Command` and its own options, and returns the exit code, None for 0. Its docstring is the help.
        overseer: The process that ends this one where SIGTERM is not heard.
    """
    own = inspect.signature(work)
    common = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
        for name, (annotation, default) in _OPTIONS.items()
    ]
    parameters = [*list(own.parameters.values())[1:], *common]

    def carry_out(**given: Any) -> int:
        chosen = Command(**{name: given.pop(name) for name in _OPTIONS})
        return execute(chosen, lambda: work(chosen, **given), overseer)

    carry_out.__doc__ = work.__doc__
    carry_out.__signature__ = own.replace(parameters=parameters, return_annotation=int)  # pyright: ignore[reportFunctionMemberAccess]
    carry_out.__annotations__ = {one.name: one.annotation for one in parameters}
    return carry_out


def execute(
    chosen: Command, work: Callable[[], Coroutine[Any, Any, int | None]], overseer: Overseer | None = None
) -> int:
    """Run a command's work on an event loop, and return its exit code."""

    def tell(error: BaseException) -> int:
        cause = KeyboardInterrupt() if isinstance(error, asyncio.CancelledError) else error
        return report(cause, as_json=chosen.as_json, verbose=chosen.verbose, home=chosen.at)

    stopping = Stopping(tell, overseer, as_json=chosen.as_json)
    try:
        with asyncio.Runner() as runner:
            return runner.run(_interruptible(work, stopping)) or 0
    except SystemExit:
        raise
    except BaseException as error:  # foreign code raises what it likes
        return tell(error) if stopping.code is None else stopping.code


async def _interruptible(work: Callable[[], Coroutine[Any, Any, int | None]], stopping: Stopping) -> int | None:
    """Cancel the work on Ctrl-C and SIGTERM."""
    task = asyncio.current_task()
    assert task is not None
    with stopping.of(task):
        return await work()


if TYPE_CHECKING:
    from tea.platform import Platform

_LONGEST = 1_000


class Log(logging.Handler):
    """A log handler for warnings and worse, a line each.

    Args:
        tea: Knows the operator's secrets.
    """

    def __init__(self, tea: "Platform") -> None:
        super().__init__(logging.WARNING)
        self._tea = tea

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        try:
            line = one_line(self._tea.mask.plain(self.format(record)), _LONGEST)
            remove_passing()
            write(folded(line, sys.stderr) + "\n", sys.stderr)
        except Exception:  # as in every handler: an error in logging must not end the program
            self.handleError(record)


def keep_log(tea: "Platform") -> None:
    """Write this process's log messages, and Python's warnings, replacing other handlers."""
    logging.getLogger().handlers = [Log(tea)]
    logging.captureWarnings(True)  # else their words, which may be others', go to the terminal as they are
