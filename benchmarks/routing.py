"""Measure the effect of routing on retrieval among 1,000 tools, and on its quality.

python benchmarks/routing.py [--most 1000]

The tools are functions of Python's standard library: the package is the category, the module or class the toolkit, the
first sentence of the docstring the description, and the second one the question.
"""

from __future__ import annotations

import argparse
import inspect
import pkgutil
import random
import re
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from tea.registry.row import Row
from tea.retrieval.embedding.builtin import StaticEmbedder
from tea.retrieval.index import Document, Index
from tea.retrieval.routing import routed

SEED, DEPTHS, LEAST = 0, (5, 20, 40), 30  # an agent is shown at most 40 functions
LEFT_OUT = {"antigravity", "this", "idlelib", "test", "tkinter", "turtledemo", "lib2to3", "__main__"}


def main() -> None:
    """Print how many answers change, and how many are right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=1_000)
    most = parser.parse_args().most
    found = sorted({row.name: (row, query) for row, query in functions()}.items())
    chosen = dict(random.Random(SEED).sample(found, min(most, len(found))))
    rows = {name: row for name, (row, _) in chosen.items()}
    embedder = StaticEmbedder()
    index = Index(embedder.embed)
    index.update({name: Document(text=row.text) for name, row in rows.items()})
    changed, plain, with_route = dict.fromkeys(DEPTHS, 0), dict.fromkeys(DEPTHS, 0), dict.fromkeys(DEPTHS, 0)
    questions = {name: query for name, (_, query) in chosen.items() if query}
    for name, query in questions.items():
        scores = index.search(query, embedder.embed([query])[0])
        order = routed(rows, scores)
        for depth in DEPTHS:
            straight, near = scores.best(depth), scores.best(depth, order)
            changed[depth] += near != straight
            plain[depth] += name in straight
            with_route[depth] += name in near
    categories = {one.category for one in rows.values()}
    toolkits = {(one.category, one.toolkit) for one in rows.values()}
    asked = len(questions)
    print(f"{len(rows)} tools in {len(categories)} categories and {len(toolkits)} toolkits, {asked} questions")
    for depth in DEPTHS:
        found = f"recall@{depth} without it {plain[depth] / asked:.3f}, with it {with_route[depth] / asked:.3f}"
        print(f"routing changes the best {depth} of {changed[depth] / asked:.1%}: {found}")


def functions() -> Iterator[tuple[Row, str]]:
    """Yield functions and methods of the standard library as rows, each with its question, perhaps empty."""
    warnings.simplefilter("ignore")
    for module in modules():
        for owner in (module, *(one for _, one in inspect.getmembers(module, inspect.isclass))):
            if getattr(owner, "__module__", module.__name__) != module.__name__:
                continue
            for name, one in inspect.getmembers(owner, inspect.isroutine):
                if not name.startswith("_") and getattr(one, "__module__", None) == module.__name__:
                    yield from row(module.__name__, owner, name, one)


def row(module: str, owner: Any, name: str, one: Any) -> Iterator[tuple[Row, str]]:
    """Yield a function as a row with its question, if it says enough of itself."""
    sentences = re.split(r"(?<=\.)\s+", " ".join((inspect.getdoc(one) or "").split()))
    if len(sentences[0]) < LEAST:
        return
    toolkit = owner.__name__.rpartition(".")[2]
    full = f"{module}_{toolkit}_{name}".replace(".", "_").lower()
    words = f"{name.replace('_', ' ')}\n{sentences[0]}"
    query = sentences[1] if len(sentences) > 1 and len(sentences[1]) >= LEAST else ""
    yield (
        Row("tool", full, "1.0.0", sentences[0], category=module.partition(".")[0], toolkit=toolkit, text=words),
        query,
    )


def modules() -> Iterator[ModuleType]:
    """Yield the modules of the standard library with an import free of effects."""
    for top in sorted(sys.stdlib_module_names - LEFT_OUT):
        if top.startswith("_"):
            continue
        try:
            module = import_module(top)
            names = [one.name for one in pkgutil.iter_modules(getattr(module, "__path__", []), f"{top}.")]
            yield module
            yield from (import_module(name) for name in names if not name.rpartition(".")[2].startswith("_"))
        except Exception:  # foreign code: a module for another system
            continue


if __name__ == "__main__":
    main()
