"""Test the folder for copies of large tables: no other account may write there."""

import importlib
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tea import ToolError

FOLDER = Path(__file__).parent.parent.parent / "tools" / "_table_query"


@pytest.fixture
def keeping(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The context manager of the tool's helper module."""
    package = ModuleType("kept_tables")
    package.__path__ = [str(FOLDER)]
    monkeypatch.setitem(sys.modules, "kept_tables", package)
    return importlib.import_module("kept_tables.stored").keeping


@pytest.mark.parametrize("part", ["", "tables"])
@pytest.mark.parametrize("how", ["open", "foreign", "link"])
def test_copies_go_to_no_folder_that_others_may_write(
    keeping: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, part: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "a.csv").write_text("a\n1\n")
    with keeping(tmp_path / "a.csv", "a.csv", None) as (folder, _):
        assert folder.parent.parent == tmp_path
        assert folder.stat().st_mode & 0o077 == 0
    planted = tmp_path / f"tea-{os.getuid()}" / part
    match how:
        case "foreign" if os.getuid() == 0:
            os.chown(planted, 12345, 12345)
        case "link":
            planted.rename(tmp_path / "elsewhere")
            planted.symlink_to(tmp_path / "elsewhere")
        case _:
            planted.chmod(0o777)
    refused = pytest.raises(ToolError, match="not a folder of this account alone")
    with refused, keeping(tmp_path / "a.csv", "a.csv", None):
        pass
