"""Test code hosts at the command line: `tea call` clones a private repository and reads an issue."""

import asyncio
from pathlib import Path
from subprocess import run
from typing import Any

import pytest
from git_server import GitServer
from github_server import GitHubSite

KEY = "planted-Ij56Kl-token"


def settled(tea: Any, place: str, url: str, name: str) -> None:
    """Write a home with a code host, and its key."""
    tea.write("tea.toml", f'[web]\nallow = ["{place}"]\n[hosts.{name}]\nurl = "{url}"\nkey_env = "HOST_KEY"\n')
    tea.write(".env", f"HOST_KEY={KEY}\n").chmod(0o600)
    granted(tea)


def granted(tea: Any) -> None:
    """Grant the home its present settings."""
    digest = tea("trust", "--home", "--json").data["digest"]
    assert tea("trust", "--home", f"@{digest}").code == 0


@pytest.mark.slow  # it needs the extra `github`, which the wheel's own environment lacks
async def test_a_call_reads_and_changes_an_issue(tea: Any) -> None:
    site = GitHubSite(KEY)
    async with site.open():
        settled(tea, site.place, site.url, "github")
        call = ("call", "environment:github#issue", "repository=octo/hello")
        found = await asyncio.to_thread(tea, *call, "number=2", "--json")
        assert found.data["value"]["issue"]["title"] == "Issue 2"
        gone = await asyncio.to_thread(tea, *call, "number=99")
        gone.refused(1, "octo/hello issue 99", "spelling")
        closed = ("call", "environment:github#close_issue", "repository=octo/hello", "number=2")
        assert (await asyncio.to_thread(tea, *closed)).code == 0
        assert site.issues[2]["state"] == "closed"


def test_a_call_clones_a_private_repository(tea: Any, tmp_path: Path) -> None:
    place = tmp_path / "served" / "plain.git"
    run(["git", "init", "-q", "--bare", str(place)], check=True, capture_output=True)
    with GitServer(root=place.parent, password=f"ada:{KEY}").open() as server:
        settled(tea, server.place, server.url, "work")
        call = ("call", "environment:git#clone", f"url={server.url}/plain.git")
        tea(*call).refused(1, "does not accept the key in HOST_KEY")
        tea.write("tea.toml", f'{(tea.folder / "tea.toml").read_text()}user = "ada"\n')
        granted(tea)
        done = tea(*call)
        assert done.code == 0, done
        assert (tea.folder / "plain" / ".git" / "HEAD").is_file()
        assert KEY not in done.out + done.err
