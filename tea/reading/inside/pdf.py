"""PDF to Markdown, page by page: separate words, tables as tables, and the file's own metadata."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice, pairwise
from statistics import median
from typing import Any

from tea.reading.inside.dates import day_in
from tea.reading.inside.document import Order, Parsed, Unreadable, markdown_table
from tea.reading.inside.recognition import recognised

_GAP = 1.2  # of the height of letters, from which on what follows stands in another column
_LONG_CELL = 36  # characters; two columns of longer ones are a text in two columns
_LEAST_ROWS, _MOST_COLUMNS = 2, 30
_MOST_FRAGMENTS = 4_000
_MOST_CONTENTS = 300
_SCALE = 200 / 72  # 200 dots per inch for recognition
_MOST_SIDE = 4_000  # dots
_PASSWORD = 4  # FPDF_ERR_PASSWORD


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fragment:
    """Words close together in one line."""

    left: float
    bottom: float
    right: float
    top: float
    text: str


def parse_pdf(order: Order) -> Parsed:
    """Return the ordered pages, each under a mark with its number.

    Raises:
        Unreadable: It is damaged, wants a password, or has no such page.
    """
    with closing(_opened(order)) as document:
        pages, told = len(document), document.get_metadata_dict()
        first, last = order.pages[0], min(order.pages[1] or pages, pages)
        if not 1 <= first <= last:
            raise Unreadable(f"has {pages} pages, and not page {first}", "name some of them.")
        last = min(last, first + order.most_pages - 1)
        found = Parsed(kind="pdf", title=" ".join(str(told.get("Title", "")).split())[:300])
        found.facts["contents"] = _contents(document)
        read = _read(document, order, range(first, last + 1), found)
    found.facts |= {"pages": pages, "read": f"{first}-{read}" if read > first else str(first), **_dates(told)}
    found.truncated = read < pages and (order.pages[1] == 0 or read < order.pages[1])
    if found.truncated:
        found.notes.append(f"Pages {first} to {read} of {pages} were read; `pages` reads others.")
    return found


def _contents(document: Any) -> list[dict[str, Any]]:
    """Return the file's own table of contents: title, level from 1, and page."""
    import pypdfium2

    found = list[dict[str, Any]]()
    try:
        for one in islice(document.get_toc(max_depth=6), _MOST_CONTENTS):
            target = one.get_dest()
            page = None if target is None else target.get_index()
            if page is not None:
                title = " ".join(one.get_title().split())[:200]
                found.append({"title": title, "level": one.level + 1, "page": page + 1})
    except pypdfium2.PdfiumError:
        return found
    return found


def _opened(order: Order) -> Any:
    import pypdfium2

    try:
        return pypdfium2.PdfDocument(order.path)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", 0) == _PASSWORD:
            raise Unreadable("wants a password", "give a copy without one.") from error
        raise Unreadable("is a damaged PDF file", "check the file, or get it again.") from error


def _read(document: Any, order: Order, numbers: range, found: Parsed) -> int:
    """Read pages until time or room is up, and return the number of the last one."""
    parts, size, without = list[str](), 0, list[int]()
    number = numbers.start
    for number in numbers:
        text = _page(document, number - 1)
        if not text:
            text = _image_text(document, number - 1, order) if order.ocr else ""
            without.append(number)
        parts.append(f"[page {number}]\n\n{text or '(no text layer)'}")
        size += len(text)
        if size > order.characters or order.late:
            break
    found.text = "\n\n".join(parts)
    found.facts["without_text"] = without
    if without:
        numbers_told = f"page{'s' * (len(without) > 1)} {_ranges(without)}"
        told = f"Recognised {numbers_told}; letters may be wrong." if order.ocr else ""
        found.notes.append(told or f"No text layer on {numbers_told}; `ocr` recognises it.")
    return number


def _page(document: Any, index: int) -> str:
    """Return the text of a page; a damaged one has none."""
    import pypdfium2

    try:
        with closing(document[index]) as page, closing(page.get_textpage()) as text:
            whole = _plain(text.get_text_bounded())
            return _with_tables(_fragments(text)) or whole if whole else ""
    except pypdfium2.PdfiumError:
        return ""


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufffe", "").strip()


def _fragments(text: Any) -> list[_Fragment]:
    """Return the groups of words on a page, in the order of the file; nothing if there are too many."""
    count = text.count_rects()
    if count > _MOST_FRAGMENTS:
        return []
    boxes = [text.get_rect(index) for index in range(count)]
    if not _may_hold_table(boxes):
        return []
    return [
        _Fragment(left=box[0], bottom=box[1], right=box[2], top=box[3], text=_plain(text.get_text_bounded(*box)))
        for box in boxes
    ]


def _may_hold_table(boxes: Sequence[Sequence[float]]) -> bool:
    height = median(box[3] - box[1] for box in boxes) if boxes else 0.0
    apart = sum(abs(one[1] - two[1]) < height and two[0] - one[2] > _GAP * height for one, two in pairwise(boxes))
    return apart >= _LEAST_ROWS


def _with_tables(fragments: Sequence[_Fragment]) -> str:
    """Return a page with its tables as Markdown, empty if it has none."""
    if not fragments:
        return ""
    height = median(one.top - one.bottom for one in fragments)
    lines = [_cells(line, height) for line in _lines(fragments)]
    parts, found, at = list[str](), False, 0
    while at < len(lines):
        end = _table_end(lines, at)
        if end:
            parts += ["", markdown_table(_in_columns(lines[at:end])), ""]
            found, at = True, end
        else:
            parts.append(" ".join(cell.text for cell in lines[at]))
            at += 1
    return "\n".join(parts).strip() if found else ""


def _lines(fragments: Sequence[_Fragment]) -> list[list[_Fragment]]:
    """Return successive fragments of one line together, line by line."""
    lines = list[list[_Fragment]]()
    for one in fragments:
        last = lines[-1][-1] if lines else None
        if last and min(one.top, last.top) - max(one.bottom, last.bottom) > 0 and one.left >= last.left:
            lines[-1].append(one)
        else:
            lines.append([one])
    return lines


def _cells(line: Sequence[_Fragment], height: float) -> list[_Fragment]:
    """Return a line's fragments, joining those without the gap of a column between them."""
    cells = list[_Fragment]()
    for one in line:
        last = cells[-1] if cells else None
        if last is None or one.left - last.right > _GAP * height:
            cells.append(one)
            continue
        between = " " if one.left - last.right > 0.15 * height else ""
        cells[-1] = _Fragment(
            left=last.left, bottom=last.bottom, right=one.right, top=last.top, text=f"{last.text}{between}{one.text}"
        )
    return [cell for cell in cells if cell.text]


def _table_end(lines: Sequence[Sequence[_Fragment]], start: int) -> int:
    """Return the end of the table beginning at a line, 0 if none begins there."""
    end = start
    while end < len(lines) and 2 <= len(lines[end]) <= _MOST_COLUMNS and _aligned(lines[start:end], lines[end]):
        end += 1
    rows = lines[start:end]
    if len(rows) < _LEAST_ROWS:
        return 0
    sizes = [len(cell.text) for row in rows for cell in row]
    return 0 if max(map(len, rows)) == 2 and median(sizes) > _LONG_CELL else end


def _aligned(rows: Sequence[Sequence[_Fragment]], row: Sequence[_Fragment]) -> bool:
    """Return whether most cells of a row stand below cells of rows before it."""
    if not rows:
        return True
    widest = max(rows, key=len)
    below = sum(any(_overlap(cell, other) for other in widest) for cell in row)
    return below >= max(2, 0.6 * len(row))


def _overlap(one: _Fragment, other: _Fragment) -> bool:
    return min(one.right, other.right) - max(one.left, other.left) > 0


def _in_columns(rows: Sequence[Sequence[_Fragment]]) -> list[list[str]]:
    """Return rows with every cell in the column of the most overlapping cell of the widest row."""
    widest = max(rows, key=len)
    found = list[list[str]]()
    for row in rows:
        cells = [""] * len(widest)
        for cell in row:
            best = max(range(len(widest)), key=lambda at: _nearness(cell, widest[at]))
            cells[best] = f"{cells[best]} {cell.text}".strip()
        found.append(cells)
    return found


def _nearness(one: _Fragment, other: _Fragment) -> float:
    return min(one.right, other.right) - max(one.left, other.left)


def _image_text(document: Any, index: int, order: Order) -> str:
    """Return the text recognised on a page."""
    with closing(document[index]) as page:
        scale = min(_SCALE, _MOST_SIDE / max(1.0, *page.get_size()))
        image = page.render(scale=scale).to_pil()
    target = order.out / ".page.png"
    image.save(target)
    return recognised(target, order.language)


def _dates(metadata: Any) -> dict[str, str]:
    names = {"published": "CreationDate", "modified": "ModDate", "author": "Author"}
    found = {name: str(metadata.get(key, "")) for name, key in names.items()}
    found |= {name: day_in(found[name].removeprefix("D:")[:8]) for name in ("published", "modified")}
    return {name: value[:200] for name, value in found.items() if value}


def _ranges(numbers: Sequence[int]) -> str:
    """Return numbers in words: `1-3, 7`."""
    parts = list[list[int]]()
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    shown = [f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts[:20]]
    return ", ".join(shown) + (" and more" if len(parts) > 20 else "")
