"""Reading: the windows and the words of a desktop, from the answers of its sandbox."""

from typing import Any, TypedDict, cast

from .inside import SCALE

MOST_WINDOWS, MOST_TITLE = 40, 300
MOST_WORDS = 600
MOST_PHRASE = 300
LEAST_SURE = 20.0  # of 100
WIDEST_SPACE = 1.25  # between words of a phrase, in heights of its letters; those of menus are further apart
TSV = 12  # columns


class Window(TypedDict):
    """A window; its title was written by its program."""

    id: str
    title: str
    x: int
    y: int
    width: int
    height: int
    focused: bool


class Ended(TypedDict):
    """An ended program, with its exit code, below 0 for a signal."""

    program: str
    exit: int


class Words(TypedDict):
    """Letters on the screen, with the pixel in their middle."""

    text: str
    x: int
    y: int


def windows_of(answer: dict[str, Any]) -> list[Window]:
    """Return the windows of an answer, from the front one to the last."""
    return [_window(one) for one in _listed(answer, "windows")]


def ended_of(answer: dict[str, Any]) -> list[Ended]:
    """Return the programs of an answer with their end since the one before."""
    told = [(str(one.get("program", ""))[:MOST_TITLE], one.get("exit")) for one in _listed(answer, "ended")]
    return [Ended(program=program, exit=code if isinstance(code, int) else -1) for program, code in told]


def _listed(answer: dict[str, Any], name: str) -> list[dict[str, Any]]:
    given = answer.get(name)
    listed = cast("list[object]", given)[:MOST_WINDOWS] if isinstance(given, list) else []
    return [cast("dict[str, Any]", one) for one in listed if isinstance(one, dict)]


def _window(one: dict[str, Any]) -> Window:
    numbers = {name: one.get(name) for name in ("x", "y", "width", "height")}
    x, y, width, height = (value if isinstance(value, int) else 0 for value in numbers.values())
    title, id = str(one.get("title", ""))[:MOST_TITLE], str(one.get("id", ""))[:20]
    return Window(id=id, title=title, x=x, y=y, width=width, height=height, focused=one.get("focused") is True)


def words_of(answer: dict[str, Any]) -> list[Words]:
    """Return the phrases of an answer's table of recognised words, in the table's order."""
    phrases, last = list[list[tuple[str, int, int, int, int]]](), None
    for row in str(answer.get("words", "")).split("\n")[1:]:
        cells = row.split("\t")
        if len(cells) != TSV or not cells[11].strip() or not _is_sure(cells[10]):
            continue
        left, top, width, height = (int(one) // SCALE if one.isdigit() else 0 for one in cells[6:10])
        word = cells[11].strip(), left, top, width, height
        line = cells[2:5]
        if line == last and left - _end(phrases[-1]) < WIDEST_SPACE * max(height, phrases[-1][-1][4]):
            phrases[-1].append(word)
        else:
            phrases.append([word])
        last = line
    return [_phrase(one) for one in phrases[:MOST_WORDS]]


def _is_sure(cell: str) -> bool:
    try:
        return float(cell) >= LEAST_SURE
    except ValueError:
        return False


def _end(phrase: list[tuple[str, int, int, int, int]]) -> int:
    return phrase[-1][1] + phrase[-1][3]


def _phrase(phrase: list[tuple[str, int, int, int, int]]) -> Words:
    text = " ".join(one[0] for one in phrase)[:MOST_PHRASE]
    top, bottom = min(one[2] for one in phrase), max(one[2] + one[4] for one in phrase)
    return Words(text=text, x=(phrase[0][1] + _end(phrase)) // 2, y=(top + bottom) // 2)
