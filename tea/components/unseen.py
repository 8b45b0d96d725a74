"""Requests for weighing components for an offer, before any words of them are shown to a model.

They are recorded as the plain ones are. A run counts the words of untrusted components as read with those alone.
"""

from __future__ import annotations

from tea.components.port import ComponentFacts, RetrieveComponents


class UnseenFacts(ComponentFacts):
    """Look up facts without showing any of them yet."""


class UnseenMatches(RetrieveComponents):
    """Find components without showing anything of them yet, but the names of trusted ones."""


UNSEEN = (UnseenFacts, UnseenMatches)
