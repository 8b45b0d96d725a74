"""Editor: turning source of one kind into versions, and purging their bytes; every method blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

from tea.components.manifest import Lineage, Manifest
from tea.errors import (
    AlreadyRegistered,
    BadComponent,
    BadInput,
    Conflict,
    NotEvolvable,
    RegistryError,
    TeaError,
    UnknownComponent,
)
from tea.protocols.reading import Reading
from tea.refs import NAME, Ref, check_name
from tea.registry.head import Head
from tea.registry.kind_registry import KindRegistry, by_people
from tea.registry.own_words import check_draft
from tea.registry.tombstone import Tombstone
from tea.registry.version import Again, NewVersion
from tea.source.bundled import bundled_files, bundled_roots, read_source
from tea.source.rename import renamed
from tea.source.text import SourceText, text_digest
from tea.source.trust import untrusted


class Editor:
    """The editor behind the operations of a context manager with changes to source.

    Args:
        library: Knows the form that source of its kind has.
        shelf: Where versions are kept.
    """

    def __init__(self, library: Reading, shelf: KindRegistry) -> None:
        self._library, self._registry = library, shelf

    def ship(self) -> list[str]:
        """Read the shipped components, without executing them; return the problems by file."""
        problems: list[str] = []
        found: dict[str, SourceText] = {}
        own, relied = bundled_roots(), list[str]()
        roots, kind = self._library.services.roots, self._library.kind
        for path, shipped in ((path, root in own) for root in roots for path in bundled_files(kind, root)):
            try:
                text = self._shipped_text(path, checked=shipped)
                if text.name in found:
                    raise BadComponent(f"{text.name!r} is shipped twice.", fix="rename one of them.")
                found[text.name] = text
                relied += [text_digest(text)] if shipped else []
            except TeaError as error:
                problems.append(f"{path.name}: {error}")
        self._library.services.dynamic.rely_on(relied)
        self._registry.ship(found.values())
        return problems

    def register(self, what: object, name: str | None, wanted: NewVersion, after: int | None = None) -> Manifest:
        """See `ContextManager.register`; with a name, `ContextManager.update`."""
        text = self._library.read(what)
        if name is not None:
            self._registry.resolve(Ref(kind=self._library.kind, name=check_name(name)))
            self._named(text, name)
        return self._store(text, wanted, after=after, again="keep" if name is None else "lead")

    def copy(self, ref: Ref, name: str | None, wanted: NewVersion) -> Manifest:
        """See `ContextManager.copy`."""
        found = self._registry.pin(ref)
        if name in (None, found.name):
            return self._registry.duplicate(found, wanted)
        if self._registry.has(check_name(name)):
            raise AlreadyRegistered(
                f"{self._library.kind}:{name} exists already.", fix="choose another name, or update it."
            )
        self._check_trusted(found)
        check_draft(self._library.draft(found.source, found.files, found.requires), found)
        source, files = renamed(found.source, found.files, found.name, name)
        text = self._named(self._library.draft(source, files, found.requires), name)
        lineage = Lineage(how="copy", parent=str(found.ref))
        return self._store(text, replace(wanted, lineage=lineage), fresh=True)

    def setvars(self, ref: Ref, values: Mapping[str, str], wanted: NewVersion, *, current: bool = True) -> Manifest:
        """See `ContextManager.setvars`."""
        _check_texts(values)
        found = self._registry.resolve(ref)
        known = {one.name: one for one in self._library.variables(found)}
        if unknown := [name for name in values if name not in known]:
            fix = f"it has {', '.join(known)}."
            raise UnknownComponent(f"{found.ref} has no variable {unknown[0][:60]!r}.", fix=fix)
        if fixed := [name for name in values if not known[name].trainable]:
            fix = "register a new version by hand."
            raise NotEvolvable(f"{found.ref} does not let {fixed[0][:60]!r} be rewritten.", fix=fix)
        if all(known[name].value == text for name, text in values.items()):
            raise BadInput(f"There is nothing to change in {found.ref}.", fix="give a text that is not there yet.")
        found = self._registry.pin(ref)
        if by_people(wanted.lineage):
            self._check_trusted(found)
        text = self._named(self._library.rewritten(found, values), found.name)
        lineage = replace(wanted.lineage, parent=wanted.lineage.parent or found.version)
        return self._store(text, replace(wanted, lineage=lineage), current=current)

    def purge(self, ref: Ref, reason: str, author: str | None) -> list[Tombstone]:
        """See `ContextManager.purge`."""
        chosen = self._registry.purgeable(ref)

        def check() -> None:
            for version in chosen:
                for user in self._library.services.recipes.referring(ref.at(version)):
                    problem = f"{ref.at(version)} is in use by {user.recipe}."
                    raise RegistryError(problem, fix=f"unregister {user.recipe.at(None)} first.")

        versions = self._library.services.versions
        return versions.purge(self._library.kind, ref.name, chosen, check=check, reason=reason, author=author)

    def _store(
        self,
        text: SourceText,
        wanted: NewVersion,
        *,
        fresh: bool = False,
        current: bool = True,
        after: int | None = None,
        again: Again = "add",
    ) -> Manifest:
        """Store checked source, unless another process has changed the component."""

        def guard(head: Head) -> None:
            if after not in (None, head.number):
                raise Conflict(
                    f"{text.kind}:{text.name} was changed by someone else at the same time.", fix="try again."
                )
            if self._library.executed:
                self._library.services.recipes.check_operands(text.source)

        own = not self._library.executed or self._library.services.recipes.is_of_trusted(text.source)
        return self._registry.register(
            text, wanted, fresh=fresh, current=current, again=again, guard=guard, trusted=own
        )

    def _shipped_text(self, path: Path, *, checked: bool) -> SourceText:
        """Return a shipped file's source, checked here unless it is `checked` already or stored."""
        source, files = read_source(path)
        plain = SourceText(
            kind=self._library.kind,
            name=path.stem,
            source=source,
            files=files,
            requires=self._library.requirements(source),
        )
        if not NAME.fullmatch(path.stem):
            return self._library.draft(source, files)
        return plain if checked or self._stored(plain) else self._library.draft(source, files)

    def _stored(self, text: SourceText) -> bool:
        return self._library.services.versions.holds(self._library.kind, text.name, text_digest(text))

    def _named(self, text: SourceText, name: str) -> SourceText:
        """Return source with the expected name."""
        if text.name != name:
            raise BadComponent(f"The source defines {text.name!r}, not {name!r}.", fix="keep the name.")
        return text

    def _check_trusted(self, found: Manifest) -> None:
        """Raise an error for an untrusted version, as the new one would be trusted."""
        if not self._library.services.trust(found.digest):
            raise untrusted(found.ref)


def _check_texts(values: object) -> None:
    """Raise BadInput if a value, possibly from a program or a model, is not a mapping of texts."""
    texts = cast("Mapping[object, object]", values) if isinstance(values, Mapping) else {None: None}
    if not all(isinstance(one, str) for pair in texts.items() for one in pair):
        raise BadInput("The texts to set are not texts by name.", fix="give each variable's name and its new text.")
