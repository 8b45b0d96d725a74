"""Passages: nothing lost, nothing too long, each with its place."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as some

from tea.corpus.passages import OVERLAP, SIZE, Section, passages, sections

WORDS = some.lists(some.text("abc xyz\n.", min_size=1, max_size=30), max_size=60)


@given(WORDS, some.integers(20, 80), some.integers(0, 15))
def test_every_part_of_a_text_is_in_a_passage_in_order(words: list[str], size: int, overlap: int) -> None:
    text = " ".join(words)
    found = list(passages([Section(text=text, line=1)], size, overlap)) if text.strip() else []
    joined = "".join(one.text for one in found)
    assert all(len(one.text) <= size for one in found)
    for word in text.split():
        assert len(word) > size or word in joined
    assert [one.line for one in found] == sorted(one.line for one in found)


def test_a_long_section_is_divided_with_an_overlap_and_lines_are_counted() -> None:
    text = "\n".join(f"line {number} of a long text about nothing in particular" for number in range(1, 201))
    found = list(passages([Section(text=text, line=1)]))
    assert len(found) > 4
    for one in found:
        assert len(one.text) <= SIZE
        assert text.split("\n")[one.line - 1].endswith(one.text.split("\n")[0])
    for one, other in pairwise(found):
        shared = next(n for n in range(len(other.text), 0, -1) if one.text.endswith(other.text[:n]) or n == 1)
        assert 0 < shared <= OVERLAP


def test_sections_know_the_headings_above_them_and_code_has_none() -> None:
    text = "before\n# One\na\n## Two\nb\n```\n# no heading\n```\n# Three\nc"
    found = sections(text)
    assert [(one.line, one.heading) for one in found] == [(1, ""), (2, "One"), (4, "One > Two"), (9, "Three")]


def test_small_sections_stand_together_until_they_are_too_long() -> None:
    parts = [Section(text="x" * 900, line=n, heading=f"H{n}") for n in range(1, 6)]
    found = list(passages(parts))
    assert [one.heading for one in found] == ["H1; H2", "H3; H4", "H5"]
    assert [one.line for one in found] == [1, 3, 5]


def test_pages_are_never_joined() -> None:
    found = list(passages([Section(text="a", line=1, page=1), Section(text="b", line=1, page=2)]))
    assert [(one.text, one.page) for one in found] == [("a", 1), ("b", 2)]
