"""Recomputes the expected answer of every example with pandas, apart from the product: `python examples/verify.py`."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

EXAMPLES = Path(__file__).resolve().parent
DATA = EXAMPLES / "data"


def table(name: str) -> pd.DataFrame:
    """Read a CSV file; NA stays a word where it is one (Namibia), and is a gap in the files that use it as one."""
    gaps = ["", "NA"] if name in ("flights.csv", "penguins.csv") else [""]
    return pd.read_csv(DATA / name, keep_default_na=False, na_values=gaps)


def tab(name: str, columns: list[str]) -> pd.DataFrame:
    """Read one of the tz database's tables, whose header is a comment."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    cells = [line.split("\t")[: len(columns)] for line in lines if not line.startswith("#")]
    return pd.DataFrame(cells, columns=columns)


def country_with_most_time_zones() -> str:
    zones = tab("zone.tab", ["code", "coordinates", "TZ"])
    countries = tab("iso3166.tab", ["code", "country"])
    return str(zones.merge(countries, on="code")["country"].value_counts().idxmax())


def amendment_on_bail() -> str:
    text = " ".join((DATA / "constitution.txt").read_text(encoding="ascii").split())
    (found,) = re.findall(r"Excessive bail[^.]*\.", text)
    return found


def no_wingspan() -> None:
    """No column speaks of wings, so the question has no answer."""
    assert not table("penguins.csv").columns.str.contains("wing").any()


def top_airline() -> str:
    flights = table("flights.csv").merge(table("airlines.csv"), on="carrier")
    return str(flights["name"].value_counts().idxmax())


def densest_elements() -> list[str]:
    return list(table("elements.csv").nlargest(3, "density_g_cm3")["element"])


def deadliest_month() -> str:
    deaths = pd.DataFrame(json.loads((DATA / "crimea.json").read_text()))
    return str(deaths.loc[deaths["disease"].idxmax(), "date"])


def renewables() -> int:
    rows = pd.read_excel(DATA / "iowa_electricity.xlsx")
    chosen = rows[(rows["Source"] == "Renewables") & (rows["Year"] == 2017)]
    return int(chosen["Net generation (GWh)"].sum())


def snow() -> float:
    days = table("seattle-weather.csv")
    return float(days[days["weather"] == "snow"]["temp_max"].mean())


def namibia() -> str:
    countries = tab("iso3166.tab", ["code", "country"])
    return str(countries[countries["code"] == "NA"]["country"].item())


def tungsten() -> float:
    elements = table("elements.csv")
    return float(elements[elements["element"] == "tungsten"]["atomic_weight"].item())


def kabul() -> list[float]:
    zones = tab("zone.tab", ["code", "coordinates", "TZ"])
    text = str(zones[zones["TZ"] == "Asia/Kabul"]["coordinates"].item())
    (parts,) = re.findall(r"\+(\d\d)(\d\d)\+(\d{3})(\d\d)", text)
    latitude, minutes, longitude, more = map(int, parts)
    return [round(latitude + minutes / 60, 6), round(longitude + more / 60, 6)]


def glucose() -> float:
    weights = table("elements.csv").set_index("symbol")["atomic_weight"]
    return float(weights["C"] * 6 + weights["H"] * 12 + weights["O"] * 6)


def tai_in_1999() -> int:
    seconds = table("leap_seconds.csv")
    return int(seconds[seconds["date"] < "1999-06-01"]["tai_minus_utc_after"].iloc[-1])


ANSWERS: dict[str, Callable[[], Any]] = {
    "demo": country_with_most_time_zones,
    "airports_in_texas": lambda: int((table("airports.csv")["state"] == "TX").sum()),
    "amendment_on_bail": amendment_on_bail,
    "birth_states": lambda: str(table("us_presidents.csv")["birth_state"].value_counts().idxmax()),
    "busiest_airline": top_airline,
    "code_na": namibia,
    "coordinates": kabul,
    "deadliest_month": deadliest_month,
    "densest_elements": densest_elements,
    "glucose": glucose,
    "heaviest_penguins": lambda: str(table("penguins.csv").groupby("species")["body_mass_g"].mean().idxmax()),
    "median_unemployment": lambda: float(table("us_macro.csv")["unemp"].median()),
    "percentage": lambda: 2480 * 175 / 1000,
    "renewables": renewables,
    "snow_days": snow,
    "tai_offset": tai_in_1999,
    "tungsten": tungsten,
    "wingspan": no_wingspan,
}


def main() -> int:
    """Compare what is expected with what pandas finds; the number of differences is the exit code."""
    expected = json.loads((EXAMPLES / "expected.json").read_text(encoding="utf-8"))
    wrong = 0
    for name in sorted(expected.keys() | ANSWERS.keys()):
        found = ANSWERS[name]()
        agrees = found == expected[name]["answer"] and (found is None) == (expected[name]["exit"] == 1)
        wrong += not agrees
        print(f"{'ok   ' if agrees else 'WRONG'} {name}: {found!r}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
