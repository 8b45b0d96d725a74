"""The contract's facts on components made of documents: memories, models and solutions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping

from tea.components.manifest import Manifest
from tea.components.markdown import code
from tea.components.schema_words import as_object
from tea.errors import TeaError
from tea.memory.manager import MemoryConfig
from tea.models.config import ModelConfig
from tea.models.prices import list_prices
from tea.refs import Kind
from tea.registry.document import Solution, made_as

Facts = Iterator[tuple[str, str]]
_SHOWN = 300
_SEEN = {
    "session": "all events of the session",
    "agent": "the events of the session that the agent recorded itself",
    "task": "the events that the agent recorded itself for the same task",
}
_FOLDS = {
    "recent": "each step, and the recent results in full",
    "restart": "what its model wrote down of it",
    "summary": "a summary of it, and its last steps",
}
_LIMITS = {
    "concurrency": "calls at once",
    "requests_per_minute": "requests a minute",
    "attempts": "attempts",
    "attempt_seconds": "seconds an attempt",
    "seconds": "seconds in all",
}


def document_facts(found: Manifest) -> Facts:
    """Yield the facts of a document; none for another component, or an unreadable document."""
    say = _SAID.get(found.kind)
    try:
        yield from say(found.name, as_object(found.metadata.get(found.kind))) if say else ()
    except (TeaError, ValueError):  # a file of the registry may hold anything
        return


def _memory(name: str, own: dict[str, object]) -> Facts:
    memory = made_as(MemoryConfig)(name, own)
    yield "Sees", _SEEN[memory.scope]
    yield "Keeps", f"events of the kinds {_listed(memory.kinds)}, and sees no others" if memory.kinds else "all events"
    yield "A recall gives", f"{memory.limit} events at most"


def _model(name: str, own: dict[str, object]) -> Facts:
    model = ModelConfig.of(name, own)
    yield "Provider", code(model.provider)
    yield "Model", code(model.model) if model.model else "the first that its server lists"
    yield "Reached at", code(model.base_url) if model.base_url else "the provider's own address"
    yield "Its key stands in", _listed(model.keys) or "nothing: it needs none"
    yield "Beyond text it can", _listed(model.capabilities)
    yield "An answer has", f"{model.max_output} tokens at most" if model.max_output else ""
    yield "It reads and writes", f"{model.context:,} tokens in all at most" if model.context else ""
    yield "Of a longer conversation stays", _FOLDS[model.fold] if model.context or model.fold != "recent" else ""
    yield "Limits", ", ".join(f"{model.limits[key]:g} {words}" for key, words in _LIMITS.items() if key in model.limits)
    yield "US dollars per million tokens", _prices(model)
    yield "Where it fails, asked next", _listed(model.fallbacks)
    yield "Each request also says", _listed(sorted(model.options))


def _solution(name: str, own: dict[str, object]) -> Facts:
    solution = made_as(Solution)(name, own)
    yield "Task", solution.task
    yield "Comes from", f"the run {code(solution.run)}" if solution.run else "a person"
    said = solution.content if isinstance(solution.content, str) else json.dumps(solution.content, ensure_ascii=False)
    yield "Answer", said if len(said) <= _SHOWN else f"{said[:_SHOWN]}..."


def _prices(model: ModelConfig) -> str:
    """Return the prices of a model as text, as far as they are known."""
    stated, listed = model.prices, {} if model.prices else list_prices(model)
    words = ", ".join(f"{name} {value:g}" for name, value in {**stated, **listed}.items())
    return f"{words}, as the public list has it" if listed else words or "not known"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(code, names))


_SAID: Mapping[Kind, Callable[[str, dict[str, object]], Facts]] = {
    "memory": _memory,
    "model": _model,
    "solution": _solution,
}
