"""Settings: the operator's settings of searching, in `[search]` of `tea.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any, Literal, cast, get_args
from urllib.parse import urlencode

from tea.characters import in_sentence
from tea.errors import BadInput
from tea.web.search.apis import APIS
from tea.web.settings import fits, is_address

LOCAL, DDGS, WIKIDATA = "local", "ddgs", "wikidata"
NAMES = (*APIS, DDGS, LOCAL)
_DDGS_DELAY = 1.5  # seconds
ProfileName = Literal["latency", "balanced", "quality"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How much is risked for a better answer.

    Args:
        opens: Most pages that are opened for one search, where `open` is set.
        cooldown: Seconds for which an engine or host is left alone that wants fewer requests.
        blocked: Seconds for which one is left alone that refuses.
        score: Least score of a result that is opened.
        parallel: How many pages are opened at once.
    """

    opens: int
    cooldown: float
    score: float
    blocked: float = 900.0
    parallel: int = 1


PROFILES: Mapping[str, Profile] = {
    "latency": Profile(opens=2, cooldown=60.0, score=0.55),
    "balanced": Profile(opens=3, cooldown=45.0, score=0.40),
    "quality": Profile(opens=4, cooldown=30.0, score=0.25),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """The operator's settings of one engine, in `[search.NAME]`.

    Args:
        url: Where it is; empty for its official address.
        key_env: Name of the variable that holds its key; empty for its usual one.
        tier: Its tier; 0 for its usual one.
        delay: Least seconds between two requests; negative for its usual ones.
        per_day: Most requests a day; 0 for any number.
        options: Texts that only it takes, such as `cx` of Google and `sparql` of Wikidata.
    """

    url: str = ""
    key_env: str = ""
    tier: int = 0
    delay: float = -1.0
    per_day: int = 0
    options: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """The operator's settings of searching.

    Args:
        engines: Names of the engines asked; empty for all that are configured, but `ddgs` and `wikidata`.
        seconds: Most time for one search, all engines together.
        grace: Seconds for which the others are waited for when one has answered.
        results: Most results of a search.
        retries: Seconds to wait before each further attempt at what may pass by itself.
        fresh: Seconds for which an engine's answer is taken again unasked; 0 for never.
        searches: Most queries of a run; 0 for any number.
        profile: `latency`, `balanced` or `quality`; see `PROFILES`.
        open: Whether the best results are opened at once, as far as the profile says.
        named: The settings of single engines.
    """

    engines: tuple[str, ...] = ()
    seconds: float = 30.0
    grace: float = 5.0
    results: int = 10
    retries: tuple[float, ...] = (0.5, 1.5)
    fresh: float = 600.0
    searches: int = 50
    profile: ProfileName = "balanced"
    open: bool = False
    named: Mapping[str, EngineSettings] = field(default_factory=dict[str, EngineSettings])

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> SearchSettings:
        """Return the settings in a document.

        Raises:
            BadInput: It holds an unknown setting, or a value that does not fit.
        """
        given, named = dict[str, Any](), dict[str, EngineSettings]()
        for name, value in document.items():
            if isinstance(value, Mapping):
                named[_engine(name)] = _engine_settings(name, cast("Mapping[str, Any]", value))
            else:
                given[name] = _value(name, value)
        found = cls(**given, named=named)
        for name in found.engines:
            _engine(name)
        if not 1 <= found.results <= 20:
            raise _bad("results", "it is not a number from 1 to 20", "write 10.")
        return found

    def of_engine(self, name: str) -> EngineSettings:
        """Return the settings of an engine."""
        return self.named.get(name, EngineSettings())

    def address(self, name: str) -> str:
        """Return the address of an engine; empty if nothing names it."""
        return self.of_engine(name).url or APIS[name].address

    def place(self, name: str) -> str:
        """Return the recipients of an engine's queries: its address, with the owner's engine there, and others."""
        engine = self.of_engine(name).options.get("cx", "")
        told = f"{self.address(name)}?{urlencode({'cx': engine})}" if engine else self.address(name)
        away = [one for setting, one in APIS[name].further.items() if self.further(name, setting) != one]
        return " and ".join([told, *(self.further(name, setting) for setting in APIS[name].further)]) if away else told

    def further(self, name: str, setting: str) -> str:
        """Return the address of a further service of an engine."""
        return self.of_engine(name).options.get(setting, "") or APIS[name].further[setting]

    def key_name(self, name: str) -> str:
        """Return the name of the variable with an engine's key; empty if it takes none."""
        return self.of_engine(name).key_env or APIS[name].key

    def is_official(self, name: str) -> bool:
        """Return whether an engine is the official one: at its own address, with its own key.

        A model that searches is not: what its key pays depends on which it is.
        """
        usual = self.place(name) == APIS[name].address and self.key_name(name) == APIS[name].key
        return usual and not self.of_engine(name).options.get("model")


def usual_delay(name: str) -> float:
    """Return the least seconds between two requests to an engine without settings of its own."""
    return APIS[name].delay if name in APIS else _DDGS_DELAY


def _engine(name: str) -> str:
    if name in NAMES:
        return name
    near = get_close_matches(name, NAMES, n=1)
    raise _bad(name, "it is not an engine", f"did you mean {near[0]!r}?" if near else f"it is one of {_listed(NAMES)}.")


def _engine_settings(name: str, document: Mapping[str, Any]) -> EngineSettings:
    """Return the settings of one engine.

    Raises:
        BadInput: They hold an unknown setting, or a value that does not fit.
    """
    own = {one for one in _OF_ENGINE if one != "options"}
    more = (
        {"backends"}
        if name == DDGS
        else {*APIS[name].options, *APIS[name].further} - {"url"}
        if name in APIS
        else set[str]()
    )
    given, options = dict[str, Any](), dict[str, str]()
    for key, value in document.items():
        if key not in own | more:
            raise _bad(f"{name}.{key}", "it is not a setting", f"settings are {_listed(sorted(own | more))}.")
        wanted = str if key in more else type(_OF_ENGINE[key])
        if not fits(value, wanted):
            shown = '"..."' if wanted is str else "1"
            raise _bad(
                f"{name}.{key}", f"its value {str(value)[:60]!r} is not usable", f"write a value such as {shown}."
            )
        (options if key in more else given)[key] = value
    further = APIS[name].further if name in APIS else ()
    for setting, url in {"url": str(given.get("url", "")), **{one: options.get(one, "") for one in further}}.items():
        if url and not is_address(url):
            fix = 'write for example "https://search.example.org/search".'
            raise _bad(f"{name}.{setting}", "it is not an address", fix)
    return EngineSettings(**given, options=options)


def _value(name: str, value: Any) -> Any:
    """Return a setting's value in the type of its default.

    Raises:
        BadInput: It is another type, or a number out of range.
    """
    if name not in _DEFAULTS or name == "named":
        known = [one for one in _DEFAULTS if one != "named"]
        near = get_close_matches(name, known, n=1)
        fix = f"did you mean {near[0]!r}?" if near else f"settings are {_listed(known)}, and [search.ENGINE]."
        raise _bad(name, "it is not a setting", fix)
    default, usable = _DEFAULTS[name], False
    if name == "profile":
        usable = value in get_args(ProfileName)
    elif name not in ("engines", "retries"):
        usable = fits(value, type(default))
    elif isinstance(value, list | tuple):
        value = tuple(cast("list[Any]", value))
        usable = all(fits(one, str if name == "engines" else float) for one in value)
        value = tuple(dict.fromkeys(value)) if name == "engines" and usable else value
    if usable:
        return value
    shown = {"engines": ["brave"], "retries": [0.5, 1.5]}.get(name, default)
    raise _bad(name, f"its value {str(value)[:60]!r} is not usable", f"write a value such as {shown!r}.")


def _bad(name: str, problem: str, fix: str) -> BadInput:
    return BadInput(f"{in_sentence(f'search.{name[:60]}')} in tea.toml: {problem}.", fix=fix)


def _listed(names: Any) -> str:
    return ", ".join(names)


_DEFAULTS = {one.name: cast(object, one.default) for one in fields(SearchSettings)}
_OF_ENGINE = {one.name: cast(object, one.default) for one in fields(EngineSettings)}
