"""Home: the folder that holds a platform's registry and traces, and its settings."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from tea.errors import BadInput
from tea.runs.policy import BEYOND, DECISIONS, Decision

SETTINGS = "tea.toml"
SECRETS = ".env"
_KEYS = {"model": str, "durability": str, "roles": dict, "models": dict, "embedder": dict, "policy": dict, "web": dict}
_WORDS = {str: "text", dict: "table"}
_ENTRY = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*="""
    r"""(?:[ \t]*'([^']*)'[ \t]*(?:\#.*)?$|[ \t]*"((?:[^"\\]|\\.)*)"[ \t]*(?:\#.*)?$|(.*)$)""",
    re.MULTILINE,
)
_COMMENT = re.compile(r"(?:^|\s)\s*#.*")
_NAMED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What `tea.toml` says.

    Args:
        model: Name of the default model configuration.
        durability: `flush` survives the death of the process, `synced` also a loss of power.
        roles: Names of model configurations by who asks, for example `planner` or `cheap`.
        models: Model configurations by name, as written.
        embedder: What turns texts into vectors for retrieval; see `tea.retrieval.embedding.choice`.
        policy: Decisions about calls that declare the effects `external` or `irreversible`, by effects.
        web: What is said of the way out, as written; see `tea.web.WebSettings`.
    """

    model: str | None = None
    durability: Literal["flush", "synced"] = "flush"
    roles: Mapping[str, str] = field(default_factory=dict[str, str])
    models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    embedder: Mapping[str, Any] = field(default_factory=dict[str, Any])
    policy: Mapping[str, Decision] = field(default_factory=dict[str, Decision])
    web: Mapping[str, Any] = field(default_factory=dict[str, Any])


def find_home(chosen: str | Path | None = None) -> Path:
    """Return the home: as chosen, `TEA_HOME`, the folder of the nearest `tea.toml`, or the current one.

    Raises:
        BadInput: The chosen path is there and is no folder.
    """
    named = chosen or os.environ.get("TEA_HOME")
    home = Path(named) if named else _nearest(Path.cwd())
    if home.exists() and not home.is_dir():
        raise BadInput(f"The home {str(home)[:150]!r} is not a folder.", fix="name a folder with --home.")
    return home.absolute()


def read_settings(home: Path) -> Settings:
    """Return the settings of a home; the defaults without a file.

    Raises:
        BadInput: The file cannot be read, or holds what is no setting.
    """
    path = home / SETTINGS
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(f"{SETTINGS} cannot be read: {str(error)[:120]}.", fix="mend or remove it.") from error
    return _settings(data)


def read_keys(home: Path) -> Callable[[str], str | None]:
    """Return what gives a secret by its name: from the environment, else from the home's `.env`.

    One that is set there counts, also if it is empty: that is how a person says that there shall be none.

    Raises:
        BadInput: The file cannot be read.
    """
    secrets = _env_file(home)
    return lambda name: os.environ.get(name, secrets.get(name, "")).strip() or None


def read_variables(home: Path) -> dict[str, str]:
    """Return the variables of the home's `.env` and of the environment, which goes first.

    Raises:
        BadInput: The file cannot be read.
    """
    return {**_env_file(home), **os.environ}


def _env_file(home: Path) -> dict[str, str]:
    """Return what `.env` sets, read as shells and python-dotenv read it; what has no form of theirs sets nothing."""
    try:
        text = (home / SECRETS).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{SECRETS} cannot be read.", fix="mend or remove it; it is text in UTF-8.") from error
    found: dict[str, str] = {}
    for name, single, double, bare in _ENTRY.findall(text):
        value = re.sub(r'\\(["\\])', r"\1", double) or _COMMENT.sub("", bare).strip()
        if value[:1] not in ('"', "'"):  # a quotation mark without its end
            found[name] = single or _NAMED.sub(lambda one: os.environ.get(one[1], found.get(one[1], "")), value)
    return found


def _settings(data: dict[str, Any]) -> Settings:
    for key, value in data.items():
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, n=1)
            fix = f"did you mean {near[0]!r}?" if near else f"settings are {', '.join(_KEYS)}."
            raise BadInput(f"{SETTINGS} has an unknown setting {key[:60]!r}.", fix=fix)
        if not isinstance(value, _KEYS[key]):
            raise BadInput(f"{key!r} in {SETTINGS} is no {_WORDS[_KEYS[key]]}.", fix="see Settings in README.md.")
    for kind, inner in (("roles", str), ("models", dict)):
        for name, value in data.get(kind, {}).items():
            if not isinstance(value, inner):
                problem = f"{kind}.{name[:60]} in {SETTINGS} is no {_WORDS[inner]}."
                raise BadInput(problem, fix="see design/005-models.md.")
    for effects, decision in data.get("policy", {}).items():
        if effects not in BEYOND or decision not in DECISIONS:
            problem = f"policy.{effects[:60]} = {str(decision)[:60]!r} in {SETTINGS} is no policy."
            raise BadInput(problem, fix=f"let {' or '.join(BEYOND)} be one of {', '.join(DECISIONS)}.")
    if "web" in data:
        from tea.web import WebSettings

        WebSettings.of(data["web"])
    if data.get("durability", "flush") not in ("flush", "synced"):
        raise BadInput(f"'durability' in {SETTINGS} is neither flush nor synced.", fix="write one of the two.")
    return Settings(**data)


def _nearest(folder: Path) -> Path:
    return next((one for one in (folder, *folder.parents) if (one / SETTINGS).is_file()), folder)
