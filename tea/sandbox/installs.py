"""Installs: the sources of packages, and the levels able to limit code to the operator's places."""

from __future__ import annotations

import os

from tea.errors import ToolError
from tea.sandbox.launch import PROXY
from tea.sandbox.layout import CERTIFICATES
from tea.sandbox.settings import MOVED, LevelName
from tea.sandbox.way_out import INDEX, WayOut


def check_sources(level: LevelName, way_out: WayOut, wheels: str | None) -> None:
    """Refuse an installation without anything to install from.

    Args:
        level: The level in force.
        way_out: The operator's ways out.
        wheels: The operator's folder of wheels.

    Raises:
        ToolError: There is neither a folder of wheels nor an index, or it cannot be reached.
    """
    if way_out.index:
        require_network(level, INDEX)
    elif wheels is None:
        asked = 'ask the operator for `wheels = "FOLDER"` or `index = "https://..."` under [sandbox] of tea.toml'
        fix = f"{asked}, granted by `tea trust --home`; do without them meanwhile."
        raise ToolError("Nothing can be installed: the operator names no folder of wheels and no index.", fix=fix)
    if wheels is not None and not os.path.isdir(wheels):
        problem = f"Nothing can be installed: the operator's folder of wheels {wheels[-100:]!r} is not there."
        raise ToolError(problem, fix="ask the operator to make it; do without packages meanwhile.")


def require_network(level: LevelName, setting: str) -> None:
    """Refuse a level unable to hold code to the operator's places.

    Raises:
        ToolError: The level is one of these.
    """
    if level not in MOVED:
        problem = f"The sandbox's level {level!r} has no network of its own, so it has no guarded way out."
        fix = f"install the package `bubblewrap` of your distribution, or take `{setting}` out of [sandbox]."
        raise ToolError(problem, fix=fix)


def download_options(way_out: WayOut) -> str:
    """Return pip's options for the operator's index in one text, with no blank inside an option; empty for no index."""
    if not way_out.index:
        return ""
    return f"--index-url {way_out.index} --proxy {PROXY} --cert {CERTIFICATES} --retries 1 --timeout 20"
