"""Reach: the modules a component's files may import, by its kind, and among its own only neighbouring files."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import packages_distributions

from tea.reading import __all__ as _READING
from tea.refs import Kind
from tea.source.imports import VOCABULARY
from tea.source.names import Names
from tea.source.requires import distribution_name
from tea.source.text import ParsedFile, refusal, words
from tea.web import __all__ as _WEB
from tea.web.search import __all__ as _SEARCH

AGENT_MODULES = words(
    """
    __future__ collections dataclasses decimal enum fractions functools itertools json math operator re
    pydantic statistics string textwrap typing typing_extensions
    """
)
# Rooms of tea that tools and environments may import from, with what they offer.
PUBLIC_MODULES = {
    "tea.reading": frozenset(_READING),
    "tea.web": frozenset(_WEB),
    "tea.web.search": frozenset(_SEARCH),
}
_STANDARD = sys.stdlib_module_names | {"typing_extensions"}  # which pydantic brings, so that it is always there
# These do work when they are imported: they print, ask the terminal, or read settings of the current folder.
_WORKING = words("__hello__ __main__ __phello__ antigravity idlelib rlcompleter test this turtle turtledemo")
_TESTS = frozenset({"test", "tests"})  # of the standard library: some make files, open windows or load native code
_MOST_PARTS = 32  # of a name such as `os.path.join`; each of its parts is looked up
_ROOMS = frozenset({"agents", "environments", "tools"})


@dataclass(frozen=True, slots=True)
class Reach:
    """The modules a component may import.

    Args:
        kind: The component's kind.
        files: Paths of its helper files.
        requires: Names of the distributions it requires, normalised.
    """

    kind: Kind
    files: frozenset[str]
    requires: frozenset[str]

    @classmethod
    def of(cls, kind: Kind, files: Collection[str], requires: Collection[str]) -> Reach:
        """Describe a component's reach."""
        return cls(kind, frozenset(files), frozenset(map(distribution_name, requires)))

    def check(self, file: ParsedFile, names: Names) -> None:
        """Raise BadComponent for a file with an import its component may not use.

        Raises:
            BadComponent: An import is out of reach; the error names its line.
        """
        _check_chains(file)
        for node in file.nodes:
            match node:
                case ast.Import(names=imported):
                    for alias in imported:
                        self._check_module(file, alias.name, node)
                case ast.ImportFrom(module=str() as module, names=imported, level=0):
                    self._check_module(file, module, node, [alias.name for alias in imported])
                case ast.ImportFrom():
                    list(relative_paths(file, node, self.files))
                case ast.Attribute() if (origin := names.origin(node) or "").startswith("tea."):
                    module = max(
                        (f"{one}." for one in PUBLIC_MODULES if origin.startswith(f"{one}.")), key=len, default="tea."
                    )
                    self._check_public(file, module[:-1], [origin.removeprefix(module).split(".")[0]], node)
                case _:
                    pass

    def _check_module(self, file: ParsedFile, module: str, node: ast.AST, members: Collection[str] = ()) -> None:
        root = module.partition(".")[0]
        _check_quiet(file, module, node, members)
        if root == "tea":
            if module != "tea" and (module not in PUBLIC_MODULES or not members):
                raise file.refuse(f"imports {module!r}, a part of tea's inside.", "write `from tea import ...`.", node)
            self._check_public(file, module, members, node)
        elif root in _ROOMS and root not in sys.stdlib_module_names:
            raise file.refuse(f"imports {module!r}, another component.", "reach it by name, through ctx.", node)
        elif self.kind == "agent":
            if module not in AGENT_MODULES and module != "collections.abc":
                raise file.refuse(f"agents do not use {module!r}.", _remedy(root), node)
        elif root not in _STANDARD and not self._is_required(root):
            problem = f"imports {module!r}, which is neither in the standard library nor in its requirements."
            fix = f'put `# /// script`, `# dependencies = ["{root}"]` and `# ///` on lines of their own at its top.'
            raise file.refuse(problem, fix, node)

    def _check_public(self, file: ParsedFile, module: str, members: Collection[str], node: ast.AST) -> None:
        """Raise BadComponent for a member of a public module not offered to components of this kind."""
        if module != "tea" and self.kind == "agent":
            raise file.refuse(f"agents do not use {module!r}.", "reach the network through a tool.", node)
        offered = VOCABULARY if module == "tea" else PUBLIC_MODULES[module]
        if unknown := sorted(set(members) - offered - {"*"}):
            problem = f"takes {unknown[0][:40]!r} from {module}, which is not for components."
            raise file.refuse(problem, f"use {', '.join(sorted(offered))}.", node)

    def _is_required(self, root: str) -> bool:
        if distribution_name(root) in self.requires:
            return True
        return bool(self.requires & {distribution_name(one) for one in packages_distributions().get(root, ())})


def check_quiet(file: ParsedFile) -> None:
    """Raise BadComponent for imports of modules known to do work; any others are open to the file.

    Raises:
        BadComponent: It does; the error names its line.
    """
    _check_chains(file)
    for node in file.nodes:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    _check_quiet(file, alias.name, node)
            case ast.ImportFrom(module=module, names=names):
                _check_quiet(file, module or "", node, [alias.name for alias in names])
            case _:
                pass


def _check_quiet(file: ParsedFile, module: str, node: ast.AST, members: Collection[str] = ()) -> None:
    root, parts = module.partition(".")[0], {*module.split("."), *members}
    if root in _WORKING or "__main__" in parts or (root in _STANDARD and not _TESTS.isdisjoint(parts)):
        raise file.refuse(f"imports {module!r}, which does work when it is imported.", "do without it.", node)


def _check_chains(file: ParsedFile) -> None:
    """Raise BadComponent for a chain of too many attributes; outer nodes of a tree come before those inside."""
    parts: dict[int, int] = {}
    for node in file.nodes:
        if isinstance(node, ast.Attribute):
            parts[id(node.value)] = depth = parts.get(id(node), 1) + 1
            if depth > _MOST_PARTS:
                raise file.refuse(f"a name has more than {_MOST_PARTS} parts.", "write shorter names.", node)


def relative_paths(file: ParsedFile, node: ast.ImportFrom, files: Collection[str]) -> Iterator[str]:
    """Yield the helper files executed by a relative import.

    Raises:
        BadComponent: It leads out of the component, or to a file that is not there.
    """
    folders = file.path.split("/")[:-1]
    if node.level > len(folders) + 1:
        raise file.refuse("a relative import leads out of the component.", "import only its own files.", node)
    base = folders[: len(folders) + 1 - node.level] + (node.module or "").split(".")
    base = [part for part in base if part]
    own = _file_of(base, files)
    if own is not None:
        yield own
    for alias in node.names:
        found = _file_of([*base, alias.name], files)
        if found is not None:
            yield found
        elif own is None and not (_is_folder([*base, alias.name], files)):
            wanted = "/".join(base if node.module and not _is_folder(base, files) else [*base, alias.name])
            raise file.refuse(
                f"imports {wanted[:60] + '.py'!r}, which is not among its files.", "give that file too.", node
            )


def check_paths(files: Mapping[str, str]) -> None:
    """Raise BadComponent for paths other than those of Python files inside the component.

    Raises:
        BadComponent: A path is absolute, leads out, is not a module's, or stands for two modules.
    """
    modules: set[str] = set()
    for path in files:
        parts = path.removesuffix(".py").split("/")
        names = parts[:-1] if parts[-1] == "__init__" else parts
        plain = all(one.isascii() and one.isidentifier() and not one.startswith("__") for one in names)
        if not path.endswith(".py") or len(path) > 200 or not plain:
            problem = f"{path[:60]!r} is not a path for a component's file."
            raise refusal(problem, "use relative paths of modules, for example _name/words.py.")
        module = path.removesuffix(".py").removesuffix("/__init__")
        if module in modules or module in ("__init__", ""):
            raise refusal(f"{path[:60]!r} stands for a module that is there already.", "rename one of the files.")
        modules.add(module)
    for module in modules:
        if f"{module}.py" in files and any(other.startswith(f"{module}/") for other in modules):
            raise refusal(f"{module[:60] + '.py'!r} is also a folder.", "rename one of them.")


def _file_of(parts: list[str], files: Collection[str]) -> str | None:
    path = "/".join(parts)
    return next((one for one in (f"{path}.py", f"{path}/__init__.py") if one in files), None)


def _is_folder(parts: list[str], files: Collection[str]) -> bool:
    return "/".join(parts) in _folders(frozenset(files)) if parts else True


@lru_cache(maxsize=4)
def _folders(files: frozenset[str]) -> frozenset[str]:
    """Return all folders with some of these files in them, at any depth."""
    return frozenset(path[:at] for path in files for at, letter in enumerate(path) if letter == "/")


def _remedy(root: str) -> str:
    return next((fix for modules, fix in _INSTEAD.items() if root in modules.split()), _INSTEAD_OF_OTHERS)


_INSTEAD = {
    "asyncio anyio trio concurrent": "use ctx.group, ctx.timeout, ctx.race, ctx.sleep.",
    "threading multiprocessing queue subprocess signal": "use ctx.group, or call a tool that does the work.",
    "time datetime calendar zoneinfo sched": "use ctx.now, ctx.sleep, ctx.timeout.",
    "random secrets": "use ctx.random.",
    "uuid": "use ctx.new_id.",
    "os sys io pathlib glob shutil tempfile csv sqlite3": "read and write through a tool or the workspace environment.",
    "socket http urllib requests httpx aiohttp ssl": "reach the network through a tool.",
    "openai anthropic": "use ctx.ask.",
    "logging": "use ctx.note.",
}
_INSTEAD_OF_OTHERS = "import tea and pure modules only (json, re, math, ...); leave the rest to a tool."
