"""`tea doctor`: a check for damaged and missing parts of a home."""

import asyncio
import platform
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from tea.characters import in_sentence, shell_word
from tea.cli.command import Command
from tea.cli.models import astray, reach
from tea.cli.reference import KEPT
from tea.cli.sandbox import check_sandboxes, sandbox_facts, sandbox_rows
from tea.cli.terminal import brief, one_line, painted, table
from tea.errors import BadInput, StorageError, TeaError
from tea.extras import EXTRAS
from tea.refs import plural

if TYPE_CHECKING:
    from tea.platform import Platform

T = TypeVar("T")
_BAD = 2
_NAMED = 5  # folders
_LIST = 2**26  # bytes of the list of trusted components


async def doctor(
    command: Command,
    repair: Annotated[
        bool, typer.Option("--repair", help="Mend what crashes left; name what cannot be mended.")
    ] = False,
    sandbox: Annotated[
        bool, typer.Option("--sandbox", help="Attack every sandbox level of this machine, and tell what it holds.")
    ] = False,
) -> int:
    """Check the home for damage and missing parts.

    Reads every component and journal; exit code 2 when something is found that is not mended, or a sandbox holds less
    than it claims.
    """
    from tea.store.derived import examine_derived
    from tea.store.repair import examine

    async with command.platform() as tea:
        if sandbox:
            return await check_sandboxes(command, tea.sandboxes)
        found = await asyncio.to_thread(examine, tea.home, mend=repair)
        found += await asyncio.to_thread(lambda: list(examine_derived(tea.home, mend=repair)))
        unmended = [one.problem for one in found if not (one.mendable or one.mended)]
        damage = [*tea.problems, *astray(tea), *await asyncio.to_thread(_damage, tea), *unmended]
        runs = await asyncio.to_thread(_try_check, damage, tea.tracer.runs)
        data = {
            "versions": _versions(),
            "home": str(tea.home),
            "home_exists": tea.home.is_dir(),
            "registry": await asyncio.to_thread(_counts, tea, damage),
            "runs": len(runs),
            "models": await _models(tea),
            "sandbox": await sandbox_facts(tea.sandboxes),
            "extras": [_extra(one.name, one.purpose, one.missing, one.install_command) for one in EXTRAS],
            "trust": {"list": str(tea.trust.path), "granted": await asyncio.to_thread(_granted, tea.trust.path)},
            "damaged": list(dict.fromkeys(damage)),
            "warnings": await asyncio.to_thread(exposures, tea),
            "mendable": [one.problem for one in found if one.mendable and not one.mended],
            "mended": [f"{one.problem} It was {one.mended}." for one in found if one.mended],
        }
    command.show(_text(data), data)
    return _BAD if data["damaged"] or data["mendable"] else 0


async def _models(tea: "Platform") -> list[dict[str, Any]]:
    """Return every configuration, and whether it is reachable; no request is sent or paid for."""
    words = await reach(tea)
    return [
        {**one.to_json(), "default": one.name == tea.models.default, "reached": words[one.name]}
        for one in tea.models.list()
    ]


def _damage(tea: "Platform") -> list[str]:
    """Read every version, every head and every journal; return a line for each damaged one."""
    from tea.components.manifest import Manifest

    damage: list[str] = []
    tried = partial(_try_check, damage)
    versions = tea.versions
    for kind in KEPT:
        for name in tried(partial(versions.names, kind)):
            for version in tried(partial(versions.store.versions, kind, name)):
                for found in tried(lambda at=(kind, name, version): [versions.document(*at)]):
                    if isinstance(found, Manifest):
                        faults = tried(lambda one=found, kind=kind: [tea.libraries[kind].misdescribed(one)])
                        damage += [f"The stored description of {found.ref} {one}." for one in filter(None, faults)]
            tried(partial(versions.heads, kind, name))
    for run in tried(tea.tracer.runs):
        tried(partial(_read, tea, run))
    return damage


def _try_check(damage: list[str], look: Callable[[], list[T]]) -> list[T]:
    """Return the findings of a check; record a failed check as damage, too."""
    try:
        return look()
    except TeaError as error:
        damage.append(brief(error.problem, 300))
        return []


def _read(tea: "Platform", run: str) -> list[int]:
    with suppress(BadInput):  # another process removed it meanwhile
        return [sum(1 for _ in tea.tracer.records(run))]
    return []


def _counts(tea: "Platform", damage: list[str]) -> dict[str, int]:
    return {kind: len(_try_check(damage, partial(tea.versions.names, kind))) for kind in KEPT}


def _granted(path: Path) -> int:
    from tea.store.files import followed, read_regular
    from tea.store.strict import Refused

    try:
        return read_regular(followed(path), _LIST).count(b"\n")
    except Refused as reason:
        problem = f"The list of trusted components {str(path)[-150:]!r} cannot be used: {reason}."
        raise StorageError(problem, fix="put a regular file back, or set TEA_STATE to another folder.") from reason
    except FileNotFoundError:
        return 0
    except OSError as error:
        problem = f"The list of trusted components {str(path)[-150:]!r} cannot be read: {error.strerror}."
        raise StorageError(problem, fix="set TEA_STATE to a folder you may read.") from error


def _versions() -> dict[str, str]:
    from importlib import metadata

    found = {"python": platform.python_version(), "platform": sys.platform}
    for name in ("tea-protocol", "pydantic", "openai", "anthropic", "typer", "jinja2", "openpyxl"):
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
        ("registry", ", ".join(f"{count} {plural(kind)}" for kind, count in data["registry"].items())),
        ("runs", str(data["runs"])),
        *(
            ("model", f"{one['name']}{' (default)' if one['default'] else ''}: {one['reached']}")
            for one in data["models"]
        ),
        *sandbox_rows(data["sandbox"]),
        ("trusted", f"{data['trust']['granted']} granted, in {data['trust']['list']}"),
    ]
    rows += [
        (f"[{one['name']}]", f"{one['purpose']}: {'installed' if one['installed'] else one['install']}")
        for one in data["extras"]
    ]
    told = [f"mended: {one_line(one, 400)}" for one in data["mended"]]
    told += [f"{one_line(one, 300)} `tea doctor --repair` mends it." for one in data["mendable"]]
    told += [painted(f"warning: {one_line(one, 400)}", "yellow", sys.stdout) for one in data["warnings"]]
    told += [painted(f"damaged: {one_line(one)}", "red", sys.stdout) for one in data["damaged"]]
    return "\n".join([table(rows), *(told or ["Nothing is damaged."])])


if TYPE_CHECKING:
    from tea.platform import Platform


def exposures(tea: "Platform") -> list[str]:
    """Return the exposures of a home as text, each with a remedy; none of them counts as damage."""
    from tea.home import SECRETS
    from tea.store.access import exposed_runs, foreign_runs

    found = [f"Nobody granted this, see `tea trust --home`: {one.words}" for one in tea.home_trust.refused()]
    secrets, traces = tea.home / SECRETS, tea.home / "traces"
    if _is_readable(secrets):
        found.append(f"Other accounts may read {SECRETS}: `chmod 600 {shell_word(str(secrets))}` ends that.")
    if runs := foreign_runs(traces):
        more = f" and {len(runs) - _NAMED:,} more" if len(runs) > _NAMED else ""
        found.append(
            f"Other accounts decide about these folders of runs: {', '.join(map(in_sentence, runs[:_NAMED]))}{more}."
        )
    if count := exposed_runs(traces):
        folders = f"{count:,} folder{'' if count == 1 else 's'}"
        found.append(
            f"Other accounts may read {folders} of runs: `chmod -R go-rwx {shell_word(str(traces))}` ends that."
        )
    return found


def _is_readable(path: Path) -> bool:
    from tea.store.access import readable_by_others

    try:
        return readable_by_others(path.resolve())
    except (OSError, RuntimeError):
        return False
