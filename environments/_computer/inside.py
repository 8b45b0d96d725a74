"""Inside: the desktop's program in the sandbox. It starts an X server, and obeys the host.

It needs the standard library alone, and the programs of the system that `desktop.py` names. Everything here, what it
answers too, is in the hands of the opened programs, so the host takes an answer for untrusted data.
"""

import base64
import json
import os
import re
import resource
import secrets
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

WORKSPACE = "/workspace"
READY = "ready.txt"
SOCKET, TABLE = "/tmp/desk.sock", "/tmp/screen.pgm"
FRAMES, AUTHORITY, CONFIG = "/tmp/frames", "/tmp/authority", "/tmp/config"
HOME, RUNTIME, SOCKETS = "/tmp/home", "/tmp/runtime", "/tmp/.X11-unix"
WINDOW_SECONDS, MANAGER_SECONDS = 20.0, 10.0
LEAST_SECONDS, STILL_SECONDS, MOST_SECONDS = 0.3, 0.25, 3.0
LOOK_SECONDS = 0.05
PROGRAM_SECONDS = 20.0
ENDING_SECONDS = 0.3
KEY_MILLISECONDS = "8"
DRAG_STEPS = 10
MOST_ENDED = 20
SCALE = 2  # letters of a screen are smaller than those which tesseract was made for
KEYS = {"\n": "Return", "\t": "Tab"}
BUTTONS = {"left": "1", "middle": "2", "right": "3"}
SERVER = ("-nolisten", "tcp", "-nolisten", "local", "-noreset", "-r", "-dpi", "96")  # `-r`: no key repeats itself
MANAGER = """<?xml version="1.0"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
<focus><focusNew>yes</focusNew><followMouse>no</followMouse></focus>
<desktops><number>1</number><popupTime>0</popupTime></desktops>
<keyboard><keybind key="A-F4"><action name="Close"/></keybind></keyboard>
<mouse>
<context name="Client"><mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
<mousebind button="Right" action="Press"><action name="Focus"/><action name="Raise"/></mousebind></context>
<context name="Titlebar">
<mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
<mousebind button="Left" action="Drag"><action name="Move"/></mousebind></context>
<context name="Close"><mousebind button="Left" action="Click"><action name="Close"/></mousebind></context>
</mouse>
<applications><application class="*" type="normal"><maximized>yes</maximized></application></applications>
</openbox_config>
"""
TOOLKIT = """[Settings]
gtk-cursor-blink=false
gtk-enable-animations=false
gtk-recent-files-enabled=false
"""
_PIECE = re.compile(r"[\n\t]|[^\n\t]{1,500}")
_SPACE_LEFT = re.compile(r"keycode\s+(\d+)\s*=\s*((?:(?:NoSymbol|XF86\w+)\s*)*)$", re.MULTILINE)
_WINDOW = re.compile(r'Window id: (0x[0-9a-f]+) (?:"(.*)"|\(has no name\))\n\s*\n', re.DOTALL)
_NUMBER = re.compile(r"^\s*(Absolute upper-left X|Absolute upper-left Y|Width|Height):\s*(-?\d+)$", re.MULTILINE)


class Refused(Exception):
    """A failure, in words for the host."""


class Desk:
    """A display with its programs.

    Args:
        width: Pixels.
        height: Pixels.
    """

    def __init__(self, width: int, height: int, language: str) -> None:
        self.width, self.height, self.language = width, height, language
        self.env = _environment()
        self.programs: dict[str, subprocess.Popen[bytes]] = {}
        self.ended: list[dict[str, Any]] = []
        self.letters: dict[str, str] = {}  # by letter, the key that was given to it, the oldest first
        self.keys: list[str] = []

    def start(self) -> subprocess.Popen[bytes]:
        """Start the X server and the window manager, and return the server."""
        _prepare()
        reader, writer = os.pipe()
        screen = ("-screen", "0", f"{self.width}x{self.height}x24", "-fbdir", FRAMES)
        line = ["Xvfb", "-displayfd", str(writer), "-auth", AUTHORITY, *screen, *SERVER]
        server = subprocess.Popen(line, env=self.env, pass_fds=(writer,), stdin=subprocess.DEVNULL)
        os.close(writer)
        with os.fdopen(reader) as told:
            number = told.readline().strip()
        if not number.isdigit():
            sys.exit("the X server did not start")
        self.env["DISPLAY"] = f":{number}"
        subprocess.Popen(["openbox"], env=self.env, stdin=subprocess.DEVNULL)
        until = time.monotonic() + MANAGER_SECONDS
        while "window id" not in self.told("xprop", "-root", "_NET_SUPPORTING_WM_CHECK"):
            if time.monotonic() > until:
                sys.exit("the window manager did not start")
            time.sleep(LOOK_SECONDS)
        self.keys = [one[1] for one in _SPACE_LEFT.finditer(self.told("xmodmap", "-pke"))]
        return server

    def told(self, *line: str, data: str | None = None) -> str:
        """Run a program of the system, and return its output."""
        given = None if data is None else data.encode()
        done = subprocess.run(
            line, env=self.env, input=given, capture_output=True, check=False, timeout=PROGRAM_SECONDS
        )
        if done.returncode:
            words = " ".join(done.stderr.decode("utf-8", "replace").split())[-200:]
            raise Refused(f"{line[0]}: {words}")
        return done.stdout.decode("utf-8", "replace")

    def open(self, program: str, arguments: list[str]) -> None:
        """Start a program, and wait for its window."""
        before, found = {one["id"] for one in self.windows()}, shutil.which(program)
        if found is None:
            raise Refused(f"{program} is not in the sandbox")
        made = subprocess.Popen(
            [found, *arguments], env=self.env, cwd=WORKSPACE, stdin=subprocess.DEVNULL, start_new_session=True
        )
        self.programs[f"{program} {made.pid}"] = made
        until = time.monotonic() + WINDOW_SECONDS
        while made.poll() is None and time.monotonic() < until:
            self.wake()
            if {one["id"] for one in self.windows()} - before:
                return
            time.sleep(LOOK_SECONDS)

    def click(self, x: int, y: int, button: str, times: int) -> None:
        """Click at a pixel."""
        repeat = ("--repeat", str(times), "--delay", "60")
        self.told("xdotool", "mousemove", str(x), str(y), "click", *repeat, BUTTONS[button])

    def move(self, x: int, y: int) -> None:
        """Move the pointer to a pixel."""
        self.told("xdotool", "mousemove", str(x), str(y))

    def drag(self, points: list[list[int]]) -> None:
        """Move the pointer with the left button held."""
        (x, y), (to_x, to_y) = points
        line = ["xdotool", "mousemove", str(x), str(y), "mousedown", "1"]
        for step in range(1, DRAG_STEPS + 1):
            at = x + (to_x - x) * step // DRAG_STEPS, y + (to_y - y) * step // DRAG_STEPS
            line += ["mousemove", *map(str, at), "sleep", "0.02"]
        self.told(*line, "mouseup", "1")

    def scroll(self, x: int, y: int, steps: int, sideways: bool) -> None:
        """Turn the wheel at a pixel."""
        button = ("7" if steps > 0 else "6") if sideways else ("5" if steps > 0 else "4")
        self.told("xdotool", "mousemove", str(x), str(y), "click", "--repeat", str(abs(steps)), "--delay", "30", button)

    def press(self, keys: str) -> None:
        """Press keys together."""
        self.told("xdotool", "key", keys)

    def type(self, text: str) -> None:
        """Type a text, with letters missing on the keyboard too.

        A key keeps its letter until there is no other left: a program looks letters up when it comes to the event, so
        one that was given another letter meanwhile would be read wrong.
        """
        for part in _parts(text, len(self.keys)):
            self._give_keys({one for one in part if not one.isascii()})
            for piece in _PIECE.findall(part):
                if piece in KEYS:
                    self.told("xdotool", "key", KEYS[piece])
                else:
                    self.told("xdotool", "type", "--delay", KEY_MILLISECONDS, "--file", "-", data=piece)

    def _give_keys(self, wanted: Iterable[str]) -> None:
        given = sorted(set(wanted) - self.letters.keys())
        if len(self.letters) + len(given) > len(self.keys):
            self.settle()  # so that letters typed before have been looked up
        for one in given:
            if len(self.letters) < len(self.keys):
                self.letters[one] = self.keys[len(self.letters)]
            else:
                oldest = next(known for known in self.letters if known not in wanted)
                self.letters[one] = self.letters.pop(oldest)
        if given:
            lines = [f"keycode {self.letters[one]} = U{ord(one):04X} U{ord(one):04X}" for one in given]
            self.told("xmodmap", "-", data="\n".join(lines) + "\n")
            self.settle()

    def focus(self, window: str) -> None:
        """Bring a window to the front."""
        self.told("xdotool", "windowactivate", "--sync", window)

    def close(self, window: str, force: bool) -> None:
        """Ask the window in front, or a named one, to close; or end its program."""
        if force:
            self.told("xdotool", "windowkill", window)
            return
        self.focus(window)
        self.told("xdotool", "key", "alt+F4")

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        time.sleep(seconds)

    def settle(self) -> None:
        """Wait until the screen stands still."""
        self.wake()
        time.sleep(LEAST_SECONDS)
        start = changed = time.monotonic()
        seen = zlib.crc32(self.pixels())
        while (now := time.monotonic()) - changed < STILL_SECONDS and now - start < MOST_SECONDS:
            self.wake()
            time.sleep(LOOK_SECONDS)
            if (found := zlib.crc32(self.pixels())) != seen:
                seen, changed = found, time.monotonic()

    def wake(self) -> None:
        """Wake the window manager by a change of the root window."""
        # It sleeps on events that it has received while starting until any other comes.
        self.told("xprop", "-root", "-f", "_WAKE", "32c", "-set", "_WAKE", "1")

    def windows(self) -> list[dict[str, Any]]:
        """Return the windows from the front one to the last, each with id, title and place."""
        listed = re.findall(r"0x[0-9a-f]+", self.told("xprop", "-root", "_NET_CLIENT_LIST_STACKING"))
        (active,) = re.findall(r"0x[0-9a-f]+", self.told("xprop", "-root", "_NET_ACTIVE_WINDOW"))[:1] or [""]
        found: list[dict[str, Any]] = []
        for one in reversed(listed):
            with suppress(Refused):  # it closed meanwhile
                words = self.told("xwininfo", "-id", one)
                title, places = _WINDOW.search(words), dict(_NUMBER.findall(words))
                x, y, width, height = (int(places[name]) for name in places)
                place = {"x": x, "y": y, "width": width, "height": height}
                found.append(
                    {
                        "id": one,
                        "title": (title[2] or "") if title else "",
                        **place,
                        "focused": int(one, 16) == _id(active),
                    }
                )
        return found

    def pixels(self) -> bytes:
        """Return the screen, four bytes for a pixel: blue, green, red and nothing."""
        dump = Path(FRAMES, "Xvfb_screen0").read_bytes()
        head = struct.unpack(">25I", dump[:100])
        start, size = head[0] + head[19] * 12, self.width * self.height * 4
        return dump[start : start + size]

    def picture(self) -> str:
        """Return the screen, three bytes for a pixel, compressed and in base64."""
        found = self.pixels()
        colours = bytearray(len(found) // 4 * 3)
        colours[0::3], colours[1::3], colours[2::3] = found[2::4], found[1::4], found[0::4]
        return base64.b64encode(zlib.compress(bytes(colours), 1)).decode()

    def words(self) -> str:
        """Return the table of tesseract for the screen, in its own pixels times `SCALE`."""
        green, rows = self.pixels()[1::4], list[bytes]()
        for row in range(self.height):
            wide = bytearray(self.width * SCALE)
            for shift in range(SCALE):
                wide[shift::SCALE] = green[row * self.width : (row + 1) * self.width]
            rows += [bytes(wide)] * SCALE
        Path(TABLE).write_bytes(f"P5 {self.width * SCALE} {self.height * SCALE} 255\n".encode() + b"".join(rows))
        return self.told("tesseract", TABLE, "-", "-l", self.language, "--psm", "11", "tsv")

    def gone(self) -> list[dict[str, Any]]:
        """Return the opened programs with an end since the last question."""
        for name, one in list(self.programs.items()):
            if (code := one.poll()) is not None:
                del self.programs[name]
                self.ended.append({"program": name.partition(" ")[0], "exit": code})
        told, self.ended = self.ended[:MOST_ENDED], []
        return told

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Carry out a request, and return the windows, and the screen if it is wanted."""
        done, wanted = request.pop("do"), request.pop("look")
        if done:
            getattr(self, done)(**request)
            self.settle()
        if (ended := self.gone()) and not done:
            self.settle()  # so that their windows have gone too
        told: dict[str, Any] = {"windows": self.windows(), "ended": ended}
        if wanted:
            told["picture"] = self.picture()
        if wanted == "words" and shutil.which("tesseract") is not None:
            told["words"] = self.words()
        return told


def main() -> None:
    """Serve the host until the X server ends."""
    told = json.loads(sys.argv[1])
    _limit(told["limits"])
    desk = Desk(told["width"], told["height"], told["language"])
    server = desk.start()
    threading.Thread(target=lambda: (server.wait(), os._exit(0)), daemon=True).start()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(SOCKET)
        listening.listen()
        Path("/tmp/ready.part").write_text(f"{SOCKET}\n")
        os.rename("/tmp/ready.part", f"/tmp/{READY}")
        while True:
            near, _ = listening.accept()
            with near, suppress(OSError):
                answer = _answered(desk, near)
                if "refused" in answer and _has_ended(server):  # the reason it could not be done
                    os._exit(0)
                near.sendall(json.dumps(answer).encode())


def _has_ended(server: subprocess.Popen[bytes]) -> bool:
    """Return whether the X server has ended, or does so in a moment."""
    try:
        server.wait(ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _answered(desk: Desk, near: socket.socket) -> dict[str, Any]:
    try:
        with near.makefile("r", encoding="utf-8") as lines:
            return desk.answer(json.loads(lines.readline()))
    except (Refused, OSError, ValueError, subprocess.SubprocessError) as error:
        return {"refused": str(error)[:400] or type(error).__name__}


def _limit(limits: dict[str, int]) -> None:
    """Hold this process, and so all opened programs, to the operator's limits."""
    for which, most in (
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_FSIZE, limits["bytes"]),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(which, (most, most))


def _environment() -> dict[str, str]:
    """Return the environment of the opened programs: a home of their own, no bus, no telemetry of the toolkit."""
    return {
        **os.environ,
        "HOME": HOME,
        "XAUTHORITY": AUTHORITY,
        "XDG_CONFIG_HOME": CONFIG,
        "XDG_RUNTIME_DIR": RUNTIME,
        "DBUS_SESSION_BUS_ADDRESS": "unix:path=/dev/null",
        "GSETTINGS_BACKEND": "memory",
        "NO_AT_BRIDGE": "1",
        "GTK_A11Y": "none",
        "QT_QPA_PLATFORM": "xcb",
        "LIBGL_ALWAYS_SOFTWARE": "1",
    }


def _prepare() -> None:
    """Write the folders and settings of the desktop, and the key to its display."""
    for one in (FRAMES, HOME, RUNTIME, SOCKETS, f"{CONFIG}/openbox", f"{CONFIG}/gtk-3.0"):
        os.makedirs(one, mode=0o700)
    Path(CONFIG, "openbox", "rc.xml").write_text(MANAGER)
    Path(CONFIG, "gtk-3.0", "settings.ini").write_text(TOOLKIT)
    name, key = b"MIT-MAGIC-COOKIE-1", secrets.token_bytes(16)
    fields = (b"", b"", name, key)  # of any address and number
    Path(AUTHORITY).write_bytes(b"\xff\xff" + b"".join(struct.pack(">H", len(one)) + one for one in fields))


def _parts(text: str, most: int) -> list[str]:
    """Return a text in parts, each with at most so many different letters beyond ASCII."""
    parts, seen = [""], set[str]()
    for letter in text:
        if not letter.isascii() and letter not in seen and len(seen) == most:
            parts.append("")
            seen.clear()
        if not letter.isascii():
            seen.add(letter)
        parts[-1] += letter
    return parts


def _id(text: str) -> int:
    return int(text, 16) if text else -1
