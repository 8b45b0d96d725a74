"""Reading: files of any kind as Markdown, parsed in a sandbox, and read by outline, page, find and passages.

Everything is loaded on first use.
"""

import typing as _typing
from importlib import import_module as _import_module

if _typing.TYPE_CHECKING:
    from tea.reading.document import Document, Heading, Match, digest_of
    from tea.reading.excerpts import Excerpt, best_excerpts, material
    from tea.reading.inside.dates import day_in
    from tea.reading.inside.kinds import Kind, kind_of, kind_of_file, packed_kind, size_words
    from tea.reading.reader import Options, Reader
    from tea.reading.windows import Window, window_of

__all__ = [
    "Document",
    "Excerpt",
    "Heading",
    "Kind",
    "Match",
    "Options",
    "Reader",
    "Window",
    "best_excerpts",
    "day_in",
    "digest_of",
    "kind_of",
    "kind_of_file",
    "material",
    "packed_kind",
    "size_words",
    "window_of",
]

_HOMES = {
    "document": "Document Heading Match digest_of",
    "excerpts": "Excerpt best_excerpts material",
    "inside.dates": "day_in",
    "inside.kinds": "Kind kind_of kind_of_file packed_kind size_words",
    "reader": "Options Reader",
    "windows": "Window window_of",
}
_LAZY = {name: f"tea.reading.{module}" for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Load a name on first use."""
    if name not in _LAZY:
        raise AttributeError(f"module 'tea.reading' has no attribute {name!r}")
    found = globals()[name] = getattr(_import_module(_LAZY[name]), name)
    return found


def __dir__() -> list[str]:
    """List the lazy names too."""
    return sorted([*globals(), *_LAZY])
