"""A question for two things is answered by both or by none."""

from collections.abc import Callable, Coroutine
from itertools import product
from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")

Solve = Callable[..., Coroutine[Any, Any, dict[str, Any]]]

MOST_STEPS = 8
SLIDES = """country,year,deaths,cost,capital
Peru,1970,894,10,Lima
Chile,1985,120,40,Santiago
Nepal,2015,300,25,Kathmandu
Japan,2011,55,99,Tokyo
Kenya,1990,20,3,Nairobi
"""
FILES = {"slides.csv": SLIDES}
FIRST = {
    "What is the highest number of deaths": "894",
    "Give the highest deaths value": "894",
    "Which country has the most deaths": "Peru",
    "What is the total of deaths": "1389",
    "What is the average deaths": "277.8",
    "How many countries are there": "5",
    "What is the capital of Peru": "Lima",
    "What were the deaths of Peru": "894",
}
SECOND = {
    "its country": "Peru",
    "the year": "1970",
    "when": "1970",
    "who had it": "Peru",
    "in which country was it": "Peru",
    "the lowest cost": "3",
    "what is the cost": "10",
    "the cost": "10",
    "how much did it cost": "10",
    "how many years are there": "5",
    "list the capitals": "Nairobi",
}
JOINTS = (" and ", " together with ", " & ", "? And ")


@pytest.mark.parametrize("joint", JOINTS)
async def test_no_question_for_two_things_is_answered_by_one(solve: Solve, joint: str) -> None:
    for (first, one), (second, two) in product(FIRST.items(), SECOND.items()):
        question = f"{first}{joint}{second}?"
        answer = (await solve(question, ["slides.csv"]))["answer"]
        assert not answer or (one in answer and two in answer), f"{question} {answer}"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the highest deaths value and its country?", "894, Peru"),
        ("What is the lowest cost, its country?", "3, Kenya"),
        ("What was the highest cost and in which country was it?", "99, Japan"),
        ("What is the second highest cost and its country?", "40, Chile"),
        ("List the 2 highest costs and their countries.", "99, Japan, 40, Chile"),
        ("What is the year and deaths of Nepal?", "2015, 300"),
        ("What are the capital and the cost of Peru?", "Lima, 10"),
        ("What is the cost and its country with the highest cost?", "99, Japan"),
        ("What are the deaths and the name of the country with the most deaths?", "894, Peru"),
    ],
)
async def test_both_are_told_where_both_are_understood(solve: Solve, question: str, expected: str) -> None:
    assert (await solve(question, ["slides.csv"]))["answer"] == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the highest cost of any country?", "99"),
        ("What is the total cost of Peru and Chile?", "50"),
        ("How many countries had a cost over 20 and deaths over 100?", "2"),
        ("What is the difference in cost between Peru and Chile?", "30"),
        ("What is the difference between the highest and the lowest cost?", "96"),
        ("Which country has the lowest cost and more than 100 deaths?", "Peru"),
        ("Which has the higher cost, Peru or Chile?", "Chile"),
    ],
)
async def test_an_and_inside_of_one_question_does_no_harm(solve: Solve, question: str, expected: str) -> None:
    assert (await solve(question, ["slides.csv"]))["answer"] == expected


@pytest.mark.parametrize(
    "question",
    [
        "What is the highest and lowest cost?",
        "What is the sum of deaths and cost?",
        "List the countries and their capitals.",
        "What is the country and capital with the highest cost?",
        "Which country has the highest cost and which the lowest?",
        "Count the countries and list the capitals.",
        "What is the name and cost of the dearest country?",
        "What is the cost, and the name, of the dearest country?",
        "What is the number and cost of the country with the highest cost?",
        "What is the name, cost of the country with the capital Lima?",
    ],
)
async def test_what_is_understood_in_part_is_not_answered(solve: Solve, question: str) -> None:
    assert (await solve(question, ["slides.csv"]))["success"] is False
