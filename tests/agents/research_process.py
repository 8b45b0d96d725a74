"""A process doing research until SIGKILL after so many records: HOME PLAY RECORDS."""

import asyncio
import sys
from pathlib import Path

from killable import die_after
from researcher_kit import PLAYS, Script, world


async def main(home: Path, name: str, records: int) -> None:
    """Do it."""
    play = PLAYS[name]
    async with world(home, Script(**play.replies), play.pages, play.found, play.docs) as (tea, made):
        (home / "port").write_text(str(made.site.port))
        die_after(records, 0.0)
        await tea.run(play.task, agent="researcher")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
