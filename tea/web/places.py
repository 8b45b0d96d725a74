"""Places: hosts and ports in the addresses of settings."""

from __future__ import annotations

import re

_SIGN = r"(?:[A-Za-z0-9_-]|[^\x00-\x7f])"
_PLACE = re.compile(
    rf"(?P<name>{_SIGN}+(?:\.{_SIGN}+)*\.?|\[[0-9A-Fa-f:.]+(?:%[\w.-]+)?\])(?::(?:[1-9][0-9]{{0,4}})?)?"
)
_LONGEST_NAME = 254  # with a dot at its end


def is_place(text: str) -> bool:
    """Return whether a text is a host, perhaps with a port, read alike by every client.

    Some clients drop doubled dots at the end of a host, or zeros in front of a port.

    Args:
        text: What stands between `//` and the path of an address.

    Examples:
        >>> [is_place(one) for one in ("localhost:8000", "my_server", "[::1]:80", "host..", "host:080", "a@host")]
        [True, True, True, False, False, False]
    """
    found = _PLACE.fullmatch(text)
    return found is not None and len(found["name"]) <= _LONGEST_NAME
