"""Turns: had by one at a time, without waiting, and nothing is left of them."""

import os
from pathlib import Path

import pytest

from tea.errors import Damaged
from tea.store import turn as module
from tea.store.turn import claim


def test_a_turn_is_had_by_one_and_its_file_goes_with_it(tmp_path: Path) -> None:
    path = tmp_path / "traces" / "a.lock"
    for _ in range(2):
        give_back = claim(path)
        assert give_back is not None
        assert claim(path) is None
        give_back()
        assert list(path.parent.iterdir()) == []


def test_a_file_that_a_dead_process_left_is_free(tmp_path: Path) -> None:
    (tmp_path / "a.lock").touch()
    assert claim(tmp_path / "a.lock") is not None


def test_who_opened_a_file_that_is_gone_by_then_has_no_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, real = tmp_path / "a.lock", module.open_regular

    def overtaken(path: Path, flags: int, mode: int) -> int:
        descriptor = real(path, flags, mode)
        os.unlink(path)
        return descriptor

    monkeypatch.setattr(module, "open_regular", overtaken)
    assert claim(path) is None


def test_a_link_is_no_lock_file(tmp_path: Path) -> None:
    (tmp_path / "a.lock").symlink_to(tmp_path / "b")
    with pytest.raises(Damaged, match="not a regular file"):
        claim(tmp_path / "a.lock")
    assert not (tmp_path / "b").exists()
