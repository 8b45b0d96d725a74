"""Entities: the first rows of a list, from the members of a class that Wikidata knows, where the operator named it."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from tea import BadOutput, consult

from .research import Plan, Research
from .rows import Table, allows
from .sources import Words

WORKER, CONFIDENCE = "wikidata", 0.95
LANGUAGE = "en"  # of the names that the prompt asks for
NEEDED = 2  # questions to models: this one, and one for the web
_PLAIN = ("type", "anyOf", "oneOf", "enum", "title", "description", "default", "examples")


async def listed(research: Research, plan: Plan, table: Table, forms: Mapping[str, Any]) -> dict[str, Any]:
    """Add the rows that Wikidata knows to a table, and return what came of it; a failure is a gap, and nothing else.

    Args:
        research: The work.
        plan: What is wanted.
        table: Takes the rows.
        forms: The schema of each column, where there is one.
    """
    told: dict[str, Any] = {"kind": "", "rows": 0, "tokens": 0, "query": ""}
    left = await research.gathering.questions()
    if left is not None and left < NEEDED:
        return told
    try:
        wanted = await _asked(research, plan, table, told)
    except BadOutput:
        return _record_failure(research, told, "how to ask it could not be read")
    if not wanted["kind"].strip():
        return told
    response = await research.ctx.tcp.invoke("list_entities", {**wanted, "language": LANGUAGE})
    told["kind"] = wanted["kind"]
    if not response.ok:
        return _record_failure(research, told, str((response.error or {}).get("problem", "it failed")))
    found: Mapping[str, Any] = response.value
    told["query"] = found["query"]
    at = await research.ctx.now()
    for one in found["rows"]:
        told["rows"] += _added(research, table, forms, one, at)
    names = ", ".join(repr(one) for one in found["unknown"])
    if not told["rows"]:
        none = "it has no member of this class with these properties"
        return _record_failure(research, told, f"it knows nothing by the name of {names}" if names else none)
    if names:
        research.gathering.problems.append(f"Wikidata knows no property by the name of {names}.")
    if found["more"]:
        research.gathering.problems.append(f"Wikidata may know more than the {told['rows']} rows that were taken.")
    return told


async def _asked(research: Research, plan: Plan, table: Table, record: dict[str, Any]) -> dict[str, Any]:
    """Return what to ask Wikidata for, in words."""
    meanings = {one["name"]: one["meaning"] for one in plan.columns}
    others = [one for one in table.columns if one != table.key[0]]
    variables = {
        "task": research.task.text, "entity": plan.entity or plan.question, "name": table.key[0],
        "columns": [{"name": one, "meaning": meanings.get(one, "")} for one in others], "today": research.today,
    }  # fmt: skip

    def read(response: Any) -> dict[str, Any]:
        record["tokens"] += response.usage.input_tokens + response.usage.output_tokens
        return response.output

    wanted = await consult(research.ctx, "researcher_entities", variables, read)
    return {**wanted, "columns": [one for one in wanted["columns"] if one["column"] in others]}


def _record_failure(research: Research, record: dict[str, Any], why: str) -> dict[str, Any]:
    """Record why Wikidata gave no rows."""
    line = f"Wikidata gave no rows: {why.rstrip('.')}."
    research.gathering.problems.append(line)
    return {**record, "problem": line}


def _added(research: Research, table: Table, forms: Mapping[str, Any], one: Mapping[str, Any], at: str) -> bool:
    """Add a member as a row, its page as the source of all cells; return whether it holds."""
    values: Mapping[str, Sequence[Mapping[str, Any]]] = one["values"]
    told = [f"{column}: {', '.join(_shown(value) for value in given)}" for column, given in values.items()]
    words = "; ".join([one["label"], *told])
    source = research.gathering.sources.page(one["url"])
    source.title, source.state, source.opened, source.score = one["label"], "read", True, 1.0
    source.record([Words(text=words)])
    cells = {column: _cell(forms.get(column), given) for column, given in values.items()}
    name = _cell(forms.get(table.key[0]), [{"text": one["label"]}])
    row = {**cells, table.key[0]: name}
    return table.add(row, source, words, round=0, at=at, worker=WORKER, confidence=CONFIDENCE) != "rejected"


def _shown(value: Mapping[str, Any]) -> str:
    return " ".join(filter(None, [value["text"], value.get("unit", "")]))


def _cell(form: Any, values: Sequence[Mapping[str, Any]]) -> Any:
    """Return values as a cell in the form of its column; None where they do not fit it, or it is not plain."""
    if not _is_plain(form) or not values:
        return None
    number = values[0].get("number", values[0].get("year"))
    fits = allows(form, "number") or (allows(form, "integer") and isinstance(number, int))
    cell: Any = ", ".join(_shown(one) for one in values) if allows(form, "string") else None
    if len(values) == 1 and number is not None and fits and ("number" in values[0] or cell is None):
        cell = number
    options = cast("Mapping[str, Any]", form).get("enum") if isinstance(form, Mapping) else None
    return cell if options is None or cell in options else None


def _is_plain(form: Any) -> bool:
    """Tell whether a schema says nothing of a value but its type."""
    if not isinstance(form, Mapping):
        return form is None or form is True
    schema = cast("Mapping[str, Any]", form)
    options = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    return all(name in _PLAIN for name in schema) and all(_is_plain(one) and "enum" not in one for one in options)
