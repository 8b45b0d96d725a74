"""Every test that asks for a dialect runs in all three, and whatever any asks its servers is held to the SDKs' types.

The helpers beside the tests are imported by name.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "runtime"))
sys.path.insert(0, str(Path(__file__).parent))

import loopback
from dialects import DIALECTS, Dialect, check_question


@pytest.fixture(params=sorted(DIALECTS))
def dialect(request: pytest.FixtureRequest) -> Dialect:
    """One of the three wire formats."""
    return DIALECTS[request.param]


@pytest.fixture(autouse=True)
def every_question_is_one_of_its_format(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hold all that the loopback servers of a test were asked to the SDKs' parameter types."""
    asked: list[loopback.Asked] = []
    monkeypatch.setattr(loopback.Loopback, "everything", asked)
    yield
    for one in asked:
        check_question(one)
