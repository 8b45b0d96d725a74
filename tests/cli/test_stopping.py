"""Test SIGTERM: it ends every command at any moment."""

import fcntl
import json
import os
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from .conftest import Tea

pytestmark = pytest.mark.slow

AT_WORK = """
import asyncio, fcntl, os, sys, time
from tea import home, platform
{0}
async def execute(*given, **options):
    {1}
platform.Platform.execute = execute
sys.argv[0] = "tea"
from tea.cli import main
main()
"""
BEGUN = 'open("begun", "w").close()'
FLOCK = f"""one = os.open("lock", os.O_CREAT | os.O_RDWR)
    fcntl.flock(one, fcntl.LOCK_EX)
    other = os.open("lock", os.O_RDWR)
    {BEGUN}
    fcntl.flock(other, fcntl.LOCK_EX)"""
COMPUTE = f"""{BEGUN}
    while True:
        sum(range(100))"""
THREAD = f"""{BEGUN}
    await asyncio.to_thread(time.sleep, 100)"""
DEAF = f"""{BEGUN}
    while True:
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            pass"""
READ = f"""read, write = os.pipe()
    {BEGUN}
    await asyncio.to_thread(os.read, read, 1)"""
READING = f"""def read(*given):
    {BEGUN}
    os.read(os.pipe()[0], 1)
platform.find_home = read
"""
DEAF_IN_C = {
    "pattern": f"""{BEGUN}
    re.match("(a+)+b", "a" * 60)""",
    "sum": f"""{BEGUN}
    sum(range(10 ** 13))""",
}
CASES = {"lock": FLOCK, "compute": COMPUTE, "thread": THREAD, "deaf": DEAF, "read": READ}
SOON = 30.0  # seconds, on a machine that others keep busy
PIPE = 2**16  # bytes that a pipe holds


def wait_for(path: Path, process: "subprocess.Popen[str]") -> None:
    end = time.monotonic() + 60
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        os.sched_yield()


def ended(tea: Tea, program: str, *options: str) -> tuple[int, str, str]:
    """Return the end of a command after SIGTERM in the midst of its work."""
    with subprocess.Popen(
        [sys.executable, "-c", program, "run", "What is 2 + 2?", *options],
        cwd=tea.folder,
        env=tea.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            wait_for(tea.folder / "begun", process)
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=SOON)
        finally:
            process.kill()
    return process.returncode, out, err


@pytest.mark.parametrize("case", CASES)
def test_sigterm_ends_a_command_at_any_work(tea: Tea, case: str) -> None:
    code, out, err = ended(tea, AT_WORK.format("", CASES[case]), "-q")
    assert (code, out) == (130, "")
    assert err.startswith("tea: ")
    assert err.count("\n") == 1


def test_sigterm_ends_a_command_that_reads_its_settings(tea: Tea) -> None:
    code, out, _ = ended(tea, AT_WORK.format(READING, "pass"), "-q")
    assert (code, out) == (130, "")


@pytest.mark.parametrize("case", ["compute", "thread"])
def test_programs_are_told_in_json_that_sigterm_ended_a_command(tea: Tea, case: str) -> None:
    code, out, err = ended(tea, AT_WORK.format("", CASES[case]), "--json", "-q")
    assert (code, err, json.loads(out)["error"]["code"]) == (130, "", "Interrupted")


@pytest.mark.parametrize("case", [pytest.param("pattern", marks=pytest.mark.slow), "sum"])
def test_sigterm_ends_a_command_in_the_midst_of_c_code(tea: Tea, case: str) -> None:
    begun = time.monotonic()
    code, out, _ = ended(tea, AT_WORK.format("import re", DEAF_IN_C[case]), "-q")
    assert (code, out) == (-signal.SIGKILL, "")
    assert time.monotonic() - begun < SOON
    assert tea("runs").code == 0


def unread(pipe: int) -> int:
    """Return how many bytes nobody has read yet."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_result_that_sigterm_interrupts_is_whole_or_no_success(tea: Tea, unbuffered: str) -> None:
    reading, writing = os.pipe()
    environment = {**tea.environment, "PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(
        tea.line("contract", "--json"), cwd=tea.folder, env=environment, stdout=writing, stderr=subprocess.DEVNULL
    ) as process:
        os.close(writing)
        try:
            while unread(reading) < PIPE:
                assert process.poll() is None
                os.sched_yield()
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=SOON) != 0
        finally:
            process.kill()
            os.close(reading)


def test_sigterm_ends_a_command_that_waits_for_its_task(tea: Tea) -> None:
    reading, writing = os.pipe()
    with subprocess.Popen(
        tea.line("run", "-"), cwd=tea.folder, env=tea.environment, stdin=reading, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            os.write(writing, b"What")
            while unread(reading):
                assert process.poll() is None
                os.sched_yield()
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=SOON)
        finally:
            process.kill()
            os.close(writing)
            os.close(reading)
    assert (process.returncode, err) == (130, "tea: Interrupted. Fix: start it again.\n")
