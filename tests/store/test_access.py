"""Test access: owners of files, their writers, and a run's files for others."""

import grp
import os
import pwd
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tea.errors import BadTask, Damaged, StorageError
from tea.journal.mask import Mask, mask_file
from tea.platform import Platform
from tea.reading.cache import DocumentCache
from tea.refs import Ref
from tea.source.cache import SourceCache
from tea.source.reviewed import Reviewed
from tea.source.seal import Seal
from tea.source.trust import Adopted, AllowedDestinations, Consents, GrantedHomes, Trust
from tea.store import access
from tea.store.access import exposed_runs, foreign_hand, foreign_path, readable_by_others
from tea.store.bulk import write_whole
from tea.store.evaluations import FileEvaluations
from tea.store.events import FileEvents
from tea.store.files import keep_private
from tea.store.journal import FileJournals
from tea.store.repair import examine
from tea.store.usage import FileUsage
from tea.store.workspaces import FileWorkspaces

ME, OTHER, GROUP = 1001, 1002, 5000


def account(name: str, uid: int, gid: int) -> pwd.struct_passwd:
    return pwd.struct_passwd((name, "x", uid, gid, "", "/", "/bin/sh"))


def has_rules(place: object) -> bool:
    return True


@pytest.mark.parametrize(
    ("members", "accounts", "private"),
    [
        ([], [account("me", ME, GROUP)], True),
        (["me"], [account("me", ME, 7)], True),
        (["me", "root"], [account("me", ME, GROUP), account("root", 0, 0)], True),
        (["me", "you"], [account("me", ME, GROUP), account("you", OTHER, 8)], False),
        ([], [account("me", ME, GROUP), account("you", OTHER, GROUP)], False),
        (["me", "gone"], [account("me", ME, GROUP)], False),
        ([], [account("me", ME, 7)], False),
        ([], [account("you", OTHER, 8)], False),
        (None, [account("me", ME, GROUP)], False),
    ],
)
def test_a_group_is_private_that_has_no_other_member(
    monkeypatch: pytest.MonkeyPatch, members: list[str] | None, accounts: list[Any], private: bool, tmp_path: Path
) -> None:
    def group(gid: int) -> grp.struct_group:
        if members is None:
            raise KeyError
        return grp.struct_group(("g", "x", gid, members))

    def stated(path: object) -> os.stat_result:
        return os.stat_result((stat.S_IFDIR | 0o770, 0, 0, 1, ME, GROUP, 0, 0, 0, 0))

    monkeypatch.setattr(os, "geteuid", lambda: ME)
    monkeypatch.setattr(pwd, "getpwall", lambda: accounts)
    monkeypatch.setattr(grp, "getgrgid", group)
    monkeypatch.setattr(os, "stat", stated)
    monkeypatch.setattr(os, "lstat", stated)
    assert (foreign_hand(tmp_path) == "", readable_by_others(tmp_path)) == (private, not private)
    monkeypatch.setattr(access, "_has_rules", has_rules)
    assert foreign_hand(tmp_path) != ""


@pytest.mark.parametrize(
    ("me", "owner", "refused"),
    [(ME, ME, 0), (ME, 0, 0), (ME, OTHER, 1), (ME, 7777, 1), (0, 0, 0), (0, OTHER, 1), (0, 7777, 0)],
)
def test_root_decides_everywhere_and_an_owner_without_an_account_nowhere_for_root(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, me: int, owner: int, refused: bool
) -> None:
    def known(uid: int) -> pwd.struct_passwd:
        if uid == 7777:
            raise KeyError
        return account("somebody", uid, uid)

    monkeypatch.setattr(os, "geteuid", lambda: me)
    monkeypatch.setattr(pwd, "getpwuid", known)

    def stated(path: object) -> os.stat_result:
        return os.stat_result((stat.S_IFDIR | 0o755, 0, 0, 1, owner, GROUP, 0, 0, 0, 0))

    monkeypatch.setattr(os, "stat", stated)
    assert ("it belongs to the account" in foreign_hand(tmp_path)) == refused


@pytest.mark.parametrize(
    ("owner", "mode", "refused"), [(ME, 0o777, 1), (ME, 0o1777, 0), (0, 0o1777, 0), (OTHER, 0o1777, 1)]
)
def test_the_owner_of_a_folder_with_the_sticky_bit_controls_what_lies_below(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, owner: int, mode: int, refused: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: ME)

    def known(uid: int) -> pwd.struct_passwd:
        return account("somebody", uid, uid)

    monkeypatch.setattr(pwd, "getpwuid", known)

    def stated(path: object, **_: object) -> os.stat_result:
        above = path == tmp_path
        return os.stat_result(
            (stat.S_IFDIR | (mode if above else 0o755), 0, 0, 1, owner if above else ME, GROUP, 0, 0, 0, 0)
        )

    monkeypatch.setattr(os, "stat", stated)
    assert bool(foreign_path(tmp_path / "state")) == refused


@contextmanager
def umask(mask: int) -> Generator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


NOTE = '''
from tea import Agent, Context, Result, Task


class Note(Agent):
    """Keep a note of everything that can be kept."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Remember, keep state, ask, and answer with much."""
        await ctx.memory.record("insight", {"text": "kept"})
        (await ctx.ecp.invoke("workspace#write", {"name": "own.txt", "text": "words"})).unwrap()
        return Result(answer="long " * 40_000)
'''


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
async def test_what_a_run_leaves_is_for_this_account_alone_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    given = tmp_path / "given.txt"
    given.write_text("words")
    given.chmod(0o666)
    home = tmp_path / "home"
    with umask(mask):
        async with Platform(home, state=tmp_path / "state") as tea:
            await tea.acp.register(NOTE)
            outcome = await tea.run("a note", agent="note", files=[given])
            assert outcome.ok, outcome.reason
            await tea.run("What is 2 + 2?")
            assert await tea.tcp.retrieve("numbers", 1)
    modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in (home / "traces").rglob("*")}
    modes[home / "traces"] = stat.S_IMODE((home / "traces").stat().st_mode)
    written = {path for path in modes if path.name == "own.txt"}  # by the agent, in a folder that none can enter
    assert {path.name for path in modes} >= {"journal.jsonl", "lease", "workspace", "given.txt", "memory"}
    wrong = {
        str(path.relative_to(home)): oct(mode)
        for path, mode in modes.items()
        if path not in written and mode & 0o077 and path.name != ".gitignore"
    }
    assert wrong == {}
    folders = [path for path in (home, *home.rglob("*")) if path.is_dir()]
    assert not any(stat.S_IMODE(path.stat().st_mode) & 0o022 for path in folders)
    assert exposed_runs(home / "traces") == 0


def test_messages_blobs_and_locks_are_private_too(tmp_path: Path) -> None:
    journals, events = FileJournals(tmp_path / "traces"), FileEvents(tmp_path / "traces" / "memory")
    with umask(0):
        give_back = events.claim("turn")  # the first of all that is written
        assert give_back is not None
        journals.create("r1", lambda folder, blobs: [{"kind": blobs.put(b"much", "text/plain")}]).close()
        journals.messages("r1").add("now", "hello")
        events.append("stream", "key", {"a": 1})
    modes = {path: oct(path.stat().st_mode & 0o777) for path in (tmp_path / "traces").rglob("*")}
    give_back()
    names = {path.name for path in modes} | {path.suffix for path in modes}
    assert names >= {"journal.jsonl", "lease", "00000001.json", "turn.lock", "stream.jsonl", ".type"}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {"0o700"}
    assert {mode for path, mode in modes.items() if not path.is_dir()} == {"0o600"}
    assert oct((tmp_path / "traces").stat().st_mode & 0o777) == "0o700"


@pytest.mark.parametrize("part", ["", "journal.jsonl"])
def test_a_run_that_others_decide_about_does_not_go_on(tmp_path: Path, part: str) -> None:
    journals = FileJournals(tmp_path / "traces")
    journals.create("r1", lambda folder, blobs: [{"kind": "begun"}]).close()
    (tmp_path / "traces" / "r1" / part).chmod(0o777)
    with pytest.raises(Damaged, match="every account may write it"):
        journals.resume("r1")
    (tmp_path / "traces" / "r1" / part).chmod(0o700)
    journals.resume("r1").close()


def test_a_database_of_uses_is_private_from_its_first_moment(tmp_path: Path) -> None:
    with umask(0):
        FileUsage(tmp_path).learn(["run"], [])
    assert stat.S_IMODE((tmp_path / "usage").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "usage" / "usage.sqlite").stat().st_mode) == 0o600
    assert sorted(path.name for path in (tmp_path / "usage").iterdir()) == [".gitignore", "usage.sqlite"]


def test_a_file_is_copied_as_it_is_when_it_is_opened(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"x" * 3_000_000)
    (one,) = FileWorkspaces(tmp_path).prepare(tmp_path, {"a": source})
    assert (one["bytes"], (tmp_path / "workspace" / "a").read_bytes()) == (3_000_000, source.read_bytes())


@pytest.mark.parametrize("what", ["pipe", "device", "folder"])
def test_what_is_put_in_the_place_of_an_input_is_refused_at_once(tmp_path: Path, what: str) -> None:
    place = tmp_path / "late"
    match what:
        case "pipe":
            os.mkfifo(place)
        case "device":
            place = Path("/dev/zero")
        case _:
            place.mkdir()
    with pytest.raises(BadTask, match="not a regular file"):
        FileWorkspaces(tmp_path).prepare(tmp_path, {"a": place})


@pytest.mark.parametrize("name", ["../a", "/a", "a/b", "..", ".", "", "a\0"])
def test_a_name_that_leads_elsewhere_is_no_name_of_an_input(tmp_path: Path, name: str) -> None:
    source = tmp_path / "source"
    source.write_text("words")
    (tmp_path / "run").mkdir()
    with pytest.raises(Damaged, match="not a name of a file in a workspace"):
        FileWorkspaces(tmp_path).prepare(tmp_path / "run", {name: source})
    assert list((tmp_path / "run").iterdir()) == []


def test_what_a_run_left_is_taken_from_its_own_folder_alone(tmp_path: Path) -> None:
    kept, folder = FileWorkspaces(tmp_path), tmp_path / "r1" / "workspace"
    assert kept.carried("r1", ["a"]) == {}
    folder.mkdir(parents=True)
    (folder / "a").write_text("words")
    (tmp_path / "secret").write_text("words")
    (folder / "link").symlink_to(tmp_path / "secret")
    assert kept.carried("r1", ["a", "link", "../../secret", "gone"]) == {"a": folder / "a"}
    assert kept.left("r1", ()) == ("a",)
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to("../elsewhere")
    with pytest.raises(Damaged, match="a link to elsewhere"):
        kept.carried("r1", ["a"])
    assert kept.left("r1", ()) == ()


def test_a_file_without_a_size_is_read_to_its_end(tmp_path: Path) -> None:
    (one,) = FileWorkspaces(tmp_path).prepare(tmp_path, {"a": Path("/proc/self/status")})
    assert one["bytes"] > 100


def test_a_home_that_came_with_a_link_removes_nothing_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "mine" / "letters").mkdir(parents=True)
    (tmp_path / "mine" / "diary").write_text("words")
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / ".tmp").symlink_to("../mine")
    with pytest.raises(StorageError, match="it is a link"):
        FileJournals(tmp_path / "traces").create("r1")
    assert list(examine(tmp_path, mend=True)) == []
    assert {path.name for path in (tmp_path / "mine").iterdir()} == {"letters", "diary"}


def test_the_results_of_an_evaluation_are_not_written_through_a_link_that_came_with_a_home(tmp_path: Path) -> None:
    (outside := tmp_path / "mine").mkdir()
    (root := tmp_path / "traces" / "evaluations").mkdir(parents=True)
    (root / "01fe7094a030").symlink_to(outside)
    with pytest.raises(Damaged, match="01fe7094a030' is damaged: it is a link"):
        FileEvaluations(root).write("01fe7094a030", {"report.md": b"# set"})
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("place", ["blobs", "blobs/ab", "attempts", "attempts/0_2_6", "messages", "workspace"])
def test_a_run_that_came_with_a_link_in_its_folder_does_not_go_on(tmp_path: Path, place: str) -> None:
    journals, link = FileJournals(tmp_path / "traces"), tmp_path / "traces" / "r1" / place
    journals.create("r1").close()
    (outside := tmp_path / "mine").mkdir()
    journals.resume("r1").close()
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside)
    with pytest.raises(Damaged, match=f"{place}' is damaged: it is a link"):
        journals.resume("r1")
    if place == "messages":
        with pytest.raises(Damaged, match="it is a link"):
            journals.messages("r1").add("now", "hello")
    assert list(outside.iterdir()) == []


def test_a_text_without_its_secrets_is_private_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, opened, real = tmp_path / "notes", list[int](), os.open
    path.write_text("word: 0123456789")
    path.chmod(0o640)

    def noted(name: Path, flags: int, mode: int = 0o777) -> int:
        opened.append(mode)
        return real(name, flags, mode)

    monkeypatch.setattr(os, "open", noted)
    assert mask_file(path, Mask({"IT": "0123456789"})) == "masked"
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("word: <secret:IT>", 0o640)
    assert opened == [0o600]


def test_the_operators_state_and_caches_are_for_this_account_alone_whatever_the_umask(tmp_path: Path) -> None:
    state, cache = tmp_path / "new" / "state", tmp_path / "cache" / "tea"
    with umask(0):
        SourceCache(state).keep(1, "text")
        Trust(state).grant("sha256:1", "a tool")
        Reviewed(state).add(Ref.parse("tool:a"), "sha256:1")
        Seal(state)({"a": 1})
        DocumentCache(cache / "reading").write("0", {"a": 1})
        keep_private(cache / "levels.json", b"{}")
    made = [tmp_path / "new", tmp_path / "cache", *state.rglob("*"), *cache.rglob("*"), state, cache]
    assert {oct(one.stat().st_mode & 0o077) for one in made} == {"0o0"}


def test_a_file_that_a_person_named_is_not_for_others_to_write_whatever_the_umask(tmp_path: Path) -> None:
    with umask(0):
        write_whole(tmp_path / "tea.lock", b"{}")
    assert oct((tmp_path / "tea.lock").stat().st_mode & 0o777) == "0o644"


@pytest.mark.parametrize("name", ["trusted", "consented", "homes", "allowed", "adopted", "reviewed"])
def test_no_list_of_the_operator_counts_that_others_may_write(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("sha256:1 a tool\n")
    (tmp_path / name).chmod(0o666)
    looks: dict[str, Callable[[str], object]] = {
        "trusted": Trust(tmp_path),
        "consented": Consents(tmp_path),
        "homes": lambda digest: GrantedHomes(tmp_path)(digest, tmp_path),
        "allowed": lambda digest: AllowedDestinations(tmp_path)(digest, ["a@b.test"]),
        "adopted": Adopted(tmp_path),
        "reviewed": lambda _: Reviewed(tmp_path).last(Ref.parse("tool:a")),
    }
    with pytest.raises(StorageError, match="every account may write it"):
        looks[name]("sha256:1")
