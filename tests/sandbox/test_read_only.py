"""A sandbox with an unchangeable workspace."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tea.sandbox.levels import Level, terms_of
from tea.sandbox.session import opened
from tea.sandbox.settings import LevelName, Limits

CODE = """
import os
tried = []
for change in (lambda: open("b", "w"), lambda: open("a", "a"), lambda: os.unlink("a"), lambda: os.mkdir("d")):
    try:
        change()
        tried.append("done")
    except OSError:
        tried.append("refused")
print(open("a").read(), *tried, open(os.environ["TMPDIR"] + "/t", "w").write("x"))
"""


@pytest.mark.parametrize("name", ["bubblewrap", "namespaces", "landlock"])
async def test_code_reads_a_workspace_that_it_cannot_change(
    name: LevelName, levels: Mapping[LevelName, Level], workspace: Path
) -> None:
    assert levels[name].present
    (workspace / "a").write_text("words")
    async with opened({**terms_of(name, str(workspace), Limits()), "read_only": True}) as sandbox:
        ran = await sandbox.python(CODE)
    assert ran.stdout.text == "words refused refused refused refused 1\n"
    assert [one.name for one in workspace.iterdir()] == ["a"]
