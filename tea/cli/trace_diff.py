"""`tea trace diff`: two runs side by side."""

import asyncio
import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tea.cli.command import Command
from tea.cli.ending import cost_words
from tea.cli.fields import fields, items
from tea.cli.terminal import brief, one_line, table
from tea.cli.tree import plain_name

if TYPE_CHECKING:
    from tea.journal.compare import Comparison, Effect, Side

_WIDTH, _WORDS, _STEPS = 60, 200, 20


async def trace_diff(
    command: Command,
    a: Annotated[str, typer.Argument(metavar="A", help='A run: its id, a unique beginning of it, or "last".')],
    b: Annotated[str, typer.Argument(metavar="B", help="Another.")],
) -> None:
    """Compare two runs: their components, their first difference, their steps, answers and costs."""
    from tea.journal.compare import compare
    from tea.journal.form import understood

    async with command.platform() as tea:
        names = [await asyncio.to_thread(tea.tracer.find, one) for one in (a, b)]
        with understood(" or ".join(names)):
            found = await asyncio.to_thread(lambda: compare(*(list(tea.tracer.records(one)) for one in names)))
    command.show(_text(found), found.to_json())


def _text(found: "Comparison") -> str:
    rows = [
        ("", "A", "B"),
        *zip(("run", "task", "status", "answer", "cost"), _side(found.a), _side(found.b), strict=True),
    ]
    rows += [(f"uses {one.what}", _version(one.a), _version(one.b)) for one in found.pins]
    parts = [table(rows)]
    if found.first is None:
        parts.append(f"All {found.a.effects} effects are the same.")
    else:
        parts.append("first difference:")
        parts += [f"  {name}: {_effect(one)}" for name, one in zip("AB", found.first, strict=True)]
    parts.append(f"steps: {found.same_steps} the same, {len(found.steps)} not")
    for one in found.steps[:_STEPS]:
        parts += [f"  {one_line(one.what)}", f"    A: {_step(one.a)}", f"    B: {_step(one.b)}"]
    if len(found.steps) > _STEPS:
        parts.append(f"  ({len(found.steps) - _STEPS} more, with --json)")
    return "\n".join(parts)


def _side(one: "Side") -> tuple[str, ...]:
    from tea.runs.budget import Spent

    answer = one.answer if one.answer not in (None, "") else one.reason
    cost = cost_words(Spent(**one.cost)) if one.cost else "-"
    return one.run, _said(one.task, _WIDTH), one.status, _said(answer, _WIDTH), cost


def _version(value: Any) -> str:
    return "not used" if value is None else ", ".join(one.partition("@")[2] or one for one in str(value).split(", "))


def _effect(one: "Effect | None") -> str:
    if one is None:
        return "nothing more"
    asked = fields(one.asked)
    given = asked.get("arguments", asked.get("messages", one.asked))
    who = f" by {one.agent}" if one.agent else ""
    what = f"record {one.seq}, {one.key}{who}: {one.kind} {one.target}".rstrip(" ")
    return one_line(f"{what} {_said(given, _WORDS)} -> {_said(one.gave, _WORDS)}", 2 * _WORDS)


def _step(value: Any) -> str:
    if value is None:
        return "-"
    calls = ", ".join(f"{one.get('name')}({_said(one.get('arguments'), _WIDTH)})" for one in items(value.get("calls")))
    goal = value.get("next_goal") or value.get("thinking") or ""
    return one_line(f"{plain_name(value.get('agent'))}: {goal} {calls}", _WORDS)


def _said(value: Any, limit: int) -> str:
    return brief(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str), limit)
