"""`tea inbox`: the unanswered questions of runs to a person."""

import sys
from shlex import quote
from textwrap import indent
from typing import TYPE_CHECKING, Annotated

import typer

from tea.characters import argument_lines, in_sentence
from tea.cli.command import Command
from tea.cli.terminal import SENDER, brief, excerpt, folded, one_line, review
from tea.refs import speaker

if TYPE_CHECKING:
    from tea.journal.inbox import Question

DECISIONS = ("approve", "reject")
DECIDE = "approve, or 'reject: ' and what shall be otherwise"
_WORDS = 110
_DEEPER = " " * 4
_ASKED = f"{_DEEPER}| "  # before words of others, none of whose lines looks like one that tea adds, as the command


async def inbox(
    command: Command,
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help='One run alone: its id, a unique beginning of it, or "last".')
    ] = None,
) -> None:
    """List the questions waiting for a person's answer, and the command for answering each.

    A run that could not ask anybody waits, until the command below its question answers it.
    """
    async with command.platform() as tea:
        found = await tea.inbox(run)
    command.show(_text(found.questions, command.at) or "No question waits for an answer.", found.to_json())
    if not command.as_json:
        for problem in found.problems:
            command.tell(one_line(problem, 250))


def _text(questions: "tuple[Question, ...]", home: str) -> str:
    """Return the questions as text, those of a run below its task."""
    lines: list[str] = []
    run = ""
    for one in questions:
        if one.run != run:
            run = one.run
            lines.append(f"run {run}  {one_line(one.task, _WORDS)}")
        plan = f"tea research answer {one.run}{review(home)} --key {quote(one.key)} {DECIDE}"
        lines += question_lines(one, plan if asks_for_plan(one) else f"{one_line(one.command)}{review(home)}")
    return "\n".join(lines)


def asks_for_plan(one: "Question") -> bool:
    """Return whether a question is about the plan of a clarification; any agent may ask in the same words."""
    return one.agent == "research_clarify" and one.choices == DECISIONS


def question_lines(one: "Question", command: str) -> list[str]:
    """Return an open question as lines: its asker, and for a call the digest and arguments.

    No line of it looks like another question, or its digest, arguments or command.

    Args:
        one: The question.
        command: The line that answers it, in review form.
    """
    from tea.journal.mask import hidden_values

    whole = f"`tea inbox {one.run} --json` shows all"
    who = one_line(speaker(one.agent)) or ("tea" if one.own and one.call else "a component")
    lines = [f"  {one.key}  {who} asks, since {one_line(one.asked)}{'' if one.own else SENDER}"]
    lines.append(_deeper(excerpt(review(one.question), whole), _ASKED))
    given = argument_lines(one.arguments) if one.call else ""
    if one.call:
        caller = f"agent:{one_line(one.agent)} calls it. " if one.agent else ""
        lines.append(_deeper(f"{caller}Its digest is {brief(in_sentence(one.digest), _WORDS)}."))
        lines.append(_deeper(f"arguments:\n{indent(excerpt(given, whole), '  ')}"))
    unseen = hidden_values("\n".join((one.question, given, *one.choices)))
    lines += filter(None, [_deeper(excerpt(review(unseen), whole))])
    if one.choices:
        further = " / text in place of its result" if one.call else ""
        lines.append(_deeper(f"choices: {excerpt(' / '.join(map(one_line, one.choices)), whole)}{further}"))
    return [*lines, f"{_DEEPER}{command}"]


def _deeper(text: str, before: str = _DEEPER) -> str:
    """Return text of others further in; no row of it looks like a line of tea's own."""
    return indent(folded(text, sys.stdout, len(before)), before, bool)
