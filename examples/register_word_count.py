"""Register a tool through the Tool Context Protocol, call it, change it, and see its versions."""

import asyncio

from tea import Platform, tool


@tool(effects="reads", idempotent=True)
async def word_count(text: str, unique: bool = False) -> int:
    """Count the words in a text.

    Args:
        text: Any text, any language.
        unique: Count each distinct word once.

    Examples:
        >>> await word_count("to be or not to be", unique=True)
        4
    """
    words = text.split()
    return len(set(words) if unique else words)


async def main() -> None:
    """Register the function above, then a second version of it from source text."""
    async with Platform() as tea:
        first = await tea.tcp.register(word_count)
        print(first.ref, "counts", (await tea.tcp.invoke("word_count", {"text": "to be or not to be"})).value)
        shouting = first.source.replace("text.split()", "text.upper().split()")
        print((await tea.tcp.update("word_count", shouting, reason="ignore case")).ref)
        print((await tea.tcp.invoke("word_count", {"text": ["to", "be"]})).error)


asyncio.run(main())
