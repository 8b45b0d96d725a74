"""PromptManager: prompts as Markdown with front matter, read, inherited, rendered and checked (paper, C.1 and H)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeVar, cast

from tea.components.defaults import with_defaults
from tea.components.json_schema import value_faults
from tea.components.lossless import converted, lossless
from tea.components.manifest import Lineage, Manifest
from tea.components.variable import Variable
from tea.errors import BadArguments, BadComponent, BadOutput, NotEvolvable
from tea.models.format import braced
from tea.models.written_json import read_json
from tea.prompts.plain_text import as_sole_text, sole_text
from tea.prompts.slips import without_slips
from tea.prompts.source import Prompt, nearest, read_prompt
from tea.prompts.template import Templates, check_template
from tea.prompts.text import replaced
from tea.source.cache import SourceCache
from tea.store.strict import Refused, dumps, loads
from tea.types import JsonObject, JsonSchema, JsonValue, Message, TextPart

VARIABLES_LIMIT = 4 * 2**20
OUTPUT_LIMIT = 4 * 2**20
BASES_LIMIT = 8

Find = Callable[[str], Awaitable[Prompt]]
ESCAPES = r"Inside a text write a line break as \n, a quotation mark as \" and a backslash as \\"

_MAIN = ("system", "message")
_READ = "prompt as read"
_KEPT, _KEPT_BYTES = 256, 64 * 2**10
_REASONS = 8  # a model has one more try, so it is told of as many faults as it can mend at once
T = TypeVar("T")
R = TypeVar("R")


class PromptManager:
    """A manager of prompts: reads, inherits, renders and rewrites them; only recent ones are cached.

    Args:
        kept: Where prompts are kept, read and compiled, for the next process.
    """

    def __init__(self, kept: SourceCache | None = None) -> None:
        self._kept = kept or SourceCache()
        self._templates = lru_cache(maxsize=64)(partial(_templates, self._kept))
        self._known = lru_cache(maxsize=64)(self._parsed)
        self._values = OrderedDict[int, _Value]()

    def parse(self, source: str) -> Prompt:
        """Read a source.

        Raises:
            BadComponent: It is not a usable prompt; one line says why.
        """
        return self._known(source)

    def manifest(
        self, source: str, *, version: str, lineage: Lineage | None = None, created: str = "", reason: str = ""
    ) -> Manifest:
        """Return a source as a version of a component; its facts stand in `metadata` under `prompt`.

        Args:
            source: The Markdown text.
            version: `X.Y.Z`.
            lineage: Where it comes from; by hand when not given.
            created: When, ISO 8601 in UTC.
            reason: Why, in the words of whoever made it.

        Raises:
            BadComponent: The source is not a usable prompt.
        """
        prompt = self.parse(source)
        return Manifest(
            kind="prompt",
            name=prompt.name,
            version=version,
            description=prompt.description,
            source=source,
            metadata={**prompt.metadata, "prompt": prompt.facts()},
            evolvable=prompt.evolvable,
            lineage=lineage or Lineage(),
            created=created,
            reason=reason,
        )

    def inherit(self, prompt: Prompt, base: Prompt) -> Prompt:
        """Return `prompt` with missing parts taken from `base`; its own parts take precedence.

        Raises:
            BadComponent: Together they are not a usable prompt.
        """
        required = {name for name in base.required if name not in prompt.variables} | set(prompt.required)
        variables = {**base.variables, **prompt.variables}
        whole = replace(
            prompt,
            variables=variables,
            required=tuple(name for name in variables if name in required),
            output=prompt.output if prompt.output is not None else base.output,
            solver=prompt.solver or base.solver,
            uses=base.uses,
            system=prompt.system or base.system,
            message=prompt.message or base.message,
            modules={**base.modules, **prompt.modules},
        )
        self._check(whole)
        return whole

    async def resolve(self, prompt: Prompt, find: Find) -> Prompt:
        """Return `prompt` with all it inherits.

        Args:
            prompt: As parsed.
            find: Gives the prompt of a ref, so that the caller pins each base it is asked for.

        Raises:
            BadComponent: The chain has no end, or together they are not a usable prompt.
        """
        left = BASES_LIMIT
        while prompt.uses is not None:
            if not left:
                problem = f"The prompt {prompt.name!r} inherits from more than {BASES_LIMIT} prompts."
                raise BadComponent(problem, fix="break the circle in `uses`.")
            prompt, left = self.inherit(prompt, await find(prompt.uses)), left - 1
        return prompt

    def fill(self, prompt: Prompt, variables: JsonObject) -> dict[str, Any]:
        """Return all variables, with defaults for those left out.

        Raises:
            BadArguments: One is missing, unknown or of the wrong type.
        """
        return deepcopy(self._filled(prompt, variables))

    def _filled(self, prompt: Prompt, variables: JsonObject) -> dict[str, Any]:
        """Return the same variables as `fill`, for reading only."""
        given = _texts(prompt, variables)
        if missing := [name for name in prompt.required if name not in given]:
            problem = f"The prompt {prompt.name!r} lacks {_listed(missing)}."
            raise BadArguments(problem, fix="give every required variable.")
        if unknown := [name for name in given if name not in prompt.variables]:
            problem = f"The prompt {prompt.name!r} has no variable {_listed(unknown)}."
            raise BadArguments(problem, fix=nearest(unknown[0], prompt.variables))
        values = {name: self._value(prompt, name, text) for name, text in given.items()}
        return {name: one.get("default") for name, one in prompt.variables.items() if name not in given} | values

    def _value(self, prompt: Prompt, name: str, text: bytes) -> JsonValue:
        """Return the value of a variable; most are unchanged from the run before, and taken from a cache."""
        schema = prompt.variables[name]
        known = self._values.get(id(schema))
        if known is not None and known.text == text:
            return known.value
        value = _usable(prompt, loads, text)
        if faults := value_faults(schema, value, limit=1):
            problem = f"The variable {name!r} of the prompt {prompt.name!r} is wrong: {faults[0]}."
            raise BadArguments(problem, fix="follow its schema.")
        if len(text) <= _KEPT_BYTES:
            self._values[id(schema)] = _Value(schema, text, value)
            self._values.move_to_end(id(schema))
            if len(self._values) > _KEPT:
                self._values.popitem(last=False)
        return value

    def render(self, prompt: Prompt, variables: JsonObject) -> tuple[Message, Message]:
        """Return the system message and the first user message.

        Raises:
            BadArguments: A variable is missing, unknown or of the wrong type, or a template needs more of it.
            BadComponent: The prompt inherits, and what it inherits was not resolved.
        """
        if prompt.uses is not None:
            raise BadComponent(
                f"The prompt {prompt.name!r} is not whole without {prompt.uses}.", fix="resolve it first."
            )
        system, message = self._compiled(prompt).render(self._filled(prompt, variables))
        return (
            Message(role="system", content=(TextPart(text=system),)),
            Message(role="user", content=(TextPart(text=message),)),
        )

    def check_output(self, prompt: Prompt, value: JsonValue) -> JsonValue:
        """Return a model's answer in the types of the prompt's schema, converted only where nothing is lost by it.

        Raises:
            BadOutput: It does not fit; the first reasons are named.
        """
        if prompt.output is None:
            return value
        if not value_faults(prompt.output, value, limit=1):
            return value
        whole = with_defaults(prompt.output, without_slips(prompt.output, value))
        for given in (whole, without_slips(prompt.output, whole, extras=True)):
            read = lossless(prompt.output, cast(JsonObject, given))
            if not value_faults(prompt.output, read, limit=1):
                return read
        faults = value_faults(prompt.output, converted(prompt.output, cast(JsonObject, whole)), limit=_REASONS)
        problem = f"The answer does not fit the prompt {prompt.name!r}: {'; '.join(faults)}."
        raise BadOutput(problem, fix="answer with JSON that follows the output schema.")

    def parse_output(self, prompt: Prompt, text: str, *, whole: bool = False) -> JsonValue:
        """Return the JSON in a model's text, checked; the text itself if the prompt has no schema.

        Args:
            prompt: What was asked.
            text: JSON alone, in the first fenced block that holds any, or an object with words around it.
            whole: Whether the text is known to be complete, so that it may itself be the only long text of a form.

        Raises:
            BadOutput: There is no JSON, or it does not fit the schema.
        """
        if prompt.output is None:
            return text
        if len(text) > OUTPUT_LIMIT:
            raise BadOutput("The answer is longer than 4 MiB.", fix="answer more briefly.")
        sole = sole_text(prompt.output) if whole else ""
        reason, others = "it holds no object" if text.strip() else "it is empty", list[JsonValue]()
        for candidate in (text, *_fenced(text), *filter(None, [braced(text)])):
            try:
                value = read_json(candidate)
            except Refused as error:
                reason = f"{error}. {ESCAPES}" if "{" in candidate else reason
                continue
            if not sole or (isinstance(value, dict) and sole in value):
                return self.check_output(prompt, value)
            others.append(value)
        plain = as_sole_text(sole, text) if sole else None
        if plain is not None or others:
            return self.check_output(prompt, others[0] if plain is None else plain)
        raise BadOutput(f"The answer is not JSON: {reason.rstrip('.')}.", fix="answer with JSON only.")

    def vars(self, prompt: Prompt) -> list[Variable]:
        """Return the prompt's own sections as variables."""
        return [
            Variable(
                name=name,
                kind="text",
                value=text,
                description=f"The section {name!r} of the prompt {prompt.name!r}, a template.",
                trainable=prompt.evolvable and name in prompt.trainable,
            )
            for name, text in prompt.sections.items()
        ]

    def with_vars(self, source: str, values: Mapping[str, str]) -> str:
        """Return a source with other texts in some sections; all else is byte for byte as it was.

        Raises:
            NotEvolvable: The prompt, or one of the sections, may not be rewritten.
            BadComponent: The result would not be a usable prompt.
        """
        prompt = self.parse(source)
        if not prompt.evolvable:
            raise NotEvolvable(f"The prompt {prompt.name!r} is not evolvable.", fix="register a new version by hand.")
        if fixed := sorted(set(values) - set(prompt.trainable)):
            fix = f"trainable sections are {', '.join(prompt.trainable) or 'none'}."
            raise NotEvolvable(f"The prompt {prompt.name!r} does not let {_listed(fixed)} be rewritten.", fix=fix)
        result = replaced(source, values)
        self.parse(result)
        return result

    def _parsed(self, source: str) -> Prompt:
        if (fields := self._kept.read(_READ, source)) is not None:
            return Prompt(**fields)
        prompt = read_prompt(source)
        self._check(prompt)
        self._kept.keep({name: getattr(prompt, name) for name in Prompt.__slots__}, _READ, source)
        return prompt

    def _check(self, prompt: Prompt) -> None:
        own = prompt.sections
        if double := sorted(set(prompt.variables) & {*_MAIN, *prompt.modules}):
            raise BadComponent(f"{double[0]!r} is both a variable and a section.", fix="rename one of them.")
        if prompt.uses is not None:
            for name, text in own.items():
                check_template(name, text)
            return
        if absent := [name for name in _MAIN if name not in own]:
            raise BadComponent(f"The prompt {prompt.name!r} has no section `# {absent[0]}`.", fix="write it.")
        self._compiled(prompt)

    def _compiled(self, prompt: Prompt) -> Templates:
        return self._templates(tuple(sorted(prompt.sections.items())), tuple(sorted(prompt.variables)))


def _templates(kept: SourceCache, sections: tuple[tuple[str, str], ...], variables: tuple[str, ...]) -> Templates:
    return Templates(dict(sections), _MAIN, variables, kept)


class _Value(NamedTuple):
    """A variable's valid value, with its schema kept alive, and its source text."""

    schema: JsonSchema
    text: bytes
    value: JsonValue


def _texts(prompt: Prompt, variables: JsonObject) -> dict[str, bytes]:
    """Return the variables as JSON text."""
    texts = {str(name): _usable(prompt, dumps, value) for name, value in dict(variables).items()}
    if sum(map(len, texts.values())) > VARIABLES_LIMIT:
        problem = f"The variables of the prompt {prompt.name!r} exceed 4 MiB."
        raise BadArguments(problem, fix="give the long ones as files.")
    return texts


def _usable(prompt: Prompt, convert: Callable[[T], R], value: T) -> R:
    """Return a converted variable."""
    try:
        return convert(value)
    except Refused as error:
        problem = f"The variables of the prompt {prompt.name!r} cannot be used: {error}."
        raise BadArguments(problem, fix="give plain data.") from error


def _fenced(text: str) -> Iterator[str]:
    inside: list[str] | None = None
    for line in text.split("\n"):
        if not line.lstrip().startswith("```"):
            if inside is not None:
                inside.append(line)
        elif inside is None:
            inside = []
        else:
            yield "\n".join(inside)
            inside = None


def _listed(names: list[str]) -> str:
    return ", ".join(repr(name[:60]) for name in names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
