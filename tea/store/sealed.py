"""Sealed documents: JSON files that carry a check of their content, so that damage is found and named."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from tea.errors import BadInput
from tea.store.files import FILE_LIMIT, read_regular, reading
from tea.store.strict import Refused, as_json_object, check_depth, dumps, loads
from tea.types import JsonObject

FORMAT = 1


def sealed(document: JsonObject) -> bytes:
    """Return the bytes of a file: the document, and a check that does not depend on white space.

    Raises:
        BadInput: The document is not JSON, or too large.
    """
    try:
        plain = loads(dumps(dict(document)))
        data = to_json({"format": FORMAT, "check": _check(plain), "document": plain}, indent=2) + b"\n"
        check_depth(data.decode())
    except Refused as reason:
        fix = "register plain JSON data: text, numbers, lists and objects."
        raise BadInput(f"The document cannot be stored: {reason}.", fix=fix) from reason
    if len(data) > FILE_LIMIT:
        fix = "make it smaller; large data belongs in files of its own."
        raise BadInput(f"The document needs {len(data):,} bytes, and {FILE_LIMIT:,} are allowed.", fix=fix)
    return data


def unsealed(path: Path) -> dict[str, Any]:
    """Return the document in a file.

    Raises:
        Damaged: The file is not what was written.
        StorageError: It cannot be read.
    """
    with reading(path):
        envelope = as_json_object(loads(read_regular(path, FILE_LIMIT)))
        if envelope.get("format") != FORMAT:
            raise Refused(f"it is not of format {FORMAT}")
        document = as_json_object(envelope.get("document"))
        if envelope.get("check") != _check(document):
            raise Refused("its content does not match its check")
        return document


def _check(document: Mapping[str, Any]) -> str:
    return "sha256:" + hashlib.sha256(dumps(document, sort_keys=True)).hexdigest()
