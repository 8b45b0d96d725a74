"""Levels: the ones of this machine, told by the attacks held and never by the options accepted."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import platform
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tea.errors import BadInput, TeaError, ToolError, exhausted
from tea.sandbox.groups import usable
from tea.sandbox.layout import BUBBLEWRAP, Layout
from tea.sandbox.packages import declared, importable
from tea.sandbox.settings import LEVELS, WASM, LevelName, Limits, SandboxSettings
from tea.sandbox.wasm import EXTRA, missing, parts, portable
from tea.store.access import read_own
from tea.store.files import keep_private
from tea.threads import Look
from tea.types import JsonObject

CACHE = "sandbox.json"
_LIMIT = 2**20  # bytes of it
_PROBED = {
    "fs": ("read_outside", "create_outside", "hard_link", "delete_outside"),
    "net": ("tcp", "udp", "unix_path", "unix_abstract"),
    "pids": ("signal_host", "slow_host", "limit_host", "fork_storm"),
    "memory": ("memory_bomb",),
    "syscalls": ("user_namespace", "keys", "unknown_calls"),
}
# What has to hold for a level to be what its name says.
_NEEDED: Mapping[LevelName, tuple[str, ...]] = {
    "bubblewrap": ("fs", "net", "pids", "memory"),
    "namespaces": ("fs", "net", "pids", "memory"),
    "wasm": ("fs", "net", "pids", "memory", "syscalls"),
    "landlock": ("fs", "memory"),
    "rlimits": ("memory",),
}
_PROBE_LIMITS = Limits(memory_mb=96, cpu_seconds=10, call_seconds=20, disk_mb=16, processes=8)
_INSTALL = "install the package `bubblewrap` of your distribution"


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One level, as this machine has it.

    Args:
        name: Its name.
        present: Whether it runs and holds what its name says.
        claims: What it enforces: `fs`, `net`, `pids`, `memory`, `syscalls`.
        problem: Why it is not present.
        lacks: Whether it was for want of open files or disk space, so that the next look may find it.
    """

    name: LevelName
    present: bool
    claims: Mapping[str, bool] = field(default_factory=dict[str, bool])
    problem: str = ""
    lacks: bool = False

    def words(self) -> str:
        """Return its enforced claims in one line."""
        if not self.present:
            return f"not present: {self.problem}"
        from tea.sandbox.session import CLAIMS

        held, open_ = ([one for one in CLAIMS if self.claims[one] is wanted] for wanted in (True, False))
        return f"enforces {', '.join(held)}" + (f"; not {', '.join(open_)}" if open_ else "")


class Sandboxes:
    """The sandboxes of one platform: the levels accepted by the operator, and those of this machine.

    Args:
        settings: What the operator decided.
        cache: Folder where what was found of this machine is kept; None to keep nothing.
    """

    def __init__(self, settings: SandboxSettings, cache: Path | None = None) -> None:
        self.settings = settings
        self._cache = cache
        self._known: dict[LevelName, Level] = {}
        self._mark, self._machine = "", Look(machine)
        self._lock = asyncio.Lock()

    @property
    def cache(self) -> str | None:
        """The folder for reproducible data, None to keep nothing."""
        return None if self._cache is None else str(self._cache)

    async def level(self, name: LevelName, mark: str = "") -> Level:
        """Return this machine's state of a level; it is tried once, and again after a change of the machine.

        Args:
            name: The level.
            mark: What `machine` gave a moment ago; it is asked otherwise.
        """
        mark = mark or await self._machine()
        async with self._lock:
            if mark != self._mark:
                self._mark, self._known = mark, await asyncio.to_thread(_earlier_findings, self._cache, mark)
            if name not in self._known:
                found = await probe(name)
                if found.lacks:
                    return found
                self._known[name] = found
                await asyncio.to_thread(_keep, self._cache, mark, self._known)
            return self._known[name]

    async def levels(self) -> list[Level]:
        """Return every level, the strongest first."""
        return [await self.level(name) for name in reversed(LEVELS)]

    async def best(self, mark: str = "") -> Level | None:
        """Return the strongest present and accepted level, None without one; see `level` for `mark`."""
        for name in reversed(LEVELS):
            if self.settings.accepts(name) and (found := await self.level(name, mark)).present:
                return found
        return None

    async def name(self, mark: str = "") -> str:
        """Return the name of the level in force, empty for none; see `level` for `mark`."""
        found = await self.best(mark)
        return "" if found is None else found.name

    async def terms(
        self, workspace: str, inputs: Sequence[str] = (), *, way_out: bool = False, deny: Sequence[str] = ()
    ) -> JsonObject:
        """Return the terms to open a sandbox with.

        Args:
            workspace: The folder that code works in, all of whose files it may read and change; a folder that lasts as
                long as the sandbox where it is empty.
            inputs: Names of files in it that stay as they are.
            way_out: Whether it has the operator's hosts and index within reach.
            deny: Hosts closed nevertheless, with all below them.

        Raises:
            ToolError: No level is present that the operator accepts.
        """
        found = await self.best()
        if found is None:
            raise await self._refusal()
        packages = await asyncio.to_thread(declared, self.settings.packages)
        return {
            "level": found.name,
            "claims": dict(found.claims),
            "workspace": workspace,
            "inputs": list(inputs),
            "limits": self.settings.limits.to_json(),
            "packages": [str(one) for one in packages],
            "wheels": self.settings.wheels,
            "programs": list(self.settings.programs),
            **({"way_out": ways.denying(tuple(deny)).to_json()} if way_out and (ways := self.settings.way_out) else {}),
            "language": self.settings.language,
        }

    async def importable(self) -> list[str]:
        """Return the import names of the packages given to code, without those needed by them."""
        found = await asyncio.to_thread(importable, self.settings.packages)
        if await self.name() != WASM:
            return found
        paths = await asyncio.to_thread(lambda: portable(declared(self.settings.packages)))
        return [one for one in found if one in {path.name for path in paths}]

    async def parser_terms(self) -> JsonObject:
        """Return the terms of a sandbox for our own parsers of foreign bytes: the strongest level present.

        The code is trusted, the bytes are not, so a weaker level than the operator accepts for foreign code is better
        than none.

        Raises:
            ToolError: No level is present at all.
        """
        for name in reversed(LEVELS):
            if name != WASM and (found := await self.level(name)).present:  # parsers have native parts
                break
        else:
            problem = "No file is parsed: this machine has no sandbox at all."
            raise ToolError(problem, fix="see `tea doctor --sandbox`; plain texts and tables can be read without.")
        return {"level": found.name, "claims": dict(found.claims), "cache": self.cache}

    async def require(self, recorded: str) -> None:
        """Refuse to continue work begun behind stronger walls, unless the operator expressly accepts the present.

        Args:
            recorded: The level that was in force then, empty for none.

        Raises:
            BadInput: It is refused.
        """
        if recorded not in LEVELS:
            return
        found = await self.best()
        if found is not None and (self.settings.least or LEVELS.index(found.name) >= LEVELS.index(recorded)):
            return
        now = "none that is accepted" if found is None else f"only {found.name}"
        fix = f"bring {recorded} back, or accept less: `least = ...` under [sandbox] of tea.toml, `tea trust --home`."
        raise BadInput(f"The run began with the sandbox {recorded}, and this machine has {now} now.", fix=fix)

    async def _refusal(self) -> ToolError:
        accepted = self.settings.accepted
        below = [one for one in await self.levels() if one.present]
        top = await self.level("bubblewrap")
        first = _INSTALL if shutil.which(BUBBLEWRAP) is None else f"mend it ({top.problem})"
        other = (
            f', or accept less: `least = "{below[0].name}"` under [sandbox] of tea.toml, with `tea trust --home`'
            if below
            else ""
        )
        less = f", or for Python alone: {EXTRA.install_command}" if self.settings.accepts(WASM) and missing() else ""
        return ToolError(
            f"No code is run: this machine has no sandbox of the level {accepted} or better.",
            fix=f"{first}{less}{other}.",
        )


async def probe(name: LevelName) -> Level:
    """Try a level: start it, make the attacks to be held, and return those held."""
    if name == "bubblewrap" and shutil.which(BUBBLEWRAP) is None:
        return Level(name=name, present=False, problem="bubblewrap is not installed.")
    if name == WASM and (words := missing()):
        return Level(name=name, present=False, problem=words)
    from tea.sandbox.scene import planted
    from tea.sandbox.session import GROUP, opened

    names = [one for several in _PROBED.values() for one in several]
    try:
        with planted() as scene:
            facts = {**scene.facts, **facts_of(_PROBE_LIMITS, moved=True, net=True)}
            terms = terms_of(name, str(scene.workspace), _PROBE_LIMITS)
            async with opened(terms) as sandbox:
                outcomes = await attempted(sandbox.python, names, facts)
                kernel_counts = sandbox.claimed()["limits"] == GROUP
            if scene.arrived():
                outcomes["udp"] = "broke: it came"
    except (TeaError, OSError) as error:
        problem = error.problem if isinstance(error, TeaError) else str(error)
        return Level(name=name, present=False, problem=problem, lacks=exhausted(error) is not None)
    claims = {
        claim: all(_is_held(outcomes.get(one, ""), kernel_counts=kernel_counts) for one in several)
        for claim, several in _PROBED.items()
    }
    failed = [one for one in _NEEDED[name] if not claims[one]]
    problem = f"it does not hold {', '.join(failed)}." if failed else ""
    return Level(name=name, present=not failed, claims=claims, problem=problem)


async def attempted(python: Any, names: Sequence[str], facts: Mapping[str, Any]) -> dict[str, str]:
    """Return the outcomes of attacks made one after the other inside of a sandbox.

    Args:
        python: Runs code in it.
        names: Names of the attacks.
        facts: What they are told.
    """
    begin = "import json; from tea.sandbox.inside.attempts import attempt"
    try:
        ran = await python(f"{begin}\nprint(json.dumps(attempt({list(names)!r}, {dict(facts)!r})))")
        return json.loads(ran.stdout.text)
    except ToolError as error:
        found = f"stopped: {error.problem}"
    except ValueError:
        found = "broke: it gave no answer"
    if len(names) == 1:
        return {names[0]: found}
    parts = [await attempted(python, [one], facts) for one in names]
    return {name: words for part in parts for name, words in part.items()}


def facts_of(limits: Limits, *, moved: bool, net: bool) -> dict[str, Any]:
    """Return the facts told to attacks about the sandbox around them."""
    return {
        "memory": limits.memory_mb << 20,
        "disk": limits.disk_mb << 20,
        "processes": limits.processes,
        "moved": moved,
        "net": net,
    }


def terms_of(
    name: LevelName,
    workspace: str,
    limits: Limits,
    claims: Mapping[str, bool] | None = None,
    inputs: Sequence[str] = (),
) -> JsonObject:
    """Return the terms to open a sandbox of one level, regardless of the levels accepted by an operator."""
    return {
        "level": name,
        "claims": dict(claims or {}),
        "workspace": workspace,
        "inputs": list(inputs),
        "limits": limits.to_json(),
        "packages": [],
        "wheels": None,
    }


def machine() -> str:
    """Return a mark of the prerequisites of levels: it differs after any possible change of them."""
    found: list[object] = [platform.release(), platform.machine(), os.geteuid(), sys.version, usable() is not None]
    paths = [
        shutil.which(BUBBLEWRAP),
        Layout(folder=Path(), workspace="").interpreter,
        "/proc/sys/kernel/random/boot_id",
        *map(str, parts()),
    ]
    for path in filter(None, paths):
        with suppress(OSError):
            facts = os.stat(path)
            found += [path, facts.st_size, facts.st_mtime_ns if "boot_id" not in path else Path(path).read_text()]
    return hashlib.sha256(repr((found, _own_files())).encode()).hexdigest()


@cache
def _own_files() -> list[tuple[str, int]]:
    """Return the names and times of the files of this room, as this process found them."""
    return [(one.name, one.stat().st_mtime_ns) for one in sorted(Path(__file__).parent.rglob("*.py"))]


def _is_held(outcome: str, *, kernel_counts: bool) -> bool:
    """Return whether an attack was held off.

    Args:
        outcome: Its outcome.
        kernel_counts: Whether the kernel counts all processes together, so that a call stopped by a look was within
            its bounds; else the look came in time by luck.
    """
    from tea.sandbox.inside.attacks.attack import HELD

    return outcome == HELD or outcome.startswith("absent") or (kernel_counts and outcome.startswith("stopped"))


def _earlier_findings(cache: Path | None, mark: str) -> dict[LevelName, Level]:
    """Return the earlier findings on the same machine, if no other account may have written them."""
    if cache is None:
        return {}
    try:
        data = json.loads(read_own(cache / CACHE, _LIMIT))
        return {one["name"]: Level(**one) for one in data["levels"]} if data["mark"] == mark else {}
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def _keep(cache: Path | None, mark: str, findings: Mapping[LevelName, Level]) -> None:
    if cache is None:
        return
    with suppress(OSError):  # then it is tried again the next time
        found = {"mark": mark, "levels": [asdict(one) for one in findings.values()]}
        keep_private(cache / CACHE, json.dumps(found).encode())
