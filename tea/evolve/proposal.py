"""Proposals: changes to variables of components, stored without being current until a test accepts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from tea.components.manifest import How, Lineage, Manifest
from tea.components.variable import Variable
from tea.errors import BadInput
from tea.evaluate.task import digest_of
from tea.evolve.account import Account
from tea.protocols.staging import stage_version
from tea.refs import Ref

if TYPE_CHECKING:
    from tea.evaluate.evaluation import Evaluation
    from tea.evaluate.task_set import TaskSet
    from tea.platform import Platform

Texts = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A change to variables.

    Args:
        changes: The new texts, by `kind:name` and variable.
        how: Which strategy made it.
        why: The reason, in one line.
        run: The run that proposed it, empty for none.
        diagnosis: What the strategy found in the traces.
    """

    changes: Texts
    how: How = "reflection"
    why: str = ""
    run: str = ""
    diagnosis: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyInput:
    """The knowledge given to a strategy: of the gate's tasks only whether proposals were accepted.

    Args:
        variables: The variables that may be rewritten, by `kind:name`.
        tasks: The tasks of the training part.
        runs: The incumbent's runs of them.
        verdicts: Earlier proposals, each with whether it was accepted.
        plan: Which versions the incumbent uses, by `kind:name`.
        account: Counts what proposing costs.
    """

    variables: Mapping[str, Sequence[Variable]]
    tasks: TaskSet
    runs: Evaluation
    verdicts: Sequence[tuple[Proposal, bool]]
    plan: Mapping[str, str]
    account: Account = field(default_factory=Account)


class Strategy(Protocol):
    """A maker of proposals.

    Args:
        name: What it is called by `--strategy`.
    """

    name: str

    async def propose(self, platform: Platform, known: StrategyInput) -> Proposal | None:
        """Return the next proposal; None if there is nothing left to propose.

        Raises:
            TeaError: It cannot go on.
        """
        ...


@dataclass(frozen=True, slots=True)
class Staged:
    """A proposal as stored versions, none of them current.

    Args:
        digest: Of all its versions together; the same change has the same digest.
        use: Their versions by `kind:name`.
    """

    digest: str
    use: Mapping[str, str]


async def variables_of(platform: Platform, refs: Sequence[str], use: Mapping[str, str]) -> dict[str, list[Variable]]:
    """Return the trainable variables of components.

    Args:
        platform: Has the components.
        refs: Their names, `kind:name`.
        use: Which versions; the current one for others.

    Raises:
        BadInput: One of them has no variable that may be rewritten, or is a model.
        UnknownComponent: There is none of that name.
        Quarantined: One consists of words that nobody trusts.
    """
    found: dict[str, list[Variable]] = {}
    for text in refs:
        ref = Ref.parse(text)
        name = str(ref.at(None))
        library = platform.libraries[ref.kind]
        chosen = use.get(name, ref.selector)
        await base_of(platform, ref.at(chosen))
        trainable = [one for one in await library.vars(ref.at(chosen)) if one.trainable]
        if not trainable:
            raise BadInput(f"{name} has no variable that may be rewritten.", fix=f"`tea vars {name}` shows them.")
        found[name] = trainable
    return found


async def base_of(platform: Platform, ref: Ref) -> Manifest:
    """Return a version for proposals to build on: words become trusted with everything made of them.

    Raises:
        BadInput: It is a model: what proposes could send keys to any address, as soon as a new version is trusted.
        UnknownComponent: There is no such version.
        Quarantined: It consists of words that nobody trusts.
    """
    if ref.kind == "model":
        problem = f"{ref.at(None)} says where keys are sent, so no proposal rewrites it."
        raise BadInput(problem, fix="register another version by hand; `tea eval --model NAME` compares models.")
    library: Any = platform.libraries[ref.kind]
    return await (library.info(ref) if library.executed else library.pin(ref))


async def stage(platform: Platform, proposal: Proposal, use: Mapping[str, str]) -> Staged:
    """Store a proposal as versions without making them current, after the checks free of cost.

    Args:
        platform: Where they are stored.
        proposal: What is to be changed.
        use: Which versions the incumbent uses.

    Raises:
        TeaError: It changes nothing, breaks a contract, grows without end, or is not usable as source.
    """
    if not proposal.changes:
        raise BadInput("The proposal changes nothing.", fix="propose a new text of a variable.")
    staged: dict[str, str] = {}
    for name, texts in sorted(proposal.changes.items()):
        ref = Ref.parse(name)
        library: Any = platform.libraries[ref.kind]
        before = await base_of(platform, ref.at(use.get(name)))
        lineage = Lineage(how=proposal.how, parent=before.version, run=proposal.run or None)
        after = await stage_version(library, before, texts, proposal.why, lineage)
        if not library.executed:  # words, for whose rewriting the operator called; code stays in the sandbox
            await library.trust(after.ref.at(after.digest))
        staged[name] = after.version
    digests = {name: (await platform.libraries[Ref.parse(name).kind].info(Ref.parse(name).at(version))).digest
               for name, version in staged.items()}  # fmt: skip
    return Staged(digest_of({**dict(sorted(use.items())), **digests}), staged)
