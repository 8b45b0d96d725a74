"""Test finding the components of tea, and those of installed packages."""

import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from tea.errors import BadComponent, StorageError
from tea.source import bundled
from tea.source.bundled import bundled_files, bundled_root, bundled_roots, entry_point_roots, read_source


def test_the_bundled_components_are_found() -> None:
    assert (bundled_root() / "tools" / "calculator.py").is_file()
    assert {"calculator", "answer_from_data"} <= {path.stem for path in bundled_files("tool")}
    assert bundled_roots() == (bundled_root(), bundled_root() / "offline")
    assert {path.suffix for path in bundled_files("prompt")} <= {".md"}
    assert bundled_files("memory") == []


def test_an_installation_is_preferred_to_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "tea"
    monkeypatch.setattr(bundled, "_PACKAGE", package)
    with pytest.raises(StorageError, match="Fix: install tea again"):
        bundled_root()
    (tmp_path / "agents").mkdir()
    (tmp_path / "pyproject.toml").touch()
    assert bundled_root() == tmp_path
    (package / "_bundled").mkdir(parents=True)
    assert bundled_root() == package / "_bundled"


def test_files_are_listed_by_kind_without_helpers_and_caches(tmp_path: Path) -> None:
    folder = tmp_path / "agents"
    folder.mkdir()
    for name in ("b.py", "a.py", "_a.py", ".x.py", "a.md", "README.txt"):
        (folder / name).touch()
    assert [path.name for path in bundled_files("agent", tmp_path)] == ["a.py", "b.py"]
    assert [path.name for path in bundled_files("prompt", tmp_path)] == ["a.md"]
    assert bundled_files("tool", tmp_path) == []


def test_a_source_is_read_with_its_helper_folder(tmp_path: Path) -> None:
    (tmp_path / "_a" / "deep").mkdir(parents=True)
    (tmp_path / "a.py").write_bytes(b"\xef\xbb\xbfX = 1\r\n")
    (tmp_path / "_a" / "words.py").write_text("Y = 'ü'\n", encoding="utf-8")
    (tmp_path / "_a" / "deep" / "more.py").touch()
    (tmp_path / "_a" / "data.txt").touch()
    assert read_source(tmp_path / "a.py") == ("X = 1\n", {"_a/deep/more.py": "", "_a/words.py": "Y = 'ü'\n"})


def test_files_that_cannot_be_read_say_why_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="not a file"):
        read_source(tmp_path)
    with pytest.raises(StorageError, match="not a file"):
        read_source(tmp_path / "missing.py")
    (tmp_path / "large.py").write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(BadComponent, match="larger than 1 MiB"):
        read_source(tmp_path / "large.py")
    (tmp_path / "latin.py").write_bytes(b"#\xff")
    with pytest.raises(BadComponent, match="not UTF-8"):
        read_source(tmp_path / "latin.py")


def test_a_broken_entry_point_is_reported_and_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tea_test_package", "tea_test_broken"):
        (tmp_path / name / "tools").mkdir(parents=True)
        (tmp_path / name / "__init__.py").write_text(
            "raise RuntimeError\n" if "broken" in name else "", encoding="utf-8"
        )
    monkeypatch.syspath_prepend(tmp_path)
    names = {"good": "tea_test_package", "inner": "tea_test_package.tools", "bad": "tea_test_broken.tools"}
    points = [EntryPoint(name=key, value=value, group=bundled.GROUP) for key, value in names.items()]
    points += [EntryPoint(name=key, value="tea_test_nowhere", group=bundled.GROUP) for key in ("gone", "good")]
    monkeypatch.setattr(bundled, "entry_points", lambda group: EntryPoints(points))
    found = entry_point_roots()
    assert found.roots == {"good": tmp_path / "tea_test_package", "inner": tmp_path / "tea_test_package" / "tools"}
    assert len(found.problems) == 3
    assert "'bad' = 'tea_test_broken.tools'" in found.problems[0]
    assert "tea_test_broken" not in sys.modules
