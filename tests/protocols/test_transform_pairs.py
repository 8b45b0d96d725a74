"""Test closure (paper, Definition 1): a transformed component transforms again, and takes its source's arguments."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import pytest
from elsewhere import answer, open_platform
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transform_kit import called, chooser, furnish

from tea.platform import Platform

TASKS = ("agent", "echo")
LINES = ("environment", "pad#write")
TEXTS = ("tool", "join")


@dataclass(frozen=True)
class Pair:
    """Two transformations in a row.

    Args:
        first: The first, its operands and the name of what it makes.
        then: The second, likewise.
        result: What is called in the end.
        source: What takes the same arguments.
    """

    first: tuple[str, str, str]
    then: tuple[str, str, str]
    result: tuple[str, str]
    source: tuple[str, str]


PAIRS = [
    Pair(("A2T", "echo", "a1"), ("T2E", "a1", "a2"), ("environment", "a2#a1"), TASKS),
    Pair(("A2T", "echo", "b1"), ("T2A", "b1", "b2"), ("agent", "b2"), TASKS),
    Pair(("E2T", "pad", "c1"), ("T2E", "c1_write", "c2"), ("environment", "c2#c1_write"), LINES),
    Pair(("E2T", "pad", "d1"), ("T2A", "d1_write", "d2"), ("agent", "d2"), TASKS),
    Pair(("T2E", "join", "e1"), ("E2T", "e1", "e2"), ("tool", "e2_join"), TEXTS),
    Pair(("T2E", "join", "f1"), ("E2A", "f1", "f2"), ("agent", "f2"), TASKS),
    Pair(("A2E", "echo", "g1"), ("E2T", "g1", "g2"), ("tool", "g2_run"), TASKS),
    Pair(("A2E", "echo", "h1"), ("E2A", "h1", "h2"), ("agent", "h2"), TASKS),
    Pair(("T2A", "join", "i1"), ("A2T", "i1", "i2"), ("tool", "i2"), TASKS),
    Pair(("T2A", "join", "j1"), ("A2E", "j1", "j2"), ("environment", "j2#run"), TASKS),
    Pair(("E2A", "pad", "k1"), ("A2T", "k1", "k2"), ("tool", "k2"), TASKS),
    Pair(("E2A", "pad", "l1"), ("A2E", "l1", "l2"), ("environment", "l2#run"), TASKS),
]

texts = st.one_of(st.text(max_size=3), st.integers(), st.none(), st.just(float("nan")))
tasks = st.fixed_dictionaries(
    {"text": texts},
    optional={
        "files": st.one_of(st.lists(texts, max_size=1), texts),
        "tools": st.one_of(st.none(), st.just(["join"]), st.integers()),
        "answer": st.one_of(st.none(), st.just({"type": "string"}), texts),
        "odd": st.just(1),
    },
)
ARGUMENTS = {
    TASKS: st.fixed_dictionaries({}, optional={"task": st.one_of(tasks, texts), "odd": texts}),
    LINES: st.fixed_dictionaries({}, optional={"line": texts, "times": texts, "odd": texts}),
    TEXTS: st.fixed_dictionaries({}, optional={"text": texts, "times": st.integers(-1, 10) | texts, "odd": texts}),
}


class Stage:
    """A platform with all pairs made, and the loop it lives on."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.runner = folder, asyncio.Runner()
        self.platform: Any = self.do(self.open())

    async def open(self) -> Platform:
        platform = Platform(self.folder / "home", model=chooser(), state=self.folder / "state")
        await platform.__aenter__()
        await furnish(platform)
        for pair in PAIRS:
            for how, operand, name in (pair.first, pair.then):
                await platform.transform(how, operand, name=name)
        return platform

    def do(self, work: Any) -> Any:
        return self.runner.run(work)

    def call(self, target: tuple[str, str], arguments: Any, session: str) -> Any:
        kind, ref = target
        server = {"tool": self.platform.tcp, "environment": self.platform.ecp, "agent": self.platform.acp}[kind]
        return self.do(server.invoke(ref, arguments, session=session))


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    made = Stage(tmp_path_factory.mktemp("pairs"))
    yield made
    made.do(made.platform.__aexit__(None, None, None))
    made.runner.close()


@pytest.fixture(params=PAIRS, ids=lambda pair: f"{pair.first[0]}-{pair.then[0]}")
def pair(request: pytest.FixtureRequest) -> Pair:
    return request.param


def test_every_two_transformations_that_fit_are_there() -> None:
    hows = ["A2T", "E2T", "T2E", "T2A", "A2E", "E2A"]
    fitting = {(one, other) for one in hows for other in hows if one[2] == other[0]}
    made = {(pair.first[0], pair.then[0]) for pair in PAIRS}
    assert made == fitting


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_composition_accepts_and_rejects_what_its_source_does(stage: Stage, pair: Pair, data: st.DataObject) -> None:
    arguments = data.draw(ARGUMENTS[pair.source])
    given = [
        stage.call(target, arguments, f"{pair.then[2]}-{n}") for n, target in enumerate((pair.source, pair.result))
    ]
    rejected = [one.error is not None and one.error["code"] == "BadArguments" for one in given]
    assert rejected[0] == rejected[1], given
    if pair.result[0] != "agent" and pair.source != TASKS:
        assert given[0].value == given[1].value


def test_a_composition_states_the_schema_of_its_source(stage: Stage, pair: Pair) -> None:
    async def schema(kind: Any, ref: str) -> Any:
        config = await stage.platform.libraries[kind].info(ref.partition("#")[0])
        return config.operation(ref.partition("#")[2] or {"tool": "call", "agent": "run"}[kind])

    found, wanted = stage.do(schema(*pair.result)), stage.do(schema(*pair.source))
    assert (found.parameters, found.returns) == (wanted.parameters, wanted.returns)
    assert found.traits == wanted.traits


def test_a_run_of_a_composition_replays_identically(stage: Stage, pair: Pair) -> None:
    good = {TASKS: {"task": {"text": "a"}}, LINES: {"line": "a"}, TEXTS: {"text": "a"}}[pair.source]
    given = stage.do(called(stage.platform, (*pair.result, good), (*pair.result, {"task": {"text": "b"}})))
    assert given[0] != "BadArguments"


def test_compositions_are_there_in_another_process(stage: Stage, elsewhere: subprocess.Popen[str]) -> None:
    questions: list[tuple[str, tuple[str, ...]]] = []
    for pair in PAIRS:
        (kind, ref), good = pair.result, {LINES: {"line": "a"}, TEXTS: {"text": "a"}}.get(pair.source)
        questions += [(kind, ("info", ref.partition("#")[0])), (kind, ("history", ref.partition("#")[0]))]
        if kind != "agent" and pair.first[0] not in ("T2A", "E2A"):
            questions.append((kind, ("invoke", ref, json.dumps(good or {"task": {"text": "a"}}))))
    here = open_platform(stage.folder)
    expected = [stage.do(answer(here, kind, question)) for kind, question in questions]
    stage.do(here.__aexit__(None, None, None))
    cast(IO[str], elsewhere.stdin).write(json.dumps({"home": str(stage.folder), "questions": questions}) + "\n")
    cast(IO[str], elsewhere.stdin).flush()
    given = json.loads(cast(IO[str], elsewhere.stdout).readline())
    assert given == json.loads(json.dumps(expected))
    assert all(one["ok"] for one in given if isinstance(one, dict) and "ok" in one)
