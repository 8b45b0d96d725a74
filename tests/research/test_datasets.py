"""The description of datasets other than texts: pictures and PDF files, seen or read by parsers."""

import json
import shutil
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont
from research_kit import literature
from swapping import swapping

from tea.models.manager import ModelConfig

pytestmark = pytest.mark.asyncio(loop_scope="module")

WORDS = "Harbour of Oslo 1950"
OPENING = ".research.json"
DONE = {"objective": "", "tasks": []}


@pytest.fixture
def pictures(tmp_path: Path) -> list[Path]:
    """A photograph with metadata and letters, and the same as a scanned page."""
    image = Image.new("RGB", (600, 200), "white")
    ImageDraw.Draw(image).text((20, 60), WORDS, fill="black", font=ImageFont.load_default(48))
    about = image.getexif()
    about[0x010F] = "Lightbox"
    image.save(tmp_path / "map.png", exif=about)
    image.save(tmp_path / "scan.pdf")
    return [tmp_path / "map.png", tmp_path / "scan.pdf"]


def described(request: Any, count: int) -> Any:
    return {"descriptions": [{"name": one["name"], "description": "Seen."} for one in request.variables["datasets"]]}


async def test_pictures_and_scans_are_described_by_metadata_and_letters(
    lab: Any, pictures: list[Path]
) -> None:  # 003: 5
    lab.plays(plan_initial={"objective": "", "tasks": [literature()]}, plan_next=DONE, datasets=described)
    status = await lab.run(files=pictures)
    facts = {name: one["facts"] for name, one in status.state["datasets"].items()}
    assert facts["map.png"].startswith("png, ")
    letters = [WORDS] if shutil.which("tesseract") else ["`ocr` recognises"]  # a program of the system
    assert facts["map.png"].endswith("not looked at: no model that sees was shown it")
    assert "not looked at" not in facts["scan.pdf"]
    for words in ("width: 600", "height: 200", "Make: Lightbox", *letters):
        assert words in facts["map.png"]
    for words in ("pdf, ", "pages: 1", *letters):
        assert words in facts["scan.pdf"]
    (asked,) = lab.roles.asked("datasets")
    assert [part.type for one in asked.messages for part in one.content if part.type != "text"] == []


async def test_a_picture_whose_letters_cannot_be_recognised_is_described_by_its_metadata(
    lab: Any, pictures: list[Path]
) -> None:  # 003: 5
    lab.plays(plan_initial={"objective": "", "tasks": [literature()]}, plan_next=DONE, datasets=described)
    broken = pictures[0].with_name("broken.png")
    broken.write_bytes(pictures[0].read_bytes()[:200])
    status = await lab.run(files=[broken])
    facts = status.state["datasets"]["broken.png"]["facts"]
    assert "Make: Lightbox" in facts
    assert "Letters in it were not read" in facts


@pytest.mark.parametrize(
    ("senses", "shown"), [(("vision",), ["image"]), (("vision", "files"), ["image", "file"]), ((), [])]
)
async def test_a_model_that_sees_is_shown_what_it_describes(
    lab: Any, pictures: list[Path], senses: tuple[str, ...], shown: list[str]
) -> None:  # 003: 5
    lab.plays(plan_initial={"objective": "", "tasks": [literature()]}, plan_next=DONE, datasets=described)
    name = "seer-" + "-".join(senses)
    lab.tea.models.add(ModelConfig(name=name, provider="given", capabilities=("tools", *senses)), lab.roles)
    status = await lab.run(files=pictures, model=name)
    (asked,) = lab.roles.asked("datasets")
    assert [part.type for one in asked.messages for part in one.content if part.type != "text"] == shown
    assert {one["description"] for one in status.state["datasets"].values()} == {"Seen."}
    assert ("not looked at" in status.state["datasets"]["map.png"]["facts"]) == ("image" not in shown)


async def test_facts_about_a_file_are_read_as_a_stream(
    lab: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # 003: 5
    monkeypatch.chdir(tmp_path)
    line = "Oslo,700000\n"
    (tmp_path / "large.csv").write_text("city,people\n" + line * 2_000_000)
    await lab.tea.ecp.invoke("research#survey", {"name": "large.csv"})  # what is loaded once
    tracemalloc.start()
    try:
        found = (await lab.tea.ecp.invoke("research#survey", {"name": "large.csv"})).unwrap()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (found["lines"], found["columns"], found["bytes"]) == (2_000_001, ["city", "people"], 24_000_012)
    assert most < 8_000_000


async def test_a_folder_that_becomes_a_link_meanwhile_gives_no_facts_about_files_outside(
    lab: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.chdir(tmp_path)
    outside, found = tmp_path_factory.mktemp("outside"), set[str]()
    (tmp_path / "d").mkdir()
    for place, text in ((tmp_path / "d", "own"), (outside, "secret")):
        (place / "a.csv").write_text(f"{text},n\n1,2\n")
    with swapping(tmp_path / "d", outside):
        for _ in range(300):
            found.add(str((await lab.tea.ecp.invoke("research#survey", {"name": "d/a.csv"})).value))
    assert [one for one in found if "secret" in one] == []
    assert "own" in str((await lab.tea.ecp.invoke("research#survey", {"name": "d/a.csv"})).value)


async def test_a_start_that_becomes_a_link_meanwhile_is_none_from_outside(
    lab: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.chdir(tmp_path)
    outside, found = tmp_path_factory.mktemp("outside") / OPENING, set[str]()
    for place, text in ((tmp_path / OPENING, "own"), (outside, "secret")):
        place.write_text(json.dumps({"state": {"hypothesis": text}}))
    with swapping(tmp_path / OPENING, outside):
        for _ in range(300):
            found.add(str((await lab.tea.ecp.state("research")).value))
    assert [one for one in found if "secret" in one] == []
    assert "own" in str((await lab.tea.ecp.state("research")).value)


@pytest.mark.parametrize("name", ["cities", "Cities.csv", "data/cities.csv"])
async def test_a_description_under_a_name_without_its_ending_is_kept(lab: Any, cities: Path, name: str) -> None:
    lab.plays(plan_next=DONE, datasets={"descriptions": [{"name": name, "description": "Seen."}]})
    status = await lab.run(files=[cities])
    assert status.state["datasets"]["cities.csv"]["description"] == "Seen."


async def test_an_analysis_that_names_no_dataset_is_given_those_there_are(lab: Any, cities: Path) -> None:
    other = cities.with_name("rain.csv")
    other.write_text("city,rain\nOslo,763\n")
    plan = '{"tasks": [{"type": "analysis", "objective": "Sum rain.csv."}, {"type": "ANALYSIS", "objective": "Join."}]}'
    lab.plays(plan_initial=plan, plan_next={"tasks": []})
    status = await lab.run(files=[cities, other])
    found = [(one["objective"], sorted(one["datasets"])) for one in status.state["plan"].values()]
    assert found == [("Sum rain.csv.", ["rain.csv"]), ("Join.", ["cities.csv", "rain.csv"])]
    assert len(lab.roles.asked("plan")) == 2


async def test_tasks_of_a_plan_in_words_alone_are_carried_out(lab: Any, cities: Path) -> None:
    plan = {"objective": "Compare", "tasks": ["Compare Oslo and Rome in cities.csv.", "What drives growth?"]}
    lab.plays(plan_initial=plan, plan_next={"tasks": [], "done": True})
    status = await lab.run(files=[cities])
    assert [(one["type"], one["datasets"]) for one in status.state["plan"].values()] == [
        ("ANALYSIS", ["cities.csv"]),
        ("LITERATURE", []),
    ]
    assert len(lab.roles.asked("plan")) == 2


async def test_evidence_of_a_discovery_in_words_names_its_task(lab: Any) -> None:
    said = {"discoveries": [{"claim": "C", "evidence": ["lit-0-1: 3 percent", "(lit-1-1)"], "confidence": "very high"}]}
    lab.plays(discovery=said)
    status = await lab.run("full")
    first = status.state["discoveries"][0]
    assert first["evidence"] == [
        {"task": "lit-0-1", "explanation": "3 percent"},
        {"task": "lit-1-1", "explanation": ""},
    ]
    assert first["confidence"] == "high"
