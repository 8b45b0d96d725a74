"""Test `tea tell`: a word to a run from another process, and its display."""

from .conftest import Tea

WAITER = '''
from tea import Agent, Context, Result, Task


class Waiter(Agent):
    """Hear until it is told to stop."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Wait."""
        heard = []
        while "stop" not in heard:
            heard += await ctx.messages()
            if task.text == "ask" and not heard:
                await ctx.person("Go on?")
            await ctx.sleep(0.01)
        return Result(answer=" ".join(heard))
'''

NASTY = "\x1b]0;owned\x07\u202eleft\nright"
SHOWN = "<U+001B>]0;owned<U+0007><U+202E>"


def test_a_run_hears_what_another_process_tells_it(tea: Tea) -> None:
    assert tea("register", tea.write("waiter.py", WAITER)).code == 0
    with tea.started("run", "-v", "go", "--agent", "waiter") as process:
        assert process.stderr is not None
        assert any("works on" in line for line in process.stderr)
        run = tea("runs", "--json").data["runs"][0]["run"]
        told = tea("tell", "last", NASTY)
        assert (told.code, told.out, told.err) == (0, f"told run {run}: message 1\n", "")
        assert tea("tell", run, "stop", "--json").data == {"schema": 1, "run": run, "number": 2, "held": True}
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert out == f"{SHOWN}left\nright stop\n"
    assert "told: left right" in err
    assert tea("replay", "last").out.startswith("identical: ")
    tree = tea("trace", "last").out
    assert tree.count("told: ") == tree.count(f"told: {SHOWN}left right") + tree.count("told: stop")
    assert "not taken over" not in tree
    tea("tell", "last", "more").refused(2, run, "has ended")
    assert tea("doctor").code == 0
    assert tea("runs", "gc", "--keep", "0").code == 0
    assert list(tea.folder.glob("traces/*/messages")) == []
    tea("tell", run, "more").refused(2, "No runs begin with")


def test_a_run_that_waits_shows_what_it_was_told_and_hears_it_when_it_goes_on(tea: Tea) -> None:
    assert tea("register", tea.write("waiter.py", WAITER)).code == 0
    assert tea("run", "ask", "--agent", "waiter").code == 6
    (question,) = tea("inbox", "--json").data["questions"]
    told = tea("tell", "last", NASTY)
    assert (told.code, told.err) == (0, f"nobody works on it now: tea resume {question['run']}\n")
    assert tea("tell", "last", "stop", "-q").err == ""
    shown = tea("trace", "last").out
    assert shown.endswith(f"told, and not taken over: {SHOWN}left right\ntold, and not taken over: stop\n")
    assert [one["number"] for one in tea("trace", "last", "--json").data["untaken"]] == [1, 2]
    assert tea("resume", "last", "-q", "--answer", f"{question['key']}=yes").out == f"{SHOWN}left\nright stop\n"
    assert tea("trace", "last", "--json").data["untaken"] == []


def test_a_message_that_cannot_be_is_refused(tea: Tea) -> None:
    tea("tell", "last", "words").refused(2, "There is no run yet")
    assert tea("register", tea.write("waiter.py", WAITER)).code == 0
    assert tea("run", "ask", "--agent", "waiter").code == 6
    tea("tell", "last", " ").refused(2, "is empty")
    tea("tell", "last", "x" * 65537).refused(2, "65,537 bytes", "65,536")
    assert tea("doctor").code == 0
    (run,) = tea.folder.glob("traces/*/journal.jsonl")
    assert tea("tell", "last", "words").code == 0
    (run.parent / "messages" / "00000001.json").write_text("half")
    doctor = tea("doctor")
    assert doctor.code == 2
    assert "00000001.json" in doctor.out
