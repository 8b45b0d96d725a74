"""Installing: wheels of the operator's folder are looked at before pip is given those, and nothing else."""

import os
import re
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator

_NAME = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[A-Za-z0-9._,\s-]*\]\s*)?([^;]*)")
_BOUNDS = re.compile(r"\(?\s*(?:(?:[<>=!~]=|===|<|>)\s*[A-Za-z0-9.*+!_-]+\s*,?\s*)*\)?\s*")
_PARTS = (5, 6)  # of a wheel's name: the project, its version, a build perhaps, and what it runs on
_MOST_METADATA = 1 << 20
_MODULES = (".py", ".pyc", ".so")
_AT_START = {"sitecustomize", "usercustomize"}
_PIP = (sys.executable, "-S", "-s", "-P", "-m", "pip", "--isolated")
_OPTIONS = ("--only-binary=:all:", "--no-cache-dir", "--disable-pip-version-check", "--no-input", "--quiet")


class Refused(Exception):
    """The reason for leaving a wheel alone."""


def main() -> None:
    """Install packages.

    The arguments are a folder of wheels, the target, a folder to work in, options for an index, and the packages; the
    folder may be empty where there are options. Wheels of an index are looked at like those of the folder.
    """
    wheels, target, work, options, *packages = sys.argv[1:]
    shown = os.path.join(work, "wheels")
    os.makedirs(shown)
    if options:
        wheels = _downloaded(wheels, work, options.split(), packages)
    try:
        for path in reached(wheels, [one.partition("==")[0] for one in packages]):
            os.symlink(path, os.path.join(shown, os.path.basename(path)))
    except Refused as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
    line = [*_PIP, "install", "--no-index", "--upgrade", "--root-user-action=ignore", *_OPTIONS]
    line += ["--find-links", shown, "--target", target, "--", *packages]
    os.execve(sys.executable, line, {**os.environ, "TMPDIR": work})


def _downloaded(wheels: str, work: str, options: list[str], packages: list[str]) -> str:
    """Return the folder with the wheels of some packages, and of all needed by them, from an index or a folder."""
    folder = os.path.join(work, "downloaded")
    line = [*_PIP, "download", *_OPTIONS, *options, *(["--find-links", wheels] if wheels else []), "--dest", folder]
    done = subprocess.run([*line, "--", *packages], env={**os.environ, "TMPDIR": work}, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return folder


def reached(folder: str, names: list[str]) -> Iterator[str]:
    """Yield the wheels of some packages, and of everything needed by them, each looked at.

    Args:
        folder: The folder of wheels.
        names: Names of packages.

    Raises:
        Refused: One of them does more than bring a package's files, or needs what is not in the folder.
    """
    found: dict[str, list[str]] = {}
    for one in sorted(os.listdir(folder)):
        parts = one.removesuffix(".whl").split("-")
        if one.endswith(".whl") and len(parts) in _PARTS:
            found.setdefault(_plain(parts[0]), []).append(one)
    left = [_plain(one) for one in names]
    known: set[str] = set()
    while left:
        name = left.pop()
        if name not in known:
            known.add(name)
            for one in found.get(name, ()):
                left += _needs(os.path.join(folder, one), one)
                yield os.path.join(folder, one)


def _needs(path: str, file: str) -> list[str]:
    """Return the names of the packages needed by a wheel."""
    try:
        with zipfile.ZipFile(path) as wheel:
            for one in wheel.infolist():
                _look_at(one, file)
            text = _metadata(wheel, file)
    except (OSError, ValueError, NotImplementedError, RuntimeError, EOFError, zipfile.BadZipFile) as error:
        raise Refused(f"{file} is not a wheel: {error}") from error
    fields = [line.partition(":") for line in text.partition("\n\n")[0].splitlines() if not line[:1].isspace()]
    told = [value.strip() for wanted in ("Name", "Version") for key, _, value in fields if key == wanted]
    if [_plain(one) for one in told] != [_plain(one) for one in file.split("-")[:2]]:
        raise Refused(f"{file} holds another package: {' '.join(told)[:100]}.")
    return [_needed(value, file) for key, _, value in fields if key == "Requires-Dist"]


def _look_at(one: zipfile.ZipInfo, file: str) -> None:
    """Refuse a file outside of the package's own folders, or executed at the start of Python without an import."""
    parts = one.filename.split("/")
    if one.filename.startswith("/") or "\\" in one.filename or ".." in parts or "" in parts[:-1]:
        raise Refused(f"{file} has a file with a name that leads elsewhere: {one.filename[:100]!r}.")
    if stat.S_ISLNK(one.external_attr >> 16):
        raise Refused(f"{file} has a link: {one.filename[:100]!r}.")
    module = _module(parts[2:] if parts[0].endswith(".data") else parts)
    if module in _AT_START or module in sys.stdlib_module_names:
        raise Refused(f"{file} has a module in place of Python's own: {module}.")


def _module(parts: list[str]) -> str:
    """Return the import name of a top-level module's file, empty for any other file."""
    if len(parts) == 1 and parts[0].endswith(_MODULES):
        return parts[0].partition(".")[0]
    return parts[0] if len(parts) == 2 and parts[1].startswith("__init__.") else ""


def _metadata(wheel: zipfile.ZipFile, file: str) -> str:
    found = [one for one in wheel.infolist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", one.filename)]
    if len(found) != 1 or found[0].file_size > _MOST_METADATA:
        raise Refused(f"{file} does not say one time what it is.")
    with wheel.open(found[0]) as data:
        return data.read(_MOST_METADATA).decode("utf-8").replace("\r\n", "\n")


def _needed(value: str, file: str) -> str:
    """Return the name in a need of other packages, given by name and version alone."""
    match = _NAME.fullmatch(value.partition(";")[0].rstrip())
    if match is None or not _BOUNDS.fullmatch(match[2]):
        raise Refused(f"{file} needs {value.strip()[:100]!r}, which is not the name and version of a package.")
    return _plain(match[1])


def _plain(name: str) -> str:
    """Return a project's name in its one form."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


if __name__ == "__main__":
    main()
