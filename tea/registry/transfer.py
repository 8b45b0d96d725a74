"""Transfer: a registry's whole content on components as one JSON document, and back into a registry."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, cast

from tea.characters import in_sentence
from tea.clock import timestamp
from tea.components.manifest import Manifest, canonical
from tea.errors import AlreadyRegistered, BadInput, Conflict, Damaged, RegistryError, TeaError
from tea.refs import KINDS, Kind, Ref, Version, check_name
from tea.registry.head import Head
from tea.registry.tombstone import Tombstone
from tea.registry.version import VersionManager, operator
from tea.store.bulk import Whole
from tea.types import JsonObject, JsonValue

FORMAT = "tea components"
VERSION = 1
LIMIT = 2**28
_FIX = "save it again; nothing was changed."
_DAMAGED = "The file is not what was saved"
_Names = Mapping[Kind, frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The result of loading.

    Args:
        added: Refs of the versions that are new.
        skipped: Refs of those that were there with the same bytes.
        purged: Refs of those whose bytes are gone, purged here or in the file; no loading brings them back.
        current: Refs of the versions that became current.
        unregistered: Components of the file that are out of sight now, `kind:name`.
    """

    added: tuple[str, ...]
    skipped: tuple[str, ...]
    purged: tuple[str, ...]
    current: tuple[str, ...]
    unregistered: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Saved:
    """A component of a document, checked: its versions, and its heads with the oldest first."""

    kind: Kind
    name: str
    versions: Mapping[str, Manifest | Tombstone]
    heads: tuple[Head, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """The additions to a component: versions, and heads after number `known`.

    Of its versions, `purged` have no bytes then, and `current` is what a ref without selector means. `shipped` is the
    digest of what ships under its name and is not stored yet, empty for none.
    """

    saved: _Saved
    known: int
    versions: tuple[str, ...]
    heads: tuple[Head, ...]
    purged: tuple[str, ...]
    current: str | None
    shipped: str


def saved(versions: VersionManager, refs: Iterable[Ref], told: Callable[[Manifest], Manifest]) -> dict[str, Any]:
    """Return the document of components, with every version, head and tombstone of each.

    Args:
        versions: Where they are kept.
        refs: Which components.
        told: Gives a version the words that are told of it here.

    Raises:
        Damaged: One of them is not what was written.
    """
    components: list[JsonValue] = []
    for ref in refs:
        heads = versions.heads(ref.kind, ref.name)
        if not heads:  # a registration that died half-way, or is under way
            continue
        stored = versions.store.versions(ref.kind, ref.name)
        found = [versions.document(ref.kind, ref.name, version) for version in stored]
        written = [(told(one) if isinstance(one, Manifest) else one).to_json() for one in found]
        components.append(
            {"kind": ref.kind, "name": ref.name, "versions": written, "heads": [head.to_json() for head in heads]}
        )
    return {"format": FORMAT, "version": VERSION, "check": _check(components), "components": components}


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """The dependencies of loading on its caller.

    Args:
        kinds: The kinds that a document may hold.
        received: Makes a manifest fit to be listed; raises BadComponent where it has another form.
        shipped: Gives what ships under a name and is not stored yet.
        trusted: Tells whether the operator trusts a digest.
        record: Records the origin of a version with shipped bytes, which is tea's own and not that of the document.
    """

    kinds: frozenset[Kind]
    received: Callable[[Manifest], Manifest]
    shipped: Callable[[Kind, str], Manifest | None]
    trusted: Callable[[str], bool]
    record: Callable[[Manifest], None]


def load(versions: VersionManager, document: JsonObject, house: House) -> Loaded:
    """Add the content of a document; any error in it leaves everything unchanged.

    A component that is there gets the versions it lacks. Its pointers move only where its history is the beginning of
    the document's, or where it was unregistered; the operator's own changes stay in force. No name moves from what is
    trusted to what is not: what ships, or was trusted, is current until a person says otherwise.

    Each component that is new appears as a whole, those that are there change step by step. So a process that dies on
    the way leaves some loaded and some not, and nothing half; loading the file again does the rest.

    Args:
        versions: Where to.
        document: What `saved` returned.
        house: Who loads it.

    Raises:
        BadInput: It is not what was saved, or holds another kind.
        AlreadyRegistered: A version is there with other bytes.
    """
    names: _Names = {kind: frozenset(versions.names(kind)) for kind in house.kinds}
    plans = [_planned(versions, one, house, names) for one in _read(document, versions, house, names)]
    versions.store.create_all(_whole(plan.saved) for plan in plans if plan.known < 0)
    for plan in plans:
        if plan.known >= 0:
            _apply(versions, plan)
    for plan in plans:
        for one in (plan.saved.versions[version] for version in plan.versions):
            if isinstance(one, Manifest) and one.digest == plan.shipped:
                house.record(one)
    moved = [plan.saved for plan in plans if plan.heads and plan.heads[-1].current]
    return Loaded(
        added=tuple(_ref(p.saved, one) for p in plans for one in _without(p.versions, p.purged)),
        skipped=tuple(_ref(p.saved, one) for p in plans for one in _without(p.saved.versions, p.versions, p.purged)),
        purged=tuple(_ref(p.saved, one) for p in plans for one in p.purged),
        current=tuple(_ref(one, str(one.heads[-1].current)) for one in moved),
        unregistered=tuple(f"{p.saved.kind}:{p.saved.name}" for p in plans if p.current is None),
    )


def _read(document: JsonObject, stored: VersionManager, house: House, names: _Names) -> list[_Saved]:
    if not _exactly({"format": FORMAT, "version": VERSION}, document):
        raise BadInput("The file does not contain components of tea.", fix="give a file that `tea save` wrote.")
    components = document.get("components")
    if set(document) != {"format", "version", "check", "components"} or not isinstance(components, list):
        raise BadInput(f"{_DAMAGED}: it has other members.", fix=_FIX)
    if document["check"] != _check(cast("list[JsonValue]", components)):
        raise BadInput(f"{_DAMAGED}: its content does not match its check.", fix=_FIX)
    found: dict[tuple[str, str], _Saved] = {}
    for number, data in enumerate(cast("list[JsonValue]", components), start=1):
        try:
            one = _component(data, stored, house, names)
        except TeaError as error:
            raise BadInput(f"Component {number} of the file cannot be used: {error.problem}"[:240], fix=_FIX) from error
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            problem = f"{_DAMAGED}: component {number} has another form ({type(error).__name__})."
            raise BadInput(problem, fix=_FIX) from error
        if found.setdefault((one.kind, one.name), one) is not one:
            raise BadInput(f"{_DAMAGED}: {one.kind}:{one.name} stands twice.", fix=_FIX)
    return list(found.values())


def _component(data: Any, stored: VersionManager, house: House, names: _Names) -> _Saved:
    kind, name = data["kind"], check_name(data["name"])
    if kind not in KINDS or kind not in house.kinds:
        raise BadInput(f"it is of kind {str(kind)[:40]!r}, not {' or '.join(sorted(house.kinds))}.", fix=_FIX)
    versions: dict[str, Manifest | Tombstone] = {}
    told = _known(stored, kind, name) if name in names[kind] else dict[str, Manifest]()
    there = {*stored.store.versions(kind, name)} if name in names[kind] else set[str]()
    for one in data["versions"]:
        found = Tombstone.of(one) or Manifest.from_json(one)
        if not _exactly(one, found.to_json()):
            raise BadInput(f"{found.ref} has unexpected members, or members of another type.", fix=_FIX)
        if isinstance(found, Manifest) and found.kind == kind:
            if found.digest not in told or found.version not in there:  # what is there already may stay
                told.setdefault(found.digest, house.received(found))
            found = _with_stored_facts(told[found.digest], found)
        if (found.kind, found.name) != (kind, name) or str(Version.parse(found.version)) in versions:
            raise BadInput(f"{kind}:{name} holds {in_sentence(str(found.ref))} twice, or not as its own.", fix=_FIX)
        versions[found.version] = found
    heads = tuple(Head.from_json(number, one) for number, one in enumerate(data["heads"], start=1))
    if set(data) != {"kind", "name", "versions", "heads"} or not heads:
        raise BadInput(f"{kind}:{name} has other members.", fix=_FIX)
    if not _exactly(data["heads"], [head.to_json() for head in heads]):
        raise BadInput(f"a change of {kind}:{name} has unexpected members, or members of another type.", fix=_FIX)
    for head in heads:
        _check_head(head, versions)
    if heads[-1].current is not None and not isinstance(versions[heads[-1].current], Manifest):
        raise BadInput(f"{kind}:{name} has a current version that was purged.", fix=_FIX)
    return _Saved(kind=kind, name=name, versions=versions, heads=heads)


def _exactly(data: Any, read: Any) -> bool:
    """Return whether all members of a file were read unchanged, type by type; further members may be read."""
    if isinstance(data, dict):
        members = cast("dict[str, Any]", data).items()
        return isinstance(read, Mapping) and all(key in read and _exactly(one, read[key]) for key, one in members)
    if isinstance(data, list):
        ones, found = cast("list[Any]", data), cast("list[Any]", read)
        return isinstance(read, list | tuple) and len(ones) == len(found) and all(map(_exactly, ones, found))
    return type(data) is type(read) and data == read


def _known(stored: VersionManager, kind: Kind, name: str) -> dict[str, Manifest]:
    """Return the versions of a component that are there, each content in its lowest version, by digest."""
    found: dict[str, Manifest] = {}
    for version in stored.store.versions(kind, name):
        with suppress(RegistryError, Damaged):  # its version is compared later, where the file has one of that number
            one = stored.document(kind, name, version)
            if isinstance(one, Manifest):
                found.setdefault(one.digest, one)
    return found


def _with_stored_facts(version: Manifest, stored: Manifest) -> Manifest:
    """Replace the facts of a version by those already stored for equal content, as each content has one set only."""
    if version is stored:
        return stored
    return replace(
        version,
        version=stored.version,
        lineage=stored.lineage,
        created=stored.created,
        reason=stored.reason,
        changes=stored.changes,
    )


def _check_head(head: Head, versions: Mapping[str, object]) -> None:
    named = {*head.aliases.values(), *head.states, *head.removed, *filter(None, [head.current])}
    if named - versions.keys() or head.current in head.removed:
        raise BadInput(f"its change {head.number} is about versions that are not there.", fix=_FIX)


def _planned(versions: VersionManager, one: _Saved, house: House, names: _Names) -> _Plan:
    shipped = house.shipped(one.kind, one.name)
    one = one if shipped is None else _with_shipped(one, shipped)
    there = set(versions.store.versions(one.kind, one.name)) if one.name in names[one.kind] else set[str]()
    for version in there & one.versions.keys():
        if versions.document(one.kind, one.name, version).digest != one.versions[version].digest:
            problem = f"{_ref(one, version)} is here with other bytes than in the file, so nothing was loaded."
            raise AlreadyRegistered(problem, fix="load into another home, or save only what is wanted.")
    missing = tuple(version for version in one.versions if version not in there)
    stones = {version for version in missing if isinstance(one.versions[version], Tombstone)}
    if not there:
        whole = one if shipped is None else _led_by_shipped(one, shipped, house)
        return _Plan(
            saved=whole,
            known=-1,
            versions=missing,
            heads=one.heads if whole is one else (),
            purged=tuple(version for version in missing if version in stones),
            current=whole.heads[-1].current,
            shipped="" if shipped is None else shipped.digest,
        )
    mine = versions.heads(one.kind, one.name)
    buried = there - {*versions.living(one.kind, one.name)}
    purged = stones | buried
    moves = _following(mine, one, buried)
    current = mine[-1].current if mine else None
    if moves and current is not None and not _trusted(one, house):
        named = {current, *mine[-1].aliases.values()}
        digests = [versions.document(one.kind, one.name, version).digest for version in named]
        moves = () if any(map(house.trusted, digests)) else moves
    return _Plan(
        saved=one,
        known=len(mine),
        versions=missing,
        heads=moves,
        purged=tuple(version for version in one.versions if version in purged),
        current=moves[-1].current if moves else current,
        shipped="" if shipped is None else shipped.digest,
    )


def _with_shipped(one: _Saved, shipped: Manifest) -> _Saved:
    """Return a component with tea's own description of the version that has the shipped bytes."""
    own = {
        version: replace(shipped, version=version)
        for version, found in one.versions.items()
        if found.digest == shipped.digest and isinstance(found, Manifest)
    }
    return replace(one, versions={**one.versions, **own})


def _led_by_shipped(one: _Saved, shipped: Manifest, house: House) -> _Saved:
    """Return a component new to this registry, led by the shipped one of its name unless another is trusted."""
    newest = one.heads[-1]
    if _trusted(one, house) and newest.current not in newest.states:
        return one
    known = {found.digest: version for version, found in one.versions.items() if isinstance(found, Manifest)}
    version = known.get(shipped.digest) or str(max(map(Version.parse, one.versions)).bump("patch"))
    head = replace(
        newest,
        number=newest.number + 1,
        current=version,
        states={other: state for other, state in newest.states.items() if other != version},
        removed=tuple(other for other in newest.removed if other != version),
        undo=None,
        **_told("what ships leads"),
    )
    return replace(one, versions={**one.versions, version: replace(shipped, version=version)}, heads=(*one.heads, head))


def _trusted(one: _Saved, house: House) -> bool:
    """Return whether the operator trusts the current version of a document's component, and those of its tags."""
    newest = one.heads[-1]
    named = {newest.current or "", *newest.aliases.values()}
    return newest.current is not None and all(house.trusted(one.versions[version].digest) for version in named)


def _following(mine: list[Head], one: _Saved, buried: set[str]) -> tuple[Head, ...]:
    """Return the heads added by loading."""
    newest = one.heads[-1]
    if tuple(mine) == one.heads[: len(mine)]:
        return one.heads[len(mine) :]
    in_sight = bool(mine) and mine[-1].current is not None
    if in_sight or newest.current is None or newest.current in buried:
        return ()
    hidden = {version for head in mine[-1:] for version in head.removed if version not in one.versions}
    hidden |= buried | {*newest.removed}
    removed = tuple(sorted(hidden, key=Version.parse))
    return (replace(newest, removed=removed, undo=None, **_told("loaded")),)


def _told(reason: str) -> dict[str, str]:
    return {"author": operator(), "reason": reason, "time": timestamp()}


def _apply(versions: VersionManager, plan: _Plan) -> None:
    one, store = plan.saved, versions.store
    try:
        for version in plan.versions:
            store.create(one.kind, one.name, version, one.versions[version].to_json())
    except AlreadyRegistered as error:
        raise Conflict(f"{one.kind}:{one.name} is being changed by others.", fix="load again.") from error
    for number, head in enumerate(plan.heads, start=plan.known):
        store.advance(one.kind, one.name, head.to_json(), number)


def _whole(one: _Saved) -> Whole:
    return Whole(
        kind=one.kind,
        name=one.name,
        versions={version: found.to_json() for version, found in one.versions.items()},
        heads=tuple(head.to_json() for head in one.heads),
    )


def _without(versions: Iterable[str], *others: Iterable[str]) -> list[str]:
    left_out = frozenset(chain(*others))
    return [one for one in versions if one not in left_out]


def _ref(one: _Saved, version: str) -> str:
    return f"{one.kind}:{one.name}@{version}"


def _check(components: list[JsonValue]) -> str:
    return "sha256:" + hashlib.sha256(canonical(components)).hexdigest()
