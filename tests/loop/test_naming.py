"""Test what the words around a name make of it: an agent to be used, a file to be written."""

import pytest

from tea.loop.capability import Capability
from tea.loop.naming import ordered_changes, plain_names, possibly_changed, to_be_changed, to_be_written
from tea.loop.offer import is_called_for
from tea.types import Task


def agent(name: str) -> Capability:
    topics = {"browser": ("browser", "site"), "computer": ("desktop", "program")}[name]
    return Capability(kind="agent", ref=name, name=name, description="", parameters={}, sandboxed=True, topics=topics)


@pytest.mark.parametrize(
    ("task", "name", "called"),
    [
        ("Use the browser to read http://example.org/a.", "browser", True),
        ("Open the form in your browser.", "browser", True),
        ("Öffne die Seite mit dem Browser.", "browser", True),
        ("@browser what is on that page?", "browser", True),
        ("Ask the browser agent.", "browser", True),
        ("How large was the browser market share of Opera?", "browser", False),
        ("Browser market share by country", "browser", False),
        ("Browse the pages of it.", "browser", True),
        ("Which browser came first?", "browser", False),
        ("Type it on the computer and save it.", "computer", True),
        ("How many degrees in computer science were awarded?", "computer", False),
        ("Compute the mean of both columns.", "computer", False),
        ("Which computing power is needed?", "computer", False),
    ],
)
def test_an_agent_is_called_for_where_it_is_to_be_used_and_not_where_the_thing_is_spoken_of(
    task: str, name: str, called: bool
) -> None:
    assert is_called_for(agent(name), Task(text=task)) is called


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Write out.csv with the squares from 1 to 10.", {"out.csv"}),
        ("Sort a.csv and save the result as b.csv.", {"b.csv"}),
        ("Write the rows of a.csv to b.csv.", {"b.csv"}),
        ("Write a summary of notes.txt.", set[str]()),
        ("Count the rows in a.csv.", set[str]()),
        ("Schreib die Quadrate in quadrate.csv.", {"quadrate.csv"}),
        ("Save it as a.csv, then read a.csv again.", set[str]()),
        ("Create report.md from data.csv.", {"report.md"}),
        ("Write http://example.org/a.html down.", set[str]()),
    ],
)
def test_a_file_to_be_written_is_told_from_one_to_be_read(text: str, written: set[str]) -> None:
    assert to_be_written(text) == written


@pytest.mark.parametrize(
    ("task", "offered"),
    [("Write out.csv with ten squares.", {"workspace_write"}), ("Sum up in.csv.", {"workspace_write", "shell_bash"})],
)
def test_a_file_to_be_written_calls_for_what_writes_alone(task: str, offered: set[str]) -> None:
    rooms = [
        Capability(kind="environment", ref=name, name=name, description="", parameters={})
        for name in ("workspace_write", "shell_bash")
    ]
    assert {one.name for one in rooms if is_called_for(one, Task(text=task))} == offered
    reads = Capability(kind="tool", ref="read_file", name="read_file", description="", parameters={}, files=("*",))
    assert is_called_for(reads, Task(text=task)) is ("shell_bash" in offered)


GIVEN = ("cart.py", "test_cart.py", "minutes.txt", "sales.csv", "new.csv")


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("Fix cart.py so that test_cart.py passes.", {"cart.py"}),
        ("The test in test_cart.py fails. Fix cart.py so that it passes.", {"cart.py"}),
        ("Fix the bug in cart.py.", {"cart.py"}),
        ("Add the line 'Next walk: 2 July' at the end of minutes.txt.", {"minutes.txt"}),
        ("Please add the rows of new.csv to sales.csv.", {"sales.csv"}),
        ("Replace Lamp by Lantern in sales.csv and tell how many were replaced.", {"sales.csv"}),
        ("Correct the sums with new.csv in minutes.txt.", {"minutes.txt"}),
        ("Remove the second line from minutes.txt.", {"minutes.txt"}),
        ("Korrigiere den Fehler in cart.py.", {"cart.py"}),
        ("Schreibe eine Commit-Nachricht f\u00fcr die Korrektur von total in cart.py.", set[str]()),
        ("Schreibe den Termin in minutes.txt.", {"minutes.txt"}),
        ("Remove the empty rows from sales.csv and tell the mean.", set[str]()),
        ("Add the amounts of sales.csv.", set[str]()),
        ("Add up the amounts in sales.csv.", set[str]()),
        ("What is the change in sales.csv since 2020?", set[str]()),
        ("Explain how to fix cart.py.", set[str]()),
        ("Is there an update of minutes.txt?", set[str]()),
        ("Fix other.py.", set[str]()),
        ('Add the line "5. Mette \u00c5s leaves. All agree." at the end of the list in minutes.txt.', {"minutes.txt"}),
        ("Add the line 5. Mette leaves the committee at the end of minutes.txt.", {"minutes.txt"}),
        ("Sort sales.csv by area, largest first, in the file itself.", {"sales.csv"}),
        ("Sort sales.csv by area, largest first.", set[str]()),
        ("Remove the Total row from sales.csv.", {"sales.csv"}),
        ("Remove the Total row from sales.csv. What is the sum?", set[str]()),
        ("Update the discount in cart.py so that it takes a percentage.", {"cart.py"}),
        ("Could you fix the bug in cart.py?", {"cart.py"}),
        ("List the price and change in sales.csv for each shop.", set[str]()),
        ("Correct answers in sales.csv are marked; count them.", set[str]()),
        ("Count the wrong and correct answers in sales.csv.", set[str]()),
    ],
)
def test_a_file_to_be_changed_is_told_from_one_to_be_read(task: str, names: set[str]) -> None:
    assert to_be_changed(task, GIVEN) == names


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("Fix cart.py so that test_cart.py passes.", {"cart.py"}),
        ("Fix cart.py, and tell what was wrong.", {"cart.py"}),
        ("Could you fix the bug in cart.py?", {"cart.py"}),
        ("Please add the rows of new.csv to sales.csv.", {"sales.csv"}),
        ("Add a row for the shop Bod\u00f8 (Liv Lie, since 2022, 700 m2) to sales.csv.", {"sales.csv"}),
        ("Add the line 'Next walk: 2 July' in minutes.txt.", {"minutes.txt"}),
        ("Sort sales.csv by area, largest first, in the file itself.", {"sales.csv"}),
        ("Remove the Total row from sales.csv.", {"sales.csv"}),
        ("Replace Lamp by Lantern in minutes.txt.", {"minutes.txt"}),
        ("Find the bug in cart.py and fix it.", {"cart.py"}),
        ("Correct the sum in sales.csv.", {"sales.csv"}),
        ("Insert Molde after Bergen in sales.csv.", {"sales.csv"}),
        ("Append the total as the last row of sales.csv.", {"sales.csv"}),
        ("Add the first row of new.csv to sales.csv.", {"sales.csv"}),
        ("How would you refactor cart.py?", set[str]()),
        ("Debug why test_cart.py fails.", set[str]()),
        ("Update me on the changes in minutes.txt.", set[str]()),
        ("Edit: the file sales.csv is attached.", set[str]()),
        ("Change over time in sales.csv", set[str]()),
        ("Replace Lamp by Lantern in sales.csv and tell how many were replaced.", set[str]()),
        ("Remove the stop words from minutes.txt and count the rest.", set[str]()),
        ("Add the amounts in sales.csv.", set[str]()),
        ("Add the numbers in minutes.txt.", set[str]()),
        ("Which line should change in cart.py?", set[str]()),
        ("How hard is it to fix cart.py?", set[str]()),
        ("What did we add, and change, in minutes.txt?", set[str]()),
    ],
)
def test_an_order_to_change_a_file_is_told_from_a_wish_to_know(task: str, names: set[str]) -> None:
    assert ordered_changes(task, GIVEN) == names


@pytest.mark.parametrize(
    ("task", "offered"),
    [
        ("Fix the bug in cart.py.", {"workspace_write"}),
        ("Add a line at the end of minutes.txt.", {"workspace_write"}),
        ('Add the line "5. Mette leaves." at the end of the list in minutes.txt.', {"workspace_write"}),
        ("Sort sales.csv by area in the file itself.", {"workspace_write"}),
        ("Remove the Total row from sales.csv.", {"workspace_write"}),
        ("What does cart.py do?", set[str]()),
    ],
)
def test_a_given_file_to_be_changed_calls_for_what_writes(task: str, offered: set[str]) -> None:
    rooms = [
        Capability(kind="environment", ref=name, name=name, description="", parameters={})
        for name in ("workspace_write", "shell_bash")
    ]
    assert {one.name for one in rooms if is_called_for(one, Task(text=task, files=GIVEN))} == offered


def test_a_chart_calls_for_code() -> None:
    code = Capability(
        kind="environment", ref="shell#python", name="shell_python", description="", parameters={}, codes=True
    )
    assert is_called_for(code, Task(text="Report the sales with a bar chart.", files=("a.csv",)))
    assert not is_called_for(code, Task(text="Report the sales.", files=("a.csv",)))


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("agent:browser", ["browser"]),
        ("tool:shell_python", ["shell_python"]),
        ("shell_python.call", ["shell_python.call", "shell_python", "call"]),
        ("environment:shell#python", ["shell_python"]),
        ("environment:shell@1.0.2#python", ["shell_python"]),
        ("tool:table_query@1.0.0", ["table_query"]),
        ("functions.table_query", ["functions.table_query", "table_query"]),
        ("https://a.test", ["https://a.test", "test"]),
    ],
)
def test_a_name_in_the_notation_of_components_is_a_plain_one(written: str, names: list[str]) -> None:
    assert plain_names(written) == names


def tool(*files: str) -> Capability:
    return Capability(kind="tool", ref="tool", name="xyz", description="", parameters={}, files=files)


def test_a_codeless_tool_is_called_for_only_where_no_code_can_run() -> None:
    for task in (Task(text="What is 2 + 2?"), Task(text="Sum it up.", files=("a.csv",))):
        assert not is_called_for(tool("codeless"), task, coding=True)
        assert is_called_for(tool("codeless"), task)


def test_an_ending_left_to_another_function_calls_for_none() -> None:
    reader = tool("*", "-csv")
    assert not is_called_for(reader, Task(text="Sum it up.", files=("a.csv",)))
    assert is_called_for(reader, Task(text="Sum it up.", files=("a.csv", "notes.txt")))


@pytest.mark.parametrize(
    ("text", "files", "called"),
    [
        ("Rank the rows of all.", ("a.csv", "b.csv", "c.csv"), {"any"}),
        ("Rank the rows of all, and write a paper on it.", ("a.csv", "b.csv", "c.csv"), {"any", "scribe"}),
        ("Rank the rows of all on their web site.", ("a.csv", "b.csv", "c.csv"), {"any", "surfer"}),
        ("Rank the rows of all on a desk.", ("a.csv", "b.csv", "c.csv"), {"any"}),
        ("Rank the rows of all on my desktops.", ("a.csv", "b.csv", "c.csv"), {"any", "clerk"}),
        ("Do a.\nDo b.\nDo c.\nDo d.", (), {"any", "scribe"}),
        ("Write a paper.", (), set[str]()),
    ],
)
def test_agents_are_called_for_by_the_topics_of_a_large_task(
    text: str, files: tuple[str, ...], called: set[str]
) -> None:
    topics = {"any": (), "scribe": ("paper", "report"), "surfer": ("website", "site"), "clerk": ("desktop",)}
    agents = [
        Capability(
            kind="agent", ref=n, name=n, description="", parameters={}, topics=one, sandboxed=n in ("surfer", "clerk")
        )
        for n, one in topics.items()
    ]
    assert {one.name for one in agents if is_called_for(one, Task(text=text, files=files))} == called


@pytest.mark.parametrize(
    ("task", "is_possible"),
    [
        ("Setze in minutes.txt das Datum auf den 15. Mai.", True),
        ("Mets minutes.txt \u00e0 jour avec la date du 15 mai.", True),
        ("minutes.txt: 15 May, not 11 June.", True),
        ("The date in minutes.txt is wrong. Please take care of that.", True),
        ("Write the city with most schools into minutes.txt.", True),
        ("Replace 'kroner' by 'NOK' in item 2 of minutes.txt and show me how it reads then.", True),
        ("Sort the names in minutes.txt, the longest first.", False),
        ("Add up the fees in minutes.txt.", False),
        ("Who is absent in minutes.txt?", False),
        ("Summarise minutes.txt.", False),
        ("Translate minutes.txt into German.", False),
        ("Fasse minutes.txt zusammen.", False),
        ("Schreib eine kurze Antwort auf minutes.txt: Wir nehmen den Termin an.", False),
        ("Schreib aus minutes.txt eine Pressemitteilung.", False),
        ("R\u00e9dige une r\u00e9ponse \u00e0 minutes.txt.", False),
        ("R\u00e9sume minutes.txt.", False),
        ("Correct this sentence with the figures of minutes.txt: 'Tor reported 45.'", False),
    ],
)
def test_a_task_that_asks_for_nothing_may_order_a_change(task: str, is_possible: bool) -> None:
    assert bool(possibly_changed(task, ["minutes.txt"])) is is_possible
