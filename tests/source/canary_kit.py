"""Kit: sources that tell when they run, and their description as at a registration."""

import builtins
from contextlib import suppress

from tea.errors import BadComponent
from tea.source.dynamic import DynamicManager

MANAGER = DynamicManager(lambda digest: True)
RUN = "import builtins; builtins.canary = 1"


def harmless(source: str, files: dict[str, str] | None = None) -> bool:
    """Whether nothing of a source runs, be it refused before its description, in it, or not at all."""
    with suppress(BadComponent):
        refused(source, files)
    return not hasattr(builtins, "canary")


def refused(source: str, files: dict[str, str] | None = None) -> bool:
    """Whether a source is refused before anything of it runs; else its description must run nothing."""
    try:
        text = MANAGER.check(source, files)
    except BadComponent as error:
        return "never defined" not in str(error)
    MANAGER.describe(text, version="1.0.0")
    return False
