"""Asking: a question to a model, through a prompt, as one effect of a run."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

from tea.errors import BadOutput, error_from
from tea.managers.model import CallTool, ModelManager
from tea.managers.prompt import Prompt, PromptManager
from tea.manifest import Manifest
from tea.refs import Ref
from tea.runtime.budget import Purse
from tea.runtime.conversation import Chains
from tea.runtime.gate import Gate
from tea.types import JsonObject, JsonValue, Message, ModelRequest, ModelResponse, as_object

Resolve = Callable[[Ref], Awaitable[Manifest]]
Within = Callable[[str], CallTool]


class Asking:
    """Pins prompts and model configurations at first touch, and keeps conversations short in the journal.

    Args:
        gate: The run's boundary.
        models: The configurations and adapters.
        prompts: Renders prompts and checks answers.
        purse: The run's budget.
        resolve: Pins a component.
        within: Gives what calls a tool inside the effect of that key.
        default: Name of the run's model configuration, None for the platform's.
    """

    def __init__(
        self,
        gate: Gate,
        models: ModelManager,
        prompts: PromptManager,
        purse: Purse,
        resolve: Resolve,
        within: Within,
        default: str | None,
    ) -> None:
        self._gate, self._models, self._prompts, self._purse = gate, models, prompts, purse
        self._resolve, self._within, self._default = resolve, within, default
        self._chains = Chains()
        self._whole: dict[str, tuple[Manifest, Prompt]] = {}
        self._names: dict[str, str] = {}

    async def ask(
        self, name: str, variables: JsonObject, history: tuple[Message, ...], model: str | None
    ) -> ModelResponse:
        """Ask and return the complete, validated answer.

        Raises:
            BadOutput: The answer does not fit the prompt's schema; what it used is settled all the same.
            BudgetExceeded: There is no step left for it.
        """
        config, prompt = await self._prompt(name)
        opening = self._prompts.render(prompt, variables)
        chosen = await self._model(model or self._default)
        self._purse.reserve()
        request = ModelRequest(
            model=chosen,
            prompt=str(config.ref),
            variables=dict(variables),
            messages=opening + history,
            output=prompt.output,
            solver=prompt.solver,
        )

        async def perform(key: str) -> JsonValue:
            return await self._complete(request, prompt, key)

        data = {"prompt": str(config.ref), "digest": config.digest, **self._chains.link(request.messages)}
        answer = as_object(await self._gate.effect("model", f"model:{chosen}", data, perform))
        response = ModelResponse.model_validate(answer["response"])
        self._purse.spent.add(response.usage)
        if answer["error"] is not None:
            raise error_from(answer["error"])
        return response

    async def _complete(self, request: ModelRequest, prompt: Prompt, key: str) -> JsonValue:
        response = await self._models.complete(request, self._within(key))
        try:
            _check_text(response)
            if response.output is not None:
                output = self._prompts.check_output(prompt, response.output)
            else:
                output = None if response.calls else self._prompts.parse_output(prompt, response.text)
        except BadOutput as error:
            unused = response.model_copy(update={"output": None, "calls": (), "text": _printable(response.text)})
            return {"response": unused.model_dump(mode="json"), "error": error.record()}
        checked = response.model_copy(update={"output": output})
        return {"response": checked.model_dump(mode="json"), "error": None}

    async def _prompt(self, name: str) -> tuple[Manifest, Prompt]:
        if name not in self._whole:
            config = await self._resolve(Ref.parse(name, kind="prompt"))
            prompt = await self._prompts.resolve(self._prompts.parse(config.source), self._base)
            self._whole[name] = (config, prompt)
        return self._whole[name]

    async def _base(self, name: str) -> Prompt:
        return self._prompts.parse((await self._resolve(Ref.parse(name, kind="prompt"))).source)

    async def _model(self, name: str | None) -> str:
        async def perform(key: str) -> JsonValue:
            return self._models.config(name).to_json()

        wanted = name or "default"
        if wanted not in self._names:
            config = as_object(await self._gate.effect("resolve", f"model:{wanted}", {}, perform))
            self._names.setdefault(wanted, str(config["name"]))
        return self._names[wanted]


def _check_text(response: ModelResponse) -> None:
    """Refuse half of a surrogate pair: it stands for no character, and nothing could record it."""
    try:
        json.dumps([response.text, response.output, [c.arguments for c in response.calls]], ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise BadOutput("The answer holds half of a character (a lone surrogate).", fix="answer in text.") from error


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
