"""The three wire formats as a fixture, and every question held to the parameter types of the SDKs."""

from collections.abc import Iterator

import loopback
import pytest
from dialects import DIALECTS, Dialect, check_question


@pytest.fixture(params=sorted(DIALECTS))
def dialect(request: pytest.FixtureRequest) -> Dialect:
    """One of the three wire formats."""
    return DIALECTS[request.param]


@pytest.fixture(autouse=True)
def every_question_is_one_of_its_format(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hold all requests to a test's loopback servers to the SDKs' parameter types."""
    asked: list[loopback.Asked] = []
    monkeypatch.setattr(loopback.Loopback, "everything", asked)
    yield
    for one in asked:
        check_question(one)
