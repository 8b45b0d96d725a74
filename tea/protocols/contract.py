"""Contract: the interfaces of one kind's components, as one readable document (paper, Definitions 4, 7 and 10)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tea.components.manifest import RELATIONS_LABEL, Manifest, is_recipe
from tea.components.markdown import block, code, inline, one_line, plain, prose
from tea.components.operation import Signature, Traits
from tea.components.schema_words import TypeWords, as_object, as_words, limit_words, type_words
from tea.errors import BadComponent
from tea.protocols.contract_documents import document_facts
from tea.recipes.recipe import EnvironmentToAgent, read_recipe
from tea.refs import Kind
from tea.types import State

_HEADS: dict[Kind, tuple[str, str]] = {
    "tool": ("Tools", "A tool is one operation. Call it by its name, with arguments as JSON."),
    "environment": (
        "Environments",
        "An environment keeps state between calls. Observe it with `#state`, change it with its actions, and keep"
        " its rules; they stand together at the end.",
    ),
    "agent": ("Agents", "An agent is given a task in words and works on it until it is done."),
    "prompt": ("Prompts", "A prompt is text with variables that agents send to a model."),
    "memory": (
        "Memories",
        "A memory says what an agent that names it keeps of a session, and what it sees of it. It is configuration,"
        " never code. An agent that names none sees all of its session.",
    ),
    "model": (
        "Models",
        "A model is a configuration: how one is reached, what it can do and what it costs; never a key, only the"
        " names of variables that hold one. A task names it as `model`; the default, and who asks which, stand in"
        " `tea.toml`.",
    ),
    "solution": ("Solutions", "A solution is what answered a task, kept to be used again; it is read, never executed."),
}
_WAYS = {
    "hosts": "where the operator opened hosts to the sandbox, acts outside the workspace and uses the network",
    "index": "where the operator opened an index to the sandbox, uses the network",
}
_EFFECTS = {
    "reads": "only reads",
    "writes": "changes the workspace",
    "external": "acts beyond the workspace",
    "irreversible": "may do what cannot be undone",
}
_SHARING = {
    "shared": "shared by all who act in a session",
    "private": "private to one branch of a run: agents side by side do not meet in it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractEntry:
    """A component in a contract.

    Args:
        found: Its version; what is wrong with it where it cannot be read.
        state: The state of that version.
        trusted: Whether it may be executed.
    """

    name: str
    found: Manifest | str
    state: State = "active"
    trusted: bool = True


def contract(kind: Kind, entries: Iterable[ContractEntry]) -> str:
    """Return the document of one kind, its components in the given order."""
    title, words = _HEADS[kind]
    parts, rules = [f"# {title}", words], list[str]()
    for one in entries:
        if isinstance(one.found, str):
            parts.append(f"## {one.name}\n\nIt cannot be used: {inline(one.found)}")
            continue
        parts += [f"## {one.name} {one.found.version}", *_notes(one), *section(one.found, rules=kind != "environment")]
        if one.found.rules and kind == "environment":
            rules.append(f"### Rules of {one.name}\n\n{prose(one.found.rules)}")
    if len(parts) == 2:
        parts.append("There is none.")
    return "\n\n".join([*parts, *(["## Rules", *rules] if rules else [])]) + "\n"


def section(found: Manifest, *, rules: bool = True) -> Iterator[str]:
    """Yield the paragraphs of one component: its purpose, when to use it, its facts and its operations."""
    what, when = purpose(found)
    if one_line(what):
        yield prose(what)
    if when:
        yield f"**When and how.** {prose(when)}"
    facts = [f"- {name}: {inline(text)}" for name, text in _facts(found) if one_line(text)]
    if facts:
        yield "\n".join(facts)
    for name, one in sorted(found.operations.items()):
        alone = len(found.operations) == 1
        yield from _operation(name, one, purpose=found.description if alone else "")
    yield from _prompt(found)
    if rules and found.rules:
        yield f"**Rules.** {prose(found.rules)}"


def purpose(found: Manifest) -> tuple[str, str]:
    """Return a component's purpose, and when and how to use it: `when` of its metadata, or its further description."""
    what, _, rest = plain(found.description).strip().partition("\n\n")
    when = found.metadata.get("when")
    if isinstance(when, str) and one_line(when):
        return found.description, when
    return what, rest.strip()


def _notes(signature: ContractEntry) -> Iterator[str]:
    if signature.state != "active":
        yield f"*It is {signature.state}: choose another for new work.*"
    if not signature.trusted:
        yield "*It is not trusted: read it before you use it. Code that is not trusted runs in a sandbox only.*"


def _facts(found: Manifest) -> Iterator[tuple[str, str]]:
    data = found.metadata
    relations = (f"{kind} with {name}" for name, kind in sorted(as_object(data.get("relations")).items(), key=str))
    yield "Role", _words(data.get("role"))
    yield "Competencies", _words(data.get("competencies"))
    yield "Objectives", _words(data.get("objectives"))
    yield RELATIONS_LABEL, "; ".join(relations)
    for key in ("tools", "agents", "environments"):
        yield f"Uses the {key}", _words(data.get(key))
    yield "Category", _words(data.get("category"))
    yield "Toolkit", _words(data.get("toolkit"))
    yield "Remembers by the memory", _words(data.get("memory")) if found.kind == "agent" else ""
    yield from _turns(found)
    yield "Needs", ", ".join(found.requires)
    if found.kind == "environment":
        yield "After a crash its state is", found.recovery
        yield "An instance is", _SHARING.get(found.sharing, found.sharing)
    yield from document_facts(found)


def _turns(found: Manifest) -> Iterator[tuple[str, str]]:
    """Yield the triggers of an agent made from environments, and the actions it may start."""
    if found.kind != "agent" or not is_recipe(found.source):
        return
    try:
        recipe = read_recipe(found.source)
    except BadComponent:
        return
    if isinstance(recipe, EnvironmentToAgent):
        asked = f"; told `tick`, it follows its initiative: {recipe.initiative}" if recipe.initiative else ""
        yield "Wakes", f"only when it is given a task{asked}"
        places = ", ".join(one.parsed.name for one in recipe.operands)
        guarded = f", each only where the guard {recipe.guard} lets it pass" if recipe.guard else ""
        yield (
            "Starts",
            f"actions of {places} and `done`, nothing else{guarded}; {recipe.max_steps} steps a task at most",
        )


def _operation(name: str, signature: Signature, *, purpose: str) -> Iterator[str]:
    yield f"### {inline(name)}"
    if one_line(signature.description) and signature.description != purpose:
        yield prose(signature.description)
    yield "\n".join([*_parameters(signature), *_promises(signature)])
    if signature.examples:
        calls = "\n".join(f">>> {example.call}\n{example.result}" for example in signature.examples)
        yield block(calls, "python")


def _parameters(signature: Signature) -> Iterator[str]:
    fields, types = as_object(signature.parameters.get("properties")), TypeWords(signature.parameters)
    required = frozenset(as_words(signature.parameters.get("required")))
    for key, schema in fields.items():
        yield _parameter(key, as_object(schema), types, required=key in required)
    if not fields:
        yield "- No parameters."


def _parameter(key: str, own: Mapping[str, Any], types: TypeWords, *, required: bool) -> str:
    needs = ["required" if required else "optional"]
    if not required and "default" in own:
        needs = [f"default {code(json.dumps(own['default'], ensure_ascii=False, default=str))}"]
    needs += [inline(limit) for limit in limit_words(own)]
    words = inline(str(own.get("description") or ""))
    line = f"- {code(key)} ({code(types.of(own))}, {', '.join(needs)})"
    return f"{line}: {words}" if words else line


def _promises(signature: Signature) -> Iterator[str]:
    yield f"- Returns {code(type_words(signature.returns))}"
    yield f"- Effects: {_effects(signature.traits)}"
    if one_line(signature.traits.before):
        yield f"- Before: {inline(signature.traits.before)}"
    if one_line(signature.traits.after):
        yield f"- After: {inline(signature.traits.after)}"


def _effects(traits: Traits) -> str:
    words = [_EFFECTS[traits.effects], "repeating it is safe" if traits.idempotent else "repeating it does it again"]
    words += ["may use the network"] if traits.network else []
    words += [_WAYS[traits.sandbox_network]] if traits.sandbox_network else []
    words += [f"needs the secrets {', '.join(map(code, traits.secrets))}"] if traits.secrets else []
    return "; ".join(words)


def _prompt(found: Manifest) -> Iterator[str]:
    data = as_object(found.metadata.get("prompt"))
    if found.kind != "prompt" or not data:
        return
    shape = Signature(
        name=found.name,
        description="",
        parameters={"properties": as_object(data.get("variables")), "required": data.get("required")},
        returns=as_object(data.get("output")) or {"type": "string"},
    )
    lines = [*_parameters(shape), f"- The answer is {code(type_words(shape.returns))}"]
    named = {"uses": "Inherits from", "solver": "Without a model answers", "trainable": "Evolution may rewrite"}
    yield "\n".join(
        [*lines, *(f"- {words} {code(_words(data[key]))}" for key, words in named.items() if data.get(key))]
    )


def _words(value: object) -> str:
    return value if isinstance(value, str) else "; ".join(as_words(value))
