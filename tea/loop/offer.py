"""Offer: the functions first shown to a model: those called for by the agent's task, within limits."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import zip_longest
from pathlib import PurePath

from tea.components.context import Context
from tea.loop.capability import Capability
from tea.loop.ledger import FUNCTIONS
from tea.loop.naming import file_names, is_addressed, possibly_changed, to_be_written
from tea.loop.shortlist import MOST_SCHEMAS, MOST_TOKENS, ranked, within_limits
from tea.types import EVERY, JsonObject, Task

DONE = "done"
OTHER_ENDS = ("final_answer", "finish", "submit_answer")  # its names in other libraries
CONFIDENCE = "confidence"
SURE: JsonObject = {
    "type": "integer",
    "minimum": 0,
    "maximum": 100,
    "description": "How sure you are that the answer is right; below 50 for a guess.",
}
BOOKKEEPING = (DONE, "todo")
OPEN_SKILL = "open_skill"
FIRST = (*BOOKKEEPING, OPEN_SKILL)
MOST_OFFERED = MOST_SCHEMAS - len(FUNCTIONS)
SMALL_TOKENS = 1_800  # of functions offered for a small task without files
MOST_FURTHER = 8
FURTHER_TOKENS = 1_000  # of what is offered of the registry beside an agent's own
LEAST_MADE = 0.75  # of a tool made for another task that fits this one
MANY_FILES = 3
LONG_TASK = 500  # characters
MANY_LINES = 4
_LEAST_WORD, _LONG_WORD = 4, 6
_WORD = re.compile(r"[^\W_]+")
_ADDRESSES = "http"  # stands among endings of files for an address in the task
_ADDRESS = re.compile(r"https?://|\bwww\.|\w\.[a-z]{2,}/\w|\w:\d{2,5}/\w", re.IGNORECASE)
_WHOLE_ADDRESS = re.compile(r"\b(?:https?://|www\.)\S+", re.IGNORECASE)
_WORLD = "web"  # stands there for a task without files that asks about the world, or says that it does
_ASKED = re.compile(
    r"\b(?:who|whom|whose|when|where|which|latest|newest|recent(?:ly)?|news|current(?:ly)?|today|nowadays|look up"
    r"|find out|online|internet|web|sources?|published|released|wer|wann|wo|welche[rsmn]?|qui|quand|quién|cuándo)\b"
    r"|[？吗]|(?<!\d)(?:19|20)\d\d(?!\d)",
    re.IGNORECASE,
)
_LOCAL = "local"  # stands there for a task about documents of the operator
_CORPUS = re.compile(
    r"\bcorpus\b|\b(?:local|indexed|(?:my|our)(?: own)?) (?:document|file|folder|note|paper|report|source)s?\b",
    re.IGNORECASE,
)
_SAVED = re.compile(r"\b(?:add|append|create|export|make|output|produce|save|store|write|schreib\w*|speicher\w*)\b")
_DRAWN = re.compile(
    r"\b(?:charts?|plots?|plotted|graphs?|histograms?|diagrams?|diagramme?n?|schaubild\w*|graphiques?|gr\u00e1ficos?)\b",
    re.IGNORECASE,
)
_CODELESS = "codeless"  # stands there for a task of any kind where no code can run
_NOT = "-"  # stands before an ending that another function is for
_PAGES = "pages"  # stands there for a task of doing something on a page with an address
_DONE_THERE = re.compile(
    r"\b(?:(?:(?<=[.!?:]\s)|\A)book(?=\s)|book (?:an?|for|me|my|the)|button|buy|click|fill|form|log ?in|menu|press"
    r"|reserve|scroll|select|sign ?(?:in|up)|submit|subscribe|tab|anklick\w*|ausfüll\w*|buchen?|drück\w*|füll\w*"
    r"|formular\w*|klick\w*|knopf|reservier\w*|schaltfläche)(?:e?s|ed|ing)?\b",
    re.IGNORECASE,
)


def is_large(task: Task) -> bool:
    """Return whether a task seems to have several parts: a plan, notes and other agents can help with it."""
    return len(task.files) >= MANY_FILES or len(task.text) >= LONG_TASK or task.text.count("\n") + 1 >= MANY_LINES


def is_called_for(capability: Capability, task: Task, *, corpus: bool = False, coding: bool = False) -> bool:
    """Return whether a task calls for a function: by its words, its files, or its size.

    Args:
        capability: The function.
        task: The task.
        corpus: Whether there are documents of the operator to search.
        coding: Whether code can run.
    """
    if _is_named(capability, task.text):
        return True
    if capability.kind == "agent":
        if capability.files and _has_files(capability.files, task, corpus):
            return True
        return is_large(task) and (_speaks_of(capability.topics, task.text) or not (task.files or capability.sandboxed))
    if capability.kind == "environment":
        others = {name for name in file_names(task.text) if name not in task.files}
        written = to_be_written(task.text)
        if capability.codes and _DRAWN.search(task.text):
            return True
        saved = others or possibly_changed(task.text, task.files)
        return not capability.reads and bool(
            others - written or (saved and _SAVED.search(capability.name.replace("_", " ")))
        )
    if _CODELESS in capability.files:
        return not coding
    return not capability.files or _has_files(capability.files, task, corpus)


async def offered(
    ctx: Context, task: Task, found: Sequence[Capability], *, in_order: bool, tokens: int = MOST_TOKENS
) -> set[str]:
    """Return the names of the functions within the limits of an offer.

    What a task cannot do without goes first, code among it, then agents. Of actions and tools that are too many, those
    nearest to the task take turns, so that neither crowd the others out.

    Args:
        ctx: What the agent may reach.
        task: What it works on.
        found: What it may call.
        in_order: Whether its tools stand in order already, the nearest first.
        tokens: Most tokens, estimated from above.
    """
    first = [one for one in found if one.name in FIRST or one.codes]
    agents = [one for one in found if one.kind == "agent"]
    actions = [one for one in found if one.kind == "environment" and not one.codes]
    tools = [one for one in found if one.kind == "tool" and one.name not in FIRST]
    chosen = within_limits([*first, *agents, *actions, *tools], Capability.words, MOST_OFFERED, tokens)
    if len(chosen) < len(found):
        actions = await _in_order(ctx, task, actions)
        tools = tools if in_order else await _in_order(ctx, task, tools)
        turns = [one for pair in zip_longest(actions, tools) for one in pair if one is not None]
        chosen = within_limits([*first, *agents, *turns], Capability.words, MOST_OFFERED, tokens)
    return {one.name for one in chosen}


async def called_for(
    ctx: Context, task: Task, found: Sequence[Capability], own: Collection[str], kept: Collection[str]
) -> list[Capability]:
    """Return the functions a task calls for, the kept ones, and those of the registry fitting beside an agent's own.

    A tool that another run made for its own task has to fit this one, too, by its words apart from numbers and codes,
    which are arguments.
    """
    coding = any(one.codes for one in found)
    wanted = [one for one in found if one.name in kept or is_called_for(one, task, corpus=ctx.corpus, coding=coding)]
    nearby = [one for one in wanted if one.kind == "tool" and one.name not in (*own, *kept)]
    made = {one.name: one.text for one in nearby if one.made}
    query = " ".join(word for word in task.text.split() if not any(map(str.isdigit, word)))
    fitting = await ranked(ctx.tcp, made, query, MOST_FURTHER, least=LEAST_MADE)
    fit = [one for one in nearby if not one.made or one.name in fitting]
    beside = within_limits(fit, Capability.words, MOST_FURTHER, FURTHER_TOKENS)
    return [*(one for one in wanted if one not in nearby), *beside]


def allowed(tools: Sequence[str], wanted: Sequence[str] | None, also: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the tools allowed to an agent with `tools` if the task names `wanted`.

    A task's own list replaces the agent's, except for what agents need to do their work at all; with `*` it adds to it,
    and so does what the task names with `also`.
    """
    own = tools if wanted is None or EVERY in wanted else [name for name in tools if name in BOOKKEEPING]
    chosen = (*(wanted or ()), *also, *own)
    return tuple(dict.fromkeys((*chosen, DONE)))


async def _in_order(ctx: Context, task: Task, found: Sequence[Capability]) -> list[Capability]:
    """Return the functions nearest to a task, the nearest first, at most as many as an offer may contain."""
    known = {one.name: one for one in found}
    texts = {name: one.text for name, one in known.items()}
    return [known[name] for name in await ranked(ctx.tcp, texts, task.text, MOST_SCHEMAS)]


def _is_named(one: Capability, text: str) -> bool:
    """Return whether a text contains the words of a name, in almost any form: `report` for `reporter`.

    A single word of several is too common: a `page` of a book needs nothing fetched. Of an agent the first one does, as
    what it works on: `tool` for `tool_generator`; where that is a thing as well, as a browser or computer is, the words
    around decide, and no other form counts, as `compute`, unless its topics name it. Of an action any does, as `bash`,
    but those for saving, which most tasks of writing hold; they count with the name of a file.
    """
    said = {word for word in _words(text) if len(word) >= _LEAST_WORD}
    parts = [part for part in _words(one.name) if len(part) >= _LEAST_WORD]
    named = [any(_are_alike(part, word) for word in said) for part in parts]
    if one.kind == "environment":
        return any(is_said and not _SAVED.search(part) for part, is_said in zip(parts, named, strict=True))
    if one.sandboxed and parts[:1] and (parts[0] in said or (one.topics and parts[0] not in one.topics)):
        return is_addressed(parts[0], text) or (len(parts) > 1 and all(named))
    return all(named[:1] if one.kind == "agent" else named) and bool(named)


def _speaks_of(topics: Sequence[str], text: str) -> bool:
    """Return whether a text contains one of some topics, in almost any form; True without topics.

    A much shorter word is not a form of it: a `desk` is not a `desktop`.
    """
    said = {word for word in _words(text) if len(word) >= _LEAST_WORD}
    return not topics or any(_are_alike(one, word) for one in topics for word in said if len(word) >= len(one) - 1)


def _are_alike(one: str, other: str) -> bool:
    short = min(len(one), len(other))
    least = short - (short >= _LONG_WORD)
    return one[:least] == other[:least]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _inputs(task: Task) -> list[str]:
    """Return the files named by a task, without those to be written."""
    written = to_be_written(task.text)
    return [name for name in file_names(task.text) if name not in written]


def _asks_corpus(task: Task) -> bool:
    """Return whether a task names documents of the operator, or a file neither given nor to be made."""
    if _CORPUS.search(task.text):
        return True
    others = {name for name in file_names(task.text) if name not in task.files}
    return bool(others - to_be_written(task.text))


def _has_files(endings: Sequence[str], task: Task, corpus: bool) -> bool:
    """Return whether a task has or names a file with one of the endings, or an address; a bare name matches each."""
    if _ADDRESSES in endings:
        return bool(_ADDRESS.search(task.text))
    if _PAGES in endings and _ADDRESS.search(task.text) and _DONE_THERE.search(_WHOLE_ADDRESS.sub(" ", task.text)):
        return True
    if _LOCAL in endings and corpus and _asks_corpus(task):
        return True
    inputs = [*task.files, *_inputs(task)]
    if _WORLD in endings:
        return not inputs and _ASKED.search(task.text) is not None
    there = [PurePath(name).suffix[1:].casefold() for name in inputs]
    others = [ending for ending in there if f"{_NOT}{ending}" not in endings]
    return any(not ending or EVERY in endings or ending in endings for ending in others)
