"""A component's source as modules under private names, present as long as any part of it is in use."""

from __future__ import annotations

import linecache
import sys
import weakref
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType

from tea.components.annotations import forget_types
from tea.errors import TeaError, words_of
from tea.source.bodies import without_bodies
from tea.source.text import one_line, parsed, refusal


class PrivateModule:
    """The executed modules of one source, in `sys.modules` and `linecache` as long as this object exists.

    Args:
        digest: The source's digest; it names the module.
        source: The main file's text.
        files: The helper files' texts by path, each after those it imports.
        codes: The code of files by path, that of the main file under the empty one; what is lacking is added.
        bodies: Whether its functions have their bodies; else they are there to be described.

    Raises:
        BadComponent: The source raises while it is imported; nothing of it stays behind.
    """

    def __init__(
        self, digest: str, source: str, files: Mapping[str, str], codes: dict[str, CodeType], *, bodies: bool = True
    ) -> None:
        self.main = _claim(f"_tea_{digest.removeprefix('sha256:')[:12]}")
        texts = {f"{self.main.__name__}.{_dotted(path)}": (path, text) for path, text in files.items()}
        names = [self.main.__name__, *_modules(self.main.__name__, texts)]
        self._release = weakref.finalize(self, _release, names, [_filename(self.main, path) for path in ("", *files)])
        self._release.atexit = False
        forget_types()
        try:
            for name in names[1:]:
                _attach(name, _is_package(name, names, texts))
            for name, (path, text) in texts.items():
                code = _compiled(text, _filename(self.main, path), codes.get(path), bodies)
                codes[path] = _execute(sys.modules[name], text, code)
            codes[""] = _execute(self.main, source, _compiled(source, _filename(self.main, ""), codes.get(""), bodies))
        except BaseException as error:
            self._release()
            if isinstance(error, TeaError):
                raise
            if isinstance(error, Exception | SystemExit):
                problem = f"The source raises while it is imported: {one_line(words_of(error), 120)}."
                raise refusal(problem, "mend its imports and constants.") from error
            raise

    def keep_for(self, user: object) -> None:
        """Keep this object alive as long as `user` lives."""
        weakref.finalize(user, _keep, self).atexit = False


def keep_lines(filename: str, source: str) -> None:
    """Make a text the one read for a file name, regardless of any file there."""
    linecache.cache[filename] = (len(source), None, [f"{line}\n" for line in source.split("\n")], filename)


def _claim(stem: str) -> ModuleType:
    """Put a new package into `sys.modules` under the first free name, safely among threads."""
    number = 1
    while True:
        module = _module(f"{stem}_{number}", package=True)
        if sys.modules.setdefault(module.__name__, module) is module:
            return module
        number += 1


def _module(name: str, *, package: bool) -> ModuleType:
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None, is_package=package)
    module.__package__ = name if package else name.rpartition(".")[0]
    if package:
        module.__path__ = []
    return module


def _modules(root: str, texts: Mapping[str, object]) -> list[str]:
    """Return the names of all helper modules and their packages, outer ones first."""
    found: set[str] = set()
    for name in texts:
        while name != root:
            found.add(name)
            name = name.rpartition(".")[0]
    return sorted(found, key=lambda name: (name.count("."), name))


def _attach(name: str, package: bool) -> None:
    module = sys.modules[name] = _module(name, package=package)
    parent, _, own = name.rpartition(".")
    setattr(sys.modules[parent], own, module)


def _is_package(name: str, names: list[str], texts: Mapping[str, tuple[str, str]]) -> bool:
    path = texts[name][0] if name in texts else ""
    return path.endswith("__init__.py") or any(other.startswith(f"{name}.") for other in names)


def _compiled(source: str, filename: str, code: CodeType | None, bodies: bool) -> CodeType:
    """Return the code of a file, with its assertions and documentation, however Python was started.

    Code compiled under another file name is compiled again.
    """
    if code is not None and code.co_filename == filename:
        return code
    tree = parsed(source)
    return compile(tree if bodies else without_bodies(tree), filename, "exec", dont_inherit=True, optimize=0)


def _execute(module: ModuleType, source: str, code: CodeType) -> CodeType:
    """Execute the code of a file in its module, and return it."""
    module.__file__ = code.co_filename
    keep_lines(code.co_filename, source)
    exec(code, module.__dict__)
    return code


def _filename(main: ModuleType, path: str) -> str:
    return f"<{main.__name__}{'/' * bool(path)}{path}>"


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _release(names: list[str], filenames: list[str]) -> None:
    for name in names:
        sys.modules.pop(name, None)
    for filename in filenames:
        linecache.cache.pop(filename, None)


def _keep(module: PrivateModule) -> None:
    """Keep a reference to an object until this callback is called."""
