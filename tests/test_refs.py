"""The one grammar of references and versions."""

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tea.errors import BadRef
from tea.refs import KINDS, Ref, Version, check_alias, check_name, check_selector, is_digest, is_version

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,63}", fullmatch=True)
ALIASES = st.from_regex(r"[a-z][a-z0-9-]{0,63}", fullmatch=True)
NUMBERS = st.integers(0, 10**9 - 1)
VERSIONS = st.builds(Version, NUMBERS, NUMBERS, NUMBERS)
DIGESTS = st.from_regex(r"sha256:[0-9a-f]{64}", fullmatch=True)
SELECTORS = st.none() | ALIASES | VERSIONS.map(str) | DIGESTS
REFS = st.builds(Ref, kind=st.sampled_from(KINDS), name=NAMES, selector=SELECTORS, operation=st.none() | NAMES)
NEARLY = st.text(alphabet="tol:@#.-_01aA\n é٣", max_size=40) | st.text(max_size=300)


def read(check: Callable[[str], object], text: str) -> str | None:
    """The text read; None after a refusal in one printable line of at most 300 characters."""
    try:
        return str(check(text))
    except BadRef as error:
        said = str(error)
    assert len(said) <= 300
    assert said.isprintable()
    return None


@given(REFS)
def test_a_ref_is_read_back_from_its_text(ref: Ref) -> None:
    assert Ref.parse(str(ref)) == ref
    assert Ref.parse(str(ref).partition(":")[2], kind=ref.kind) == ref


@given(REFS, SELECTORS)
def test_a_ref_can_be_moved_to_another_version(ref: Ref, selector: str | None) -> None:
    moved = ref.at(selector)
    assert (moved.kind, moved.name, moved.selector, moved.operation) == (ref.kind, ref.name, selector, ref.operation)


@given(NEARLY | st.builds(lambda ref, more: f"{ref}{more}", REFS, NEARLY), st.sampled_from((None, *KINDS)))
@example("\x00" * 200, "tool")
@example("\U0010ffff" * 100, None)
@example("tool:" + "A" * 200, None)
@example("zzz:" + "a" * 64, None)
def test_any_text_is_a_ref_or_one_clear_line(text: str, kind: str | None) -> None:
    assert read(partial(Ref.parse, kind=kind), text) in (None, text, f"{kind}:{text}")


@given(NEARLY)
@example("\x00" * 80)
@example("\U0010ffff" * 100)
def test_any_text_is_a_name_a_selector_a_version_or_one_clear_line(text: str) -> None:
    for check in (check_name, check_selector, check_alias, Version.parse):
        assert read(check, text) in (None, text)


@pytest.mark.parametrize(
    "text",
    ["tool:a@", "tool:a#", "tool:a@1.0", "tool:a@1.0.0#", "tool:A", "tool:", "a", ":a", "x:a", "tool:a@b@c",
     "tool:a#b#c", "tool:a@1.0.0\n", "tool:a\n", " tool:a", "tool:tool:a", "tool:ns/a", "tool:a@sha256:" + "A" * 64,
     "tool:é"],
)  # fmt: skip
def test_what_is_no_ref(text: str) -> None:
    with pytest.raises(BadRef):
        Ref.parse(text)


def test_a_selector_is_one_of_three_things() -> None:
    assert is_version("1.0.0")
    assert is_digest("sha256:" + "0" * 64)
    assert not is_version("prod")
    assert not is_digest("1.0.0")
    for alias in ("prod", "a-b", "v1"):
        assert check_selector(alias) == check_alias(alias) == alias
    with pytest.raises(BadRef, match="is not an alias"):
        check_alias("1.0.0")


@given(VERSIONS, VERSIONS)
def test_versions_are_ordered_by_their_numbers(one: Version, other: Version) -> None:
    numbers = [(v.major, v.minor, v.patch) for v in (one, other)]
    assert (one < other) == (numbers[0] < numbers[1])
    assert (one >= other) == (numbers[0] >= numbers[1])
    assert (one == other) == (numbers[0] == numbers[1])


@given(VERSIONS)
def test_a_bump_is_always_higher_and_clears_what_is_below(version: Version) -> None:
    major, minor, patch = version.bump("major"), version.bump("minor"), version.bump("patch")
    assert version < patch < minor < major
    assert (minor.patch, major.minor, major.patch) == (0, 0, 0)


@given(VERSIONS)
def test_a_version_is_read_back_from_its_text(version: Version) -> None:
    assert Version.parse(str(version)) == version


@pytest.mark.parametrize(
    "text",
    ["01.0.0", "1.00.0", "1.0", "1.0.0.0", "v1.0.0", "1.0.0-rc1", "1.0.0+b", "-1.0.0", "1.0.x", "", " 1.0.0", "1.0.0\n",
     "١.0.0", "1.0.٠", "1.0.²", "1_0.0.0", "1.0.1000000000", "1" * 10_000],
)  # fmt: skip
def test_what_is_no_version(text: str) -> None:
    with pytest.raises(BadRef, match="is not a version"):
        Version.parse(text)
