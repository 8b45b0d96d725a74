"""Test that differences of texts are exact, and found in bounded time."""

import time

from hypothesis import given
from hypothesis import strategies as st

from tea.components.line_diff import unified_diff

TEXTS = st.lists(st.sampled_from("abcd"), max_size=12)


def patched(old: list[str], lines: list[str]) -> list[str]:
    """Return the text that a unified diff makes of an older one."""
    found, at = list[str](), 0
    for line in lines[2:]:
        if line.startswith("@@"):
            first, _, length = line.split()[1][1:].partition(",")
            start = int(first) - (length != "0")
            found, at = found + old[at:start], start
        else:
            at += line[0] != "+"
            assert line[0] == "+" or old[at - 1] == line[1:]
            found += [line[1:]] * (line[0] != "-")
    return found + old[at:]


@given(TEXTS, TEXTS)
def test_a_diff_turns_one_text_into_the_other(old: list[str], new: list[str]) -> None:
    lines = list(unified_diff(old, new, "old", "new", context=1))
    assert patched(old, lines) == new
    assert bool(lines) == (old != new)


def test_a_diff_shows_places_and_the_lines_around_a_change() -> None:
    old = [f"{number}\n" for number in range(1, 21)]
    new = [*old[:9], "x\n", *old[10:]]
    assert "".join(unified_diff(old, new, "a", "b", context=1, end="\n")) == (
        "--- a\n+++ b\n@@ -9,3 +9,3 @@\n 9\n-10\n+x\n 11\n"
    )
    assert list(unified_diff([], ["x"], "a", "b"))[2:] == ["@@ -0,0 +1 @@", "+x"]


def test_a_diff_of_texts_that_share_many_lines_is_found_soon() -> None:
    old = [f"{number % 110}" for number in range(4_000)]
    new = [line for number, shared in enumerate(old) for line in (shared, f"x{number}")]
    begun = time.process_time()
    assert patched(old, list(unified_diff(old, new, "a", "b"))) == new
    edited = ["first", *old[1:2_000], "middle", *old[2_000:], "last"] * 20
    assert patched(old * 20, list(unified_diff(old * 20, edited, "a", "b"))) == edited
    assert time.process_time() - begun < 5


def test_a_diff_of_a_few_lines_that_stand_everywhere_in_many_is_found_soon() -> None:
    old = ["first", *(line for number in range(5_000) for line in ("x", f"y{number}")), "last"]
    new = ["begin", *["x"] * 190, "end"]
    begun = time.process_time()
    for before, after in ((old, new), (new, old)):
        assert patched(before, list(unified_diff(before, after, "a", "b"))) == after
    assert time.process_time() - begun < 2
