"""Requests of who weighs components for an offer, and shows nobody their words before it asks for them plainly.

They are recorded as the plain ones are. A run counts the words of untrusted components as read with those alone.
"""

from __future__ import annotations

from tea.components.port import ComponentFacts, RetrieveComponents


class UnseenFacts(ComponentFacts):
    """Look up facts of which nothing is shown yet."""


class UnseenMatches(RetrieveComponents):
    """Find components of which nothing is shown yet, but the names of trusted ones."""


UNSEEN = (UnseenFacts, UnseenMatches)
