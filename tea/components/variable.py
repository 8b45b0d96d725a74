"""Variables: the pieces of a component's text open to evolution (paper, Appendix C.1)."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A piece of a component's text, as a value for an optimiser to rewrite.

    Args:
        name: Its name within the component, for example `reasoning_rules`.
        kind: `text` for words that a model reads, `source` for code.
        value: The text itself.
        description: What the piece is for, in one line.
        trainable: Whether it may be rewritten.
    """

    name: str
    kind: Literal["text", "source"]
    value: str
    description: str = ""
    trainable: bool = True


def tagged(component: str, name: str, text: str) -> str:
    """Return the text of a variable between tags with its name, for a model to rewrite.

    Args:
        component: Its component, `kind:name`.
        name: Name of the variable.
        text: Its text.
    """
    return f"<variable component={component!r} name={name!r}>\n{text}\n</variable>"
