"""Page: the page in front: its address and title, its failure, and its links."""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, cast
from urllib.parse import urljoin, urlsplit

from tea import ToolError, require_extra
from tea.web import escaped

from .driver import EXTRA, Driver
from .elements import join_options, legible, show_chosen

MOST_TITLE = 300
MOST_LINKS, MOST_LINK = 200, 500  # addresses of a page, and characters of one
MOST_LOOKED = 2_000  # links of a page, the same addresses among them
MOST_PLACE = 2_000  # characters of a page's own address, and of that its links are relative to
MOST_SHOWN = 100  # characters of an address beside its element; a longer one would be cut off, and is left out
ERROR_PAGE = "chrome-error:"
# Scripts of a page may replace what its document and its arrays do, so sizes are kept by operators and loops alone.
LOOK = f"""(() => {{
  const text = (given, most) => typeof given === 'string' && given.length <= most ? given : '';
  const opened = performance.getEntriesByType('navigation')[0], status = opened ? opened.responseStatus : 0;
  const title = document.title;
  let begun = '';
  for (let at = 0; typeof title === 'string' && at < title.length && at < {MOST_TITLE}; at++) begun += title[at];
  return {{title: begun, place: text(location.href, {MOST_PLACE}), base: text(document.baseURI, {MOST_PLACE}),
          status: typeof status === 'number' ? status : 0}};
}})()"""
LINKS = f"""(() => {{
  const links = document.links;
  let found = '';
  for (let at = 0; at < links.length && at < {MOST_LOOKED}; at++) {{
    const one = links[at].href;
    if (typeof one === 'string' && one.length <= {MOST_LINK}) found += one + '\\n';
  }}
  return found;
}})()"""

FOCUS = """(() => {
  let at = document.activeElement;
  for (let inner = at; inner; inner = at.contentDocument ? at.contentDocument.activeElement :
       at.shadowRoot ? at.shadowRoot.activeElement : null) at = inner;
  return !!at && ['iframe', 'frame', 'object', 'embed'].includes(at.localName) && !at.contentDocument;
})()"""

# What is dragged brings words or a file to where it is dropped, as a selected text does.
DROP = """(...places) => {
  const frame = (x, y) => {
    for (let root = document, seen = new Set(); !seen.has(root);) {
      seen.add(root);
      const at = root.elementFromPoint(x, y);
      if (!at) return null;
      if (at.shadowRoot) root = at.shadowRoot;
      else if (!['iframe', 'frame', 'object', 'embed'].includes(at.localName)) return null;
      else if (!at.contentDocument) return at;
      else {
        const box = at.getBoundingClientRect();
        [root, x, y] = [at.contentDocument, x - box.x - at.clientLeft, y - box.y - at.clientTop];
      }
    }
    return null;
  };
  const [from, to] = places.map(one => frame(...one));
  return !!to && from !== to;
}"""

# A frame of another origin may take the focus at any time, and with it what is typed into the page around it. So may
# one that is not loaded yet, or is put in meanwhile. One that is not drawn has nothing to be given the focus; one of a
# frameset is always drawn, and so `stays`.
HOLD = """(() => {
  const held = [], watched = [], seen = new Set();
  const hold = (root, begun) => {
    for (const one of root.querySelectorAll('*')) {
      if (one.shadowRoot) watch(one.shadowRoot, begun);
      if (!['iframe', 'frame', 'object', 'embed'].includes(one.localName) || seen.has(one)) continue;
      seen.add(one);
      const inner = one.contentDocument, from = one.getAttribute(one.localName === 'object' ? 'data' : 'src');
      const loads = inner?.URL === 'about:blank' && from?.trim() && !/^ *(about:blank|javascript:)/i.test(from);
      if (begun && inner && !loads) watch(inner, begun);
      else {
        held.push([one, one.style.getPropertyValue('display'), one.style.getPropertyPriority('display')]);
        one.style.setProperty('display', 'none', 'important');
      }
    }
  };
  const watch = (root, begun) => {
    if (!seen.has(root)) {
      seen.add(root);
      const watching = new MutationObserver(() => hold(root, false));
      watching.observe(root, {childList: true, subtree: true});
      watched.push(watching);
    }
    hold(root, begun);
  };
  watch(document, true);
  const release = () => {
    watched.forEach(one => one.disconnect());
    held.forEach(([one, was, how]) => one.style.setProperty('display', was, how));
  };
  return Object.assign(release, {stays: held.some(([one]) => one.localName === 'frame')});
})()"""


async def where(driver: Driver) -> dict[str, str]:
    """Return address and title of the page in front, as it has them itself, and why it is none, if it is none."""
    facts = await _facts(driver)
    url = str(await driver.session.get_current_page_url())
    found = {"url": url, "title": str(facts.get("title", ""))}
    status = facts.get("status")
    if str(facts.get("place", "")).startswith(ERROR_PAGE):
        found["problem"] = "it cannot be reached"
    elif isinstance(status, int) and status >= 400:
        found["problem"] = f"it answered with status {status}"
    return found


async def links(driver: Driver) -> list[str]:
    """Return the addresses of the links of the page in front, without its frames."""
    found = dict.fromkeys(one.partition("#")[0] for one in str(await _evaluated(driver, LINKS) or "").split("\n"))
    return [one for one in found if one.startswith("http")][:MOST_LINKS]


async def described(driver: Driver, dom: Any) -> str:
    """Return the elements of a page as text, lists with the chosen option, links with their addresses.

    Of the page's own site it is the path alone.

    Args:
        driver: The browser.
        dom: What the library found in the page.
    """
    facts = await _facts(driver)
    _address(dom.selector_map.values(), str(facts.get("place", "")), str(facts.get("base", "")))
    show_chosen(dom.selector_map.values())
    views: Any = require_extra("browser_use.dom.views", EXTRA)
    shown = [*views.DEFAULT_INCLUDE_ATTRIBUTES, "href"]
    if not dom._root:
        return str(dom.llm_representation(shown))
    serializer: Any = require_extra("browser_use.dom.serializer.serializer", EXTRA).DOMTreeSerializer
    return legible(dom._root, lambda node: str(serializer.serialize_tree(node, shown)))


async def written(driver: Driver, *, links: bool) -> str:
    """Return the page in front as Markdown, with its frames and shadow trees.

    Args:
        driver: The browser.
        links: Whether the addresses of links are kept.
    """
    module: Any = require_extra("browser_use.dom.markdown_extractor", EXTRA)
    watchdog: Any = driver.session._dom_watchdog
    watchdog.clear_cache()
    await watchdog._build_dom_tree_without_highlights()
    join_options(watchdog.enhanced_dom_tree)
    text, _ = await module.extract_clean_markdown(browser_session=driver.session, extract_links=links)
    return str(text)


async def is_elsewhere(driver: Driver, node: Any) -> bool:
    """Return whether an element stands in a frame of another origin than the page in front."""
    for frame in reversed(_frames(node)):
        if not await of_element(driver, frame, "this.contentDocument !== null"):
            return True
    return False


async def types_elsewhere(driver: Driver) -> bool:
    """Return whether keys go to a frame of another origin than the page in front."""
    return bool(await _evaluated(driver, FOCUS))


async def drops_elsewhere(driver: Driver, points: Sequence[tuple[int, int]]) -> bool:
    """Return whether a way from one pixel to another leads into a frame of another origin than the page in front."""
    return bool(await _evaluated(driver, f"({DROP})({', '.join(map(str, map(list, points)))})"))


@asynccontextmanager
async def focus_kept(driver: Driver) -> AsyncGenerator[None]:
    """Keep frames of other origins from the focus of the page in front.

    Raises:
        ToolError: One may take it all the same.
    """
    held = await driver.send("Runtime", "evaluate", {"expression": HOLD})
    try:
        if await _asked(driver, held["result"], "this.stays"):
            problem = "A frame of another site beside this one could take what is typed here."
            raise ToolError(problem, fix="open the address of the frame that you want to type into.")
        yield
    finally:
        with suppress(Exception):  # the page has gone on
            await _asked(driver, held["result"], "this()")


async def of_element(driver: Driver, node: Any, expression: str) -> Any:
    """Return the value of an expression with an element of the page in front as `this`."""
    found = await driver.send("DOM", "resolveNode", {"backendNodeId": node.backend_node_id})
    return await _asked(driver, found["object"], expression)


def origin(url: str) -> str:
    """Return scheme, host and port of an address; without a host the address itself."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else url


async def _facts(driver: Driver) -> dict[str, Any]:
    """Return what the page in front says of itself."""
    found = await _evaluated(driver, LOOK)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


async def _asked(driver: Driver, held: Mapping[str, Any], expression: str) -> Any:
    """Return the value of an expression with a value of the page in front as `this`, None if it is no object."""
    if "objectId" not in held:
        return None
    asked = {"objectId": held["objectId"], "functionDeclaration": f"function() {{ return {expression}; }}"}
    answer = await driver.send("Runtime", "callFunctionOn", {**asked, "returnByValue": True})
    return answer["result"].get("value")


async def _evaluated(driver: Driver, expression: str) -> Any:
    """Return the value of an expression in the page in front, None if the page lets it fail."""
    found = await driver.send("Runtime", "evaluate", {"expression": expression, "returnByValue": True})
    return found.get("result", {}).get("value")


def _address(elements: Iterable[Any], place: str, base: str) -> None:
    """Put the addresses of links into their elements in the form to show; those of frames have another base."""
    for node in elements:
        attributes: dict[str, str] = node.attributes or {}
        if "href" not in attributes:
            continue
        shown = "" if _is_framed(node) else _shown(attributes.pop("href"), place, base)
        attributes.pop("href", None)
        if shown:
            attributes["href"] = shown


def _shown(href: str, place: str, base: str) -> str:
    """Return an address as it is shown, empty for one that is not."""
    try:
        whole = escaped(urljoin(base, href))
        own = origin(whole) == origin(place)
    except ValueError:  # of no form that is an address
        return ""
    if not whole.startswith(("http://", "https://")):
        return ""
    shown = (whole.removeprefix(origin(whole)) or "/") if own else whole
    return shown if len(shown) <= MOST_SHOWN else ""


def _is_framed(node: Any) -> bool:
    return bool(_frames(node))


def _frames(node: Any) -> list[Any]:
    """Return the frames around an element, the inner ones first."""
    found = list[Any]()
    while (node := node.parent_node) is not None:
        if str(node.tag_name).lower() in ("iframe", "frame"):
            found.append(node)
    return found
