"""Cache: fetched pages, with the validators for asking their servers about changes (RFC 9111)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from email.utils import parsedate_to_datetime
from hashlib import sha256
from pathlib import Path

from tea.store.access import read_own
from tea.store.files import keep_private
from tea.web.blocked import Wall
from tea.web.fetch import Answer, Hop

STORED = frozenset({200, 203, 404, 410})
WALL_SECONDS = 600.0

_SUFFIX = ".page"
_MOST_HEADERS = 2**20
_VALIDATOR = re.compile(r"[\x20-\x7e]{1,1000}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedAnswer:
    """A cached answer.

    Args:
        answer: The answer.
        asked: When its server was last asked about it, in seconds since 1970.
        wall: Which wall it is in the place of the page, empty for none.
    """

    answer: Answer
    asked: float
    wall: Wall = ""

    def is_fresh(self, now: float, default: float) -> bool:
        """Return whether it may be used without asking its server.

        Args:
            now: The time.
            default: Seconds for which it is fresh where its server says nothing.
        """
        return 0 <= now - self.asked < (WALL_SECONDS if self.wall else _lifetime(self.answer, default))

    def validators(self) -> dict[str, str]:
        """Return the headers for a conditional request; empty if its server gave no validators."""
        if self.answer.status != 200 or self.answer.truncated or self.wall:
            return {}
        named = {"If-None-Match": "etag", "If-Modified-Since": "last-modified"}
        given = {name: self.answer.headers.get(header, "") for name, header in named.items()}
        return {name: value for name, value in given.items() if _VALIDATOR.fullmatch(value)}


class PageCache:
    """A cache of pages in a folder, a file each; damaged, unreadable or unwritable entries are skipped.

    The methods block: call them in a thread.

    Args:
        folder: Where they are; None to keep none.
        most: Bytes of all together; those not used for longest go.
        rules: The operator's rules for places; pages fetched under others are not seen, as the guard may refuse them.
    """

    def __init__(self, folder: Path | None, most: int, rules: str = "") -> None:
        self._folder = folder if most else None
        self._most, self._rules = most, rules

    def read(self, key: str) -> CachedAnswer | None:
        """Return the entry under a key, None if there is none."""
        if self._folder is None:
            return None
        key = f"{self._rules}{key}"
        path = self._path(self._folder, key)
        try:
            first, _, body = read_own(path, self._most + _MOST_HEADERS).partition(b"\n")
            head = json.loads(first)
            os.utime(path)
            if head["key"] != key or head["digest"] != sha256(body).hexdigest():
                return None
            hops = tuple(Hop(**hop) for hop in head["answer"].pop("hops"))
            return CachedAnswer(
                answer=Answer(**head["answer"], body=body, hops=hops), asked=float(head["asked"]), wall=head["wall"]
            )
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def write(self, key: str, entry: CachedAnswer) -> None:
        """Store an answer under a key, if its server and its status allow it; else remove the old entry."""
        if self._folder is None:
            return
        key = f"{self._rules}{key}"
        path = self._path(self._folder, key)
        with suppress(OSError):
            if not (entry.wall or entry.answer.status in STORED) or "no-store" in _directives(entry.answer.headers):
                path.unlink(missing_ok=True)
                return
            answer = asdict(replace(entry.answer, body=b""))
            del answer["body"]
            digest = sha256(entry.answer.body).hexdigest()
            head = {"key": key, "asked": entry.asked, "wall": entry.wall, "digest": digest, "answer": answer}
            keep_private(path, json.dumps(head).encode() + b"\n" + entry.answer.body)
            self._forget_oldest(self._folder)

    def _path(self, folder: Path, key: str) -> Path:
        return folder / (sha256(key.encode("utf-8", "surrogatepass")).hexdigest() + _SUFFIX)

    def _forget_oldest(self, folder: Path) -> None:
        found = [(one.stat(), one.path) for one in os.scandir(folder) if one.name.endswith(_SUFFIX)]
        size = sum(facts.st_size for facts, _ in found)
        for facts, path in sorted(found, key=lambda one: one[0].st_mtime_ns):
            if size <= self._most:
                break
            os.unlink(path)
            size -= facts.st_size


def _lifetime(answer: Answer, default: float) -> float:
    """Return the seconds an answer is fresh, by its own headers first."""
    told = _directives(answer.headers)
    if "no-cache" in told:
        return 0.0
    if told.get("max-age", "").isdigit():
        age = answer.headers.get("age", "0")
        return float(told["max-age"][:9]) - (float(age[:9]) if age.isdigit() else 0.0)
    with suppress(ValueError, TypeError, KeyError):
        expires, sent = (parsedate_to_datetime(answer.headers[name]) for name in ("expires", "date"))
        return (expires - sent).total_seconds()
    return 0.0 if "expires" in answer.headers else default


def _directives(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the directives of `Cache-Control` by name."""
    parts = (one.strip().lower().partition("=") for one in headers.get("cache-control", "").split(","))
    return {name: value.strip('"') for name, _, value in parts}
