"""Test the benchmark of whole tasks: its kept tasks and answers are complete, and its server counts requests."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
NAMES = sorted(path.name for path in (BENCHMARKS / "sittings").iterdir())
PLAYED = [name for name in NAMES if name >= "16"]
TASK = "Which is the largest?"


@pytest.fixture(autouse=True)
def beside_the_benchmark() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
        yield


def read(name: str) -> Any:
    return import_module("_sittings_format").Sitting.read(BENCHMARKS / "sittings" / name)


def server(*replies: dict[str, Any], **options: Any) -> Any:
    flow = import_module("_sittings_format").Flow(when="", replies=replies)
    return import_module("_sittings_server").KeptServer(options.pop("flows", [flow]), **options)


async def ask(served: Any, *messages: str, task: str = TASK) -> tuple[int, Any]:
    """Ask with these messages behind the task, the model's own and results by turns."""
    roles = ("assistant", "tool")
    said = [{"role": roles[n % 2], "content": text} for n, text in enumerate(messages)]
    return await served.reply(json.dumps({"messages": [{"role": "user", "content": task}, *said]}).encode())


@pytest.mark.parametrize("name", NAMES)
def test_a_sitting_has_its_files_and_answers_of_each_player(name: str, tmp_path: Path) -> None:
    sitting = read(name)
    files = sitting.lay_out(tmp_path)
    assert [path.name for path in files] == list(sitting.task.get("files", ()))
    assert all(path.stat().st_size for path in files)
    for player in ("tea", "flat") if sitting.answers("flat") else ("tea",):
        flows = sitting.flows(player)
        assert all(flow.replies for flow in flows)
        assert [flow.when for flow in flows].count("") == 1
        assert flows[-1].when == ""


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_that_ends_the_kept_ones_is_right(name: str) -> None:
    sitting = read(name)
    if sitting.answers("flat"):
        last = sitting.flows("flat")[-1].replies[-1]["answer"]
        assert sitting.is_right(last, cannot="cannot" in last)
    ((_, ending),) = [one["calls"] for one in sitting.flows("tea")[-1].replies if "calls" in one][-1]
    assert sitting.is_right(ending["answer"], cannot=not ending["success"])


@pytest.mark.parametrize("name", NAMES)
def test_the_kept_answers_follow_from_what_the_tools_give(name: str, tmp_path: Path) -> None:
    sitting, peers = read(name), import_module("_sittings_peers")
    if not sitting.answers("flat"):
        return
    peers.Folder.place = tmp_path
    sitting.lay_out(tmp_path)
    seen = ""
    for reply in sitting.flows("flat")[-1].replies:
        assert [text for text in reply.get("shown", ()) if text not in seen] == []
        seen += "".join(getattr(peers, tool)(**arguments) for tool, arguments in reply.get("calls", ()))


def test_a_sitting_tells_right_answers_from_wrong_ones() -> None:
    share, typed, gone = read("02_workbook"), read("05_typed_answer"), read("06_missing_column")
    assert share.is_right("about 18.0 %", cannot=False)
    assert not share.is_right("18.1 %", cannot=False)
    assert not share.is_right("18.0", cannot=True)
    assert typed.is_right('```json\n{"count": 3, "cities": ["Heathwick", "Larchwick", "Quayton"]}\n```', cannot=False)
    assert not typed.is_right({"count": "3", "cities": ["Heathwick", "Larchwick", "Quayton"]}, cannot=False)
    assert gone.is_right("", cannot=True)
    assert not gone.is_right("12 cm", cannot=False)


def test_members_that_nobody_reads_are_refused(tmp_path: Path) -> None:
    (tmp_path / "sitting.json").write_text('{"title": "t", "task": {}, "right": {}, "wanted": 1}')
    with pytest.raises(ValueError, match="'wanted' is not one of"):
        import_module("_sittings_format").Sitting.read(tmp_path)


async def test_the_server_gives_the_kept_answers_in_order_and_counts_what_it_was_asked() -> None:
    served = server({"text": "a", "calls": [["look", {"at": 1}]]}, {"answer": "b", "shown": ["found: 7", "and 8"]})
    status, first = await ask(served)
    assert status == 200
    assert first["choices"][0]["message"]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"at": 1}'}
    _, second = await ask(served, "a", "found: 7")
    assert second["choices"][0]["message"]["content"] == "b"
    assert [one.missing for one in served.questions] == [(), ("and 8",)]
    assert second["usage"]["prompt_tokens"] == served.questions[1].tokens > served.questions[0].tokens
    status, refused = await ask(served, "b", "more")
    assert (status, refused["error"]["code"]) == (400, "kept_answers")


async def test_a_question_longer_than_the_window_is_refused_and_takes_no_answer() -> None:
    served = server({"answer": "b"}, context=40, ending="final_answer")
    status, refused = await ask(served, "x" * 400)
    assert (status, refused["error"]["code"]) == (400, "context_length_exceeded")
    status, answered = await ask(served)
    assert (status, answered["choices"][0]["finish_reason"]) == (200, "tool_calls")


async def test_conversations_side_by_side_have_answers_of_their_own() -> None:
    flow = import_module("_sittings_format").Flow
    flows = [flow(when="largest", replies=[{"answer": "part"}]), flow(when="", replies=[{"answer": "whole"}])]
    served = server(flows=flows)
    (_, one), (_, two) = await asyncio.gather(ask(served), ask(served, "largest", task="All of them"))
    assert [answer["choices"][0]["message"]["content"] for answer in (one, two)] == ["part", "whole"]
    assert [one.at_once for one in served.questions] == [1, 2]


async def test_what_the_person_says_is_carried_on_before_the_reply_is_given() -> None:
    heard: list[str] = []

    async def tell(text: str) -> None:
        heard.append(text)

    served = server({"answer": "b", "tell": "the other one"}, tell=tell)
    await ask(served)
    assert heard == ["the other one"]


async def test_a_reply_copies_what_it_sees_and_the_last_may_be_given_again() -> None:
    reply = {"text": "go on: {next}", "copies": {"next": "Read \\w+ next"}, "again": True}
    served = server({"text": "a"}, reply)
    await ask(served)
    for shown, copied in (("Read x next. Read y next.", "Read y next"), ("", "")):
        _, answered = await ask(served, "a", shown)
        assert answered["choices"][0]["message"]["content"] == f"go on: {copied}"


@pytest.mark.parametrize("name", PLAYED)
async def test_a_played_task_ends_right_in_a_run_and_its_replay(name: str, tmp_path: Path) -> None:
    row = await import_module("sittings").by_tea("tea", {})(read(name), tmp_path)
    assert row.right, row.remark
    assert len(row.questions) == len(read(name).flows("tea")[0].replies)
    assert row.questions[0].tokens <= 2_500


@pytest.mark.slow
@pytest.mark.parametrize("fold", ["recent", "restart", "summary"])
async def test_forty_steps_end_right_however_the_window_folds(fold: str, tmp_path: Path) -> None:
    row = await import_module("sittings").by_tea("tea", {"fold": fold})(read("12_forty_steps"), tmp_path)
    assert row.right, row.remark
    assert all(one.tokens <= 16_000 for one in row.questions)
    assert any(one.flow == 0 for one in row.questions) is (fold != "recent")


@pytest.mark.slow
async def test_the_benchmark_prints_a_row_for_each_sitting() -> None:
    arguments = (BENCHMARKS / "sittings.py", "--only", "13_arithmetic,16_best_rep", "--details")
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=PIPE, stderr=PIPE)
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    rows = [line for line in out.decode().splitlines() if line.startswith("| 1")]
    assert [line.split(" / ")[2] for line in rows] == ["yes", "yes"], out.decode()
    assert [line.split(" / ")[0] for line in rows] == ["| 13_arithmetic | 2", "| 16_best_rep | 2"]
    assert "13_arithmetic, tea, question 2 of flow 0" in out.decode()
