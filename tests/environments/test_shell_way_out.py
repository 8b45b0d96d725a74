"""The shell with the operator's way out: its calls are external, asked about, and told in results."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from provenance_kit import plain
from serving import serving

from tea.platform import Platform
from tea.sandbox.settings import SandboxSettings
from tea.sandbox.way_out import WayOut
from tea.testing import platform

TWICE = '''
from tea import Agent, Context, Result, Task


class Worker(Agent):
    """Fetch, and look at it."""

    environments = ("shell",)

    async def run(self, ctx: Context, task: Task) -> Result:
        """Fetch, and calculate with what came."""
        code = "import urllib.request as web; text = web.urlopen('http://HOST/').read().decode(); text"
        first = await ctx.ecp.invoke("shell#python", {"code": code})
        second = await ctx.ecp.invoke("shell#python", {"code": "len(text)"})
        return Result(answer=[first.unwrap(), second.unwrap()])
'''


@asynccontextmanager
async def place() -> AsyncIterator[str]:
    """A loopback server saying hello."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        await writer.drain()

    async with serving(serve) as port:
        yield f"127.0.0.1:{port}"


def open_to(tea: Platform, **ways: Any) -> None:
    tea.sandboxes.settings = SandboxSettings(way_out=WayOut(**ways))


async def test_code_with_hosts_is_asked_about_and_what_came_is_untrusted(tmp_path: Path) -> None:
    asked = list[str]()

    async def person(question: str, choices: Sequence[str]) -> str:
        asked.append(question)
        return "allow"

    async with place() as host, plain(tmp_path, person=person) as tea:
        open_to(tea, hosts=(host,))
        await tea.acp.register(TWICE.replace("HOST", host))
        outcome = await tea.run("Fetch.", agent="worker")
        first, second = outcome.answer
        assert (first["text"], second["text"]) == ("RESULT:\n'hello'", "RESULT:\n5")
        assert first["sandbox"] == f"bubblewrap, net: hosts [{host}]"
        assert "declares effects 'external'" in asked[0]
        assert f"would go to {host}, which nobody named, after untrusted reading" in asked[1]
        records = list(tea.tracer.records(outcome.run))
        assert {one.data["effects"] for one in records if one.kind == "intent"} == {"external"}
        claims = [one.data["data"] for one in records if one.kind == "evidence" and one.data["kind"] == "sandbox"]
        assert claims[0]["hosts"] == [host]
        open_to(tea)
        assert (await tea.replay(outcome.run)).answer == outcome.answer


async def test_without_hosts_code_is_not_asked_about() -> None:
    async with platform() as tea:
        open_to(tea, index="https://pypi.org/simple")
        found = await tea.ecp.invoke("shell#python", {"code": "1 + 1"})
        assert found.unwrap() == {"text": "RESULT:\n2", "sandbox": "bubblewrap"}
        said = await tea.ecp.invoke("shell#install", {"packages": ["--index-url=http://127.0.0.1/"]})
        assert "is not a package's name" in said.error["problem"]


async def test_hosts_typed_by_the_person_are_not_asked_about(tmp_path: Path) -> None:
    async with place() as host, plain(tmp_path) as tea:
        open_to(tea, hosts=(host,))
        await tea.acp.register(TWICE.replace("HOST", host))
        outcome = await tea.run(f"Fetch from {host} and count.", agent="worker")
        assert outcome.answer[1]["text"] == "RESULT:\n5"
