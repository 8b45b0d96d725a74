"""Test the folder of a session: it goes with it; the next host removes a killed one's."""

import os
import tempfile
from pathlib import Path

import pytest

from tea.sandbox.folder import Folder, sweep


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_a_folder_is_there_until_it_is_removed() -> None:
    made = Folder()
    (made.path / "a").mkdir()
    sweep()
    assert (made.path / "a").is_dir()
    made.remove()
    assert not made.path.exists()


def test_the_folder_of_a_process_that_is_gone_is_removed_and_no_other(tmp_path: Path) -> None:
    alive, dead = Folder(), Folder()
    os.close(dead._lock)  # as the end of its process does
    (tmp_path / "tea-sandbox-foreign").mkdir()
    (tmp_path / "other").mkdir()
    sweep()
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(["other", "tea-sandbox-foreign", alive.path.name])
    alive.remove()


def test_a_folder_without_an_end_is_removed() -> None:
    made = Folder()
    here = os.getcwd()
    try:
        os.chdir(made.path)
        for _ in range(1_200):
            os.mkdir("d" * 20)
            os.chdir("d" * 20)
    finally:
        os.chdir(here)
    made.remove()
    assert not made.path.exists()
