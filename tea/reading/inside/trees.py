"""Trees of XML texts: without entities, without network, of bounded depth."""

from __future__ import annotations

from typing import Any, cast

from tea.reading.inside.document import Unreadable


def parsed_xml(data: bytes, *, blanks: bool = True) -> Any:
    """Return the tree of an XML text.

    Args:
        data: The text.
        blanks: Whether blanks between elements are kept.

    Raises:
        Unreadable: It is not XML.
    """
    etree = library()
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_blank_text=not blanks
    )
    try:
        return etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        problem = f"holds XML that cannot be read: {' '.join(str(error).split())[:200]}"
        raise Unreadable(problem, "check the file, or get it again.") from error


def library() -> Any:
    """Return the library's module for trees, without types."""
    from lxml import etree  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]

    return cast(Any, etree)
