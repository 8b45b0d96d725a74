"""Disguises: a secret as others write it down, in the forms that a text may hold it in."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from urllib.parse import quote, quote_plus


def disguises(value: str) -> Iterator[str]:
    """Yield a secret as it is, escaped in JSON, also twice, in percent-encoding, hexadecimal and base64."""
    data = value.encode("utf-8", "surrogateescape")
    escaped = in_json(value, ascii=True)
    yield from (value, in_json(value), escaped, escaped.replace("/", "\\/"))
    yield from (in_json(in_json(value)), in_json(escaped))
    yield from (quote(data, safe=""), quote_plus(data), data.hex(), data.hex().upper())
    for before in range(3):
        code = b64encode(bytes(before) + data).decode()
        piece = code[-(-before * 4 // 3) : (before + len(data)) * 4 // 3]  # what depends on this value alone
        yield from (piece, piece.replace("+", "-").replace("/", "_"))


def in_json(value: str, *, ascii: bool = False) -> str:
    """Return a value as it stands inside of JSON text."""
    return json.dumps(value, ensure_ascii=ascii)[1:-1]
