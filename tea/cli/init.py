"""`tea init`: making a folder a home."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

from tea.cli.command import Command
from tea.cli.terminal import one_line
from tea.errors import StorageError

_SETTINGS = """\
# Settings of this tea home. Everything here is optional; the values below are the defaults.

# Name of the model configuration that answers where a task names none.
# model = "offline"

# What a journal survives: "flush" the death of the process, "synced" also a loss of power.
# durability = "flush"

# What is done about calls that declare effects beyond the workspace: "allow", "deny", "ask" each time, or "once" about
# each version. After words of others were read, calls go only to places that a person or `destinations` names.
# [policy]
# external = "once"
# irreversible = "once"
# destinations = []
# provenance = true

# What retrieval compares meanings with, for example; by default what is built in, which needs nothing.
# [embedder]
# provider = "openai"  # any endpoint of that form; or "sentence-transformers" (extra `embeddings`)
# model = "NAME"
# base_url = "http://127.0.0.1:8080/v1"
# key_env = "OPENAI_API_KEY"
"""


async def init(command: Command) -> None:
    """Make the current folder, or --home, a home.

    Creates tea.toml, registry/ and traces/, and overwrites nothing.
    """
    home = (command.home or Path(os.environ.get("TEA_HOME") or Path.cwd())).absolute()
    made = await asyncio.to_thread(_make, home)
    words = f"created {', '.join(made)} in {home}" if made else f"{home} is a home already; nothing changed"
    command.show(one_line(words), {"home": str(home), "created": made})


def _make(home: Path) -> list[str]:
    """Create missing entries of a home and return their names."""
    from tea.home import require_own
    from tea.store.scratch import PRIVATE_FOLDER, PUBLIC_FILE, PUBLIC_FOLDER, make_folders

    require_own(home)
    made: list[str] = []
    try:
        for name, mode in (("registry", PUBLIC_FOLDER), ("traces", PRIVATE_FOLDER)):
            if not (home / name).is_dir():
                make_folders(home / name, mode)
                made.append(f"{name}/")
        with suppress(FileExistsError):
            descriptor = os.open(home / "tea.toml", os.O_WRONLY | os.O_CREAT | os.O_EXCL, PUBLIC_FILE)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(_SETTINGS)
            made.append("tea.toml")
    except OSError as error:
        problem = f"The home {str(home)[-150:]!r} cannot be made: {error.strerror or type(error).__name__}."
        raise StorageError(problem, fix="name a folder you may write, with --home.") from error
    return made
