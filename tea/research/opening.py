"""Opening: the task file of a run of research."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

OPENING = ".research.json"  # the start of a run of research, among its recorded inputs


@contextmanager
def opening_file(document: Mapping[str, Any]) -> Generator[Path]:
    """Write an opening into a file of its own, for as long as a run is created.

    Args:
        document: `state`, `mode`, `limits`, and what else `environment:research` reads.
    """
    with tempfile.TemporaryDirectory(prefix="tea-research-") as folder:
        path = Path(folder) / OPENING
        path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
        yield path
