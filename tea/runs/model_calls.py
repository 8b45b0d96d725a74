"""ModelCalls: a request to a model, through a prompt, as one effect of a run."""

from __future__ import annotations

import asyncio
import marshal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tea.components.manifest import Manifest
from tea.components.port import Question
from tea.errors import BadOutput, BudgetExceeded, ProviderError, TeaError, error_from
from tea.journal.conversation import Chains
from tea.kernel.entry import JsonText, assembled, canonical, encode
from tea.kernel.pending import Inline
from tea.loop.shortlist import Fixed
from tea.models.config import ModelConfig
from tea.models.format import BYTES_PER_TOKEN, encoded
from tea.models.manager import CallTool
from tea.models.prices import dearest, known, worst_case
from tea.models.step_calls import by_record, callable_by_name, settled
from tea.prompts.manager import Prompt
from tea.refs import Ref
from tea.runs.answer import check_usable, printable, recorded, recorded_step
from tea.runs.budget import Attempts, BudgetAccount
from tea.runs.deps import RunContext
from tea.runs.media import TOKENS
from tea.runs.reservation import Estimate
from tea.types import (
    JsonObject,
    JsonValue,
    Message,
    ModelRequest,
    ModelResponse,
    Usage,
    as_object,
    changed,
    made,
)

Within = Callable[[str], CallTool]

FUNCTIONS = "functions"
_ENVELOPE = 12  # bytes that the widest format writes around each function, beside what it is shown with here
_FUNCTION = ("name", "description", "parameters")
_OTHERS = "fallback_prices"
_LOST = "lost"
_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opening:
    """A prompt rendered with variables: its messages, the functions on offer, and their sizes in bytes.

    `given` are the variables, which have to live as long as their `image` counts. `functions` is whether the model has
    functions, `shown` whether the words say what they are nonetheless.
    """

    prompt: Prompt
    given: JsonObject
    image: bytes
    messages: tuple[Message, ...]
    tools: tuple[dict[str, Any], ...]
    size: int
    size_of_tools: int
    functions: bool
    shown: bool


class ModelCalls:
    """The model calls of a run: prompts and configurations pinned at first touch, conversations short in the journal.

    Args:
        run: What the run holds.
    """

    def __init__(self, run: RunContext) -> None:
        self._gate, self._recorder, self._accounts = run.gate, run.recorder, run.accounts
        self._models, self._prompts, self._resolve = run.deps.models, run.deps.prompts, run.pins.resolve
        self._default = run.run_config.model
        self._media: dict[str, bytes] = {}
        self._chains = Chains()
        self._whole: dict[str, tuple[Manifest, Prompt]] = {}
        self._configs: dict[str, ModelConfig] = {}
        self.declared: dict[str, str] = {}  # the models that agents name themselves, by agent
        self._terms: dict[str, tuple[Mapping[str, float], bool]] = {}
        self._openings: dict[str, _Opening] = {}
        self._readings = run.readings

    async def ask(self, question: Question, agent: str, within: Within) -> ModelResponse:
        """Ask for `agent`; return the complete, validated answer, or for a step any answer as far as usable.

        Args:
            question: Its `output` stands in for the prompt's own schema.
            agent: Who asks.
            within: Gives what calls a tool inside the effect of a key.

        Raises:
            BadOutput: The answer to another question does not fit the schema; what it used is settled all the same.
            BudgetExceeded: There is no step left for it.
        """
        name, variables, history, model, output, tool_choice = question
        config, prompt = await self._prompt(name)
        self._readings.prompted(config)
        prompt = prompt if output is None else replace(prompt, output=output)
        chosen = await self._model(model or self._default, agent)
        opening = self._opening(prompt, variables, functions="tools" in chosen.capabilities)
        messages = (*opening.messages, *history)
        account = self._accounts.of(self._gate.path())
        held = account.reserve(self._estimate(chosen, messages, opening))
        ref = str(config.ref)
        fields = {  # of checked parts, which stay the very same from step to step
            "model": chosen.name,
            "prompt": ref,
            "variables": dict(variables),
            "messages": messages,
            "output": prompt.output,
            "tools": opening.tools,
            "shown": opening.shown,
            "tool_choice": tool_choice,
            "parallel": True,
            "max_output": held.max_output,
            "media": {},
            "solver": prompt.solver,
        }
        told = {"digest": f'"{config.digest}"', "prompt": f'"{ref}"', **self._chains.link(messages)}
        told |= {} if output is None else {"output": canonical(output)}
        told |= {} if tool_choice == "auto" else {"tool_choice": f'"{tool_choice}"'}
        asked = self._gate.effect(
            "model",
            f"model:{chosen.name}",
            assembled(told),
            partial(self._complete, made(ModelRequest, fields), prompt, Attempts(account, held), within),
        )
        try:
            answer = as_object(await asked)
        except TeaError:
            account.release(held)
            raise
        response = ModelResponse.model_validate(answer["response"])
        _pay_attempts(account, answer, agent)
        account.settle(held, response.usage, agent, response.answered_by or chosen.name)
        if answer["error"] is not None:
            error = error_from(answer["error"])
            if isinstance(error, BadOutput):
                error.said, error.whole = response.text, response.finish == "stop" and not response.unusable
            raise error
        return response

    async def facts(self, name: str | None, agent: str) -> JsonObject:
        """Return the facts about the model of `agent`; it is pinned as by a request.

        Raises:
            ProviderError: There is none of that name, or it cannot be used.
        """
        return (await self._model(name or self._default, agent)).facts()

    def change(self, model: str | None) -> None:
        """Release the pins of prompts, and change to another model if one is named."""
        self._whole.clear()
        self._default = model or self._default

    async def _complete(
        self, request: ModelRequest, prompt: Prompt, tries: Attempts, within: Within, key: str
    ) -> JsonValue:
        """Return the answer with the usage of failed attempts; without an answer, the last of them takes its place."""
        if self._chains.media:
            request = changed(request, media=await self._contents())
        lost, unknown = tries.held.lost, tries.held.unknown
        if self._gate.repeated(key):
            for _ in range(self._recorder.again(key)):
                tries.held.unheard()
        try:
            response = await self._models.complete(request, within(key), self._recorder.listener(key), tries)
            found = self._step(response, prompt, request) if by_record(request) else self._checked(response, prompt)
        except (BudgetExceeded, ProviderError) as error:
            if not lost and not unknown:
                raise
            none = ModelResponse(usage=Usage(usd=0.0), attempts=tuple(one.attempt for one in lost))
            if lost:
                *lost, last = lost
                none = changed(none, usage=last.usage, answered_by=last.attempt.model)
            found = recorded(none, error)
        told = [{"model": one.attempt.model, "usage": one.usage.model_dump(mode="json")} for one in lost]
        more = {name: value for name, value in ((_LOST, told), (_UNKNOWN, unknown)) if value}
        return JsonText(f"{found.text[:-1]},{encode(more)[1:]}") if more else found

    def _step(self, response: ModelResponse, prompt: Prompt, request: ModelRequest) -> JsonText:
        """Return the answer to a step, with an unusable response as its own kind of answer."""
        check, parse = (partial(do, prompt) for do in (self._prompts.check_output, self._prompts.parse_output))
        names = [str(one["name"]) for one in request.tools]
        found = settled(response, prompt.output or {}, check, parse, names)
        return recorded_step(found)

    def _checked(self, response: ModelResponse, prompt: Prompt) -> JsonText:
        try:
            check_usable(response)
            if response.output is not None:
                output = self._prompts.check_output(prompt, response.output)
            elif response.calls and prompt.output is not None:
                raise BadOutput(
                    "The answer calls a function, and none is offered.", fix="answer in the form asked for."
                )
            else:
                whole = response.finish != "length"
                output = None if response.calls else self._prompts.parse_output(prompt, response.text, whole=whole)
            return recorded(changed(response, output=output))
        except BadOutput as error:
            cut = BadOutput("The answer was cut off at its greatest length.", fix="answer more briefly.")
            told = cut if response.finish == "length" and not response.unusable else error
            unused = changed(response, output=None, calls=(), reasoning=(), text=printable(response.text))
            return recorded(unused, BadOutput(printable(told.problem), fix=told.fix))

    async def _contents(self) -> Mapping[str, bytes]:
        """Return the contents of the media parts shown by the run, read once."""
        trace = self._recorder.trace
        for digest in self._chains.media - self._media.keys():
            if trace is not None:
                self._media[digest] = await asyncio.to_thread(trace.blobs.get, digest)
        return self._media

    def _opening(self, prompt: Prompt, variables: JsonObject, *, functions: bool) -> _Opening:
        """Return the rendered prompt; the next step of a loop gets the identical messages.

        A prompt that asks for `functions` leaves out of its words what a model is told of as functions.

        Raises:
            BadArguments: A variable is missing, unknown or of the wrong type, or the template needs more of it.
        """
        found, given = self._openings.get(prompt.name), _image(variables)
        if found is None or found.prompt is not prompt or found.image != given or found.functions != functions:
            tools = offered(prompt, variables)
            told = functions and bool(tools) and FUNCTIONS in prompt.variables and callable_by_name(tools)
            messages = self._prompts.render(prompt, {**variables, FUNCTIONS: True} if told else variables)
            found = _Opening(
                prompt=prompt,
                given=dict(variables),
                image=given,
                messages=messages,
                tools=tools,
                size=_size(prompt.output),
                size_of_tools=_size(tools) + _ENVELOPE * len(tools),
                functions=functions,
                shown=not told,
            )
            self._openings[prompt.name] = found
        return found

    async def _prompt(self, name: str) -> tuple[Manifest, Prompt]:
        ref = Ref.parse(name, kind="prompt")
        while name not in self._whole:
            config = await self._resolve(ref)
            prompt = await self._prompts.resolve(self._prompts.parse(config.source), self._base)
            if await self._resolve(ref) is config:  # else a fork let go of it while its base was looked up
                self._whole[name] = (config, prompt)
        return self._whole[name]

    async def _base(self, name: str) -> Prompt:
        return self._prompts.parse((await self._resolve(Ref.parse(name, kind="prompt"))).source)

    async def _model(self, name: str | None, agent: str) -> ModelConfig:
        """Pin a configuration with its known prices and context; the calling agent may have a role of its own."""

        async def perform(key: str) -> JsonValue:
            chosen = self._models.config(name, agent, self.declared.get(agent, ""))
            first, *others = [await _priced(one) for one in self._models.chain(chosen)]
            found = first.to_json()
            return {**found, _OTHERS: {one.name: dict(one.prices) for one in others}} if others else found

        wanted = name or agent or "default"
        if wanted not in self._configs:
            config = as_object(await self._gate.effect("resolve", f"model:{wanted}", {}, perform, Inline.READ))
            others = as_object(config.get(_OTHERS, {}))
            chosen = ModelConfig(**{name: value for name, value in config.items() if name != _OTHERS})
            all_prices = (chosen.prices, *map(as_object, others.values()))
            unpriced = any(worst_case(one, 0, 0) is None for one in all_prices)
            self._terms.setdefault(chosen.name, (dearest(all_prices), unpriced))
            self._configs.setdefault(wanted, chosen)
        return self._configs[wanted]

    def _estimate(self, config: ModelConfig, messages: tuple[Message, ...], opening: _Opening) -> Estimate:
        """Return the estimated usage of a request; its bytes are counted generously, as tokens are the provider's."""
        if config.max_output is None:
            return Estimate()
        size = self._chains.size(messages) + opening.size
        if opening.functions or config.fallbacks:  # others read of them in the words
            size += opening.size_of_tools
        tokens = size // BYTES_PER_TOKEN + 1 + TOKENS * len(self._chains.media)
        prices, unpriced = self._terms[config.name]
        return Estimate(input_tokens=tokens, max_output=config.max_output, prices=prices, unpriced=unpriced)


def _pay_attempts(account: BudgetAccount, answer: JsonObject, agent: str) -> None:
    """Charge the failed attempts of an answer, and keep the reservations of those with unknown usage."""
    for one in answer.get(_UNKNOWN, ()):
        account.keep(*one)
    for one in answer.get(_LOST, ()):
        account.pay(Usage.model_validate(one["usage"]), agent, one["model"])


async def _priced(config: ModelConfig) -> ModelConfig:
    """Return a configuration with its known prices and context."""
    if config.max_output is None or (config.prices and (config.context or config.base_url)):
        return config
    return await known(config)


def offered(prompt: Prompt, variables: JsonObject) -> tuple[dict[str, Any], ...]:
    """Return the functions available to the calls of a prompt's answer, if it has calls.

    They stand by name, and what was added in the middle of a conversation stands behind them in the order of its
    coming: so the beginning of the next question is that of the last one.
    """
    if "calls" not in (prompt.output or {}).get("properties", {}):
        return ()
    first = [one for name in ("tools", "agents") for one in variables.get(name) or ()]
    shown = [*sorted(first, key=lambda one: str(one.get("name"))), *(variables.get("further") or ())]
    return tuple({name: one[name] for name in _FUNCTION} for one in shown if all(name in one for name in _FUNCTION))


def _size(value: Any) -> int:
    return len(encoded(value))


def _image(variables: JsonObject) -> bytes:
    """Return a cache key of variables, distinct for every value and type; that of plain data is cheap to compute.

    A `Fixed` one is told by which object it is, as long as that lives.

    Raises:
        BadArguments: They are not JSON.
    """
    told = {name: b"%d" % id(value) if type(value) is Fixed else value for name, value in variables.items()}
    try:
        return marshal.dumps(told, 0)
    except ValueError:
        return canonical(dict(variables)).encode()
