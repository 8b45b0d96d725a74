"""Places: hosts and ports in the addresses of settings."""

from __future__ import annotations

import re

from tea.characters import is_hidden

_SIGN = r"(?:[A-Za-z0-9_-]|[^\x00-\x7f\s])"
_PLACE = re.compile(
    rf"(?P<name>{_SIGN}{{1,63}}(?:\.{_SIGN}{{1,63}})*\.?|\[[0-9A-Fa-f:.]+(?:%[\w.-]+)?\])(?::(?P<port>[1-9][0-9]*)?)?"
)
_LONGEST_NAME = 254  # with a dot at its end
_LAST_PORT = 65_535


def is_place(text: str) -> bool:
    """Return whether a text is a host, perhaps with a port, read alike by every client and every person.

    Some clients drop doubled dots at the end of a host, zeros in front of a port, or characters without a sign.

    Args:
        text: What stands between `//` and the path of an address.

    Examples:
        >>> [is_place(one) for one in ("localhost:8000", "my_server", "[::1]:80", "host..", "host:080", "a@host")]
        [True, True, True, False, False, False]
    """
    found = _PLACE.fullmatch(text)
    if found is None or len(found["name"]) > _LONGEST_NAME or any(map(is_hidden, text)):
        return False
    return len(found["port"] or "") <= len(str(_LAST_PORT)) and int(found["port"] or 1) <= _LAST_PORT
