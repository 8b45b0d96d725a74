"""Test the window of a model, through the wire: folded, kept, and read again."""

import asyncio
import base64
import json
import random
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, Say, in_turn
from loopback import Reply, document
from run_kit import started
from wire_kit import Question, Script, call, ends, played, playing, says

from tea.loop.window import Window
from tea.runs.outcome import Outcome
from tea.types import Message, TextPart

LOOK = '''
from tea import tool


@tool(effects="reads", network=False)
async def look(n: int, size: int = 6000) -> str:
    """Look at page n."""
    return f"page {n} says: " + f"word{n} " * (size // (5 + len(str(n)))) + f"end of page {n}"
'''
FACT = "The key of the first page is 4711."
WINDOW = 16_000
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
STATE = {
    "answer": "",
    "facts": [{"fact": "page 1 is about tea", "source": "c1_1", "checked": True}],
    "gaps": ["the last page"],
    "failed": [],
    "leads": [],
}
CHAT = DIALECTS["openai_chat"]
Model = Callable[[Question], Say | Reply]


@pytest.fixture
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return in_turn(request.node.name)


class Reader:
    """A model reading a page in each step, and noting the first one's words."""

    def __init__(
        self, steps: int, *, size: int = 6000, words: int = 0, state: Say | Reply | None = None, also: Any = None
    ) -> None:
        self.steps, self.size, self.words, self.also = steps, size, words, also or {}
        self.state = state or Say(text=json.dumps(STATE))
        self.step = 0

    def __call__(self, question: Question) -> Say | Reply:
        if not question.functions:
            return self.state
        self.step += 1
        if self.step > self.steps:
            return ends("4711" if FACT in question.words else "lost")
        text = f"Step {self.step}: {'so it goes ' * (self.words // 11)}"
        calls = [call("look", n=self.step, size=self.size)]
        if self.step == 1:
            calls.append(call("note", fact=FACT, source="page 1"))
        return self.also.get(self.step) or says(*calls, text=text)


async def read(
    folder: Path, dialect: Dialect, model: Model, *, budget: Any = None, text: str = "Read all.", **options: Any
) -> tuple[Outcome, Script]:
    task = {"text": text, "tools": ["look", "done"], **({"budget": budget} if budget else {})}
    settings = {"context": WINDOW, **options}
    outcome, script = await played(folder, dialect, model, LOOK, task=task, **settings)
    for one in script.asked:
        assert one.size <= settings["context"], (one.number, one.size)
        assert one.results is not None
    return outcome, script


def changes(asked: Sequence[Question]) -> int:
    """Return how often the beginning of the questions changed; functions are only ever added, behind all others."""
    found = 0
    for one, other in pairwise(asked):
        if one.beginning != other.beginning:
            assert other.functions[: len(one.functions)] == one.functions
            found += 1
    return found


async def test_forty_long_steps_stay_inside_the_window_and_the_first_fact_is_known(
    dialect: Dialect, tmp_path: Path
) -> None:
    outcome, script = await read(tmp_path, dialect, Reader(40))
    assert (outcome.answer, len(script.asked)) == ("4711", 41)
    assert all(FACT in one.words for one in script.asked[1:])
    assert changes(script.asked) == 1  # when half of the window is full, `note` and the like are added
    last = script.asked[-1].results
    pages = {id: text for id, text in last.items() if "page" in text}
    full = [id for id, text in pages.items() if "end of page" in text]
    assert full == list(pages)[-len(full) :]
    assert 3 <= len(full) <= 5
    folded = [text for id, text in pages.items() if id not in full]
    assert all(f'read_result(id="{id}")' in pages[id] for id in pages if id not in full)
    assert all(len(text) < 200 for text in folded)
    assert "Step 30: so" not in script.asked[-1].words.partition("Step 35")[0] or folded


async def test_what_is_folded_away_is_known_by_how_its_content_begins(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("name,size\n" + "".join(f"bird{n},{n}\n" for n in range(900)))
    query = "SELECT name, size FROM t WHERE size >= {} LIMIT 300"
    queries = [says(call("table_query", files=["t.csv"], sql=query.format(n), limit=300)) for n in range(8)]
    task = {"text": "How many?", "files": [tmp_path / "t.csv"]}
    outcome, script = await played(tmp_path, CHAT, [*queries, ends("900")], task=task, context=8_000)
    assert outcome.answer == "900"
    folded = [text for text in script.asked[-1].results.values() if text.startswith("[folded away: ")]
    assert folded
    assert folded[0].startswith("[folded away: name,size bird0,0 bird1,1 ")


async def test_nothing_folds_before_three_quarters_are_full(tmp_path: Path) -> None:
    _, script = await read(tmp_path, CHAT, Reader(12))
    for one, other in pairwise(script.asked):
        folded = "folded away" in other.words and "folded away" not in one.words
        assert not folded or one.size + 1_700 > 0.75 * WINDOW
        if "folded away" not in other.words:
            assert json.dumps(other.messages).startswith(json.dumps(one.messages[:-1])[:-1])


@pytest.mark.parametrize("fold", ["recent", "restart"])
async def test_a_large_context_is_folded_after_a_hundred_thousand_tokens_of_steps(tmp_path: Path, fold: str) -> None:
    outcome, script = await read(tmp_path, CHAT, Reader(36, size=19_000), context=1_000_000, fold=fold)
    assert outcome.answer == "4711"
    sizes = [one.size for one in script.asked]
    assert 90_000 < max(sizes) < 115_000
    folds = [after for before, after in pairwise(sizes) if after < before]
    assert len(folds) in (1, 2)
    assert all(one < 75_000 for one in folds)


@pytest.mark.parametrize(("budget", "asked"), [(None, 51), ({"steps": 20}, 20), ({"steps": 80}, 61)])
async def test_a_budget_of_more_steps_than_usual_allows_them(tmp_path: Path, budget: Any, asked: int) -> None:
    outcome, script = await read(tmp_path, CHAT, Reader(60, size=200), budget=budget, context=64_000)
    assert (len(script.asked), outcome.answer == "4711") == (asked, asked == 61)


def test_what_a_question_holds_beside_the_steps_does_not_fill_a_large_context() -> None:
    window = Window(context=1_000_000, fold="recent", before=300_000)
    window.add(Message(role="user", content=(TextPart(text="head " * 80_000),)), lasting=True)
    window.add(Message(role="user", content=(TextPart(text="step " * 79_000),)))
    assert not window.full()
    window.add(Message(role="user", content=(TextPart(text="step " * 2_000),)))
    assert window.full()
    assert Window(context=1_000_000, fold="recent", before=760_000).full()


async def test_the_last_five_results_stay_in_full_where_half_of_the_window_holds_them(tmp_path: Path) -> None:
    _, script = await read(tmp_path, CHAT, Reader(30, size=3000))
    folds = [one for one in script.asked if "folded away" in one.words]
    assert folds
    for one in folds:
        pages = [text for text in one.results.values() if "page" in text]
        assert all("end of page" in text for text in pages[-5:])
    assert all(f"Step {n}: " in script.asked[-1].words for n in range(1, 31))


@pytest.mark.parametrize("fold", ["recent", "restart", "summary"])
async def test_long_words_of_the_model_do_not_break_the_window(tmp_path: Path, fold: str) -> None:
    outcome, script = await read(tmp_path, CHAT, Reader(25, words=8_000), fold=fold)
    assert outcome.answer == "4711"
    assert changes(script.steps) == 1


@pytest.mark.parametrize("words", [30_000, 60_000])
async def test_even_a_single_reply_that_is_longer_than_half_of_the_window_goes_on(tmp_path: Path, words: int) -> None:
    outcome, _ = await read(tmp_path, CHAT, Reader(6, words=words))
    assert outcome.answer == "4711"


@pytest.mark.parametrize("counts", [0, 0.01])
async def test_a_provider_that_counts_nothing_or_far_too_little_is_kept_inside_the_window_too(
    dialect: Dialect, tmp_path: Path, counts: float
) -> None:
    outcome, _ = await read(tmp_path, dialect, Reader(25, words=2_000), counts=counts)
    assert outcome.answer == "4711"


@pytest.mark.parametrize("counts", [0.5, 2])
async def test_it_folds_by_what_the_provider_counts(tmp_path: Path, counts: float) -> None:
    task = {"text": "Read all.", "tools": ["look", "done"]}
    outcome, script = await played(tmp_path, CHAT, Reader(35), LOOK, task=task, counts=counts, context=32_000)
    assert outcome.answer == "4711"
    first = next(one for one in script.asked if "folded away" in one.words)
    before = script.asked[first.number - 2]
    assert 0.65 * 32_000 < counts * before.size < 0.8 * 32_000
    assert max(counts * one.size for one in script.asked) <= 32_000


async def test_results_in_other_scripts_stay_inside_the_window(tmp_path: Path) -> None:
    tool = LOOK.replace("word{n}", "\u8336\u8449{n}")
    task = {"text": "Read all.", "tools": ["look", "done"]}
    outcome, script = await played(tmp_path, CHAT, Reader(8, size=40_000), tool, task=task, context=WINDOW)
    assert outcome.answer == "4711"
    assert max(one.size for one in script.asked) <= WINDOW


async def test_results_of_many_calls_in_one_step_are_all_seen_once(tmp_path: Path) -> None:
    many = says(*(call("look", n=n) for n in range(10, 19)))
    _, script = await read(tmp_path, CHAT, Reader(8, also={6: many}))
    seen = [text for id, text in script.asked[6].results.items() if id.startswith("c6_")]
    assert len(seen) == 9
    assert not any("folded away" in text for text in seen)
    assert "folded away" in script.asked[6].results["c2_1"]


async def test_a_result_longer_than_a_small_window_is_shown_in_parts_that_fit(tmp_path: Path) -> None:
    parts: list[str] = []

    def model(question: Question) -> Say:
        results = list(question.results.values())
        if not results:
            return says(call("look", n=1, size=30_000))
        parts.append(results[-1])
        if "reads on" not in results[-1]:
            return ends("seen")
        start = results[-1].rpartition("start=")[2].partition(")")[0]
        return says(call("read_result", id="c1_1", start=int(start)))

    outcome, script = await read(tmp_path, CHAT, model, context=6_000, text="Read it.")
    assert outcome.answer == "seen"
    assert not any("folded away" in one for one in parts)
    shown = "".join(re.sub(r"\n\[(cut|characters|left).*", "", one, flags=re.DOTALL) for one in parts)
    assert shown == f"page 1 says: {'word1 ' * 5_000}end of page 1"
    assert any("folded away" in one.words for one in script.asked)


@pytest.mark.parametrize("fold", ["recent", "restart", "summary"])
async def test_what_was_folded_away_is_readable_by_its_handle_after_several_folds(tmp_path: Path, fold: str) -> None:
    again = {n: says(call("read_result", id="c1_1")) for n in (30, 31, 32)}
    outcome, script = await read(tmp_path, CHAT, Reader(33, also=again), fold=fold)
    assert outcome.answer == "4711"
    for question in script.asked:
        if "c30_1" in question.results and "c31_1" not in question.results:
            assert "end of page 1" in question.results["c30_1"]
            break
    else:
        raise AssertionError
    last = script.asked[-1].words
    assert "c2_1" in last or "lines before these are left out" in last


async def test_read_results_fold_to_the_handle_of_what_they_read(tmp_path: Path) -> None:
    again = {n: says(call("read_result", id="c1_1", start=10)) for n in range(2, 12)}
    _, script = await read(tmp_path, CHAT, Reader(13, also=again))
    assert 'read_result(id="c1_1", start=10) shows it again' in script.asked[-1].results["c2_1"]


async def test_more_facts_than_fit_are_refused_and_those_known_stay(tmp_path: Path) -> None:
    notes = {n: says(call("look", n=n), call("note", fact=f"{n} {'fact ' * 300}")) for n in range(2, 20)}
    outcome, script = await read(tmp_path, CHAT, Reader(20, also=notes), context=WINDOW)
    assert outcome.answer == "4711"
    assert "The ledger is full" in script.asked[-2].words


async def test_what_is_noted_counts_before_a_provider_counts_it(tmp_path: Path) -> None:
    """Note all of it in a step with results filling the rest of the window."""
    notes = [call("note", fact=f"{n} {'fact ' * 330}") for n in range(4)]
    many = says(*notes, *(call("look", n=n) for n in range(10, 13)))
    _, script = await read(tmp_path, CHAT, Reader(8, also={5: many}))
    assert "folded away" not in script.asked[4].words
    assert script.asked[5].size <= 0.77 * WINDOW  # it is an estimate
    assert "folded away" in script.asked[5].words


@pytest.mark.parametrize("fold", ["restart", "summary"])
async def test_a_model_says_what_to_carry_on_and_it_stands_in_the_next_question(
    dialect: Dialect, tmp_path: Path, fold: str
) -> None:
    outcome, script = await read(tmp_path, dialect, Reader(25), fold=fold)
    assert outcome.answer == "4711"
    asked = [position for position, one in enumerate(script.asked) if not one.functions]
    assert 2 <= len(asked) <= 8
    assert outcome.cost.steps == len(script.asked)
    for position in asked:
        assert "end of page" in script.asked[position].words
        after = script.asked[position + 1]
        assert "page 1 is about tea" in after.words
        assert after.words.count("What it came to:") == 1
        pages = [text for text in after.results.values() if "end of page" in text]
        assert (len(pages) == 0) == (fold == "restart")


@pytest.mark.parametrize("fold", ["restart", "summary"])
@pytest.mark.parametrize(
    "bad", [Say(text="no JSON at all"), Say(), document({"error": {"message": "no"}}, 400), Say(refusal="I will not.")]
)
async def test_where_the_model_cannot_say_it_old_results_become_a_line_each(
    tmp_path: Path, fold: str, bad: Say | Reply
) -> None:
    outcome, script = await read(tmp_path, CHAT, Reader(12, state=bad), fold=fold)
    assert outcome.answer == "4711"
    assert "folded away" in script.asked[-1].words
    assert len(script.asked) > len(script.steps)


async def test_a_state_in_another_form_is_asked_for_once_more(tmp_path: Path) -> None:
    def model(question: Question) -> Say | Reply:
        states.append(question.words) if not question.functions else None
        return Say(text="no JSON at all") if len(states) == 1 and not question.functions else reader(question)

    reader, states = Reader(12), list[str]()
    outcome, script = await read(tmp_path, CHAT, model, fold="restart")
    assert outcome.answer == "4711"
    assert "could not be used" in states[1]
    first = next(at for at, one in enumerate(script.asked) if not one.functions)
    assert "What it came to:" in script.asked[first + 2].words


async def test_who_cannot_say_it_is_asked_less_and_less_often(tmp_path: Path) -> None:
    outcome, script = await read(tmp_path, CHAT, Reader(30, state=Say(text="no JSON at all")), fold="restart")
    assert outcome.answer == "4711"
    asked = [at for at, one in enumerate(script.asked) if not one.functions and "could not be used" not in one.words]
    assert 2 <= len(asked) <= 5
    gaps = [later - sooner for sooner, later in pairwise(asked)]
    assert gaps == sorted(gaps)


@pytest.mark.parametrize("steps", range(6, 14))
async def test_a_fold_never_takes_the_last_question_away(tmp_path: Path, steps: int) -> None:
    def model(question: Question) -> Say | Reply:
        if "This is the last question" in question.words and question.functions:
            return ends("my best")
        return reader(question)

    reader = Reader(99)
    outcome, script = await read(tmp_path, CHAT, model, fold="restart", budget={"steps": steps})
    assert (outcome.answer, outcome.exit_code) == ("my best", 0)
    assert outcome.cost.steps == len(script.asked) == steps
    assert script.asked[-1].functions


@pytest.mark.parametrize("fold", ["recent", "restart", "summary"])
async def test_what_the_model_was_told_last_is_never_folded_unread(tmp_path: Path, fold: str) -> None:
    """Let its words miss the wanted form, and be long enough to fold unread."""
    reader = Reader(8, also={6: Say(text="Let me think. " * 3_000)})
    task = {"text": "Read all.", "tools": ["look", "done"], "answer": {"type": "string", "maxLength": 10}}
    outcome, script = await played(tmp_path, CHAT, reader, LOOK, task=task, context=WINDOW, fold=fold)
    assert outcome.answer == "4711"
    after = script.steps[6]
    assert "does not fit" in str(after.messages[-2:])
    assert max(one.size for one in script.asked) <= WINDOW


@pytest.mark.parametrize("fold", ["recent", "restart", "summary"])
async def test_what_a_person_says_in_the_middle_is_never_folded(tmp_path: Path, fold: str) -> None:
    word = f"Use the year 2023 {'and only that ' * 60}please."
    tellings: list[Any] = []

    def model(question: Question) -> Say | Reply:
        if question.number == 3:
            tellings.append(asyncio.get_running_loop().create_task(tea.tell("last", word)))
        return reader(question)

    reader = Reader(30, words=3_000)
    async with playing(tmp_path, CHAT, model, context=WINDOW, fold=fold) as (tea, script):
        await tea.tcp.register(LOOK)
        outcome = await tea.run("Read all.", tools=["look", "done"])
        await asyncio.gather(*tellings)
        assert outcome.answer == "4711"
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
    told = [word in one.words for one in script.steps]
    assert told.index(True) < 27  # a busy machine takes its time
    assert all(told[told.index(True) :])
    assert max(one.size for one in script.asked) <= WINDOW


def too_long(words: str = "This model's maximum context length is 8,000 tokens.") -> Reply:
    return document({"error": {"message": words, "type": "invalid_request_error"}}, 400)


class Short:
    """A reader with a provider of fewer tokens than its configuration says."""

    def __init__(self, most: int, reader: Reader, words: str) -> None:
        self.most, self.reader, self.words = most, reader, words

    def __call__(self, question: Question) -> Say | Reply:
        return too_long(self.words.format(self.most)) if question.size > self.most else self.reader(question)


@pytest.mark.parametrize("fold", ["recent", "restart"])
@pytest.mark.parametrize("words", ["The maximum context length is {} tokens.", "The prompt is too long."])
async def test_a_question_that_is_too_long_is_folded_and_asked_again(
    dialect: Dialect, tmp_path: Path, words: str, fold: str
) -> None:
    model = Short(9_000, Reader(15), words)
    outcome, script = await read(tmp_path, dialect, model, context=60_000, fold=fold)
    assert outcome.answer == "4711"
    refused = [one for one in script.asked if one.size > 9_000]
    assert 1 <= len(refused) <= 4


async def test_a_provider_that_always_says_too_long_ends_the_run_honestly(dialect: Dialect, tmp_path: Path) -> None:
    def model(question: Question) -> Say | Reply:
        return too_long("The prompt is too long.") if question.number > 6 else reader(question)

    reader = Reader(15)
    outcome, script = await read(tmp_path, dialect, model, context=60_000)
    assert outcome.error is not None
    assert (outcome.error["code"], outcome.exit_code) == ("ContextLengthExceeded", 4)
    assert "too long" in outcome.error["problem"]
    assert 8 <= len(script.asked) <= 10


@pytest.mark.parametrize("fold", ["recent", "restart", "summary"])
async def test_a_task_that_is_longer_than_the_window_ends_with_one_clear_error(tmp_path: Path, fold: str) -> None:
    def model(question: Question) -> Say | Reply:
        return too_long() if question.size > 8_000 else ends("never")

    task = {"text": "word " * 20_000}
    outcome, script = await played(tmp_path, CHAT, model, task=task, context=8_000, fold=fold)
    assert outcome.error is not None
    assert (outcome.error["code"], outcome.exit_code) == ("ContextLengthExceeded", 4)
    assert len(script.asked) == 1


@pytest.mark.parametrize("fold", ["recent", "restart", "summary"])
async def test_an_image_shown_at_the_beginning_survives_every_fold(dialect: Dialect, tmp_path: Path, fold: str) -> None:
    (tmp_path / "map.png").write_bytes(PNG)
    options = {"fold": fold, "context": WINDOW, "capabilities": ["tools", "vision", "schema"]}
    task = {"text": "Read all.", "tools": ["look", "done"], "files": [tmp_path / "map.png"]}
    outcome, script = await played(tmp_path, dialect, Reader(20, words=2_000), LOOK, task=task, **options)
    assert outcome.answer == "4711"
    assert all(base64.b64encode(PNG).decode() in json.dumps(one.body) for one in script.steps)


async def test_a_model_without_functions_is_kept_inside_its_window_too(tmp_path: Path) -> None:
    def model(question: Question) -> Say:
        if "Answer with one JSON object and no other text, in at most" in question.words:
            return Say(text=json.dumps(STATE))
        steps.append(question)
        made = [{"name": "look", "arguments": {"n": len(steps)}}]
        if len(steps) == 1:
            made.append({"name": "note", "arguments": {"fact": FACT}})
        if len(steps) == 20:
            made = [{"name": "done", "arguments": {"answer": "4711" if FACT in question.words else "lost"}}]
        record = {"thinking": "t " * 500, "evaluation": "e", "memory": "m " * 900, "next_goal": "g", "calls": made}
        return Say(text=json.dumps(record))

    for fold in ("recent", "restart", "summary"):
        steps: list[Question] = []
        task = {"text": "Read all.", "tools": ["look", "done"]}
        (folder := tmp_path / fold).mkdir()
        options = {"capabilities": ["schema"], "context": WINDOW, "fold": fold}
        outcome, script = await played(folder, CHAT, model, LOOK, task=task, **options)
        assert outcome.answer == "4711"
        assert max(one.size for one in script.asked) <= WINDOW


@pytest.mark.parametrize("fold", ["recent", "restart"])
async def test_a_run_forks_before_and_after_a_fold(tmp_path: Path, fold: str) -> None:
    reader = Reader(14)
    async with playing(tmp_path, CHAT, lambda question: reader(question), context=WINDOW, fold=fold) as (tea, script):
        await tea.tcp.register(LOOK)
        outcome = await tea.run("Read all.", tools=["look", "done"])
        assert outcome.answer == "4711"
        starts = [one for one in tea.tracer.records(outcome.run) if one.kind == "start"]
        asked = [one.seq for one in starts if one.data["kind"] == "model"]
        for question in (2, 7, 8, 9, len(asked)):
            reader.step = len([one for one in script.asked[: question - 1] if one.functions])
            before = len(script.asked)
            forked = await tea.fork(outcome.run, at=asked[question - 1])
            assert (forked.answer, forked.exit_code) == ("4711", 0), question
            assert len(script.asked) - before == len(asked) - question + 1
            assert (await tea.replay(forked.run)).to_json() == forked.to_json()


@pytest.mark.slow
async def test_a_run_killed_in_the_question_of_a_fold_goes_on_and_replays(tmp_path: Path) -> None:
    reader = Reader(14)
    hangs = Reply(headers={"content-type": "application/json"}, chunks=[b" "], then="hang")
    hung = asyncio.Event()

    def model(question: Question) -> Say | Reply:
        if not question.functions and not hung.is_set():
            hung.set()
            return hangs
        return reader(question)

    async with playing(tmp_path, CHAT, model, context=WINDOW, fold="restart") as (tea, script):
        await tea.tcp.register(LOOK)
        line = ("run", "Read all.", "--tool", "look", "--tool", "done", "-q", "--json")
        process = await started(tmp_path, *line)
        await asyncio.wait_for(hung.wait(), 30)
        process.kill()
        await process.wait()
        before = len(script.asked)
        outcome = await tea.resume("last")
        assert (outcome.answer, outcome.exit_code) == ("4711", 0)
        assert not script.asked[before].functions
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()


class Erratic:
    """A model calling, repeating, reading again and talking by a seed."""

    def __init__(self, seed: int) -> None:
        self.chance, self.step = random.Random(seed), 0

    def __call__(self, question: Question) -> Say:
        assert question.results is not None
        if not question.functions:
            long = {**STATE, "answer": "long " * 4_000}
            return Say(text=self.chance.choice([json.dumps(STATE), json.dumps(long), "no"]))
        self.step += 1
        return ends("4711" if FACT in question.words else "lost") if self.step > 20 else self.anything()

    def anything(self) -> Say:
        chance, step = self.chance, self.step
        many, sizes = chance.choice([1, 1, 1, 2, 5, 9]), [10, 500, 6_000, 30_000]
        calls: list[tuple[str, Any]] = [call("look", n=step * 10 + n, size=chance.choice(sizes)) for n in range(many)]
        if step == 1:
            return says(call("note", fact=FACT), *calls)
        if chance.random() < 0.3:
            calls.append(call("read_result", id=f"c{chance.randint(1, step - 1)}_1", start=chance.choice([0, 100])))
        if chance.random() < 0.1:
            calls.append(("look", '{"n": 1'))
        if chance.random() < 0.1:
            calls.append(call("look", n=step * 10, junk="x" * chance.choice([10, 20_000])))
        return says(*calls, text="so " * chance.choice([0, 10, 3_000, 9_000]))


@pytest.mark.parametrize("seed", [pytest.param(one, marks=pytest.mark.slow if one > 2 else ()) for one in range(12)])
async def test_whatever_a_model_does_each_question_fits_and_no_pair_is_torn(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    dialect, fold = DIALECTS[chance.choice(sorted(DIALECTS))], chance.choice(["recent", "restart", "summary"])
    context, counts = chance.choice([6_000, 8_000, 16_000, 32_000]), chance.choice([0, 1, 1])
    outcome, _ = await read(tmp_path, dialect, Erratic(seed), context=context, fold=fold, counts=counts)
    assert outcome.answer == "4711"
