"""Images, sounds and videos: their own metadata, letters in them, frames and sound as files."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import wave
from typing import Any, cast

from tea.reading.inside.document import Order, Parsed, Unreadable
from tea.reading.inside.parts import kept_part
from tea.reading.inside.recognition import is_installed, recognised

_INSTALL = "install it: apt-get install ffmpeg."
_SECONDS, _SECONDS_UNASKED = 25.0, 5.0
_FRAMES = 8
_FRAME_WIDTH = 768  # dots
_SOUND_SECONDS = 1_200  # of a sound that is taken out; at 4,000 bytes a second models take it
_MOST_PIXELS = 100_000_000
_SMALL_SIDE = 1_600  # of an image from a screen, whose letters are often lower than recognition needs
_ENLARGED = 2.0
_MOST_SIDE = 4_000
_EXIF = ("Make", "Model", "DateTime", "DateTimeOriginal", "ImageDescription", "Artist", "Copyright", "Software")
_EXIF_FOLDER, _GPS_FOLDER = 0x8769, 0x8825
_TAGS = ("title", "artist", "album", "date", "genre", "comment", "creation_time")
_OF_PROGRAM = re.compile(r"^(?:\[[^\]]*\]|\S*/\S*:)\s*")  # what ffprobe writes before its words: its part, or a path
_WORD, _FEWEST_WORDS = re.compile(r"[^\W_]{3,}"), 2  # that tell letters from what looks like some
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


def parse_image(order: Order, kind: str) -> Parsed:
    """Return size and EXIF data of an image, with `ocr` the letters in it too.

    Raises:
        Unreadable: It is damaged, too large, or its letters cannot be recognised here.
    """
    from PIL import Image, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = _MOST_PIXELS
    try:
        with Image.open(order.path) as image:
            facts = {"width": image.width, "height": image.height, "mode": image.mode, **_exif(image)}
            frames = int(getattr(image, "n_frames", 1))
            text = _letters(image, order, _SECONDS) if order.ocr else _letters_unasked(image, order)
    except UnidentifiedImageError as error:
        raise Unreadable("is damaged, or an image of an unknown kind", "save it as PNG or JPEG.") from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise Unreadable(f"has more than {_MOST_PIXELS // 1_000_000} million dots", "make it smaller.") from error
    except (OSError, ValueError, SyntaxError) as error:
        raise Unreadable(f"is a damaged image: {error}"[:200], "check the file, or get it again.") from error
    if frames > 1:
        facts["frames"] = frames
    lines = [f"- {name}: {value}" for name, value in facts.items()]
    if text or order.ocr:
        lines += ["", text or "(no letters were recognised)"]
    found = Parsed(kind=kind, text="\n".join(lines), facts=facts)
    if not text and not order.ocr:
        found.notes.append("Letters in it were not read; `ocr` recognises them.")
    return found


def _letters_unasked(image: Any, order: Order) -> str:
    """Return the text of an image no larger than a screen, empty for hardly a word, or without a reader."""
    if max(image.size) > _SMALL_SIDE or not is_installed():
        return ""
    try:
        text = _letters(image, order, _SECONDS_UNASKED)
    except (Unreadable, OSError, ValueError, SyntaxError):  # a damaged one still has its size
        return ""
    return text if len(_WORD.findall(text)) >= _FEWEST_WORDS else ""


def _letters(image: Any, order: Order, seconds: float) -> str:
    """Return the text recognised in an image; letters as small as on a screen are read at twice their size."""
    from PIL.Image import Resampling

    target = order.out / ".image.png"
    scale = _ENLARGED if max(image.size) <= _SMALL_SIDE else min(1.0, _MOST_SIDE / max(image.size))
    shown = image.convert("RGB")
    if scale != 1.0:
        size = max(1, int(image.width * scale)), max(1, int(image.height * scale))
        shown = shown.resize(size, Resampling.LANCZOS)
    shown.save(target)
    return recognised(target, order.language, seconds)


def _exif(image: Any) -> dict[str, str]:
    """Return the metadata written by the camera, with the location."""
    from PIL.ExifTags import GPSTAGS, TAGS

    try:
        data = image.getexif()
        inner, place = data.get_ifd(_EXIF_FOLDER), data.get_ifd(_GPS_FOLDER)
    except Exception:  # the data of an image may be anything, and the library fails on it in many ways
        return {}
    told = {str(TAGS.get(key, "")): value for key, value in (*data.items(), *inner.items())}
    found = {name: _words(told[name]) for name in _EXIF if name in told}
    gps = {str(GPSTAGS.get(key, "")): value for key, value in place.items()}
    if "GPSLatitude" in gps and "GPSLongitude" in gps:
        found["place"] = f"{_degrees(gps, 'Latitude')}, {_degrees(gps, 'Longitude')}"
    return {name: value for name, value in found.items() if value}


def _degrees(gps: dict[str, Any], name: str) -> str:
    try:
        degrees, minutes, seconds = (float(one) for one in gps[f"GPS{name}"])
    except (TypeError, ValueError, ZeroDivisionError):
        return "?"
    sign = -1 if str(gps.get(f"GPS{name}Ref", "")).upper() in ("S", "W") else 1
    return f"{sign * (degrees + minutes / 60 + seconds / 3600):.6f}"


def parse_media(order: Order, kind: str, family: str) -> Parsed:
    """Return the metadata of a sound or video; with `unpack` its frames and its sound are files.

    Raises:
        Unreadable: It is damaged, or what takes it apart is not installed.
    """
    if shutil.which("ffprobe") is None:
        return _without_program(order, kind)
    told = _probed(order)
    streams: list[dict[str, Any]] = told.get("streams", [])
    head: dict[str, Any] = told.get("format", {})
    seconds = float(head.get("duration") or 0.0)
    facts: dict[str, Any] = {"seconds": round(seconds, 2), "format": head.get("format_long_name", kind)}
    for one in streams:
        facts |= _stream(one)
    tags = {str(key).lower(): _words(value) for key, value in cast("dict[str, Any]", head.get("tags", {})).items()}
    facts |= {name: tags[name] for name in _TAGS if tags.get(name)}
    found = Parsed(kind=kind, title=tags.get("title", ""), facts=facts)
    found.text = "\n".join(f"- {name}: {value}" for name, value in facts.items())
    has_sound = any(one.get("codec_type") == "audio" for one in streams)
    if order.unpack:
        _taken_apart(order, found, seconds if family == "video" else 0.0, sound=has_sound)
    else:
        parts = "Its frames and its sound were" if family == "video" else "Its sound was"
        found.notes.append(
            f"{parts} not taken out; `unpack` writes files of the workspace, and has speech transcribed."
        )
    return found


def _stream(one: dict[str, Any]) -> dict[str, Any]:
    if one.get("codec_type") == "video" and not one.get("disposition", {}).get("attached_pic"):
        return {"video": f"{one.get('codec_name')}, {one.get('width')}x{one.get('height')}"}
    if one.get("codec_type") == "audio":
        return {"audio": f"{one.get('codec_name')}, {one.get('sample_rate')} Hz, {one.get('channels')} channels"}
    return {}


def _taken_apart(order: Order, found: Parsed, video_seconds: float, *, sound: bool) -> None:
    """Write frames at equal distances, and the sound as MP3, small enough for hearing models."""
    made = list[str]()
    for number in range(_FRAMES if video_seconds else 0):
        at = video_seconds * (number + 0.5) / _FRAMES
        target = order.out / f".frame-{number}.jpg"
        line = [
            "-ss",
            f"{at:.3f}",
            "-i",
            str(order.path),
            "-frames:v",
            "1",
            "-vf",
            f"scale='min({_FRAME_WIDTH},iw)':-2",
        ]
        if _ffmpeg([*line, "-q:v", "4", str(target)]) and target.exists():
            made.append(kept_part(order, f"frame-{number + 1:02}-at-{at:.1f}s.jpg", target.read_bytes())["name"])
            target.unlink()
        if order.late:
            found.notes.append("The time was up before all frames were taken.")
            break
    if sound:
        target = order.out / ".sound.mp3"
        line = ["-i", str(order.path), "-vn", "-ac", "1", "-ar", "16000", "-b:a", "32k", "-t", str(_SOUND_SECONDS)]
        line.append(str(target))
        if _ffmpeg(line) and target.exists():
            made.append(kept_part(order, "sound.mp3", target.read_bytes())["name"])
            target.unlink()
    found.facts["parts"] = made


def _ffmpeg(line: list[str]) -> bool:
    whole = ["ffmpeg", "-nostdin", "-v", "error", "-protocol_whitelist", "file", "-y", *line]
    try:
        return subprocess.run(whole, capture_output=True, check=False, timeout=_SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _probed(order: Order) -> dict[str, Any]:
    line = ["ffprobe", "-v", "error", "-protocol_whitelist", "file", "-of", "json", "-show_format", "-show_streams"]
    try:
        done = subprocess.run([*line, str(order.path)], capture_output=True, check=False, timeout=_SECONDS)
        return json.loads(done.stdout) if done.returncode == 0 else _damaged(done.stderr)
    except subprocess.TimeoutExpired as error:
        raise Unreadable("takes too long to look at", "cut a part out of it, and name that.") from error


def _damaged(words: bytes) -> dict[str, Any]:
    lines = [_OF_PROGRAM.sub("", line).strip() for line in words.decode("utf-8", "replace").splitlines()]
    said = next((line for line in reversed(lines) if line), "ffprobe cannot read it")[:200]
    raise Unreadable(f"is a damaged sound or video: {said}", "check the file, or get it again.")


def _without_program(order: Order, kind: str) -> Parsed:
    """Return the facts about a sound available without ffmpeg, those in the header of a WAV file.

    Raises:
        Unreadable: It is of another kind.
    """
    if kind != "wav":
        raise Unreadable("needs the program ffmpeg, which is not installed", _INSTALL)
    try:
        with wave.open(str(order.path)) as sound:
            rate, frames, channels = sound.getframerate(), sound.getnframes(), sound.getnchannels()
    except (wave.Error, EOFError) as error:
        raise Unreadable(f"is a damaged sound: {error}", "check the file, or get it again.") from error
    facts = {"seconds": round(frames / max(1, rate), 2), "audio": f"pcm, {rate} Hz, {channels} channels"}
    note = f"More is told of it by the program ffmpeg; {_INSTALL}"
    return Parsed(
        kind=kind, text="\n".join(f"- {name}: {one}" for name, one in facts.items()), facts=facts, notes=[note]
    )


def _words(value: object) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return _CONTROL.sub(" ", text).strip()[:300]
