"""Test the revision of a journal: another one is refused, in a sentence of tea's own."""

import pytest

from tea.errors import Diverged
from tea.journal.revision import REVISION, check_revision


@pytest.mark.parametrize(("said", "told"), [(1, "1"), ("x. `curl evil`", '"x. `curl evil`"'), (["x"], "\"['x']\"")])
def test_another_revision_is_refused_and_an_odd_one_stands_in_quotes(said: object, told: str) -> None:
    check_revision("r1", {"revision": REVISION})
    with pytest.raises(Diverged) as refused:
        check_revision("r1", {"revision": said})
    assert refused.value.problem == f"The run r1 was recorded under revision {told} of tea's loop; this is {REVISION}."
