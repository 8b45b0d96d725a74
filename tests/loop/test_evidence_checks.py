"""Test evidence against a run's reading."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea.loop.checks import MOST_LINE, Sources, nearest_line, stands_in
from tea.loop.observation import Observation
from tea.loop.opening import Head
from tea.types import Evidence, Fact


def outcome(id: str, name: str, value: object, **arguments: object) -> Observation:
    return Observation(id=id, name=name, arguments=arguments, ok=True, value=value)


TABLE = {"columns": ["species", "n", "share"], "rows": [["Gentoo", 1152, 0.3605], ["Adelie", 3, None]], "row_count": 2}
READ = {"path": "notes/plan.txt", "start": 1, "text": "The bridge opens on 3 May.\nIt is “safe” – says the mayor."}
RESULTS = [
    outcome("c1_1", "table_query", TABLE, files=["data/penguins.csv"], sql="SELECT species, COUNT(*) FROM penguins"),
    outcome("c2_1", "read_file", READ, path="notes/plan.txt"),
    outcome("c3_1", "calculator", 42, expression="6 * 7"),
]
SOURCES = Sources("Is 12 enough?", [Fact(fact="The key is 17.", source="a.txt")], RESULTS)


@pytest.mark.parametrize(
    ("source", "quote"),
    [
        ("notes/plan.txt", "The bridge opens on 3 May."),
        ("plan.txt", "the bridge  OPENS"),
        ("notes/plan.txt", 'It is "safe" - says the mayor'),
        ("notes/plan.txt", "The bridge ... says the mayor"),
        ("data/penguins.csv", "Gentoo: 1,152"),
        ("penguins.csv", "Gentoo | 36%"),
        ("penguins.csv", "36.05 %"),
        ("penguins.csv", "0.36"),
        ("calculator", "6 * 7 = 42"),
        ("c3_1", "42"),
        ("a.txt", "The key is 17."),
        ("task", "12"),
        ("plan.txt", ""),
    ],
)
def test_what_was_read_is_confirmed(source: str, quote: str) -> None:
    assert SOURCES.doubt(Evidence(source=source, quote=quote)) == ""


PART = {"start": 99, "end": 102, "text": "Sections follow.\nNone yet.\nSection 100: Tea\nThe end of the end."}
PARTS = Sources("", [], [outcome("c1_1", "read_file", PART, path="law.txt", start=99)])


@pytest.mark.parametrize(
    ("source", "detail", "quote", "corrected"),
    [
        ("law.txt", "line 100", "Section 100: Tea", "line 101"),
        ("law.txt", "line 101", "Section 100: Tea", "line 101"),
        ("law.txt", "lines 100-101", "Section 100: Tea", "lines 100-101"),
        ("law.txt", "lines 98 to 100 of the law", "Section 100: Tea", "line 101 of the law"),
        ("law.txt line 100", "", "Section 100: Tea", "line 101"),
        ("law.txt", "line 100", "the", "line 102"),
        ("law.txt", "line 100", "end", "line 102"),
        ("law.txt", "line 7", "Section 9", "line 7"),
        ("law.txt", "Section 100", "Section 100: Tea", "Section 100"),
        ("law.txt", "line 100", "", "line 100"),
        ("other.txt", "line 100", "Section 100: Tea", "line 100"),
    ],
)
def test_the_number_of_a_line_without_the_quote_is_corrected(
    source: str, detail: str, quote: str, corrected: str
) -> None:
    assert PARTS.located(Evidence(source=source, detail=detail, quote=quote)).detail == corrected


def test_a_quote_in_several_lines_leaves_the_number_as_it_is() -> None:
    part = {"start": 1, "end": 3, "text": "one\ntea\ntea"}
    sources = Sources("", [], [outcome("c1_1", "read_file", part, path="law.txt")])
    assert sources.located(Evidence(source="law.txt", detail="line 1", quote="tea")).detail == "line 1"


@pytest.mark.parametrize(
    ("source", "quote", "words"),
    [
        ("secret.csv", "", "was not opened for this answer"),
        ("secret.csv", "Gentoo", "was not opened"),
        ("plan.txt", "The bridge opens on 4 May.", "does not stand"),
        ("plan.txt", "The tunnel is closed.", "does not stand"),
        ("penguins.csv", "Adelie: 1152", "does not stand"),
        ("penguins.csv", "37%", "does not stand"),
        ("penguins.csv", "Gentoo,115", "does not stand"),
        ("penguins.csv", "152,0.3605", "does not stand"),
        ("calculator", "43", "does not stand"),
    ],
)
def test_what_was_not_read_is_doubted(source: str, quote: str, words: str) -> None:
    assert words in SOURCES.doubt(Evidence(source=source, quote=quote))


@pytest.mark.parametrize(
    ("source", "quote", "line"),
    [
        ("plan.txt", "The bridge opens on 4 May.", "The bridge opens on 3 May."),
        ("penguins.csv", "Gentoo: 1512", "Gentoo,1152,0.3605"),
        ("plan.txt", "Nobody knows.", ""),
        ("penguins.csv", "0.3606", ""),
    ],
)
def test_a_quote_that_does_not_stand_is_answered_with_the_nearest_line(source: str, quote: str, line: str) -> None:
    doubt = SOURCES.doubt(Evidence(source=source, quote=quote))
    assert doubt.endswith(f"nearest to it is {line!r}") if line else "nearest" not in doubt


PAGES = [
    outcome(f"c1_{at}", "fetch_page", f"Rooms of page {at}, with 15 seats.", url=f"http://a.example/rooms{query}")
    for at, query in enumerate(("", "?page=2", "?page=4"))
]


@pytest.mark.parametrize(
    ("text", "source", "quote", "doubt"),
    [
        ("http://a.example/rooms?page=2", "?page=2", "", ""),
        ("http://a.example/rooms?page=2 and page=4", "?page=2", "", ""),
        ("http://a.example/rooms?page=2 and page 4", "?page=2", "", ""),
        ("http://a.example/rooms?page=2: with 15 seats", "?page=2", "with 15 seats", ""),
        ("http://a.example/rooms?page=2: with 16 seats", "?page=2", "with 16 seats", "does not stand"),
        ("http://a.example/rooms, all of them", "", "", ""),
        ("http://a.example/rooms?page=3 and page=4", "?page=3 and page=4", "", "was not opened"),
    ],
)
def test_an_address_is_whole_with_its_query_whatever_words_stand_beside_it(
    text: str, source: str, quote: str, doubt: str
) -> None:
    sources = Sources("", [], PAGES)
    found = sources.located(Evidence(source=text))
    assert (found.source, found.quote) == (f"http://a.example/rooms{source}", quote)
    assert doubt in sources.doubt(found) if doubt else not sources.doubt(found)


MINUTES = "1. Opening\n2. Budget: 400 crowns\n3. Boats\n4. Rooms"


@pytest.mark.parametrize(
    ("text", "quote", "detail", "doubt"),
    [
        ("minutes.txt items 3 and 4", "", "items 3 and 4", ""),
        ("minutes.txt, item 3", "", "item 3", ""),
        ("minutes.txt (points 2, 3 and 4)", "", "points 2, 3 and 4", ""),
        ("Items 3 & 4 of minutes.txt", "", "Items 3 & 4", ""),
        ("minutes.txt, Punkt 3: Boats", "Boats", "Punkt 3", ""),
        ('"minutes.txt", item 3', "", "item 3", ""),
        ('minutes.txt "items 3 and 4"', "items 3 and 4", "", "does not stand"),
        ("minutes.txt \u201eitem 3\u201c", "item 3", "", "does not stand"),
        ("minutes.txt item 2: 500 crowns", "500 crowns", "item 2", "does not stand"),
        ("minutes.txt 500 crowns", "500 crowns", "", "does not stand"),
    ],
)
def test_numbers_of_items_beside_a_source_are_its_place(text: str, quote: str, detail: str, doubt: str) -> None:
    sources = Sources("", [], [outcome("c1_1", "read_file", MINUTES, path="minutes.txt")])
    found = sources.located(Evidence(source=text))
    assert (found.source, found.quote, found.detail) == ("minutes.txt", quote, detail)
    assert doubt in sources.doubt(found) if doubt else not sources.doubt(found)


def test_the_nearest_line_is_cut_with_a_mark() -> None:
    line = nearest_line("bridge", f"none\n{'the bridge ' * 90}")
    assert line.endswith(("bridge the ...", "the bridge ..."))
    assert len(line) <= MOST_LINE + 4


@pytest.mark.parametrize(
    ("source", "quote", "words"),
    [
        ("orders.csv", "", "shows only a part"),
        ("orders.csv", "region text: South, North", ""),
        ("orders.csv", "rows: 120", ""),
        ("orders.csv", "O117 in the West", "shows only a part"),
        ("note.txt", "", ""),
        ("note.txt", "checked by K. Reiter", ""),
        ("note.txt", "checked by K. Halm", "does not stand"),
    ],
)
def test_the_head_of_a_file_proves_what_it_shows_and_a_whole_one_the_file(source: str, quote: str, words: str) -> None:
    heads = [
        Head("orders.csv", "orders.csv: table, 3,429 bytes\nrows: 120\n- region text: South, North"),
        Head("note.txt", "note.txt: text, 40 bytes\n1 lines, all of them:\nchecked by K. Reiter", whole=True),
    ]
    found = Sources("", [], [], heads=heads).doubt(Evidence(source=source, quote=quote))
    assert words in found if words else not found


@pytest.mark.parametrize(
    ("quote", "detail", "doubt"),
    [
        ("most pages: 10", "the pages", "contradicted"),
        ("most pages: 10", "", "contradicted"),
        ("pages: 10", "", "contradicted"),
        ("most rows: 20", "", ""),
        ("rows: 20", "", ""),
        ("", "", ""),
        ("most columns: 30", "", "does not stand"),
    ],
)
def test_a_doubt_of_a_part_is_that_of_its_piece_and_not_of_all_its_source_says(
    quote: str, detail: str, doubt: str
) -> None:
    pieces = [
        Evidence(source="limits.txt", quote="most rows: 20", detail="the rows"),
        Evidence(source="limits.txt", quote="most pages: 10", detail="the pages", doubt="contradicted"),
    ]
    given = [one.model_dump() for one in pieces]
    result = Observation(id="c1_1", name="researcher", arguments={}, ok=True, value={"ok": True, "evidence": given})
    sources = Sources("", [], [result], pieces)
    found = sources.doubt(Evidence(source="Limits.txt", quote=quote, detail=detail))
    assert doubt in found if doubt else not found


def test_failed_and_repeated_results_prove_nothing() -> None:
    failed = Observation(id="c1_1", name="read_file", arguments={"path": "x.txt"}, ok=False, value="hello")
    assert "was not opened" in Sources("", [], [failed]).doubt(Evidence(source="x.txt"))


TOLD = "1,2,In 1871 the council voted eleven to four to build the bridge at 18,400 crowns. Later the ferry went."
ROWS = 'region,manager,n,m\nWest,Otto Brandt,443,507\n{"town": "Vik", "n": 12}'


@pytest.mark.parametrize(
    ("quote", "text", "stands"),
    [
        ("the council voted four to eleven", TOLD, False),
        ("the bridge voted the council to build", TOLD, False),
        ("voted to build the ferry", TOLD, False),
        ("18,400 crowns the bridge at", TOLD, False),
        ("the council voted ... to build the bridge", TOLD, True),
        ("the council voted to build the bridge at 18400 crowns", TOLD, True),
        ("Otto Brandt, West: 443", ROWS, True),
        ("443 507 West", ROWS, True),
        ("n 12, town Vik", ROWS, True),
        ("from 12 to 30", "The fee went from 30 to 12 euros.", False),
    ],
)
def test_words_of_a_quote_stand_in_their_order_in_one_sentence_or_row(quote: str, text: str, stands: bool) -> None:
    assert stands_in(quote, text) == stands


@given(text=st.text(max_size=300), start=st.integers(0, 300), size=st.integers(1, 80))
def test_every_piece_of_a_text_that_cuts_no_number_stands_in_it(text: str, start: int, size: int) -> None:
    end = start + size
    if not any(len(one) == 2 and one.isnumeric() for one in (text[start - 1 : start + 1], text[end - 1 : end + 1])):
        assert stands_in(text[start:end], text)
