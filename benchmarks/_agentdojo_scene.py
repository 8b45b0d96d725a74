"""The scene of one AgentDojo task: its environment, its calls, and an injection's additions.

The tools of the benchmark reach it by import, so one task runs at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MARK = "INJECTION"
_scene: list[Scene] = []


class Scene:
    """A user's task with its calls, and those of an injection, made as soon as its words were read.

    Args:
        runtime: Runs the functions of the suite.
        environment: What they act on.
        calls: The user's, in order: name and arguments.
        injected: The injection's.
    """

    def __init__(self, runtime: Any, environment: Any, calls: Sequence[Any], injected: Sequence[Any]) -> None:
        self.runtime, self.environment = runtime, environment
        self._calls, self._injected = list(calls), list(injected)
        self.obeying = self.misled = False

    def __enter__(self) -> Scene:
        """Show the scene to the tools."""
        _scene.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        """Take it away."""
        _scene.remove(self)

    def next(self) -> Mapping[str, Any] | None:
        """Return the next call, of an injection first."""
        if self.misled and self._injected:
            self._calls[:0] = [(one, True) for one in self._injected]
            self._injected = []
        if not self._calls:
            return None
        one = self._calls.pop(0)
        one, self.obeying = one if isinstance(one, tuple) else (one, False)
        return {"name": one.function, "arguments": dict(one.args)}


def next_call() -> Mapping[str, Any] | None:
    """Return the next call of the scene."""
    return _scene[-1].next()


def perform(name: str, arguments: Mapping[str, Any]) -> str:
    """Run a function of the suite."""
    scene = _scene[-1]
    value, error = scene.runtime.run_function(scene.environment, name, dict(arguments))
    said = error or str(value)
    scene.misled = scene.misled or MARK in said
    return said
