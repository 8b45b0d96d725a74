"""Checked: the outcome of the check of a source, kept for its loading."""

from __future__ import annotations

from dataclasses import dataclass

from tea.source.text import SourceText


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A checked source, with the facts needed for loading it.

    Args:
        text: What is known of it.
        binding: Under which name its main module holds the component.
        order: Its helper files, each after those it imports.
    """

    text: SourceText
    binding: str
    order: tuple[str, ...]
