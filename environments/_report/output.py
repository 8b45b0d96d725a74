"""Output: a report as files: Markdown, one HTML page with its figures inside, PDF."""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import unquote

from tea import RootedFolder, ToolError, require_extra

from .pdf import Figure, pdf_of

EXTRA = "reports"
MOST_NAMES = 200
MOST_FIGURE = 20_000_000
MOST_FIGURES = 100_000_000  # of a report, each as often as it stands there

_KINDS = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
}
_STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:46em;margin:2em auto;padding:0 1em;color:#222}"
    "img{max-width:100%}table{border-collapse:collapse}td,th{border:1px solid #bbb;padding:.2em .6em}"
    "pre{background:#f4f4f4;padding:.6em;overflow-x:auto}"
    "blockquote{border-left:3px solid #bbb;margin-left:0;padding-left:1em}"
)
# A report is made of what others wrote: nothing in it may run, or ask a server.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def render(
    markdown: str, title: str, root: Path, folder: PurePath, formats: Sequence[str]
) -> tuple[dict[str, bytes], list[str]]:
    """Return a report's bytes by format, and notes for its reader.

    Args:
        markdown: The report.
        title: What it is about.
        root: The folder that its figures lie in, in any depth.
        folder: The folder in it that the report is for.
        formats: Any of `md`, `html` and `pdf`.

    Raises:
        MissingExtra: HTML or PDF is wanted, and the extra for reports is not installed.
    """
    rendered: dict[str, bytes] = {}
    notes: list[str] = []
    if "md" in formats:
        rendered["md"] = markdown.encode("utf-8", "replace")
    if {"html", "pdf"} & {*formats}:
        tokens: list[Any] = parser().parse(markdown)
        figures = _figures(tokens, root, folder)
        notes += [f"{source} is not embedded: {why}." for source, why in figures.items() if isinstance(why, str)]
        found = {source: one for source, one in figures.items() if isinstance(one, Figure)}
        if "pdf" in formats:
            rendered["pdf"], more = pdf_of(tokens, title, found)
            notes += more
        if "html" in formats:
            rendered["html"] = _html(tokens, title, found).encode("utf-8", "replace")
    return {one: rendered[one] for one in formats}, notes


def parser() -> Any:
    """Return a parser of Markdown with tables; HTML in it stays text.

    Raises:
        MissingExtra: The extra for reports is not installed.
    """
    module: Any = require_extra("markdown_it", EXTRA)
    return module.MarkdownIt("commonmark", {"html": False}).enable("table").enable("strikethrough")


def write_all(root: Path, name: str, rendered: Mapping[str, bytes], *, replace: bool, numbered: bool) -> list[str]:
    """Write a report's files, all under one name, and return their names.

    Args:
        root: Where they are written.
        name: Their name without ending.
        rendered: Their bytes by ending.
        replace: Whether files of that name are replaced.
        numbered: Whether the first free name like it is taken, as `report-2` for `report`.

    Raises:
        ToolError: Files of that name exist, or cannot be written.
    """
    more = (f"{name}-{number}" for number in range(2, MOST_NAMES)) if numbered else ()
    try:
        for one in (name, *more):
            files = {f"{one}.{ending}": data for ending, data in rendered.items()}
            with RootedFolder(root) as folder, suppress(FileExistsError):  # another writer took the name in between
                kept = (name for name, data in files.items() if not _holds(folder, name, data))
                if replace or all(folder.status(name) is None for name in kept):
                    for name, data in files.items():
                        if replace or not _holds(folder, name, data):
                            folder.write(name, data, replace=replace)
                    return list(files)
    except OSError as error:
        problem = f"The report cannot be written: {error.strerror or type(error).__name__}."
        raise ToolError(problem, fix="choose another name.") from error
    problem = f"The workspace holds {MOST_NAMES} reports." if numbered else f"{name[:100]!r} exists."
    raise ToolError(problem, fix="choose another name, or set replace.")


def digests_of(root: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the digest of each of some files that is there."""
    found = dict[str, str]()
    with RootedFolder(root) as folder:
        for name in names:
            if folder.status(name) is not None and folder.is_file(name):
                with folder.reading(name) as file:
                    found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _holds(folder: RootedFolder, name: str, data: bytes) -> bool:
    """Tell whether a file holds some bytes already, as after a repeated call."""
    found = folder.status(name)
    if found is None or not folder.is_file(name) or found.st_size != len(data):
        return False
    with folder.reading(name) as file:
        return file.read() == data


def _figures(tokens: Sequence[Any], root: Path, folder: PurePath) -> dict[str, Figure | str]:
    """Return each figure by its source, or why it is not embedded."""
    sources = Counter(child.attrs["src"] for one in tokens for child in one.children or () if child.type == "image")
    found, left = dict[str, Figure | str](), MOST_FIGURES
    for source, times in sources.items():
        one = found[source] = _figure(unquote(source), root, folder, min(MOST_FIGURE, left // times))
        left -= times * len(one.data) if isinstance(one, Figure) else 0
    return found


def _figure(source: str, root: Path, folder: PurePath, most: int) -> Figure | str:
    path = folder / source.removeprefix("file://")
    try:
        with RootedFolder(root) as files:
            files.inside(str(path))
            if path.suffix.lower() not in _KINDS or not files.is_file(str(path)):
                return "it is not a picture of the workspace"
            with files.reading(str(path)) as file:
                data = file.read(most + 1)
    except ToolError:
        return "it lies outside of the workspace"
    except (OSError, ValueError):
        return "it cannot be read"
    return Figure(path.name, data) if len(data) <= most else "it is too large"


def _html(tokens: Sequence[Any], title: str, figures: Mapping[str, Figure]) -> str:
    """Return the page; figures stand in it as data, and other pictures as their words."""
    for one in tokens:
        for child in one.children or ():
            if child.type == "image" and (figure := figures.get(child.attrs["src"])) is not None:
                data, kind = base64.b64encode(figure.data).decode(), _KINDS[PurePath(figure.name).suffix.lower()]
                child.attrs["src"] = f"data:{kind};base64,{data}"
            elif child.type == "image":
                child.type, child.content = "text", child.content or child.attrs["src"]
    reader = parser()
    body = reader.renderer.render(tokens, reader.options, {})
    return (
        f'<!doctype html>\n<html>\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" '
        f'content="{_POLICY}">\n<title>{escape(" ".join(title.split()))}</title>\n<style>{_STYLE}</style>\n</head>\n'
        f"<body>\n{body}</body>\n</html>\n"
    )
