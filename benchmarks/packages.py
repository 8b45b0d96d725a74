"""Measure three packages against tea's own code: FAISS, filelock and aiofiles.

pip install faiss-cpu filelock aiofiles
OMP_NUM_THREADS=1 python benchmarks/packages.py [--components 20000 100000]

What is not installed is left out. The vectors are those of made-up descriptions, as a registry's are.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np

from tea.retrieval.embedding.builtin import StaticEmbedder
from tea.retrieval.index import Document, Index
from tea.store.turn import claim

BEST, QUESTIONS, TIMES, SEED = 5, 100, 2_000, 0
LINKS, BREADTH = 32, 128  # of HNSW: neighbours of a vector, and candidates of a search
LINE = b"x" * 1023 + b"\n"
WORDS = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8").split()


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--components", type=int, nargs="*", default=[20_000, 100_000])
    for number in parser.parse_args().components:
        search(number)
    with tempfile.TemporaryDirectory() as folder:
        locks(Path(folder))
        asyncio.run(lines(Path(folder)))
    for name in ("faiss", "filelock", "aiofiles", "tea"):
        if find_spec(name):
            print(f"import {name:24} {imported(name):8.0f} ms")


def search(number: int) -> None:
    """Compare the fused search of the best with FAISS over the same vectors."""
    chance, embedder = random.Random(SEED), StaticEmbedder()
    texts = [" ".join(chance.choices(WORDS, k=20)) for _ in range(number)]
    rows = embedder.embed(texts)
    index = Index(lambda some: rows if len(some) > 1 else embedder.embed(some))
    index.update({f"c{place:07}": Document(text=f"{text} {place}") for place, text in enumerate(texts)})
    asked = [" ".join(chance.choices(WORDS, k=8)) for _ in range(QUESTIONS)]
    wanted = embedder.embed(asked)
    exact = [set(np.argsort(-(rows @ one))[:BEST]) for one in wanted]
    fused = [index.search(text, one).best(BEST) for text, one in zip(asked, wanted, strict=True)]
    took = clocked(lambda place: index.search(asked[place], wanted[place]).best(BEST), QUESTIONS)
    print(f"{number:,} components\n  fused, words and vectors      {took:8.2f} ms")
    print(f"  numpy, vectors alone          {clocked(lambda place: best(rows @ wanted[place]), QUESTIONS):8.2f} ms")
    if not find_spec("faiss"):
        return
    faiss = cast(Any, import_module("faiss"))
    flat, near = faiss.IndexFlatIP(rows.shape[1]), faiss.IndexHNSWFlat(rows.shape[1], LINKS, faiss.METRIC_INNER_PRODUCT)
    near.hnsw.efSearch = BREADTH
    for name, one in (("flat", flat), ("HNSW", near)):
        begin = time.perf_counter()
        one.add(rows)
        built = time.perf_counter() - begin
        took = clocked(lambda place, one=one: one.search(wanted[place][None], BEST), QUESTIONS)
        found = [set(one.search(row[None], BEST)[1][0]) for row in wanted]
        right = sum(len(a & b) for a, b in zip(found, exact, strict=True)) / (BEST * QUESTIONS)
        wide = [{f"c{int(place):07}" for place in one.search(row[None], 10 * BEST)[1][0]} for row in wanted]
        kept = sum(len(a & {*b}) for a, b in zip(wide, fused, strict=True)) / (BEST * QUESTIONS)
        print(
            f"  FAISS {name}, vectors alone     {took:8.2f} ms, built in {built:.1f} s, recall@{BEST} {right:.3f};"
            f" of the fused best {BEST} among its best {10 * BEST}: {kept:.3f}"
        )


def best(scores: Any) -> Any:
    """Return the places of the best scores, the best first."""
    near = np.argpartition(scores, -BEST)[-BEST:]
    return near[np.argsort(-scores[near])]


def locks(folder: Path) -> None:
    """Compare taking and giving back a lock among processes."""

    def ours(_: int) -> None:
        release = claim(folder / "a.lock")
        assert release is not None
        release()

    print(f"lock and release, tea           {clocked(ours, TIMES) * 1000:8.1f} us")
    if find_spec("filelock"):
        lock = cast(Any, import_module("filelock")).FileLock(folder / "b.lock")

        def theirs(_: int) -> None:
            with lock.acquire(blocking=False):
                pass

        print(f"lock and release, filelock      {clocked(theirs, TIMES) * 1000:8.1f} us")


async def lines(folder: Path) -> None:
    """Compare the writing of lines of 1 KB, each handed to the system."""
    with (folder / "a").open("ab") as file:
        begin = time.perf_counter()
        for _ in range(TIMES):
            file.write(LINE)
            file.flush()
        print(f"append a line, write and flush  {(time.perf_counter() - begin) / TIMES * 1e6:8.1f} us")
    if find_spec("aiofiles"):
        async with cast(Any, import_module("aiofiles")).open(folder / "b", "ab") as file:
            begin = time.perf_counter()
            for _ in range(TIMES):
                await file.write(LINE)
                await file.flush()
            print(f"append a line, aiofiles         {(time.perf_counter() - begin) / TIMES * 1e6:8.1f} us")


def clocked(work: Callable[[int], object], times: int) -> float:
    """Return the median milliseconds of one piece of work."""
    taken: list[float] = []
    for place in range(times):
        begin = time.perf_counter()
        work(place)
        taken.append((time.perf_counter() - begin) * 1000)
    return statistics.median(taken)


def imported(name: str) -> float:
    """Return the additional milliseconds of a new interpreter with an import, the least of five."""

    def took(code: str) -> float:
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return (time.perf_counter() - begin) * 1000

    return min(took(f"import {name}") for _ in range(5)) - min(took("pass") for _ in range(5))


if __name__ == "__main__":
    main()
