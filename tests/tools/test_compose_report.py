"""The reporter's solver."""

import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from tea.protocols.tcp import TCPServer

pytestmark = pytest.mark.asyncio(loop_scope="module")

Compose = Callable[..., Coroutine[Any, Any, dict[str, str]]]


@pytest.fixture(scope="module")
def compose(tools: TCPServer) -> Compose:
    async def compose(task: str, **more: Any) -> dict[str, str]:
        return (await tools.invoke("compose_report", {"task": task, **more})).unwrap()

    return compose


def fenced(facts: Any) -> str:
    return f"Report.\n\n```json\n{json.dumps(facts)}\n```\n"


async def test_words_alone_are_kept_with_their_citations(compose: Compose) -> None:
    draft = await compose("Rain fell [1](log.txt).\n\nThen it stopped.")
    assert draft["markdown"] == "Rain fell [1](log.txt).\n\nThen it stopped."
    assert draft["title"] == "Rain fell [1](log.txt). Then it stopped."


async def test_each_source_has_one_number(compose: Compose) -> None:
    findings = [
        {"content": "A.", "references": [{"source": "a.csv"}, {"source": "b.csv"}]},
        {"content": "B.", "references": [{"source": "b.csv"}, {"source": "my file.csv"}]},
    ]
    draft = await compose(fenced({"question": "Q?", "answer": [1], "findings": findings}))
    assert "A. [1](a.csv) [2](b.csv)" in draft["markdown"]
    assert "B. [2](b.csv) [3](<my file.csv>)" in draft["markdown"]
    assert draft["summary"] == "[1] 2 findings from 3 sources."


async def test_materials_are_findings_too(compose: Compose) -> None:
    draft = await compose("Report.", materials=[{"source": "n.md", "content": "Noted.\n"}])
    assert "## Findings\n\nNoted. [1](n.md)" in draft["markdown"]


@pytest.mark.parametrize(
    "facts",
    [
        [],
        {"findings": "none"},
        {"findings": [None, 3, {"references": "x"}, {"content": 5, "references": [7, {}]}]},
        {"question": None, "answer": {"a": 1}},
    ],
)
async def test_findings_of_any_shape_give_a_draft(compose: Compose, facts: Any) -> None:
    assert (await compose(fenced(facts)))["markdown"]


async def test_broken_json_is_words(compose: Compose) -> None:
    draft = await compose("Report.\n\n```json\n{oops\n```")
    assert "{oops" in draft["markdown"]
