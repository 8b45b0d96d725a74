"""Texts: a list of texts as a tool's parameter, with a single text taken as a list of one."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator


def _listed(value: object) -> object:
    """Return a single text as a list of one."""
    return [value] if isinstance(value, str) else value


Texts = Annotated[list[str], BeforeValidator(_listed)]
