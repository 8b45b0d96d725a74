"""Main: the program run in the sandbox: one order in; out comes a document, rows, or matches of an expression."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tea.reading.inside.archives import parse_archive
from tea.reading.inside.document import Order, Parsed, Unreadable
from tea.reading.inside.kinds import Kind, kind_of_file, named
from tea.reading.inside.mails import parse_mail
from tea.reading.inside.media import parse_image, parse_media
from tea.reading.inside.office import parse_docx, parse_opendocument, parse_pptx
from tea.reading.inside.pages import parse_epub, parse_html, parse_notebook
from tea.reading.inside.pdf import parse_pdf
from tea.reading.inside.rows import write_sheets
from tea.reading.inside.tables import parse_delimited, parse_open_workbook, parse_workbook
from tea.reading.inside.texts import parse_text

RESULT, TEXT, PARTS = "result.json", "text.md", "parts"
MOST_MATCHES = 2_000
_SHOWN = 300  # characters of a line that matches
_PARSERS: Mapping[str, Callable[[Order], Parsed]] = {
    "docx": parse_docx,
    "eml": parse_mail,
    "epub": parse_epub,
    "html": parse_html,
    "ipynb": parse_notebook,
    "odp": parse_opendocument,
    "ods": parse_open_workbook,
    "odt": parse_opendocument,
    "pdf": parse_pdf,
    "pptx": parse_pptx,
    "xlsx": parse_workbook,
}
_OTHERS = {
    "ole": "save it as DOCX, XLSX or PPTX, without a password.",
    "doc": "save it as DOCX.",
    "ppt": "save it as PPTX.",
    "xls": "save it as XLSX.",
    "encrypted": "save it without a password.",
    "msg": "save it as EML, or as text.",
    "rtf": "save it as DOCX or ODT.",
    "ar": "unpack it by hand, and name its files.",
    "rar": "unpack it by hand, and name its files.",
    "zstd": "unpack it by hand, and name its files.",
    "sqlite": "ask for it as CSV.",
    "parquet": "ask for it as CSV.",
}


def main() -> None:
    """Read an order from the standard input, and write its result into the current folder."""
    order: Mapping[str, Any] = json.loads(sys.stdin.read())
    here = Path.cwd()
    try:
        result = _answered(order, here)
    except Unreadable as error:
        result = {"error": {"problem": error.problem, "fix": error.fix}}
    except RecursionError:
        result = {"error": {"problem": "is nested too deeply", "fix": "check the file."}}
    (here / RESULT).write_text(json.dumps(result), encoding="utf-8")


def _answered(order: Mapping[str, Any], here: Path) -> dict[str, Any]:
    """Return the result of an order, of one of three kinds.

    Raises:
        Unreadable: It cannot be carried out.
    """
    if "pattern" in order:
        return _matches(order)
    if "sheets" not in order:
        return _converted(order, here)
    return write_sheets(here / str(order["path"]), here)


def _converted(fields: Mapping[str, Any], here: Path) -> dict[str, Any]:
    out = here / PARTS
    out.mkdir(exist_ok=True)
    options: dict[str, Any] = {**fields["options"], "pages": tuple(fields["options"]["pages"])}
    order = Order(path=here / str(fields["path"]), out=out, **options)
    with order.path.open("rb") as file:
        kind = named(order.kind) or kind_of_file(file, order.name)
    found = _parsed(order, kind)
    text = found.text[: order.characters]
    (here / TEXT).write_bytes(text.encode("utf-8", "replace"))
    return {
        "kind": found.kind,
        "family": kind.family,
        "title": " ".join(found.title.split())[:300],
        "facts": found.facts,
        "notes": found.notes,
        "truncated": found.truncated or len(found.text) > len(text),
    }


def _parsed(order: Order, kind: Kind) -> Parsed:
    """Return the document read by the parser of a kind.

    Raises:
        Unreadable: It cannot, or there is none of that kind.
    """
    try:
        if kind.name in _PARSERS:
            return _PARSERS[kind.name](order)
        if kind.name in ("csv", "tsv"):
            return parse_delimited(order, kind.name)
        if kind.family == "image":
            return parse_image(order, kind.name)
        if kind.family in ("audio", "video"):
            return parse_media(order, kind.name, kind.family)
        if kind.family == "archive":
            return parse_archive(order, kind.name)
        if kind.family == "text":
            return parse_text(order, kind.name)
    except (Unreadable, MemoryError, RecursionError):
        raise
    except Exception as error:  # parsers of foreign bytes fail in any way, and each means the same
        words = " ".join(str(error).split())[:200]
        if words.startswith("unknown error"):  # so libxml2 says that there was no memory
            raise MemoryError from error
        problem = f"is {kind.words} that cannot be read ({type(error).__name__}{f': {words}' if words else ''})"
        raise Unreadable(problem, "check the file, or get it again.") from error
    fix = _OTHERS.get(kind.name, "name another file, or say in your answer that this one cannot be read.")
    raise Unreadable(f"is {kind.words}, which is not converted", fix)


def _matches(order: Mapping[str, Any]) -> dict[str, Any]:
    """Return the lines matching a regular expression.

    Raises:
        Unreadable: It is not an expression.
    """
    try:
        pattern = re.compile(str(order["pattern"]), re.IGNORECASE if order["ignore_case"] else 0)
    except (re.error, OverflowError, RecursionError) as error:
        raise Unreadable(
            f"is not searched: the expression is wrong: {error}", "mend it, or find a plain text."
        ) from error
    found, total = list[dict[str, Any]](), 0
    lines = Path(str(order["path"])).read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, start=1):
        if (match := pattern.search(line)) is None:
            continue
        total += 1
        if len(found) < MOST_MATCHES:
            start = max(0, match.start() - _SHOWN // 2)
            found.append({"line": number, "text": line[start : start + _SHOWN]})
    return {"matches": found, "total": total}
