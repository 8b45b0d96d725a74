"""Attacks on processes: on those outside, on the supervisor, and by ever more of its own."""

import errno
import os
import signal
import subprocess
import threading
import time
from contextlib import suppress

from tea.sandbox.inside.attacks.attack import HELD, Facts, absent, attack, broke, call, ctypes, denied, module, refused

fcntl, resource = module("fcntl"), module("resource")
_SEIZE = 0x4206
_NEW_USER = 0x10000000


@attack("pids")
def signal_host(facts: Facts) -> str:
    """Send a signal to the process running tea."""
    return refused(lambda: os.kill(facts["host"], 0), "a signal would come")


@attack("pids")
def signal_by_descriptor(facts: Facts) -> str:
    """Send a signal by a descriptor of the process running tea."""
    try:
        handle = os.pidfd_open(facts["host"])
    except OSError:
        return HELD
    result = call(424, handle, 0, None, 0)
    return broke("it would come") if result == 0 else HELD


@attack("pids")
def signal_group(facts: Facts) -> str:
    """Send a signal to the process group of tea."""
    return refused(lambda: os.killpg(facts["group"], 0), "a signal would come")


@attack("pids")
def see_host(facts: Facts) -> str:
    """Read the command line of the process running tea."""
    try:
        with open(f"/proc/{facts['host']}/cmdline", "rb") as file:
            return broke("read it") if facts["line"].encode() in file.read() else HELD
    except OSError:
        return HELD


@attack("pids")
def slow_host(facts: Facts) -> str:
    """Change the priority of the process running tea."""

    def slow() -> None:
        os.setpriority(os.PRIO_PROCESS, facts["host"], os.getpriority(os.PRIO_PROCESS, facts["host"]))

    return refused(slow, "changed")


@attack("pids")
def limit_host(facts: Facts) -> str:
    """Change the limits of the process running tea."""
    return refused(lambda: resource.prlimit(facts["host"], resource.RLIMIT_CORE), "read them")


@attack("pids")
def schedule_host(facts: Facts) -> str:
    """Take processors and turns from the process running tea."""
    return next((one for one in _scheduled(facts["host"]) if one != HELD), HELD)


@attack("syscalls")
def schedule_supervisor(facts: Facts) -> str:
    """Make the watching process wait: by its priority, its turns, its processors, or its turns at the disk."""
    return next((one for one in _scheduled(facts["supervisor"]) if one != HELD), HELD)


@attack("syscalls")
def limit_supervisor(facts: Facts) -> str:
    """Change the limits of the watching process."""
    return refused(lambda: resource.prlimit(facts["supervisor"], resource.RLIMIT_CORE), "read them")


def _scheduled(process: int) -> list[str]:
    """Return the outcomes of attempts to slow another process down; each sets the value already in force."""
    idle = 3 << 13  # the class of those with a turn at the disk when nobody else wants one
    numbers = {"x86_64": 251, "aarch64": 30}.get(os.uname().machine)
    given = (1, process, idle)
    return [
        refused(lambda: os.setpriority(os.PRIO_PROCESS, process, os.getpriority(os.PRIO_PROCESS, process)), "priority"),
        refused(lambda: os.setpriority(os.PRIO_USER, 0, 19), "priority of an account"),
        refused(lambda: os.sched_setaffinity(process, os.sched_getaffinity(process)), "processors"),
        refused(lambda: os.sched_setscheduler(process, os.SCHED_OTHER, os.sched_param(0)), "turns"),
        refused(lambda: os.sched_setparam(process, os.sched_param(0)), "turns by parameters"),
        HELD if numbers is None or call(numbers, *given) < 0 else broke("turns at the disk"),
    ]


@attack("syscalls")
def trace_host(facts: Facts) -> str:
    """Trace the process running tea."""
    return denied({"x86_64": 101, "aarch64": 117}, _SEIZE, facts["host"], 0, 0)


@attack("syscalls")
def trace_supervisor(facts: Facts) -> str:
    """Trace the watching process."""
    return denied({"x86_64": 101, "aarch64": 117}, _SEIZE, facts["supervisor"], 0, 0)


@attack("syscalls")
def memory_of_supervisor(facts: Facts) -> str:
    """Read the memory of the watching process."""
    return denied({"x86_64": 310, "aarch64": 270}, facts["supervisor"], 0, 0, 0, 0, 0)


@attack("syscalls")
def memory_of_supervisor_by_file(facts: Facts) -> str:
    """Open the memory of the watching process."""
    return refused(lambda: open(f"/proc/{facts['supervisor']}/mem", "r+b").close(), "opened")


@attack("syscalls")
def descriptor_of_supervisor(facts: Facts) -> str:
    """Take a descriptor from the watching process."""
    return denied({"x86_64": 438, "aarch64": 438}, 3, 0, 0)


@attack("syscalls")
def hide(facts: Facts) -> str:
    """Hide from the watching process."""
    return denied({"x86_64": 157, "aarch64": 167}, 4, 0, 0, 0, 0)


@attack("limits")
def raise_limits(facts: Facts) -> str:
    """Raise its own limits."""
    kinds = [resource.RLIMIT_DATA, resource.RLIMIT_AS, resource.RLIMIT_FSIZE]

    def lift() -> None:
        for kind in kinds:
            soft, hard = resource.getrlimit(kind)
            with suppress(PermissionError, ValueError):
                resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                resource.setrlimit(kind, (soft, hard))
                return
        raise PermissionError

    return refused(lift, "raised one")


@attack("pids")
def fork_storm(facts: Facts) -> str:
    """Start ever more processes."""
    most, started = facts["processes"] + 16, list[int]()
    try:
        for _ in range(most):
            number = os.fork()
            if not number:
                time.sleep(30)
                os._exit(0)
            started.append(number)
    except OSError:
        return HELD
    finally:
        for one in started:
            os.kill(one, signal.SIGKILL)
        for one in started:
            os.waitpid(one, 0)
    return broke(f"{len(started)} started")


@attack("pids")
def thread_storm(facts: Facts) -> str:
    """Start ever more threads."""
    most, stop = facts["processes"] + 16, threading.Event()
    started: list[threading.Thread] = []
    try:
        for _ in range(most):
            one = threading.Thread(target=stop.wait, daemon=True)
            one.start()
            started.append(one)
    except RuntimeError:
        return HELD
    finally:
        stop.set()
        for one in started:
            one.join()
    return broke(f"{len(started)} started")


@attack("syscalls")
def become_root(facts: Facts) -> str:
    """Become root, or anybody, by the means of the system."""
    for work in (lambda: os.setuid(0), lambda: os.setresuid(1, 1, 1), lambda: os.setgroups([0])):
        with suppress(OSError):
            before = os.getresuid()
            work()
            if os.getresuid() != before or before[0] != 0:
                return broke(f"{before} became {os.getresuid()}")
    return HELD


@attack("limits")
def setuid_program(facts: Facts) -> str:
    """Become root by a program giving its owner's rights."""
    if _libc_prctl(39) != 1:  # PR_GET_NO_NEW_PRIVS
        return broke("programs may still give rights")
    programs = [path for path in ("/usr/bin/su", "/usr/bin/mount", "/usr/bin/passwd") if _gives_rights(path)]
    if not programs:
        return absent("there is no such program")
    found = subprocess.run(["/usr/bin/env", programs[0], "--help"], capture_output=True, check=False)
    return HELD if found.returncode in (0, 1) else broke(f"exit code {found.returncode}")


def _gives_rights(path: str) -> bool:
    try:
        return bool(os.stat(path).st_mode & 0o4000)
    except OSError:
        return False


def _libc_prctl(option: int) -> int:
    return ctypes.CDLL(None).prctl(option, 0, 0, 0, 0)


@attack("syscalls")
def give_rights(facts: Facts) -> str:
    """Leave a program giving its owner's rights to anybody starting it, by any of the calls for setting a mode."""
    tries = (
        lambda: os.chmod("rights", 0o4755),
        lambda: os.fchmod(os.open("rights", os.O_RDONLY), 0o2755),
        lambda: os.close(os.open("rights-at-once", os.O_WRONLY | os.O_CREAT, 0o4755)),
        lambda: os.close(os.open(".", os.O_WRONLY | os.O_TMPFILE, 0o6755)),
    )
    os.close(os.open("rights", os.O_WRONLY | os.O_CREAT, 0o755))
    found = [refused(one, f"the way {at}") for at, one in enumerate(tries)]
    return next((one for one in found if one != HELD), HELD)


@attack("limits")
def capabilities(facts: Facts) -> str:
    """Use a leftover capability."""
    head, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None, use_errno=True).capget(head, data) < 0:
        return absent("capabilities cannot be read")
    return HELD if not any(data) else broke(f"{[hex(one) for one in data]}")


@attack("syscalls")
def user_namespace(facts: Facts) -> str:
    """Make a user namespace, to be root in it."""
    return denied({"x86_64": 272, "aarch64": 97}, _NEW_USER)


@attack("syscalls")
def user_namespace_by_clone(facts: Facts) -> str:
    """Make a process in a user namespace of its own."""
    number = {"x86_64": 56, "aarch64": 220}.get(os.uname().machine)
    if number is None:
        return absent("unknown on this kind of machine")
    result = call(number, _NEW_USER | signal.SIGCHLD, 0, 0, 0, 0)
    if result == 0:
        os._exit(0)
    if result > 0:
        os.waitpid(result, 0)
    return HELD if result == -errno.EPERM else broke(f"result {result}")


@attack("syscalls")
def user_namespace_by_new_clone(facts: Facts) -> str:
    """Make a process in a user namespace by the call with flags invisible to a filter."""
    return denied({"x86_64": 435, "aarch64": 435}, 0, 0)


@attack("syscalls")
def user_namespace_by_program(facts: Facts) -> str:
    """Have a program make a user namespace."""
    if not os.path.exists("/usr/bin/unshare"):
        return absent("there is no such program")
    made = subprocess.run(["/usr/bin/unshare", "-Ur", "/bin/true"], capture_output=True, check=False)
    return HELD if made.returncode else broke("it is there")


@attack("syscalls")
def enter_namespace(facts: Facts) -> str:
    """Enter the namespaces of another process."""
    return denied({"x86_64": 308, "aarch64": 268}, 0, 0)


@attack("syscalls")
def mount(facts: Facts) -> str:
    """Mount something."""
    return denied({"x86_64": 165, "aarch64": 40}, 0, 0, 0, 0, 0)


@attack("syscalls")
def mount_anew(facts: Facts) -> str:
    """Mount something by the newer calls."""
    return denied({"x86_64": 430, "aarch64": 430}, 0, 0)


@attack("syscalls")
def change_root(facts: Facts) -> str:
    """Leave by a root folder of its own."""
    return refused(lambda: os.chroot("."), "changed")


@attack("syscalls")
def file_by_handle(facts: Facts) -> str:
    """Open a file by its number on the disk."""
    return denied({"x86_64": 304, "aarch64": 265}, -1, 0, 0)


@attack("syscalls")
def keys(facts: Facts) -> str:
    """Read the kernel's keys."""
    return denied({"x86_64": 250, "aarch64": 219}, 0, -3, 0)


@attack("syscalls")
def add_key(facts: Facts) -> str:
    """Leave a key with the kernel."""
    return denied({"x86_64": 248, "aarch64": 217}, 0, 0, 0, 0, 0)


@attack("syscalls")
def kernel_programs(facts: Facts) -> str:
    """Load a program into the kernel."""
    return denied({"x86_64": 321, "aarch64": 280}, 0, 0, 0)


@attack("syscalls")
def kernel_counters(facts: Facts) -> str:
    """Watch the machine by the kernel's counters."""
    return denied({"x86_64": 298, "aarch64": 241}, 0, 0, 0, 0, 0)


@attack("syscalls")
def kernel_messages(facts: Facts) -> str:
    """Read the kernel's messages."""
    return denied({"x86_64": 103, "aarch64": 116}, 99, 0, 0)


@attack("syscalls")
def page_faults(facts: Facts) -> str:
    """Handle page faults itself, a means to win races in the kernel."""
    return denied({"x86_64": 323, "aarch64": 282}, 0xFFFF)


@attack("syscalls")
def hidden_memory(facts: Facts) -> str:
    """Take memory counted by no limit."""
    return denied({"x86_64": 319, "aarch64": 279}, 0, 0)


@attack("syscalls")
def shared_segments(facts: Facts) -> str:
    """Take memory outliving the process."""
    return denied({"x86_64": 29, "aarch64": 194}, 0, 0, 0)


@attack("syscalls")
def unknown_calls(facts: Facts) -> str:
    """Make a call newer than the filter."""
    result = call(9_999)
    return HELD if result == -errno.ENOSYS else broke(f"result {result}")


@attack("syscalls")
def calls_of_another_machine(facts: Facts) -> str:
    """Make calls by the numbers of 32-bit programs, possibly unknown to a filter."""
    if os.uname().machine != "x86_64":
        return absent("this kind of machine has none")
    number = os.fork()
    if not number:
        os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
        _old_call()
        os._exit(7)
    _, status = os.waitpid(number, 0)
    return broke("the call was made") if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 7 else HELD


def _old_call() -> None:
    """Ask for the process's number by `int 0x80`."""
    mmap = module("mmap")
    code = bytes.fromhex("b814000000cd80c3")
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    view = (ctypes.c_char * len(code)).from_buffer(page)
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(view))()


@attack("syscalls")
def type_into_terminal(facts: Facts) -> str:
    """Put a command into the terminal of the person running tea."""
    found: list[int] = []
    for path in (0, 1, 2, "/dev/tty"):
        with suppress(OSError):
            handle = path if isinstance(path, int) else os.open(path, os.O_RDWR)
            fcntl.ioctl(handle, 0x5412, b"\n")
            found.append(handle)
    return broke(found) if found else HELD


@attack("syscalls")
def clock(facts: Facts) -> str:
    """Set the clock."""
    return denied({"x86_64": 164, "aarch64": 170}, 0, 0)


@attack("limits")
def environment(facts: Facts) -> str:
    """Find a secret in its own environment."""
    names = {"HOME", "TMPDIR", "PATH", "LANG", "TZ", "PWD", "SHLVL", "_", "LC_CTYPE", "COLUMNS", "LINES"}
    names |= {"MALLOC_ARENA_MAX", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MPLBACKEND", "MPLCONFIGDIR"}
    extra = {name for name in os.environ if name not in names and not name.startswith("PYTHON")}
    return broke(sorted(extra)) if extra or facts["words"] in " ".join(os.environ.values()) else HELD


@attack("fs")
def environment_of_others(facts: Facts) -> str:
    """Find a secret in the environment of another process."""
    with suppress(OSError):
        for name in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
                if facts["words"].encode() in file.read():
                    return broke(f"process {name}")
    return HELD
