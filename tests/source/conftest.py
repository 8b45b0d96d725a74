"""Fixtures for tests of sources."""

import builtins
from collections.abc import Iterator

import pytest


@pytest.fixture
def canary() -> Iterator[None]:
    """Fail after any execution of a source."""
    yield
    ran = hasattr(builtins, "canary")
    if ran:
        delattr(builtins, "canary")
    assert not ran, "the source ran"
