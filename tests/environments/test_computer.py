"""Test the computer environment: a real X server with an editor of Debian, and errors without them."""

import asyncio
import os
import shutil
import signal
import socket
import struct
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from environments._computer.reading import ended_of, windows_of, words_of
from environments.computer import Computer
from tea.errors import ToolError
from tea.platform import Platform
from tea.runs.policy import AllowTrusted

Act = Callable[..., Coroutine[Any, Any, Any]]

pytestmark = pytest.mark.asyncio(loop_scope="module")

EDITOR = "mousepad"
# More letters than there are keys to spare.
LETTERS = "".join(map(chr, range(0x4E00, 0x4E78)))
TEXT = f"Grüße, žluťoučký kůň:\n\tПривет, 日本!\nThe kettle costs forty crowns.\n{LETTERS}\n"
SECONDS = 120
TYPIST = '''
from tea import Agent, Context, Result, Task


class Typist(Agent):
    """Write a text with an editor, and read it there again."""

    environments = ("computer",)

    async def run(self, ctx: Context, task: Task) -> Result:
        """Type, save, close, open, and copy the text into another file."""
        computer = "environment:computer"

        async def act(action, **arguments):
            return (await ctx.ecp.invoke(f"{computer}#{action}", arguments)).unwrap()

        async def until(fits):
            for _ in range(200):
                if fits(seen := await act("windows")):
                    return seen["windows"][0]["title"] if seen["windows"] else ""
            return "in vain"

        def titled(words):
            return lambda seen: bool(seen["windows"]) and seen["windows"][0]["title"].startswith(words)

        await act("open", program="mousepad", arguments=["letter.txt"])
        await act("type_text", text=task.text[:100])
        await act("type_text", text=task.text[100:])
        titles = [await until(titled("*"))]
        await act("keys", combination="ctrl+s")
        titles.append(await until(titled("/workspace/letter.txt")))
        await act("close")
        await until(lambda seen: not seen["windows"])
        await act("open", program="mousepad", arguments=["letter.txt"])
        titles.append(await until(titled("/workspace/letter.txt")))
        state = (await ctx.ecp.state("computer")).unwrap()
        await act("keys", combination="ctrl+a")
        await act("keys", combination="ctrl+c")
        await act("open", program="mousepad", arguments=["copy.txt"])
        await act("keys", combination="ctrl+v")
        await until(titled("*"))
        await act("keys", combination="ctrl+s")
        titles.append(await until(titled("/workspace/copy.txt")))
        return Result(answer={"titles": titles, "words": [one["text"] for one in state["words"]]})
'''


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tea(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    folder = tmp_path_factory.mktemp("home")
    async with Platform(folder, policy=AllowTrusted(), state=folder / "state", trust_home=True) as made:
        yield made


@pytest.fixture
def act(tea: Platform, folder: Path) -> Act:
    async def act(action: str, session: str = folder.name, **arguments: Any) -> Any:
        return await tea.ecp.invoke(f"computer#{action}", arguments, session=session)

    return act


async def until(act: Act, fits: Callable[[dict[str, Any]], bool], action: str = "windows") -> dict[str, Any]:
    """Look until the windows fit, and return them."""
    async with asyncio.timeout(60):
        while not fits(seen := (await act(action)).unwrap()):
            pass
    return seen


def titled(words: str) -> Callable[[dict[str, Any]], bool]:
    return lambda seen: bool(seen["windows"]) and seen["windows"][0]["title"].startswith(words)


def is_ours(process: Path, program: str) -> bool:
    """Return whether a process below this one runs a program."""
    try:
        return (process / "comm").read_text() == f"{program}\n" and os.getpid() in above(int(process.name))
    except OSError:
        return False


def servers() -> list[Path]:
    """Return the X servers below this process."""
    return [one for one in Path("/proc").iterdir() if one.name.isdigit() and is_ours(one, "Xvfb")]


def above(process: int) -> list[int]:
    """Return a process's ancestors."""
    found: list[int] = []
    while process > 1:
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        found.append(process)
    return found


@pytest.mark.slow
async def test_a_text_is_typed_saved_and_there_again_when_its_file_is_opened(tea: Platform) -> None:
    await tea.acp.register(TYPIST)
    async with asyncio.timeout(SECONDS):
        outcome = await tea.run(TEXT, agent="typist")
    assert outcome.ok, outcome.reason
    folder = outcome.trace / "workspace"
    assert (folder / "letter.txt").read_text() == TEXT
    assert (folder / "copy.txt").read_text() == TEXT
    assert outcome.answer["titles"] == [
        "*/workspace/letter.txt - Mousepad",
        "/workspace/letter.txt - Mousepad",
        "/workspace/letter.txt - Mousepad",
        "/workspace/copy.txt - Mousepad",
    ]
    assert any("kettle costs forty" in one for one in outcome.answer["words"]), outcome.answer["words"]
    assert [one.read_bytes()[:4] for one in folder.glob("computer/*.png")] == [b"\x89PNG"]
    assert (await tea.replay(outcome.run)).to_json() == outcome.to_json()


@pytest.mark.slow
async def test_words_are_shown_with_their_places_and_clicked_there(act: Act, folder: Path) -> None:
    (await act("open", program=EDITOR)).unwrap()
    state = (await act("state")).unwrap()
    assert state["pixels"] == {"width": 1024, "height": 768}
    assert (folder / state["screenshot"]).read_bytes().startswith(b"\x89PNG")
    (menu,) = [one for one in state["words"] if one["text"] == "File"]
    (await act("click", x=menu["x"], y=menu["y"])).unwrap()
    shown = [one["text"] for one in (await act("state")).unwrap()["words"]]
    assert any("Save As" in one for one in shown), shown
    (await act("keys", combination="Escape")).unwrap()
    (await act("type_text", text="one two")).unwrap()
    (await act("drag", from_x=2, from_y=55, to_x=600, to_y=55)).unwrap()
    (await act("type_text", text="x")).unwrap()
    (await act("move", x=5, y=300)).unwrap()
    (await act("scroll", x=5, y=300, steps=-2)).unwrap()
    shown = [one["text"] for one in (await act("state")).unwrap()["words"]]
    assert not any("two" in one for one in shown), shown
    assert (await act("screenshot")).unwrap().startswith("computer/")


@pytest.mark.slow
async def test_a_window_is_brought_to_the_front_and_ended_by_force(act: Act) -> None:
    (await act("open", program=EDITOR, arguments=["one.txt"])).unwrap()
    seen = (await act("open", program=EDITOR, arguments=["two.txt"])).unwrap()
    assert ["two.txt" in one["title"] for one in seen["windows"]] == [True, False]
    other = seen["windows"][1]["id"]
    seen = (await act("focus", window=other)).unwrap()
    assert (seen["windows"][0]["id"], seen["windows"][0]["focused"]) == (other, True)
    (await act("type_text", text="not saved")).unwrap()
    (await act("close", window=other, force=True)).unwrap()
    seen = await until(act, lambda seen: len(seen["windows"]) == 1)
    assert "two.txt" in seen["windows"][0]["title"]
    assert "no window" in (await act("focus", window="0x1")).error["problem"]


@pytest.mark.slow
async def test_only_programs_of_the_operators_list_are_opened(act: Act) -> None:
    error = (await act("open", program="bash", arguments=["-c", "true"])).error
    assert "'bash' is not among the programs" in error["problem"]
    assert EDITOR in error["fix"]
    assert "[computer] of tea.toml" in error["fix"]
    assert "is not installed" in (await act("open", program="leafpad")).error["problem"]
    assert "21 arguments" not in (await act("open", program=EDITOR, arguments=["a"] * 21)).error["problem"]


@pytest.mark.slow
async def test_a_language_that_tesseract_lacks_is_told_with_the_package_that_brings_it(folder: Path) -> None:
    (folder / "tea.toml").write_text('[computer]\nlanguage = "eng+zzz_a"\n')
    async with Platform(folder, policy=AllowTrusted(), state=folder / "state", trust_home=True) as made:
        error = (await made.ecp.invoke("computer#windows", {}, session="s")).error
    assert error is not None
    assert "cannot be recognised in zzz_a: tesseract has eng" in error["problem"]
    assert "apt-get install tesseract-ocr-zzz-a" in error["fix"]


@pytest.mark.slow
async def test_an_editor_cannot_open_a_file_outside_of_the_workspace(act: Act, folder: Path) -> None:
    secret = folder / "planted.txt"
    secret.write_text("PLANTED WORDS OF ANOTHER\n" * 5)
    secret.chmod(0o644)
    (await act("open", program=EDITOR, arguments=[str(secret)])).unwrap()
    shown = (await act("state")).unwrap()
    assert shown["windows"]
    assert not any("ANOTHER" in one["text"] for one in shown["words"])
    (await act("keys", combination="Escape")).unwrap()
    (await act("type_text", text="PLANTED WORDS OF ANOTHER\n")).unwrap()  # which would have been recognised
    assert any("ANOTHER" in one["text"] for one in (await act("state")).unwrap()["words"])


@pytest.mark.slow
async def test_a_display_is_reached_by_its_key_alone_and_by_no_network(act: Act) -> None:
    (await act("windows")).unwrap()
    (await act("windows", session="another")).unwrap()
    found = servers()
    assert len(found) >= 2
    assert len({(one / "ns" / name).readlink() for one in found for name in ("net", "mnt")}) == 2 * len(found)
    for one in found:
        assert (one / "ns" / "net").readlink() != Path("/proc/self/ns/net").readlink()
        assert "0A" not in [row.split()[3] for row in (one / "net" / "tcp").read_text().splitlines()[1:]]
        assert [row.split(":")[0].strip() for row in (one / "net" / "dev").read_text().splitlines()[2:]] == ["lo"]
        status = (one / "status").read_text()
        assert os.geteuid() != 0 or "Uid:\t0\t" not in status
        assert "CapEff:\t0000000000000000" in status
        key = (one / "root" / "tmp" / "authority").read_bytes()[-16:]
        assert connected(one, key)
        assert not connected(one, b"")
        assert not connected(one, bytes(16))


def connected(server: Path, key: bytes) -> bool:
    """Return whether an X server accepts a connection with a key."""
    name = b"MIT-MAGIC-COOKIE-1" if key else b""
    with socket.socket(socket.AF_UNIX) as made:
        made.connect(str(server / "root" / "tmp" / ".X11-unix" / "X0"))
        head = struct.pack("<BxHHHHxx", ord("l"), 11, 0, len(name), len(key))
        made.sendall(head + name + bytes(-len(name) % 4) + key)
        return made.recv(1) == b"\x01"


@pytest.mark.slow
async def test_a_killed_server_is_one_clear_observation_and_the_next_call_has_a_new_one(act: Act) -> None:
    before = {*servers()}
    (await act("open", program=EDITOR)).unwrap()
    (server,) = {*servers()} - before
    os.kill(int(server.name), signal.SIGKILL)
    error = (await act("windows")).error
    assert "The desktop has crashed" in error["problem"]
    assert (await act("windows")).unwrap()["windows"] == []
    assert (await act("open", program=EDITOR)).unwrap()["windows"]


@pytest.mark.slow
async def test_a_killed_program_is_told_once(act: Act) -> None:
    (await act("open", program=EDITOR)).unwrap()
    for one in Path("/proc").iterdir():
        if one.name.isdigit() and is_ours(one, EDITOR):
            os.kill(int(one.name), signal.SIGKILL)
    seen = await until(act, lambda seen: "ended" in seen)
    assert seen["ended"] == [{"program": EDITOR, "exit": -9}]
    assert "ended" not in await until(act, lambda seen: not seen["windows"])


@pytest.mark.slow
async def test_nothing_is_left_when_its_platform_ends(folder: Path) -> None:
    before = {*servers()}
    async with Platform(folder / "home", policy=AllowTrusted(), state=folder / "state", trust_home=True) as tea:
        (await tea.ecp.invoke("computer#open", {"program": EDITOR}, session="short")).unwrap()
        own = {*servers()} - before
        assert own
    assert not [one for one in own if one.exists()]


HOST = """
import asyncio, sys
from tea import Platform
from tea.runs.policy import AllowTrusted

async def main():
    async with Platform(sys.argv[1], policy=AllowTrusted(), state=sys.argv[1] + "/state", trust_home=True) as tea:
        (await tea.ecp.invoke("computer#open", {"program": sys.argv[2]}, session="s")).unwrap()
        print("ready", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.slow
async def test_a_desktop_ends_with_its_host(folder: Path) -> None:
    before = {*servers()}
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", HOST, str(folder), EDITOR, stdout=PIPE)
    assert process.stdout is not None
    async with asyncio.timeout(SECONDS):
        assert await process.stdout.readline() == b"ready\n"
        own = {*servers()} - before
        assert own
        process.kill()
        await process.wait()
        while any(one.exists() for one in own):  # noqa: ASYNC110 - nobody tells of the end of another's child
            await asyncio.sleep(0.05)


async def test_without_its_programs_the_command_that_installs_them_is_told(
    act: Act, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = shutil.which
    monkeypatch.setattr(
        shutil, "which", lambda name, *more, **rest: None if name == "xdotool" else find(name, *more, **rest)
    )
    error = (await act("windows", session="none")).error
    assert error["problem"].endswith("needs xdotool, which is not installed.") or "Xvfb" in error["problem"]
    assert "apt-get install -y xvfb openbox xdotool" in error["fix"]


@pytest.mark.parametrize(
    ("action", "arguments", "words"),
    [
        ("click", {"x": 1024, "y": 5}, "The pixel 1024, 5 is not on the screen"),
        ("move", {"x": 1, "y": -1}, "is not on the screen"),
        ("drag", {"from_x": 1, "from_y": 1, "to_x": 1, "to_y": 768}, "is not on the screen"),
        ("click", {"x": 1, "y": 5, "times": 9}, "9 clicks"),
        ("type_text", {"text": ""}, "0 characters"),
        ("type_text", {"text": "x" * 4_001}, "4001 characters"),
        ("type_text", {"text": "a\x1b[0m"}, "No key types 0x1b"),
        ("keys", {"combination": "ctrl s; rm"}, "names no keys"),
        ("keys", {"combination": ""}, "names no keys"),
        ("scroll", {"x": 1, "y": 1, "steps": 0}, "0 steps"),
        ("wait", {"seconds": 31}, "31 seconds"),
        ("wait", {"seconds": float("nan")}, "nan seconds"),
    ],
)
async def test_what_cannot_be_done_is_one_clear_line(action: str, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ToolError, match=words) as raised:
        await getattr(Computer(), action)(**arguments)
    assert raised.value.fix


def row(line: int, place: tuple[int, int, int, int], text: str, sure: str = "91.5") -> str:
    return "\t".join(map(str, (5, 1, 1, 1, line, 1, *place, sure, text)))


async def test_words_near_each_other_are_a_phrase_with_its_middle_in_pixels() -> None:
    head = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"
    rows = [
        row(1, (20, 40, 60, 20), "Save"),
        row(1, (90, 40, 30, 20), "as"),
        row(1, (200, 40, 40, 20), "Edit"),
        row(2, (20, 90, 40, 20), "guess", "12"),
        row(2, (70, 90, 40, 20), "next"),
        "not\ta row",
    ]
    words = words_of({"words": "\n".join([head, *rows])})
    assert words == [
        {"text": "Save as", "x": 35, "y": 25},
        {"text": "Edit", "x": 110, "y": 25},
        {"text": "next", "x": 45, "y": 50},
    ]


@pytest.mark.parametrize("told", [None, 5, "x", [5, None], [{"id": {}, "x": "y", "title": ["x"]}], {}])
async def test_whatever_a_sandbox_tells_is_read_as_windows_and_words(told: Any) -> None:
    answer = {"windows": told, "words": told, "ended": told}
    assert all({*one} == {"id", "title", "x", "y", "width", "height", "focused"} for one in windows_of(answer))
    assert all(isinstance(one["exit"], int) for one in ended_of(answer))
    assert words_of(answer) == []
