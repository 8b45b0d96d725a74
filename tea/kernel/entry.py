"""An entry of a run's journal, as written and read by its gate."""

from __future__ import annotations

import hashlib
import json
import marshal
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, cast

from tea.errors import BadArguments
from tea.store.strict import DEPTH, check_depth
from tea.types import JsonObject, JsonValue

Event = Literal["start", "note", "done", "failed", "fired", "message", "cancelled", "forked"]

_ordered = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_sorted = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)

# A record has room for levels around the data; what is said of an outcome, in the next step, needs some around that.
_SAID, _TOLD = DEPTH - 4, DEPTH - 20
_FLAT = frozenset({str, int, float, bool, type(None)})


class JsonText(NamedTuple):
    """JSON already encoded as compact text, to avoid encoding it twice; the keys of a start or a note are sorted."""

    text: str


class Entry(NamedTuple):
    """A record made by a gate: one of the program's own (start, note) or an event delivered to it (the rest).

    Args:
        event: `start`, `note`; or `done`, `failed`, `fired` (a timer), `message`, `cancelled`.
        key: Whom it is about, `branch path.ordinal`; empty for `cancelled` and `forked`, which are for the whole run.
        kind: What sort of effect or note; empty for delivered events.
        target: What the effect calls, usually a ref; empty for notes and delivered events.
        digest: SHA-256 of the canonical text, for starts and notes: what a replay compares.
        text: The data as JSON text, encoded once; canonical (sorted keys) for starts and notes.
    """

    event: Event
    key: str
    kind: str = ""
    target: str = ""
    digest: str = ""
    text: str = "null"

    @property
    def data(self) -> JsonValue:
        """The data, decoded anew on each access, so the record cannot be changed."""
        return json.loads(self.text)

    def document(self) -> dict[str, JsonValue]:
        """Return the entry as a JSON object; `Entry.of` reads it back."""
        fields = ("event", "key", "kind", "target", "digest")
        return {name: getattr(self, name) for name in fields} | {"data": self.data}

    @classmethod
    def of(cls, document: JsonObject) -> Entry:
        """Return the entry in `document`; unknown members are ignored."""
        return cls(
            event=cast(Event, document["event"]),
            key=document["key"],
            kind=document.get("kind", ""),
            target=document.get("target", ""),
            digest=document.get("digest", ""),
            text=_text(_ordered, document.get("data"), DEPTH),
        )


def spoken(event: Literal["start", "note"], key: str, kind: str, target: str, text: str) -> Entry:
    """Return an entry of the program's own; `text` is canonical."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Entry(event=event, key=key, kind=kind, target=target, digest=digest, text=text)


def encode(value: JsonValue) -> str:
    """Return `value` as compact JSON text, its keys in their own order.

    Raises:
        BadArguments: It is not JSON, or nested so deeply that no record could tell what follows from it.
    """
    return value.text if type(value) is JsonText else _text(_ordered, value, _TOLD)


def canonical(value: JsonValue) -> str:
    """Return `value` as compact JSON text with sorted keys: equal values have equal texts.

    Raises:
        BadArguments: It is not JSON, or nested so deeply that no record could hold it.
    """
    return value.text if type(value) is JsonText else _text(_sorted, value, _SAID)


def assembled(members: Mapping[str, str]) -> JsonText:
    """Return an object as canonical text, from the canonical text of each of its members."""
    parts = [f'"{name}":{members[name]}' for name in sorted(members)]
    return JsonText(f"{{{','.join(parts)}}}")


def own(data: JsonObject) -> JsonObject:
    """Return a private copy of data, immutable to the caller: the recorded data are the data used.

    Raises:
        BadArguments: They are not JSON.
    """
    try:
        flat = all(type(value) in _FLAT for value in data.values())
    except AttributeError:
        problem = f"The data is not an object, but {type(data).__name__}."
        raise BadArguments(problem, fix="pass values by name.") from None
    return dict(data) if flat else copied(dict(data))


def copied(value: JsonValue) -> Any:
    """Return a deep copy of JSON data.

    Raises:
        BadArguments: They are not JSON.
    """
    try:
        return marshal.loads(marshal.dumps(value, 0))
    except ValueError:  # of other types than the plain ones, or in a circle
        return json.loads(canonical(value))


def _text(encoder: json.JSONEncoder, value: JsonValue, levels: int) -> str:
    try:
        text = encoder.encode(value)
        text.encode()  # a lone surrogate is JSON to Python, but no file or digest can hold it
        if len(text) > 2 * levels:
            check_depth(text, levels)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadArguments(
            f"The data is not JSON: {str(error)[:120]}.",
            fix="pass objects with text keys, lists, text, finite numbers, true, false or null.",
        ) from error
    return text
