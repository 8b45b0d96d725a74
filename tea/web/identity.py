"""Identity: the committer, by `[git]` of `tea.toml` or the person's own settings of git."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tea.characters import in_sentence
from tea.components.port import ReadCommitIdentity
from tea.errors import BadInput
from tea.types import JsonObject

if TYPE_CHECKING:
    from tea.components.context import Context

_MOST = 200
_SECONDS = 5.0
_FIELDS = ("name", "email")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitIdentity:
    """The name and e-mail address of commits.

    Args:
        name: A name; empty if nothing says one.
        email: An address; empty if nothing says one.
    """

    name: str = ""
    email: str = ""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> CommitIdentity:
        """Return the identity in a table `[git]`.

        Raises:
            BadInput: It holds an unknown setting, or a value that git does not take.
        """
        for key, value in document.items():
            if key not in _FIELDS:
                name = in_sentence(f"git.{key[:60]}")
                raise BadInput(f"{name} in tea.toml: it is not a setting.", fix="settings are name, email.")
            if not isinstance(value, str) or not _is_usable(value):
                problem = f"git.{key} in tea.toml: it is not a line without < and >."
                raise BadInput(problem, fix='write name = "Research desk" and email = "desk@example.org".')
        return cls(**document)

    def completed(self) -> CommitIdentity:
        """Return it with gaps filled from the person's own settings of git; blocks."""
        return CommitIdentity(
            name=self.name or _configured("user.name") or "tea",
            email=self.email or _configured("user.email") or "tea@localhost",
        )

    def to_json(self) -> JsonObject:
        """Return it as a JSON object."""
        return asdict(self)


async def commit_identity(ctx: Context) -> CommitIdentity:
    """Return the committer for the person behind a run.

    Args:
        ctx: The context of a tool, or of an action of an environment.

    Raises:
        ToolError: An agent or a scope asks.
    """
    return CommitIdentity(**await ctx.port.serve(ReadCommitIdentity()))


def _configured(key: str) -> str:
    """Return a value of the person's settings of git, empty without a usable one."""
    program = shutil.which("git")
    if program is None:
        return ""
    try:
        done = subprocess.run(
            [program, "config", "--global", "--get", key], capture_output=True, timeout=_SECONDS, check=False, cwd="/"
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    found = done.stdout.decode("utf-8", "replace").strip()
    return found if _is_usable(found) else ""


def _is_usable(text: str) -> bool:
    return 0 < len(text.strip()) <= _MOST and text.isprintable() and not {"<", ">"} & set(text)
