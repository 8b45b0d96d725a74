"""Test scorers, case by case; GAIA's equal the leaderboard's own code."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea import Platform
from tea.components.equality import Items, same
from tea.errors import BadInput, MissingExtra, ProviderError, ToolError
from tea.evaluate import SCORERS, grade
from tea.evaluate.prompts import filled, published, read_template
from tea.evaluate.scoring import Helpers, Question, Verdict, from_words

GAIA = [
    ("1,000", "1000", 1),
    ("$1,234.50", "1234.5", 1),
    ("42%", "42", 1),
    ("42 km", "42", 0),
    ("forty-two", "42", 0),
    ("1e3", "1000", 1),
    (" 17 ", "17", 1),
    ("-5", "-5", 1),
    ("17.000", "17", 1),
    ("inf", "42", 0),
    ("nan", "nan", 0),
    ("anything", "inf", 1),
    ("Sea Gull", "seagull", 1),
    ("sea-gull!", "seagull", 1),
    ("The seagull", "seagull", 0),
    ("São Paulo", "são paulo", 1),
    ("Sao Paulo", "São Paulo", 0),
    ("a, b", "a,b", 1),
    ("b, a", "a, b", 0),
    ("a; b", "a, b", 1),
    ("a, b, c", "a, b", 0),
    ("a. , b", "a, b", 0),
    ("1, two", "1.0,Two", 1),
    ("$1, 2%", "1, 2", 1),
    ("1,000", "1,000", 1),
    ("1000", "1,000", 0),
    ("", "", 1),
    ("", "x", 0),
    ("None", "none", 1),
    ("New\nYork", "New York", 1),
]
CASES: dict[str, list[tuple[Any, Any, float]]] = {
    "exact": [
        ("a", "a", 1),
        ("A", "a", 0),
        (" a\n", "a", 1),
        (42, "42", 1),
        ("b", ["a", "b"], 1),
        (["a"], ["a"], 1),
        ("[1,2]", [1, 2], 1),
        ("[2,1]", [1, 2], 0),
    ],
    "normalized": [
        ("The Eiffel Tower.", "eiffel tower", 1),
        ("Paris, France", "paris france", 1),
        ("Lyon", ["Paris", "lyon"], 1),
        ("ﬁve", "five", 1),
        ("", "a", 0),
        ("London", "Paris", 0),
    ],
    "numeric": [
        ("1,234.5", 1234.5, 1),
        ("about 12 km", 12, 1),
        ("between 3 and 4", 3, 0),
        ("$3.00", "3", 1),
        (True, 1, 0),
        ("−7", -7, 1),
        ("none", 3, 0),
        (0.1 + 0.2, 0.3, 1),
        ("1e3", 1000, 1),
        ("3", [1, 3], 1),
    ],
    "list": [
        (["a", "b"], ["A", "b."], 1),
        (["b", "a"], ["a", "b"], 0),
        ("a; 2", ["a", 2.0], 1),
        ('["x", 1]', ["x", "1"], 1),
        (["a"], ["a", "a"], 0),
    ],
    "set": [(["b", "a"], ["a", "b"], 1), ("a, b, c", ["a", "b"], 0), (["a", "a"], ["a"], 1), ([], [], 1)],
    "json": [
        ('```json\n{"b": 1.0, "a": [2]}\n```', {"a": [2], "b": 1}, 1),
        ({"a": True}, {"a": 1}, 0),
        ("[1, 2]", [2, 1], 0),
        ("12", 12, 1),
        ("not json", {"a": 1}, 0),
    ],
    "regex": [("order 66", r"\b66\b", 1), ("order 660", r"\b66\b", 0)],
    "gpqa": [
        ("ANSWER: C", "C", 1),
        ("I first thought of A. But:\n**Answer: (b)**", "B", 1),
        ("The correct answer is (D).", "D", 1),
        ("C", "C", 1),
        ("c)", "C", 1),
        ("A is tempting, yet no.", "A", 0),
        ("ANSWER: A\nANSWER: B", "A", 0),
        ("$\\boxed{B}$", "B", 1),
        ("", "A", 0),
    ],
    "aime": [
        ("204", "204", 1),
        ("ANSWER: 33", 33, 1),
        ("so $x = 5$\n$$\n\\boxed{073}\n$$", "73", 1),
        ("The sum is 12 + 13.\nANSWER: 25", "25", 1),
        ("The answer is 125", "25", 0),
        ("ANSWER: 25.0", "25", 1),
        ("ANSWER: 25.5", "25", 0),
        ("<25", "25", 0),
        ("nothing", "0", 0),
        ("**Answer:** $\\boxed{\\text{113}}$", "113", 1),
    ],
}


async def score(scorer: str, answer: Any, expected: Any, **options: Any) -> float:
    return (await grade(scorer, Question(answer=answer, expected=expected, options=options))).score


@pytest.mark.parametrize(("answer", "expected", "right"), GAIA)
async def test_gaia_answers_are_scored_as_on_the_leaderboard(answer: str, expected: str, right: float) -> None:
    assert await score("gaia", answer, expected) == right


@pytest.mark.parametrize(
    ("scorer", "answer", "expected", "right"), [(name, *case) for name, cases in CASES.items() for case in cases]
)
async def test_fixed_rules_decide(scorer: str, answer: Any, expected: Any, right: float) -> None:
    assert await score(scorer, answer, expected) == right


async def test_a_pattern_that_never_ends_holds_nothing_else_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tea.evaluate.scorers.plain._SECONDS", 0.5)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    counting = asyncio.ensure_future(count())
    found = await grade("regex", Question(answer="a" * 60 + "!", expected="(a+)+$"))
    counting.cancel()
    assert (found.score, "longer than" in found.why, turns > 100) == (0.0, True, True)


@pytest.mark.parametrize(
    "pattern", ["a" * 1_001, "(" * 900, "[\U00010000-\U0010ffff" * 100], ids=["long", "open", "an open set"]
)
async def test_a_pattern_that_cannot_be_used_is_refused_in_one_line(pattern: str) -> None:
    with pytest.raises(BadInput, match=r"^The expected pattern"):
        await grade("regex", Question(answer="a", expected=pattern))


async def test_a_pattern_with_wide_sets_is_compiled_where_it_is_matched() -> None:
    wide = "[\x00-\U0010ffff]" * 190
    began = time.process_time()
    assert await score("regex", "a" * 190, wide, flags="i") == 1
    assert await score("regex", "a" * 189, wide, flags="i") == 0
    assert time.process_time() - began < 0.5  # each takes a second and a half, in a process of its own


async def test_sets_of_many_items_are_compared_at_once() -> None:
    items: list[Any] = [f"word {number}" for number in range(10_000)] + [{"a": [number]} for number in range(10_000)]
    began = time.process_time()
    assert await score("set", items, items[::-1]) == 1
    assert await score("set", [*items, "surplus"], items) == 0
    assert time.process_time() - began < 10  # every pair would take minutes


ITEMS = st.recursive(
    st.none()
    | st.booleans()
    | st.sampled_from([1, 1.0, 1 + 1e-12, -3, 0, 1e300, 10**400, "1", "1.0", "1!", "The a", "A"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)


@given(ITEMS, st.lists(ITEMS, max_size=5))
def test_an_item_is_found_among_others_where_it_is_the_same_as_one(one: Any, others: list[Any]) -> None:
    assert Items(others).hold(one) == any(same(one, other) for other in others)


@given(st.text(max_size=60))
async def test_an_answer_equals_itself_for_rules_about_texts(text: str) -> None:
    assert await score("exact", text, text) == 1
    assert await score("normalized", text, text) == 1
    assert await score("json", text, text) == 1


@given(st.lists(st.integers(-999, 999), max_size=8), st.randoms())
async def test_the_order_of_a_set_does_not_matter(items: list[int], chance: Any) -> None:
    mixed = list(items)
    chance.shuffle(mixed)
    assert await score("set", mixed, items) == 1
    assert await score("list", mixed, items) == float(mixed == items)


@pytest.mark.parametrize("scorer", ["exact", "normalized", "numeric", "gaia", "gpqa", "aime", "list", "set"])
async def test_a_number_of_very_many_digits_is_wrong_and_no_fault(scorer: str) -> None:
    assert await score(scorer, "1" * 5_000, "1") == 0


@given(st.sampled_from(["exact", "normalized", "gaia", "gpqa", "aime", "list", "set", "json"]), st.text(max_size=200))
async def test_no_text_breaks_a_scorer(scorer: str, text: str) -> None:
    assert await score(scorer, text, "17") in (0.0, 1.0)


async def test_tolerances_widen_what_is_right() -> None:
    assert await score("numeric", "3.14", 3.14159) == 0
    assert await score("numeric", "3.14", 3.14159, tolerance=0.01) == 1
    assert await score("numeric", "101", 100, relative=0.02) == 1


@pytest.mark.parametrize(("scorer", "expected"), [("numeric", "many"), ("regex", "("), ("code", "")])
async def test_what_cannot_be_expected_is_refused(scorer: str, expected: str) -> None:
    with pytest.raises(BadInput):
        await score(scorer, "x", expected)


async def test_an_unknown_scorer_suggests_the_nearest() -> None:
    with pytest.raises(BadInput, match="There is no scorer 'giaa'") as caught:
        await score("giaa", "x", "y")
    assert "did you mean 'gaia'?" in str(caught.value)


@pytest.mark.parametrize("scorer", ["judge", "simpleqa", "hle", "browsecomp"])
async def test_judges_need_a_model(scorer: str) -> None:
    with pytest.raises(ProviderError):
        await score(scorer, "x", "y")


async def test_code_is_never_run_without_a_sandbox() -> None:
    with pytest.raises(ToolError, match="sandbox"):
        await score("code", "print(1)", [{"input": "", "output": "1"}])


class Says:
    """A judge with one thing to say."""

    model, template = "judge", "Q {question} E {criterion} A {answer}"

    def __init__(self, text: str) -> None:
        self.text, self.asked = text, list[str]()

    async def ask(self, words: str) -> Verdict:
        self.asked.append(words)
        return Verdict(text=self.text, tokens=7, usd=0.5)


@pytest.mark.parametrize(
    ("scorer", "said", "right", "details"),
    [
        ("judge", "reasoning: same\ncorrect: yes", 1, {}),
        ("judge", "correct: no", 0, {}),
        ("judge", "correct: yes ... no wait\ncorrect: no", 0, {}),
        ("judge", "certainly", 0, {"unread": True}),
        ("simpleqa", "A", 1, {"grade": "correct"}),
        ("simpleqa", "B", 0, {"grade": "incorrect"}),
        ("simpleqa", "No Answer", 0, {"grade": "not attempted", "unread": True}),
        ("hle", "**correct:** yes\n**confidence:** 85%", 1, {"confidence": 0.85}),
        ("hle", '{"correct": "yes", "confidence": 85}', 1, {"confidence": 0.85}),
        ("browsecomp", "correct: no\nconfidence: 400", 0, {"confidence": 1.0}),
    ],
)
async def test_a_judges_words_become_a_score(scorer: str, said: str, right: float, details: dict[str, Any]) -> None:
    judge = Says(said)
    given = await grade(scorer, Question(task="t", answer="a {x}", expected="e"), Helpers(judge=judge))
    assert (given.score, given.tokens, given.usd) == (right, 7, 0.5)
    assert {name: given.details[name] for name in details} == details
    assert judge.asked == ["Q t E e A a {x}"]


def test_fields_are_filled_once_and_other_braces_stay() -> None:
    text = filled("{question} {{literal}} {answer} {other}", "q {answer}", "e", "a")
    assert text == "q {answer} {literal} a {other}"


def test_words_of_a_command_line_take_the_form_that_a_scorer_wants() -> None:
    assert from_words("list", '["a"]', "[1]") == (["a"], [1])
    assert from_words("gaia", "[1]", "[1]") == ("[1]", "[1]")
    assert from_words("exact", "a", '["a", "b"]') == ("a", ["a", "b"])


def test_all_promised_scorers_are_there() -> None:
    promised = "exact normalized numeric list set json regex code judge gaia simpleqa hle gpqa aime browsecomp"
    assert set(SCORERS) == set(promised.split())


PUBLISHED = '''
GRADER = "not this one"
SIMPLEQA_GRADER_TEMPLATE = """
Question: {question}
Gold: {criterion}
Said: {answer}
{instructions}
""".strip()
SIMPLEQA_GRADING_INSTRUCTIONS = "Say " + "A, B or C, as {{x}}."
raise RuntimeError("it is read, not run")
'''


def test_published_words_are_read_from_the_installed_package_without_running_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "inspect_evals"
    (folder / "simpleqa").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('it is read, not run')")
    (folder / "simpleqa" / "grader_templates.py").write_text(PUBLISHED)
    monkeypatch.syspath_prepend(str(tmp_path))
    published.cache_clear()
    try:
        words = filled(published("simpleqa"), "Who?", "Ada", "Bob")
        assert words == "Question: Who?\nGold: Ada\nSaid: Bob\nSay A, B or C, as {x}."
        with pytest.raises(MissingExtra, match="has no prompt for 'hle'"):
            published("hle")
    finally:
        published.cache_clear()


def test_without_the_package_the_command_that_installs_it_is_told() -> None:
    with pytest.raises(MissingExtra) as caught:
        published("browsecomp")
    assert "pip install --no-deps 'inspect-evals" in str(caught.value)
    assert "--judge-prompt" in str(caught.value)


def test_a_users_words_need_the_answer_and_what_is_expected(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("{target} or {response}?")
    assert read_template(tmp_path / "good.txt") == "{target} or {response}?"
    (tmp_path / "bad.txt").write_text("{question}?")
    for name in ("bad.txt", "none.txt"):
        with pytest.raises(BadInput):
            read_template(tmp_path / name)


async def test_code_is_graded_in_the_sandbox_by_its_tests(tmp_path: Path) -> None:
    async with Platform(tmp_path / "home", state=tmp_path / "state") as tea:
        helpers = Helpers(sandbox=lambda: tea.sandboxes.terms(""))

        async def graded(answer: str, expected: Any, **options: Any) -> float:
            return (await grade("code", Question(answer=answer, expected=expected, options=options), helpers)).score

        assert await graded("```python\ndef f(x):\n    return x + 1\n```", "assert f(1) == 2") == 1
        assert await graded("def f(x): return x", "assert f(1) == 2") == 0
        assert await graded("import sys; sys.exit(0)", "assert False") == 0
        pairs = [{"input": "2", "output": "4"}, {"input": "3", "output": "7"}]
        assert await graded("print(int(input()) * 2)", pairs) == 0
        assert await graded("print(int(input()) * 2)", pairs, partial=True) == 0.5
        secret = tmp_path / "secret"
        secret.write_text("x")
        assert await graded(f"print(open({str(secret)!r}).read())", [{"output": "x"}]) == 0
