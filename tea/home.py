"""Home: the folder of a platform's registry, traces and settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, cast

from tea.characters import in_sentence
from tea.dotenv import parse_variables
from tea.errors import BadInput
from tea.policy.rules import PolicySettings
from tea.refs import KINDS, plural
from tea.sandbox.settings import SandboxSettings, read_computer
from tea.store.access import foreign_hand, read_own
from tea.store.strict import Refused
from tea.toml import read_toml

SETTINGS = "tea.toml"
SECRETS = ".env"
STORES = ("registry", "traces", ".corpus")
# What is written to without a look at each name of its path, so none of it may lead out of the home.
_WRITTEN = (
    *(f"traces/{name}" for name in (".research", "evaluations", "evolution", "memory", "usage", ".tmp")),
    *(f"traces/{name}/ledgers" for name in ("evaluations", "evolution")),
    *(f"registry/{name}" for name in (".catalogue", ".tmp", ".vectors", *map(plural, KINDS))),
)
_LIMIT = 2**18  # bytes of settings, or of secrets
_MOST = 2**63
_MOST_NESTED = 64
_TABLES = ("roles", "models", "embedder", "policy", "sandbox", "web", "search", "hosts", "git", "research", "computer")
_KEYS = {"model": str, "durability": str, **dict.fromkeys(_TABLES, dict)}
_OWN = "name a folder of your own with --home, or make this one yours with chown and `chmod go-w`."
_WORDS = {str: "a text", dict: "a table"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings in `tea.toml`.

    Args:
        model: Name of the default model configuration.
        durability: `flush` survives the death of the process, `synced` also a loss of power.
        roles: Names of model configurations by who asks, for example `planner` or `cheap`.
        models: Model configurations by name, as written.
        embedder: What turns texts into vectors for retrieval; see `tea.retrieval.embedding.choice`.
        policy: Rules for calls.
        web: What is said of the way out, as written; see `tea.web.WebSettings`.
        search: What is said of searching, as written; see `tea.web.search.SearchSettings`.
        hosts: What is said of code hosts, as written; see `tea.web.hosts.HostSettings`.
        git: Who commits, as written; see `tea.web.identity.CommitIdentity`.
        sandbox: What untrusted code may use, and how strong its walls have to be.
        research: What is said of Deep Research, as written; see `tea.research.settings.ResearchSettings`.
        written: The whole document, as a grant covers it.
    """

    model: str | None = None
    durability: Literal["flush", "synced"] = "flush"
    roles: Mapping[str, str] = field(default_factory=dict[str, str])
    models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    embedder: Mapping[str, Any] = field(default_factory=dict[str, Any])
    policy: PolicySettings = field(default_factory=PolicySettings)
    web: Mapping[str, Any] = field(default_factory=dict[str, Any])
    search: Mapping[str, Any] = field(default_factory=dict[str, Any])
    hosts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    git: Mapping[str, Any] = field(default_factory=dict[str, Any])
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    research: Mapping[str, Any] = field(default_factory=dict[str, Any])
    written: Mapping[str, Any] = field(default_factory=dict[str, Any])


def find_home(chosen: str | Path | None = None) -> Path:
    """Return the home: as chosen, `TEA_HOME`, the folder of the nearest `tea.toml`, or the current one.

    Raises:
        BadInput: The path is there and is not a folder, or other accounts decide what it holds.
    """
    named = chosen or os.environ.get("TEA_HOME")
    home = (Path(named) if named else _nearest(Path.cwd())).absolute()
    require_own(home)
    return home


def require_own(home: Path) -> None:
    """Refuse a home with content controlled by accounts other than this one and root; accept a missing one.

    Raises:
        BadInput: It is refused, or is not a folder.
    """
    for folder in (home, *(home / name for name in STORES)):
        try:
            if not folder.is_dir():
                if folder == home and os.path.lexists(home):
                    raise BadInput(f"The home {str(home)[-150:]!r} is not a folder.", fix="name a folder with --home.")
                continue
            inside = folder == home or _leads_within(folder, home)
            reason = foreign_hand(folder) if inside else "it is a link to somewhere outside of the home"
        except OSError as error:
            raise BadInput(f"The home {str(home)[-150:]!r} cannot be looked at: {error.strerror}.", fix=_OWN) from error
        if reason:
            raise BadInput(f"The home {str(home)[-100:]!r} is not used: of {folder.name!r}, {reason}.", fix=_OWN)
    for name in _WRITTEN:
        try:
            folder = home / name
            reason = foreign_hand(folder) if folder.is_dir() else ""
        except OSError as error:
            raise BadInput(f"The home {str(home)[-150:]!r} cannot be looked at: {error.strerror}.", fix=_OWN) from error
        if reason:
            raise BadInput(f"The home {str(home)[-100:]!r} is not used: of {name!r}, {reason}.", fix=_OWN)
        if folder.is_symlink() and folder.is_dir() and not _leads_within(folder, home):
            problem = f"The home {str(home)[-100:]!r} is not used: {name!r} is a link to somewhere outside of it."
            raise BadInput(problem, fix="put a folder there, or a link to one inside of the home.")


def _leads_within(folder: Path, home: Path) -> bool:
    return folder.resolve().is_relative_to(home.resolve())


def read_settings(home: Path) -> Settings:
    """Return the settings of a home; the defaults without a file.

    Raises:
        BadInput: The file cannot be read, or holds what is not a setting.
    """
    text = _text(home, SETTINGS)
    try:
        data = read_toml(text)
    except ValueError as error:
        raise BadInput(f"{SETTINGS} cannot be read: {str(error)[:120]}.", fix="mend or remove it.") from error
    _require_modest(data)
    return replace(_settings(deepcopy(data), home), written=data)


@dataclass(frozen=True, slots=True)
class HomeKeys:
    """Secrets by name: those of the process's environment, else those of the home's `.env`.

    One that is set there counts, also if it is empty: that is how a person says that there shall be none.

    Args:
        file: What `.env` sets.
    """

    file: Mapping[str, str]

    def __call__(self, name: str) -> str | None:
        """Return a secret; None if there is none."""
        return os.environ.get(name, self.file.get(name, "")).strip() or None

    @property
    def variables(self) -> dict[str, str]:
        """All variables of the home's `.env`, as it was read, and of the process's environment."""
        return {**self.file, **os.environ}

    def from_process(self, name: str) -> bool:
        """Return whether the process's environment holds a secret, regardless of `.env`."""
        return bool(os.environ.get(name, "").strip())


def read_keys(home: Path) -> HomeKeys:
    """Return a function giving secrets by their names.

    Raises:
        BadInput: The home's `.env` cannot be read.
    """
    return HomeKeys(_env_file(home))


def _env_file(home: Path) -> dict[str, str]:
    """Return the variables set by `.env`."""
    return parse_variables(_text(home, SECRETS))


def _text(home: Path, name: str) -> str:
    """Return the text of a file of the home, empty if there is none.

    A link out of the home is refused, and secrets with a second name: they may be another home's.

    Raises:
        BadInput: It cannot be read, or is another's.
    """
    path = home / name
    try:
        if not os.path.lexists(path):
            return ""
        place = path.resolve(strict=True)
        if not place.is_relative_to(home.resolve()):
            raise Refused("it is a link to somewhere outside of the home")
        text = read_own(place, _LIMIT, alone=name == SECRETS).decode("utf-8-sig")
        return text.replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        fix = "mend or remove it; it is text in UTF-8."
        raise BadInput(f"{name} cannot be read: {str(error)[:120]}.", fix=fix) from error
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise BadInput(f"{str(path)[-150:]!r} cannot be read: {reason}.", fix="mend or remove it.") from error
    except Refused as reason:
        fix = "put a file of your own there, a copy if need be, which no other account may write, or remove it."
        raise BadInput(f"{str(path)[-150:]!r} is not used: {reason}.", fix=fix) from reason


def _settings(data: dict[str, Any], home: Path) -> Settings:
    for key, value in data.items():
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, n=1)
            fix = f"did you mean {near[0]!r}?" if near else f"settings are {', '.join(_KEYS)}."
            raise BadInput(f"{SETTINGS} has an unknown setting {key[:60]!r}.", fix=fix)
        if not isinstance(value, _KEYS[key]):
            raise BadInput(f"{key!r} in {SETTINGS} is not {_WORDS[_KEYS[key]]}.", fix="see Settings in README.md.")
    for kind, inner in (("roles", str), ("models", dict)):
        for name, value in data.get(kind, {}).items():
            if not isinstance(value, inner):
                problem = f"{in_sentence(f'{kind}.{name[:60]}')} in {SETTINGS} is not {_WORDS[inner]}."
                raise BadInput(problem, fix="see design/005-models.md.")
    if "web" in data:
        from tea.web import WebSettings

        WebSettings.of(data["web"])
    if "search" in data:
        from tea.web.search import SearchSettings

        SearchSettings.of(data["search"])
    if "hosts" in data:
        from tea.web.hosts import HostSettings

        HostSettings.of(data["hosts"])
    if "git" in data:
        from tea.web.identity import CommitIdentity

        CommitIdentity.of(data["git"])
    if "research" in data:
        from tea.research.settings import ResearchSettings

        ResearchSettings.of(data["research"])
    if data.get("durability", "flush") not in ("flush", "synced"):
        raise BadInput(f"'durability' in {SETTINGS} is neither flush nor synced.", fix="write one of the two.")
    programs, language = read_computer(data.pop("computer", {}))
    sandbox = replace(SandboxSettings.read(data.pop("sandbox", {}), home), programs=programs, language=language)
    policy = PolicySettings.read(data.pop("policy", {}))
    return Settings(**data, sandbox=sandbox, policy=policy)


def _require_modest(data: Mapping[str, object]) -> None:
    """Refuse a document nested too deeply to be copied, or with integers too long to be shown (hexadecimal ones).

    Raises:
        BadInput: It nests deeper than 64 levels, or holds a number of more than 64 bits.
    """
    problem, waiting = "", [(cast(object, data), 0)]
    while waiting and not problem:
        value, depth = waiting.pop()
        if depth > _MOST_NESTED:
            problem = f"it nests deeper than {_MOST_NESTED} levels"
        elif isinstance(value, int):
            problem = "it holds a number of more than 64 bits" if abs(value) >= _MOST else ""
        elif isinstance(value, Mapping | list):
            inner = cast("Mapping[str, object] | list[object]", value)
            waiting += ((one, depth + 1) for one in (inner.values() if isinstance(inner, Mapping) else inner))
    if problem:
        raise BadInput(f"{SETTINGS} cannot be read: {problem}.", fix="mend or remove it.")


def _nearest(folder: Path) -> Path:
    return next((one for one in (folder, *folder.parents) if os.path.lexists(one / SETTINGS)), folder)
