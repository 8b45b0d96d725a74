"""Recall of the local search: does a question bring the passage with its answer among the first five?

    python benchmarks/research.py [--questions 400] [--seed 20] [--folder FOLDER]... [--tune] [--json]

The corpora are the documentation packages of Debian: python3-doc, postgresql-doc-15, git-doc, sqlite3-doc and
debian-reference-en (`make corpora` installs them). Questions are made by rule, with a fixed seed: a passage is drawn
that holds a string which stands in no other passage, a sentence beside that string is taken without it, and half of
its content words, in another order, are the question. A result is right if its text holds the string. One half of the
questions is for tuning, the other is held out; the shares of both are printed, and the exit code is 1 where both ways
together, without the results far below the best that a search leaves out (`shown`), find less of the held-out half
than the better one of them alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import sqlite3
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tea.corpus.corpus import Corpus, near_best
from tea.corpus.index import Index, Ways
from tea.corpus.reading import Readers
from tea.reading import nearness
from tea.reading.pages import PageReader
from tea.retrieval.embedding.builtin import StaticEmbedder
from tea.retrieval.embedding.wordpiece import SILENT
from tea.sandbox.levels import Sandboxes
from tea.sandbox.settings import SandboxSettings
from tea.source.seal import Seal
from tea.web import WebSettings

FOLDERS = (
    "/usr/share/doc/python3.11/html",
    "/usr/share/doc/postgresql-doc-15/html",
    "/usr/share/doc/git-doc",
    "/usr/share/doc/sqlite3",
    "/usr/share/debian-reference",
)
FIRST = 5
WAYS: Mapping[str, tuple[Ways, bool]] = {
    "words": ("words", False),
    "meaning": ("meaning", False),
    "both": ("both", False),
    "shown": ("both", True),
}
SHARES = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.1), (0.5, 0.2, 0.1), (0.5, 0.3, 0.1), (0.6, 0.2, 0.1), (0.6, 0.2, 0.2))

_NEEDLE = re.compile(r"[A-Za-z][\w.-]{6,40}\w")
_SENTENCE = re.compile(r"[A-Z][^.!?|]{60,320}[.!?]")
_WORD = re.compile(r"[A-Za-z][A-Za-z]{2,}")
_LEAST_WORDS, _MOST_WORDS = 4, 9


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question, and a string only in the passage of its answer."""

    text: str
    needle: str


def questions(texts: Sequence[str], number: int, seed: int) -> list[Question]:
    """Return questions to passages, drawn with a seed."""
    holding: dict[str, set[int]] = defaultdict(set)
    for place, text in enumerate(texts):
        for needle in set(_NEEDLE.findall(text)):
            holding[needle].add(place)
    whole = "\n".join(texts).count
    chance, found = random.Random(seed), list[Question]()
    drawn = chance.sample(range(len(texts)), len(texts))
    for place in drawn:
        if len(found) == number:
            break
        needles = sorted(one for one in set(_NEEDLE.findall(texts[place])) if holding[one] == {place})
        chance.shuffle(needles)
        for needle in needles[:5]:
            text = _question(texts[place], needle, chance)
            if text and whole(needle) == texts[place].count(needle):
                found.append(Question(text=text, needle=needle))
                break
    return found


def _question(text: str, needle: str, chance: random.Random) -> str:
    """Return half of the content words of a sentence beside a string, in another order; empty if there are too few."""
    flat = " ".join(text.split())
    at = flat.find(needle)
    for sentence in _SENTENCE.finditer(flat):
        if sentence.start() <= at + 300 and sentence.end() >= at - 300:
            words = [word.casefold() for word in _WORD.findall(sentence[0].replace(needle, " "))]
            content = list(dict.fromkeys(word for word in words if word not in SILENT))
            if len(content) >= 2 * _LEAST_WORDS:
                return " ".join(chance.sample(content, min(_MOST_WORDS, max(_LEAST_WORDS, len(content) // 2))))
    return ""


def recall(index: Index, asked: Sequence[Question], ways: Ways, barred: bool = False) -> tuple[float, float]:
    """Return the share of questions with their passage among the first five, and the mean number of results.

    Args:
        index: What is searched.
        asked: The questions.
        ways: How.
        barred: Whether results far below the best are left out, as a search does.
    """
    right, shown = 0, 0
    for one in asked:
        matches = index.search(one.text, FIRST, ways)
        kept = near_best(matches) if barred else matches
        shown += len(kept)
        right += any(one.needle in match.passage.text for match in kept)
    return right / len(asked), shown / len(asked)


def stored(path: Path) -> list[str]:
    """Return the texts of all passages, in order."""
    with closing(sqlite3.connect(path)) as connection:
        return [str(row[0]) for row in connection.execute("SELECT body FROM texts ORDER BY rowid")]


def tuned(index: Index, asked: Sequence[Question]) -> Iterator[tuple[tuple[float, ...], float]]:
    """Yield the weights of nearness, of all words held and of meaning, and their recall."""
    for weights in SHARES:
        nearness.NEARNESS, nearness.HELD, nearness.MEANING = weights
        yield weights, recall(index, asked, "both")[0]


async def indexed(index: Index, folders: Sequence[str]) -> dict[str, int]:
    """Index folders, and return the number of passages of each."""
    sandboxes = Sandboxes(SandboxSettings())
    readers = Readers(pages=lambda: PageReader(sandboxes.parser_terms))
    corpus = Corpus(index, WebSettings(), readers, seal=Seal())
    for folder in folders:
        await corpus.add(folder)
    return {root: one["passages"] for root, one in (await corpus.sources()).items()}


def main() -> int:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--questions", type=int, default=400)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--folder", action="append")
    parser.add_argument("--tune", action="store_true", help="Print the recall of the first half for several shares.")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    folders = given.folder or FOLDERS
    missing = [folder for folder in folders if not Path(folder).is_dir()]
    if missing:
        print(f"research: {missing[0]} is missing; `make corpora` installs the corpora.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "corpus" / "corpus.sqlite"
        index = Index(path, StaticEmbedder())
        begun = time.perf_counter()
        sources = asyncio.run(indexed(index, folders))
        seconds = time.perf_counter() - begun
        asked = questions(stored(path), given.questions, given.seed)
        halves = {"tuning": asked[::2], "held out": asked[1::2]}
        if given.tune:
            for share, found in tuned(index, halves["tuning"]):
                print(f"nearness, held, meaning {share}   recall@{FIRST} {found:.3f}")
            return 0
        begun = time.perf_counter()
        both = {name: {one: recall(index, half, *how) for one, how in WAYS.items()} for name, half in halves.items()}
        each = (time.perf_counter() - begun) / max(1, len(asked) * len(WAYS))
    shares = {name: {one: found[0] for one, found in half.items()} for name, half in both.items()}
    held, results = shares["held out"], both["held out"]["shown"][1]
    told = {
        "passages": sum(sources.values()), "seconds to index": round(seconds, 1), "ms a search": round(each * 1_000, 1),
        "questions": Counter({name: len(half) for name, half in halves.items()}), "recall@5": shares,
        "results shown": round(results, 2),
    }  # fmt: skip
    if given.json:
        print(json.dumps(told))
    else:
        print(f"{told['passages']:,} passages indexed in {seconds:.1f} s; {each * 1_000:.1f} ms a search")
        print(f"{results:.2f} of {FIRST} results are shown in the mean")
        print(f"{'recall@5':12}{'questions':>10}" + "".join(f"{ways:>10}" for ways in WAYS))
        for name, found in shares.items():
            print(f"{name:12}{len(halves[name]):>10}" + "".join(f"{found[ways]:>10.3f}" for ways in WAYS))
    return 0 if held["shown"] >= max(held["words"], held["meaning"]) else 1


if __name__ == "__main__":
    sys.exit(main())
