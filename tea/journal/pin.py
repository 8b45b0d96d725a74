"""Pin: the record of a version lookup in a run's journal; one effect, `resolve`, may pin any number of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

from tea.components.manifest import Manifest
from tea.journal.record import TraceRecord, as_mapping
from tea.types import JsonValue

RESOLVE = "resolve"
Exact = tuple[str, str]  # version and digest: several versions may have the same bytes, whose digest tells the name


class Pin(NamedTuple):
    """A version touched by a run.

    Args:
        asked: What was asked for: `kind:name`, perhaps with a selector.
        ref: The exact version.
        digest: Its digest.
    """

    asked: str
    ref: str
    digest: str

    @property
    def exact(self) -> Exact:
        """The exact version, independent of the original ref."""
        return self.ref.rpartition("@")[2], self.digest


def exact_of(found: Manifest) -> Exact:
    """Return the exact version."""
    return found.version, found.digest


def target_of(asked: Iterable[str]) -> str:
    """Return the target of an effect looking up the given refs."""
    return " ".join(asked)


def asked_in(target: str) -> list[str]:
    """Return the refs looked up by an effect; none for a model configuration."""
    return [] if target.startswith("model:") else target.split()


def outcome_of(found: Iterable[Manifest]) -> JsonValue:
    """Return the outcome of such an effect: ref and digest of the found version, a list if there are several."""
    pins: list[Any] = [{"ref": str(one.ref), "digest": one.digest} for one in found]
    return pins if len(pins) > 1 else pins[0]


def pins_in(target: str, outcome: JsonValue) -> list[Pin]:
    """Return the versions found by such an effect, in the order of the refs.

    Raises:
        ValueError: One is of another component than was asked for.
    """
    given = cast("list[Mapping[str, str]]", outcome if isinstance(outcome, list) else [outcome])
    found = zip(asked_in(target), given, strict=True)
    return [_pin(asked, one["ref"], one["digest"]) for asked, one in found]


def pins(records: Iterable[TraceRecord]) -> Iterator[Pin]:
    """Yield the versions looked up by a run, and those called inside its effects, in order.

    Raises:
        ValueError: One is of another component than was asked for.
    """
    wanted: dict[str, str] = {}
    for record in records:
        data = as_mapping(record.data)
        if record.kind == "start" and data["kind"] == RESOLVE and asked_in(data["target"]):
            wanted[record.key] = data["target"]
        elif record.kind == "done" and record.key in wanted:
            yield from pins_in(wanted[record.key], data["data"])
        elif record.kind == "evidence" and "target" in data:
            inner, ref = as_mapping(data["data"]), data["target"].partition("#")[0]
            yield _pin(inner.get("pin", ref.partition("@")[0]), ref, inner["digest"])


def _pin(asked: str, ref: str, digest: str) -> Pin:
    if asked.partition("@")[0] != ref.partition("@")[0]:
        raise ValueError("a component in the place of another one")
    return Pin(asked, ref, digest)
