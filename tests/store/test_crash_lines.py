"""Test the crash adapter's command line: its answers, for any input and any streams."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tea.testing import crash_adapter
from tea.testing.crash_home import Adapter

from .crash_kit import Process, append, carried_out, register, sha, together

pytestmark = pytest.mark.slow

BAD = {
    "junk": "err - The operation is not usable JSON",
    "": "err - The operation is not usable JSON",
    "[1]": "err - The operation has no usable id",
    '{"id": "a b", "op": "append"}': "err - The operation has no usable id",
    '{"id": "1", "op": "drop"}': "err 1 The operation is neither register nor append",
    '{"id": "1", "op": ["append"], "run": "r", "payload": 1}': "err 1 The operation is neither register nor append",
    '{"id": "1", "op": {}, "run": "r", "payload": 1}': "err 1 The operation is neither register nor append",
    '{"id": 1, "op": "append", "run": "r", "payload": NaN}': "err 1 The operation is not usable JSON",
    '{"id": "1", "op": "append", "run": "r", "payload": "\\ud800"}': "err 1 The operation is not usable JSON",
    '{"id": "\\ud800", "op": "append", "run": "r", "payload": 1}': "err - The operation is not usable JSON",
    '{"id": "1", "op": "append", "run": 5, "payload": 1}': "err 1 The operation's run is not text",
    '{"id": "1", "op": "append", "run": "r"}': "err 1 The operation has no payload",
    '{"id": "1", "op": "append", "run": "../r", "payload": 1}': "err 1 '../r' is not the id of a run",
    '{"id": "1", "op": "register", "name": "b:a", "version": "1.0.0", "payload": 1}': "err 1 'b:a' is not a name",
    '{"id": "1", "op": "register", "name": "A", "version": "1.0.0", "payload": 1}': "err 1 'A' is not a name",
    '{"id": "1", "op": "register", "name": "a", "version": "1", "payload": 1}': "err 1 '1' does not select a version",
    '{"id": "1", "op": "register", "name": "a", "version": "prod", "payload": 1}': "err 1 'prod' is not a version",
}


LINE = [sys.executable, "-m", "tea.testing.crash_adapter"]


def adapter_process(*arguments: object, stdin: str = "") -> "subprocess.CompletedProcess[str]":
    line = [*LINE, *map(str, arguments)]
    return subprocess.run(line, input=stdin, capture_output=True, text=True, timeout=60, check=False)


def test_every_bad_line_has_its_own_answer_and_writes_nothing(tmp_path: Path) -> None:
    done = adapter_process("batch", "--root", tmp_path, stdin="".join(f"{line}\n" for line in BAD))
    assert done.returncode == 0
    for answer, expected in zip(done.stdout.splitlines(), BAD.values(), strict=True):
        assert answer.startswith(expected), answer
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_does_what_its_help_says(tmp_path: Path) -> None:
    root, file = tmp_path / "home", tmp_path / "operation.json"
    assert json.loads(adapter_process("dump", "--root", root).stdout) == {
        "records": [],
        "current": {},
        "traces": {},
        "problems": [],
    }
    assert not root.exists()
    file.write_text(json.dumps(register("1", "a", "1.0.0", {"b": 1, "a": "ü"})))
    once = [adapter_process("once", file, "--root", root) for _ in range(2)]
    assert [(one.returncode, one.stdout, one.stderr) for one in once] == [(0, "ok 1\n", ""), (3, "", "conflict 1\n")]
    file.write_text("{}")
    bad = adapter_process("once", file, "--root", root)
    assert (bad.returncode, bad.stdout, bad.stderr.count("\n")) == (2, "", 1)
    lines = [append("2", "run", 7), append("3", "run", None), register("4", "b", "0.1.0", "text")]
    batch = adapter_process("batch", "--root", root, stdin="\n".join(map(json.dumps, lines)))
    assert batch.stdout == "ok 2\nok 3\nok 4\n"
    assert json.loads(adapter_process("dump", "--root", root).stdout) == {
        "records": [["a", "1.0.0", sha('{"a":"ü","b":1}')], ["b", "0.1.0", sha("text")]],
        "current": {"a": "1.0.0", "b": "0.1.0"},
        "traces": {"run": {"ids": ["2", "3"], "torn": False}},
        "problems": [],
    }


def test_a_wrong_command_line_is_one_line(tmp_path: Path) -> None:
    for wrong in (
        [],
        ["drop", "--root", tmp_path],
        ["batch"],
        ["once", "--root", tmp_path],
        ["dump", "x", "--root", "y"],
    ):
        done = adapter_process(*wrong)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert " Fix: usage: " in done.stderr
    (tmp_path / "file").touch()
    done = adapter_process("dump", "--root", tmp_path / "file")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "file' is not a folder. Fix: " in done.stderr


@pytest.mark.parametrize(("closed", "code"), [("<&-", 0), (">&-", 2), ("2>&-", 0), (">&- 2>&-", 2), (">/dev/full", 2)])
def test_answers_never_go_into_a_file_that_took_the_place_of_a_closed_stream(
    tmp_path: Path, closed: str, code: int
) -> None:
    line = ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *LINE, "batch", "--root", str(tmp_path)]
    asked = "".join(json.dumps(one) + "\n" for one in (append("1", "run", "x"), register("2", "a", "1.0.0", "x"), 7))
    done = subprocess.run(line, input=asked, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, done.stderr
    assert done.stderr.count("\n") == (1 if code and "2>" not in closed else 0)
    found = Adapter(tmp_path).dump()
    assert found["problems"] == []
    assert found["traces"] == ({} if closed == "<&-" else {"run": {"ids": ["1"], "torn": False}})


def test_answers_are_utf_8_whatever_the_locale_says(tmp_path: Path) -> None:
    line = [*LINE, "batch", "--root", str(tmp_path)]
    asked = json.dumps(append("日", "run", "x")).encode()
    locale = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(line, input=asked, capture_output=True, timeout=60, check=False, env=locale)
    assert (done.stdout, done.stderr) == ("ok 日\n".encode(), b"")


def test_an_interrupted_batch_says_so_in_one_line(tmp_path: Path) -> None:
    line = [*LINE, "batch", "--root", str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(line, stdin=pipe, stdout=pipe, stderr=pipe) as batch:
        assert batch.stdin is not None
        assert batch.stdout is not None
        batch.stdin.write(json.dumps(append("1", "run", "x")).encode() + b"\n")
        batch.stdin.flush()
        assert batch.stdout.readline() == b"ok 1\n"
        batch.send_signal(signal.SIGINT)
        said = batch.communicate()[1]
    assert batch.returncode == 130
    assert said.startswith(b"crash_adapter: Interrupted. Fix: ")
    assert said.count(b"\n") == 1


def short_lines() -> None:
    crash_adapter._LINE_LIMIT = 1_000  # pyright: ignore[reportPrivateUsage]


def test_a_line_longer_than_any_operation_is_refused_and_the_next_is_carried_out(tmp_path: Path) -> None:
    asked = [append("1", "run", "x" * 1_000_000), append("2", "run", "y")]
    process = Process(tmp_path, asked, short_lines)
    together([process], lambda answers: None)
    first, second = (one.answer for one in process.done)
    assert first.startswith("err - The operation has more than 1,000 bytes.")
    assert second == "ok 2"
    assert Adapter(tmp_path).dump()["traces"]["run"]["ids"] == ["2"]


def test_an_operation_that_is_refused_leaves_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tea.store.lines.LINE_LIMIT", 1_000)
    code, answer = carried_out(Adapter(tmp_path), append("1", "run", "x" * 1_000))
    assert (code, answer[:20]) == (2, "err 1 A record has 1")
    assert Adapter(tmp_path).dump()["traces"] == {}
    assert [path.name for path in (tmp_path / "traces").rglob("*") if path.is_file()] == [".counter"]
