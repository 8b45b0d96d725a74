"""Test the compiled half of pydantic in plain Python against the real one: same values, same faults, same JSON."""

import json
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

import pytest
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    Tag,
    TypeAdapter,
    ValidationError,
    computed_field,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import SchemaSerializer, SchemaValidator
from typing_extensions import TypedDict

from tea.untrusted import portable


class Colour(Enum):
    """Two colours."""

    RED = "red"
    BLUE = 2


class Leaf(BaseModel):
    """A model with bounds, an alias and a validator."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    name: str = Field(min_length=2, max_length=5)
    size: int = Field(1, ge=0, lt=100, alias="Size")
    tags: list[str] = Field(default_factory=list)

    @field_validator("name")
    @classmethod
    def _lower(cls, value: str) -> str:
        if value == "bad":
            raise ValueError("no such name")
        return value.lower()


class Tree(BaseModel):
    """A model holding others of its kind."""

    leaf: Leaf | None = None
    below: list["Tree"] = []
    seen: datetime | None = None

    @model_validator(mode="after")
    def _whole(self) -> "Tree":
        assert len(self.below) < 3, "too many"
        return self

    @computed_field
    @property
    def depth(self) -> int:
        """Return how many are above each other."""
        return 1 + max((one.depth for one in self.below), default=0)

    @field_serializer("seen")
    def _day(self, value: datetime | None) -> str | None:
        return None if value is None else value.date().isoformat()


class Open(BaseModel):
    """A model keeping unknown members."""

    model_config = ConfigDict(extra="allow", strict=True)

    a: int

    @model_serializer(mode="wrap")
    def _sparse(self, whole: Any) -> dict[str, Any]:
        return {"open": whole(self)}


class Names(RootModel[dict[str, int]]):
    """A dictionary as a model."""


class Pair(NamedTuple):
    """Two values."""

    first: int
    second: str = "x"


class Row(TypedDict, total=False):
    """A dictionary with known members."""

    a: int
    b: list[float]


@dataclass
class Point:
    """A dataclass."""

    x: int
    y: float = 0.5


class Cat(BaseModel):
    """One kind."""

    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    """Another kind."""

    kind: Literal["dog"]
    tricks: tuple[str, ...] = ()


def _kind(value: Any) -> Any:
    return "text" if isinstance(value, str) else "number" if isinstance(value, int) else None


TYPES: list[Any] = [
    bool, int, float, str, bytes, None, Any, Decimal, UUID, date, datetime, time, timedelta, Colour,
    Literal["a", 1, None], list[int], list[Any], tuple[int, str], tuple[int, ...], set[int], frozenset[str],
    dict[str, int], dict[int, list[str]], int | None, int | str, float | int | bool, list[int] | dict[str, str],
    list[str] | list[int], Leaf | Point, Cat | Dog, Leaf, Tree, Open, Names, Pair, Row, Point,
    Annotated[int, Field(gt=3, le=10, multiple_of=2)], Annotated[str, Field(pattern="^a+$")],
    Annotated[list[int], Field(min_length=1, max_length=2)], Annotated[float, Field(allow_inf_nan=False)],
    Annotated[Decimal, Field(max_digits=4, decimal_places=2)], Annotated[str, AfterValidator(str.upper)],
    Annotated[int, BeforeValidator(lambda value: len(value) if isinstance(value, str) else value)],
    Annotated[Cat | Dog, Field(discriminator="kind")],
    Annotated[Annotated[str, Tag("text")] | Annotated[int, Tag("number")], Discriminator(_kind)],
]  # fmt: skip
VALUES: list[Any] = [
    None, True, 0, 1, -3, 4, 2**70, 1.0, 2.5, 1e300, "", "a", "aaa", "1", " 7 ", "1.5", "yes", "bad", "Red", "red",
    "2020-02-03", "2020-02-03T04:05:06", "2020-02-03T04:05:06.5+02:00", "04:05", "P1DT2H", "-PT3.5S", "1 day, 01:00:00",
    "12345678-1234-5678-1234-567812345678", "12.345", "123.45", "nan", [], [1], [1, 2, 3], ["a", "b"], [1, "a"], [[1]],
    ["1", 2], {}, {"a": 1}, {"a": "x"}, {"1": ["a"]}, {"a": 1, "b": [1, 2.5]}, {"x": 1}, {"x": "1", "y": 2},
    {"name": "Ab"}, {"name": "bad"}, {"name": "A"}, {"name": "abc", "Size": "5", "tags": ["t"]},
    {"name": "abc", "size": 500, "more": 1}, {"leaf": {"name": "abc"}, "below": [{}, {"below": [{}]}]},
    {"below": [{}, {}, {}]}, {"below": [{"leaf": {}}]}, {"seen": "2020-02-03T00:00:00Z"}, {"first": 1, "second": "y"},
    [1, "y"], {"kind": "cat"}, {"kind": "dog", "tricks": ["sit"]}, {"kind": "cow"}, {"lives": 3}, {"a": 1, "z": [2]},
]  # fmt: skip
OF_PYTHON: list[Any] = [
    (1, "a"), {1, 2}, frozenset({"a"}), Decimal("1.50"), date(2020, 2, 3), datetime(2020, 2, 3), time(4, 5),
    timedelta(hours=2), UUID(int=5), Point(1), float("inf"), 10**400, range(3), object,
    Pair(1),
]  # fmt: skip


def _found(validate: Any, errors: type[Exception]) -> Any:
    """Return the value with its types, or the places of the errors."""
    try:
        value = validate()
    except ValueError as error:
        wrong: Any = error
        if not isinstance(error, errors):  # what a type of Python itself does not take
            return ["()"]
        return sorted(str(one["loc"]) for one in wrong.errors(include_url=False))
    value = value.normalize() if isinstance(value, Decimal) else value
    return type(value).__name__, repr(value)


@pytest.mark.parametrize("kind", TYPES, ids=range(len(TYPES)))
@pytest.mark.parametrize("strict", [None, True])
def test_values_are_taken_and_refused_as_the_compiled_half_does(kind: Any, strict: bool | None) -> None:
    adapter = TypeAdapter(kind)
    real = adapter.validator
    assert isinstance(real, SchemaValidator)
    ours = portable.SchemaValidator(adapter.core_schema)
    for value in [*VALUES, *OF_PYTHON]:
        wanted = _found(lambda value=value: real.validate_python(value, strict=strict), ValidationError)
        found = _found(lambda value=value: ours.validate_python(value, strict=strict), portable.ValidationError)
        assert found == wanted, f"{value!r} as Python"
    for value in VALUES:
        text = json.dumps(value)
        wanted = _found(lambda text=text: real.validate_json(text, strict=strict), ValidationError)
        found = _found(lambda text=text: ours.validate_json(text, strict=strict), portable.ValidationError)
        assert found == wanted, f"{text} as JSON"


@pytest.mark.parametrize("kind", TYPES, ids=range(len(TYPES)))
def test_values_are_written_as_the_compiled_half_does(kind: Any) -> None:
    adapter = TypeAdapter(kind)
    real = adapter.serializer
    assert isinstance(real, SchemaSerializer)
    ours = portable.SchemaSerializer(adapter.core_schema)
    for given in VALUES:
        try:
            value = adapter.validate_python(given)
        except ValidationError:
            continue
        assert repr(ours.to_python(value)) == repr(real.to_python(value))
        assert repr(ours.to_python(value, mode="json")) == repr(real.to_python(value, mode="json"))
        assert json.loads(ours.to_json(value)) == json.loads(real.to_json(value))
