"""The process around code run as WebAssembly: gives it some folders, a limit of memory, and a way to answer."""

from __future__ import annotations

import importlib
import os
import select
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


CHANNEL = 1_000  # number of the way to the supervisor, as seen by the code; no descriptor of its own has it
_BAD_DESCRIPTOR, _BROKEN = 8, 64
_BLOCK = 1 << 20
_CRASHED = 134
_MOST_WORDS = 1_000
_LOOK = 1  # the flag to look whether something can be received, for a moment
_MOMENT = 0.01
_BEGIN = """
import sys, types
for name in ('tea', 'tea.sandbox', 'tea.sandbox.inside'):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = []
sys.modules['tea.sandbox.inside'].__path__.append({inside!r})
from tea.sandbox.inside.guest import main
main({guest!r}, {channel!r})
"""


def serve(channel: int, plan: dict[str, Any]) -> None:
    """Run the interpreter until it ends; this process ends with it, also after an error.

    Args:
        channel: Where requests come from and answers go to.
        plan: What the host sent about it: `runtime`, `library`, `memory`, `folders`, `inside`, `workspace`,
            `packages`, `modules`, `stand_ins`, `env`.
    """
    code = _CRASHED
    try:
        code = _run(channel, plan)
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode()[:_MOST_WORDS])
    finally:
        os._exit(code & 0xFF)


def _run(channel: int, plan: dict[str, Any]) -> int:
    """Run the interpreter, and return its exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # code cannot be interrupted and go on: it ends
    sys.path.append(plan["library"])
    made: Any = importlib.import_module("wasmtime")
    engine = made.Engine()
    store = made.Store(engine)
    store.set_limits(memory_size=plan["memory"])
    settings = made.WasiConfig()
    given = {name: plan[name] for name in ("workspace", "packages", "modules", "stand_ins")}
    begin = _BEGIN.format(inside=plan["inside"], guest=given, channel=CHANNEL)
    settings.argv = ["python", "-S", "-s", "-P", "-B", "-c", begin]
    settings.env = list(plan["env"].items())
    settings.inherit_stdout()
    settings.inherit_stderr()
    for source, target, writable in plan["folders"]:
        settings.preopen_dir(source, target, writable)
    store.set_wasi(settings)
    linker = made.Linker(engine)
    linker.define_wasi()
    linker.allow_shadowing = True
    _connect(made, linker, channel)
    module = made.Module.deserialize_file(engine, plan["runtime"])
    try:
        linker.instantiate(store, module).exports(store)["_start"](store)
    except made.ExitTrap as end:
        return end.code
    return 0


def _connect(made: Any, linker: Any, channel: int) -> None:
    """Restrict the two calls for sockets to the channel, by its number."""

    def first(caller: Any, at: int) -> tuple[int, int]:
        """Return the place and the size of the first of some buffers; the code offers the rest again."""
        words = bytes(caller["memory"].read(caller, at, at + 8))
        return int.from_bytes(words[:4], "little"), min(int.from_bytes(words[4:], "little"), _BLOCK)

    def send(caller: Any, number: int, data: int, count: int, flags: int, sent: int) -> int:
        if number != CHANNEL or not count:
            return _BAD_DESCRIPTOR
        at, size = first(caller, data)
        try:
            done = os.write(channel, bytes(caller["memory"].read(caller, at, at + size)))
        except OSError:
            return _BROKEN
        caller["memory"].write(caller, done.to_bytes(4, "little"), sent)
        return 0

    def receive(caller: Any, number: int, data: int, count: int, flags: int, received: int, address: int) -> int:
        if number != CHANNEL or not count:
            return _BAD_DESCRIPTOR
        at, size = first(caller, data)
        if flags & _LOOK:
            there = bool(select.select([channel], [], [], _MOMENT)[0])
            found = b"1" if there and size else b""
        else:
            found = os.read(channel, size)
        caller["memory"].write(caller, found, at)
        caller["memory"].write(caller, len(found).to_bytes(4, "little"), received)
        caller["memory"].write(caller, bytes(2), address)
        return 0

    number = made.ValType.i32()
    for name, count, call in (("sock_send", 5, send), ("sock_recv", 6, receive)):
        kind = made.FuncType([number] * count, [number])
        linker.define_func("wasi_snapshot_preview1", name, kind, call, access_caller=True)
