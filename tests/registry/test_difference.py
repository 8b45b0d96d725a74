"""Test differences: bounded time, and space in proportion to their length."""

import time
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


def test_a_difference_of_many_files_takes_no_longer_than_that_of_one() -> None:
    def files(end: str) -> dict[str, str]:
        text = "".join(f"#{number % 60}\n#{end}{number}\n" for number in range(600))
        return {f"_sums/part_{number}.py": text for number in range(60)}

    def made(number: str, end: str) -> Manifest:
        return Manifest(kind="tool", name="sums", version=number, description="Say.", source="", files=files(end))

    begun = time.process_time()
    found = diff(made("1.0.0", "a"), made("1.0.1", "b"))
    assert time.process_time() - begun < 2
    assert found.source.count("# file: ") == 60
    assert found.source.count("\n+#b") == 60 * 600


def test_a_difference_of_very_many_small_files_is_found_soon() -> None:
    def made(number: str, text: str) -> Manifest:
        files = {f"_sums/part_{number}.py": text for number in range(20_000)}
        return Manifest(kind="tool", name="sums", version=number, description="Say.", source="", files=files)

    begun = time.process_time()
    lines = diff(made("1.0.0", "A"), made("1.0.1", "B")).source.split("\n")
    assert time.process_time() - begun < 4
    assert lines[:3] == ["--- tool:sums@1.0.0", "+++ tool:sums@1.0.1", "# file: _sums/part_0.py"]
    assert len(lines) == 2 + 20_000 * 6
