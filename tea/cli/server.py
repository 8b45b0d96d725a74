"""A model server named on the command line."""

from typing import TYPE_CHECKING, Annotated

import typer

from tea.errors import BadInput

if TYPE_CHECKING:
    from tea.platform import Platform

LOCAL = "local"
BaseUrlOption = Annotated[
    str | None, typer.Option("--base-url", help="A server that speaks Chat Completions; --model is a model there.")
]


def named(base_url: str | None, model: str | None) -> str | None:
    """Return the name of the model to use: of the server's configuration, if there is a server."""
    return model if base_url is None else LOCAL


def usable_model(tea: "Platform", base_url: str | None, model: str | None) -> str | None:
    """Make the server of `--base-url` available, if one is given, and return the name of the model to use.

    Args:
        tea: The platform of the command.
        base_url: Address of the server; None for what is configured.
        model: Of the server, its first if left out; else of what is configured.

    Raises:
        BadInput: The address is empty, or not an address.
    """
    if base_url is None:
        return model
    if not base_url:
        raise BadInput("--base-url is empty.", fix="name an address, or leave it out for what is configured.")
    from tea.models.presets import local

    tea.connect(local(LOCAL, base_url, "" if model in (None, LOCAL) else model or ""))
    return LOCAL
