"""One search of all engines: the leaf under `web_search`, which alone touches the network, the cache and the corpus."""

from typing import Any

from tea import Context, tool


@tool(effects="reads", idempotent=True, network=True, evolvable=False, metadata={"category": "part"})
async def search_engines(ctx: Context, queries: list[str], since: str = "") -> dict[str, Any]:
    """Ask the operator's search engines, and give their results with what each engine did.

    Args:
        queries: What to search for.
        since: The age of pages: those of the last day, week, month or year; empty for any.
    """
    return dict(await ctx.search(queries, since))
