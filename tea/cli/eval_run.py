"""`tea eval`: measuring an agent on a task set."""

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tea.cli.budget import read_budget
from tea.cli.command import Command
from tea.cli.left_out import tell_left_out
from tea.cli.run import AllowOption, ToolOption, UseOption, WithoutOption
from tea.cli.task_input import read_uses, separate
from tea.cli.terminal import one_line, remove_in_time, write
from tea.errors import BadInput, Interrupted

if TYPE_CHECKING:
    from tea.evaluate.evaluation import Evaluation, ScoredRun
    from tea.evaluate.judge import Judging
    from tea.evaluate.plan import Plan
    from tea.evaluate.task_set import TaskSet

_LAYOUTS = """Read SET as the files of a benchmark, as their licence lets you have them; nothing is downloaded:
gaia, the folder with metadata.jsonl and its attachments; simpleqa, simple_qa_test_set.csv; hle, a .jsonl with its
fields; gpqa, gpqa_diamond.csv; aime, a .jsonl or .csv with Problem and Answer; browsecomp, browse_comp_test_set.csv."""

JudgeOption = Annotated[
    str | None, typer.Option("--judge-model", help="Which model judges: a configuration, or provider/model.")
]
PromptOption = Annotated[
    Path | None,
    typer.Option("--judge-prompt", help="A file of words for the judge, with {question}, {criterion} and {answer}."),
]
SetArgument = Annotated[
    str | None, typer.Argument(metavar="SET", help="A JSONL file or folder of tasks, or a benchmark's files.")
]
BenchmarkOption = Annotated[str | None, typer.Option("--benchmark", metavar="NAME", help=_LAYOUTS)]
AgentOption = Annotated[str | None, typer.Option("--agent", help="Who works on the tasks: the planner if left out.")]
ModelOption = Annotated[str | None, typer.Option("--model", help="Which model answers.")]
EpochsOption = Annotated[int, typer.Option("--epochs", min=1, help="How often each task is run.")]
ConcurrencyOption = Annotated[int, typer.Option("--concurrency", min=1, help="How many runs go on at once.")]
LimitOption = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first tasks.")]
TagOption = Annotated[list[str] | None, typer.Option("--tag", help="Only tasks with this tag; repeatable.")]
SplitOption = Annotated[
    str | None, typer.Option("--split", help="Only this part: as tasks say, else train, gate or locked.")
]
LevelOption = Annotated[str | None, typer.Option("--level", help="Only this level of GAIA.")]
SeedOption = Annotated[int | None, typer.Option("--seed", help="Decides the order of the choices of GPQA, else 0.")]
StepsOption = Annotated[int | None, typer.Option("--max-steps", help="Most model calls of a run.")]
TokensOption = Annotated[int | None, typer.Option("--max-tokens", help="Most tokens of a run.")]
CostOption = Annotated[float | None, typer.Option("--max-cost", help="Most US dollars of a run.")]
SecondsOption = Annotated[float | None, typer.Option("--timeout", help="Most seconds of a run.")]
LabelOption = Annotated[str, typer.Option("--label", help="What it is called in tables.")]
SeriesOption = Annotated[str, typer.Option("--series", help="Fresh runs, apart from those of other series.")]
RetryOption = Annotated[bool, typer.Option("--retry", help="Run again what a provider or this machine made fail.")]
BudgetOption = Annotated[
    str | None, typer.Option("--budget", help="When to stop for now, for example usd=2,runs=200,tokens=1000000.")
]
OutOption = Annotated[Path | None, typer.Option("--out", help="A folder for copies of the results.")]
LogOption = Annotated[
    Path | None, typer.Option("--inspect-log", help="Write a log for inspect_ai too: a new .json file.")
]
SchemaOption = Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of a task, and nothing else.")]


async def eval_run(
    command: Command,
    tasks: SetArgument = None,
    benchmark: BenchmarkOption = None,
    agent: AgentOption = None,
    model: ModelOption = None,
    use: UseOption = None,
    without: WithoutOption = None,
    tool: ToolOption = None,
    allow: AllowOption = None,
    epochs: EpochsOption = 1,
    concurrency: ConcurrencyOption = 8,
    limit: LimitOption = None,
    tag: TagOption = None,
    split: SplitOption = None,
    level: LevelOption = None,
    seed: SeedOption = None,
    max_steps: StepsOption = None,
    max_tokens: TokensOption = None,
    max_cost: CostOption = None,
    seconds: SecondsOption = None,
    judge_model: JudgeOption = None,
    judge_prompt: PromptOption = None,
    label: LabelOption = "",
    series: SeriesOption = "",
    retry: RetryOption = False,
    budget: BudgetOption = None,
    out: OutOption = None,
    inspect_log: LogOption = None,
    schema: SchemaOption = False,
) -> int | None:
    """Measure an agent on a task set: each task is an ordinary run, and failed runs count.

    The score comes with a 95 % interval over clusters, cost, tokens, time and failures by kind, as a whole and by tag.
    Interrupted, it goes on where it stopped; what was measured before is not run again. `tea eval diff A B` compares,
    `tea eval score` scores one answer, `tea eval list` and `tea eval table` show what was measured.

    A line of a set: {"task": "...", "expected": "...", "scorer": "normalized", "files": [], "tags": [], "split": ""}.
    """
    if schema or tasks is None:
        return _schema(command, wanted=schema)
    options = {"benchmark": benchmark, "level": level, "seed": seed, "split": split, "tags": tag, "limit": limit}
    found = await asyncio.to_thread(_read, Path(tasks), inspect_log, **options)
    each = {"steps": max_steps, "tokens": max_tokens, "usd": max_cost, "seconds": seconds}
    chosen = {"agent": agent or "planner", "model": model, "label": label, "use": read_uses(use or ())}
    plan = plan_of(chosen, each, {"without": separate(without or ()), "also": tool or [], "allow": allow or []})
    how = {"epochs": epochs, "concurrency": concurrency, "series": series, "retry": retry}
    how |= {"spending": read_budget(budget, ("usd", "runs", "tokens"))}
    evaluation, folder = await _evaluated(command, found, plan, judging_option(judge_model, judge_prompt), **how)
    await asyncio.to_thread(_finish, command, evaluation, folder, out=out, inspect_log=inspect_log, tasks=found)
    return None


def _schema(command: Command, *, wanted: bool) -> None:
    """Show the schema of a task.

    Raises:
        BadInput: It is not wanted, and nothing else was said.
    """
    from tea.evaluate.task_set import schema

    if not wanted:
        raise BadInput("No task set is named.", fix="write `tea eval SET`; `tea eval --help` tells what a set is.")
    command.show(json.dumps(schema(), indent=2), {"task": schema()})


def plan_of(chosen: dict[str, Any], budget: dict[str, Any], names: dict[str, list[str]]) -> "Plan":
    """Return the plan of an evaluation from its options: agent, limits of each run, names switched off or added."""
    from tea.evaluate.plan import Plan

    lists: dict[str, Any] = {name: tuple(given) for name, given in names.items()}
    return Plan(**chosen, **lists, budget={name: value for name, value in budget.items() if value is not None})


async def _evaluated(
    command: Command, tasks: "TaskSet", plan: "Plan", judging: "Judging", **how: Any
) -> "tuple[Evaluation, Path]":
    """Return the evaluation, and the folder of its files."""
    from tea.evaluate.runner import Spending, evaluate

    how["spending"], watch = Spending(**how["spending"]), _Progress(command)
    async with command.platform() as tea:
        tell_left_out(command, tea)
        try:
            found = await evaluate(tea, tasks, plan, judging=judging, watch=watch, tell=command.tell, **how)
        except asyncio.CancelledError:
            problem = f"Interrupted after {watch.done} of {len(tasks) * how['epochs']} runs, which are kept."
            raise Interrupted(problem, fix="the same command goes on where it stopped.") from None
        return found, tea.home / "traces" / "evaluations" / found.id


def judging_option(model: str | None, prompt: Path | None) -> "Judging":
    """Return the choice of a judge on a command line."""
    from tea.evaluate.judge import Judging
    from tea.evaluate.prompts import read_template

    return Judging(model=model, template=None if prompt is None else read_template(prompt))


def _read(path: Path, log: Path | None, **chosen: Any) -> "TaskSet":
    """Return the chosen tasks.

    Raises:
        BadInput: They cannot be read, none is chosen, or the log already exists.
    """
    if log is not None and log.exists():
        raise BadInput(f"{str(log)[-80:]!r} already exists.", fix="name a new file, or remove it first.")
    options = {name: chosen[name] for name in ("level", "seed") if chosen[name] is not None}
    if chosen["benchmark"] is None:
        from tea.evaluate.task_set import read_task_set

        for name in options:
            raise BadInput(f"--{name} is an option of benchmarks.", fix="name one with --benchmark, or leave it out.")
        found = read_task_set(path)
    else:
        from tea.evaluate.benchmarks import load_benchmark

        found = load_benchmark(chosen["benchmark"], path, **options)
    found = found if chosen["split"] is None else found.part(chosen["split"])
    return (found.tagged(chosen["tags"]) if chosen["tags"] else found).first(chosen["limit"])


def _finish(command: Command, evaluation: "Evaluation", folder: Path, **chosen: Any) -> None:
    """Write the tables and the picture, and show the figures."""
    from tea.evaluate.outputs import figures_text, write_outputs
    from tea.evaluate.summary import summarise

    summary = summarise(evaluation)
    write_outputs(evaluation, summary, folder, **chosen)
    data = {"id": evaluation.id, "folder": str(folder), **summary.to_json(), "fresh": evaluation.fresh,
            "set": evaluation.set_digest, "plan": evaluation.plan_digest}  # fmt: skip
    command.show(figures_text(evaluation, summary, chosen["out"] or folder), data)


class _Progress:
    """Progress on standard error: a changing line on a terminal, else one line for each tenth."""

    def __init__(self, command: Command) -> None:
        self._command, self._told = command, 0
        self._live, self._stands = sys.stderr.isatty() and not command.quiet, False
        self._right, self.done = 0.0, 0
        from tea.evaluate.pace import Pace

        self._pace = Pace()
        remove_in_time(self)

    def __call__(self, done: int, total: int, run: "ScoredRun") -> None:
        self.done = done
        self._right += run.score
        words = (
            f"tea: {done} of {total} runs, score {100 * self._right / done:.1f} % so far{self._pace.left(done, total)}"
        )
        if self._live:
            write(f"\r{one_line(words, 100)}" + ("\n" if done == total else ""), sys.stderr)
            self._stands = done < total
        elif done * 10 // total > self._told:
            self._told = done * 10 // total
            self._command.tell(words)

    def close(self) -> None:
        """End the row of the changing line, if it is shown."""
        if self._stands:
            write("\n", sys.stderr)
            self._stands = False
