"""Test a first question's offer, and later additions: by `find_tools`, and once they can matter."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from dialects import DIALECTS, Dialect, Say
from wire_kit import call, ends, played, playing, says

from tea.components.manifest import Lineage
from tea.platform import Platform
from tea.sandbox.settings import SandboxSettings

CHAT = DIALECTS["openai_chat"]
POST = '''
from tea import tool


@tool(effects="external")
async def carrier_pigeon(to: str, text: str) -> str:
    """Send a letter by pigeon post.

    Args:
        to: Who gets it.
        text: What it says.
    """
    return f"{to} reads: {text}"
'''
BOX = '''
from tea import Environment, action


class Aviary(Environment):
    """An aviary full of birds: feed and count them."""

    name = "aviary"

    async def state(self) -> int:
        """Return nothing of interest."""
        return 0

    @action(effects="reads", idempotent=True, network=False)
    async def count_birds(self) -> int:
        """Count the birds of the aviary."""
        return 12
'''
LOOK = '''
from tea import tool


@tool(effects="reads", network=False)
async def look(size: int) -> str:
    """Look."""
    return "x" * size
'''
COUNT = '''
from tea import tool


@tool(effects="reads", network=False)
async def count_{n}(number: int, other: list[str] | None = None) -> int:
    """Count the letters of the word number {n}, and tell how many of them are vowels, consonants or neither of them.

    Args:
        number: How many letters at most, of which those after the last are left out in any case.
        other: Further words, which are counted in the same way, one after the other, and added in the end.
    """
    return number
'''


MADE = {
    "check_ibans": "Tell which of some IBANs have right check digits.",
    "roman_number": "Convert a number to Roman numerals.",
    "business_days": "Count the business days between two dates, without weekends and given holidays.",
    "great_circle_distance": "Compute the great circle distance between two points given by latitude and longitude.",
    "parse_ledger": "Parse the lines of a ledger into date, account and amount, and sum them per account.",
    "letter_frequencies": "Count how often each letter occurs in a text.",
}
MAKE = '''
from tea import tool


@tool(effects="reads", idempotent=True, network=False)
async def {name}(text: str) -> str:
    """{words}

    Args:
        text: What is given.
    """
    return text
'''


async def make_tools(tea: Platform) -> None:
    """Register tools as if earlier runs had made them for tasks of their own."""
    for name, words in MADE.items():
        made = await tea.tcp.manager.register(
            MAKE.format(name=name, words=words), lineage=Lineage(how="generator", run="r", task=words), author="tea"
        )
        tea.tcp.manager.services.trust.adopted.grant(made.digest, f"tool:{name}")


@pytest.fixture(params=DIALECTS.values(), ids=DIALECTS)
def dialect(request: Any) -> Dialect:
    return request.param


async def test_a_task_of_a_line_is_asked_in_few_tokens_however_much_is_registered(tmp_path: Path) -> None:
    task = {"text": "How many letters has the word albatross?"}
    tools = [COUNT.format(n=n) for n in range(60)]
    _, script = await played(tmp_path, CHAT, [ends("9")], *tools, task=task)
    assert script.asked[0].size <= 2_500
    assert len(script.asked[0].functions) <= 40
    assert any(name.startswith("count_") for name in script.asked[0].functions)


async def test_a_task_without_files_is_offered_nothing_that_reads_files(tmp_path: Path) -> None:
    _, script = await played(tmp_path, CHAT, [ends("4")], task={"text": "What is 2 + 2?"})
    assert script.asked[0].functions == ["done", "find_tools", "shell_python"]
    assert script.asked[0].size <= 650


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("a.csv", "a\n1\n", {"table_query"}),
        ("a.txt", "words\n", {"read_file"}),
        ("a", "words\n", {"table_query", "read_file"}),
    ],
)
async def test_the_files_of_a_task_say_which_tools_are_offered(
    tmp_path: Path, name: str, text: str, wanted: set[str]
) -> None:
    (tmp_path / name).write_text(text)
    _, script = await played(tmp_path, CHAT, [ends("1")], task={"text": "How many?", "files": [tmp_path / name]})
    assert {"table_query", "read_file"} & {*script.asked[0].functions} == wanted


async def test_the_words_of_a_task_say_what_else_is_offered(tmp_path: Path) -> None:
    text = "Write the first ten primes into primes.txt and have that analyzed."
    _, script = await played(tmp_path, CHAT, [ends("it is there")], task={"text": text})
    assert {"workspace_write", "analyzer"} <= {*script.asked[0].functions}
    assert not {"reporter", "note", "plan", "read_file", "read_result", "table_query"} & {*script.asked[0].functions}


@pytest.mark.parametrize(
    "text",
    [
        "How many pages does an essay of 3,000 words take, at 250 words a page?",
        "Write a poem of two lines about a search engine.",
        "Which file format is smaller, PDF or DOCX?",
        "How many seats has a round table of 12 feet?",
        "Generate a password of 12 letters.",
        "Make a PDF of the first ten primes.",
    ],
)
async def test_a_common_word_of_a_name_pulls_nothing_into_the_offer(tmp_path: Path, text: str) -> None:
    _, script = await played(tmp_path, CHAT, [ends("x")], task={"text": text})
    assert script.asked[0].functions == ["done", "find_tools", "shell_python"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Fetch the page example.org/a and count its words.", "fetch_page"),
        ("Read the file that was written before.", "read_file"),
        ("Count the lines with bash.", "shell_bash"),
        ("Make a tool that reverses words.", "tool_generator"),
        ("Write a report on tea.", "reporter"),
        ("Query the table of planets.", "table_query"),
    ],
)
async def test_a_name_said_in_full_pulls_it_into_the_offer(tmp_path: Path, text: str, name: str) -> None:
    _, script = await played(tmp_path, CHAT, [ends("x")], task={"text": text})
    assert name in script.asked[0].functions


async def test_a_function_that_was_not_offered_is_refused_with_the_way_to_it(tmp_path: Path) -> None:
    answers = [says(call("carrier_pigeon", to="Ann", text="Hello")), ends("x")]
    many = [COUNT.format(n=n) for n in range(60)]
    _, script = await played(tmp_path, CHAT, answers, POST, *many, task={"text": "How many letters has this?"})
    assert "carrier_pigeon" not in script.asked[0].functions
    (said,) = script.asked[1].results.values()
    assert "reads: Hello" not in said
    assert "find_tools adds others" in said or "call find_tools" in said


async def test_what_an_agent_was_granted_can_be_called_though_it_was_not_offered(tmp_path: Path) -> None:
    answers = [says(call("shell_bash", command="echo so be it")), ends("x")]
    _, script = await played(tmp_path, CHAT, answers, task={"text": "How many?"})
    assert "shell_bash" not in script.asked[0].functions
    (said,) = script.asked[1].results.values()
    assert "so be it" in said


async def test_what_is_found_is_added_at_the_end_and_can_be_called(dialect: Dialect, tmp_path: Path) -> None:
    answers = [
        says(call("find_tools", query="send a letter by pigeon")),
        says(call("carrier_pigeon", to="Ada", text="hello")),
        ends("sent"),
    ]
    async with playing(tmp_path, dialect, answers) as (tea, script):
        for n in range(12):
            await tea.tcp.register(COUNT.format(n=n))
        await tea.tcp.register(POST)
        task = {"task": "Count the letters of the word number.", "allow": ["carrier_pigeon"]}
        outcome = await tea.run(task)
        assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()
    first, second, third = (one.functions for one in script.asked)
    assert "carrier_pigeon" not in first
    assert second[: len(first)] == first
    assert "carrier_pigeon" in second[len(first) :]
    assert third == second
    assert "carrier_pigeon: Send a letter by pigeon post." in script.asked[1].words
    assert "Ada reads: hello" in script.asked[2].words
    bodies = [
        json.dumps(one.body.get("system") or one.body.get("instructions") or one.messages[0]) for one in script.asked
    ]
    assert len({*bodies}) == 1


async def test_what_is_found_has_a_limit_of_tokens_too(tmp_path: Path) -> None:
    long = POST.replace("Send a letter by pigeon post.", f"Send a letter by pigeon post. {'It says much. ' * 500}")
    names = [f"pigeon_{one}" for one in ("ada", "bob", "cleo", "dora")]
    answers = [*(says(call("find_tools", query=name)) for name in names), ends("x")]
    async with playing(tmp_path, CHAT, answers) as (tea, script):
        for name in names:
            await tea.tcp.register(long.replace("carrier_pigeon", name))
        await tea.run("Say x.")
    added = [name for name in script.asked[-1].functions if name in names]
    assert added == names[:2]
    assert "pigeon_cleo cannot be added: at most 24 of 6,000 tokens are, 40 with the first." in script.asked[3].words


async def test_at_most_forty_tools_are_offered_together(tmp_path: Path) -> None:
    """Found functions fill the room beside the first ones on offer, until the last question."""
    names = [f"pigeon_{chr(ord('a') + n)}" for n in range(14)]
    listed = [f"count_{n}" for n in range(28)]
    answers = [*(says(call("find_tools", query=name)) for name in names), ends("x")]
    async with playing(tmp_path, CHAT, answers) as (tea, script):
        for n in range(28):
            await tea.tcp.register(COUNT.format(n=n))
        for name in names:
            await tea.tcp.register(POST.replace("carrier_pigeon", name))
        await tea.run({"task": "Say x.", "tools": [*listed, "*"]})
    offered = [set(asked.functions) - {"note", "plan", "read_result"} for asked in script.asked]
    assert len(offered[0]) < max(map(len, offered)) == 40
    assert offered[-1] == {"done"}


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("analyzer agent; researcher agent; reporter agent", {"analyzer", "reporter"}),
        ("calculator, read_file, to_markdown, analyzer", {"calculator", "read_file", "to_markdown", "analyzer"}),
        ("let experts debate a question", {"debate"}),
        ("experts argue for and against a question", {"debate"}),
        ("fill in a search form on a web page", {"browser"}),
        ("web form", {"browser"}),
        ("interactive web site", {"browser"}),
        ("pages that need a browser", {"browser"}),
    ],
)
async def test_each_name_in_a_search_is_added(tmp_path: Path, query: str, wanted: set[str]) -> None:
    answers = [says(call("find_tools", query=query)), ends("12")]
    _, script = await played(tmp_path, CHAT, answers, task={"text": "How many?"})
    assert wanted <= {*script.asked[1].functions}


async def test_agents_and_actions_of_environments_are_found_too(tmp_path: Path) -> None:
    answers = [
        says(call("find_tools", query="count the birds of the aviary")),
        says(call("aviary_count_birds")),
        says(call("find_tools", query="write a report with citations")),
        ends("12"),
    ]
    async with playing(tmp_path, CHAT, answers) as (tea, script):
        await tea.ecp.register(BOX)
        outcome = await tea.run("How many of them are there?")
        assert (await tea.replay(outcome.run)).answer == outcome.answer == "12"
    assert "aviary_count_birds" in script.asked[1].functions
    assert "12" in list(script.asked[2].results.values())[-1]
    assert "reporter" in script.asked[3].functions


@pytest.mark.parametrize("agent", ["planner", "analyzer"])
@pytest.mark.parametrize(
    "text",
    [
        "How many partitions has 60?",
        "Which weekday does the 13th of a month fall on most often?",
        "How many arrangements of the letters of banana have no two equal neighbours?",
        "Wie viele Tage liegen zwischen dem 3. März 1999 und heute?",
    ],
)
async def test_python_stands_in_every_first_question(tmp_path: Path, text: str, agent: str) -> None:
    _, script = await played(tmp_path, CHAT, [ends("x")], task={"text": text, "agent": agent})
    assert "shell_python" in script.asked[0].functions
    assert script.asked[0].size <= 1_300


async def test_without_a_sandbox_no_code_is_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SandboxSettings, "accepts", lambda *_: False)
    answers = [says(call("find_tools", query="run Python code")), ends("x")]
    _, script = await played(tmp_path, CHAT, answers, task={"text": "How many partitions has 60?"})
    assert not [name for one in script.asked for name in one.functions if name.startswith("shell_")]
    assert "say it in other words, or end honestly without it." in next(iter(script.asked[1].results.values()))


async def test_a_file_that_no_tool_is_made_for_calls_for_code(tmp_path: Path) -> None:
    (tmp_path / "frames.dat").write_bytes(b"\x00\x01\x02")
    task = {"text": "How many frames does it hold?", "files": [tmp_path / "frames.dat"]}
    _, script = await played(tmp_path, CHAT, [ends("x")], task=task)
    (python,) = (one for one in script.asked[0].body["tools"] if one["function"]["name"] == "shell_python")
    told = python["function"]["description"]
    assert "no network" in told
    assert "by their names" in told
    assert ("numpy" in told) is (find_spec("numpy") is not None)
    assert ("sympy" in told) is (find_spec("sympy") is not None)


async def test_what_fits_nothing_is_not_added_and_what_is_there_is_said(tmp_path: Path) -> None:
    queries = ("fly to the moon", "calculate a hash", "run Python code", "calculate")
    answers = [*(says(call("find_tools", query=query)) for query in queries), ends("12")]
    _, script = await played(tmp_path, CHAT, answers, task={"text": "How many?"})
    results = list(script.asked[-1].results.values())
    assert "No function fits 'fly to the moon'. Fix: write it as a program for shell_python, say" in results[0]
    assert "These can be called now:\ncalculator: " in results[1]
    assert "can be called already: calculator" in results[3]
    assert "can be called already: shell_python" in results[2]
    first = script.asked[0].functions
    assert script.asked[1].functions == first
    assert not {"git_diff", "workspace_write"} & {*script.asked[-1].functions}


async def test_where_nothing_fits_the_nearest_are_named_and_found_by_name(tmp_path: Path) -> None:
    answers = [
        says(call("find_tools", query="summarise the minutes")),
        says(call("find_tools", query="read_file")),
        ends("12"),
    ]
    _, script = await played(tmp_path, CHAT, answers, task={"text": "How many?"})
    results = list(script.asked[-1].results.values())
    assert "No function fits 'summarise the minutes'." in results[0]
    assert "The nearest are " in results[0]
    assert "a search by name adds one." in results[0]
    assert "read_file" in script.asked[-1].functions


async def test_a_search_without_words_is_told_what_is_wanted(tmp_path: Path) -> None:
    answers = [says(call("find_tools", query="?!"), call("find_tools")), ends("12")]
    _, script = await played(tmp_path, CHAT, answers, task={"text": "How many?"})
    assert all("A search needs words." in text for text in script.asked[1].results.values())


async def test_an_agent_with_tools_of_its_own_alone_is_offered_all_of_them_and_no_search(tmp_path: Path) -> None:
    _, script = await played(tmp_path, CHAT, [ends("4")], task={"text": "What is 2 + 2?", "agent": "analyzer"})
    assert script.asked[0].functions == [
        "calculator",
        "done",
        "read_file",
        "shell_python",
        "table_query",
        "to_markdown",
    ]


async def test_what_reads_results_again_is_offered_once_one_was_cut(tmp_path: Path) -> None:
    answers = [says(call("look", size=100)), says(call("look", size=30_000)), ends("x")]
    _, script = await played(tmp_path, CHAT, answers, LOOK, task={"text": "How many?", "also": ["look"]})
    assert ["read_result(id=" in one.words for one in script.asked] == [False, False, True]
    assert ["read_result" in one.functions for one in script.asked] == [False, False, True]
    first, second, third = (one.functions for one in script.asked)
    assert first == second == third[: len(first)]


async def test_a_model_without_functions_reads_of_what_was_added_in_its_words(tmp_path: Path) -> None:
    def step(*calls: tuple[str, dict[str, Any]]) -> Say:
        made = [{"name": name, "arguments": arguments} for name, arguments in calls]
        return Say(text=json.dumps({"thinking": "", "evaluation": "", "memory": "", "next_goal": "", "calls": made}))

    answers = [
        step(call("find_tools", query="write a file")),
        step(("workspace_write", {"name": "a.txt", "text": "x"})),
        step(call("done", answer="there")),
    ]
    outcome, script = await played(tmp_path, CHAT, answers, task={"text": "Do it."}, capabilities=[])
    assert outcome.answer == "there"
    assert '<function name="workspace_write">' not in script.asked[0].words
    assert '<function name="workspace_write">' in script.asked[1].words


async def test_a_person_is_never_found(tmp_path: Path) -> None:
    answers = [says(call("find_tools", query="ask the person behind the run a question")), ends("12")]
    _, script = await played(tmp_path, CHAT, answers, task={"text": "How many?"})
    assert not any("human" in name for name in script.asked[1].functions)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("What does the local document heat_survey.md say about Foundry Road? Quote it.", True),
        ("What do my notes say about Foundry Road?", True),
        ("Name the streets of heat_survey.md.", True),
        ("What is 2 + 2?", False),
        ("Write the word pear into pear.md.", False),
    ],
)
async def test_a_task_about_documents_of_the_corpus_is_offered_the_search_of_it(
    tmp_path: Path, text: str, *, wanted: bool
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "heat_survey.md").write_text("Foundry Road is the hottest street, with 41 degrees.\n")
    answers = [says(call("read_file", path="heat_survey.md")), ends("x")]
    async with playing(tmp_path, CHAT, answers) as (tea, script):
        await tea.corpus.add(str(folder))
        await tea.run(text)
    assert {"web_search", "researcher"} & {*script.asked[0].functions} == (
        {"web_search", "researcher"} if wanted else set()
    )
    (said,) = script.asked[1].results.values()
    assert "A local document of the corpus is found with `web_search`." in said


async def test_without_a_corpus_nothing_is_said_of_it(tmp_path: Path) -> None:
    answers = [says(call("read_file", path="heat_survey.md")), ends("x")]
    task = {"text": "What does the local document heat_survey.md say about Foundry Road?"}
    _, script = await played(tmp_path, CHAT, answers, task=task)
    assert not {"web_search", "researcher"} & {*script.asked[0].functions}
    assert "web_search" not in script.asked[1].words


@pytest.mark.parametrize("searches", [False, True])
async def test_a_search_that_no_engine_answers_is_not_added_and_that_is_said(tmp_path: Path, *, searches: bool) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "heat.md").write_text("Foundry Road is the hottest street.\n")
    answers = [says(call("find_tools", query="search the web for current facts")), ends("x")]
    async with playing(tmp_path, CHAT, answers) as (tea, script):
        if searches:
            await tea.corpus.add(str(tmp_path / "own"))
        await tea.run("Name the hottest street.")
    (said,) = script.asked[1].results.values()
    assert ("web_search" in script.asked[1].functions) == searches
    assert ("web_search: Search the web" in said) == searches
    assert ("cannot be used: no search engine is configured." in said) == (not searches)


async def test_a_search_tried_in_vain_is_not_said_to_be_callable_and_what_a_model_can_do_is_said(
    tmp_path: Path,
) -> None:
    finding = call("find_tools", query="search the web for current facts")
    answers = [says(call("web_search", queries=["street"]), finding), ends("x")]
    _, script = await played(tmp_path, CHAT, answers, task={"text": "Name the hottest street."})
    failed, found = script.asked[1].results.values()
    assert "or ends with success false and says what is missing." in failed
    assert "web_search: " not in found
    assert "web_search cannot be used: no search engine is configured." in found
    assert "web_search" not in script.asked[1].functions


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("On http://127.0.0.1:8399/ press 'Show routes' and name the cheapest.", True),
        ("Klicke auf https://example.org/ den Knopf an.", True),
        ("What does the press say about clicks?", False),
        ("Fill in the form on https://example.org/order with the name Ann.", True),
        ("On http://127.0.0.1:8194/ book the Begonia room for Maria on 14 March 2027.", True),
        ("Book room Elm on https://example.org/book for Tom, 1 hour.", True),
        ("Which book on https://example.org/ is the oldest?", False),
        ("Read https://example.org/site/press.html", False),
        ("Summarise the page https://example.org/a of that site.", False),
    ],
)
async def test_a_task_of_acting_on_a_page_is_offered_the_browser(tmp_path: Path, text: str, *, wanted: bool) -> None:
    _, script = await played(tmp_path, CHAT, [ends("x")], task={"text": text})
    assert ("browser" in script.asked[0].functions) is wanted


async def test_an_agent_is_found_in_place_of_lone_actions_of_its_environment(tmp_path: Path) -> None:
    answers = [says(call("find_tools", query="click a button of a web page in the browser, press keys")), ends("12")]
    _, script = await played(tmp_path, CHAT, answers, task={"text": "How many?"})
    assert "browser" in script.asked[1].functions
    assert not [name for name in script.asked[1].functions if name.startswith("browser_")]


async def test_a_passage_found_twice_is_given_once(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    passage = "Foundry Road is the hottest street of the town, with 41 degrees in the shade, as it has no tree at all."
    (folder / "heat.md").write_text(f"{passage}\n")
    search = [says(call("web_search", queries=[words])) for words in ("hottest street", "foundry road shade", "trees")]
    async with playing(tmp_path, CHAT, [*search, ends("41")]) as (tea, script):
        await tea.corpus.add(str(folder))
        outcome = await tea.run("What do my documents say about Foundry Road?")
        assert (await tea.replay(outcome.run)).answer == outcome.answer
    assert [one.words.count(passage) for one in script.asked] == [0, 1, 1, 1]
    assert [one.words.count("[given above already]") for one in script.asked] == [0, 0, 1, 2]


FITTING: dict[str, set[str]] = {
    "What is 12*7?": set[str](),
    "How many partitions has the number 60?": set[str](),
    "Which weekday does the 13th of a month fall on most often?": set[str](),
    "What is the total amount of the paid invoices per customer?": set[str](),
    "What is the SHA-256 of the word tea?": set[str](),
    "Which city has the largest number of people?": set[str](),
    "Check these IBANs: DE89370400440532013000, GB82WEST12345698765432.": {"check_ibans"},
    "What is 2026 in Roman numerals?": {"roman_number"},
    "How many rows has the table?": set[str](),
    "How many days lie between 3 March 1999 and 17 July 2024?": set[str](),
    "How many business days are there between 2 January and 30 June 2025?": {"business_days"},
}


@pytest.mark.slow
async def test_tools_made_for_other_tasks_are_offered_where_they_fit_alone(tmp_path: Path) -> None:
    async with playing(tmp_path, CHAT, lambda _: ends("x")) as (tea, script):
        await make_tools(tea)
        for text in FITTING:
            await tea.run(text)
    firsts = {text: next(one for one in script.asked if text in json.dumps(one.body)) for text in FITTING}
    assert {text: {*MADE} & {*one.functions} for text, one in firsts.items()} == FITTING


async def test_the_search_names_what_is_bundled_before_what_was_made_and_nothing_untrusted(tmp_path: Path) -> None:
    async with playing(tmp_path, CHAT, [ends("x")]) as (tea, script):
        await make_tools(tea)
        made = await tea.tcp.info("roman_number")
        tea.tcp.manager.services.trust.grant(made.digest, "tool:roman_number")
        await tea.run("How many?")
    (find,) = (one for one in script.asked[0].body["tools"] if one["function"]["name"] == "find_tools")
    told = find["function"]["description"]
    own = ("analyzer", "debate", "reporter", "shell_bash", "table_query", "workspace_write")
    assert all(name in told for name in own)
    assert [name for name in MADE if name in told] == ["roman_number"]
    assert max(told.index(name) for name in own) < told.index("roman_number")


@pytest.mark.parametrize(
    "text",
    [
        "count the words of a text",
        "How many permutations of ABCDEF have no letter in its place?",
        "date arithmetic",
        "compare two numbers",
        "simulate ten thousand throws of two dice",
    ],
)
async def test_a_search_with_the_words_of_a_computation_leads_to_code(tmp_path: Path, text: str) -> None:
    answers = [says(call("find_tools", query=text)), ends("x")]
    _, script = await played(tmp_path, CHAT, answers, task={"text": text})
    (said,) = script.asked[1].results.values()
    assert "shell_python" in said
    assert not [name for name in script.asked[1].functions if name.startswith(("report_", "computer_", "github_"))]


async def test_code_is_found_by_its_plain_name_and_bash_beside_it(tmp_path: Path) -> None:
    answers = [says(call("find_tools", query="execute code")), ends("x")]
    _, script = await played(tmp_path, CHAT, answers, task={"text": "How many?"})
    (said,) = script.asked[1].results.values()
    assert "shell_bash: Run a command line" in said
    assert "As before: shell_python." in said


async def test_a_search_that_finds_functions_is_something_new(tmp_path: Path) -> None:
    found = ["write a file", "show a git diff", "list files in the workspace", "comment on an issue of GitHub"]
    answers = [*(says(call("find_tools", query=query)) for query in found), ends("x")]
    _, script = await played(tmp_path, CHAT, answers, task={"text": "How many?"})
    assert not any("brought nothing new" in one.words for one in script.asked)
    nothing = [*(says(call("find_tools", query="fly to the moon")) for _ in range(3)), ends("x")]
    (tmp_path / "other").mkdir()
    _, script = await played(tmp_path / "other", CHAT, nothing, task={"text": "How many?"})
    assert "The last 3 steps brought nothing new." in script.asked[3].words


async def test_the_head_of_a_file_is_one_line_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "two\nlines.txt"
    path.write_text("tea\n")
    _, script = await played(tmp_path, CHAT, [ends("x")], task={"text": "What does it say?", "files": [path]})
    assert '"two\\nlines.txt": text, 4 bytes' in script.asked[0].words
