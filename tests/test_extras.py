import shlex
import sys
from pathlib import Path

import pytest

from tea.errors import MissingExtra
from tea.extras import EXTRAS, Extra, require_extra


def test_an_installed_module_is_imported() -> None:
    assert require_extra("json.decoder", "embeddings") is sys.modules["json.decoder"]


def test_a_missing_module_gives_the_command_that_installs_its_extra() -> None:
    with pytest.raises(MissingExtra) as caught:
        require_extra("no_such_module_of_ours", "embeddings")
    assert "'no_such_module_of_ours'" in caught.value.problem
    command = shlex.split(caught.value.fix)
    assert command[1:5] == ["-m", "pip", "install", "tea-protocol[embeddings]"]
    assert Path(command[0]).absolute() == Path(sys.executable).absolute()
    assert "pydantic==" in Path(command[command.index("-c") + 1]).read_text()


def test_a_command_run_elsewhere_still_names_existing_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command = shlex.split(EXTRAS[0].install_command)
    assert Path(command[0]).is_file()
    assert Path(command[-1]).is_file()


def test_missing_modules_are_listed_without_importing_them() -> None:
    extra = Extra(name="x", purpose="y", modules=("antigravity", "no_such_module_of_ours"))
    assert extra.missing == ("no_such_module_of_ours",)
    assert "antigravity" not in sys.modules
