"""One of several processes changing and surveying one registry: `python surveyor.py ROOT NUMBER TURNS`.

It waits for its start line, and prints each survey that did not show its own last change.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from tea.errors import Conflict, Damaged, UnknownComponent
from tea.store.catalogue import Catalogue, Described
from tea.store.registry import FileRegistry
from tea.store.scratch import Scratch

NAMES = [f"tool_{number}" for number in range(6)]


def reader(registry: FileRegistry) -> Callable[[str], Described]:
    """Read one component as a shelf does: its newest head, and the version named by it."""

    def read(name: str) -> Described:
        try:
            number, head = registry.head("tool", name)
            current = head.get("current")
            document = None if current is None else registry.read("tool", name, current)
        except (Damaged, UnknownComponent) as error:
            return Described(facts=({}, {"damaged": type(error).__name__}))
        facts = None if document is None else (head, document)
        return Described(facts=facts, head=number, version=current)

    return read


def catalogue(root: Path, *, ahead: int = 10**10) -> Catalogue:
    """A catalogue keeping every row it sees, as its clock is ahead of the files' times."""
    return Catalogue(root, Scratch(root), str, least=1, clock=lambda: time.time_ns() + ahead)


def main(root: Path, number: int, turns: int) -> None:
    """Change one name after the other, and look at all of them each time."""
    registry = FileRegistry(root)
    kept, read = catalogue(root, ahead=0), reader(registry)
    print("ready", flush=True)
    sys.stdin.readline()
    for turn in range(turns):
        name = NAMES[(number + turn) % len(NAMES)]
        newest, _ = registry.head("tool", name)
        said = f"{number} {turn}"
        try:
            registry.advance("tool", name, {"current": "1.0.0", "said": said}, newest)
        except Conflict:
            continue
        shown = kept.survey("tool", NAMES, 1, read)[name]
        if shown is None or (shown[0]["said"] != said and registry.head("tool", name)[0] == newest + 1):
            print(f"{name} {said} is not in {shown}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
