"""Sealed documents: JSON files with a check of their content, so damage is found and named.

A numbered one also says which of its kind it is, so that a copy of an earlier one in its place is found, too.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from tea.errors import BadInput
from tea.store.access import read_own
from tea.store.files import FILE_LIMIT, reading
from tea.store.strict import Refused, as_json_object, check_depth, dumps, loads
from tea.types import JsonObject

FORMAT, NUMBERED = 1, 2


def sealed(document: JsonObject, number: int | None = None) -> bytes:
    """Return the bytes of a file: the document, and a check independent of white space.

    Args:
        document: The document.
        number: Which one of its kind the file is, where they are numbered.

    Raises:
        BadInput: The document is not JSON, or too large.
    """
    try:
        plain = as_json_object(loads(dumps(dict(document))))
        about = {"format": FORMAT} if number is None else {"format": NUMBERED, "number": number}
        data = to_json({**about, "check": _check(plain, number), "document": plain}, indent=2) + b"\n"
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
        return _opened(path, (FORMAT,))[0]


def unsealed_numbered(path: Path, number: int) -> tuple[dict[str, Any], bool]:
    """Return the document in a numbered file, and whether it holds its number, as newly written ones do.

    Args:
        path: The file.
        number: Which one it stands for.

    Raises:
        Damaged: The file is not what was written, or is another one's copy.
        StorageError: It cannot be read.
    """
    with reading(path):
        document, held = _opened(path, (FORMAT, NUMBERED))
        if held not in (None, number):
            raise Refused(f"it is a copy of number {held}, and stands in the place of number {number}")
        return document, held is not None


def _opened(path: Path, formats: tuple[int, ...]) -> tuple[dict[str, Any], int | None]:
    """Return a file's document, and the number held in it."""
    envelope = as_json_object(loads(read_own(path, FILE_LIMIT)))
    if envelope.get("format") not in formats:
        raise Refused(f"it is not of format {' or '.join(map(str, formats))}")
    numbered = envelope["format"] == NUMBERED
    number = envelope.get("number")
    if numbered != isinstance(number, int):
        raise Refused("its number is missing, or stands where none belongs")
    document = as_json_object(envelope.get("document"))
    if envelope.get("check") != _check(document, number):
        raise Refused("its content does not match its check")
    return document, number


def _check(document: Mapping[str, Any], number: int | None) -> str:
    whole = document if number is None else {"number": number, "document": document}
    text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"), sort_keys=True)  # what was read is strict
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
