"""Fitting: the arguments of a call are checked before a person is asked about it."""

from __future__ import annotations

from tea.components.manifest import is_recipe
from tea.components.operation import InProcess
from tea.errors import BadArguments, BadInput, CallFailed, RegistryError
from tea.runs.call import CallRequest
from tea.runs.pins import Pins
from tea.untrusted.schemas import check_arguments


async def misfit(pins: Pins, call: CallRequest) -> BadArguments | None:
    """Return the error of arguments that do not fit their operation; None if they do, or a recipe completes them.

    Args:
        pins: Gives the definition, to check as the execution does.
        call: The call.
    """
    if is_recipe(call.config.source):
        return None
    try:
        operation = (await pins.definition(call.config)).operations[call.operation]
        if isinstance(operation.executor, InProcess):
            operation.executor.validated(call.arguments)
        else:
            check_arguments(operation.signature, call.arguments, str(call.config.ref))
    except BadArguments as error:
        return error
    except (RegistryError, BadInput, CallFailed):  # its execution reports the reason
        return None
    return None
