"""Documents: components made of one JSON object, read and never executed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Generic, TypeVar, cast

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from tea.components.operation import reasons_in_document
from tea.errors import BadComponent, BadInput, TeaError
from tea.refs import Kind, check_name
from tea.source.text import SourceText, refusal
from tea.store.strict import Refused, as_json_object, dumps, loads
from tea.types import JsonObject, JsonValue

SOURCE_LIMIT = 4 * 2**20
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The solution of a task, kept for improvement or reuse.

    Args:
        task: The task in words.
        content: The answer: text or any JSON.
        run: Id of the run that it came from, empty where a person wrote it.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    name: str
    task: Annotated[str, Field(min_length=1)]
    content: Any
    run: str = ""


class DocumentManager(Generic[T]):
    """A reader of one kind's documents: `name`, `description`, `metadata`, `evolvable`, and the kind's own fields.

    Args:
        kind: The kind.
        make: Makes what a document means from its name and the fields of its kind; raises TeaError.
    """

    def __init__(self, kind: Kind, make: Callable[[str, JsonObject], T]) -> None:
        self._kind: Kind = kind
        self._make = make

    def parse(self, source: str) -> T:
        """Return a document's parsed value.

        Raises:
            BadComponent: It is not a usable document of this kind.
        """
        return self._read(source)[1]

    def text(self, source: str) -> SourceText:
        """Return a checked document with its description and facts.

        Raises:
            BadComponent: It is not a usable document of this kind.
        """
        common, _, own = self._read(source)
        return SourceText(
            kind=self._kind,
            name=common.name,
            source=source,
            description=common.description,
            metadata={**common.metadata, self._kind: dict(own)},
            evolvable=common.evolvable,
        )

    def source(self, what: object) -> str:
        """Return the document of a JSON object, or of a value from `parse`.

        Raises:
            BadComponent: It is neither.
        """
        if is_dataclass(what) and not isinstance(what, type):
            found = asdict(what)
            what = {one.name: found[one.name] for one in fields(what)}
        if not isinstance(what, Mapping):
            raise BadComponent(
                f"A {self._kind} cannot be of type {type(what).__name__}.", fix="give a JSON object, or a file."
            )
        try:
            return dumps(dict(cast("JsonObject", what)), indent=2).decode() + "\n"
        except Refused as error:
            raise BadComponent(f"The {self._kind} is not JSON: {error}.", fix="use plain data.") from error

    def _read(self, source: str) -> tuple[_Common, T, JsonObject]:
        try:
            data = source.encode()
            if len(data) > SOURCE_LIMIT:
                raise Refused(f"it is larger than {SOURCE_LIMIT:,} bytes")
            given = as_json_object(loads(data))
        except (Refused, UnicodeEncodeError) as error:
            raise refusal(f"The {self._kind} cannot be read: {error}.", "correct the document.") from error
        own: dict[str, JsonValue] = {key: value for key, value in given.items() if key not in _COMMON}
        try:
            common: _Common = _reader(_Common).validate_json(
                dumps({key: given[key] for key in given if key in _COMMON})
            )
            check_name(common.name)
            if common.kind not in (None, self._kind):
                raise BadInput(f"The {self._kind} states another kind, {common.kind}.", fix="leave `kind` out.")
            if self._kind in common.metadata:
                problem = (
                    f"The metadata of the {self._kind} have a key {self._kind!r}, which is reserved for its own fields."
                )
                raise BadInput(problem, fix="choose another key.")
            return common, self._make(common.name, own), own
        except ValidationError as error:
            raise refusal(
                f"The {self._kind} is not usable: {reasons_in_document(error, 2)}.", "correct the document."
            ) from error
        except TeaError as error:
            raise refusal(error.problem, error.fix) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Common:
    """The common fields of every document."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    name: str
    description: str = ""
    kind: str | None = None
    metadata: Mapping[str, Any] = Field(default_factory=dict[str, Any])  # pyright: ignore[reportAssignmentType]
    evolvable: bool = True


_COMMON = frozenset(one.name for one in fields(_Common))


def made_as(shape: type[T]) -> Callable[[str, JsonObject], T]:
    """Return a function building a shape from a name and fields, by pydantic."""
    return lambda name, own: _reader(shape).validate_json(dumps({**own, "name": name}))


@cache
def _reader(shape: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(shape)
