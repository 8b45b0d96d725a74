"""Test the environment `git`: bare repositories in an opened folder, through the platform's own door."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from hashlib import sha1
from pathlib import Path
from subprocess import run
from typing import Any

import pytest
import pytest_asyncio
from git_server import ENV, git

from tea.errors import BadInput
from tea.platform import Platform
from tea.types import ActionResponse

Act = Callable[..., Coroutine[Any, Any, ActionResponse]]
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the operator's repositories."""
    return tmp_path_factory.mktemp("opened")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea(opened: Path) -> AsyncIterator[Platform]:
    home = opened.parent / "home"
    home.mkdir()
    (home / "tea.toml").write_text(f'[web]\nrepositories = ["{opened}"]\n')
    async with Platform(home, state=opened.parent / "state", trust_home=True) as tea:
        yield tea


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace of a call from outside of a run is the current folder."""
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    return inside


@pytest.fixture
def bare(opened: Path, tmp_path: Path) -> Path:
    """A bare repository with one commit on `main`."""
    made = tmp_path / "made"
    made.mkdir()
    git(made, "init", "-q", "-b", "main")
    (made / "a.txt").write_text("one\n")
    git(made, "add", ".")
    git(made, "commit", "-q", "-m", "Begin")
    place = opened / tmp_path.name / "plain.git"
    git(tmp_path, "clone", "-q", "--bare", str(made), str(place))
    return place


@pytest.fixture
def act(tea: Platform, folder: Path) -> Act:
    async def act(action: str, **arguments: Any) -> ActionResponse:
        return await tea.ecp.invoke(f"git#{action}", arguments, session="s")

    return act


def other_pushes(bare: Path, tmp_path: Path, name: str, text: str) -> None:
    """Have another person push a change of a file."""
    other = tmp_path / f"other-{name}"
    git(tmp_path, "clone", "-q", str(bare), str(other))
    (other / name).write_text(text)
    git(other, "add", ".")
    git(other, "commit", "-q", "-m", f"Change {name}")
    git(other, "push", "-q", "origin", "main")


async def refused(response: Coroutine[Any, Any, ActionResponse]) -> str:
    """Return the words of an expected error."""
    error = (await response).error
    assert error is not None
    assert error["code"] == "ToolError", error
    return f"{error['problem']} {error['fix']}"


async def test_a_change_is_cloned_committed_and_pushed(act: Act, folder: Path, bare: Path) -> None:
    cloned = (await act("clone", url=str(bare))).unwrap()
    assert (cloned["folder"], cloned["branch"]) == ("plain", "main")
    assert (folder / "plain" / "a.txt").read_text() == "one\n"
    assert (await act("state")).unwrap() == ["plain"]
    (folder / "plain" / "a.txt").write_text("two\n")
    (folder / "plain" / "b.txt").write_text("new\n")
    status = (await act("status", folder="plain")).unwrap()
    assert status["changes"] == [" M a.txt", "?? b.txt"]
    assert "-one\n+two" in (await act("diff", folder="plain")).unwrap()["text"]
    made = (await act("commit", folder="plain", message="Change")).unwrap()
    assert made["files"] == 2
    assert (await act("commit", folder="plain", message="Change")).unwrap() == made
    assert "Nothing is changed" in await refused(act("commit", folder="plain", message="Other"))
    assert (await act("status", folder="plain")).unwrap()["ahead"] == 1
    pushed = (await act("push", folder="plain", url=str(bare))).unwrap()
    assert pushed == {"branch": "main", "commit": made["commit"], "rebased": False}
    assert (await act("push", folder="plain", url=str(bare))).unwrap() == pushed
    assert git(bare, "rev-parse", "main") == made["commit"]
    log = (await act("log", folder="plain")).unwrap()
    assert [one["subject"] for one in log] == ["Change", "Begin"]


async def test_a_commit_carries_the_name_of_the_settings_or_of_the_person(
    bare: Path, opened: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gitconfig").write_text("[user]\n\tname = Kim <evil>\n\temail = kim@example.org\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    home = tmp_path / "home"
    home.mkdir()
    settings = f'[web]\nrepositories = ["{opened}"]\n'
    told = [("", "tea <kim@example.org>"), ('[git]\nname = "Desk"\n', "Desk <kim@example.org>")]
    told.append(('[git]\nname = "Desk"\nemail = "desk@example.org"\n', "Desk <desk@example.org>"))
    for number, (lines, wanted) in enumerate(told):
        (home / "tea.toml").write_text(settings + lines)
        async with Platform(home, state=tmp_path / "state", trust_home=True) as tea:
            name = f"clone{number}"
            (await tea.ecp.invoke("git#clone", {"url": str(bare), "folder": name})).unwrap()
            (folder / name / "b.txt").write_text("two\n")
            made = (await tea.ecp.invoke("git#commit", {"folder": name, "message": "Add"})).unwrap()
            assert git(folder / name, "log", "-1", "--format=%an <%ae>", made["commit"]).strip() == wanted
    for wrong in ('name = "a\\nb"', 'email = "<a>"', "name = 3", 'mail = "a"'):
        (home / "tea.toml").write_text(f"[git]\n{wrong}\n")
        with pytest.raises(BadInput, match=r"git\..* in tea.toml"):
            Platform(home, state=tmp_path / "state")


async def test_a_rejected_push_follows_the_others_and_is_made_again(
    act: Act, folder: Path, bare: Path, tmp_path: Path
) -> None:
    await act("clone", url=str(bare), folder="w")
    other_pushes(bare, tmp_path, "b.txt", "of another\n")
    (folder / "w" / "c.txt").write_text("own\n")
    await act("commit", folder="w", message="Own")
    assert "rejected" in await refused(act("push", folder="w", url=str(bare), rebase=False))
    assert (await act("push", folder="w", url=str(bare))).unwrap()["rebased"]
    assert git(bare, "log", "--format=%s", "main").split("\n") == ["Own", "Change b.txt", "Begin"]
    assert sorted(path.name for path in (folder / "w").iterdir()) == [".git", "a.txt", "b.txt", "c.txt"]
    assert (await act("status", folder="w")).unwrap()["changes"] == []


async def test_a_push_that_meets_the_same_lines_changes_nothing(
    act: Act, folder: Path, bare: Path, tmp_path: Path
) -> None:
    await act("clone", url=str(bare), folder="w")
    other_pushes(bare, tmp_path, "a.txt", "of another\n")
    (folder / "w" / "a.txt").write_text("own\n")
    made = (await act("commit", folder="w", message="Own")).unwrap()
    assert "Others changed the same lines: 'a.txt'" in await refused(act("push", folder="w", url=str(bare)))
    status = (await act("status", folder="w")).unwrap()
    assert (status["commit"], status["changes"], status["ahead"], status["behind"]) == (made["commit"], [], 1, 1)
    assert (folder / "w" / "a.txt").read_text() == "own\n"
    assert git(bare, "log", "--format=%s", "main").split("\n") == ["Change a.txt", "Begin"]


async def test_a_change_of_the_second_of_the_clone_is_committed_later_too(act: Act, folder: Path, bare: Path) -> None:
    for number in range(9):
        await asyncio.sleep(1.05 - time.time() % 1)
        began, changed = time.time(), folder / f"w{number}" / "a.txt"
        await act("clone", url=str(bare), folder=f"w{number}")
        changed.write_text("two\n")
        if int(time.time()) == int(began):
            break
    await asyncio.sleep(1.05 - time.time() % 1)
    assert (await act("commit", folder=changed.parent.name, message="Own")).unwrap()["files"] == 1


async def test_what_the_remote_refuses_is_told_in_its_words(act: Act, folder: Path, bare: Path) -> None:
    hook = bare / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho main is protected >&2\nexit 1\n")
    hook.chmod(0o755)
    await act("clone", url=str(bare), folder="w")
    (folder / "w" / "a.txt").write_text("two\n")
    await act("commit", folder="w", message="Own")
    words = await refused(act("push", folder="w", url=str(bare)))
    assert "pre-receive hook declined" in words
    assert "main is protected" in words


async def test_a_pull_brings_what_others_pushed_and_keeps_own_work(
    act: Act, folder: Path, bare: Path, tmp_path: Path
) -> None:
    await act("clone", url=str(bare), folder="w")
    other_pushes(bare, tmp_path, "a.txt", "of another\n")
    (folder / "w" / "note.txt").write_text("own\n")
    assert (await act("pull", folder="w")).ok
    assert (folder / "w" / "a.txt").read_text() == "of another\n"
    other_pushes(bare, tmp_path, "note.txt", "theirs\n")
    assert "stand in the way" in await refused(act("pull", folder="w"))
    assert (folder / "w" / "note.txt").read_text() == "own\n"


async def test_a_pull_that_meets_the_same_lines_names_them_and_changes_nothing(
    act: Act, folder: Path, bare: Path, tmp_path: Path
) -> None:
    await act("clone", url=str(bare), folder="w")
    other_pushes(bare, tmp_path, "a.txt", "of another\n")
    (folder / "w" / "a.txt").write_text("own\n")
    made = (await act("commit", folder="w", message="Own")).unwrap()
    theirs = git(bare, "rev-parse", "main")
    words = await refused(act("pull", folder="w"))
    assert "Others changed the same lines: 'a.txt'. No branch and no file is changed" in words
    assert f"make a branch from {theirs[:12]}" in words
    status = (await act("status", folder="w")).unwrap()
    assert (status["commit"], status["changes"], status["ahead"], status["behind"]) == (made["commit"], [], 1, 1)
    assert (folder / "w" / "a.txt").read_text() == "own\n"
    assert (await act("branch", folder="w", name="mine", start=theirs[:12])).ok
    assert (folder / "w" / "a.txt").read_text() == "of another\n"


async def test_branches_are_made_and_checked_out(act: Act, folder: Path, bare: Path) -> None:
    await act("clone", url=str(bare), folder="w")
    assert (await act("branch", folder="w", name="work/new")).ok
    (folder / "w" / "a.txt").write_text("two\n")
    await act("commit", folder="w", message="On a branch", files=["a.txt"])
    assert (await act("branch", folder="w", name="main")).ok
    assert (folder / "w" / "a.txt").read_text() == "one\n"
    assert (await act("push", folder="w", url=str(bare), branch="work/new")).ok
    assert git(bare, "for-each-ref", "--format=%(refname:short)") == "main\nwork/new"
    for name in ("-x", "a..b", "x@{1}", "", "--help"):
        assert not (await act("branch", folder="w", name=name)).ok


async def test_nothing_that_a_repository_brings_is_run(act: Act, folder: Path, bare: Path, tmp_path: Path) -> None:
    told = tmp_path / "told"
    await act("clone", url=str(bare), folder="w")
    own = folder / "w" / ".git"
    evil = f"touch {told}"
    (own / "hooks").mkdir()
    for name in ("pre-commit", "post-commit", "post-checkout", "pre-push", "pre-rebase"):
        (own / "hooks" / name).write_text(f"#!/bin/sh\n{evil}\n")
        (own / "hooks" / name).chmod(0o755)
    with (own / "config").open("a") as config:
        config.write(
            f'[core]\n\tfsmonitor = "{evil}"\n\tpager = "{evil}"\n\thooksPath = {own}/hooks\n\tsshCommand = "{evil}"\n'
            f'[filter "x"]\n\tclean = "{evil}"\n\tsmudge = "{evil}"\n\trequired = true\n'
            f'[diff "x"]\n\ttextconv = "{evil}"\n\tcommand = "{evil}"\n[diff]\n\texternal = "{evil}"\n'
            f'[credential]\n\thelper = "!{evil}"\n[gpg]\n\tprogram = "{evil}"\n[commit]\n\tgpgSign = true\n'
            f'[alias]\n\tstatus = "!{evil}"\n[include]\n\tpath = {tmp_path}/further\n'
        )
    (folder / "w" / ".gitattributes").write_text("* filter=x diff=x merge=x\n")
    (folder / "w" / "a.txt").write_text("two\n")
    for action, arguments in (
        ("status", {}),
        ("diff", {}),
        ("commit", {"message": "Own"}),
        ("branch", {"name": "other"}),
        ("log", {}),
        ("pull", {}),
        ("push", {"url": str(bare)}),
    ):
        assert (await act(action, folder="w", **arguments)).error is None, action
    assert not told.exists()
    run(["git", "status"], cwd=folder / "w", env=ENV, check=False, capture_output=True)
    assert told.exists(), "the trap is none"


@pytest.mark.parametrize("action", ["status", "diff", "commit"])
async def test_nothing_that_a_repository_inside_of_one_brings_is_run(
    act: Act, folder: Path, bare: Path, tmp_path: Path, action: str
) -> None:
    told = tmp_path / "told"
    await act("clone", url=str(bare), folder="w")
    inner = folder / "w" / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / "a.txt").write_text("one\n")
    git(inner, "add", ".")
    git(inner, "commit", "-q", "-m", "Begin")
    git(folder / "w", "add", "inner")
    git(folder / "w", "commit", "-q", "-m", "Add what lies inside")
    git(inner, "config", "core.fsmonitor", f"touch {told}")
    git(inner, "config", "filter.x.clean", f"touch {told}")
    (folder / "w" / ".gitmodules").write_text('[submodule "inner"]\n\tpath = inner\n\turl = .\n\tignore = none\n')
    (inner / ".gitattributes").write_text("* filter=x\n")
    (inner / "a.txt").write_text("two\n")
    (folder / "w" / "a.txt").write_text("two\n")
    done = await act(action, folder="w", **({"message": "Own"} if action == "commit" else {}))
    assert not told.exists()
    assert done.ok
    git(folder / "w", "status")
    assert told.exists(), "the trap is none"


@pytest.mark.parametrize("named", ["{outside}", "../../s.txt", "../w/../../s.txt", ".GIT/config"])
async def test_an_index_that_names_files_outside_shows_and_keeps_none(
    act: Act, folder: Path, bare: Path, tmp_path: Path, named: str
) -> None:
    (tmp_path / "s.txt").write_text("KEY=hush-hush\n")
    await act("clone", url=str(bare), folder="w")
    name = named.format(outside=tmp_path / "s.txt")
    held, index = "x" * len(name), folder / "w" / ".git" / "index"
    (folder / "w" / held).write_text("")
    git(folder / "w", "add", held)
    data = index.read_bytes()[:-20].replace(held.encode(), name.encode())
    index.write_bytes(data + sha1(data).digest())
    assert "hush-hush" in git(folder / "w", "diff", "HEAD") or named == ".GIT/config", "the trap is none"
    for action, arguments in (("status", {}), ("diff", {}), ("commit", {"message": "Own"}), ("pull", {})):
        assert "outside of it" in await refused(act(action, folder="w", **arguments)), action
    every = ["git", "cat-file", "--batch", "--batch-all-objects"]
    assert b"hush-hush" not in run(every, cwd=folder / "w", env=ENV, check=True, capture_output=True).stdout


async def test_an_index_of_few_bytes_that_stands_for_gigabytes_is_refused(act: Act, folder: Path, bare: Path) -> None:
    await act("clone", url=str(bare), folder="w")
    index = folder / "w" / ".git" / "index"
    git(folder / "w", "update-index", "--index-version", "4")
    assert (await act("status", folder="w")).ok
    count, facts = 31_000, bytes(24) + (0o100644).to_bytes(4) + bytes(32)
    rows = (facts + min(size, 0xFFF).to_bytes(2) + b"\0x\0" for size in range(1, count + 1))  # each a letter longer
    data = b"DIRC" + (4).to_bytes(4) + count.to_bytes(4) + b"".join(rows)
    index.write_bytes(data + sha1(data).digest())
    assert "shortened" in await refused(act("status", folder="w"))


async def test_a_few_objects_that_stand_for_millions_of_files_take_bounded_memory(
    act: Act, folder: Path, bare: Path
) -> None:
    await act("clone", url=str(bare), folder="w")
    w = folder / "w"
    tree, kind = git(w, "rev-parse", "HEAD:a.txt"), "100644 blob"
    for _ in range(7):
        rows = "".join(f"{kind} {tree}\t{number}\n" for number in range(10))
        made = run(["git", "mktree"], cwd=w, env=ENV, input=rows, check=True, capture_output=True, text=True)
        tree, kind = made.stdout.strip(), "040000 tree"
    many = git(w, "commit-tree", tree, "-p", "HEAD", "-m", "Many")
    assert "emory" in await refused(act("diff", folder="w", new=many))
    assert (await act("status", folder="w")).unwrap()["changes"] == []


async def test_large_files_are_compared_as_a_whole(act: Act, folder: Path, bare: Path) -> None:
    await act("clone", url=str(bare), folder="w")
    for first in ("one\n", "two\n"):
        (folder / "w" / "large.txt").write_text(first + "line\n" * 4_000_000)
        (folder / "w" / "a.txt").write_text(first * 3)
        assert (await act("commit", folder="w", message="Large")).ok
    told = (await act("diff", folder="w", old="HEAD~1", new="HEAD")).unwrap()["text"]
    assert "Binary files a/large.txt and b/large.txt differ" in told
    assert "+two" in told


@pytest.mark.parametrize("files", [(), ("a.txt", "inner"), ("inner", "still"), ("a.txt",)])
async def test_the_commit_of_a_repository_inside_of_one_is_committed_with_it(
    act: Act, folder: Path, bare: Path, files: tuple[str, ...]
) -> None:
    await act("clone", url=str(bare), folder="w")
    inner, still = folder / "w" / "inner", folder / "w" / "still"
    for one in (inner, still):
        one.mkdir()
        git(one, "init", "-q")
        git(one, "commit", "-q", "--allow-empty", "-m", "Begin")
    git(folder / "w", "add", "inner", "still")
    git(folder / "w", "commit", "-q", "-m", "Add what lies inside")
    git(inner, "commit", "-q", "--allow-empty", "-m", "Go on")
    (folder / "w" / "a.txt").write_text("two\n")
    named = {"files": list(files)} if files else {}
    made = (await act("commit", folder="w", message="Own", **named)).unwrap()
    assert made["files"] == len({*(files or ("a.txt", "inner"))} - {"still"})
    moved = git(folder / "w", "rev-parse", "HEAD:inner") == git(inner, "rev-parse", "HEAD")
    assert moved == (not files or "inner" in files)
    assert (await act("status", folder="w")).unwrap()["changes"] == [
        *([] if not files or "a.txt" in files else [" M a.txt"]),
        *([] if moved else [" M inner"]),
    ]


async def test_a_shallow_clone_is_read_pulled_and_pushed(act: Act, folder: Path, bare: Path, tmp_path: Path) -> None:
    other_pushes(bare, tmp_path, "b.txt", "two\n")
    git(folder, "clone", "-q", "--depth", "1", f"file://{bare}", "w")
    git(folder / "w", "remote", "set-url", "origin", str(bare))
    assert [one["subject"] for one in (await act("log", folder="w")).unwrap()] == ["Change b.txt"]
    other_pushes(bare, tmp_path, "c.txt", "three\n")
    (await act("pull", folder="w")).unwrap()
    (folder / "w" / "a.txt").write_text("two\n")
    made = (await act("commit", folder="w", message="Own")).unwrap()
    assert (await act("push", folder="w", url=str(bare))).unwrap()["commit"] == made["commit"]
    assert len((await act("log", folder="w")).unwrap()) == 3
    assert git(folder / "w", "fsck", "--no-dangling") == ""
    (folder / "w" / ".git" / "shallow").write_text("".join(f"{number:040x}\n" for number in range(5_000)))
    assert "parents of too many commits" in await refused(act("log", folder="w"))


async def test_a_repository_whose_hooks_are_links_is_used(act: Act, folder: Path, bare: Path) -> None:
    await act("clone", url=str(bare), folder="w")
    hooks = folder / "w" / ".git" / "hooks"
    hooks.mkdir()
    (hooks / "pre-commit").symlink_to("../../check.sh")
    (folder / "w" / "check.sh").write_text("#!/bin/sh\nexit 1\n")
    assert (await act("commit", folder="w", message="Own")).unwrap()["files"] == 1


async def test_a_repository_that_leads_elsewhere_is_refused(act: Act, folder: Path, bare: Path, tmp_path: Path) -> None:
    for name in ("index", "objects", "refs/heads/main", "objects/info/alternates"):
        at = f"w-{name.replace('/', '-')}"
        await act("clone", url=str(bare), folder=at)
        place = folder / at / ".git" / name
        if place.exists():
            place.rename(tmp_path / f"moved-{at}")
        place.symlink_to(tmp_path / f"moved-{at}")
        assert "outside" in await refused(act("status", folder=at)), name
    (folder / "link").symlink_to(tmp_path)
    for name in ("../made", "link/made", "/etc", "w-index/.git"):
        assert not (await act("status", folder=name)).ok
        assert not (await act("clone", url=str(bare), folder=name)).ok


async def test_links_of_a_repository_are_no_links_in_the_workspace(
    act: Act, folder: Path, bare: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(bare), str(other))
    (other / "link").symlink_to("/etc")
    git(other, "add", ".")
    git(other, "commit", "-q", "-m", "Link")
    git(other, "push", "-q", "origin", "main")
    await act("clone", url=str(bare), folder="w")
    assert not (folder / "w" / "link").is_symlink()
    assert (await act("status", folder="w")).unwrap()["changes"] == []


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c touch% /tmp/x",
        "git://example.org/x.git",
        "ssh://git@example.org/x.git",
        "git@example.org:x.git",
        "--upload-pack=touch /tmp/x",
        "http://127.0.0.1/x.git",
        "http://169.254.169.254/x.git",
        "https://user:word@example.org/x.git",
        "/etc",
        "file:///etc",
    ],
)
async def test_an_address_that_is_not_opened_is_refused(act: Act, folder: Path, url: str) -> None:
    words = await refused(act("clone", url=url, folder="w"))
    assert "The guard refuses" in words or "may be reached" in words
    assert list(folder.iterdir()) == []


async def test_a_clone_that_fails_leaves_nothing(act: Act, folder: Path, bare: Path, opened: Path) -> None:
    (opened / "broken").mkdir(exist_ok=True)
    (opened / "broken" / "HEAD").write_text("x")
    assert "cannot be fetched" in await refused(act("clone", url=str(opened / "broken"), folder="w"))
    assert "There is no branch 'none'" in await refused(act("clone", url=str(bare), folder="w", branch="none"))
    assert list(folder.iterdir()) == []
    (folder / "full").mkdir()
    (folder / "full" / "a").touch()
    assert "not empty" in await refused(act("clone", url=str(bare), folder="full"))
    assert "is not a repository" in await refused(act("status", folder="full"))


async def test_what_git_declares_is_what_it_does(tea: Platform) -> None:
    found = {name: one.traits for name, one in (await tea.ecp.info("git")).operations.items()}
    assert {name for name, traits in found.items() if traits.effects == "external"} == {"push"}
    assert {name for name, traits in found.items() if traits.network} == {"clone", "pull", "push"}
