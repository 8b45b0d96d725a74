"""Addresses: their names are there for pydantic's import; none is made at the portable level."""

from __future__ import annotations

from typing import Any

from tea.untrusted.portable.faults import SchemaError


class Url:
    """The address type; using it is an error with its reason."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise SchemaError("Types of addresses are not there at the level wasm: take a str.")


class MultiHostUrl(Url):
    """The address type of several hosts; using it is an error with its reason."""
