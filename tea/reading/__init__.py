"""Reading: files of any kind as Markdown, parsed in a sandbox, and read by outline, page, find and passages.

Everything is loaded on first use.
"""

import typing as _typing

from tea.lazy import lazy_names as _lazy_names

if _typing.TYPE_CHECKING:
    from tea.reading.document import Document, Heading, Match, digest_of
    from tea.reading.excerpts import UNFIT, Excerpt, Part, best_excerpts, is_fit, part_of
    from tea.reading.found import folded
    from tea.reading.headings import Title, heading_above, titles
    from tea.reading.inside.charset import text_lines, utf_16_of
    from tea.reading.inside.dates import day_in
    from tea.reading.inside.kinds import Kind, kind_of, kind_of_file, packed_kind, size_words
    from tea.reading.inside.recognition import language_fault
    from tea.reading.reader import Options, Reader
    from tea.reading.sheets import Sheets
    from tea.reading.windows import Window, window_of

__all__ = [
    "Document",
    "Excerpt",
    "Heading",
    "Kind",
    "Match",
    "Options",
    "Part",
    "Reader",
    "Sheets",
    "Title",
    "UNFIT",
    "Window",
    "best_excerpts",
    "day_in",
    "digest_of",
    "folded",
    "heading_above",
    "is_fit",
    "kind_of",
    "kind_of_file",
    "language_fault",
    "packed_kind",
    "part_of",
    "size_words",
    "text_lines",
    "titles",
    "utf_16_of",
    "window_of",
]

__getattr__, __dir__ = _lazy_names(
    __name__,
    {
        "tea.reading.document": "Document Heading Match digest_of",
        "tea.reading.excerpts": "UNFIT Excerpt Part best_excerpts is_fit part_of",
        "tea.reading.found": "folded",
        "tea.reading.headings": "Title heading_above titles",
        "tea.reading.inside.charset": "text_lines utf_16_of",
        "tea.reading.inside.dates": "day_in",
        "tea.reading.inside.kinds": "Kind kind_of kind_of_file packed_kind size_words",
        "tea.reading.inside.recognition": "language_fault",
        "tea.reading.reader": "Options Reader",
        "tea.reading.sheets": "Sheets",
        "tea.reading.windows": "Window window_of",
    },
)
