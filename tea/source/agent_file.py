"""Files with a declared agent: `name = Agent(...)` at the top level, with the functions used as its tools."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from tea.components.component import Agent
from tea.errors import BadComponent, TeaError, words_of
from tea.source.bindings import imported
from tea.source.bodies import without_bodies
from tea.source.effort import Effort
from tea.source.facts import check_facts
from tea.source.inheritance import check_inheritance
from tea.source.module import keep_lines
from tea.source.names import KNOWN_NAMES, Names, dotted
from tea.source.reach import check_quiet
from tea.source.shape import check_shape
from tea.source.text import ParsedFile, check_characters, one_line
from tea.source.values import is_plain
from tea.source.written_types import no_type

_CALLED = "tea.Agent"
_MADE = frozenset({"agents", "output", "tools"})  # of functions, agents and types; all else is plain
_SCOPES = (
    ast.AsyncFunctionDef, ast.ClassDef, ast.DictComp, ast.FunctionDef, ast.GeneratorExp, ast.Lambda, ast.ListComp,
    ast.SetComp,
)  # fmt: skip


def declares_agent(source: str) -> bool:
    """Return whether a source declares an agent by a call at its top level; nothing is executed."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return False
    origins = dict(imported(tree.body))
    return any(isinstance(one, ast.Assign | ast.AnnAssign) and _calls_agent(one.value, origins) for one in tree.body)


@contextmanager
def agent_in(path: Path, source: str) -> Generator[Agent]:
    """Yield the agent declared in a file; its module is there until the end.

    Beside declarations of agents its top level is held to the rule of components, and that is what is executed,
    without the bodies of functions: what stands for itself there, such as `asyncio.run(main())` or
    `if __name__ == "__main__"`, is left out.

    Args:
        path: The file.
        source: Its text.

    Raises:
        BadComponent: It does work, raises, or declares several agents of which none names the others.
    """
    file, tree = _checked(source)
    module = ModuleType(f"_tea_declared_{abs(hash(path.resolve()))}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    keep_lines(str(path), file.source)  # what is captured is what was checked, though the file changes meanwhile
    try:
        try:
            code = compile(without_bodies(tree), str(path), "exec", dont_inherit=True, optimize=0)
            exec(code, module.__dict__)
        except TeaError:
            raise
        except (Exception, SystemExit) as error:
            problem = f"{path.name[:80]!r} raises where it declares its agent: {one_line(words_of(error), 120)}."
            raise BadComponent(problem, fix="mend it; `python` shows where.") from error
        yield _only(path, [one for one in vars(module).values() if isinstance(one, Agent) and one.declaration])
    finally:
        del sys.modules[module.__name__]
        linecache.cache.pop(str(path), None)


def _checked(source: str) -> tuple[ParsedFile, ast.Module]:
    """Return a source and its executed part: its imports, definitions, constants and declared agents.

    Raises:
        BadComponent: It does more.
    """
    file = ParsedFile.read(source)
    check_characters(file.source)
    origins = dict(imported(file.tree.body))
    kept = ast.Module(body=[one for one in file.tree.body if not _stands_alone(one)], type_ignores=[])
    declarations = _Declarations(origins)
    without = declarations.visit(deepcopy(kept))
    held = replace(file, tree=without, nodes=tuple(ast.walk(without)))
    names = Names.of(held)
    (names,) = Names.together([names], Effort(len(held.nodes)))
    check_quiet(held)
    check_shape(held, names)
    check_facts([(held, names)])
    check_inheritance([(held, names)])
    odd = next((one for one in declarations.facts if not is_plain(one, names)), None)
    if odd is not None:
        raise file.refuse("an agent is declared by more than plain values.", "write them out.", odd)
    found = no_type([one for one in declarations.outputs if not is_plain(one, names)], names)
    if found is not None:
        raise file.refuse("`output` is not a type that is written out.", "write a type, or a dict.", found)
    return file, kept


def _stands_alone(node: ast.stmt) -> bool:
    """Return whether a statement is a program's own work: an expression, or the part for a started file."""
    match node:
        case ast.Expr():
            return True
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return True
        case _:
            return False


class _Declarations(ast.NodeTransformer):
    """A transformer of declarations of agents into tuples of their constant arguments.

    Args:
        origins: Of the names that the file imports.
    """

    def __init__(self, origins: dict[str, str]) -> None:
        self._origins = origins
        self.outputs: list[ast.expr] = []
        self.facts: list[ast.expr] = []

    def visit(self, node: ast.AST) -> ast.AST:
        """Return a part with its declarations replaced, unless its names may be others than those of the top level."""
        return node if isinstance(node, _SCOPES) else super().visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Return the tuple in place of a declaration."""
        self.generic_visit(node)
        if not _calls_agent(node, self._origins) or any(one.arg is None for one in node.keywords):
            return node
        self.outputs += [one.value for one in node.keywords if one.arg == "output"]
        self.facts += [*node.args, *(one.value for one in node.keywords if one.arg not in _MADE)]
        given = [*node.args, *(one.value for one in node.keywords)]
        return ast.copy_location(ast.Tuple(elts=given, ctx=ast.Load()), node)


def _only(path: Path, found: list[Agent]) -> Agent:
    """Return the declared agent not named by any other among its own."""
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


def _calls_agent(value: ast.expr | None, origins: dict[str, str]) -> bool:
    if not isinstance(value, ast.Call):
        return False
    first, *rest = dotted(value.func) or ("",)
    return first not in KNOWN_NAMES and ".".join((origins.get(first, ""), *rest)) == _CALLED
