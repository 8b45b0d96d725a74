"""Test strict JSON and reading people's files."""

import json
import os
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tea.errors import BadInput
from tea.store.files import parse_json_strict, read_json_strict
from tea.store.strict import DEPTH, Refused, check_depth, dumps, loads

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)

REFUSED = {
    "not UTF-8": b'{"a": "\xff"}',
    "another encoding": '{"a": 1}'.encode("utf-16"),
    "a byte order mark": b'\xef\xbb\xbf{"a": 1}',
    "a key twice": b'{"a": 1, "a": 2}',
    "a key twice, deep inside": b'{"a": [{"b": 1, "b": 1}]}',
    "NaN": b'{"a": NaN}',
    "infinity": b'{"a": -Infinity}',
    "infinity in disguise": b'{"a": 1e999}',
    "a lone surrogate": b'{"a": "\\ud800"}',
    "a lone surrogate in a key": b'{"\\uDFFF": 1}',
    "five thousand digits": b'{"a": ' + b"9" * 5000 + b"}",
    "deep nesting": b"[" * 300 + b"]" * 300,
    "absurd nesting": b"[" * 100_000,
    "nothing": b"",
    "two values": b"{} {}",
    "a cut-off value": b'{"a": [1, 2',
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_strict_json_is_refused_in_one_short_line(data: bytes) -> None:
    with pytest.raises(BadInput) as caught:
        parse_json_strict(data)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= 290


@given(st.binary())
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        value = parse_json_strict(data)
    except BadInput:
        return
    assert loads(dumps(value)) == value


@given(st.text(alphabet='{}[]",:\\u018eE-d"naf \n'))
def test_any_text_like_json_is_read_as_the_standard_reader_reads_it_or_refused(text: str) -> None:
    try:
        value = parse_json_strict(text.encode())
    except BadInput:
        return
    assert value == json.loads(text)


@given(VALUES)
def test_what_is_written_is_read_back(value: Any) -> None:
    assert loads(dumps(value)) == value
    assert loads(dumps(value, indent=2)) == value


def test_surrogate_pairs_are_characters() -> None:
    assert parse_json_strict(b'"\\ud83d\\ude00 \\\\ud800"') == "\U0001f600 \\ud800"


def test_the_limit_of_nesting_is_exact_and_ignores_brackets_in_texts() -> None:
    texts = b'"' + b"[{" * 500 + b'\\""'
    assert loads(b"[" * (DEPTH - 1) + b'{"a":' + texts + b"}" + b"]" * (DEPTH - 1))
    with pytest.raises(Refused):
        loads(b"[" * DEPTH + b"{}" + b"]" * DEPTH)
    assert loads(b"[" + b",".join([b"[]"] * 1000) + b"]") == [[]] * 1000


def test_an_object_is_read_from_a_regular_file(tmp_path: Path) -> None:
    path = tmp_path / "task.json"
    path.write_bytes(b'{"task": "count"}')
    assert read_json_strict(path) == {"task": "count"}


NESTED: st.SearchStrategy[Any] = st.recursive(
    st.text('ab\\"[]{}\n', max_size=4) | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('k"[]{}\\', max_size=3), inner, max_size=3),
    max_leaves=30,
)


def depth_of(value: Any) -> int:
    if not isinstance(value, dict | list):
        return 0
    inner: list[Any] = list(cast("dict[str, Any]", value).values()) if isinstance(value, dict) else value
    return 1 + max(map(depth_of, inner), default=0)


@given(value=NESTED, most=st.integers(0, 6), ascii=st.booleans())
def test_text_is_as_deep_as_its_value_whatever_its_strings_hold(value: Any, most: int, ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii, separators=(",", ":"))
    if depth_of(value) <= most:
        check_depth(text, most)
    else:
        with pytest.raises(Refused, match=f"more than {most} deep"):
            check_depth(text, most)


def test_a_file_above_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(BadInput, match="are allowed"):
        read_json_strict(path)


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("{}")
    os.mkfifo(tmp_path / "pipe")
    os.symlink(tmp_path / "file", tmp_path / "link")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "link", Path("/dev/zero")):
        with pytest.raises(BadInput, match="not a regular file"):
            read_json_strict(path)


def test_missing_files_impossible_names_and_other_values_are_refused(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text("[1]")
    for path, reason in (
        (tmp_path / "none.json", "No such file"),
        (tmp_path / ("x" * 300), "too long"),
        (tmp_path / "a\0b", "name"),
        (tmp_path / "a\ud800b", "name"),
        (tmp_path / "list.json", "not a JSON object"),
    ):
        with pytest.raises(BadInput, match=reason) as caught:
            read_json_strict(path)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) <= 290
