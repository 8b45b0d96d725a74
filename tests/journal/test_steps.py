"""The steps of a run as its journal tells them."""

import time
from typing import Any

from tea.journal.record import TraceRecord
from tea.journal.steps import steps_among


def record(seq: int, kind: str, key: str, data: dict[str, Any]) -> TraceRecord:
    names = dict.fromkeys(("time", "span", "parent", "session", "task", "agent"), "a")
    return TraceRecord(seq=seq, kind=kind, key=key, data=data, **names)  # pyright: ignore[reportArgumentType]


def test_each_of_many_agents_costs_the_same() -> None:
    entered = [record(0, "note", f"0/{at}.1.0", {"kind": "enter", "data": {"ref": "agent:a"}}) for at in range(10_000)]
    calls = [
        record(0, kind, f"0/{at}.1.1", data)
        for at in range(10_000)
        for kind, data in (("start", {"kind": "tool", "target": "tool:t"}), ("done", {"data": {"ok": True}}))
    ]
    begun = time.process_time()
    assert len(list(steps_among([*entered, *calls]))) == 10_000
    assert time.process_time() - begun < 5
