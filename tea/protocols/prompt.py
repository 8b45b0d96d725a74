"""Prompts in the registry: managed like tools, but from Markdown instead of Python, and never invoked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tea.components.manifest import Lineage, Manifest
from tea.components.variable import Variable
from tea.prompts.source import read_heading
from tea.prompts.text import split
from tea.protocols.manager import ContextManager
from tea.refs import Ref
from tea.source.text import SourceText, check_characters, check_content, check_texts


class PromptLibrary(ContextManager):
    """The manager of prompts in the registry."""

    kind = "prompt"
    executed = False

    async def get(self, ref: str | Ref) -> object:
        """Return a prompt, parsed."""
        return self.services.prompts.parse((await self.info(ref)).source)

    def draft(self, source: str, files: Mapping[str, str], requires: tuple[str, ...] = ()) -> SourceText:
        """Check a prompt's text; its files are kept beside it and never read. Raises BadComponent."""
        check_characters(source, files)
        check_content(files, requires)
        prompt = self.services.prompts.parse(source)
        check_texts(split(source)[0])
        return SourceText(
            kind="prompt",
            name=prompt.name,
            source=source,
            files=files,
            description=prompt.description,
            metadata=prompt.metadata,
            evolvable=prompt.evolvable,
        )

    def outline(self, source: str) -> SourceText:
        """Return the description of a prompt checked before; raises BadComponent."""
        name, description, metadata = read_heading(source)
        return SourceText(kind="prompt", name=name, source=source, description=description, metadata=metadata)

    def variables(self, found: Manifest) -> list[Variable]:
        """Return the sections of a prompt."""
        return self.services.prompts.vars(self.services.prompts.parse(found.source))

    def rewritten(self, found: Manifest, values: Mapping[str, str]) -> SourceText:
        """Return a prompt with replaced sections; raises NotEvolvable, BadComponent."""
        check_characters("", values)  # as they are given: a prompt has plain line ends
        return self.draft(self.services.prompts.with_vars(found.source, values), found.files)

    def build(self, text: SourceText, version: str, lineage: Lineage, created: str, reason: str) -> Manifest:
        """Return the manifest of checked text."""
        found = self.services.prompts.manifest(
            text.source, version=version, lineage=lineage, created=created, reason=reason
        )
        return replace(found, files=text.files)
