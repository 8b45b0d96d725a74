"""Exposures: parts of a home readable by other accounts, or sent elsewhere by it; for `tea doctor`."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tea.platform import Platform


def exposures(tea: "Platform") -> list[str]:
    """Return the exposures of a home as text, each with a remedy; none of them counts as damage."""
    from tea.home import SECRETS
    from tea.store.access import exposed_runs

    found = [f"{one.words}, and nobody granted that; see `tea trust --home`." for one in tea.home_trust.refused()]
    secrets, traces = tea.home / SECRETS, tea.home / "traces"
    if _is_readable(secrets):
        found.append(f"Other accounts may read {SECRETS}: `chmod 600 {quote(str(secrets))}` ends that.")
    if count := exposed_runs(traces):
        folders = f"{count:,} folder{'' if count == 1 else 's'}"
        found.append(f"Other accounts may read {folders} of runs: `chmod -R go-rwx {quote(str(traces))}` ends that.")
    return found


def _is_readable(path: Path) -> bool:
    from tea.store.access import readable_by_others

    try:
        return readable_by_others(path.resolve())
    except (OSError, RuntimeError):
        return False
