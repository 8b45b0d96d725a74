"""Test the characters allowed on a terminal."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea.characters import is_hidden
from tea.cli.failure import explained, in_one_line
from tea.cli.terminal import clean, document, harmless, one_line, table
from tea.errors import BadInput, StorageError

SEQUENCES = [
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\x1b]8;;http://x\x1b\\",
    "\x1bP1$q\x1b\\",
    "\x1bc",
    "\x9b2J",
    "\x9d0;t\x9c",
    "\x1b(B",
]
TEXTS = st.text(st.characters() | st.sampled_from("\x1b\x9b\x07[]\u202e\r\n;m"))


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_an_escape_sequence_leaves_nothing_behind(sequence: str) -> None:
    assert clean(f"a{sequence}b") == "ab"


@given(TEXTS)
def test_cleaned_text_holds_no_control_character_but_newline_and_tab(text: str) -> None:
    plain = clean(text)
    assert {one for one in plain if unicodedata.category(one) in ("Cc", "Cs")} <= {"\n", "\t"}
    assert not set(plain) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")
    assert clean(plain) == plain
    plain.encode()


def test_words_of_all_scripts_and_joined_signs_stay() -> None:
    text = "naïve 日本語 العربية 👩‍🚀 ½\tend\n"
    assert clean(text) == text


@given(TEXTS, TEXTS)
def test_an_error_is_one_line_of_at_most_300_characters(problem: str, fix: str) -> None:
    line = in_one_line(problem * 20, fix * 20)
    assert len(line) <= 300
    assert line.splitlines() == [line]
    assert line.startswith("tea: ")


def test_a_long_problem_is_cut_and_its_remedy_stays() -> None:
    line = in_one_line("x" * 1000, "do this.")
    assert line.endswith("... Fix: do this.")


@given(st.dictionaries(TEXTS, TEXTS))
def test_json_for_programs_is_plain_ascii_and_reads_back(data: dict[str, str]) -> None:
    text = document({"data": data})
    assert all(" " <= one <= "~" for one in text)
    assert json.loads(text) == {"schema": 1, "data": data}


def test_the_first_error_of_ours_in_a_group_counts() -> None:
    inner = ExceptionGroup("inner", [ValueError("x"), BadInput("ours", fix="mend it.")])
    assert explained(ExceptionGroup("outer", [KeyError("y"), inner])).record()["problem"] == "ours"
    assert explained(ExceptionGroup("outer", [KeyError("y")])).exit_code == 3
    assert isinstance(explained(PermissionError(13, "no", "place")), StorageError)


def test_columns_align_and_cells_stay_on_their_line() -> None:
    assert table([("a", "b\nc"), ("long", "d")]) == "a     b c\nlong  d"
    assert one_line("abcdefgh", 6) == "abc..."


@given(st.text())
def test_what_a_command_forgot_to_escape_holds_nothing_hidden(text: str) -> None:
    shown = harmless(f"\x1b]0;x\x07{text}\x1b[2m", None)
    assert not any(is_hidden(one) for one in shown)
    assert harmless(shown, None) == shown
