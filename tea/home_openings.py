"""Home openings: what the settings of a home open beyond the defaults, and the settings without it.

A home may come from elsewhere. What weakens a wall, or leads words of a run to another machine, waits for the grant of
the home; what stays on this machine, as a server on loopback, does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tea.home import SETTINGS, Settings
from tea.sandbox.settings import LEAST, LEVELS, SandboxSettings

_ARCHIVE = "web.archive.org"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A setting that opens more than the defaults do.

    Args:
        setting: Where it is written, for people.
        does: What it does, as the rest of a sentence.
        what: The value.
    """

    setting: str
    does: str
    what: str


def openings(settings: Settings, home: Path) -> list[Opening]:
    """Return what settings open beyond the defaults.

    Args:
        settings: Those of the home.
        home: Its folder.
    """
    return [
        *_of_sandbox(settings.sandbox, home),
        *_of_web(settings.web),
        *_of_search(settings.search),
        *_of_hosts(settings.hosts),
    ]


def narrowed(settings: Settings, home: Path) -> Settings:
    """Return settings without what they open beyond the defaults.

    Search engines and code hosts stay: asking one that nobody granted is refused, which says why.

    Args:
        settings: Those of the home.
        home: Its folder.
    """
    sandbox = settings.sandbox
    if _is_weak(sandbox):
        sandbox = replace(sandbox, least=None)
    if _is_outside(sandbox, home):
        sandbox = replace(sandbox, wheels=None)
    web = dict(settings.web)
    if "allow" in web:
        web["allow"] = [one for one in web["allow"] if is_local(one)]
    if _is_foreign_archive(web):
        web["wayback"] = ""
    return replace(settings, sandbox=sandbox, web=web)


def is_local(place: str) -> bool:
    """Return whether an address, or a place as `host:port`, is on this machine's loopback."""
    try:
        host = urlsplit(place if "://" in place else f"//{place}").hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def leads_away(engine: str, address: str) -> bool:
    """Return whether an address is neither the official one of a search engine nor on this machine."""
    from tea.web.search import APIS

    return address not in ("", APIS[engine].address) and not is_local(address)


def _of_sandbox(sandbox: SandboxSettings, home: Path) -> list[Opening]:
    setting, found = f"[sandbox] in {SETTINGS}", list[Opening]()
    if _is_weak(sandbox):
        does = "lets untrusted code run at the level"
        found.append(Opening(setting=setting, does=does, what=str(sandbox.least)))
    if _is_outside(sandbox, home):
        found.append(Opening(setting=setting, does="shows untrusted code the folder", what=str(sandbox.wheels)))
    return found


def _of_web(web: Mapping[str, Any]) -> list[Opening]:
    setting = f"[web] in {SETTINGS}"
    found = [
        Opening(setting=setting, does="opens to agents", what=one) for one in web.get("allow", ()) if not is_local(one)
    ]
    if _is_foreign_archive(web):
        found.append(Opening(setting=setting, does="tells the addresses of pages to", what=web["wayback"]))
    return found


def _of_search(document: Mapping[str, Any]) -> list[Opening]:
    if not document:
        return []
    from tea.web.search import APIS, SearchSettings

    settings = SearchSettings.of(document)
    return [
        Opening(setting=f"[search.{name}] in {SETTINGS}", does="sends queries to", what=settings.address(name))
        for name in settings.named
        if name in APIS and leads_away(name, settings.address(name))
    ]


def _of_hosts(document: Mapping[str, Any]) -> list[Opening]:
    if not document:
        return []
    from tea.web.hosts import HostSettings

    return [
        Opening(setting=f"[hosts.{one.name}] in {SETTINGS}", does="sends issues and code to", what=one.api)
        for one in HostSettings.of(document).hosts.values()
        if one.api and not (one.is_official or is_local(one.api))
    ]


def _is_weak(sandbox: SandboxSettings) -> bool:
    return LEVELS.index(sandbox.accepted) < LEVELS.index(LEAST)


def _is_outside(sandbox: SandboxSettings, home: Path) -> bool:
    return sandbox.wheels is not None and not Path(sandbox.wheels).is_relative_to(home.resolve())


def _is_foreign_archive(web: Mapping[str, Any]) -> bool:
    address = str(web.get("wayback", ""))
    return bool(address) and urlsplit(address).hostname != _ARCHIVE and not is_local(address)
