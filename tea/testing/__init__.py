"""Test utilities for components and agents: models without a provider, and a temporary platform."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tea.models.scripted import FunctionModel, ScriptedModel
    from tea.testing.chaos import ChaosModel
    from tea.testing.model import TestModel
    from tea.testing.temporary import platform

__all__ = ["ChaosModel", "FunctionModel", "ScriptedModel", "TestModel", "platform"]

_PLACES = {
    "ChaosModel": "tea.testing.chaos",
    "FunctionModel": "tea.models.scripted",
    "ScriptedModel": "tea.models.scripted",
    "TestModel": "tea.testing.model",
    "platform": "tea.testing.temporary",
}


def __getattr__(name: str) -> object:
    """Load a name on first use, so a crash harness starting many processes does not import everything."""
    if name not in _PLACES:
        raise AttributeError(f"module 'tea.testing' has no attribute {name!r}")
    return getattr(_import_module(_PLACES[name]), name)
