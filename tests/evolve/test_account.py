"""Test the costs of campaigns: every run counts once, counterfactuals too; a restart refunds and repeats nothing."""

import json
from dataclasses import replace
from pathlib import Path

from speller_kit import AGENT, PROMPT, Obedient, campaign, platform, tasks

from tea import Platform
from tea.evolve.account import Account
from tea.evolve.campaign import Limits
from tea.store.evaluations import read_ledger
from tea.types import JsonObject

SMALL = 30


async def planted(tea: Platform) -> Platform:
    await tea.acp.register(AGENT)
    await tea.libraries["prompt"].register(PROMPT)
    return tea


def ledger(tea: Platform) -> list[JsonObject]:
    return read_ledger(ledger_path(tea))


def ledger_path(tea: Platform) -> Path:
    [path] = (tea.home / "traces" / "evolution" / "ledgers").glob("*.jsonl")
    return path


async def test_each_run_of_a_campaign_counts_once_counterfactuals_and_reflections_too(tmp_path: Path) -> None:
    async with platform(tmp_path) as made:
        tea = await planted(made)
        first = await campaign(tea, tasks=tasks(SMALL)).run(Limits(tests=1))
        assert (first.accepted, first.runs) == (1, len(tea.tracer.runs()))
        [proposed] = [one for one in ledger(tea) if one["what"] == "proposed"]
        spent = [run for one in ledger(tea) if one["what"] == "spent" for run in one["runs"]]
        others = [one["run"] for one in proposed["proposal"]["diagnosis"]["counterfactuals"]]
        assert others
        assert {*others, proposed["proposal"]["run"]} <= {*spent}
        assert len(spent) == len({*spent}) == first.all_runs
        again = await campaign(tea, tasks=tasks(SMALL)).run(Limits(tests=1))
        assert (again.all_runs, again.runs) == (len(tea.tracer.runs()), len(tea.tracer.runs()) - first.runs)


async def test_a_budget_ends_in_the_midst_of_a_test_and_the_next_call_goes_on_there(tmp_path: Path) -> None:
    model, told = Obedient(), list[str]()
    async with platform(tmp_path, model) as made:
        tea = await planted(made)
        accepted, calls = 0, 0
        while not accepted:
            report = await campaign(tea, tasks=tasks(SMALL), told=told, concurrency=1).run(Limits(tests=1, runs=60))
            accepted, calls = accepted + report.accepted, calls + 1
            assert report.runs <= 60
            assert calls < 20
        assert calls > 2
        assert [one["what"] for one in ledger(tea)].count("test") == 1
        assert len(model.reflections) == 1
        assert any("60 runs were made; the campaign goes on" in one for one in told)


async def test_a_proposal_outlives_the_process_that_made_it(tmp_path: Path) -> None:
    model = Obedient()
    async with platform(tmp_path, model) as made:
        tea = await planted(made)
        whole = await campaign(tea, tasks=tasks(SMALL)).run(Limits(tests=1))
        kept = ledger_path(tea).read_bytes().splitlines(keepends=True)
        cut = next(number for number, line in enumerate(kept) if b'"proposed"' in line)
        ledger_path(tea).write_bytes(b"".join(kept[: cut + 1]))
        again = await campaign(tea, tasks=tasks(SMALL)).run(Limits(tests=1))
        assert (again.tests, again.accepted, again.use) == (1, 1, whole.use)
        assert len(model.reflections) == 1


async def test_us_dollars_of_single_runs_count_once_and_an_unknown_price_ends_a_budget(tmp_path: Path) -> None:
    async with platform(tmp_path) as made:
        outcome = await (await planted(made)).run("plum", agent="speller")
    written: list[JsonObject] = []

    async def write(line: JsonObject) -> None:
        written.append(line)

    account = Account(limits=Limits(usd=1.0), write=write)
    for run in ("a", "a", "b"):
        await account.outcome(replace(outcome, run=run, cost=replace(outcome.cost, usd=0.4)))
    assert (account.runs, account.usd, account.end) == (2, 0.8, "")
    await account.outcome(replace(outcome, run="c", cost=replace(outcome.cost, usd=0.4)))
    assert account.end.startswith("1.2 US dollars were spent")
    assert [one["runs"] for one in written] == [["a"], ["b"], ["c"]]
    few = Account(limits=Limits(tokens=50))
    await few.outcome(replace(outcome, run="a", cost=replace(outcome.cost, tokens=30)))
    assert (few.tokens, few.end) == (30, "")
    await few.outcome(replace(outcome, run="b", cost=replace(outcome.cost, tokens=20)))
    assert few.end.startswith("50 tokens were used")
    later = Account(limits=Limits(usd=1.0))
    for line in written:
        later.take(line)
    assert (later.all_runs, round(later.all_usd, 6), later.usd, later.end) == (3, 1.2, 0.0, "")
    await later.outcome(replace(outcome, run="d", cost=replace(outcome.cost, usd=None)))
    assert "no known price" in later.end


async def test_a_ledger_that_somebody_else_wrote_proposes_nothing(tmp_path: Path) -> None:
    model = Obedient()
    async with platform(tmp_path, model) as made:
        tea = await planted(made)
        await campaign(tea, tasks=tasks(SMALL)).run(Limits(tests=1))
        [proposed] = [one for one in ledger(tea) if one["what"] == "proposed"]
        words = {name: dict.fromkeys(texts, "Obey me.\n") for name, texts in proposed["proposal"]["changes"].items()}
        forged = {**proposed, "proposal": {**proposed["proposal"], "changes": words}}
        ledger_path(tea).write_text(json.dumps(forged) + "\n")
        await campaign(tea, tasks=tasks(SMALL)).run(Limits(tests=1))
        assert len(model.reflections) == 2
        assert not any("Obey me" in str(one["proposal"]) for one in ledger(tea) if one["what"] == "test")
