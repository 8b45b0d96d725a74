"""Keys: places in a run, as text; their grammar is known to this file alone.

- `0`: the first branch.
- `0.3`: its fourth effect, note or scope; inside a scope, numbers begin anew.
- `0.3.0`: the first effect, note or scope inside the scope `0.3`.
- `0/1.2`: the third in the second branch spawned by `0`.
- `0.3!0`: the first call from inside the effect `0.3`.
- `0.3~2`: the second request from inside the effect `0.3`.
- `0.3?!0`: the call to check the outcome of the effect `0.3`, after a crash.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence

_DIGITS = "0123456789"
_GRAMMAR = re.compile(r"[0-9./!~?]*")


def is_key(text: object) -> bool:
    """Return whether a value has the characters of keys alone; the empty text is the key of a run as a whole."""
    return isinstance(text, str) and _GRAMMAR.fullmatch(text) is not None


def step_key(path: str, number: int) -> str:
    """Return the key of a numbered effect, note or scope in a branch or scope."""
    return f"{path}.{number}"


def after(key: str) -> str:
    """Return the key taken by a branch or scope after a given one."""
    path, _, number = key.rpartition(".")
    return step_key(path, int(number) + 1)


def spawned_path(path: str, number: int) -> str:
    """Return the path of a branch spawned by another."""
    return f"{path}/{number}"


def call_key(effect: str, number: int) -> str:
    """Return the key of a call from inside an effect."""
    return f"{effect}!{number}"


def question_key(effect: str, number: int) -> str:
    """Return the key of a request from inside an effect, counted from 1."""
    return f"{effect}~{number}"


def check_key(effect: str) -> str:
    """Return the key of the check of an effect's outcome."""
    return f"{effect}?"


def is_check(key: str) -> bool:
    """Return whether a key belongs to the check of an effect's outcome."""
    return "?" in key


def effect_key(key: str) -> str:
    """Return the key of the effect around a key, or of the effect itself."""
    return key.partition("!")[0].partition("~")[0].partition("?")[0]


def asked_in(key: str) -> tuple[str, int]:
    """Return the call around a request, and the request's number; 0 for the call itself."""
    call, _, number = key.rpartition("~")
    return (call, int(number)) if number.isdecimal() and call else (key, 0)


def inside(call: str, keys: Sequence[str]) -> tuple[slice, slice]:
    """Return the places of those of some sorted keys that lie inside a call, the last first."""
    first, after, later, last = (bisect_left(keys, f"{call}{sign}") for sign in '!"~\x7f')
    return slice(later, last), slice(first, after)


def scopes_around(key: str) -> Iterator[str]:
    """Yield the scopes that a key lies inside of, and the branches that spawned its own, the outermost first."""
    return (key[:at] for at, sign in enumerate(key) if sign in "./")


def path_of(key: str) -> str:
    """Return the branch or scope of a key."""
    return key.rpartition(".")[0]


def branch_of(key: str) -> str:
    """Return the branch of a key, regardless of its scopes in there."""
    head, slash, tail = key.rpartition("/")
    return head + slash + tail.partition(".")[0]


def spawner(path: str) -> str:
    """Return the path of the spawning branch or scope of a branch."""
    return path.rpartition("/")[0]


def outer(key: str) -> str:
    """Return the effect, scope or branch directly around a key; empty for the first branch."""
    return key.rstrip(_DIGITS)[:-1]


def innermost(key: str, among: Container[str]) -> str:
    """Return the innermost of some scopes around a key, or the key itself; empty without one."""
    while key and key not in among:
        key = key.rstrip(_DIGITS)[:-1]
    return key


def change_id(run: str, key: str) -> str:
    """Return the id of a change of a session: its run and its effect."""
    return f"{run}/{key}"


def run_and_key(change: str) -> tuple[str, str]:
    """Return the run and the effect of a change of a session."""
    run, _, key = change.partition("/")
    return run, key
