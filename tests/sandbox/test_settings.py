"""Settings: `[sandbox]` of tea.toml."""

from pathlib import Path
from typing import Any

import pytest

from tea.errors import BadInput
from tea.home import read_settings
from tea.sandbox.settings import Limits, SandboxSettings


def test_without_settings_there_are_limits_and_a_least_level() -> None:
    found = SandboxSettings.read({}, Path())
    assert (found.limits, found.accepted, found.least) == (Limits(), "wasm", None)
    assert Limits().to_json() == {
        "memory_mb": 512,
        "cpu_seconds": 60,
        "call_seconds": 240,
        "disk_mb": 256,
        "processes": 64,
        "output_kb": 1_000,
    }


def test_each_can_be_set(tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    text = '[sandbox]\nleast = "landlock"\nmemory_mb = 1024\nprocesses = 8\npackages = ["numpy"]\nwheels = "wheels"\n'
    (tmp_path / "tea.toml").write_text(text)
    found = read_settings(tmp_path).sandbox
    assert (found.least, found.limits.memory_mb, found.limits.processes) == ("landlock", 1024, 8)
    assert (found.packages, found.wheels) == (("numpy",), str((tmp_path / "wheels").resolve()))
    assert found.accepts("bubblewrap")
    assert not found.accepts("rlimits")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"leest": "landlock"}, "did you mean 'least'"),
        ({"least": "none"}, "write one of bubblewrap"),
        ({"memory_mb": 1}, "a whole number from 64"),
        ({"memory_mb": True}, "a whole number"),
        ({"cpu_seconds": 1.5}, "a whole number"),
        ({"processes": 0}, "from 4 on"),
        ({"packages": "numpy"}, "packages = "),
        ({"wheels": ["a"]}, "name the folder"),
        ({"hosts": "api.example.org"}, "hosts = "),
        ({"hosts": ["https://api.example.org"]}, "host:port"),
        ({"hosts": ["*.example.org"]}, "host:port"),
        ({"hosts": ["me@api.example.org"]}, "host:port"),
        ({"hosts": ["api.example.org/path"]}, "host:port"),
        ({"hosts": [7]}, "host:port"),
        ({"index_hosts": [""]}, "host:port"),
        ({"index": "http://pypi.example.org/simple"}, "https address"),
        ({"index": "https://me:secret@pypi.example.org/simple"}, "https address"),
        ({"index": "https://pypi.example.org/simple?key=1"}, "https address"),
        ({"index": 7}, "https address"),
    ],
)
def test_what_is_no_setting_is_refused_with_its_remedy(table: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput) as told:
        SandboxSettings.read(table, Path())
    assert words in told.value.fix


def test_the_operator_lists_the_programs_of_the_computer_and_the_languages_of_its_screen(tmp_path: Path) -> None:
    assert "mousepad" in read_settings(tmp_path).sandbox.programs
    computer = 'programs = ["gimp-2.10", "xed"]\nlanguage = "deu+eng"'
    (tmp_path / "tea.toml").write_text(f"[computer]\n{computer}\n[sandbox]\nprocesses = 8\n")
    found = read_settings(tmp_path).sandbox
    assert (found.programs, found.language, found.limits.processes) == (("gimp-2.10", "xed"), "deu+eng", 8)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('programs = "mousepad"', "names without folders"),
        ('programs = ["/usr/bin/mousepad"]', "names without folders"),
        ('programs = ["a b"]', "names without folders"),
        ('programs = ["-x"]', "names without folders"),
        ("programs = [1]", "names without folders"),
        ('program = ["mousepad"]', "its settings are 'programs' and 'language'"),
        ("language = 1", "as tesseract does"),
        ('language = "../eng"', "as tesseract does"),
    ],
)
def test_what_is_no_program_of_the_computer_is_refused_with_its_remedy(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "tea.toml").write_text(f"[computer]\n{text}\n")
    with pytest.raises(BadInput) as told:
        read_settings(tmp_path)
    assert words in told.value.fix
    assert "[computer]" in told.value.problem
