"""The interpreter of a session run as WebAssembly: the same as elsewhere, on another way to its host."""

import os
import socket
import sys
from collections.abc import Sequence
from importlib.machinery import FileFinder, ModuleSpec
from importlib.util import spec_from_file_location
from types import ModuleType
from typing import Any

from tea.sandbox.inside import frames, worker


def main(workspace: str, packages: dict[str, str], number: int) -> None:
    """Answer requests until the channel ends.

    Args:
        workspace: The folder to work in.
        packages: Folders of packages by their names.
        number: Number of the channel.
    """
    channel = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, number)
    os.chdir(workspace)
    sys.path.insert(0, "")
    sys.meta_path.append(_Packages(packages))
    names = worker.begin()
    count = 0
    while True:
        try:
            size = frames.length(_exactly(channel, frames.HEAD))
            request = frames.decode(_exactly(channel, size))
        except (frames.Broken, OSError):
            os._exit(0)
        count += 1
        for one in sys.path_importer_cache.values():
            if isinstance(one, FileFinder):  # the standard library is an archive, read anew in a tenth of a second
                one.invalidate_caches()
        answer = worker.run(request["code"], f"<call {count}>", names)
        channel.sendall(frames.encode({**answer, "token": request["token"]}))


class _Packages:
    """The finder of declared packages, each a folder of its own."""

    def __init__(self, folders: dict[str, str]) -> None:
        self._folders = folders

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the place of a package, None for anything else."""
        folder = self._folders.get(name)
        if folder is None:
            return None
        return spec_from_file_location(name, f"{folder}/__init__.py", submodule_search_locations=[folder])


def _exactly(channel: Any, count: int) -> bytes:
    found = b""
    while len(found) < count:
        part = channel.recv(min(count - len(found), 1 << 20))
        if not part:
            raise frames.Broken("the end")
        found += part
    return found
