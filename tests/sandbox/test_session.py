"""Test a session: one interpreter with kept state, one set of files, and errors leaving both usable."""

import asyncio
import gc
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tea.errors import ToolError
from tea.sandbox.packages import declared


async def test_what_is_defined_stays_and_the_last_expression_is_the_result(sandbox: Any) -> None:
    async with sandbox() as made:
        assert (await made.python("x = 2 ** 10\nx")).result == "1024"
        ran = await made.python("import sys\nprint('out')\nprint('err', file=sys.stderr)\nx + 1")
    assert (ran.stdout.text, ran.stderr.text, ran.result) == ("out\n", "err\n", "1025")


async def test_a_statement_has_no_result_and_none_is_not_shown(sandbox: Any) -> None:
    async with sandbox() as made:
        assert [(await made.python(code)).result for code in ("y = 1", "None", "")] == ["", "", ""]


async def test_annotations_are_what_the_code_says_and_its_own_future_alone_makes_them_text(sandbox: Any) -> None:
    code = "def f(n: int) -> None: ...\nf.__annotations__['n']"
    async with sandbox() as made:
        assert (await made.python(code)).result == "<class 'int'>"
        assert (await made.python(f"from __future__ import annotations\n{code}")).result == "'int'"


async def test_a_traceback_holds_the_frames_of_the_code_alone(sandbox: Any) -> None:
    async with sandbox() as made:
        await made.python("def f(n):\n    return 1 / n")
        ran = await made.python("try:\n    f(0)\nexcept Exception as error:\n    raise ValueError('again') from error")
    assert ran.raised == "ValueError"
    assert "return 1 / n" in ran.stderr.text
    assert ran.stderr.text.rstrip().endswith("ValueError: again")
    assert "worker.py" not in ran.stderr.text


async def test_a_traceback_holds_of_a_library_its_last_frame_alone(sandbox: Any) -> None:
    async with sandbox() as made:
        await made.python("import json\nopen('own.py', 'w').write('import json\\ndef f(t):\\n    json.loads(t)\\n')")
        ran = await made.python("import own\nown.f('{')")
    places = re.findall(r'File "(?:.*/)?([^/"]+)"', ran.stderr.text)
    assert places == ["<call 2>", "own.py", "decoder.py"], ran.stderr.text
    assert ran.raised == "JSONDecodeError"


async def test_a_syntax_error_is_told_and_the_next_call_works(sandbox: Any) -> None:
    async with sandbox() as made:
        assert "SyntaxError" in (await made.python("def")).stderr.text
        assert (await made.python("1 + 1")).result == "2"


async def test_an_exception_that_cannot_be_shown_is_told_by_its_class(sandbox: Any) -> None:
    code = "class Odd(Exception):\n    def __str__(self):\n        raise RuntimeError\nraise Odd"
    async with sandbox() as made:
        assert "Odd" in (await made.python(code)).stderr.text


@pytest.mark.parametrize(
    ("code", "start", "size"),
    [
        ("list(range(1000))", "[0, 1, 2", "list, 1000 items"),
        ("{n: n for n in range(999)}", "{0: 0, 1: 1", "dict, 999 items"),
        ("'x' * 10_000", "'xxxx", "str, 10000 characters"),
    ],
)
async def test_a_large_value_is_shown_in_part_with_its_size(sandbox: Any, code: str, start: str, size: str) -> None:
    async with sandbox() as made:
        result = (await made.python(code)).result
    assert result.startswith(start)
    assert size in result
    assert len(result) < 5_000


async def test_a_table_is_shown_by_its_first_and_last_rows(sandbox: Any) -> None:
    packages = await asyncio.to_thread(declared, ("pandas",))
    async with sandbox(packages=[str(one) for one in packages]) as made:
        result = (await made.python("import pandas\npandas.DataFrame({'n': range(5000)})")).result
    assert "4999" in result
    assert result.endswith("(5000 rows x 1 columns)")
    assert len(result.splitlines()) < 30


async def test_files_that_a_call_makes_or_changes_are_listed_with_their_size(sandbox: Any, workspace: Path) -> None:
    (workspace / "old.txt").write_text("old")
    async with sandbox() as made:
        ran = await made.python("open('new.txt', 'w').write('12345')")
        assert ran.files == (("new.txt", 5),)
        ran = await made.bash("mkdir -p sub && echo hi > sub/b.txt && echo more >> old.txt")
        assert ran.files == (("old.txt", 8), ("sub/b.txt", 3))
        assert (await made.bash("cat new.txt")).files == ()
    assert (workspace / "new.txt").read_text() == "12345"


async def test_bash_and_python_see_the_same_files_and_interpreter(sandbox: Any) -> None:
    async with sandbox() as made:
        version = (await made.python("import sys; open('v.txt', 'w').write(sys.version); sys.version")).result
        ran = await made.bash("python3 -c 'import sys; print(sys.version == open(\"v.txt\").read())'; exit 3")
    assert version
    assert (ran.stdout.text, ran.exit) == ("True\n", 3)


async def test_a_program_reads_its_input_and_writes_its_answer(sandbox: Any, workspace: Path) -> None:
    (workspace / "double.py").write_text("import json, sys\njson.dump(json.load(sys.stdin) * 2, sys.stdout)\n")
    async with sandbox() as made:
        ran = await made.program("double.py", "[1, 2]")
    assert (ran.stdout.text, ran.exit) == ("[1, 2, 1, 2]", 0)


async def test_code_that_asks_a_person_finds_nobody(sandbox: Any) -> None:
    async with sandbox() as made:
        assert (await made.python("input()")).raised == "EOFError"


async def test_exit_ends_the_call_and_not_the_interpreter(sandbox: Any) -> None:
    async with sandbox() as made:
        ran = await made.python("kept = 1\nimport sys\nsys.exit('no more')")
        assert (ran.exit, ran.stderr.text) == (1, "no more\n")
        assert (await made.python("kept")).result == "1"


async def test_an_interpreter_that_dies_is_told_once_and_files_stay(sandbox: Any) -> None:
    async with sandbox() as made:
        await made.python("x = 1; open('kept.txt', 'w').write('kept')")
        with pytest.raises(ToolError, match=r"The interpreter died \(SIGSEGV\). Files are kept") as told:
            await made.python("import ctypes; ctypes.string_at(0)")
        assert told.value.fix
        ran = await made.python("open('kept.txt').read()")
        assert (ran.result, ran.notes) == (
            "'kept'",
            ("The interpreter began anew; what was defined before is gone.",),
        )
        assert (await made.python("x")).raised == "NameError"


async def test_a_copy_that_code_makes_of_the_interpreter_answers_nothing(sandbox: Any) -> None:
    async with sandbox() as made:
        ran = await made.python("import os\nnumber = os.fork()\nif number: os.waitpid(number, 0)\n'one'")
        assert ran.result == "'one'"
        assert (await made.python("2")).result == "2"


async def test_a_call_that_is_called_off_stops_and_the_next_one_works(sandbox: Any) -> None:
    async with sandbox() as made:
        await made.python("kept = 5")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await made.python("import time; time.sleep(60)")
        assert (await made.python("kept")).result == "5"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await made.bash("sleep 60")
        assert (await made.bash("echo on")).stdout.text == "on\n"


async def test_calls_wait_for_each_other(sandbox: Any) -> None:
    async with sandbox() as made:
        codes = [f"import time\ntime.sleep(0.02)\nseen = globals().get('seen', []) + [{n}]\nseen" for n in range(5)]
        ran = await asyncio.gather(*(made.python(code) for code in codes))
    assert ran[-1].result == "[0, 1, 2, 3, 4]"


async def test_what_is_too_long_goes_into_a_file_and_is_said_to(sandbox: Any) -> None:
    async with sandbox(output_kb=1) as made:
        ran = await made.python("print('a' * 5_000)")
        assert len(ran.stdout.text) == 1_000
        assert ran.notes == (f"STDOUT was cut after 1000 of 5001 bytes. All of it is in {ran.stdout.file}.",)
        assert (await made.bash(f"tail -c 3 {ran.stdout.file}")).stdout.text == "aa\n"


async def test_processes_that_are_left_are_ended_and_told(sandbox: Any) -> None:
    async with sandbox() as made:
        ran = await made.bash("sleep 1000 & echo on")
        assert ran.stdout.text == "on\n"
        assert ran.notes == ("1 process(es) still ran at the end of the call, and were ended.",)


async def test_an_input_stays_as_it_is(sandbox: Any, workspace: Path) -> None:
    (workspace / "given.csv").write_text("a,b\n")
    async with sandbox(inputs=("given.csv",)) as made:
        assert (await made.python("open('given.csv').read()")).result == r"'a,b\n'"
        assert (await made.python("open('given.csv', 'a')")).raised in ("OSError", "PermissionError")
        assert (await made.bash("rm -f given.csv; mv given.csv x")).exit != 0
    assert (workspace / "given.csv").read_text() == "a,b\n"


async def test_nothing_is_left_of_a_session_but_its_workspace(sandbox: Any, workspace: Path) -> None:
    async with sandbox() as made:
        process = made.process
        assert process is not None
        await made.python("open('/tmp/beside.txt', 'w').write('x'); open('inside.txt', 'w').write('x')")
        folder = made._layout.folder
        assert folder.is_dir()
    assert not folder.exists()
    assert not Path(f"/proc/{process}").exists()
    assert os.listdir(workspace) == ["inside.txt"]


async def test_a_level_that_went_away_is_one_error_and_the_next_call_works(
    sandbox: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with sandbox() as made:
        await made.python("open('kept.txt', 'w').write('kept')")
        for one in Path(f"/proc/{made.process}/task/{made.process}/children").read_text().split():
            os.kill(int(one), 9)
        with monkeypatch.context() as patch:
            patch.setenv("PATH", "/nowhere")
            for _ in range(2):
                with pytest.raises(ToolError):
                    await made.python("1")
        ran = await made.python("open('kept.txt').read()")
        assert ran.result == "'kept'"
        assert "began anew" in ran.notes[0]


async def test_ten_sessions_work_at_once(sandbox: Any) -> None:
    async def work(number: int) -> str:
        async with sandbox() as made:
            await made.python(f"n = {number}; open(f'{{n}}.txt', 'w').write('x')")
            await made.bash("sleep 0.05")
            return (await made.python("n * n")).result

    assert await asyncio.gather(*map(work, range(10))) == [str(number * number) for number in range(10)]
    gc.collect()


async def test_a_private_folder_made_by_the_host_meanwhile_ends_no_call(sandbox: Any, workspace: Path) -> None:
    code = """
import os, time
open('there', 'w').close()
while not os.path.exists('go'):
    time.sleep(0.01)
time.sleep(1.2)
'on'"""
    async with sandbox() as opened:
        call = asyncio.ensure_future(opened.python(code))
        for _ in range(6_000):
            if (workspace / "there").exists():
                break
            await asyncio.sleep(0.01)
        (workspace / "private").mkdir(mode=0o700)
        (workspace / "private" / "kept.txt").write_text("kept")
        (workspace / "go").touch()
        assert (await call).result == "'on'"


async def test_a_zero_byte_is_refused(sandbox: Any) -> None:
    async with sandbox() as made:
        with pytest.raises(ToolError, match="zero byte"):
            await made.bash("echo \0")
