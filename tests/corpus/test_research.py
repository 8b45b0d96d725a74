"""The measurement of the local search, on the documentation packages of Debian."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PART = ("/usr/share/doc/git-doc", "/usr/share/debian-reference")  # the whole takes minutes
BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "research.py"


def measured(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, BENCHMARK, *options], capture_output=True, text=True, check=False)


def test_a_missing_corpus_is_told_with_its_remedy() -> None:
    done = measured("--folder", "/nowhere")
    assert done.returncode == 2
    assert "make corpora" in done.stderr


@pytest.mark.slow
def test_words_and_meaning_together_find_at_least_what_the_better_of_them_finds() -> None:
    folders = [part for one in PART for part in ("--folder", one)]
    done = measured("--questions", "200", "--json", *folders)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert min(told["questions"].values()) >= 100
    held = told["recall@5"]["held out"]
    assert held["shown"] >= max(held["words"], held["meaning"])
    assert held["shown"] >= 0.9
