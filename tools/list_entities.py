"""The members of a class that Wikidata knows: the leaf that alone asks it for them."""

from typing import Any

from tea import Context, tool


@tool(effects="reads", idempotent=True, network=True, evolvable=False, metadata={"category": "part"})
async def list_entities(
    ctx: Context, kind: str, conditions: list[dict[str, str]], columns: list[dict[str, str]], language: str = "en"
) -> dict[str, Any]:
    """List the members of a class of Wikidata with some of their properties, where the operator named it.

    Args:
        kind: The class, by its name or id.
        conditions: Each a `property` and the `value` that members have of it, by name or id.
        columns: Each a `column` and the `property` whose values it takes.
        language: Language tag of the names.
    """
    return {"label": "untrusted", **await ctx.list_entities(kind, conditions, columns, language)}
