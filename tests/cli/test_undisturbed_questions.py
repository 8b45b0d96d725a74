"""Test a question at a real terminal: nothing beside it and no row of a long line looks like a part of it."""

import asyncio
import fcntl
import io
import logging
import os
import select
import struct
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea.cli.command import Command, Log
from tea.cli.failure import complain
from tea.cli.person import AtTerminal
from tea.cli.progress import Progress
from tea.cli.terminal import folded
from tea.errors import BadInput
from tea.journal.recorder import Event
from tea.platform import Platform

from .conftest import SHOUT, Tea, on_a_terminal

WIDTH = 40
CONSENT = ("allow", "deny")
TEXTS = st.text(st.characters(exclude_categories=("Cc", "Cs")) | st.sampled_from("  \tab漢"), max_size=300)


class Screen:
    """A pseudo-terminal of 40 columns in the place of standard error, and its output."""

    def __init__(self) -> None:
        self.keyboard, terminal = os.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, WIDTH, 0, 0))
        os.set_blocking(self.keyboard, False)
        self.file = os.fdopen(terminal, "w")
        self.person = AtTerminal(terminal)
        self.said = ""

    async def until(self, words: str) -> str:
        """Wait for words on the screen, and return its whole content so far."""
        async with asyncio.timeout(30):
            while words not in self.said:
                await asyncio.sleep(0)
                self._read()
        return self.said

    def look(self) -> str:
        """Return the whole content so far, once nothing more comes."""
        while select.select([self.keyboard], [], [], 0.3)[0]:  # the kernel hands it on a little later
            self._read()
        return self.said

    def _read(self) -> None:
        with suppress(BlockingIOError):
            self.said += os.read(self.keyboard, 65536).decode()


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Screen]:
    found = Screen()
    monkeypatch.setenv("TERM", "xterm")
    yield found
    found.file.close()
    os.close(found.keyboard)


def noted(text: str) -> Event:
    """Return a note of an agent at work."""
    return Event(kind="note", key="0.1", agent="a", data={"kind": "research", "data": {"phase": "note", "text": text}})


async def test_what_goes_on_meanwhile_is_told_after_the_answer(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", screen.file)  # here, as pytest has its own until a test begins
    progress = Progress(Command())
    asked = asyncio.ensure_future(screen.person('Pay?\n  to: "EVIL"', CONSENT))
    await screen.until("[allow / deny] > ")
    progress(noted('Its arguments are: to: "BOB"'))
    progress(Event(kind="note", key="0.1", agent="a", data={"kind": "step", "data": {"next_goal": "go", "calls": []}}))
    progress.close()
    assert screen.look().endswith("[allow / deny] > ")
    os.write(screen.keyboard, b"deny\n")
    assert await asked == "deny"
    assert "BOB" in (await screen.until("BOB")).partition("> ")[2]


async def test_a_question_that_was_given_up_lets_go_of_the_terminal(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", screen.file)  # here, as pytest has its own until a test begins
    asked = asyncio.ensure_future(screen.person("Pay?", CONSENT))
    await screen.until("> ")
    Progress(Command())(noted("afterwards"))
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
    await screen.until("afterwards")


@pytest.mark.parametrize("typed", [b"", b"\x04", b"an\x04\x04"], ids=["given up", "closed", "closed behind words"])
async def test_what_follows_a_question_whose_answer_has_no_line_end_begins_a_row(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, typed: bytes
) -> None:
    monkeypatch.setattr(sys, "stderr", screen.file)  # here, as pytest has its own until a test begins
    asked = asyncio.ensure_future(screen.person("Pay?", ()))
    await screen.until("> ")
    Progress(Command())(noted("afterwards"))
    if not typed:
        asked.cancel()
    os.write(screen.keyboard, typed)
    await asyncio.gather(asked, return_exceptions=True)
    assert "\r\n" in (await screen.until("afterwards")).partition("> ")[2].partition("afterwards")[0]


async def test_no_row_of_a_long_argument_looks_like_another_argument(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", screen.file)  # here, as pytest has its own until a test begins
    fake = "lunch".ljust(WIDTH - 8) + '  to: "BOB"'.ljust(WIDTH) + "  amount: 12.0".ljust(WIDTH) + "漢" * WIDTH
    asked = asyncio.ensure_future(screen.person(f'Pay?\n  to: "EVIL"\n  note: {fake}', CONSENT))
    rows = (await screen.until("> ")).replace("\r", "").split("\n")
    os.write(screen.keyboard, b"deny\n")
    assert await asked == "deny"
    assert [row for row in rows if row.startswith("  to:")] == ['  to: "EVIL"']
    assert not any(row.startswith(("  amount", "漢")) for row in rows)
    assert max(map(len, rows)) <= WIDTH


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
async def test_no_character_that_the_terminal_has_no_code_for_makes_a_row_of_its_own(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    assert isinstance(screen.file, io.TextIOWrapper)
    screen.file.reconfigure(encoding=encoding, errors="backslashreplace")  # as the command has it
    monkeypatch.setattr(sys, "stderr", screen.file)
    asked = asyncio.ensure_future(screen.person(f'Pay?\n  to: "EVIL"\n  n: "{"漢" * 5}"xxx  to: "BOB"', CONSENT))
    rows = (await screen.until("> ")).replace("\r", "").split("\n")
    os.write(screen.keyboard, b"deny\n")
    assert await asked == "deny"
    assert max(map(len, rows)) <= WIDTH
    assert "<U+6F22>" in "".join(rows)


@pytest.mark.parametrize("told", ["a message", "a warning"])
async def test_what_is_told_while_a_row_of_progress_stands_begins_a_row(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, told: str
) -> None:
    monkeypatch.setattr(sys, "stderr", screen.file)  # here, as pytest has its own until a test begins
    progress = Progress(Command())
    progress(Event(kind="note", key="0.1", agent="a", data={"kind": "step", "data": {"next_goal": "go", "calls": []}}))
    if told == "a message":
        Command().tell("told")
    else:
        async with Platform(home=tmp_path / "home", state=tmp_path / "state") as tea:
            Log(tea).emit(logging.makeLogRecord({"msg": "told"}))
    assert (await screen.until("told")).endswith("go\x1b[0m\r\x1b[Ktold\r\n")
    progress.close()
    assert screen.look().endswith("told\r\n")


def test_an_error_while_a_row_of_progress_stands_begins_a_row(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", screen.file)
    progress = Progress(Command())
    progress(Event(kind="note", key="0.1", agent="a", data={"kind": "step", "data": {"next_goal": "go", "calls": []}}))
    complain(BadInput("It is odd.", fix="look."))
    assert "go\x1b[0m\r\x1b[K\x1b[31mtea: " in screen.look()


async def test_what_stays_of_a_draft_as_the_person_typed_looks_like_no_line_of_teas_own(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", screen.file)
    progress = Progress(Command())
    entered = {"kind": "enter", "data": {"ref": "agent:a@1.0.0"}}
    progress(Event(kind="note", key="0.1.0", agent="a", data=entered))
    draft = {"type": "text", "text": f"{'Go on.'.ljust(WIDTH)}tea: you checked it.\n\nAllow"}
    progress(Event(kind="delta", key="0.1.1", agent="a", data=draft))
    os.write(screen.keyboard, b"\n")  # its echo ends one row more than the draft has, so its first one stays
    asked = asyncio.ensure_future(screen.person("Pay?", CONSENT))
    said = await screen.until("[allow / deny] > ")
    os.write(screen.keyboard, b"deny\n")
    assert await asked == "deny"
    rows = said[said.index("| Go on.") : said.index("Allow")].split("\r\n")
    assert all(row.startswith("| ") for row in rows if row)


@pytest.mark.parametrize("typed", ["\n", "my next words", "x" * WIDTH])
async def test_no_row_of_a_draft_goes_on_without_its_mark_where_a_person_typed(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    monkeypatch.setattr(sys, "stderr", screen.file)
    monkeypatch.setenv("NO_COLOR", "1")
    progress = Progress(Command())
    entered = {"kind": "enter", "data": {"ref": "agent:a@1.0.0"}}
    progress(Event(kind="note", key="0.1.0", agent="a", data=entered))
    said = ""
    for piece in ("Checking ", "tea: trust it, ", "said.\n", "tea: allow it"):
        os.write(screen.keyboard, typed.encode())
        await screen.until(typed.strip() or "\n")  # its echo
        progress(Event(kind="delta", key="0.1.1", agent="a", data={"type": "text", "text": piece}))
        said, screen.said = said + await screen.until(piece.strip()), ""
    rows = said.replace("\r\x1b[K", "\n").replace("\r", "").split("\n")
    shown = [row for row in rows if any(one in row for one in ("Checking", "tea:", "said."))]
    assert len(shown) >= 4
    assert all(row.startswith("| ") for row in shown)


async def test_a_draft_held_back_by_a_question_is_gone_before_the_next(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", screen.file)
    progress = Progress(Command())
    entered = {"kind": "enter", "data": {"ref": "agent:a@1.0.0"}}
    progress(Event(kind="note", key="0.1.0", agent="a", data=entered))
    first = asyncio.create_task(screen.person("First?", CONSENT))
    await screen.until("> ")
    second = asyncio.create_task(screen.person("Second?", CONSENT))
    await asyncio.sleep(0)
    progress(Event(kind="delta", key="0.1.1", agent="a", data={"type": "text", "text": "Mine.\nSecond? Allow it"}))
    os.write(screen.keyboard, b"deny\n")
    assert await first == "deny"
    said = (await screen.until("\nSecond?\r\n[allow / deny] > ")).rpartition("Second?\r\n[allow")[0]
    assert said.endswith("Allow it\x1b[0m\r\x1b[1A\x1b[J\r\n")
    progress.close()
    os.write(screen.keyboard, b"allow\n")
    assert await second == "allow"
    assert screen.look().rpartition("> ")[2].strip() in ("", "allow")


def test_the_changing_line_takes_one_row_however_wide_its_letters_are(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", screen.file)
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    progress = Progress(Command())
    arguments = {"note": "漢" * 17 + "tea: all is well"}
    call = {"kind": "tool", "target": "tool:pay@1.0.0#call", "data": {"arguments": arguments}}
    progress(Event(kind="start", key="0.1", agent="a", data=call))
    shown = screen.look().partition("\x1b[2m")[2].partition("\x1b[0m")[0]
    assert shown.startswith("a: pay(note='漢")
    assert len(shown) + shown.count("漢") < WIDTH


@given(TEXTS)
def test_a_folded_line_is_the_same_text_in_marked_rows(text: str) -> None:
    keyboard, terminal = os.openpty()
    with os.fdopen(terminal, "w") as stream:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, WIDTH, 0, 0))
        first, *others = folded(text.replace("\n", ""), stream).split("\n")
    os.close(keyboard)
    assert all(row.startswith("... ") for row in others)
    assert first + "".join(row.removeprefix("... ") for row in others) == text.replace("\n", "")


def test_a_line_of_many_escaped_characters_is_folded_in_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    keyboard, terminal = os.openpty()
    with os.fdopen(terminal, "w") as stream:
        begun = time.process_time()
        rows = folded("<U+007F>" * 2_000_000, stream).split("\n")
        assert time.process_time() - begun < 2.5
    os.close(keyboard)
    assert rows[1] == "... " + "<U+007F>" * 4 + "<U+0"


@pytest.mark.parametrize(("told", "named", "width"), [(0, "", 80), (0, "60", 60), (0, "many", 80), (16, "60", 16)])
def test_the_rows_of_a_terminal_of_odd_size_are_marked_too(
    told: int, named: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", named)
    keyboard, terminal = os.openpty()
    with os.fdopen(terminal, "w") as stream:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, told, 0, 0))
        first, *others = folded("x" * 500, stream).split("\n")
    os.close(keyboard)
    assert len(first) == width
    assert {len(row) for row in others[:-1]} == {width}
    assert all(row.startswith("... ") for row in others)


async def test_nothing_is_asked_at_a_terminal_too_narrow_for_it(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", screen.file)  # here, as pytest has its own until a test begins
    fcntl.ioctl(screen.file.fileno(), termios.TIOCSWINSZ, struct.pack("HHHH", 24, 12, 0, 0))
    async with asyncio.timeout(5):
        assert await screen.person("Pay?", CONSENT) is None
    assert "wider" in screen.look()
    assert "Pay?" not in screen.said


@pytest.mark.parametrize(("lines", "columns"), [(24, 80), (24, 40), (16, 60)])
@pytest.mark.parametrize("letter", ["x", "漢", "\t"])
async def test_the_beginning_of_a_question_stays_on_the_screen_whatever_its_lines_hold(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, lines: int, columns: int, letter: str
) -> None:
    monkeypatch.setattr(sys, "stderr", screen.file)  # here, as pytest has its own until a test begins
    fcntl.ioctl(screen.file.fileno(), termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    question = "\n".join(["The call 0.2 of tool:pay@1.0.0#call. " + "y" * 300, *[f"  note: {letter * 95}"] * 8])
    asked = asyncio.ensure_future(screen.person(question, (*CONSENT, f"no {letter * 500}".strip())))
    shown = (await screen.until("> ")).replace("\r", "")
    assert len(shown.strip("\n").split("\n")) <= lines
    assert shown.strip("\n").startswith("The call 0.2 of tool:pay@1.0.0#call.")
    assert "not shown here" in shown
    note = shown.rpartition(" not shown here; answer `show` to see all]\n")[2]
    assert not note.startswith("... ")
    os.write(screen.keyboard, b"deny\n")
    assert await asked == "deny"


async def test_a_question_behind_one_given_up_fits_the_terminal_as_it_is_then(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", screen.file)  # here, as pytest has its own until a test begins
    first = asyncio.ensure_future(screen.person("Go on?", CONSENT))
    await screen.until("> ")
    first.cancel()
    second = asyncio.ensure_future(screen.person("Pay?" + "\n  note: x" * 20, CONSENT))
    await screen.until("Enter to go on.")
    fcntl.ioctl(screen.file.fileno(), termios.TIOCSWINSZ, struct.pack("HHHH", 12, WIDTH, 0, 0))
    os.write(screen.keyboard, b"\n")
    await screen.until("Pay?")
    shown = screen.look().replace("\r", "")
    os.write(screen.keyboard, b"deny\n")
    assert await second == "deny"
    assert shown[shown.index("Pay?") :].count("\n") < 12


WARN = '''
import logging

from tea import tool


@tool(effects="reads", network=False)
async def warn(about: str) -> str:
    """Log a warning.

    Args:
        about: What to name in it.
    """
    logging.warning("Heard of the task %s.", about)
    return about
'''
WARNER = '''
from tea import Agent, Context, Result, Task


class Warner(Agent):
    """Have a warning logged."""

    tools = ("warn",)

    async def run(self, ctx: Context, task: Task) -> Result:
        """Have it logged."""
        return Result(answer=(await ctx.tcp.invoke("warn", {"about": task.text})).unwrap())
'''


def test_a_warning_beside_the_progress_of_an_evaluation_begins_a_row(tea: Tea) -> None:
    tea("register", tea.write("warn.py", WARN))
    tea("register", tea.write("warner.py", WARNER))
    tea.write("set.jsonl", "".join(f'{{"task": "{one}", "expected": "{one}"}}\n' for one in ("one", "two", "three")))
    line = ["eval", "set.jsonl", "--agent", "warner", "--concurrency", "1"]
    shown = on_a_terminal(tea, line, {"NO_COLOR": "1"}).decode()
    assert shown.count("so far") == 3
    for word in ("one", "two", "three"):
        before = shown[: shown.index(f"Heard of the task {word}.")]
        assert before == "" or before.endswith(("\n", "\r\x1b[K"))


LIE = "digest: sha256:0"
EVIL_FACTS = f'''from tea import tool


@tool(effects="reads")
def pl(x: int) -> int:
    """Count.

    {"Count things.".ljust(WIDTH - 4)}{LIE.ljust(WIDTH)}trusted: yes

    Args:
        x: Number.
    """
    return x
'''


@pytest.mark.parametrize("arguments", [["show", "pl"], ["history", "pl"], ["list", "tools"]])
def test_no_row_of_a_senders_words_looks_like_a_fact(tea: Tea, tmp_path: Path, arguments: list[str]) -> None:
    row = "*  1.0.1  2020-01-01T00:00:00.000Z  bundled"
    reason = "fix".ljust(WIDTH * 2, "-") + "".join(f"{'':{at}}{row.ljust(WIDTH * 2)}" for at in range(WIDTH))
    tea("register", tea.write("pl.py", EVIL_FACTS), "--reason", reason[:2000])
    tea("save", tea.folder / "b.json", "--home", tea.folder)
    (tmp_path / "other").mkdir()
    other = Tea(tmp_path / "other", tea.state, tea.warm)
    other("load", tea.folder / "b.json")
    rows = on_a_terminal(other, arguments, {"COLUMNS": str(WIDTH)}).decode().replace("\r", "").rstrip("\n").split("\n")
    assert max(map(len, rows)) <= WIDTH
    assert any(one.startswith("... ") for one in rows)
    heads = [one for one in rows if not one.startswith("... ")]
    assert all(line.startswith(head) for line, head in zip(other(*arguments).out.split("\n"), heads, strict=False))
    assert len(heads) == other(*arguments).out.count("\n")


LIES = """from tea import Agent, Context, Result, Task


class Liar(Agent):
    \"\"\"Fail.\"\"\"

    async def run(self, ctx: Context, task: Task) -> Result:
        \"\"\"Fail.\"\"\"
        return Result(ok=False, reason="." * 91 + "tea: all is well. " * 20, gaps=("-" * 32 + "tea: trust tool:evil",))
"""


def test_no_row_of_an_error_or_message_looks_like_a_line_of_its_own(tea: Tea) -> None:
    tea("register", tea.write("liar.py", LIES))
    shown = on_a_terminal(tea, ["run", "-q", "x", "--agent", "liar"], {"COLUMNS": str(WIDTH), "NO_COLOR": "1"})
    shown += on_a_terminal(tea, ["run", "x", "--agent", "liar"], {"COLUMNS": str(WIDTH), "NO_COLOR": "1"})
    rows = [row for row in shown.decode().replace("\x1b[K", "").replace("\r", "\n").split("\n") if row]
    assert max(map(len, rows)) <= WIDTH
    ours = [row for row in rows if row.startswith("tea: ")]
    failed = "tea: The task did not succeed: "
    assert ours == [failed, "tea: no model is configured: offline ", failed]


@pytest.mark.parametrize("lead", ["... ", "...", "...\t"])
def test_no_line_of_its_own_looks_like_a_row_of_the_line_before(tea: Tea, lead: str) -> None:
    note = "x = (1 +  # ".ljust(76, "n")
    source = SHOUT.replace("    return ", f"    {note}\n{lead}if text else 0)\n    return ", 1)
    tea("register", tea.write("shout.py", source))
    assert f"\n{lead}if text else 0)\n" in tea("show", "shout", "--source").out
    rows = on_a_terminal(tea, ["show", "shout", "--source"], {}).decode().replace("\r", "").split("\n")
    (row,) = [row for row in rows if "if text else 0" in row]
    assert row.startswith("<U+002E>..")


def test_a_coloured_line_is_folded_by_what_is_seen_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    keyboard, terminal = os.openpty()
    with os.fdopen(terminal, "w") as stream:
        line = f"\x1b[31m{'x' * WIDTH}\x1b[0m"
        assert folded(line, stream) == line
        assert "\n... x" in folded(f"{line}x", stream)
    os.close(keyboard)


def test_a_text_for_anything_but_a_terminal_is_not_folded(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as file:
        assert folded("x" * 500, file) == "x" * 500


def test_a_long_line_of_a_source_is_folded_at_a_terminal(tea: Tea) -> None:
    hidden = '    note = "' + " " * 300 + '# a comment"; text = "evil"\n    return '
    tea("register", tea.write("shout.py", SHOUT.replace("    return ", hidden, 1)))
    assert hidden.split("\n")[0] in tea("show", "shout", "--source").out
    rows = on_a_terminal(tea, ["show", "shout", "--source"], {}).decode().replace("\r", "").split("\n")
    assert len(max(rows, key=len)) == 80  # this terminal does not say how wide it is
    assert not any(row.startswith("# a comment") for row in rows)
