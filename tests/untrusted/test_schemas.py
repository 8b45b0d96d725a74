"""Test schemas of untrusted components: hints about arguments of a wrong name or form."""

import pytest

from tea.components.operation import Operation
from tea.errors import BadArguments
from tea.untrusted.schemas import check_arguments


async def check_nif(nif: str) -> bool:
    """Check a number."""
    return len(nif) == 9


async def check_all(nifs: list[str], strict: bool = False) -> bool:
    """Check numbers."""
    return strict or bool(nifs)


def test_a_wrong_name_is_told_with_the_one_wanted() -> None:
    with pytest.raises(BadArguments) as caught:
        check_arguments(Operation.of(check_nif).signature, {"number": "123"}, "tool:check_nif@1.0.0")
    assert caught.value.problem == "'check_nif' got bad arguments: there is no parameter 'number'; 'nif' is missing."
    wanted = "did you mean 'nif'? its parameters are nif (string), needed."
    assert caught.value.fix == f"tool:check_nif@1.0.0 says: {wanted}"


def test_a_text_of_several_for_a_list_is_refused_with_the_form() -> None:
    with pytest.raises(BadArguments) as caught:
        check_arguments(Operation.of(check_all).signature, {"nifs": "1, 2"}, "tool:check_all@1.0.0")
    assert 'write nifs as a list of texts, ["...", "..."], also for one; its parameters are' in caught.value.fix
