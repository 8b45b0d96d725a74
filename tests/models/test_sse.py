"""Server-sent events mean the same however their bytes are cut."""

from itertools import cycle, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea.models.failure import CallFailure
from tea.models.sse import MOST_BYTES, Events, Sent

WORDS = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20)


@given(
    events=st.lists(st.tuples(WORDS.map(str.strip), st.lists(WORDS, min_size=1, max_size=3)), max_size=5),
    cuts=st.lists(st.integers(0, 400), max_size=20),
    ends=st.just(["\r"]) | st.lists(st.sampled_from(["\n", "\r\n"]), min_size=1, max_size=4),
)
def test_events_are_the_same_however_their_bytes_are_cut(
    events: list[tuple[str, list[str]]], cuts: list[int], ends: list[str]
) -> None:
    lines: list[str] = [": a comment"]
    for name, data in events:
        lines += [*([f"event: {name}"] if name else []), *(f"data: {text}" for text in data), "id: 7", ""]
    raw = "".join(map("".join, zip(lines, cycle(ends)))).encode()
    places = sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})
    reader = Events()
    found = [sent for at, to in pairwise(places) for sent in reader.feed(raw[at:to])]
    assert found == [Sent(event=name, data="\n".join(data).encode()) for name, data in events]


def test_an_empty_line_behind_a_line_end_that_was_cut_in_two_ends_the_event() -> None:
    reader = Events()
    found = [sent for chunk in (b"data: whole\r", b"\n", b"\n") for sent in reader.feed(chunk)]
    assert found == [Sent(event="", data=b"whole")]


def test_an_event_that_was_not_ended_is_none() -> None:
    assert list(Events().feed(b'data: {"half": tr')) == []
    assert list(Events().feed(b"data: whole\n")) == []


def test_a_stream_without_an_end_is_cut_off() -> None:
    reader = Events()
    assert list(reader.feed(b"x" * MOST_BYTES)) == []
    with pytest.raises(CallFailure, match="larger than 32 MiB"):
        list(reader.feed(b"x"))
