"""Numbers: elements of pages by numbers that a browser begun anew gives them again."""

import zlib
from collections.abc import Iterable
from typing import Any

from .elements import release_cells

FIRST, BLOCKS, BLOCK = 100, 900, 100
Element = tuple[str, int]


class Numbers:
    """Numbers for the elements of the pages of one browser.

    They depend on the address of a page and the order in which its elements came up, so that what was consented to in
    a lost browser can be told again. No number is given twice: one of a page that is gone is never another element.
    """

    def __init__(self) -> None:
        self._blocks = set[int]()
        self._given = dict[str, int]()
        self._pages = dict[str, tuple[str, dict[Element, int]]]()

    def of(self, page: str, address: str, elements: Iterable[Element]) -> list[int]:
        """Return the numbers of elements.

        Args:
            page: What tells the page from all others of the browser, of the same address too.
            address: Where it was opened.
            elements: What tells them apart within the page, in the order of the page.
        """
        opened, known = self._pages.setdefault(page, (address, {}))
        return [known[one] if one in known else known.setdefault(one, self._next(opened)) for one in elements]

    def _next(self, address: str) -> int:
        last = self._given.get(address, -1)
        number = last + 1 if (last + 1) % BLOCK else self._block(f"{last + 1} {address}") * BLOCK
        self._given[address] = number
        return number

    def _block(self, words: str) -> int:
        block = FIRST + zlib.crc32(words.encode()) % BLOCKS
        while block in self._blocks:
            block += 1
        self._blocks.add(block)
        return block


def numbered(watchdog: Any, numbers: Numbers) -> Any:
    """Return the library's reader of pages with these numbers in the place of its own, which each process deals anew.

    Args:
        watchdog: Its class.
        numbers: The numbers of the browser.
    """

    async def build(self: Any, *given: Any) -> Any:
        state = await watchdog._build_dom_tree_without_highlights(self, *given)
        if not state.selector_map:
            return state
        release_cells(state)
        page = await self.browser_session.get_or_create_cdp_session()
        tree = await page.cdp_client.send.Page.getFrameTree(session_id=page.session_id)
        frame = tree["frameTree"]["frame"]
        found = [(str(node.session_id), node.backend_node_id) for node in state.selector_map.values()]
        given_now = numbers.of(f"{frame['id']} {frame['loaderId']}", str(frame["url"]), found)
        new = dict(zip(state.selector_map, given_now, strict=True))
        _renumber(state._root, new)
        state.selector_map = {new[old]: node for old, node in state.selector_map.items()}
        self.selector_map = state.selector_map
        self.browser_session.update_cached_selector_map(self.selector_map)
        return state

    return type("Numbered", (watchdog,), {"_build_dom_tree_without_highlights": build, "__module__": __name__})


def _renumber(root: Any, new: dict[int, int]) -> None:
    """Give the elements of a tree their numbers, without recursion, as a tree may be deep."""
    left = [root]
    while left:
        node = left.pop()
        if node.selector_index is not None:
            node.selector_index = new[node.selector_index]
        left.extend(node.children)
