"""The tables of the development set: public facts, written into files as untidily as people keep them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

Row = tuple[Any, ...]
LAKE_COLUMNS = ("Lake", "Continent", "Type", "Area", "Depth", "Volume", "Frozen")
LAKES: tuple[Row, ...] = (
    ("Superior", "North America", "fresh", 82103, 406, 12070.5, "yes"),
    ("Victoria", "Africa", "fresh", 59947, 81, 2424.0, "no"),
    ("Huron", "North America", "fresh", 59570, 229, 3543.2, "yes"),
    ("Michigan", "North America", "fresh", 57757, 282, 4918.4, "yes"),
    ("Tanganyika", "Africa", "fresh", 32893, 1470, 18880.0, "no"),
    ("Baikal", "Asia", "fresh", 31722, 1642, 23615.4, "yes"),
    ("Great Bear", "North America", "fresh", 31153, 446, 2236.7, "yes"),
    ("Malawi", "Africa", "fresh", 29544, 706, 7775.2, "no"),
    ("Erie", "North America", "fresh", 25667, 64, 480.9, "yes"),
    ("Winnipeg", "North America", "fresh", 24514, 36, 284.6, "yes"),
    ("Ontario", "North America", "fresh", 18960, 244, 1640.1, "no"),
    ("Ladoga", "Europe", "fresh", 17703, 230, 837.3, "yes"),
    ("Balkhash", "Asia", "salt", 16996, 26, 112.5, "yes"),
    ("Onega", "Europe", "fresh", 9891, 127, 291.2, "yes"),
    ("Titicaca", "South America", "fresh", 8372, 281, 893.8, "no"),
    ("Turkana", "Africa", "salt", 6405, 109, 203.6, "no"),
    ("Issyk-Kul", "Asia", "salt", 6236, 668, 1738.0, "no"),
    ("Van", "Asia", "salt", 3755, 451, 607.4, "no"),
)
PEAK_COLUMNS = ("Peak", "Range", "Country", "Height", "Prominence", "First ascent")
PEAKS: tuple[Row, ...] = (
    ("Everest", "Himalaya", "Nepal", 8849, 8849, 1953),
    ("K2", "Karakoram", "Pakistan", 8611, 4017, 1954),
    ("Kangchenjunga", "Himalaya", "Nepal", 8586, 3922, 1955),
    ("Lhotse", "Himalaya", "Nepal", 8516, 610, 1956),
    ("Makalu", "Himalaya", "Nepal", 8485, 2378, 1955),
    ("Cho Oyu", "Himalaya", "Nepal", 8188, 2344, 1954),
    ("Nanga Parbat", "Himalaya", "Pakistan", 8126, 4608, 1953),
    ("Broad Peak", "Karakoram", "Pakistan", 8051, 1701, 1957),
    ("Gangkhar Puensum", "Himalaya", "Bhutan", 7570, 2995, None),
    ("Tirich Mir", "Hindu Kush", "Pakistan", 7708, 3908, 1950),
    ("Khan Tengri", "Tian Shan", "Kazakhstan", 7010, 1685, 1931),
    ("Aconcagua", "Andes", "Argentina", 6961, 6961, 1897),
    ("Ojos del Salado", "Andes", "Chile", 6893, 3688, 1937),
    ("Denali", "Alaska Range", "United States", 6190, 6144, 1913),
    ("Kailash", "Transhimalaya", "China", 6638, 1319, None),
    ("Mont Blanc", "Alps", "France", 4806, 4696, 1786),
    ("Matterhorn", "Alps", "Switzerland", 4478, 1042, 1865),
)
BRIDGE_COLUMNS = ("Bridge", "City", "Country", "Opened", "Main span", "Cost", "Toll", "Design")
BRIDGES: tuple[Row, ...] = (
    ("Golden Gate Bridge", "San Francisco", "United States", "1937-05-27", 1280, 35000000, "yes", "suspension"),
    ("Brooklyn Bridge", "New York", "United States", "1883-05-24", 486, 15500000, "no", "suspension"),
    ("Verrazzano-Narrows Bridge", "New York", "United States", "1964-11-21", 1298, 320000000, "yes", "suspension"),
    ("George Washington Bridge", "New York", "United States", "1931-10-25", 1067, 75000000, "yes", "suspension"),
    ("Sydney Harbour Bridge", "Sydney", "Australia", "1932-03-19", 503, None, "yes", "arch"),
    ("Tower Bridge", "London", "United Kingdom", "1894-06-30", 61, 1184000, "no", "bascule"),
    ("Humber Bridge", "Hull", "United Kingdom", "1981-06-24", 1410, 98000000, "yes", "suspension"),
    ("Forth Road Bridge", "Edinburgh", "United Kingdom", "1964-09-04", 1006, 19500000, "no", "suspension"),
    ("Akashi Kaikyo Bridge", "Kobe", "Japan", "1998-04-05", 1991, 3600000000, "yes", "suspension"),
    ("Great Seto Bridge", "Kurashiki", "Japan", "1988-04-10", 1100, None, "yes", "suspension"),
    ("Pont de Normandie", "Le Havre", "France", "1995-01-20", 856, 465000000, "yes", "cable-stayed"),
    ("Millau Viaduct", "Millau", "France", "2004-12-16", 342, 424000000, "yes", "cable-stayed"),
    ("Rainbow Bridge", "Tokyo", "Japan", "1993-08-26", 570, None, "no", "suspension"),
    ("Chesapeake Bay Bridge", "Annapolis", "United States", "1952-07-30", 488, 45000000, "yes", "suspension"),
)
MOON_COLUMNS = ("Moon", "Planet", "Radius km", "Orbital period", "Discovered", "Discoverer")
MOONS: tuple[Row, ...] = (
    ("Moon", "Earth", 1737.4, 27.32, None, None),
    ("Phobos", "Mars", 11.1, 0.32, 1877, "Asaph Hall"),
    ("Deimos", "Mars", 6.2, 1.26, 1877, "Asaph Hall"),
    ("Io", "Jupiter", 1821.6, 1.77, 1610, "Galileo Galilei"),
    ("Europa", "Jupiter", 1560.8, 3.55, 1610, "Galileo Galilei"),
    ("Ganymede", "Jupiter", 2634.1, 7.15, 1610, "Galileo Galilei"),
    ("Callisto", "Jupiter", 2410.3, 16.69, 1610, "Galileo Galilei"),
    ("Titan", "Saturn", 2574.7, 15.95, 1655, "Christiaan Huygens"),
    ("Iapetus", "Saturn", 734.5, 79.32, 1671, "Giovanni Cassini"),
    ("Rhea", "Saturn", 763.8, 4.52, 1672, "Giovanni Cassini"),
    ("Dione", "Saturn", 561.4, 2.74, 1684, "Giovanni Cassini"),
    ("Tethys", "Saturn", 531.1, 1.89, 1684, "Giovanni Cassini"),
    ("Enceladus", "Saturn", 252.1, 1.37, 1789, "William Herschel"),
    ("Mimas", "Saturn", 198.2, 0.94, 1789, "William Herschel"),
    ("Titania", "Uranus", 788.4, 8.71, 1787, "William Herschel"),
    ("Oberon", "Uranus", 761.4, 13.46, 1787, "William Herschel"),
    ("Miranda", "Uranus", 235.8, 1.41, 1948, "Gerard Kuiper"),
    ("Triton", "Neptune", 1353.4, 5.88, 1846, "William Lassell"),
    ("Nereid", "Neptune", 170.0, 360.13, 1949, "Gerard Kuiper"),
)
HOST_COLUMNS = ("Planet", "Class", "Equatorial diameter", "Avg temp")
HOSTS: tuple[Row, ...] = (
    ("Earth", "terrestrial", 12756, 15), ("Mars", "terrestrial", 6792, -65), ("Jupiter", "gas giant", 142984, -110),
    ("Saturn", "gas giant", 120536, -140), ("Uranus", "ice giant", 51118, -195), ("Neptune", "ice giant", 49528, -200),
)  # fmt: skip
RELEASE_COLUMNS = ("Version", "Codename", "Released", "End of life", "Pct free")
RELEASES: tuple[Row, ...] = (
    ("1.1", "Buzz", "1996-06-17", "1997-06-05", None), ("1.2", "Rex", "1996-12-12", "1998-06-05", None),
    ("1.3", "Bo", "1997-06-05", "1999-03-09", None), ("2.0", "Hamm", "1998-07-24", "2000-03-09", 92.5),
    ("2.1", "Slink", "1999-03-09", "2000-10-30", 93.0), ("2.2", "Potato", "2000-08-15", "2003-06-30", 94.5),
    ("3.0", "Woody", "2002-07-19", "2006-06-30", 95.0), ("3.1", "Sarge", "2005-06-06", "2008-03-31", 96.5),
    ("4.0", "Etch", "2007-04-08", "2010-02-15", 97.0), ("5", "Lenny", "2009-02-14", "2012-02-06", 97.5),
    ("6", "Squeeze", "2011-02-06", "2014-05-31", 98.0), ("7", "Wheezy", "2013-05-04", "2016-04-25", 98.5),
    ("8", "Jessie", "2015-04-25", "2018-06-17", 98.5), ("9", "Stretch", "2017-06-17", "2020-07-18", 99.0),
    ("10", "Buster", "2019-07-06", "2022-09-10", 99.0), ("11", "Bullseye", "2021-08-14", "2024-08-14", 99.0),
)  # fmt: skip
CLASSES = {1: "informational", 2: "success", 3: "redirection", 4: "client error", 5: "server error"}
STATUS_COLUMNS = ("code", "phrase", "kind", "words")
STATUSES: tuple[Row, ...] = tuple(
    (code, HTTPStatus(code).phrase, CLASSES[code // 100], len(HTTPStatus(code).phrase.split()))
    for code in (100, 101, 102, 200, 201, 202, 203, 204, 206, 300, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403,
                 404, 405, 406, 408, 409, 410, 411, 412, 415, 417, 426, 428, 429, 431, 500, 501, 502, 503, 504, 505)
)  # fmt: skip
NOTICE = """# Harbour Ferry Service

The service has crossed the bay since 1908. It was founded by Marta Lindqvist, a pilot's widow.

## Timetable

Boats leave every twenty minutes between 6:00 and 22:00. On Sundays the first boat leaves at 8:30.

## Fares

A single crossing costs 3.50 crowns. Children under six travel free of charge. Bicycles pay one crown.

## Vessels

The fleet has four vessels. The newest, the Petrel, entered service in 2016 and carries 240 passengers.

## Office

Address: Quay Street 12
Telephone: 555 0173
Opening hours: 9:00 to 17:00
Manager: Ivo Brandt
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A table of facts: its file, the noun for a row, its columns and rows."""

    file: str
    row: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def frame(self) -> Any:
        """Return the facts as pandas keeps them."""
        import pandas as pd

        return pd.DataFrame(list(self.rows), columns=list(self.columns))


SHEETS = {
    "lakes": Sheet(file="lakes.csv", row="lake", columns=LAKE_COLUMNS, rows=LAKES),
    "peaks": Sheet(file="peaks.tsv", row="peak", columns=PEAK_COLUMNS, rows=PEAKS),
    "bridges": Sheet(file="bridges.csv", row="bridge", columns=BRIDGE_COLUMNS, rows=BRIDGES),
    "moons": Sheet(file="solar.xlsx", row="moon", columns=MOON_COLUMNS, rows=MOONS),
    "hosts": Sheet(file="solar.xlsx", row="planet", columns=HOST_COLUMNS, rows=HOSTS),
    "releases": Sheet(file="releases.csv", row="release", columns=RELEASE_COLUMNS, rows=RELEASES),
    "statuses": Sheet(file="http.json", row="status", columns=STATUS_COLUMNS, rows=STATUSES),
}


def write_tables(folder: Path) -> None:
    """Write every file of the development set into a folder."""
    for name, text in (
        ("lakes.csv", _lakes()), ("peaks.tsv", _peaks()), ("bridges.csv", _bridges()), ("releases.csv", _releases()),
        ("http.json", _statuses()), ("ferry.md", NOTICE),
    ):  # fmt: skip
        (folder / name).write_text(text, encoding="utf-8")
    _workbook(folder / "solar.xlsx")


def _lines(header: Iterable[str], rows: Iterable[Iterable[str]], delimiter: str) -> str:
    return "".join(delimiter.join(cells) + "\n" for cells in (header, *rows))


def _lakes() -> str:
    """Semicolons, decimal commas, points between thousands, units in the header."""
    header = ("Lake", "Continent", "Water type", "Surface area (km²)", "Max. depth (m)", "Volume (km³)", "Freezes")
    rows = (
        (name, continent, kind, f"{area:,}".replace(",", "."), str(depth), str(volume).replace(".", ","), frozen)
        for name, continent, kind, area, depth, volume, frozen in LAKES
    )
    return _lines(header, rows, ";")


def _peaks() -> str:
    """A title above the header, tabs, short names, empty cells."""
    header = ("peak", "mtn_range", "country", "hgt_m", "prominence_m", "first_ascent_yr")
    rows = (("" if cell is None else str(cell) for cell in row) for row in PEAKS)
    return "Selected summits of the world\n\n" + _lines(header, rows, "\t")


def _bridges() -> str:
    """Dates in words, currency signs and thousands, dashes for what is not known, a column name that repeats."""
    import pandas as pd

    def written(row: Row) -> tuple[str, ...]:
        name, city, country, opened, span, cost, toll, design = row
        day = pd.Timestamp(opened).strftime("%d %B %Y")
        return (name, city, country, day, f'"{span:,}"', f'"${cost:,}"' if cost else "-", toll.upper(), design, "")

    header = ("Bridge name", "City", "Country", "Opening date", "Main span [m]", "Cost", "Toll", "Design", "Design")
    return _lines(header, map(written, BRIDGES), ",")


def _releases() -> str:
    """Days before months, percent signs."""

    def day(text: str) -> str:
        return "/".join(reversed(text.split("-")))

    header = ("version", "codename", "release_date", "eol_date", "pct_free")
    rows = ((v, name, day(start), day(end), f"{free}%" if free else "") for v, name, start, end, free in RELEASES)
    return _lines(header, rows, ",")


def _statuses() -> str:
    """Records with records inside, under a key."""
    records = [
        {"code": code, "phrase": phrase, "meta": {"class": kind, "word_count": words}}
        for code, phrase, kind, words in STATUSES
    ]
    return json.dumps({"protocol": "HTTP", "statuses": records}, indent=1)


def _workbook(path: Path) -> None:
    """Two sheets that share a column, one under a title."""
    from openpyxl import Workbook

    book = Workbook()
    moons = book.active
    assert moons is not None
    moons.title = "Moons"
    moons.append(["moon", "planet", "radius_km", "period_days", "discovery_year", "discovered_by"])
    for row in MOONS:
        moons.append(list(row))
    hosts = book.create_sheet("Planets")
    hosts.append(["Planets with moons"])
    hosts.append([])
    hosts.append(["planet", "class", "diam_km", "avg_temp_c"])
    for row in HOSTS:
        hosts.append(list(row))
    book.save(path)
