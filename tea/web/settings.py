"""Settings: the operator's settings of web access, in `[web]` of `tea.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date
from difflib import get_close_matches
from typing import Any, cast
from urllib.parse import urlsplit

from tea.characters import in_sentence
from tea.errors import BadInput
from tea.web.places import is_place

AGENT = "tea-protocol/0.1 (an agent reads for a person)"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings:
    """The operator's settings of web access.

    Args:
        allow: Places to open whatever their address and port, each exactly `host:port`, as `127.0.0.1:8000`.
        agent: What servers are told that asks.
        seconds: Most time for one page, with its redirects.
        redirects: Most redirects.
        html_bytes: Most decompressed bytes of a page or text.
        pdf_bytes: Most bytes of a PDF file; a larger one is refused.
        pdf_pages: Most pages of a PDF file that are read.
        characters: Most characters of a page's Markdown.
        retries: Seconds to wait before each further attempt at what may pass by itself.
        fresh: Seconds for which a page is taken from the cache unasked, where its server says nothing.
        cache_bytes: Most bytes of the cache; 0 for none.
        robots: Whether `robots.txt` is obeyed.
        wayback: Address of a web archive, asked for pages that are gone or blocked; empty for none.
        plain: Ends of host names, as `.gov`, at which `http` is tried where `https` fails.
        after: The earliest date of a page, `YYYY-MM-DD`; with it or `before` a page without a date is refused.
        before: The first date that is too late.
        deny: Hosts that are closed with all below them, as `huggingface.co`; a run may close more.
        canaries: Texts; a page that holds one of them is not shown, as it is a part of a benchmark.
        repositories: Folders whose bare git repositories may be cloned and pushed to, as absolute paths.
        cache: Folder of the cache, which the platform chooses.
    """

    allow: tuple[str, ...] = ()
    agent: str = AGENT
    seconds: float = 20.0
    redirects: int = 10
    html_bytes: int = 2_000_000
    pdf_bytes: int = 8_000_000
    pdf_pages: int = 100
    characters: int = 400_000
    retries: tuple[float, ...] = (0.5, 1.5)
    fresh: float = 600.0
    cache_bytes: int = 100_000_000
    robots: bool = False
    wayback: str = ""
    plain: tuple[str, ...] = ()
    after: str = ""
    before: str = ""
    deny: tuple[str, ...] = ()
    canaries: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    cache: str = ""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> WebSettings:
        """Return the settings in a document.

        Raises:
            BadInput: It holds an unknown setting, or a value that does not fit.
        """
        found = cls(**{name: _value(name, value) for name, value in document.items()})
        if found.allow:
            _check_places(found.allow)
        if not re.fullmatch(r"[\x20-\x7e]{1,200}", found.agent):
            raise _bad("agent", "it is not a line of ASCII", "write a name and how to reach you.")
        for name in ("after", "before"):
            if (day := getattr(found, name)) and not _is_day(day):
                raise _bad(name, f"{day[:40]!r} is not a date", "write it as 2024-05-31.")
        if found.wayback and not is_address(found.wayback):
            raise _bad("wayback", "it is not an address", 'write "https://web.archive.org".')
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the settings as a JSON object."""
        return {name: list(value) if name in _LISTS else value for name, value in asdict(self).items()}


def _check_places(allow: tuple[str, ...]) -> None:
    from tea.web.guard import allowed_place

    for entry in allow:
        if allowed_place(entry) is None:
            raise _bad("allow", f"{entry[:60]!r} is not host:port", "write a place such as 127.0.0.1:8000.")


def _value(name: str, value: Any) -> Any:
    """Return a setting's value in the type of its default.

    Raises:
        BadInput: It is another type, or a number out of range.
    """
    if name not in _DEFAULTS:
        near = get_close_matches(name, _DEFAULTS, n=1)
        raise _bad(name, "it is not a setting", f"did you mean {near[0]!r}?" if near else _KNOWN)
    default, usable = _DEFAULTS[name], False
    if name not in _LISTS:
        usable = fits(value, type(default))
    elif isinstance(value, list | tuple):
        value = tuple(cast("Sequence[Any]", value))
        usable = all(fits(one, float if name == "retries" else str) for one in value)
    if usable:
        return value
    raise _bad(name, f"its value {str(value)[:60]!r} is not usable", f"write a value such as {_shown(default)}.")


def fits(value: object, wanted: type[object]) -> bool:
    """Return whether a value is of a type; a number has to be from 0 to a billion."""
    if wanted in (int, float):
        kinds = (int,) if wanted is int else (int, float)
        return type(value) in kinds and 0 <= cast(float, value) <= 1e9
    return type(value) is wanted


def _bad(name: str, problem: str, fix: str) -> BadInput:
    return BadInput(f"{in_sentence(f'web.{name[:60]}')} in tea.toml: {problem}.", fix=fix)


def is_address(text: str) -> bool:
    """Return whether a text is an address of the web, without blanks."""
    try:
        return bool(re.fullmatch(r"https?://[^/\s]\S*", text)) and is_place(urlsplit(text).netloc)
    except ValueError:
        return False


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _shown(value: object) -> str:
    return str([] if value == () else value or '"..."')


_DEFAULTS = {one.name: cast(object, one.default) for one in fields(WebSettings)}
_LISTS = ("allow", "retries", "plain", "deny", "canaries", "repositories")
_KNOWN = f"settings are {', '.join(_DEFAULTS)}."
