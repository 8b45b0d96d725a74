"""The report environment, through the platform's own door."""

import asyncio
import importlib
import json
import re
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image
from swapping import swapping

from tea.platform import Platform
from tea.testing import platform

Act = Callable[..., Coroutine[Any, Any, Any]]

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea() -> AsyncIterator[Platform]:
    async with platform() as tea:
        yield tea


@pytest.fixture
def act(tea: Platform, folder: Path) -> Act:
    async def act(action: str, **arguments: Any) -> Any:
        return await tea.ecp.invoke(f"report#{action}", arguments, session="s")

    return act


async def completed(act: Act, folder: Path, *pieces: str | dict[str, Any], **options: Any) -> tuple[Any, str]:
    """Add pieces, complete the report, and return its outcome and Markdown."""
    for one in pieces:
        (await act("add", **({"text": one} if isinstance(one, str) else one))).unwrap()
    made = (await act("complete", title="T", **options)).unwrap()
    return made, (folder / made["files"][0]).read_text()


async def test_pieces_of_each_form_give_content_summary_and_references(act: Act, folder: Path) -> None:
    (folder / "notes.md").write_text("Seen on Monday.")
    (folder / "facts.json").write_text('{"fact": "It rained.", "source": "https://e.org/rain"}')
    text = await act("add", text="# Sky\n\nIt is **blue** [1](https://e.org). It is far. It is old. It is wide.")
    assert text.unwrap() == {
        "number": 1,
        "content": "# Sky\n\nIt is **blue** [1](https://e.org). It is far. It is old. It is wide.",
        "summary": "It is blue. It is far. It is old.",
        "references": [{"number": 1, "source": "https://e.org", "description": "", "quote": ""}],
    }
    data = {"content": "A claim [4].", "references": [{"id": 4, "url": "https://f.org", "title": "F"}]}
    made = (await act("add", data=data)).unwrap()
    assert (made["number"], made["references"]) == (
        2,
        [{"number": 4, "source": "https://f.org", "description": "F", "quote": ""}],
    )
    assert (await act("add", path="notes.md")).unwrap()["content"] == "Seen on Monday. [1](notes.md)"
    assert (await act("add", path="facts.json")).unwrap()["content"] == "It rained. [1]"
    assert (await act("add", data={"height": 12, "colour": "red"})).unwrap()["content"] == (
        "- **height**: 12\n- **colour**: red"
    )
    made = (await act("complete", title="T")).unwrap()
    assert [one["link"] for one in made["references"]] == [
        "https://e.org",
        "https://f.org",
        "notes.md",
        "https://e.org/rain",
    ]


async def test_numbers_of_each_piece_are_its_own_and_one_source_is_one_reference(act: Act, folder: Path) -> None:
    first = "Alpha was first of all [1](https://Example.org/a/?utm_source=x#top). Beta came second to it [2](b.txt)."
    second = "Gamma came third of them [1](./b.txt). Delta came in fourth [2](https://example.org:443/a)."
    third = {"text": "Epsilon came in fifth [9].", "references": [{"number": 9, "source": "https://example.org/%61"}]}
    (folder / "b.txt").write_text("Alpha beta gamma delta epsilon.")
    made, text = await completed(act, folder, first, second, third)
    assert [int(one) for one in re.findall(r"\[(\d)\]\(", text.partition("## References")[0])] == [1, 2, 2, 1, 1]
    assert text.count("## References") == 1
    assert text.endswith(
        "## References\n\n1. [https://Example.org/a/?utm_source=x#top]"
        "(https://Example.org/a/?utm_source=x#top)\n2. [b.txt](b.txt)\n"
    )
    assert (made["missing"], made["unresolved"]) == ([], [])


async def test_citations_that_lead_nowhere_are_told(act: Act, folder: Path) -> None:
    made, _ = await completed(act, folder, "One thing stands here [7]. Another stands there [1](gone.csv).")
    assert (made["unresolved"], made["missing"]) == (["[7]"], ["gone.csv"])


@pytest.mark.parametrize(
    ("source", "claim", "doubts"),
    [
        ("state,murder\nDistrict of Columbia,24.2\n", "The District of Columbia has a rate of 24.2.", []),
        ("Columbia,24.2\n", "The District of Columbia has a rate of 24.2.", ["District"]),
        ("2013,828.0\n2012,1226.0\n", "In 2013 it was 828 and in 2012 it was 1226.", []),
        ("There are 1,234 birds.", "There are 1234 birds", []),
        ("There are 1.234,50 euros.", "It costs 1,234.5 euros", []),
        ("There are seven birds.", "There are 7 birds", []),
        ("There are 12 birds.", "There are 13 birds", ["13"]),
        ("On 5 May 2024 it rained.", "It rained on 2024-05-05", []),
        ("On May 5th, 2024 it rained.", "It rained on 05.05.2024", []),
        ("On 5 May 2024 it rained.", "It rained on 6 May 2024", ["6 May 2024"]),
        ("day: 2024/05/06", "It rained on 2024-05-06, not on 5 June 2024", ["5 June 2024"]),
        ("It opened on 5 May 2024.", "It opened in May 2024", []),
        ("The bridge was built by Ada Quill.", "It was built by Ada Quill", []),
        ("The bridge was built by Ada Quill.", "It was built by Bo Quill", ["Bo Quill"]),
        ("NASA paid.", "It was paid by ESA", ["ESA"]),
        ("Grown by 3.5%.", "It has grown by 3.5 % (`99` in code)", []),
        ("The mean is 5076.016260162602.", "It is 5076.02, so about 5,076", []),
        ("The mean is 5076.016260162602.", "It is 5077.02, or 5076.03", ["5077.02", "5076.03"]),
        ("The mean is 2.95, the sum 3.125.", "It is 3.0, or 3.12, or 3.13", ["3.0"]),
    ],
)
async def test_values_that_their_source_lacks_are_marked(
    act: Act, folder: Path, source: str, claim: str, doubts: list[str]
) -> None:
    (folder / "s.txt").write_text(source)
    made, text = await completed(act, folder, f"{claim} [1](s.txt).")
    assert [one["value"] for one in made["doubts"]] == doubts
    for value in doubts:
        assert f"{value} [?]" in text.partition("## Checks")[0]
    assert not doubts or f"- {'; '.join(doubts)}: " in text.partition("## Checks")[2]
    assert ("## Checks" in text) == bool(doubts)


async def test_a_quote_given_with_a_source_is_what_its_claims_are_compared_with(act: Act, folder: Path) -> None:
    piece = {
        "text": "Oslo holds 700,000 people [1](https://e.org). Rome holds 28 of them [2](https://f.org).",
        "references": [{"source": "https://e.org", "quote": "Oslo: 700000 people"}, {"source": "https://f.org"}],
    }
    made, text = await completed(act, folder, piece)
    assert (made["doubts"], made["unchecked"]) == ([], [2])
    assert "[?]" not in text


async def test_claims_without_a_source_are_listed(act: Act, folder: Path) -> None:
    (folder / "s.txt").write_text("Grass is green, says Dr. Moss.")
    body = (
        "## The sky is blue\n\nThe sky is very blue. Grass is green, says Dr. Moss. [1](s.txt) Is it really so?\n\n"
        "- Water is wet as well\n- Grass is green [1](s.txt)\n\n```\ncode is not a claim\n```\n\n"
        "| a thing | another |\n|---|---|\n| fire is rather hot | x |\n"
    )
    made, text = await completed(act, folder, body)
    assert made["unsourced"] == ["The sky is very blue.", "Water is wet as well", "| fire is rather hot | x |"]
    assert "Claims without a source:\n\n- The sky is very blue.\n- Water is wet as well\n" in text


@pytest.mark.parametrize(
    "text",
    [
        "The second file could not be read.",
        "No source for the price in 2014 was found.",
        "Nothing was found about the length of tails.",
        "The search failed with an error.",
        "Die Preise konnten nicht ermittelt werden.",
        "The rows were then grouped by region and summed up.",
        "I searched the file with a query.",
        "This report answers the question about the regions.",
        "## Question\n\nWhich of the regions paid the most\n\n## How it was found\n\nOne query over the whole table.",
        "## Limits\n\nOnly the second half of the year is covered.",
        "## Uncertain\n\nNo literature could be searched for this.",
        "## Next steps\n\n- Compare the 73 males of Adelie with the others.\n- Add the difference to the table.",
        "## You may decide\n\nCompare the males on Dream island only.",
        "## Nächste Schritte\n\n- Die Massen der 34 Männchen vergleichen.",
        "Dazu wurde in den Quellen nichts gefunden.",
        "Die Angabe konnte nicht ermittelt werden.",
        "Es liegen keine Daten zum Jahrgang vor.",
        "Unklar bleibt, wer das Werk verfasst hat.",
        "Die Zeilen wurden nach Art gruppiert und gezählt.",
        "Dieser Bericht beantwortet die Frage nach dem Sieger.",
        "Der Abruf der zweiten Seite ist fehlgeschlagen.",
        "## Vorgehensweise\n\nWir zählten zuerst alle Zeilen der Tabelle.",
        "## So wurde vorgegangen\n\nDie Tabelle wurde eingelesen und sortiert.",
        "Aucune source ne donne la date de naissance.",
        "La valeur n'a pas pu être vérifiée.",
        "Les lignes ont été regroupées par espèce et comptées.",
        "Ce rapport répond à la question posée.",
        "Aucun résultat n'a été trouvé dans le corpus.",
        "La page n'a pas été ouverte faute de réseau.",
        "No se encontró ninguna fuente sobre el tema.",
        "No se pudo comprobar el valor indicado.",
        "Las filas se agruparon por especie y se contaron.",
        "Este informe responde a la pregunta planteada.",
        "No hay datos sobre el año de fundación.",
        "El dato sigue siendo desconocido para nosotros.",
    ],
)
async def test_what_was_not_found_and_how_the_work_was_done_are_no_claims(act: Act, folder: Path, text: str) -> None:
    made, written = await completed(act, folder, text)
    assert (made["unsourced"], "Claims without a source" in written) == ([], False)


@pytest.mark.parametrize(
    "claim",
    [
        "Penguins cannot fly at all.",
        "The bridge was opened by the queen.",
        "The engine failed in 1994.",
        "No penguin weighs more than 6,300 g.",
        "The mean was calculated as 42.",
        "It is not the largest of them.",
        "Der Himmel über Bergen ist meist grau.",
        "Pinguine können nicht fliegen, sondern tauchen.",
        "Es gibt in Texas keine aktiven Vulkane.",
        "Le ciel de Bergen est souvent gris.",
        "Les manchots ne volent pas mais plongent.",
        "El cielo de Bergen suele ser gris.",
        "Los pingüinos no pueden volar pero bucean.",
        "Die Art wurde nach ihrem Entdecker benannt.",
        "L'espèce n'a pas de prédateurs connus sur terre.",
        "La especie no tiene depredadores en tierra firme.",
    ],
)
async def test_a_denial_and_a_result_are_claims(act: Act, folder: Path, claim: str) -> None:
    made, _ = await completed(act, folder, f"## Answer\n\n{claim}")
    assert made["unsourced"] == [claim]


async def test_tags_of_html_are_text_in_markdown_too_but_code_stays(act: Act, folder: Path) -> None:
    body = (
        "A <img src=x onerror=alert(1)> sits here, and \\\\<b>bold</b>, `<i>code</i>` and \\`<u>x</u>\\`.\n\n"
        "```html\n<script>1</script>\n```\n\n`\n\n<script>2</script>\n\n`\n\nIt is 3 < 4 <https://e.org/a> indeed."
    )
    _, text = await completed(act, folder, body, {"text": "x", "summary": "<p>"}, formats=["md"])
    assert "&lt;img src=x" in text
    assert "\\\\&lt;b>bold&lt;/b>" in text
    assert "`<i>code</i>`" in text
    assert "\\`&lt;u>x&lt;/u>\\`" in text
    assert "```html\n<script>1</script>\n```" in text
    assert "&lt;script>2&lt;/script>" in text
    assert "3 < 4 <https://e.org/a>" in text


async def test_pieces_added_at_once_are_all_kept_and_equal_ones_once(act: Act, folder: Path) -> None:
    pieces = [f"Piece {n} [1](https://e.org/{n})." for n in range(12)]
    added = await asyncio.gather(*(act("add", text=one) for one in [*pieces, *pieces]))
    assert sorted({one.unwrap()["number"] for one in added}) == list(range(1, 13))
    made, _ = await completed(act, folder)
    assert len(made["references"]) == 12


async def test_reports_of_other_names_do_not_mix_and_files_are_not_replaced(act: Act, folder: Path) -> None:
    await act("add", text="One.", report="one")
    await act("add", text="Two.", report="two")
    first = (await act("complete", title="T", report="one")).unwrap()["files"]
    assert (await act("complete", title="T", report="one")).unwrap()["files"] == first == ["report.md"]
    assert (await act("complete", title="T", report="two")).unwrap()["files"] == ["report-2.md"]
    refused = await act("complete", title="T", report="two", name="report")
    assert "exists" in refused.error["problem"]
    assert (folder / "report.md").read_text() == "# T\n\nOne.\n"
    assert [one["report"] for one in (await act("state")).unwrap()["reports"]] == ["one", "two"]


@pytest.mark.parametrize(
    ("action", "arguments", "problem"),
    [
        ("add", {}, "Nothing was given"),
        ("add", {"text": "a", "path": "b"}, "at once"),
        ("add", {"text": "a", "report": "../x"}, "is not the name of a report"),
        ("complete", {}, "Nothing was added"),
        ("complete", {"report": "A"}, "is not the name of a report"),
        ("add", {"path": "../x.md"}, "outside of the workspace"),
    ],
)
async def test_what_is_no_piece_and_no_report_is_refused(
    act: Act, action: str, arguments: dict[str, Any], problem: str
) -> None:
    assert problem in (await act(action, **arguments)).error["problem"]


async def test_a_report_is_never_written_outside_of_the_workspace(act: Act, folder: Path) -> None:
    await act("add", text="One.")
    assert "outside" in (await act("complete", title="T", name="../r")).error["problem"]
    assert not (folder.parent / "r.md").exists()


async def test_html_and_pdf_hold_the_figures_and_nothing_that_runs(act: Act, folder: Path) -> None:
    from PIL import Image

    Image.new("RGB", (20, 10), "red").save(folder / "plot one.png")
    body = (
        "## Found\n\nA <script>alert(1)</script> claim [1](https://e.org/a).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "1. one\n2. two\n   - inner `code`\n\n> said\n\n```\nx < y\n```\n\n![out](../secret.png)\n\n"
        "[x](javascript:alert(1))"
    )
    made, page = await completed(act, folder, body, {"path": "plot one.png"}, formats=["html", "pdf", "md"])
    assert made["files"] == ["report.html", "report.pdf", "report.md"]
    assert page.count("data:image/png;base64,") == 1
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert 'href="javascript' not in page
    assert "default-src 'none'" in page
    assert [one for one in made["notes"] if "secret.png" in one]
    pdf = read_pdf(folder / "report.pdf")
    assert "alert(1)" in pdf.text
    assert "https://e.org/a" in pdf.text.replace("\r\n", "")
    assert pdf.pictures == 1


async def test_a_report_in_a_folder_shows_and_links_the_files_above_it(act: Act, folder: Path) -> None:
    from PIL import Image

    Image.new("RGB", (20, 10), "red").save(folder / "rain by month.png")
    (folder / "b.csv").write_text("a,b\n1,2\n")
    await act("add", text="The first is 1 [1](b.csv), `![x](y.png)` [2](https://e.org).")
    await act("add", path="rain by month.png")
    made = (await act("complete", title="T", name="out/deep/rain", formats=["md", "html", "pdf"])).unwrap()
    written = folder / "out" / "deep" / "rain.md"
    text = written.read_text()
    assert "is 1 [1](../../b.csv), `![x](y.png)`" in text
    assert "![rain by month](<../../rain by month.png>)" in text
    assert (written.parent / "../../rain by month.png").exists()
    assert [one["link"] for one in made["references"]] == ["../../b.csv", "https://e.org"]
    assert (made["missing"], made["notes"], made["unsourced"]) == ([], [], [])
    assert "data:image/png;base64," in written.with_suffix(".html").read_text()
    assert read_pdf(written.with_suffix(".pdf")).pictures == 1


async def test_a_picture_is_no_claim_whatever_its_name(act: Act, folder: Path) -> None:
    (folder / "rain of each month in 2020.png").write_bytes(b"x")
    await act("add", path="rain of each month in 2020.png")
    made = (await act("complete", title="T")).unwrap()
    assert made["unsourced"] == []


async def test_letters_of_any_script_are_in_the_pdf_or_named_as_lacking(act: Act, folder: Path) -> None:
    made, _ = await completed(act, folder, "Łódź, Ωμέγα, 東京 [1](https://e.org).", formats=["md", "pdf"])
    text = read_pdf(folder / "report.pdf").text
    lacking = "".join(made["notes"])
    assert all(letter in text or letter in lacking for letter in "Łźμ東")


async def test_a_missing_renderer_is_one_line_with_its_command_and_writes_nothing(
    act: Act, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "markdown_it", None)
    await act("add", text="One.")
    error = (await act("complete", title="T", formats=["md", "html"])).error
    assert "tea-protocol[reports]" in error["fix"]
    assert not list(folder.glob("report*"))


async def test_it_is_reached_as_a_tool_made_of_the_environment(tea: Platform, folder: Path) -> None:
    await tea.tcp.transform("E2T", "report")
    added = await tea.tcp.invoke("report_add", {"text": "One [1](https://e.org)."}, session="e2t")
    assert added.unwrap()["number"] == 1


class _Pdf:
    def __init__(self, text: str, pictures: int) -> None:
        self.text, self.pictures = text, pictures


def read_pdf(path: Path) -> _Pdf:
    """Return the text of a PDF file and how many pictures it holds."""
    import pypdfium2
    from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE

    text, pictures = list[str](), 0
    with pypdfium2.PdfDocument(path) as document:
        for page in document:
            text.append(page.get_textpage().get_text_bounded())
            pictures += len(list(page.get_objects(filter=[FPDF_PAGEOBJ_IMAGE])))
    return _Pdf("\n".join(text), pictures)


@pytest.mark.parametrize(
    ("claim", "doubts"),
    [
        ("It grew by 12.5 % (`(1350 - 1200) / 1200 * 100 = 12.5`)", []),
        ("It grew by 12.5 %", ["12.5"]),
        ("It grew by 13.5 % (`(1350 - 1200) / 1200 * 100 = 13.5`)", ["13.5"]),  # wrong
        ("It was 1,400 (`1,350 + 50 = 1,400`)", ["1,400"]),  # the 50 is nowhere
        ("The mean was 1,275 (`(1200 + 1350) / 2 = 1275`)", []),
        ("It took off (`2 ** 1200 = 1`)", []),
    ],
)
async def test_a_calculated_value_counts_where_its_calculation_is_right(
    act: Act, folder: Path, claim: str, doubts: list[str]
) -> None:
    (folder / "s.csv").write_text("month,visitors\nJan,1200\nFeb,1350\n")
    made, _ = await completed(act, folder, f"{claim} [1](s.csv).")
    assert [one["value"] for one in made["doubts"]] == doubts


async def test_a_months_name_is_known_in_full_and_with_three_letters(act: Act, folder: Path) -> None:
    (folder / "s.csv").write_text("month,visitors\nFeb,1350\nMarch,1610\n")
    made, _ = await completed(act, folder, "It was 1350 in February, then 1610 in Mar and in April [1](s.csv).")
    assert [one["value"] for one in made["doubts"]] == ["April"]


@pytest.mark.parametrize("cells", ["2023-02-14,1350\n2023-03-01,1610", "2023-02,1350\n2023-03,1610"])
async def test_a_months_name_is_known_from_dates(act: Act, folder: Path, cells: str) -> None:
    (folder / "s.csv").write_text(f"day,visitors\n{cells}\n")
    made, _ = await completed(act, folder, "It was 1350 in February, then 1610 in Mar and in April [1](s.csv).")
    assert [one["value"] for one in made["doubts"]] == ["April"]


async def test_values_of_a_source_that_is_not_there_are_marked_and_it_is_told(act: Act, folder: Path) -> None:
    (folder / "s.csv").write_text("1610")
    body = "It had 1610 guests [1](s.csv). Of the board 99 % liked it [2](gone.csv). Compare that [3](https://e.org)."
    made, text = await completed(act, folder, body)
    assert ([one["value"] for one in made["doubts"]], made["missing"]) == (["99"], ["gone.csv"])
    assert "Cited, and not there: gone.csv." in text
    assert "the text of their source is not known here: [3] https://e.org." in text


ORDERS = "| Region | Paid in 2024 |\n|---|---|\n| East of Holm | 1200 |\n| West of Holm | 1351 |"


@pytest.mark.parametrize(
    "body",
    [
        f"{ORDERS}\n\nThe table is from [1](s.csv).",
        f"{ORDERS}\nThe table is from [1](s.csv).",
        f"What the regions paid is in [1](s.csv):\n\n{ORDERS}",
        f"What the regions paid [1](s.csv):\n{ORDERS}\n\n## Outlook",
    ],
)
async def test_a_table_beside_a_sentence_citing_its_source_shares_the_citation(
    act: Act, folder: Path, body: str
) -> None:
    (folder / "s.csv").write_text("region,paid\neast,1200\nwest,1350\n")
    made, text = await completed(act, folder, body)
    assert (made["unsourced"], [one["value"] for one in made["doubts"]]) == ([], ["1351"])
    assert "| West of Holm | 1351 [?] |" in text


async def test_a_table_apart_from_sentences_with_sources_has_rows_without_one(act: Act, folder: Path) -> None:
    (folder / "s.csv").write_text("1200")
    made, _ = await completed(act, folder, f"{ORDERS}\n\nThis is said without any source.\n\nIt was 1200 [1](s.csv).")
    assert made["unsourced"] == ["| West of Holm | 1351 |", "This is said without any source."]
    assert made["unfounded"] == ["1351"]


@pytest.mark.parametrize("january", ["January", "Jan 2025", "2025-01"])
async def test_of_rows_without_a_source_those_are_told_that_none_of_the_sources_says(
    act: Act, folder: Path, january: str
) -> None:
    (folder / "s.csv").write_text("kind,month,taken\nboat,2025-01,120.5\nboat,2025-02,45.25\nfoot,2025-01,210\n")
    rows = ["| Boat | 120.50 | 45.52 |", "| Foot | 210.00 | |", "| Both | 330.50 | 8 |", "| All | 375.75 | |"]
    table = "\n".join([f"| Kind | {january} | February |", "|---|---|---|", *rows])
    made, text = await completed(act, folder, f"It was asked [1](s.csv).\n\n## Findings\n\n{table}")
    assert (made["unsourced"], made["unfounded"]) == ([rows[0], rows[2]], ["45.52", "8"])
    assert "[?]" not in text


@pytest.mark.parametrize(
    ("claim", "doubts"),
    [
        ("Order 2 is one of Ada, and order #3 one of nobody", []),
        ("Orders 4 are two", ["4"]),
        ("There are 3 of Ada", ["3"]),
        ("The amount 45 is one of Ada", ["45"]),
    ],
)
async def test_the_name_of_a_row_of_another_source_is_not_doubted(
    act: Act, folder: Path, claim: str, doubts: list[str]
) -> None:
    (folder / "orders.csv").write_text("Order No,who,amount\n1,C1,45\n2,C1,45\n3,,30\n")
    (folder / "who.csv").write_text("who,name\nC1,Ada\n")
    made, _ = await completed(act, folder, f"They were joined [1](orders.csv). {claim} [2](who.csv).")
    assert [one["value"] for one in made["doubts"]] == doubts


@pytest.mark.parametrize(
    ("claim", "text", "doubts"),
    [
        ("The share was 0.62 (`0.062 * 10 = 0.62`).", "The share was 0.62 (`0.062 * 10 = 0.62`).", []),
        ("The share was 25 % (`(30 - 24) / 24 * 100 = 25 %`).", "`(30 - 24) / 24 * 100 = 25 %`)", []),
        ("Die Summe war 1.234 (`1.000 + 234 = 1.234`).", "(`1.000 + 234 = 1.234`).", []),
        ("Half of it was 10 (`50 % * 20 = 10`).", "(`50 % * 20 = 10`).", []),
        ("A wrong sum (`2 + 2 = 5`).", "A wrong sum (`2 + 2 = 5` [?]).", ["5"]),
        ("The value M is 7 (`2 + 4 = 7`).", "The value M is 7 [?] (`2 + 4 = 7` [?]).", ["7"]),
        ("It had 4 and 6 ports (`2 + 4 = 7`) [1](s.csv).", "It had 4 and 6 ports (`2 + 4 = 7` [?]) [1]", ["7"]),
    ],
)
async def test_a_calculation_is_its_own_source_where_right_and_marked_where_wrong(
    act: Act, folder: Path, claim: str, text: str, doubts: list[str]
) -> None:
    (folder / "s.csv").write_text("2,4,6\n")
    made, written = await completed(act, folder, claim)
    assert (made["unsourced"], [one["value"] for one in made["doubts"]]) == ([], doubts)
    assert text in written


@pytest.mark.parametrize(
    "plan",
    [
        "Next: ask the 12 regions of the board again.", "**Next:** look. Then ask the board.",
        "The person may decide to index longer station series.", "You can now decide: 40 stations, or 50.",
        "Next, the longer series of the stations are compared.",
    ],
)  # fmt: skip
async def test_an_outlook_is_no_claim(act: Act, folder: Path, plan: str) -> None:
    made, _ = await completed(act, folder, f"It all began without a source. {plan}")
    assert made["unsourced"] == ["It all began without a source."]


async def test_what_comes_next_is_a_claim_before_other_claims(act: Act, folder: Path) -> None:
    made, _ = await completed(act, folder, "Next, the enzyme binds to the water. Then it all ends there.")
    assert made["unsourced"] == ["Next, the enzyme binds to the water.", "Then it all ends there."]


@pytest.mark.parametrize("value", ["0.067", "67", "6.7"])
async def test_a_number_inside_of_a_name_is_no_number_of_the_source(act: Act, folder: Path, value: str) -> None:
    (folder / "s.csv").write_text("name,share\nS067,12.5\n12kg,1350\n")
    made, _ = await completed(act, folder, f"The share was {value} of 12 kg, 12.5 or 1,350 [1](s.csv).")
    assert [one["value"] for one in made["doubts"]] == [value]


async def test_texts_are_compared_without_writing_a_report(act: Act, folder: Path) -> None:
    found = await act(
        "compare",
        texts=["East returned 26.14 % [1]. South returned 99.9 %.", "In all 1,200 came."],
        references=[{"source": "orders.xlsx", "number": 1, "quote": "East 26.14"}],
        known="In all 1200 came.",
    )
    assert [one["value"] for one in found.unwrap()["doubts"]] == ["99.9"]
    assert found.unwrap()["texts"][0] == "East returned 26.14 % [1]. South returned 99.9 % [?]."
    assert list(folder.iterdir()) == []


def birds(folder: Path) -> None:
    """Write a table with any number up to 90 in some cell."""
    kinds = ["Gentoo"] * 40 + ["Adelie"] * 30 + ["Chinstrap"] * 20
    rows = [f"{2007 + at % 3}/01/0{1 + at % 9},{kind},{at + 1},{170 + at}.5" for at, kind in enumerate(kinds)]
    (folder / "birds.csv").write_text(
        "\n".join(["day,species,nest,flipper_length_mm", *rows]).replace("2007/01/01", "2006/12/31", 1)
    )


@pytest.mark.parametrize(
    ("claim", "doubts"),
    [
        ("There are 40 Gentoo, 30 Adelie and 20 Chinstrap, 90 in all", []),
        ("There are 40 Gentoo, 30 Adelie and 77 Chinstrap, 90 in all", ["77"]),
        ("There are 77 birds", ["77"]),
        ("There are 30 Gentoo, 40 Adelie and 20 Chinstrap", ["30", "40"]),
        ("In 2007 there were 29, in 2008 30 and in 2009 29 birds", ["29"]),
        ("Gentoo and Adelie are 40 and 30", []),
        ("Of 90 birds 40 are Gentoo, more than Adelie, which are 30", []),
        ("There are 40 Gentoo, fewer than the 70 of Gentoo and Adelie", []),
        ("The Gentoo and the Adelie are 70 together", []),
        ("In 2008 there were 30 birds, and 13 Gentoo", []),
        ("In 2008 there were 41 Gentoo", ["41"]),
        ("Flippers have a length from 170.5 to 259.5 mm", []),
        ("The Adelie have a flipper length from 210.5 mm, or about 240 mm", []),
        ("The Adelie have a flipper length from 211.5 mm", ["211.5"]),
        ("There are 3 species in the table", []),
        ("Of the 4 columns one is empty", []),
        ("The first has flippers of 170.5 mm, the longest are of 259.5 mm, others of 200.5 mm", ["200.5"]),
        ("Gentoo such as that of 31 December 2006 are 40", []),
    ],
)
async def test_a_large_table_tells_its_counts_and_not_each_of_its_cells(
    act: Act, folder: Path, claim: str, doubts: list[str]
) -> None:
    birds(folder)
    made, _ = await completed(act, folder, f"{claim} [1](birds.csv).")
    assert [one["value"] for one in made["doubts"]] == doubts


async def test_a_table_of_very_many_cells_is_read_as_any_text(act: Act, folder: Path) -> None:
    (folder / "s.json").write_text(json.dumps([{f"k{n}": 100_000 + n * n % 9_973} for n in range(800)]))
    (folder / "s.tsv").write_text(
        "a" + "\t" * 800 + "\n" + "".join(f"b\t{10_000 + n * n % 9_973}\n" for n in range(800))
    )
    made, _ = await completed(act, folder, "It measured 102500 [1](s.json).", "It measured 12500 [1](s.tsv).")
    assert made["doubts"] == []


async def test_numbers_of_a_long_list_are_compared_with_a_large_table_at_once(act: Act, folder: Path) -> None:
    (folder / "s.csv").write_text("name,size\n" + "".join(f"n{n},{n * 7.5}\n" for n in range(100)))
    begun = time.process_time()
    made, _ = await completed(act, folder, f"Sizes are {' '.join(str(5000 + n) for n in range(1_200))} [1](s.csv).")
    assert time.process_time() - begun < 5
    assert {(one["value"], *one["sources"]) for one in made["doubts"]} >= {("5000", 1), ("5150", 1)}


async def test_a_result_over_a_large_table_is_known_and_cells_of_it_are_not(act: Act, folder: Path) -> None:
    birds(folder)
    whole = (folder / "birds.csv").read_text()
    quotes = [{"source": "birds.csv", "quote": one} for one in ("young: 21", whole)]
    for claim, doubts in (("There are 21 young birds", []), ("There are 26 young birds", ["26"])):
        piece = {"text": f"{claim} [1](birds.csv).", "references": quotes, "report": str(len(doubts))}
        (await act("add", **piece)).unwrap()
        made = (await act("complete", report=piece["report"], name=f"r{len(doubts)}")).unwrap()
        assert [one["value"] for one in made["doubts"]] == doubts


async def test_cells_of_a_large_table_count_where_the_claim_singles_out_their_row(act: Act, folder: Path) -> None:
    rows = [f"Town {chr(65 + at // 26)}{chr(65 + at % 26)},{at + 1},{300 + at * 7}" for at in range(100)]
    (folder / "towns.csv").write_text("\n".join(["town,parks,people", *rows]))
    claims = ["Town BC has 29 parks", "Town BC has 30 parks", "One with 496 people", "One town has 29 parks"]
    text = " ".join(f"{one} [1](towns.csv)." for one in claims)
    made, _ = await completed(act, folder, text)
    assert [one["value"] for one in made["doubts"]] == ["30", "496", "29"]


@pytest.mark.parametrize("ragged", [False, True])
async def test_tables_without_a_header_and_with_rows_cut_short_tell_their_size(
    act: Act, folder: Path, ragged: bool
) -> None:
    rows = [f"{'AB'[at % 2]}{at:03}\tTown of {at}{chr(9) * ragged}{'x' * (at % 3 == 0 and ragged)}" for at in range(60)]
    (folder / "t.tab").write_text("# towns\n" + "\n".join(rows))
    made, _ = await completed(act, folder, "There are 60 towns, and 17 rivers [1](t.tab).")
    assert [one["value"] for one in made["doubts"]] == ["17"]


async def test_no_file_outside_of_the_workspace_is_read_as_evidence(
    act: Act, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.txt").write_text("The pin is 48151623.")
    (folder / "link.txt").symlink_to(outside / "secret.txt")
    made = list[Any]()
    for number, source in enumerate([f"{outside}/secret.txt", f"file://{outside}/secret.txt", "link.txt"]):
        pieces = [{"text": f"The pin is {pin} [1]({source}).", "report": f"r{number}"} for pin in (48151623, 48151624)]
        for one in pieces:
            (await act("add", **one)).unwrap()
        made.append((await act("complete", title="T", report=f"r{number}", replace=True)).unwrap())
    assert [(one["doubts"], one["missing"], len(one["references"])) for one in made] == [([], [], 1)] * 3


async def test_no_piece_is_kept_or_read_through_a_link_out_of_the_workspace(
    act: Act, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (folder / ".reports").symlink_to(outside)
    for action, arguments in (("add", {"text": "x"}), ("complete", {})):
        assert "outside of the workspace" in str((await act(action, **arguments)).error)
    (folder / ".reports").unlink()
    (folder / ".reports" / "report").mkdir(parents=True)
    (outside / "0001.json").write_text('{"content": "secret", "summary": ""}')
    (folder / ".reports" / "report" / "0001.json").symlink_to(outside / "0001.json")
    assert "outside of the workspace" in str((await act("complete")).error)
    assert [one.name for one in outside.iterdir()] == ["0001.json"]


async def test_a_folder_that_becomes_a_link_meanwhile_takes_no_report_out_of_the_workspace(
    act: Act, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (folder / "d").mkdir()
    await act("add", text="x")
    with swapping(folder / "d", outside):
        for number in range(60):
            await act("complete", title="T", name=f"d/{number}")
    await act("complete", title="T", name="d/last")
    assert list(outside.iterdir()) == []
    assert list((folder / "d").iterdir())


async def test_a_figure_that_becomes_a_link_meanwhile_is_none_from_outside(
    act: Act, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (folder / "d").mkdir()
    (folder / "d" / "a.png").write_bytes(b"no picture")
    Image.new("RGB", (8, 8)).save(outside / "a.png")
    await act("add", text="![own](d/a.png)")
    with swapping(folder / "d", outside):
        for _ in range(150):
            made = (await act("complete", title="T", name="r", formats=["pdf"], replace=True)).unwrap()
            assert len(made["notes"]) == 1, made


@pytest.mark.parametrize("content", ["large", "postscript"])
async def test_a_page_embeds_no_huge_picture_and_none_of_another_form_than_it_reads_itself(
    act: Act, folder: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    opened: list[object] = []
    image = importlib.import_module("reportlab.platypus").Image
    monkeypatch.setattr("reportlab.platypus.Image", lambda data: opened.append(data) or image(data))
    if content == "large":
        Image.new("1", (9_000, 9_000)).save(folder / "a.png")
    else:
        (folder / "a.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n%%EOF\n")
    await act("add", text="![own](a.png)")
    made = (await act("complete", title="T", name="r", formats=["pdf"])).unwrap()
    assert made["notes"] == ["a.png is not in the PDF: it cannot be read as a picture."]
    assert opened == []


async def test_a_picture_that_stands_in_a_report_very_often_is_not_read_so_often(act: Act, folder: Path) -> None:
    Image.new("1", (6_000, 6_000)).save(folder / "a.png")
    (folder / "b.png").write_bytes(bytes(1_000_000))
    await act("add", text="![a](a.png)\n\n" * 8 + "![b](b.png)\n\n" * 101)
    made = (await act("complete", title="T", name="r", formats=["html", "pdf"])).unwrap()
    assert made["notes"].count("a.png is not in the PDF: it cannot be read as a picture.") == 3
    assert "b.png is not embedded: it is too large." in made["notes"]
    assert (folder / "r.html").stat().st_size < 10_000_000


async def test_a_source_cited_by_its_short_name_is_the_one_with_this_address(act: Act, folder: Path) -> None:
    address = "file:///docs/bikes_utrecht.md"
    text = f"Utrecht spends 55 million [1](<{address}>). So 55 million it is in Utrecht [1](bikes_utrecht.md)."
    piece = {"text": text, "references": [{"source": address, "quote": "Utrecht spends 55 million."}]}
    made, words = await completed(act, folder, piece)
    assert ([one["number"] for one in made["references"]], made["doubts"], made["missing"]) == ([1], [], [])
    assert "[?]" not in words


async def test_a_short_name_of_two_sources_stays_as_it_is(act: Act, folder: Path) -> None:
    quoted = [{"source": f"file:///{one}/a.md", "quote": "It is 5."} for one in ("x", "y")]
    made, _ = await completed(act, folder, {"text": "It is 5 there, they say [3](a.md).", "references": quoted})
    assert made["missing"] == ["a.md"]


@pytest.mark.parametrize("heading", ["## Summary", "# 1. Answer", "**Zusammenfassung**"])
async def test_a_summary_that_repeats_cited_claims_needs_no_source(act: Act, folder: Path, heading: str) -> None:
    told = "Utrecht spends 55 million euros on its cycling paths every year [1](https://e.org)."
    summary = "The city of Utrecht spends 55 million euros each year. Its paths are the best of all Europe by far."
    piece = {"text": f"{heading}\n\n{summary}\n\n## Money\n\n{told}"}
    made, _ = await completed(act, folder, {**piece, "references": [{"source": "https://e.org", "quote": told}]})
    assert made["unsourced"] == ["Its paths are the best of all Europe by far."]


@pytest.mark.parametrize(
    "heading",
    [
        "## Further steps", "## Suggested next steps", "**Next steps**", "**Next steps:**", "Further steps:",
        "You may decide:", "## Future work", "## Weitere Schritte",
    ],
)  # fmt: skip
async def test_suggested_steps_need_no_source(act: Act, folder: Path, heading: str) -> None:
    steps = "- Compare the budgets of Delft and Utrecht with each other.\n- Read the plans of both cities."
    made, _ = await completed(act, folder, f"It rained [1](https://e.org).\n\n{heading}\n\n{steps}")
    assert made["unsourced"] == []


@pytest.mark.parametrize("opening", ["In", "Now", "The", "For", "Only", "Unlike"])
async def test_the_word_before_a_name_at_the_beginning_is_no_part_of_the_name(
    act: Act, folder: Path, opening: str
) -> None:
    quoted = [{"source": "https://e.org", "quote": "Utrecht spends 55 million."}]
    text = f"{opening} Utrecht 55 million are spent [1](https://e.org). {opening} Delft it is less [1](https://e.org)."
    made, _ = await completed(act, folder, {"text": text, "references": quoted})
    assert [one["value"] for one in made["doubts"]] == ["Delft"]


@pytest.mark.parametrize(
    ("claims", "doubts"),
    [
        ("Lamps 19.3 %, kettles 8.3 % and chairs 7.7 % [1](s.csv).", []),
        ("Lamps 19.3 %, kettles 8.2 % and chairs 7.8 % [1](s.csv).", ["8.2", "7.8"]),
        ("East sold for 23,884.00, 17.6 % more than West (20,313.00) [1](s.csv).", []),
        ("East sold for 23,884.00, 18.6 % more than West (20,313.00) [1](s.csv).", ["18.6"]),
        ("East sold for 23,884, West for 20,313, so 3,571 less [1](s.csv).", []),
        ("Lamps: 19.27 %, kettles: 8.29 % [1](s.csv). That is 2.3 times as often [1](s.csv).", []),
        ("Lamps: 19.27 %, kettles: 8.29 % [1](s.csv). That is 2.4 times as often [1](s.csv).", ["2.4"]),
        ("Lamps: 19.27 % [1](s.csv). There it is 2.3 times as often as here [1](s.csv).", ["2.3"]),
    ],
)
async def test_roundings_and_simple_arithmetic_of_computed_results_are_known(
    act: Act, folder: Path, claims: str, doubts: list[str]
) -> None:
    (folder / "s.csv").write_text("\n".join(["product,units", *(f"lamp,{at}" for at in range(600))]))
    told = "Lamps 154 of 799 (19.27 %); kettles 8.29 %; chairs 7.73 %. East 23,884.00, West 20,313.00."
    piece = {"text": claims, "references": [{"source": "s.csv", "quote": told}]}
    made, text = await completed(act, folder, piece)
    assert [one["value"] for one in made["doubts"]] == doubts
    assert ("neither stands in the cited source nor follows from what was computed from it." in text) == bool(doubts)


async def test_a_figure_that_is_not_there_is_told(act: Act, folder: Path) -> None:
    (folder / "here.png").write_bytes(b"png")
    body = "![a](here.png) ![b](gone/rates.png) ![c](<no here.png>) ![d](https://e.org/d.png) `![e](code.png)`"
    made, text = await completed(act, folder, body)
    assert made["missing"] == ["gone/rates.png", "no here.png"]
    assert "Cited, and not there: gone/rates.png, no here.png." in text


@pytest.mark.parametrize("link", ["![a]({})", "It grew by a lot in that year [1]({})."])
async def test_a_name_too_long_for_any_file_is_one_that_is_not_there(act: Act, folder: Path, link: str) -> None:
    name = f"{'a' * 300}.png"
    made, _ = await completed(act, folder, link.format(name))
    assert made["missing"] == [name]
