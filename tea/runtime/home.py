"""Home: the folder that holds a platform's registry and traces, and its settings."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tea.errors import BadInput

SETTINGS = "tea.toml"
_KEYS = {"model": str, "durability": str}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What `tea.toml` says.

    Args:
        model: Name of the default model configuration.
        durability: `flush` survives the death of the process, `synced` also a loss of power.
    """

    model: str | None = None
    durability: Literal["flush", "synced"] = "flush"


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
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(f"{SETTINGS} cannot be read: {str(error)[:120]}.", fix="mend or remove it.") from error
    return _settings(data)


def _settings(data: dict[str, Any]) -> Settings:
    for key, value in data.items():
        if key not in _KEYS:
            raise BadInput(f"{SETTINGS} has an unknown setting {key[:60]!r}.", fix=f"settings are {', '.join(_KEYS)}.")
        if not isinstance(value, _KEYS[key]):
            raise BadInput(f"{key!r} in {SETTINGS} is no {_KEYS[key].__name__}.", fix="write text in quotes.")
    if data.get("durability", "flush") not in ("flush", "synced"):
        raise BadInput(f"'durability' in {SETTINGS} is neither flush nor synced.", fix="write one of the two.")
    return Settings(**data)


def _nearest(folder: Path) -> Path:
    return next((one for one in (folder, *folder.parents) if (one / SETTINGS).is_file()), folder)
