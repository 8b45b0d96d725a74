"""Elements: the tree of a page's elements, with tables as rows of cells, chosen options, and short texts."""

import copy
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any

ELEMENT, TEXT = 1, 3  # types of nodes
CELLS = ("td", "th")
MOST_ROW = 1_000  # characters of a row in one line
LONGER = "\ufdd0"  # behind a text of one character, which the library would leave out; no page may hold it
CLICKED = frozenset(
    ("onclick", "onmousedown", "onmouseup", "onkeydown", "onkeyup", "tabindex", "contenteditable", "draggable")
)
PLAIN_ROLES = frozenset(("", "row", "cell", "gridcell", "rowheader", "columnheader", "none", "presentation"))


def release_cells(state: Any) -> None:
    """Remove the indexes of rows and cells without clicks: the library gives one to each.

    Args:
        state: What the library found in the page.
    """
    for node in list(_below(state._root)):
        original = node.original_node
        if node.selector_index is None or _tag(node) not in ("tr", *CELLS) or _is_clickable(original):
            continue
        del state.selector_map[node.selector_index]
        node.selector_index, node.is_interactive, node.is_new = None, False, False


def legible(root: Any, written: Callable[[Any], str]) -> str:
    """Return a tree as text, with texts of one character, and with a line for each row of a table.

    Args:
        root: The tree; it is changed.
        written: Returns a part of the tree as the library writes it.
    """
    nodes = list(_below(root))
    for node in nodes:
        _add_short_texts(node)
    for node in nodes:
        if _tag(node) == "tr" and (row := _row(node, written)):
            node.children = [_text(node, node.original_node, row)]
    return written(root).replace(LONGER, "")


def show_chosen(elements: Iterable[Any]) -> None:
    """Put the chosen options of lists into their elements, as the values of other fields.

    Args:
        elements: Elements of a page.
    """
    for node in elements:
        if str(node.tag_name).lower() == "select" and (chosen := [words for words, is_so in _options(node) if is_so]):
            node.attributes = {**(node.attributes or {}), "value": " | ".join(chosen)}


def join_options(root: Any) -> None:
    """Put the options of each list into one line of text: the library runs them together, each twice.

    Args:
        root: The page; it is changed.
    """
    left = [root]
    while left:
        node = left.pop()
        if str(node.tag_name).lower() == "select" and (options := _options(node)):
            words = " | ".join(f"{words} [chosen]" if is_so else words for words, is_so in options)
            node.children_nodes, node.shadow_roots = [_written(node, f" {words} ")], []
            continue
        left.extend([*node.children_and_shadow_roots, *([node.content_document] if node.content_document else [])])


def _options(node: Any) -> list[tuple[str, bool]]:
    """Return the words of the options of a list, and whether each is chosen."""
    found, left = list[tuple[str, bool]](), [*reversed(node.children)]
    while left:
        one = left.pop()
        if str(one.tag_name).lower() != "option":
            left.extend(reversed(one.children))
            continue
        words = " ".join(
            " ".join(str(each.node_value or "") for each in one.children if each.node_type == TEXT).split()
        )
        known = one.ax_node.properties or () if one.ax_node else ()
        is_chosen = any(each.name == "selected" and each.value is True for each in known)
        found.append((words, is_chosen))
    return [(words, is_chosen) for words, is_chosen in found if words]


def _below(root: Any) -> Iterator[Any]:
    """Yield the nodes of a tree, without recursion, as a tree may be deep."""
    left = [root] if root is not None else []
    while left:
        node = left.pop()
        yield node
        left.extend(node.children)


def _tag(node: Any) -> str:
    original = node.original_node
    return str(original.tag_name).lower() if original.node_type == ELEMENT else ""


def _is_clickable(node: Any) -> bool:
    """Return whether a row or cell may be clicked, also through a listener of its table."""
    attributes: dict[str, Any] = node.attributes or {}
    pointed = node.snapshot_node is not None and node.snapshot_node.cursor_style == "pointer"
    if pointed or CLICKED & {*attributes} or str(attributes.get("role", "")).lower() not in PLAIN_ROLES:
        return True
    if node.is_actually_scrollable:
        return True
    while node is not None and not node.has_js_click_listener and str(node.tag_name).lower() != "table":
        node = node.parent_node
    return node is not None and bool(node.has_js_click_listener)


def _is_seen(node: Any) -> bool:
    return bool(node.snapshot_node) and bool(node.is_visible)


def _text(like: Any, original: Any, words: str) -> Any:
    """Return a node of the tree for a text, in place of an element or another text."""
    return type(like)(original_node=_written(original, words), children=[])


def _written(original: Any, words: str) -> Any:
    """Return a text with these words, in place of an element or another text."""
    node = copy.copy(original)
    node.node_type, node.node_value = type(original.node_type)(TEXT), words
    node.children_nodes, node.shadow_roots = [], []
    return node


def _add_short_texts(node: Any) -> None:
    """Put an element's texts of one character in their places; marks between elements are none."""
    original = node.original_node
    if original.node_type != ELEMENT or node.ignored_by_paint_order or _tag(node) == "svg":
        return
    inside = list(original.children_and_shadow_roots)
    places = {id(one): place for place, one in enumerate(inside)}
    found = [one for one in inside if one.node_type == TEXT and _is_seen(one) and len(one.node_value.strip()) == 1]
    if len(inside) > 1:
        found = [one for one in found if unicodedata.category(one.node_value.strip())[0] != "P"]
    if not found or any(id(one.original_node) not in places for one in node.children):
        return
    known = {places[id(one.original_node)]: one for one in node.children}
    added = {places[id(one)]: _text(node, one, f"{one.node_value.strip()}{LONGER}") for one in found}
    node.children = [one for _, one in sorted({**added, **known}.items())]


def _row(node: Any, written: Callable[[Any], str]) -> str:
    """Return the cells of a row in one line, empty if they hold a table or too much."""
    if not _is_seen(node.original_node) or any(_tag(one) not in CELLS for one in node.children):
        return ""
    if any(_tag(one) == "table" for one in _below(node)):
        return ""
    cells = [" ".join(written(one).split()) for one in node.children]
    row = f"| {' | '.join(cells)} |"
    return row if any(cells) and len(row) <= MOST_ROW else ""
