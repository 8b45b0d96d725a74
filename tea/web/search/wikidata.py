"""Wikidata: the members of a class with their properties, by one bounded query built of checked ids alone.

Sources: the pages on the search for entities (`action=help&modules=wbsearchentities` of the API), on the query service
(https://www.mediawiki.org/wiki/Wikidata_Query_Service/User_Manual), on its statements, ranks and values
(https://www.mediawiki.org/wiki/Wikibase/Indexing/RDF_Dump_Format), and on its answers
(https://www.w3.org/TR/sparql11-results-json/).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from tea.web.search.apis import ITEM, PROPERTY, WIKIDATA_PAGES, Request, named, text_in
from tea.web.search.engine import EngineFailed
from tea.web.search.service import ApiEngine

MOST_MEMBERS, MOST_CONDITIONS, MOST_COLUMNS = 150, 4, 6
_MOST_BINDINGS = 2_000
_MOST_TEXT = 300
_CANDIDATES = 7  # what the search gives unasked
_ENTITY = "http://www.wikidata.org/entity/"
_NO_UNIT = "Q199"  # the unit of a plain number
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8})*")
_NUMBER = re.compile(r"[-+]?[0-9]{1,30}(?:\.[0-9]{1,30})?")
_MOMENT = re.compile(r"([-+]?)([0-9]{4,6})-([0-9]{2})-([0-9]{2})T[0-9:.]+Z?")
_DAY, _MONTH, _YEAR = 11, 10, 9  # precisions of a moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The wanted members, in words or ids.

    Args:
        kind: The class that each is an instance of, also by a subclass.
        conditions: Values that they have, each with its property.
        columns: Properties by the names of columns.
        language: Code of the language of the words.
    """

    kind: str
    conditions: Sequence[tuple[str, str]] = ()
    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    language: str = "en"


class Wikidata:
    """Wikidata behind its two documented services.

    Args:
        engine: Asks, through the guard.
        address: Where its search for entities is.
        sparql: Where its query service is.
        admitted: Waits before each request until it may be made; raises EngineFailed if it may not.
    """

    def __init__(
        self, engine: ApiEngine, *, address: str, sparql: str, admitted: Callable[[], Awaitable[None]]
    ) -> None:
        self._engine, self._address, self._sparql, self._admitted = engine, address, sparql, admitted

    async def members(self, wanted: Wanted) -> dict[str, Any]:
        """Return the members of a class, as JSON: `rows`, whether there are `more`, `query` and `unknown` words.

        There are none where the class or a condition is not known by that very name. One request goes out at a time.

        Args:
            wanted: What is wanted.

        Raises:
            EngineFailed: There is no answer.
        """
        language = wanted.language.casefold()
        language = language if _LANGUAGE.fullmatch(language) else "en"
        unknown, known = list[str](), dict[tuple[str, str], str]()

        async def of(text: str, kind: str) -> str:
            text = " ".join(text.split())[:_MOST_TEXT]
            if (text, kind) not in known:
                known[text, kind] = await self._id(text, kind, language) if text else ""
            unknown.extend([text] if not known[text, kind] and text not in unknown else [])
            return known[text, kind]

        kind = await of(wanted.kind, "item")
        conditions = list[tuple[str, str]]()
        for name, value in wanted.conditions[:MOST_CONDITIONS]:
            conditions.append((await of(name, "property"), await of(value, "item")))
        nothing = {"rows": [], "more": False, "query": "", "unknown": unknown}
        if not kind or not all(name and value for name, value in conditions):
            return nothing
        pairs = [*wanted.columns.items()][:MOST_COLUMNS]
        columns = {name: found for name, words in pairs if (found := await of(words, "property"))}
        query = query_of(kind, conditions, [*columns.values()], language)
        answer = await self._ask(Request(query={"query": query, "format": "json"}), self._sparql)
        rows, count = rows_of(answer, [*columns])
        return {
            "rows": rows,
            "more": len(rows) >= MOST_MEMBERS or count >= _MOST_BINDINGS,
            "query": query,
            "unknown": unknown,
        }

    async def _ask(self, request: Request, address: str) -> Any:
        await self._admitted()
        return await self._engine.ask(request, address)

    async def _id(self, text: str, kind: str, language: str) -> str:
        """Return the id of the first item or property with a name, or an id given as the name; else nothing."""
        answer = await self._ask(named(text, kind, language, _CANDIDATES), self._address)
        form = ITEM if kind == "item" else PROPERTY
        for one in _list(answer, "search"):
            found, match = text_in(one, "id"), one.get("match")
            matched = cast("dict[str, Any]", match) if isinstance(match, dict) else dict[str, Any]()
            names = [found, text_in(one, "label"), text_in(matched, "text")]
            if form.fullmatch(found) and text.casefold() in [name.casefold() for name in names]:
                return found
        return ""


def query_of(kind: str, conditions: Sequence[tuple[str, str]], columns: Sequence[str], language: str) -> str:
    """Return the query for members of a class and their best values.

    Args:
        kind: Id of the class.
        conditions: Ids of properties, each with that of its value.
        columns: Ids of properties.
        language: Code of the language of labels.

    Raises:
        ValueError: An id or the language code is not valid.
    """
    for form, ids in ((ITEM, [kind, *(one for _, one in conditions)]), (PROPERTY, [*columns, *dict(conditions)])):
        for one in ids:
            if not form.fullmatch(one):
                raise ValueError(f"{one[:40]!r} is not an id")
    if not _LANGUAGE.fullmatch(language):
        raise ValueError(f"{language[:40]!r} is not the code of a language")
    holds = "".join(f" ?item wdt:{name} wd:{value} ." for name, value in conditions)
    inner = f"SELECT DISTINCT ?item WHERE {{{holds} ?item wdt:P31/wdt:P279* wd:{kind} . }} LIMIT {MOST_MEMBERS}"
    rows = " ".join(f'("{place}" p:{one} ps:{one} psv:{one})' for place, one in enumerate(columns))
    values = (
        f"VALUES (?column ?claim ?says ?node) {{ {rows} }} "
        "OPTIONAL { ?item ?claim ?statement . ?statement a wikibase:BestRank ; ?says ?value . "
        "OPTIONAL { ?statement ?node ?whole . ?whole wikibase:quantityUnit|wikibase:timePrecision ?detail . } } "
    )
    languages = ",".join(dict.fromkeys([language, "en", "mul"]))
    return (
        "SELECT ?item ?itemLabel ?column ?value ?valueLabel ?detail ?detailLabel WHERE { "
        f"{{ {inner} }} {values if columns else ''}"
        f'SERVICE wikibase:label {{ bd:serviceParam wikibase:language "{languages}" . }} '
        f"}} LIMIT {_MOST_BINDINGS}"
    )


def rows_of(answer: Any, columns: Sequence[str]) -> tuple[list[dict[str, Any]], int]:
    """Return the members in an answer of the query service, each with its values by column, and the count of bindings.

    A value has a `text`, and a `number` where it is one, or a `year` where it is a date; a number may have a `unit`.

    Args:
        answer: The answer.
        columns: Names of the columns, in the order of the query's.

    Raises:
        EngineFailed: It is not an answer to a query.
    """
    results = cast("dict[str, Any]", answer).get("results") if isinstance(answer, dict) else None
    if not isinstance(results, dict) or not isinstance(cast("dict[str, Any]", results).get("bindings"), list):
        raise EngineFailed("broken", "Its answer is not one to a query.")
    bindings, rows = _list(results, "bindings"), dict[str, dict[str, Any]]()
    for binding in bindings:
        found, label = _entity(binding, "item"), _label(binding, "item")
        if not found or not label or (found not in rows and len(rows) >= MOST_MEMBERS):
            continue
        row = rows.setdefault(found, {"id": found, "url": f"{WIKIDATA_PAGES}{found}", "label": label, "values": {}})
        place, value = _said(binding, "column"), _value(binding)
        if value is not None and place.isascii() and place.isdigit() and int(place[:3]) < len(columns):
            values = row["values"].setdefault(columns[int(place[:3])], [])
            values += [value] if value not in values else []
    return [*rows.values()], len(bindings)


def _value(binding: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the value of a binding; None if it is unknown, or less precise than a year."""
    said, given = _said(binding, "value"), binding.get("value")
    kind = cast("dict[str, Any]", given) if isinstance(given, dict) else dict[str, Any]()
    if text_in(kind, "type") == "uri":
        label = _label(binding, "value") if _entity(binding, "value") else said
        is_unknown = "/.well-known/genid/" in said or not said.startswith(("http://", "https://"))
        return {"text": label[:_MOST_TEXT]} if label and not is_unknown else None
    if text_in(kind, "type") not in ("literal", "typed-literal") or not said:
        return None
    datatype = text_in(kind, "datatype").rpartition("#")[2]
    if datatype == "dateTime":
        return _moment(said, _said(binding, "detail"))
    if datatype in ("decimal", "integer", "double") and _NUMBER.fullmatch(said):
        number = float(said) if "." in said else int(said)
        plain: dict[str, Any] = {"text": said.lstrip("+"), "number": number}
        unit = _label(binding, "detail") if _entity(binding, "detail") not in ("", _NO_UNIT) else ""
        return {**plain, "unit": unit} if unit else plain
    return {"text": " ".join(said.split())[:_MOST_TEXT]}


def _moment(text: str, precision: str) -> dict[str, Any] | None:
    """Return a date in its stated precision; None for one without a year."""
    found = _MOMENT.fullmatch(text)
    exact = int(precision) if precision.isascii() and precision.isdigit() and len(precision) < 3 else 0
    if found is None or exact < _YEAR:
        return None
    before, year, month, day = found.groups()
    parts = [year, *([month] if exact >= _MONTH else []), *([day] if exact >= _DAY else [])]
    return {"text": f"{before.strip('+')}{'-'.join(parts)}", "year": int(f"{before}{year}")}


def _entity(binding: Mapping[str, Any], name: str) -> str:
    """Return the id of an item in a binding, empty for anything else."""
    found = _said(binding, name).removeprefix(_ENTITY)
    return found if ITEM.fullmatch(found) and _said(binding, name).startswith(_ENTITY) else ""


def _label(binding: Mapping[str, Any], name: str) -> str:
    """Return the label of an item in a binding, empty if the service gives its id instead."""
    label = " ".join(_said(binding, f"{name}Label").split())[:_MOST_TEXT]
    return "" if ITEM.fullmatch(label) else label


def _said(binding: Mapping[str, Any], name: str) -> str:
    found = binding.get(name)
    return text_in(cast("dict[str, Any]", found), "value") if isinstance(found, dict) else ""


def _list(value: Any, name: str) -> list[dict[str, Any]]:
    found = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    listed = cast("list[Any]", found) if isinstance(found, list) else []
    return [cast("dict[str, Any]", one) for one in listed if isinstance(one, dict)]
