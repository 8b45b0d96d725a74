"""Dynamic: source text to running components and back: check, description, loading, capture, and schemas."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import replace
from functools import partial
from types import CodeType
from typing import Any, cast
from weakref import WeakValueDictionary

from pydantic import BaseModel

from tea.components.component import Loop
from tea.components.definition import Definition, define
from tea.components.json_schema import schema_fault
from tea.components.manifest import Lineage, Manifest
from tea.components.operation import Example, Signature
from tea.errors import Damaged, TeaError
from tea.refs import Kind
from tea.source.cache import SourceCache
from tea.source.checked import Checked
from tea.source.mentions import Mentions
from tea.source.model_schema import model_from_schema, schema_to_json
from tea.source.module import PrivateModule
from tea.source.requires import installed
from tea.source.text import SourceText, check_characters, one_line, refusal, text_digest
from tea.source.trust import untrusted
from tea.threads import Threads
from tea.types import JsonSchema

_MOST_CHECKED = 16
_CALLABLE, _DESCRIBED = "compiled source", "described source"


class DynamicManager:
    """The manager for turning source into components: nothing runs before its check, nor without trust.

    Any number of threads may use one manager; a source that several of them load runs once.

    Args:
        trusted: Tells whether source of that digest may run in this process.
        loop: What agents work in that write no `run`; without one they can be described, and do not run.
        threads: Where tools run that are not async.
        kept: Where checked sources are kept, compiled, for the next process.
    """

    def __init__(
        self,
        trusted: Callable[[str], bool],
        loop: Loop | None = None,
        threads: Threads | None = None,
        kept: SourceCache | None = None,
    ) -> None:
        self._trusted, self._kept = trusted, kept or SourceCache()
        self._define = partial(define, loop=loop, threads=threads or Threads())
        self._loaded: WeakValueDictionary[str, Definition] = WeakValueDictionary()
        self._locks: WeakValueDictionary[str, _Lock] = WeakValueDictionary()
        self._checked: dict[str, Checked] = {}  # by digest, the newest last, waiting to be described or loaded
        self._checked_before: Set[str] = frozenset()
        self._guard = threading.Lock()

    def rely_on(self, digests: Iterable[str]) -> None:
        """Read sources of these digests without a check: theirs was done before they were shipped."""
        with self._guard:
            self._checked_before = self._checked_before | {*digests}

    def check(
        self,
        source: str | bytes,
        files: Mapping[str, str] | None = None,
        *,
        kind: Kind | None = None,
        requires: tuple[str, ...] = (),
    ) -> SourceText:
        """Check a source without executing it, and add missing imports of well-known names.

        It must be UTF-8 Python of at most 1 MiB with exactly one component, hold only imports, definitions and
        constants at its top level, define every name it uses, and import only what its kind may: an agent `tea` and
        a few pure modules, a tool or environment also the standard library, what it requires and its own files.

        Args:
            source: The main file.
            files: Helper files by relative path, for example `_words/lexicon.py`.
            kind: The kind it must be of, or None for any.
            requires: Distributions it needs, beside those its `# /// script` block names.

        Raises:
            BadComponent: With the line, and what to do.
        """
        from tea.source.check import check_source

        found = check_source(source, files or {}, kind, requires)
        check_characters(found.text.source, found.text.files)
        return self._keep(found).text

    def outline(self, source: str, kind: Kind) -> SourceText:
        """Return the description of a source, without its other files and unchecked; enough to list shipped ones.

        Raises:
            BadComponent: It is not one component of that kind.
        """
        from tea.source.check import outlined

        return outlined(source, kind)

    def mentions(self, source: str) -> Mentions:
        """Return the mentions of other components in a checked source; raises BadComponent."""
        return Mentions.of(source, self._kept)

    def load(self, manifest: Manifest) -> Definition:
        """Return the definition of a version; its source runs at most once while the definition is referenced.

        Raises:
            Quarantined: The source is not trusted.
            BadComponent: The source is not what the manifest says, or raises while it is imported.
            Damaged: The manifest says of the source what it does not.
        """
        files, digest = dict(manifest.files), manifest.digest
        if not self._trusted(digest):
            raise untrusted(manifest.ref)
        with self._lock_of(digest):
            found = self._loaded.get(digest)
            if found is None:
                found = self._loaded[digest] = self._defined(manifest, files, digest)
            check_told(manifest, found)
            return found

    def _defined(self, manifest: Manifest, files: dict[str, str], digest: str) -> Definition:
        """Return the definition of a trusted source, after checking it against the manifest."""
        text = _text(manifest, files)
        return self._executed(text, digest, lambda found: _check_same(found, manifest, files), bodies=True)[1]

    def _executed(
        self,
        text: SourceText,
        digest: str,
        accept: Callable[[SourceText], None] = lambda found: None,
        *,
        bodies: bool,
    ) -> tuple[Checked, Definition]:
        """Execute a source, reusing the check and code of an earlier process if cached.

        What was found out counts for the distributions that were installed then, with bodies of functions and without;
        only the code is another.
        """
        known, codes, there = self._taken(digest), dict[str, CodeType](), installed(text.requires)
        own, other = (_CALLABLE, _DESCRIBED) if bodies else (_DESCRIBED, _CALLABLE)
        kept = self._kept.read(own, digest, there)
        if found := kept or self._kept.read(other, digest, there):
            binding, order, codes, read = found if kept else (*found[:2], codes, found[3])
            checked = Checked(text=text, binding=binding, order=order)
            definition = self._definition(checked, digest, codes, _signatures(read), bodies=bodies)
        else:
            from tea.source.check import check_source, located

            checked = known or (
                located(text)
                if digest in self._checked_before
                else check_source(text.source, text.files, text.kind, text.requires)
            )
            accept(checked.text)
            if text_digest(checked.text) != digest:  # whoever allowed it has not seen what was added to the source
                raise refusal(f"The source of {text.name!r} is not complete, so nothing of it runs.", "check it first.")
            definition = self._definition(checked, digest, codes, bodies=bodies)
            read = _read(definition)
        if not kept:
            self._kept.keep((checked.binding, checked.order, codes, read), own, digest, there)
        return checked, definition

    def describe(
        self,
        text: SourceText,
        *,
        version: str,
        lineage: Lineage | None = None,
        created: str = "",
        reason: str = "",
    ) -> Manifest:
        """Execute a checked source without the bodies of its functions, and return its manifest.

        The caller has decided that it may run, for example because a person registers it.

        Args:
            text: What `check` or `capture` returned.
            version: Its version, `X.Y.Z`.
            lineage: Where it comes from; written by hand unless told.
            created: When, ISO 8601 in UTC.
            reason: Why, in words.

        Raises:
            BadComponent: It raises while it is imported, or declares itself badly.
        """
        checked, found = self._executed(text, text_digest(text), bodies=False)
        self._keep(checked)
        if fault := schema_fault(found.metadata.get("output", {})) if found.kind == "agent" else None:
            raise refusal(f"output of {found.name!r} is not a usable JSON Schema: {fault}.", "correct it.")
        return Manifest(
            **_declared(found),
            version=version,
            source=checked.text.source,
            files=checked.text.files,
            requires=checked.text.requires,
            lineage=lineage or Lineage(),
            created=created,
            reason=reason,
            changes=text.changes,
        )

    def capture(self, found: object) -> SourceText:
        """Return the standalone source of a live tool, environment, agent or function.

        The imports, helper functions, classes and constants of its module that it refers to are written in.

        Args:
            found: What `@tool` made, an undecorated function, a class derived from Environment or Agent, or a declared
                agent, whose functions are components of their own.

        Raises:
            BadComponent: Its source is not available, or it refers to names that cannot be written in.
        """
        from tea.source.capture import captured
        from tea.source.check import check_source

        taken = captured(found)
        checked = check_source(taken.source, {}, None, taken.requires).text
        check_characters(checked.source)
        return replace(checked, changes=(*taken.changes, *checked.changes))

    def schema_to_json(self, model: type[BaseModel]) -> JsonSchema:
        """Return a model's JSON Schema."""
        return schema_to_json(model)

    def model_from_schema(self, schema: JsonSchema, name: str) -> type[BaseModel]:
        """Return a model validating the values of `schema`; see `tea.source.model_schema`."""
        return model_from_schema(schema, name)

    def _definition(
        self,
        checked: Checked,
        digest: str,
        codes: dict[str, CodeType],
        signatures: Mapping[str, Signature] | None = None,
        *,
        bodies: bool,
    ) -> Definition:
        """Execute a source and return its definition; its modules stay while the definition or an instance does."""
        files = {path: checked.text.files[path] for path in checked.order}
        module = PrivateModule(digest, checked.text.source, files, codes, bodies=bodies)
        try:
            found = self._define(vars(module.main).get(checked.binding), signatures=signatures)
        except TeaError:
            raise
        except Exception as error:
            problem = f"{checked.text.name!r} cannot be described: {type(error).__name__}: {one_line(str(error), 80)}."
            raise refusal(problem, "mend its declaration.") from error
        if (found.kind, found.name) != (checked.text.kind, checked.text.name):
            raise refusal(
                f"The source defines {found.kind}:{found.name} once it runs.", "write the name out in the source."
            )
        if found.create is not None:
            found = replace(found, create=cast("Callable[[], object]", partial(_instance, module, found.create)))
        module.keep_for(found)
        return found

    def _keep(self, checked: Checked) -> Checked:
        """Keep a checked source for its next description or loading."""
        with self._guard:
            self._checked[text_digest(checked.text)] = checked
            if len(self._checked) > _MOST_CHECKED:
                del self._checked[next(iter(self._checked))]
        return checked

    def _taken(self, digest: str) -> Checked | None:
        """Remove and return a kept source."""
        with self._guard:
            return self._checked.pop(digest, None)

    def _lock_of(self, digest: str) -> _Lock:
        with self._guard:
            found = self._locks.get(digest)
            if found is None:
                found = self._locks[digest] = _Lock()
            return found


def _declared(found: Definition) -> dict[str, Any]:
    """Return the manifest's fields declared by its source."""
    return {
        "kind": found.kind,
        "name": found.name,
        "description": found.description,
        "operations": {name: operation.signature for name, operation in found.operations.items()},
        "metadata": dict(found.metadata),
        "evolvable": found.evolvable,
        "rules": found.rules,
        "recovery": found.recovery,
        "sharing": found.sharing,
    }


class _Lock:
    """A lock with support for weak references."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _check_same(text: SourceText, manifest: Manifest, files: Mapping[str, str]) -> None:
    same = (text.name, text.source, dict(text.files)) == (manifest.name, manifest.source, files)
    if not same or text.requires != manifest.requires:
        problem = f"The stored source of {manifest.ref} is not complete, or defines {text.kind}:{text.name}."
        raise refusal(problem, "register it again.")


def check_told(manifest: Manifest, found: Definition) -> None:
    """Raise Damaged for a manifest with words or traits other than its source's: only the source is trusted.

    Schemas are compared by their parameters only, as their wording changes with the library that writes them.
    """
    signatures = {name: operation.signature for name, operation in found.operations.items()}
    if (_words(manifest), _descriptions(manifest.operations)) != (_words(found), _descriptions(signatures)):
        problem = f"The stored description of {manifest.ref} does not match its source, so it is not used."
        raise Damaged(problem, fix="restore the file, or register the component again.")


def _words(found: Manifest | Definition) -> tuple[object, ...]:
    return found.description, found.rules, found.evolvable, found.recovery, found.sharing


def _descriptions(signatures: Mapping[str, Signature]) -> dict[str, object]:
    return {
        name: (one.description, one.traits, sorted(one.parameters.get("properties", {})))
        for name, one in signatures.items()
    }


def _read(found: Definition) -> dict[str, Any]:
    """Return the data read of a definition's operations, as plain values; its traits are declared anew each time."""
    return {
        name: {key: value for key, value in one.signature.to_json().items() if key != "traits"}
        for name, one in found.operations.items()
    }


def _signatures(read: Mapping[str, Any]) -> dict[str, Signature]:
    """Return the signatures from the result of `_read`."""

    def signature(one: dict[str, Any]) -> Signature:
        examples = tuple(Example(**each) for each in one.pop("examples"))
        return Signature(**one, examples=examples)

    return {name: signature(dict(one)) for name, one in read.items()}


def _text(manifest: Manifest, files: Mapping[str, str]) -> SourceText:
    """Return a source with the results of its earlier check, valid as its digest is the same."""
    return SourceText(
        kind=manifest.kind,
        name=manifest.name,
        source=manifest.source,
        files=files,
        requires=manifest.requires,
        description=manifest.description,
        metadata=manifest.metadata,
        evolvable=manifest.evolvable,
    )


def _instance(module: PrivateModule, create: Callable[[], Any]) -> object:
    made = create()
    module.keep_for(made)
    return made
