"""Models, memories and solutions in the registry: managed like tools, but from JSON, and never invoked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from tea.components.manifest import Lineage, Manifest
from tea.errors import BadComponent
from tea.memory.manager import MemoryConfig
from tea.models.config import ModelConfig
from tea.protocols.manager import ContextManager
from tea.refs import Ref
from tea.registry.document import DocumentManager, Solution, made_as
from tea.source.text import SourceText, check_characters, check_texts


class DocumentLibrary(ContextManager):
    """The manager of a kind of documents."""

    executed = False
    documents: ClassVar[DocumentManager[Any]]

    async def get(self, ref: str | Ref) -> object:
        """Return a document's parsed value."""
        return self.documents.parse((await self.info(ref)).source)

    def read(self, what: object) -> SourceText:
        """Return a checked document from text, a path, a JSON object, or a value from `get`."""
        if isinstance(what, str | Path | SourceText):
            return super().read(what)
        return self.draft(self.documents.source(what), {})

    def draft(self, source: str, files: Mapping[str, str], requires: tuple[str, ...] = ()) -> SourceText:
        """Check a document; raises BadComponent."""
        if files:
            raise BadComponent(f"A {self.kind} is one file.", fix="write all of it into one document.")
        check_characters(source)
        text = self.documents.text(source)
        check_texts([text.description, text.metadata])
        return text

    def outline(self, source: str) -> SourceText:
        """Return the description of a document; raises BadComponent."""
        return self.documents.text(source)

    def build(self, text: SourceText, version: str, lineage: Lineage, created: str, reason: str) -> Manifest:
        """Return the manifest of a checked document."""
        return Manifest(
            kind=self.kind,
            name=text.name,
            version=version,
            description=text.description,
            source=text.source,
            metadata=text.metadata,
            evolvable=text.evolvable,
            lineage=lineage,
            created=created,
            reason=reason,
        )


class ModelLibrary(DocumentLibrary):
    """The manager of model configurations in the registry."""

    kind = "model"
    documents = DocumentManager("model", ModelConfig.of)


class MemoryLibrary(DocumentLibrary):
    """The manager of memory components, each a configuration."""

    kind = "memory"
    documents = DocumentManager("memory", made_as(MemoryConfig))


class SolutionLibrary(DocumentLibrary):
    """The manager of solutions."""

    kind = "solution"
    documents = DocumentManager("solution", made_as(Solution))
