"""Home openings: the settings of a home beyond the defaults, and the settings without them.

A home may come from elsewhere. What weakens a wall, raises a limit, or leads words of a run to a place closed by
default waits for the grant of the home. Servers on loopback are such places: a database or a control port of this
machine often asks nobody for a password.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

from tea.characters import in_sentence
from tea.home import SETTINGS, STORES, Settings
from tea.models.config import is_local
from tea.sandbox.settings import EDITORS, LEAST, LEVELS, USUAL, Limits, SandboxSettings
from tea.sandbox.way_out import WayOut

_ARCHIVE = "https://web.archive.org"
_LIMITS = ("seconds", "redirects", "html_bytes", "pdf_bytes", "pdf_pages", "characters", "retries", "cache_bytes")
_LIMITS_OF_SEARCH = ("seconds", "grace", "results", "retries", "searches")
_LONG_DELAY = 60.0  # seconds between two requests to an engine, for which other homes of this account wait too
# Lists of `[web]` that open something with each entry.
_LISTS = {
    "allow": "opens to agents",
    "repositories": "lets agents clone and push to the repositories in",
    "plain": "reads pages without encryption from hosts that end in",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A setting more open than its default.

    Args:
        setting: Where it is written, for people.
        does: What it does, as the rest of a sentence.
        what: The value.
        closed: Whether the value has a form that leaves no room for words: a limit, or addresses.
    """

    setting: str
    does: str
    what: str
    closed: bool = False


def openings(settings: Settings, home: Path) -> list[Opening]:
    """Return the openings of settings beyond the defaults.

    Args:
        settings: Those of the home.
        home: Its folder.
    """
    return [
        *_of_sandbox(settings.sandbox, home),
        *_of_web(settings.web),
        *_of_search(settings.search),
        *_of_hosts(settings.hosts),
        *_of_research(settings.research),
    ]


def narrowed(settings: Settings, home: Path) -> Settings:
    """Return settings without their openings beyond the defaults.

    Search engines and code hosts stay: asking one that nobody granted is refused, which says why.

    Args:
        settings: Those of the home.
        home: Its folder.
    """
    sandbox, web, search = settings.sandbox, settings.web, settings.search
    if _is_weak(sandbox):
        sandbox = replace(sandbox, least=None)
    if _shows_files(sandbox, home):
        sandbox = replace(sandbox, wheels=None)
    sandbox = replace(sandbox, way_out=WayOut())
    sandbox = replace(sandbox, programs=tuple(one for one in sandbox.programs if one in EDITORS))
    usual, shown = asdict(Limits()), {*_shown(sandbox)}
    sandbox = replace(sandbox, limits=replace(sandbox.limits, **{name: usual[name] for name in _raised(sandbox)}))
    if shown and sandbox.packages is not None:
        sandbox = replace(sandbox, packages=tuple(one for one in sandbox.packages if one not in shown))
    opened = {*_LISTS, *_raised_of_web(web), *(["wayback"] if _is_foreign_archive(web) else [])}
    return replace(
        settings,
        sandbox=sandbox,
        web=_without(web, opened),
        search=_without({name: _without_delays(name, one) for name, one in search.items()}, _raised_of_search(search)),
        research=_without(settings.research, _raised_of_research(settings.research)),
    )


def leads_away(engine: str, address: str) -> bool:
    """Return whether an address is another than the official one of a search engine."""
    from tea.web.search import APIS

    return address not in ("", APIS[engine].address)


def _of_sandbox(sandbox: SandboxSettings, home: Path) -> list[Opening]:
    setting, found = f"[sandbox] in {SETTINGS}", list[Opening]()
    if _is_weak(sandbox):
        does = "lets untrusted code run at the level"
        found.append(Opening(setting=setting, does=does, what=str(sandbox.least)))
    if _shows_files(sandbox, home):
        found.append(Opening(setting=setting, does="shows untrusted code the folder", what=str(sandbox.wheels)))
    for one in _shown(sandbox):
        found.append(Opening(setting=setting, does="shows untrusted code the package", what=one))
    ways = sandbox.way_out
    for does, places in (
        ("lets untrusted code reach the host", ways.hosts),
        ("installs packages for untrusted code from", filter(None, (ways.index,))),
        ("installs packages for untrusted code with files of", ways.index_hosts),
    ):
        found += [Opening(setting=setting, does=does, what=one) for one in places]
    found += [
        Opening(setting=f"[computer] in {SETTINGS}", does="lets agents open the program", what=one)
        for one in sandbox.programs
        if one not in EDITORS
    ]
    given = asdict(sandbox.limits)
    for name in _raised(sandbox):
        found.append(
            Opening(
                setting=setting, does="raises a limit of untrusted code,", what=f"{name} = {given[name]}", closed=True
            )
        )
    return found


def _of_web(web: Mapping[str, Any]) -> list[Opening]:
    setting = f"[web] in {SETTINGS}"
    found = [
        Opening(setting=setting, does=does, what=one) for name, does in _LISTS.items() for one in web.get(name, ())
    ]
    if _is_foreign_archive(web):
        found.append(Opening(setting=setting, does="tells the addresses of pages to", what=web["wayback"]))
    return found + _of_limits("web", "raises a limit of what is fetched,", web, _raised_of_web(web))


def _of_search(document: Mapping[str, Any]) -> list[Opening]:
    if not document:
        return []
    from tea.web.search import APIS, SearchSettings

    settings = SearchSettings.of(document)
    found = [
        Opening(
            setting=f"[search.{name}] in {SETTINGS}", does="sends queries to", what=settings.place(name), closed=True
        )
        for name in settings.named
        if name in APIS and leads_away(name, settings.place(name))
    ]
    found += _of_limits("search", "raises a limit of searching,", document, _raised_of_search(document))
    for name in settings.named:
        does = "changes how long searches of every home wait,"
        found += _of_limits(f"search.{name}", does, document[name], _paced(name, document[name]))
    return found


def _of_hosts(document: Mapping[str, Any]) -> list[Opening]:
    if not document:
        return []
    from tea.web.hosts import HostSettings

    return [
        Opening(setting=f"[hosts.{in_sentence(one.name)}] in {SETTINGS}", does="sends issues and code to", what=one.api)
        for one in HostSettings.of(document).hosts.values()
        if one.api and not (one.is_official or is_local(one.api))
    ]


def _of_research(document: Mapping[str, Any]) -> list[Opening]:
    return _of_limits("research", "raises a limit of research,", document, _raised_of_research(document))


def _of_limits(table: str, does: str, document: Mapping[str, Any], names: Iterable[str]) -> list[Opening]:
    setting = f"[{table}] in {SETTINGS}"
    return [Opening(setting=setting, does=does, what=f"{name} = {document[name]}", closed=True) for name in names]


def _is_weak(sandbox: SandboxSettings) -> bool:
    return LEVELS.index(sandbox.accepted) < LEVELS.index(LEAST)


def _shows_files(sandbox: SandboxSettings, home: Path) -> bool:
    """Return whether the folder of wheels is outside the home, the home itself, a store, or holds anything but wheels.

    Untrusted code sees all of it, so the home itself would show it keys, and a store what runs write meanwhile.
    """
    if sandbox.wheels is None:
        return False
    folder, place = Path(sandbox.wheels), home.resolve()
    if folder == place or not folder.is_relative_to(place) or folder.relative_to(place).parts[0] in STORES:
        return True
    try:
        with os.scandir(folder) as entries:
            return not all(one.name.endswith(".whl") and one.is_file(follow_symlinks=False) for one in entries)
    except OSError:  # other files may be put there later
        return True


def _raised(sandbox: SandboxSettings) -> list[str]:
    """Return the names of the limits above their defaults."""
    usual = asdict(Limits())
    return [name for name, value in asdict(sandbox.limits).items() if value > usual[name]]


def _shown(sandbox: SandboxSettings) -> list[str]:
    """Return the packages shown to code beyond the usual ones."""
    return [one for one in sandbox.packages or () if one not in USUAL]


def _raised_of_web(web: Mapping[str, Any]) -> list[str]:
    """Return the names of the limits of `[web]` above their defaults."""
    if not web:
        return []
    from tea.web.settings import WebSettings

    return _above(web, WebSettings(), _LIMITS)


def _raised_of_search(document: Mapping[str, Any]) -> list[str]:
    """Return the names of the limits of `[search]` above their defaults; no number of searches is any number.

    A profile is above the usual one if it opens more pages, or leaves engines that refused alone for less time, for
    which other homes of this account wait too.
    """
    if not document:
        return []
    from tea.web.search.settings import PROFILES, SearchSettings

    settings, usual = SearchSettings.of(document), SearchSettings()
    mine, common = PROFILES[settings.profile], PROFILES[usual.profile]
    bold = mine.opens > common.opens or min(mine.cooldown - common.cooldown, mine.blocked - common.blocked) < 0
    above = [*(["searches"] if document.get("searches") == 0 else []), *(["profile"] if bold else [])]
    return above + _above(document, usual, _LIMITS_OF_SEARCH)


def _raised_of_research(document: Mapping[str, Any]) -> list[str]:
    """Return the names of the limits of `[research]` above their defaults."""
    if not document:
        return []
    from tea.research.settings import ResearchSettings

    return _above(document, ResearchSettings(), document)


def _above(document: Mapping[str, Any], usual: object, names: Iterable[str]) -> list[str]:
    """Return the names of the values above their defaults; of a list, longer ones and those with a larger member."""
    found = list[str]()
    for name in names:
        value, default = document.get(name), getattr(usual, name)
        if isinstance(value, list | tuple):
            given = cast("Sequence[float]", value)
            above = len(given) > len(default) or any(one > max(default) for one in given)
        else:
            above = value is not None and value > default
        found += [name] if above else []
    return found


def _paced(name: str, engine: Mapping[str, Any]) -> list[str]:
    """Return `delay` if the settings of a search engine let it wait for long, or for less than usual."""
    from tea.web.search.settings import usual_delay

    delay = engine.get("delay", -1.0)
    return ["delay"] if 0 <= delay < usual_delay(name) or delay > _LONG_DELAY else []


def _without_delays(name: str, value: Any) -> Any:
    """Return a value of `[search]`, leaving out unusual delays from the settings of an engine."""
    if not isinstance(value, Mapping):
        return value
    engine = cast("Mapping[str, Any]", value)
    return _without(engine, _paced(name, engine))


def _without(document: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in names}


def _is_foreign_archive(web: Mapping[str, Any]) -> bool:
    """Return whether an archive is another than the official one over https, at its usual port."""
    address = str(web.get("wayback", ""))
    return bool(address) and address.rstrip("/") != _ARCHIVE
