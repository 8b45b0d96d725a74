"""Measure the dynamic manager: CPU per check and per load, and memory over ten thousand sources.

Run it with `python benchmarks/dynamic.py [LOADS]`; it prints one line.
"""

import gc
import sys
import time
from pathlib import Path

from tea.source.dynamic import DynamicManager

SOURCE = '''from tea import tool

NUMBER = {number}


@tool(effects="reads")
async def add(a: int, b: int = NUMBER) -> int:
    """Add two numbers.

    Args:
        a: One number.
        b: Another.
    """
    return a + b
'''


def resident_megabytes() -> float:
    """Return the resident memory of this process after a collection."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096 / 1e6


def main(loads: int) -> None:
    """Check and load many distinct sources, and measure from a tenth of them on."""
    manager = DynamicManager(lambda digest: True)
    checking = loading = start = 0.0
    for number in range(loads):
        if number == loads // 10:
            checking, loading, start = 0.0, 0.0, resident_megabytes()
        before = time.process_time()
        text = manager.check(SOURCE.format(number=number))
        checking += time.process_time() - before
        manifest = manager.describe(text, version="1.0.0")
        before = time.process_time()
        manager.load(manifest)
        loading += time.process_time() - before
    measured = loads - loads // 10
    print(
        f"check {1000 * checking / measured:.2f} ms, load {1000 * loading / measured:.2f} ms CPU a source; "
        f"memory grew {resident_megabytes() - start:.1f} MB from load {loads // 10:,} to {loads:,}"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
