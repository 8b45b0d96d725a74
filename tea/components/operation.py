"""Operations: a function's signature as data for a model, and the call of the function.

The signature gives the schema, the docstring the words and the examples.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Annotated, Any, Literal, Protocol, cast

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, PydanticJsonSchemaWarning
from pydantic_core.core_schema import FrozenSetSchema, SetSchema
from typing_extensions import override

from tea.characters import on_one_line, path_in_sentence
from tea.components.annotations import read_hints
from tea.components.context import Context
from tea.components.docstring import Docstring, cleaned, read_docstring
from tea.components.fastpath import PlainParameters, is_plain, strict_json, strict_object
from tea.components.naming import name_hint
from tea.components.nested_names import MemberNames, Unknown, holds_names
from tea.components.schema_words import TypeWords
from tea.errors import BadArguments, BadComponent, CallFailed, TeaError, ToolError, sole_error, words_of
from tea.threads import Threads
from tea.types import Effects, JsonObject, JsonSchema, JsonValue

Function = Callable[..., Any]
FOR_PROGRAMS = "For programs:"  # begins the words of a parameter that models are not shown
_MOST_PARAMETERS = 600  # characters
_MOST_GIVEN = 40  # characters of a value in the words of a fault
_MOST_REASONS = 3
_MOST_TYPE = 80  # characters of one of them
_KNOWN = sys.stdlib_module_names | {"pydantic", "tea", "typing_extensions"}
_MADE_BY_PYTHON = ("enum", "typed-dict")  # schemas of classes without code of their own in making a value


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A call with its result, exactly as written in the docstring."""

    call: str
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """The declared traits of an operation; every default is the worst case.

    Args:
        effects: `reads`, `writes` (the workspace), `external` (beyond it) or `irreversible`.
        idempotent: Whether calling twice equals calling once.
        scope: Whether it reaches outside only through its context, so that a replay runs it again.
        concurrent: Whether an environment may run it beside its other actions.
        network: Whether it needs the network.
        secrets: Names of the secrets it needs.
        before: What must hold before it is called, in words.
        after: What holds afterwards, in words.
        check: What tells of a call that a crash interrupted: given its arguments, what it gave, or null where it never
            happened. For an action another action of its environment, for a tool another tool; without one a person
            is asked.
        returns_untrusted: Whether its outcome holds words of others, which may mislead a reader. By default the worst:
            it does where it needs the network, and else where the files and the state that it works on do.
        destinations: Names of the arguments that say where something goes, as an address or a recipient; `state.FIELD`
            names a field of the environment's state. Without it every argument that is an address is one.
        sandbox_network: Which of the operator's ways out of the sandbox it uses, `hosts` or `index`; see `opened`.
        declared: Whether `effects` was declared in so many words; the decorators set it. It promises nothing by itself,
            so it does not count where traits are compared.
    """

    effects: Effects = "irreversible"
    idempotent: bool = False
    scope: bool = False
    concurrent: bool = False
    network: bool = True
    secrets: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    check: str = ""
    returns_untrusted: bool | None = None
    destinations: tuple[str, ...] | None = None
    sandbox_network: Literal["", "hosts", "index"] = ""
    declared: bool = field(default=False, compare=False)

    def opened(self, ways: Collection[str]) -> Traits:
        """Return the traits in force after the operator opened ways out of the sandbox.

        With its way open an operation uses the network, and gives back words of others. Code with `hosts` decides
        itself what it sends there, so its effects are beyond the workspace.

        Args:
            ways: Names of the open ways.
        """
        if not self.sandbox_network or self.sandbox_network not in ways:
            return self
        sends = self.sandbox_network == "hosts" and self.effects in ("reads", "writes")
        effects: Effects = "external" if sends else self.effects
        return replace(self, effects=effects, network=True, returns_untrusted=True, destinations=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """An operation as data: all facts known without running its source.

    Args:
        parameters: JSON Schema of the arguments, an object.
        returns: JSON Schema of the result.
    """

    name: str
    description: str
    parameters: JsonSchema
    returns: JsonSchema
    examples: tuple[Example, ...] = ()
    traits: Traits = field(default_factory=Traits)

    def to_json(self) -> dict[str, Any]:
        """Return the signature as a JSON object."""
        data = {name: getattr(self, name) for name in Signature.__slots__}
        data["examples"] = [{name: getattr(one, name) for name in Example.__slots__} for one in self.examples]
        data["traits"] = {name: getattr(self.traits, name) for name in Traits.__slots__}
        return data


class Executor(Protocol):
    """An executor of validated calls: in process, in a sandbox, by a recipe or from a record."""

    async def __call__(self, receiver: object, arguments: JsonObject, context: Context | None) -> JsonValue:
        """Validate the arguments, do the work for `receiver`, and return the result as JSON."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A signature with its executor."""

    signature: Signature
    executor: Executor

    @classmethod
    def of(
        cls,
        function: Function,
        traits: Traits | None = None,
        *,
        method: bool = False,
        threads: Threads | None = None,
        known: Signature | None = None,
    ) -> Operation:
        """Read a function's signature and docstring.

        Args:
            function: A function with a docstring and a type hint on every parameter; a method has to be async.
            traits: What it declares of itself.
            method: Whether its first parameter is the instance.
            threads: Where it runs if it is not async; threads of its own by default.
            known: What was read of it before, which spares the docstring and the schemas; its traits do not count.

        Raises:
            BadComponent: The function is a method or a scope and not async, or lacks a docstring or a hint, or has a
                parameter that JSON cannot carry.
        """
        name, traits = function.__name__, traits or Traits()
        is_async = inspect.iscoroutinefunction(function)
        if not is_async and (method or traits.scope or not _is_sync(function)):
            raise BadComponent(f"{name!r} is not async.", fix=f"write `async def {name}(...)`.")
        threads = None if is_async else threads or Threads()
        if known is not None:
            executor = InProcess.of(function, {}, method=method, threads=threads, checked=True)
            return cls(signature=replace(known, traits=traits), executor=executor)
        doc, examples = _documented(function)
        executor = InProcess.of(function, doc.parameters, method=method, threads=threads)
        signature = Signature(
            name=name,
            description=doc.description,
            parameters=executor.parameters(),
            returns=executor.returns(),
            examples=examples,
            traits=traits,
        )
        return cls(signature=signature, executor=executor)


class Validators:
    """The validators of a function, built on first use, as most calls are of plain values and need none.

    Args:
        parameters: The parameters to validate, with their types.
        returned: The return annotation.
    """

    def __init__(self, parameters: list[inspect.Parameter], returned: Any) -> None:
        self._parameters, self._returned = parameters, returned

    @cached_property
    def arguments(self) -> TypeAdapter[dict[str, Any]]:
        """The validator of the arguments."""
        return _arguments(self._parameters)

    @cached_property
    def names(self) -> MemberNames | None:
        """The names of members in the arguments' types; None where no type has any."""
        schema = self.arguments.core_schema
        return MemberNames(schema) if holds_names(schema) else None

    @cached_property
    def result(self) -> TypeAdapter[tuple[Any]]:
        """The validator of the result, as the one member of a tuple: so NaN is seen inside of any type."""
        return adapter(tuple[self._returned], ConfigDict(ser_json_inf_nan="constants"))


@dataclass(frozen=True, slots=True, kw_only=True)
class InProcess:
    """An executor of functions in this process, validating through pydantic.

    Args:
        function: The function.
        validators: The validators of its arguments and result.
        plain: Knows which need no validating, None where all do.
        returned: Its return annotation.
        contexts: Its parameters that are given the context.
        method: Whether its first parameter is the instance.
        threads: Where it runs, None where it is async.
    """

    function: Function
    validators: Validators
    plain: PlainParameters | None
    returned: Any
    contexts: tuple[str, ...]
    method: bool
    threads: Threads | None = None

    @classmethod
    def of(
        cls,
        function: Function,
        words: Mapping[str, str | None],
        *,
        method: bool,
        threads: Threads | None,
        checked: bool = False,
    ) -> InProcess:
        """Return the executor of a function, with validators from its real signature; `checked` if they are sound."""
        hints = read_hints(function)
        parameters = list(inspect.signature(function).parameters.values())[1 if method else 0 :]
        for parameter in parameters:
            _check(parameter, hints, function.__name__)
        shown = [p for p in parameters if hints[p.name] is not Context]
        described = [_described(parameter, hints, words) for parameter in shown]
        returned = hints.get("return", Any)
        validators = Validators(described, returned)
        if not checked:
            _check_types(validators, function.__name__)
        contexts = tuple(p.name for p in parameters if hints[p.name] is Context)
        return cls(
            function=function,
            validators=validators,
            plain=PlainParameters.of(shown, hints),
            returned=returned,
            contexts=contexts,
            method=method,
            threads=threads,
        )

    def parameters(self) -> JsonSchema:
        """Return the JSON Schema of the arguments."""
        return _schema(lambda: self.validators.arguments.json_schema(schema_generator=_Claims), self.function.__name__)

    def returns(self) -> JsonSchema:
        """Return the JSON Schema of the result."""
        return _schema(lambda: adapter(self.returned).json_schema(mode="serialization"), self.function.__name__)

    async def __call__(self, receiver: object, arguments: JsonObject, context: Context | None) -> JsonValue:
        """Validate `arguments`, run the function, and return its result as JSON.

        Raises:
            BadArguments: They do not fit the schema.
            CallFailed: The function raised, or gave what its annotation does not promise.
            TeaError: The function says itself what is wrong.
        """
        valid = self.validated(arguments)
        if self.contexts:
            valid = {
                **valid,
                **dict.fromkeys(self.contexts, context if self.threads is None else _sync_context(context)),
            }
        try:
            if self.threads is not None:
                value = await self.threads.run(partial(self.function, **valid))
            else:
                value = await (self.function(receiver, **valid) if self.method else self.function(**valid))
        except (TeaError, TimeoutError, asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            if own := sole_error(error):
                raise own from error
            problem = f"{self.function.__name__!r} raised {_words(error)}."
            raise CallFailed(problem, fix="check the arguments, or its source.") from error
        if is_plain(value, self.returned):
            return value
        try:
            (value,) = self.validators.result.validator.validate_python((value,))
            (value,) = self.validators.result.serializer.to_python((value,), mode="json")
            strict_json(value)
        except (ValueError, TypeError, RecursionError) as error:
            problem = f"{self.function.__name__!r} gave what its annotation does not promise: {reasons(error)}."
            raise CallFailed(problem, fix="mend its return annotation or its source.") from error
        return value

    def validated(self, arguments: JsonObject) -> JsonObject:
        """Return arguments in the types of the function.

        Raises:
            BadArguments: They do not fit the schema.
        """
        if self.plain is not None and self.plain.fit(arguments):
            return arguments
        try:
            valid = self.validators.arguments.validator.validate_json(strict_object(arguments))
        except (ValueError, TypeError, RecursionError) as error:
            raise self._refused(reasons(error, given=True), arguments) from error
        if unknown := self._unknown(arguments):
            raise self._refused("; ".join(map(str, unknown[:_MOST_REASONS])), arguments)
        return valid

    def _unknown(self, arguments: JsonObject) -> list[Unknown]:
        """Return the names inside of arguments without a field of their type."""
        names = self.validators.names
        return [] if names is None else names.unknown(arguments)

    def _refused(self, why: str, arguments: JsonObject) -> BadArguments:
        schema = self.parameters()
        hint = name_hint(schema, arguments) or next((one.hint for one in self._unknown(arguments) if one.hint), "")
        problem = f"{self.function.__name__!r} got bad arguments: {why}."
        return BadArguments(problem, fix=f"{hint}{parameters_in_words(schema)}.")


def adapter(__kind: Any, __config: ConfigDict | None = None) -> TypeAdapter[Any]:
    """Return pydantic's adapter of a type, complete.

    Pydantic reads postponed annotations among the local variables of its caller, whose names no annotation has here,
    and completes an adapter among those of whoever uses it first, so it is completed here, among none. It reads texts
    outside of classes among the names of this file, which `JsonValue` needs.

    Raises:
        PydanticUserError: An annotation names what is not there, or pydantic knows no such type.
    """
    made: TypeAdapter[Any] = TypeAdapter(__kind, config=__config)
    if not made.pydantic_complete and not made.rebuild(raise_errors=False, _types_namespace={}):
        raise PydanticUserError("an annotation names what is not there", code="class-not-fully-defined")
    return made


class _Claims(GenerateJsonSchema):
    """A schema generator without unchecked claims about sets (duplicates count once) and without duplicate names."""

    @override
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    @override
    def set_schema(self, schema: SetSchema) -> JsonSchema:
        return _repeatable(super().set_schema(schema))

    @override
    def frozenset_schema(self, schema: FrozenSetSchema) -> JsonSchema:
        return _repeatable(super().frozenset_schema(schema))


class _NoPort:
    """The port of a sync function: raises ToolError on every use, as services have to be awaited."""

    def __getattr__(self, name: str) -> Any:
        raise ToolError("A sync function cannot use its context.", fix="write `async def`.")


def _sync_context(context: Context | None) -> Context | None:
    """Return the part of a context available to a sync function: the facts, and the paths of files."""
    nothing: Any = _NoPort()
    return None if context is None else replace(context, port=nothing, flow=nothing)


def _is_sync(function: Function) -> bool:
    """Return whether calling a function does its work, and returns its result."""
    inner = inspect.unwrap(function)
    return inspect.isfunction(inner) and not (
        inspect.iscoroutinefunction(inner) or inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner)
    )


def _repeatable(schema: JsonSchema) -> JsonSchema:
    return {key: value for key, value in schema.items() if key != "uniqueItems"}


def parameters_in_words(schema: JsonObject) -> str:
    """Return the parameters of a schema in one line: names, types, and the needed ones."""
    properties = cast("Mapping[str, JsonObject]", schema.get("properties", {}))
    needed, types = frozenset(cast("Sequence[str]", schema.get("required", ()))), TypeWords(schema)
    shown = [
        f"{name}{_kind(one, types)}{', needed' if name in needed else ''}"
        for name, one in properties.items()
        if not str(one.get("description", "")).startswith(FOR_PROGRAMS)
    ]
    return f"its parameters are {'; '.join(shown)}"[:_MOST_PARAMETERS] if shown else "it takes no parameters"


def _kind(schema: JsonObject, types: TypeWords) -> str:
    """Return the type of a parameter in brackets, its mere kind for a long one; empty for any value."""
    words = types.of(schema)
    words = words if len(words) <= _MOST_TYPE else str(schema.get("type", "any"))
    return "" if words == "any" else f" ({words})"


def reasons(error: BaseException, limit: int = 3, *, given: bool = False) -> str:
    """Return the reasons in a validation error, in one line.

    Args:
        error: The error.
        limit: Most reasons.
        given: Whether a wrong value is named beside the wanted one, a long one by its type.
    """
    return _listed_reasons(error, limit, lambda place: ".".join(map(str, place)), given=given)


def reasons_in_document(error: BaseException, limit: int = 3) -> str:
    """Return the reasons in an error about a document of others, in one line, with their names quoted unless plain."""
    return _listed_reasons(error, limit, path_in_sentence)


def _listed_reasons(
    error: BaseException, limit: int, placed: Callable[[tuple[int | str, ...]], str], *, given: bool = False
) -> str:
    if not isinstance(error, ValidationError):
        return words_of(error)
    told = error.errors(include_url=False)
    said = [f"{placed(e['loc']) or 'value'}: {e['msg']}{_given(e['type'], e['input']) if given else ''}" for e in told]
    found = [on_one_line(one)[:200] for one in said]
    more = f" and {len(found) - limit} more" if len(found) > limit else ""
    return "; ".join(found[:limit]) + more


def _given(kind: str, value: object) -> str:
    """Return the value behind a fault, empty if it is missing or unexpected."""
    if kind.startswith(("missing", "unexpected", "extra")):
        return ""
    if value is None or isinstance(value, bool):
        return f", not {'null' if value is None else str(value).lower()}"
    names: Mapping[type, str] = {dict: "an object", list: "a list", str: "a long text"}
    is_short = isinstance(value, float) or (isinstance(value, str | int) and _is_short(value))
    return f", not {repr(value) if is_short else names.get(type(value), 'another value')}"


def _is_short(value: str | int) -> bool:
    return len(value) <= _MOST_GIVEN if isinstance(value, str) else value.bit_length() <= 2 * _MOST_GIVEN


def _words(error: BaseException) -> str:
    """Return the class and the words of a foreign exception; those of a validation error stand below its first line."""
    return f"ValidationError: {reasons(error)}" if isinstance(error, ValidationError) else words_of(error)


def _check(parameter: inspect.Parameter, hints: Mapping[str, Any], name: str) -> None:
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
        problem = f"Parameter {parameter.name!r} of {name!r} cannot be given by name."
        raise BadComponent(problem, fix="use ordinary named parameters.")
    if parameter.name not in hints:
        problem = f"Parameter {parameter.name!r} of {name!r} has no type hint."
        raise BadComponent(problem, fix=f"annotate it, for example `{parameter.name}: str`.")


def _described(
    parameter: inspect.Parameter, hints: Mapping[str, Any], words: Mapping[str, str | None]
) -> inspect.Parameter:
    field = Field(description=words.get(parameter.name))
    return parameter.replace(annotation=Annotated[hints[parameter.name], field])


def _arguments(parameters: list[inspect.Parameter]) -> TypeAdapter[dict[str, Any]]:
    """Validate keyword arguments against a signature, with pydantic's public API only."""

    def collect(**arguments: Any) -> dict[str, Any]:
        return arguments

    named = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    collect.__signature__ = inspect.Signature(named)  # pyright: ignore[reportFunctionMemberAccess]
    collect.__annotations__ = {p.name: p.annotation for p in named}
    return adapter(collect, ConfigDict(strict=True, allow_inf_nan=False, validate_default=True))


def _check_types(validators: Validators, name: str) -> None:
    """Refuse types without a form in JSON, and defaults of the wrong type."""
    try:
        arguments, _ = validators.arguments, validators.result
    except (PydanticUserError, TypeError) as error:
        problem = f"{name!r} has a type that JSON cannot carry ({words_of(error)})."
        raise BadComponent(problem, fix="use JSON types, typed dicts, dataclasses or types of tea.") from error
    _check_defaults(arguments, name)


def _check_defaults(arguments: TypeAdapter[dict[str, Any]], name: str) -> None:
    """Refuse defaults of the wrong type: a call without arguments may miss some, but have no other errors.

    What is checked by functions is left to the calls: nothing of a source runs because it is described, and functions
    of libraries may import what a text names, or take very long.
    """
    if _runs_functions(arguments.core_schema):
        return
    try:
        arguments.validate_json("{}")
    except ValidationError as error:
        wrong = [e for e in error.errors(include_url=False) if not e["type"].startswith("missing")]
        if wrong:
            parameter, said = str(wrong[0]["loc"][0]), wrong[0]["msg"]
            problem = f"The default of {parameter!r} of {name!r} does not fit its type: {said}."
            raise BadComponent(problem, fix="mend the default or the type, for example `int | None = None`.") from error


def _runs_functions(schema: object) -> bool:
    """Return whether validating runs functions from elsewhere.

    A class from elsewhere counts: its values may be made, read, compared or hashed by methods of its own.
    """
    if isinstance(schema, Mapping):
        found = cast("Mapping[str, object]", schema)
        called = [found.get("default_factory"), found.get("function")]
        called += [cast("Mapping[str, object]", one).get("function") for one in called if isinstance(one, Mapping)]
        cls = None if found.get("type") in _MADE_BY_PYTHON else found.get("cls")
        foreign = isinstance(cls, type) and cls.__module__.partition(".")[0] not in _KNOWN
        foreign = foreign or any(callable(one) and getattr(one, "__module__", None) != __name__ for one in called)
        return foreign or any(map(_runs_functions, found.values()))
    return isinstance(schema, list | tuple) and any(map(_runs_functions, cast("Sequence[object]", schema)))


def _schema(build: Callable[[], JsonSchema], name: str) -> JsonSchema:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", PydanticJsonSchemaWarning)
            return build()
    except (PydanticUserError, PydanticJsonSchemaWarning) as error:
        problem = f"{name!r} has a type that JSON cannot carry ({words_of(error)})."
        raise BadComponent(problem, fix="use JSON types, typed dicts, dataclasses or types of tea.") from error


def _own_text(function: Function) -> str:
    """Return a function's docstring as it was written: its own, or that of the method it overrides."""
    if function.__doc__:
        return function.__doc__
    owner: object = sys.modules.get(function.__module__)
    for part in function.__qualname__.split(".")[:-1]:
        owner = getattr(owner, part, None)
    bases = inspect.getmro(owner) if isinstance(owner, type) else ()
    texts = (getattr(getattr(base, function.__name__, None), "__doc__", None) for base in bases)
    return next((text for text in texts if isinstance(text, str) and text), "")


def _documented(function: Function) -> tuple[Docstring, tuple[Example, ...]]:
    """Return a function's docstring, and the examples in it.

    Raises:
        BadComponent: It cannot be read, or there is none.
    """
    name = function.__name__
    try:
        doc = read_docstring(cleaned(_own_text(function)))
        examples = tuple(Example(call=call, result=result) for call, result in doc.examples)
    except ValueError as error:
        problem = f"The docstring of {name!r} cannot be read: {words_of(error)}."
        raise BadComponent(problem, fix="write Google docstring sections, and examples as `>>> call`.") from error
    if not doc.summary:
        raise BadComponent(f"{name!r} has no docstring.", fix="say in one sentence what it does.")
    return doc, examples
