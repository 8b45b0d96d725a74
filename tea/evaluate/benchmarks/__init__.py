"""Benchmarks: task sets from the local files of published benchmarks; nothing is downloaded."""

from __future__ import annotations

import difflib
from importlib import import_module
from pathlib import Path
from typing import Any

from tea.errors import BadInput
from tea.evaluate.task_set import TaskSet

BENCHMARKS = ("aime", "browsecomp", "gaia", "gpqa", "hle", "simpleqa")
_OPTIONS = {"gaia": ("level",), "gpqa": ("seed",)}


def load_benchmark(name: str, path: str | Path, **options: Any) -> TaskSet:
    """Read the files of a benchmark, as a licensed user has them.

    Args:
        name: One of `BENCHMARKS`.
        path: Its file or folder; see the module of each for the layout.
        **options: `level` of gaia (`1`, `2` or `3`); `seed` of the order of gpqa's choices, 0 by default.

    Raises:
        BadInput: There is no such benchmark, or its files have another layout.
    """
    if name not in BENCHMARKS:
        near = difflib.get_close_matches(name, BENCHMARKS, n=1)
        fix = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(BENCHMARKS)}."
        raise BadInput(f"There is no benchmark {name[:40]!r}.", fix=fix)
    if unknown := sorted(options.keys() - {*_OPTIONS.get(name, ())}):
        raise BadInput(f"The benchmark {name!r} has no {unknown[0]!r}.", fix="leave it out.")
    return import_module(f"tea.evaluate.benchmarks.{name}").load(Path(path), **options)
