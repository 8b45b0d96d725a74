"""Test the index: equal documents rank equally by any way; keywords, usage, routing and offers."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tea.errors import BadInput
from tea.loop.shortlist import MOST_SCHEMAS, MOST_TOKENS, nearest, within_limits
from tea.registry.row import Row
from tea.retrieval.embedding.builtin import StaticEmbedder
from tea.retrieval.index import Document, Index
from tea.retrieval.keywords import Keywords
from tea.retrieval.search import Retrieval
from tea.retrieval.terms import stem, terms
from tea.retrieval.usage import MOST_USES, weighed
from tea.store.usage import Use

BUILTIN = StaticEmbedder()
NOW = datetime(2026, 6, 1, tzinfo=UTC)
WORDS = ("rain", "forecast", "money", "convert", "train", "route", "cook", "meal", "star", "observe", "file", "read")

names = some.sampled_from("abcdefgh")
texts = some.lists(some.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
served = some.lists(some.tuples(texts, some.sampled_from([0.25, 0.5, 1.0])), max_size=2, unique_by=lambda one: one[0])
documents = some.builds(lambda text, uses: Document(text=text, served=tuple(uses)), texts, served)
shelves = some.dictionaries(names, documents, max_size=8)


class NoEvidence:
    def uses(self, *asked: Any) -> list[Use]:
        return []


class NoVectors:
    def get(self, embedder: str, texts: Sequence[str]) -> dict[str, bytes]:
        return {}

    def add(self, embedder: str, vectors: Any) -> None:
        pass

    def drop(self, texts: Sequence[str]) -> None:
        pass


def ranked(index: Index, query: str, k: int = 50) -> list[tuple[str, float]]:
    scores = index.search(query, BUILTIN.embed([query])[0])
    return [(name, scores.score(name)) for name in scores.best(k)]


def filled(shelf: dict[str, Document]) -> Index:
    index = Index(BUILTIN.embed)
    index.update(shelf)
    return index


def alike(one: list[tuple[str, float]], other: list[tuple[str, float]]) -> bool:
    """Tell whether two rankings are the same but for the noise of adding up in another order."""
    return [score for _, score in one] == pytest.approx([score for _, score in other], abs=3e-5) and dict(
        one
    ) == pytest.approx(dict(other), abs=3e-5)


@settings(max_examples=60)
@given(some.lists(shelves, min_size=1, max_size=5), texts)
def test_changes_one_after_the_other_rank_like_the_last_state_from_scratch(
    shelf: list[dict[str, Document]], query: str
) -> None:
    index = Index(BUILTIN.embed)
    for one in shelf:
        index.update(one)
    assert alike(ranked(index, query), ranked(filled(shelf[-1]), query))
    assert ranked(index, query) == ranked(index, query)


@settings(max_examples=60)
@given(shelves, documents, texts)
def test_adding_a_component_loses_no_other(shelf: dict[str, Document], more: Document, query: str) -> None:
    before, after = ranked(filled(shelf), query), ranked(filled({**shelf, "z": more}), query)
    assert {name for name, _ in after} == {name for name, _ in before} | {"z"}
    assert len(after) == len(before) + 1


@settings(max_examples=60)
@given(shelves, texts, some.integers(1, 9))
def test_fewer_results_are_the_first_of_more(shelf: dict[str, Document], query: str, k: int) -> None:
    index = filled(shelf)
    assert ranked(index, query, k) == ranked(index, query)[:k]
    assert [score for _, score in ranked(index, query)] == sorted((s for _, s in ranked(index, query)), reverse=True)


def test_equal_ones_stand_by_name_and_the_order_of_adding_does_not_matter() -> None:
    same = Document(text="convert money")
    for order in (range(300), reversed(range(300))):
        index = Index(BUILTIN.embed)
        for number in order:
            index.update({**index._documents, f"n{number:03}": same})  # pyright: ignore[reportPrivateUsage]
        assert [name for name, _ in ranked(index, "money", 5)] == [f"n{number:03}" for number in range(5)]


def test_an_embedder_that_fails_leaves_the_index_as_it_was() -> None:
    calls: list[int] = []

    def failing(texts: Sequence[str]) -> Any:
        calls.append(len(texts))
        if len(calls) == 2:
            raise BadInput("gone.", fix="come back.")
        return BUILTIN.embed(texts)

    index = Index(failing)
    index.update({"a": Document(text="convert money")})
    before = ranked(index, "money")
    with pytest.raises(BadInput):
        index.update({"b": Document(text="rain")})
    assert ranked(index, "money") == before


def test_rare_keywords_count_more_and_an_exact_word_beats_a_like_one() -> None:
    keywords = Keywords()
    for slot, text in enumerate(("convert money", "convert files", "convert files to text", "read stars")):
        keywords.put(slot, terms(text))
    scores = keywords.scores(terms("convert money"), 4)
    assert scores[0] > scores[1] > scores[2] > scores[3] == 0
    assert scores[0] == pytest.approx(1, abs=0.1)
    assert keywords.scores(terms("convert my grandmother's recipes"), 4)[0] < scores[1]
    keywords.remove(0)
    assert keywords.scores(terms("money"), 4).tolist() == [0, 0, 0, 0]
    assert keywords.scores([], 4).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "forms",
    [
        "forecast forecasts forecasting forecasted",
        "currency currencies",
        "plan plans planning planned",
        "glass glasses",
    ],
)
def test_forms_of_a_word_are_one_keyword(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("明日の天気を教えて", "weather"),
        ("我想翻译一个句子", "translator"),
        ("Ｗｅａｔｈｅｒ", "english"),
        ("ﬁles", "files"),
    ],
)
def test_scripts_without_spaces_and_letters_in_other_forms_have_keywords(query: str, name: str) -> None:
    told = {
        "weather": "都市の天気予報",
        "translator": "把句子翻译成英文",
        "english": "Weather of a city",
        "files": "Read files",
    }
    assert ranked(filled({one: Document(text=text) for one, text in told.items()}), query)[0][0] == name


@given(some.text(max_size=30))
def test_any_text_has_keywords(text: str) -> None:
    assert all(term and count >= 1 for term, count in terms(text).items())


def use(days: int = 0, *, text: str = "a task", name: str = "a", digest: str = "d") -> Use:
    return Use(run="r", kind="tool", name=name, digest=digest, text=text, time=(NOW - timedelta(days=days)).isoformat())


def test_uses_weigh_half_after_ninety_days_and_nothing_after_years() -> None:
    weights = [weighed([use(days)], {"a": "d"}, NOW).get("a") for days in (0, 90, 180, 3_000)]
    assert weights == [(("a task", 1.0),), (("a task", 0.5),), (("a task", 0.25),), None]
    assert weighed([use(digest="older")], {"a": "d"}, NOW) == {"a": (("a task", 0.5),)}
    assert weighed([use()], {"b": "d"}, NOW) == {}


def test_only_the_newest_uses_count_each_task_once() -> None:
    many = [use(days, text=f"task {days}") for days in range(200, -1, -1)]
    (counted,) = weighed(many, {"a": "d"}, NOW).values()
    assert {text for text, _ in counted} == {f"task {days}" for days in range(MOST_USES)}
    assert weighed([use(9), use(1)], {"a": "d"}, NOW)["a"][0][1] > 0.99


def served_by(uses: int, text: str, query: str, weight: float = 1.0) -> float:
    served = tuple((f"{text} {number}", weight) for number in range(uses))
    index = filled({"a": Document(text="rain", served=served), "b": Document(text="rain")})
    scores = index.search(query, BUILTIN.embed([query])[0])
    assert scores.why("b")["served"] == 0
    return scores.why("a")["served"]


def test_ever_more_use_counts_ever_less_more() -> None:
    gains = [served_by(uses, "convert money", "convert money") for uses in (0, 1, 4, 50)]
    assert gains == sorted(gains)
    assert gains[0] == 0 < gains[1] < gains[3] < 1
    assert gains[3] - gains[2] < gains[2] - gains[1]
    assert served_by(1, "convert money", "convert money", 0.25) < gains[1]


def test_other_tasks_take_a_component_no_further_from_its_own_words() -> None:
    assert served_by(4, "convert money", "rain") == 0


def listing(number: int, words: str = "Weigh the fish") -> Row:
    return Row(
        kind="tool",
        name=f"tool_{number:05}",
        version="1.0.0",
        trusted=True,
        category=f"category {number % 20}",
        toolkit=f"toolkit {number % 200}",
        digest=f"sha256:{number}",
        text=f"tool {number}\n{words} number {number}.",
    )


class Known:
    """A protocol of ten thousand tools, as seen from inside a component."""

    def __init__(self, listings: list[Row]) -> None:
        self.retrieval = Retrieval(lambda: BUILTIN, NoVectors(), NoEvidence())  # pyright: ignore[reportArgumentType]
        self.listings = listings

    async def retrieve(
        self, query: str, k: int = 5, *, besides: Any = (), unseen: bool = False, **options: Any
    ) -> list[dict[str, Any]]:
        assert not besides
        assert unseen  # what is weighed is not shown
        return [match.to_json() for match in self.retrieval.find(self.listings, query, k, **options)]


async def test_of_ten_thousand_tools_a_model_sees_forty_schemas_and_eight_thousand_tokens() -> None:
    listings = [listing(number) for number in range(10_000)] + [listing(10_000, "Forecast the rain of a city")]
    every = [one.name for one in listings]
    found = await nearest(Known(listings), every, "will it rain tomorrow", MOST_SCHEMAS, kept=["tool_00007"])  # pyright: ignore[reportArgumentType]
    chosen = list(found)
    assert len(chosen) == MOST_SCHEMAS
    assert chosen[:2] == ["tool_00007", "tool_10000"]
    schemas = [{"name": name, "description": "word " * 200, "parameters": {}} for name in chosen]
    shown = within_limits(schemas, lambda one: one)
    assert 0 < len(shown) < MOST_SCHEMAS
    assert shown == schemas[: len(shown)]
    assert sum(len(str(one)) for one in shown) / 4 <= MOST_TOKENS


async def test_few_tools_are_offered_in_their_own_order() -> None:
    found = await nearest(Known([]), ["b", "a"], "anything", 2)  # pyright: ignore[reportArgumentType]
    assert list(found.items()) == [("b", True), ("a", True)]


@given(some.lists(some.text(max_size=300), max_size=60), some.integers(0, 500))
def test_an_offer_never_exceeds_its_limits(texts: list[str], tokens: int) -> None:
    shown = within_limits(texts, lambda text: text, 10, tokens)
    assert len(shown) <= 10
    assert sum(len(text.encode()) for text in shown) / 3 <= tokens
    left = iter(texts)
    assert all(text in left for text in shown)


def test_only_what_is_active_and_readable_is_found_of_any_list() -> None:
    retrieval = Retrieval(lambda: BUILTIN, NoVectors(), NoEvidence())  # pyright: ignore[reportArgumentType]
    good = listing(1)
    bad = [
        listing(2)._replace(state="deprecated"),
        listing(3)._replace(state="archived"),
        listing(4)._replace(version=""),
    ]
    assert [match.listing for match in retrieval.find([*bad, good], "fish", 9)] == [good]
    assert retrieval.find(bad, "fish") == []


def test_vectors_of_another_width_are_made_anew() -> None:
    class Odd(NoVectors):
        def get(self, embedder: str, texts: Sequence[str]) -> dict[str, bytes]:
            return {text: np.ones(3 + place, np.float32).tobytes() for place, text in enumerate(texts)}

    retrieval = Retrieval(lambda: BUILTIN, Odd(), NoEvidence())  # pyright: ignore[reportArgumentType]
    assert [match.listing.name for match in retrieval.find([listing(1), listing(2)], "fish number 2", 1)] == [
        "tool_00002"
    ]


def test_an_embedder_whose_vectors_change_their_width_is_asked_anew() -> None:
    class Growing:
        name, width = "growing", 2

        def embed(self, texts: Sequence[str]) -> Any:
            rows = np.zeros((len(texts), self.width), np.float32)
            rows[:, 0] = 1
            return rows

    class Kept(NoVectors):
        def __init__(self) -> None:
            self.rows: dict[str, bytes] = {}

        def get(self, embedder: str, texts: Sequence[str]) -> dict[str, bytes]:
            return {text: self.rows[text] for text in texts if text in self.rows}

        def add(self, embedder: str, vectors: Any) -> None:
            self.rows.update(vectors)

    embedder = Growing()
    retrieval = Retrieval(lambda: embedder, Kept(), NoEvidence())  # pyright: ignore[reportArgumentType]
    assert len(retrieval.find([listing(1)], "fish")) == 1
    embedder.width = 3
    assert len(retrieval.find([listing(1), listing(2)], "fish")) == 2


def test_only_the_beginning_of_a_huge_query_counts() -> None:
    retrieval = Retrieval(lambda: BUILTIN, NoVectors(), NoEvidence())  # pyright: ignore[reportArgumentType]
    listings = [listing(1), listing(2, "Forecast the rain of a city")]
    short = "  " + "will it rain in the city " * 400
    long = short + " ".join(f"fish{number}" for number in range(50_000))
    assert retrieval.find(listings, long) == retrieval.find(listings, short)
