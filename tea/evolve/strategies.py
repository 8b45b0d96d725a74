"""Strategies: makers of proposals from training runs."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from tea.errors import BadInput, ProviderError, TeaError
from tea.evolve.material import MOST_RUNS, failures, material
from tea.evolve.proposal import Proposal, Strategy, StrategyInput, base_of, stage
from tea.journal.steps import cut
from tea.refs import Ref

if TYPE_CHECKING:
    from tea.evolve.account import Account
    from tea.evolve.counterfactual import Counterfactual
    from tea.platform import Platform

_MOST_COUNTERFACTUALS = 2


class Nothing:
    """A strategy without proposals: the row for comparison with others."""

    name = "nothing"

    async def propose(self, platform: Platform, known: StrategyInput) -> Proposal | None:
        """Return None."""
        return None


@dataclass(slots=True)
class Given:
    """A strategy for proposing an existing version, once.

    Args:
        version: The version of the campaign's one component.
        done: Whether it was proposed already.
    """

    version: str
    done: bool = False
    name: str = "given"

    async def propose(self, platform: Platform, known: StrategyInput) -> Proposal | None:
        """Return the texts of the version, None if it was proposed before.

        Raises:
            BadInput: The version changes nothing.
            UnknownComponent: There is no such version.
            Quarantined: It consists of words that nobody trusts.
        """
        if self.done:
            return None
        self.done = True
        [(name, variables)] = known.variables.items()
        ref, now = Ref.parse(name), {one.name: one.value for one in variables}
        given = await base_of(platform, ref.at(self.version))
        wanted = platform.libraries[ref.kind].variables(given)
        changes = {one.name: one.value for one in wanted if one.name in now and one.value != now[one.name]}
        if not changes:
            problem = f"{ref.at(self.version)} does not differ from what the campaign uses already."
            raise BadInput(problem, fix=f"`tea history {name}` shows the versions.")
        why = f"the version {self.version}, as it is"
        return Proposal(changes={name: changes}, how="imported", why=why)  # beside other files it is code nobody wrote


@dataclass(slots=True)
class RandomEdit:
    """A strategy for deleting a line of a random text, as a baseline.

    Args:
        seed: Decides what it drops.
    """

    seed: int = 0
    name: str = "random"

    async def propose(self, platform: Platform, known: StrategyInput) -> Proposal | None:
        """Return a proposal to drop one line."""
        chance = random.Random(f"{self.seed}/{len(known.verdicts)}")
        texts = [
            (name, one) for name, ones in sorted(known.variables.items()) for one in ones if "\n" in one.value.strip()
        ]
        if not texts:
            return None
        name, variable = chance.choice(texts)
        lines = variable.value.splitlines(keepends=True)
        del lines[chance.randrange(len(lines))]
        return Proposal(changes={name: {variable.name: "".join(lines)}}, how="random", why="a random line dropped")


@dataclass(slots=True)
class Reflection:
    """A strategy for rewriting one variable by a model, after it reads traces of failures and finds their cause.

    Whether a variable is the cause is seen in counterfactuals: failed runs again, with that variable changed alone.
    Where none of them comes out right, the model is told, and looks for another cause.

    Args:
        model: Which model configuration reflects; the home's default without one.
        attempts: How many causes are tried at most.
        name: What it is called by `--strategy`.

    Source: paper, section 3.4 and Appendix A.3.
    """

    model: str | None = None
    attempts: int = 2
    name: str = "reflection"

    async def propose(self, platform: Platform, known: StrategyInput) -> Proposal | None:
        """Return the first proposal of the agent `reflector` to make a failed run succeed, else its last one.

        It is None if no run failed.

        Raises:
            ProviderError: The model cannot be reached, or gave no proposal.
        """
        if not failures(known):
            return None
        text, tried = material(platform, known), list[Proposal]()
        for _ in range(self.attempts):
            shown_so_far = "\n\n".join([text, *map(_disproved, tried)])
            proposal = await proposed(platform, shown_so_far, self.model, known.account, components=known.variables)
            found = await _counterfactuals(platform, known, proposal)
            told = [asdict(one) for one in found]
            tried.append(replace(proposal, diagnosis={**proposal.diagnosis, "counterfactuals": told}))
            if not found or any(one.right for one in found) or known.account.end:
                break
        return tried[-1]


async def _counterfactuals(platform: Platform, known: StrategyInput, proposal: Proposal) -> list[Counterfactual]:
    """Return failed training runs, carried out with a proposal; none for one refused before any run."""
    from tea.evolve.counterfactual import counterfactual

    allowed = proposal.changes.keys() <= known.variables.keys()
    try:
        staged = await stage(platform, proposal, known.plan) if allowed else None
    except TeaError:  # the campaign stages it once more, and writes down why it cannot be used
        staged = None
    if staged is None:
        return []
    tasks = {one.id: one for one in known.tasks.tasks}
    runs = [one for one in failures(known)[:MOST_RUNS] if one.run][:_MOST_COUNTERFACTUALS]
    found: list[Counterfactual] = []
    for one in runs:
        if known.account.end:  # they make a claim surer, and are not a condition of a proposal
            break
        made = await counterfactual(platform, one.run, tasks[one.id], staged, known.account)
        found += [] if made is None else [made]
    return found


def _disproved(proposal: Proposal) -> str:
    """Return the findings of a proposal's counterfactuals, as material for the next."""
    [(component, texts)] = proposal.changes.items()
    lines = [f"Tried: {component}, {', '.join(texts)}: {proposal.why}. It is not the cause, or not all of it:"]
    lines += [
        f"- task {one['task']!r} again, changed so: {cut(one['answer'])}"
        for one in proposal.diagnosis["counterfactuals"]
    ]
    return "\n".join(lines)


async def proposed(
    platform: Platform,
    text: str,
    model: str | None = None,
    account: Account | None = None,
    budget: Mapping[str, Any] | None = None,
    components: Iterable[str] = (),
) -> Proposal:
    """Return the proposal of the agent `reflector` on some material.

    Args:
        platform: Runs it.
        text: Variables and traces, see `material`.
        model: Which model configuration reflects; the home's default without one.
        account: Counts the run.
        budget: Its limits; none of its own by default.
        components: What may be changed, `kind:name` each; a name without its kind means the one of that name.

    Raises:
        ProviderError: The model cannot be reached, or gave no proposal.
    """
    options: dict[str, Any] = {} if model is None else {"model": model}
    options |= {} if budget is None else {"budget": budget}
    outcome = await platform.run(text, agent="reflector", fresh=True, **options)
    if account is not None:
        await account.outcome(outcome)
    if not outcome.ok or not isinstance(outcome.answer, Mapping):
        fix = f"`tea trace {outcome.run}` shows it; call again, or name another model with --reflect-model."
        raise ProviderError(f"The reflection gave no proposal: {outcome.reason}", fix=fix)
    found = cast("dict[str, Any]", outcome.answer)
    return Proposal(
        changes={_named(str(found["component"]), components): {str(found["variable"]): str(found["text"])}},
        why=str(found["why"]),
        run=outcome.run,
        diagnosis={name: found[name] for name in found if name not in ("text", "why", "component", "variable")},
    )


def _named(said: str, components: Iterable[str]) -> str:
    """Return the component with a name if exactly one has it, else the name as given."""
    found = {one for one in components if said in (one, one.partition(":")[2])}
    return found.pop() if len(found) == 1 else said


def strategy(name: str, model: str | None = None) -> Strategy:
    """Return a strategy by its name.

    Args:
        name: `reflection`, `textgrad`, `gepa`, `random` or `nothing`.
        model: Which model configuration it asks.

    Raises:
        BadInput: There is none of that name.
    """
    from tea.evolve.libraries import Gepa, TextGrad

    made: dict[str, Strategy] = {
        "reflection": Reflection(model), "textgrad": TextGrad(model), "gepa": Gepa(model),
        "random": RandomEdit(), "nothing": Nothing(),
    }  # fmt: skip
    if name not in made:
        raise BadInput(f"There is no strategy {name[:60]!r}.", fix=f"choose one of {', '.join(made)}.")
    return made[name]
