"""Test the environment `git` over HTTP: git's own server on loopback, with a password kept by the platform."""

import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from subprocess import run
from typing import Any

import pytest
import pytest_asyncio
from git_server import GitServer, git
from loop_kit import done, step

from tea.errors import ToolError
from tea.platform import Platform
from tea.runs.policy import AllowTrusted
from tea.testing import ScriptedModel
from tea.types import ActionResponse

Act = Callable[..., Coroutine[Any, Any, ActionResponse]]
TOKEN = "planted-Ta9xQ7-token"


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A bare repository with one commit on `main`."""
    made, place = tmp_path / "made", tmp_path / "served" / "plain.git"
    made.mkdir()
    git(made, "init", "-q", "-b", "main")
    (made / "a.txt").write_text("one\n")
    git(made, "add", ".")
    git(made, "commit", "-q", "-m", "Begin")
    git(tmp_path, "clone", "-q", "--bare", str(made), str(place))
    return place


@pytest.fixture
def server(bare: Path) -> Iterator[GitServer]:
    with GitServer(root=bare.parent, password=f"ada:{TOKEN}").open() as server:
        yield server


def home_of(tmp_path: Path, server: GitServer, *, token: str = TOKEN, more: str = "") -> Path:
    """Make a home with the server as a host, and its key in `.env`."""
    home = tmp_path / "home"
    home.mkdir()
    host = f'[hosts.work]\nurl = "{server.url}"\nuser = "ada"\nkey_env = "WORK_KEY"\n'
    (home / "tea.toml").write_text(f'[web]\nallow = ["{server.place}"]\n{host}{more}')
    if token:
        (home / ".env").write_text(f"WORK_KEY={token}\n")
        (home / ".env").chmod(0o600)
    return home


@pytest_asyncio.fixture
async def tea(tmp_path: Path, server: GitServer) -> AsyncIterator[Platform]:
    async with Platform(home_of(tmp_path, server), state=tmp_path / "state", trust_home=True) as tea:
        yield tea


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace of a call from outside of a run is the current folder."""
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    return inside


def acting(tea: Platform) -> Act:
    async def act(action: str, **arguments: Any) -> ActionResponse:
        return await tea.ecp.invoke(f"git#{action}", arguments, session="s")

    return act


async def refused(response: Coroutine[Any, Any, ActionResponse]) -> str:
    """Return the words of an expected error."""
    error = (await response).error
    assert error is not None
    return f"{error['problem']} {error['fix']}"


def written(folder: Path) -> bytes:
    """Return all bytes of all files of a folder."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


async def test_a_repository_is_pushed_only_to_where_the_call_says(
    tea: Platform, folder: Path, bare: Path, server: GitServer
) -> None:
    act, other = acting(tea), bare.with_name("other.git")
    git(bare.parent, "clone", "-q", "--bare", str(bare), str(other))
    (await act("clone", url=f"{server.url}/plain.git")).unwrap()
    (folder / "plain" / "a.txt").write_text("two\n")
    (await act("commit", folder="plain", message="Own")).unwrap()
    config = folder / "plain" / ".git" / "config"
    config.write_text(config.read_text().replace("/plain.git", "/other.git"))
    assert "/other.git', not to" in await refused(act("push", folder="plain", url=f"{server.url}/plain.git"))
    assert "give the address of the clone" in await refused(act("push", folder="plain", url=""))
    missing = await act("push", folder="plain")
    assert missing.error
    assert missing.error["code"] == "BadArguments"
    assert git(other, "rev-parse", "main") == git(bare, "rev-parse", "main")
    assert (await act("push", folder="plain", url=f"{server.url}/other.git")).ok


async def test_a_private_repository_is_cloned_and_pushed_over_http(
    tea: Platform, folder: Path, bare: Path, server: GitServer
) -> None:
    act = acting(tea)
    cloned = (await act("clone", url=f"{server.url}/plain.git")).unwrap()
    assert cloned["branch"] == "main"
    (folder / "plain" / "a.txt").write_text("two\n")
    (folder / "plain" / "big.bin").write_bytes(os.urandom(2_000_000))  # larger than one piece of a push
    made = (await act("commit", folder="plain", message="Own")).unwrap()
    assert (
        (await act("push", folder="plain", url=f"{server.url}/plain.git")).unwrap()["commit"]
        == made["commit"]
        == git(bare, "rev-parse", "main")
    )
    assert server.given() == {f"ada:{TOKEN}"}
    assert TOKEN.encode() not in written(folder)


async def test_a_rejected_push_over_http_follows_the_others(
    tea: Platform, folder: Path, bare: Path, server: GitServer, tmp_path: Path
) -> None:
    act = acting(tea)
    await act("clone", url=f"{server.url}/plain.git", folder="w")
    git(tmp_path, "clone", "-q", str(bare), "other")
    (tmp_path / "other" / "b.txt").write_text("theirs\n")
    git(tmp_path / "other", "add", ".")
    git(tmp_path / "other", "commit", "-q", "-m", "Theirs")
    git(tmp_path / "other", "push", "-q", "origin", "main")
    (folder / "w" / "c.txt").write_text("own\n")
    await act("commit", folder="w", message="Own")
    assert "rejected" in await refused(act("push", folder="w", url=f"{server.url}/plain.git", rebase=False))
    assert (await act("push", folder="w", url=f"{server.url}/plain.git")).unwrap()["rebased"]
    assert git(bare, "log", "--format=%s", "main").split("\n") == ["Own", "Theirs", "Begin"]


async def test_wrong_missing_and_insufficient_credentials_are_one_line(
    tmp_path: Path, folder: Path, server: GitServer
) -> None:
    url = f"{server.url}/plain.git"
    async with Platform(
        home_of(tmp_path, server, token="another-token-1"), state=tmp_path / "state", trust_home=True
    ) as tea:
        words = await refused(acting(tea)("clone", url=url))
        assert "does not accept the key in WORK_KEY" in words
        assert "another-token-1" not in words
        server.password, server.status = "", 403
        assert "does not allow this" in await refused(acting(tea)("clone", url=url))
    (tmp_path / "home").rename(tmp_path / "old")
    server.password, server.status = "ada:other", 0
    async with Platform(home_of(tmp_path, server, token=""), state=tmp_path / "state", trust_home=True) as tea:
        words = await refused(acting(tea)("clone", url=url))
        assert "asks for credentials" in words
        assert "\n" not in words
    assert list(folder.iterdir()) == []


async def test_a_redirect_to_another_host_gets_no_credentials(
    tmp_path: Path, folder: Path, bare: Path, server: GitServer
) -> None:
    with GitServer(root=bare.parent, password="ada:else").open() as other:
        server.moved = {"/": other.url}
        home = home_of(tmp_path, server)
        text = (home / "tea.toml").read_text()
        (home / "tea.toml").write_text(text.replace(f'"{server.place}"', f'"{server.place}", "{other.place}"'))
        async with Platform(home, state=tmp_path / "state", trust_home=True) as tea:
            words = await refused(acting(tea)("clone", url=f"{server.url}/plain.git"))
            assert f"redirects to '{other.url}'" in words
        assert server.given() == {f"ada:{TOKEN}"}
        assert other.asked
        assert other.given() == set()


async def test_a_redirect_to_a_closed_place_is_refused(
    tea: Platform, folder: Path, bare: Path, server: GitServer
) -> None:
    with GitServer(root=bare.parent).open() as other:
        server.moved = {"/": other.url}
        words = await refused(acting(tea)("clone", url=f"{server.url}/plain.git"))
        assert "may not be reached" in words
        assert not other.asked
    assert "The guard refuses" in await refused(acting(tea)("clone", url="http://127.0.0.1:8080/plain.git"))


async def test_the_key_stands_in_no_process_and_no_file_of_git(
    tea: Platform, folder: Path, server: GitServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    real = run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    wrapper.write_text(
        f'#!/bin/sh\n{{ echo "$@"; env; cat "$HOME"/config "$HOME"/global; }} >> {seen}\nexec {real} "$@"\n'
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    assert (await acting(tea)("clone", url=f"{server.url}/plain.git")).ok
    text = seen.read_text()
    assert "fetch" in text
    assert "credential" in text
    assert TOKEN not in text


async def test_a_key_of_the_environment_goes_only_where_it_was_granted(
    tmp_path: Path, folder: Path, server: GitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORK_KEY", TOKEN)
    home = home_of(tmp_path, server, token="")
    async with Platform(home, state=tmp_path / "state") as tea:
        with pytest.raises(ToolError, match="The guard refuses"):  # what the home opens waits for the same grant
            (await acting(tea)("clone", url=f"{server.url}/plain.git")).unwrap()
        assert server.given() == set()
    async with Platform(home, state=tmp_path / "state", trust_home=True) as tea:
        assert (await acting(tea)("clone", url=f"{server.url}/plain.git")).ok


WORKER = '''
from tea import Agent, Context, Result, Task, work


class Worker(Agent):
    """Change repositories."""

    environments = ("git", "workspace#write")

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work in one conversation."""
        return await work(ctx, task, prompt="tool_calling", tools=("done",), environments=self.environments)
'''


async def test_an_agent_changes_a_private_repository_and_no_record_holds_the_key(
    tmp_path: Path, server: GitServer, bare: Path
) -> None:
    url = f"{server.url}/plain.git"
    model = ScriptedModel(
        [
            step(("git_clone", {"url": url, "folder": "w"})),
            step(("workspace_write", {"name": "w/note.txt", "text": "By an agent\n"})),
            step(("git_commit", {"folder": "w", "message": "Add a note"})),
            step(("git_push", {"folder": "w", "url": url})),
            step(done("Pushed.")),
        ]
    )
    home, state = home_of(tmp_path, server), tmp_path / "state"
    async with Platform(home, model=model, policy=AllowTrusted(), state=state, trust_home=True) as tea:
        await tea.acp.register(WORKER)
        outcome = await tea.run(f"Add a note to {url}.", agent="worker")
        assert outcome.answer == "Pushed.", outcome
        assert git(bare, "show", "main:note.txt") == "By an agent"
        asked = len(server.asked)
        assert (await tea.replay(outcome.run)).answer == "Pushed."
        assert len(server.asked) == asked
    assert TOKEN.encode() not in written(home / "traces") + written(state)
    assert server.given() == {f"ada:{TOKEN}"}


async def test_tools_made_of_the_environment_share_its_repositories(
    tea: Platform, folder: Path, server: GitServer
) -> None:
    await tea.tcp.transform("E2T", "git")
    cloned = await tea.tcp.invoke("git_clone", {"url": f"{server.url}/plain.git"}, session="s")
    assert cloned.ok, cloned.error
    (folder / "plain" / "new.txt").write_text("new\n")
    made = await tea.tcp.invoke("git_commit", {"folder": "plain", "message": "New"}, session="s")
    pushed = await tea.tcp.invoke("git_push", {"folder": "plain", "url": f"{server.url}/plain.git"}, session="s")
    assert pushed.unwrap()["commit"] == made.unwrap()["commit"]
    assert (await tea.ecp.state("git", session="s")).unwrap() == ["plain"]
