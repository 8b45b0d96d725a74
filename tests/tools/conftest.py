"""A platform for all tests of a file, and questions about a file as a table."""

from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tea.platform import Platform
from tea.protocols.tcp import TCPServer
from tea.testing import platform
from tea.types import ToolResponse

Ask = Callable[..., Coroutine[Any, Any, ToolResponse]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea() -> AsyncIterator[Platform]:
    async with platform() as tea:
        yield tea


@pytest.fixture(scope="module")
def tools(tea: Platform) -> TCPServer:
    return tea.tcp


@pytest.fixture
def ask(tools: TCPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.chdir(tmp_path)

    async def ask(name: str, content: bytes, **arguments: Any) -> ToolResponse:
        (tmp_path / name).write_bytes(content)
        return await tools.invoke("table_query", {"files": [name], **arguments})

    return ask


@pytest.fixture
def ask_files(tools: TCPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.chdir(tmp_path)

    async def ask(contents: dict[str, str | bytes], **arguments: Any) -> ToolResponse:
        for name, content in contents.items():
            data = content if isinstance(content, bytes) else content.encode()
            (tmp_path / name).write_bytes(data)
        return await tools.invoke("table_query", {"files": list(contents), **arguments})

    return ask
