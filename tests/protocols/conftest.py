"""One conformance suite, four kinds of component, and a second process with the same view."""

import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import IO, cast

import pytest
from elsewhere import answer, open_platform
from protocol_kit import CASES, Case, House


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[subprocess.Popen[str]]:
    """Another process; it opens a platform anew for each request."""
    script = Path(__file__).parent / "elsewhere.py"
    with subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        cast(IO[str], process.stdin).close()


@pytest.fixture(params=CASES, ids=lambda case: case.kind)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture
async def house(case: Case, tmp_path: Path, elsewhere: subprocess.Popen[str]) -> AsyncGenerator[House]:
    """A platform of its own; the other process must answer all questions alike at the end."""
    platform = open_platform(tmp_path)
    house = House(platform, case, tmp_path)
    yield house
    expected = [await answer(platform, case.kind, question) for question in house.asked]
    await platform.__aexit__(None, None, None)
    request = {"home": str(tmp_path), "questions": [(case.kind, question) for question in house.asked]}
    cast(IO[str], elsewhere.stdin).write(json.dumps(request) + "\n")
    cast(IO[str], elsewhere.stdin).flush()
    assert json.loads(cast(IO[str], elsewhere.stdout).readline()) == json.loads(json.dumps(expected))
