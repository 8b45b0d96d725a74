"""Search in texts: literally in this process, by a regular expression in a process with a time limit."""

import asyncio
import json
import sys
from collections.abc import Sequence
from typing import TypedDict, cast

from tea import ToolError

MOST_PATTERN = 1_000
SECONDS = 10.0
SHOWN = 300
# A pattern can take any time, which nothing but the end of its process stops.
_WORKER = """
import json, re, sys
asked = json.load(sys.stdin)
left, found = asked["most"], []
try:
    pattern = re.compile(asked["pattern"])
except (re.error, OverflowError, RecursionError) as error:
    json.dump(str(error), sys.stdout)
    sys.exit()
for name, text in asked["texts"]:
    for number, line in enumerate(text.splitlines(), 1):
        if left >= 0 and (match := pattern.search(line)):
            left -= 1
            found.append((name, number, max(0, match.start() - 80), line))
json.dump([(name, number, line[start:start + 300]) for name, number, start, line in found], sys.stdout)
"""


class Match(TypedDict):
    """A line with a match: its file, its number from 1 on, and its text around the match."""

    name: str
    line: int
    text: str


def literal(query: str, texts: Sequence[tuple[str, str]], most: int) -> list[Match]:
    """Return the lines with a text in them, in any case, up to one more than the limit."""
    wanted, found = query.casefold(), list[Match]()
    for name, text in texts:
        for number, line in enumerate(text.splitlines(), 1):
            at = line.casefold().find(wanted)
            if at >= 0:
                start = max(0, at - 80)
                found.append(Match(name=name, line=number, text=line[start : start + SHOWN]))
                if len(found) > most:
                    return found
    return found


async def by_pattern(pattern: str, texts: Sequence[tuple[str, str]], most: int) -> list[Match]:
    """Return the lines matching a Python regular expression, up to one more than the limit.

    Raises:
        ToolError: The pattern is not valid, or too slow.
    """
    asked = json.dumps({"pattern": pattern, "texts": texts, "most": most})
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-I", "-S", "-c", _WORKER),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={},
    )
    try:
        async with asyncio.timeout(SECONDS):
            out, _ = await process.communicate(asked.encode())
    except TimeoutError:
        problem = f"The pattern {pattern[:60]!r} took longer than {SECONDS:.0f} s."
        raise ToolError(problem, fix="write it without nested repetition, or search literally.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        raise ToolError(f"The search for {pattern[:60]!r} failed.", fix="search literally, or in fewer files.")
    found = json.loads(out)
    if isinstance(found, str):
        problem = f"{pattern[:60]!r} is not a regular expression: {found}."
        raise ToolError(problem, fix="escape it, or search literally.")
    return [Match(name=name, line=line, text=text) for name, line, text in cast("list[tuple[str, int, str]]", found)]
