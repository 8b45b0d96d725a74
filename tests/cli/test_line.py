"""Test the command line itself: help, usage errors, closed output, internal errors."""

import os
import signal
import subprocess
import sys

import pytest

from .conftest import Tea, on_a_terminal

NAMES = {
    *("init", "doctor", "run", "replay", "resume", "runs", "trace", "list", "show", "call", "state", "register"),
    *("update", "unregister", "history", "diff", "restore", "rollback", "trust", "contract", "import"),
}


def test_help_names_every_command_and_imports_nothing_heavy(tea: Tea) -> None:
    shown = tea("--help")
    assert shown.code == 0
    assert shown.err == ""
    assert {line.split()[0] for line in shown.out.splitlines() if line.startswith("  ")} >= NAMES
    assert tea().out == shown.out
    assert tea("--version").out.startswith("tea ")
    code = "import sys\nsys.argv = ['tea', '--help']\nfrom tea.cli import main\ntry: main()\nexcept SystemExit: pass\n"
    names = f"{code}print(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", names], capture_output=True, text=True, check=True).stdout.split()
    assert not {"rich", "tea.platform", "jinja2", "jsonschema", "yaml", "sqlite3"} & set(loaded)


@pytest.mark.parametrize("name", ["run", "call", "trace"])
def test_every_command_has_the_common_options(tea: Tea, name: str) -> None:
    shown = tea(name, "-h")
    assert all(option in shown.out for option in ("--home", "--json", "--quiet", "--verbose"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rnu"], ["rnu"]),
        (["list", "--bogus"], ["--bogus", "tea list --help"]),
        (["run"], ["TASK", "tea run --help"]),
        (["run", "x", "--max-steps", "many"], ["--max-steps"]),
        (["show", "a", "b"], ["b"]),
        (["--bogus"], ["--bogus"]),
    ],
)
def test_usage_errors_are_one_line_with_exit_2(tea: Tea, arguments: list[str], words: list[str]) -> None:
    tea(*arguments).refused(2, *words)


def test_usage_errors_are_json_too(tea: Tea) -> None:
    wrong = tea("list", "--bogus", "--json")
    assert wrong.code == 2
    assert wrong.data["error"]["code"] == "BadInput"
    assert wrong.err == ""


@pytest.mark.parametrize("line", [["list"], ["list", "--json"], ["run", "-q", "What is 2 + 2?"]])
def test_a_command_whose_reader_went_away_ends_like_others_do_and_says_nothing(tea: Tea, line: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    finished = subprocess.run(
        tea.line(*line), cwd=tea.folder, env=tea.environment, stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert (finished.returncode, finished.stderr) == (128 + signal.SIGPIPE, b"")


def test_a_command_without_an_output_is_refused_before_it_does_anything(tea: Tea) -> None:
    line = " ".join([*tea.line("run", "-q"), "'What is 2 + 2?'", ">&-"])
    finished = subprocess.run(
        ["bash", "-c", line], cwd=tea.folder, env=tea.environment, capture_output=True, check=False
    )
    assert finished.returncode == 2
    assert finished.stderr.startswith(b"tea: Standard output is closed. Fix: ")
    assert finished.stderr.count(b"\n") == 1
    assert tea.files() == set()


def test_progress_that_nobody_reads_costs_no_answer(tea: Tea) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    finished = subprocess.run(
        tea.line("run", "What is 2 + 2?"),
        cwd=tea.folder,
        env=tea.environment,
        stdout=subprocess.PIPE,
        stderr=writer,
        check=False,
    )
    os.close(writer)
    assert (finished.returncode, finished.stdout) == (0, b"4\n")


INTERRUPTED = """
import os, signal, sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[-1]:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
from tea.cli import main
sys.argv = ["tea", "list"]
"""


@pytest.mark.parametrize("module", ["tea.cli.app", "tea.errors", "typer", "tea.cli.list", "tea.platform"])
def test_an_interruption_while_modules_are_loaded_is_one_line(tea: Tea, module: str) -> None:
    finished = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.replace("sys.argv[-1]", repr(module)) + "main()"],
        cwd=tea.folder, env=tea.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (finished.returncode, finished.stdout) == (130, "")
    assert finished.stderr.startswith("tea: Interrupted")
    assert finished.stderr.count("\n") == 1


def test_a_full_disk_under_the_output_is_one_line(tea: Tea) -> None:
    with open("/dev/full", "w") as full:
        finished = subprocess.run(
            tea.line("list", "-q"),
            cwd=tea.folder,
            env=tea.environment,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert finished.returncode == 2
    assert finished.stderr.startswith(b"tea: The output cannot be written: ")
    assert finished.stderr.count(b"\n") == 1


def test_an_internal_error_is_one_line_and_its_traceback_comes_when_asked_for(tea: Tea) -> None:
    breaking = "from tea import home\ndef broken(chosen=None): raise ZeroDivisionError('oh\\x1b[31m')\n"
    program = f"{breaking}home.find_home = broken\nfrom tea.cli import main\nmain()"
    for options, lines in (([], 1), (["-vv"], 5)):
        finished = subprocess.run(
            [sys.executable, "-c", program, "list", *options],
            cwd=tea.folder,
            env=tea.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert finished.returncode == 3
        assert finished.stderr.startswith("tea: internal error ZeroDivisionError: oh<U+001B>[31m. Fix: ")
        assert len(finished.stderr.splitlines()) >= lines
        assert ("Traceback" in finished.stderr) == bool(options)


def test_colour_only_on_a_terminal_that_wants_it(tea: Tea) -> None:
    for changes, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        shown = on_a_terminal(tea, ["show", "nothing_there"], changes)
        assert (b"\x1b[31m" in shown) == coloured, shown
        assert b"tea: " in shown
