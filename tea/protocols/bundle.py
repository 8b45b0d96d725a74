"""Bundle: components of several kinds to and from one JSON file."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tea.components.manifest import Lineage, Manifest, is_recipe
from tea.errors import BadComponent, BadInput, RegistryError, StorageError
from tea.prompts.template import metered
from tea.protocols.reading import Reading
from tea.recipes.recipe import read_recipe
from tea.refs import Kind, Ref
from tea.registry.own_words import check_draft
from tea.registry.transfer import LIMIT, House, Loaded, load, saved
from tea.registry.version import VersionManager
from tea.source.text import check_characters, check_content, check_texts
from tea.store.bulk import write_whole
from tea.store.files import parse_json_strict, read_json_strict
from tea.store.strict import dumps
from tea.types import JsonValue

_FIX = "give a file that `tea save` wrote."
Libraries = Mapping[Kind, Reading]


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleReport:
    """The result of saving a bundle.

    Args:
        components: What the file holds, `kind:name`.
        missing: What it does not hold and a recipe in it is made of, directly or through another one, `kind:name`.
    """

    components: tuple[str, ...]
    missing: tuple[str, ...]


async def save_components(libraries: Libraries, path: Path, refs: Sequence[Ref] | None = None) -> BundleReport:
    """Write components with all their versions, heads and tombstones to a file of at most 256 MiB, whole or not at all.

    What is trusted is saved with the words of its source, anything else with those of its sender; an origin is always
    as it was written.

    Args:
        libraries: The libraries by kind.
        path: The file; one that is there is replaced.
        refs: Which components; all that the registry has of these kinds by default.

    Raises:
        UnknownComponent: There is no such component.
        BadInput: They are more than can be loaded from one file.
        Damaged: One of them is not what was written.
    """
    return await asyncio.to_thread(_save, libraries, path, refs)


async def load_components(libraries: Libraries, path: Path) -> Loaded:
    """Load components from a file; see `tea.registry.transfer.load`. Nothing gets trusted, or executed without trust.

    Raises:
        BadInput: The file is not what was saved, or has more than 256 MiB; nothing is changed.
        AlreadyRegistered: A version is there with other bytes; nothing is changed.
    """
    return await asyncio.to_thread(_load, libraries, path)


def _save(libraries: Libraries, path: Path, refs: Sequence[Ref] | None) -> BundleReport:
    versions = next(iter(libraries.values())).services.versions
    if refs is None:
        chosen = [Ref(kind=kind, name=name) for kind in libraries for name in versions.names(kind)]
    else:
        chosen = list(dict.fromkeys(libraries[ref.kind].stored(ref) for ref in refs))
    document = saved(versions, chosen, lambda found: libraries[found.kind].worded(found))
    data = dumps(document) + b"\n"
    if len(data) > LIMIT:
        problem = f"They take {len(data):,} bytes, and a file that can be loaded has at most {LIMIT:,}."
        raise BadInput(problem, fix="save them in several files, each with some of the names.")
    write_whole(path, data)
    held = [f"{one['kind']}:{one['name']}" for one in document["components"]]
    executed = (one for one in document["components"] if libraries[one["kind"]].executed)
    sources = [str(found.get("source", "")) for one in executed for found in one["versions"]]
    return BundleReport(components=tuple(held), missing=_missing(versions, sources, frozenset(held)))


def _missing(versions: VersionManager, sources: list[str], saved: Collection[str]) -> tuple[str, ...]:
    """Return the operands of recipes missing from `saved`, including operands of operands."""
    found: set[str] = set()
    seen: set[Ref] = set()
    while sources:
        for ref in _operands(sources.pop()):
            if ref in seen or str(ref.at(None)) in saved:
                continue
            seen.add(ref)
            found.add(str(ref.at(None)))
            with suppress(RegistryError, StorageError):  # it is not here either
                part = versions.resolve(ref)
                sources += [part.source] if part is not None else []
    return tuple(sorted(found))


def _operands(source: str) -> Iterator[Ref]:
    """Yield a recipe's operands, by digest; nothing for other sources, or an invalid recipe from elsewhere."""
    with suppress(BadComponent):
        for one in read_recipe(source).operands if is_recipe(source) else ():
            yield replace(one.parsed, operation=None, selector=one.digest)


def _load(libraries: Libraries, path: Path) -> Loaded:
    services = next(iter(libraries.values())).services
    house = House(
        kinds=frozenset(libraries),
        received=lambda found: received(libraries[found.kind], found),
        shipped=lambda kind, name: libraries[kind].unstored(name),
        trusted=services.trust,
        record=lambda found: libraries[found.kind].record(found),
    )
    with metered():
        return load(services.versions, read_json_strict(path, LIMIT, _FIX), house)


def received(library: Reading, found: Manifest) -> Manifest:
    """Return a manifest from elsewhere in a form for listing; no untrusted source is executed.

    What is only read, or trusted already, is described anew from its source; what other code says of itself counts
    until a person trusts it.

    Raises:
        BadComponent: It has a form that this house does not write, or characters that hide what it says.
    """
    check_characters(found.source, found.files)
    check_content(found.files, found.requires)
    if not library.executed:
        return _described(library, found)
    if is_recipe(found.source):
        check_texts(_written(found.source))
    if not is_recipe(found.source) and library.services.trust(found.digest):
        with suppress(BadComponent):  # what it needs is not installed here
            made = _described(library, found)
            return made if made.digest == found.digest else found
    return found


def _written(source: str) -> JsonValue:
    """Return a recipe's document; None for any other text, as nothing is made of it."""
    try:
        return parse_json_strict(source.encode())
    except BadInput:
        return None


def _described(library: Reading, found: Manifest) -> Manifest:
    text = library.draft(found.source, found.files, found.requires)
    check_draft(text, found)
    made = library.build(text, found.version, Lineage(), found.created, found.reason)
    return replace(made, lineage=found.lineage)
