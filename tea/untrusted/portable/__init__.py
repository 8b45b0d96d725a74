"""Portable: the compiled half of pydantic in plain Python, for the level without native packages.

Loaded in place of `pydantic_core._pydantic_core` by the interpreter of that level alone, so that a component is
described and called there by the same pydantic as elsewhere.
"""

from tea.untrusted.portable.faults import (
    ArgsKwargs,
    PydanticCustomError,
    PydanticKnownError,
    PydanticOmit,
    PydanticSerializationError,
    PydanticSerializationUnexpectedValue,
    PydanticUndefined,
    PydanticUndefinedType,
    PydanticUseDefault,
    SchemaError,
    Some,
    ValidationError,
)
from tea.untrusted.portable.serializer import SchemaSerializer, to_json, to_jsonable_python
from tea.untrusted.portable.times import TzInfo
from tea.untrusted.portable.urls import MultiHostUrl, Url
from tea.untrusted.portable.validator import SchemaValidator, from_json

__all__ = [
    "ArgsKwargs",
    "MultiHostUrl",
    "PydanticCustomError",
    "PydanticKnownError",
    "PydanticOmit",
    "PydanticSerializationError",
    "PydanticSerializationUnexpectedValue",
    "PydanticUndefined",
    "PydanticUndefinedType",
    "PydanticUseDefault",
    "SchemaError",
    "SchemaSerializer",
    "SchemaValidator",
    "Some",
    "TzInfo",
    "Url",
    "ValidationError",
    "from_json",
    "to_json",
    "to_jsonable_python",
]
