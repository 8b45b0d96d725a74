"""Questions in words over small texts, each answered with the passage that tells, or not at all."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")

Solve = Callable[..., Coroutine[Any, Any, dict[str, Any]]]

MOST_STEPS = 4
MILL = """The Orrin Mill

The mill was built in 1794 by the brothers Hugo and Albert Orrin. Its wheel is 6 metres wide and turns eight times a
minute. The older windmill on the hill burnt down in 1788.

The present miller is Clara Voss, who grinds rye and spelt. Flour is sold in the yard on Saturdays. A bag costs 4 euros.
Visitors must not touch the stones, because they are sharp.
"""
PUMP = """# Pump 12

## Cleaning
Unplug the pump first. The filter has to be rinsed every two weeks. It may be washed in the dishwasher.

**Can I use sea water?**
No. Salt damages the seals.

## Data
Weight: 3.4 kg
Maker: Tarn & Daughters
Number of valves: 5
Last inspection: 2023-04-18
"""
FILES = {"mill.txt": MILL, "pump.md": PUMP}


@pytest.mark.parametrize(
    ("file", "question", "part"),
    [
        ("mill.txt", "When was the Orrin Mill constructed?", "built in 1794"),
        ("mill.txt", "Who is the miller?", "Clara Voss"),
        ("mill.txt", "How wide is the wheel?", "6 metres"),
        ("mill.txt", "Where can you buy flour?", "in the yard"),
        ("mill.txt", "What is the price of a bag?", "4 euros"),
        ("mill.txt", "Why may the stones not be touched?", "because they are sharp"),
        ("mill.txt", "When did the windmill burn down?", "1788"),
        ("pump.md", "How often should the filter be rinsed?", "every two weeks"),
        ("pump.md", "How much does the pump weigh?", "3.4 kg"),
        ("pump.md", "Who is the maker of the pump?", "Tarn & Daughters"),
        ("pump.md", "How many valves are there?", "5"),
        ("pump.md", "When was it last inspected?", "2023-04-18"),
        ("pump.md", "May I use sea water?", "No. Salt damages the seals."),
        ("pump.md", "Can the filter be washed in the dishwasher?", "Yes: It may be washed"),
    ],
)
async def test_other_words_than_those_of_the_text_find_the_passage(
    solve: Solve, file: str, question: str, part: str
) -> None:
    done = await solve(question, [file])
    assert part in done["answer"], done["reason"]
    assert done["evidence"][0]["source"] == file


@pytest.mark.parametrize(
    ("file", "question"),
    [
        ("mill.txt", "When did Clara Voss retire?"),
        ("mill.txt", "How tall is the wheel?"),
        ("mill.txt", "How many bags does the mill sell?"),
        ("mill.txt", "What colour are the stones?"),
        ("mill.txt", "How much does Clara Voss earn?"),
        ("pump.md", "At what temperature is the filter rinsed?"),
        ("pump.md", "How much do the valves weigh?"),
        ("pump.md", "What is the phone number of the maker?"),
        ("pump.md", "Which valve is broken?"),
    ],
)
async def test_what_is_said_of_something_else_is_no_answer(solve: Solve, file: str, question: str) -> None:
    done = await solve(question, [file])
    assert (done["success"], done["answer"]) == (False, "")


async def test_yes_or_no_is_a_truth_where_one_is_wanted(solve: Solve) -> None:
    wanted = {"type": "boolean"}
    assert (await solve("Can the filter be washed in the dishwasher?", ["pump.md"], wanted))["answer"] is True
    assert (await solve("May visitors touch the stones?", ["mill.txt"], wanted))["answer"] is False
