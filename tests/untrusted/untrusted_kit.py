"""Parts of the tests of untrusted components: homes with somebody else's loaded source."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tea.platform import Platform
from tea.refs import Kind
from tea.runs.policy import Policy
from tea.types import Response

Sources = Iterable[tuple[Kind, str]]


def tool(name: str, body: str, *, takes: str = "", gives: str = "object", top: str = "", traits: str = "") -> str:
    """The source of a tool; the lines of its body begin without blanks."""
    lines = "\n    ".join(body.strip().splitlines())
    declared = traits or 'effects="writes", network=False'
    return f'''
import asyncio
import os
from pathlib import Path
from typing import Any

from tea import Context, ToolError, tool
{top}


@tool({declared})
async def {name}({takes}) -> {gives}:
    """Do what somebody else wrote."""
    {lines}
'''


FOUND = """found = {}
for name in names:
    try:
        found[name] = Path(name).read_text()
    except OSError as error:
        found[name] = type(error).__name__"""
COUNT = tool("count", "seen.append(1)\nreturn len(seen)", gives="int", top="seen: list[int] = []")
LOOK = tool("look", f"{FOUND}\nreturn [found, dict(os.environ)]", takes="names: list[str]", gives="list[Any]")
COUNTER = '''
import os
from pathlib import Path
from typing import Any

from tea import Context, Environment, action


class Counter(Environment):
    """Count things."""

    recovery = "RECOVERY"

    def __init__(self) -> None:
        self.count = 0

    async def setup(self, ctx: Context) -> None:
        """Note where it is."""
        self.run = ctx.run

    async def teardown(self) -> None:
        """Leave a trace."""
        Path("ended.txt").write_text(str(self.count))

    async def snapshot(self) -> Any:
        """Return the count."""
        return self.count

    async def restore(self, state: Any) -> None:
        """Go on counting."""
        self.count = state

    async def state(self) -> int:
        """Return the count."""
        return self.count

    @action(effects="writes", network=False)
    async def add(self, number: int = 1) -> int:
        """Add a number.

        Args:
            number: How much.
        """
        self.count += number
        return self.count

    @action(effects="reads", network=False)
    async def die(self) -> int:
        """End the process."""
        os._exit(3)
'''


async def saved(folder: Path, sources: Sources) -> list[Path]:
    """Write files with somebody else's components."""
    files: dict[str, Path] = {}
    async with Platform(folder / "theirs", state=folder / "their_state") as theirs:
        for kind, source in sources:
            await theirs.libraries[kind].register(source)
            files[kind] = folder / f"{kind}.json"
        for kind, file in files.items():
            await theirs.libraries[kind].save(file)  # type: ignore[index]
    return list(files.values())


@asynccontextmanager
async def elsewhere(folder: Path, *sources: tuple[Kind, str], **options: Any) -> AsyncGenerator[Platform]:
    """A platform with loaded components, trusting none of them."""
    files = await saved(folder, sources)
    async with Platform(folder / "home", state=folder / "state", **options) as mine:
        for file in files:
            await mine.libraries[file.stem].load(file)  # type: ignore[index]
        yield mine


def problem(response: Response) -> str:
    """The words of a call's error."""
    assert response.error is not None
    return f"{response.error['code']}: {response.error['problem']}"


__all__ = ["COUNTER", "Policy", "elsewhere", "problem", "saved", "tool"]
