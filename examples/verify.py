"""Recomputes the expected answer of every example with pandas, apart from the product: `python examples/verify.py`."""

import email
import hashlib
import json
import random
import re
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

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


def packed(name: str, part: str) -> str:
    """Read one part of a ZIP file as a text without marks of XML."""
    with zipfile.ZipFile(DATA / name) as archive:
        text = archive.read(part).decode("utf-8")
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def only(pattern: str, text: str) -> str:
    """Return what the one match of a pattern holds."""
    (found,) = set(re.findall(pattern, text))
    return str(found)


def memory_of_bunzip2() -> int:
    """Read the manual's pages with pypdfium2 alone."""
    document = import_module("pypdfium2").PdfDocument(DATA / "bzip2_manual.pdf")
    text = " ".join(" ".join(page.get_textpage().get_text_range().split()) for page in document)
    return int(only(r"default 900k block size, bunzip2 will require about (\d+) kbytes", text))


def offset_of_page_size() -> int:
    with zipfile.ZipFile(DATA / "sqlite_file_format.epub") as book:
        pages = [name for name in book.namelist() if name.endswith(".xhtml")]
    text = " ".join(packed("sqlite_file_format.epub", name) for name in pages)
    return int(only(r"offset of (\d+) bytes from the beginning of the database file", text))


def third_quarter() -> float:
    with zipfile.ZipFile(DATA / "placeholders.pptx") as slides:
        (chart,) = [name for name in slides.namelist() if re.fullmatch(r"ppt/charts/chart\d+\.xml", name)]
    numbers = packed("placeholders.pptx", chart)
    return float(only(r"1st Qtr 2nd Qtr 3rd Qtr 4th Qtr .*?8\.\S+ 3\.\S+ (\S+) ", numbers))


def width_of_gif(data: bytes) -> int:
    assert data.startswith(b"GIF8")
    return int.from_bytes(data[6:8], "little")


def attached_picture() -> int:
    message = email.message_from_bytes((DATA / "dingus_fish.eml").read_bytes())
    (picture,) = [part for part in message.walk() if part.get_content_type() == "image/gif"]
    return width_of_gif(bytes(picture.get_payload(decode=True)))


def packed_image() -> int:
    line = ["7z", "e", "-so", str(DATA / "puremagic.7z")]
    return width_of_gif(subprocess.run(line, capture_output=True, check=True).stdout)


def plotting_backend() -> str:
    notebook = json.loads((DATA / "numpy_matplotlib.ipynb").read_text(encoding="utf-8"))
    (cell,) = [one for one in notebook["cells"] if "matplotlib.backends.backend" in "".join(one["source"])]
    return "".join(cell["outputs"][0]["text"]).strip()


def hook_revision() -> str:
    told = yaml.safe_load((DATA / "nbconvert_checks.yaml").read_text(encoding="utf-8"))
    (found,) = [one["rev"] for one in told["repos"] if one["repo"].endswith("/blacken-docs")]
    return str(found)


def keyboard_vendor() -> str:
    items = ElementTree.parse(DATA / "keyboards.xml").iter("configItem")
    (found,) = [one for one in items if one.findtext("description") == "Apple Aluminium (ANSI)"]
    return str(found.findtext("vendor"))


def camera() -> str:
    with import_module("PIL.Image").open(DATA / "casio.jpg") as image:
        return str(image.getexif()[0x0110]).strip()


def chart_unit() -> str:
    line = ["tesseract", str(DATA / "sqlite_cycles.jpg"), "stdout"]
    return only(r"(Billions .*)", subprocess.run(line, capture_output=True, check=True, text=True).stdout)


def who_plucked() -> str:
    data = (DATA / "pluck.wav").read_bytes()
    at = data.index(b"IART")
    return data[at + 8 : at + 8 + int.from_bytes(data[at + 4 : at + 8], "little")].rstrip(b"\0").decode("ascii")


def width_of_mice() -> int:
    line = ["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "stream=width", "-of", "csv=p=0"]
    return int(subprocess.run([*line, str(DATA / "two_mice.mp4")], capture_output=True, check=True).stdout)


def hook_python() -> str:
    with tarfile.open(DATA / "pre_commit_hooks-6.0.0.tar.gz") as archive:
        member = archive.extractfile("pre_commit_hooks-6.0.0/setup.cfg")
        assert member is not None
        return only(r"python_requires = (\S+)", member.read().decode("utf-8"))


def largest_file() -> int:
    name = "pre_commit_hooks-6.0.0-py2.py3-none-any.whl"
    return int(only(r"'--maxkb', type=int, default=(\d+)", packed(name, "pre_commit_hooks/check_added_large_files.py")))


def conflict_hook() -> str:
    text = (DATA / "pre_commit_hooks.md").read_text(encoding="utf-8")
    return only(r"#### `(\S+)`\n[^\n]*merge conflict strings", text)


def largest_database() -> int:
    return int(
        only(r"Max DB size: *(?:<[^>]*>)? *(\d+) terabytes", (DATA / "sqlite_about.html").read_text(encoding="utf-8"))
    )


def hash_of_primes() -> str:
    sieve = np.ones(600, dtype=bool)
    sieve[:2] = False
    for one in range(2, 25):
        sieve[one * one :: one] = False
    return hashlib.sha256(",".join(map(str, np.flatnonzero(sieve)[:100])).encode()).hexdigest()


def unlucky_fridays() -> int:
    days = pd.date_range("1900-01-01", "1999-12-31")
    return int(((days.day == 13) & (days.day_of_week == 4)).sum())


def dry_spell() -> int:
    dry = table("seattle-weather.csv")["precipitation"] == 0
    return int(dry.groupby((~dry).cumsum()).sum().max())


def partitions(total: int) -> int:
    """Count them by the recurrence of Euler with pentagonal numbers."""
    found = [1]
    for n in range(1, total + 1):
        signed = [(1 if k % 2 else -1, k * (3 * k + side) // 2) for k in range(1, n + 1) for side in (-1, 1)]
        found.append(sum(sign * found[n - step] for sign, step in signed if step <= n))
    return found[total]


def highest_wheat() -> int:
    prices = pd.DataFrame(json.loads((DATA / "wheat.json").read_text()))
    return int(prices.loc[prices["wheat"].idxmax(), "year"])


def sevens() -> int:
    bits = random.Random(2024).getrandbits

    def die() -> int:
        while (found := bits(3)) >= 6:
            pass
        return found + 1

    return sum(die() + die() == 7 for _ in range(10_000))


def deaths_by_year() -> list[int]:
    deaths = pd.DataFrame(json.loads((DATA / "crimea.json").read_text()))
    sums = deaths[["disease", "wounds", "other"]].groupby(deaths["date"].str[:4]).sum().sum(axis=1)
    return [int(one) for one in sums.sort_index()]


def frequent_words() -> list[str]:
    words = pd.Series((DATA / "constitution.txt").read_text(encoding="ascii").lower()).str.findall(r"[a-z]+").explode()
    return [str(one) for one in words[words.str.len() >= 9].value_counts().index[:3]]


def base_36() -> str:
    text = np.base_repr(2**200, 36).lower()
    assert int(text, 36) == 2**200
    return text


def middle_of_numbers() -> int:
    numbers = [1]
    while len(numbers) < 200_000:
        numbers.append((1664525 * numbers[-1] + 1013904223) % 2**32)
    return int(np.partition(np.array(numbers), 99_999)[99_999])


ANSWERS: dict[str, Callable[[], Any]] = {
    "demo": country_with_most_time_zones,
    "attached_databases": lambda: int(
        only(r"attached databases cannot be increased above (\d+)", packed("sqlite_limits.docx", "word/document.xml"))
    ),
    "block_size": memory_of_bunzip2,
    "camera": camera,
    "chart_unit": chart_unit,
    "scanned_chart": chart_unit,
    "conflict_hook": conflict_hook,
    "dingus_fish": attached_picture,
    "equipment_in_douglas": lambda: int((pd.read_excel(DATA / "ne_1033.xlsx")["county"] == "DOUGLAS").sum()),
    "hook_python": hook_python,
    "hook_revision": hook_revision,
    "keyboard_vendor": keyboard_vendor,
    "largest_database": largest_database,
    "largest_file": largest_file,
    "many_writers": lambda: only(r"Many concurrent writers\? → choose (\S+)", packed("sqlite_uses.odt", "content.xml")),
    "packed_image": packed_image,
    "page_size_offset": offset_of_page_size,
    "plotting_backend": plotting_backend,
    "plucked_string": who_plucked,
    "third_quarter": third_quarter,
    "two_mice": width_of_mice,
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
    "primes_hash": hash_of_primes,
    "file_checksum": lambda: hashlib.sha256((DATA / "elements.csv").read_bytes()).hexdigest(),
    "unlucky_fridays": unlucky_fridays,
    "two_clocks": lambda: str(pd.Timestamp("2024-02-28 22:50") + pd.Timedelta(minutes=9 * 60 + 15))[:16],
    "dry_spell": dry_spell,
    "tail_numbers": lambda: int(table("planes.csv")["tailnum"].str.fullmatch(r"N\d{3}[A-Z]{2}").sum()),
    "partitions": lambda: partitions(100),
    "wheat_chart": highest_wheat,
    "dice": sevens,
    "deaths_by_year": deaths_by_year,
    "frequent_words": frequent_words,
    "hilbert": lambda: 6**2,
    "base_36": base_36,
    "sorted_numbers": middle_of_numbers,
    "leap_tests": lambda: [year for year in range(1600, 2401) if year % 400 == 0],
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
