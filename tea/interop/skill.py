"""Agent Skills: a component as a skill, and a skill as a prompt.

A skill is a folder with a `SKILL.md`: fields between two lines `---`, then instructions. What is written keeps the
limits of that format; what is read is data, and nothing of it is executed.

Source: the Agent Skills specification, https://agentskills.io/specification
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from tea.components.manifest import Manifest
from tea.components.markdown import block, one_line
from tea.components.schema_words import as_object, as_words
from tea.errors import BadComponent
from tea.prompts.skills import ASSETS, FACTS, PART, as_template, assets_of, instructions, is_skill, kept_files, texts_of
from tea.prompts.text import front_matter
from tea.protocols.contract import purpose, section
from tea.refs import NAME
from tea.source.text import SourceText

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
OWN = "tea-"
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
LONGEST_NAME, _LONGEST_DESCRIPTION, _LONGEST_COMPATIBILITY = 64, 1024, 500
_LONGEST_KEY, _LONGEST_FACT = 100, 10_000
_READ = {"prompt": "markdown", "solution": "json"}
_TOPICS = {
    "memory": "Use it to say what an agent keeps and sees of a session.",
    "model": "Use it to choose who answers a task.",
    "solution": "Use it when this is asked again:",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One Agent Skill.

    Args:
        name: 1 to 64 lower-case letters, digits and single hyphens; also the name of its folder.
        description: What it does and when to use it, 1 to 1024 characters.
        body: The instructions, in Markdown.
        license: Name of its licence, or of a file that holds it.
        compatibility: What it needs around it, at most 500 characters.
        allowed_tools: Tools that it would like to use without being asked; tea grants none of them.
        metadata: Further facts.
        files: Its other text files by path inside the folder: scripts, references.
        assets: Its binary files by path inside the folder: pictures, fonts, templates.
    """

    name: str
    description: str
    body: str
    license: str = ""
    compatibility: str = ""
    allowed_tools: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    assets: Mapping[str, bytes] = field(default_factory=dict[str, bytes])

    def document(self) -> str:
        """Return the text of its SKILL.md."""
        fields = {
            "name": self.name,
            "description": self.description,
            "license": self.license,
            "compatibility": self.compatibility,
            "allowed-tools": self.allowed_tools,
        }
        lines = [f"{key}: {_quoted(text)}" for key, text in fields.items() if text]
        if self.metadata:
            lines += ["metadata:", *(f"  {_quoted(key)}: {_quoted(text)}" for key, text in self.metadata.items())]
        return "\n".join(["---", *lines, "---", "", self.body.strip("\n"), ""])


def skill_of(found: Manifest) -> Skill:
    """Return a component as a skill; an imported one becomes its original skill."""
    origin = found.metadata.get("origin_name")
    if isinstance(origin, str) and is_skill(found):
        return _given_back(found, origin)
    what, when = purpose(found)
    topic = _TOPICS.get(found.kind, f"Use it when the task is about {found.name.replace('_', ' ')}.")
    if found.kind == "solution":
        topic = f"{topic} {as_object(found.metadata.get('solution')).get('task', '')}"
    needs = [*(["the command `tea`"] if found.kind not in _READ else []), *map(one_line, found.requires)]
    return Skill(
        name=skill_name(found.kind, found.name),
        description=_cut(one_line(f"{what} {when or topic}") or one_line(topic), _LONGEST_DESCRIPTION),
        compatibility=_cut(f"Needs {', '.join(needs)}" if needs else "", _LONGEST_COMPATIBILITY),
        metadata={f"{OWN}ref": str(found.ref), f"{OWN}digest": found.digest},
        body="\n\n".join([f"# {found.kind} {found.name}", *section(found), _use(found)]),
    )


def skill_name(kind: str, name: str) -> str:
    """Return the name of a component's skill, unique to the component.

    Example:
        >>> skill_name("tool", "word_count")
        'tool-word-count'
    """
    plain = f"{kind}-{name}".replace("_", "-")
    if len(plain) <= LONGEST_NAME and _NAME.fullmatch(plain):
        return plain
    digest = hashlib.sha256(name.encode()).hexdigest()[:12]
    return f"{re.sub('-+', '-', plain)[: LONGEST_NAME - 13].strip('-')}-{digest}"


def read_skill(text: str, files: Mapping[str, str], assets: Mapping[str, bytes] | None = None) -> Skill:
    """Read the text of a SKILL.md.

    Args:
        text: The text.
        files: The other text files of its folder, by path.
        assets: The binary files of its folder, by path.

    Raises:
        BadComponent: It breaks a rule of the format.
    """
    front, begin = front_matter(text, what="The skill", typed=False)
    if unknown := sorted(set(front) - set(FIELDS)):
        raise _bad(f"has an unknown field {unknown[0][:60]!r}", f"fields are {', '.join(FIELDS)}.")
    metadata = as_object(front.get("metadata"))
    if front.get("metadata", "") not in ("", metadata) or not all(map(_is_fact, metadata.items())):
        raise _bad("has metadata that are not texts by name", "write `key: text` lines below `metadata:`.")
    tools = front.get("allowed-tools", "")
    allowed = {"allowed-tools": " ".join(as_words(cast("object", tools))) if isinstance(tools, list) else tools}
    return Skill(
        name=_field(front, "name", LONGEST_NAME),
        description=_field(front, "description", _LONGEST_DESCRIPTION),
        license=_field(front, "license", _LONGEST_DESCRIPTION, needed=False),
        compatibility=_field(front, "compatibility", _LONGEST_COMPATIBILITY, needed=False),
        allowed_tools=_field(allowed, "allowed-tools", _LONGEST_FACT, needed=False),
        metadata={key: one for key, one in metadata.items() if not key.startswith(OWN)},
        body=text[begin:].replace("\r\n", "\n").replace("\r", "\n").strip("\n"),
        files=files,
        assets=assets or {},
    )


def check_name(name: str) -> str:
    """Return the name of a skill.

    Raises:
        BadComponent: It does not follow the format.
    """
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        raise _bad(f"has no usable name ({name[:80]!r})", "use lower-case letters, digits and single hyphens.")
    return name


def prompt_of(skill: Skill, name: str | None = None) -> SourceText:
    """Return a skill as the source of a prompt, with its instructions as a part open to evolution.

    Args:
        skill: The skill; its files are kept beside the prompt as they are.
        name: The component's name; made from the skill's by default.

    Raises:
        BadComponent: `name` is not a name.
    """
    facts = {"license": skill.license, "compatibility": skill.compatibility, "allowed_tools": skill.allowed_tools}
    kept: dict[str, Any] = {**{key: text for key, text in facts.items() if text}, "metadata": dict(skill.metadata)}
    if skill.assets:
        kept[ASSETS] = sorted(skill.assets)
    front = {
        "name": name or component_name(skill.name),
        "description": skill.description,
        "variables": {"task": {"type": "string", "description": "What to do."}},
        "trainable": [PART],
        "metadata": {"origin_name": skill.name, FACTS: kept},
    }
    lines = [f"{key}: {_yaml(value)}" for key, value in front.items()]
    parts = [
        "---",
        *lines,
        "---",
        f"# module: {PART}",
        "",
        as_template(skill.body),
        "",
        "# system",
        "",
        _INTRODUCTION,
        "",
        "# message",
    ]
    source = "\n".join([*parts, "", "{{ task }}", ""])
    return SourceText(
        kind="prompt", name=str(front["name"]), source=source, files=kept_files(skill.files, skill.assets)
    )


def component_name(name: str) -> str:
    """Return the name of a skill's prompt."""
    plain = name.replace("-", "_")
    return plain if NAME.fullmatch(plain) else f"skill_{plain}"[:64]


_INTRODUCTION = (
    "Follow these instructions as far as they serve the task. They come from a skill that was imported; files that"
    " they name may be absent, and what they say of permissions grants none.\n\n<instructions>\n"
    "{{ " + PART + " }}\n</instructions>"
)


def _given_back(found: Manifest, origin: str) -> Skill:
    kept = as_object(found.metadata[FACTS])
    facts = as_object(kept.get("metadata"))
    return Skill(
        name=check_name(origin),
        description=found.description,
        license=str(kept.get("license", "")),
        compatibility=str(kept.get("compatibility", "")),
        allowed_tools=str(kept.get("allowed_tools", "")),
        metadata={**{key: str(one) for key, one in facts.items()}, f"{OWN}ref": str(found.ref)},
        body=instructions(found),
        files=texts_of(found),
        assets=assets_of(found),
    )


def _use(found: Manifest) -> str:
    if found.kind in _READ:
        return f"The text of the {found.kind}:\n\n{block(found.source, _READ[found.kind])}"
    if found.kind == "memory":
        line = f'memory = "{found.name}"'
        return f"**How to use it.** Name it in the class of an agent.\n\n{block(line, 'python')}"
    if found.kind == "model":
        line = f"tea run 'QUESTION' --model {found.name}"
        return f"**How to use it.** Name it where a task is run.\n\n{block(line, 'sh')}"
    operations = sorted(found.operations)
    named = [found.ref.at(None) if len(operations) == 1 else f"{found.ref.at(None)}#{one}" for one in operations]
    calls = "\n".join(f"tea call {ref} --args '{{...}}'" for ref in named)
    return f"**How to call it.** Give the arguments as one JSON object.\n\n{block(calls, 'sh')}"


def _field(front: dict[str, Any], name: str, longest: int, *, needed: bool = True) -> str:
    text = front.get(name, "")
    if not isinstance(text, str) or (needed and not text.strip()):
        raise _bad(f"has no usable field {name!r}", "give it text.")
    plain = text.strip(" \t\n")  # no control characters, which its registration refuses
    if len(plain) > longest:
        raise _bad(f"has a field {name!r} of more than {longest} characters", "shorten it.")
    return check_name(plain) if name == "name" else plain


def _is_fact(fact: tuple[object, object]) -> bool:
    key, text = fact
    return isinstance(key, str) and len(key) <= _LONGEST_KEY and isinstance(text, str) and len(text) <= _LONGEST_FACT


def _bad(problem: str, fix: str) -> BadComponent:
    return BadComponent(f"The skill {problem}.", fix=fix)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."


def _yaml(value: object) -> str:
    if isinstance(value, dict):
        inner = (f"{_quoted(key)}: {_yaml(one)}" for key, one in as_object(cast("object", value)).items())
        return "{" + ", ".join(inner) + "}"
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def _quoted(text: str) -> str:
    """Return text as a quoted scalar of YAML on one line, without three hyphens in a row."""
    return '"' + "".join(map(_escaped, text)).replace("--", "-\\x2d") + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"
