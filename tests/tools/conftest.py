"""A platform for all tests of a file."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tea.platform import Platform
from tea.protocols.tcp import TCPServer
from tea.testing import platform


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea() -> AsyncIterator[Platform]:
    async with platform() as tea:
        yield tea


@pytest.fixture(scope="module")
def tools(tea: Platform) -> TCPServer:
    return tea.tcp
