"""`tea call`: a call of one operation of a component."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from tea.cli.command import Command
from tea.cli.left_out import tell_left_out
from tea.cli.reference import CALLED, RefArgument, find
from tea.cli.terminal import answer_text
from tea.errors import BadArguments, BadInput, TeaError, error_from

if TYPE_CHECKING:
    from tea.types import Response


async def call(
    command: Command,
    ref: RefArgument,
    words: Annotated[list[str] | None, typer.Argument(metavar="[NAME=VALUE]...", help="Arguments by name.")] = None,
    arguments: Annotated[str | None, typer.Option("--args", help="All arguments as one JSON object.")] = None,
    session: Annotated[
        str | None, typer.Option("--session", help="The session whose environments and state it uses; else a new one.")
    ] = None,
) -> int:
    """Call one operation of a component, REF#OP.

    A tool's operation is `call`, an agent's `run`, an environment's its actions. A value is read as JSON where that
    fits the parameter, else as text. Calls with the same --session find what the earlier ones kept, and the state of
    environments that recover by snapshots; what others hold in memory ends with the command.
    """
    if words and arguments is not None:
        raise BadInput("Arguments were given twice.", fix="write NAME=VALUE, or --args JSON.")
    async with command.platform() as tea:
        library, found = await find(tea, ref, CALLED, upto="operation")
        server = {"tool": tea.tcp, "environment": tea.ecp, "agent": tea.acp}[found.kind]
        operation = server.operation(found)
        signature = (await library.info(found)).operation(operation)
        given = given_arguments(words or [], arguments, signature.parameters)
        tell_left_out(command, tea)
        return answered(command, await server.invoke(str(found), given, session=session))


def given_arguments(words: list[str], arguments: str | None, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of a call: those of `--args`, else those given by name."""
    return _from_json(arguments) if arguments is not None else _from_words(words, parameters)


def answered(command: Command, response: "Response") -> int:
    """Write the result of a call, and return the exit code."""
    from tea.types import AgentResponse

    data = response.model_dump(mode="json")
    if response.error is not None:
        error = error_from(response.error)
        return command.fail(BadInput(error.problem, fix=error.fix) if isinstance(error, BadArguments) else error, data)
    command.show(answer_text(response.value, sys.stdout), data)
    return 0 if not isinstance(response, AgentResponse) or response.result.ok else 1


def _from_json(text: str) -> Mapping[str, Any]:
    value = _json(text, "The text of --args")
    if not isinstance(value, dict):
        raise BadInput("The text of --args is not a JSON object.", fix="""write --args '{"name": "value"}'.""")
    return cast("dict[str, Any]", value)


def _from_words(words: list[str], parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for word in words:
        name, sign, text = word.partition("=")
        if not sign or not name.isidentifier():
            raise BadInput(f"{word[:80]!r} is not an argument.", fix="write NAME=VALUE, for example text=hello.")
        if name in found:
            raise BadInput(f"The argument {name!r} was given twice.", fix="give it once.")
        found[name] = _value(text, name, parameters)
    return found


def _value(text: str, name: str, parameters: Mapping[str, Any]) -> Any:
    """Return the JSON value in `text` if the parameter accepts it, else the text itself."""
    from tea.components.json_schema import schema_fault, value_faults

    schema = {**parameters.get("properties", {}).get(name, {}), "$defs": parameters.get("$defs", {})}
    if schema.get("type") == "string" or schema_fault(schema) is not None:  # what others sent may not be a schema
        return text
    try:
        value = _json(text, "The value")
    except TeaError:
        return text
    return text if value_faults(schema, value, 1) else value


def _json(text: str, what: str) -> Any:
    from tea.store.files import parse_json_strict

    return parse_json_strict(text.encode("utf-8", "surrogateescape"), what)
