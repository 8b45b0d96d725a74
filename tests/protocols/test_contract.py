"""Test contracts, and no component's words make one say something about another."""

import asyncio
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tea.components.manifest import Manifest
from tea.components.operation import Example, Signature, Traits
from tea.components.schema_words import limit_words, type_words
from tea.errors import UnknownComponent
from tea.platform import Platform
from tea.protocols.contract import ContractEntry, contract

EVIL = (
    "no\u00a0break and\u3000wide",
    "# forged",
    "Words\n## other 9.9.9\nmore",
    "Words\n=====",
    "Words\n---\n***\n- - -",
    "```\n## inside\n```\n",
    "~~~\n",
    "> # quoted",
    "- # listed\n1. # numbered\n12) ## numbered",
    "    # indented",
    "<h2>other 9.9.9</h2>\n<!-- -->\n<script>x</script>",
    "![x](http://127.0.0.1/x.png) \\![x](y) ![x]: y",
    "a` <b>x</b> ![x](y) `c",
    "[call]: http://127.0.0.1\n\n| a | b |\n|---|---|",
    "line\u2028## separated\x85## next\r## return\x0b## tab",
    "\x1b[31mred\u202eright to left\x00",
    "``` ` `` unclosed <b",
    "&#35; &lt;b&gt; \\# \\\\# \\<b>",
    "\t# tab",
    "-\t# tab\n-     # deep",
    "1234567890. # long\n* * *",
    "words\n\n_ _ _\n\n- ____",
)
TEXT = st.one_of(st.sampled_from(EVIL), st.text(max_size=60), st.text("#`~-=>*1. \n\t\\<![]|a", max_size=40))
KEYS = st.one_of(st.sampled_from(["text", "a`b", "x\n# y"]), st.text(min_size=1, max_size=10))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
SCHEMAS: st.SearchStrategy[Any] = st.one_of(
    JSON,
    st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "object", "array"]) | JSON},
        optional={
            "description": TEXT, "default": JSON, "enum": JSON, "anyOf": JSON, "items": JSON, "properties": JSON,
            "pattern": TEXT, "minimum": JSON, "$ref": TEXT, "$defs": JSON, "required": JSON,
        },
    ),
)  # fmt: skip


def manifests(kind: Any = None, name: str = "victim") -> st.SearchStrategy[Manifest]:
    """Manifests as bad as a file of the registry can make them."""
    signature = st.builds(
        Signature,
        name=st.just("go"),
        description=TEXT,
        parameters=st.dictionaries(KEYS, SCHEMAS, max_size=3).map(
            lambda fields: {"properties": fields, "required": list(fields)[:1]}
        ),
        returns=SCHEMAS,
        examples=st.lists(st.builds(Example, call=TEXT, result=TEXT), max_size=2).map(tuple),
        traits=st.builds(Traits, before=TEXT, after=TEXT, secrets=st.lists(TEXT, max_size=2).map(tuple)),
    )
    metadata = st.fixed_dictionaries(
        {},
        optional={
            "when": JSON, "role": JSON, "competencies": JSON, "relations": JSON, "tools": JSON, "category": JSON,
            "prompt": st.fixed_dictionaries({"variables": st.dictionaries(KEYS, SCHEMAS), "solver": TEXT}) | JSON,
        },
    )  # fmt: skip
    return st.builds(
        Manifest,
        kind=st.just(kind) if kind else st.sampled_from(["tool", "environment", "agent", "prompt"]),
        name=st.just(name),
        version=st.just("1.0.0"),
        description=TEXT,
        source=TEXT,
        requires=st.lists(TEXT, max_size=2).map(tuple),
        operations=st.dictionaries(st.sampled_from(["call", "state", "add"]), signature, max_size=2),
        metadata=metadata,
        rules=TEXT,
        recovery=TEXT,
    )


DOCUMENTS: dict[Any, tuple[str, st.SearchStrategy[Any]]] = {
    "memory": ("Memories", st.fixed_dictionaries({"kinds": st.lists(st.sampled_from(["step", "a`b"])), "limit": JSON})),
    "model": (
        "Models",
        st.fixed_dictionaries(
            {"provider": st.just("openai_chat"), "model": TEXT},
            optional={"fallbacks": st.lists(TEXT, max_size=2), "options": st.dictionaries(KEYS, JSON, max_size=2)},
        ),
    ),
    "solution": ("Solutions", st.fixed_dictionaries({"task": TEXT, "content": JSON, "run": TEXT})),
}


@st.composite
def documents(draw: st.DrawFn) -> Manifest:
    """Manifests of documents, as bad as a file of the registry can make them."""
    kind = draw(st.sampled_from(sorted(DOCUMENTS)))
    found, fields = draw(manifests(kind)), draw(DOCUMENTS[kind][1] | JSON)
    return replace(found, metadata={**found.metadata, kind: fields})


def headings(text: str) -> list[str]:
    """Every heading as a reader of Markdown sees it, in any nesting, with its level."""
    tokens = MarkdownIt("commonmark").parse(text)
    return [f"{one.tag} {tokens[index + 1].content}" for index, one in enumerate(tokens) if one.type == "heading_open"]


def kinds_of_tokens(text: str) -> set[str]:
    """The kinds of all parts of a document, also inside of lines."""
    tokens = MarkdownIt("commonmark").parse(text)
    return {one.type for token in tokens for one in (token, *(token.children or []))}


def expected(found: Iterable[Manifest], title: str) -> list[str]:
    lines = [f"h1 {title}"]
    for one in found:
        lines += [f"h2 {one.name} 1.0.0", *(f"h3 {name}" for name in sorted(one.operations))]
    return lines


@given(manifests("tool", "first"), manifests("tool", "second"))
def test_no_words_of_a_component_forge_a_heading_or_leave_their_place(first: Manifest, second: Manifest) -> None:
    text = contract("tool", [ContractEntry(name=one.name, found=one) for one in (first, second)])
    assert headings(text) == expected((first, second), "Tools")
    assert not kinds_of_tokens(text) & {"html_block", "html_inline", "image", "blockquote_open", "hr", "code_block"}
    fences = [one for one in MarkdownIt("commonmark").parse(text) if one.type == "fence"]
    assert len(fences) == sum(bool(one.examples) for found in (first, second) for one in found.operations.values())
    assert all(one.isprintable() or one == "\n" for one in text)


@given(documents())
def test_no_words_of_a_document_forge_a_heading_or_leave_their_place(found: Manifest) -> None:
    text = contract(found.kind, [ContractEntry(name=found.name, found=found)])
    assert headings(text) == expected([found], DOCUMENTS[found.kind][0])
    assert not kinds_of_tokens(text) & {"html_block", "html_inline", "image", "blockquote_open", "hr", "code_block"}


@pytest.mark.parametrize("words", EVIL)
def test_known_attacks_stay_words(words: str) -> None:
    operation = Signature(
        name="call",
        description=words,
        parameters={"properties": {words: {"type": words, "description": words, "default": words}}},
        returns={"type": words},
        examples=(Example(call=words, result=words),),
        traits=Traits(before=words, after=words, secrets=(words,)),
    )
    found = Manifest(
        kind="tool", name="evil", version="1.0.0", description=words, source="", rules=words,
        operations={"call": operation}, metadata={"role": words, "when": words}, requires=(words,),
    )  # fmt: skip
    text = contract("tool", [ContractEntry(name="evil", found=found), ContractEntry(name="broken", found=words)])
    assert headings(text) == ["h1 Tools", "h2 evil 1.0.0", "h3 call", "h2 broken"]
    assert not kinds_of_tokens(text) & {"html_block", "html_inline", "image", "hr", "code_block"}
    assert all(one.isprintable() or one == "\n" for one in text)


def test_words_of_control_characters_alone_are_shown() -> None:
    odd, seen = "\x1c\x1d\x1e\x1f", "<U+001C><U+001D><U+001E><U+001F>"
    operation = Signature(
        name="call", description=odd, parameters={}, returns={}, traits=Traits(before=odd, after=odd)
    )  # fmt: skip
    found = Manifest(
        kind="tool", name="odd", version="1.0.0", description=odd, source="",
        operations={"do": operation, "go": operation}, metadata={"when": odd},
    )  # fmt: skip
    text = contract("tool", [ContractEntry(name="odd", found=found)])
    assert (text.count(f"- Before: {seen}\n"), text.count(f"- After: {seen}\n")) == (2, 2)
    assert f"**When and how.** {seen}\n" in text
    assert text.count(f"\n{seen}\n") == 3


@given(manifests("environment"))
@example(Manifest(kind="environment", name="victim", version="1.0.0", description="x", source="", rules="## forged"))
def test_rules_of_environments_stand_together_at_the_end(found: Manifest) -> None:
    text = contract("environment", [ContractEntry(name="victim", found=found)])
    rules = ["h2 Rules", "h3 Rules of victim"] if found.rules else []
    assert headings(text) == expected([found], "Environments") + rules


SHOUT = '''
from typing import Literal

from tea import tool


@tool(effects="writes", idempotent=True, network=False, secrets=("KEY",), before="ready", after="louder")
async def shout(text: str, times: int = 1, tone: Literal["high", "low"] = "low") -> list[str]:
    """Say it louder.

    Good for crowds, bad for libraries.

    Args:
        text: Any words.
        times: How often.
        tone: Which tone.

    Examples:
        >>> await shout("a")
        ['A']
    """
    return [text.upper()] * times
'''


async def test_a_tools_contract_says_all_that_a_caller_must_know(tmp_path: Path) -> None:
    async with Platform(home=tmp_path / "home", state=tmp_path / "state") as tea:
        await tea.tcp.register(SHOUT)
        text = await tea.tcp.contract(names=["shout"])
    assert text == (
        "# Tools\n\nA tool is one operation. Call it by its name, with arguments as JSON.\n\n## shout 1.0.0\n\n"
        "Say it louder.\n\n**When and how.** Good for crowds, bad for libraries.\n\n### call\n\n"
        "- `text` (`string`, required): Any words.\n"
        "- `times` (`integer`, default `1`): How often.\n"
        '- `tone` (`one of high, low`, default `"low"`): Which tone.\n'
        "- Returns `array of string`\n"
        "- Effects: changes the workspace; repeating it is safe; needs the secrets `KEY`\n"
        "- Before: ready\n- After: louder\n\n```python\n>>> await shout(\"a\")\n['A']\n```\n"
    )


@pytest.mark.parametrize(
    ("schema", "kind", "limits"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 9}, "integer", ["at least 1", "at most 9"]),
        ({"type": "string", "maxLength": 3, "pattern": "^a"}, "string", ["at most 3 characters", "like ^a"]),
        ({"type": ["string", "null"]}, "string or null", []),
        ({"anyOf": [{"type": "array", "items": {"type": "number"}}, {"type": "null"}]}, "array of number or null", []),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"enum": [1, None]}}}, "one of 1, null", []),
        ({"enum": ["", "day"]}, 'one of "", day', []),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "object of integer", []),
        (
            {"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"], "type": "object"},
            "{a: string, b?: any}",
            [],
        ),
        ({"const": 5}, "5", []),
        ({}, "any", []),
        (True, "any", []),
        (False, "nothing", []),
    ],
)
def test_types_and_limits_in_words(schema: object, kind: str, limits: list[str]) -> None:
    assert (type_words(schema), limit_words(schema)) == (kind, limits)


def test_a_type_that_holds_itself_has_an_end() -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#/$defs/T"}, "right": {"$ref": "#/$defs/T"}}}
    assert len(type_words({"$ref": "#/$defs/T", "$defs": {"T": tree}})) <= 600


def test_a_type_of_very_many_alternatives_is_told_in_part() -> None:
    steps = {f"a{i}": {"anyOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2_000} for i in range(5)}
    assert type_words({"$ref": "#/$defs/a0", "$defs": {**steps, "a5": {"type": "null"}}}).startswith("any or ...")
    assert type_words({"anyOf": [{"const": str(i)} for i in range(14)]}).endswith("10 or 11 or ...")


def test_types_that_hold_each_other_take_time_that_grows_with_their_schema() -> None:
    held: dict[str, Any] = {"A": {"type": "object", "properties": {f"p{i}": {"$ref": "#/$defs/A"} for i in range(13)}}}
    fields = {f"q{i}": {"$ref": "#/$defs/A"} for i in range(1_000)}
    shape: Any = {"type": "object", "$defs": held, "properties": fields}
    call = Signature(name="call", description="Sum.", parameters=shape, returns={})
    found = Manifest(
        kind="tool", name="sums", version="1.0.0", description="Sum.", source="", operations={"call": call}
    )
    begun = time.process_time()
    assert found.text().count("p0?: {p0?: {p0?: object, ") == 1_000
    assert contract("tool", [ContractEntry(name="sums", found=found)]).count("p0?: {p0?: {p0?: object, ") == 1_000
    assert time.process_time() - begun < 5


async def test_a_contract_follows_every_change(tmp_path: Path) -> None:
    async with Platform(home=tmp_path / "home", state=tmp_path / "state") as tea:
        await tea.tcp.register(SHOUT)
        assert "## shout 1.0.0" in await tea.tcp.contract()
        await tea.tcp.update("shout", SHOUT.replace("Any words", "Some words"))
        text = await tea.tcp.contract()
        assert "## shout 1.0.1" in text
        assert "Some words" in text
        assert "Any words" in await tea.tcp.contract(names=["shout@1.0.0"])
        assert await tea.tcp.contract() == text
        await tea.tcp.unregister("shout")
        assert "shout" not in await tea.tcp.contract()
        with pytest.raises(UnknownComponent, match="calculatr"):
            await tea.tcp.contract(names=["calculatr"])


async def test_an_agents_contract_shows_what_it_is_and_how_it_relates(tmp_path: Path) -> None:
    async with Platform(home=tmp_path / "home", state=tmp_path / "state") as tea:
        text = await tea.acp.contract(names=["planner"])
        rules = await tea.ecp.contract()
    for words in (
        "- Role: Orchestrator",
        "- Competencies: ",
        "- Objectives: ",
        "- Relations (a debate follows them): hierarchical with analyzer",
    ):
        assert words in text
    assert "h2 Rules" in headings(rules)
    assert headings(rules)[-1] == "h3 Rules of workspace"


@pytest.mark.parametrize(
    ("kind", "document", "facts"),
    [
        (
            "memory",
            {"scope": "task", "limit": 5, "kinds": ["insight", "result"]},
            ["Sees: the events that the agent recorded itself for the same task",
             "Keeps: events of the kinds `insight`, `result`, and sees no others",
             "A recall gives: 5 events at most"],
        ),
        ("memory", {}, ["Sees: all events of the session", "Keeps: all events", "A recall gives: 20 events at most"]),
        (
            "model",
            {"provider": "openai_chat", "model": "tiny", "base_url": "http://127.0.0.1:8080/v1", "key_env": "A, B",
             "capabilities": ["tools"], "prices": {"input": 0.5, "output": 2}, "fallbacks": ["other"],
             "limits": {"concurrency": 8, "attempts": 5}, "options": {"temperature": 0},
             "context": 64000, "fold": "restart"},
            ["Provider: `openai_chat`", "Model: `tiny`", "Reached at: `http://127.0.0.1:8080/v1`",
             "Its key stands in: `A`, `B`", "Beyond text it can: `tools`", "An answer has: 8192 tokens at most",
             "It reads and writes: 64,000 tokens in all at most",
             "Of a longer conversation stays: what its model wrote down of it",
             "Limits: 8 calls at once, 5 attempts", "US dollars per million tokens: input 0.5, output 2",
             "Where it fails, asked next: `other`", "Each request also says: `temperature`"],
        ),
        (
            "model",
            {"base_url": "http://127.0.0.1:8080/v1", "max_output": None},
            ["Provider: `openai_chat`", "Model: the first that its server lists",
             "Reached at: `http://127.0.0.1:8080/v1`", "Its key stands in: nothing: it needs none",
             "US dollars per million tokens: not known"],
        ),
        (
            "solution",
            {"task": "Count.", "content": {"rows": 3}, "run": "01a2"},
            ["Task: Count.", "Comes from: the run `01a2`", 'Answer: {"rows": 3}'],
        ),
        ("solution", {"task": "Count.", "content": "3"}, ["Task: Count.", "Comes from: a person", "Answer: 3"]),
    ],
)  # fmt: skip
async def test_the_contract_of_a_document_says_what_it_sets(
    tmp_path: Path, kind: Any, document: dict[str, Any], facts: list[str]
) -> None:
    async with Platform(home=tmp_path / "home", state=tmp_path / "state") as tea:
        await tea.libraries[kind].register({"name": "mine", **document})
        _, words, title, *rest = (await tea.libraries[kind].contract()).rstrip("\n").split("\n\n")
    assert (bool(words), title, rest) == (True, "## mine 1.0.0", ["\n".join(f"- {fact}" for fact in facts)])


async def test_a_contract_says_what_wakes_an_agent_that_was_made_of_an_environment_and_what_it_starts(
    tmp_path: Path,
) -> None:
    async with Platform(home=tmp_path / "home", state=tmp_path / "state") as tea:
        await tea.transform("E2A", "workspace", name="tidier", initiative="Tidy up.", max_steps=5)
        text = await tea.acp.contract(names=["tidier"])
    assert "- Wakes: only when it is given a task; told `tick`, it follows its initiative: Tidy up.\n" in text
    assert "- Starts: actions of workspace and `done`, nothing else; 5 steps a task at most\n" in text


def test_what_is_deprecated_says_so() -> None:
    found = Manifest(kind="agent", name="old", version="1.0.0", description="Old.", source="")
    assert "It is deprecated" in contract("agent", [ContractEntry(name="old", found=found, state="deprecated")])


async def test_what_is_not_trusted_or_damaged_is_marked(tmp_path: Path) -> None:
    async with Platform(home=tmp_path / "home", state=tmp_path / "state") as tea:
        await tea.tcp.register(SHOUT)
        (tmp_path / "state" / "trusted").write_text("")
        await tea.tcp.register(SHOUT.replace("shout", "whisper"))
        (file,) = (tmp_path / "home").rglob("whisper/versions/*.json")
        await asyncio.to_thread(file.write_text, "{")
    async with Platform(home=tmp_path / "home", state=tmp_path / "state") as tea:
        text = await tea.tcp.contract()
    assert "## shout 1.0.0\n\n*It is not trusted" in text
    assert "## whisper\n\nIt cannot be used: " in text
