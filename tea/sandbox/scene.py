"""Scene: files planted by a self-check for code in a sandbox to find, and services for it to reach."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import sys
import sysconfig
import tempfile
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_OPEN_FILE, _OPEN_FOLDER = 0o666, 0o777


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The planted files and services.

    Args:
        folder: Where it lies.
        workspace: The workspace of the sandbox that is checked.
        facts: What an attack is told of it.
        planted: The files by path, with what they hold.
        datagrams: Receives what arrives by UDP.
    """

    folder: Path
    workspace: Path
    facts: dict[str, Any]
    planted: Mapping[Path, str]
    datagrams: socket.socket = field(repr=False)

    def arrived(self) -> bool:
        """Return whether a datagram came."""
        try:
            return bool(self.datagrams.recv(1 << 12))
        except BlockingIOError:
            return False

    def changed(self) -> list[str]:
        """Return the planted files with a change since."""
        return [path.name for path, text in self.planted.items() if not path.is_file() or path.read_text() != text]


@contextmanager
def planted() -> Generator[Scene]:
    """Yield a scene readable and writable by everybody, protected by nothing but the sandbox."""
    words = f"planted-{secrets.token_hex(8)}"
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="tea-check-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        files = _plant(folder, words)
        workspace = folder / "run" / "workspace"
        services, datagrams = _services(stack, folder)
        facts = {
            "words": words,
            "outside": str(folder / "outside"),
            "secret": str(folder / "outside" / "secret"),
            "open": str(folder / "outside" / "open"),
            "victim": str(folder / "outside" / "victim"),
            "journal": str(folder / "run" / "journal.jsonl"),
            "another": str(folder / "other" / "workspace" / "notes.txt"),
            "trusted": str(folder / "state" / "trusted"),
            "settings": str(folder / "home" / "tea.toml"),
            "dotenv": str(folder / "home" / ".env"),
            "key": str(folder / "account" / ".ssh" / "id_ed25519"),
            "home": str(folder / "account"),
            "site": sysconfig.get_paths()["purelib"],
            "host": os.getpid(),
            "group": os.getpgid(0),
            "line": Path(sys.executable).name,
            **services,
        }
        yield Scene(folder=folder, workspace=workspace, facts=facts, planted=files, datagrams=datagrams)


def _plant(folder: Path, words: str) -> dict[Path, str]:
    names = ["secret", "open", "victim", "deletable", "movable", "takable"]
    paths = [f"outside/{name}" for name in names]
    paths += ["run/journal.jsonl", "run/beside.txt", "run/workspace/input.txt", "other/workspace/notes.txt"]
    paths += ["state/trusted", "home/tea.toml", "home/.env", "account/.ssh/id_ed25519"]
    found: dict[Path, str] = {}
    for one in paths:
        path = folder / one
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{words} {one}\n")
        path.chmod(_OPEN_FILE)
        found[path] = path.read_text()
    for path in (folder, *(one for one in folder.rglob("*") if one.is_dir())):
        path.chmod(_OPEN_FOLDER)
    return found


def _services(stack: ExitStack, folder: Path) -> tuple[dict[str, Any], socket.socket]:
    """Return the ways to reach services listening on this machine, and the receiver of datagrams."""
    abstract = f"tea-{secrets.token_hex(8)}"
    stream = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    tcp = stream.getsockname()[1]
    stack.enter_context(socket.create_server(("127.0.0.2", tcp)))
    datagrams = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    datagrams.bind(("127.0.0.1", 0))
    datagrams.setblocking(False)
    for address in (str(folder / "outside" / "service"), f"\0{abstract}"):
        local = stack.enter_context(socket.socket(socket.AF_UNIX))
        local.bind(address)
        local.listen()
    path = folder / "outside" / "service"
    path.chmod(_OPEN_FILE)
    return {"tcp": tcp, "udp": datagrams.getsockname()[1], "unix": str(path), "abstract": abstract}, datagrams
