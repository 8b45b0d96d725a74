"""Test files of a workspace by their names, and nearest names."""

import os
from pathlib import Path

import pytest

from tea.components.files import existing_file, files_in, missing_file, nearest
from tea.errors import ToolError
from tea.testing import platform


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("Body Mass (g)", ["year", "body_mass_g"], "body_mass_g"),
        ("mass", ["year", "body_mass_g", "mass_of_all_things"], "body_mass_g"),
        ("penguin species", ["year", "species"], "species"),
        ("specis", ["year", "species"], "species"),
        ("größe", ["Größe (cm)"], "Größe (cm)"),
        ("YEAR", ["year", "Year"], "year"),
        ("g", ["body_mass_g"], None),
        ("colour", ["year", "species"], None),
        ("?!", ["year"], None),
        ("year", [], None),
    ],
)
def test_the_nearest_name_is_found_whatever_its_case_and_signs(name: str, known: list[str], near: str | None) -> None:
    assert nearest(name, known) == near


def test_hidden_files_and_those_that_lead_out_are_none_of_a_workspace(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    (inside / "b" / ".git").mkdir(parents=True)
    for name in ("b/two.txt", "one.txt", ".hidden", "b/.git/config", "../outside.txt"):
        (inside / name).write_text("x")
    (inside / "link.txt").symlink_to(tmp_path / "outside.txt")
    (inside / "dangling.txt").symlink_to("nowhere")
    os.mkfifo(inside / "pipe.txt")
    assert {name: path.name for name, path in files_in(inside)} == {"one.txt": "one.txt", "b/two.txt": "two.txt"}


LOOKS = '''
from tea import Agent, Context, Result, Task, TeaError

class Looks(Agent):
    """Look for files."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Look."""
        said = []
        for look in (ctx.file("a.txt"), ctx.files()):
            try:
                await look
            except TeaError as error:
                said.append(error.problem)
        return Result(answer=said)
'''


async def test_an_agent_learns_nothing_of_files_by_itself(tmp_path: Path) -> None:
    async with platform() as stage:
        await stage.acp.register(LOOKS)
        outcome = await stage.run("x", agent="looks")
        assert outcome.answer == ["An agent cannot open files itself."] * 2


def test_a_shared_ending_makes_no_file_the_nearest(tmp_path: Path) -> None:
    for name in ("bikes.csv", "owners.csv"):
        (tmp_path / name).write_text("a\n")
    assert missing_file(tmp_path, "tyres.csv").fix == "there are 'bikes.csv', 'owners.csv'."
    assert missing_file(tmp_path, "bike.csv").fix == "did you mean 'bikes.csv'?"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("it's.txt", '"it\'s.txt"'),
        ('it\'s "quoted".txt', '\N{LEFT DOUBLE QUOTATION MARK}it\'s "quoted".txt\N{RIGHT DOUBLE QUOTATION MARK}'),
        ("tea rm x # '\".txt", "\N{LEFT DOUBLE QUOTATION MARK}tea rm x # '\".txt\N{RIGHT DOUBLE QUOTATION MARK}"),
        ("a\N{RIGHT DOUBLE QUOTATION MARK} '\".txt", "'a\N{RIGHT DOUBLE QUOTATION MARK} \\'\".txt'"),
        ("two\nlines.txt", "'two\\nlines.txt'"),
    ],
)
def test_a_name_is_told_without_backslashes_that_are_not_in_it(tmp_path: Path, name: str, told: str) -> None:
    (tmp_path / name).write_text("a\n")
    assert missing_file(tmp_path, f"x{name}").fix == f"did you mean {told}?"


@pytest.mark.parametrize(
    ("name", "problem", "fix"),
    [
        ("tables", "'tables' is a folder.", "name a file of it, such as 'tables/bikes.csv'."),
        ("pipe.txt", "'pipe.txt' is a pipe, socket or device, which is not read.", "name a regular file."),
        ("dangling.txt", "There is no file 'dangling.txt'.", "there are 'tables/bikes.csv'."),
    ],
)
def test_what_is_no_regular_file_is_told_as_what_it_is(tmp_path: Path, name: str, problem: str, fix: str) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "bikes.csv").write_text("a\n")
    (tmp_path / "dangling.txt").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(ToolError) as told:
        existing_file(lambda one: tmp_path / one, tmp_path, name)
    assert (told.value.problem, told.value.fix) == (problem, fix)
