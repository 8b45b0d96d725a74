"""Hostile prompts and variables: refused in one line, in bounded time and space."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea.errors import BadArguments, BadComponent, TeaError
from tea.prompts.manager import PromptManager
from tea.prompts.template import metered

manager = PromptManager()


def source(template: str, front: str = "variables: {x: {}}\n") -> str:
    return f"---\nname: probe\ndescription: Probes.\n{front}---\n# system\n{template}\n# message\nm\n"


def problem(text: str) -> str:
    try:
        manager.parse(text)
    except TeaError as error:
        return str(error)
    return ""


def rendered(template: str, x: Any) -> str:
    part = manager.render(manager.parse(source(template)), {"x": x})[0].content[0]
    return part.model_dump()["text"]


TWICE, ENDS = "{% for a in [1, 2, 3, 4, 5, 6, 7, 8, 9] %}" * 3, "{% endfor %}" * 3
MANY = f"{{% for a in [{'1, ' * 300}] %}}"
LONG = "a" * 100_000


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ x.__class__ }}",
        "{{ _private }}",
        "{{ x|attr('__class__') }}",
        "{{ x.items() }}",
        "{{ '{0.__class__}'.format(x) }}",
        "{{ x|format(x) }}",
        "{% for a in range(10 ** 9) %}{% endfor %}",
        "{{ 'a' * 10 ** 9 }}",
        "{{ 10 ** 10 ** 10 }}",
        "{{ '%999999999d' % 1 }}",
        "{{ x ~ x }}",
        "{{ x|center(10000000) }}",
        "{{ x|indent(10000000) }}",
        "{{ x|indent(x) }}",
        "{{ x|join(separator=x) }}",
        "{{ x|join(*x) }}",
        "{{ lipsum }}",
        "{{ cycler }}",
        "{{ self }}",
        "{{ loop_counter }}",
        "{% set y = x %}",
        "{% macro y() %}{% endmacro %}",
        "{% include 'y' %}",
        "{% import 'y' as z %}",
        "{% extends 'y' %}",
        "{% block y %}{% endblock %}",
        "{% for a in x recursive %}{{ loop(a) }}{% endfor %}",
        "{{ " + "(" * 10_000 + "x" + ")" * 10_000 + " }}",
        "{% if x %}" * 1_000 + "{% endif %}" * 1_000,
        "{% for a in x %}" * 22 + "{% endfor %}" * 22,
        "{{ x }}" * 10_000,
        "{{ x is unheard_of }}",
        "{{ x" + "|tojson" * 100 + " }}",
    ],
)
def test_a_template_beyond_the_language_is_refused_when_it_is_read(template: str) -> None:
    with pytest.raises(BadComponent) as caught:
        manager.parse(source(template))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= 300


@pytest.mark.parametrize(
    ("template", "x"),
    [
        ("{{ x['__class__'] }}", "text"),
        ("{{ x['__class__'] }}", {}),
        ("{{ x|map(attribute='__class__')|join }}", [1]),
        ("{{ x.keys }}", {}),
        ("{{ x.upper }}", "text"),
        ("{% for a in x %}{{ loop.cycle }}{% endfor %}", [1]),
        ("{% for a in x %}{{ loop }}{% endfor %}", [1]),
        ("{% for a in x %}{% for b in x %}{% endfor %}{% endfor %}", list(range(1_000))),
        ("{% for a in x %}{% for b in x %}{{ x }}{% endfor %}{% endfor %}", ["word"] * 300),
        ("{{ x" + "|tojson" * 22 + " }}", '"'),
        ("{{ x|join('" + "a" * 32 + "')|join('" + "a" * 32 + "') }}", "a" * 10_000),
        ("{{ x" + "|tojson" * 21 + "|length }}", '"' * 10),
        ("{{ x.a.b }}", {"a": {}}),
        ("{{ x|truncate(1) }}", "a long text"),
        ("{% for a in x %}{% endfor %}", 3),
        ("{{ x|sort }}", [1, "a"]),
        ("{{ [1, 'a']|sort }}", 0),
        ("{% for a in [1, 2, 3, 4] %}" * 9 + "{% endfor %}" * 9, 0),
        (f"{TWICE}{{% if x|upper|lower == 'x' %}}y{{% endif %}}{ENDS}", LONG),
        (f"{TWICE}{{% if x == x %}}{{% endif %}}{ENDS}", LONG),
        (f"{TWICE}{{% if 'y' in x %}}{{% endif %}}{ENDS}", LONG),
        (f"{TWICE}{{% if x[1:] %}}{{% endif %}}{ENDS}", LONG),
        (f"{TWICE}{{% if x|tojson == '' %}}{{% endif %}}{ENDS}", [LONG]),
        (f"{TWICE}{{% if [x, x]|map('default')|join == '' %}}{{% endif %}}{ENDS}", LONG),
        (f"{{% if [{'x, ' * 700}]|rejectattr('y')|join %}}{{% endif %}}", LONG),
        (f"{{{{ [{'x, ' * 700}] }}}}", LONG),
        (f"{MANY}{MANY}{{% if [{'x, ' * 700}]|sort|first %}}{{% endif %}}{'{% endfor %}' * 2}", 1),
        (f"{MANY}{MANY}{{% if [{'x, ' * 4_000}] %}}{{% endif %}}{'{% endfor %}' * 2}", 1),
    ],
)
def test_a_rendering_that_reaches_or_grows_too_far_is_refused(template: str, x: Any) -> None:
    with pytest.raises(BadArguments) as caught:
        rendered(template, x)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= 300


@pytest.mark.parametrize("key", ["items", "keys", "get", "__class__"])
def test_a_key_is_a_key_whatever_methods_python_has(key: str) -> None:
    assert rendered(f"{{{{ x['{key}'] }}}}", {key: "mine"}) == "mine"


@pytest.mark.parametrize("key", ["items", "keys", "get", "copy"])
def test_a_key_after_a_dot_is_a_key_too(key: str) -> None:
    assert rendered(f"{{{{ x.{key} }}}}", {key: "mine"}) == "mine"


@pytest.mark.parametrize(
    "front",
    [
        "metadata: &a {b: c}\n",
        "metadata: {a: &a [1, 2], b: *a}\n",
        "metadata: " + "{a: " * 100 + "}" * 100 + "\n",
        "metadata: " + "[" * 60_000 + "\n",
        "metadata: {x: !!python/object/apply:os.system [id]}\n",
        "metadata: {x: !!binary aGk=}\n",
        "metadata: {x: !!int abc}\n",
        "metadata: {x: !!bool abc}\n",
        "metadata: {x: " + "9" * 10_000 + "}\n",
        "metadata: {x: " + "1:" * 10_000 + "1}\n",
        "metadata: {x: .inf}\n",
        "metadata: {x: .nan}\n",
        "metadata: {? [a] : b}\n",
        'metadata: {x: "\\ud800"}\n',
        "metadata: {a: 1, a: 2}\n",
        "metadata: {<<: {a: 1}, <<: {a: 2}}\n",
        "...\nx: 1\n",
        "metadata: !!python/object:os.system {}\n",
        "a: b: c\n",
        "- a\n",
        "x\x07: 1\n",
    ],
)
def test_front_matter_that_is_more_than_plain_data_is_refused(front: str) -> None:
    with pytest.raises(BadComponent) as caught:
        manager.parse(source("s", front))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= 300


@pytest.mark.parametrize("text", ["x" * 300_000, "---\n" + "x" * 70_000 + "\n---\n", "\ud800", "---\n", "---\n---\n"])
def test_a_source_that_is_too_large_or_broken_is_refused(text: str) -> None:
    with pytest.raises(BadComponent):
        manager.parse(text)


@given(st.text(alphabet=st.sampled_from("-# \n\r:{}[]%&*!|>'\"amodulesyt?,_\\\0\ud800"), max_size=200))
def test_any_front_matter_and_body_end_in_a_prompt_or_one_of_our_errors(text: str) -> None:
    for candidate in (text, source(text), source("s", text + "\n")):
        assert "\n" not in problem(candidate)


@pytest.mark.parametrize("end", ["\x85", "\u2028", "\u2029", "\r"])
def test_front_matter_ends_its_lines_where_a_reader_sees_them_end(end: str) -> None:
    number = f"U+{ord(end):04X}"
    said = problem(source("x", f"variables: {{x: {{}}}}\n# a note{end}solver: tool:calculator\n"))
    assert said.startswith(f"The front matter holds the character {number} at line 5.")
    assert problem(source("x", f'metadata: {{a: "b{end}c"}}\n'))
    assert not problem(source(f"x{end}y", f'metadata: {{a: "b\\u{ord(end):04x}c"}}\n# a note\r\n'))


def test_parts_without_variables_are_bounded_together() -> None:
    loops = f"{TWICE}{'a' * 2_000}{ENDS}"
    parts = "".join(f"# module: m{i}\n{loops}\n" for i in range(100))
    shown = "".join(f"{{% if m{i} %}}{{% endif %}}" for i in range(100))
    with pytest.raises(BadArguments, match="goes through more than"):
        manager.render(manager.parse(f"{source(shown)}{parts}"), {"x": 1})


def test_prompts_looked_at_together_share_one_bound() -> None:
    loops = f"{TWICE}{'a' * 2_000}{ENDS}"
    heavy = manager.parse(source(f"{loops}{{{{ x }}}}"))
    for _ in range(3):
        manager.render(heavy, {"x": 1})
    with metered(), pytest.raises(BadArguments, match="goes through more than"):
        _ = [manager.render(heavy, {"x": 1}) for _ in range(200)]
