"""Budget: the remaining limits of a run and of each delegation; reserved before a model call, settled after it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from tea.errors import BadInput, BudgetExceeded
from tea.kernel.key import innermost
from tea.models.config import ModelConfig
from tea.models.prices import list_prices, worst_case
from tea.refs import speaker
from tea.runs.reservation import Cost, Estimate, Reservation
from tea.types import Attempt, Budget, Result, Usage

LEAST_OUTPUT = 256
_LIMITS = ("steps", "tokens", "usd", "seconds")
_Left: TypeAlias = "tuple[int | None, float | None]"


@dataclass(slots=True)
class Spent:
    """The usage so far; `usd` is None once a price was unknown.

    Args:
        cached: Tokens of the input that came from a provider's cache.
        by: The same by agent and model, `agent model`.
        unsettled: What may have been used at most beside that, as nobody knows, by calls that were called off, or cut
            off with an earlier process, and by tries that nobody answered in time: `calls`, `tokens`, `usd`.
    """

    steps: int = 0
    tokens: int = 0
    usd: float | None = 0.0
    cached: int = 0
    by: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    unsettled: dict[str, Any] = field(default_factory=dict[str, Any])

    def add(self, usage: Usage, agent: str, model: str) -> None:
        """Add a model call's usage."""
        tokens = usage.input_tokens + usage.output_tokens
        none: dict[str, Any] = {"calls": 0, "tokens": 0, "cached": 0, "usd": 0.0}
        one = self.by.setdefault(f"{speaker(agent) or 'tea'} {model}", none)
        one["calls"] += 1
        one["tokens"] += tokens
        one["cached"] += usage.cached_tokens
        one["usd"] = _sum(one["usd"], usage.usd)
        self.tokens += tokens
        self.cached += usage.cached_tokens
        self.usd = _sum(self.usd, usage.usd)


@dataclass(frozen=True, slots=True)
class Attempts:
    """The payment for the attempts of one call.

    Args:
        account: Who pays.
        held: What is held back for them.
    """

    account: BudgetAccount
    held: Reservation

    def ready(self) -> int | None:
        """Start another attempt, and return the most tokens of its answer; None if tokens are not counted.

        Raises:
            BudgetExceeded: Broken tries left too little for the question and a short answer.
        """
        return self.account.next_try(self.held)

    def lost(self, attempt: Attempt, usage: Usage | None) -> None:
        """Record a failed attempt and its usage; None if the usage is unknown."""
        if usage is None:
            self.held.unheard()
        else:
            self.held.broke(attempt, usage)


class BudgetAccount:
    """The budget account of a run, with all its agents and parallel calls, or of a delegation with a share of it.

    What a share pays, all it was cut from pay too, so that shares side by side cannot overspend together. But for
    seconds it looks at recorded values only, so a replay decides the same.

    Args:
        budget: The limits.
        passed: Seconds that earlier processes worked on it.
        parent: What it is a share of.
        clock: Gives seconds.

    `best` is the last good answer that was given within it: what is left where its time ends.
    """

    def __init__(
        self,
        budget: Budget,
        passed: float = 0.0,
        *,
        parent: BudgetAccount | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.budget = budget
        self.passed = passed
        self.spent = Spent()
        self.best: Result | None = None
        self._all: tuple[BudgetAccount, ...] = (*(parent._all if parent else ()), self)
        self._limiting = tuple(one for one in self._all if one.budget.tokens is not None or one.budget.usd is not None)
        self._whose = "budget" if parent is None else "delegation's budget"
        self._clock, self._begun = clock, clock()
        self._held: list[Reservation] = []
        self._paid = 0.0  # the known part of the money spent; unknown prices add nothing

    def share(self, budget: Budget) -> BudgetAccount:
        """Return an account for a part of the work, limited by this one too."""
        given = budget.model_copy(update={"unknown_price": self.budget.unknown_price})
        return BudgetAccount(given, parent=self, clock=self._clock)

    def so_far(self, result: Result) -> None:
        """Store a good answer for the case of a timeout."""
        for one in self._all:
            one.best = result

    def out_of_time(self) -> Result:
        """Return the best answer so far, marked as exhausted, after the seconds are used up."""
        problem = f"The {self._whose} of {self.budget.seconds:g} seconds is used up."
        return (self.best or Result()).model_copy(update={"ok": False, "reason": problem, "exhausted": True})

    def reserve(self, estimate: Estimate | None = None) -> Reservation:
        """Deduct one step before a request to a model, and reserve the most the call may use.

        Raises:
            BudgetExceeded: There is none left, or what is left is not enough for the question and a short answer.
        """
        wanted = estimate or Estimate()
        for one in self._all:
            one._check(wanted)
        held = Reservation(wanted=wanted)
        if wanted.max_output is not None:
            output = self._output(wanted, wanted.max_output, BudgetAccount._reserved, "What is left", "another call")
            tokens = wanted.input_tokens + output
            held = Reservation(wanted=wanted, tokens=tokens, usd=wanted.usd(output), max_output=output)
        for one in self._all:
            one.spent.steps += 1
            one._held.append(held)
        return held

    def settle(self, reservation: Reservation, usage: Usage, agent: str, model: str) -> None:
        """Replace a call's reservation with its actual usage."""
        self.release(reservation)
        self.pay(usage, agent, model)

    def pay(self, usage: Usage, agent: str, model: str) -> None:
        """Count usage without a request, for example the transcription of a sound."""
        for one in self._all:
            one.spent.add(usage, agent, model)
            one._paid += usage.usd or 0.0

    def keep(self, tokens: int, usd: float | None) -> None:
        """Keep a reservation permanently: an attempt may have used it, and its usage is unknown."""
        kept = Reservation(tokens=tokens, usd=usd)
        for one in self._all:
            one._held.append(kept)

    def release(self, reservation: Reservation) -> None:
        """Release the reservation of a call without usage; one of a cancelled call stays, as it may have been used."""
        for one in self._all:
            one._held.remove(reservation)

    def next_try(self, reservation: Reservation) -> int | None:
        """Return the most tokens of the answer to a call's next attempt, beside the usage of failed attempts.

        The reservation stays, and pays the broken tries of its call and the next one first: only the effect of a call
        knows of its broken tries, and records what became of it. `reserve` leaves them out, so that a replay decides
        the same.

        Raises:
            BudgetExceeded: What is left is not enough for the question and a short answer.
        """
        if reservation.max_output is None or not self._limiting:
            return reservation.max_output
        broken = next((one.lost[-1] for each in self._all for one in (reservation, *each._held) if one.lost), None)
        words = "What is left", "another try"
        if broken is not None:
            words = "What broken tries left", f"another one: {broken.attempt.problem.rstrip('. ')}"

        def left(account: BudgetAccount) -> _Left:
            return account._left([reservation.used, *(one.claimed for one in account._held if one is not reservation)])

        output = self._output(reservation.wanted, reservation.max_output, left, *words)
        reservation.trying = reservation.wanted.input_tokens + output, reservation.wanted.usd(output) or 0.0
        return output

    def total(self) -> Spent:
        """Return the usage after the last request; open reservations are listed as unsettled."""
        held = [one for one in self._held if one.tokens]
        if not held:
            return self.spent
        usd = None if any(one.usd is None for one in held) else sum(one.usd or 0.0 for one in held)
        unsettled = {"calls": len(held), "tokens": sum(one.tokens for one in held), "usd": usd}
        return replace(self.spent, unsettled=unsettled)

    def remaining(self) -> dict[str, float | None]:
        """Return the remainder of each limit, including the seconds; None if there is no limit."""
        left = [one._remaining() for one in self._all]
        return {name: min((one[name] for one in left if name in one), default=None) for name in _LIMITS}

    def _remaining(self) -> dict[str, float]:
        steps, seconds = self.budget.steps, self.budget.seconds
        tokens, usd = self._reserved()
        left = {
            "steps": None if steps is None else steps - self.spent.steps,
            "tokens": tokens,
            "usd": usd,
            "seconds": None if seconds is None else seconds - self.passed - (self._clock() - self._begun),
        }
        return {name: max(0, value) for name, value in left.items() if value is not None}

    def _left(self, claims: Iterable[Cost]) -> _Left:
        """Return the tokens and dollars left beside the claims of others; None if there is no limit."""
        tokens, usd = self.budget.tokens, self.budget.usd
        claimed = list(claims)
        return (
            None if tokens is None else tokens - self.spent.tokens - sum(one for one, _ in claimed),
            None if usd is None else usd - self._paid - sum(one for _, one in claimed),
        )

    def _reserved(self) -> _Left:
        """Return the same beside the reservations, computed from recorded values alone."""
        return self._left(one.held for one in self._held)

    def _check(self, wanted: Estimate) -> None:
        if self.budget.usd is not None and not self.budget.unknown_price and self._unpriced(wanted):
            problem = "A model without a known price cannot be held to a budget in dollars."
            fix = "state its prices, leave out budget.usd, or allow it with --allow-unknown-price."
            raise BudgetExceeded(problem, fix=fix)
        steps, (tokens, usd) = self.budget.steps, self._reserved()
        ended = {
            "steps": (steps, steps is not None and self.spent.steps >= steps),
            "tokens": (self.budget.tokens, tokens is not None and tokens <= 0),
            "usd": (self.budget.usd, usd is not None and usd < 0),
        }
        for name, (limit, over) in ended.items():
            if limit is not None and over:
                raise BudgetExceeded(f"The {self._whose} of {limit:g} {name} is used up.", fix=f"raise budget.{name}.")

    def _output(
        self, wanted: Estimate, most: int, left: Callable[[BudgetAccount], _Left], begun: str, ended: str
    ) -> int:
        """Return the most tokens of an answer within every limit; `begun` and `ended` word a refusal."""
        least = min(LEAST_OUTPUT, wanted.max_output or 0)
        for one in self._limiting:
            for name, room in _rooms(wanted, *left(one)).items():
                if room < least:
                    problem = f"{begun} of the {one._whose} in {name} is not enough for {ended}."
                    raise BudgetExceeded(problem, fix=f"raise budget.{name}.")
                most = min(most, room)
        return most

    def _unpriced(self, wanted: Estimate) -> bool:
        unknown = wanted.unpriced or wanted.usd(0) is None
        return self.spent.usd is None or (wanted.max_output is not None and unknown)


class BudgetAccounts:
    """The accounts of a run, by key: the innermost delegation with limits of its own pays.

    Args:
        root: That of the whole run.
    """

    def __init__(self, root: BudgetAccount) -> None:
        self.root = root
        self._shares: dict[str, BudgetAccount] = {}

    def of(self, key: str) -> BudgetAccount:
        """Return the account paying below a key, or a branch's path."""
        return self._shares.get(innermost(key, self._shares), self.root) if self._shares else self.root

    @contextmanager
    def share(self, key: str, budget: Budget) -> Generator[BudgetAccount]:
        """Pay for the body's work below a key from a share of the remaining budget."""
        account = self._shares[key] = self.of(key).share(budget)
        try:
            yield account
        finally:
            del self._shares[key]


def check_price(configs: Iterable[ModelConfig], budget: Budget) -> None:
    """Raise BadInput for a limit in dollars if a model with an unknown price may answer.

    Args:
        configs: Who may answer.
        budget: The limits.

    Raises:
        BadInput: It is refused.
    """
    if budget.usd is None or budget.unknown_price:
        return
    for config in configs:
        if config.max_output is not None and worst_case(config.prices or list_prices(config), 0, 0) is None:
            problem = (
                f"The price of the model {config.name!r} is not known, so it cannot be held to a budget in dollars."
            )
            raise BadInput(problem, fix="state its prices, or allow it with --allow-unknown-price.")


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second


def _rooms(wanted: Estimate, tokens: int | None, usd: float | None) -> dict[str, int]:
    """Return the number of tokens each limit leaves for an answer."""
    rooms = {} if tokens is None else {"tokens": tokens - wanted.input_tokens}
    if usd is not None and (asked_for := wanted.usd(0)) is not None:
        each = wanted.prices["output"] / 1e6
        rooms["usd"] = int((usd - asked_for) / each) if each else (wanted.max_output or 0) if usd >= asked_for else -1
    return rooms
