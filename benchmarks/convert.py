"""Measure the conversion of files to Markdown beside markitdown: seconds and resident memory, on the same files.

Usage: python benchmarks/convert.py [--markitdown REQUIREMENT] [FILE ...]
Without files those of examples/data are taken. markitdown is installed in an environment of its own. Of tea, the
sandbox and the program in it are counted, as nothing is kept from one file to the next; each file is converted in a
fresh process by both, and the start of that process is told apart.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "examples" / "data"
NAMES = (
    "bzip2_manual.pdf", "sqlite_limits.docx", "placeholders.pptx", "ne_1033.xlsx", "sqlite_file_format.epub",
    "sqlite_about.html", "numpy_matplotlib.ipynb", "dingus_fish.eml", "sqlite_uses.odt", "pre_commit_hooks.md",
    "casio.jpg", "pluck.wav", "two_mice.mp4", "puremagic.7z",
)  # fmt: skip
SECONDS = 300

# Each prints one line of JSON: seconds of start and of work, the characters that came, and an error.
OURS = """
import asyncio, json, sys, tempfile, time
begun = time.perf_counter()
from pathlib import Path
from tea.reading import Reader
from tea.sandbox.levels import Sandboxes
from tea.sandbox.settings import SandboxSettings

async def main():
    name, told = sys.argv[1], {}
    terms = {**await Sandboxes(SandboxSettings()).parser_terms(), "cache": ""}
    started = time.perf_counter()
    try:
        document = await Reader(terms).read(Path(name), Path(name).name)
        told["characters"] = document.characters
    except Exception as error:
        told["error"] = str(error)
    print(json.dumps({**told, "start": started - begun, "work": time.perf_counter() - started}))

asyncio.run(main())
"""
THEIRS = """
import json, sys, time
begun = time.perf_counter()
from markitdown import MarkItDown
converter, told = MarkItDown(), {}
started = time.perf_counter()
try:
    told["characters"] = len(converter.convert_local(sys.argv[1]).text_content)
except Exception as error:
    told["error"] = str(error)
print(json.dumps({**told, "start": started - begun, "work": time.perf_counter() - started}))
"""
# Runs a program, and adds the largest resident memory of it and of the processes below it, each by itself.
WATCHED = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
told = json.loads(done.stdout.splitlines()[-1]) if done.stdout else {"error": f"exit {done.returncode}"}
print(json.dumps({**told, "megabytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024}))
"""


def measured(python: Path, program: str, file: Path) -> dict[str, Any]:
    """Convert a file in a fresh process, and return the measurements."""
    line = [sys.executable, "-c", WATCHED, str(python), "-W", "ignore", "-c", program, str(file)]
    try:
        done = subprocess.run(line, capture_output=True, check=True, timeout=SECONDS, text=True)
    except subprocess.TimeoutExpired:
        return {"error": f"more than {SECONDS} s"}
    return json.loads(done.stdout)


def cells(found: dict[str, Any]) -> str:
    """Return the cells of a table for one conversion."""
    if "error" in found:
        return f"{' '.join(str(found['error']).split())[:60].replace('|', '/')} | | |"
    return f"{found['characters']:,} | {found['start']:.2f} + {found['work']:.2f} | {found['megabytes']:.0f} |"


def main() -> None:
    """Print one row for each file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--markitdown", default="markitdown[all]")
    parser.add_argument("--python", type=Path, help="an environment that has markitdown already")
    parser.add_argument("files", nargs="*", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        python = given.python or Path(folder) / "bin" / "python"
        if given.python is None:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            subprocess.run([str(python), "-m", "pip", "install", "--quiet", given.markitdown], check=True)
        print("| file | KB | tea: characters | s | MB | markitdown: characters | s | MB |")
        print("|---|---|---|---|---|---|---|---|")
        for file in given.files or [DATA / name for name in NAMES]:
            ours, theirs = measured(Path(sys.executable), OURS, file), measured(python, THEIRS, file)
            size = file.stat().st_size // 1000
            print(f"| `{file.name}` | {size:,} | {cells(ours)} {cells(theirs)}", flush=True)


if __name__ == "__main__":
    main()
