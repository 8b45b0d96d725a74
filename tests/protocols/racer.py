"""One of several processes registering at once: `python racer.py HOME NUMBER COUNT`; it waits for its start line."""

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path

from elsewhere import open_platform
from protocol_kit import CASES

from tea.protocols.tcp import ToolContextManager


async def race(home: Path, number: int, count: int) -> dict[str, list[str]]:
    """Use the one shipped tool, and register `count` versions of another name."""
    platform, tool = open_platform(home), CASES[0]
    shipped = ToolContextManager(replace(platform.tcp.manager.services, roots=(home / "shipped",)))
    await shipped.init()
    print("ready", flush=True)
    sys.stdin.readline()
    pinned = [str((await shipped.pin("shipped")).ref)]
    made: list[str] = []
    for turn in range(count):
        manifest = await platform.tcp.register(tool.source(hello=f"{number} {turn}"), reason=f"{number} {turn}")
        made.append(manifest.version)
    return {"pinned": pinned, "made": made}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(race(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))))
