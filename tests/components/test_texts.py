"""Test texts: a parameter taking a single text as it is."""

from tea import Texts
from tea.components.naming import understood
from tea.components.operation import InProcess, Operation


async def find(queries: Texts) -> list[str]:
    """Find something."""
    return queries


def test_one_text_is_taken_whole_where_a_tool_reads_texts() -> None:
    operation = Operation.of(find)
    schema = operation.signature.parameters
    given = understood(schema, {"queries": "Porto, Portugal"})
    assert schema["properties"]["queries"] == {"items": {"type": "string"}, "type": "array"}
    assert isinstance(operation.executor, InProcess)
    assert operation.executor.validated(given) == {"queries": ["Porto, Portugal"]}
