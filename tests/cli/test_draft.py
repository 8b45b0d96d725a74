"""The draft on a terminal: it is shown piece by piece, and can be taken away again."""

import os
import re
import time
from fcntl import ioctl
from io import StringIO
from struct import pack
from termios import TIOCSWINSZ

import pytest

from tea.cli.draft import Draft


class Terminal(StringIO):
    """A terminal of 20 columns and 5 lines."""

    def isatty(self) -> bool:
        return True

    def said(self) -> str:
        """Return the output since the last look, without rows written anew."""
        said = re.sub(r"[^\n]*\r\x1b\[K", "", self.getvalue())
        self.seek(0)
        self.truncate()
        return said


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    screen = Terminal()
    for name, value in {"TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "20", "LINES": "5"}.items():
        monkeypatch.setenv(name, value)
    return screen


def test_pieces_are_shown_as_they_come_and_taken_away_line_by_line(terminal: Terminal) -> None:
    draft = Draft(terminal)
    for piece in ("  One ", "line,\n", "and " + "x" * 20, "日本"):
        assert draft.add(piece)
    assert terminal.said() == "| One line,\n| and " + "x" * 14 + "\n| " + "x" * 6 + "日本"
    draft.hide()
    assert terminal.said() == "\r\x1b[2A\x1b[J"
    draft.hide()
    assert terminal.said() == ""


def test_what_the_terminal_has_no_code_for_is_measured_as_it_is_written(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Terminal, "encoding", "latin-1", raising=False)
    draft = Draft(terminal)
    draft.add("\u65e5" * 5)
    assert terminal.said().replace("\n| ", "") == "| " + "<U+65E5>" * 5
    draft.hide()
    assert terminal.said() == "\r\x1b[2A\x1b[J"


def test_its_own_terminal_is_measured_and_not_standard_output_or_the_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {"TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "20", "LINES": "5"}.items():
        monkeypatch.setenv(name, value)
    reader, writer = os.openpty()
    ioctl(writer, TIOCSWINSZ, pack("HHHH", 30, 60, 0, 0))
    with open(reader, "rb", 0) as screen, open(writer, "w") as stream:
        draft = Draft(stream)
        draft.add("a" * 130)
        assert screen.read(1000) == b"\r\x1b[K" + b"\r\n".join(
            (b"| " + b"a" * 58, b"| " + b"a" * 58, b"| " + b"a" * 14)
        )
        draft.hide()
        assert screen.read(1000) == b"\r\x1b[2A\x1b[J"


def test_what_was_hidden_is_shown_whole_with_the_next_piece_and_what_was_dropped_is_not(terminal: Terminal) -> None:
    draft = Draft(terminal)
    draft.add("One, ")
    draft.hide()
    terminal.said()
    draft.add("two")
    assert terminal.said() == "| One, two"
    draft.drop()
    terminal.said()
    draft.add("three")
    assert terminal.said() == "| three"


@pytest.mark.parametrize("hostile", ["a\x1b[2Jb", "a\x1b]0;owned\x07b", "a\x9b31mb", "a\u202eb", "a\x08\x00b"])
def test_no_control_character_is_shown_however_it_is_cut(terminal: Terminal, hostile: str) -> None:
    draft = Draft(terminal)
    for piece in hostile:
        draft.add(piece)
    assert terminal.said() == "| ab"


def test_a_long_line_costs_no_more_with_each_piece(terminal: Terminal) -> None:
    draft = Draft(terminal)
    begun = time.process_time()
    for piece in ["a word "] * 20_000 + ["\x1b]"] + ["a word "] * 20_000:
        draft.add(piece)
    for _ in range(1_000):
        draft.hide()
        draft.add("b")
    assert time.process_time() - begun < 10
    assert "\x1b]" not in terminal.said()


def test_a_record_is_no_words_for_a_person(terminal: Terminal) -> None:
    assert not Draft(terminal).add(' {"thinking": "so"}')
    assert not Draft(terminal).add("```json\n{}")
    assert terminal.said() == ""


@pytest.mark.parametrize("columns", ["1", "3", "12"])
def test_nothing_is_drafted_where_a_mark_leaves_little_room(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert not Draft(terminal).add("\u65e5\u672c")
    assert terminal.said() == ""


def test_what_does_not_fit_the_screen_stays_and_is_marked(terminal: Terminal) -> None:
    draft = Draft(terminal)
    draft.add("line\n" * 9)
    terminal.said()
    draft.hide()
    assert terminal.said() == "\n[what stands above was a draft]\n"


@pytest.mark.parametrize(
    "text",
    [
        "\u200b" * 60 + "a",
        "\u2060\ufe0f\u200d\u00ad" * 20 + "a",
        "a" + "\u0e31\u20dd\u0301" * 10,
        "\u0915\u093e" * 15,
        "\u1112\u1161\u11ab" * 10,
        "\U0001f44d\U0001f3fd" * 10,
        "\u65e5" * 11,
        "a" * 19 + "\u65e5",
        "\uff21" * 10 + "b",
        "\u2014" * 11,
        "\u4dc0" * 11,
    ],
)
def test_no_terminal_wraps_a_draft_so_no_line_above_is_erased_and_none_of_it_stays(
    terminal: Terminal, text: str
) -> None:
    draft = Draft(terminal)
    draft.add(text)
    *rows, last = terminal.said().split("\n")
    assert (
        max(len(row) + sum(one in "\u65e5\uff21\u2014\u4dc0\U0001f44d" for one in row) for row in (*rows, last)) <= 20
    )
    draft.hide()
    assert terminal.said() == (f"\r\x1b[{len(rows)}A\x1b[J" if rows else "\r\x1b[J")


def test_what_a_terminal_of_another_width_wraps_anew_stays(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = Draft(terminal)
    draft.add("a" * 50)
    terminal.said()
    monkeypatch.setenv("COLUMNS", "90")
    draft.hide()
    assert terminal.said() == "\n[what stands above was a draft]\n"
