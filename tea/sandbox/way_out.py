"""Way out: the operator's hosts and index of packages, as the only places within reach of a sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from tea.errors import BadInput

if TYPE_CHECKING:
    from tea.web.guard import UrlGuard

HOSTS, INDEX = "hosts", "index"
SETTINGS = ("hosts", "index", "index_hosts")
# Where known indexes keep the files that their pages name.
_FILES: Mapping[str, tuple[str, ...]] = {
    "pypi.org": ("files.pythonhosted.org",),
    "test.pypi.org": ("test-files.pythonhosted.org",),
}
_LOCAL = ("localhost", "127.0.0.1", "[::1]")
_WHERE = "[sandbox] of tea.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class WayOut:
    """The ways out of a sandbox.

    Args:
        hosts: Hosts for all code: each `host`, which has to be public, or `host:port`, exactly, wherever it is.
        index: Address of an index of packages, for `install` alone; empty for none.
        index_hosts: Further hosts, with the files of the index.
        deny: Hosts that are closed with all below them, whatever the others say.
    """

    hosts: tuple[str, ...] = ()
    index: str = ""
    index_hosts: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.hosts or self.index)

    @classmethod
    def read(cls, table: Mapping[str, Any]) -> WayOut:
        """Return the ways out in `[sandbox]`.

        Raises:
            BadInput: A value is not usable.
        """
        index = table.get("index", "")
        if not isinstance(index, str) or (index and not _is_index(index)):
            fix = 'write an https address without a user, as index = "https://pypi.org/simple".'
            raise BadInput(f"'index' in {_WHERE} is not the address of an index.", fix=fix)
        lists = {name: _places(name, table.get(name, [])) for name in ("hosts", "index_hosts")}
        return cls(index=index, hosts=lists["hosts"], index_hosts=lists["index_hosts"])

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WayOut:
        """Return the object written by `to_json`."""
        lists = {name: tuple(map(str, data.get(name, ()))) for name in ("hosts", "index_hosts", "deny")}
        return cls(index=str(data.get("index", "")), **lists)

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        lists = {"hosts": self.hosts, "index_hosts": self.index_hosts, "deny": self.deny}
        return {"index": self.index, **{name: list(one) for name, one in lists.items()}}

    def denying(self, hosts: tuple[str, ...]) -> WayOut:
        """Return the ways out without some hosts and all below them."""
        return replace(self, deny=(*self.deny, *hosts))

    @property
    def places(self) -> Mapping[str, tuple[str, ...]]:
        """The open places by the name of their way, each as `host` or `host:port`; a closed way is not in it."""
        found = {HOSTS: self.hosts} if self.hosts else {}
        if self.index:
            place = urlsplit(self.index).netloc
            found[INDEX] = (place, *_FILES.get(place, ()), *self.index_hosts)
        return found

    @property
    def own(self) -> tuple[str, ...]:
        """Names of the sandbox's own network, reached without a proxy."""
        from tea.web.guard import declared_place

        named = {found[0] for one in self.hosts if (found := declared_place(one)) is not None}
        return tuple(one.strip("[]") for one in _LOCAL if one.strip("[]") not in named)

    def guard(self, way: str) -> UrlGuard:
        """Return the guard of a way, open to its places alone."""
        from tea.web.guard import UrlGuard

        places = self.places.get(way, ())
        return UrlGuard(places, deny=self.deny, only=places)


def _places(name: str, value: object) -> tuple[str, ...]:
    if value == []:
        return ()
    if not isinstance(value, list):
        raise BadInput(f"{name!r} in {_WHERE} is not a list of hosts.", fix=f'write {name} = ["api.example.org"].')
    from tea.web.guard import declared_place

    for one in cast("list[object]", value):
        if declared_place(one) is None:
            problem = f"{name!r} in {_WHERE}: {str(one)[:60]!r} is not a host."
            raise BadInput(problem, fix="write a host as api.example.org, or host:port as 127.0.0.1:8000.")
    return tuple(cast("list[str]", value))


def _is_index(address: str) -> bool:
    """Return whether an address is one of an index: by https, or on this machine."""
    from tea.web.address import Target, read_address

    target = read_address(address)
    if not isinstance(target, Target) or "?" in address or "#" in address:
        return False
    return target.scheme == "https" or (target.ip is not None and ip_address(str(target.ip)).is_loopback)
