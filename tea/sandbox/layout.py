"""Layout: the places of things in a sandbox, and the parts of the machine behind them."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tea.sandbox.way_out import WayOut

PYTHON, PACKAGES, WHEELS, INSTALLER = "/opt/tea/lib", "/opt/tea/packages", "/opt/tea/wheels", "/opt/tea/pip"
PROGRAMS = "/opt/tea/bin"
WAY, CERTIFICATES = "/opt/tea/way", "/opt/tea/certificates.pem"
WORKSPACE, TEMPORARY, INSTALLED = "/workspace", "/tmp", "/opt/tea/installed"
BUBBLEWRAP = "bwrap"
_SYSTEM = ("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/share")
_ROOTS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
_FILES = (
    *("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/fonts"),
    *("/etc/os-release", "/etc/debian_version", "/etc/mime.types"),  # Python and pip end where these can only be seen
)
_OTHERS = ("/usr/lib/python3/dist-packages",)
_INSIDE = Path(__file__).parent / "inside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """One file or folder of the machine, and its place inside."""

    source: str
    target: str
    writable: bool = False

    def to_json(self) -> dict[str, object]:
        """Return the mount as a JSON object."""
        return {"source": self.source, "target": self.target, "writable": self.writable}


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The files and folders shown by a sandbox.

    Args:
        folder: The session's own folder on the machine, which holds what is made for it.
        workspace: The folder that code works in.
        inputs: Names of files in it that stay as they are.
        read_only: Whether all of it stays as it is.
        packages: What may be imported beside the standard library.
        wheels: Folder to install from.
        python: The interpreter.
        way_out: The hosts within reach by a socket of the host, and the index to install from.
    """

    folder: Path
    workspace: str
    inputs: tuple[str, ...] = ()
    read_only: bool = False
    packages: tuple[Path, ...] = ()
    wheels: str | None = None
    python: str = ""
    way_out: WayOut = field(default_factory=WayOut)

    @property
    def named(self) -> list[tuple[str, str]]:
        """The names of the interpreter for command lines, each with its target."""
        return [(f"{PROGRAMS}/{name}", self.interpreter) for name in ("python", "python3")]

    @property
    def interpreter(self) -> str:
        """The interpreter itself, not a link in an environment."""
        return self.python or os.path.realpath(getattr(sys, "_base_executable", sys.executable))

    def prepare(self, user: int | None) -> None:
        """Make the session's folder: its places to write into, and the stand-ins for parts of the machine.

        Args:
            user: The account that the code runs as, where it is another.
        """
        self.folder.chmod(0o711)
        for name in ("tmp", "installed"):
            (self.folder / name).mkdir(mode=0o700, exist_ok=True)
            if user is not None:
                os.chown(self.folder / name, user, user)
        for name in (
            "empty",
            "root",
            "etc",
            "way",
            "links/lib/tea/sandbox",
            "links/packages",
            "links/pip",
            "links/bin",
        ):
            (self.folder / name).mkdir(mode=0o755, parents=True, exist_ok=True)
        account = user if user is not None else os.getuid()
        passwd = "root:x:0:0::/:/bin/false\n" if account else ""
        _write(self.folder / "etc/passwd", f"{passwd}sandbox:x:{account}:{account}::/tmp:/bin/bash\n")
        _write(self.folder / "etc/group", f"sandbox:x:{account}:\n")
        _write(self.folder / "etc/hosts", "127.0.0.1 localhost\n::1 localhost\n")
        _write(self.folder / "etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n")
        for target, source in (*self._brought(), *self.named):
            link = self.folder / "links" / Path(target).relative_to("/opt/tea")
            if not link.is_symlink():
                link.symlink_to(source)

    def mounts(self) -> Iterator[Mount]:
        """Yield the files and folders shown with their places, folders before their content."""
        for path in (*_system(), *_FILES):
            if os.path.exists(path):
                yield Mount(source=path, target=path)
        for name in ("passwd", "group", "hosts", "nsswitch.conf"):
            yield Mount(source=str(self.folder / "etc" / name), target=f"/etc/{name}")
        yield Mount(source=str(self.folder / "tmp"), target=TEMPORARY, writable=True)
        yield Mount(source=str(self.folder / "installed"), target=INSTALLED, writable=True)
        yield Mount(source=self.workspace, target=WORKSPACE, writable=not self.read_only)
        for name in self.inputs:
            if os.path.isfile(path := os.path.join(self.workspace, name)) and not os.path.islink(path):
                yield Mount(source=path, target=f"{WORKSPACE}/{name}")
        shown = list(self._interpreter_parts())
        for path in shown:
            if not _within(path, _system()):
                yield Mount(source=path, target=path)
        for path in (*(f"{one}/site-packages" for one in shown), *_OTHERS):
            if os.path.isdir(path):
                yield Mount(source=str(self.folder / "empty"), target=path)
        for target, source in self._brought():
            yield Mount(source=source, target=target)
        if self.way_out:
            yield Mount(source=str(self.folder / "way"), target=WAY)
            yield Mount(source=certificates(), target=CERTIFICATES)
        if self.wheels is not None and os.path.isdir(self.wheels):
            yield Mount(source=self.wheels, target=WHEELS)

    def links(self) -> list[tuple[str, str]]:
        """Return the existing links, each with its target: those of this machine's root, and our own."""
        found = [(path, os.readlink(path)) for path in _ROOTS if os.path.islink(path)]
        return [*((path, text) for path, text in found if os.path.exists(path)), *self.named]

    def place(self, target: str) -> str:
        """Return the place of a part of the sandbox on the machine, for a level without moved files."""
        known = {
            WORKSPACE: os.path.realpath(self.workspace),
            TEMPORARY: str(self.folder / "tmp"),
            INSTALLED: str(self.folder / "installed"),
        }
        if target == WHEELS and self.wheels is not None:
            return self.wheels
        return known.get(target) or str(self.folder / "links" / Path(target).relative_to("/opt/tea"))

    def readable(self) -> list[str]:
        """Return the readable parts of the machine, for a level without moved files."""
        system = [path for path in (*_system(), *_FILES) if os.path.exists(path)]
        parts = [one for path in self._interpreter_parts() for one in _but(path, "site-packages")]
        links = [str(self.folder / "links"), str(self.folder / "etc")]
        wheels = [] if self.wheels is None else [self.wheels]
        return [*system, *parts, *links, *(source for _, source in self._brought()), *wheels]

    def listed(self) -> list[str]:
        """Return the folders open to listing, not reading, for a level without moved files."""
        return [path for path in self._interpreter_parts() if os.path.isdir(path)]

    def _brought(self) -> Iterator[tuple[str, str]]:
        """Yield the parts brought from elsewhere: our own files, packages and the installer."""
        yield f"{PYTHON}/tea/sandbox/inside", str(_INSIDE)
        for path in self.packages:
            yield f"{PACKAGES}/{path.name}", str(path)
        if (self.wheels is not None or self.way_out.index) and (installer := find_installer()) is not None:
            yield f"{INSTALLER}/{installer.name}", str(installer)

    def _interpreter_parts(self) -> Iterator[str]:
        """Yield the files and folders of the interpreter."""
        program = self.interpreter
        yield program
        version = os.path.basename(program).removeprefix("python")
        if self.python:
            home = os.path.dirname(os.path.dirname(program))
        else:
            home, version = sys.base_prefix, f"{sys.version_info.major}.{sys.version_info.minor}"
        folders = {f"{home}/{name}/python{version}" for name in ("lib", sys.platlibdir)}
        yield from sorted(folder for folder in folders if os.path.isdir(folder))
        library = sysconfig.get_config_var("LDLIBRARY") or ""
        for name in sorted({library, f"{library}.1.0"}):
            if ".so" in name and os.path.isfile(path := f"{home}/lib/{name}"):
                yield path


def find_installer() -> Path | None:
    """Return an installer of wheels: pip beside this Python, or the one bundled with Python; None without one."""
    from importlib.util import find_spec

    spec = find_spec("pip")
    if spec is not None and spec.origin is not None:
        return Path(spec.origin).parent
    brought = Path(sysconfig.get_paths()["stdlib"]) / "ensurepip" / "_bundled"
    return next(iter(sorted(brought.glob("pip-*.whl"))), None)


def certificates() -> str:
    """Return the path of the host's own certificates of public servers."""
    import certifi

    return certifi.where()


def enclosing(path: str) -> Iterator[Path]:
    """Yield a path and the folders around it."""
    yield Path(path)
    yield from Path(path).parents


def _system() -> Sequence[str]:
    return [*_SYSTEM, *(path for path in _ROOTS if not os.path.islink(path))]


def _within(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _but(path: str, name: str) -> list[str]:
    """Return a path, or its content without one name."""
    if not os.path.isdir(os.path.join(path, name)):
        return [path]
    return sorted(one.path for one in os.scandir(path) if one.name != name)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)
