"""Test homes: their owners, and odd files in them."""

import os
import socket
from pathlib import Path

import pytest

from tea.dotenv import parse_variables
from tea.errors import BadInput
from tea.home import find_home, read_keys, read_settings
from tea.store import access

STRANGER = 4242


@pytest.fixture
def stranger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be another account than the files' owner."""
    monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
    monkeypatch.setattr(access, "_ROOT", -1)


@pytest.mark.usefixtures("stranger")
def test_a_home_of_another_account_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"it belongs to the account .*Fix: name a folder of your own with --home"):
        find_home(tmp_path)
    assert find_home(tmp_path / "missing" / "yet") == tmp_path / "missing" / "yet"


def test_a_home_that_is_found_above_is_refused_like_one_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "mine" / "deep"
    below.mkdir(parents=True)
    (tmp_path / "tea.toml").touch()
    monkeypatch.chdir(below)
    assert find_home() == tmp_path
    tmp_path.chmod(0o1777)  # as /tmp
    with pytest.raises(BadInput, match="every account may write it"):
        find_home()
    (tmp_path / "mine" / "tea.toml").touch()
    assert find_home() == tmp_path / "mine"


@pytest.mark.parametrize("name", [".", "registry", "traces"])
def test_a_home_that_others_may_write_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for folder in ("registry", "traces"):
        (tmp_path / folder).mkdir()
    assert find_home(tmp_path) == tmp_path
    (tmp_path / name).chmod(0o777)
    with pytest.raises(BadInput, match="every account may write it"):
        find_home(tmp_path)
    (tmp_path / name).chmod(0o775)
    private = True

    def is_private(group: int) -> bool:
        return private

    monkeypatch.setattr(access, "_is_private", is_private)
    assert find_home(tmp_path) == tmp_path
    private = False
    with pytest.raises(BadInput, match="its group has other members"):
        find_home(tmp_path)


@pytest.mark.parametrize(("name", "read"), [(".env", read_keys), ("tea.toml", read_settings)])
def test_a_file_of_another_account_in_a_home_of_ones_own_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, read: object
) -> None:
    assert callable(read)
    (tmp_path / name).touch()
    read(tmp_path)
    (tmp_path / name).chmod(0o666)
    with pytest.raises(BadInput, match="every account may write it"):
        read(tmp_path)
    (tmp_path / name).chmod(0o600)
    monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
    monkeypatch.setattr(access, "_ROOT", -1)
    with pytest.raises(BadInput, match="it belongs to the account"):
        read(tmp_path)


@pytest.mark.parametrize("name", ["registry", "traces"])
def test_a_store_that_lies_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "home" / "inside").mkdir(parents=True)
    (tmp_path / "home" / name).symlink_to("inside")
    assert find_home(tmp_path / "home")
    (tmp_path / "home" / name).unlink()
    (tmp_path / "home" / name).symlink_to("..")
    with pytest.raises(BadInput, match="outside of the home"):
        find_home(tmp_path / "home")


def test_a_link_out_of_the_home_is_refused_and_one_inside_is_followed(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "work"
    (home / "..data").mkdir(parents=True)
    elsewhere.mkdir()
    (elsewhere / ".env").write_text("KEY=of-other-work\n")
    (home / ".env").symlink_to(elsewhere / ".env")
    with pytest.raises(BadInput, match="outside of the home"):
        read_keys(home)
    (home / ".env").unlink()
    (home / "..data" / ".env").write_text("KEY=mine\n")
    (home / ".env").symlink_to("..data/.env")  # as mounted secrets lie
    assert read_keys(home)("KEY") == "mine"
    (home / "tea.toml").symlink_to(tmp_path / "nothing")
    with pytest.raises(BadInput, match=r"tea\.toml"):
        read_settings(home)


@pytest.mark.parametrize(("name", "read"), [(".env", read_keys), ("tea.toml", read_settings)])
@pytest.mark.parametrize("what", ["pipe", "folder", "device", "socket", "link", "loop", "endless", "huge"])
def test_what_is_no_small_file_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, read: object, what: str
) -> None:
    assert callable(read)
    home = tmp_path / "home"
    home.mkdir()
    place = home / name
    with socket.socket(socket.AF_UNIX) as server:
        match what:
            case "pipe":
                os.mkfifo(place)
            case "folder":
                place.mkdir()
            case "device":
                place.symlink_to("/dev/zero")
            case "socket":
                monkeypatch.chdir(home)  # its path may be too long for a socket
                server.bind(name)
            case "link":
                place.symlink_to("/dev/stdin")
            case "loop":
                place.symlink_to(name)
            case "endless":
                place.symlink_to("/dev/urandom")
            case _:
                with place.open("wb") as file:
                    file.truncate(2**40)
        with pytest.raises(BadInput) as refused:
            read(home)
    assert name in refused.value.problem
    assert "\n" not in str(refused.value)


def test_a_pipe_in_the_place_of_settings_above_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "below").mkdir()
    os.mkfifo(tmp_path / "tea.toml")
    monkeypatch.chdir(tmp_path / "below")
    assert find_home() == tmp_path


def test_values_that_double_one_another_are_refused(tmp_path: Path) -> None:
    lines = ["A0=" + "x" * 100, *(f"A{one}=${{A{one - 1}}}${{A{one - 1}}}" for one in range(1, 60))]
    with pytest.raises(BadInput, match=r"in \.env is longer than 65,536 characters"):
        parse_variables("\n".join(lines))
    many = "A=" + "y" * 60_000 + "\nB=" + "${A}" * 40_000
    with pytest.raises(BadInput, match=r"B in \.env is longer"):
        parse_variables(many)


def test_long_lines_of_blanks_are_read_at_once() -> None:
    blanks = " " * 60_000
    assert parse_variables(f"A=x{blanks}y # end\nB= # {blanks}#") == {"A": f"x{blanks}y", "B": ""}


def test_a_file_expands_only_what_it_set_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "of-the-process")
    text = "A=${TOKEN}\nTOKEN=mine\nB=${TOKEN}\nC=http://host/${TOKEN}\nD_URL=${TOKEN}\nE=\"${TOKEN}!\"\nF='${TOKEN}'"
    assert parse_variables(text) == {
        "A": "",
        "TOKEN": "mine",
        "B": "mine",
        "C": "http://host/${TOKEN}",
        "D_URL": "${TOKEN}",
        "E": "mine!",
        "F": "${TOKEN}",
    }


@pytest.mark.parametrize("text", ["{}=1", "[{}]", "[models.x]\noptions = {{{} = 1}}", "a = [{{ {} = 1 }}]", "{}"])
@pytest.mark.parametrize("part", ["a", "'a'", '"a"', "a "])
def test_a_key_of_very_many_parts_is_refused_at_once(tmp_path: Path, text: str, part: str) -> None:
    (tmp_path / "tea.toml").write_text(text.format(".".join([part] * 50_000)))
    with pytest.raises(BadInput, match=r"tea\.toml"):
        read_settings(tmp_path)
    (tmp_path / "tea.toml").write_text(f"model = '{'a' * 200_000}' # {'a.b ' * 1000}\n")
    assert read_settings(tmp_path).model == "a" * 200_000
