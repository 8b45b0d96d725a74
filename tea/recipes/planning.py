"""Planning: the recipes written by a requested transformation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tea.components.manifest import Manifest, is_recipe
from tea.errors import BadComponent
from tea.recipes.recipe import AnyRecipe, Transform, make_recipe, read_recipe
from tea.types import JsonObject


def planned(transform: Transform, found: Sequence[Manifest], options: JsonObject) -> list[AnyRecipe]:
    """Return the recipes written by a transformation."""
    if strange := {"transform", "operands"} & options.keys():
        raise BadComponent(f"{min(strange)!r} is not an option.", fix="leave it out.")
    given: dict[str, Any] = {key: value for key, value in options.items() if value is not None}
    pinned = [{"ref": str(config.ref), "digest": config.digest} for config in found]
    if transform != "E2T":
        name = given.pop("name", None) or _name(transform, found)
        return [make_recipe({**given, "transform": transform, "name": name, "operands": pinned})]
    if "description" in given:
        raise BadComponent("Each tool of a toolkit has a description of its own.", fix="leave `description` out.")
    toolkit = given.pop("name", None) or found[0].name
    if len(found) > 1:
        raise BadComponent(f"E2T takes one operand, not {len(found)}.", fix="transform each by itself.")
    return [
        make_recipe(
            {
                **given,
                "transform": transform,
                "name": f"{toolkit}_{operation}",
                "toolkit": toolkit,
                "operands": [{**pinned[0], "ref": f"{found[0].ref}#{operation}"}],
            }
        )
        for operation in sorted(found[0].operations)
    ]


def _name(transform: Transform, found: Sequence[Manifest]) -> str:
    """Return the name of a single operand; for several, a name has to be given."""
    if len(found) > 1:
        raise BadComponent(f"{transform} of {len(found)} components needs a name.", fix="give `name`.")
    return found[0].name


def continues(recipe: AnyRecipe, there: Manifest) -> bool:
    """Return whether a recipe is a later version of the component with its name."""
    if not is_recipe(there.source):
        return False
    before = read_recipe(there.source)
    names = [{(one.parsed.name, one.parsed.operation) for one in each.operands} for each in (recipe, before)]
    return before.transform == recipe.transform and bool(names[0] & names[1])
