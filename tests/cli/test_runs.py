"""Test commands about runs: work on tasks, and looks at journals."""

import json
import os
import re
import select
import signal
from pathlib import Path

import pytest

from .conftest import COUNTER, PAY, PAYER, RUDE, SHOUT, SLOW, Tea, on_a_terminal

ASKS = '''
from tea import Agent, Context, Result, Task


class Asks(Agent):
    """Ask a person."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask."""
        return Result(answer=await ctx.person("Which?"))
'''

SEER = '''
from tea import Agent, Context, Result, Task


class Seer(Agent):
    """Tell which tools its task names."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Tell at once."""
        return Result(answer=f"{task.tools} {list(task.also)}")
'''


SCRIBE = '''
from tea import Agent, Context, Result, Task


class Scribe(Agent):
    """Write some files, and a report."""

    environments = ("workspace",)

    async def run(self, ctx: Context, task: Task) -> Result:
        """Write."""
        for name in task.text.split():
            await ctx.ecp.invoke("workspace#write", {"name": name, "text": "x"})
        return Result(answer="written", report="report.md" if "report.md" in task.text else None)
'''


def test_a_run_from_its_task_file_to_its_replay(stocked: Tea) -> None:
    task = stocked.write("task.json", json.dumps({"task": "0", "agent": "slow", "session": "monday"}))
    done = stocked("run", task, "-v")
    assert (done.code, done.out) == (0, "awake\n")
    assert "works on 0" in done.err
    assert "trace: " in done.err
    assert "cost: " in done.err
    assert "\x1b" not in done.err
    run = stocked("runs", "--json").data["runs"][0]
    assert (run["status"], run["task"], run["session"]) == ("done", "0", "monday")
    assert run["run"] in stocked("runs").out
    assert stocked("replay", run["run"][:20]).out.startswith("identical: ")
    assert stocked("replay", "last", "--json").data["verdict"] == "identical"
    tree = stocked("trace", "last")
    assert "agent:slow@1.0.0" in tree.out
    assert "sleep" in tree.out
    assert "done: awake" in tree.out
    assert stocked("trace", "--json").data["records"][0]["kind"] == "run"
    stocked("resume", "last").refused(2, "ended")


def test_answers_go_to_stdout_and_nothing_else_does_when_quiet(stocked: Tea) -> None:
    quiet = stocked("run", "0", "--agent", "slow", "-q")
    assert (quiet.code, quiet.out, quiet.err) == (0, "awake\n", "")
    program = stocked("run", "-", "--agent", "slow", "--json", "-q", stdin=b"0\n")
    assert program.data["answer"] == "awake"
    assert program.data["error"] is None
    assert program.err == ""
    from_json = stocked("run", "-", "-q", stdin=b'{"task": "0", "agent": "slow"}')
    assert (from_json.code, from_json.out) == (0, "awake\n")


def test_a_default_offline_model_is_told_once(stocked: Tea) -> None:
    assert stocked("run", "0", "--agent", "slow").err.count("no model is configured") == 1
    assert "no model" not in stocked("run", "0", "--agent", "slow", "--model", "offline").err


def test_no_escape_sequence_of_an_answer_reaches_anyone(stocked: Tea) -> None:
    said = stocked("run", "ok", "--agent", "rude")
    assert said.out == (
        "<U+001B>]0;owned<U+0007><U+001B>[2Jwords<U+009B>31m <U+202E>back<U+000D>\nline\ttab<U+0000><U+0008>\n"
    )
    failed = stocked("run", "fail", "--agent", "rude", "--use", "agent:rude=1.0.0")
    assert failed.code == 1
    steps = stocked("trace", "last", "--steps")
    everything = said.out + said.err + failed.out + failed.err + steps.out + stocked("trace", "-v").out
    assert not {one for one in everything if ord(one) < 32} - {"\n", "\t"}
    assert not set(everything) & set("\x7f\x9b\u202e")
    raw = stocked("run", "fail", "--agent", "rude", "--json")
    assert (raw.code, raw.data["error"]["code"], raw.data["ok"]) == (1, "CallFailed", False)
    assert "\x1b]0;owned" in raw.data["answer"]
    assert "\x1b" not in raw.out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_how_to_go_on_and_does(tea: Tea, number: signal.Signals) -> None:
    tea("register", tea.write("slow.py", SLOW.replace("float(task.text)", "2.0")))
    with tea.started("run", "sleep", "--agent", "slow", "-v") as process:
        assert process.stderr is not None
        assert any("works on" in line for line in process.stderr)
        process.send_signal(number)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    (run,) = [one["run"] for one in tea("runs", "--json").data["runs"]]
    assert err.splitlines()[-1].endswith(f"Fix: `tea resume {run}` goes on with it.")
    tea("replay", run).refused(2, "resume")
    resumed = tea("resume", run)
    assert (resumed.code, resumed.out) == (0, "awake\n"), resumed.err


def test_what_a_run_of_another_home_names_for_later_leads_to_that_home(tea: Tea) -> None:
    home = tea.folder / "other home"
    tea("register", tea.write("slow.py", SLOW), "--home", home)
    ended = tea("run", "0", "--agent", "slow", "--home", home)
    (run,) = [one["run"] for one in tea("runs", "--home", home, "--json").data["runs"]]
    assert f"trace: tea trace {run} --home '{home}' (" in ended.err
    tea("register", tea.write("rude.py", RUDE), "--home", home)
    failed = tea("run", "fail", "--agent", "rude", "--home", home)
    assert f" --home '{home}'` shows" in failed.err
    with tea.started("run", "60", "--agent", "slow", "-v", "--home", home) as process:
        assert process.stderr is not None
        assert any("works on" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert err.splitlines()[-1].endswith(f" --home '{home}'` goes on with it.")


def test_what_is_said_of_a_waiting_run_of_another_home_leads_to_its_questions(tea: Tea) -> None:
    home = tea.folder / "other home"
    tea("register", tea.write("asks.py", ASKS), "--home", home)
    assert tea("run", "x", "--agent", "asks", "--home", home).code == 6
    assert f"tea inbox --home '{home}'" in tea("runs", "--home", home).err
    traced = tea("trace", "--home", home).err.strip()
    assert traced.startswith("it waits for an answer: tea inbox ")
    assert traced.endswith(f" --home '{home}'")


def test_a_time_budget_ends_a_run_with_5(stocked: Tea) -> None:
    late = stocked("run", "30", "--agent", "slow", "--timeout", "0.2", "--json")
    assert (late.code, late.data["status"], late.data["error"]["code"]) == (5, "exhausted", "BudgetExceeded")


def test_a_replay_with_other_code_exits_7(tea: Tea) -> None:
    file = tea.write("slow.py", SLOW)
    tea("register", file)
    tea("run", "0", "--agent", "slow")
    file.write_text(SLOW.replace("await ctx.sleep(float(task.text))", "await ctx.now()"))
    assert tea("update", "agent:slow", file, "--version", "1.1.0").code == 0
    assert tea("replay", "last").code == 0
    tea("replay", "last", "--use", "agent:slow=1.1.0").refused(7, "record")
    assert tea("replay", "last", "--use", "agent:slow=1.1.0", "--json").data["error"]["code"] == "Diverged"


def test_steps_are_found_by_session_task_index_and_id(tea: Tea) -> None:
    tea("register", tea.write("rude.py", RUDE))
    task = tea.write("t.json", json.dumps({"task": "x", "agent": "rude", "session": "s1", "id": "t1"}))
    assert tea("run", task).code == 0
    (step,) = tea("trace", "--session", "s1", "--json").data["steps"]
    for query in (["--task", "t1"], ["--index", "0"], ["--id", step["id"]], ["last", "--id", step["id"]]):
        assert tea("trace", *query, "--json").data["steps"] == [step]
    assert tea("trace", "--task", "t2").out == "There is no such step.\n"


HOSTILE: dict[str, bytes] = {
    "empty": b"",
    "no object": b"[1, 2]",
    "unknown key": b'{"task": "x", "tsak": 1}',
    "twice": b'{"task": "x", "task": "y"}',
    "NaN": b'{"task": "x", "budget": {"usd": NaN}}',
    "negative": b'{"task": "x", "budget": {"steps": -1}}',
    "deep": b'{"task": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "huge": b'{"task": "' + b"x" * 2**21 + b'"}',
    "binary": b"\x00\xff\x1b]0;x\x07",
    "NUL": b'{"task": "a\\u0000b"}',
    "half": b'{"task": "\\ud800"}',
    "digits": b'{"task": "x", "budget": {"steps": ' + b"9" * 5000 + b"}}",
    "no words": b'{"task": "  "}',
    "escape": b'{"task": "x", "files": ["../secret"]}',
    "missing file": b'{"task": "x", "files": ["missing.csv"]}',
    "unknown agent": b'{"task": "x", "agent": "nobody"}',
    "unknown version": b'{"task": "x", "agent": "slow", "use": {"agent:slow": "9.9.9"}}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_task_files_are_refused_and_nothing_is_written(stocked: Tea, name: str) -> None:
    (stocked.folder.parent / "secret").write_text("secret")
    task = stocked.write("hostile.json", HOSTILE[name])
    before = stocked.files()
    stocked("run", task).refused(2)
    assert stocked.files() == before


def test_what_is_no_task_file_at_all(stocked: Tea) -> None:
    before = stocked.files()
    os.mkfifo(stocked.folder / "pipe.json")
    (stocked.folder / "folder.json").mkdir()
    stocked("run", "pipe.json").refused(2, "pipe.json")
    stocked("run", "folder.json").refused(2, "folder.json")
    stocked("run", "missing.json").refused(2, "missing.json")
    (stocked.folder / "pipe.json").unlink()
    (stocked.folder / "folder.json").rmdir()
    stocked("run", "-").refused(2, "empty")
    stocked("run", "-", stdin=b"\xff\xfe").refused(2, "UTF-8")
    assert stocked.files() == before


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["run", "x", "--file", "missing.csv"], 2, ["missing.csv"]),
        (["run", "x", "--file", "."], 2, ["is a folder", "corpus add"]),
        (["run", "x", "--use", "slow"], 2, ["kind:name=VERSION"]),
        (["run", "x", "--use", "agent:slow=1", "--use", "agent:slow=2"], 2, ["twice"]),
        (["run", "x", "--max-steps", "0"], 2, ["steps"]),
        (["run", "x", "--timeout", "nan"], 2, []),
        (["run", "x", "--session", "../up"], 2, ["'../up' is not a name of a session."]),
        (["call", "shout", "text=x", "--session", "../up"], 2, ["'../up' is not a name of a session."]),
        (["state", "counter", "--session", "../up"], 2, ["'../up' is not a name of a session."]),
        (["state", "slow", "--session", "../up"], 2, ["'../up' is not a name of a session."]),
        (["run", "x", "--model", "gpt"], 4, ["gpt"]),
        (["trace", "zzz"], 2, ["zzz"]),
        (["trace", "../../etc"], 2, []),
        (["resume", "last", "--answer", "yes"], 2, ["KEY"]),
        (["replay", "nowhere"], 2, ["nowhere"]),
        (["runs", "--limit", "0"], 2, ["limit"]),
    ],
)
def test_bad_arguments_about_runs_write_nothing(
    stocked: Tea, arguments: list[str], code: int, words: list[str]
) -> None:
    before = stocked.files()
    stocked(*arguments).refused(code, *words)
    assert stocked.files() == before


def test_a_damaged_journal_is_named_and_the_others_are_listed(tea: Tea) -> None:
    tea("register", tea.write("slow.py", SLOW))
    tea("run", "0", "--agent", "slow")
    (journal,) = Path(tea.folder).glob("traces/*/journal.jsonl")
    journal.write_bytes(journal.read_bytes().replace(b"awake", b"aware", 1))
    assert tea("runs", "--json").data["runs"][0]["status"] == "damaged"
    assert tea("doctor").code == 2
    tea("replay", "last").refused(2)


def test_the_bundled_planner_answers_offline(tea: Tea) -> None:
    data = tea.write(
        "cities.csv", "city,country,people\nOslo,Norway,700000\nBergen,Norway,290000\nRome,Italy,2800000\n"
    )
    sum_up = tea("run", "What is 12*7?")
    assert (sum_up.code, sum_up.out) == (0, "84\n"), sum_up.err
    count = tea("run", "How many rows does cities.csv have?", "--file", data)
    assert (count.code, count.out) == (0, "3\n"), count.err
    assert tea("replay", "last").code == 0


def test_a_killed_run_asks_before_it_repeats_what_may_have_happened(tea: Tea) -> None:
    tea("register", tea.write("pay.py", PAY))
    tea("register", tea.write("payer.py", PAYER))
    os.mkfifo(tea.folder / "began")
    descriptor = os.open(tea.folder / "began", os.O_RDWR)
    with tea.started("run", "pay", "--agent", "payer", "--allow", "pay") as process:
        began, _, _ = select.select([descriptor], [], [], 30)
        process.kill()
        assert began, process.communicate()
    os.close(descriptor)
    asked = tea("resume", "last", "--json")
    assert (asked.code, asked.data["error"]["code"]) == (6, "ApprovalNeeded")
    (key,) = re.findall(r"--answer (\S+)=allow", asked.data["error"]["fix"])
    tea("resume", "last", "-q").refused(6, f"--answer {key}=allow")
    before = tea.files()
    tea("resume", "last", "--answer", f"{key}=allow", "--answer", "0.99=allow").refused(2, "'0.99'", f"answer {key}.")
    assert tea.files() == before
    answered = tea("resume", "last", "--answer", f"{key}=paid already", "-q")
    assert (answered.code, answered.out) == (0, "paid already\n"), answered.err
    assert tea("replay", "last").code == 0


def test_progress_is_one_changing_line_on_a_terminal(stocked: Tea) -> None:
    shown = on_a_terminal(stocked, ["run", "0", "--agent", "slow"], {}).decode()
    assert "works on 0" in shown
    assert "awake" in shown
    dumb = {"TERM": "dumb"}
    plain = on_a_terminal(stocked, ["run", "0", "--agent", "slow"], dumb).decode()
    assert "works on 0" not in plain
    verbose = on_a_terminal(stocked, ["run", "0", "--agent", "slow", "-v"], dumb).decode()
    assert "works on 0" in verbose
    assert "\x1b" not in plain + verbose


def test_a_question_of_one_line_is_answered_in_at_most_five(tea: Tea) -> None:
    data = tea.write("cities.csv", "city,people\nOslo,700000\nRome,2800000\n")
    for question in (["What is 12*7?"], ["How many rows does cities.csv have?", "--file", data]):
        said = tea("run", *question)
        assert (said.code, len(said.out.splitlines())) == (0, 1)
        told = said.err.splitlines()
        assert len(told) <= 4, told
        assert told[0] == "tea: no model is configured: offline solvers answer, see `tea doctor`."
        run = tea("runs", "--json").data["runs"][0]["run"]
        assert told[-1].startswith(f"trace: tea trace {run} (")
        assert any(line.startswith("evidence: cities.csv (") for line in told) is ("--file" in question)
        assert len(tea("run", *question, "-v").err.splitlines()) > 10


def test_a_long_name_of_a_source_takes_nothing_of_its_detail(tea: Tea) -> None:
    name = f"{'long' * 40}.csv"
    said = tea("run", f"How many rows does {name} have?", "--file", tea.write(name, "city\nOslo\n"), "-v")
    assert any(line.startswith(f"evidence: {name} (SQL SELECT count") for line in said.err.splitlines())


def test_the_files_that_a_run_wrote_are_named_in_one_line(tea: Tea) -> None:
    assert tea("register", tea.write("scribe.py", SCRIBE)).code == 0
    given = tea.write("given.txt", "given")
    run = tea("run", "b.csv notes/a.md .hidden", "--agent", "scribe", "--file", given)
    (line,) = [one for one in run.err.splitlines() if one.startswith("files: ")]
    assert line.startswith("files: b.csv, notes/a.md, in ")
    assert line.endswith("/workspace")
    many = " ".join(f"{n}.txt" for n in range(10))
    run = tea("run", f"report.md {many}", "--agent", "scribe")
    (line,) = [one for one in run.err.splitlines() if one.startswith("report: ")]
    assert "; files: 0.txt, " in line
    assert "7.txt, 2 more, in " in line
    assert tea("run", "report.md", "--agent", "scribe", "--json").data["files"] == ["report.md"]


def test_a_tool_is_offered_by_its_name_beside_the_agents_own(tea: Tea) -> None:
    tea("register", tea.write("seer.py", SEER))
    tea("register", tea.write("shout.py", SHOUT))
    assert tea("run", "x", "--agent", "seer").out == "None []\n"
    assert tea("run", "x", "--agent", "seer", "--tool", "shout", "--tool", "calculator").out == (
        "None ['shout', 'calculator']\n"
    )
    task = tea.write("t.json", json.dumps({"task": "x", "agent": "seer", "also": ["calculator"], "tools": ["todo"]}))
    assert tea("run", task, "--tool", "shout").out == "('todo',) ['calculator', 'shout']\n"
    before = tea.files()
    tea("run", "x", "--agent", "seer", "--tool", "shuot").refused(2, "did you mean 'shout'")
    tea("run", "x", "--agent", "seer", "--tool", "*").refused(2, "'*' is not a name for a tool")
    tea("run", "x", "--agent", "seer", "--allow", "shuot").refused(2, "did you mean 'shout'")
    assert tea.files() == before


def test_consent_is_asked_once_and_may_be_given_with_the_task(tea: Tea) -> None:
    source = PAY.replace("asyncio.sleep(30)", "asyncio.sleep(0)").replace('    Path("began").write_text("yes")\n', "")
    tea("register", tea.write("pay.py", source.replace("from pathlib import Path\n", "")))
    tea("register", tea.write("payer.py", PAYER))
    assert tea("run", "pay", "--agent", "payer", "--allow", "pay", "-q").out == "paid\n"
    asked = tea("run", "pay", "--agent", "payer", "--json")
    assert (asked.code, asked.data["error"]["code"]) == (6, "ApprovalNeeded")
    assert "'irreversible'" in asked.data["error"]["problem"]
    (key,) = re.findall(r"--answer (\S+)=allow", asked.data["error"]["fix"])
    resumed = tea("resume", "last", "--answer", f"{key}=allow", "-q")
    assert (resumed.code, resumed.out) == (0, "paid\n"), resumed.err
    assert tea("replay", "last").code == 0
    assert tea("run", "pay", "--agent", "payer", "-q").out == "paid\n"


def test_registering_says_how_effects_would_be_declared(tea: Tea) -> None:
    silent = SHOUT.replace('@tool(effects="reads", idempotent=True, network=False)', "@tool")
    told = tea("register", tea.write("shout.py", silent))
    assert told.err == (
        "note: shout declares no effects; if it changes nothing, "
        '@tool(effects="reads", idempotent=True) lets it run beside others and be retried; if it acts on others or '
        'cannot be undone, @tool(effects="external") has a person asked before its first call.\n'
    )
    assert tea("register", tea.write("other.py", SHOUT.replace("shout", "other"))).err == ""
    acts = COUNTER.replace('@action(effects="writes", network=False)', "@action")
    assert "counter.add declares no effects" in tea("register", tea.write("counter.py", acts)).err
    assert tea("update", "counter", tea.write("counter.py", COUNTER)).err == ""
    assert tea("register", tea.write("third.py", silent.replace("shout", "third")), "--json").err == ""


def test_a_wrong_or_missing_declaration_of_a_tool_names_what_is_allowed(tea: Tea) -> None:
    wrong = SHOUT.replace('effects="reads"', 'effects=["external"]')
    allowed = '"effects" is one of: reads, writes, external, irreversible.'
    tea("register", tea.write("shout.py", wrong)).refused(2, "cannot be declared as ['external']", allowed)
    plain = tea.write("plain.py", "async def plain(text: str) -> str:\n    return text\n")
    tea("register", plain).refused(2, "defines no component", "from tea import tool")
    assert 'effects="external"' in tea("register", "--help").out


LOUD = '''
import logging
import os

from tea import tool


@tool(effects="reads", network=False)
async def loud() -> str:
    """Log and give what it finds."""
    logging.getLogger("loud").warning("found %s\\n\\x1b[31m", os.environ["CLOUD_TOKEN"])
    return os.environ["CLOUD_TOKEN"]
'''


def test_a_call_prints_and_logs_no_secret(tea: Tea) -> None:
    secret = {"CLOUD_TOKEN": "planted-0123456789"}
    assert tea("register", tea.write("loud.py", LOUD), **secret).code == 0
    called = tea("call", "loud", **secret)
    assert (called.code, called.out, called.err) == (
        0,
        "<secret:CLOUD_TOKEN>\n",
        "found <secret:CLOUD_TOKEN> <U+001B>[31m\n",
    )


def test_the_plan_is_shown_as_it_changes(tea: Tea) -> None:
    table = tea.write("cities.csv", "city,people\nOslo,700000\nRome,2800000\n")
    done = tea("run", "-v", "What is the average of people in cities.csv? Write a report.", "--file", table)
    plan = re.findall(r"^plan: (.*)$", done.err, re.MULTILINE)
    assert (done.code, len(plan)) == (0, len(set(plan))), done.err
    assert plan[0].startswith("[ ] 1. ")
    assert "[x]" + plan[0][3:] in plan
