"""The analyzer: files first, then rounds."""

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")

ONLY = {"agent": "analyzer", "tools": ["calculator"]}


def step(name: str, **arguments: Any) -> dict[str, Any]:
    words = dict.fromkeys(("thinking", "evaluation", "memory", "next_goal"), "")
    return {**words, "calls": [{"name": name, "arguments": arguments}]}


async def test_files_are_classified_by_their_metadata_before_anything_is_asked(stage: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    (tmp_path / "n.txt").write_text("notes")
    files = [str(tmp_path / "t.csv"), str(tmp_path / "n.txt")]
    outcome = await stage.play({"analyzer": [step("done", answer=1)]}, "How many?", files=files, **ONLY)
    assert outcome.answer == 1
    (request,) = stage.requests["analyzer"]
    assert request.variables["inventory"] == [
        {"name": "t.csv", "size": 4, "type": "table"},
        {"name": "n.txt", "size": 5, "type": "text"},
    ]
    assert "- t.csv: table, 4 bytes" in str(request.messages)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [("e.csv", b"", "is empty"), ("p.pdf", b"%PDF", "of type document"), ("s.mp3", b"ID3", "of type audio")],
)
async def test_files_that_cannot_be_analysed_end_the_task_before_a_model_is_asked(
    stage: Any, tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    outcome = await stage.play({"analyzer": []}, "How many?", files=[str(tmp_path / name)], **ONLY)
    assert outcome.status == "failed"
    assert words in outcome.reason
    assert stage.requests["analyzer"] == []


async def test_without_files_the_task_is_the_material(stage: Any) -> None:
    replies = [step("calculator", expression="6 * 7"), step("done", answer=42)]
    assert (await stage.play({"analyzer": replies}, "Six rows of seven?", **ONLY)).answer == 42
    assert "the task itself is the material" in str(stage.requests["analyzer"][0].messages)


async def test_a_round_without_an_answer_is_followed_by_another_that_knows_of_it(stage: Any) -> None:
    first = [step("calculator", expression=f"{number} + 1") for number in range(12)]
    outcome = await stage.play({"analyzer": [*first, step("done", answer="late")]}, "Find it.", **ONLY)
    assert outcome.answer == "late"
    last = stage.requests["analyzer"][-1]
    assert "Round 1 of 3 ran out of steps." in "\n".join(last.variables["memories"])
    assert len(last.messages) == 2  # a fresh conversation


async def test_three_rounds_are_the_most(stage: Any) -> None:
    replies = [step("calculator", expression=f"{number} + 1") for number in range(50)]
    outcome = await stage.play({"analyzer": replies}, "Find it.", **ONLY)
    assert outcome.status == "exhausted"
    assert len(stage.requests["analyzer"]) == 36


async def test_giving_up_ends_the_rounds(stage: Any) -> None:
    outcome = await stage.play({"analyzer": [step("done", success=False, reason="not there")]}, "Find it.", **ONLY)
    assert (outcome.status, outcome.reason) == ("failed", "not there")
    assert len(stage.requests["analyzer"]) == 1


async def test_the_runs_own_budget_ends_the_rounds_too(stage: Any) -> None:
    replies = [step("calculator", expression=f"{number} + 1") for number in range(50)]
    outcome = await stage.play({"analyzer": replies}, "Find it.", budget={"steps": 5}, **ONLY)
    assert outcome.status == "exhausted"
    assert len(stage.requests["analyzer"]) == 5
