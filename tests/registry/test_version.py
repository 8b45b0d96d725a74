"""Test immutable versions, movable pointers, and the history of both."""

import json
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from tea.components.manifest import Lineage, Manifest, ToolConfig
from tea.components.operation import Signature
from tea.errors import AlreadyRegistered, BadRef, Conflict, Damaged, Purged, RegistryError, UnknownComponent
from tea.refs import Ref, Version
from tea.registry.difference import diff
from tea.registry.head import Head
from tea.registry.version import VersionManager
from tea.store.registry import FileRegistry

A = Ref(kind="tool", name="a")


@pytest.fixture
def versions(tmp_path: Path) -> VersionManager:
    return VersionManager(FileRegistry(tmp_path / "registry"))


def tool(source: str, *parameters: str, **changes: Any) -> ToolConfig:
    properties = {name: {"type": "string"} for name in parameters}
    signature = Signature(
        name="a", description="Do it.", parameters={"properties": properties}, returns={"type": "string"}
    )
    fields: dict[str, Any] = {"kind": "tool", "name": "a", "version": "0.0.0", "description": "Does it."}
    return ToolConfig(**{**fields, "source": source, "operations": {"call": signature}, **changes})


def add(versions: VersionManager, source: str, *parameters: str, **options: Any) -> Manifest:
    made = tool(source, *parameters)
    return versions.add("tool", "a", lambda version: replace(made, version=version), **options)


def test_versions_follow_each_other_by_the_kind_of_change(versions: VersionManager) -> None:
    made = [add(versions, "1"), add(versions, "2"), add(versions, "3", "x"), add(versions, "4")]
    assert [one.version for one in made] == ["1.0.0", "1.0.1", "1.1.0", "2.0.0"]
    assert versions.history("tool", "a") == made
    assert versions.resolve(A) == made[-1]
    assert versions.names("tool") == ["a"]


def test_after_a_restore_the_next_version_is_still_the_highest(versions: VersionManager) -> None:
    for source, parameters in (("1", ()), ("2", ("x",)), ("3", ("x", "y"))):
        add(versions, source, *parameters)
    versions.restore("tool", "a", "1.0.0")
    assert add(versions, "4").version == "1.2.1"
    versions.restore("tool", "a", "1.0.0")
    assert add(versions, "5", "z").version == "1.3.0"


def test_a_version_may_be_added_without_becoming_current(versions: VersionManager) -> None:
    add(versions, "1")
    side = add(versions, "2", current=False)
    assert (side.version, versions.head("tool", "a").current) == ("1.0.1", "1.0.0")
    assert versions.resolve(A.at("1.0.1")) == side


def test_a_chosen_version_is_given_once(versions: VersionManager) -> None:
    add(versions, "1", version="2.0.0")
    with pytest.raises(AlreadyRegistered):
        add(versions, "2", version="2.0.0")
    add(versions, "3", version="1.0.0")
    assert versions.head("tool", "a").current == "1.0.0"
    assert [one.version for one in versions.history("tool", "a")] == ["1.0.0", "2.0.0"]


@pytest.mark.parametrize("again", ["keep", "lead"])
def test_bytes_that_are_current_are_stored_no_second_time(versions: VersionManager, again: Any) -> None:
    first = add(versions, "1")
    assert add(versions, "1", again=again) == first
    assert ([one.version for one in versions.history("tool", "a")], versions.head("tool", "a").number) == (["1.0.0"], 1)


def test_bytes_of_an_earlier_version_keep_what_is_current_or_lead_again(versions: VersionManager) -> None:
    first, second = add(versions, "1"), add(versions, "2")
    assert add(versions, "1", again="keep") == first
    assert versions.resolve(A) == second
    assert add(versions, "1", again="lead", author="ada") == first
    assert (versions.resolve(A), versions.head("tool", "a").author) == (first, "ada")
    assert versions.rollback("tool", "a").current == second.version
    assert [one.version for one in versions.history("tool", "a")] == ["1.0.0", "1.0.1"]


def test_of_versions_with_the_same_bytes_the_newest_that_was_current_is_given(versions: VersionManager) -> None:
    for source, current in (("1", True), ("1", True), ("1", False), ("2", True)):
        add(versions, source, current=current)
    assert add(versions, "1", again="keep").version == "1.0.1"
    versions.restore("tool", "a", "1.0.0")
    assert add(versions, "1", again="keep").version == "1.0.0"


def test_each_change_is_read_once_however_many_versions_have_the_same_bytes(
    versions: VersionManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(versions, "1")
    for _ in range(20):
        add(versions, "2", current=False)
        versions.alias(A, "prod")
    read, looked = versions.store.head, list[int | None]()

    def counted(kind: str, name: str, number: int | None = None) -> tuple[int, dict[str, Any]]:
        looked.append(number)
        return read(kind, name, number)

    monkeypatch.setattr(versions.store, "head", counted)
    assert add(versions, "2", again="keep").version == "1.0.21"
    assert max(looked.count(number) for number in range(1, 21)) == 1


def test_going_back_passes_many_hidden_versions_in_linear_time(
    versions: VersionManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = ("1.0.1", *(f"2.0.{number}" for number in range(200_000)), "1.0.0")
    newest = 5_000, Head(current="1.0.1", undo=4_999, removed=hidden).to_json()

    def read(kind: str, name: str, number: int | None = None) -> tuple[int, dict[str, Any]]:
        before = None if number in (None, 1) else number - 1
        return newest if number is None else (number, Head(current="1.0.0", undo=before).to_json())

    monkeypatch.setattr(versions.store, "head", read)
    begun = time.process_time()
    with pytest.raises(RegistryError, match="none to go back to"):
        versions.rollback("tool", "a")
    assert time.process_time() - begun < 4


@pytest.mark.parametrize("again", ["keep", "lead"])
def test_what_a_registration_left_that_died_is_no_version_to_go_back_to(versions: VersionManager, again: Any) -> None:
    add(versions, "1")
    add(versions, "2", current=False)
    assert add(versions, "2", again=again).version == "1.0.2"
    assert versions.head("tool", "a").current == "1.0.2"


@pytest.mark.parametrize("again", ["keep", "lead"])
def test_bytes_that_are_out_of_sight_are_stored_anew(versions: VersionManager, again: Any) -> None:
    add(versions, "1")
    versions.unregister("tool", "a")
    assert add(versions, "1", again=again).version == "1.0.1"
    versions.purge("tool", "a", ["1.0.0"])
    add(versions, "2")
    versions.purge("tool", "a", ["1.0.1"])
    assert add(versions, "1", again=again).version == "1.0.3"


@pytest.mark.parametrize("again", ["keep", "lead"])
def test_a_guard_may_refuse_bytes_that_are_there_already(versions: VersionManager, again: Any) -> None:
    add(versions, "1"), add(versions, "2")

    def refuse(head: Head) -> None:
        raise Conflict("no.", fix="none.")

    with pytest.raises(Conflict):
        add(versions, "1", again=again, guard=refuse)
    assert (versions.head("tool", "a").current, len(versions.history("tool", "a"))) == ("1.0.1", 2)


def test_every_change_is_kept_with_who_why_and_when(versions: VersionManager) -> None:
    add(versions, "1", author="ada")
    versions.restore("tool", "a", "1.0.0", author="bob", reason="as it was")
    heads = versions.heads("tool", "a")
    assert [(head.number, head.current, head.author, head.reason) for head in heads] == [
        (1, "1.0.0", "ada", ""), (2, "1.0.0", "bob", "as it was"),
    ]  # fmt: skip
    assert all(head.time.endswith("Z") for head in heads)
    assert versions.head("tool", "a") == heads[-1]
    assert versions.head("tool", "b") == Head()


def test_an_alias_moves(versions: VersionManager) -> None:
    add(versions, "1")
    add(versions, "2")
    versions.alias(A.at("1.0.0"), "prod")
    found = versions.resolve(A.at("prod"))
    assert found is not None
    assert found.version == "1.0.0"
    versions.alias(A, "prod")
    versions.alias(A.at("prod"), "best")
    assert versions.head("tool", "a").aliases == {"prod": "1.0.1", "best": "1.0.1"}
    for wrong in ("1.0.0", "Prod", "", "sha256:" + "0" * 64):
        with pytest.raises(BadRef):
            versions.alias(A, wrong)
    with pytest.raises(UnknownComponent, match=r"it has 1\.0\.0, 1\.0\.1, best, prod"):
        versions.alias(A.at("7.0.0"), "prod")


def test_states_come_and_go(versions: VersionManager) -> None:
    add(versions, "1")
    add(versions, "2")
    versions.mark(A.at("1.0.0"), "archived")
    versions.mark(A, "deprecated")
    assert versions.head("tool", "a").states == {"1.0.0": "archived", "1.0.1": "deprecated"}
    versions.mark(A.at("1.0.0"), "active")
    assert versions.head("tool", "a").states == {"1.0.1": "deprecated"}
    with pytest.raises(UnknownComponent, match="not registered"):
        versions.mark(Ref(kind="tool", name="b"), "archived")


def test_lineage_is_followed_to_its_root(versions: VersionManager) -> None:
    for version, parent in (("1.0.0", None), ("1.1.0", "1.0.0"), ("1.2.0", "1.1.0"), ("1.3.0", "1.0.0")):
        made = tool(version, lineage=Lineage(parent=parent))
        versions.add("tool", "a", lambda wanted, made=made: replace(made, version=wanted), version=version)
    chain = versions.lineage("tool", "a", "1.2.0")
    assert [one.version for one in chain] == ["1.2.0", "1.1.0", "1.0.0"]
    ring = tool("ring", lineage=Lineage(parent="2.0.0"))
    versions.add("tool", "a", lambda wanted: replace(ring, version=wanted), version="2.0.0")
    assert [one.version for one in versions.lineage("tool", "a", "2.0.0")] == ["2.0.0"]


def test_a_diff_shows_source_schema_and_kind_of_change() -> None:
    old = tool("one\ntwo\n", version="1.0.0", files={"_a/b.py": "B = 1"})
    new = tool("one\nthree\n", "x", version="1.1.0", files={"_a/b.py": "B = 2"})
    found = diff(old, new)
    assert (found.old, found.new, found.change) == ("tool:a@1.0.0", "tool:a@1.1.0", "minor")
    lines = found.source.splitlines()
    assert lines[:2] == ["--- tool:a@1.0.0", "+++ tool:a@1.1.0"]
    assert {"-two", "+three", "-B = 1", "+B = 2", "# file: _a/b.py"} <= set(lines)
    assert '"x": {' in found.schema
    assert "two" not in found.schema
    same = diff(old, old)
    assert (same.change, same.source, same.schema) == ("none", "", "")


def test_a_diff_of_versions_that_share_many_lines_is_shown_soon() -> None:
    shared = [f"#{number % 110}" for number in range(4_000)]
    changed = [line for number, one in enumerate(shared) for line in (one, f"#x{number}")]
    begun = time.process_time()
    assert "+#x3999" in diff(tool("\n".join(shared)), tool("\n".join(changed))).source
    assert time.process_time() - begun < 5


def test_a_diff_of_prompts_shows_their_text() -> None:
    parts = [Manifest(kind="prompt", name="p", version="1.0.0", description="", source=text) for text in ("Hi.", "Ho.")]
    assert {"-Hi.", "+Ho."} <= set(diff(*parts).source.splitlines())


def test_nothing_is_found_where_nothing_is(versions: VersionManager) -> None:
    assert versions.resolve(A) is None
    assert versions.resolve(A.at("sha256:" + "0" * 64)) is None
    assert versions.history("tool", "a") == []
    with pytest.raises(RegistryError, match="not at another version before"):
        versions.rollback("tool", "a")


def forged(path: Path, document: dict[str, Any]) -> None:
    """Put another document in a file's place, sealed as tea itself would have."""
    other = FileRegistry(path.parent / "forge")
    other.create("tool", "a", "1.0.0", document)
    other.advance("tool", "a", document, 0)
    path.write_bytes((path.parent / "forge" / "tools" / "a" / path.parent.name / path.name).read_bytes())


def stored(path: Path) -> dict[str, Any]:
    """The document in a file of the registry."""
    return json.loads(path.read_text())["document"]


@pytest.mark.parametrize(
    "changes", [{"source": "other"}, {"digest": "sha256:0"}, {"kind": "agent"}, {"version": "9.9.9"}, {"operations": 3}]
)
def test_a_version_file_with_other_content_is_damage_that_is_named(
    versions: VersionManager, tmp_path: Path, changes: dict[str, Any]
) -> None:
    first = add(versions, "1")
    second = add(versions, "2")
    path = tmp_path / "registry" / "tools" / "a" / "versions" / "1.0.0.json"
    forged(path, {**stored(path), **changes})
    for manager in (versions, VersionManager(versions.store)):
        with pytest.raises(Damaged, match=r"tool:a@1\.0\.0 is damaged") as caught:
            manager.manifest("tool", "a", "1.0.0")
        assert len(str(caught.value)) <= 400
        assert manager.resolve(A) == second == manager.resolve(A.at(second.digest))
    with pytest.raises(Damaged):
        versions.resolve(A.at(first.digest))


@pytest.mark.parametrize("changes", [
    {"current": 3}, {"aliases": []}, {"aliases": {"1.0.0": "1.0.1"}}, {"states": {"1.0.0": "lost"}}, {"undo": "x"},
    {"undo": 1}, {"undo": 2}, {"undo": 0},
])  # fmt: skip
def test_a_head_with_other_content_is_damage(versions: VersionManager, tmp_path: Path, changes: dict[str, Any]) -> None:
    add(versions, "1")
    path = tmp_path / "registry" / "tools" / "a" / "heads" / "000001.json"
    forged(path, {**stored(path), **changes})
    with pytest.raises(Damaged, match="Change 1 of a component is unreadable"):
        versions.resolve(A)


@given(st.lists(st.sampled_from(["major", "minor", "patch"]), max_size=6))
@settings(max_examples=20)
def test_versions_only_grow(tmp_path_factory: pytest.TempPathFactory, changes: list[str]) -> None:
    versions = VersionManager(FileRegistry(tmp_path_factory.mktemp("home")))
    parameters, seen = ["p0"], ["0.0.0"]
    for number, change in enumerate(["patch", *changes]):
        if change == "major":
            parameters = [f"p{number}x"]
        elif change == "minor":
            parameters.append(f"p{number}")
        seen.append(add(versions, str(number), *parameters).version)
    assert sorted(seen, key=Version.parse) == seen
    assert len(set(seen)) == len(seen)


class Pointers(RuleBasedStateMachine):
    """The pointers of one component against a list of past current ones."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.versions = VersionManager(FileRegistry(Path(self.folder.name)))
        self.made: list[Manifest] = []
        self.path: list[str] = []
        self.heads = 0

    @rule()
    def register(self) -> None:
        self.made.append(add(self.versions, str(len(self.made))))
        self.point(self.made[-1].version)

    @rule(choice=st.integers(0, 9))
    def restore(self, choice: int) -> None:
        if self.path:
            version = self.made[choice % len(self.made)].version
            self.versions.restore("tool", "a", version)
            self.point(version)

    @rule()
    def rollback(self) -> None:
        if len(self.path) > 1:
            self.path.pop()
            self.heads += 1
            self.versions.rollback("tool", "a")
        else:
            with pytest.raises(RegistryError):
                self.versions.rollback("tool", "a")

    def teardown(self) -> None:
        self.folder.cleanup()

    def point(self, version: str) -> None:
        self.heads += 1
        if self.path[-1:] != [version]:
            self.path.append(version)

    @invariant()
    def current_is_the_last_pointer_and_history_only_grows(self) -> None:
        head = self.versions.head("tool", "a")
        assert (head.number, head.current) == (self.heads, self.path[-1] if self.path else None)
        assert self.versions.history("tool", "a") == self.made


def test_pointers_go_forth_and_back_as_a_stack() -> None:
    run_state_machine_as_test(Pointers, settings=settings(max_examples=15, stateful_step_count=12, deadline=None))


def test_a_purged_version_is_a_tombstone_that_says_who_when_and_why(versions: VersionManager) -> None:
    first = add(versions, "1", author="ada")
    second = add(versions, "2")
    versions.mark(A.at("1.0.0"), "deprecated")
    versions.alias(A.at("1.0.0"), "prod")
    (stone,) = versions.purge("tool", "a", ["1.0.0"], author="bob", reason="it held a secret")
    assert (stone.ref, stone.digest, stone.author, stone.reason) == (first.ref, first.digest, "bob", "it held a secret")
    assert versions.document("tool", "a", "1.0.0") == stone
    head = versions.head("tool", "a")
    assert (head.current, head.aliases, head.states, head.removed) == ("1.0.1", {}, {}, ("1.0.0",))
    for manager in (versions, VersionManager(versions.store)):
        for look in (
            lambda m=manager: m.manifest("tool", "a", "1.0.0"),
            lambda m=manager: m.resolve(A.at(first.digest)),
        ):
            with pytest.raises(Purged, match=r"tool:a@1\.0\.0 was purged by bob at .*: \"it held a secret\"\."):
                look()
    assert versions.history("tool", "a") == [second]
    assert versions.living("tool", "a") == ["1.0.1"]
    with pytest.raises(AlreadyRegistered):
        add(versions, "1", version="1.0.0")
    with pytest.raises(RegistryError, match="is current"):
        versions.purge("tool", "a", ["1.0.1"])
    versions.unregister("tool", "a")
    versions.purge("tool", "a", ["1.0.1"])
    assert add(versions, "3").version == "1.0.2"


def test_nothing_is_purged_where_one_of_several_cannot_be(versions: VersionManager) -> None:
    for source in "123":
        add(versions, source)
    before = versions.head("tool", "a")
    for wrong in (["1.0.0", "1.0.2"], ["1.0.0", "9.0.0"]):
        with pytest.raises(RegistryError):
            versions.purge("tool", "a", wrong)
    assert versions.head("tool", "a") == before
    assert versions.living("tool", "a") == ["1.0.0", "1.0.1", "1.0.2"]


@pytest.mark.parametrize("changes", [{"version": "9.9.9"}, {"kind": "agent"}, {"digest": 3}, {"more": 1}])
def test_a_tombstone_with_other_content_is_damage(
    versions: VersionManager, tmp_path: Path, changes: dict[str, Any]
) -> None:
    for source in "12":
        add(versions, source)
    versions.purge("tool", "a", ["1.0.0"])
    path = tmp_path / "registry" / "tools" / "a" / "versions" / "1.0.0.json"
    forged(path, {"purged": {**stored(path)["purged"], **changes}})
    with pytest.raises(Damaged, match=r"tool:a@1\.0\.0 is damaged"):
        VersionManager(versions.store).document("tool", "a", "1.0.0")


def test_a_rollback_steps_over_what_was_purged(versions: VersionManager) -> None:
    for source in "123":
        add(versions, source)
    versions.restore("tool", "a", "1.0.0")
    versions.purge("tool", "a", ["1.0.2"])
    assert versions.rollback("tool", "a").current == "1.0.1"


def test_an_alias_is_taken_away(versions: VersionManager) -> None:
    add(versions, "1")
    versions.alias(A, "prod")
    versions.alias(A, "best")
    assert versions.unalias("tool", "a", "prod").aliases == {"best": "1.0.0"}
    with pytest.raises(UnknownComponent, match="it has best"):
        versions.unalias("tool", "a", "prod")


def test_lineage_leads_from_a_copy_to_what_it_was_copied_from(versions: VersionManager) -> None:
    first = add(versions, "1")
    made = tool("2", name="b", version="1.0.0", lineage=Lineage(how="copy", parent="tool:a@1.0.0"))
    versions.add("tool", "b", lambda wanted: replace(made, version=wanted))
    assert versions.lineage("tool", "b", "1.0.0") == [made, first]


@pytest.mark.parametrize("faster", ["before it is refused", "before it is out of sight", "before its bytes go"])
def test_what_is_taken_back_is_never_what_somebody_made_current_meanwhile(
    versions: VersionManager, monkeypatch: pytest.MonkeyPatch, faster: str
) -> None:
    other, asked, moments = VersionManager(versions.store), iter(range(9)), [faster]
    add(versions, "1")

    def meanwhile(moment: str) -> None:
        if moments == [moment]:
            moments.clear()
            with suppress(UnknownComponent):
                other.restore("tool", "a", "1.0.1")

    def guard(head: Head) -> None:
        if next(asked):
            meanwhile("before it is refused")
            raise Conflict("Somebody was faster.", fix="try again.")

    def meddled(name: str, moment: str) -> None:
        real = getattr(versions.store, name)

        def late(*given: Any) -> Any:
            meanwhile(moment)
            return real(*given)

        monkeypatch.setattr(versions.store, name, late)

    meddled("bury", "before its bytes go")
    meddled("advance", "before it is out of sight")
    with pytest.raises(Conflict, match="faster"):
        add(versions, "2", guard=guard)
    now = other.resolve(A)
    assert now is not None
    assert now.version == ("1.0.0" if faster == "before its bytes go" else "1.0.1")
    assert other.history("tool", "a")[-1] == now
