"""Own words: the description of a trusted version comes from its own bytes, never from the registry's text.

A registry may come from elsewhere, and a digest covers the source alone. So what a manifest tells beside it counts if
this account wrote it, or has compared it with the source before; else the source, which may run, is described anew.

Where a version comes from (lineage, creation, reason, changes) no source says. It counts if this account recorded it;
else it is what the sender says, who cannot make a version one that ships with tea.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

from tea.components.manifest import Lineage, Manifest, canonical, is_recipe, source_digest
from tea.components.operation import Signature, Traits
from tea.errors import StorageError, TeaError
from tea.source.text import SourceText, parsed, refusal
from tea.source.trust import Trust
from tea.types import JsonValue

Build = Callable[[SourceText, str, Lineage, str, str], Manifest]
OfTrusted = Callable[[str], bool]
Draft = Callable[[str, Mapping[str, str], tuple[str, ...]], SourceText]
_TOLD = ("description", "operations", "metadata", "evolvable", "rules", "recovery", "sharing")

_USUAL = {"tool": "call", "agent": "run"}  # the only operation, whatever its function is called
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

_RECORDED = "origin"
_ORIGIN = ("lineage", "created", "reason", "changes")


def words_digest(found: Manifest) -> str:
    """Return the digest of a manifest's whole description of its source, in its order."""
    data = found.to_json()
    return _digest(json.dumps([[name, data.get(name)] for name in _TOLD], allow_nan=False).encode())


class OwnWords:
    """The descriptions of trusted versions of one kind, from their own source; all methods block.

    Args:
        trust: What may run, and which manifests this account knows to tell what their source says.
        draft: Checks source without executing it; raises TeaError.
        build: Describes checked source, executing what is code; raises TeaError.
        of_trusted: Returns whether a source takes its words from trusted parts alone, if it is a recipe; None for a
            kind without recipes.
    """

    def __init__(self, trust: Trust, draft: Draft, build: Build, of_trusted: OfTrusted | None) -> None:
        self._trust, self._draft, self._build, self._of_trusted = trust, draft, build, of_trusted
        self._made: dict[str, Manifest] = {}
        self._shipped = set[str]()

    def of(self, found: Manifest) -> Manifest:
        """Return a version described by its own source if it is trusted, and shipped only if this account says so."""
        told = self.worded(found)
        if told.lineage.how != "bundled" or self.recorded(found):
            return told
        return replace(told, lineage=replace(told.lineage, how="imported"))

    def worded(self, found: Manifest) -> Manifest:
        """Return a version described by its own source if it is trusted, else unchanged."""
        if self._made.get(found.digest) is found or not self._trust(found.digest) or self._is_known(found):
            return found
        made = self._described(found)
        if made is None:
            return self._without_description(found)
        if words_digest(made) == words_digest(found):
            self.trust(found)
            return found
        return replace(found, **{name: getattr(made, name) for name in _TOLD})

    def record(self, made: Manifest) -> None:
        """Record the origin of a version just written by this account."""
        with suppress(StorageError):  # unrecorded, the origin counts as the sender's claim
            self._trust.told.grant(_origin(made), str(made.ref.at(None)))

    def recorded(self, found: Manifest) -> bool:
        """Return whether this account recorded the origin of a version, or made it in this process."""
        made = self._made.get(found.digest) if found.digest in self._shipped else None
        own = made is not None and not made.created and _origin(made) == _origin(found)
        return own or self._trust.told(_origin(found))

    def is_forged(self, found: Manifest) -> bool:
        """Return whether this account recorded another origin of a version; an earlier tea recorded none."""
        known = f"{found.digest}/{_RECORDED}/"
        return not self.recorded(found) and any(one.startswith(known) for one in self._trust.told.entries())

    def take(self, made: Manifest) -> None:
        """Record a manifest just made from its shipped source, to avoid making it again."""
        self._made[made.digest] = made
        self._shipped.add(made.digest)

    def trust(self, made: Manifest) -> None:
        """Record a manifest's description as equal to its source's, as it was made from it; not without trust."""
        if self._trust(made.digest):
            with suppress(StorageError):  # then it is compared again
                self._trust.told.grant(_entry(made), str(made.ref.at(None)))

    def fault(self, found: Manifest) -> str:
        """Return how a trusted version's manifest differs from its source, in words; empty if it does not.

        One that this account wrote is compared to the letter. In others, schemas may lack what the library that wrote
        them did not say, but hold nothing else than those made here.
        """
        if not self._trust(found.digest) or self._is_known(found):
            return ""
        made = self._described(found)
        if made is None:
            return "cannot be compared with its source here, where that cannot be described, and is not used"
        same = words_digest(made) == words_digest(found)
        ours = self.recorded(found) or self.is_forged(found)
        lenient = not ours and _description(made) == _description(found) and _is_within(_schemas(found), _schemas(made))
        return "" if same or lenient else "does not match its source, which counts"

    def _is_known(self, found: Manifest) -> bool:
        """Return whether this account compared a manifest with its source; a recipe's words are those of its parts."""
        return not self.is_recipe(found) and self._trust.told(_entry(found))

    def is_recipe(self, found: Manifest) -> bool:
        """Return whether a version is a recipe; no other kind has any."""
        return self._of_trusted is not None and is_recipe(found.source)

    def _described(self, found: Manifest) -> Manifest | None:
        """Return a source's own description, None if it cannot be made here, as something it needs is missing."""
        whole = self._of_trusted is None or self._of_trusted(found.source)
        if found.digest not in self._made and whole:
            with suppress(TeaError):
                text = self._draft(found.source, found.files, found.requires)
                check_draft(text, found)
                made = self._build(text, found.version, Lineage(), found.created, found.reason)
                if made.digest == found.digest:
                    self._made[made.digest] = made
        return self._made.get(found.digest)

    def _without_description(self, found: Manifest) -> Manifest:
        """Return a version without its description, as its source cannot confirm it here.

        It cannot be used either. Of the names of its operations those stay that its source gives to functions.
        """
        usual, evolvable = _USUAL.get(found.kind), False
        names = frozenset({usual} if usual else ())
        with suppress(TeaError):
            text = self._draft(found.source, found.files, found.requires)
            names, evolvable = names if usual else _function_names(text), text.evolvable
        mute = {
            name: Signature(name=name, description="", parameters={"type": "object"}, returns={}, traits=Traits())
            for name in found.operations
            if name in names
        }
        words = "It cannot be described here: its source is refused, or what it needs is missing or not trusted."
        return replace(
            found, description=words, operations=mute, metadata={}, rules="", evolvable=evolvable,
            recovery="lost", sharing="shared",
        )  # fmt: skip


def _function_names(text: SourceText) -> frozenset[str]:
    """Return the names that a checked source gives to functions, in any of its files."""
    found = set[str]()
    for source in (text.source, *text.files.values()):
        with suppress(SyntaxError, ValueError):  # a document, or data beside the code
            found |= {one.name for one in ast.walk(parsed(source)) if isinstance(one, _FUNCTIONS)}
    return frozenset(found)


def check_draft(text: SourceText, found: Manifest) -> None:
    """Raise BadComponent for a draft other than the stored version, as its digest would cover other bytes.

    A draft adds missing imports and requirements, and mends line ends. For a stored version nothing is executed,
    granted or described but the bytes of its digest.

    Args:
        text: The draft of the version's source.
        found: The version.

    Raises:
        BadComponent: They differ.
    """
    if source_digest(text.kind, text.name, text.source, text.files, text.requires) != found.digest:
        lacks = f" (it lacks {', '.join(text.changes)})" if text.changes else ""
        problem = f"{found.ref} is stored in a form other than tea's own{lacks}."
        raise refusal(problem, "write its source to a file, and register that file.")


def _origin(found: Manifest) -> str:
    data = found.to_json()
    return f"{found.digest}/{_RECORDED}/{_digest(canonical({name: data.get(name) for name in _ORIGIN}))}"


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _entry(found: Manifest) -> str:
    return f"{found.digest}/{words_digest(found)}"


def _description(found: Manifest) -> bytes:
    """Return a manifest's description without schemas, as their wording depends on the library for them."""
    operations = {
        key: [
            one.name,
            one.description,
            [[each.call, each.result] for each in one.examples],
            str(one.traits),
            _written_parameters(one),
        ]
        for key, one in found.operations.items()
    }
    others = [found.description, found.evolvable, found.rules, found.recovery, found.sharing]
    return json.dumps([others, operations, dict(found.metadata)], allow_nan=False).encode()  # in their order


def _written_parameters(signature: Signature) -> list[Any]:
    """Return the facts about parameters taken from the source: names, descriptions, defaults, and required ones."""
    fields = cast("Mapping[str, Mapping[str, Any]]", signature.parameters.get("properties", {}))
    told = {name: [field.get("description"), field.get("default")] for name, field in fields.items()}
    return [told, sorted(cast("list[str]", signature.parameters.get("required", [])))]


def _schemas(found: Manifest) -> JsonValue:
    """Return the schemas of a manifest as they are written."""
    schemas = {name: [one.parameters, one.returns] for name, one in found.operations.items()}
    return json.loads(canonical(cast(JsonValue, schemas)))


def _is_within(part: JsonValue, whole: JsonValue) -> bool:
    """Return whether another schema contains all of a schema, each part in the same place."""
    if isinstance(part, dict) and isinstance(whole, dict):
        held = cast("dict[str, JsonValue]", whole)
        members = cast("dict[str, JsonValue]", part).items()
        return all(name in held and _is_within(one, held[name]) for name, one in members)
    if isinstance(part, list) and isinstance(whole, list):
        ones, others = cast("list[JsonValue]", part), cast("list[JsonValue]", whole)
        return len(ones) == len(others) and all(map(_is_within, ones, others))
    return canonical(part) == canonical(whole)  # where true is not 1
