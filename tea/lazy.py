"""Lazy names: public names of a package, loaded on first use, so importing one of them does not load them all."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the functions `__getattr__` and `__dir__` of a package.

    Args:
        package: Its name, `__name__` in its `__init__.py`.
        homes: The names by the module with them, separated by spaces: `{"tea.web.guard": "UrlGuard Verdict"}`.
    """
    modules = {name: module for module, names in homes.items() for name in names.split()}

    def load(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(modules[name]), name)
        setattr(sys.modules[package], name, found)
        return found

    def listing() -> list[str]:
        return sorted([*vars(sys.modules[package]), *modules])

    return load, listing
