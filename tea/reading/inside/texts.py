"""Texts to Markdown: plain ones as they are, JSON indented, XML and YAML checked."""

from __future__ import annotations

import json
from collections import deque
from typing import Any, cast

from tea.reading.inside.charset import text_of
from tea.reading.inside.document import Order, Parsed, Unreadable
from tea.reading.inside.trees import library, parsed_xml
from tea.reading.inside.unpacked import MOST_BYTES, too_large

_ONE_LINE = 2_000  # characters of a line from which on a structured text is indented


def parse_text(order: Order, kind: str) -> Parsed:
    """Return a text; indent a structured one with long lines, and report its faults.

    Raises:
        Unreadable: It is too large.
    """
    if order.path.stat().st_size > MOST_BYTES:
        raise too_large(MOST_BYTES)
    text, encoding = text_of(order.path.read_bytes(), order.content_type)
    found = Parsed(kind=kind, text=text, facts={"encoding": encoding})
    if kind == "json":
        _json(found)
    elif kind == "xml":
        _xml(found)
    elif kind == "yaml":
        _yaml(found)
    return found


def _json(found: Parsed) -> None:
    try:
        value: Any = json.loads(found.text)
    except (ValueError, RecursionError) as error:
        found.notes.append(f"It is not valid JSON: {error}.")
        return
    if max(map(len, found.text.splitlines()), default=0) > _ONE_LINE:
        found.text = json.dumps(value, indent=2, ensure_ascii=False)
        found.notes.append("It was indented, so its lines are not those of the file.")


def _xml(found: Parsed) -> None:
    try:
        tree = parsed_xml(found.text.encode("utf-8", "replace"), blanks=False)
    except Unreadable as error:
        found.notes.append(f"It is not valid XML: it {error.problem}.")
        return
    if tree.getroottree().docinfo.internalDTD is not None:
        found.notes.append("It declares entities; none was resolved.")
    if max(map(len, found.text.splitlines()), default=0) > _ONE_LINE:
        found.text = library().tostring(tree, pretty_print=True, encoding="unicode")
        found.notes.append("It was indented, so its lines are not those of the file.")


def _yaml(found: Parsed) -> None:
    import yaml

    try:
        parse: Any = cast(Any, yaml).parse  # events alone: what aliases multiply is never made
        deque(parse(found.text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)), maxlen=0)
    except yaml.YAMLError as error:
        found.notes.append(f"It is not valid YAML: {' '.join(str(error).split())}."[:300])
