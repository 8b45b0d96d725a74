"""Recognition of letters in images, by tesseract if it is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tea.reading.inside.document import Unreadable

PROGRAM = "tesseract"
_INSTALL = "install it: apt-get install tesseract-ocr; or ask a model that takes images."
_SECONDS = 25.0
_LACK = b"Failed loading language"  # said of one among several, which is then left out
_LAYOUT = "osd"  # data for the direction of letters, no language


def is_installed() -> bool:
    """Return whether letters can be recognised here."""
    return shutil.which(PROGRAM) is not None


def recognised(image: Path, language: str, seconds: float = _SECONDS) -> str:
    """Return the text in an image.

    Args:
        image: Its file.
        language: As tesseract names them: `deu`, `eng+fra`.
        seconds: How long it may take.

    Raises:
        Unreadable: The program is not there, lacks a language, or does not end.
    """
    if not is_installed():
        raise Unreadable("needs tesseract for its letters to be recognised, which is not installed", _INSTALL)
    line = [PROGRAM, str(image), "stdout", "-l", language]
    try:
        done = subprocess.run(line, capture_output=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired as error:
        raise Unreadable("has an image that tesseract takes too long for", "name fewer pages.") from error
    failed = done.returncode != 0
    if (failed or _LACK in done.stderr) and (fault := language_fault(language)):
        raise Unreadable(*fault)
    if failed:
        words = " ".join(done.stderr.decode("utf-8", "replace").split())[-200:]
        raise Unreadable(f"was not recognised: {words}", "ask a model that takes images.")
    return done.stdout.decode("utf-8", "replace").replace("\f", "").strip()


def language_fault(language: str) -> tuple[str, str] | None:
    """Return the problem with languages missing from tesseract, and its remedy; None without one.

    Args:
        language: As tesseract names them: `deu`, `eng+fra`.
    """
    if not is_installed():
        return None
    done = subprocess.run([PROGRAM, "--list-langs"], capture_output=True, check=False, timeout=_SECONDS)
    known = done.stdout.decode("utf-8", "replace").splitlines()[1:]  # the first line is a heading
    lacking = [one for one in language.split("+") if one not in known]
    if not lacking:
        return None
    there = ", ".join(one for one in known if one != _LAYOUT) or "none"
    packages = " ".join(f"tesseract-ocr-{one.replace('_', '-')}" for one in lacking)
    problem = f"cannot be recognised in {', '.join(lacking)}: tesseract has {there}"
    return problem, f"apt-get install {packages}; or name a language that is there."
