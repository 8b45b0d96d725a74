"""Places on GitHub: repositories, names and paths as people write them, checked and taken apart."""

import re
from typing import Any

from tea import Context, ToolError

from .client import GitHub, connected

MOST_ITEMS = 200
_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")


async def at(ctx: Context, repository: str, **given: Any) -> tuple[GitHub, dict[str, Any]]:
    """Return GitHub, and the values of a template for a repository.

    Raises:
        ToolError: It is not a repository's name.
    """
    github = await connected(ctx)
    path = repository.strip().removeprefix(f"{github.url}/")
    parts = path.split("/")
    if len(parts) < 2 or (len(parts) > 2 and path == repository.strip()):
        problem = f"{repository[:100]!r} is not a repository of {github.url}."
        raise ToolError(problem, fix="name it as owner/name, for example octo/hello.")
    owner, name = named(parts[0]), named(parts[1].removesuffix(".git"))
    return github, {"owner": owner, "name": name, **given}


def named(text: str) -> str:
    """Return a name of an account or a repository.

    Raises:
        ToolError: It is not a name.
    """
    if not _NAME.fullmatch(text) or text in (".", ".."):
        raise ToolError(f"{text[:60]!r} is not a name on GitHub.", fix="use letters, digits, - _ and .")
    return text


def parts_of(path: str) -> list[str]:
    """Return the parts of a path or of a branch's name.

    Raises:
        ToolError: It leads elsewhere.
    """
    parts = [one for one in path.split("/") if one]
    if any(one in (".", "..") for one in parts):
        raise ToolError(f"{path[:100]!r} is not a path in a repository.", fix="name it from the top, without dots.")
    return parts


def filled(text: str, what: str) -> str:
    """Return a text with anything in it.

    Raises:
        ToolError: It is empty.
    """
    if not text.strip():
        raise ToolError(f"The {what} is empty.", fix=f"give the {what}.")
    return text


def check_limit(limit: int) -> None:
    """Refuse a number of items out of range.

    Raises:
        ToolError: It is.
    """
    if not 0 < limit <= MOST_ITEMS:
        raise ToolError(f"limit {limit} is out of range.", fix=f"ask for 1 to {MOST_ITEMS}.")
