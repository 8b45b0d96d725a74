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
# What stays as it is in percent-encoding: nothing; as Python, browsers and `requests` have it.
_SAFE = ("", "/", "!~*'()", ";,/?:@&=+$!~*'()#", "!#$%&'()*+,/:;=?@[]~")
_HEADER = re.compile(
    r"^(?=[^:\n]*(?:key|token|secret|auth|passw|cookie|credential))[^:\n]*+:"
    r"[ \t]*(?:(?:Bearer|Basic|Token)[ \t]+)?(\S(?:.*\S)?)",
    re.IGNORECASE | re.MULTILINE,
)


def disguises(value: str) -> Iterator[str]:
    """Yield a secret as it is, as literals, in HTML and XML, percent-encoding, hexadecimal and base64.

    Libraries differ in what they leave as it is, so forms that are alike come more than once.
    """
    data = value.encode("utf-8", "surrogateescape")
    yield from (value, *_literals(value, data), *_marked(value), *_percent(data), data.hex(), data.hex().upper())
    for before in range(3):
        code = b64encode(bytes(before) + data).decode()
        piece = code[-(-before * 4 // 3) : (before + len(data)) * 4 // 3]  # what depends on this value alone
        yield from (piece, piece.replace("+", "-").replace("/", "_"))


def _literals(value: str, data: bytes) -> Iterator[str]:
    """Yield a secret escaped in JSON, also twice and with numbers for further characters, and in Python."""
    plain, escaped = in_json(value), in_json(value, ascii=True)
    numbered = [re.sub("[<>&]", _number, one) for one in (plain, escaped)]
    fewest = re.sub("[<>&+'`]", _number, escaped.replace('\\"', "\\u0022"))
    capital = re.sub(r"(?<=\\u)[0-9a-f]{4}", lambda found: found[0].upper(), fewest)
    yield from (plain, escaped, escaped.replace("/", "\\/"), in_json(plain), in_json(escaped))
    yield from (*numbered, fewest, capital, repr(value)[1:-1], ascii(value)[1:-1], repr(data)[2:-1])


def _number(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _marked(value: str) -> Iterator[str]:
    """Yield a secret in HTML and XML, with several signs for quotation marks."""
    from html import escape  # it brings the table of all named characters

    text = escape(value, quote=False)
    yield text
    for double, single in (("&quot;", "&#x27;"), ("&#34;", "&#39;"), ("&quot;", "&#39;"), ("&quot;", "&apos;")):
        yield text.replace('"', double).replace("'", single)


def _percent(data: bytes) -> Iterator[str]:
    """Yield a secret in percent-encoding, also twice, in capitals and small letters."""
    parts = [quote(data, safe=safe) for safe in _SAFE]
    for percent in (*parts, quote_plus(data), quote(parts[0], safe="")):
        yield from (percent, re.sub("%..", lambda found: found[0].lower(), percent))


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
