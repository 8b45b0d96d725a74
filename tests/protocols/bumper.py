"""One of several processes acting in one session: `python bumper.py HOME ACTION COUNT`; it waits for a line."""

import asyncio
import sys
from pathlib import Path

from elsewhere import open_platform


async def act(home: Path, action: str, count: int) -> None:
    """Act so many times."""
    async with open_platform(home) as platform:
        print("ready", flush=True)
        sys.stdin.readline()
        for _ in range(count):
            (await platform.ecp.invoke(action, {}, session="w")).unwrap()


if __name__ == "__main__":
    asyncio.run(act(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
