"""Declared agents as canonical source: equal declarations give equal text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType
from typing import Any, cast

from tea.characters import spelled
from tea.components.answer_type import AnswerType
from tea.components.component import Agent, Declaration, Tool, component_name
from tea.components.definition import check_told
from tea.components.docstring import cleaned
from tea.errors import BadComponent
from tea.source.text import one_line

BASE = "tool_calling"
_FACTS = (
    "name", "role", "competencies", "objectives", "relations", "tools", "agents", "environments", "memory", "prompt",
    "model", "max_steps", "output", "rules", "metadata", "evolvable",
)  # fmt: skip
_WIDTH, _LONGEST_DESCRIPTION = 110, 200
_DELIMITERS = re.compile(r"\{(?=[{%#])")
_HEADINGS = re.compile(r"^#(?=[ \t]*(?:module[ \t]*:|(?:system|message)[ \t:]*$))", re.MULTILINE | re.IGNORECASE)


def declared_source(found: Agent | type[Agent]) -> str | None:
    """Return the source of an agent declaring only facts; None for one with code of its own.

    Args:
        found: A declared agent, or a class, which is read by its attributes alone, so that it may come from anywhere.

    Raises:
        BadComponent: What it declares cannot be written.
    """
    if isinstance(found, Agent):
        declaration = found.declaration
        return None if declaration is None else _source(_facts_of(declaration), description_of(declaration))
    own = [one for one in found.__mro__ if one not in Agent.__mro__]
    if any(_is_code(name, value) for one in own for name, value in vars(one).items()):
        return None
    check_told(found)
    facts = {key: getattr(found, key) for key in _FACTS}
    words = cast(object, found.__dict__.get("__doc__"))
    return _source({**facts, "name": component_name(found)}, cleaned(words) if isinstance(words, str) else "")


def prompt_source(declaration: Declaration) -> str | None:
    """Return the prompt with a declared agent's instructions as inert text; None if it has none.

    Raises:
        BadComponent: Its name is that of the prompt that this one builds on.
    """
    if not declaration.instructions:
        return None
    if declaration.name == BASE:
        problem = f"{BASE!r} is the prompt that declared agents build on."
        raise BadComponent(problem, fix="give the agent another name.")
    head = {
        "name": declaration.name,
        "description": json.dumps(one_line(description_of(declaration), _LONGEST_DESCRIPTION), ensure_ascii=False),
        "uses": f"prompt:{BASE}",
        "trainable": "[agent_profile]",
        "metadata": "{category: agent}",
    }
    front = "".join(f"{key}: {value}\n" for key, value in head.items())
    return f"---\n{front}---\n# module: agent_profile\n\n{_inert(declaration.instructions)}\n"


def description_of(declaration: Declaration) -> str:
    """Return the purpose of a declared agent: its description, else the first sentence of its instructions."""
    if declaration.description:
        return declaration.description
    line = declaration.instructions.partition("\n")[0]
    return one_line(re.split(r"(?<=[.!?]) ", line, maxsplit=1)[0], _LONGEST_DESCRIPTION)


def tool_name(one: str | Callable[..., Any]) -> str:
    """Return the name of a tool listed in a declaration by its name or as itself."""
    return one if isinstance(one, str) else cast("Tool[..., Any]", one).__name__


def _is_code(name: str, value: object) -> bool:
    """Return whether a member of a class is code, beyond the declared facts."""
    made = name.startswith("__") and not isinstance(value, FunctionType)  # what Python gives every class
    made = made or (name in _FACTS and isinstance(value, type))  # such as the type of its answers, which is refused
    return not made and (callable(value) or hasattr(type(value), "__get__"))


def _facts_of(declaration: Declaration) -> dict[str, Any]:
    answers = AnswerType.of(declaration.output)
    return {
        "name": declaration.name,
        "tools": _distinct(map(tool_name, declaration.tools)),
        "agents": _distinct(_agent_name(one) for one in declaration.agents),
        "environments": declaration.environments,
        "memory": declaration.memory,
        "prompt": declaration.name if declaration.instructions else "",
        "model": declaration.model,
        "max_steps": declaration.max_steps,
        "output": None if answers is None else answers.schema,
    }


def _agent_name(one: str | Agent) -> str:
    return one if isinstance(one, str) else cast(Declaration, one.declaration).name


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _source(facts: Mapping[str, Any], words: str) -> str:
    """Return a class with these facts in canonical order, without those equal to the defaults."""
    name = facts["name"]
    lines = [f"class {''.join(map(str.capitalize, name.split('_')))}Agent(Agent):", f"    {_docstring(words)}", ""]
    lines.append(f"    name = {_flat(name)}")
    for key in _FACTS[1:]:
        value = facts.get(key, getattr(Agent, key))
        if value != getattr(Agent, key):
            lines.append(f"    {key} = {_literal(value, 4)}")
    return "from tea import Agent\n\n\n" + spelled("\n".join(lines)) + "\n"


def _docstring(words: str) -> str:
    text = re.sub(r'"""|"\Z', lambda found: found[0].replace('"', '\\"'), words.replace("\\", "\\\\"))
    lines = text.split("\n")
    rest = "".join(f"\n    {line}" if line.strip(" ") else "\n" for line in lines[1:])
    end = "\n    " if rest else ""
    return f'"""{lines[0]}{rest}{end}"""'


def _literal(value: Any, indent: int) -> str:
    """Return a value in Python's syntax, over several lines if it is too long; the same on every Python.

    Raises:
        BadComponent: It is not a value that JSON could carry.
    """
    flat = _flat(value)
    if indent + len(flat) <= _WIDTH or not isinstance(value, Mapping | list | tuple) or not value:
        return flat
    inner, pad = indent + 4, " " * (indent + 4)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        rows, ends = [f"{pad}{_flat(key)}: {_literal(one, inner)},\n" for key, one in items], "{}"
    else:
        rows = [f"{pad}{_literal(one, inner)},\n" for one in cast("Sequence[Any]", value)]
        ends = "[]" if isinstance(value, list) else "()"
    return f"{ends[0]}\n{''.join(rows)}{' ' * indent}{ends[1]}"


def _flat(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return "{" + ", ".join(f"{_flat(key)}: {_flat(one)}" for key, one in items) + "}"
    if isinstance(value, list | tuple):
        listed = [_flat(one) for one in cast("Sequence[Any]", value)]
        text = ", ".join(listed)
        return f"[{text}]" if isinstance(value, list) else f"({text}{',' * (len(listed) == 1)})"
    fix = 'write text, numbers, lists or dicts; a call, Agent(name="...", ...), takes functions and types too.'
    raise BadComponent(f"{value!r:.60} cannot be declared in a class.", fix=fix)


def _inert(text: str) -> str:
    """Return text rendered unchanged by a template, without section headings of a prompt."""
    return _HEADINGS.sub('{{ "#" }}', _DELIMITERS.sub('{{ "{" }}', text))
