"""Budgets of more than one run, as an option writes them: `usd=2,runs=2000`."""

from collections.abc import Sequence

from tea.errors import BadInput


def read_budget(text: str | None, names: Sequence[str]) -> dict[str, float]:
    """Return the limits of a budget by name; all but `usd` are whole numbers.

    Args:
        text: As the option takes it, None for no limits.
        names: What may be limited.

    Raises:
        BadInput: It is not of this form.
    """
    given: dict[str, float] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        name, _, value = part.partition("=")
        number = _positive(value, whole=name.strip() != "usd")
        if name.strip() not in names or number is None:
            example = ",".join(f"{one}={2 if one == 'usd' else 2000}" for one in names)
            raise BadInput(f"The budget {part[:40]!r} is not usable.", fix=f"write for example {example}.")
        given[name.strip()] = number
    return given


def _positive(text: str, *, whole: bool) -> float | None:
    """Return the positive number in a text, None for other text."""
    try:
        number = int(text) if whole else float(text)
    except ValueError:
        return None
    return number if 0 < number < float("inf") else None
