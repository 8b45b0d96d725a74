"""The source of a prompt: its fields, its variables' schemas and its sections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, cast

from tea.components.json_schema import schema_fault, value_faults
from tea.errors import BadComponent, BadRef
from tea.prompts.text import split
from tea.refs import NAME, Kind, Ref, check_name
from tea.types import JsonObject, JsonSchema

_FIELDS = ("name", "description", "variables", "output", "solver", "uses", "trainable", "metadata", "evolvable")
_TYPES: dict[type, str] = {str: "text", dict: "a list of fields", list: "a list", bool: "true or false"}
_WORDS = ("string", "integer", "number", "boolean", "array", "object")
_EMPTY: dict[str, type] = {"string": str, "array": list, "object": dict}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The parsed source of a prompt.

    Args:
        name: Its name.
        description: What it is for.
        variables: JSON Schema of each variable; one that may be left out has a `default`.
        required: The variables that must be given.
        output: JSON Schema that the model's answer must fit, or None for text.
        solver: Ref of the tool that stands in where no model is, or None.
        uses: Ref of the prompt that gives what is missing here, or None.
        trainable: Names of the sections that evolution may rewrite.
        system: Template of the system message.
        message: Template of the first user message.
        modules: Templates by name; the others show them like variables.
        metadata: The paper's *m*.
        evolvable: The paper's *g*.
    """

    name: str
    description: str
    variables: Mapping[str, JsonSchema]
    required: tuple[str, ...]
    output: JsonSchema | None
    solver: str | None
    uses: str | None
    trainable: tuple[str, ...]
    system: str
    message: str
    modules: Mapping[str, str]
    metadata: JsonObject
    evolvable: bool

    @property
    def sections(self) -> dict[str, str]:
        """Every template by name: system and message if present, then the modules."""
        main = {"system": self.system, "message": self.message}
        return {name: text for name, text in main.items() if text} | dict(self.modules)

    def facts(self) -> dict[str, Any]:
        """The facts shown in a registry without reading its source, as JSON."""
        return {
            "variables": dict(self.variables),
            "required": list(self.required),
            "output": self.output,
            "solver": self.solver,
            "uses": self.uses,
            "trainable": list(self.trainable),
        }


def read_prompt(source: str) -> Prompt:
    """Read a source, without checking its templates against each other.

    Raises:
        BadComponent: Its form, a field or a schema is wrong.
    """
    front, sections = split(source)
    fields = _Fields(front)
    texts = {name: section.text for name, section in sections.items()}
    variables = _variables(fields.take("variables", dict, {}))
    return Prompt(
        name=_name(fields.take("name", str)),
        description=fields.take("description", str).strip(" \t\n"),
        variables=variables,
        required=tuple(name for name, schema in variables.items() if "default" not in schema),
        output=_usable(fields.take("output", dict, None), "output"),
        solver=_ref(fields.take("solver", str, None), "tool"),
        uses=_ref(fields.take("uses", str, None), "prompt"),
        trainable=_trainable(fields.take("trainable", list, []), texts),
        system=texts.pop("system", ""),
        message=texts.pop("message", ""),
        modules=texts,
        metadata=_metadata(fields.take("metadata", dict, {})),
        evolvable=fields.take("evolvable", bool, True),
    )


def read_heading(source: str) -> tuple[str, str, JsonObject]:
    """Read name, description and metadata of a source, without its schemas and templates.

    Raises:
        BadComponent: Its form, or one of these fields, is wrong.
    """
    fields = _Fields(split(source)[0])
    metadata = _metadata(fields.take("metadata", dict, {}))
    return _name(fields.take("name", str)), fields.take("description", str).strip(" \t\n"), metadata


def nearest(name: str, candidates: Iterable[str]) -> str:
    """Return the remedy for an unknown name: the nearest known one, or all."""
    names = list(candidates)
    near = get_close_matches(name, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names) or 'none':.160}."


class _Fields:
    """Front matter, taken out field by field."""

    def __init__(self, front: dict[str, Any]) -> None:
        if unknown := [name for name in front if name not in _FIELDS]:
            problem = f"The front matter has an unknown field {unknown[0][:60]!r}."
            raise BadComponent(problem, fix=nearest(unknown[0], _FIELDS))
        self._front = front

    def take(self, name: str, kind: type, *default: Any) -> Any:
        value = self._front.get(name)
        if value is None and default:
            return default[0]
        if not isinstance(value, kind) or value == "":
            problem = f"The field {name!r} is {'missing' if value is None else f'not {_TYPES[kind]}'}."
            raise BadComponent(problem, fix=f"give it {_TYPES[kind]}.")
        return value


def _variables(declared: dict[str, Any]) -> dict[str, JsonSchema]:
    found: dict[str, JsonSchema] = {}
    for name, value in declared.items():
        if not NAME.fullmatch(name):
            fix = "use lower-case letters, digits and _, starting with a letter."
            raise BadComponent(f"{name[:60]!r} is not a name for a variable.", fix=fix)
        found[name] = _shorthand(name, value) if isinstance(value, str) else _declared(name, value)
    return found


def _shorthand(name: str, word: str) -> JsonSchema:
    kind = word.removesuffix("?")
    if kind not in _WORDS:
        raise BadComponent(f"The variable {name!r} has an unknown type {word[:40]!r}.", fix=nearest(kind, _WORDS))
    if kind == word:
        return {"type": kind}
    if kind in _EMPTY:
        return {"type": kind, "default": _EMPTY[kind]()}
    return {"type": [kind, "null"], "default": None}


def _declared(name: str, schema: Any) -> JsonSchema:
    if not isinstance(schema, dict):
        raise BadComponent(f"The variable {name!r} has no type.", fix="write a type word or a JSON Schema.")
    schema = cast(JsonSchema, schema)
    _usable(schema, f"variables.{name}")
    if "default" in schema and (faults := value_faults(schema, schema["default"], limit=1)):
        raise BadComponent(f"The default of {name!r} does not fit its schema: {faults[0]}.", fix="correct one of them.")
    return schema


def _trainable(names: list[Any], sections: Mapping[str, str]) -> tuple[str, ...]:
    for index, name in enumerate(names):
        if not isinstance(name, str) or name in names[:index]:
            raise BadComponent("The field 'trainable' is not a list of different names.", fix="name sections.")
        if name not in sections:
            problem = f"{name[:60]!r} is to be trained, but the prompt has no such section of its own."
            raise BadComponent(problem, fix=nearest(name, sections))
    return tuple(names)


def _metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    if "prompt" in metadata:
        raise BadComponent("The metadata have a key 'prompt', which is taken.", fix="choose another key.")
    return metadata


def _usable(schema: JsonSchema | None, where: str) -> JsonSchema | None:
    if schema is not None and (fault := schema_fault(schema)):
        raise BadComponent(f"{where!r} is not a usable JSON Schema ({fault}).", fix="correct the schema.")
    return schema


def _name(name: str) -> str:
    try:
        return check_name(name, "a prompt")
    except BadRef as error:
        raise BadComponent(error.problem, fix=error.fix) from None


def _ref(text: str | None, kind: Kind) -> str | None:
    if text is None:
        return None
    try:
        ref = Ref.parse(text)
    except BadRef as error:
        raise BadComponent(error.problem, fix=error.fix) from None
    if ref.kind != kind:
        raise BadComponent(f"{text[:80]!r} is not a {kind}.", fix=f"name one, for example {kind}:{ref.name}.")
    return str(ref)
