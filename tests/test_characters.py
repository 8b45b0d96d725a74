"""Test invisible characters: always shown, and never confused with text spelling them."""

import json
import os
import re
import subprocess
import unicodedata
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, TypeAdapter, ValidationError

from tea.characters import (
    argument_lines,
    escaped,
    escaped_json,
    forbidden,
    in_sentence,
    is_hidden,
    numbered,
    numbered_in_source,
    on_one_line,
    shell_word,
)
from tea.components.operation import reasons, reasons_in_document
from tea.errors import TeaError, sentence, words_of
from tea.evaluate.report import plain as figures_plain
from tea.source.text import one_line as fault_line

UNSEEN = (
    "\x00\x07\x1b\x7f\x85\x9b\x9d\r\x0b\x0c\u00ad\u034f\u061c\u115f\u1160\u17b4\u180b\u180e\u200b\u200c\u200d\u200e\u200f"
    "\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060\u2064\u2066\u2067\u2068\u2069\u206f\u2800\u3164\ufe00\ufe0f\ufeff"
    "\u2d7f\U0001107f\U00013440\U00013441\U00016fe4\U0001bc9d\U0001da9b\U0001d159\uffa0\ufff9\U0001d173\U000e0001\U000e0041\U000e007f\U000e0100\ud800\udfff\ue000\U0010ffff"
)
TEXTS = st.text(st.characters() | st.sampled_from(UNSEEN) | st.sampled_from("<U+202E>\\x1b\n\t"))


@pytest.mark.parametrize("one", UNSEEN, ids=lambda one: f"U+{ord(one):04X}")
def test_what_cannot_be_seen_is_shown_as_its_number(one: str) -> None:
    assert is_hidden(one)
    assert escaped(f"a{one}b") == numbered(f"a{one}b") == f"a<U+{ord(one):04X}>b"


@pytest.mark.parametrize(
    "text", ["plain", "a\tb\n", "naïve 日本語 العربية ½ 🎉", r"\x1b \u202e", "a < b <U> <U+12>", "a\u00a0b"]
)
def test_what_is_seen_stays_as_it_is(text: str) -> None:
    assert escaped(text) == text


def test_a_text_put_on_one_line_loses_blanks_tabs_and_newlines_alone() -> None:
    assert on_one_line(" \n a \t b\n\nc\t") == "a b c"
    assert on_one_line("\r\na\r\n\r\nb\n\rc\r") == "a b \rc\r"
    odd = "\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029\u00a0\u3000"
    assert on_one_line(f"{odd}a{odd}\n{odd}") == f"{odd}a{odd} {odd}"


@pytest.mark.parametrize("odd", "\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029")
def test_words_of_errors_keep_what_is_no_blank(odd: str) -> None:
    foreign = f"{odd}it{odd} broke{odd}"
    error = words_of(ValueError(f" {foreign}\n"))
    assert error == f"ValueError: {foreign}"
    assert sentence(f"{foreign} \n") == f"{foreign}."
    assert str(TeaError(foreign, fix="mend it.")) == f"{foreign}. Fix: mend it."
    with pytest.raises(ValidationError) as told:
        TypeAdapter(dict[str, Literal["a", "b"]]).validate_python({"a": 1, f"{odd} b": 2})
    assert escaped_json(f"{odd} b") in reasons_in_document(told.value)
    with pytest.raises(ValidationError) as told:
        TypeAdapter(Annotated[str, AfterValidator(_refuse)]).validate_python(foreign)
    assert reasons(told.value) == f"value: Value error, {foreign}"
    assert fault_line(foreign, 80).count("?") == 3
    assert figures_plain(f" {foreign}\n") == foreign


def _refuse(text: str) -> str:
    raise ValueError(text)


def test_text_that_spells_a_number_is_told_from_the_character() -> None:
    assert escaped("<U+202E>") == "<U+003C>U+202E>"
    assert escaped("\u202e") == "<U+202E>"


@given(TEXTS)
def test_different_texts_are_shown_differently_and_nothing_is_lost(text: str) -> None:
    shown = escaped(text)
    assert re.sub(r"<U\+([0-9A-F]{4,6})>", lambda found: chr(int(found[1], 16)), shown) == text
    assert not any(map(is_hidden, shown))
    assert {unicodedata.category(one) for one in shown if one not in "\n\t"}.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})


@given(st.recursive(st.none() | st.integers() | TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)))
def test_json_is_shown_as_json_of_the_same_value(value: object) -> None:
    shown = escaped_json(value, indent=2)
    assert json.loads(shown) == json.loads(json.dumps(value))
    assert not any(map(is_hidden, shown))


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        (["\u05d0", 1, 2], 5),
        ({"a": "\u05d0 1", "b": [2]}, 6),
        (["\u0661", 2], 4),
        ("\u05d0 1, 2", 1),
        (["\u4e00", 1, 2], 1),
    ],
)
def test_values_that_a_terminal_would_turn_stand_one_a_line(value: object, lines: int) -> None:
    shown = argument_lines({"given": value, "to": "x"})
    assert shown.count("\n") == lines
    assert [line for line in shown.split("\n") if not line.startswith((" ", "]", "}"))][1:] == ['to: "x"']


def test_names_of_arguments_do_not_change_places_with_their_values() -> None:
    given_ = {
        "\u05d0": "\u05d1",
        "to": [{'\u05d2" ': "\u05d3", "b": "\u05d4"}, '"\u05d5": 1'],
        "c": {"\u05d6\x7f\U00010800": {}},
    }
    assert argument_lines(given_).splitlines() == [
        '"\\u05d0": "\u05d1"',
        "to: [",
        "  {",
        '    "\\u05d2\\" ": "\u05d3",',
        '    "b": "\u05d4"',
        "  },",
        '  "\\"\u05d5\\": 1"',
        "]",
        "c: {",
        '  "\\u05d6\\u007f\\ud802\\udc00": {}',
        "}",
    ]


@pytest.mark.parametrize(
    "line",
    [
        'pay("\u05d0", 1, 2, "\u05d1")',
        'x = "\u05d0", 1',
        "\u05d0 / \u05d1",
        '["\u0627", "\u0661"]',
        'f("\u05d0" + "\u05d1")',
    ],
)
def test_code_that_a_terminal_would_turn_is_shown_in_its_order(line: str) -> None:
    shown = numbered_in_source(f"# \u05d0\n{line}\n")
    assert shown.startswith("# \u05d0\n")
    assert shown.splitlines()[1].isascii()
    assert re.sub(r"<U\+([0-9A-F]{4})>", lambda one: chr(int(one[1], 16)), shown) == f"# \u05d0\n{line}\n"


@pytest.mark.parametrize(
    "line",
    [
        'x = "\u05e9\u05dc\u05d5\u05dd"',
        "# \u05d0, \u05d1 (12) - \u05d2.",
        '"\u05d0" if a else "\u05d1"',
        "\u4e00 / \u4e8c",
    ],
)
def test_words_that_keep_their_place_stay_as_they_are(line: str) -> None:
    assert numbered_in_source(line) == line


@given(st.dictionaries(TEXTS | st.just("to\ufe0f"), TEXTS))
def test_arguments_stand_one_a_line_whatever_they_hold(given_: dict[str, str]) -> None:
    lines = argument_lines(given_).split("\n") if given_ else []
    assert len(lines) == len(given_)
    assert not any(map(is_hidden, "".join(lines)))


@pytest.mark.parametrize("text", ["a\tb\n", "a\r\nb", "a\x0cb", "\u200b\ufeff\u2028", "ü 日本語"])
def test_a_source_may_hold_what_ends_lines_and_what_is_no_control(text: str) -> None:
    assert forbidden(text) is None


@pytest.mark.parametrize(
    "one", "\x00\x01\x07\x08\x0b\x0e\x1b\x1f\x7f\x80\x85\x9b\x9d\x9f\u061c\u200e\u200f\u202a\u202e\u2066\u2069\r"
)
def test_the_first_character_that_a_source_may_not_hold_is_named_with_its_place(one: str) -> None:
    assert forbidden(f"first\nab{one}c\u202e") == (2, 3, f"U+{ord(one):04X}")


@pytest.mark.parametrize("text", ["eve@evil.test", "https://é.test/a?b=c%20#d", "notes-1.txt", "tool:page@1.0.0#call"])
def test_a_plain_word_stands_in_a_sentence_as_it_is(text: str) -> None:
    assert in_sentence(text) == text


@pytest.mark.parametrize("text", ["", "a b", "a. b", 'a"', "a)", "a;", "a,b", "a\nb", "a\u202eb", "`allow`"])
def test_everything_else_stands_in_a_sentence_in_quotes(text: str) -> None:
    assert in_sentence(text)[0] == in_sentence(text)[-1] == '"'
    assert json.loads(in_sentence(text)) == text


@pytest.mark.parametrize(
    "text", ["plain", "a b", "it's `id` \\n", "a\nb`", "\x1b[2J", "é `\u202e", '$(id) "`', "\udcff`1"]
)
def test_a_word_of_a_shell_means_its_text_and_has_no_backticks(text: str) -> None:
    word = shell_word(text)
    assert (word.isprintable(), "`" in word) == (True, False)
    told = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True)
    assert told.stdout == os.fsencode(text)
