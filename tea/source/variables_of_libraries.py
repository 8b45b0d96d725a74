"""Local variables of the functions of pydantic, and of Python's makers of classes.

Where one of them makes a model, or subscribes a generic one, pydantic evaluates the model's postponed annotations among
the variables of that function, which hold classes and values of the source: `type_(gt=1)` calls one of these then.
They also hold classes of pydantic: its `TypeAdapter`, where the source named another object so, evaluates a text.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import CodeType

import pydantic

from tea.source.text import words

_OF_PYTHON = words("abc collections dataclasses enum functools types typing typing_extensions")


@cache
def library_variables() -> frozenset[str]:
    """Return the names of these variables, without those of a library's constants, in capitals."""
    waiting = [code for spec in _specs() if (code := _code(spec)) is not None]
    found = set[str]()
    while waiting:
        code = waiting.pop()
        found.update(code.co_varnames, code.co_cellvars, code.co_freevars)
        waiting += [one for one in code.co_consts if isinstance(one, CodeType)]
    return frozenset(name for name in found if not name.isupper())


def _specs() -> Iterator[ModuleSpec | None]:
    folders = [one for folder in pydantic.__path__ for one in (folder, str(Path(folder) / "_internal"))]
    for one in pkgutil.iter_modules(folders):
        yield one.module_finder.find_spec(one.name, None)
    yield from map(find_spec, sorted(_OF_PYTHON))


def _code(spec: ModuleSpec | None) -> CodeType | None:
    read = getattr(spec and spec.loader, "get_code", None)
    return None if spec is None or read is None else read(spec.name)
