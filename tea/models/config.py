"""A model configuration: the address, capabilities and prices of one model."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cache
from ipaddress import ip_address
from typing import Any, ClassVar, Literal, cast, get_args
from urllib.parse import urlsplit

from pydantic import ConfigDict, TypeAdapter, ValidationError

from tea.components.operation import reasons_in_document
from tea.errors import BadInput
from tea.refs import check_name
from tea.store.strict import Refused, dumps
from tea.types import JsonObject
from tea.web.places import is_place

OFFLINE = "offline"
Provider = Literal["openai_chat", "openai_responses", "anthropic_messages"]
Fold = Literal["recent", "restart", "summary"]
CAPABILITIES = ("tools", "tool_choice", "schema", "vision", "audio", "files", "streaming")
SENSES = ("vision", "audio", "files")
CONTEXT = 32_000  # tokens, where nobody knows how many a model reads
LEAST_CONTEXT = 1_000
_ANSWER = 8192
LIMITS = ("concurrency", "requests_per_minute", "attempts", "attempt_seconds", "seconds")
PRICES = ("input", "cached", "written", "output")

# Members that tea sets itself, as for budgets and messages: options of these names would override them.
_OWN = frozenset(
    {"max_tokens", "max_completion_tokens", "max_output_tokens", "n", "model", "messages", "input", "stream"}
)

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,127}")  # in capitals, as all do: what has small letters may be a key
_MOST_KEYS = 100  # of one provider, asked in turn
_KEY = re.compile(r"(?<![A-Za-z0-9])(?:sk[-_]|gsk_|xai-|hf_|pplx-|nvapi-|r8_|AIza)[A-Za-z0-9_-]{16,}")
_KEY_FIELD = re.compile(
    r"(?:api|access|secret)?[-_]?(?:key|token|secret|password|authorization|credentials?)|.*headers"
)
NAMED = "name the variable that holds it as `key_env`; it stands in the environment, or in .env of the home."
AT_AN_ADDRESS = (
    "give it as --base-url (`tea run TASK --base-url ADDRESS`), or as `base_url` of a model (`tea models add --help`)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """A named configuration.

    Args:
        name: What tasks and agents call it.
        provider: Which adapter speaks to it: a wire format, or `offline`.
        model: The provider's own id of the model; empty for the first that the server lists.
        base_url: Where it is reached, None for the provider's default.
        key_env: Names of the environment variables that hold keys, divided by commas; never a key.
        capabilities: What it can do beyond text: `tools`, `tool_choice` (whether a call is wanted can be said),
            `schema`, `vision`, `audio`, `files`, `streaming`.
        prices: US dollars per million tokens: `input`, `cached`, `written`, `output`; empty for the list prices.
        fallbacks: Names of the configurations to try next; never `offline`.
        limits: `concurrency`, `requests_per_minute`, `attempts`, `attempt_seconds`, `seconds`.
        max_output: Most tokens of one answer; None where no tokens are counted.
        options: Further members of the request, as the provider's reference has them, for example `temperature`.
        context: Most tokens of a question and its answer; None where that is not known.
        fold: What of a longer conversation stays: the `recent` results in full, a written state to `restart` from, or
            a `summary`.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    name: str
    provider: str
    model: str = ""
    base_url: str | None = None
    key_env: str | None = None
    capabilities: tuple[str, ...] = ()
    prices: Mapping[str, float] = field(default_factory=dict[str, float])
    fallbacks: tuple[str, ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict[str, float])
    max_output: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    context: int | None = None
    fold: Fold = "recent"

    @property
    def origin(self) -> str:
        """Provider, address and model as one text: only the same origin can read its reasoning again."""
        return f"{self.provider} {self.base_url or ''} {self.model}"

    @property
    def senses(self) -> list[str]:
        """The media it takes beside text."""
        return [name for name in SENSES if name in self.capabilities]

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the environment variables containing its keys."""
        return tuple(name.strip() for name in (self.key_env or "").split(",") if name.strip())

    def limited(self, most: int | None) -> int | None:
        """Return the maximum number of answer tokens for a request with the limit `most`; None if there is no limit."""
        return min(most, self.max_output) if most and self.max_output else most

    def facts(self) -> dict[str, Any]:
        """Return the facts available to an agent.

        `context` is 32,000 tokens where it is not known; `functions` and `streaming` say whether it can; `solver` says
        whether no model answers, but what a prompt names in its place.
        """
        return {
            "name": self.name,
            "context": self.context or CONTEXT,
            "max_output": self.max_output,
            "fold": self.fold,
            "functions": "tools" in self.capabilities,
            "solver": self.provider == OFFLINE,
            "senses": self.senses,
            "streaming": "streaming" in self.capabilities,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the configuration as a JSON object sharing its mappings."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def of(cls, name: str, document: JsonObject) -> ModelConfig:
        """Return the configuration in a document; the wire format is Chat Completions if it names none.

        Raises:
            BadInput: It is not a usable configuration, or holds what looks like a key.
        """
        if holds_key(name):
            raise BadInput("The name of a model is what looks like a key.", fix=NAMED)
        check_name(name, "a model")
        if fault := _wording_fault(document):
            raise BadInput(f"The model {name[:80]!r} is not usable: {fault[0]}.", fix=fault[1])
        most = answer_within(_ANSWER, document.get("context"))
        given = {"provider": "openai_chat", "max_output": most, **document, "name": name}
        try:
            config = _reader().validate_json(dumps(given))
        except (ValidationError, Refused) as error:
            problem = f"The model {name[:80]!r} is not usable: {reasons_in_document(error, 2)[:180]}."
            raise BadInput(problem, fix="see design/005-models.md for what it may say.") from error
        if fault := _fault(config):
            raise BadInput(f"The model {name[:80]!r} is not usable: {fault[0]}.", fix=fault[1])
        return config


def answer_within(max_output: int, context: Any) -> int:
    """Return the default limit of answer tokens: at most a quarter of the model's context."""
    known = isinstance(context, int) and context >= LEAST_CONTEXT
    return min(max_output, context // 4) if known else max_output


def holds_key(text: str) -> bool:
    """Return whether a text contains something like a key; such a text must not be repeated."""
    return _KEY.search(text) is not None


@cache
def _reader() -> TypeAdapter[ModelConfig]:
    return TypeAdapter(ModelConfig)


def _wording_fault(document: JsonObject) -> tuple[str, str] | None:
    """Return the problem with a document's form and its fix; a possible key is not repeated."""
    options = document.get("options")
    for name in map(str, (*document, *(cast("Mapping[str, Any]", options) if isinstance(options, Mapping) else ()))):
        if _KEY_FIELD.fullmatch(name.lower()):
            return f"{name!r} would hold a key", NAMED
    if holds_key(" ".join(_texts(document))):
        return "it holds what looks like a key", NAMED
    for name in document:
        if name == "preset":
            return "a document says all of it itself, and this one names a preset", _FROM_PRESET
        if name not in _FIELDS[1:] and name != "name":
            near = get_close_matches(name, [one for one in _FIELDS if one != name], n=1)
            fix = f"did you mean {near[0]!r}?" if near else f"it may have {', '.join(_FIELDS)}."
            return f"{name[:60]!r} is not a setting of a model", fix
    if isinstance(document.get("key_env"), list | tuple):
        return "`key_env` is a list", 'write the names in one text, divided by commas, as in "ONE_KEY, SPARE_KEY".'
    numbers = (one for field_name in ("prices", "limits") for one in _values(document.get(field_name)))
    if any(isinstance(one, float) and not math.isfinite(one) for one in numbers):
        return "a price or a limit is not a number", "write a number from 0 on."
    return None


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a document, the names of its members too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, one in cast("Mapping[Any, Any]", value).items():
            yield str(name)
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in cast("list[Any]", value):
            yield from _texts(one)


def _values(value: Any) -> tuple[Any, ...]:
    return tuple(cast("Mapping[str, Any]", value).values()) if isinstance(value, Mapping) else ()


def address_fault(base_url: str) -> tuple[str, str] | None:
    """Return the problem with an address and its fix; the address is not repeated, as it may contain a password."""
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and is_place(parts.netloc)
    except ValueError:
        usable, parts = False, urlsplit("")
    if not usable or "@" in base_url or re.search(r"[\s\x00-\x1f\x7f\\{}]", base_url):
        return "`base_url` is not an address", "write http:// or https://, without a user, a password or ${NAME}."
    if "?" in base_url or "#" in base_url:
        return "`base_url` has a query or a fragment", "leave out what stands behind ? and #."
    for path in _PATHS:
        if parts.path.rstrip("/").endswith(path):
            return f"`base_url` ends in {path}, which is added to it", f"leave out {path}."
    return None


def is_local(place: str) -> bool:
    """Return whether an address, or a place as `host:port`, is on this machine's loopback."""
    try:
        host = urlsplit(place if "://" in place else f"//{place}").hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


_PATHS = ("/chat/completions", "/responses", "/messages", "/models")
_FROM_PRESET = "let `tea models add NAME --preset PRESET` write it."
_FIELDS = ("preset", *(one.name for one in fields(ModelConfig) if one.name != "name"))


def _fault(config: ModelConfig) -> tuple[str, str] | None:
    """Return the problem with a configuration and its fix."""
    if config.provider not in get_args(Provider):
        return f"there is no provider {config.provider[:60]!r}", f"providers are {', '.join(get_args(Provider))}."
    if len(config.keys) > _MOST_KEYS:
        return f"`key_env` names more than {_MOST_KEYS} variables", "name fewer keys of the provider."
    for name in config.keys:
        if not _VARIABLE.fullmatch(name):
            return (
                "`key_env` is not a name of an environment variable",
                "put the key there, and name the variable here.",
            )
    if config.base_url is not None and (wrong := address_fault(config.base_url)):
        return wrong
    if OFFLINE in config.fallbacks or config.name in config.fallbacks:
        return "it falls back to itself, or to the offline solvers", "name another provider's configuration."
    known = {"capabilities": CAPABILITIES, "prices": PRICES, "limits": LIMITS}
    for field_name, names in known.items():
        if wrong := sorted(set(getattr(config, field_name)) - set(names)):
            return f"{field_name!r} knows no {wrong[0][:60]!r}", f"it may have {', '.join(names)}."
    if wrong := sorted(_OWN & config.options.keys()):
        return f"{wrong[0]!r} among its options is tea's own", "leave it out; `max_output` limits an answer."
    if any(not 0 <= value < 1e9 for value in (*config.prices.values(), *config.limits.values())):
        return "a price or a limit is negative or too large", "write a number from 0 on."
    if config.prices and not {"input", "output"} <= set(config.prices):
        return "`prices` lacks what a question or an answer costs", "state input and output, or leave prices out."
    if not all(config.limits.values()):
        return "a limit is 0", "write more, or leave it out."
    if config.max_output is not None and config.max_output < 1:
        return "`max_output` is not a number of tokens", "write how many an answer may have."
    if config.context is not None and config.context < LEAST_CONTEXT:
        return f"`context` is less than {LEAST_CONTEXT:,} tokens", "write how many a question and its answer may have."
    if config.max_output is not None and config.context is not None and config.max_output >= config.context:
        return "`max_output` leaves no room for a question in `context`", "write a smaller one, or leave it out."
    return None
