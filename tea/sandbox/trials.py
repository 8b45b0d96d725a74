"""Trials: the part of a self-check seen from outside of a sandbox: leftovers, costs, and continued work."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import signal
import sys
from asyncio.subprocess import PIPE, create_subprocess_exec
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tea.errors import ToolError
from tea.sandbox.inside.attacks.attack import HELD, absent, broke
from tea.sandbox.inside.wasm import CHANNEL
from tea.sandbox.scene import Scene
from tea.sandbox.session import GROUP, Sandbox, opened
from tea.sandbox.settings import MOVED, WASM, LevelName, Limits
from tea.types import JsonObject

_WAIT_SECONDS = 5.0
_LOOK_SECONDS = 0.02
_CHANNEL = f"socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, {CHANNEL}).send"  # at the level without a kernel
_LACKS = ("AttributeError", "ModuleNotFoundError")  # a function or a module that a level does not have
_SLACK = 128 << 20  # what interpreters themselves take, and what is taken between two looks


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The surroundings given to a trial."""

    scene: Scene
    level: LevelName
    limits: Limits
    terms: JsonObject
    facts: Mapping[str, Any]


Run = Callable[[Stage], Awaitable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One case seen from outside."""

    claim: str
    words: str
    run: Run
    heavy: bool


TRIALS: dict[str, Trial] = {}


def trial(claim: str, *, heavy: bool = False) -> Callable[[Run], Run]:
    """Declare a trial of a level's claim; its docstring names the attempt."""

    def declare(run: Run) -> Run:
        words = (run.__doc__ or "").strip().rstrip(".")
        TRIALS[run.__name__] = Trial(claim=claim, words=words, run=run, heavy=heavy)
        return run

    return declare


@trial("pids")
async def end_supervisor(stage: Stage) -> str:
    """Kill, stop or interrupt the watching process."""
    names = "SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSTOP, SIGCHLD, SIGPIPE, SIGUSR1, SIGALRM, SIGKILL"
    code = f"import os, contextlib\nfrom signal import *\nfor one in ({names}):\n"
    code += "    with contextlib.suppress(OSError):\n        os.kill(os.getppid(), one)"
    async with opened(stage.terms) as sandbox:
        before = sandbox.process
        await _suppressed(sandbox.python(code))
        after = await _suppressed(sandbox.python("40 + 2"))
        return HELD if after == "42" and sandbox.process == before else broke(f"it answers {after!r}")


@trial("limits")
async def left_after_a_call(stage: Stage) -> str:
    """Leave a process of its own session behind after a call."""
    mark = _mark()
    async with opened(stage.terms) as sandbox:
        await sandbox.bash(f"setsid -f sleep {mark}; (setsid sleep {mark} &) &")
        return await _gone(mark)


@trial("limits")
async def left_after_the_end(stage: Stage) -> str:
    """Leave a process behind after the session."""
    mark = _mark()
    code = f"import subprocess\nsubprocess.Popen(['/bin/sleep', '{mark}'], start_new_session=True)\n"
    async with opened(stage.terms) as sandbox, asyncio.TaskGroup() as tasks:
        await sandbox.python("1")
        there = _below(sandbox.process or 0)
        running = tasks.create_task(_suppressed(sandbox.python(f"{code}import time; time.sleep(60)")))
        await asyncio.sleep(0.2)
        running.cancel()
    return await _gone(mark, there)


@trial("limits")
async def left_after_the_host(stage: Stage) -> str:
    """Live on after the process running tea is killed."""
    mark = _mark()
    work = "python('while True: pass')" if stage.level == WASM else f"bash('sleep {mark}; sleep {mark}')"
    program = (
        "import asyncio, json, sys\nfrom tea.sandbox.session import Sandbox\n"
        "async def main():\n"
        "    sandbox = await Sandbox.open(json.loads(sys.stdin.readline()))\n"
        f"    running = asyncio.ensure_future(sandbox.{work})\n"
        "    await asyncio.sleep(0.2)\n    print(sandbox.process, flush=True)\n    await running\n"
        "asyncio.run(main())\n"
    )
    host = await create_subprocess_exec(sys.executable, "-P", "-c", program, stdin=PIPE, stdout=PIPE)
    try:
        assert host.stdin is not None
        assert host.stdout is not None
        host.stdin.write(json.dumps(stage.terms).encode() + b"\n")
        said = await host.stdout.readline()
        there = _below(int(said or 0))
    finally:
        with suppress(ProcessLookupError):
            host.send_signal(signal.SIGKILL)
        await host.wait()
    return await _gone(mark, there) if said else absent("the host did not start")


@trial("limits")
async def threads_between_calls(stage: Stage) -> str:
    """Go on in a thread between two calls."""
    code = "import threading, time\ncount = 0\ndef run():\n    global count\n    while True:\n"
    code += "        count += 1\n        time.sleep(0.001)\nthreading.Thread(target=run, daemon=True).start()"
    async with opened(stage.terms) as sandbox:
        await sandbox.python(code)
        await asyncio.sleep(0.5)
        count = int((await sandbox.python("count")).result)
        return HELD if count < 250 else broke(f"{count} turns meanwhile")


@trial("limits")
async def forged_answer(stage: Stage) -> str:
    """Answer the supervisor in the interpreter's place, with bytes other than an answer."""
    async with opened(stage.terms) as sandbox:
        await sandbox.python("kept = 1")
        for data in (r"b'\x00\x00\x00\x02{}'", r"b'\xff' * 100", r"b'\x7f\xff\xff\xff' + b'x' * 100000"):
            try:
                write = _CHANNEL if stage.level == WASM else "os.write"
                given = data if stage.level == WASM else f"3, {data}"
                await sandbox.python(f"import os, socket, time; {write}({given}); time.sleep(30)")
            except ToolError:
                pass
            else:
                return broke("it was taken for an answer")
            if (await sandbox.python("40 + 2")).result != "42":
                return broke("the next call fails")
    return HELD


@trial("limits")
async def silent_interpreter(stage: Stage) -> str:
    """End the way to the supervisor, and the interpreter."""
    ways = ("import os; os._exit(0)", "import os; os.close(3)", "import ctypes; ctypes.string_at(0)")
    async with opened(stage.terms) as sandbox:
        # With WebAssembly the way is not a descriptor, and no memory is named.
        for code in ways[:1] if stage.level == WASM else ways:
            if await _suppressed(sandbox.python(code)) is not None:
                return broke("it is said to have ended well")
            if (await sandbox.python("40 + 2")).result != "42":
                return broke("the next call fails")
    return HELD


@trial("limits")
async def planted_modules(stage: Stage) -> str:
    """Leave modules in the likely search paths of the next supervisor."""
    plant = (
        "import os, sys\n"
        'text = \'import os\\ntry:\\n    free = "Seccomp:\\\\t0" in open("/proc/self/status").read()\\n\'\n'
        "text += 'except OSError:\\n    free = False\\nif free:\\n    open(MARK, \"w\").close()\\n'\n"
        "text = text.replace('MARK', repr(os.getcwd() + '/imported'))\n"
        "for folder in {'.', os.environ['TMPDIR'], *os.environ['PYTHONPATH'].split(':')}:\n"
        "    for name in ('json', 'select', 'ctypes', 'site', 'sitecustomize', 'usercustomize', 'tea', 'encodings'):\n"
        "        try: open(f'{folder}/{name}.py', 'w').write(text)\n"
        "        except OSError: pass\n"
    )
    async with opened(stage.terms) as sandbox:
        await sandbox.python(plant)
        await sandbox.end()
        await _suppressed(sandbox.python("1") if stage.level == WASM else sandbox.bash("true"))
        imported = (stage.scene.workspace / "imported").exists()
        await sandbox.end()
        for path in (*stage.scene.workspace.glob("*.py"), *stage.scene.workspace.glob("imported")):
            path.unlink()
        return broke("the supervisor imported one") if imported else HELD


@trial("limits")
async def broken_folders(stage: Stage) -> str:
    """Take away the folders written by the supervisor."""
    async with opened(stage.terms) as sandbox:
        for line in ("chmod 000 $TMPDIR", "chmod 000 .", "rm -rf $TMPDIR; mkdir -p $TMPDIR/stdout-4.txt"):
            await _suppressed(sandbox.bash(line))
            if await _suppressed(sandbox.python("print('x' * 200_000); 40 + 2")) != "42":
                return broke(f"after {line!r} the next call fails")
            if (await sandbox.bash("echo on")).stdout.text != "on\n":
                return broke(f"after {line!r} the next command fails")
    return HELD


@trial("limits")
async def odd_names(stage: Stage) -> str:
    """Give undecodable names to files, and undecodable text in answers."""
    code = "open(b'\\xff\\xfe\\n', 'w').close()\nclass Odd:\n    def __repr__(self): return '\\udcff'\nOdd()"
    async with opened(stage.terms) as sandbox:
        ran = await sandbox.python(code)
        if ran.raised:
            return absent(f"a file cannot have such a name ({ran.raised})")
        await sandbox.python("import os; os.unlink(b'\\xff\\xfe\\n')")
    json.dumps([ran.result, ran.files], ensure_ascii=False).encode()
    return HELD if ran.files else broke("the file is not told")


@trial("limits", heavy=True)
async def hidden_folders(stage: Stage) -> str:
    """Fill the disk in unreadable folders, and below paths of excessive length."""
    if stage.level == WASM:
        return absent("a folder has no mode there, and no path is longer than the kernel takes")
    write = "for n in range(400): open(f'{n}.bin', 'wb').write(bytes(1 << 20))\nimport time; time.sleep(5)"
    ways = (
        "import os\nos.mkdir('closed'); os.chdir('closed'); os.chmod('.', 0o300)\n",
        "import os\nfor n in range(300):\n    os.mkdir('d' * 50); os.chdir('d' * 50)\n",
    )
    async with opened(stage.terms) as sandbox:
        for way in ways:
            outcome = await _stopped(sandbox, way + write)
            await _clear(stage)
            if outcome != HELD:
                return outcome
    return HELD


@trial("memory", heavy=True)
async def memory_of_the_kernel(stage: Stage) -> str:
    """Have the kernel hold the buffers of many full sockets."""
    code = (
        "import os, socket, time\n"
        "for _ in range(8):\n    if not os.fork():\n        break\n"
        "held = []\nfor _ in range(100):\n    held += socket.socketpair()\n"
        "    for one in held[-2:]:\n        one.setblocking(False)\n        try:\n"
        "            while True: one.send(bytes(1 << 16))\n        except OSError: pass\ntime.sleep(5)"
    )
    async with opened(stage.terms) as sandbox:
        if stage.level not in MOVED and sandbox.claimed()["limits"] != GROUP:
            return absent("the sockets of this level are those of the machine, and nobody counts them")
        return await _stopped(sandbox, code)


@trial("limits")
async def files_outlive_interpreters(stage: Stage) -> str:
    """Lose the session's files with the interpreter."""
    async with opened(stage.terms) as sandbox:
        await sandbox.python("open('kept.txt', 'w').write('kept')")
        await _suppressed(sandbox.python("import os; os._exit(9)"))
        return HELD if await _suppressed(sandbox.python("open('kept.txt').read()")) == "'kept'" else broke("gone")


@trial("limits")
async def binary_output(stage: Stage) -> str:
    """Print binary data."""
    async with opened(stage.terms) as sandbox:
        ran = await sandbox.python("import os; os.write(1, os.urandom(5000) + b'\\x00\\x1b]0;x\\x07\\xff')")
        return HELD if ran.stdout.size >= 5000 else broke(f"{ran.stdout.size} bytes")


@trial("limits")
async def long_output(stage: Stage) -> str:
    """Print more than is answered at once."""
    async with opened(stage.terms) as sandbox:
        ran = await sandbox.python("print('x' * 999_999)")
        size = int((await sandbox.python(f"import os; os.stat({ran.stdout.file!r}).st_size")).result)
        told = ran.stdout.cut and len(ran.stdout.text) <= stage.limits.output_kb * 1000 and size == 1_000_000
        return HELD if told and ran.notes else broke(f"{len(ran.stdout.text)} shown, {size} in the file")


@trial("limits")
async def sleep_for_ever(stage: Stage) -> str:
    """Do nothing for ever."""
    seconds = 4 if stage.level == WASM else 1  # there the next call begins with a start
    terms = {**stage.terms, "limits": {**stage.limits.to_json(), "call_seconds": seconds}}
    async with opened(terms) as sandbox:
        await sandbox.python("kept = 1")
        if await _suppressed(sandbox.python("import time; time.sleep(1000)")) is not None:
            return broke("it ended well")
        after = await _suppressed(sandbox.python("40 + 2" if stage.level == WASM else "kept"))
        if stage.level == WASM:  # where nothing interrupts code, what was defined ends with it, which its error says
            return HELD if after == "42" else broke("the next call fails")
        return HELD if after == "1" else broke("what was defined is gone")


@trial("limits", heavy=True)
async def compute_for_ever(stage: Stage) -> str:
    """Compute for ever, deaf to interruptions, in several processes."""
    deaf = "import os, signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nos.fork()\nwhile True: pass"
    async with opened(stage.terms) as sandbox:
        if stage.level == WASM:
            calls = [sandbox.python("while True: pass")]
        else:
            line = "trap '' INT TERM; while :; do :; done & while :; do :; done"
            calls = [sandbox.python(deaf), sandbox.bash(line)]
        for call in calls:
            if await _suppressed(call) is not None:
                return broke("it ended well")
        return HELD if await _suppressed(sandbox.python("40 + 2")) == "42" else broke("the next call fails")


@trial("limits", heavy=True)
async def print_for_ever(stage: Stage) -> str:
    """Print for ever; the memory of the host is measured."""
    before = _own_memory()
    async with opened(stage.terms) as sandbox:
        for call in (sandbox.bash("yes"), sandbox.python("while True: print('x' * 10000)")):
            if await _suppressed(call) is not None:
                return broke("it ended well")
        grown = _own_memory() - before
        if await _suppressed(sandbox.python("40 + 2")) != "42":
            return broke("the next call fails")
    return HELD if grown < 64 << 20 else broke(f"the host grew by {grown >> 20} MB")


@trial("memory", heavy=True)
async def memory_of_many(stage: Stage) -> str:
    """Take memory in many processes at once; all of them are measured."""
    code = (
        "import os, time\nfor _ in range(12):\n    if not os.fork():\n"
        "        taken = bytearray(100 << 20)\n        for at in range(0, len(taken), 4096): taken[at] = 1\n"
        "        time.sleep(5); os._exit(0)\ntime.sleep(5)"
    )
    return await _measured(stage, code, _memory_below, stage.limits.memory_mb << 20)


@trial("memory", heavy=True)
async def memory_shared_by_many(stage: Stage) -> str:
    """Take memory belonging to several processes, and so to no limit of one."""
    code = (
        "import mmap, os, time\ntaken = []\nfor _ in range(20):\n    one = mmap.mmap(-1, 64 << 20)\n"
        "    for at in range(0, 64 << 20, 4096): one[at] = 1\n    taken.append(one)\ntime.sleep(5)"
    )
    return await _measured(stage, code, _memory_below, stage.limits.memory_mb << 20, may_raise=True)


@trial("limits", heavy=True)
async def disk_bomb(stage: Stage) -> str:
    """Fill the disk with many files."""
    code = "import time\nfor n in range(400):\n    open(f'{n}.bin', 'wb').write(bytes(1 << 20))\ntime.sleep(5)"
    return await _measured(stage, code, _disk_of, stage.limits.disk_mb << 20)


@trial("limits", heavy=True)
async def nameless_files(stage: Stage) -> str:
    """Fill the disk with files named by no folder."""
    code = "import os, time\nheld = []\nfor n in range(200):\n    held.append(open('x', 'wb', 0))\n    os.unlink('x')\n"
    code += "    held[-1].write(bytes(4 << 20))\n    time.sleep(0.01)\ntime.sleep(5)"
    async with opened(stage.terms) as sandbox:
        return await _stopped(sandbox, code)


@trial("limits", heavy=True)
async def empty_files(stage: Stage) -> str:
    """Fill the disk with the names of empty files."""
    code = "import time\nfor n in range(60_000):\n    open(f'{n}', 'w').close()\ntime.sleep(5)"
    async with opened(stage.terms) as sandbox:
        outcome = await _stopped(sandbox, code)
        await _clear(stage)
        return outcome


async def _stopped(sandbox: Sandbox, code: str) -> str:
    try:
        ran = await sandbox.python(code)
    except ToolError:
        pass
    else:
        if ran.raised in _LACKS:
            return absent(f"it cannot be tried: {ran.raised}")
        if not ran.killed:
            return broke("nothing stopped it")
    return HELD if await _suppressed(sandbox.python("40 + 2")) == "42" else broke("the next call fails")


async def _measured(
    stage: Stage, code: str, look: Callable[[Stage, int], int], most: int, *, may_raise: bool = False
) -> str:
    """Run code using ever more, and return whether the highest use seen stays near the limit."""
    async with opened(stage.terms) as sandbox, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(_raised(sandbox.python(code)))
        peak = 0
        while not running.done():
            peak = max(peak, look(stage, sandbox.process or 0))
            await asyncio.sleep(_LOOK_SECONDS)
        raised = running.result()
        if raised in _LACKS:
            return absent(f"it cannot be tried: {raised}")
        if raised == "" and not may_raise:
            return broke("nothing stopped it")
        if await _suppressed(sandbox.python("40 + 2")) != "42":
            return broke("the next call fails")
        await _clear(stage)
    return HELD if peak < most + _SLACK else broke(f"{peak >> 20} MB of {most >> 20}")


async def _raised(call: Awaitable[Any]) -> str | None:
    """Return the class of the exception raised by code, empty for none, None if the call did not come to its end."""
    try:
        return (await call).raised
    except ToolError:
        return None


async def _suppressed(call: Awaitable[Any]) -> str | None:
    """Return the result of a call, None if it did not come to its end."""
    try:
        return (await call).result
    except ToolError:
        return None


def _mark() -> str:
    """Return a sleeping time unique on this machine, to find the sleeping process by."""
    return f"3{secrets.randbelow(10**8):08}"


async def _gone(mark: str, numbers: Sequence[int] = ()) -> str:
    """Return whether no process has a mark in its command line, or one of the numbers, or soon none."""
    for _ in range(int(_WAIT_SECONDS / _LOOK_SECONDS)):
        left = any(mark in one for one in _command_lines()) or any(_runs(one) for one in numbers)
        if not left:
            return HELD
        await asyncio.sleep(_LOOK_SECONDS)
    return broke("it is still there")


def _command_lines() -> list[str]:
    found: list[str] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            found.append(Path(f"/proc/{name}/cmdline").read_bytes().decode("utf-8", "replace"))
    return [one for one in found if re.match(r"(/usr)?(/bin/)?sleep\0", one)]


def _own_memory() -> int:
    return _field(Path("/proc/self/status"), b"VmRSS:")


def _memory_below(stage: Stage, process: int) -> int:
    """Return the memory of all processes below one, with shared memory divided among them."""
    total = 0
    for one in _below(process):
        with suppress(OSError, ValueError):
            total += _field(Path(f"/proc/{one}/smaps_rollup"), b"Pss:")
    return total


def _below(process: int) -> list[int]:
    """Return a process and all below it."""
    found, left = list[int](), [process]
    while left:
        one = left.pop()
        found.append(one)
        with suppress(OSError, ValueError):
            for task in os.listdir(f"/proc/{one}/task"):
                left += map(int, Path(f"/proc/{one}/task/{task}/children").read_text().split())
    return found


def _runs(process: int) -> bool:
    """Return whether a process is there, and not only the name of an ended one."""
    try:
        return Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


async def _clear(stage: Stage) -> None:
    """Empty the workspace but for its input; from outside, since code may take long for it."""
    line = "find . -mindepth 1 -maxdepth 1 ! -name input.txt -exec rm -rf {} +"
    process = await create_subprocess_exec(*line.split(), cwd=stage.scene.workspace)
    await process.wait()


def _disk_of(stage: Stage, process: int) -> int:
    found = 0
    for one in stage.scene.workspace.rglob("*"):
        with suppress(OSError):
            found += one.lstat().st_blocks * 512
    return found


def _field(path: Path, name: bytes) -> int:
    lines = (line for line in path.read_bytes().splitlines() if line.startswith(name))
    return int(next(lines, b"x 0").split()[1]) << 10
