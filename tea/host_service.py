"""Host service: the code hosts of a home with their keys, for components of this process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tea.errors import ToolError
from tea.home import HomeKeys
from tea.types import JsonObject
from tea.web.hosts import CodeHost, HostAccess, HostSettings
from tea.web.identity import CommitIdentity


class Grants(Protocol):
    """A check of the permission to send a key to the address in a home's settings."""

    def of_host(self, host: CodeHost) -> None:
        """Check the grant for the use of a code host; raise UntrustedHome without one."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HostService:
    """The code hosts of a home.

    Args:
        settings: The operator's hosts.
        keys: Gives keys by the names of their variables.
        grants: Decides where keys of the environment may go.
        committer: Who commits, as far as the home says.
    """

    settings: HostSettings
    keys: HomeKeys
    grants: Grants
    committer: CommitIdentity

    def identity(self) -> JsonObject:
        """Return the name and e-mail address for commits: the home's, else of the person's settings of git; blocks."""
        return self.committer.completed().to_json()

    def of(self, wanted: str) -> JsonObject:
        """Return the host of a name or of a repository's address, with its key; empty for an unknown one.

        Args:
            wanted: The name or the address.

        Raises:
            ToolError: Its key is not a line of printable ASCII.
            UntrustedHome: The settings of the home lead a key elsewhere, and nobody granted that.
        """
        if (host := self.settings.find(wanted)) is None:
            return {}
        self.grants.of_host(host)
        key = (self.keys(host.key_env) or "") if host.key_env else ""
        if len(key) > 4_000 or not (key.isascii() and key.isprintable()):
            raise ToolError(f"The key in {host.key_env} cannot be sent.", fix="set it to one line of printable ASCII.")
        return HostAccess(host=host, key=key).to_json()
