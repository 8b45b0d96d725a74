"""Page: the page in front: its address and title, and its failure."""

from typing import Any, cast
from urllib.parse import urlsplit

from .driver import Driver

MOST_TITLE = 300
ERROR_PAGE = "chrome-error:"
LOOK = """(() => {
  const opened = performance.getEntriesByType('navigation')[0];
  return {title: document.title, place: location.href,
          status: opened ? opened.responseStatus : 0};
})()"""


async def where(driver: Driver) -> dict[str, str]:
    """Return address and title of the page in front, as it has them itself, and why it is none, if it is none."""
    facts = await _facts(driver)
    url = str(await driver.session.get_current_page_url())
    found = {"url": url, "title": str(facts.get("title", ""))[:MOST_TITLE]}
    status = facts.get("status")
    if str(facts.get("place", "")).startswith(ERROR_PAGE):
        found["problem"] = "it cannot be reached"
    elif isinstance(status, int) and status >= 400:
        found["problem"] = f"it answered with status {status}"
    return found


def origin(url: str) -> str:
    """Return scheme, host and port of an address; without a host the address itself."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else url


async def _facts(driver: Driver) -> dict[str, Any]:
    """Return what the page in front says of itself."""
    found = await _evaluated(driver, LOOK)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


async def _evaluated(driver: Driver, expression: str) -> Any:
    """Return the value of an expression in the page in front, None if the page lets it fail."""
    found = await driver.send("Runtime", "evaluate", {"expression": expression, "returnByValue": True})
    return found.get("result", {}).get("value")
