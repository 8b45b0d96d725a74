"""Test what is said where a name does not resolve, as without any network: nothing was refused then."""

import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tea.platform import Platform
from tea.web import UrlGuard
from tea.web.search.ddgs import DdgsEngine
from tea.web.search.engine import EngineFailed, Query

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("tool:fetch_page", {"url": "https://example.org/"}),
    ("tool:web_search", {"queries": ["lighthouse"]}),
    ("environment:git#clone", {"url": "https://example.org/a.git"}),
    ("environment:github#repository", {"repository": "octo/hello"}),
]


async def offline(name: str) -> list[str]:
    raise socket.gaierror(socket.EAI_AGAIN, "temporary failure in name resolution")


@pytest_asyncio.fixture
async def tea(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Platform]:
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    monkeypatch.setattr("tea.web.guard.resolve", offline)
    monkeypatch.setenv("TAVILY_API_KEY", "made-up")
    (tmp_path / "tea.toml").write_text('[search]\nengines = ["tavily", "ddgs"]\n')
    async with Platform(tmp_path, state=tmp_path / "state", trust_home=True) as tea:
        yield tea


@pytest.mark.parametrize(("ref", "arguments"), CALLS)
async def test_a_name_that_does_not_resolve_is_no_refusal(tea: Platform, ref: str, arguments: dict[str, Any]) -> None:
    server = tea.tcp if ref.startswith("tool:") else tea.ecp
    error = (await server.invoke(ref, arguments, session="s")).error
    assert error is not None
    told = f"{error['problem']} {error['fix']}"
    assert "does not resolve: the resolver of names failed" in told
    assert "network" in told
    assert "refuse" not in told
    assert "\n" not in told


@pytest.mark.parametrize(
    ("answers", "kind", "words"),
    [
        (None, "unresolved", "does not resolve"),
        ("10.0.0.1", "refused", "The guard refuses"),
    ],
)
async def test_a_failure_of_the_html_engines_is_one_clear_line(answers: str | None, kind: str, words: str) -> None:
    async def resolver(name: str) -> list[str]:
        return [answers] if answers is not None else await offline(name)

    engine = DdgsEngine(UrlGuard(resolver=resolver), backends="duckduckgo")
    with pytest.raises(EngineFailed, match=words) as told:
        await engine.search(Query(text="lighthouse"))
    assert told.value.kind == kind
    assert not [one for one in ("Error(", "\\", "\n", "HTTP/1.1") if one in told.value.problem]
