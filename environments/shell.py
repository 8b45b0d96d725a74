"""The shell: Python and bash in a sandbox, on the files of a run."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NotRequired, Protocol, TypedDict

from tea import Context, Environment, Sandbox, ToolError, action, copied_name

MOST_SHOWN = 18_000  # of both streams; an agent is shown 20,000 characters of a result, and only its beginning
QUIET = "Executed successfully; there was no output."
MOST_FILES = 50
MOST_NOTES = 5
_UNITS = {
    "memory_mb": "MB of memory",
    "cpu_seconds": "s of processor time a call",
    "call_seconds": "s a call",
    "disk_mb": "MB of new files",
    "processes": "processes",
}
_LACKING = re.compile(
    r"No such file or directory: '([^'\n]{1,400})'|: '?(/[^:'\n]{1,400})'?: No such file or directory"
)
_FENCE, _LANGUAGE = "```", re.compile(r"[ \t]{0,9}\w{0,20}[ \t]{0,9}")
_KEPT = re.compile(  # as Python, bash and its programs tell of a file of the task
    r"(?:Device or resource busy|Read-only file system): '(?:/workspace/|[^/'\n])"
    r"|[:'] ?(?:/workspace/|[^/\s:'][^:'\n]{0,400})'?: Read-only file system"
    r"|\b(?:move|remove|rename) [^\n]{1,400}: Device or resource busy"
)
READ_ONLY = (
    "Files of the task are read-only for code: write one anew with `workspace_write`, or a copy under another name."
)
_ABSENT = re.compile(r"ModuleNotFoundError: No module named '([\w.]{1,100})'")


class Printed(Protocol):
    """What was printed on one stream."""

    @property
    def text(self) -> str:
        """Its beginning."""
        ...

    @property
    def cut(self) -> bool:
        """Whether `text` is not all."""
        ...

    @property
    def file(self) -> str:
        """Where all of it is, if it is long."""
        ...


class File(TypedDict):
    """A file that a call made or changed."""

    name: str
    size: int


class Output(TypedDict):
    """What came of a call.

    `text` holds STDOUT, STDERR, RESULT (the last expression's value), EXIT (if not 0) and NOTES, each under its name
    and only where there is something; `files` is there only where files were made or changed. `sandbox` says what held
    the code, and which hosts were within its reach.
    """

    text: str
    files: NotRequired[list[File]]
    sandbox: str


class Shell(Environment):
    """Run Python and bash in a sandbox without network: calculate, parse, convert, test, draw.

    It works on the files of the workspace, and knows no other. Python keeps what it defined from call to call. Where
    the operator opened hosts, code reaches these alone, through the guard; its calls are then `external`.
    """

    name = "shell"
    metadata: ClassVar[Mapping[str, Any]] = {"category": "code", "needs": "sandbox", "imports": "python"}
    recovery = "lost"
    sharing = "private"
    rules = """
        Files are those of the workspace, by the same names; other folders are not kept. There is no network,
        but for hosts that the operator opened: the state names them, and what comes from there is untrusted.
        Print what you want to see, or end with an expression. Write what is long into a file. Limits of memory, time
        and disk stop a call with an error; files stay. Figures of matplotlib become `figure-N.png`.
    """

    def __init__(self) -> None:
        self._sandbox: Sandbox | None = None

    async def setup(self, ctx: Context) -> None:
        """Start the sandbox."""
        self._sandbox = await Sandbox.open(await ctx.sandbox_terms(way_out=True))

    async def teardown(self) -> None:
        """End it, with all that runs in it."""
        if self._sandbox is not None:
            await self._sandbox.close()

    async def state(self) -> str:
        """Return what holds the code, the hosts within its reach, and its limits."""
        sandbox = self._ready()
        told = (f"{value} {_UNITS[name]}" for name, value in sandbox.limits.items() if name in _UNITS)
        return f"{_sandbox_words(sandbox)}; limits: {', '.join(told)}"

    @action(effects="writes", network=False, sandbox_network="hosts")
    async def python(self, ctx: Context, code: str) -> Output:
        """Run Python 3 code: exact counts, dates, hashes, algorithms, simulations, plots, odd formats.

        Files are there by their names; what was defined stays for the next call; there is no network.

        Args:
            code: Any number of lines; the value of a last expression is shown.
        """
        sandbox = self._ready(ctx)
        ran = await sandbox.python(_unfenced(code))
        return _output(ran, sandbox, notes=[*_files(ctx, ran), *await _packages(ctx, ran)])

    @action(effects="writes", network=False, sandbox_network="hosts")
    async def bash(self, ctx: Context, command: str) -> Output:
        """Run a command line in bash; only files stay for the next call.

        Args:
            command: One line or a script.
        """
        sandbox = self._ready(ctx)
        ran = await sandbox.bash(_unfenced(command))
        return _output(ran, sandbox, notes=_files(ctx, ran))

    @action(effects="writes", network=False, sandbox_network="index")
    async def install(self, ctx: Context, packages: list[str]) -> Output:
        """Install Python packages for this session, from what the operator provides.

        Args:
            packages: Names, or names with versions as in `attrs==25.1.0`.
        """
        sandbox = self._ready(ctx)
        net = f"index {sandbox.index}" if sandbox.index else "none"
        return _output(await sandbox.install(packages), sandbox, net, quiet=f"Installed {', '.join(packages)}.")

    def _ready(self, ctx: Context | None = None) -> Sandbox:
        if self._sandbox is None:
            raise ToolError("The shell was not set up.", fix="call it through the platform.")
        if ctx is not None:
            ctx.note("sandbox", self._sandbox.claimed())
        return self._sandbox


def _unfenced(code: str) -> str:
    """Return code without the one fence around it, as models write it in Markdown."""
    said = code.strip()
    language, _, inner = said.removeprefix(_FENCE).partition("\n")
    is_fenced = said.startswith(_FENCE) and inner.endswith(_FENCE) and inner.count(_FENCE) == 1
    return inner.removesuffix(_FENCE) if is_fenced and _LANGUAGE.fullmatch(language) else code


def _files(ctx: Context, ran: Any) -> list[str]:
    """Return notes: names here of files called by paths elsewhere, and the way to change a file of the task."""
    said = f"{ran.stderr.text}\n{ran.stdout.text}"
    lacking = dict.fromkeys(one[1] or one[2] for one in _LACKING.finditer(said))
    found = [(name, copied_name(ctx.workspace, name)) for name in lacking if name.startswith("/")]
    copies = [f"{name!r} is here as {copy!r}." for name, copy in found[:MOST_NOTES] if copy is not None]
    return [*copies, READ_ONLY] if _KEPT.search(said) else copies


async def _packages(ctx: Context, ran: Any) -> list[str]:
    """Return the packages to import in place of a missing one, as a note."""
    if (found := _ABSENT.search(ran.stderr.text)) is None:
        return []
    there = await ctx.sandbox_packages()
    others = f"installed are {', '.join(there)}" if there else "only the standard library is installed"
    return [f"{found[1].partition('.')[0]!r} is not installed here; {others}."]


def _output(ran: Any, sandbox: Sandbox, net: str = "", quiet: str = QUIET, notes: Sequence[str] = ()) -> Output:
    out, err = ran.stdout, ran.stderr
    parts = [_shown("STDOUT", out, beside=err), _shown("STDERR", err, beside=out), ("RESULT", ran.result)]
    parts.append(("EXIT", str(ran.exit or "")))
    parts.append(("NOTES", "\n".join((*ran.notes, *notes))))
    text = "\n".join(f"{name}:\n{text.rstrip()}" for name, text in parts if text.strip()) or quiet
    files = [File(name=name, size=size) for name, size in ran.files[:MOST_FILES]]
    return Output(text=text, **({"files": files} if files else {}), sandbox=_sandbox_words(sandbox, net))


def _shown(name: str, printed: Printed, *, beside: Printed) -> tuple[str, str]:
    """Return a stream under its name; for a long one the name tells of the middle left out, and where it can be read.

    It has what the other stream leaves, at least half. Of one that was cut, the notes tell where all of it is.
    """
    half = (MOST_SHOWN - min(len(beside.text), MOST_SHOWN // 2)) // 2
    text, left = printed.text, len(printed.text) - 2 * half
    if left <= 0:
        return name, text
    where = f"; all of it is in {printed.file}" if printed.file and not printed.cut else ""
    told = f"{name} ({len(text):,} characters, of which {left:,} in the middle are left out{where})"
    return told, f"{text[:half]}\n[{left:,} characters left out]\n{text[-half:]}"


def _sandbox_words(sandbox: Sandbox, net: str = "") -> str:
    """Return the level, what it does not enforce, and what is within reach: the hosts for code unless told."""
    open_ = [name for name, held in sandbox.claims.items() if not held]
    within = net or (f"hosts [{', '.join(sandbox.hosts)}]" if sandbox.hosts else "none")
    return ", ".join(
        [sandbox.level]
        + ([f"not enforced: {', '.join(open_)}"] if open_ else [])
        + ([f"net: {within}"] if within != "none" else [])
    )
