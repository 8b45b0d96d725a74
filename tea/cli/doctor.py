"""`tea doctor`: is everything in order, and if not, what is damaged and what is missing."""

import asyncio
import platform
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tea.cli.command import Command
from tea.cli.reference import KEPT
from tea.cli.terminal import one_line, painted, table
from tea.errors import TeaError
from tea.extras import EXTRAS

if TYPE_CHECKING:
    from tea.runtime.platform import Platform

_BAD = 2


async def doctor(command: Command) -> int:
    """Check that everything is in order.

    Reads every component and journal; exit code 2 when something is damaged.
    """
    async with command.platform() as tea:
        damage = [*tea.problems, *await asyncio.to_thread(lambda: list(_damage(tea)))]
        data = {
            "versions": _versions(),
            "home": str(tea.home),
            "home_exists": tea.home.is_dir(),
            "registry": await asyncio.to_thread(_counts, tea),
            "runs": len(await asyncio.to_thread(tea.tracer.runs)),
            "models": [{**one.to_json(), "default": one.name == tea.models.default} for one in tea.models.list()],
            "extras": [_extra(one.name, one.purpose, one.missing, one.install_command) for one in EXTRAS],
            "trust": {"list": str(tea.trust.path), "exists": tea.trust.path.is_file()},
            "damaged": damage,
        }
    command.show(_text(data), data)
    return _BAD if damage else 0


def _damage(tea: "Platform") -> Iterator[str]:
    """Read every version, every head and every journal; give a line for each that is not what was written."""
    for kind in KEPT:
        names = yield from _tried(lambda kind=kind: tea.versions.names(kind))
        for name in names or ():
            for version in (yield from _tried(lambda k=kind, n=name: tea.versions.store.versions(k, n))) or ():
                yield from _tried(lambda k=kind, n=name, v=version: tea.versions.manifest(k, n, v))
            yield from _tried(lambda k=kind, n=name: tea.versions.heads(k, n))
    for run in (yield from _tried(tea.tracer.runs)) or ():
        yield from _tried(lambda run=run: sum(1 for _ in tea.tracer.records(run)))


def _tried(look: Callable[[], Any]) -> Iterator[str]:
    """Return what a look gives, or give the line of what is wrong there."""
    try:
        return look()
    except TeaError as error:
        yield one_line(error.problem, 300)
        return None


def _counts(tea: "Platform") -> dict[str, int]:
    return {kind: len(tea.versions.names(kind)) for kind in KEPT}


def _versions() -> dict[str, str]:
    from importlib import metadata

    found = {"python": platform.python_version(), "platform": sys.platform}
    for name in ("tea-protocol", "pydantic", "typer", "jinja2", "openpyxl"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def _extra(name: str, purpose: str, missing: tuple[str, ...], install: str) -> dict[str, Any]:
    return {"name": name, "purpose": purpose, "installed": not missing, "install": install if missing else None}


def _text(data: dict[str, Any]) -> str:
    rows = [
        ("versions", ", ".join(f"{name} {version}" for name, version in data["versions"].items())),
        ("home", data["home"] + ("" if data["home_exists"] else " (not there yet)")),
        ("registry", ", ".join(f"{count} {kind}s" for kind, count in data["registry"].items())),
        ("runs", str(data["runs"])),
        ("models", ", ".join(f"{one['name']}{' (default)' if one['default'] else ''}" for one in data["models"])),
        ("trusted", data["trust"]["list"] + ("" if data["trust"]["exists"] else " (empty)")),
    ]
    rows += [
        (f"[{one['name']}]", f"{one['purpose']}: {'installed' if one['installed'] else one['install']}")
        for one in data["extras"]
    ]
    damaged = [painted(f"damaged: {one}", "red", sys.stdout) for one in data["damaged"]]
    return "\n".join([table(rows), *(damaged or ["Nothing is damaged."])])
