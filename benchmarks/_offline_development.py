"""The development set: questions that were read while the solvers were written, over untidy files of public facts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _offline_dev_phrases import PHRASES
from _offline_dev_questions import ASKED
from _offline_dev_tables import SHEETS, write_tables
from _offline_dev_traps import TRAPS
from _offline_tables import Question

Form = tuple[str, ...]


def development(folder: Path) -> Iterator[Question]:
    """Write the files into a folder and yield the questions about them, with the answers that pandas gives."""
    write_tables(folder)
    frames = {name: sheet.frame() for name, sheet in SHEETS.items()}
    frames["moons"].attrs["hosts"] = frames["hosts"]
    for name, entries in ASKED.items():
        sheet = SHEETS.get(name)
        file = sheet.file if sheet else name
        traps = [("trap", text, _nothing) for text in TRAPS.get(name, "").strip().splitlines()]
        for label, text, solve in (*entries, *PHRASES.get(name, ()), *traps):
            answer = solve(frames.get(name))
            kind, right = _graded(label, answer)
            rivals = _rivals(frames, right) if kind in ("text", "list") else ()
            yield Question(
                text=text, files=(folder / file,) if file else (), kind=kind, answer=right, rivals=rivals, label=label,
                table=name or "none", wording=text,
            )  # fmt: skip


def _nothing(_frame: Any) -> None:
    """Return the right answer of a question that has none."""


def _graded(label: str, answer: Any) -> tuple[str, Any]:
    """Return how an answer is compared, and the answer in the form that the comparison wants."""
    if answer is None:
        return "none", None
    if label == "text":
        return "passage", answer
    if isinstance(answer, bool):
        return "yesno", answer
    if isinstance(answer, str):
        return "text", (answer,)
    if isinstance(answer, tuple):
        return "text", answer
    if isinstance(answer, dict):
        return "list", tuple((f"{key}: {_written(value)}",) for key, value in answer.items())
    if isinstance(answer, list):
        return "list", tuple((str(one),) for one in answer)
    return "number", float(answer)


def _written(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else f"{value:.6f}".rstrip("0")


def _rivals(frames: dict[str, Any], right: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the other cells of the columns that hold the right answers."""
    goals = {form for one in right for form in (one if isinstance(one, tuple) else (one,))}
    found: dict[str, None] = {}
    for frame in frames.values():
        for column in frame.columns:
            cells = {str(cell) for cell in frame[column].dropna()}
            if goals <= cells:
                found.update(dict.fromkeys(sorted(cells - goals)))
    return tuple(found)
