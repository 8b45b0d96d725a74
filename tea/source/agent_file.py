"""Files with a declared agent: `name = Agent(...)` at the top level, with the functions that are its tools."""

from __future__ import annotations

import ast
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from tea.components.component import Agent
from tea.errors import BadComponent, TeaError, words_of
from tea.source.text import one_line

_CALLED = "Agent"


def declares_agent(source: str) -> bool:
    """Return whether a source declares an agent by a call at its top level; nothing is executed."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return any(isinstance(one, ast.Assign | ast.AnnAssign) and _calls_agent(one.value) for one in tree.body)


@contextmanager
def agent_in(path: Path, source: str) -> Generator[Agent]:
    """Yield the agent declared in a file; its module is there until the end.

    The file is executed but for the calls that stand for themselves at its top level, such as `asyncio.run(main())`.

    Args:
        path: The file.
        source: Its text.

    Raises:
        BadComponent: It raises, or declares several agents of which none names the others.
    """
    tree = ast.parse(source, str(path))
    tree.body = [one for one in tree.body if not isinstance(one, ast.Expr)]
    module = ModuleType(f"_tea_declared_{abs(hash(path.resolve()))}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    try:
        try:
            exec(compile(tree, str(path), "exec"), module.__dict__)
        except TeaError:
            raise
        except (Exception, SystemExit) as error:
            problem = f"{path.name[:80]!r} raises where it declares its agent: {one_line(words_of(error), 120)}."
            raise BadComponent(problem, fix="mend it; `python` shows where.") from error
        yield _only(path, [one for one in vars(module).values() if isinstance(one, Agent) and one.declaration])
    finally:
        del sys.modules[module.__name__]


def _only(path: Path, found: list[Agent]) -> Agent:
    """Return the declared agent that no other names among its own."""
    inner = {id(one) for agent in found for one in _agents_of(agent)}
    outer = {id(one): one for one in found if id(one) not in inner}
    if len(outer) != 1:
        names = ", ".join(str(one.declaration and one.declaration.name) for one in outer.values()) or "no agent"
        problem = f"{path.name[:80]!r} declares {names[:200]}, and one is registered at once."
        raise BadComponent(problem, fix="leave one that has the others in `agents`, or write a file for each.")
    return next(iter(outer.values()))


def _agents_of(agent: Agent) -> Iterable[Agent]:
    if agent.declaration is not None:
        for one in agent.declaration.agents:
            if isinstance(one, Agent):
                yield one
                yield from _agents_of(one)


def _calls_agent(value: ast.expr | None) -> bool:
    if not isinstance(value, ast.Call):
        return False
    called = value.func
    return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) == _CALLED
