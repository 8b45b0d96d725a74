"""Recognition of letters in images, by tesseract if it is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tea.reading.inside.document import Unreadable

PROGRAM = "tesseract"
_INSTALL = "install it: apt-get install tesseract-ocr; or ask a model that takes images."
_SECONDS = 25.0


def recognised(image: Path, language: str) -> str:
    """Return the text in an image.

    Raises:
        Unreadable: The program is not there, does not know the language, or does not end.
    """
    if shutil.which(PROGRAM) is None:
        raise Unreadable("needs tesseract for its letters to be recognised, which is not installed", _INSTALL)
    line = [PROGRAM, str(image), "stdout", "-l", language]
    try:
        done = subprocess.run(line, capture_output=True, check=False, timeout=_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise Unreadable("has an image that tesseract takes too long for", "name fewer pages.") from error
    if done.returncode:
        words = " ".join(done.stderr.decode("utf-8", "replace").split())[-200:]
        raise Unreadable(f"was not recognised: {words}", f"apt-get install tesseract-ocr-{language[:20]}, or try eng.")
    return done.stdout.decode("utf-8", "replace").replace("\f", "").strip()
