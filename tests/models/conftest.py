"""Every test that asks for a dialect runs in all three; the helpers beside the tests are imported by name."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "runtime"))
sys.path.insert(0, str(Path(__file__).parent))

from dialects import DIALECTS, Dialect


@pytest.fixture(params=sorted(DIALECTS))
def dialect(request: pytest.FixtureRequest) -> Dialect:
    """One of the three wire formats."""
    return DIALECTS[request.param]
