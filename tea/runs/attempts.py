"""Attempts: each of several attempts at one task has its own files, its own memory and its own environments.

An attempt begins with copies of what the run was given and of what its session holds. At the end of the run those of
the chosen attempt become the run's own, and the others are removed.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from tea.components.manifest import Manifest
from tea.journal.header import RunConfig
from tea.kernel.key import innermost, outer
from tea.memory.manager import MemoryManager
from tea.refs import Ref
from tea.runs.outcome import Outcome
from tea.store.attempt_folders import attempt_folder, copy_folder, mirror_folder, remove_folder
from tea.types import Result

_NUMBER = re.compile(r"\d+")


class Attempts:
    """The attempts of a run, known by the keys of their scopes.

    Args:
        run_config: The configuration of the run.
        memory: Keeps the events and documents of sessions.
    """

    def __init__(self, run_config: RunConfig, memory: MemoryManager) -> None:
        self._run, self._memory = run_config, memory
        self.worker = Ref.parse(run_config.worker, kind="agent").name if run_config.worker else ""
        self._agents: set[str] = set()
        self._begun: dict[str, asyncio.Lock] = {}
        self._ready: set[str] = set()
        self._ended: dict[str, Result] = {}

    def enter(self, key: str, config: Manifest) -> None:
        """Record the scope of an agent; one called by the leader of the attempts begins an attempt."""
        if self.worker and config.kind == "agent":
            around = innermost(outer(key), self._agents)
            if config.name == self.worker and around and not innermost(outer(around), self._agents):
                self._begun[key] = asyncio.Lock()
            self._agents.add(key)

    def of(self, key: str) -> str:
        """Return the key of the attempt around a key; empty outside of any."""
        return innermost(key, self._begun) if self._begun else ""

    def workspace(self, key: str) -> str:
        """Return the folder of the files open to the work at a key."""
        attempt = self.of(key)
        return str(self._folder(attempt)) if attempt else self._run.workspace

    def session(self, key: str) -> str:
        """Return the session of the memory of the work at a key."""
        attempt = self.of(key)
        return f"{self._run.run}-{_name(attempt)}" if attempt else self._run.session

    async def prepare(self, key: str) -> None:
        """Make the copies for the attempt around a key, unless it has them: at its first effect in this process."""
        attempt = self.of(key)
        if not attempt or attempt in self._ready:
            return
        async with self._begun[attempt]:
            if attempt not in self._ready:
                await asyncio.to_thread(copy_folder, Path(self._run.workspace), self._folder(attempt))
                if self._run.shared:
                    await asyncio.to_thread(self._memory.carry_over, self._run.session, self.session(attempt))
                self._ready.add(attempt)

    def end(self, key: str, result: Result) -> None:
        """Store the result of an ended attempt."""
        self._ended[key] = result

    async def hand_over(self, outcome: Outcome) -> None:
        """Make the files and the memory of the chosen attempt those of the run, and remove the others.

        Without a choice, as where no attempt succeeded, it is the first with the answer of the run.
        """
        if not self._begun:
            return
        chosen = self._chosen(outcome)
        if chosen:
            await asyncio.to_thread(mirror_folder, self._folder(chosen), Path(self._run.workspace))
            await asyncio.to_thread(self._memory.carry_over, self.session(chosen), self._run.session)
        await asyncio.to_thread(remove_folder, attempt_folder(Path(self._run.workspace)))
        await asyncio.to_thread(self._memory.forget, {self.session(one) for one in self._begun})

    def _chosen(self, outcome: Outcome) -> str:
        """Return the key of the attempt behind an outcome; empty without one."""
        ended = sorted(self._ended, key=_place)
        listed = [one for one in outcome.attempts if one.status != "stopped"]
        if len(listed) == len(ended):
            ended = [key for _, key in sorted(zip(listed, ended, strict=True), key=lambda pair: not pair[0].chosen)]
        same = outcome.answer, outcome.evidence
        return next((key for key in ended if (self._ended[key].answer, self._ended[key].evidence) == same), "")

    def _folder(self, attempt: str) -> Path:
        return attempt_folder(Path(self._run.workspace), _name(attempt))


def _name(key: str) -> str:
    """Return a key as a name of folders and sessions."""
    return key.replace(".", "_").replace("/", "-")


def _place(key: str) -> list[int]:
    """Return a key to sort attempts by: parallel ones by branch, successive ones by time."""
    return [int(one) for one in _NUMBER.findall(key)]
