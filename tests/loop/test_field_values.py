"""The values of fields: open ones, and the best object made of the known ones."""

from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tea.components.json_schema import value_faults
from tea.loop.fields import Fields, unresolved
from tea.testing.schema_values import value_of

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"name": TEXT, "founded": {"type": ["integer", "null"]}, "head": TEXT, "people": NUMBER},
    "required": ["name", "founded", "head", "people"],
    "additionalProperties": False,
}
WHOLE = {"name": "Oslo", "founded": 1040, "head": "Ann", "people": 700_000}


def test_places_inside_rows_are_named() -> None:
    row = {"type": "object", "properties": {"city": TEXT, "state": {"enum": ["open", "unknown"]}}}
    form = {"type": "object", "properties": {"rows": {"type": "array", "items": row}, "note": TEXT}}
    answer = {"rows": [{"city": "Oslo", "state": "unknown"}, {"city": "", "state": "open"}], "note": "N/A"}
    assert unresolved(form, answer) == ["rows[2].city", "note"]
    assert unresolved(form, {"rows": [], "note": "0"}) == []


@given(st.integers(0, 10_000), st.sets(st.sampled_from(sorted(WHOLE))))
def test_the_best_object_holds_what_is_known_and_nothing_that_does_not_fit(seed: int, names: set[str]) -> None:
    fields = Fields.of(FORM)
    assert fields is not None
    values = {name: value_of(FORM["properties"][name], Random(f"{seed} {name}")) for name in sorted(names)}
    if values:
        fields.keep({"fields": values})
    best = fields.best({"people": "many", "other": 1})
    known = {name: value for name, value in values.items() if value is not None}
    assert (best is None) == (not known)
    if best is not None:
        assert known.items() <= best.items()
        lacking = {**FORM, "required": [name for name in FORM["required"] if name in best]}
        assert not value_faults(lacking, best)
