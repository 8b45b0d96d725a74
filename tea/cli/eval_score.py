"""`tea eval score`: scoring one answer."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from tea.cli.command import Command
from tea.cli.eval_run import JudgeOption, PromptOption, judging_option
from tea.errors import BadInput


async def eval_score(
    command: Command,
    scorer: Annotated[str, typer.Option("--scorer", help="Name of the scorer; `tea eval score --help` lists them.")],
    expected: Annotated[str, typer.Option("--expected", help="What is expected; lists as JSON.")],
    answer: Annotated[str | None, typer.Option("--answer", help="The answer; lists as JSON.")] = None,
    trace: Annotated[
        Path | None, typer.Option("--trace", help="A file of openai-chat messages, whose answer is scored.")
    ] = None,
    question: Annotated[str, typer.Option("--question", help="The task in words, for judges.")] = "",
    option: Annotated[
        list[str] | None, typer.Option("--option", metavar="NAME=VALUE", help="An option of the scorer; repeatable.")
    ] = None,
    judge_model: JudgeOption = None,
    judge_prompt: PromptOption = None,
) -> None:
    """Print the score of one answer: 1 or 0, or a share for scorers with partial credit.

    Scorers: exact, normalized, numeric, list, set, json, regex, code, judge, gaia, simpleqa, hle, gpqa, aime,
    browsecomp. Judges need a model; code runs in the sandbox.
    """
    from tea.evaluate.judge import judging_of
    from tea.evaluate.messages import read_answer
    from tea.evaluate.scoring import JUDGED, Helpers, Question, from_words, grade, require_expected, require_scorer

    require_scorer(scorer)
    if (answer is None) == (trace is None):
        raise BadInput("Exactly one of --answer and --trace is needed.", fix="give one of them.")
    judging = judging_option(judge_model, judge_prompt)
    if trace is not None:
        answer, question = await asyncio.to_thread(read_answer, trace, question)
    given, wanted = from_words(scorer, answer or "", expected)
    options = _options(option or ())
    require_expected(scorer, wanted, options)
    asked = Question(task=question, answer=given, expected=wanted, options=options)
    async with command.platform() as tea:
        judge = judging_of(tea, judging, [scorer]) if scorer in JUDGED else None
        found = await grade(scorer, asked, Helpers(judge=judge, sandbox=lambda: tea.sandboxes.terms("")))
    command.show(f"{found.score:g}", {"score": found.score, "why": found.why, "details": dict(found.details)})


def _options(texts: "list[str] | tuple[str, ...]") -> dict[str, Any]:
    from tea.errors import TeaError
    from tea.store.files import parse_json_strict

    found: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign:
            raise BadInput(f"--option {text[:60]!r} is not usable.", fix="write NAME=VALUE.")
        try:
            found[name] = parse_json_strict(value.encode(), "it")
        except TeaError:
            found[name] = value
    return found
