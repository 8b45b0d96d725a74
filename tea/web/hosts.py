"""Hosts: the operator's code hosts, their addresses and the variables of their keys, in `[hosts]` of `tea.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, cast

from tea.components.port import ReadCodeHost
from tea.errors import BadInput
from tea.types import JsonObject

if TYPE_CHECKING:
    from tea.components.context import Context
    from tea.web.address import Target

GITHUB = "github"
_ENTERPRISE = "/api/v3"  # where a GitHub Enterprise Server has its REST API, below its own address
_FIELDS = ("url", "api", "user", "key_env")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_USER = re.compile(r"[!-9;-~]{1,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeHost:
    """A host of git repositories.

    Args:
        name: Its name in the settings.
        url: Where its repositories are: scheme, host and perhaps port.
        api: Address of its REST API, without a final slash; empty for none.
        user: The name that goes with its key as a password.
        key_env: Name of the variable that holds its key.
    """

    name: str
    url: str
    api: str = ""
    user: str = "git"
    key_env: str = ""

    @property
    def is_official(self) -> bool:
        """Whether it is at the addresses of its preset, with the preset's key."""
        known = PRESETS.get(self.name)
        return known is not None and replace(self, user=known.user) == known

    def holds(self, address: str) -> bool:
        """Return whether an address is one of a repository here: of the same scheme, host and port."""
        own, other = _target(self.url), _target(address)
        return own is not None and other is not None and _origin(own) == _origin(other)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostAccess:
    """A code host with the operator's key for it.

    Args:
        host: The host.
        key: The key; empty for none.
    """

    host: CodeHost
    key: str = field(default="", repr=False)

    @classmethod
    def from_json(cls, data: JsonObject) -> HostAccess:
        """Return the object written by `to_json`."""
        given = {name: str(data[name]) for name in ("name", *_FIELDS)}
        return cls(host=CodeHost(**given), key=str(data["key"]))

    def to_json(self) -> JsonObject:
        """Return it as a JSON object."""
        return {**asdict(self.host), "key": self.key}


PRESETS: Mapping[str, CodeHost] = {
    GITHUB: CodeHost(
        name=GITHUB,
        url="https://github.com",
        api="https://api.github.com",
        user="x-access-token",
        key_env="GITHUB_TOKEN",
    ),
    "gitlab": CodeHost(name="gitlab", url="https://gitlab.com", user="oauth2", key_env="GITLAB_TOKEN"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    """The operator's code hosts by name; those of `PRESETS` are always among them.

    Args:
        hosts: The hosts.
    """

    hosts: Mapping[str, CodeHost] = field(default_factory=lambda: PRESETS)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> HostSettings:
        """Return the hosts of a document, each a table `[hosts.NAME]`.

        Raises:
            BadInput: It holds an unknown setting, or a value that does not fit.
        """
        return cls(hosts={**PRESETS, **{name: _host(name, value) for name, value in document.items()}})

    def find(self, wanted: str) -> CodeHost | None:
        """Return the host of a name or of a repository's address, None if there is none."""
        if wanted in self.hosts:
            return self.hosts[wanted]
        return next((one for one in self.hosts.values() if one.holds(wanted)), None)


async def code_host(ctx: Context, wanted: str) -> HostAccess | None:
    """Return the operator's code host of a name or of a repository's address, with its key; None if there is none.

    A key is given inside of effects of trusted components alone, and is masked in all that is recorded.

    Args:
        ctx: The context of a tool, or of an action of an environment.
        wanted: The name, as `github`, or the address.

    Raises:
        ToolError: An agent or a scope asks.
        UntrustedHome: The settings of the home lead a key elsewhere, and nobody granted that.
    """
    found = await ctx.port.serve(ReadCodeHost(wanted))
    return HostAccess.from_json(found) if found else None


def _host(name: str, value: object) -> CodeHost:
    """Return a host as it is written.

    Raises:
        BadInput: It cannot be used.
    """
    if not isinstance(value, Mapping):
        raise _bad(name, "it is not a table", 'write [hosts.NAME] and url = "https://git.example.org" below.')
    given = cast("Mapping[str, object]", value)
    for key, one in given.items():
        if key not in _FIELDS:
            raise _bad(f"{name}.{key}", "it is not a setting", f"settings are {', '.join(_FIELDS)}.")
        if not isinstance(one, str):
            raise _bad(f"{name}.{key}", "it is not a text", 'write it as "...".')
    texts = {key: str(one) for key, one in given.items()}
    preset = PRESETS.get(name, CodeHost(name=name, url=""))
    found = replace(preset, **texts)
    if name == GITHUB and "url" in texts and "api" not in texts and found.url != preset.url:
        found = replace(found, api=found.url.rstrip("/") + _ENTERPRISE)
    return _checked(found)


def _checked(host: CodeHost) -> CodeHost:
    """Return a usable host, its addresses in one spelling.

    Raises:
        BadInput: It lacks an address, or one would give its key to everybody on the way.
    """
    if not _is_safe(host.url) or cast("Target", _target(host.url)).path != "/":
        fix = 'write scheme and host alone, as "https://git.example.org".'
        raise _bad(f"{host.name}.url", "it is not an https address of a host", fix)
    if host.api and not _is_safe(host.api):
        raise _bad(f"{host.name}.api", "it is not an https address", 'write "https://git.example.org/api/v3".')
    if host.key_env and not _VARIABLE.fullmatch(host.key_env):
        raise _bad(f"{host.name}.key_env", "it is not a name of a variable", 'write for example "GIT_TOKEN".')
    if not _USER.fullmatch(host.user):
        raise _bad(f"{host.name}.user", "it is not a name", 'write for example "git".')
    url, api = (cast("Target", _target(one)).url.rstrip("/") if one else "" for one in (host.url, host.api))
    return replace(host, url=url, api=api)


def _is_safe(address: str) -> bool:
    """Return whether a connection to an address cannot be eavesdropped on: by https, or on this machine."""
    target = _target(address)
    if target is None or "?" in target.path:
        return False
    return target.scheme == "https" or (target.ip is not None and ip_address(str(target.ip)).is_loopback)


def _target(address: str) -> Target | None:
    """Return the place named by an address, None for none."""
    from tea.web.address import Target, read_address  # loaded with the first address, as most runs look at none

    found = read_address(address)
    return found if isinstance(found, Target) else None


def _origin(target: Target) -> tuple[str, str, int]:
    return target.scheme, target.host, target.port


def _bad(name: str, problem: str, fix: str) -> BadInput:
    return BadInput(f"{name[:60]!r} below [hosts] in tea.toml cannot be used: {problem}.", fix=fix)
