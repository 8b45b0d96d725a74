"""Proposals: changes to variables of components, before anything is known of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from tea.components.manifest import How, Lineage, Manifest
from tea.components.variable import Variable
from tea.errors import BadInput
from tea.evaluate.task import digest_of
from tea.refs import Ref
from tea.registry.change import change_between

if TYPE_CHECKING:
    from tea.evaluate.evaluation import Evaluation
    from tea.evaluate.task_set import TaskSet
    from tea.platform import Platform

_GROWTH, _ROOM = 3, 4_000  # a text may grow to this many times its length, or by this many characters
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
class Known:
    """The knowledge given to a strategy: of the gate's tasks only whether proposals were accepted.

    Args:
        variables: The variables that may be rewritten, by `kind:name`.
        tasks: The tasks of the training part.
        runs: The incumbent's runs of them.
        verdicts: Earlier proposals, each with whether it was accepted.
        plan: Which versions the incumbent uses, by `kind:name`.
    """

    variables: Mapping[str, Sequence[Variable]]
    tasks: TaskSet
    runs: Evaluation
    verdicts: Sequence[tuple[Proposal, bool]]
    plan: Mapping[str, str]


class Strategy(Protocol):
    """A maker of proposals.

    Args:
        name: What it is called by `--strategy`.
    """

    name: str

    async def propose(self, platform: Platform, known: Known) -> Proposal | None:
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
        BadInput: One of them has no variable that may be rewritten.
        UnknownComponent: There is none of that name.
    """
    found: dict[str, list[Variable]] = {}
    for text in refs:
        ref = Ref.parse(text)
        name = str(ref.at(None))
        library = platform.libraries[ref.kind]
        chosen = use.get(name, ref.selector)
        trainable = [one for one in await library.vars(ref.at(chosen)) if one.trainable]
        if not trainable:
            raise BadInput(f"{name} has no variable that may be rewritten.", fix=f"`tea vars {name}` shows them.")
        found[name] = trainable
    return found


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
        before: Manifest = await library.info(ref.at(use.get(name)))
        _check_growth(name, texts, await library.vars(before.ref))
        lineage = Lineage(how=proposal.how, parent=before.version, run=proposal.run or None)
        after: Manifest = await _staged(library, before, texts) or await library.setvars(
            before.ref, texts, reason=proposal.why, lineage=lineage, author="evolution", current=False
        )
        if after.version == before.version:
            raise BadInput(f"The proposal for {name} changes nothing.", fix="propose another text.")
        if await asyncio.to_thread(change_between, before, after) == "major":
            problem = f"The proposal for {name} breaks its contract: {after.ref} takes or gives something else."
            raise BadInput(problem, fix="keep parameters, results and effects.")
        if not library.executed:  # words, for whose rewriting the operator called; code stays in the sandbox
            await library.trust(after.ref)
        staged[name] = after.version
    digests = {name: (await platform.libraries[Ref.parse(name).kind].info(Ref.parse(name).at(version))).digest
               for name, version in staged.items()}  # fmt: skip
    return Staged(digest_of({**dict(sorted(use.items())), **digests}), staged)


async def _staged(library: Any, before: Manifest, texts: Mapping[str, str]) -> Manifest | None:
    """Return a version staged earlier with the same new texts, None without one."""
    wanted = {**await _texts(library, before), **texts}
    for one in reversed(await library.history(before.name)):
        if one.lineage.parent == before.version and await _texts(library, one) == wanted:
            return one
    return None


async def _texts(library: Any, version: Manifest) -> dict[str, str]:
    return {one.name: one.value for one in await library.vars(version.ref)}


def _check_growth(name: str, texts: Mapping[str, str], variables: Sequence[Variable]) -> None:
    """Raise BadInput for a text much longer than its predecessor."""
    before = {one.name: len(one.value) for one in variables}
    for variable, text in texts.items():
        limit = max(_GROWTH * before.get(variable, 0), before.get(variable, 0) + _ROOM)
        if len(text) > limit:
            problem = f"The proposal makes {variable!r} of {name} {len(text):,} characters long; {limit:,} are allowed."
            raise BadInput(problem, fix="say it in fewer words.")
