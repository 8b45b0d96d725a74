"""Measure the CPU time of one cold `tea run`, from the start of the interpreter to the answer.

Usage: python benchmarks/cold.py [ROUNDS]
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any

from _loopback import serve

ROOT = Path(__file__).parent.parent
SDK = "import openai"
TEA = [sys.executable, "-m", "tea.cli", "run", "-q"]
TABLE = ["How many airports are in the state TX?", "--file", "data/airports.csv"]
PROGRAMS = {
    "asyncio and pydantic": [sys.executable, "-c", "import asyncio; from pydantic import BaseModel, TypeAdapter"],
    f"`{SDK}`": [sys.executable, "-c", SDK],
    "offline, arithmetic": [*TEA, "What is 12*7?"],
    "offline, one table": [*TEA, *TABLE],
    "offline, two tables joined": [*TEA, "demo.json"],
    "a model": [*TEA, "What is 12*7?", "--model", "fake"],
}
OFFLINE_LIMIT, MODEL_LIMIT = 0.6, 0.4


def reply(body: bytes) -> tuple[int, bytes]:
    """Return the last call of a task, at once."""
    function = {"name": "done", "arguments": json.dumps({"answer": "84"})}
    message = {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": function}]}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    answer = {"id": "x", "object": "chat.completion", "created": 0, "model": "fake", "choices": [choice]}
    return 0, json.dumps({**answer, "usage": usage}).encode()


@contextmanager
def home() -> Iterator[tuple[Path, dict[str, str]]]:
    """Give a home with one model on loopback, and the environment of commands in it."""
    serving = [sys.executable, __file__, "--serve"]
    with TemporaryDirectory() as folder, subprocess.Popen(serving, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            place = copytree(ROOT / "examples", Path(folder) / "home")
            url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
            model = f'provider = "openai_chat"\nbase_url = "{url}"\nmodel = "fake"\ncapabilities = ["tools"]\n'
            (place / "tea.toml").write_text(f'model = "offline"\n[models.fake]\n{model}')
            dropped = ("PYTHONDONTWRITEBYTECODE", "TEA_HOME")
            kept = {name: value for name, value in os.environ.items() if name not in dropped}
            own = {"TEA_STATE": "state", "XDG_CACHE_HOME": "cache"}  # which no other installation writes
            yield place, {**kept, **{name: str(Path(folder) / one) for name, one in own.items()}}
        finally:
            server.terminate()


def cpu_seconds(command: list[str], **where: Any) -> float:
    """Return user and system time of one process."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, **where) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return used.ru_utime + used.ru_stime


def main(rounds: int = 7) -> None:
    """Print the least of alternating rounds; a first one writes bytecode, and the home's caches."""
    taken: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    with home() as (place, environment):
        for _ in range(rounds + 1):
            for name, command in PROGRAMS.items():
                taken[name].append(cpu_seconds(command, cwd=place, env=environment))
    least = {name: min(seconds[1:]) for name, seconds in taken.items()}
    limits = {name: OFFLINE_LIMIT for name in PROGRAMS if name.startswith("offline")}
    limits |= {"a model": least[f"`{SDK}`"] + MODEL_LIMIT}
    print("| program | first, CPU s | CPU s | limit |\n|---|---|---|---|")
    for name, seconds in least.items():
        limit = f"{limits[name]:.2f}" if name in limits else ""
        print(f"| {name} | {taken[name][0]:.2f} | {seconds:.2f} | {limit} |")


if __name__ == "__main__":
    if "--serve" in sys.argv:
        asyncio.run(serve(reply))
    else:
        main(*map(int, sys.argv[1:]))
