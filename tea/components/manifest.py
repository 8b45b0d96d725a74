"""A component as data: one immutable document for each version (paper, Definitions 3, 6 and 9)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, TypeAlias, cast

from pydantic import TypeAdapter

from tea.components.content import content_fault
from tea.components.operation import Signature, reasons_in_document
from tea.components.schema_words import TypeWords
from tea.errors import Damaged, UnknownComponent
from tea.refs import NAME, Kind, Ref, is_version
from tea.types import JsonObject, JsonValue

FORMAT = 1
RELATIONS_LABEL = "Relations (a debate follows them)"  # only debates use them; elsewhere they inform people
MAX_STEPS = 50  # for one task, of an agent that declares no other limit
_FACTS: Mapping[str, type[object]] = {  # what an agent declares in its metadata, and in which form
    **dict.fromkeys(("tools", "agents", "environments"), list),
    **dict.fromkeys(("model", "prompt"), str),
    "max_steps": int,
    "settings": dict,
}
Recovery = Literal["durable", "snapshot", "rerun", "lost"]
Sharing = Literal["shared", "private"]
How = Literal[
    "hand", "bundled", "copy", "restore", "textgrad", "gepa", "reflection", "random", "generator", "imported", "follow"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """The origin of a version.

    Args:
        parent: The version it was made from.
        how: Who or what made it.
        run: The run that made it.
        before: Score of the parent.
        after: Score of this version.
        task: What it was made for, in words.
        tests: The tests that it passed when it was made; see `tea.untrusted.cases`.
    """

    how: How = "hand"
    parent: str | None = None
    run: str | None = None
    before: float | None = None
    after: float | None = None
    task: str | None = None
    tests: tuple[JsonObject, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the lineage as a JSON object; the facts of generated versions are left out elsewhere."""
        data = {name: getattr(self, name) for name in Lineage.__slots__}
        return {name: value for name, value in data.items() if value or name not in ("task", "tests")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The registry's record of one version of one component.

    Args:
        kind: Its kind.
        name: Its name.
        version: `X.Y.Z`.
        description: What it is for.
        source: Its source: Python, or Markdown for a prompt.
        files: Further files of the source, by relative path.
        requires: Distributions the source needs.
        operations: Signatures by name.
        metadata: The paper's *m*.
        evolvable: The paper's *g*.
        rules: How to act in it, or how it decides.
        recovery: How an environment comes back after a crash.
        sharing: Whether everybody in a session acts in one instance of an environment, or each branch in its own.
        lineage: Where it comes from.
        created: When, ISO 8601 in UTC.
        reason: Why, in the words of whoever made it.
        changes: What was written into the source before hashing, for example imports.
        digest: SHA-256 over everything that decides what the component does.
    """

    kind: Kind
    name: str
    version: str
    description: str
    source: str
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    requires: tuple[str, ...] = ()
    operations: Mapping[str, Signature] = field(default_factory=dict[str, Signature])
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    evolvable: bool = True
    rules: str = ""
    recovery: Recovery = "lost"
    sharing: Sharing = "shared"
    lineage: Lineage = field(default_factory=Lineage)
    created: str = ""
    reason: str = ""
    changes: tuple[str, ...] = ()
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        """Take the digest once; a manifest never changes."""
        digest = source_digest(self.kind, self.name, self.source, self.files, self.requires)
        object.__setattr__(self, "digest", digest)

    @property
    def ref(self) -> Ref:
        """The exact version, as a ref."""
        return Ref(kind=self.kind, name=self.name, selector=self.version)

    @property
    def memory(self) -> Ref | None:
        """The memory component named by an agent, None if it names none.

        Raises:
            BadRef: What it names is not a ref.
        """
        named = self.metadata.get("memory") if self.kind == "agent" else None
        return Ref.parse(str(named), kind="memory") if named else None

    def operation(self, name: str) -> Signature:
        """Return one operation's signature.

        Raises:
            UnknownComponent: There is none of that name.
        """
        if name in self.operations:
            return self.operations[name]
        fix = f"it has {', '.join(sorted(self.operations)) or 'no operations'}."
        raise UnknownComponent(f"{self.kind}:{self.name} has no operation {name!r}.", fix=fix)

    def text(self) -> str:
        """Return the text for a person or a model: description, parameters, examples and rules."""
        blocks = [f"## {self.name} ({self.version})", *filter(None, [self.description])]
        labels = {"relations": RELATIONS_LABEL}
        facts = [f"{labels.get(name, name.capitalize())}: {said}" for name, said in self.facts().items()]
        blocks += ["\n".join(facts)] if facts else []
        blocks += [_operation_text(name, one) for name, one in self.operations.items()]
        return "\n\n".join(blocks + ([f"Rules: {self.rules}"] if self.rules else []))

    def words(self) -> str:
        """Return its descriptive text in plain form, one statement a line, for retrieval."""
        lines = [self.name.replace("_", " "), self.description]
        for name, one in sorted(self.operations.items()):
            fields = cast("dict[str, dict[str, Any]]", one.parameters.get("properties", {}))
            said = [f"{field.replace('_', ' ')}: {schema.get('description', '')}" for field, schema in fields.items()]
            own = one.description != self.description  # a statement given twice would count twice
            lines += [f"{name.replace('_', ' ')}: {one.description}", *said] if own else said
        lines += self.facts().values()
        lines += [str(self.metadata[key]) for key in ("category", "toolkit") if self.metadata.get(key)]
        if isinstance(document := self.metadata.get(self.kind), Mapping):
            own = cast("Mapping[str, Any]", document)  # of a solution the task that it answers, of a model its id
            lines += [str(own[key]) for key in ("task", "model") if own.get(key)]
        return "\n".join([*lines, self.rules]).strip()

    def facts(self) -> dict[str, str]:
        """Return an agent's declared facts as text: role, competencies, objectives and relations."""
        keys = ("role", "competencies", "objectives", "relations")
        return {key: said for key in keys if (said := _fact_text(self.metadata.get(key)))}

    def function_schemas(self, style: Literal["openai", "anthropic"] = "openai") -> list[JsonObject]:
        """Return each operation as a function-calling schema, in the given provider's format."""
        alone = len(self.operations) == 1
        found: list[JsonObject] = []
        for key, one in sorted(self.operations.items()):
            name = self.name if alone else f"{self.name}_{key}"
            if style == "anthropic":
                found.append({"name": name, "description": one.description, "input_schema": one.parameters})
            else:
                body = {"name": name, "description": one.description, "parameters": one.parameters}
                found.append({"type": "function", "function": body})
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the manifest as a JSON object."""
        data = {name: getattr(self, name) for name in Manifest.__slots__}
        data["operations"] = {name: one.to_json() for name, one in self.operations.items()}
        data["lineage"] = self.lineage.to_json()
        return {"format": FORMAT, **data}

    @classmethod
    def from_json(cls, data: JsonObject) -> Manifest:
        """Return the manifest in an object written by `to_json`.

        Raises:
            Damaged: It is not a manifest, or its digest does not fit its source.
        """
        try:
            fields = {name: data[name] for name in Manifest.__slots__ if name not in ("digest", "sharing")}
            fields["sharing"] = data.get("sharing", "shared")  # older documents lack the field
            found = _reader().validate_python(fields)
        except (KeyError, ValueError) as error:
            problem = f"A stored component is not a manifest: {_fault(error)}."
            raise Damaged(problem, fix="restore the file, or register the component again.") from error
        if not NAME.fullmatch(found.name) or not is_version(found.version):
            problem = "A stored component is not a manifest: its name or version is not valid."
            raise Damaged(problem, fix="restore the file, or register the component again.")
        if fault := content_fault(found.files, found.requires):
            problem = f"A stored component is not a manifest: {fault}."
            raise Damaged(problem, fix="restore the file, or register the component again.")
        if odd := next((name for name in found.operations if not NAME.fullmatch(name)), None):
            problem = f"A stored component is not a manifest: {odd[:40]!r} is not a name for an operation."
            raise Damaged(problem, fix="restore the file, or register the component again.")
        if odd := next((name for name, one in found.operations.items() if not _takes_an_object(one)), None):
            problem = f"A stored component is not a manifest: its operation {odd[:40]!r} is without a schema."
            raise Damaged(problem, fix="restore the file, or register the component again.")
        if odd := next((name for name in _FACTS if found.kind == "agent" and not _has_form(name, found)), None):
            problem = f"A stored component is not a manifest: the {odd!r} of its metadata is of another form."
            raise Damaged(problem, fix="restore the file, or register the component again.")
        if data.get("digest") != found.digest:
            problem = f"The source of {found.ref} does not match its digest, so it is not used."
            raise Damaged(problem, fix="restore the file, or register the component again.")
        return found


ToolConfig: TypeAlias = Manifest
"""A version of a tool (paper, Definition 3)."""

EnvironmentConfig: TypeAlias = Manifest
"""A version of an environment (paper, Definition 6)."""

AgentConfig: TypeAlias = Manifest
"""A version of an agent (paper, Definition 9)."""


@cache
def _reader() -> TypeAdapter[Manifest]:
    return TypeAdapter(Manifest)


def _takes_an_object(signature: Signature) -> bool:
    """Return whether an operation's parameters are described by name, with a list of the required ones."""
    properties, required = signature.parameters.get("properties", {}), signature.parameters.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return False
    fields = cast("dict[str, object]", properties).values()
    return all(isinstance(each, dict) for each in fields) and all(
        isinstance(each, str) for each in cast("list[object]", required)
    )


def _has_form(name: str, found: Manifest) -> bool:
    """Return whether a fact declared by an agent has the expected type, or is missing."""
    value = found.metadata.get(name)
    if isinstance(value, list | tuple):
        return _FACTS[name] is list and all(isinstance(one, str) for one in cast("Sequence[object]", value))
    return value is None or isinstance(value, _FACTS[name])


def _fault(error: KeyError | ValueError) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else reasons_in_document(error, 1)


def canonical(value: JsonValue) -> bytes:
    """Return the canonical JSON encoding of `value`, the input of digests.

    Raises:
        ValueError: It holds NaN or an infinity.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def source_digest(kind: Kind, name: str, source: str, files: Mapping[str, str], requires: tuple[str, ...]) -> str:
    """Return the digest of a component's content."""
    content = {"kind": kind, "name": name, "source": source, "files": dict(files), "requires": list(requires)}
    return "sha256:" + hashlib.sha256(canonical(content)).hexdigest()


def _fact_text(fact: object) -> str:
    """Return a declared fact as text; a foreign component may have given any value."""
    if isinstance(fact, Mapping):
        pairs = cast("Mapping[object, object]", fact).items()
        return "; ".join(f"{how} with {name}" for name, how in sorted(pairs, key=str))
    if isinstance(fact, list | tuple):
        return "; ".join(map(str, cast("list[object]", fact)))
    return "" if fact is None else str(fact)


def _operation_text(name: str, signature: Signature) -> str:
    properties = cast("dict[str, dict[str, Any]]", signature.parameters.get("properties", {}))
    required, types = set(signature.parameters.get("required", [])), TypeWords(signature.parameters)
    lines = [f"### {name}", signature.description]
    for key, schema in properties.items():
        kind = types.of(schema)
        need = "required" if key in required else f"default {schema.get('default')!r}"
        lines.append(f"- {key} ({kind}, {need}): {schema.get('description') or ''}".rstrip(": "))
    lines += [f"    >>> {example.call}\n    {example.result}" for example in signature.examples]
    return "\n".join(lines)


def is_recipe(source: str) -> bool:
    """Return whether a source is a recipe; neither Python nor a prompt begins with a brace."""
    return source.startswith("{")
