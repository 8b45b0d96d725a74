"""For tests of components and agents: models that need no provider, and a platform of one's own."""

from tea.models.scripted import FunctionModel, ScriptedModel
from tea.testing.temporary import platform

__all__ = ["FunctionModel", "ScriptedModel", "platform"]
