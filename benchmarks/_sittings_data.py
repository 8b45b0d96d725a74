"""The files of the sittings, made from fixed seeds to be the same everywhere."""

import csv
import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

REGIONS = ("North", "South", "East", "West")
_PLACES = (
    *("Alder", "Birch", "Cedar", "Dale", "Elm", "Fern", "Glen", "Heath", "Iris"),
    *("Juniper", "Kelso", "Larch", "Marsh", "Nairn", "Oak", "Pine", "Quay", "Rowan"),
)
_ENDS = ("ford", "ton", "mouth", "wick", "bridge")
_SUBJECTS = ("The keeper", "An old ledger", "The harbour master", "A neighbour", "The surveyor", "Her brother")
_VERBS = ("notes", "remembers", "denies", "describes", "complains of", "pays for")
_THINGS = (
    "the new lamp",
    "a broken gate",
    "three sacks of flour",
    "the long winter",
    "a letter from abroad",
    "the tide",
)
_TIMES = ("in the morning", "before the storm", "at the fair", "without a word", "for the second time", "on a Sunday")
LETTERS = (
    *("adder", "badger", "cormorant", "dunlin", "eider", "falcon", "gannet", "heron", "ibis", "jackdaw"),
    *("kestrel", "lapwing", "marten", "newt", "otter", "plover", "quail", "raven", "sandpiper", "tern"),
    *("urchin", "vole", "wagtail", "yaffle", "bittern", "crane", "dipper", "egret", "fieldfare", "goshawk"),
    *("hobby", "kite", "linnet", "merlin", "nuthatch", "osprey", "puffin", "redstart", "siskin", "turnstone"),
)


def make(name: str, folder: Path) -> None:
    """Write the file by its name into a folder."""
    data = MADE[name]()
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())


def _table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def _names(random: Random, count: int) -> list[str]:
    return random.sample([place + end for place in _PLACES for end in _ENDS], count)


def _sentence(random: Random) -> str:
    return f"{random.choice(_SUBJECTS)} {random.choice(_VERBS)} {random.choice(_THINGS)} {random.choice(_TIMES)}."


def _reservoirs() -> str:
    random = Random("reservoirs")
    rows = ((name, random.choice(REGIONS), random.randint(12, 940) / 10) for name in _names(random, 48))
    return _table(("reservoir", "region", "volume_hm3"), rows)


def _orders_book() -> bytes:
    """A workbook of 5,000 rows."""
    from openpyxl import Workbook

    random, book = Random("orders"), Workbook(write_only=True)
    sheet = book.create_sheet("Orders")
    sheet.append(["Order", "Date", "Region", "Channel", "Amount (EUR)", "Returned"])
    for number in range(5_000):
        day = date(2024, 1, 1) + timedelta(days=random.randrange(366))
        amount = round(random.lognormvariate(4.6, 0.8), 2)
        channel = random.choices(("Online", "Shop", "Phone"), (5, 4, 1))[0]
        returned = "yes" if random.random() < (0.18 if channel == "Online" else 0.06) else "no"
        sheet.append([100_000 + number, day, random.choice(REGIONS), channel, amount, returned])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _chronicle() -> str:
    """A text of 4,000 lines in forty chapters, with a table of contents; one fact stands on line 3,000."""
    random = Random("chronicle")
    titles = [f"The year {1700 + number}" for number in range(40)]
    lines = ["CHRONICLE OF THE HARBOUR", "", "Contents"]
    lines += [f"  {number + 1}. {title}, line {100 * number + 51}" for number, title in enumerate(titles)]
    lines += [""] * (50 - len(lines))
    for number, title in enumerate(titles):
        body = [_sentence(random) for _ in range(98)]
        lines += [f"Chapter {number + 1}: {title}", "", *body]
    lines = lines[:4_000]
    lines[2_999] = "On the ninth of October the mole was raised by eleven feet, and the toll was set at 14 shillings."
    return "\n".join(lines) + "\n"


def _rain(region: str) -> str:
    random = Random(f"rain {region}")
    heights = random.sample(range(310, 2_950), 40)
    rows = ((name, rain, random.randint(2, 900)) for name, rain in zip(_names(random, 40), heights, strict=True))
    return _table(("station", "rainfall_mm", "altitude_m"), rows)


def _cities() -> str:
    random = Random("cities")
    rows = ((name, int(random.lognormvariate(13.1, 0.9)), random.randint(1, 80)) for name in _names(random, 30))
    return _table(("city", "inhabitants", "trams"), rows)


def _foxes() -> str:
    random = Random("foxes")
    rows = (
        (n, random.choice(("red", "arctic")), random.randint(30, 90) / 10, random.randint(60, 99)) for n in range(1, 41)
    )
    return _table(("fox", "species", "weight_kg", "ear_mm"), rows)


def _docks() -> str:
    random = Random("docks")
    rows = ((name, random.randint(8, 60), random.choice(REGIONS)) for name in _names(random, 70))
    return _table(("station", "docks", "district"), rows)


def _archive() -> bytes:
    """An archive with one table in it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("sales/2023.csv"), _docks())
    return file.getvalue()


def _chart() -> bytes:
    """A picture of four bars, as PNG."""
    width, height = 120, 80
    bars = ((200, 40, 40), 30), ((40, 160, 60), 62), ((50, 80, 200), 45), ((220, 190, 40), 18)
    rows = bytearray()
    for y in range(height):
        rows.append(0)
        for x in range(width):
            colour, tall = bars[x // 30]
            rows += bytes(colour if 5 <= x % 30 < 25 and height - y <= tall else (255, 255, 255))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pieces = ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(rows), 9)), (b"IEND", b""))
    sealed = (struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in pieces)
    return b"\x89PNG\r\n\x1a\n" + b"".join(sealed)


def _contract() -> bytes:
    """A contract of three pages, as PDF."""
    pages = (
        (
            "LEASE OF A WAREHOUSE",
            "between Kelso Shipping Ltd and the Harbour Board",
            "1. The warehouse stands at Quay 7.",
        ),
        ("2. The lease begins on 1 April 2025.", "3. The rent is 1,840 EUR a month, due on the third working day."),
        (
            "4. Either side may end the lease with notice of five months.",
            "5. Repairs of the roof are paid by the Board.",
        ),
    )
    streams = [_page_stream(lines) for lines in pages]
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode()]
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for number, stream in enumerate(streams):
        font = "/Resources << /Font << /F1 3 0 R >> >> /MediaBox [0 0 595 842]"
        objects.append(f"<< /Type /Page /Parent 2 0 R {font} /Contents {5 + 2 * number} 0 R >>".encode())
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    return _pdf(objects)


def _page_stream(lines: Sequence[str]) -> bytes:
    shown = " T* ".join(f"({line}) Tj" for line in lines)
    return f"BT /F1 12 Tf 16 TL 72 770 Td {shown} ET".encode()


def _pdf(objects: Sequence[bytes]) -> bytes:
    data, places = bytearray(b"%PDF-1.4\n"), list[int]()
    for number, one in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    begins = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    data += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, begins)
    return bytes(data)


def _letter(number: int) -> str:
    """One of forty letters, each naming the next; the first and the last hold the answer's facts."""
    random = Random(f"letter {number}")
    lines = [f"Letter {number + 1}", "", *(_sentence(random) for _ in range(34))]
    if number == 0:
        lines.insert(12, "The number engraved in the lid of the box is 48213.")
    last = number == len(LETTERS) - 1
    lines.append("Add 577 to the number in the lid." if last else f"Read {LETTERS[number + 1]}.txt next.")
    return "\n".join(lines) + "\n"


def _customers() -> str:
    random = Random("customers")
    countries = ("Norway", "Italy", "Kenya", "Peru", "Japan")
    return _table(
        ("customer_id", "name", "country"), ((n, f"Customer {n}", random.choice(countries)) for n in range(1, 61))
    )


def _sales() -> str:
    random = Random("sales")
    rows = ((n, random.randint(1, 60), random.randint(500, 90_000) / 100) for n in range(1, 401))
    return _table(("sale", "customer_id", "amount_eur"), rows)


def _orders() -> str:
    random = Random("paid orders")
    states = ("paid", "paid", "open", "void")
    rows = (
        (f"O{n:03}", random.choice(REGIONS), f"rep{random.randrange(6)}", random.randint(900, 90_000) / 100, state)
        for n, state in enumerate(random.choices(states, k=120))
    )
    return _table(("order", "region", "rep", "amount", "status"), rows)


def _machines() -> bytes:
    """A workbook of one sheet with 200 machines."""
    from openpyxl import Workbook

    random, book = Random("machines"), Workbook(write_only=True)
    sheet = book.create_sheet("Machines")
    sheet.append(["Machine", "Site", "Year", "State", "Hours"])
    for number in range(200):
        site, state = random.choice(("Elmton", "Oakwick", "Pineford")), random.choice(("good", "fair", "worn"))
        sheet.append([f"M{number:03}", site, random.randint(2012, 2024), state, random.randint(200, 9_900)])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _lighthouse() -> str:
    """A chronicle of 300 lines; one of them tells of a keeper's niece."""
    random = Random("lighthouse")
    lines = [" ".join(_sentence(random) for _ in range(3)) for _ in range(300)]
    lines[181] = (
        "In that spring the keeper's niece took over the lighthouse after her uncle went blind, and she kept the lamp "
        "for thirty-one years until she moved to Larchwick."
    )
    return "\n\n".join(lines) + "\n"


def _inventory() -> str:
    return "Inventory.\nThe spare boiler stands in hall 7 and was last checked on 2024-03-18 by the second engineer.\n"


def _export() -> bytes:
    """An archive of the orders and a note."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("data/orders.csv"), _orders())
        archive.writestr(zipfile.ZipInfo("README.txt"), "Export of orders.\n")
    return file.getvalue()


def _rising_lease() -> bytes:
    """A lease with a table of increases, as DOCX."""
    from docx import Document

    document = Document()
    document.add_paragraph("Lease agreement")
    document.add_paragraph("This agreement between the landlord and the tenant begins on 1 May 2023.")
    document.add_paragraph("Rent rises each year by the percentage below, applied to the rent of the year before.")
    table = document.add_table(rows=0, cols=2)
    for year, share in (("Year", "Increase"), ("2024", "3 %"), ("2025", "2 %")):
        for cell, text in zip(table.add_row().cells, (year, share), strict=True):
            cell.text = text
    document.add_paragraph("The rent of the first year is 1,200 euros a month.")
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def _passengers() -> str:
    return _table(("year", "passengers"), ((2021, 41_200), (2022, 55_800), (2023, 61_380)))


MADE: dict[str, Callable[[], str | bytes]] = {
    "reservoirs.csv": _reservoirs,
    "orders.xlsx": _orders_book,
    "chronicle.txt": _chronicle,
    **{f"rain_{region.lower()}.csv": lambda region=region: _rain(region) for region in REGIONS},
    "cities.csv": _cities,
    "foxes.csv": _foxes,
    "docks.csv": _docks,
    "sales_2023.zip": _archive,
    "chart.png": _chart,
    "lease.pdf": _contract,
    **{f"{name}.txt": lambda number=number: _letter(number) for number, name in enumerate(LETTERS)},
    "orders.csv": _orders,
    "machines.xlsx": _machines,
    "lighthouse.txt": _lighthouse,
    "inventory.txt": _inventory,
    "export.zip": _export,
    "rising_lease.docx": _rising_lease,
    "passengers.csv": _passengers,
    "customers.csv": _customers,
    "sales.csv": _sales,
}
