"""Test a column judged value by value against the whole column."""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

FOLDER = Path(__file__).parent.parent.parent / "tools" / "_table_query"


def loaded(name: str) -> Any:
    """Return a helper module of the tool."""
    package = ModuleType("judged")
    package.__path__ = [str(FOLDER)]
    sys.modules.setdefault("judged", package)
    return importlib.import_module(f"judged.{name}")


TEXTS = """
1 2.5 -3 1,200 NA nan ? - 007 2024-05-06 03/04/2024 13/04/2024 MA ZA word 1.200 1.200.300 3,14 $5 50% 1e5 0 N/A
99999999999999999999
"""
CELLS = st.sampled_from(["", " ", "6 May 2024", *TEXTS.split()])


@given(cells=st.lists(CELLS, min_size=1, max_size=12), comma=st.booleans())
def test_a_column_is_judged_as_if_it_were_held(cells: list[str], comma: bool) -> None:
    tables, columns, judging = loaded("tables"), loaded("columns"), loaded("judging")
    raw = tables.RawTable(
        name="t", file="t", header=["a"], rows=[[cell] for cell in cells], decimal_comma=comma, untyped=True
    )
    held = columns.typed(raw, "t")
    judge = judging.Judge(decimal_comma=comma)
    for cell in cells:
        judge.take(cell)
    mean = judge.meaning()
    assert (judge.kind, judge.form) == (held.columns[0].kind, held.columns[0].form)
    assert judge.ambiguous == held.columns[0].ambiguous
    assert [mean(cell) for cell in cells] == held.cells[0]
