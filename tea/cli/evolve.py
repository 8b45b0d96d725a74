"""`tea evolve`: components improved from their own traces, accepted on held-out evidence alone."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from tea.cli.budget import read_budget
from tea.cli.command import Command
from tea.cli.eval_run import CostOption, SecondsOption, StepsOption, TokensOption, plan_of
from tea.cli.left_out import tell_left_out
from tea.cli.run import AllowOption, ToolOption, UseOption, WithoutOption
from tea.cli.task_input import read_uses, separate
from tea.cli.terminal import one_line
from tea.errors import Interrupted

RefsArgument = Annotated[list[str], typer.Argument(metavar="REF...", help="What may be rewritten: `kind:name`.")]
SetOption = Annotated[Path, typer.Option("--tasks", help="The task set, as for `tea eval`; its parts by digest.")]
StrategyOption = Annotated[str, typer.Option("--strategy", help="reflection, textgrad, gepa, random or nothing.")]
BudgetOption = Annotated[
    str | None,
    typer.Option("--budget", help="When to stop for now: usd=2,runs=2000,tokens=1000000; tests=10 by default."),
]
AgentOption = Annotated[str, typer.Option("--agent", help="Who works on the tasks.")]
ModelOption = Annotated[str | None, typer.Option("--model", help="Which model answers the tasks.")]
ReflectOption = Annotated[str | None, typer.Option("--reflect-model", help="Which model proposes.")]
ProtectOption = Annotated[list[str] | None, typer.Option("--protect", help="A tag that must not become worse.")]
PromoteOption = Annotated[bool, typer.Option("--promote", help="Make accepted prompts current, not `candidate` only.")]
StrictOption = Annotated[bool, typer.Option("--strict", help="Decide by the strict rule, for graded scores.")]
ReuseOption = Annotated[bool, typer.Option("--reuse-locked", help="Look at the locked tasks more than three times.")]
GivenOption = Annotated[
    str | None, typer.Option("--candidate", metavar="VERSION", help="Test this version of REF, and propose nothing.")
]
ConcurrencyOption = Annotated[int, typer.Option("--concurrency", min=1, help="How many runs go on at once.")]


async def evolve(
    command: Command,
    refs: RefsArgument,
    tasks: SetOption,
    strategy: StrategyOption = "reflection",
    budget: BudgetOption = None,
    agent: AgentOption = "planner",
    model: ModelOption = None,
    reflect_model: ReflectOption = None,
    use: UseOption = None,
    without: WithoutOption = None,
    tool: ToolOption = None,
    allow: AllowOption = None,
    max_steps: StepsOption = None,
    max_tokens: TokensOption = None,
    max_cost: CostOption = None,
    seconds: SecondsOption = None,
    protect: ProtectOption = None,
    promote: PromoteOption = False,
    strict: StrictOption = False,
    reuse_locked: ReuseOption = False,
    candidate: GivenOption = None,
    concurrency: ConcurrencyOption = 8,
) -> None:
    """Improve components on a task set: propose from training tasks, accept on tasks no proposer sees.

    Called again, a campaign goes on where it stopped. `tea evolve log REF` shows what was proposed and decided.
    """
    from tea.evaluate.task_set import read_task_set
    from tea.evolve.campaign import Campaign, Limits
    from tea.evolve.strategies import Given
    from tea.evolve.strategies import strategy as strategy_of

    limits = Limits(**cast("dict[str, Any]", read_budget(budget, ("usd", "runs", "tokens", "tests"))))
    found = await asyncio.to_thread(read_task_set, tasks)
    chosen = strategy_of(strategy, reflect_model) if candidate is None else Given(candidate)
    each = {"steps": max_steps, "tokens": max_tokens, "usd": max_cost, "seconds": seconds}
    workers = {"agent": agent, "model": model, "use": read_uses(use or ())}
    plan = plan_of(workers, each, {"without": separate(without or ()), "also": tool or [], "allow": allow or []})
    async with command.platform() as tea:
        tell_left_out(command, tea)
        campaign = Campaign(
            platform=tea, tasks=found, refs=refs, strategy=chosen,
            plan=plan, protected=tuple(protect or ()),
            promote=promote, concurrency=concurrency, strict=True if strict else None, reuse_locked=reuse_locked,
            tell=lambda line: command.tell(one_line(line, 400)),
        )  # fmt: skip
        try:
            report = await campaign.run(limits)
        except asyncio.CancelledError:
            problem = "Interrupted; what was proposed, run and decided is kept."
            raise Interrupted(problem, fix="the same command goes on where it stopped.") from None
    versions = ", ".join(f"{name}@{version}" for name, version in sorted(report.use.items())) or "nothing changed"
    words = f"{report.accepted} accepted of {report.tests} tested; {report.scores}; {versions}"
    words += f"; {report.runs} runs now, {report.all_runs} in all"
    words += f", {report.all_tokens:,} tokens" if report.all_tokens else ""
    words += f", ${report.all_usd:.4g}" if report.all_usd else ""
    command.show(words, asdict(report))
