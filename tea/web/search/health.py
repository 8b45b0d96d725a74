"""Health: the recent record of engines, and so whether they are asked: rests, delays, budgets, and answers kept.

It is shared by the processes of an account, and is not a loss: a file that cannot be used is passed over.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tea.clock import epoch_seconds
from tea.errors import Damaged, TeaError
from tea.store.database import database, discard
from tea.store.scratch import make_private
from tea.web.search.engine import EngineFailed, FailureKind, Hit, Query
from tea.web.search.settings import Profile

if TYPE_CHECKING:
    from sqlite3 import Connection

WINDOW, MOST_FAILING, BREAK_SECONDS = 20, 0.1, 60.0
CAPTCHA_PAUSES, CAPTCHA_SECONDS, MOST_CAPTCHAS = 50, 300.0, 100
JITTER = 0.5  # of a delay, added at random

_SCHEMA = """
CREATE TABLE IF NOT EXISTS engines (name TEXT PRIMARY KEY, document TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, asked REAL, hits TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (run TEXT PRIMARY KEY, asked INTEGER, last REAL) WITHOUT ROWID;
"""
_MOST_ANSWERS, _KEPT_SECONDS = 5_000, 7 * 86_400
_DAY = 86_400.0
_OWN: frozenset[FailureKind] = frozenset(
    {"key", "missing", "resting", "budget", "unresolved"}
)  # not the engine's fault
_COOLING: frozenset[FailureKind] = frozenset({"rate_limit", "captcha", "timeout", "unreachable", "broken"})


@dataclass(slots=True, kw_only=True)
class _Record:
    """The recent record of one engine."""

    free: float = 0.0  # when it may be asked next
    rests: float = 0.0  # until when it is not asked
    why: str = ""
    last: list[int] = field(default_factory=list[int])  # 1 for an answer, 0 for a failure
    captchas: int = 0  # in a row
    day: int = 0
    asked: int = 0  # on that day


class Health:
    """The recent record of engines, each by its name or address; every method blocks, so call it in a thread.

    Args:
        path: The file it is kept in; None keeps nothing.
        profile: How long who refuses is left alone.
        now: The time, in seconds since 1970.
        chance: Gives numbers from 0 to 1, for the delays.
    """

    def __init__(
        self,
        path: Path | None,
        profile: Profile,
        now: Callable[[], float] = epoch_seconds,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._path, self._profile, self._now, self._chance = path, profile, now, chance

    def admit(self, engine: str, *, delay: float, per_day: int) -> float:
        """Return the seconds to wait before asking an engine, and count it as asked from now on.

        Args:
            engine: Its name or address.
            delay: Least seconds between two requests.
            per_day: Most requests a day; 0 for any number.

        Raises:
            EngineFailed: It rests, or its budget is used up.
        """

        def change(record: _Record, now: float) -> float:
            if record.rests > now:
                raise EngineFailed("resting", f"It rests {record.rests - now:.0f} more seconds: {record.why}")
            today = int(now // _DAY)
            if record.day != today:
                record.day, record.asked = today, 0
            if per_day and record.asked >= per_day:
                raise EngineFailed("budget", f"Its {per_day} searches of today are used up.")
            record.asked += 1
            start = max(now, record.free)
            record.free = start + delay * (1 + JITTER * self._chance())
            return start - now

        return self._changed(engine, change, 0.0)

    def answered(self, engine: str) -> None:
        """Note an answer of an engine."""

        def change(record: _Record, now: float) -> None:
            record.captchas = 0
            self._window(record, now, 1)

        self._changed(engine, change, None)

    def failed(self, engine: str, error: EngineFailed) -> None:
        """Note a failure of an engine: it rests if it asked for a rest, refused, or fails too often."""

        def change(record: _Record, now: float) -> None:
            if error.kind == "unresolved":  # offline: it was never asked
                record.asked, record.free = max(0, record.asked - 1), min(record.free, now)
            if error.kind in _OWN:
                return
            wait, why = error.wait, error.problem
            if error.kind in ("rate_limit", "captcha"):
                wait = max(wait, self._profile.cooldown)
            if error.kind == "refused":
                wait = max(wait, self._profile.blocked)
            if error.kind == "captcha":
                record.captchas += 1
                if record.captchas >= MOST_CAPTCHAS:
                    wait, why = _DAY, f"it wanted {record.captchas} proofs in a row that a person asks."
                    record.captchas = 0
                elif record.captchas % CAPTCHA_PAUSES == 0:
                    wait = max(wait, CAPTCHA_SECONDS)
            self._rest(record, now, min(wait, _DAY), why)
            if error.kind in _COOLING:
                self._window(record, now, 0)

        self._changed(engine, change, None)

    def count(self, run: str, searches: int, most: int) -> None:
        """Count the searches of a run.

        Raises:
            EngineFailed: They are more than its budget.
        """
        with self._open() as connection:
            if connection is None:
                return
            row = connection.execute("SELECT asked FROM runs WHERE run = ?", (run,)).fetchone()
            asked = (row[0] if row else 0) + searches
            if most and asked > most:
                raise EngineFailed("budget", f"The {most} searches of this run are used up.")
            now = self._now()
            connection.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?)", (run, asked, now))
            connection.execute("DELETE FROM runs WHERE last < ?", (now - _KEPT_SECONDS,))

    def kept(self, engine: str, query: Query, fresh: float) -> tuple[float, list[Hit]] | None:
        """Return an answer kept from before, with its time; None if there is no fresh one."""
        with self._open() as connection:
            if connection is None or not fresh:
                return None
            row = connection.execute("SELECT asked, hits FROM answers WHERE key = ?", (_key(engine, query),)).fetchone()
        if row is None or not 0 <= self._now() - row[0] < fresh:
            return None
        with suppress(ValueError, TypeError):
            return float(row[0]), [Hit(**one) for one in json.loads(row[1])]
        return None

    def keep(self, engine: str, query: Query, hits: Sequence[Hit]) -> None:
        """Store an answer."""
        with self._open() as connection:
            if connection is None:
                return
            row = (_key(engine, query), self._now(), json.dumps([asdict(hit) for hit in hits]))
            connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row)
            connection.execute(
                "DELETE FROM answers WHERE key NOT IN (SELECT key FROM answers ORDER BY asked DESC LIMIT ?)",
                (_MOST_ANSWERS,),
            )

    def _window(self, record: _Record, now: float, outcome: int) -> None:
        """Add an outcome to the last ones; too many failures among them open the circuit."""
        record.last = [*record.last, outcome][-WINDOW:]
        if len(record.last) == WINDOW and record.last.count(0) > WINDOW * MOST_FAILING:
            failed, record.last = record.last.count(0), []
            self._rest(record, now, BREAK_SECONDS, f"{failed} of its last {WINDOW} searches failed.")

    def _rest(self, record: _Record, now: float, seconds: float, why: str) -> None:
        if seconds and now + seconds > record.rests:
            record.rests, record.why = now + seconds, why

    def _changed(self, engine: str, change: Callable[[_Record, float], Any], default: Any) -> Any:
        """Change the record of an engine in one transaction, and return the result of the change."""
        with self._open() as connection:
            if connection is None:
                return change(_Record(), self._now())
            row = connection.execute("SELECT document FROM engines WHERE name = ?", (engine,)).fetchone()
            record = _read(row[0]) if row else _Record()
            given = change(record, self._now())
            document = json.dumps(asdict(record))
            connection.execute("INSERT OR REPLACE INTO engines VALUES (?, ?)", (engine, document))
            return given

    def _open(self) -> _Opened:
        return _Opened(self._path)


class _Opened:
    """A transaction on the file; its connection is None if there is no usable file."""

    def __init__(self, path: Path | None) -> None:
        self._path, self._context = path, cast(Any, None)

    def __enter__(self) -> Connection | None:
        if self._path is None:
            return None
        try:
            make_private(self._path.parent)
            self._context = database(self._path, _SCHEMA, private=True)
            connection: Connection = self._context.__enter__()
            connection.execute("BEGIN IMMEDIATE")
        except (TeaError, OSError) as error:
            self._context = None
            if isinstance(error, Damaged):
                discard(self._path)
            return None
        return connection

    def __exit__(self, *error: Any) -> None:
        if self._context is not None:
            self._context.__exit__(*error)


def _read(document: str) -> _Record:
    with suppress(ValueError, TypeError):
        return _Record(**json.loads(document))
    return _Record()


def _key(engine: str, query: Query) -> bytes:
    return sha256(json.dumps([engine, query.text, query.most, query.since]).encode()).digest()
