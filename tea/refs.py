"""References to components: `kind:name@selector#operation`, one grammar everywhere."""

import re
from dataclasses import dataclass
from functools import total_ordering
from typing import Literal, get_args

from tea.errors import BadRef

Kind = Literal["tool", "environment", "agent", "prompt", "memory", "model", "solution"]
Change = Literal["major", "minor", "patch"]

KINDS: tuple[Kind, ...] = get_args(Kind)
NAME = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)
ALIAS = re.compile(r"[a-z][a-z0-9-]{0,63}", re.ASCII)
SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}", re.ASCII)
# Words that begin lines of tea or of the person, so no agent speaks under them alone.
SPOKEN = frozenset(
    (
        *("person", "tea", "trace", "run", "cost", "told", "plan", "chat", "file", "files", "report", "evidence"),
        *("gaps", "incomplete", "reflection", "research", "clarification", "start", "status"),
    )
)
DIGEST = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)
_VERSION = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})", re.ASCII)


@total_ordering
@dataclass(frozen=True, slots=True)
class Version:
    """A strict semantic version `X.Y.Z`: ASCII digits, no leading zeros, each below 10**9.

    Source: Semantic Versioning 2.0.0, items 2 and 11, without pre-release and build.
    """

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> "Version":
        """Read `X.Y.Z`.

        Raises:
            BadRef: `text` is not a strict semantic version.
        """
        match = _VERSION.fullmatch(text)
        if match is None:
            raise BadRef(f"{_shown(text)} is not a version.", fix="write X.Y.Z, for example 1.0.0.")
        return cls(*map(int, match.groups()))

    def bump(self, change: Change) -> "Version":
        """Return the next version for the given kind of change."""
        match change:
            case "major":
                return Version(self.major + 1, 0, 0)
            case "minor":
                return Version(self.major, self.minor + 1, 0)
            case "patch":
                return Version(self.major, self.minor, self.patch + 1)

    def __lt__(self, other: "Version") -> bool:
        return (self.major, self.minor, self.patch) < (other.major, other.minor, other.patch)

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


FIRST = Version(1, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """A reference to a component, optionally with a version and an operation.

    Args:
        kind: One of `KINDS`.
        name: `[a-z][a-z0-9_]{0,63}`.
        selector: A version, an alias, a `sha256:` digest, or None for the current version.
        operation: One operation of the component, or None.
    """

    kind: Kind
    name: str
    selector: str | None = None
    operation: str | None = None

    @classmethod
    def parse(cls, text: str, *, kind: Kind | None = None) -> "Ref":
        """Read `kind:name@selector#operation`; `kind` is used if the text names none.

        Raises:
            BadRef: `text` does not follow the grammar.
        """
        head, hash_sign, operation = text.partition("#")
        head, at_sign, selector = head.partition("@")
        kind_text, colon, name = head.rpartition(":")
        chosen = kind_text if colon else kind
        if chosen not in KINDS:
            fix = f"start with a kind, for example {_example(name)}; kinds are {', '.join(KINDS)}."
            raise BadRef(f"{_shown(text)} does not name a kind of component.", fix=fix)
        check_name(name)
        if at_sign:
            check_selector(selector)
        if hash_sign:
            check_name(operation, "an operation")
        return cls(
            kind=chosen,
            name=name,
            selector=selector if at_sign else None,
            operation=operation if hash_sign else None,
        )

    def at(self, selector: str | None) -> "Ref":
        """Return the same component at another version, alias or digest."""
        if selector == self.selector:
            return self
        return Ref(kind=self.kind, name=self.name, selector=selector, operation=self.operation)

    def __str__(self) -> str:
        selector = f"@{self.selector}" if self.selector else ""
        operation = f"#{self.operation}" if self.operation else ""
        return f"{self.kind}:{self.name}{selector}{operation}"


def plural(kind: str) -> str:
    """Return the plural of a kind, also used in the names of folders."""
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"


def with_kind(text: str, kind: Kind) -> str:
    """Return a caller's text as a ref, valid or not, with any missing kind added; at most 200 characters."""
    return (text if text.startswith(f"{kind}:") else f"{kind}:{text}")[:200]


def speaker(agent: str) -> str:
    """Return the author of an agent's words: its name, with its kind if the name is one of tea or the person."""
    return f"agent:{agent}" if agent in SPOKEN else agent


def check_name(name: str, what: str = "a component") -> str:
    """Return `name` if it follows the grammar of names.

    Raises:
        BadRef: It does not.
    """
    if not NAME.fullmatch(name):
        fix = "use lower-case letters, digits and _, starting with a letter, at most 64."
        raise BadRef(f"{_shown(name)} is not a name for {what}.", fix=fix)
    return name


def numbered(name: str) -> list[str]:
    """Return a name, and names to use if it is taken: `name_2`, `name_3` up to `name_99`."""
    return [name, *(f"{name[:60]}_{number}" for number in range(2, 100))]


def check_selector(selector: str) -> str:
    """Return `selector` if it is a version, an alias or a digest.

    Raises:
        BadRef: It is none of them.
    """
    if ALIAS.fullmatch(selector) or DIGEST.fullmatch(selector) or _VERSION.fullmatch(selector):
        return selector
    fix = "write a version such as 1.0.0, an alias such as prod, or sha256:<64 hex digits>."
    raise BadRef(f"{_shown(selector)} does not select a version.", fix=fix)


def check_alias(alias: str) -> str:
    """Return `alias` if it follows the grammar of aliases.

    Raises:
        BadRef: It does not.
    """
    if not ALIAS.fullmatch(alias):
        raise BadRef(f"{_shown(alias)} is not an alias.", fix="use lower-case letters, digits and -, at most 64.")
    return alias


def check_session(session: str | None) -> str | None:
    """Return `session` if it can be the name of a session, or is None.

    Raises:
        BadRef: It cannot.
    """
    if session is not None and not SESSION.fullmatch(session):
        fix = "use letters, digits, - and _, starting with a letter or digit, at most 128."
        raise BadRef(f"{_shown(session)} is not a name of a session.", fix=fix)
    return session


def is_version(selector: str) -> bool:
    """Return whether `selector` is a version, not an alias or a digest."""
    return _VERSION.fullmatch(selector) is not None


def is_digest(selector: str) -> bool:
    """Return whether `selector` is a `sha256:` digest."""
    return DIGEST.fullmatch(selector) is not None


def _shown(text: str) -> str:
    shown = repr(text[:80])
    return shown if len(shown) <= 82 and len(text) <= 80 else f"{shown[:79]}..."


def _example(name: str) -> str:
    return f"tool:{name}" if NAME.fullmatch(name) else "tool:calculator"
