"""Test documents: read strictly, and written back unchanged."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea.errors import BadComponent
from tea.memory.manager import MemoryConfig
from tea.models.config import ModelConfig
from tea.registry.document import DocumentManager, Solution, made_as

SOLUTIONS = DocumentManager("solution", made_as(Solution))
MEMORIES = DocumentManager("memory", made_as(MemoryConfig))
MODELS = DocumentManager("model", ModelConfig.of)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text("aé\n\"{'"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_any_content_is_read_back_as_it_was_written(content: Any) -> None:
    solution = Solution(name="a", task="Count.", content=content, run="r1")
    source = SOLUTIONS.source(solution)
    assert SOLUTIONS.parse(source) == solution
    text = SOLUTIONS.text(source)
    assert (text.kind, text.name, text.metadata["solution"]) == (
        "solution", "a", {"task": "Count.", "content": content, "run": "r1"},
    )  # fmt: skip


@given(st.binary(max_size=40) | st.sampled_from([b"{", b"[]", b"null", b'{"name": 3}', b'{"name": "a", "name": "b"}']))
def test_what_is_no_document_is_refused_in_one_line(data: bytes) -> None:
    for manager in (SOLUTIONS, MEMORIES, MODELS):
        with pytest.raises(BadComponent) as caught:
            manager.text(data.decode("latin-1"))
        assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("manager", "fields"),
    [
        (SOLUTIONS, {"task": "Count."}),
        (SOLUTIONS, {"task": "", "content": 1}),
        (SOLUTIONS, {"task": 3, "content": 1}),
        (SOLUTIONS, {"task": "Count.", "content": 1, "score": 1}),
        (SOLUTIONS, {"task": "Count.", "content": 1, "evolvable": 1}),
        (MEMORIES, {"scope": "world"}),
        (MEMORIES, {"limit": 0}),
        (MEMORIES, {"limit": 1_001}),
        (MEMORIES, {"limit": "9"}),
        (MEMORIES, {"kinds": ["Step!"]}),
        (MEMORIES, {"kinds": [1]}),
        (MODELS, {"provider": "nobody"}),
        (MODELS, {"provider": "openai_chat", "key_env": "sk-not a name"}),
        (MODELS, {"provider": "openai_chat", "base_url": "https://me:word@host"}),
    ],
)
def test_fields_that_a_kind_does_not_have_are_refused(manager: DocumentManager[Any], fields: dict[str, Any]) -> None:
    with pytest.raises(BadComponent):
        manager.text(json.dumps({"name": "a", **fields}))


@pytest.mark.parametrize(
    ("manager", "fields", "problem", "fix"),
    [
        (
            SOLUTIONS,
            {"task": "a", "content": 1, "kind": "model"},
            "The solution states another kind",
            "leave `kind` out",
        ),
        (MEMORIES, {"metadata": {"memory": 1}}, "metadata of the memory have a key 'memory'", "another key"),
        (MODELS, {"preset": "openai", "model": "m"}, "names a preset", "tea models add"),
    ],
)
def test_what_a_document_cannot_say_is_refused_with_what_to_do(
    manager: DocumentManager[Any], fields: dict[str, Any], problem: str, fix: str
) -> None:
    with pytest.raises(BadComponent, match=problem) as refused:
        manager.text(json.dumps({"name": "a", **fields}))
    assert fix in refused.value.fix


def test_what_is_no_json_object_is_not_written() -> None:
    assert json.loads(MEMORIES.source({"name": "a", "limit": 3})) == {"name": "a", "limit": 3}
    for wrong in (3, Solution, {"name": {1}}, {"name": float("nan")}):
        with pytest.raises(BadComponent):
            MEMORIES.source(wrong)
