"""Further wordings of the development set: one wish in many words, over two of its tables."""

from collections.abc import Callable
from typing import Any

Entry = tuple[str, str, Callable[[Any], Any]]


def _same(label: str, solve: Callable[[Any], Any], *texts: str) -> tuple[Entry, ...]:
    """Give several wordings one answer."""
    return tuple((label, text, solve) for text in texts)


LAKES: tuple[Entry, ...] = (
    *_same(
        "groups", lambda f: f.Continent.mode()[0],
        "Which continent shows up most often?", "What continent leads in number of lakes?",
        "Most lakes lie on which continent?", "The majority of the lakes are on which continent?",
        "which continent is home to the most lakes", "What's the modal continent?",
        "Name the continent having more lakes than any other.", "Which continent tops the count of lakes?",
        "Which continent counts the most lakes", "Under which continent do the most lakes fall?",
        "What continent do the largest number of lakes belong to?", "Which continent dominates the list?",
        "Which continent contributes the most lakes?", "which continent has the highest lake count",
    ),
    *_same(
        "groups", lambda f: "South America",
        "Which continent has the fewest lakes?", "What continent is the rarest one?",
        "Which continent shows up least often?", "The continent with the smallest number of lakes is?",
        "Which continent counts the fewest lakes?",
    ),
    *_same(
        "rank", lambda f: f.nlargest(3, "Volume").Lake.iloc[2],
        "Which lake takes third place in volume?", "Which lake is number 3 by volume?",
        "Rank the lakes by volume; which is the third one?", "Which lake sits in third position for volume?",
        "third place by volume?", "Ordering the lakes by volume from high to low, which one comes third?",
        "the lake with the third greatest volume",
    ),
    *_same(
        "rank", lambda f: f.nsmallest(2, "Volume").Lake.iloc[1],
        "What lake has the 2nd lowest volume?", "Which lake is second from the bottom by volume?",
        "the lake with the second smallest volume",
    ),
    *_same(
        "distinct", lambda f: ["fresh", "salt"],
        "Enumerate the water types.", "Give all possible values of water type.", "which water types can be found?",
        "What are the categories of water type?", "water types present in the data", "What water types do we have?",
        "Which distinct water types does the data set contain?",
    ),
    *_same(
        "count number", lambda f: sum(f.Depth > 300),
        "How many lakes exceed 300 m in max depth?", "max depth > 300: how many lakes?",
        "For how many lakes is the max depth above 300?", "In how many lakes does the max depth surpass 300?",
        "Number of lakes whose max depth is higher than 300", "How many lakes top 300 for max depth?",
        "How many lakes come in at more than 300 for max depth?", "How many lakes are over 300 m deep?",
        "how many lakes boast a max depth beyond 300", "Count lakes having max depth north of 300",
    ),
    *_same(
        "look up", lambda f: f.set_index("Lake").Volume["Erie"],
        "Erie: volume?", "Give the volume Erie has.", "What volume does Erie have?", "Volume for Erie please",
        "State Erie's volume.", "How large is the volume of Erie?", "Erie has what volume?",
        "What value is recorded for the volume of Erie?", "I want Erie's volume.", "For Erie, what is the volume?",
        "What is the figure for volume at Erie?", "the volume of lake Erie equals?", "volume, Erie",
        "could you check the volume of Erie for me?",
    ),
    *_same(
        "count", lambda f: len(f),
        "How many lakes altogether?", "what is the row count?", "number of records",
        "How many lakes does the data describe?",
        "How many entries does the table have?", "What's the total count of lakes listed?", "how many rows of data",
        "size of the data set in rows?",
    ),
    *_same(
        "yes no", lambda f: True,
        "Is there any salt lake in Africa?", "Are there lakes deeper than 1000 m?", "Is Baikal in Asia?",
        "Is Baikal's max depth over 1000?", "Does the list include Titicaca?", "Is Erie a fresh lake?",
    ),
    *_same(
        "yes no", lambda f: False,
        "Is there any salt lake in Europe?", "Are there more than 30 lakes?", "Is Erie in Africa?",
        "Is the max depth of Erie greater than 100?", "is the volume of Huron bigger than the volume of Michigan?",
    ),
    *_same(
        "aggregate", lambda f: f.Volume.mean(),
        "On average, how much volume does a lake have?", "What volume do lakes have on average?",
        "What is the mean of all volumes?", "Work out the average volume across the lakes.", "avg(volume)",
        "the typical lake has what volume, on average?", "What does volume average out to?",
    ),
    *_same(
        "aggregate", lambda f: f.Volume.sum(),
        "What do the volumes add up to?", "grand total of volume", "Taking all lakes together, what is the volume?",
        "How much volume do all the lakes hold together?", "sum(volume)", "volume summed over all lakes",
    ),
    *_same(
        "aggregate", lambda f: f.Volume.max() - f.Volume.min(),
        "What is the gap between the highest and lowest volume?", "range of volume",
        "How far is the largest volume from the smallest volume?",
    ),
    *_same(
        "top row", lambda f: "Baikal",
        "Which lake tops the table for volume?", "Where is the volume greatest?", "which lake has got the most volume?",
        "Who leads in volume?", "What lake shows the maximum volume?", "lake w/ max volume",
        "Which one of the lakes has the highest volume value?", "The greatest volume belongs to which lake?",
        "Which lake outdoes all others in volume?",
    ),
    *_same(
        "share", lambda f: 100 * 4 / 18,
        "What percentage of the lakes are salt?", "How many percent of lakes have water type salt?",
        "Salt lakes make up what percent of all lakes?", "what % of lakes are salt",
        "Out of all lakes, what percentage are in Africa?", "Which percentage of lakes belongs to Africa?",
    ),
)  # fmt: skip

BRIDGES: tuple[Entry, ...] = (
    *_same(
        "missing", lambda f: 3,
        "How many bridges lack a cost?", "How many missing costs are there?", "count the blanks in the cost column",
        "For how many bridges is no cost recorded?", "How many bridges don't have a cost?",
        "In the Cost column, how many cells are empty?", "how many null values has cost?",
    ),
    *_same(
        "list rows", lambda f: ["Pont de Normandie", "Millau Viaduct"],
        "Which bridges are located in France?", "Give me the French bridges by name, country France.",
        "name all bridges whose design is cable-stayed", "which ones are cable-stayed bridges?",
        "Show the bridges where country is France.", "What bridges does France have?",
        "List every bridge that is cable-stayed.",
    ),
    *_same(
        "count two", lambda f: 3,
        "How many suspension bridges are there in New York?",
        "How many bridges in New York have the design suspension?",
        "Count bridges located in New York.", "How many bridges in Japan are suspension bridges?",
        "how many japanese bridges of the suspension design",
    ),
    *_same(
        "count two", lambda f: sum((f.Toll == "yes") & (f["Main span"] > 1000)),
        "How many bridges with a toll have a main span above 1000?",
        "How many bridges have a toll and a main span greater than 1000 m?",
        "Of the bridges with a toll, how many have a main span of more than 1000 m?",
        "Among bridges with main span over 1000, how many have a toll?",
    ),
    *_same(
        "difference", lambda f: 1410 - 1280,
        "What is the difference in main span between the Humber Bridge and the Golden Gate Bridge?",
        "How much longer is the main span of the Humber Bridge than that of the Golden Gate Bridge?",
        "main span: Humber Bridge minus Golden Gate Bridge?",
        "By how many metres does the main span of the Humber Bridge exceed that of the Golden Gate Bridge?",
    ),
    *_same(
        "compare", lambda f: "Humber Bridge",
        "Which bridge has the longer main span: the Humber Bridge or the Golden Gate Bridge?",
        "Humber Bridge or Golden Gate Bridge - which has the greater main span?",
        "Between the Humber Bridge and Tower Bridge, which opened later?",
        "Which opened later, the Humber Bridge or Tower Bridge?",
    ),
    *_same(
        "date", lambda f: "1964",
        "In what year did the Forth Road Bridge open?", "Which year saw the most bridge openings?",
        "what year was the Verrazzano-Narrows Bridge opened?",
    ),
    *_same(
        "date", lambda f: sum(f.Opened.str[5:7] == "05"),
        "How many bridges opened in May?", "how many bridges were opened in the month of May",
    ),
    ("date", "How many bridges opened on a Sunday?", lambda f: _on(f, 6)),
    ("date", "bridges opened per year?", lambda f: _per_year(f)),
    ("date", "On what day of the week did Tower Bridge open?", lambda f: "Saturday"),
    ("date", "In which month did the Humber Bridge open?", lambda f: ("June", "June 1981")),
    ("date", "What is the oldest bridge in Japan?", lambda f: "Great Seto Bridge"),
    ("date", "how many bridges opened before the Humber Bridge?", lambda f: sum(f.Opened < "1981-06-24")),
)  # fmt: skip


def _on(frame: Any, day: int) -> int:
    import pandas as pd

    return int((pd.to_datetime(frame.Opened).dt.dayofweek == day).sum())


def _per_year(frame: Any) -> dict[str, int]:
    return {str(year): int(count) for year, count in frame.Opened.str[:4].value_counts().items()}


PHRASES = {"lakes": LAKES, "bridges": BRIDGES}
