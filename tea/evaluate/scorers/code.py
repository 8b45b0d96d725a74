"""Code: programs graded by their tests, in the sandbox and nowhere else."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from tea.components.equality import text_of
from tea.errors import BadInput, ToolError
from tea.evaluate.forms import unfenced
from tea.evaluate.scoring import Grade, Helpers, Question
from tea.types import JsonObject, JsonValue

_FILE = "answer.py"
_FIX = "write Python assertions, or a list of {input, output}."


async def code(question: Question, helpers: Helpers) -> Grade:
    """Grade Python code by assertions run behind it, or by its output for each input; a share with `partial`."""
    tests = check_tests(question.expected, question.options)
    source = unfenced(text_of(question.answer))
    if not source.strip():
        return Grade(score=0.0, why="there is no code")
    if helpers.sandbox is None:
        raise ToolError("Code is graded in a sandbox, and there is none.", fix="see `tea doctor --sandbox`.")
    from tea.sandbox.session import Sandbox

    passed, why = 0, ""
    for number, test in enumerate(tests, 1):
        sandbox = await Sandbox.open(await helpers.sandbox())  # a new one each: no test sees another's files
        try:
            problem = await _run(sandbox, source, test)
        finally:
            await sandbox.close()
        passed += not problem
        why = why or (f"test {number}: {problem}" if problem else "")
        if problem and not question.options.get("partial"):
            break
    return Grade(score=passed / len(tests) if question.options.get("partial") else float(not why), why=why)


async def _run(sandbox: Any, source: str, test: str | JsonObject) -> str:
    """Return the fault of code found by one test, empty if there is none."""
    mark = secrets.token_hex(16)  # shows that all assertions ran; no protection, as the code could read it
    words = f"{source}\n\n{test}\n\nprint('\\n{mark}')\n" if isinstance(test, str) else source
    file = Path(sandbox.workspace, _FILE)
    await asyncio.to_thread(file.write_text, words, encoding="utf-8", errors="replace")
    given = "" if isinstance(test, str) else text_of(test.get("input"))
    try:
        ran = await sandbox.program(_FILE, given)
    except ToolError as error:
        return error.problem
    if ran.exit != 0:
        lines = ran.stderr.text.strip().splitlines()
        return lines[-1][:200] if lines else f"exit code {ran.exit}"
    if isinstance(test, str):
        return "" if _printed(ran.stdout.text)[-1:] == [mark] else "ended before its tests did"
    if _printed(ran.stdout.text) == _printed(text_of(test.get("output"))):
        return ""
    return f"printed {ran.stdout.text.strip()[:80]!r}"


def _printed(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def check_tests(expected: JsonValue, options: JsonObject) -> list[str | JsonObject]:
    """Return the expected tests: assertions, or inputs with their outputs.

    Raises:
        BadInput: There are none.
    """
    given = cast("Sequence[Any]", expected) if isinstance(expected, list) else [expected]
    for one in given:
        if not (isinstance(one, str) and one.strip()) and not (isinstance(one, Mapping) and "output" in one):
            raise BadInput("The expected answer of the scorer 'code' does not contain tests.", fix=_FIX)
    if not given:
        raise BadInput("The expected answer of the scorer 'code' is an empty list.", fix=_FIX)
    return list(given)
