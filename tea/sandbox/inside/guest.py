"""The interpreter of a session run as WebAssembly: the same as elsewhere, on another way to its host."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Sequence
from importlib.machinery import FileFinder, ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from types import ModuleType

from tea.sandbox.inside import frames, worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def main(plan: dict[str, Any], number: int) -> None:
    """Answer requests until the channel ends.

    Args:
        plan: What the host sent: `workspace`, the folder to work in; `packages`, folders of packages by their names;
            `modules`, a folder of modules that are one file each, empty for none; `stand_ins`, files and versions of
            modules in Python by the names of native ones.
        number: Number of the channel.
    """
    channel = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, number)
    os.chdir(plan["workspace"])
    sys.path[:] = ["", *sys.path, *([plan["modules"]] if plan["modules"] else [])]
    sys.meta_path.append(_Packages(plan["packages"], plan["stand_ins"]))
    if "tea" in plan["packages"]:
        worker.forget()
    names = worker.begin()
    kept: dict[str, Any] = {}
    talk = _Channel(channel)
    while True:
        try:
            request = talk.read(number)
        except (frames.Broken, OSError):
            os._exit(0)
        if "hear" in request:
            continue  # it came too late for the call that asked
        for one in sys.path_importer_cache.values():
            if isinstance(one, FileFinder):  # the standard library is an archive, read anew in a tenth of a second
                one.invalidate_caches()
        talk.write(number, {**_answer(request, talk, number, names, kept), "token": request["token"]})


def _answer(
    request: dict[str, Any], talk: _Channel, number: int, names: dict[str, Any], kept: dict[str, Any]
) -> dict[str, Any]:
    talk.count += 1
    if "module" not in request:
        return worker.run(request["code"], f"<call {talk.count}>", names)
    line = worker.Line(number, request["token"], talk.read, talk.write, talk.new_loop)
    return {"reply": worker.converse(request, line, kept)}


class _Channel:
    """The way to the supervisor: frames as everywhere, read and written by a socket in place of a descriptor."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self.count = 0

    def read(self, _: int) -> dict[str, Any]:
        """Read one message, and wait for it."""
        return frames.decode(self._exactly(frames.length(self._exactly(frames.HEAD))))

    def write(self, _: int, message: object) -> None:
        """Write one message, all of it."""
        self._socket.sendall(frames.encode(message))

    def new_loop(self) -> Any:
        """Return an event loop waiting for messages alone."""
        from tea.sandbox.inside.loop import ChannelLoop  # loads asyncio, which code in the shell may do without

        return ChannelLoop(lambda: bool(self._socket.recv(1, socket.MSG_PEEK)))

    def _exactly(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            part = self._socket.recv(min(count - len(found), 1 << 20))
            if not part:
                raise frames.Broken("the end")
            found += part
        return found


class _Packages:
    """The finder of declared packages, each a folder of its own, and of the stand-ins for native modules."""

    def __init__(self, folders: dict[str, str], stand_ins: dict[str, list[str]]) -> None:
        self._folders, self._stand_ins = folders, stand_ins

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the place of a package, None for anything else."""
        if name in self._stand_ins:
            file, version = self._stand_ins[name]
            return spec_from_file_location(name, file, loader=_StandIn(name, file, version))
        folder = self._folders.get(name)
        if folder is None:
            return None
        return spec_from_file_location(name, f"{folder}/__init__.py", submodule_search_locations=[folder])


class _StandIn(SourceFileLoader):
    """Loads a module in Python under the name and version of a native one."""

    def __init__(self, name: str, file: str, version: str) -> None:
        super().__init__(name, file)
        self._version = version

    def exec_module(self, module: ModuleType) -> None:
        """Execute it."""
        vars(module)["__version__"] = self._version
        super().exec_module(module)
