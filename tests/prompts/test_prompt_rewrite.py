"""Evolution's door: sections as variables, and texts written back without touching another byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea.errors import BadComponent, NotEvolvable
from tea.prompts.manager import PromptManager

manager = PromptManager()

NAMES = ("system", "message", "first", "second")
FRONT = "name: probe\ndescription: Probes.\ntrainable: [system, message, first, second]\n"
LINES = st.text(
    alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="{}\0#"), min_size=0, max_size=40
).map(lambda text: text.strip("\r\n"))
TEXTS = LINES.filter(lambda text: bool(text.strip()))


def source(texts: dict[str, str], gap: str = "\n", front: str = FRONT) -> str:
    headings = {"system": "# system", "message": "# message"}
    sections = [f"{headings.get(name, f'# module: {name}')}\n{gap}{text}\n{gap}" for name, text in texts.items()]
    return f"---\n{front}---\n{gap}{''.join(sections)}"


def normal(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")


@given(st.fixed_dictionaries(dict.fromkeys(NAMES, TEXTS)), st.sampled_from(["", "\n", "\n\n\n", "\r\n"]))
def test_every_text_is_read_back_as_it_was_written(texts: dict[str, str], gap: str) -> None:
    prompt = manager.parse(source(texts, gap))
    assert prompt.sections == {name: normal(text) for name, text in texts.items()}


@given(
    st.fixed_dictionaries(dict.fromkeys(NAMES, TEXTS)),
    st.sampled_from(["", "\n", "\r\n"]),
    st.dictionaries(st.sampled_from(NAMES), TEXTS),
)
def test_new_texts_replace_their_sections_and_nothing_else(
    texts: dict[str, str], gap: str, values: dict[str, str]
) -> None:
    before = source(texts, gap)
    after = manager.with_vars(before, values)
    expected = {name: normal({**texts, **values}[name]) for name in NAMES}
    assert manager.parse(after).sections == expected
    assert manager.with_vars(after, values) == after
    changed = {name for name in values if normal(values[name]) != normal(texts[name])}
    plain = {name: normal(values[name]) if name in changed else text for name, text in texts.items()}
    assert after.replace("\r\n", "\n") == source(plain, gap).replace("\r\n", "\n")


@given(st.fixed_dictionaries(dict.fromkeys(NAMES, TEXTS)), st.sampled_from(["", "\n", "\r\n"]))
def test_writing_back_what_was_read_changes_no_byte(texts: dict[str, str], gap: str) -> None:
    before = source(texts, gap)
    values = {variable.name: variable.value for variable in manager.vars(manager.parse(before))}
    assert manager.with_vars(before, values) == before


def test_line_ends_of_another_system_stay_where_nothing_changes() -> None:
    before = source({"system": "a\nb", "message": "m", "first": "c\nd", "second": "e"}).replace("\n", "\r\n")
    assert manager.parse(before).modules["first"] == "c\nd"
    assert manager.with_vars(before, {"system": "a\nb", "first": "c\nd"}) == before
    assert manager.with_vars(before, {"second": "f"}) == before.replace("\r\ne\r\n", "\r\nf\r\n")


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_an_empty_section_can_be_filled_and_emptied_again(end: str) -> None:
    before = source({"system": "s", "message": "m"}) + f"# module: first{end}"
    before = before.replace(", second", "")
    filled = manager.with_vars(before, {"first": "text"})
    assert manager.parse(filled).modules == {"first": "text"}
    assert manager.parse(manager.with_vars(filled, {"first": ""})).modules == {"first": ""}


def test_variables_say_what_may_be_rewritten() -> None:
    texts = dict.fromkeys(NAMES, "x")
    prompt = manager.parse(source(texts, front=FRONT.replace("system, message, ", "")))
    assert {one.name: one.trainable for one in manager.vars(prompt)} == {
        "system": False,
        "message": False,
        "first": True,
        "second": True,
    }
    fixed = manager.parse(source(texts, front=FRONT + "evolvable: false\n"))
    assert not any(one.trainable for one in manager.vars(fixed))


def test_a_section_that_is_not_trainable_is_not_rewritten() -> None:
    texts = dict.fromkeys(NAMES, "x")
    with pytest.raises(NotEvolvable, match="'system'"):
        manager.with_vars(source(texts, front=FRONT.replace("system, ", "")), {"system": "y"})
    with pytest.raises(NotEvolvable, match="'third'"):
        manager.with_vars(source(texts), {"third": "y"})
    with pytest.raises(NotEvolvable, match="not evolvable"):
        manager.with_vars(source(texts, front=FRONT + "evolvable: false\n"), {"first": "y"})


@pytest.mark.parametrize(
    "text",
    ["x\n# message", "x\n# module: third", "x\r# system", "# module: X", "{{ nobody }}", "{% if", "\0", "x" * 300_000],
)
def test_a_text_that_would_break_the_prompt_is_refused(text: str) -> None:
    with pytest.raises(BadComponent):
        manager.with_vars(source(dict.fromkeys(NAMES, "x")), {"first": text})
