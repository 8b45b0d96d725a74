"""Refuse everything bound for outside this machine, in the tests' process and each Python started by it.

An audit hook sees every connection, datagram and name lookup of a process, whoever makes it, and imports nothing.
"""

import sys
from typing import Any

_SENT = ("socket.connect", "socket.sendto", "socket.sendmsg")  # with the socket and the address
_ASKED = ("socket.getaddrinfo", "socket.gethostbyname")  # with the name first


class OutsideNetworkForbidden(AssertionError):
    """A test tried to leave this machine; not an OSError, so no code under test hides it."""


def forbid_outside_network() -> None:
    """Let this process reach loopback only, for as long as it lives."""
    sys.addaudithook(_check)


def _check(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _SENT:
        address = arguments[1]
        if isinstance(address, tuple):  # those of sockets of one machine are paths
            _check_host(address[0])
    elif event in _ASKED:
        _check_host(arguments[0])


def _check_host(host: Any) -> None:
    from ipaddress import ip_address

    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return
    try:
        if ip_address(name.split("%")[0]).is_loopback:
            return
    except ValueError:
        pass
    raise OutsideNetworkForbidden(f"a test asked for {name!r}; only loopback is allowed")
