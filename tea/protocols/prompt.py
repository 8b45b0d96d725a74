"""Prompts in the registry: the same life as tools, from Markdown instead of Python, and never invoked."""

from __future__ import annotations

from collections.abc import Mapping

from tea.errors import BadComponent
from tea.managers.source_text import SourceText
from tea.manifest import Lineage, Manifest
from tea.protocols.manager import ContextManager
from tea.refs import Ref


class PromptLibrary(ContextManager[Manifest]):
    """The life of every prompt."""

    kind = "prompt"

    async def get(self, ref: str | Ref) -> object:
        """Return a prompt, parsed."""
        return self.services.prompts.parse((await self.info(ref)).source)

    def draft(self, source: str, files: Mapping[str, str]) -> SourceText:
        """Check a prompt's text; raises BadComponent."""
        if files:
            raise BadComponent("A prompt is one file.", fix="put its modules into the same file.")
        prompt = self.services.prompts.parse(source)
        return SourceText(
            kind="prompt",
            name=prompt.name,
            source=source,
            description=prompt.description,
            metadata=prompt.metadata,
            evolvable=prompt.evolvable,
        )

    def requirements(self, source: str) -> tuple[str, ...]:
        """Return none: a prompt needs no distribution."""
        return ()

    def build(self, text: SourceText, version: str, lineage: Lineage, created: str, reason: str) -> Manifest:
        """Return the manifest of checked text."""
        return self.services.prompts.manifest(
            text.source, version=version, lineage=lineage, created=created, reason=reason
        )
