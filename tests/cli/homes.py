"""Homes with runs of each recorded revision, packed; as a program, it packs the present one.

Run `python tests/cli/homes.py` when `tea.journal.revision.REVISION` was raised; earlier homes stay as they are.
"""

import asyncio
import tarfile
import tempfile
from pathlib import Path

from tea.errors import ApprovalNeeded
from tea.journal.revision import REVISION
from tea.platform import Platform

FOLDER = Path(__file__).parent.parent / "fixtures"
TABLE = "What is the average of people in cities.csv?"
ARITHMETIC = "What is 17 * 23?"
QUESTION = "Which port?"
CITIES = "city,country,people\nOslo,Norway,700000\nBergen,Norway,290000\nRome,Italy,2800000\n"
HOST = '''
from tea import Agent, Context, Result, Task


class Host(Agent):
    """Ask the person behind the run."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask what the task says."""
        return Result(answer=(await ctx.ecp.invoke("human#ask", {"question": task.text})).unwrap())
'''


def packed(revision: int) -> Path:
    """Return the path of a revision's home."""
    return FOLDER / f"revision_{revision}" / "home.tar.xz"


def revisions() -> list[int]:
    """Return the revisions with a kept home."""
    return sorted(int(path.parent.name.partition("_")[2]) for path in FOLDER.glob("revision_*/home.tar.xz"))


def unpack(revision: int, folder: Path) -> Path:
    """Return the home of a revision, laid out in a folder."""
    with tarfile.open(packed(revision)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "home"


async def write(folder: Path) -> None:
    """Run a fixture's tasks: a question over a table, one of arithmetic, and one waiting for a person."""
    table = folder / "cities.csv"
    table.write_text(CITIES)
    async with Platform(folder / "home", state=folder / "state") as tea:
        await tea.acp.register(HOST, author="tea")
        assert (await tea.run(TABLE, files=[table])).ok
        assert (await tea.run(ARITHMETIC)).answer == 391
        try:
            await tea.run(QUESTION, agent="host")
        except ApprovalNeeded:
            return
        raise AssertionError("nothing was asked")


def pack(home: Path, target: Path) -> None:
    """Pack a home without traces of this machine."""
    assert not any(str(home.parent) in path.read_text() for path in home.rglob("*") if path.is_file())
    target.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(target, "w:xz", preset=9) as archive:
        for path in sorted(home.rglob("*")):
            archive.add(path, f"home/{path.relative_to(home)}", recursive=False, filter=_plain)


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o755 if entry.isdir() else 0o644
    return entry


def main() -> None:
    """Write the fixture of the present revision."""
    with tempfile.TemporaryDirectory(prefix="tea-") as folder:
        asyncio.run(write(Path(folder)))
        pack(Path(folder) / "home", packed(REVISION))


if __name__ == "__main__":
    main()
