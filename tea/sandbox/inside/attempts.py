"""The running of attacks by their names, each in a process of its own, with the outcome of each."""

import os
import signal
from typing import Any

from tea.sandbox.inside.attacks import files, limits, network, processes
from tea.sandbox.inside.attacks.attack import ATTACKS, broke

FAMILIES = (files, network, processes, limits)


_SECONDS = 15
_MOST = 1 << 12


def attempt(names: list[str], facts: dict[str, Any]) -> dict[str, str]:
    """Return the outcome of each attack: `held`, `broke: ...` or `absent: ...`."""
    return {name: _apart(name, {**facts, "supervisor": os.getppid()}) for name in names}


def _apart(name: str, facts: dict[str, Any]) -> str:
    """Make an attack in a process of its own, to confine its changes of itself."""
    reading, writing = os.pipe()
    number = os.fork()
    if not number:
        os.close(reading)
        signal.alarm(_SECONDS)
        os.write(writing, _tried(name, facts).encode("utf-8", "replace")[:_MOST])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        words = answer.read().decode("utf-8", "replace")
    _, status = os.waitpid(number, 0)
    return words or f"stopped: {status}"


def _tried(name: str, facts: dict[str, Any]) -> str:
    try:
        return ATTACKS[name].run(facts)
    except Exception as error:
        return broke(f"raised {type(error).__name__}: {error}")
