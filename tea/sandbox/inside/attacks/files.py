"""Attacks on files: reading, writing and naming files outside."""

import os
import socket
import stat
import sys
from collections.abc import Callable
from contextlib import suppress

from tea.sandbox.inside.attacks.attack import HELD, PORTABLE, Facts, absent, attack, broke, refused


def _read(path: str, wanted: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(1 << 16)
    except OSError:
        return HELD
    return broke(f"read {path}") if wanted in text else HELD


def _writable(path: str) -> str:
    """Try to open for writing; nothing is changed on success."""
    return refused(lambda: os.close(os.open(path, os.O_WRONLY)), f"opened {path} for writing")


def _listed(path: str) -> str:
    return refused(lambda: os.listdir(path), f"listed {path}")


def _first(found: list[str]) -> str:
    return next((one for one in found if one != HELD), HELD)


@attack("fs")
def read_outside(facts: Facts) -> str:
    """Read a file outside of the workspace."""
    return _read(facts["secret"], facts["words"])


@attack("fs")
def create_outside(facts: Facts) -> str:
    """Create a file in a folder writable by everybody."""
    path = f"{facts['outside']}/created"
    return refused(lambda: open(path, "x").close(), f"created {path}")


@attack("fs")
def overwrite_outside(facts: Facts) -> str:
    """Open somebody's file for writing."""
    return _writable(facts["open"])


@attack("fs")
def truncate_outside(facts: Facts) -> str:
    """Empty somebody's file by its name."""
    return refused(lambda: os.truncate(facts["victim"], 0), "emptied it")


@attack("fs")
def delete_outside(facts: Facts) -> str:
    """Delete a file in a folder writable by everybody."""
    return refused(lambda: os.unlink(f"{facts['outside']}/deletable"), "deleted it")


@attack("fs")
def rename_outside(facts: Facts) -> str:
    """Rename a file in a folder writable by everybody."""
    folder = facts["outside"]
    return refused(lambda: os.rename(f"{folder}/movable", f"{folder}/moved"), "renamed it")


@attack("fs")
def move_inside(facts: Facts) -> str:
    """Move a file from outside into the workspace."""
    return refused(lambda: os.rename(f"{facts['outside']}/takable", "taken"), "took it")


@attack("fs")
def list_outside(facts: Facts) -> str:
    """List a folder outside."""
    return _listed(facts["outside"])


@attack("fs")
def socket_outside(facts: Facts) -> str:
    """Leave a socket in a folder writable by everybody."""

    def leave() -> None:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"{facts['outside']}/socket")

    return refused(leave, "left a socket")


@attack("fs")
def link_to_file(facts: Facts) -> str:
    """Read through a symbolic link in the workspace."""
    _link(facts["secret"], "link-to-file")
    return _read("link-to-file", facts["words"])


@attack("fs")
def link_to_folder(facts: Facts) -> str:
    """Write through a symbolic link to a folder."""
    _link(facts["outside"], "link-to-folder")
    return refused(lambda: open("link-to-folder/through", "x").close(), "wrote through it")


@attack("fs")
def link_over_links(facts: Facts) -> str:
    """Read through a chain of links with dots in between."""
    os.makedirs("chain", exist_ok=True)
    _link(".." + "/.." * 30, "chain/up")
    return _read(f"chain/up{facts['secret']}", facts["words"])


@attack("fs")
def hard_link(facts: Facts) -> str:
    """Give a file outside a second name in the workspace."""
    with suppress(OSError):
        os.link(facts["secret"], "second-name")
    return _read("second-name", facts["words"])


@attack("fs")
def hard_link_from_temporary(facts: Facts) -> str:
    """Give a file outside a second name in the temporary folder."""
    name = f"{os.environ['TMPDIR']}/second-name"
    with suppress(OSError):
        os.link(facts["secret"], name)
    return _read(name, facts["words"])


@attack("fs")
def dots(facts: Facts) -> str:
    """Go up with dots."""
    return _read("../" * 30 + facts["secret"].lstrip("/"), facts["words"])


@attack("fs")
def descriptor_of_root(facts: Facts) -> str:
    """Go up from an open folder."""
    with suppress(OSError):
        here = os.open(".", os.O_RDONLY)
        for _ in range(30):
            here = os.open("..", os.O_PATH, dir_fd=here)
        handle = os.open(facts["secret"].lstrip("/"), os.O_RDONLY, dir_fd=here)
        return broke("read it") if facts["words"].encode() in os.read(handle, 1 << 12) else HELD
    return HELD


@attack("fs")
def root_of_processes(facts: Facts) -> str:
    """Read through the root folders of other processes."""
    return _through("root", facts)


@attack("fs")
def folder_of_processes(facts: Facts) -> str:
    """Read through the working folders of other processes."""
    return _through("cwd" + "/.." * 30, facts)


def _through(way: str, facts: Facts) -> str:
    names = [name for name in _processes() if name.isdigit()]
    return _first([_read(f"/proc/{name}/{way}{facts['secret']}", facts["words"]) for name in (*names, "self")])


def _processes() -> list[str]:
    try:
        return os.listdir("/proc")
    except OSError:
        return []


@attack("fs")
def descriptors_of_processes(facts: Facts) -> str:
    """Open the files held open by other processes."""
    own = str(os.getpid())
    found: list[str] = []
    for name in _processes():
        if name.isdigit() and name != own:
            with suppress(OSError):
                for handle in os.listdir(f"/proc/{name}/fd"):
                    found.append(_read_held(f"/proc/{name}/fd/{handle}", facts["words"]))
    return _first(found)


def _read_held(path: str, wanted: str) -> str:
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            return broke(f"read {path}") if wanted.encode() in os.pread(handle, 1 << 12, 0) else HELD
        finally:
            os.close(handle)
    return HELD


@attack("limits")
def inherited_descriptors(facts: Facts) -> str:
    """Use a descriptor left open."""
    left: list[int] = []
    for handle in range(3, 256):
        with suppress(OSError):
            os.fstat(handle)
            left.append(handle)
    if PORTABLE:  # the folders that are shown are descriptors there
        left = [one for one in left if not stat.S_ISDIR(os.fstat(one).st_mode)]
    return HELD if len(left) <= 2 else broke(f"descriptors {left} are open")  # to the supervisor, and for the answer


@attack("fs")
def devices(facts: Facts) -> str:
    """Open disks, memory and the kernel's messages."""
    names = ["mem", "kmem", "port", "kmsg", "vda", "sda", "nvme0n1", "loop0", "fuse", "kvm", "net/tun", "uinput"]
    there = [f"/dev/{name}" for name in names if os.path.exists(f"/dev/{name}")]
    return _first([refused(lambda path=path: os.close(os.open(path, os.O_RDONLY)), f"opened {path}") for path in there])


@attack("syscalls")
def make_device(facts: Facts) -> str:
    """Make a device of its own."""
    return refused(lambda: os.mknod("device", 0o600 | 0o060000, os.makedev(254, 0)), "made a device")


@attack("syscalls")
def make_pipe(facts: Facts) -> str:
    """Leave a named pipe, to make any reader of the workspace hang."""
    return refused(lambda: os.mkfifo("pipe"), "made a pipe")


@attack("fs")
def write_programs(facts: Facts) -> str:
    """Change the programs of the machine."""
    return _first([_writable(os.path.realpath(path)) for path in ("/usr/bin/env", "/bin/sh", "/usr/bin/python3")])


@attack("fs")
def write_interpreter(facts: Facts) -> str:
    """Change the interpreter and its library."""
    if PORTABLE:
        return absent("its library is a copy in its own memory")
    return _first([_writable(os.path.realpath(sys.executable)), _writable(os.__file__)])


@attack("fs")
def write_supervisor(facts: Facts) -> str:
    """Change the watching program."""
    return _writable(__file__)


@attack("fs")
def write_packages(facts: Facts) -> str:
    """Change a package imported by others."""
    for folder in os.environ["PYTHONPATH"].split(":")[1:]:
        with suppress(OSError):
            names = [f"{folder}/{one}/__init__.py" for one in os.listdir(folder)]
            if found := [_writable(name) for name in names if os.path.exists(name)]:
                return _first(found)
    return absent("no package is declared")


@attack("fs")
def write_accounts(facts: Facts) -> str:
    """Change accounts, services and jobs of the machine."""
    places = ("/etc/passwd", "/etc/shadow", "/etc/crontab", "/etc/ld.so.preload", "/etc/hosts", "/etc/profile")
    return _first([_writable(path) for path in places])


@attack("fs")
def read_passwords(facts: Facts) -> str:
    """Read the machine's passwords."""
    return _read("/etc/shadow", ":")


@attack("fs")
def write_kernel_settings(facts: Facts) -> str:
    """Change settings of the kernel."""
    places = ("kernel/core_pattern", "kernel/modprobe", "vm/overcommit_memory", "kernel/hostname")
    return _first([_writable(f"/proc/sys/{one}") for one in places] + [_writable("/proc/sysrq-trigger")])


@attack("fs")
def write_control_groups(facts: Facts) -> str:
    """Change control groups, a way to run a program outside."""
    places = ("/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/memory/release_agent", "/sys/kernel/uevent_helper")
    return _first([_writable(path) for path in places])


@attack("fs")
def services_of_the_machine(facts: Facts) -> str:
    """See the addresses of the machine's services."""
    return _first([_listed(path) for path in ("/run", "/var/run")])


@attack("fs")
def read_journal(facts: Facts) -> str:
    """Read the journal of a run."""
    return _read(facts["journal"], facts["words"])


@attack("fs")
def write_journal(facts: Facts) -> str:
    """Add to the journal of a run."""
    return _writable(facts["journal"])


@attack("fs")
def read_another_workspace(facts: Facts) -> str:
    """Read the files of another run."""
    return _read(facts["another"], facts["words"])


@attack("fs")
def write_another_workspace(facts: Facts) -> str:
    """Change the files of another run."""
    return _writable(facts["another"])


@attack("fs")
def read_beside_the_workspace(facts: Facts) -> str:
    """Read the files beside the workspace."""
    return _read("../beside.txt", facts["words"])


@attack("fs")
def read_operator_state(facts: Facts) -> str:
    """Read the operator's list of trusted things."""
    return _read(facts["trusted"], facts["words"])


@attack("fs")
def grant_trust(facts: Facts) -> str:
    """Trust itself."""
    return _writable(facts["trusted"])


@attack("fs")
def write_settings(facts: Facts) -> str:
    """Change the operator's settings."""
    return _writable(facts["settings"])


@attack("fs")
def read_key(facts: Facts) -> str:
    """Read a private key of the account."""
    return _read(facts["key"], facts["words"])


@attack("fs")
def read_secrets_file(facts: Facts) -> str:
    """Read the file with the keys of models."""
    return _read(facts["dotenv"], facts["words"])


@attack("fs")
def search_for_keys(facts: Facts) -> str:
    """Look for keys in the home folder of the account running tea."""
    return _listed(facts["home"])


@attack("fs")
def change_input(facts: Facts) -> str:
    """Change a file given by the task."""
    if not facts["moved"]:
        return absent("this level keeps no file of a workspace as it is; code works on copies of what a task gives")
    tries: list[Callable[[], object]] = [
        lambda: open("input.txt", "a").close(),
        lambda: os.unlink("input.txt"),
        lambda: os.rename("input.txt", "other.txt"),
        lambda: os.chmod("input.txt", 0o777),
    ]
    return _first([refused(one, "changed it") for one in tries])


@attack("fs")
def undeclared_package(facts: Facts) -> str:
    """Import a package installed beside tea without a declaration."""
    return _listed(facts["site"])


def _link(to: str, name: str) -> None:
    with suppress(OSError):
        os.symlink(to, name)
