"""The running of attacks by their names, each in a process of its own, with the outcome of each."""

import os
import signal
from typing import Any

from tea.sandbox.inside.attacks import files, limits, network, processes
from tea.sandbox.inside.attacks.attack import ATTACKS, PORTABLE, Absent, absent, broke

FAMILIES = (files, network, processes, limits)


_SECONDS = 15
_MOST = 1 << 12


def attempt(names: list[str], facts: dict[str, Any]) -> dict[str, str]:
    """Return the outcome of each attack: `held`, `broke: ...` or `absent: ...`."""
    if PORTABLE:  # without a process of its own, and without one above
        return {name: _tried(name, {**facts, "supervisor": 0}) for name in names}
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
    except Absent as error:
        return absent(str(error))
    except Exception as error:
        if PORTABLE and isinstance(error, AttributeError):  # of a module of the system: it has no such call
            return absent(f"there is no such call: {error}")
        return broke(f"raised {type(error).__name__}: {error}")
