"""The form of an attack: a function making an attempt, and telling whether it was held."""

import errno
import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

HELD = "held"
Facts = dict[str, Any]
Try = Callable[[Facts], str]
ATTACKS: dict[str, "Attack"] = {}


class Absent(Exception):
    """The lack of the means for an attack."""


class _Missing:
    """A missing module: every use of it is the lack of a means."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        raise Absent(f"there is no {self._name}")


def module(name: str) -> Any:
    """Return a module of the standard library, or a stand-in for a missing one."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return _Missing(name)


ctypes = module("ctypes")
PORTABLE = sys.platform == "wasi"  # a system without processes, devices and calls of a kernel


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One attempt.

    Args:
        claim: What a level says that it enforces: `fs`, `net`, `pids`, `memory`, `syscalls`, or `limits` for what
            every level does.
        words: What is tried.
        run: Tries; gives `held`, `broke: ...` or `absent: ...`.
    """

    claim: str
    words: str
    run: Try


def attack(claim: str) -> Callable[[Try], Try]:
    """Declare an attack on a level's claim; its docstring names the attempt."""

    def declare(run: Try) -> Try:
        words = (run.__doc__ or run.__name__).strip().rstrip(".")
        ATTACKS[run.__name__] = Attack(claim=claim, words=words, run=run)
        return run

    return declare


def broke(what: object) -> str:
    """Return the outcome of a successful attack, with the thing achieved."""
    return f"broke: {str(what)[:200]}"


def absent(why: str) -> str:
    """Return the outcome of an impossible attack, with the reason."""
    return f"absent: {why}"


def refused(work: Callable[[], object], what: str) -> str:
    """Return whether some work fails as a call to the system does."""
    try:
        work()
    except (OSError, ImportError):
        return HELD
    return broke(what)


def call(number: int, *given: Any) -> int:
    """Make a system call by its number; return its result, or the error as a negative number."""
    result = ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *given)
    return result if result >= 0 else -ctypes.get_errno()


def denied(numbers: dict[str, int], *given: Any) -> str:
    """Return whether a system call is not carried out at all, with any arguments.

    Args:
        numbers: Its number by kind of machine.
        *given: Arguments that would be refused for themselves, but in another way.
    """
    if PORTABLE:
        return absent("code reaches no call of the kernel")
    number = numbers.get(os.uname().machine)
    if number is None:
        return absent("unknown on this kind of machine")
    result = call(number, *given)
    return HELD if result in (-errno.EPERM, -errno.ENOSYS) else broke(f"result {result}")
