"""Rights: the services of a run for untrusted components, each named here; all others are refused."""

from __future__ import annotations

from tea.components.port import LoadState, MergeState, SandboxPackages, SaveState, ServiceRequest, SwapState
from tea.errors import Denied

# The memory, the state of agents and the messages of persons are not for all: they hold what others wrote, and what is
# written there is read by others.
FOR_ALL = ("registry", "clock", "random", "budget")
# A program is led from the host, so that its limits can depend on the facts of the model.
FOR_PROGRAMS = (*FOR_ALL, "model")
FOR_AGENTS = (*FOR_PROGRAMS, "memory", "messages", "media", "new_tools", "skills")
_OWN_STATE = (LoadState, SaveState, MergeState, SwapState)


def served_to_agent(request: ServiceRequest, agent: str) -> bool:
    """Return whether a run serves a request of an untrusted agent.

    Args:
        request: What it wants.
        agent: Its name in the run: its own state for the session is open to it, no other.
    """
    if isinstance(request, _OWN_STATE):
        return request.owner == f"agent:{agent}" and not request.lasting
    return request.service in FOR_AGENTS or isinstance(request, SandboxPackages)


def refused(request: ServiceRequest, ref: str, *, agent: bool = False) -> Denied:
    """Return the error about a request beyond the rights of a component.

    Args:
        request: What it wanted.
        ref: The component, in words for a person.
        agent: Whether it is one, and so has a state of its own.
    """
    problem = f"{ref} is not trusted, so it has no {request.service}."
    if agent and isinstance(request, _OWN_STATE):
        problem = f"{ref} is not trusted, so it keeps its own state alone, for one session."
    return Denied(problem, fix="do without it, or grant it with `tea trust`.")
