"""Attacks on the network: reaching anything listening on the machine or beyond."""

import errno
import os
import socket

from tea.sandbox.inside.attacks.attack import HELD, PORTABLE, Facts, absent, attack, broke, denied, refused

_SECONDS = 2.0
_FAST_OPEN = 0x20000000
_REFUSED = (errno.EPERM, errno.EAFNOSUPPORT, *((errno.ENOTSUP,) if PORTABLE else ()))


def _reached(family: int, kind: int, address: object, payload: bytes = b"knock") -> str:
    try:
        with socket.socket(family, kind) as made:
            made.settimeout(_SECONDS)
            made.connect(address)  # pyright: ignore[reportArgumentType]
            made.send(payload)
    except OSError:
        return HELD
    return broke(f"reached {address}")


@attack("net")
def tcp(facts: Facts) -> str:
    """Connect to a service on loopback."""
    return _reached(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", facts["tcp"]))


@attack("net")
def tcp_other_loopback(facts: Facts) -> str:
    """Connect to a service on another address of loopback."""
    return _reached(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.2", facts["tcp"]))


@attack("net")
def tcp_mapped(facts: Facts) -> str:
    """Connect to a service by way of the other internet protocol."""
    return _reached(socket.AF_INET6, socket.SOCK_STREAM, ("::ffff:127.0.0.1", facts["tcp"]))


@attack("net")
def tcp_without_connect(facts: Facts) -> str:
    """Connect by sending, without the call for connecting."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as made:
            made.settimeout(_SECONDS)
            made.sendto(b"knock", _FAST_OPEN, ("127.0.0.1", facts["tcp"]))
    except OSError:
        return HELD
    return broke("sent")


@attack("net")
def udp(facts: Facts) -> str:
    """Send a datagram to a service; the host tells whether it came."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
            made.sendto(facts["words"].encode(), ("127.0.0.1", facts["udp"]))
    except OSError:
        return HELD
    return absent("sent, and not known to have come") if facts["net"] else broke("sent")


@attack("net")
def unix_path(facts: Facts) -> str:
    """Connect to a service by the path of its socket."""
    return _reached(socket.AF_UNIX, socket.SOCK_STREAM, facts["unix"])


@attack("net")
def unix_abstract(facts: Facts) -> str:
    """Connect to a service by the abstract name of its socket."""
    return _reached(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{facts['abstract']}")


@attack("net")
def raw(facts: Facts) -> str:
    """Write packets by hand."""
    return refused(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close(), "opened")


@attack("net")
def packets(facts: Facts) -> str:
    """See all packets of the machine."""
    return refused(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0x0300).close(), "opened")


@attack("net")
def names(facts: Facts) -> str:
    """Ask for the address of a name."""
    if not facts["net"]:
        return absent("this level claims nothing, and the question would leave the machine")
    return refused(lambda: socket.getaddrinfo("example.com", 80), "resolved")


@attack("net")
def interfaces(facts: Facts) -> str:
    """Find an interface beside loopback."""
    try:
        found = {name for _, name in socket.if_nameindex()} - {"lo"}
    except OSError:
        return HELD
    return broke(f"found {sorted(found)}") if found else HELD


@attack("syscalls")
def machine_sockets(facts: Facts) -> str:
    """Open sockets to the machine around this one, to the kernel's own, and to its ciphers."""
    families = {"vsock": 40, "netlink": 16, "alg": 38, "xdp": 44, "bluetooth": 31, "can": 29}
    for name, family in families.items():
        try:
            socket.socket(family, socket.SOCK_RAW if family == 16 else socket.SOCK_STREAM).close()
        except OSError as error:
            if error.errno in _REFUSED:
                continue
        return broke(f"{name} is there")
    return HELD


@attack("syscalls")
def rings(facts: Facts) -> str:
    """Have the kernel open sockets by way of io_uring."""
    return denied({"x86_64": 425, "aarch64": 425}, 8, 0)


@attack("net")
def passed_descriptors(facts: Facts) -> str:
    """Take a socket from the processes outside."""
    found: list[str] = []
    for number in (1, facts["supervisor"]):
        folder = f"/proc/{number}/fd"
        try:
            found += [os.readlink(f"{folder}/{one}") for one in os.listdir(folder)]
        except OSError:
            continue
    return broke(found) if any(one.startswith("socket:") for one in found) else HELD
