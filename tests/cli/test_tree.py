"""Test the tree of a run's records."""

import time

from tea.cli.tree import tree
from tea.journal.record import TraceRecord
from tea.types import JsonObject

MANY = 20_000
SECONDS = 8.0  # of the processor; what grows with the square of the records takes minutes


def test_the_calls_of_an_agent_stand_below_it_and_those_of_many_agents_are_shown_soon() -> None:
    names = dict.fromkeys(("time", "span", "parent", "session", "task", "agent"), "")
    entered: JsonObject = {"kind": "enter", "data": {"ref": "agent:one@1.0.0", "digest": "", "arguments": {}}}
    keys = ["0.0.0", "0.0.1.0", "0.1/0.0", "0.1/0.1.0", *(f"0.{number}.0" for number in range(2, MANY))]
    records = [TraceRecord(seq=at, kind="note", key=key, data=entered, **names) for at, key in enumerate(keys)]
    begun = time.process_time()
    lines = tree(records).splitlines()
    assert [len(one) - len(one.lstrip()) for one in lines] == [0, 2, 0, 2, *(0 for _ in keys[4:])]
    assert time.process_time() - begun < SECONDS
