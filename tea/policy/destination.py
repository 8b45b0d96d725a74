"""Destinations: the places addressed by a call, and the texts naming them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import translate
from functools import lru_cache
from typing import Any, cast
from unicodedata import normalize
from urllib.parse import SplitResult, urlsplit, urlunsplit

from tea.types import JsonObject, JsonValue

STATE = "state."
"""The beginning of a destination taken from the state of an environment in place of the arguments."""
_LONGEST = 8_192  # characters of an address, as many as are fetched
_SCHEMES = {"http": 80, "https": 443}
_ADDRESS = re.compile(r"https?://[^\s<>\"'`\\^{}|\x00-\x20]+", re.IGNORECASE)
_CLOSING = {")": "(", "]": "["}
_ENDS = ".,;:!?*_~"
_OPEN = "\udfff"  # for a bracket that nothing closes; no text of a person or file holds it
_WILD = re.compile(r"[*?\[]")
_PARTING = re.compile(r"[\s<>\"'`\\/?#|;&=]")
# As only these are taken from the ends of a place, it is the one that is shown: other white space is another place.
_BLANKS = " \t\n"
_SEPARATORS = re.compile(r"[,;\n]")
# Letters that belong to an address or a name, so that none of its parts stands for it.
_BEFORE = re.compile(r"[\w\-@.+%&=?#~/]\Z")
_AFTER = re.compile(r"\A(?:[\w\-@+%&=#~]|[/:?.][\w\-@+%&=#~/?])")


def canonical_address(text: str) -> str:
    """Return an address in one form: lower-case scheme and host, no default port, no fragment; empty for no address.

    Args:
        text: An address with the scheme http or https.
    """
    if len(text) > _LONGEST or "http" not in text.lower() or any(one.isspace() for one in text):
        return ""
    if text < "!":  # the parser would leave out control characters at the beginning
        return ""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return ""
    host = (parts.hostname or "").rstrip(".")
    if parts.scheme not in _SCHEMES or not host:
        return ""
    place = f"[{host}]" if ":" in host else host
    if port is not None and port != _SCHEMES[parts.scheme]:
        place += f":{port}"
    if "@" in parts.netloc:
        place = f"{parts.netloc.rpartition('@')[0]}@{place}"
    return urlunsplit((parts.scheme, place, parts.path or "/", parts.query, ""))


def addresses_in(text: str) -> Iterator[str]:
    """Yield the addresses of a text in canonical form, without the punctuation behind them."""
    for found in _ADDRESS.findall(text.replace("](", " ")):  # Markdown: the words of a link may be an address too
        for one in dict.fromkeys(_trimmed(cast(str, found))):
            if address := canonical_address(one):
                yield address


def texts_in(value: JsonValue) -> Iterator[str]:
    """Yield the texts inside of JSON, with numbers as text; of the names of members those of no field."""
    match value:
        case str():
            yield value
        case bool() | None:
            return
        case int() | float():
            yield str(value)
        case dict() | Mapping():  # most are dicts, and to look for other mappings costs as much as all else here
            for name, one in cast("Mapping[Any, Any]", value).items():
                if not (isinstance(name, str) and name.isidentifier()):
                    yield str(name)
                if isinstance(one, str):
                    yield one
                else:
                    yield from texts_in(one)
        case list() | tuple():
            for one in cast("Sequence[Any]", value):
                yield from texts_in(one)
        case _:
            return


def destinations_of(names: Iterable[str], arguments: JsonObject, state: JsonValue = None) -> tuple[str, ...]:
    """Return the destinations of a call, each once; of an address in a state the origin, as pages move within it.

    Args:
        names: Names of arguments; with `state.` in front, fields of an environment's state, separated by dots.
        arguments: Those of the call.
        state: The environment's state.
    """
    found = list[str]()
    for name in names:
        whole, path = (state, name.removeprefix(STATE).split(".")) if name.startswith(STATE) else (arguments, [name])
        for text in texts_in(_member(whole, path)):
            found += [origin_of(text) or text.strip(_BLANKS)] if name.startswith(STATE) else parts_of(text)
    return tuple(dict.fromkeys(found))


def stands_in(destination: str, text: str) -> bool:
    """Return whether a text holds a destination as a whole token, not as a part of a longer address or name."""
    wanted, within = _plain(destination), _plain(text)
    at = within.find(wanted) if wanted else -1
    while at >= 0:
        end = at + len(wanted)
        if not (_BEFORE.search(within[max(0, at - 1) : at]) or _AFTER.match(within[end : end + 2])):
            return True
        at = within.find(wanted, at + 1)
    return False


def names_address(text: str, address: str) -> bool:
    """Return whether a text names an address: itself, or its bare host if the address has no query.

    Args:
        text: Words of a person.
        address: In canonical form.
    """
    if address in addresses_in(text):
        return True
    parts = urlsplit(address)
    plain = not parts.query and "@" not in parts.netloc
    return plain and stands_in(parts.netloc, _ADDRESS.sub(" ", text))


def origin_of(address: str) -> str:
    """Return the origin of an address, as the address of its root; empty for no address.

    Args:
        address: With the scheme http or https.
    """
    parts = urlsplit(canonical_address(address.strip(_BLANKS)))
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], "/", "", "")) if parts.netloc else ""


def names_origin(text: str, origin: str) -> bool:
    """Return whether a text names an origin: one of its addresses, or its bare host; https includes http.

    Args:
        text: Words of a person.
        origin: As the address of its root.
    """
    wanted = {origin, origin.replace("https://", "http://", 1)}
    if any(origin_of(one) in wanted for one in addresses_in(text)):
        return True
    return stands_in(urlsplit(origin).netloc, _ADDRESS.sub(" ", text))


def fits_pattern(destination: str, pattern: str) -> bool:
    """Return whether a destination fits a pattern of the operator, with `*` and `?` and without regard to case.

    A pattern with `://` is for addresses: its host has to be complete, so `https://example.org*` does not fit a
    longer host. One without is for the host of an address, and for other destinations as a whole.
    """
    address = canonical_address(destination)
    if "://" in pattern:
        if not address:
            return False
        wanted, given = _split(pattern), urlsplit(address)
        host = wanted.netloc.lower()
        host = host.rstrip("*") or host  # a wildcard at the end of a host would match any domain
        if given.scheme != wanted.scheme or not fits_wildcards(given.netloc, host):
            return False
        rest = urlunsplit(("", "", given.path, given.query, ""))
        return fits_wildcards(rest, urlunsplit(("", "", wanted.path or "/", wanted.query, "")))
    whole = urlsplit(address).netloc if address else _plain(destination)
    return fits_wildcards(whole, _plain(pattern))


def fits_wildcards(text: str, pattern: str) -> bool:
    """Return whether a text fits a pattern with `*`, `?` and `[...]` as a whole, in regard to case."""
    return _compiled(pattern)(text) is not None


@lru_cache(maxsize=2**14)  # a home may have thousands, each of which is compared with every call
def _compiled(pattern: str) -> Callable[[str], re.Match[str] | None]:
    """Return the comparison with a pattern; an unclosed bracket means itself."""
    before, closing, after = pattern.rpartition("]")
    plain = after.replace("[", _OPEN)  # else the whole rest is searched for the end of each
    return re.compile(translate(f"{before}{closing}{plain}").replace(_OPEN, r"\[")).match


def permits(pattern: str, destination: str) -> bool:
    """Return whether an allowing pattern fits a destination, without a second address inside its wildcards.

    Mail programs and fetchers read more than one place out of a text: `eve@evil.test <x@team.test` ends like a member
    of the team. So what stands for a wildcard adds no `@` to one address, and no sign at which an address may end;
    patterns of paths, and beginnings with an open end, hold such signs on purpose.
    """
    if not fits_pattern(destination, pattern):
        return False
    beginning = pattern.rstrip("*")
    if not beginning or canonical_address(destination):
        return True
    given = normalize("NFKC", destination.strip(_BLANKS)).lstrip("#")
    if given.count("@") > max(1, pattern.count("@")):
        return False
    if pattern.startswith("/") or (beginning != pattern and not _WILD.search(beginning)):
        return True
    return all(given.count(one) <= pattern.count(one) for one in set(_PARTING.findall(given)))


def _split(pattern: str) -> SplitResult:
    try:
        return urlsplit(pattern)
    except ValueError:
        return SplitResult("", "", "", "", "")


def _plain(text: str) -> str:
    return normalize("NFC", text).casefold().strip(_BLANKS)


def parts_of(text: str) -> list[str]:
    """Return the destinations in a text: an address as a whole, else the parts of a list."""
    if canonical_address(text.strip(_BLANKS)):
        return [text.strip(_BLANKS)]
    return [one for part in _SEPARATORS.split(text) if (one := part.strip(_BLANKS))]


def _member(value: JsonValue, path: Sequence[str]) -> JsonValue:
    for name in path:
        value = cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else None
    return value


def _trimmed(found: str) -> Iterator[str]:
    """Yield an address as found, and without the likely punctuation of the text around it."""
    yield found
    unopened = {closing: found.count(closing) - found.count(opening) for closing, opening in _CLOSING.items()}
    end = len(found)
    while end and (found[end - 1] in _ENDS or unopened.get(found[end - 1], 0) > 0):
        end -= 1
        if found[end] in unopened:
            unopened[found[end]] -= 1
    found = found[:end]
    yield found
    if ")" in found:  # the end of a link in Markdown, with other words right behind it
        yield found.partition(")")[0]
