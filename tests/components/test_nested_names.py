"""Test names inside of arguments: unknown ones are refused with their place, unless a type takes them."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
import pytest_asyncio
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, RootModel, TypeAdapter, model_validator
from typing_extensions import TypedDict

from tea.components.nested_names import MemberNames
from tea.components.operation import Function, Operation
from tea.errors import BadArguments
from tea.platform import Platform
from tea.testing import platform


class Line(BaseModel):
    name: str
    price: float = 1.0
    quantity: int = 1


class Invoice(BaseModel):
    lines: list[Line]


@dataclass
class Size:
    width: int = 1
    height: int = 1


class Place(TypedDict, total=False):
    city: str
    size: Size


class Loose(BaseModel):
    model_config = ConfigDict(extra="ignore")
    a: int = 1


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int = 1


class Reading(BaseModel):
    a: int = 1

    @model_validator(mode="before")
    @classmethod
    def renamed(cls, data: Any) -> Any:
        return {"a": data["b"]}


class Checked(BaseModel):
    a: int = 1

    @model_validator(mode="after")
    def same(self) -> "Checked":
        return self


class Aliased(BaseModel):
    a: int = Field(default=1, validation_alias=AliasChoices("first", "one"))


class Many(RootModel[list[Size]]):
    pass


@dataclass
class Left:
    child: "Left | Right | None" = None


@dataclass
class Right:
    child: "Left | Right | None" = None


@dataclass
class Tree:
    children: "list[Tree]" = field(default_factory=list["Tree"])


def taking(hint: Any) -> Function:
    async def take(value: Any) -> str:
        """Take a value."""
        return str(value)

    take.__annotations__["value"] = hint
    return take


def given(hint: Any, value: Any) -> Any:
    return asyncio.run(Operation.of(taking(hint)).executor(None, {"value": value}, None))


@pytest.mark.parametrize(
    ("hint", "value", "place", "meant"),
    [
        (Invoice, {"lines": [{"name": "pen"}, {"name": "pen", "qty": 3}]}, "value.lines.1.qty", "quantity"),
        (Size, {"widht": 3}, "value.widht", "width"),
        (Size | None, {"Height": 3}, "value.Height", "height"),
        (Place, {"size": {"heigth": 1}}, "value.size.heigth", "height"),
        (dict[str, Size], {"a": {"heigth": 1}}, "value.a.heigth", "height"),
        (tuple[int, Size], [1, {"heigth": 1}], "value.1.heigth", "height"),
        (Invoice | Size, {"lines": [{"name": "a", "prize": 2.0}]}, "value.lines.0.prize", "price"),
        (Checked, {"aa": 1}, "value.aa", "a"),
        (Aliased, {"frist": 2}, "value.frist", "first"),
        (Aliased, {"a": 2}, "value.a", ""),
        (Many, [{"widht": 3}], "value.0.widht", "width"),
        (Tree, {"children": [{"children": [{"childs": []}]}]}, "value.children.0.children.0.childs", "children"),
    ],  # pyright: ignore[reportUnknownArgumentType]
)
def test_an_unknown_name_is_refused_with_its_place(hint: Any, value: Any, place: str, meant: str) -> None:
    with pytest.raises(BadArguments) as refused:
        given(hint, value)
    assert f"{place}: Unexpected keyword argument" in refused.value.problem
    assert (f"did you mean {meant!r}? " in refused.value.fix) == bool(meant)


def test_a_name_left_out_is_refused_with_the_one_that_was_written() -> None:
    with pytest.raises(BadArguments) as refused:
        given(Invoice, {"lines": [{"nam": "pen"}]})
    assert "value.lines.0.name: Field required" in refused.value.problem
    assert "did you mean 'name'? " in refused.value.fix


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (Invoice, {"lines": [{"name": "pen", "quantity": 3}]}),
        (Loose, {"b": 1}),
        (Open, {"b": 1}),
        (Place, {"city": "Oslo", "country": "Norway"}),
        (Reading, {"b": 1}),
        (Aliased, {"one": 1}),
        (Invoice | Size, {"height": 1}),
        (Size | dict[str, int], {"c": 1}),
        (dict[str, Any], {"a": {"b": 1}}),
        (Any, {"a": {"b": 1}}),
    ],
)
def test_names_that_a_type_takes_are_known(hint: Any, value: Any) -> None:
    assert given(hint, value)


def test_choices_within_choices_take_no_time_without_end() -> None:
    names, value = MemberNames(TypeAdapter(Left | Right).core_schema), dict[str, Any]()
    for _ in range(60):
        value = {"child": value}
    begun = time.process_time()
    assert names.unknown(value) == []
    assert time.process_time() - begun < 3


@pytest_asyncio.fixture
async def tea() -> AsyncIterator[Platform]:
    async with platform() as tea:
        yield tea


async def total_invoice(invoice: Invoice) -> float:
    """Add up an invoice."""
    return sum(one.price * one.quantity for one in invoice.lines)


async def test_a_tool_called_with_an_unknown_name_gives_no_wrong_result(tea: Platform) -> None:
    await tea.tcp.register(total_invoice)
    line = {"name": "pen", "price": 2.5, "qty": 3}
    response = await tea.tcp.invoke("total_invoice", {"invoice": {"lines": [line]}})
    assert response.error is not None
    assert "invoice.lines.0.qty: Unexpected keyword argument" in response.error["problem"]
    assert response.error["fix"].startswith("did you mean 'quantity'? ")


class Order(BaseModel):
    item: str
    size: Literal["small", "large"]


async def price_orders(orders: list[Order]) -> int:
    """Price orders."""
    return len(orders)


@pytest.mark.parametrize("orders", [[{"item": "tea", "size": "huge"}], '[{"item": "tea", "size": "huge"}]'])
async def test_json_given_as_text_is_refused_for_what_it_holds(tea: Platform, orders: Any) -> None:
    await tea.tcp.register(price_orders)
    response = await tea.tcp.invoke("price_orders", {"orders": orders})
    assert response.error is not None
    assert "orders.0.size: Input should be 'small' or 'large'" in response.error["problem"]
