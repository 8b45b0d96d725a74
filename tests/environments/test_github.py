"""Test the environment `github` against a loopback API in GitHub's shapes, through the platform's own doors."""

import json
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from github_server import GitHubSite, told
from loop_kit import done, step
from provenance_kit import plain, scripted
from sites import Page

from tea.errors import ApprovalNeeded, UntrustedHome
from tea.platform import Platform
from tea.runs.policy import AllowTrusted
from tea.testing import ScriptedModel
from tea.types import ActionResponse

pytestmark = pytest.mark.asyncio(loop_scope="module")
Act = Callable[..., Coroutine[Any, Any, ActionResponse]]
KEY = "planted-Gh7Kd2-token"
REPO = {"repository": "octo/hello"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served() -> AsyncIterator[GitHubSite]:
    site = GitHubSite(KEY)
    async with site.open():
        yield site


@pytest.fixture
def site(served: GitHubSite) -> GitHubSite:
    served.reset()
    return served


def home_of(tmp_path: Path, site: GitHubSite, *, key: str = KEY, variable: str = "GITHUB_TOKEN") -> Path:
    """Make a home with the server as its GitHub, and the key in `.env`."""
    home = tmp_path / "home"
    home.mkdir()
    host = f'[hosts.github]\nurl = "{site.url}"\nkey_env = "{variable}"\n'
    (home / "tea.toml").write_text(f'[web]\nallow = ["{site.place}"]\nretries = [0.0]\nseconds = 5.0\n{host}')
    if key:
        (home / ".env").write_text(f"{variable}={key}\n")
        (home / ".env").chmod(0o600)
    return home


def acting(tea: Platform) -> Act:
    async def act(action: str, **arguments: Any) -> ActionResponse:
        return await tea.ecp.invoke(f"github#{action}", arguments, session="s")

    return act


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea(served: GitHubSite, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    folder = tmp_path_factory.mktemp("module")
    async with Platform(home_of(folder, served), state=folder / "state", trust_home=True) as tea:
        yield tea


@pytest.fixture
def act(tea: Platform, site: GitHubSite) -> Act:
    return acting(tea)


async def refused(response: Coroutine[Any, Any, ActionResponse]) -> str:
    """Return the words of an expected error, one line without the key."""
    error = (await response).error
    assert error is not None
    assert error["code"] == "ToolError", error
    words = f"{error['problem']} {error['fix']}"
    assert KEY not in words
    assert "\n" not in words
    return words


async def test_repositories_are_looked_at_listed_made_and_forked(act: Act, site: GitHubSite) -> None:
    found = (await act("repository", repository=f"{site.url}/octo/hello/issues/2")).unwrap()
    assert (found["name"], found["branch"], found["stars"]) == ("octo/hello", "main", 7)
    made = (await act("create_repository", name="notes")).unwrap()
    assert (made["name"], made["private"]) == ("ada/notes", True)
    assert "name already exists" in await refused(act("create_repository", name="notes"))
    assert [one["name"] for one in (await act("repositories")).unwrap()] == ["octo/hello", "ada/notes"]
    assert (await act("fork", **REPO)).unwrap()["fork"]
    assert (await act("state")).unwrap() == {"url": site.url, "signed_in": True}


async def test_an_issue_is_opened_read_commented_changed_and_closed(act: Act, site: GitHubSite) -> None:
    made = (await act("create_issue", **REPO, title="It stops", body="At once.")).unwrap()
    assert (made["number"], made["state"]) == (5, "open")
    assert (await act("comment", **REPO, number=5, body="Here too.")).unwrap()["state"] == "commented"
    found = (await act("issue", **REPO, number=5)).unwrap()
    assert found["body"] == "At once."
    assert [one["body"] for one in found["comments"]] == ["Here too."]
    await act("edit_issue", **REPO, number=5, title="It stops at once")
    assert (site.issues[5]["title"], site.issues[5]["body"]) == ("It stops at once", "At once.")
    for _ in range(2):
        assert (await act("close_issue", **REPO, number=5, reason="not_planned")).unwrap()["state"] == "closed"
    assert (await act("close_issue", **REPO, number=5, reason="reopened")).unwrap()["state"] == "open"
    assert (await act("search", query="stops")).unwrap()[0]["name"] == "#5"
    assert "The title is empty" in await refused(act("create_issue", **REPO, title=" "))


async def test_lists_go_over_pages_up_to_their_limit(act: Act, site: GitHubSite) -> None:
    for number in range(9):
        site.issue(f"More {number}", "")
    site.asked.clear()
    found = (await act("issues", **REPO, limit=5)).unwrap()
    assert [one["number"] for one in found] == [1, 2, 3, 5, 6], "4 is a pull request"
    assert len(site.asked) == 3
    assert len((await act("issues", **REPO)).unwrap()) == 12
    assert "out of range" in await refused(act("issues", **REPO, limit=201))


async def test_a_pull_request_is_opened_read_reviewed_and_merged(act: Act, site: GitHubSite) -> None:
    assert "Validation Failed; head: invalid" in await refused(
        act("create_pull_request", **REPO, title="Change", head="fix/a")
    )
    branch = (await act("create_branch", **REPO, name="fix/a")).unwrap()
    assert branch == (await act("create_branch", **REPO, name="fix/a")).unwrap()
    assert {one["name"] for one in (await act("branches", **REPO)).unwrap()} == {"main", "fix/a"}
    number = (await act("create_pull_request", **REPO, title="Change", head="fix/a")).unwrap()["number"]
    assert [one["number"] for one in (await act("pull_requests", **REPO)).unwrap()] == [4, number]
    assert "+two" in (await act("diff", **REPO, number=number)).unwrap()["text"]
    assert (await act("changed_files", **REPO, number=number)).unwrap()[0]["name"] == "a.txt"
    remark = {"path": "a.txt", "line": 1, "body": "Why?"}
    review = await act("review", **REPO, number=number, body="Look.", verdict="request_changes", remarks=[remark])
    assert review.unwrap()["state"] == "changes_requested"
    assert site.reviews[0]["comments"] == [{**remark, "side": "RIGHT"}]
    assert "The review is empty" in await refused(act("review", **REPO, number=number))
    pull = (await act("pull_request", **REPO, number=number)).unwrap()
    assert pull["comments"][0]["body"] == "CHANGES_REQUESTED: Look."
    checks = (await act("checks", **REPO, revision=pull["head_commit"])).unwrap()
    assert [one["state"] for one in checks] == ["success"]
    assert "modified" in await refused(act("merge", **REPO, number=number, head_commit="e" * 40))
    merged = (await act("merge", **REPO, number=number, head_commit=pull["head_commit"])).unwrap()
    assert merged == {"branch": "main", "commit": "c" * 40}
    assert merged == (await act("merge", **REPO, number=number)).unwrap()


async def test_releases_are_listed_read_and_made(act: Act, site: GitHubSite) -> None:
    listed = (await act("releases", **REPO)).unwrap()
    assert [(one["tag"], one["state"], len(one["notes"])) for one in listed] == [
        ("v2-rc", "prerelease", 500),
        ("v1", "published", 500),
        ("v0", "published", 500),
    ]
    newest = (await act("release", **REPO)).unwrap()
    assert (newest["tag"], newest["author"], len(newest["notes"])) == ("v1", "ada", 800)
    (asset,) = newest["assets"]
    assert (asset["name"], asset["size"], asset["downloads"]) == ("hello.tar.gz", 120, 7)
    assert (await act("release", **REPO, tag="v0")).unwrap()["published"] == "2024-05-02T00:00:00Z"
    assert "octo/hello has no release v9." in await refused(act("release", **REPO, tag="v9"))
    made = (await act("create_release", **REPO, tag="v3", notes="Faster.", draft=True)).unwrap()
    assert (made["tag"], made["name"], made["state"], made["notes"]) == ("v3", "v3", "draft", "Faster.")
    sent = json.loads(site.asked[-1].body)
    assert (sent["generate_release_notes"], "target_commitish" in sent) == (False, False)
    assert "tag_name: already exists" in await refused(act("create_release", **REPO, tag="v3"))
    assert "The tag is empty" in await refused(act("create_release", **REPO, tag=" "))


async def test_files_are_listed_read_and_written(act: Act, site: GitHubSite) -> None:
    assert [one["name"] for one in (await act("list_files", **REPO)).unwrap()] == ["README.md", "src/a.txt"]
    found = (await act("read_file", **REPO, path="src/a.txt")).unwrap()
    assert (found["text"], found["next"]) == ("one\n", 0)
    change = {**REPO, "path": "src/a.txt", "content": "two\n", "message": "Change"}
    assert "conflict" in await refused(act("write_file", **change))
    assert (await act("write_file", **change, sha=found["sha"])).unwrap()["commit"] == "d" * 40
    assert (await act("write_file", **change, sha=found["sha"])).unwrap()["commit"] == "", "it is there already"
    assert site.files["src/a.txt"] == "two\n"
    assert (await act("write_file", **REPO, path="new?#.txt", content="x", message="Add")).ok
    assert site.files["new?#.txt"] == "x"
    site.files["long.txt"] = "x" * 20_000
    piece = (await act("read_file", **REPO, path="long.txt")).unwrap()
    assert len((await act("read_file", **REPO, path="long.txt", offset=piece["next"])).unwrap()["text"]) == 4_000
    assert "folder" in await refused(act("read_file", **REPO, path="src"))
    assert [one["subject"] for one in (await act("commits", **REPO)).unwrap()] == ["Begin"]


@pytest.mark.parametrize(
    "name", ["hello", "https://example.org/octo/hello", "octo/..", "octo/a b", "../x", "octo/hello/x", ""]
)
async def test_what_is_no_repository_of_this_github_is_refused(act: Act, site: GitHubSite, name: str) -> None:
    assert "is not a" in await refused(act("repository", repository=name))
    assert not site.asked


LIMIT = {"x-ratelimit-limit": "60", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1893456000"}


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        (told(401, {"message": "Bad credentials"}), "does not accept the key in GITHUB_TOKEN"),
        (told(403, {"message": "Resource not accessible"}), "does not allow this: Resource not accessible. give"),
        (told(403, {"message": "API rate limit exceeded"}, **LIMIT), "used up until 2030-01-01 00:00:00 UTC"),
        (told(403, {"message": "secondary rate limit"}, retry_after="60"), "used up for 60 s"),
        (told(429, {"message": "Too many"}, retry_after="7"), "used up for 7 s"),
        (told(404, {"message": "Not Found"}), "has no octo/hello issue 1, or it may not be seen"),
        (told(409, {"message": "Git Repository is empty."}), "conflict: Git Repository is empty."),
        (told(410, {"message": "Issues are disabled\nfor this repo"}), "Issues are disabled for this repo"),
        (
            told(422, {"message": "Validation Failed", "errors": [{"field": "title", "code": "missing"}]}),
            "Validation Failed; title: missing.",
        ),
        (
            told(
                422, {"message": "Validation Failed", "errors": [{"field": "base", "code": "custom", "message": "no"}]}
            ),
            "Validation Failed; base: no.",
        ),
        (
            told(422, {"message": "Validation Failed", "errors": ["No commits between main and main"]}),
            "No commits betw",
        ),
        (told(200, {"message": "Welcome"}), "no number `number` is in it"),
        (told(200, []), "no number `number` is in it"),
        (told(418, {"message": "Odd"}), "refused this (418): Odd"),
        (Page(status=200, body=b"<html>", headers={"content-type": "application/json"}), "cannot be read"),
        (Page(status=200, body=b"\xff", headers={"content-type": "application/json; charset=utf-8"}), "cannot be read"),
        (Page(status=599, body=b"x"), "cannot be read"),
        (Page(then="endless", headers={"content-type": "application/json"}), "too long"),
        (Page(status=301, headers={"location": "http://127.0.0.1:9/api/v3/x"}), "is not its API"),
        (Page(status=301), "has moved octo/hello issue 1"),
    ],
)
async def test_an_error_is_one_line_with_a_remedy(act: Act, site: GitHubSite, odd: Page, words: str) -> None:
    site.odd = [odd]
    assert words in await refused(act("issue", **REPO, number=1))


@pytest.mark.parametrize(
    ("action", "arguments"),
    [
        ("repository", {}),
        ("issues", {}),
        ("pull_request", {"number": 1}),
        ("diff", {"number": 1}),
        ("commits", {}),
        ("branches", {}),
        ("release", {}),
        ("list_files", {}),
        ("read_file", {"path": "README.md"}),
        ("write_file", {"path": "a.txt", "content": "a", "message": "m", "branch": "main"}),
        ("comment", {"number": 1, "body": "words"}),
        ("create_issue", {"title": "words"}),
        ("create_branch", {"name": "new"}),
        ("fork", {}),
    ],
)
@pytest.mark.parametrize("odd", [told(200, {"a": 1}), told(200, [{"a": 1}]), told(200, ["a"]), told(200, "a")])
async def test_an_answer_of_another_form_is_no_success(
    act: Act, site: GitHubSite, odd: Page, action: str, arguments: dict[str, Any]
) -> None:
    if (action, odd.body[:1]) in {("diff", b'"'), ("read_file", b"[")}:
        return  # this one is a text, or a folder
    site.odd = [odd] * 4
    words = await refused(act(action, **REPO, **arguments))
    assert "documented form" in words


async def test_a_read_is_tried_again_and_a_change_is_not(act: Act, site: GitHubSite) -> None:
    broken = told(502, {"message": "Bad gateway"})
    site.odd = [broken]
    assert (await act("issue", **REPO, number=1)).ok
    site.odd = [broken, broken]
    assert "GitHub failed (502): Bad gateway. try again later" in await refused(act("issue", **REPO, number=1))
    site.odd = [Page(then="break", headers={"content-length": "9"})]
    site.asked.clear()
    assert "was done before you try again" in await refused(act("create_issue", **REPO, title="Once"))
    assert len(site.asked) == 1


async def test_a_moved_repository_is_followed_within_the_api(act: Act, site: GitHubSite) -> None:
    site.odd = [Page(status=301, headers={"location": f"{site.url}/api/v3/repos/octo/hello"})]
    assert (await act("repository", repository="octo/old")).unwrap()["name"] == "octo/hello"


async def test_without_a_key_public_things_are_read(tmp_path: Path, site: GitHubSite) -> None:
    async with Platform(home_of(tmp_path, site, key=""), state=tmp_path / "state", trust_home=True) as tea:
        act = acting(tea)
        assert (await act("repository", **REPO)).ok
        assert "authorization" not in site.asked[-1].headers
        assert "set a valid token in GITHUB_TOKEN" in await refused(act("create_issue", **REPO, title="X"))
        assert "private and GITHUB_TOKEN unset" in await refused(act("issue", **REPO, number=99))


async def test_a_key_of_the_environment_goes_to_no_other_github(
    tmp_path: Path, site: GitHubSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", KEY)
    async with Platform(home_of(tmp_path, site, key=""), state=tmp_path / "state") as tea:
        act = acting(tea)
        with pytest.raises(UntrustedHome, match="sends GITHUB_TOKEN of the environment"):
            (await act("repository", **REPO)).unwrap()
        assert not site.asked


async def test_a_missing_library_is_one_line_with_its_command(act: Act, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gidgethub.abc", None)
    error = (await act("repository", **REPO)).error
    assert error is not None
    assert "tea-protocol[github]" in error["fix"]
    assert (await act("state")).ok


async def test_what_github_declares_is_what_it_does(tea: Platform) -> None:
    found = {name: one.traits for name, one in (await tea.ecp.info("github")).operations.items()}
    writes = {name for name, one in found.items() if one.effects == "external"}
    assert writes == {
        *("create_issue", "comment", "edit_issue", "close_issue", "create_pull_request", "review", "merge"),
        *("write_file", "create_branch", "create_repository", "fork", "create_release"),
    }
    assert all(found[name].destinations for name in writes)
    assert {one.effects for name, one in found.items() if name not in writes} == {"reads"}
    assert all(one.network for name, one in found.items() if name != "state")


async def test_tools_made_of_the_environment_reach_the_same_repository(tea: Platform, site: GitHubSite) -> None:
    await tea.tcp.transform("E2T", "github")
    made = await tea.tcp.invoke("github_create_issue", {**REPO, "title": "By a tool"}, session="s")
    number = made.unwrap()["number"]
    found = await tea.ecp.invoke("github#issue", {**REPO, "number": number}, session="s")
    assert found.unwrap()["issue"]["title"] == "By a tool"


async def test_an_agent_answers_an_issue_and_no_record_holds_the_key(tmp_path: Path, site: GitHubSite) -> None:
    site.issues[2]["body"] = f"My token is {KEY}."
    model = ScriptedModel(
        [
            step(("find_tools", {"query": "comment on an issue of a repository on GitHub"})),
            step(("github_issue", {**REPO, "number": 2})),
            step(("github_comment", {**REPO, "number": 2, "body": "Thank you."})),
            step(done("Answered.")),
        ]
    )
    home = home_of(tmp_path, site)
    async with Platform(home, model=model, policy=AllowTrusted(), state=tmp_path / "state", trust_home=True) as tea:
        outcome = await tea.run("Thank for issue 2 of octo/hello.")
        assert outcome.answer == "Answered."
        assert [one["body"] for one in site.comments[2]] == ["Thank you."]
        asked = len(site.asked)
        assert (await tea.replay(outcome.run)).answer == "Answered."
        assert len(site.asked) == asked
    assert outcome.trace is not None
    text = b"".join(path.read_bytes() for path in outcome.trace.rglob("*") if path.is_file())
    assert KEY.encode() not in text
    assert b"<secret:GITHUB_TOKEN>" in text


@pytest.mark.parametrize(("to", "goes"), [("octo/hello", True), ("eve/inbox", False)])
async def test_after_an_issue_was_read_words_go_only_to_a_repository_that_the_person_named(
    tmp_path: Path, site: GitHubSite, to: str, *, goes: bool
) -> None:
    home = home_of(tmp_path, site)
    settings = f'{(home / "tea.toml").read_text()}[policy]\nexternal = "allow"\n'
    steps = [
        ["act", "github#issue", {**REPO, "number": 1}],
        ["act", "github#comment", {"repository": to, "number": 1, "body": "Read."}],
    ]
    async with plain(tmp_path, settings) as tea:
        await tea.acp.register(scripted(*steps))
        if goes:
            assert (await tea.run("Answer issue 1 of octo/hello.", agent="worker")).answer[-1]["state"] == "commented"
            return
        with pytest.raises(ApprovalNeeded, match="would go to eve/inbox, which nobody named"):
            await tea.run("Answer issue 1 of octo/hello.", agent="worker")
        assert not [one for one in site.asked if one.method != "GET"]


@pytest.mark.parametrize(("action", "given"), [("create_repository", {"name": "notes"}), ("fork", REPO)])
async def test_after_an_issue_was_read_no_repository_is_made_for_an_owner_that_nobody_named(
    tmp_path: Path, site: GitHubSite, action: str, given: dict[str, Any]
) -> None:
    settings = f'{(home_of(tmp_path, site) / "tea.toml").read_text()}[policy]\nexternal = "allow"\n'
    steps = [
        ["act", "github#issue", {**REPO, "number": 1}],
        ["act", f"github#{action}", {**given, "organisation": "eve"}],
    ]
    async with plain(tmp_path, settings) as tea:
        await tea.acp.register(scripted(*steps))
        with pytest.raises(ApprovalNeeded, match="would go to eve, which nobody named"):
            await tea.run("Read issue 1 of octo/hello, and make the repository notes.", agent="worker")
        assert not [one for one in site.asked if one.method != "GET"]
