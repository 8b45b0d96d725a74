"""Schemas of untrusted components: they bound input and output, and may be anything themselves."""

from __future__ import annotations

import json
from pathlib import PurePath

from tea.components.json_schema import schema_fault, value_faults, without_patterns
from tea.components.naming import argument_faults, name_hint
from tea.components.operation import Signature, parameters_in_words
from tea.errors import BadArguments, CallFailed
from tea.types import JsonObject, JsonSchema, JsonValue, Result

_MOST = 200_000  # characters of a schema as it is looked through


def check_arguments(signature: Signature, arguments: JsonObject, ref: str) -> None:
    """Check arguments against an operation's schema.

    Args:
        signature: The operation, as its manifest describes it.
        arguments: By name.
        ref: What is called, for the error.

    Raises:
        BadArguments: They do not fit; the schema's names and types are told as the component's words.
        CallFailed: The schema is not usable.
    """
    if faults := argument_faults(_usable(signature.parameters, ref), dict(arguments)):
        problem = f"{signature.name!r} got bad arguments: {'; '.join(faults)}."
        hint = name_hint(signature.parameters, arguments)
        raise BadArguments(problem, fix=f"{ref} says: {hint}{parameters_in_words(signature.parameters)}.")


def check_result(signature: Signature, value: JsonValue, ref: str) -> None:
    """Check a result against an operation's schema.

    Raises:
        CallFailed: It does not fit, or the schema is not usable.
    """
    if faults := value_faults(_usable(signature.returns, ref), value):
        problem = f"{ref} gave what its manifest does not promise: {'; '.join(faults)}."
        raise CallFailed(problem, fix="mend its return annotation or its source.")


def check_outcome(value: JsonValue, ref: str) -> None:
    """Check the result of an agent's task, in addition to its own schema.

    Raises:
        CallFailed: It is not a result, hands the conversation over, or names a report outside of the workspace.
    """
    try:
        result = Result.model_validate_json(json.dumps(value))
    except ValueError as error:
        raise CallFailed(f"{ref} gave something other than a result.", fix="let it return a `Result`.") from error
    if result.handoff is not None:  # the next agent would act in the name of the person
        raise CallFailed(f"{ref} is not trusted, so it cannot hand over.", fix="let it call the other agent.")
    report = PurePath(result.report or "")
    if report.is_absolute() or ".." in report.parts:
        raise CallFailed(f"{ref} names a report outside of the workspace.", fix="let it name a file inside.")


def _usable(schema: JsonSchema, ref: str) -> JsonSchema:
    """Return a schema without patterns; the worker matches them."""
    if len(str(schema)) > _MOST:
        raise CallFailed(f"{ref} has a schema that is too long.", fix="mend its annotations.")
    found = without_patterns(schema)
    if (fault := schema_fault(found)) is not None:
        raise CallFailed(f"{ref} has a schema that cannot be used: {fault}.", fix="mend its annotations.")
    return found
