"""Test the reuse of generated tools: counted by run, without their own runs."""

import time

import pytest

from tea.retrieval.reuse import Made, RunFacts, reuse_of

TOOL = Made(name="count", version="1.0.1", versions=2, created="2026-02-01", runs=frozenset({"maker"}))


def run(
    id: str,
    calls: int,
    good: int | None = None,
    *,
    well: bool = True,
    begun: str = "2026-03-01",
    task: str = "How many vowels are in this word?",
) -> RunFacts:
    named = {"count": calls} if calls else {}
    good = calls if good is None else good
    return RunFacts(id=id, begun=begun, task=task, well=well, calls=named, good={"count": good})


def test_calls_of_other_runs_count_and_those_of_the_run_that_made_it_do_not() -> None:
    (found,) = reuse_of([TOOL], [run("maker", 9), run("a", 2, 1), run("b", 1, well=False), run("c", 0)])
    assert (found.calls, found.failed, found.runs, found.well, found.others, found.others_well) == (3, 1, 2, 1, 1, 1)
    assert found.net == pytest.approx(-0.5)


def test_runs_before_it_was_made_say_nothing_about_it() -> None:
    (found,) = reuse_of([TOOL], [run("old", 0, begun="2026-01-01"), run("a", 1)])
    assert (found.others, found.net) == (0, None)


def test_the_most_used_comes_first() -> None:
    other = Made(name="other", version="1.0.0", versions=1, created="2026-02-01")
    assert [one.made.name for one in reuse_of([other, TOOL], [run("a", 1)])] == ["count", "other"]


def test_only_runs_of_like_tasks_are_compared() -> None:
    unlike = [run(f"{number}", 0, task="Which airport is the highest?") for number in range(5)]
    (found,) = reuse_of([TOOL], [run("a", 1), *unlike])
    assert (found.others, found.net) == (0, None)
    like = run("b", 0, well=False, task="How many vowels are in that word?")
    (found,) = reuse_of([TOOL], [run("a", 1), like, *unlike])
    assert (found.others, found.others_well, found.net) == (1, 0, 1.0)


def test_the_task_that_a_tool_was_made_for_counts_as_one_that_it_serves() -> None:
    maker, like = run("maker", 1, task="Count vowels in a text"), run("b", 0, task="Count vowels in that text")
    (found,) = reuse_of([TOOL], [maker, run("a", 1), like])
    assert found.others == 1


def test_many_tasks_and_tools_are_compared_in_bounded_time() -> None:
    tools = [Made(name=f"t{number}", version="1.0.0", versions=1, created="2026-02-01") for number in range(20)]
    words = [" ".join(f"w{number}x{one}" for one in range(40)) for number in range(1_000)]
    given = {one.name: 1 for one in tools}
    runs = [
        RunFacts(id=f"r{number}", begun="2026-03-01", task=task, well=True, calls=given if number % 2 else {}, good={})
        for number, task in enumerate(words)
    ]
    begun = time.process_time()
    found = reuse_of(tools, [*runs, run("like", 0, task=f"{words[1]} please")])
    assert time.process_time() - begun < 10
    assert {(one.runs, one.others) for one in found} == {(500, 1)}
