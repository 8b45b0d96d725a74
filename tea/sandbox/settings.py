"""The operator's decisions about sandboxes: `[sandbox]` in `tea.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, cast, get_args

from tea.errors import BadInput
from tea.sandbox.way_out import SETTINGS as _WAYS
from tea.sandbox.way_out import WayOut
from tea.store.files import followed

LevelName = Literal["rlimits", "landlock", "wasm", "namespaces", "bubblewrap"]
LEVELS: tuple[LevelName, ...] = get_args(LevelName)  # the weakest first
MOVED: tuple[LevelName, ...] = ("namespaces", "bubblewrap")  # they show code a file system of its own
WASM: LevelName = "wasm"  # Python alone, held by its runtime in place of the kernel
LEAST: LevelName = WASM
# What code is given where the operator names nothing, as far as it is installed beside tea.
USUAL = ("matplotlib", "numpy", "openpyxl", "pandas", "pillow", "pyyaml", "scipy", "sympy")
# What may be opened on a desktop where the operator lists nothing: small editors, as far as they are installed.
EDITORS = ("mousepad", "l3afpad", "featherpad", "leafpad", "xed", "pluma", "gedit", "kwrite")
LANGUAGE = "eng"
_LANGUAGE = re.compile(r"[A-Za-z_]{2,20}(?:\+[A-Za-z_]{2,20}){0,5}")
_PROGRAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,98}")
_WHERE = "[sandbox] of tea.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The resources open to one session.

    Args:
        memory_mb: Memory of its processes together, in megabytes.
        cpu_seconds: Processor time of one call.
        call_seconds: Time of one call by the clock.
        disk_mb: What its files may take beyond what was there at first, in megabytes.
        processes: Processes and threads at once.
        output_kb: What one call prints on each stream that is answered at once; more goes into a file.
    """

    memory_mb: int = 512
    cpu_seconds: int = 60
    call_seconds: int = 240
    disk_mb: int = 256
    processes: int = 64
    output_kb: int = 1_000

    def to_json(self) -> dict[str, int]:
        """Return the limits as a JSON object."""
        return asdict(self)


_LEAST_LIMITS = {"memory_mb": 64, "processes": 4}
_MOST_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSettings:
    """The operator's decisions about sandboxes.

    Args:
        least: The weakest level that may run code; None where nothing was decided, which is `wasm`.
        limits: What one session may use.
        packages: Installed distributions that code may import; None for the usual ones that are installed.
        wheels: Folder of wheels that sessions may install from.
        programs: Programs of the system that may be opened on a desktop in the sandbox; see `[computer]`.
        way_out: The hosts within reach, and the index of packages to install from.
        language: Languages of the letters on its screen, as tesseract names them; see `[computer]`.
    """

    least: LevelName | None = None
    limits: Limits = field(default_factory=Limits)
    packages: tuple[str, ...] | None = None
    wheels: str | None = None
    programs: tuple[str, ...] = EDITORS
    way_out: WayOut = field(default_factory=WayOut)
    language: str = LANGUAGE

    @property
    def accepted(self) -> LevelName:
        """The weakest level allowed to run code."""
        return self.least or LEAST

    def accepts(self, level: LevelName) -> bool:
        """Return whether a level is strong enough."""
        return LEVELS.index(level) >= LEVELS.index(self.accepted)

    @classmethod
    def read(cls, table: Mapping[str, Any], home: Path) -> SandboxSettings:
        """Return the settings of `[sandbox]`.

        Args:
            table: The table.
            home: The folder from which `wheels` is named.

        Raises:
            BadInput: It says what is not a setting.
        """
        limits = {one.name for one in fields(Limits)}
        known = {"least", "packages", "wheels", *_WAYS, *limits}
        for key, value in table.items():
            if key not in known:
                near = get_close_matches(key, known, n=1)
                fix = f"did you mean {near[0]!r}?" if near else f"settings are {', '.join(sorted(known))}."
                raise BadInput(f"{_WHERE} has an unknown setting {key[:60]!r}.", fix=fix)
            if key in limits:
                _check_limit(key, value)
        if table.get("least", LEAST) not in LEVELS:
            problem = f"'least' in {_WHERE} is {str(table['least'])[:40]!r}, which is not a level."
            raise BadInput(problem, fix=f"write one of {', '.join(reversed(LEVELS))}.")
        packages, wheels = table.get("packages"), table.get("wheels")
        if packages is not None and not _is_list_of_text(packages):
            raise BadInput(f"'packages' in {_WHERE} is not a list of names.", fix='write packages = ["pandas"].')
        if wheels is not None and not isinstance(wheels, str):
            raise BadInput(f"'wheels' in {_WHERE} is not text.", fix="name the folder that holds the wheels.")
        return cls(
            least=table.get("least"),
            limits=Limits(**{name: table[name] for name in limits & table.keys()}),
            packages=None if packages is None else tuple(packages),
            wheels=None if wheels is None else str(followed(home / wheels)),
            way_out=WayOut.read(table),
        )


def read_computer(table: Mapping[str, Any]) -> tuple[tuple[str, ...], str]:
    """Return the programs of `[computer]`, by default the usual editors, and the languages of its screen.

    Args:
        table: The table.

    Raises:
        BadInput: It says what is not a setting.
    """
    for key in table.keys() - {"programs", "language"}:
        problem = f"[computer] of tea.toml has an unknown setting {str(key)[:60]!r}."
        raise BadInput(problem, fix="its settings are 'programs' and 'language'.")
    given, language = table.get("programs", list(EDITORS)), table.get("language", LANGUAGE)
    if not _is_list_of_text(given) or not all(map(_PROGRAM.fullmatch, given)):
        problem = "'programs' in [computer] of tea.toml is not a list of names of programs."
        raise BadInput(problem, fix='write names without folders, as programs = ["mousepad"].')
    if not isinstance(language, str) or not _LANGUAGE.fullmatch(language):
        problem = "'language' in [computer] of tea.toml is not a name of languages."
        raise BadInput(problem, fix='name them as tesseract does, as language = "deu+eng".')
    return tuple(given), language


def _check_limit(key: str, value: object) -> None:
    least = _LEAST_LIMITS.get(key, 1)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST_LIMIT:
        raise BadInput(f"{key!r} in {_WHERE} is not a usable limit.", fix=f"write a whole number from {least} on.")


def _is_list_of_text(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in cast("list[object]", value))
