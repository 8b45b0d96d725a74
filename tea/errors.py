"""Errors: every error raised by tea, with its problem and its fix.

TeaError                    exit code 3 unless a subclass says otherwise
├── BadInput                2  a task, argument or file that a person gave
│   ├── BadRef              2  a reference that does not follow the grammar
│   ├── BadTask             2  a task file
│   ├── BadComponent        2  a source that does not define a usable component
│   ├── NotConfigured       2  what a call needs is not set up; nothing was asked, and nothing read
│   ├── UntrustedHome       2  a home's setting sends a key of the environment where nobody let it
│   └── NotLocked           2  a locked run needs what its lock file does not hold; that ends the run
├── RegistryError           2
│   ├── UnknownComponent    2  no component, operation or version of that name
│   │   └── Purged          2  the bytes of that version were removed for good
│   ├── Archived            2  the version is kept for the record, not for use
│   ├── AlreadyRegistered   2  that name and version exist
│   ├── NotEvolvable        2  the component does not allow its text to be rewritten
│   └── Quarantined         2  source that is not trusted is not executed here
├── MissingExtra            2  an optional dependency is not installed
├── StorageError            2  a file cannot be read or written
│   ├── Conflict            2  another process changed it first
│   ├── Damaged             2  a stored file is not what was written
│   └── ResourceExhausted   2  this machine lacks open files or disk space; a run is suspended by it
├── CallError               1  a call did not give a result; a model may correct it and try again
│   ├── BadArguments        1  the arguments do not fit the operation's schema
│   ├── ToolError           1  the component itself says why it cannot
│   │   └── Unsupported     1  the sandbox level of this machine has no means for it
│   ├── CallFailed          1  the component's code raised
│   │   └── StateLost       1  the state of an environment could not be brought back; it begins anew
│   ├── CallTimeout         1  the call's deadline passed
│   │   └── Uncertain       1  it passed, and what was called may still be done
│   ├── Denied              1  the operator's policy says no
│   └── BadOutput           1  a model's output does not fit its schema
├── Abstained               1  an offline solver cannot tell
├── ProviderError           4  a model provider cannot be reached or refuses
│   └── ContextLengthExceeded 4  a question is longer than the model can read
├── BudgetExceeded          5  a budget or limit ended
├── ApprovalNeeded          6  a person must decide; the run waits
├── Diverged                7  a replay left its journal
├── Interrupted           130  a person or the system ended the command
└── InternalError           3  a defect of tea
"""

import errno
import os
from collections.abc import Iterator
from typing import ClassVar, cast

from typing_extensions import TypedDict

_STOPS = (".", "!", "?", "\u3002")
_SPACE = "free space on its disk."
_FILES = "raise the limit on open files (`ulimit -n`), or let fewer runs go on at once."
LACKING = {  # what a machine may lack for a while, by the number of the system's error, and what to do about it
    errno.EMFILE: _FILES,
    errno.ENFILE: _FILES,
    errno.ENOSPC: _SPACE,
    errno.EDQUOT: _SPACE,
    errno.EFBIG: "raise the limit on file sizes (`ulimit -f`).",
}


class ErrorRecord(TypedDict):
    """An error as data: in journals, responses and `--json` output."""

    code: str
    problem: str
    fix: str


def sentence(text: str) -> str:
    """Return a text with a full stop, unless it ends as a sentence does."""
    words = text.rstrip(" \t\n")
    return words if not words or words.endswith(_STOPS) else f"{words}."


class TeaError(Exception):
    """Base of every error; `fix` is required, so every message has a remedy.

    Args:
        problem: What is wrong, in one line.
        fix: What the reader can do about it, in one line.
    """

    exit_code: ClassVar[int] = 3

    def __init__(self, problem: str, *, fix: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.fix = fix

    def __str__(self) -> str:
        return f"{sentence(self.problem)} Fix: {self.fix}"

    def record(self) -> ErrorRecord:
        """Return the error as data."""
        return {"code": type(self).__name__, "problem": self.problem, "fix": self.fix}


class BadInput(TeaError):
    """An input given by a person cannot be used."""

    exit_code = 2


class BadRef(BadInput):
    """A reference does not follow the grammar."""


class BadTask(BadInput):
    """A task file cannot be used."""


class BadComponent(BadInput):
    """A source does not define a usable component."""


class NotConfigured(BadInput):
    """A call needs a missing setting of the operator; nothing was asked or read."""


NOT_GRANTED = "and nobody granted that."  # the end of each refusal of a home's settings


class UntrustedHome(BadInput):
    """A setting of a home would send a key of the environment without a grant; nothing was sent."""


class NotLocked(BadInput):
    """A locked run needs an entry missing from its lock file; it ends there, regardless of error handling by agents."""


class RegistryError(TeaError):
    """The registry refuses an operation."""

    exit_code = 2


class UnknownComponent(RegistryError):
    """There is no component, operation or version of the given name."""


class Purged(UnknownComponent):
    """The bytes of the version were removed permanently."""


class Archived(RegistryError):
    """The version is kept for the record and for runs with a pin on it, and is not called."""


class AlreadyRegistered(RegistryError):
    """The name and version already exist, and never change."""


class NotEvolvable(RegistryError):
    """The component does not allow its text to be rewritten."""


class Quarantined(RegistryError):
    """The source is not trusted, so it is listed but not executed."""


class MissingExtra(TeaError):
    """An optional dependency is not installed."""

    exit_code = 2


class StorageError(TeaError):
    """A file cannot be read or written."""

    exit_code = 2


class Conflict(StorageError):
    """Another process changed it first, or holds it."""


class Damaged(StorageError):
    """A stored file does not have the content written to it."""


class ResourceExhausted(StorageError):
    """This machine lacks open files or disk space; a run is suspended by it, and can be resumed."""


class CallError(TeaError):
    """A call did not give a result; a model may correct it and try again."""

    exit_code = 1


class BadArguments(CallError):
    """The arguments do not fit the operation's schema."""


class ToolError(CallError):
    """The component itself reports the reason for its failure, for the caller to act on."""


class Unsupported(ToolError):
    """The sandbox level of this machine has no means for this kind of call."""


class CallFailed(CallError):
    """The component's code raised."""


class StateLost(CallFailed):
    """The state of an environment could not be brought back; it begins anew."""


class CallTimeout(CallError):
    """The call's deadline passed."""


class Uncertain(CallTimeout):
    """The call's deadline passed, and its work may still be done."""


class Denied(CallError):
    """The operator's policy denies the call."""


class BadOutput(CallError):
    """A model's output does not fit its schema; `said` is the output, empty if unknown, `whole` if complete."""

    said: str = ""
    whole: bool = False


class Abstained(TeaError):
    """An offline solver cannot answer."""

    exit_code = 1


class ProviderError(TeaError):
    """A model provider cannot be reached, refuses, or is not configured."""

    exit_code = 4


class ContextLengthExceeded(ProviderError):
    """A request is longer than the model can read; `problem` contains the limit if the provider states it."""


class BudgetExceeded(TeaError):
    """A budget or limit was exhausted."""

    exit_code = 5


class ApprovalNeeded(TeaError):
    """A person must decide before a call goes on; the run waits in its journal.

    Args:
        problem: What they are asked.
        fix: How they answer.
        run: The run that waits, if one does.
    """

    exit_code = 6

    def __init__(self, problem: str, *, fix: str, run: str = "") -> None:
        super().__init__(problem, fix=fix)
        self.run = run


class Diverged(TeaError):
    """A replay diverged from its journal."""

    exit_code = 7


class Interrupted(TeaError):
    """A person or the system ended the command.

    Args:
        problem: What was interrupted.
        fix: How to go on.
        run: The run that can be resumed, if one was under way.
    """

    exit_code = 130

    def __init__(self, problem: str, *, fix: str, run: str = "") -> None:
        super().__init__(problem, fix=fix)
        self.run = run


class InternalError(TeaError):
    """A defect of tea, not of its input."""


def error_from(record: ErrorRecord) -> TeaError:
    """Return the error described by `record`, as the named type."""
    kind = _BY_CODE.get(record["code"], InternalError)
    return kind(record["problem"], fix=record["fix"])


def words_of(error: BaseException) -> str:
    """Return the class and the first line of a foreign exception, even if its own `__str__` fails.

    Of a group the first error in it is told, and how many more there are.
    """
    first, *more = _leaves(error)
    if first is not error:
        return f"{type(error).__name__}: {words_of(first)}{f' (and {len(more)} more)' if more else ''}"
    try:
        told = str(error).replace("\r\n", "\n").strip(" \t\n")
        words = told.partition("\n")[0][:300].encode("utf-8", "replace").decode()
    except Exception:  # it is foreign code, too
        words = ""
    return f"{type(error).__name__}: {words}".rstrip(":. ")


def sole_error(error: BaseException) -> TeaError | None:
    """Return the first error of a group made only of errors of one class of tea, at any depth."""
    leaves = list(_leaves(error))
    first = leaves[0]
    return first if isinstance(first, TeaError) and all(type(one) is type(first) for one in leaves) else None


def exhausted(error: BaseException, doing: str = "") -> ResourceExhausted | None:
    """Return the error for exhausted open files or disk space behind another error, None elsewhere.

    Args:
        error: Any error, with those that it was raised from or while it was handled.
        doing: What was being done, in words.
    """
    for one in _causes(error):
        if isinstance(one, ResourceExhausted):
            return one
        if isinstance(one, OSError) and (fix := LACKING.get(one.errno or 0)):
            words = one.strerror or type(one).__name__
            return ResourceExhausted(f"{doing or 'This machine lacks something'}: {words}.", fix=fix)
    return None


def lacking_descriptors() -> OSError | None:
    """Return the system's message if no file can be opened for want of descriptors, None if one can."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as problem:
        return problem if problem.errno in LACKING else None
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes, each once, those of every error in a group too."""
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        before = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
        waiting += [before] if before is not None else []
        if isinstance(one, BaseExceptionGroup):
            waiting += cast("BaseExceptionGroup[BaseException]", one).exceptions


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _leaves(one)
    else:
        yield error


def _tree(kind: type[TeaError]) -> dict[str, type[TeaError]]:
    found = {kind.__name__: kind}
    for child in kind.__subclasses__():
        found |= _tree(child)
    return found


_BY_CODE = _tree(TeaError)
