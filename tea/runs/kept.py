"""KeptEnvironments: the live environments of runs waiting for a person, kept for the answer.

Only those that cannot be brought back are kept, as a page in a browser, and of a few runs: each may hold much memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from tea.protocols.instances import Instances

MOST_RUNS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    """A waiting run.

    Args:
        session: Its session.
        alone: Whether its private environments alone end with it, as others are in the session.
        position: How many records its journal had when it stopped.
    """

    session: str
    alone: bool
    position: int


class KeptEnvironments:
    """The environments kept in this process for waiting runs, the latest few.

    Args:
        instances: The live environments.
    """

    def __init__(self, instances: Instances) -> None:
        self._instances = instances
        self._waiting: dict[str, _Waiting] = {}

    async def leave(self, run: str, session: str, position: int, *, waits: bool) -> None:
        """Tear down the environments of a stopping run, but those kept while it waits.

        Args:
            run: The run.
            session: Its session; one of its own has its id.
            position: How many records its journal has.
            waits: Whether it waits for a person.
        """
        one = _Waiting(session=session, alone=session != run, position=position)
        await self._close(run, one, waits=waits)
        if waits and any(place.run in ("", run) for place in self._instances.alive(one.session)):
            self._waiting[run] = one
            for oldest in list(self._waiting)[:-MOST_RUNS]:
                await self._close(oldest, self._waiting.pop(oldest))

    async def take_up(self, run: str, position: int) -> None:
        """Give a run its kept environments back; they end if another process went on with it.

        Args:
            run: The run.
            position: How many records its journal has.
        """
        one = self._waiting.pop(run, None)
        if one is not None and one.position != position:
            await self._close(run, one)

    async def _close(self, run: str, one: _Waiting, *, waits: bool = False) -> None:
        await self._instances.close(one.session, run if one.alone else None, waits=waits)
