"""Wheels for tests of installing."""

import base64
import hashlib
import zipfile
from pathlib import Path


def make_wheel(folder: Path, name: str, version: str, needs: str = "") -> None:
    """Write a wheel of one module with its `VERSION` into a folder."""
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": f"VERSION = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = [f"{path},{_digest(text)},{len(text)}" for path, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,"])
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as made:
        for path, text in files.items():
            made.writestr(path, text)


def make_wheels(folder: Path) -> Path:
    """Write two versions of `teatest`, and `teaneeds` depending on the newer one, into a new folder."""
    folder.mkdir()
    for version in ("1.0", "2.0"):
        make_wheel(folder, "teatest", version)
    make_wheel(folder, "teaneeds", "1.0", "Requires-Dist: teatest>=2\n")
    return folder


def _digest(text: str) -> str:
    raw = hashlib.sha256(text.encode()).digest()
    return "sha256=" + base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
