"""Guard: deciding whether an address may be fetched, and the IP address of its connection."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar, Literal, cast
from urllib.parse import unquote

from tea.web.address import Fault, Target, read_address, read_place
from tea.web.networks import Address, class_of, read_ip

Resolver = Callable[[str], Awaitable[Sequence[str]]]
Reason = (
    Fault
    | Literal[
        "public",
        "allowed",
        "local_name",
        "unresolved",
        "resolver_failed",
        "resolver_timeout",
        "bad_answer",
        "metadata",
        "not_public",
        "denied",
        "not_declared",
    ]
)
REASONS: dict[Reason, str] = {
    "public": "every IP address of the host is public",
    "allowed": "the operator's list names this host and port",
    "not_text": "it is not text",
    "too_long": "it has more than 8,192 characters",
    "bad_character": "it holds a space, a backslash, a control or invisible character, or one that no address may hold",
    "bad_scheme": "its scheme is neither http nor https",
    "bad_syntax": "its form is not scheme://host:port/path?query",
    "userinfo": "it holds a user or a password",
    "bad_host": "its host is not a name by IDNA 2008",
    "bad_literal": "its host is an IP address in another spelling than the canonical one",
    "bad_port": "its port is not 80, 443, 8080 or 8443",
    "local_name": "its host is a name of this machine or of a local network",
    "unresolved": "its host has no IP address",
    "resolver_failed": "the resolver of names failed",
    "resolver_timeout": "the resolver of names did not answer in time",
    "bad_answer": "the resolver of names answered with what is not an IP address",
    "metadata": "its host is the metadata service of a cloud",
    "not_public": "an IP address of its host is not public",
    "denied": "it leads to a host on the list of denied ones",
    "not_declared": "its host is not one of those declared by the operator",
}
UNRESOLVED: frozenset[Reason] = frozenset({"unresolved", "resolver_failed", "resolver_timeout"})
PORTS = frozenset({80, 443, 8080, 8443})

_MOST_ANSWERS = 256
OPENS = "operators open more: `allow` of [web] in tea.toml, `tea trust --home`."
OTHERWISE = f"give another address; {OPENS}"
# Names that never leave the machine or its network: RFC 6761, RFC 6762, RFC 8375, RFC 7686, RFC 9476, and ICANN's
# reservation of .internal, below which clouds keep their metadata services.
_LOCAL_NAMES = ("localhost", "local", "localdomain", "internal", "home.arpa", "onion", "alt")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision about one address; it is true if the address may be fetched.

    Args:
        allowed: Whether it may be fetched.
        reason: One of `REASONS`.
        address: The IP address to connect to, and to no other; None where it may not be fetched.
    """

    allowed: bool
    reason: Reason
    address: str | None

    def __bool__(self) -> bool:
        return self.allowed

    @property
    def unresolved(self) -> bool:
        """Whether the host's name did not resolve, so nothing was refused: it is misspelt, or no network."""
        return self.reason in UNRESOLVED

    def problem(self, what: str) -> str:
        """Return why an address is not fetched, as a sentence.

        Args:
            what: The address, in words.
        """
        if self.unresolved:
            return f"The name in {what} does not resolve: {REASONS[self.reason]}."
        return f"The guard refuses {what}: {REASONS[self.reason]}."

    def fix(self, otherwise: str = OTHERWISE) -> str:
        """Return the remedy: for an unresolved name a look at it and the network, else another one."""
        return "check the spelling of the address, and the network." if self.unresolved else otherwise


class UrlGuard:
    """A guard for addresses; every hop of a redirect is another address, and is checked again.

    Args:
        allow: Places that the operator opened whatever their address and port are, each exactly `host:port`, as
            `127.0.0.1:8000`, `localhost:8000` or `[::1]:8000`. A name opens public and private addresses, but neither
            link-local ones nor metadata services. An entry of another form opens nothing.
        resolver: Gives the IP addresses of a name in ASCII; the system's own by default.
        deny: Hosts that are closed with all below them, also where they stand in the path or query of another
            address, as those of archives and mirrors do.
        only: The only hosts open, each `host` for its usual ports or exactly `host:port`; None for all.

    Attributes:
        seconds: How long a resolver may take.

    Examples:
        >>> (await UrlGuard().check("http://2130706433/")).reason
        'bad_literal'
    """

    seconds: ClassVar[float] = 5.0

    def __init__(
        self,
        allow: Iterable[str] = (),
        resolver: Resolver | None = None,
        *,
        deny: Iterable[str] = (),
        only: Iterable[str] | None = None,
    ) -> None:
        self._denied = denial(deny)
        self._only = None if only is None else frozenset(filter(None, map(declared_place, only)))
        self._allow = frozenset(place for one in allow if (place := allowed_place(one)) is not None)
        self._resolve = resolver or resolve

    async def check(self, url: str) -> Verdict:
        """Return the verdict on an address; it never raises, for any text."""
        target = read_address(url)
        return Verdict(False, target, None) if isinstance(target, str) else await self.check_target(target)

    def foresee(self, url: str) -> Verdict | None:
        """Return the verdict on an address as far as its words alone decide, None if its name has to be resolved."""
        target = read_address(url)
        return Verdict(False, target, None) if isinstance(target, str) else self._foreseen(target)

    async def check_target(self, target: Target) -> Verdict:
        """Return the verdict on a place."""
        if (foreseen := self._foreseen(target)) is not None:
            return foreseen
        found = await self._addresses(target.host)
        return Verdict(False, found, None) if isinstance(found, str) else _judged(found, opened=self._opens(target))

    def _foreseen(self, target: Target) -> Verdict | None:
        """Return the verdict on a place, None if its name has to be resolved."""
        if is_denied(target.url, self._denied):
            return Verdict(False, "denied", None)
        if self._only is not None and not self._only & {(target.host, None), (target.host, target.port)}:
            return Verdict(False, "not_declared", None)
        opened = self._opens(target)
        if opened and target.ip is not None:
            return Verdict(True, "allowed", str(target.ip))
        if not opened:
            if _is_local(target.host):
                return Verdict(False, "local_name", None)
            if target.port not in PORTS:
                return Verdict(False, "bad_port", None)
        return None if target.ip is None else _judged([target.ip], opened=opened)

    def _opens(self, target: Target) -> bool:
        """Return whether the operator's list names a place."""
        return (target.host, target.port) in self._allow

    async def _addresses(self, name: str) -> list[Address] | Reason:
        """Return the IP addresses of a name, or the reason there are none."""
        try:
            async with asyncio.timeout(self.seconds):
                given = await self._resolve(name)
            return _read(given)
        except TimeoutError:
            return "resolver_timeout"
        except socket.gaierror as error:
            return "unresolved" if error.errno in _NO_SUCH_NAME else "resolver_failed"
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) is None or task.cancelling():
                raise
            return "resolver_failed"  # the resolver cancelled itself; this task was not cancelled
        except Exception:  # foreign code, which may raise anything
            return "resolver_failed"


async def resolve(name: str) -> list[str]:
    """Return the IP addresses of a name in ASCII, in the system's order."""
    found = await asyncio.get_running_loop().getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


def allowed_place(entry: object) -> tuple[str, int] | None:
    """Return the host and port in an entry of an operator's list, None unless it is exactly `host:port`."""
    if not isinstance(entry, str) or isinstance(read_address(f"http://{entry}/"), str):
        return None
    place = read_place(entry)
    return None if isinstance(place, str) else place[:2]


def declared_place(entry: object) -> tuple[str, int | None] | None:
    """Return the host and perhaps port in an entry of a list of declared hosts, None unless it is one of these."""
    if (place := allowed_place(entry)) is not None:
        return place
    if not isinstance(entry, str) or isinstance(read_address(f"https://{entry}/"), str):
        return None
    found = read_place(entry, 443)
    return None if isinstance(found, str) else (found[0], None)


def denial(hosts: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern of the addresses leading to denied hosts or below them, None for no hosts.

    Args:
        hosts: Names such as `huggingface.co`.
    """
    names = [re.escape(host.lower().strip(".")) for host in hosts if host.strip(".")]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(names)})\.?(?![\w-]|\.\w)") if names else None


def is_denied(url: str, denied: re.Pattern[str] | None) -> bool:
    """Return whether an address leads to a denied host, or names one in its path or query.

    Args:
        url: The address.
        denied: The pattern of `denial`.
    """
    return denied is not None and denied.search(unquote(unquote(url)).lower()) is not None


def _read(value: object) -> list[Address] | Reason:
    """Return the IP addresses from a resolver; one invalid address makes all invalid."""
    if isinstance(value, str | bytes):
        return "bad_answer"
    answers = list(islice(cast("Iterable[object]", value), _MOST_ANSWERS + 1))
    found = [one for answer in answers if isinstance(answer, str) and (one := read_ip(answer)) is not None]
    if len(found) != len(answers) or len(found) > _MOST_ANSWERS:
        return "bad_answer"
    return found or "unresolved"


def _judged(found: Sequence[Address], *, opened: bool) -> Verdict:
    """Return the verdict on a host with these addresses; each of them has to be permitted."""
    classes = {class_of(one) for one in found}
    if "metadata" in classes:
        return Verdict(False, "metadata", None)
    if classes - ({"public", "private"} if opened else {"public"}):
        return Verdict(False, "not_public", None)
    return Verdict(True, "allowed" if opened else "public", str(found[0]))


def _is_local(host: str) -> bool:
    return any(host == name or host.endswith(f".{name}") for name in _LOCAL_NAMES)


_NO_SUCH_NAME = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})
