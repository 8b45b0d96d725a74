"""Mask: values of the operator's secrets are replaced by their names before a run learns or records anything.

A value is found as it is, and as others write it down: escaped in JSON, also twice, in percent-encoding, hexadecimal,
and base64 wherever in a longer text it begins. What is cut into pieces, ciphered or compressed is not found.
"""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from itertools import chain, count
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import unquote

from tea.errors import BadRef
from tea.models.secret_forms import HEADERS, SHORTEST, disguises, in_json, secrets_in_headers
from tea.refs import Ref
from tea.store.files import reading, writing
from tea.store.scratch import PRIVATE_FILE
from tea.types import JsonValue

_LARGEST = 2**28
_WORDS = "API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PAT|CREDENTIALS?"
_SECRET = re.compile(rf"(?:(?:.*_)?(?:{_WORDS})|.+_PWD|.*PASSWORD)(?:_?\d+|_BASE|_BASE64|_B64|_JSON)?", re.IGNORECASE)
_IN_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/:@]*:([^\s/@]+)@", re.IGNORECASE)


_MASKED = re.compile(r"<secret:[^<>\s]+>")
_MANY = 1_000  # words; few are found faster one by one
_MARKS = range(0x40000, 0xE0000)  # characters that Unicode gives to nothing


def hidden_values(text: str) -> str:
    """Return a line about the masked values in a text under review, empty if there are none.

    A home's `.env` may call anything a secret, also an address that a call goes to.

    Args:
        text: Masked already.
    """
    names = ", ".join(dict.fromkeys(_MASKED.findall(text)))
    return f"Not shown, and set by the environment or by .env of the home: {names}" if names else ""


class Mask:
    """A mask putting `<secret:NAME>` in the place of each secret.

    Args:
        secrets: Values by name; those shorter than eight characters are left alone.
        told: Sentences to be left as they are, such as the refusals of a home, whose own `.env` may call anything a
            secret; looked at again for each text.
    """

    def __init__(self, secrets: Mapping[str, str], told: Collection[str] = ()) -> None:
        self._told = told
        long = {name: _sent(value) for name, value in sorted(secrets.items()) if len(value) >= SHORTEST}
        plain = {form: f"<secret:{name}>" for name, value in long.items() for form in disguises(value)}
        inside = {word: name for form, name in plain.items() for word in (in_json(form), in_json(form, ascii=True))}
        self._plain, self._words = _Words(plain), _Words(inside)
        self._in_order = sorted(plain)
        self._most = max(map(len, plain), default=1) - 1

    def __bool__(self) -> bool:
        """Whether there are any secrets to mask."""
        return bool(self._words.names)

    def text(self, text: str) -> str:
        """Return JSON text without the secrets; the same object if it contains none."""
        masked = self._words.replaced(text, tuple(self._told))
        if masked is text or _is_json(masked):
            return masked
        return _text(self._walked(json.loads(text)))  # masking the text broke its JSON, so mask each value

    def plain(self, text: str) -> str:
        """Return any other text without the secrets."""
        return self._plain.replaced(text, tuple(self._told))

    def data(self, data: Any) -> Any:
        """Return JSON data without the secrets; the same object if it contains none."""
        if not self:
            return data
        text = _text(data)
        masked = self.text(text)
        return data if masked is text else json.loads(masked)

    def in_bytes(self, data: bytes) -> bool:
        """Return whether bytes other than text contain a secret."""
        return any(word.encode("utf-8", "surrogateescape") in data for word, _ in self._plain.names)

    def pieces(self) -> Pieces:
        """Return a mask for a text arriving piece by piece."""
        return Pieces(self)

    def _walked(self, data: Any) -> Any:
        if isinstance(data, dict):
            found = dict[str, Any]()
            for name, value in cast("dict[str, Any]", data).items():
                found[_free(self.plain(name), found)] = self._walked(value)
            return found
        if isinstance(data, list):
            return [self._walked(one) for one in cast("list[Any]", data)]
        text = data if isinstance(data, str) else _text(data)
        masked = self.plain(text)
        return data if masked == text else masked

    def held(self, text: str) -> int:
        """Return the number of characters at the end of a text possibly beginning a secret."""
        for place in range(max(0, len(text) - self._most), len(text)):
            tail = text[place:]
            at = bisect_left(self._in_order, tail)
            if at < len(self._in_order) and self._in_order[at].startswith(tail):
                return len(tail)
        return 0


class _Words:
    """Words to be replaced by names, the longest first.

    Args:
        names: Their names; each word is at least `SHORTEST` characters long.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = tuple(sorted(names.items(), key=lambda one: (-len(one[0]), one[1])))
        self._starts = frozenset(word[:SHORTEST] for word in names) if len(names) > _MANY else frozenset[str]()

    def replaced(self, text: str, told: Iterable[str] = ()) -> str:
        """Return a text with names in place of words, the same object without any; no name is searched for words.

        Args:
            text: The text.
            told: Sentences left as they are, also within JSON.
        """
        if not (found := self._within(text)):
            return text
        forms = {form for one in told for form in (one, in_json(one), in_json(in_json(one))) if form in text}
        found = [*((one, one) for one in sorted(forms, key=len, reverse=True)), *found]
        taken = set(text).union(*(word for word, _ in found))
        marks = dict(zip((one for one in _MARKS if chr(one) not in taken), (name for _, name in found), strict=False))
        for (word, _), mark in zip(found, marks, strict=True):  # in the place of names, until all words are found
            text = text.replace(word, chr(mark))
        return text.translate(marks)

    def _within(self, text: str) -> list[tuple[str, str]]:
        """Return the secrets in a text with their names, comparing many by their first characters."""
        if not self._starts:
            return [one for one in self.names if one[0] in text]
        parts = (text[at : at + SHORTEST] for at in range(len(text) - SHORTEST + 1))
        starts = {part for part in parts if part in self._starts}
        return [one for one in self.names if one[0][:SHORTEST] in starts and one[0] in text] if starts else []


class Pieces:
    """A mask for a text arriving piece by piece: a possible beginning of a secret waits for the next piece.

    Args:
        mask: Knows the secrets.
    """

    def __init__(self, mask: Mask) -> None:
        self._mask, self._held = mask, ""

    def take(self, piece: str) -> str:
        """Return the masked text available after a further piece."""
        text = self._mask.plain(self._held + piece)
        cut = len(text) - self._mask.held(text)
        self._held = text[cut:]
        return text[:cut]

    def rest(self) -> str:
        """Return the rest after the last piece."""
        rest, self._held = self._held, ""
        return rest


def mask_file(path: Path, mask: Mask) -> Literal["", "masked", "left"]:
    """Mask the secrets in a text file, and return whether it contained one; other files with one stay unchanged.

    Raises:
        StorageError: It cannot be read or written.
    """
    with reading(path):
        data = path.read_bytes() if path.stat().st_size <= _LARGEST else b""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "left" if mask.in_bytes(data) else ""
    masked = mask.plain(text)
    if masked == text:
        return ""
    with writing(path):
        other = path.with_name(f".{path.name}.masked")
        other.unlink(missing_ok=True)  # a process that died here left it
        descriptor = os.open(other, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, PRIVATE_FILE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(masked.encode())
        other.chmod(path.stat().st_mode)
        other.replace(path)
    return "masked"


def secrets_among(variables: Mapping[str, str], named: Iterable[str] = ()) -> dict[str, str]:
    """Return the secrets of variables, by name; a reference to a component is not one, and a run needs it as it is.

    Args:
        variables: All there are; what is called like a secret is one, such as `OPENAI_API_KEY` or `DB_PASSWORD`, and
            so is a password in an address such as `postgres://me:secret@host`, or a key among headers that are sent.
        named: Names of further ones, whatever they are called: those that hold the keys of models.
    """
    found = {name: value for name, value in variables.items() if _SECRET.fullmatch(name)}
    found |= {name: variables[name] for name in named if name in variables}
    for name, value in variables.items():
        if name.endswith(HEADERS):
            found |= secrets_in_headers(name, value)
        if name not in found and (match := _IN_ADDRESS.match(value)):
            found[name] = unquote(match[1])
    return {name: value for name, value in found.items() if not _is_ref(value)}


def _is_ref(value: str) -> bool:
    try:
        Ref.parse(value)
    except BadRef:
        return False
    return True


def _sent(value: str) -> str:
    """Return a secret without the surrounding white space, as it is sent without it."""
    bare = value.strip()
    return bare if len(bare) >= SHORTEST else value


def _text(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, default=str, separators=(",", ":"))


def _free(name: str, taken: Collection[str]) -> str:
    """Return a name for a further member, numbered if it is taken: no value may be left out for a masked name."""
    numbered = (f"{name} ({number})" for number in count(2))
    return next(one for one in chain((name,), numbered) if one not in taken)


def _is_json(text: str) -> bool:
    """Return whether a text is JSON without a name standing twice in one object."""
    try:
        json.loads(text, object_pairs_hook=_distinct)
    except ValueError:
        return False
    return True


def _distinct(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) < len(members):
        raise ValueError("a name stands twice")
    return found
