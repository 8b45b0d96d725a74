"""Test long texts of a task, model or file for linear time: no pattern looks twice at every place."""

import importlib.util
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import pytest_asyncio

from tea.cli.terminal import clean, one_line
from tea.components.context import Context
from tea.components.markdown import prose
from tea.corpus.passages import passages, sections
from tea.errors import BadArguments
from tea.evaluate.forms import only_number
from tea.evaluate.scorers.choice import letter_of
from tea.loop.checks import stands_in
from tea.loop.delegated_files import with_files
from tea.loop.form import formed, read_as
from tea.loop.naming import file_names, to_be_changed, to_be_written
from tea.loop.revision import confirms
from tea.loop.unopened import to_be_opened
from tea.models.context_length import exceeds, limit_in
from tea.models.written_calls import attempted, calls_in, object_in
from tea.models.written_json import read_json
from tea.platform import Platform
from tea.policy.destination import addresses_in
from tea.prompts.plain_text import as_sole_text
from tea.reading import best_excerpts
from tea.reading.headings import titles
from tea.retrieval.terms import terms
from tea.store.strict import Refused
from tea.testing import platform
from tea.types import ActionResponse

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]

ROOT = Path(__file__).parent.parent
LENGTH = 40_000
SECONDS = 1.5  # of the processor; what grows with the square of the length takes many times as long
PIECES = (
    *(" ", "\n", "\t", "1", "a", ".", ",", "?", "[", "]", "(", "{", "`", "<", "*", "#", "_", "-", "|", '"', "\\"),
    *("1+", "1,", "1.", "a b", "a. B", "? a", "write ", "and please ", "report. ", "make a report", "1 and ", "5% of "),
    *("the sum of 1, ", "```", "```json\n", "```\n", "`a ", "[1](", "[1](<", "[a](", "1. a  ", "- a\n", "# a\n", "{ "),
    *('{"', "<tool>", "[TOOL_CALLS]", "\n,", "] ,", "key: v\n", "a=1;", "'a ", "/* ", "https://a", "%41", "\x1b[", "é"),
    *("write a.csv ", "norm(", "a.", "a=", "from a ", "''", "--", "sum( ", ",000"),
)
TEXTS = {f"{piece!r}, {end!r}": piece * (LENGTH // len(piece)) + end for piece in PIECES for end in ("x", "")}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea() -> AsyncIterator[Platform]:
    async with platform() as tea:
        yield tea


def part(name: str) -> Any:
    """Return a module of the environment for reports, loaded by no name."""
    spec = importlib.util.spec_from_file_location(
        f"_{name}_of_the_reporter", ROOT / "environments" / "_report" / f"{name}.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def numbered(text: str) -> None:
    part("references").References("/w").number(f"A [1].\n\n{text}\n\n## References\n\n1. {text[:1000]}\n2. {text}")


async def nowhere(ref: str, arguments: dict[str, Any]) -> ActionResponse:
    """Look up no file, as where there is no workspace."""
    return ActionResponse(ref=ref, ok=False)


def alike(texts: Sequence[str]) -> Any:
    """Return the same numbers for each text."""
    return np.ones((len(texts), 1))


def read_or_refused(text: str) -> Any:
    with suppress(Refused):
        return read_json(text)


DOORS: dict[str, Callable[[str], object]] = {
    "calls in an answer": calls_in,
    "a call that was meant": attempted,
    "a call behind a mark": lambda text: calls_in(
        f"[TOOL_CALLS]a{{{text}" * 3 + '[TOOL_CALLS]a[ARGS]{"b": [{' * (LENGTH // 9)
    ),
    "a call in slips": lambda text: calls_in(f"{{'a': {text}" + "{'b': " * (LENGTH // 3)),
    "calls of actions": lambda text: calls_in("Action: a\nAction Input: {'a': [" * (LENGTH // 9) + text),
    "a call in tags": lambda text: calls_in(f"<function=a>{text}{'<parameter=b>' * (LENGTH // 5)}"),
    "a call in elements": lambda text: calls_in(f"<add>{text}{'<b>' * (LENGTH // 3)}{'<add>' * 5000}", ["add"]),
    "a call by name": lambda text: calls_in('<invoke name="a">' * 2000 + text + "<b>a</b> " * 4000 + "</invoke>"),
    "an object in an answer": object_in,
    "why a provider refused": lambda text: (exceeds(text, "", 400), limit_in(text)),
    "a quote": lambda text: stands_in(text, "some words 1 2 3\n" * 100),
    "a text that is quoted": lambda text: stands_in("words ... 1 | that; are not there", text),
    "a draft": numbered,
    "files named in a task": lambda text: (file_names(text), to_be_written(text)),
    "files to be changed": lambda text: to_be_changed(f"{text}{'fix a.csv, ' * 200}{'add a.csv, ' * 200}", ["b.csv"]),
    "pages named in a task": lambda text: to_be_opened(text * 2),
    "words for a person": lambda text: (clean(text), one_line(text, 200)),
    "words in a document": prose,
    "words that are sought": terms,
    "the letter of an answer": lambda text: letter_of(f"answer: {text}"),
    "the number of an answer": lambda text: only_number(f"1{text}"),
    "a calculation": lambda text: list(part("calculations").calculations(f"`1 = 1{text}2`")),
    "an object as a model writes it": lambda text: read_or_refused(f'{{"a": "{text}'),
    "an answer as plain text": lambda text: as_sole_text("a", f"```{text}"),
    "an answer in a fence": lambda text: formed(f"```a{text}", {"type": "object"}),
    "an answer that may name several": lambda text: read_as({"type": "array", "items": {"type": "string"}}, f"a{text}"),
    "words that may confirm": lambda text: confirms(f"a{text}"),
    "a document of a corpus": lambda text: list(passages(sections(f"# a {text}"))),
    "parts of a document": lambda text: best_excerpts((text * 5).split("\n"), "What is a?", alike),
    "headings of a document": lambda text: titles([f"# a {text}"]),
    "an address in a result": lambda text: list(addresses_in(f"https://a{text * 3}")),
}
CALLS: dict[str, Callable[[str], dict[str, Any]]] = {
    "plan_offline": lambda text: {"task": text},
    "answer_from_data": lambda text: {"task": text, "files": ["a.csv"], "history": []},
    "compose_report": lambda text: {"task": text},
    "calculator": lambda text: {"expression": text},
    "open_document": lambda text: {"source": "data:,a", "pages": f"1-{text}"},
}


@pytest.mark.parametrize("door", DOORS)
async def test_no_text_takes_long(door: str) -> None:
    assert slow_ones(DOORS[door]) == []


@pytest.mark.parametrize("tool", CALLS)
async def test_no_task_takes_a_solver_long(tea: Platform, tool: str) -> None:
    found: list[str] = []
    for name, text in TEXTS.items():
        begun = time.process_time()
        await tea.tcp.invoke(tool, CALLS[tool](text))
        if time.process_time() - begun > SECONDS:
            found.append(name)
    assert found == []


async def test_no_name_of_a_file_for_an_agent_takes_long() -> None:
    ctx = cast(Context, SimpleNamespace(ecp=SimpleNamespace(invoke=nowhere)))
    found: list[str] = []
    for name, text in TEXTS.items():
        begun = time.process_time()
        with suppress(BadArguments):
            await with_files(ctx, {"task": text, "files": [f"a{text}"]}, ["a.csv", "b.csv"])
        if time.process_time() - begun > SECONDS:
            found.append(name)
    assert found == []


async def test_very_many_orders_to_change_files_take_no_longer_each() -> None:
    begun = time.process_time()
    assert to_be_changed("fix a.csv, " * 2_000 + "add a.csv, " * 2_000, ["b.csv"]) == set()
    assert time.process_time() - begun < 2 * SECONDS


async def test_very_many_names_of_files_that_are_to_be_written_take_no_longer_each() -> None:
    begun = time.process_time()
    assert to_be_written("write a.csv " * 100_000) == {"a.csv"}
    assert time.process_time() - begun < 2 * SECONDS


async def test_a_long_sum_leaves_the_loop_to_others(tea: Platform) -> None:
    begun = time.process_time()
    outcome = await tea.run("1+" * 12_000 + "1", budget={"seconds": 60})
    assert outcome.status == "failed"
    assert time.process_time() - begun < 3 * SECONDS


@pytest.mark.slow
async def test_no_piece_of_a_report_takes_long(tea: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found: list[str] = []
    for number, (name, text) in enumerate(TEXTS.items()):
        begun = time.process_time()
        given = {"text": f"B {text[-LENGTH // 4 :]}\nA\n{text[-LENGTH // 4 :]}", "report": f"r{number}"}
        assert (await tea.ecp.invoke("report#add", given, session="s")).ok
        assert (await tea.ecp.invoke("report#complete", {"report": f"r{number}"}, session="s")).ok
        if time.process_time() - begun > SECONDS:
            found.append(name)
    assert found == []


@pytest.mark.slow
async def test_no_file_takes_its_reader_long(tea: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found: list[str] = []
    for name, text in TEXTS.items():
        (tmp_path / "a.txt").write_text(text)
        begun = time.process_time()
        await tea.tcp.invoke("read_file", {"path": "a.txt", "find": f"which A is a key of {name}"})
        if time.process_time() - begun > SECONDS:
            found.append(name)
    assert found == []


async def test_no_statement_takes_long(tea: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    found: list[str] = []
    for name, text in TEXTS.items():
        begun = time.process_time()
        await tea.tcp.invoke("table_query", {"files": ["a.csv"], "sql": f"SELECT {text}"})
        counted = f"SELECT count(*) AS [{text.replace(']', '')}] FROM a"  # it is looked at again after it ran
        await tea.tcp.invoke("table_query", {"files": ["a.csv"], "sql": counted})
        if time.process_time() - begun > SECONDS:
            found.append(name)
    assert found == []


def slow_ones(work: Callable[[str], object]) -> list[str]:
    """Return the texts of too long a time."""
    found: list[str] = []
    for name, text in TEXTS.items():
        begun = time.process_time()
        work(text)
        if time.process_time() - begun > SECONDS:
            found.append(name)
    return found
