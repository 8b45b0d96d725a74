"""Start: the first program of a sandbox; it reads the host's plan, confines itself, and serves."""

import os
import sys
from contextlib import suppress

from tea.sandbox.inside import frames, kernel, namespaces
from tea.sandbox.inside.confine import become, tasks_of
from tea.sandbox.inside.supervisor import Carry, Supervisor


def main() -> None:
    """Serve the host at the other end of the standard streams."""
    try:
        requests, answers = apart()
        plan = frames.read(requests)
        carry = _carry() if plan["way"] is not None else None
        if plan["enter"]:
            namespaces.enter(plan)
        os.environ.clear()
        os.environ.update(plan["env"])
        if not plan["own_pids"]:
            os.chdir(plan["workspace"])  # before giving up the rights to enter the folders above it
        become(plan["user"])
        os.chdir(plan["workspace"])
        kernel.prctl(kernel.DUMPABLE, 0)  # so that nothing below it, which is the same account, looks into it
        plan["others"] = tasks_of(os.getuid())
        with suppress(OSError):
            kernel.prctl(kernel.SUBREAPER, 1)
        if plan["own_pids"]:  # else it ends all that is below it when the host is gone, and must live to do so
            kernel.prctl(kernel.PDEATHSIG, 9)
        supervisor = Supervisor(plan, requests, answers, carry)
    except (OSError, frames.Broken, KeyError) as error:
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        os._exit(1)
    supervisor.serve()
    os._exit(0)  # the host waits for the end, and nothing is left to put away


def _carry() -> Carry:
    """Load the way out before the walls close; only here, as it imports asyncio."""
    from tea.sandbox.inside.carrying import start_carrier

    return start_carrier


def apart() -> tuple[int, int]:
    """Move the connections to the host off the standard streams, as those belong to the code run here."""
    requests, answers = os.dup(0), os.dup(1)
    empty = os.open("/dev/null", os.O_RDWR)
    os.dup2(empty, 0)
    os.dup2(empty, 1)
    os.close(empty)
    return requests, answers
