"""Home trust: keys of the process's environment sent elsewhere by a home's settings, and a person's consent to it.

A key that stands in the environment is the operator's. A folder that came from elsewhere brings its own `tea.toml` and
`.env`, so an address of theirs gets such a key only where a preset, or the environment itself, names the same, or a
person granted them. Keys of the home's own `.env` go where the home says.

A grant is of the home that lies at one place, by a digest of all settings deciding about keys, data and walls: a model
without a key of the environment, or a role, decides as well who is given what.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tea.characters import in_sentence, shell_word
from tea.errors import NOT_GRANTED, BadInput, UntrustedHome
from tea.home import SECRETS, SETTINGS, HomeKeys, Settings
from tea.home_openings import Opening, leads_away, openings
from tea.models.config import ModelConfig, is_local
from tea.models.connect import is_led_to, is_meant_for, reached
from tea.models.presets import ADDRESSES, BASE_URLS
from tea.retrieval.embedding.choice import LOCAL, Destination
from tea.source.trust import GrantedHomes
from tea.store.strict import dumps
from tea.types import JsonObject, as_object

if TYPE_CHECKING:  # a home without hosts of its own loads none
    from tea.web.hosts import CodeHost

TRUSTED = "TEA_TRUST_HOME"
# What decides neither about keys nor about data.
_FREE = ("durability", "git", "research")
_FREE_OF_MODELS = ("capabilities", "context", "fold", "limits", "max_output", "senses")
_FREE_OF_SEARCH = ("fresh", "grace", "open", "profile", "results", "retries", "searches", "seconds")
_FREE_OF_ENGINES = ("delay", "per_day", "tier")
# Options of a model that choose its words alone; others may lead data on from the provider, or cost more.
_FREE_OPTIONS = frozenset(
    {
        "frequency_penalty", "logit_bias", "min_p", "parallel_tool_calls", "presence_penalty", "reasoning",
        "reasoning_effort", "repetition_penalty", "seed", "stop", "stop_sequences", "temperature", "thinking", "top_k",
        "top_p", "verbosity",
    }
)  # fmt: skip
_SHOWN, _LONGEST_ADDRESS = 100, 500  # characters in an error
_HOST = re.compile(r"\A[^/?#]*//[^/?#]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One route for keys of the environment.

    Args:
        setting: Where it is written, for people.
        keys: Names of the variables; empty for those of all models that name no address.
        address: Where to, as it stands in a sentence; for a model that is loaded its name or folder.
        covered: What the digest covers of it.
    """

    setting: str
    keys: tuple[str, ...]
    address: str
    covered: JsonObject

    @property
    def words(self) -> str:
        """Its effect, in ASCII and on one line."""
        setting = _plain(self.setting)  # it holds names that the home chose
        if self.covered.get("provider") == LOCAL:
            return f"{setting} loads the model {_plain(self.address)}, whose files may be code"
        if "policy" in self.covered:
            return f"{setting} allows calls beyond the workspace unasked: {_plain(self.address)}"
        if "opens" in self.covered:
            return f"{setting} {self.covered['opens']} {_plain(self.address)}"
        names = ", ".join(_plain(in_sentence(one)) for one in self.keys) or "the keys of models that name no address"
        if "prices" in self.covered:
            return f"{setting} counts what is paid with {names} at prices of its own, {_plain(self.address)}"
        given = as_object(self.covered.get("options") or {}).items()
        options = ", ".join(f"{_plain(in_sentence(str(name)))} = {_value(value)}" for name, value in given)
        return f"{setting} sends {names} to {_plain(self.address)}{f', with {options}' if options else ''}"


class HomeTrust:
    """The keys and calls of one home going elsewhere, and whether they may.

    Args:
        home: The folder.
        configs: The model configurations of its settings, by name.
        embedder: Where the embedder of its settings goes.
        keys: Gives keys, and tells where they come from.
        granted: The operator's list of grants.
        trusted: Whether the program that uses the home answers for it.
        settings: The home's settings, for all beside models and the embedder; none by default.

    Attributes:
        routes: The routes for keys of the environment.
        told: The refusals raised until now, in words.
    """

    def __init__(
        self,
        home: Path,
        configs: Mapping[str, ModelConfig],
        embedder: Destination | None,
        keys: HomeKeys,
        granted: GrantedHomes,
        *,
        trusted: bool = False,
        settings: Settings | None = None,
    ) -> None:
        self._home, self._keys, self._list, self._trusted = home, keys, granted, trusted
        self.told = set[str]()
        self._addresses = dict(_addresses(keys))
        self._settings = _deciding(settings.written if settings is not None else {})
        routes = [_of_model(one) for one in configs.values()] + [_of_embedder(embedder)]
        routes += [_of_prices(one) for one in configs.values()]
        routes += _of_search(settings.search) if settings is not None and settings.search else []
        routes += _of_hosts(settings.hosts) if settings is not None and settings.hosts else []
        routes += [_of_variable(name, address) for name, address in self._addresses.items()]
        routes += [_of_policy(settings.policy.widening)] if settings is not None else []
        routes += [_of_opening(one) for one in openings(settings, home)] if settings is not None else []
        self.routes = tuple(one for one in routes if one is not None)
        self._contents = [one.covered.get("content") for one in self.routes]

    @property
    def place(self) -> str:
        """The real path of the home in ASCII, on one line, quoted unless plain; a grant is for this place."""
        return in_sentence(_plain(str(self._home.resolve())))

    @cached_property
    def digest(self) -> str:
        """The digest of the settings, and of everything sent elsewhere by them; empty if nothing is sent."""
        if not self.routes:
            return ""
        routes = sorted(({**one.covered} for one in self.routes), key=dumps)
        return "sha256:" + sha256(dumps({"routes": routes, "settings": self._settings})).hexdigest()

    @property
    def granted(self) -> bool:
        """Whether a person, this program or the process's environment let the home do so."""
        if self._trusted or not self.routes:
            return self._trusted
        named = os.environ.get(TRUSTED, "").strip()
        return self.digest in (named, f"sha256:{named}") or self._list(self.digest, self._home)

    def grant(self) -> None:
        """Trust the home at its present place with its present settings."""
        self._list.grant(self.digest, self._home)

    def refused(self) -> list[Route]:
        """Return the forbidden routes for keys now in the environment, or for allowing calls."""
        ours = self._keys.from_process
        return [] if self.granted else [one for one in self.routes if not one.keys or any(map(ours, one.keys))]

    @property
    def left_out(self) -> list[Route]:
        """The openings of the settings replaced by the defaults until a grant."""
        return [one for one in self.refused() if "opens" in one.covered or "prices" in one.covered]

    def counted(self, config: ModelConfig) -> ModelConfig:
        """Return a configuration of the settings, without its own prices if they wait for a grant.

        Prices below the true ones would let a run spend more than its budget in dollars.
        """
        waits = any(map(self._keys.from_process, config.keys)) and not self.granted
        return replace(config, prices={}) if config.prices and waits else config

    def of_settings(self, config: ModelConfig, key: str) -> None:
        """Refuse a key of the environment to a configuration of `tea.toml`; see `tea.models.connect.Guard`."""
        address, leads_on = reached(config), _leads_on(config)
        ours = self._keys.from_process
        away = [one for one in config.keys if self._is_elsewhere(one, address) or (leads_on and ours(one))]
        if key in away:
            self._require(f"[models.{config.name}] in {SETTINGS}", away, address)

    def of_trusted(self, config: ModelConfig, key: str) -> None:
        """Refuse a key to a preset, or to a configuration trusted by a person, if `.env` leads it elsewhere."""
        variable, address = ADDRESSES.get(config.provider, ""), reached(config)
        away = [one for one in config.keys if self._is_elsewhere(one, address)]
        if self._addresses.get(variable) == address and key in away:
            self._require(f"{variable} in {SECRETS}", away, address)

    def of_embedder(self, going: Destination) -> None:
        """Refuse a key to the embedder of the settings, and the loading of its model."""
        if going.provider == LOCAL:
            what, content = f"The files of the model {_plain(going.address)[-_SHOWN:]!r}", going.content
            if content is None:
                fix = "name the folder of one model of sentence-transformers."
                raise BadInput(f"{what} cannot be looked at, or are many or large.", fix=fix)
            self._require(f"[embedder] in {SETTINGS}", (), going.address)
            if content not in self._contents and not self._trusted:
                raise UntrustedHome(f"{what} changed since they were looked at.", fix="start again.")
        elif self._is_elsewhere(going.key, going.address):
            self._require(f"[embedder] in {SETTINGS}", (going.key,), going.address)

    def of_search(self, name: str, key: str, address: str) -> None:
        """Refuse a key of the environment, and queries, to a search engine led elsewhere by the settings."""
        ours = self._keys.from_process(key)
        if ours or leads_away(name, address):
            self._require(f"[search.{name}] in {SETTINGS}", (key,) if ours else (), address, does="sends queries to")

    def of_host(self, host: CodeHost) -> None:
        """Refuse a key of the environment, and any work, to a code host led elsewhere by the settings."""
        ours = self._keys.from_process(host.key_env) if host.key_env else False
        away = bool(host.api) and not is_local(host.api)
        if not host.is_official and (ours or away):
            setting, keys = f"[hosts.{_plain(in_sentence(host.name))}] in {SETTINGS}", (host.key_env,) if ours else ()
            self._require(setting, keys, host.url, host.api, does="sends issues and code to")

    def _is_elsewhere(self, key: str, address: str) -> bool:
        """Return whether neither a preset nor the environment names the destination of a key of the environment."""
        ours = self._keys.from_process(key)
        return ours and not is_meant_for(key, address) and not is_led_to(key, address)

    def _require(self, setting: str, keys: Sequence[str], *addresses: str, does: str = "loads the model") -> None:
        if self.granted:
            return
        shown = " and ".join(_shown(one) for one in dict.fromkeys(addresses) if one)
        names = ", ".join(map(_plain, dict.fromkeys(keys)))
        does = f"sends {names} of the environment to {shown}" if keys else f"{does} {shown}"
        here = shell_word(str(self._home))
        command = f"tea trust --home {here}" if len(here) <= _SHOWN else "tea trust --home"
        problem = f"{_shortened(setting, _SHOWN)} {does}, {NOT_GRANTED}"
        self.told.add(problem.rstrip("."))
        raise UntrustedHome(problem, fix=f"`{command}` shows it, and grants it.")


def _of_model(config: ModelConfig) -> Route | None:
    """Return the route of a configuration's keys elsewhere by the home's files alone, not by the environment."""
    address = reached(config)
    keys = tuple(sorted(key for key in config.keys if _leads_on(config) or not is_meant_for(key, address)))
    if not keys:
        return None
    options = dict(config.options)
    covered = {"provider": config.provider, "address": config.base_url, "keys": list(keys), "options": options}
    return Route(setting=f"[models.{config.name}] in {SETTINGS}", keys=keys, address=address, covered=covered)


def _leads_on(config: ModelConfig) -> bool:
    """Return whether a request's options may send data on from the provider, or change its costs."""
    return not config.options.keys() <= _FREE_OPTIONS


def _of_prices(config: ModelConfig) -> Route | None:
    """Return the route of a configuration's own prices for questions paid by its keys."""
    if not config.keys or not config.prices:
        return None
    prices = dict(config.prices)
    covered: JsonObject = {"model": config.name, "prices": prices, "keys": list(config.keys)}
    setting, address = f"[models.{config.name}] in {SETTINGS}", dumps(prices).decode()
    return Route(setting=setting, keys=config.keys, address=address, covered=covered)


def _of_embedder(going: Destination | None) -> Route | None:
    if going is None or (going.provider != LOCAL and (not going.key or is_meant_for(going.key, going.address))):
        return None
    keys = (going.key,) if going.key else ()
    covered: JsonObject = {"provider": going.provider, "address": going.named, "keys": list(keys)}
    covered["content"] = going.content
    return Route(setting=f"[embedder] in {SETTINGS}", keys=keys, address=in_sentence(going.address), covered=covered)


def _of_policy(widening: JsonObject | None) -> Route | None:
    if not widening:
        return None
    covered: JsonObject = {"policy": widening}
    return Route(setting=f"[policy] in {SETTINGS}", keys=(), address=dumps(widening).decode(), covered=covered)


def _of_opening(one: Opening) -> Route:
    covered: JsonObject = {"opens": one.does, "setting": one.setting, "what": one.what}
    address = one.what if one.closed else in_sentence(one.what)
    return Route(setting=one.setting, keys=(), address=address, covered=covered)


def _of_search(document: Mapping[str, Any]) -> list[Route | None]:
    """Return the routes of the settings' search engines to other than their official addresses."""
    from tea.web.search import APIS, SearchSettings

    settings, found = SearchSettings.of(document), list[Route | None]()
    for name in APIS:
        key, address = settings.key_name(name), settings.place(name)
        if key and not settings.is_official(name):
            covered: JsonObject = {"search": name, "address": address, "keys": [key]}
            found.append(Route(setting=f"[search.{name}] in {SETTINGS}", keys=(key,), address=address, covered=covered))
    return found


def _of_hosts(document: Mapping[str, Any]) -> list[Route | None]:
    """Return the routes of the settings' code hosts to other than the addresses of their presets."""
    from tea.web.hosts import HostSettings

    found = list[Route | None]()
    for one in HostSettings.of(document).hosts.values():
        if one.key_env and not one.is_official:
            covered: JsonObject = {"host": one.name, "url": one.url, "api": one.api, "keys": [one.key_env]}
            address = " and ".join(dict.fromkeys(filter(None, (one.url, one.api))))
            setting = f"[hosts.{in_sentence(one.name)}] in {SETTINGS}"
            found.append(Route(setting=setting, keys=(one.key_env,), address=address, covered=covered))
    return found


def _of_variable(name: str, address: str) -> Route:
    covered: JsonObject = {"variable": name, "address": address}
    return Route(setting=f"{name} in {SECRETS}", keys=(), address=in_sentence(address), covered=covered)


def _addresses(keys: HomeKeys) -> Mapping[str, str]:
    """Return the addresses named by `.env` in place of a provider's own."""
    found: dict[str, str] = {}
    for provider, variable in ADDRESSES.items():
        address = keys.file.get(variable, "").strip()
        if address and address.rstrip("/") != BASE_URLS[provider]:
            found[variable] = address
    return found


def _deciding(written: Mapping[str, Any]) -> str:
    """Return the settings relevant for keys, data and sandboxes, as canonical JSON."""
    models = {
        name: _without(_FREE_OF_MODELS, as_object(one)) for name, one in as_object(written.get("models", {})).items()
    }
    search = {
        name: _without(_FREE_OF_ENGINES, as_object(cast(object, one))) if isinstance(one, Mapping) else one
        for name, one in _without(_FREE_OF_SEARCH, as_object(written.get("search", {}))).items()
    }
    return json.dumps({**_without(_FREE, written), "models": models, "search": search}, sort_keys=True, default=str)


def _without(names: tuple[str, ...], document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in names}


def _value(value: object) -> str:
    """Return a value as JSON, in ASCII, without control characters and backticks."""
    return json.dumps(value, default=str).replace("\x7f", "\\u007f").replace("`", "\\u0060")


def _plain(text: str) -> str:
    """Return text in ASCII, without control characters, and without the backticks around commands of tea's own."""
    return text.encode("unicode_escape").decode("ascii").replace("`", "\\x60")


def _shown(address: str) -> str:
    """Return an address for an error, with the host whole and the middle of a long path left out.

    One of the process's environment may hold a secret of it; what a home wrote stays as it is.
    """
    given = {os.environ.get(name, "").strip().rstrip("/") for name in ADDRESSES.values()}
    text = _plain(in_sentence(_without_secrets(address) if address.rstrip("/") in given else address))
    host = "".join(_HOST.findall(text)[:1])
    return host + _shortened(text.removeprefix(host), _LONGEST_ADDRESS)


def _without_secrets(address: str) -> str:
    """Return an address without the secrets of the process's environment, by the usual names of their variables."""
    from tea.journal.mask import Mask, secrets_among

    return Mask(secrets_among(os.environ)).plain(address)


def _shortened(text: str, longest: int) -> str:
    """Return a text whole, or its beginning and its end with the number of characters between them."""
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]}[... {len(text) - 2 * half:,} more ...]{text[-half:]}"
