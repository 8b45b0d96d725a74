"""Test generated programs: records made under some latencies replay and resume under others."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import gate_programs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tea.kernel.entry import Entry

_PROGRAMS = Path(gate_programs.__file__)
_names = st.sampled_from("abcd")
_seconds = st.sampled_from([0, 0.0003, 0.0006, 0.001, 0.002])
_leaves = st.one_of(
    st.tuples(st.just("call"), _names),
    st.tuples(st.just("call"), _names),
    st.tuples(st.just("sleep"), _seconds),
    *(st.just((name,)) for name in ("receive", "look", "note", "hop", "work", "raise")),
)


def _grown(nodes: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    many = st.lists(nodes, min_size=1, max_size=4)
    return st.one_of(
        *(many.map(lambda found, name=name: (name, *found)) for name in ("seq", "seq", "group", "group", "race")),
        *(st.tuples(st.just(name), nodes) for name in ("retry", "swallow", "scope", "lock")),
        *(st.tuples(st.just(name), nodes, nodes) for name in ("catch", "finally", "odd")),
        st.tuples(st.just("timeout"), _seconds, nodes),
    )


_nodes = st.recursive(_leaves, _grown, max_leaves=20)
_programs = st.lists(_nodes, min_size=2, max_size=4).map(
    lambda found: ("catch", ("group", *(("catch", node, ("call", "e")) for node in found)), ("work",))
)
_seeds = st.integers(0, 2**32 - 1)
_chain = ("seq", ("call", "a"), ("call", "b"), ("call", "c"))
_late = ("finally", ("timeout", 0.001, _chain), ("note",))
_attempt = ("retry", ("group", _late, ("odd", ("raise",), _chain), ("scope", _chain)))
_torture = {
    "fan": ("group", *[_chain] * 4),
    "race": ("seq", ("race", _chain, _chain, _chain), ("call", "after")),
    "timeout": ("seq", ("timeout", 0.002, _chain), ("call", "after")),
    "timeouts in a group": ("group", *[_late] * 4),
    "failures with cleanup": ("catch", ("group", *[("finally", _chain, ("call", "clean"))] * 4), ("call", "report")),
    "retries": ("group", *[("retry", ("seq", ("call", "a"), ("odd", ("raise",), ("call", "b"))))] * 4),
    "workers": ("seq", ("group", *[("work",)] * 3), ("call", "sum")),
    "hops": ("group", *[("seq", ("call", "a"), *[("hop",)] * hops, ("lock", ("call", "b"))) for hops in range(4)]),
    "messages": ("group", *[("race", ("seq", ("receive",), ("receive",)), _chain)] * 3),
    "looks": ("group", *[("seq", ("look",), ("race", ("look",), ("call", "a")), ("look",), ("note",))] * 3),
    "nested": ("timeout", 0.01, ("group", *[_attempt] * 3)),
}
_quick = settings(deadline=None, suppress_health_check=list(HealthCheck))


def run(node: Any, world: Any, *past: Any, **options: Any) -> Any:
    return asyncio.run(gate_programs.run(node, world, *past, **options))


def check(node: Any, seed: int, cancels: bool) -> None:
    """Record, replay, resume from a random place or an abandoned run, replay the resumed one."""
    luck = random.Random(seed)
    live = run(node, gate_programs.World(seed, cancels=cancels), abandon=luck.choice([0, 0, 0.001, 0.003]))
    if live.outcome is not None:
        assert_replays(node, live)
    head = live.entries if live.outcome is None else live.entries[: luck.randrange(len(live.entries) + 1)]
    resumed = run(node, gate_programs.World(seed + 1, cancels=cancels), head, mode="resume")
    finished = {entry.key for entry in head if entry.event in ("done", "failed")}
    assert not finished & set(resumed.performed)
    assert "Diverged" not in str(resumed.outcome)
    assert_replays(node, resumed)


def assert_replays(node: Any, recorded: Any) -> None:
    past = [Entry.of(json.loads(json.dumps(entry.document()))) for entry in recorded.entries]
    assert past == recorded.entries
    again = run(node, gate_programs.World(99), past, mode="replay")
    assert again.outcome == recorded.outcome
    assert (again.performed, again.written) == ([], [])


@pytest.mark.parametrize("name", _torture)
def test_what_is_hard_to_repeat_is_repeated(name: str) -> None:
    for seed in range(8):
        check(_torture[name], seed, cancels=seed == 0)


@settings(_quick, max_examples=100)
@given(_programs, _seeds, st.booleans())
def test_what_was_recorded_replays_and_resumes(node: Any, seed: int, cancels: bool) -> None:
    check(node, seed, cancels)


@pytest.mark.slow
@settings(_quick, max_examples=int(os.environ.get("TEA_GATE_EXAMPLES", "600")))
@given(_programs, _seeds, st.booleans())
def test_what_was_recorded_replays_and_resumes_at_length(node: Any, seed: int, cancels: bool) -> None:
    check(node, seed, cancels)


def test_a_journal_replays_under_every_hash_seed() -> None:
    node = (
        "group",
        ("race", ("work",), ("work",)),
        ("timeout", 0.001, ("seq", ("call", "a"), ("receive",))),
        ("work",),
    )
    live = run(node, gate_programs.World(7))
    given_text = json.dumps([node, [entry.document() for entry in live.entries]])
    for hash_seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        command = [sys.executable, str(_PROGRAMS)]
        done = subprocess.run(command, input=given_text, env=environment, capture_output=True, text=True, check=True)
        assert json.loads(done.stdout) == live.outcome
