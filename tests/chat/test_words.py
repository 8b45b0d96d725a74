"""The words of a conversation: mentions, solutions, dropped files and folding."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea.chat.words import FOLD_AT, KEPT, MOST_SAID, addressed, folded, require_addressee, solution
from tea.cli.lines import dropped
from tea.errors import UnknownComponent
from tea.types import Said


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("@analyzer count it", ("analyzer", "count it")),
        ("@Web-Surfer: look", ("web_surfer", "look")),
        ("ask @analyzer about it", ("analyzer", "ask @analyzer about it")),
        ("@nobody @analyzer go", ("analyzer", "@nobody @analyzer go")),
        ("let @analyzer and @web-surfer argue", (None, "let @analyzer and @web-surfer argue")),
        ("ask @analyzer, yes, @Analyzer", ("analyzer", "ask @analyzer, yes, @Analyzer")),
        ("@analyzer debate with @web_surfer", ("analyzer", "debate with @web_surfer")),
        ("@analyzer and @web_surfer, count it", (None, "@analyzer and @web_surfer, count it")),
        ("@analyzer @web-surfer: count it", (None, "@analyzer @web-surfer: count it")),
        ("@analyzer, @analyzer, count it", ("analyzer", "@analyzer, count it")),
        ("@analyzer and then ask @web_surfer", ("analyzer", "and then ask @web_surfer")),
        ("mail me@analyzer.org", (None, "mail me@analyzer.org")),
        ("@nobody go", (None, "@nobody go")),
    ],
)
def test_a_mention_addresses_an_agent_and_a_strange_one_keeps_the_current(
    line: str, expected: tuple[str | None, str]
) -> None:
    assert addressed(line, {"analyzer", "web_surfer"}) == expected


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("@analyser count it", "did you mean @analyzer?"),
        ("  @nobody go", "`/agents` lists them"),
        ("@nobody @analyzer go", ""),
        ("@nobody @analyzer @web_surfer go", ""),
        ("ask @nobody about it", ""),
        ("go", ""),
    ],
)
def test_a_line_to_nobody_is_refused_and_names_the_nearest_agents(line: str, told: str) -> None:
    known = ["analyzer", "web_surfer"]
    if not told:
        require_addressee(line, known, known)
        return
    with pytest.raises(UnknownComponent) as refused:
        require_addressee(line, known, known)
    assert told in refused.value.fix


def test_the_solution_is_the_last_one_marked_or_all_of_the_answer() -> None:
    assert solution("well <solution>1</solution>, no: <SOLUTION> 2\n</SOLUTION>") == "2"
    assert solution("<solution>\n \x1c42\u2028\t</solution>") == "\x1c42\u2028"
    assert solution("plain") == "plain"
    assert solution({"a": "<solution>1</solution>"}) == {"a": "<solution>1</solution>"}


def test_paths_in_a_line_give_their_files(tmp_path: Path) -> None:
    for name in ("a.csv", "b c.txt", "plain"):
        (tmp_path / name).write_text("x")
    here = tmp_path.resolve()
    line = f"compare ({here}/a.csv, 'b c.txt' b\\ c.txt plain) with a.csv. It's in e.g. gone.csv?"
    words, found = dropped(line, tmp_path)
    assert words == "compare (a.csv, b c.txt b c.txt plain) with a.csv. It's in e.g. gone.csv?"
    assert found == [here / "a.csv", here / "b c.txt"]
    assert dropped("'plain' ./plain \x00.x", tmp_path)[1] == [here / "plain"]


SAID = st.builds(
    Said, who=st.sampled_from(["person", "planner", ""]), text=st.integers(0, 9_000).map(lambda size: "x" * size)
)


@given(st.lists(SAID, max_size=30))
def test_a_folded_history_is_bounded_and_keeps_the_latest(history: list[Said]) -> None:
    found = folded(history)
    assert sum(len(one.text) for one in found) <= max(FOLD_AT, 2 * MOST_SAID + 200 * len(history)) + 200
    if sum(len(one.text) for one in history) <= FOLD_AT:
        assert list(found) == history
    elif history:
        assert found[-1].who == history[-1].who
        assert found[-1].text[:100] == history[-1].text[:100]


def test_a_long_history_folds_to_single_lines_before_its_latest_exchanges() -> None:
    exchanges = [
        Said(who=who, text=f"{number} " + "word " * 300) for number in range(30) for who in ("person", "planner")
    ]
    found = folded(exchanges)
    assert list(found[-2 * KEPT :]) == exchanges[-2 * KEPT :]
    assert all(len(one.text) <= 200 for one in found[: -2 * KEPT])
    assert found[0].text.startswith("0 word")
    assert folded(exchanges * 10)[0].text.endswith("earlier contributions are left out")
