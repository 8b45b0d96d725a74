"""Encoded forms of a secret, as a text may contain it."""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

SHORTEST = 8  # a shorter one is not a secret, and would be found in ordinary words
HEADERS = "_CUSTOM_HEADERS"  # how a variable's name ends that holds headers, which the SDKs send along: `Name: value`
_HEADER = re.compile(
    r"^[^:\n]*(?:key|token|secret|auth|passw|cookie|credential)[^:\n]*:"
    r"[ \t]*(?:(?:Bearer|Basic|Token)[ \t]+)?(\S.*?)\s*$",
    re.IGNORECASE | re.MULTILINE,
)


def disguises(value: str) -> Iterator[str]:
    """Yield a secret as it is, escaped in JSON, also twice, and in HTML, percent-encoding, hexadecimal and base64."""
    from html import escape  # it brings the table of all named characters

    data = value.encode("utf-8", "surrogateescape")
    escaped = in_json(value, ascii=True)
    yield from (value, in_json(value), escaped, escaped.replace("/", "\\/"))
    yield from (in_json(in_json(value)), in_json(escaped))
    for percent in (quote(data, safe=""), quote_plus(data)):
        yield from (percent, re.sub("%..", lambda found: found[0].lower(), percent))
    yield from (escape(value), data.hex(), data.hex().upper())
    for before in range(3):
        code = b64encode(bytes(before) + data).decode()
        piece = code[-(-before * 4 // 3) : (before + len(data)) * 4 // 3]  # what depends on this value alone
        yield from (piece, piece.replace("+", "-").replace("/", "_"))


def hidden(text: str, secret: str, name: str) -> str:
    """Replace a secret in all its forms by `name`; a secret shorter than `SHORTEST` is not replaced."""
    for form in sorted(set(disguises(secret)), key=len, reverse=True) if len(secret) >= SHORTEST else ():
        text = text.replace(form, name)
    return text


def secrets_in_headers(name: str, headers: str) -> dict[str, str]:
    """Return the secrets among headers, with generated names: the values of headers with telling names.

    Args:
        name: The variable that holds them.
        headers: One a line.
    """
    return {f"{name}_{number}": value for number, value in enumerate(_HEADER.findall(headers), 1)}


def sent_headers(sdk: str) -> dict[str, str]:
    """Return the secrets among the headers added by an SDK from the environment."""
    name = f"{sdk.upper()}{HEADERS}"
    return secrets_in_headers(name, os.environ.get(name, ""))


def in_json(value: str, *, ascii: bool = False) -> str:
    """Escape a value for JSON text, without the quotation marks."""
    return json.dumps(value, ensure_ascii=ascii)[1:-1]
