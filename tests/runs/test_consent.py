"""Test consent: a present person is asked at once, with the call's arguments; else the run waits."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tea import Platform
from tea.errors import ApprovalNeeded, BadInput, BadTask, UnknownComponent
from tea.runs.policy import CallRequest, Decision
from tea.store.sealed import sealed, unsealed

SEND = '''
from tea import tool

@tool(effects="external")
async def send(to: str, words: str) -> str:
    """Send words to somebody.

    Args:
        to: Who gets them.
        words: What they get.
    """
    return f"sent {words} to {to}"
'''

SENDER = '''
from tea import Agent, Context, Result, Task

class Sender(Agent):
    """Send two letters."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Send them one after the other."""
        told = []
        for to in ("Ann", "Bob"):
            response = await ctx.tcp.invoke("send", {"to": to, "words": "hello"})
            told.append(response.value if response.ok else response.error["code"])
        return Result(answer=told)
'''


class AskAboutLetters:
    async def decide(self, request: CallRequest) -> Decision:
        return "ask" if request.traits.effects == "external" else "allow"


class Somebody:
    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def __call__(self, question: str, choices: Sequence[str]) -> str | None:
        self.asked.append((question, tuple(choices)))
        return self.answers.pop(0)


def stage(folder: Path, somebody: Somebody | None) -> Platform:
    return Platform(folder / "home", policy=AskAboutLetters(), state=folder / "state", person=somebody)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (("allow", "deny"), ["sent hello to Ann", "Denied"]),
        (("deny", "she knows"), ["Denied", "she knows"]),
    ],
)
async def test_who_is_there_is_asked_with_the_arguments(tmp_path: Path, said: tuple[str, str], told: list[str]) -> None:
    somebody = Somebody(*said)
    async with stage(tmp_path, somebody) as tea:
        await tea.tcp.register(SEND)
        await tea.acp.register(SENDER)
        outcome = await tea.run("Go.", agent="sender")
        assert outcome.answer == told
        assert [choices for _, choices in somebody.asked] == [("allow", "deny")] * 2
        assert all(word in somebody.asked[1][0] for word in ("tool:send@1.0.0", '  to: "Bob"\n', '  words: "hello"'))
        sent = (await tea.tcp.info("send")).digest
        assert all(f"agent:sender calls it. Its digest is {sent}." in question for question, _ in somebody.asked)
        assert (await tea.replay(outcome.run)).answer == told
        assert len(somebody.asked) == 2
        assert (await tea.inbox()).questions == ()


@pytest.mark.parametrize("trusted", [True, False])
async def test_nobody_is_asked_about_arguments_that_do_not_fit(tmp_path: Path, *, trusted: bool) -> None:
    forgetful = SENDER.replace('"to": to, "words"', '**({"to": to} if to == "Bob" else {}), "words"')
    async with stage(tmp_path, None) as tea:
        await tea.tcp.register(SEND)
        await tea.acp.register(forgetful)
    somebody = Somebody("allow")
    state = tmp_path / ("state" if trusted else "another")
    async with Platform(tmp_path / "home", policy=AskAboutLetters(), state=state, person=somebody) as tea:
        if not trusted:
            await tea.acp.trust("sender")
        outcome = await tea.run("Go.", agent="sender")
        assert outcome.answer == ["BadArguments", "sent hello to Bob"]
        assert len(somebody.asked) == 1
        assert (await tea.replay(outcome.run)).answer == outcome.answer


SITE = '''
from tea import Environment, action


class Site(Environment):
    """A page in front."""

    async def state(self) -> dict[str, str]:
        """Return the page."""
        return {"url": "https://one.test/path?query"}

    @action(effects="external", destinations=("state.url",))
    async def type(self, text: str) -> str:
        """Type into the page.

        Args:
            text: What.
        """
        return text
'''


async def test_a_question_says_where_a_call_goes_that_acts_on_what_is_in_front(tmp_path: Path) -> None:
    somebody = Somebody("deny")
    async with stage(tmp_path, somebody) as tea:
        await tea.ecp.register(SITE)
        await tea.ecp.invoke("site#type", {"text": "Ann"})
    first, *lines = somebody.asked[0][0].split("\n")
    assert "needs a person's consent. It goes to https://one.test/. Its digest is sha256:" in first
    assert lines == ['  text: "Ann"']
    async with stage(tmp_path, None) as tea:
        with pytest.raises(ApprovalNeeded, match=r"needs a person.s consent\. It goes to https://one\.test/\. Fix"):
            await tea.ecp.invoke("site#type", {"text": "Ann"})


async def test_a_place_in_front_is_told_from_one_that_begins_with_a_control_character(tmp_path: Path) -> None:
    somebody = Somebody("deny")
    async with stage(tmp_path, somebody) as tea:
        await tea.ecp.register(SITE.replace("https://one.test/path?query", "\\x1croom-7\\r"))
        await tea.ecp.invoke("site#type", {"text": "Ann"})
    assert r'It goes to "\u001croom-7\r". Its digest' in somebody.asked[0][0]


async def test_no_line_of_a_question_about_a_call_is_that_of_a_files_name(tmp_path: Path) -> None:
    given = tmp_path / 'a\nIts arguments are:\n  to: "nobody"'
    given.write_text("words")
    somebody = Somebody("deny", "deny")
    async with Platform(tmp_path / "home", state=tmp_path / "state", person=somebody) as tea:
        await tea.tcp.register(SEND)
        await tea.acp.register(SENDER)
        await tea.run("Go.", agent="sender", files=[given])
    first, *lines = somebody.asked[0][0].split("\n")
    assert r'"a\nIts arguments are:\n  to: \"nobody\""' in "\n".join((first, *lines))
    assert [one for one in lines if not one.startswith("| ")] == ['  to: "Ann"', '  words: "hello"']


@pytest.mark.parametrize("gone", [None, "\udcff"])
async def test_a_run_waits_where_the_person_went_away(tmp_path: Path, gone: str | None) -> None:
    somebody = Somebody("allow", gone)
    async with stage(tmp_path, somebody) as tea:
        await tea.tcp.register(SEND)
        await tea.acp.register(SENDER)
        with pytest.raises(ApprovalNeeded, match="needs a person's consent"):
            await tea.run("Go.", agent="sender")
        (question,) = (await tea.inbox()).questions
        assert question.arguments == {"to": "Bob", "words": "hello"}
        outcome = await tea.resume("last", answers={question.key: "allow"})
        assert outcome.answer == ["sent hello to Ann", "sent hello to Bob"]
        assert len(somebody.asked) == 2


async def test_a_call_outside_of_any_run_asks_who_is_there_too(tmp_path: Path) -> None:
    somebody = Somebody("allow", "deny", None)
    async with stage(tmp_path, somebody) as tea:
        await tea.tcp.register(SEND)
        letter = {"to": "Ann", "words": "hello"}
        assert (await tea.tcp.invoke("send", letter)).value == "sent hello to Ann"
        refused = await tea.tcp.invoke("send", letter)
        assert not refused.ok
        with pytest.raises(ApprovalNeeded, match="needs a person's consent"):
            await tea.tcp.invoke("send", letter)


PAY = '''
from tea import tool

@tool(effects="irreversible", idempotent=False, network=False)
async def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"
'''

PAYS = '''
from tea import Context, tool

@tool(effects="reads", idempotent=True, network=False)
async def pays(ctx: Context) -> str:
    """Pay the price of the moment."""
    prices = ctx.path("price.txt")
    amount = int(prices.read_text()) if prices.exists() else 5
    return (await ctx.tcp.invoke("pay", {"amount": amount})).unwrap()
'''

PAYER = '''
from tea import Agent, Context, Result, Task

class Payer(Agent):
    """Have it paid."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Pay."""
        return Result(answer=(await ctx.tcp.invoke("pays", {})).value)
'''


class AskAboutPayments:
    async def decide(self, request: CallRequest) -> Decision:
        return "ask" if "tool:pay@" in request.ref else "allow"


async def test_consent_is_to_the_call_that_was_shown_and_to_no_other(tmp_path: Path) -> None:
    async with Platform(tmp_path / "home", policy=AskAboutPayments(), state=tmp_path / "state") as tea:
        await tea.tcp.register(PAY)
        await tea.tcp.register(PAYS)
        await tea.acp.register(PAYER)
        with pytest.raises(ApprovalNeeded):
            await tea.run("Go.", agent="payer")
        (cheap,) = (await tea.inbox()).questions
        (tea.home / "traces" / cheap.run / "workspace" / "price.txt").write_text("5000")
        with pytest.raises(ApprovalNeeded):
            await tea.resume("last", answers={cheap.key: "allow"})
        (dear,) = (await tea.inbox()).questions
        assert (cheap.key, cheap.arguments, dear.arguments) == (dear.key, {"amount": 5}, {"amount": 5000})
        assert (await tea.resume("last", answers={dear.key: "allow"})).answer == "paid 5000"


@pytest.mark.parametrize("written", ["('Ann', 'Bob')", "{1: 'Ann'}", "{'all': ('Ann',)}", "['Ann']"])
async def test_consent_counts_however_the_agent_wrote_the_arguments(tmp_path: Path, written: str) -> None:
    tool = SEND.replace("to: str", "to: object")
    agent = SENDER.replace('("Ann", "Bob")', f"({written},)")
    async with stage(tmp_path, None) as tea:
        await tea.tcp.register(tool)
        await tea.acp.register(agent)
        with pytest.raises(ApprovalNeeded):
            await tea.run("Go.", agent="sender")
        (question,) = (await tea.inbox()).questions
        outcome = await tea.resume("last", answers={question.key: "allow"})
        assert outcome.answer == [f"sent hello to {question.arguments['to']}"]


async def test_nobody_changes_the_arguments_of_a_call_while_a_person_is_asked_about_it(tmp_path: Path) -> None:
    arguments = {"amounts": [1]}

    async def slow(question: str, choices: Sequence[str]) -> str:
        arguments["amounts"].append(99)
        return "allow"

    source = PAY.replace("amount: int", "amounts: list[int]").replace("{amount}", "{sum(amounts)}")
    async with Platform(tmp_path / "home", policy=AskAboutPayments(), state=tmp_path / "state", person=slow) as tea:
        await tea.tcp.register(source)
        assert (await tea.tcp.invoke("pay", arguments)).value == "paid 1"


def plain(folder: Path, somebody: Somebody | None = None, settings: str = "") -> Platform:
    """Return a platform without a policy of its own."""
    (folder / "home").mkdir(exist_ok=True)
    (folder / "home" / "tea.toml").write_text(settings)
    return Platform(folder / "home", state=folder / "state", person=somebody, trust_home=True)


async def stocked(tea: Platform, tool: str = SEND) -> None:
    await tea.tcp.register(tool)
    await tea.acp.register(SENDER)


AT_ONCE = '''
from tea import Agent, Context, Result, Task

class Sender(Agent):
    """Send two letters."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Send both at once."""
        async with ctx.group() as group:
            calls = [group.spawn(ctx.tcp.invoke("send", {"to": to, "words": "hello"})) for to in ("Ann", "Bob")]
        return Result(answer=[one.result().value for one in calls])
'''

BOTH_SENT = ["sent hello to Ann", "sent hello to Bob"]


async def test_what_declares_to_leave_the_workspace_is_asked_about_once_for_its_version(tmp_path: Path) -> None:
    somebody = Somebody("allow")
    async with plain(tmp_path, somebody) as tea:
        await stocked(tea)
        first, second = [await tea.run("Go.", agent="sender") for _ in range(2)]
        assert first.answer == second.answer == BOTH_SENT
        ((question, choices),) = somebody.asked
        assert choices == ("allow", "deny")
        assert all(word in question for word in ("tool:send@1.0.0", "'external'", "once", '  to: "Ann"'))
        assert (await tea.replay(first.run)).answer == BOTH_SENT
    other = Somebody("deny")
    async with plain(tmp_path, other) as tea:
        assert (await tea.run("Go.", agent="sender")).answer == BOTH_SENT
        await tea.tcp.update("send", SEND.replace("sent {words}", "mailed {words}"))
        assert (await tea.run("Go.", agent="sender")).answer == ["Denied", "Denied"]
        assert len(other.asked) == 1


async def test_where_nobody_is_the_run_waits_and_the_answer_holds_for_the_version(tmp_path: Path) -> None:
    async with plain(tmp_path) as tea:
        await stocked(tea)
        with pytest.raises(ApprovalNeeded, match="once for this version"):
            await tea.run("Go.", agent="sender")
        (question,) = (await tea.inbox()).questions
        assert (question.call, question.arguments) == ("tool:send@1.0.0#call", {"to": "Ann", "words": "hello"})
        outcome = await tea.resume("last", answers={question.key: "allow"})
        assert outcome.answer == BOTH_SENT
        assert (await tea.replay(outcome.run)).answer == BOTH_SENT
    async with plain(tmp_path) as tea:
        assert (await tea.run("Go.", agent="sender")).answer == BOTH_SENT


async def test_calls_at_once_of_one_version_are_one_question(tmp_path: Path) -> None:
    somebody = Somebody("allow")
    (tmp_path / "there").mkdir()
    async with plain(tmp_path / "there", somebody) as tea:
        await tea.tcp.register(SEND)
        await tea.acp.register(AT_ONCE)
        assert (await tea.run("Go.", agent="sender")).answer == BOTH_SENT
        assert len(somebody.asked) == 1
    (tmp_path / "gone").mkdir()
    async with plain(tmp_path / "gone") as tea:
        await tea.tcp.register(SEND)
        await tea.acp.register(AT_ONCE)
        with pytest.raises(ApprovalNeeded):
            await tea.run("Go.", agent="sender")
        last = (await tea.inbox()).questions[-1]
        assert (await tea.resume("last", answers={last.key: "allow"})).answer == BOTH_SENT


@pytest.mark.parametrize("said", ["external", "irreversible"])
@pytest.mark.parametrize("declared", [True, False])
async def test_only_what_is_declared_in_so_many_words_is_asked_about(tmp_path: Path, said: str, declared: bool) -> None:
    tool = SEND.replace('(effects="external")', f'(effects="{said}")' if declared else "(idempotent=True)")
    async with plain(tmp_path) as tea:
        await stocked(tea, tool)
        if declared:
            with pytest.raises(ApprovalNeeded, match=said):
                await tea.run("Go.", agent="sender")
        else:
            assert (await tea.run("Go.", agent="sender")).answer == BOTH_SENT


async def test_what_the_registry_says_of_a_declaration_does_not_count(tmp_path: Path) -> None:
    async with plain(tmp_path) as tea:
        await stocked(tea)
    registered = (tmp_path / "home" / "registry").rglob("*.json")
    (file,) = [one for one in registered if "Send words to somebody" in one.read_text()]
    document = unsealed(file)
    del document["operations"]["call"]["traits"]["declared"]  # as before there was such a word
    file.unlink()
    file.write_bytes(sealed(document))
    async with plain(tmp_path) as tea:
        with pytest.raises(ApprovalNeeded):
            await tea.run("Go.", agent="sender")


@pytest.mark.parametrize(
    ("decision", "answer"), [("allow", BOTH_SENT), ("deny", ["Denied", "Denied"]), ("ask", None), ("once", None)]
)
async def test_the_settings_decide_about_declared_effects(
    tmp_path: Path, decision: str, answer: list[str] | None
) -> None:
    async with plain(tmp_path, settings=f'[policy]\nexternal = "{decision}"\n') as tea:
        await stocked(tea)
        if answer is not None:
            assert (await tea.run("Go.", agent="sender")).answer == answer
            return
        with pytest.raises(ApprovalNeeded):
            await tea.run("Go.", agent="sender")
        (first,) = (await tea.inbox()).questions
        if decision == "once":
            assert (await tea.resume("last", answers={first.key: "allow"})).answer == BOTH_SENT
            return
        with pytest.raises(ApprovalNeeded):
            await tea.resume("last", answers={first.key: "allow"})
        with pytest.raises(ApprovalNeeded):
            await tea.run("Go.", agent="sender", allow=["send"])


@pytest.mark.parametrize("name", ["send", "tool:send"])
async def test_a_task_allows_by_name_what_nobody_consented_to_and_that_is_for_itself_only(
    tmp_path: Path, name: str
) -> None:
    async with plain(tmp_path) as tea:
        await stocked(tea)
        assert (await tea.run("Go.", agent="sender", allow=[name])).answer == BOTH_SENT
        with pytest.raises(ApprovalNeeded):
            await tea.run("Go.", agent="sender", allow=["human"])


async def test_a_task_that_allows_what_is_not_there_is_refused(tmp_path: Path) -> None:
    async with plain(tmp_path) as tea:
        await stocked(tea)
        with pytest.raises(UnknownComponent, match="did you mean 'send'"):
            await tea.run("Go.", agent="sender", allow=["sendd"])
        with pytest.raises(BadTask, match="not called by an agent"):
            await tea.run("Go.", agent="sender", allow=["prompt:planner"])
        assert not (tmp_path / "home" / "traces").exists()


async def test_who_makes_a_call_from_outside_of_any_run_consents_to_it_but_to_nothing_inside(tmp_path: Path) -> None:
    outer = SEND.replace("async def send(to: str", "async def pass_on(ctx: Context, to: str").replace(
        'return f"sent {words} to {to}"', 'return (await ctx.tcp.invoke("send", {"to": to, "words": words})).unwrap()'
    )
    outer = outer.replace("from tea import tool", "from tea import Context, tool")
    letter = {"to": "Ann", "words": "hello"}
    async with plain(tmp_path) as tea:
        await stocked(tea)
        await tea.tcp.register(outer)
        assert (await tea.tcp.invoke("send", letter)).value == "sent hello to Ann"
        with pytest.raises(ApprovalNeeded, match="tool:send"):
            await tea.tcp.invoke("pass_on", letter)


async def test_a_recipe_is_asked_about_by_what_acts(tmp_path: Path) -> None:
    somebody = Somebody("allow")
    async with plain(tmp_path, somebody) as tea:
        await tea.tcp.register(SEND)
        await tea.transform("T2E", ["send"], name="post")
        await tea.acp.register(SENDER.replace('ctx.tcp.invoke("send"', 'ctx.ecp.invoke("post#send"'))
        assert (await tea.run("Go.", agent="sender")).answer == BOTH_SENT
        ((question, _),) = somebody.asked
        assert "tool:send@1.0.0" in question


COURIER = '''
from tea import Context, Environment, action

class Courier(Environment):
    """Sends."""

    recovery = "rerun"

    def __init__(self) -> None:
        self.count = 0

    @action(effects="external", idempotent=True, network=False)
    async def order(self, ctx: Context) -> int:
        """Send one more."""
        self.count += 1
        return self.count

    async def state(self) -> int:
        """Return how many were sent."""
        return self.count
'''

CUSTOMER = '''
from tea import Agent, Context, Result, Task

class Customer(Agent):
    """Order, ask, and count."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Tell what came of it."""
        first = (await ctx.ecp.invoke("courier#order", {})).unwrap()
        said = await ctx.person("Content?")
        return Result(answer=[first, said, (await ctx.ecp.state("courier")).value])
'''


async def test_consent_is_not_asked_for_again_to_bring_an_environment_back(tmp_path: Path) -> None:
    async with plain(tmp_path) as tea:
        await tea.ecp.register(COURIER)
        await tea.acp.register(CUSTOMER)
        with pytest.raises(ApprovalNeeded, match="courier"):
            await tea.run("x", agent="customer")
        (consent,) = (await tea.inbox()).questions
        with pytest.raises(ApprovalNeeded, match="Content"):
            await tea.resume("last", answers={consent.key: "allow"})
    (tmp_path / "state" / "consented").unlink()
    async with plain(tmp_path) as tea:
        (question,) = (await tea.inbox()).questions
        outcome = await tea.resume("last", answers={question.key: "yes"})
        assert outcome.answer == [1, "yes", 1]
        assert (await tea.replay(outcome.run)).answer == outcome.answer


PARCELS = '''
from pathlib import Path
from tea import Context, Environment, action

SENT, FRONT = SENT_FILE, FRONT_FILE

class Courier(Environment):
    """Sends."""

    recovery = "rerun"

    def __init__(self) -> None:
        self.count = 0

    @action(effects="external", idempotent=True, destinations=("state.url",))
    async def order(self, ctx: Context) -> int:
        """Send one more to where it is."""
        self.count += 1
        with Path(SENT).open("a") as sent:
            sent.write(Path(FRONT).read_text())
        return self.count

    async def state(self) -> dict:
        """Return where it is."""
        return {"url": Path(FRONT).read_text(), "sent": self.count}
'''


async def test_a_call_brings_no_environment_back_by_going_where_nobody_allowed_it(tmp_path: Path) -> None:
    sent, front = tmp_path / "sent", tmp_path / "front"
    front.write_text("https://one.test/\n")
    async with plain(tmp_path) as tea:
        await tea.ecp.register(PARCELS.replace("SENT_FILE", repr(str(sent))).replace("FRONT_FILE", repr(str(front))))
        await tea.acp.register(CUSTOMER.replace('(await ctx.ecp.state("courier")).value', "0"))
        with pytest.raises(ApprovalNeeded, match="courier"):
            await tea.run("x", agent="customer")
        (consent,) = (await tea.inbox()).questions
        with pytest.raises(ApprovalNeeded, match="Content"):
            await tea.resume("last", answers={consent.key: "allow"})
        (question,) = (await tea.inbox()).questions
    front.write_text("https://two.test/\n")
    async with plain(tmp_path) as tea:
        with pytest.raises(BadInput, match="would go elsewhere than it went then"):
            await tea.resume("last", answers={question.key: "yes"})
    assert sent.read_text() == "https://one.test/\n"
    front.write_text("https://one.test/\n")
    async with plain(tmp_path) as tea:
        assert (await tea.resume("last", answers={question.key: "yes"})).answer == [1, "yes", 0]
    assert sent.read_text() == "https://one.test/\n" * 2


async def test_who_is_asked_is_told_which_arguments_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".env").write_text("BOB_TOKEN=eve@evil.test\n")
    somebody = Somebody("deny", "deny", None)
    async with stage(tmp_path, somebody) as tea:
        await tea.tcp.register(SEND)
        await tea.acp.register(SENDER.replace('"Ann", "Bob"', '"Ann", "eve@evil.test"'))
        await tea.run("Go.", agent="sender")
    (open_, _), (hidden, _) = somebody.asked
    told = "\nNot shown, and set by the environment or by .env of the home: <secret:BOB_TOKEN>"
    assert hidden.endswith(f'  to: "<secret:BOB_TOKEN>"\n  words: "hello"{told}')
    assert "Not shown" not in open_
