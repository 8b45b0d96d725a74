"""Reading a journal's data for people, without failing on any content of a record.

Apart from `tea.journal.record.as_mapping`, as the commands' options are put together without pydantic.
"""

from collections.abc import Mapping
from typing import Any, cast


def fields(value: object) -> Mapping[str, Any]:
    """Return `value` if it is a JSON object, else an empty one."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def items(value: object) -> list[Mapping[str, Any]]:
    """Return the JSON objects in `value` if it is a list, else none."""
    return [fields(one) for one in cast("list[object]", value)] if isinstance(value, list | tuple) else []
