"""Times: validators of dates, times and durations, and their texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import Any, Self

from tea.untrusted.portable.faults import Fault
from tea.untrusted.portable.scalars import BOUNDS
from tea.untrusted.portable.state import Builder, Check, Schema, State, option

_DURATION = re.compile(
    r"([+-])?P(?=\d|T)(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?"
    r"(?:T(?=\d)(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?",
    re.IGNORECASE | re.ASCII,
)
_CLOCK = re.compile(r"([+-])?(?:(\d+) ?d(?:ays?)?,? ?)?(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d{1,9})?))?", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?", re.ASCII)
_DAY = 86_400
_MILLISECONDS = 20_000_000_000  # a number beyond this counts milliseconds since 1970, not seconds


class TzInfo(tzinfo):
    """A fixed distance from UTC.

    Args:
        seconds: The distance.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds

    def utcoffset(self, dt: datetime | None, /) -> timedelta:
        """Return the distance."""
        return timedelta(seconds=self._seconds)

    def dst(self, dt: datetime | None, /) -> None:
        """Return nothing: summer time is not known."""

    def tzname(self, dt: datetime | None, /) -> str:
        """Return the distance in words."""
        return datetime(2000, 1, 1, tzinfo=self).isoformat()[19:] if self._seconds else "UTC"

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __repr__(self) -> str:
        return f"TzInfo({int(self._seconds)})"


def day(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of dates."""
    strict = option(schema, config, "strict", False)

    def check(value: Any, state: State) -> Any:
        if isinstance(value, date) and not isinstance(value, datetime):
            return _bounded(value, schema, value, date.today)
        if state.is_strict(strict) and not (state.json and isinstance(value, str)):
            raise Fault.of("date_type", value)
        if isinstance(value, str):
            try:
                return _bounded(date.fromisoformat(_iso_day(value)), schema, value, date.today)
            except ValueError as error:
                if state.is_strict(strict):
                    raise Fault.of("date_parsing", value, error=error) from error
        elif not isinstance(value, datetime | int | float | Decimal) or isinstance(value, bool):
            raise Fault.of("date_type", value)
        try:
            moment = _moment(value)
        except (ValueError, OverflowError) as error:
            raise Fault.of("date_from_datetime_parsing", value, error=error) from error
        if moment.time() != time(0, tzinfo=None):
            raise Fault.of("date_from_datetime_inexact", value)
        return _bounded(moment.date(), schema, value, date.today)

    return check


def moment(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of dates with times."""
    strict = option(schema, config, "strict", False)

    def check(value: Any, state: State) -> Any:
        if isinstance(value, datetime):
            found = value
        elif isinstance(value, date) and not state.is_strict(strict):
            found = datetime(value.year, value.month, value.day)
        else:
            found = _read(value, state, strict, "datetime", lambda given: _moment(given, whole=state.is_strict(strict)))
        _zoned(found, schema, value)
        return _bounded(found, schema, value, lambda: datetime.now(found.tzinfo), "datetime")

    return check


def clock(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of times of a day."""
    strict = option(schema, config, "strict", False)

    def check(value: Any, state: State) -> Any:
        found = value if isinstance(value, time) else _read(value, state, strict, "time", _time_of_day)
        _zoned(found, schema, value)
        return _bounded(found, schema, value, lambda: found)

    return check


def duration(build: Builder, schema: Schema, config: Mapping[str, Any]) -> Check:
    """Return a validator of durations."""
    strict = option(schema, config, "strict", False)

    def check(value: Any, state: State) -> Any:
        if isinstance(value, timedelta):
            found = value
        elif state.is_strict(strict) and not (state.json and isinstance(value, str)):
            raise Fault.of("time_delta_type", value)
        elif isinstance(value, str):
            found = _duration(value)
        elif isinstance(value, int | float | Decimal) and not (state.json and isinstance(value, bool)):
            found = _seconds(value)
        else:
            raise Fault.of("time_delta_type", value)
        return _bounded(found, schema, value, lambda: found)

    return check


def iso_duration(value: timedelta) -> str:
    """Return a duration as ISO 8601 writes it."""
    sign, total = ("-", -value) if value < timedelta(0) else ("", value)
    years, days = divmod(total.days, 365)
    minutes, seconds = divmod(total.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    part = f"{seconds}.{total.microseconds:06}".rstrip("0") if total.microseconds else f"{seconds}"
    of_day = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n)
    of_day += f"{part}S" if seconds or total.microseconds else ""
    whole = "".join(f"{n}{unit}" for n, unit in ((years, "Y"), (days, "D")) if n)
    found = whole + (f"T{of_day}" if of_day else "")
    return f"{sign}P{found or 'T0S'}"


def iso_time(value: datetime | time) -> str:
    """Return a time as ISO 8601 writes it, UTC as Z."""
    found = value.isoformat()
    return f"{found[:-6]}Z" if found.endswith("+00:00") else found


def _read(value: Any, state: State, strict: bool, kind: str, read: Callable[[Any], Any]) -> Any:
    """Return a moment read from a text or a number; raises Fault `KIND_type` or `KIND_parsing`."""
    refused = state.is_strict(strict) and not (state.json and isinstance(value, str))
    if refused or isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise Fault.of(f"{kind}_type", value)
    try:
        return read(value)
    except (ValueError, OverflowError) as error:
        raise Fault.of(f"{kind}_parsing", value, error=error) from error


def _iso_day(value: str) -> str:
    if len(value) != len("2000-01-01") or value[4:8:3] != "--":
        raise ValueError("invalid length or separators")
    return value


def _clock(value: str) -> time:
    if ":" not in value:
        raise ValueError("invalid character in hour")
    return time.fromisoformat(value)


def _time_of_day(value: str | float | Decimal) -> time:
    return _clock(value) if isinstance(value, str) else _after_midnight(value)


def _after_midnight(value: float | Decimal) -> time:
    if not 0 <= value < _DAY:
        raise ValueError("numeric times may not exceed 86,399 seconds")
    return (datetime(2000, 1, 1, tzinfo=TzInfo(0)) + timedelta(seconds=float(value))).timetz()


def _moment(value: Any, *, whole: bool = False) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        if "-" not in value[:5] or (whole and len(value) <= len("2000-01-01")):
            raise ValueError("invalid character in year")
        found = datetime.fromisoformat(value)
        distance = found.utcoffset()
        return found if distance is None else found.replace(tzinfo=TzInfo(distance.total_seconds()))
    number = float(value)
    seconds = number / 1_000 if abs(number) > _MILLISECONDS else number
    found = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    return found.replace(tzinfo=TzInfo(0))


def _duration(value: str) -> timedelta:
    if (found := _DURATION.fullmatch(value)) is not None:
        sign, weeks, days, hours, minutes, seconds = found.groups()
        total = timedelta(
            weeks=float(weeks or 0), days=float(days or 0), hours=float(hours or 0),
            minutes=float(minutes or 0), seconds=float(seconds or 0),
        )  # fmt: skip
    elif (found := _CLOCK.fullmatch(value)) is not None:
        sign, days, hours, minutes, seconds = found.groups()
        total = timedelta(
            days=int(days or 0), hours=int(hours), minutes=int(minutes), seconds=float(seconds or 0)
        )  # fmt: skip
    else:
        raise Fault.of("time_delta_parsing", value, error="invalid character")
    return -total if sign == "-" else total


def _seconds(value: float | Decimal) -> timedelta:
    try:
        return timedelta(seconds=float(value))
    except (OverflowError, ValueError) as error:
        raise Fault.of("time_delta_parsing", value, error=error) from error


def _zoned(found: Any, schema: Schema, value: Any) -> None:
    wanted = schema.get("tz_constraint")
    if wanted == "aware" and found.tzinfo is None:
        raise Fault.of("timezone_aware", value)
    if wanted == "naive" and found.tzinfo is not None:
        raise Fault.of("timezone_naive", value)


def _bounded(found: Any, schema: Schema, value: Any, now: Callable[[], Any], name: str = "date") -> Any:
    for key, kind, fits in BOUNDS:
        if schema.get(key) is not None and not fits(found, schema[key]):
            raise Fault.of(kind, value, **{key: schema[key]})
    wanted = schema.get("now_op")
    if (wanted == "past" and not found < now()) or (wanted == "future" and not found > now()):
        raise Fault.of(f"{name}_{wanted}", value)
    return found
