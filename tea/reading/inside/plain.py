"""Plain pages: the main content of web pages as Markdown without links, and their links, of many pages in one go."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from tea.reading.inside.html import parsed

ANSWER = ".json"  # ends the name of the file with what was read of a page
_LEFT_OUT = (
    "//script|//style|//noscript|//template|//nav|//header|//footer|//form|//svg|//button|//iframe"
    "|//*[@role='navigation' or @role='banner' or @role='search' or @role='contentinfo']"
    "|//*[contains(concat(' ', @class, ' '), ' navheader ') or contains(concat(' ', @class, ' '), ' navfooter ')"
    " or contains(concat(' ', @class, ' '), ' sphinxsidebar ') or contains(concat(' ', @class, ' '), ' related ')"
    " or contains(concat(' ', @class, ' '), ' headerlink ') or contains(concat(' ', @class, ' '), ' sidebar ')"
    " or contains(concat(' ', @class, ' '), ' toc ') or contains(concat(' ', @class, ' '), ' breadcrumbs ')]"
)
_MAIN = "//main|//*[@role='main']|//article"
_LEAST_MAIN = 200  # characters of what is called the main content, else the whole page counts
_MOST_LINKS, _LONGEST_LINK = 20_000, 8_192
_BLANKS = re.compile(r"\n{3,}")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")


def read_pages(names: Sequence[str]) -> None:
    """Read pages, and write the content of each beside it: `title`, `text` and `links`, or an `error` in words.

    Args:
        names: The files, in UTF-8.
    """
    for name in names:
        try:
            told = _content(Path(name).read_text(encoding="utf-8"))
        except MemoryError:
            raise
        except Exception as error:  # parsers of foreign bytes fail in any way, and each means the same
            told = {"error": " ".join(f"{type(error).__name__}: {error}".split())[:200]}
        Path(f"{name}{ANSWER}").write_text(json.dumps(told), encoding="ascii")


def _content(page: str) -> dict[str, Any]:
    tree = parsed(page)
    if tree is None:
        return {"title": "", "text": "", "links": []}
    title = " ".join(str(tree.xpath("string(//title)")).split())[:120]
    links = [str(one).strip() for one in tree.xpath("//a/@href")[:_MOST_LINKS]]
    return {"title": title, "links": [one for one in links if len(one) <= _LONGEST_LINK], "text": _text(tree)}


def _text(tree: Any) -> str:
    """Return the main content of a page as Markdown."""
    from html_to_markdown import ConversionOptions, convert

    library: Any = import_module("lxml.html")

    for one in tree.xpath(_LEFT_OUT):
        if one.getparent() is not None:
            one.drop_tree()
    mains: list[Any] = tree.xpath(_MAIN) or [tree]
    main = max(mains, key=lambda one: len(one.text_content()))
    chosen = main if len(main.text_content()) >= _LEAST_MAIN else tree
    options = ConversionOptions(extract_metadata=False, extract_images=False, skip_images=True, autolinks=False)
    written: str = library.tostring(chosen, encoding="unicode")
    found = convert(written, options).content or ""
    return html.unescape(_LINK.sub(r"\1", _BLANKS.sub("\n\n", found))).strip()
