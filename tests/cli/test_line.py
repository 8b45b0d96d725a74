"""The command line itself: help, usage errors, output that goes away, internal errors."""

import subprocess
import sys

import pytest

from .conftest import Tea, on_a_terminal

NAMES = {
    *("init", "doctor", "run", "replay", "resume", "runs", "trace", "list", "show", "call", "state", "register"),
    *("update", "unregister", "history", "diff", "restore", "rollback", "trust"),
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
    assert not {"rich", "tea.runtime.platform", "jinja2", "jsonschema", "yaml", "sqlite3"} & set(loaded)


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


def test_a_reader_that_goes_away_is_no_error(tea: Tea) -> None:
    line = " ".join(tea.line("list", "-q"))
    piped = f"{line} | head -c 10; exit ${{PIPESTATUS[0]}}"
    finished = subprocess.run(
        ["bash", "-c", piped], cwd=tea.folder, env=tea.environment, capture_output=True, check=False
    )
    assert (finished.returncode, finished.stderr) == (0, b"")


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
    breaking = "from tea.runtime import home\ndef broken(chosen=None): raise ZeroDivisionError('oh\\x1b[31m')\n"
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
        assert finished.stderr.startswith("tea: internal error ZeroDivisionError: oh. Fix: ")
        assert len(finished.stderr.splitlines()) >= lines
        assert ("Traceback" in finished.stderr) == bool(options)


def test_colour_only_on_a_terminal_that_wants_it(tea: Tea) -> None:
    for changes, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        shown = on_a_terminal(tea, ["show", "nothing_there"], changes)
        assert (b"\x1b[31m" in shown) == coloured, shown
        assert b"tea: " in shown
