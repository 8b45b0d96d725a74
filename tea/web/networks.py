"""Networks: the public addresses, by IANA's registries, contained here as data.

Sources: the IANA IPv4 Special-Purpose Address Registry, the IANA IPv6 Special-Purpose Address Registry (both RFC 6890,
RFC 8190), the IPv4 and IPv6 multicast registries, and the IANA IPv6 Global Unicast Address Assignments. Every entry of
the special-purpose registries counts as not public, also the few that are globally reachable: no page lives there, and
routers near the host may answer in their place.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Literal

Address = IPv4Address | IPv6Address
AddressClass = Literal["public", "private", "metadata", "special"]

_SPECIAL_4 = """
0.0.0.0/8           this network (RFC 791)
10.0.0.0/8          private use (RFC 1918)
100.64.0.0/10       shared address space of carriers (RFC 6598)
127.0.0.0/8         loopback (RFC 1122)
169.254.0.0/16      link local (RFC 3927)
172.16.0.0/12       private use (RFC 1918)
192.0.0.0/24        IETF protocol assignments (RFC 6890)
192.0.2.0/24        documentation (RFC 5737)
192.31.196.0/24     AS112 (RFC 7535)
192.52.193.0/24     automatic multicast tunneling (RFC 7450)
192.88.99.0/24      6to4 relays, deprecated (RFC 7526)
192.168.0.0/16      private use (RFC 1918)
192.175.48.0/24     AS112, direct delegation (RFC 7534)
198.18.0.0/15       benchmarking (RFC 2544)
198.51.100.0/24     documentation (RFC 5737)
203.0.113.0/24      documentation (RFC 5737)
224.0.0.0/4         multicast (RFC 5771)
240.0.0.0/4         reserved, with the limited broadcast address (RFC 1112)
"""
_SPECIAL_6 = """
2001::/23           IETF protocol assignments, with Teredo, benchmarking and ORCHID (RFC 2928)
2001:db8::/32       documentation (RFC 3849)
2002::/16           6to4, which embeds an IPv4 address (RFC 3056)
2620:4f:8000::/48   AS112, direct delegation (RFC 7534)
3fff::/20           documentation (RFC 9637)
"""
# All global unicast addresses are assigned from here. What lies outside is special, reserved or not assigned: loopback,
# unspecified, mapped and compatible IPv4 (::/96, ::ffff:0:0/96), NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard only
# (100::/64, 100:0:0:1::/64), SRv6 (5f00::/16), unique local (fc00::/7), link local, site local, and multicast.
_GLOBAL_6 = ip_network("2000::/3")
# Private networks, which an operator may open by the name of a host in them.
_PRIVATE = """
10.0.0.0/8          private use
100.64.0.0/10       shared address space of carriers
127.0.0.0/8         loopback
172.16.0.0/12       private use
192.168.0.0/16      private use
::1/128             loopback
fc00::/7            unique local (RFC 4193)
"""
# Addresses at which clouds tell a machine who it is and which keys it has; nobody opens them by name.
_METADATA = """
100.100.100.200/32  Alibaba Cloud
168.63.129.16/32    Azure, which answers in every virtual network
169.254.0.0/16      AWS, Google Cloud, Azure, DigitalOcean, Tencent and others
192.0.0.192/32      Oracle Cloud
fd00:ec2::/32       AWS
fd20:ce::254/128    Google Cloud
fd00:c1::a9fe:a9fe/128 Oracle Cloud
"""
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)  # the middle of an IPv6 address that ends in an IPv4 address (RFC 5214)


def read_ip(text: str) -> Address | None:
    """Return the IP address in a text, in any spelling accepted by `ipaddress`, None if there is none."""
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return None if isinstance(found, IPv6Address) and found.scope_id is not None else found


def class_of(address: Address) -> AddressClass:
    """Return `public`, `private` (an operator may open it by name), `metadata` (of a cloud), or `special`."""
    if _inside(address, _METADATA_NETWORKS):
        return "metadata"
    if _inside(address, _PRIVATE_NETWORKS):
        return "private"
    if isinstance(address, IPv4Address):
        return "special" if _inside(address, _SPECIAL_4_NETWORKS) else "public"
    isatap = (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP
    return "public" if address in _GLOBAL_6 and not isatap and not _inside(address, _SPECIAL_6_NETWORKS) else "special"


def _inside(address: Address, networks: tuple[IPv4Network | IPv6Network, ...]) -> bool:
    return any(address in network for network in networks if network.version == address.version)


def _networks(table: str) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(line.split()[0]) for line in table.strip().splitlines())


_SPECIAL_4_NETWORKS, _SPECIAL_6_NETWORKS = _networks(_SPECIAL_4), _networks(_SPECIAL_6)
_PRIVATE_NETWORKS, _METADATA_NETWORKS = _networks(_PRIVATE), _networks(_METADATA)
