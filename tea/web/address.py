"""Address: the strict grammar of permitted addresses, and the exact place each one names.

What a parser would have to guess at is refused, so that nobody behind this one can read another host out of it: RFC
3986 for the form, with letters of other scripts behind the host (RFC 3987), and IDNA 2008 (RFC 5890 to 5893) for names.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Literal
from urllib.parse import quote

from tea.web.networks import Address, read_ip

MOST_CHARACTERS = 8_192
DEFAULT_PORTS = {"http": 80, "https": 443}
Fault = Literal[
    "not_text",
    "too_long",
    "bad_character",
    "bad_scheme",
    "bad_syntax",
    "userinfo",
    "bad_host",
    "bad_literal",
    "bad_port",
]

_MOST_OF_NAME, _MOST_OF_LABEL, _MOST_PORT = 253, 63, 65_535
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_WRITTEN = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%\u0080-\U0010ffff]*")
_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"})
# Code points that show nothing though they are letters or marks (Unicode: Default_Ignorable_Code_Point).
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
_BEHIND = re.compile(
    r"(?:/(?:[^%?#\[\]]|%[0-9A-Fa-f]{2})*)?"
    r"(?:\?(?:[^%#\[\]]|%[0-9A-Fa-f]{2})*)?"
    r"(?:#(?:[^%#\[\]]|%[0-9A-Fa-f]{2})*)?"
)
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")
_DOTS = re.compile("[\u3002\uff0e\uff61]")  # which some readers of names take for a dot
_UNQUOTED = "%/?:@!$&'()*+,;=~-._"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The place named by an address.

    Args:
        scheme: `http` or `https`.
        host: The name in ASCII and small letters, or the IP address in its canonical form, without brackets.
        port: From 1 to 65535.
        path: Path and query in ASCII, beginning with a slash.
        ip: The IP address, where the host is one.
    """

    scheme: str
    host: str
    port: int
    path: str
    ip: Address | None = None

    @property
    def authority(self) -> str:
        """Return host and port for a `Host` header: the port only if it differs from the scheme's default."""
        name = f"[{self.host}]" if isinstance(self.ip, IPv6Address) else self.host
        return name if self.port == DEFAULT_PORTS[self.scheme] else f"{name}:{self.port}"

    @property
    def url(self) -> str:
        """Return the address in ASCII, in one spelling, without a fragment."""
        return f"{self.scheme}://{self.authority}{self.path}"


def read_address(url: object) -> Target | Fault:
    """Return the place named by an address, or its fault; it never raises.

    Args:
        url: Any text, and whatever else.
    """
    if not isinstance(url, str):
        return "not_text"
    text = str.__str__(url)  # of a subclass its plain text
    if len(text) > MOST_CHARACTERS:
        return "too_long"
    if not _WRITTEN.fullmatch(text) or (not text.isascii() and _holds_unseen(text)):
        return "bad_character"
    found = _SCHEME.match(text)
    if found is None or (scheme := found[1].lower()) not in DEFAULT_PORTS:
        return "bad_scheme"
    if not text.startswith("//", found.end()):
        return "bad_syntax"
    authority = re.match(r"[^/?#]*", text[found.end() + 2 :])
    stop = found.end() + 2 + (authority.end() if authority else 0)
    return _target(scheme, text[found.end() + 2 : stop], text[stop:])


def read_place(text: str, default_port: int | None = None) -> tuple[str, int, Address | None] | Fault:
    """Return the host, port and IP address in `host:port`, or its fault.

    Args:
        text: What stands between `//` and the path.
        default_port: The port where none is written; without one it has to be.
    """
    if "@" in text:
        return "userinfo"
    if text.startswith("["):
        written, bracket, rest = text[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            return "bad_syntax"
        port_text = rest[1:] if rest else None
    else:
        written, colon, rest = text.partition(":")
        port_text = rest if colon else None
        if ":" in rest:
            return "bad_syntax"
    found = _ipv6(written) if text.startswith("[") else _host(written)
    if isinstance(found, str):
        return found
    host, ip = found
    if port_text is None:
        return (host, default_port, ip) if default_port else "bad_port"
    if not _PORT.fullmatch(port_text) or int(port_text) > _MOST_PORT:
        return "bad_port"
    return host, int(port_text), ip


def escaped(url: str) -> str:
    """Return an address from a person or page, with invalid characters after the host percent-encoded.

    Spaces around it go, as do line ends inside a link; everything before the path stays for `read_address` to judge.
    """
    text = re.sub(r"[\t\r\n]", "", url.strip(" \t\r\n\f"))
    found = re.match(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#\\]*", text)
    if found is None:
        return text
    behind, hash_sign, fragment = text[found.end() :].partition("#")
    return found[0] + _quoted(behind) + hash_sign + _quoted(fragment)


def _target(scheme: str, authority: str, behind: str) -> Target | Fault:
    if not _BEHIND.fullmatch(behind):
        return "bad_syntax"
    place = read_place(authority, DEFAULT_PORTS[scheme])
    if isinstance(place, str):
        return place
    host, port, ip = place
    path = quote(behind.partition("#")[0], safe=_UNQUOTED)
    return Target(scheme=scheme, host=host, port=port, path=path if path.startswith("/") else f"/{path}", ip=ip)


def _holds_unseen(text: str) -> bool:
    """Return whether a text contains invisible characters: controls, formats, spaces, private or unassigned ones."""
    return _UNSEEN.search(text) is not None or any(unicodedata.category(one) in _UNSEEN_CATEGORIES for one in text)


def _ipv6(written: str) -> tuple[str, Address | None] | Fault:
    """Return the one spelling of an IPv6 address (RFC 5952); every other spelling is refused."""
    found = read_ip(written)
    if not isinstance(found, IPv6Address) or str(found) != written:
        return "bad_literal"
    return written, found


def _host(written: str) -> tuple[str, Address | None] | Fault:
    """Return a name in ASCII, or an IPv4 address in its one spelling."""
    if not written or "%" in written or _DOTS.search(written):
        return "bad_host"
    host = "".join(one.lower() if one.isascii() else one for one in written)
    labels = host.split(".")
    last = labels[-1] or (labels[-2] if len(labels) > 1 else "")
    if _NUMBER.fullmatch(last):  # by the rules of browsers this is an IPv4 address, in some spelling or other
        found = read_ip(host)
        return (host, found) if found is not None and str(found) == host else "bad_literal"
    encoded = [_label(label) for label in labels]
    name = ".".join(one for one in encoded if one is not None)
    if None in encoded or len(name) > _MOST_OF_NAME or last.isdecimal():  # in digits of another script
        return "bad_host"
    return name, None


def _label(label: str) -> str | None:
    """Return the ASCII form of one label of a name, None if it is invalid by IDNA 2008."""
    from idna import IDNAError, alabel, ulabel

    if not label or len(label) > _MOST_OF_LABEL:
        return None
    try:
        plain = label.isascii() and not label.startswith("xn--")
        found = label if plain else alabel(label if not label.isascii() else ulabel(label)).decode("ascii")
    except (IDNAError, UnicodeError, ValueError, IndexError, OverflowError):
        return None
    same = found == label or not label.isascii()
    reserved = found[2:4] == "--" and not found.startswith("xn--")
    return found if same and not reserved and len(found) <= _MOST_OF_LABEL and _LABEL.fullmatch(found) else None


def _quoted(text: str) -> str:
    whole = re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", text)
    return quote(whole, safe=_UNQUOTED, errors="replace")
