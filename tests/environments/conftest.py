"""Fixtures of the tests of environments."""

from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the test's folder the current one, so the workspace of calls from outside of a run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
