"""Test differences: space in proportion to their length."""

import tracemalloc

from tea.components.manifest import Manifest
from tea.registry.difference import diff


def version(number: str, source: str) -> Manifest:
    return Manifest(kind="tool", name="sums", version=number, description="Say.", source=source)


def test_a_difference_of_many_short_lines_takes_little_space() -> None:
    before, after = version("1.0.0", ""), version("1.0.1", "\n" * 200_000)
    diff(before, version("1.0.1", "A = 1\n"))
    tracemalloc.start()
    try:
        found = diff(before, after)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.source.count("\n+") == 200_001  # one of them is in the line with the name
    assert most < 90 * 200_000
