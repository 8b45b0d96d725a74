"""Calls to the kernel without a function in Python: prctl, capset, Landlock, seccomp, mount and namespaces."""

import ctypes
import os
from collections.abc import Iterable

PDEATHSIG, DUMPABLE, SECCOMP, SUBREAPER, NO_NEW_PRIVS, AMBIENT = 1, 4, 22, 36, 38, 47
NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = (
    0x20000,
    0x2000000,
    0x4000000,
    0x8000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
_DETACH = 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def prctl(option: int, value: int = 0, third: int = 0) -> None:
    """Change something of this process."""
    _checked(_libc.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(third), 0, 0), "prctl")


def unshare(flags: int) -> None:
    """Enter new namespaces."""
    _checked(_libc.unshare(flags), "unshare")


def map_account(user: int, group: int) -> None:
    """Map this account to itself in a user namespace just entered by this process."""
    prctl(DUMPABLE, 1)  # else the files below belong to root
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Mount, bind or remount."""
    given = (source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode())
    _checked(_libc.mount(*given), f"mount {target}")


def enter_root(folder: str) -> None:
    """Make a mounted folder the root, and let go of the old one."""
    os.chdir(folder)
    _checked(_libc.syscall(_PIVOT_ROOT[os.uname().machine], b".", b"."), "pivot_root")
    _checked(_libc.umount2(b".", _DETACH), "umount")
    os.chdir("/")


def drop_capabilities() -> None:
    """Give up every capability of this process."""
    prctl(AMBIENT, 4)  # clear all
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    _checked(_libc.capset(head, (ctypes.c_uint32 * 6)()), "capset")


# -- Landlock ---------------------------------------------------------------------------------------------------------

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
_FILE = EXECUTE | WRITE_FILE | READ_FILE
_MAKE_CHAR, _MAKE_FIFO, _MAKE_BLOCK = 1 << 6, 1 << 10, 1 << 11
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_UNTIL_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
READ = EXECUTE | READ_FILE | READ_DIR
WRITE = ((1 << 15) - 1) & ~(_MAKE_CHAR | _MAKE_FIFO | _MAKE_BLOCK)
LISTED = READ_DIR
DEVICE = READ_FILE | WRITE_FILE | _TRUNCATE
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PORT_RULE, _CONNECT_TCP = 2, 2


def landlock_abi() -> int:
    """Return the version of Landlock, 0 if there is none."""
    return max(0, _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1))


def landlock(rules: Iterable[tuple[str, int]], ports: Iterable[int] = ()) -> None:
    """Keep this process, and all its descendants, to the paths named by the rules.

    Args:
        rules: Paths, each with what may be done with it and below it; one that is not there is passed over.
        ports: Ports open to TCP connections; to all others there is none, as far as Landlock knows of TCP.
    """
    abi = landlock_abi()
    handled = _UNTIL_ABI.get(abi, (1 << 16) - 1)
    network, scopes = (3 if abi >= 4 else 0), (3 if abi >= 6 else 0)
    attributes = (ctypes.c_uint64 * 3)(handled, network, scopes)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    ruleset = _checked(_libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0), "landlock")
    try:
        for path, access in rules:
            _add_rule(ruleset, path, access & handled)
        for port in ports if network else ():
            rule = (ctypes.c_uint64 * 2)(_CONNECT_TCP, port)
            _checked(_libc.syscall(_ADD_RULE, ruleset, _PORT_RULE, ctypes.byref(rule), 0), f"landlock port {port}")
        prctl(NO_NEW_PRIVS, 1)
        _checked(_libc.syscall(_RESTRICT_SELF, ruleset, 0), "landlock")
    finally:
        os.close(ruleset)


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("handle", ctypes.c_int32))


def _add_rule(ruleset: int, path: str, access: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return
    try:
        if not os.path.isdir(path):
            access &= _FILE | _TRUNCATE | _IOCTL_DEV
        rule = _PathRule(access, handle)
        _checked(_libc.syscall(_ADD_RULE, ruleset, 1, ctypes.byref(rule), 0), f"landlock {path}")
    finally:
        os.close(handle)


# -- seccomp ----------------------------------------------------------------------------------------------------------

# Numbers of the calls that no code in a sandbox needs, for x86_64 and aarch64: those that change the machine, look into
# other processes, hold keys or memory that no limit counts, or have often been the way out.
_DENIED = """
    ptrace 101 117, syslog 103 116, uselib 134 -, modify_ldt 154 -, pivot_root 155 41, adjtimex 159 171, chroot 161 51,
    acct 163 89, settimeofday 164 170, mount 165 40, umount2 166 39, swapon 167 224, swapoff 168 225, reboot 169 142,
    sethostname 170 161, setdomainname 171 162, iopl 172 -, ioperm 173 -, init_module 175 105, delete_module 176 106,
    finit_module 313 273, quotactl 179 60, quotactl_fd 443 443, nfsservctl 180 42, lookup_dcookie 212 18,
    clock_settime 227 112, clock_adjtime 305 266, mbind 237 235, set_mempolicy 238 237, migrate_pages 256 238,
    move_pages 279 239, kexec_load 246 104, kexec_file_load 320 294, add_key 248 217, request_key 249 218,
    keyctl 250 219, unshare 272 97, setns 308 268, perf_event_open 298 241, fanotify_init 300 262,
    fanotify_mark 301 263, name_to_handle_at 303 264, open_by_handle_at 304 265, process_vm_readv 310 270,
    process_vm_writev 311 271, kcmp 312 272, memfd_create 319 279, memfd_secret 447 447, bpf 321 280,
    userfaultfd 323 282, io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427, open_tree 428 428,
    move_mount 429 429, fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433, mount_setattr 442 442,
    pidfd_getfd 438 438, process_madvise 440 440, mknod 133 -, mknodat 259 33, shmget 29 194, msgget 68 186,
    semget 64 190, mq_open 240 180, vhangup 153 58
"""
# Calls whose flags lie in memory, where a filter cannot see them; programs use the older ones where these are absent.
_UNSEEN = "clone3 435 435, openat2 437 437, fchmodat2 452 452"
_CLONE, _SOCKET, _IOCTL, _PRCTL, _PERSONALITY = "56 220", "41 198", "16 29", "157 167", "135 92"
# By these a file gets its mode: the call, and which argument that is; those that open have their flags just before.
_MODES = (("90 -", 1), ("91 52", 1), ("268 53", 2), ("85 -", 1))
_OPENS = (("2 -", 2), ("257 56", 3))
# By these a process changes limits and turns: its own alone, so that neither its watcher nor others have to wait. Each
# with what its first arguments have to be: the process itself is 0, the kind of a single process 0 or 1.
_OWN = (
    ("302 261", (0,)),  # prlimit64
    ("141 140", (0, 0)),  # setpriority
    ("251 30", (1, 0)),  # ioprio_set
    ("203 122", (0,)),  # sched_setaffinity
    ("144 119", (0,)),  # sched_setscheduler
    ("142 118", (0,)),  # sched_setparam
    ("314 274", (0,)),  # sched_setattr
)
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_LAST = 462  # the newest call that was looked at; what is newer is not there
_NEW_NAMESPACES = NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET
_TERMINAL = (0x5412, 0x541C, 0x5423)  # put input into a terminal, or change how it is read
_ALLOWED, _REFUSED, _ABSENT = 0x7FFF0000, 0x50001, 0x50026
_LOAD, _EQUAL, _GREATER, _ALL_OF, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_NUMBER, _MACHINE, _ARGUMENT, _EACH = 0, 4, 16, 8
_GIVES_RIGHTS, _CREATES = 0o6000, 0o100 | 0o20000000
UNIX, INET, INET6 = 1, 2, 10


class _Filter(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("filter", ctypes.POINTER(_Filter)))


def can_filter() -> bool:
    """Return whether system calls can be filtered on this kind of machine."""
    return os.uname().machine in _MACHINES


def filter_calls(families: Iterable[int]) -> None:
    """Refuse this process, and all its descendants, the system calls needed by nothing in a sandbox.

    Args:
        families: The families of sockets that it may open; pairs of connected ones it may always make.
    """
    prctl(NO_NEW_PRIVS, 1)
    lines = _rules(os.uname().machine, families)
    filters = (_Filter * len(lines))(*lines)
    program = _Program(len(lines), filters)
    _checked(_libc.prctl(SECCOMP, 2, ctypes.byref(program), 0, 0), "seccomp")


def _rules(machine: str, families: Iterable[int]) -> list[tuple[int, int, int, int]]:
    """Return the filter's program: instruction, steps on yes, steps on no, value."""
    column, mark = _MACHINES[machine]

    def numbers(listed: str) -> list[int]:
        found = [one.split()[1 + column] for one in listed.split(",")]
        return [int(one) for one in found if one != "-"]

    lines = [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, mark), (_RETURN, 0, 0, 0x80000000), (_LOAD, 0, 0, _NUMBER)]
    lines += [(_GREATER, 0, 1, _LAST), (_RETURN, 0, 0, _ABSENT)]  # those of x32 are greater, too
    for listed, answer in ((_DENIED, _REFUSED), (_UNSEEN, _ABSENT)):
        for one in numbers(listed):
            lines += [(_EQUAL, 0, 1, one), (_RETURN, 0, 0, answer)]

    def look(call: str, argument: int, tests: list[tuple[int, int, int, int]]) -> None:
        for one in numbers(f"- {call}"):
            lines.extend([(_EQUAL, 0, len(tests) + 1, one), _argument(argument), *tests])

    gives = [(_ALL_OF, 0, 1, _GIVES_RIGHTS), _refuse(), _allow()]
    for call, argument in _MODES:
        look(call, argument, gives)
    for call, argument in _OPENS:
        look(call, argument - 1, [(_ALL_OF, 0, len(gives), _CREATES), _argument(argument), *gives])
    look(_CLONE, 0, [(_ALL_OF, 0, 1, _NEW_NAMESPACES), _refuse(), _allow()])
    for call, own in _OWN:
        tests = [one for at, value in enumerate(own) for one in (_argument(at), (_EQUAL, 1, 0, value), _refuse())]
        look(call, 0, [*tests[1:], _allow()])
    chosen = list(families)
    known = [(_EQUAL, len(chosen) - at, 0, family) for at, family in enumerate(chosen)]
    look(_SOCKET, 0, [*known, _refuse(), _allow()])
    several = len(_TERMINAL)
    told = [(_EQUAL, several - at, 0, request) for at, request in enumerate(_TERMINAL)]
    look(_IOCTL, 1, [*told, _allow(), _refuse()])
    look(_PRCTL, 0, [(_EQUAL, 0, 1, DUMPABLE), _refuse(), _allow()])
    look(_PERSONALITY, 0, [(_EQUAL, 2, 0, 0), (_EQUAL, 1, 0, 0xFFFFFFFF), _refuse(), _allow()])
    return [*lines, _allow()]


def _argument(index: int) -> tuple[int, int, int, int]:
    return (_LOAD, 0, 0, _ARGUMENT + _EACH * index)


def _refuse() -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, _REFUSED)


def _allow() -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, _ALLOWED)
