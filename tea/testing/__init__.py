"""Test utilities for components and agents: models without a provider, and a temporary platform."""

from typing import TYPE_CHECKING

from tea.lazy import lazy_names as _lazy_names

if TYPE_CHECKING:
    from tea.models.scripted import FunctionModel, ScriptedModel
    from tea.testing.chaos import ChaosModel
    from tea.testing.model import TestModel
    from tea.testing.temporary import platform

__all__ = ["ChaosModel", "FunctionModel", "ScriptedModel", "TestModel", "platform"]

# A crash harness starts many processes, which do not import everything.
__getattr__, __dir__ = _lazy_names(
    __name__,
    {
        "tea.models.scripted": "FunctionModel ScriptedModel",
        "tea.testing.chaos": "ChaosModel",
        "tea.testing.model": "TestModel",
        "tea.testing.temporary": "platform",
    },
)
