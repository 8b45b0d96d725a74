"""A copy says its new name itself, and nothing else in it changes."""

import pytest

from tea.errors import BadComponent
from tea.source.dynamic import DynamicManager
from tea.source.rename import renamed

TOOL = '''
"""Words: count(…), in count's own file."""

from tea import tool

from . import _count
from ._count import lexicon
from ._count.lexicon import WORDS as count_words


def helper(count: int) -> int:
    return count + 1


def other(text: str) -> int:
    count = len(text)
    return count


@tool(metadata={"name": "count"})
async def count(text: str) -> int:
    """Count: «count» the words.

    Args:
        text: What to count.

    Examples:
        >>> await count("a") + await recount("b") + x.count("c")
        1
    """
    again = count
    if not text:
        return await again(text + "é") + await count("é")
    return len(lexicon.WORDS) + _count.lexicon.X + text.count("count")
'''


def test_a_tool_is_renamed_where_it_is_meant_and_nowhere_else() -> None:
    files = {"_count/lexicon.py": 'from .other import X\nWORDS = "count"\n', "_count/other.py": "X = 1\n", "x.py": ""}
    source, moved = renamed(TOOL, files, "count", "tally")
    expected = (
        TOOL.replace("async def count(", "async def tally(")
        .replace("from . import _count", "from . import _tally as _count")
        .replace("from ._count", "from ._tally")
        .replace(">>> await count(", ">>> await tally(")
        .replace("again = count", "again = tally")
        .replace('await count("é")', 'await tally("é")')
    )
    assert source.splitlines() == expected.splitlines()
    assert moved == {path.replace("_count/", "_tally/"): text for path, text in files.items()}
    assert renamed(source, moved, "tally", "count")[0].replace(" as _count", "") == TOOL.replace(" as _count", "")


def test_a_renamed_tool_passes_the_check_with_its_files() -> None:
    source = '''
from tea import tool

from ._count.lexicon import WORDS


@tool
async def count(text: str) -> int:
    """Count the words."""
    return len(WORDS)
'''
    files = {"_count/lexicon.py": "from .more import WORDS\n", "_count/more.py": "WORDS = ()\n"}
    text = DynamicManager(lambda _: False).check(*renamed(source, files, "count", "tally"))
    assert (text.name, sorted(text.files)) == ("tally", ["_tally/lexicon.py", "_tally/more.py"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('    """Greet."""\n\n    name = "greeter"\n', '    """Greet."""\n\n    name = "host"\n'),
        ('    """Greet."""\n\n    name: str = \'greeter\'\n', '    """Greet."""\n\n    name: str = "host"\n'),
        ('    """Greet."""\n', '    """Greet."""\n\n    name = "host"\n'),
    ],
)
def test_a_class_is_renamed_in_what_it_declares(before: str, after: str) -> None:
    text = (
        "from tea import Agent, Context, Result, Task\n\n\nclass Greeter(Agent):\n{}\n"
        "    async def run(self, ctx: Context, task: Task) -> Result:\n"
        '        """Greet."""\n        return Result(answer="greeter")\n'
    )
    source, _ = renamed(text.format(before), {}, "greeter", "host")
    assert source == text.format(after)
    assert DynamicManager(lambda _: False).check(source).name == "host"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_prompt_is_renamed_in_its_front_matter(end: str) -> None:
    text = "---\ndescription: name\nname:  greeter\nvariables:\n  name: string\n---\n# system\nname: greeter\n".replace(
        "\n", end
    )
    source, files = renamed(text, {"notes.md": "greeter"}, "greeter", "host")
    assert source == text.replace("name:  greeter", "name:  host")
    assert files == {"notes.md": "greeter"}


@pytest.mark.parametrize("text", ['{"name":"a","x":[1,{"name":"a"}]}', '{\n  "x": 1,\n  "name": "a"\n}\n'])
def test_a_document_is_renamed_at_its_top(text: str) -> None:
    expected = text.replace('"name":"a"', '"name":"b"', 1).replace('"name": "a"', '"name": "b"', 1)
    assert renamed(text, {}, "a", "b") == (expected, {})


def test_what_declares_no_name_is_refused() -> None:
    with pytest.raises(BadComponent, match="cannot be renamed"):
        renamed("X = 1\n", {}, "greeter", "host")
