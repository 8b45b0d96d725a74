"""One reading of a stretch of a question, and the ways to read a whole question."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from .schema import Column, Table
from .vocabulary import Sense


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A reading of the tokens from `start` to `end`.

    Args:
        tag: COL, VAL, NUM, ORD, DATE, TEXT, ROW, UNIT, UNK, POSS, FILE, SKIP, or a tag of the lexicon.
        cost: How doubtful the reading is; 0.1 is certain.
        sense: What the word means, for words of the lexicon.
        column: The column, for COL and VAL.
        values: The cells, for VAL.
        listed: Whether the phrase is also one of several items in some cells.
        number: The number, for NUM and ORD.
        table: The table whose rows are meant, for ROW and FILE.
    """

    start: int
    end: int
    tag: str
    text: str
    cost: float = 0.1
    sense: Sense = field(default_factory=lambda: Sense(tag=""))
    column: Column | None = None
    values: tuple[str, ...] = ()
    listed: bool = False
    number: int | float | None = None
    year: bool = False
    table: Table | None = None

    @property
    def plural(self) -> bool:
        """Whether the last word is written as a plural."""
        word = self.text.split()[-1].lower()
        return (word.endswith("s") and not word.endswith(("ss", "us", "is"))) or word in (
            "people",
            "men",
            "women",
            "children",
        )


def paths(readings: Sequence[Span], size: int, most: int = 80) -> list[tuple[float, list[Span]]]:
    """Return the cheapest ways to read the whole question, cheapest first, without skipped words."""
    ending: dict[int, list[tuple[float, tuple[Span, ...]]]] = {0: [(0.0, ())]}
    starts: dict[int, list[Span]] = {}
    for span in readings:
        starts.setdefault(span.start, []).append(span)
    for position in range(size):
        kept = sorted(ending.get(position, ()), key=lambda path: path[0])[: most * 2]
        for cost, path in kept:
            for span in starts.get(position, ()):
                longer = path if span.tag == "SKIP" else (*path, span)
                ending.setdefault(span.end, []).append((cost + span.cost, longer))
    best = sorted(ending.get(size, ()), key=lambda path: path[0])[:most]
    return [(cost, list(path)) for cost, path in best]
