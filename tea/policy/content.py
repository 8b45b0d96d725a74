"""Content: the addresses within the words of a call, as a reader could follow them or pay to them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from unicodedata import normalize

from tea.characters import is_hidden
from tea.policy.destination import canonical_address, texts_in
from tea.types import JsonObject, JsonValue

# All patterns here look at each character a bounded number of times: texts may be long, and hostile.
_TOKEN = re.compile(r"[^\s<>\"'`\\^{}|,;()\[\]]+")
_PARTS = re.compile(r"[^\w.-]+")
_TOP = re.compile(r"[^\W\d_]{2,24}|xn--[a-z0-9-]{1,59}")
_ACCOUNT = re.compile(r"(?<!\w)[a-z]{2}\d{2}(?:[ -]?[a-z0-9]{4}){2,7}(?:[ -]?[a-z0-9]{1,4})?(?!\w)", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])(?:\+\d[\d ()/-]{6,20}\d|\d{9,40})(?![\w.])")
_DIGITS = 8  # digits of an account; words in groups of four have fewer
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,30}:", re.IGNORECASE)
_BEGINNING = 33  # characters of a scheme and the one behind it
_ENDS = ".,:!?*_~"
_DOTS = str.maketrans("\u3002\uff0e\uff61\u2024", "....")  # browsers take each of them for a dot of a host
_SIGNS = re.compile(f"[:.{''.join(map(chr, _DOTS))}]")  # one of them is in every address
# Endings of file names that are not top-level domains: what ends with one is not a host.
_FILE = re.compile(
    "aac|avi|bmp|bz|csv|css|db|docx?|epub|flac|gif|gz|html?|ico|ini|ipynb|jpe?g|jsonl?|js|lock|log|m4a|mp3|mp4|npy|"
    "od[pst]|ogg|parquet|pdf|png|pptx?|rst|rtf|sql|sqlite|svg|tar|tex|tiff?|toml|tsv|tsx|txt|wav|webm|webp|xlsx?|xml|"
    "ya?ml"
)


def addresses_within(value: JsonValue) -> dict[str, str]:
    r"""Return the addresses within the texts of JSON: links, hosts, e-mail addresses, numbers of accounts.

    Args:
        value: Texts, also inside of lists and objects.

    Returns:
        How each stands in its text, with the characters inside of it that nobody sees, by how programs read it.

    Examples:
        >>> [*addresses_within("See www.site.test/a, or ask ann@site.test about notes.txt.")]
        ['www.site.test/a', 'ann@site.test']
        >>> addresses_within("See ev\u00adil.test.")
        {'evil.test': 'ev\xadil.test'}
    """
    found = dict[str, str]()
    for text in texts_in(value):
        for read, standing in _within(text):
            found.setdefault(read, standing)
    return found


def addressed(arguments: JsonObject) -> tuple[str, ...]:
    """Return the arguments entirely made of an address, in canonical form if there is one.

    So are texts that a lenient reader takes for an address: too long ones, with blanks inside, or without a scheme.
    """
    found = dict.fromkeys(_as_address(one.strip(" \t\n")) for one in texts_in(dict(arguments)))
    return tuple(one for one in found if one)


def host_of(address: str) -> str:
    """Return the host at the beginning of an address without a scheme."""
    return _PARTS.split(address, maxsplit=1)[0]


def _as_address(text: str) -> str:
    if not _SIGNS.search(text):
        return ""
    if address := canonical_address(text):
        return address
    seen = (one for one in text if one > " " and not is_hidden(one))
    start = "".join(islice(seen, _BEGINNING))
    scheme = _SCHEME.match(start)
    if scheme is not None and start[scheme.end() : scheme.end() + 1] in ("/", "\\"):
        return text
    whole = "@" not in text and not any(one.isspace() for one in text)
    return text if whole and next(_hosts(f"{start}{''.join(seen)}".translate(_DOTS)), "") else ""


def _within(text: str) -> Iterator[tuple[str, str]]:
    """Yield the addresses in a text, each in its plain form and as written there."""
    whole = normalize("NFKC", text).translate(_DOTS)
    # What nobody sees, as a soft hyphen, parts no address for the programs that make links of texts.
    places = [at for at, one in enumerate(whole) if one.isspace() or not is_hidden(one)]
    for start, found in _read("".join(whole[at] for at in places)):
        yield found, whole[places[start] : places[start + len(found) - 1] + 1]


def _read(seen: str) -> Iterator[tuple[int, str]]:
    """Yield where each address begins, and the address."""
    for token in _TOKEN.finditer(seen):
        before, sign, after = token[0].rstrip(_ENDS).partition("://")
        found: Iterable[str] = ()
        if sign:
            found = (f"{_PARTS.split(before)[-1]}{sign}{after}",)
        elif "@" in before.strip("@"):
            found = (before.rpartition(":")[2],)
        elif "." in before:
            found = _hosts(before)
        end = token.start() + len(before) + len(sign) + len(after)
        yield from ((end - len(one), one) for one in found)
    for number in _ACCOUNT.finditer(seen):
        if sum(one.isdigit() for one in number[0]) >= _DIGITS:
            yield number.start(), number[0]
    for number in _NUMBER.finditer(seen):
        yield number.start(), number[0]


def _hosts(token: str) -> Iterator[str]:
    """Yield the hosts of a token, each with its path behind it."""
    at = 0
    for part in _PARTS.split(token):
        at = token.index(part, at)
        labels = part.strip(".").split(".")
        path = token[at + len(part) : at + len(part) + 1] == "/"
        if len(labels) > 1 and all(labels) and (_is_top(labels[-1], path=path) or _is_number(labels)):
            yield token[at:].strip(".")
            return  # what stands behind a host belongs to it
        at += len(part)


def _is_top(label: str, *, path: bool) -> bool:
    """Return whether a label ends a host: a domain, and not the ending of a file."""
    return _TOP.fullmatch(label.lower()) is not None and (path or _FILE.fullmatch(label.lower()) is None)


def _is_number(labels: list[str]) -> bool:
    return len(labels) == 4 and all(one.isascii() and one.isdigit() and len(one) <= 3 for one in labels)
