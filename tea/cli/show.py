"""`tea show`: all facts about one component."""

import asyncio
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tea.characters import indented, number, numbered_in_source, path_line
from tea.cli.command import Command
from tea.cli.reference import RefArgument, find
from tea.cli.terminal import SENDER, brief, is_narrow, review, review_source, shown
from tea.errors import BadInput, StorageError
from tea.untrusted import SANDBOXED

if TYPE_CHECKING:
    from tea.components.manifest import Manifest

_WORDS = 300
# The lines that `source_text` writes beside the source: a text with such a line looks like more files, or another end.
# Any blank counts, of any width, or none, also before the sign: a reader does not tell them apart.
_MARKS = re.compile(
    r"^([^\S\n]*)[#\uff03\ufe5f](?=[^\S\n]*(?:file|requires)[^\S\n]*:|[^\S\n]*[a-z]+[^\S\n]*:[^\S\n]*[a-z]\w*[^\S\n]*@.*sha256:)",
    re.MULTILINE | re.IGNORECASE,
)
_STYLES = ("openai", "anthropic")


async def show_component(
    command: Command,
    ref: RefArgument,
    source: Annotated[bool, typer.Option("--source", help="Print the source alone.")] = False,
    schema: Annotated[str | None, typer.Option("--schema", help="Print function schemas: openai or anthropic.")] = None,
) -> None:
    """Show a component: description, parameters, rules, origin.

    What --source prints ends with the digest; `tea trust` asks no more about what was shown so last.
    """
    if schema is not None and schema not in _STYLES:
        raise BadInput(f"There is no schema of style {schema[:60]!r}.", fix="write openai or anthropic.")
    async with command.platform() as tea:
        library, found = await find(tea, ref)
        config, trusted = await library.judged(found.at(found.selector))
        ours = await asyncio.to_thread(library.recorded_here, config)
        held = "" if trusted or config.kind not in SANDBOXED else await tea.sandboxes.name()
        head = await asyncio.to_thread(tea.versions.head, config.kind, config.name)
    if schema is not None:
        schemas = config.function_schemas("anthropic" if schema == "anthropic" else "openai")
        command.show(shown(schemas), {"schemas": schemas})
    elif source:
        from tea.source.reviewed import Reviewed

        reviewed = Reviewed(tea.trust.path.parent)
        await asyncio.to_thread(reviewed.begin, config.ref, config.digest)
        command.show(source_text(config), {"source": config.source, "files": dict(config.files), **_covered(config)})
        if not is_narrow(sys.stdout):
            with suppress(StorageError):  # then it is reviewed again
                await asyncio.to_thread(reviewed.add, config.ref, config.digest)
    else:
        state = head.states.get(config.version, "active")
        facts = {**_data(config, trusted), "state": state, "sandbox": held, "recorded_here": ours}
        command.show(review(_text(config, trusted, ours, state, held)), facts)


def _text(config: "Manifest", trusted: bool, ours: bool, state: str, held: str) -> str:
    from tea.protocols.contract_documents import document_facts

    said = "\n".join(f"{name}: {_fitting(text)}" for name, text in document_facts(config) if text)
    words = "\n\n".join(part for part in (config.text(), said) if part)
    if not trusted:  # nothing that a sender wrote looks like one of the facts, which begin their lines
        words = f"As its sender says:\n\n{indented(words, '    ')}"
    return f"{words}\n\n{_facts(config, trusted, ours, state, held)}"


def _facts(config: "Manifest", trusted: bool, ours: bool, state: str, held: str) -> str:
    lineage = config.lineage
    origin = lineage.how + (f" from {lineage.parent}" if lineage.parent else "")
    said = "" if ours else SENDER
    facts = {
        "ref": str(config.ref),
        "digest": config.digest,
        "comes from": origin + said,
        "created": config.created and config.created + said,
        "reason": config.reason and config.reason + said,
        "requires": ", ".join(config.requires),
        "written in": "; ".join(config.changes) + (said if config.changes else ""),
        "state": "" if state == "active" else state,
        "trusted": "yes" if trusted else f"no, so it is {f'sandboxed ({held})' if held else 'not executed'}",
    }
    return "\n".join(f"{name}: {brief(text)}" for name, text in facts.items() if text)


def source_text(config: "Manifest") -> str:
    """Return all content covered by the digest of a version, for review, and at the end the digest."""
    files = sorted(config.files.items())
    parts = [
        _unmarked(config.source),
        *(f"# file: {review_source(path_line(path))}\n{_unmarked(text)}" for path, text in files),
        *(f"# requires: {review_source(path_line(one))}" for one in config.requires),
    ]
    return "\n".join(["\n".join(parts).rstrip("\n"), f"# {config.ref} {config.digest}"])


def _unmarked(text: str) -> str:
    """Return reviewed text, escaping the first character of each line imitating a line of tea's own."""
    return numbered_in_source(_MARKS.sub(lambda found: f"{found[1]}<{number(found[0][-1])}>", review(text)))


def _fitting(text: str) -> str:
    return brief(text) if len(text) <= _WORDS else f"{brief(text[:_WORDS])} [... all {len(text):,} with --json]"


def _covered(config: "Manifest") -> dict[str, Any]:
    return {"requires": list(config.requires), "ref": str(config.ref), "digest": config.digest}


def _data(config: "Manifest", trusted: bool) -> dict[str, Any]:
    return {"component": config.to_json(), "text": config.text(), "trusted": trusted}
