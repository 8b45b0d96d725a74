"""TOML: documents of unknown origin, read in time proportional to their length."""

from __future__ import annotations

import re
import tomllib
from typing import Any

# Reading a key takes the square of its parts: one of 60,000 took minutes.
_PART = r"""(?:"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|[\w-]++)"""
_DEEP = re.compile(rf"""(?<![\w"'\\-])(?:{_PART}[ \t]*+\.[ \t]*+){{32}}[\w"'-]""", re.ASCII)


def read_toml(text: str) -> dict[str, Any]:
    """Return the data of a document.

    Raises:
        ValueError: It is not TOML, a key in it has more than 32 parts, or it nests too deeply.
    """
    if _DEEP.search(text):
        raise ValueError("a key in it has more than 32 parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it nests too deeply") from None
