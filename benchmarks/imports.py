"""Measure importing tea and showing its help, against asyncio and pydantic alone.

Usage: python benchmarks/imports.py [ROUNDS]
"""

import resource
import subprocess
import sys
from statistics import median

BASE = "asyncio and pydantic"
PROGRAMS = {
    BASE: "import asyncio; from pydantic import BaseModel, TypeAdapter",
    "from tea import *": "from tea import *",
    "tea --help": "import sys; sys.argv = ['tea', '--help']; from tea.cli import main; main()",
}
LIMITS = {"from tea import *": 1.5, "tea --help": 2.2}


def cpu_seconds(code: str) -> float:
    """User and system time of one fresh interpreter for the code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(rounds: int = 11) -> None:
    """Print the medians of alternating rounds; the first round only warms the file cache."""
    taken: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for _ in range(rounds + 1):
        for name, code in PROGRAMS.items():
            taken[name].append(cpu_seconds(code))
    medians = {name: median(seconds[1:]) for name, seconds in taken.items()}
    print("| program | CPU s | ratio | limit |\n|---|---|---|---|")
    for name, seconds in medians.items():
        print(f"| `{name}` | {seconds:.3f} | {seconds / medians[BASE]:.2f} | {LIMITS.get(name, '')} |")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
