"""A test's browser: its elements by their words, and its processes, as the machine shows them."""

import os
import re
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

Act = Callable[..., Coroutine[Any, Any, Any]]


async def index_of(act: Act, words: str) -> int:
    """Return the index of the first element at or right before these words."""
    elements = (await act("state")).unwrap()["elements"]
    before = elements[: re.search(words, elements).end()]  # pyright: ignore[reportOptionalMemberAccess]
    return int(re.findall(r"\[(\d+)\]<", before)[-1])


def browsers() -> list[Path]:
    """Return the processes of Chromium below this one."""
    found: list[Path] = []
    for one in Path("/proc").iterdir():
        try:
            words = (one / "cmdline").read_text() if one.name.isdigit() else ""
            if "--user-data-dir=/workspace/profile" in words and os.getpid() in above(int(one.name)):
                found.append(one)
        except OSError:
            continue
    return found


def above(process: int) -> list[int]:
    """Return a process's ancestors."""
    found = []
    while process > 1:
        process = int((Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()[1])
        found.append(process)
    return found


def main_browser() -> int:
    """Return the number of the only browser's first process."""
    (main,) = [one for one in browsers() if "--type=" not in (one / "cmdline").read_text()]
    return int(main.name)
