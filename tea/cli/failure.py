"""The form of a failure for people and programs: one line or one JSON object, and an exit code."""

import os
import re
import signal
import sys
import traceback
from typing import Protocol, runtime_checkable

import typer

from tea.characters import number
from tea.cli.terminal import (
    brief,
    cut_line,
    discard,
    document,
    folded,
    one_line,
    painted,
    remove_passing,
    review,
    write,
)
from tea.errors import (
    NOT_GRANTED,
    ApprovalNeeded,
    BadInput,
    InternalError,
    Interrupted,
    StorageError,
    TeaError,
    sentence,
)

MOST_CHARACTERS = 300
MOST_OF_QUESTION = 1_000  # a person has to read all of what they are asked
MOST_OF_REFUSAL = 100_000  # and all of what they may grant
READER_GONE = 128 + signal.SIGPIPE  # as the shell says it of a command that the signal ended
_PREFIX = "tea: "
_REMEDY = re.compile(r"\bf(?=ix\s*:)", re.IGNORECASE)  # in the words of others, which may be a question


@runtime_checkable
class UsageFault(Protocol):
    """An error raised by typer for invalid arguments, in any module its version uses for it."""

    exit_code: int

    def format_message(self) -> str:
        """Return the problem as text."""
        ...


def report(error: BaseException, *, as_json: bool, verbose: int, home: str = "") -> int:
    """Report an error and return the exit code.

    Args:
        error: What was raised.
        as_json: Whether a program reads it.
        verbose: How much more to say than usual.
        home: The option for the home of the commands that answer a question, after a space.
    """
    if isinstance(error, BrokenPipeError):
        discard(sys.stdout)
        return READER_GONE
    fault = explained(error)
    if isinstance(fault, ApprovalNeeded) and fault.run:
        fix = fault.fix.replace(f" {fault.run}", f" {fault.run}{home}")
        fault = ApprovalNeeded(fault.problem, fix=fix, run=fault.run)
    if as_json and sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison]
        run = {"run": fault.run} if isinstance(fault, Interrupted | ApprovalNeeded) and fault.run else {}
        write(document({"error": fault.record(), **run}) + "\n", sys.stdout)
    else:
        complain(fault, home)
    if isinstance(fault, InternalError) and (verbose > 1 or os.environ.get("TEA_DEBUG")):
        write(review("".join(traceback.format_exception(error))), sys.stderr)
    return fault.exit_code


def complain(fault: TeaError, home: str = "") -> None:
    """Write an error for people: one line on standard error, in marked rows at a terminal.

    Args:
        fault: The error. Of a long question the middle is left out, with a note.
        home: The option for the home of the command that shows the whole question, after a space.
    """
    most = most_of(fault.problem)
    if isinstance(fault, ApprovalNeeded) or most > MOST_CHARACTERS:
        run = fault.run if isinstance(fault, ApprovalNeeded) else ""
        whole = f"`tea inbox {run}{home} --json` shows all" if run else "`--json` shows all"
        line = in_one_line(fault.problem, fault.fix, max(most, MOST_OF_QUESTION), whole)
    else:
        line = in_one_line(fault.problem, fault.fix)
    remove_passing()
    write(folded(painted(_PREFIX, "red", sys.stderr) + line.removeprefix(_PREFIX), sys.stderr) + "\n", sys.stderr)


def most_of(problem: str) -> int:
    """Return how many characters of a problem are shown: all of a refusal of a home's settings, also within others."""
    return MOST_OF_REFUSAL if NOT_GRANTED in problem else MOST_CHARACTERS


def explained(error: BaseException) -> TeaError:
    """Return the error as a TeaError, with its remedy."""
    leaf = _leaf(error)
    if isinstance(leaf, TeaError):
        return leaf
    if isinstance(leaf, KeyboardInterrupt | typer.Abort):
        return Interrupted("Interrupted.", fix="start it again.")
    if isinstance(leaf, UsageFault):
        return BadInput(one_line(leaf.format_message()), fix=f"`{_help_command(leaf)}` shows what it takes.")
    if isinstance(leaf, PermissionError):
        problem = f"No permission for {str(leaf.filename or 'a file')!r}."
        return StorageError(problem, fix="choose a home you may write, with --home.")
    words = f"{type(leaf).__name__}: {leaf}".rstrip(": ")
    return InternalError(f"internal error {words}", fix="`-vv` or TEA_DEBUG=1 shows where; please report it.")


def in_one_line(problem: str, fix: str, most: int = MOST_CHARACTERS, whole: str = "") -> str:
    """Return `tea: problem. Fix: remedy` in a number of characters; if it is too long, the remedy is kept.

    Args:
        problem: What is wrong.
        fix: What the reader can do about it.
        most: Characters of the line.
        whole: How the whole problem is seen, in words; without them only its beginning is kept, with no note.
    """
    remedy = one_line(fix, max(MOST_CHARACTERS // 2 + 50, most // 2))
    ending = f" Fix: {remedy}"
    said = _REMEDY.sub(lambda found: f"<{number(found[0])}>", review(problem))
    room = most - len(_PREFIX) - len(ending) - 1
    words = cut_line(brief(said), whole, room) if whole else brief(said, room)
    return f"{_PREFIX}{sentence(words)}{ending}"


def _leaf(error: BaseException) -> BaseException:
    """Return the first TeaError inside a group, else its first error."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    leaves = [_leaf(one) for one in error.exceptions]  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportUnknownArgumentType]
    return next((one for one in leaves if isinstance(one, TeaError)), leaves[0])


def _help_command(fault: object) -> str:
    context = getattr(fault, "ctx", None)
    return f"{getattr(context, 'command_path', 'tea')} --help"
