"""Test compiled sources kept for the next process, valid only as written."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tea.components.manifest import Manifest
from tea.errors import BadArguments, BadComponent, Quarantined
from tea.prompts.manager import PromptManager
from tea.source import cache
from tea.source import check as checking
from tea.source.cache import SourceCache
from tea.source.dynamic import DynamicManager

ADD = '''
from tea import tool

from ._add.sums import total


@tool(effects="reads")
async def add(a: int, b: int) -> int:
    """Add."""
    return total(a, b)
'''
FILES = {"_add/sums.py": "def total(a: int, b: int) -> int:\n    return a + b\n"}
PROMPT = """---
name: greeter
description: Greets.
variables: {who: string, tone: {type: string, default: warm}}
output: {type: object, properties: {greeting: {type: string}}, required: [greeting]}
---
# system
Be {{ tone }}.

# message
Greet {{ who }}{{ manner }}.

# module: manner
, briefly
"""


def made(folder: Path | None, *, trusted: bool = True) -> DynamicManager:
    return DynamicManager(lambda digest: trusted, kept=SourceCache(folder))


def manifest() -> Manifest:
    manager = made(None)
    return manager.describe(manager.check(ADD, FILES), version="1.0.0")


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The checked sources."""
    seen: list[str] = []
    check = checking.check_source

    def checked(source: str, *rest: object) -> object:
        seen.append(source)
        return check(source, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(checking, "check_source", checked)
    return seen


def test_a_source_checked_elsewhere_is_described_without_another_check(checks: list[str]) -> None:
    stored = manifest()
    text = made(None).check(ADD, FILES)
    del checks[:]
    manager = made(None)
    manager.rely_on([stored.digest])
    assert manager.describe(text, version="1.0.0") == stored
    assert checks == []
    assert made(None).describe(text, version="1.0.0") == stored
    assert len(checks) == 1


async def test_a_source_that_was_checked_is_not_checked_again_by_the_next_process(
    tmp_path: Path, checks: list[str]
) -> None:
    stored = manifest()
    del checks[:]
    for number in range(2):
        found = made(tmp_path).load(stored)
        assert await found.operations["call"].executor(None, {"a": number, "b": 2}, None) == number + 2
        del found
    assert checks == [ADD]


DOCUMENTED = '''
from typing import TypedDict

from tea import Environment, action


class Read(TypedDict):
    """What was read."""

    words: list[str]
    page: int


class Shelf(Environment):
    """A shelf of books."""

    name = "shelf"
    rules = "Put back what you took."

    async def state(self) -> dict[str, int]:
        """Return how many books there are."""
        return {"books": 3}

    @action(effects="writes", idempotent=True, network=False)
    async def read(self, title: str, page: int | None = None, marks: tuple[str, ...] = ()) -> Read:
        """Read a page of a book.

        It has to stand on the shelf.

        Args:
            title: Its words.
            page: The number; the first by default.
            marks: What to look for.

        Examples:
            >>> read("Ulysses",
            ...      page=2)
            {"words": ["Stately"], "page": 2}
        """
        return Read(words=[title, *marks], page=page or 1)
'''


async def test_what_was_described_is_described_and_loaded_the_same_by_the_next_process(
    tmp_path: Path, checks: list[str]
) -> None:
    text = made(None).check(DOCUMENTED)
    plain = made(None).describe(text, version="1.0.0")
    del checks[:]
    described = [made(tmp_path).describe(text, version="1.0.0") for _ in range(2)]
    loaded = [made(tmp_path).load(plain), made(None).load(plain)]
    assert described == [plain, plain]
    assert checks == [DOCUMENTED, DOCUMENTED]  # by the first of them, and by the one that keeps nothing
    signatures = [{name: one.signature for name, one in found.operations.items()} for found in loaded]
    assert signatures[0] == signatures[1] == plain.operations
    assert signatures[0]["read"].examples
    assert signatures[0]["read"].parameters["properties"]["title"]["description"] == "Its words."
    arguments = {"title": "Emma", "marks": ["x"]}
    assert loaded[0].create is not None
    read = await loaded[0].operations["read"].executor(loaded[0].create(), arguments, None)
    assert read == {"words": ["Emma", "x"], "page": 1}
    with pytest.raises(BadArguments):
        await loaded[0].operations["read"].executor(loaded[0].create(), {"title": 3}, None)


def test_a_source_is_not_taken_for_what_was_made_of_it_by_another_pydantic(
    tmp_path: Path, checks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = manifest()
    made(tmp_path).load(stored)
    del checks[:]
    monkeypatch.setattr(cache, "VERSION", "0.0.1")
    cache._makers.cache_clear()
    made(tmp_path).load(stored)
    cache._makers.cache_clear()
    assert checks == [ADD]


@pytest.mark.parametrize("damage", ["cut", "other", "empty"])
async def test_what_is_damaged_is_made_anew(tmp_path: Path, checks: list[str], damage: str) -> None:
    stored = manifest()
    made(tmp_path).load(stored)
    del checks[:]
    (file,) = (tmp_path / "kept").iterdir()
    data = file.read_bytes()
    file.write_bytes({"cut": data[:-5], "other": data[:-1] + b"x", "empty": b""}[damage])
    found = made(tmp_path).load(stored)
    assert await found.operations["call"].executor(None, {"a": 1, "b": 2}, None) == 3
    assert checks == [ADD]


def test_what_is_kept_is_no_trust(tmp_path: Path) -> None:
    stored = manifest()
    made(tmp_path).load(stored)
    with pytest.raises(Quarantined):
        made(tmp_path, trusted=False).load(stored)


def test_what_does_not_pass_the_check_is_not_kept(tmp_path: Path) -> None:
    stored = manifest()
    broken = replace(stored, source=ADD + "\nimport os\nos.getpid()\n")
    for _ in range(2):
        with pytest.raises(BadComponent):
            made(tmp_path).load(broken)
    assert not (tmp_path / "kept").exists()


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("no folder")
    assert made(tmp_path).load(manifest()).name == "add"
    assert PromptManager(SourceCache(tmp_path)).parse(PROMPT).name == "greeter"


def test_a_prompt_that_was_read_is_the_same_in_the_next_process(tmp_path: Path) -> None:
    first, second = PromptManager(SourceCache(tmp_path)), PromptManager(SourceCache(tmp_path))
    plain = PromptManager()
    prompts = [one.parse(PROMPT) for one in (plain, first, second)]
    assert prompts[0] == prompts[1] == prompts[2]
    assert len(list((tmp_path / "kept").iterdir())) == 2
    said = [one.render(prompt, {"who": "Ann"}) for one, prompt in zip((plain, first, second), prompts, strict=True)]
    assert said[0] == said[1] == said[2]
    assert "Greet Ann, briefly." in str(said[2])


def test_a_file_counts_for_what_it_was_made_of_alone(tmp_path: Path) -> None:
    kept = SourceCache(tmp_path)
    kept.keep("one", "a")
    (one,) = (tmp_path / "kept").iterdir()
    kept.keep("two", "b")
    (two,) = {*(tmp_path / "kept").iterdir()} - {one}
    assert (kept.read("a"), kept.read("b")) == ("one", "two")
    one.write_bytes(two.read_bytes())
    assert kept.read("a") is None
    two.write_bytes(two.read_bytes()[:-1])
    assert kept.read("b") is None


def test_a_file_that_others_may_write_counts_for_nothing(tmp_path: Path) -> None:
    kept = SourceCache(tmp_path)
    kept.keep("one", "a")
    (one,) = (tmp_path / "kept").iterdir()
    one.chmod(0o606)
    assert kept.read("a") is None
    one.chmod(0o600)
    assert kept.read("a") == "one"
    one.rename(tmp_path / "elsewhere")
    os.mkfifo(one)
    assert kept.read("a") is None


def test_of_many_files_those_longest_unused_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tea.source.cache._MOST", 3)
    kept = SourceCache(tmp_path)
    for number, text in enumerate("abc"):
        kept.keep(number, text)
        for one in (tmp_path / "kept").iterdir():
            os.utime(one, ns=(one.stat().st_atime_ns, one.stat().st_mtime_ns - 10**9))
    assert kept.read("a") == 0
    kept.keep(3, "d")
    assert [kept.read(text) for text in "abcd"] == [0, None, 2, 3]
