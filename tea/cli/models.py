"""`tea models`: the configured models, adding one, and testing them."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tea.cli.command import Command
from tea.cli.failure import most_of
from tea.cli.terminal import brief, table
from tea.errors import BadInput, ProviderError, TeaError, UnknownComponent, error_from

if TYPE_CHECKING:
    from tea.components.manifest import Manifest
    from tea.models.config import ModelConfig
    from tea.platform import Platform
    from tea.protocols.manager import ContextManager
    from tea.types import JsonObject, Response

_ACTIONS = ("ls", "add", "test")
_FOLDS = "recent, restart or summary."
_PATIENCE = 10.0
_TEST = {"attempts": 1, "attempt_seconds": 60.0}
_QUESTION = "Answer with the single word ok."
_FEW_TOKENS = 1024

PriceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--price",
        metavar="NAME=USD",
        help="US dollars per million tokens: input, output, cached, written; repeatable.",
    ),
]
LimitOption = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=NUMBER",
        help="concurrency, requests_per_minute, attempts, attempt_seconds, seconds; repeatable.",
    ),
]
SenseOption = Annotated[
    list[str] | None,
    typer.Option(
        "--sense", help="What it takes beside text: vision, audio, files (PDF); repeatable. Else its preset's."
    ),
]


async def models(
    command: Command,
    action: Annotated[str, typer.Argument(metavar="[ls|add|test]", help="What to do.")] = "ls",
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Which configuration.")] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset", help="Where it starts: openai, anthropic, gemini, openrouter, ollama, vllm, llamacpp."
        ),
    ] = None,
    provider: Annotated[
        str | None, typer.Option("--provider", help="openai_chat, openai_responses or anthropic_messages.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="The provider's id of the model.")] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", help="Where it is reached.")] = None,
    key_env: Annotated[
        str | None, typer.Option("--key-env", help="Names of variables that hold keys, divided by commas.")
    ] = None,
    fallback: Annotated[list[str] | None, typer.Option("--fallback", help="Who answers instead; repeatable.")] = None,
    price: PriceOption = None,
    limit: LimitOption = None,
    sense: SenseOption = None,
    context: Annotated[int | None, typer.Option("--context", help="Most tokens of a question with its answer.")] = None,
    fold: Annotated[str | None, typer.Option("--fold", help="What stays of a long history: " + _FOLDS)] = None,
    reason: Annotated[str, typer.Option("--reason", help="Why, for the history.")] = "",
) -> int | None:
    """List the models, add one to the registry, or test one.

    A key is never given here: name the environment variable, or the line of .env, that holds it.
    """
    given = {"preset": preset, "provider": provider, "model": model, "base_url": base_url, "key_env": key_env}
    given |= {"context": context, "fold": fold}
    stated: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    lists = {
        "fallbacks": fallback,
        "senses": sense,
        "prices": _numbers("--price", price),
        "limits": _numbers("--limit", limit),
    }
    stated |= {key: value for key, value in lists.items() if value}
    if action not in _ACTIONS:
        raise BadInput(f"`tea models` has no action {action[:40]!r}.", fix=f"actions are {', '.join(_ACTIONS)}.")
    if action != "add" and stated:
        raise BadInput(f"`tea models {action}` does not take {next(iter(stated))}.", fix="only `add` does.")
    async with command.platform() as tea:
        if action == "ls":
            _list(command, tea, name)
            return None
        if action == "add":
            return await _add(command, tea, name, stated, reason)
        return await _test(command, tea, name)


def _numbers(flag: str, texts: Sequence[str] | None) -> dict[str, float]:
    """Return numbers by their names, from `NAME=NUMBER` each.

    Raises:
        BadInput: One is of another form, or named twice.
    """
    found: dict[str, float] = {}
    for text in texts or ():
        name, _, number = text.partition("=")
        try:
            value = float(number)
        except ValueError:
            raise BadInput(f"{flag} {text[:80]!r} is not usable.", fix="write NAME=NUMBER.") from None
        if name in found:
            raise BadInput(f"{flag} names {name[:80]!r} twice.", fix="name it once.")
        found[name] = value
    return found


async def reach(tea: "Platform") -> dict[str, str]:
    """Return as text, for each configured model, whether it is reachable; no request is sent or paid for."""

    async def one(name: str) -> str:
        try:
            async with asyncio.timeout(_PATIENCE):
                return await tea.models.probe(name)
        except TimeoutError:
            return f"does not answer within {_PATIENCE:g} s"
        except TeaError as error:
            return str(error)

    names = [config.name for config in tea.models.list()]
    return dict(zip(names, map(tea.mask.plain, await asyncio.gather(*map(one, names))), strict=True))


def astray(tea: "Platform") -> list[str]:
    """Return a line for the default model and each role if it names an unconfigured model."""
    named = {
        "The default": tea.models.chosen,
        **{f"The role {role!r}": name for role, name in tea.models.roles.items()},
    }
    return [
        f"{who} is the model {name!r}, which is not configured; see `tea models ls`."
        for who, name in named.items()
        if name and not tea.models.knows(name.partition("/")[0])
    ]


def _list(command: Command, tea: "Platform", name: str | None) -> None:
    found = [_facts(tea, config) for config in tea.models.list() if name in (None, config.name)]
    if not found:
        raise BadInput(f"There is no model {str(name)[:80]!r}.", fix="`tea models ls` shows those that there are.")
    rows = [
        (
            "*" if one["default"] else "-",
            one["name"],
            one["provider"],
            one["model"] or "-",
            one["keys"],
            one["takes"],
            one["for"],
        )
        for one in found
    ]
    command.show(table(rows), {"models": found})


def _facts(tea: "Platform", config: "ModelConfig") -> dict[str, Any]:
    set_keys = [name for name in config.keys if tea.keys(name)]
    missing = "no key set" if config.keys else "needs no key"
    roles = sorted(role for role, name in tea.models.roles.items() if name == config.name)
    return {
        **config.to_json(),
        "default": config.name == tea.models.default,
        "roles": roles,
        "keys": f"key in {', '.join(set_keys)}" if set_keys else missing,
        "takes": ", ".join(("text", *config.senses)) if config.provider != "offline" else "-",
        "for": f"for {', '.join(roles)}" if roles else "",
    }


async def _add(command: Command, tea: "Platform", name: str | None, stated: dict[str, Any], reason: str) -> int | None:
    from tea.models.config import OFFLINE
    from tea.models.presets import configured

    if name is None:
        raise BadInput("The new model has no name.", fix="write `tea models add NAME --preset ...`.")
    config = configured(name, stated)
    for other in config.fallbacks:
        if not tea.models.knows(other.partition("/")[0]):
            problem = f"There is no model {other[:80]!r} to fall back to."
            raise BadInput(problem, fix="add it first; see `tea models ls`.")
    library, before = tea.libraries["model"], tea.models.default
    there = await _present(library, name)
    store = library.register if there is None else partial(library.update, name)
    registered = await store(config, reason=reason)
    unchanged = there is not None and there.version == registered.version
    words = f"{registered.ref} is unchanged" if unchanged else f"registered {registered.ref}"
    command.show(words, {"ref": str(registered.ref), "model": config.to_json(), "unchanged": unchanged})
    if config.keys and not any(map(tea.keys, config.keys)) and not command.as_json:
        command.tell(f"set {' or '.join(config.keys)} in the environment, or in .env of the home.")
    first = min(one.name for one in await library.list())  # of the registry's; see `ModelManager.default`
    if first == name != before != OFFLINE and not (tea.settings.model or tea.settings.models):
        command.tell(f"{name!r} is the default now, no longer {before!r}; `model` in tea.toml chooses another.")
    return None


async def _present(library: "ContextManager", name: str) -> "Manifest | None":
    try:
        return await library.info(name)
    except UnknownComponent:
        return None


async def _test(command: Command, tea: "Platform", name: str | None) -> int:
    """Send one model, or all configured ones, one short request; it costs a few tokens."""
    names: Sequence[str] = [name] if name else [one.name for one in tea.models.list() if one.provider != "offline"]
    if not names:
        raise ProviderError("No model is configured.", fix="set a key such as OPENAI_API_KEY, or `tea models add`.")
    found = tea.mask.data(await asyncio.gather(*(_asked(tea, one) for one in names)))
    rows = [(one["name"], brief(one["said"], max(500, most_of(one["said"])))) for one in found]
    command.show(table(rows), {"models": found})
    return next((error_from(one["error"]).exit_code for one in found if not one["ok"]), 0)


async def _no_tool(ref: str, arguments: "JsonObject") -> "Response":
    raise ProviderError(f"{ref[:80]} can be called only inside a run.", fix="test another model.")


async def _asked(tea: "Platform", name: str) -> dict[str, Any]:
    from tea.types import Message, ModelRequest, TextPart

    question = Message(role="user", content=(TextPart(text=_QUESTION),))
    begun = time.monotonic()
    try:
        config = tea.models.config(name)  # asked once, and itself: neither patience nor a fallback hides what is wrong
        if config.provider == "offline":
            return {"name": name, "ok": True, "said": "is not a model: solvers answer what they can, without any"}
        tea.connect(replace(config, fallbacks=(), limits={**_TEST, **config.limits, "attempts": 1}))
        answer = await tea.models.complete(
            ModelRequest(model=name, messages=(question,), max_output=_FEW_TOKENS), _no_tool
        )
    except TeaError as error:
        return {"name": name, "ok": False, "said": str(error), "error": error.record()}
    seconds = time.monotonic() - begun
    tokens = answer.usage.input_tokens + answer.usage.output_tokens
    price = "price unknown" if answer.usage.usd is None else f"${answer.usage.usd:.6f}"
    said = f"{answer.model} answers {brief(answer.text, 60)!r} in {seconds:.1f} s, {tokens} tokens, {price}"
    return {"name": name, "ok": True, "said": said, "model": answer.model, "usage": answer.usage.model_dump()}
