"""Mask: values of the operator's secrets are replaced by their names before a run learns or records anything."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tea.types import JsonValue

SHORTEST = 8  # a shorter one is no secret, and would be found in ordinary words
_SECRET = re.compile(r"(?:.*_)?(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)", re.IGNORECASE)


class Mask:
    """Puts `<secret:NAME>` in the place of each secret.

    Args:
        secrets: Values by name; those shorter than eight characters are left alone.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        long = {name: value for name, value in secrets.items() if len(value) >= SHORTEST}
        ordered = sorted(long.items(), key=lambda one: (-len(one[1]), one[0]))
        self._words = tuple((_inside(value), f"<secret:{name}>") for name, value in ordered)

    def text(self, text: str) -> str:
        """Return JSON text without the secrets."""
        for word, name in self._words:
            if word in text:
                text = text.replace(word, name)
        return text

    def data(self, data: Any) -> Any:
        """Return JSON data without the secrets; the same object where it holds none."""
        if not self._words:
            return data
        text = _text(data)
        masked = self.text(text)
        return data if masked == text else json.loads(masked)


def secrets_among(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables whose names say that they are secrets, such as `OPENAI_API_KEY` or `DB_PASSWORD`."""
    return {name: value for name, value in variables.items() if _SECRET.fullmatch(name)}


def _inside(value: str) -> str:
    """Return a value as it stands inside of JSON text."""
    return _text(value)[1:-1]


def _text(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
