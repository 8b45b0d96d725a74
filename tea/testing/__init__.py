"""For tests of components and agents: models that need no provider, and a platform of one's own."""

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
    """Load a name on first use, so that a harness which starts a process for each crash does not pay for all."""
    if name not in _PLACES:
        raise AttributeError(f"module 'tea.testing' has no attribute {name!r}")
    return getattr(_import_module(_PLACES[name]), name)
