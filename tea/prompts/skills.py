"""Skills kept as prompts: their instructions, and their other files as bytes."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping

from tea.components.manifest import Manifest
from tea.components.schema_words import as_object, as_words
from tea.errors import BadComponent
from tea.prompts.source import read_prompt
from tea.registry.row import SKILL

PART = "instructions"
FACTS = SKILL
ASSETS = "assets"
_SECTION = re.compile(r"^#(?=[ \t]*(?:module[ \t]*:|(?:system|message)[ \t:]*$))", re.MULTILINE | re.IGNORECASE)
_TEMPLATE = re.compile(r"\{(?=[{%#])")
_QUOTED = re.compile(r'\{\{ "([{#])" \}\}')


def is_skill(found: Manifest) -> bool:
    """Return whether a component is an imported skill."""
    return found.kind == "prompt" and isinstance(found.metadata.get(FACTS), Mapping)


def as_template(body: str) -> str:
    """Return the instructions of a skill as a template showing them unchanged."""
    return _SECTION.sub('{{ "#" }}', _TEMPLATE.sub('{{ "{" }}', body))


def instructions(found: Manifest) -> str:
    """Return the instructions of an imported skill, as they were written."""
    return _QUOTED.sub(lambda match: match[1], read_prompt(found.source).modules.get(PART, ""))


def kept_files(texts: Mapping[str, str], assets: Mapping[str, bytes]) -> dict[str, str]:
    """Return the files of a skill as the texts of a component, binary ones in base64."""
    return {**texts, **{path: b64encode(data).decode() for path, data in assets.items()}}


def texts_of(found: Manifest) -> dict[str, str]:
    """Return the text files of an imported skill by path."""
    binary = _binary(found)
    return {path: text for path, text in found.files.items() if path not in binary}


def assets_of(found: Manifest) -> dict[str, bytes]:
    """Return the binary files of an imported skill by path.

    Raises:
        BadComponent: One is not kept in base64.
    """
    try:
        return {path: b64decode(found.files[path], validate=True) for path in _binary(found) if path in found.files}
    except ValueError as error:
        problem = f"{found.ref} names an asset with text other than base64."
        raise BadComponent(problem, fix="import the skill again.") from error


def _binary(found: Manifest) -> tuple[str, ...]:
    """Return the paths of the files kept in base64."""
    return tuple(as_words(as_object(found.metadata.get(FACTS)).get(ASSETS)))
