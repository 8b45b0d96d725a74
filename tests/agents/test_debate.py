"""The debate: invitations, relations, rounds, consensus, verdict."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from attempts_kit import Cast, expert, invitation, shown, statement, verdict

from tea.errors import BadInput
from tea.models.manager import ModelConfig
from tea.platform import Platform
from tea.testing import platform

TOPIC = "Let's debate about a stock with Alice. Is it a good investment?"
TWO = invitation(expert("Ann"), expert("Bob"))
AGENT = '''
from tea import Agent, Context, Evidence, Result, Task


class {kind}(Agent):
    """{about}"""

    relations = {{{relations}}}

    async def run(self, ctx: Context, task: Task) -> Result:
        """Say it."""
        heard = " | ".join(one.text for one in task.history)
        told = {{"position": "Buy", "argument": f"{{task.text}} HEARD {{heard}}", "rebuttals": [], "agrees": []}}
        source = Evidence(source="report.pdf", quote="cash flow")
        return Result(answer={{**told, "confidence": 60}}, evidence=(source,))
'''

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea() -> AsyncIterator[Platform]:
    async with platform() as tea:
        about = "Finance expert: market trends, financial metrics and investment strategies."
        await tea.acp.register(
            AGENT.format(kind="Alice", about=about, relations='"quant": "cooperative", "planner": "hierarchical"'),
            author="test",
        )
        await tea.acp.register(AGENT.format(kind="Quant", about="Statistics and risk.", relations=""), author="test")
        yield tea


async def play(tea: Platform, model: Cast, topic: str = TOPIC, **options: Any) -> tuple[Any, list[Any]]:
    tea.models.add(ModelConfig(name="cast", provider="given"), model)
    told: list[Any] = []

    def watch(event: Any) -> None:
        if event.kind == "note" and event.data["kind"] == "debate":
            told.append((event.data["data"]["phase"], event.data["data"]["text"]))

    outcome = await tea.run(topic, agent="debate", model="cast", watch=watch, **options)
    return outcome, told


async def test_agents_that_the_topic_names_are_invited_and_their_relations_followed(tea: Platform) -> None:
    invited = invitation(expert("Quin", "quant"), expert("Carol"))
    model = Cast(
        debate_invitation=invited,
        debate_statement=[statement("Hold"), statement("Sell", rebuttals=[{"to": "Alice", "point": "too dear"}])],
        judge=verdict(1, 3, answer="Buy a little."),
    )
    outcome, told = await play(tea, model)
    assert (outcome.exit_code, outcome.answer) == (0, "Buy a little.")
    phases = dict(told)
    assert {"question", "debate", "verdict", "Carol, round 1", "Alice, round 1", "Carol to Alice"} <= phases.keys()
    assert [one.name for one in await tea.acp.list() if one.name == "alice"] == ["alice"]
    (asked,) = model.requests["judge"]
    assert "as much a calculation shown with its numbers" in asked.messages[0].model_dump_json()
    texts = {one["name"]: one["text"] for one in asked.variables["answers"]}
    assert list(texts) == ["Alice", "Quin", "Carol"]
    assert "With Quin you work together, with Carol you compete." in texts["Alice"]
    assert "With Alice you work together, with Carol you compete." in texts["Quin"]
    assert "HEARD Round 1" in texts["Alice"]
    assert '"report.pdf"' in texts["Alice"]
    first, second = (shown(one) for one in model.requests["debate_statement"][:2])
    assert "With Quin you compete" in second
    assert "you compete" not in first
    assert "agree with nobody yet" in first
    assert "agree with nobody yet" in texts["Alice"]
    assert "Carol was refuted: answer 3 has no source" in outcome.gaps
    assert [one.source for one in outcome.evidence] == ["report.pdf"]
    assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()


async def test_an_invited_agent_reads_its_role_apart_from_how_it_stands_and_the_judge_each_source_once(
    tea: Platform,
) -> None:
    invited = invitation(expert("Quin", "quant", role="knows numbers"), expert("Alice", "alice", role="knows firms"))
    said = [statement("Hold"), statement("Sell", rebuttals=[{"to": "Alice", "point": "too dear"}])]
    model = Cast(debate_invitation=invited, debate_statement=said, judge=verdict(1, answer="Hold."))
    await play(tea, model, "Is it good?", settings={"debate.rounds": 2})
    texts = {one["name"]: one["text"] for one in model.requests["judge"][0].variables["answers"]}
    assert texts["Alice"].count('"report.pdf"') == 1
    assert "knows numbers\nFrom round 2 on you hear the others. With Alice you " in texts["Quin"]


async def test_an_expert_rebuts_others_and_not_itself(tea: Platform) -> None:
    said = [statement("Buy"), statement("Sell"), statement("Hold", rebuttals=[{"to": "Ann", "point": "too dear"}])]
    model = Cast(debate_invitation=TWO, debate_statement=said, judge=verdict(1, answer="Hold."))
    _, told = await play(tea, model, "Is it good?")
    phases = {phase for phase, _ in told}
    assert "Bob to Ann" in phases
    assert "Ann to Ann" not in phases


async def test_two_experts_stand_alike_to_each_other_and_their_arguments_are_told(tea: Platform) -> None:
    invited = invitation(expert("Ann"), expert("Bob", relation="cooperative"))
    model = Cast(debate_invitation=invited, debate_statement=[statement("Buy"), statement("Sell")], judge=verdict(1))
    _, told = await play(tea, model, "Is it good?", settings={"debate.rounds": 1})
    assert ("Ann argues", "because of Buy") in told
    asked = [shown(one) for one in model.requests["debate_statement"]]
    assert all("to work together with you" in one and "compete" not in one for one in asked)


async def test_nobody_agrees_with_or_rebuts_somebody_who_has_not_spoken(tea: Platform) -> None:
    first = [statement(one, agrees=["Ann", "Bob"], rebuttals=[{"to": "Bob", "point": "x"}]) for one in ("Buy", "Sell")]
    later = [statement("Hold"), statement("Keep", agrees=["ann"])]
    model = Cast(debate_invitation=TWO, debate_statement=[*first, *later], judge=verdict(1, answer="Hold."))
    _, told = await play(tea, model, "Is it good?", settings={"debate.rounds": 2})
    assert not [phase for phase, _ in told if phase == "Ann to Bob"]
    (answers,) = [one.variables["answers"] for one in model.requests["judge"]]
    texts = {one["name"]: one["text"] for one in answers}
    assert "Agrees" not in texts["Ann"]
    assert texts["Bob"].count("Agrees with") == 1
    assert texts["Bob"].endswith("Agrees with Ann.")


async def test_a_conversation_is_shown_to_its_manager_and_experts_under_the_names_of_its_speakers(
    tea: Platform,
) -> None:
    model = Cast(debate_invitation=TWO, debate_statement=statement("Nordlys."), judge=verdict(1, 2, answer="Nordlys."))
    tea.models.add(ModelConfig(name="cast", provider="given"), model)
    chat = tea.chat(agent="debate", model="cast")
    await chat.send("Which club is old?")
    await chat.send("Is it large?")
    for prompt in ("debate_invitation", "debate_statement"):
        words = shown(model.requests[prompt][-1])
        assert "person: Which club is old?\ndebate: Nordlys." in words, prompt
        assert "The person says" not in words, prompt


async def test_the_manager_is_told_the_files_and_that_only_agents_read_them(tea: Platform, tmp_path: Path) -> None:
    (tmp_path / "nests.csv").write_text("site,pairs\nElm,14\n")
    model = Cast(debate_invitation=TWO, debate_statement=statement("Buy"), judge=verdict(1, answer="x"))
    await play(tea, model, "What does the table say?", files=[tmp_path / "nests.csv"])
    (asked,) = model.requests["debate_invitation"]
    assert "which an expert without an agent cannot read: nests.csv" in shown(asked)


async def test_an_agent_speaks_for_two_experts_and_changes_of_the_invitation_are_told(tea: Platform) -> None:
    twice = invitation(expert("Ada", "quant", role="for SQLite"), expert("Ben", "@Quant", role="for a server"))
    model = Cast(debate_invitation=twice, judge=verdict(1, answer="SQLite."))
    outcome, told = await play(tea, model, "Which database?", settings={"debate.rounds": 1})
    assert [text for phase, text in told if phase == "invited"] == [
        "Ada (quant): for SQLite",
        "Ben (quant): for a server",
    ]
    assert not [text for phase, text in told if phase == "invitation"]
    assert outcome.ok
    names = [expert("Ann", "nobody"), *(expert(one) for one in ("Ann", "Bob", "Cay", "Dan", "Eve"))]
    model = Cast(debate_invitation=invitation(*names), debate_statement=statement("Buy"), judge=verdict(1, answer="x"))
    _, told = await play(tea, model, "Which database?", settings={"debate.rounds": 1})
    assert [text for phase, text in told if phase == "invitation"] == [
        "Ann is played by a prompt: there is no agent 'nobody' to invite",
        "Ann is left out: the name is another expert's",
        "Eve is left out: 4 experts at most",
    ]


async def test_cooperative_experts_are_asked_to_complete_each_other(tea: Platform) -> None:
    invited = invitation(expert("Ann", relation="cooperative"), expert("Bob", relation="cooperative"))
    said = [statement("Hold"), statement("Sell")]
    model = Cast(debate_invitation=invited, debate_statement=said, judge=verdict(1, answer="Hold."))
    await play(tea, model, "Is it good?")
    asked = {one.variables["name"]: shown(one) for one in model.requests["debate_statement"]}
    assert "With Bob you work together" in asked["Ann"]


async def test_equal_positions_end_the_debate_at_once(tea: Platform) -> None:
    said = [statement("About 1,000"), statement("about 1000.")]
    model = Cast(debate_invitation=TWO, debate_statement=said, judge=verdict(1, answer="1000"))
    same = Cast(debate_invitation=TWO, debate_statement=statement("1,000"), judge=verdict(1, answer="1000"))
    outcome, told = await play(tea, same, "How many?")
    assert (same.asked()["debate_statement"], outcome.answer) == (2, "1000")
    assert ("debate", "all agree after round 1") in told
    assert outcome.gaps == ()
    await play(tea, model, "How many?")
    assert model.asked()["debate_statement"] == 2


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ("Paris", "The answer is Paris.", True),
        ("It is 1,000.", "1000", True),
        ("Yes.", "Yes, it is a good investment.", True),
        ("Yes.", "Yes, but only if it falls.", False),
        ("Yes, it is.", "No.", False),
        ("Paris", "The answer is not Paris.", False),
        ("Paris", "Paris or Rome", False),
    ],
)
async def test_positions_with_the_same_value_end_the_debate_at_once(
    tea: Platform, one: str, other: str, agree: bool
) -> None:
    said = [statement(one, rebuttals=[{"to": "Bob", "point": "x"}]), statement(other)]
    model = Cast(debate_invitation=TWO, debate_statement=said, judge=verdict(1, answer=one))
    _, told = await play(tea, model, "Which?", settings={"debate.rounds": 2})
    assert (("debate", "all agree after round 1") in told) == agree


@pytest.mark.parametrize("names", [["@Ann", "Bob (the banker)"], ["Bob, Ann"], ["all"], ["everybody"]])
async def test_whom_a_speaker_agrees_with_is_understood_in_other_words(tea: Platform, names: list[str]) -> None:
    later = [statement(words, agrees=names, rebuttals=[{"to": "Cid", "point": "x"}]) for words in ("B one", "B two")]
    said = [statement("Buy"), statement("Sell"), *later]
    model = Cast(debate_invitation=TWO, debate_statement=said, judge=verdict(1, answer="Buy some"))
    _, told = await play(tea, model, "Is it good?")
    assert ("debate", "all agree after round 2") in told


async def test_an_agent_that_keeps_its_position_agrees_with_all_who_took_it_over(tea: Platform) -> None:
    point = [{"to": "Bob", "point": "x"}]
    later = [statement("Buy", rebuttals=point), statement("Buy, as Ann says", agrees=["Ann"])]
    said = [statement("Buy"), statement("Sell"), *later]
    model = Cast(debate_invitation=TWO, debate_statement=said, judge=verdict(1, answer="Buy"))
    _, told = await play(tea, model, "Is it good?")
    assert ("debate", "all agree after round 2") in told


async def test_an_agent_that_can_search_nothing_is_played_by_a_prompt(tea: Platform) -> None:
    invited = invitation(expert("Rae", "researcher"), expert("Ann"))
    model = Cast(debate_invitation=invited, debate_statement=statement("Yes"), judge=verdict(1, answer="Yes"))
    outcome, told = await play(tea, model, "Is it good?")
    assert ("invitation", "Rae is played by a prompt: researcher has nothing to search") in told
    assert model.asked() == {"debate_invitation": 1, "debate_statement": 2, "judge": 1}
    assert (outcome.answer, outcome.gaps) == ("Yes", ())


async def test_experts_who_say_that_they_agree_end_it_after_their_rebuttals(tea: Platform) -> None:
    first = [statement("Buy", agrees=["Bob"]), statement("Sell", agrees=["Ann"])]
    later = [statement("Buy some", agrees=["Bob"]), statement("Buy a part", agrees=["ann"])]
    model = Cast(debate_invitation=TWO, debate_statement=[*first, *later], judge=verdict(1, answer="Buy some"))
    _, told = await play(tea, model, "Is it good?")
    assert model.asked()["debate_statement"] == 4
    assert ("debate", "all agree after round 2") in told


async def test_the_rounds_of_a_debate_are_a_setting_and_hold_in_its_replay(tea: Platform) -> None:
    again = [statement(side, rebuttals=[{"to": "Bob", "point": "no"}]) for side in ("Buy", "Sell")] * 5
    for rounds in (1, 5):
        model = Cast(debate_invitation=TWO, debate_statement=again, judge=verdict(1, answer="Buy"))
        outcome, _ = await play(tea, model, "Is it good?", settings={"debate.rounds": rounds})
        assert model.asked()["debate_statement"] == 2 * rounds
        assert f"of at most {rounds}." in shown(model.requests["debate_statement"][-1])
        assert ("next round" in shown(model.requests["debate_statement"][0])) is (rounds > 1)
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
    runs = len(tea.tracer.runs())
    for given, words in (
        ({"debate.rounds": 0}, "debate.rounds is not usable"),
        ({"debate.round": 2}, "its settings are 'rounds'"),
        ({"planner.rounds": 2}, "has no setting"),
    ):
        with pytest.raises(BadInput) as refused:
            await tea.run("Is it good?", agent="debate", settings=given)
        assert words in str(refused.value)
    assert len(tea.tracer.runs()) == runs


async def test_a_debate_has_at_most_three_rounds(tea: Platform) -> None:
    again = [statement(side, rebuttals=[{"to": "Bob", "point": "no"}]) for side in ("Buy", "Sell")] * 4
    model = Cast(debate_invitation=TWO, debate_statement=again, judge=verdict(1, answer="Buy"))
    outcome, _ = await play(tea, model, "Is it good?")
    assert model.asked() == {"debate_invitation": 1, "debate_statement": 6, "judge": 1}
    assert len(outcome.gaps) == 1
    assert "disagrees: " in outcome.gaps[0]


async def test_a_round_without_anything_new_is_the_last(tea: Platform) -> None:
    model = Cast(
        debate_invitation=TWO,
        debate_statement=lambda request: statement(request.variables["name"]),  # pyright: ignore[reportUnknownLambdaType, reportUnknownMemberType]
        judge=verdict(1, answer="Ann"),
    )
    _, told = await play(tea, model, "Who?")
    assert ("debate", "nobody had anything new to say in round 2") in told


async def test_a_statement_in_plain_words_after_a_failed_repair_is_heard(tea: Platform) -> None:
    def spoken(request: Any) -> Any:
        return "Sell, as it is too dear." if request.variables["name"] == "Bob" else statement("Buy")

    model = Cast(debate_invitation=TWO, debate_statement=spoken, judge=verdict(1, answer="Buy"))
    outcome, told = await play(tea, model, "Is it good?", settings={"debate.rounds": 1})
    assert ("Bob, round 1", "Sell, as it is too dear. (50)") in told
    assert (outcome.ok, outcome.answer) == (True, "Buy")


async def test_an_expert_who_cannot_be_read_is_passed_over(tea: Platform) -> None:
    def spoken(request: Any) -> Any:
        return '{"position": ' if request.variables["name"] == "Bob" else statement("Buy")

    model = Cast(debate_invitation=TWO, debate_statement=spoken, judge=verdict(1, answer="Buy"))
    outcome, told = await play(tea, model, "Is it good?")
    assert any(phase == "Bob, round 1" and text.startswith("says nothing") for phase, text in told)
    assert ("debate", "the debate stopped, as Ann alone spoke") in told
    assert "judge" not in model.requests
    assert (outcome.ok, outcome.answer, outcome.partial) == (True, "Buy", True)
    assert outcome.gaps[0] == "No position was contested: the debate stopped, as Ann alone spoke."
    assert outcome.gaps[1].startswith("Bob said nothing: ")
    model = Cast(debate_invitation=TWO, debate_statement=spoken, judge=verdict(1, answer=7))
    outcome, _ = await play(tea, model, "How many?", answer={"type": "integer"})
    assert (outcome.answer, outcome.partial) == (7, True)
    silent = Cast(debate_invitation=TWO, debate_statement='{"position": ')
    outcome, _ = await play(tea, silent, "Is it good?")
    assert (outcome.exit_code, outcome.error["code"]) == (1, "BadOutput")


async def test_who_says_nothing_is_not_put_before_the_others_any_more_and_named_in_the_result(tea: Platform) -> None:
    def spoken(request: Any) -> Any:
        name = request.variables["name"]
        return '{"position": ' if name == "Cay" else statement(name, rebuttals=[{"to": "Ann", "point": "no"}])

    three = invitation(expert("Ann"), expert("Bob"), expert("Cay"))
    model = Cast(debate_invitation=three, debate_statement=spoken, judge=verdict(1, answer="Buy"))
    outcome, _ = await play(tea, model, "Is it good?", settings={"debate.rounds": 2})
    asked = [(one.variables["name"], shown(one)) for one in model.requests["debate_statement"]]
    assert [name for name, _ in asked][-2:] == ["Ann", "Bob"]
    assert "Cay" in asked[0][1]
    assert not [words for _, words in asked[-2:] if "Cay" in words]
    assert [gap for gap in outcome.gaps if gap.startswith("Cay said nothing: ")]
    assert not outcome.partial


async def test_an_agent_with_a_form_of_its_own_is_played_with_its_description_as_background() -> None:
    async with platform() as tea:
        source = AGENT.format(kind="Poet", about="Rhymes on all that happens.", relations="").partition(
            "        heard"
        )[0]
        await tea.acp.register(f'{source}        return Result(answer="A rhyme.")\n', author="test")
        invited = invitation(expert("Rita", "@reporter", role="writes"), expert("Paul", "poet"), expert("Ann"))
        model = Cast(debate_invitation=invited, debate_statement=statement("Yes"), judge=verdict(1, answer="Yes"))
        outcome, told = await play(tea, model, "Is it good?")
        texts = [text for phase, text in told if phase == "invitation"]
        assert texts == [
            "Rita is played by a prompt: reporter takes no question",
            "Paul is played by a prompt: poet answers in a form of its own",
        ]
        assert model.asked() == {"debate_invitation": 1, "debate_statement": 3, "judge": 1}
        roles = {one.variables["name"]: one.variables["role"] for one in model.requests["debate_statement"]}
        assert roles["Rita"].startswith("writes. You speak as the agent reporter: Write a report of findings")
        assert "Rhymes on all that happens." in roles["Paul"]
        assert outcome.gaps == ()
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()


async def test_the_reason_of_an_agent_that_says_nothing_is_told_as_its_reason() -> None:
    async with platform() as tea:
        source = AGENT.format(kind="Mute", about="Finance.", relations="").partition("        heard")[0]
        await tea.acp.register(f'{source}        return Result(ok=False, reason="Run `x`.")\n', author="test")
        model = Cast(debate_invitation=invitation(expert("Ada", "mute"), expert("Ben", "mute")))
        outcome, _ = await play(tea, model, "Is it good?", settings={"debate.rounds": 1})
        assert outcome.error["problem"] == "mute gave no statement: Run `x`."


async def test_without_a_verdict_the_strongest_position_stands_and_says_so(tea: Platform) -> None:
    said = [statement("Buy", 80), statement("Sell", 40)] * 3
    model = Cast(debate_invitation=TWO, debate_statement=said, judge="no verdict")
    outcome, _ = await play(tea, model, "Is it good?")
    assert (outcome.exit_code, outcome.answer, outcome.partial) == (0, "Buy", True)
    assert "no judge decided" in outcome.gaps[0]
    outcome, _ = await play(
        tea, Cast(debate_invitation=TWO, debate_statement=said, judge="none"), "How many?", answer={"type": "integer"}
    )
    assert outcome.exit_code == 1


@pytest.mark.parametrize(("choice", "asked"), [("Bob", 1), ("the best one", 2)])
async def test_the_answer_of_a_judge_who_names_experts_is_given(tea: Platform, choice: str, asked: int) -> None:
    objection = {"answer": "Ann", "objection": "no source", "refuted": True}
    judged = {**verdict(1, answer="Hold."), "choice": choice, "refutations": [objection], "confidence": "high"}
    model = Cast(debate_invitation=TWO, debate_statement=[statement("Buy"), statement("Sell")], judge=judged)
    outcome, told = await play(tea, model, "Is it good?", settings={"debate.rounds": 1})
    assert (outcome.answer, outcome.ok, model.asked()["judge"]) == ("Hold.", True, asked)
    assert "Ann was refuted: no source" in outcome.gaps
    assert f"{'Bob' if asked == 1 else 'no expert'} stands best: it is sourced" in dict(told)["verdict"]


async def test_an_unreadable_invitation_leaves_two_sides(tea: Platform) -> None:
    model = Cast(debate_invitation="none", debate_statement=statement("Buy"), judge=verdict(1, answer="Buy"))
    _, told = await play(tea, model, "Is it good?")
    assert [text.partition(":")[0] for phase, text in told if phase == "invited"] == ["Advocate", "Sceptic"]


async def test_the_budget_of_questions_ends_the_rounds_before_the_verdict(tea: Platform) -> None:
    again = [statement(side, rebuttals=[{"to": "Bob", "point": "no"}]) for side in ("Buy", "Sell")] * 4
    model = Cast(debate_invitation=TWO, debate_statement=again, judge=verdict(2, answer="Sell"))
    outcome, told = await play(tea, model, "Is it good?", budget={"steps": 5})
    assert (outcome.exit_code, outcome.answer) == (0, "Sell")
    assert model.asked() == {"debate_invitation": 1, "debate_statement": 2, "judge": 1}
    assert ("debate", "the budget of questions leaves no further round") in told


async def test_the_verdict_has_the_form_of_the_task(tea: Platform) -> None:
    model = Cast(debate_invitation=TWO, debate_statement=statement("7"), judge=verdict(1, answer=7))
    outcome, _ = await play(tea, model, "How many?", answer={"type": "integer"})
    assert (outcome.ok, outcome.answer) == (True, 7)


async def test_a_debate_is_forked_in_its_middle(tea: Platform) -> None:
    said = [statement("Buy", rebuttals=[{"to": "Bob", "point": "no"}]), statement("Sell")] * 4
    model = Cast(debate_invitation=TWO, debate_statement=said, judge=verdict(1, answer="Buy"))
    outcome, _ = await play(tea, model, "Is it good?")
    keys = [record.key for record in tea.tracer.records(outcome.run) if record.kind == "done"]
    asked = sum(model.asked().values())
    fork = await tea.fork(outcome.run, at=keys[len(keys) // 2])
    assert (fork.ok, fork.answer) == (True, "Buy")
    assert asked < sum(model.asked().values()) < 2 * asked
