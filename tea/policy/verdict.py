"""Verdict: a decision on a call with its reason, for a person and for `tea policy check`."""

from __future__ import annotations

from typing import Any, NamedTuple

from tea.policy.provenance import Source
from tea.policy.rules import DECISIONS, Decision


class Verdict(NamedTuple):
    """A decision with its reason.

    Args:
        decision: The decision.
        rule: What decides: a rule, a setting or a default, in words.
        why: The reason, as the end of a sentence about the call.
        destinations: Places that the call sends to.
        unnamed: Those of them that nobody named.
        sources: The untrusted sources that were read before.
        version: What a person consents to once, where it is not the class of effects.
    """

    decision: Decision
    rule: str
    why: str = ""
    destinations: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    version: str = ""

    def stricter(self, other: Verdict) -> Verdict:
        """Return the stricter one of two, the first if they are equally strict."""
        return other if DECISIONS.index(other.decision) > DECISIONS.index(self.decision) else self

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "decision": self.decision,
            "rule": self.rule,
            "why": self.why,
            "destinations": list(self.destinations),
            "unnamed": list(self.unnamed),
            "sources": [one.words for one in self.sources],
        }
