"""Fixtures: one platform for all tests of a file, and a solver over the tables of a test."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

import pytest
import pytest_asyncio

from tea.platform import Platform
from tea.protocols.tcp import TCPServer
from tea.testing import platform

Solve = Callable[..., Coroutine[Any, Any, dict[str, Any]]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea() -> AsyncIterator[Platform]:
    async with platform() as tea:
        yield tea


@pytest.fixture(scope="module")
def tools(tea: Platform) -> TCPServer:
    return tea.tcp


@pytest.fixture(scope="module")
def solve(
    request: pytest.FixtureRequest, tools: TCPServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Solve]:
    """Work on a task over the FILES of the tests as an agent would, and end before MOST_STEPS.

    It returns the arguments of `done`, and as `history` the steps that led there.
    """
    folder = tmp_path_factory.mktemp("files")
    for name, text in request.module.FILES.items():
        (folder / name).write_text(text, encoding="utf-8")

    async def solve(task: str, files: list[str], answer: dict[str, Any] | None = None) -> dict[str, Any]:
        history: list[dict[str, Any]] = []
        for number in range(1, request.module.MOST_STEPS):
            arguments = {"task": task, "files": files, "history": history, "answer": answer}
            calls = (await tools.invoke("answer_from_data", arguments)).unwrap()["calls"]
            if calls[0]["name"] == "done":
                return calls[0]["arguments"] | {"history": history}
            responses = await asyncio.gather(*(tools.invoke(call["name"], call["arguments"]) for call in calls))
            results = [{"ok": got.ok, "value": got.value, "error": got.error and dict(got.error)} for got in responses]
            history.append({"step": number, "calls": [call | got for call, got in zip(calls, results, strict=True)]})
        raise AssertionError("the solver does not come to an end")

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield solve
