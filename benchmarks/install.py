"""Measure a fresh install of tea: packages and megabytes, with and without the constraints.

Usage: python benchmarks/install.py [REQUIREMENT ...]
Further requirements, such as openai, are installed beside tea.
"""

import subprocess
import sys
import tempfile
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOT_COUNTED = {"pip", "setuptools"}


def weigh(folder: Path, *options: str) -> tuple[int, float, str]:
    """Install into a fresh environment; return its packages, megabytes and the words of `pip check`."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip"]
    subprocess.run([*pip, "install", "--quiet", str(ROOT), *options], check=True)
    check = subprocess.run([*pip, "check"], capture_output=True, text=True, check=False)
    (site_packages,) = folder.glob("lib/python3*/site-packages")
    found = [one for one in distributions(path=[str(site_packages)]) if one.name not in NOT_COUNTED]
    return len(found), sum(size(path) for path in files_of(site_packages)) / 1e6, check.stdout.strip()


def files_of(site_packages: Path) -> list[Path]:
    """Every file there but those of uncounted packages."""
    counted = [
        path for path in site_packages.iterdir() if path.name.partition("-")[0] not in {*NOT_COUNTED, "pkg_resources"}
    ]
    return [file for path in counted for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file()]


def size(path: Path) -> int:
    """Bytes on disk, as `du` counts them."""
    return path.stat().st_blocks * 512


def main(*requirements: str) -> None:
    """Print one row for each way to install."""
    ways = {"unconstrained": (), "constrained": ("--constraint", str(ROOT / "constraints.txt"))}
    print("| install | packages | MB | pip check |\n|---|---|---|---|")
    for name, options in ways.items():
        with tempfile.TemporaryDirectory() as folder:
            packages, megabytes, check = weigh(Path(folder), *requirements, *options)
        print(f"| {' '.join((name, *requirements))} | {packages} | {megabytes:.0f} | {check} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
