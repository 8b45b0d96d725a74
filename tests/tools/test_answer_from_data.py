"""Questions in words over small tables, each answered right or not at all."""

import importlib.util
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import pytest_asyncio

from tea.protocols.tcp import TCPServer
from tea.testing import platform

pytestmark = pytest.mark.asyncio(loop_scope="module")


def _loop() -> ModuleType:
    path = Path(__file__).with_name("loop.py")
    spec = importlib.util.spec_from_file_location("tests_tools_loop", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


loop = _loop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tools(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TCPServer]:
    folder = tmp_path_factory.mktemp("tables")
    loop.write_files(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        async with platform() as tea:
            yield tea.tcp


ANSWERS = [
    ("planets.csv", "How many moons does Saturn have?", "146"),
    ("planets.csv", "Which planet has the most moons?", "Saturn"),
    ("planets.csv", "Which planet has the second most moons?", "Jupiter"),
    ("planets.csv", "Which planets have rings?", "Jupiter, Saturn, Uranus, Neptune"),
    ("planets.csv", "How many planets do not have rings?", "4"),
    ("planets.csv", "How many gas giants are there?", "2"),
    ("planets.csv", "When was Neptune discovered?", "1846"),
    ("planets.csv", "What is the largest planet by diameter?", "Jupiter"),
    ("planets.csv", "Which planet ranks third by diameter?", "Uranus"),
    ("planets.csv", "List the 3 planets with the most moons.", "Saturn, Jupiter, Uranus"),
    ("planets.csv", "What is the average number of moons of terrestrial planets?", "0.75"),
    ("planets.csv", "What is the total number of moons of the gas giants, rounded to the nearest integer?", "241"),
    ("planets.csv", "Is Jupiter bigger than Saturn?", "Yes"),
    ("planets.csv", "Does Venus have more moons than Mars?", "No"),
    ("planets.csv", "Which planet is more massive, Earth or Venus?", "Earth"),
    ("planets.csv", "What is the difference in diameter between Earth and Mars?", "5964"),
    ("planets.csv", "What percentage of the planets have rings?", "50"),
    ("planets.csv", "What fraction of planets are terrestrial?", "0.5"),
    ("planets.csv", "How many planets have between 2 and 30 moons?", "3"),
    ("planets.csv", "How many different types are there?", "3"),
    ("planets.csv", "Which type has the highest total number of moons?", "Gas giant"),
    ("planets.csv", "Number of planets per type", "Gas giant: 2, Ice giant: 2, Terrestrial: 4"),
    ("planets.csv", "How many planets have no discovery date?", "6"),
    ("planets.csv", "Is there a planet with more than 100 moons?", "Yes"),
    ("planets.csv", "Are there more than 5 planets with rings?", "No"),
    ("countries.csv", "What is the capital of Chad?", "N'Djamena"),
    ("countries.csv", "Which country has Oslo as its capital?", "Norway"),
    ("countries.csv", "What is the population of the country with the largest area?", "38250000"),
    ("countries.csv", "How many European countries are not EU members?", "2"),
    ("countries.csv", "How many countries speak French?", "3"),
    ("countries.csv", "List all countries in Africa.", "Kenya, Chad"),
    ("countries.csv", "Is Kenya in Asia?", "No"),
    ("countries.csv", "Which region has the largest total population?", "Asia"),
    ("countries.csv", "How many countries have a population over 100 million?", "2"),
    ("orders.csv", "How many orders were placed in 2022?", "2"),
    ("orders.csv", "What is the total of order 5003?", "200"),
    ("orders.csv", "Which product has the highest total quantity?", "Chair"),
    ("orders.csv,customers.csv", "How many orders came from customers in Norway?", "4"),
    ("orders.csv,customers.csv", "Which country has the highest total quantity?", "Norway"),
    ("museum.md", "When did the Harbour Museum open?", "The Harbour Museum opened in 1932 in a former customs house."),
    ("", "What is 17% of 2,340?", "397.8"),
]


@pytest.mark.parametrize(("files", "question", "expected"), ANSWERS)
async def test_a_question_is_answered(tools: TCPServer, files: str, question: str, expected: str) -> None:
    done = await loop.solve(tools, question, [name for name in files.split(",") if name])
    assert (done["success"], done["answer"]) == (True, expected), done["reason"]


UNANSWERABLE = [
    ("planets.csv", "What is the surface temperature of Venus?"),
    ("planets.csv", "How many unicorns are there?"),
    ("planets.csv", "Which planet is the most beautiful?"),
    ("planets.csv", "What is the diameter of Pluto?"),
    ("planets.csv", "Welcher Planet ist der größte?"),
    ("countries.csv", "What is the population of Berlin?"),
    ("countries.csv", "What is the population density of Japan?"),
    ("countries.csv", "Who is the president of Kenya?"),
    ("orders.csv", "What is the average discount?"),
    ("museum.md", "Who is the director of the museum?"),
    ("", "Which country is the largest?"),
]


@pytest.mark.parametrize(("files", "question"), UNANSWERABLE)
async def test_what_the_files_do_not_tell_is_not_answered(tools: TCPServer, files: str, question: str) -> None:
    done = await loop.solve(tools, question, [name for name in files.split(",") if name])
    assert (done["success"], done["answer"]) == (False, "")
    assert done["reason"]


async def test_an_answer_says_where_it_comes_from(tools: TCPServer) -> None:
    done = await loop.solve(tools, "What is the capital of Chad?", ["countries.csv"])
    (evidence,) = done["evidence"]
    assert evidence["source"] == "countries.csv"
    assert evidence["detail"].startswith("SQL SELECT")
    assert evidence["quote"] == "N'Djamena"
    text = await loop.solve(tools, "When did the Harbour Museum open?", ["museum.md"])
    assert text["evidence"][0]["detail"] == "line 3"


@pytest.mark.parametrize(
    ("schema", "question", "expected"),
    [
        ({"type": "integer"}, "How many planets have rings?", "4"),
        ({"type": "boolean"}, "Is Jupiter bigger than Saturn?", "true"),
        ({"type": "array"}, "Which planets are ice giants?", '["Uranus", "Neptune"]'),
        ({"type": "number"}, "Which planet has the most moons?", ""),
    ],
)
async def test_an_answer_has_the_wanted_type(
    tools: TCPServer, schema: dict[str, Any], question: str, expected: str
) -> None:
    done = await loop.solve(tools, question, ["planets.csv"], schema)
    assert done["answer"] == expected


async def test_every_look_at_the_data_is_a_call(tools: TCPServer) -> None:
    done = await loop.solve(tools, "How many planets have rings?", ["planets.csv"])
    calls = [call for step in done["history"] for call in step["calls"]]
    assert {call["name"] for call in calls} == {"table_query"}
    given = dict.fromkeys(tuple(sorted(call["arguments"])) for call in calls)
    assert list(given) == [("files",), ("files", "find"), ("files", "limit", "sql")]


async def test_a_missing_file_ends_the_work_with_its_problem(tools: TCPServer) -> None:
    done = await loop.solve(tools, "How many rows are there?", ["nowhere.csv"])
    assert done["success"] is False
    assert "nowhere.csv" in done["reason"]
