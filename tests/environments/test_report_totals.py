"""Totals, shares and squares of a report, held against the tables of its sources."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from tea.testing import platform

Act = Callable[..., Coroutine[Any, Any, Any]]

VISITS = """visit,day,tour_id,town,guests,ticket
1,2025-01-05,T1,Bergen,10,12.50
2,2025-01-09,T2,Tromso,4,80.00
3,2025-02-11,T3,Bergen,7,40.00
4,2025-02-20,T1,Tromso,22,12.00
5,2025-03-02,T4,Oslo,3,150.00
6,2025-03-15,T2,Oslo,6,80.00
7,2025-03-28,T5,Bergen,15,9.90
8,2025-05-05,T5,Oslo,30,9.50
9,2025-06-06,T2,Bergen,5,78.00
"""
TOURS = "tour_id,tour,kind\nT1,Walk,Foot\nT2,Whales,Boat\nT3,Lights,Foot\nT4,Fjord,Boat\nT5,Harbour,Foot\n"
OUTPUTS = (
    '{"Boat": "1640.0 (63.7%)", "Foot": "979.0 (29.2%)", "Air": "433.5 (12.9%)"}',
    "kind,taken\nBoat,1640.0\nFoot,979.0\nAir,433.5",
    "| Kind | Taken |\n|---|---|\n| Boat | 1,640.0 |\n| Foot | 979.0 |\n| Air | 433.5 |",
    "The sums:\n- Boat: 1640.0\n- Foot: 979.0\n- Air: 433.5",
    "Boat 1640.0, Foot 979.0 and Air 433.5.",
    '[{"kind": "Boat", "taken": 1640.0}, {"kind": "Foot", "taken": 979.0}, {"kind": "Air", "taken": 433.5}]',
)


async def reported(folder: Path, text: str, references: list[dict[str, str]] | None = None) -> tuple[list[str], str]:
    """Return the doubtful values of a report on two tables, and its Markdown."""
    (folder / "visits.csv").write_text(VISITS)
    (folder / "tours.csv").write_text(TOURS)
    async with platform() as tea:
        given = {"text": text, "references": references or []}
        (await tea.ecp.invoke("report#add", given, session="s")).unwrap()
        made = (await tea.ecp.invoke("report#complete", {"title": "T"}, session="s")).unwrap()
    return [one["value"] for one in made["doubts"]], (folder / made["files"][0]).read_text()


@pytest.mark.parametrize(
    ("claim", "doubts"),
    [
        # by town: Bergen 943.50, Oslo 1,215.00, Tromso 584.00, all 2,742.50
        ("Oslo took most, 1,215.00 or 44.3% of the total of 2,742.50 [1](visits.csv).", []),
        ("Oslo took 1,251.00 or 43.4% of the total of 2,724.50 [1](visits.csv).", ["1,251.00", "43.4", "2,724.50"]),
        ("Oslo took 28.8% more than Bergen and 108.0% more than Tromso [1](visits.csv).", []),
        ("Oslo took 27.8% more than Bergen and 118.0% more than Tromso [1](visits.csv).", ["27.8", "118.0"]),
        ("In all 102 guests came, on average 11.3 at a visit [1](visits.csv).", []),
        ("In all 104 guests came, on average 12.3 at a visit [1](visits.csv).", ["104", "12.3"]),
        ("Whales took 480 in Oslo, 390 in Bergen, 320 in Tromso, 1,190 in all [1](visits.csv)[2](tours.csv).", []),
        ("Whales took 1,190 [1](visits.csv)[2](tours.csv).", []),
        ("Whales took 1,290 [1](visits.csv)[2](tours.csv).", ["1,290"]),
        ("Boat tours took 1,640.00 of 2,742.50, thus 59.8% [1](visits.csv)[2](tours.csv).", []),
        ("Boat tours took 1,640.00 of 2,742.50, thus 58.9% [1](visits.csv)[2](tours.csv).", ["58.9"]),
        # by month: January 445.00, February 544.00, March 1,078.50
        ("March was the best month with 1,078.50, Oslo took 930.00 in it [1](visits.csv).", []),
        ("March 2025 was the best month with 1,078.50 [1](visits.csv).", []),
        ("March was the best month with 1,087.50, Oslo took 903.00 in it [1](visits.csv).", ["1,087.50", "903.00"]),
    ],
)  # fmt: skip
async def test_totals_by_label_and_their_shares_follow_from_the_rows(
    folder: Path, claim: str, doubts: list[str]
) -> None:
    assert (await reported(folder, claim))[0] == doubts


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize(("total", "doubts"), [("3,052.5", []), ("3,025.5", ["3,025.5"])])
async def test_the_total_of_a_result_follows_whatever_its_form(
    folder: Path, output: str, total: str, doubts: list[str]
) -> None:
    quoted = [{"source": "https://e.org/taken", "quote": f"It was computed.\n{output}"}]
    assert (await reported(folder, f"In all {total} were taken [1](https://e.org/taken).", quoted))[0] == doubts


@pytest.mark.parametrize("nothing", ["NULL", "", "n/a"])
async def test_a_column_with_a_cell_without_a_value_is_one_of_numbers(folder: Path, nothing: str) -> None:
    rows = f"month,kind,taken\n2025-01,Boat,1640.0\n2025-01,Foot,979.0\n2025-02,Boat,{nothing}\n2025-02,Foot,433.5"
    quoted = [{"source": "https://e.org/taken", "quote": rows}]
    claim = "Foot took {}, and February brought {} [1](https://e.org/taken)."
    text = f"{claim.format('1,412.50', '433.50')} {claim.format('1,421.50', '343.50')}"
    assert (await reported(folder, text, quoted))[0] == ["1,421.50", "343.50"]


@pytest.mark.parametrize(
    ("claim", "doubts"),
    [
        ("The price explains about 44% of the variance (r² = 0.44) [1](https://e.org/r).", []),
        ("The price explains about 54% of the variance (r² = 0.54) [1](https://e.org/r).", ["54", "0.54"]),
        ("Some 44% of the guests were children [1](https://e.org/r).", ["44"]),
        ("The share is 18.2% [1](https://e.org/r).", []),
        ("The share is 18.9% [1](https://e.org/r).", ["18.9"]),
    ],
)
async def test_the_square_of_a_correlation_and_the_percentage_of_a_fraction_follow(
    folder: Path, claim: str, doubts: list[str]
) -> None:
    quoted = [{"source": "https://e.org/r", "quote": "The correlation is -0.666, the share 0.1818."}]
    assert (await reported(folder, claim, quoted))[0] == doubts


async def test_the_mark_stands_behind_the_unit(folder: Path) -> None:
    _, text = await reported(folder, "It grew by 77.7% and 88.8 % to 9,999.9 EUR and 88.1 litres [1](visits.csv).")
    assert "by 77.7% [?] and 88.8 % [?] to 9,999.9 EUR [?] and 88.1 [?] litres" in text


async def test_a_table_with_many_doubtful_values_has_one_note(folder: Path) -> None:
    rows = "| Town | Taken | Share |\n|---|---|---|\n| Oslo | 1,999.00 | 77.7% |\n| Bergen | 1,888.00 | 66.6% |\n"
    _, text = await reported(folder, f"{rows}\nIt is from the visits [1](visits.csv).")
    assert rows in text
    assert "\n\n[?] In this table: 1,999.00; 77.7; 1,888.00; 66.6.\n\nIt is from" in text
    assert "- 1,999.00; 77.7: | Oslo | 1,999.00 | 77.7% |\n- 1,888.00; 66.6: | Bergen" in text
