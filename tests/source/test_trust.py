"""Trust is the operator's list of digests, read afresh whenever it changed."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from tea.errors import BadInput, StorageError
from tea.source import trust as module
from tea.source.trust import AllowedDestinations, GrantedHomes, Trust, state_folder

ONE, TWO, THREE = (f"sha256:{digit * 64}" for digit in "123")


def test_only_what_was_granted_is_trusted(tmp_path: Path) -> None:
    trust = Trust(tmp_path / "state")
    assert not trust(ONE)
    assert not (tmp_path / "state").exists()
    trust.grant(ONE, "tool:a@1.0.0")
    trust.grant(ONE, "tool:a@1.0.0")
    assert (trust(ONE), trust(TWO)) == (True, False)
    assert trust.path.read_text() == f"{ONE} tool:a@1.0.0\n"
    assert (trust.path.stat().st_mode & 0o777, trust.path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_others_see_a_grant_and_a_withdrawal_at_once(tmp_path: Path) -> None:
    mine, yours = Trust(tmp_path), Trust(tmp_path)
    mine.grant(ONE, "a")
    assert yours(ONE)
    yours.grant(TWO, "b")
    assert mine(TWO)
    mine.path.write_text(f"{TWO} b\n")
    assert [trust(ONE) for trust in (mine, yours)] == [False, False]
    assert [trust(TWO) for trust in (mine, yours)] == [True, True]
    mine.path.unlink()
    assert not yours(TWO)


def test_own_grants_are_not_read_back_and_those_of_others_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, yours = Trust(tmp_path), Trust(tmp_path)
    mine.grant(ONE, "a")
    assert mine(ONE)
    reads: list[Path] = []
    real = module.read_own

    def counted(path: Path, limit: int) -> bytes:
        reads.append(path)
        return real(path, limit)

    monkeypatch.setattr(module, "read_own", counted)
    mine.grant(TWO, "b")
    assert mine.digests() == {ONE, TWO}
    assert reads == []
    yours.grant(THREE, "c")
    reads.clear()
    assert mine(THREE)
    assert reads == [mine.path]
    assert mine.digests() == Trust(tmp_path).digests() == {ONE, TWO, THREE}


@pytest.mark.parametrize("others", ["", f"{TWO} another\n"], ids=["less", "as much"])
def test_a_withdrawal_in_the_midst_of_a_grant_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: str
) -> None:
    trust = Trust(tmp_path)
    trust.grant(ONE, "another")
    assert trust(ONE)
    real = os.open

    def late(path: Path, flags: int, mode: int) -> int:
        if flags & os.O_APPEND:
            before = trust.path.stat()
            trust.path.write_text(others)
            os.utime(trust.path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", late)
    trust.grant(THREE, "c")
    assert [trust(one) for one in (ONE, TWO, THREE)] == [False, bool(others), True]


def test_a_withdrawal_of_the_same_length_is_seen(tmp_path: Path) -> None:
    trust = Trust(tmp_path)
    trust.grant(ONE, "a")
    before = trust.path.stat()
    trust.path.write_text(f"{TWO} a\n")
    os.utime(trust.path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert (trust(ONE), trust(TWO)) == (False, True)


def test_a_list_written_by_hand_may_lack_its_last_line_end(tmp_path: Path) -> None:
    (tmp_path / "trusted").write_text(f"garbage\n\n{ONE}")
    trust = Trust(tmp_path)
    assert trust(ONE)
    trust.grant(TWO, "b")
    assert [trust(one) for one in (ONE, TWO, THREE)] == [True, True, False]
    assert [Trust(tmp_path)(one) for one in (ONE, TWO, THREE)] == [True, True, False]
    (tmp_path / "trusted").write_bytes(b"\xff\xfe\x00")
    assert not trust(ONE)


def test_what_is_shipped_is_trusted_in_this_process_only(tmp_path: Path) -> None:
    trust = Trust(tmp_path / "state")
    trust.ship([ONE])
    assert trust(ONE)
    assert not Trust(tmp_path / "state")(ONE)
    assert not (tmp_path / "state").exists()


def test_a_list_that_cannot_be_read_or_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "trusted").mkdir()
    with pytest.raises(StorageError, match="cannot be read"):
        Trust(tmp_path)(ONE)
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="TEA_STATE"):
        Trust(tmp_path / "file").grant(ONE, "a")


def test_where_the_list_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TEA_STATE", str(tmp_path / "mine"))
    assert state_folder() == tmp_path / "mine"
    monkeypatch.delenv("TEA_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    assert state_folder() == tmp_path / "xdg" / "tea"
    monkeypatch.setenv("HOME", str(tmp_path))
    for missing in ("relative", ""):
        monkeypatch.setenv("XDG_STATE_HOME", missing)
        assert state_folder() == tmp_path / ".local" / "state" / "tea"
    monkeypatch.setenv("TEA_STATE", "state")
    with pytest.raises(BadInput, match="absolute"):
        state_folder()


@pytest.mark.parametrize("what", ["pipe", "device", "folder", "loop"])
def test_what_is_no_file_in_the_place_of_the_list_is_told_at_once(tmp_path: Path, what: str) -> None:
    place = tmp_path / "trusted"
    match what:
        case "pipe":
            os.mkfifo(place)
        case "device":
            place.symlink_to("/dev/zero")
        case "folder":
            place.mkdir()
        case _:
            place.symlink_to(place)
    with pytest.raises(StorageError, match="cannot be read"):
        Trust(tmp_path)(ONE)
    with pytest.raises(StorageError, match="cannot be"):
        Trust(tmp_path).grant(ONE, "a")


def test_a_list_behind_a_link_is_read_and_written(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").touch(0o600)
    (tmp_path / "trusted").symlink_to("elsewhere")
    Trust(tmp_path).grant(ONE, "a")
    assert Trust(tmp_path)(ONE)
    assert (tmp_path / "elsewhere").read_text().split() == [ONE, "a"]


def test_the_name_of_a_home_grants_nothing_else(tmp_path: Path) -> None:
    homes = GrantedHomes(tmp_path)
    place = tmp_path / f"a\n{TWO} b\u2028{THREE} c"
    homes.grant(ONE, place)
    assert [homes(one, place) for one in (ONE, TWO, THREE, "")] == [True, False, False, False]
    assert not homes(ONE, tmp_path)
    assert len((tmp_path / "homes").read_text().splitlines()) == 1


def test_what_is_revoked_stays_so_however_many_revoke_and_allow_at_once(tmp_path: Path) -> None:
    AllowedDestinations(tmp_path).grant(ONE, "tool:a@1.0.0", [f"{number}.example" for number in range(40)])
    ids = [id for id, _, _ in AllowedDestinations(tmp_path).list()]
    begin = Barrier(3)

    def revoke(some: list[str]) -> None:
        allowed = AllowedDestinations(tmp_path)
        begin.wait()
        assert all(map(allowed.revoke, some))

    def grant() -> None:
        allowed = AllowedDestinations(tmp_path)
        begin.wait()
        allowed.grant(TWO, "tool:b@1.0.0", [f"{number}.example" for number in range(40)])

    with ThreadPoolExecutor(3) as pool:
        for one in [pool.submit(revoke, ids[::2]), pool.submit(revoke, ids[1::2]), pool.submit(grant)]:
            one.result()
    left = AllowedDestinations(tmp_path).list()
    assert ({ref for _, ref, _ in left}, len(left)) == ({"tool:b@1.0.0"}, 40)
