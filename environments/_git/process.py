"""The program git, in a folder of its own with the only settings it reads."""

import asyncio
import os
import resource
import shutil
import signal
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from tea import RootedFolder, ToolError
from tea.web import CommitIdentity, Verdict

MOST_OUTPUT = 400_000
SECONDS = 120.0
SHALLOW = "shallow"  # names the commits whose parents were not fetched
COPIED = ("HEAD", "packed-refs", "index", SHALLOW)
_MOST_COPIED, _MOST_LISTED = 100_000_000, 50_000_000
_SHORTENED, _MOST_SHORTENED = b"DIRC\0\0\0\4", 2_000_000  # an index whose paths repeat those before, and its bytes
_MOST_SHALLOW = 200_000  # bytes
_ASKED = 4  # how often one command may ask for the same credentials
_DESCRIPTOR = "TEA_CREDENTIALS"
# Git runs it when a server asks for credentials. What the shell itself reads from an inherited pipe and prints stands
# in no argument, no environment and no file.
_HELPER = (
    '!f() { test "$1" = get && read -r user && read -r word && '
    rf"""printf 'username=%s\npassword=%s\n' "$user" "$word"; }} < "/dev/fd/${_DESCRIPTOR}"; f"""
)
_PROTOCOLS = ("file", "http", "https")
_LINKED = "160000 "  # begins the line of an index with a repository inside of it
_MOST_NAMED = 200  # paths of one command
_PARTED = frozenset({"fetch", "ls-remote", "push", "rebase"})  # commands made of several programs
# Bytes of memory of each program: a few objects of trees, or of changes, may stand for any number of files and lines.
_MOST_MEMORY, _MOST_PARTED = 400_000_000, 1_000_000_000
# What a repository's own settings, hooks and attributes could start is not read at all: nothing of `.git/config`,
# `.git/hooks` and `.git/info` is in force. Links come out as texts, so that no file of a repository leads elsewhere.
# A repository inside of it has settings of its own, obeyed by a second git that looks into it: none can be started.
# A larger file is compared as a whole, not by lines: a few bytes of an object may stand for gigabytes of lines.
_CONFIG = """[core]
\trepositoryformatversion = 0
\tbare = false
\tlogAllRefUpdates = false
\tsymlinks = false
\thooksPath = /dev/null
\tfsmonitor = false
\tattributesFile = /dev/null
\texcludesFile = /dev/null
\tquotePath = false
\teditor = false
\taskPass = false
\tprotectHFS = true
\tprotectNTFS = true
\tbigFileThreshold = 16m
[user]
\tname = "{name}"
\temail = "{email}"
[credential]
\thelper =
[protocol]
\tallow = never
[protocol "{protocol}"]
\tallow = always
[transfer]
\tfsckObjects = true
[gc]
\tauto = 0
[maintenance]
\tauto = false
[commit]
\tgpgSign = false
[fetch]
\trecurseSubmodules = false
[submodule]
\trecurse = false
[http]
\tproxy = "{proxy}"
\tproxyAuthMethod = basic
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """An ended program: its exit code and its output."""

    code: int
    out: str
    error: str

    def line(self) -> str:
        """Return the most telling line of an error."""
        lines = [line.strip() for line in self.error.splitlines() if line.strip()]
        lines = [line for line in lines if not line.startswith("error: cannot run ")] or lines  # the next says of what
        told = [line for line in lines if line.startswith(("fatal:", "error:", "remote:", "!"))]
        return (told or lines or ["it gave no reason"])[0].removeprefix("fatal: ").removeprefix("error: ")[:200]


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Credentials for one origin, with the name of the password's variable."""

    origin: str
    user: str
    word: str = field(repr=False)
    variable: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """An allowed address: how git is told it, its proxy, the credentials for its origin, and the places asked for."""

    url: str
    protocol: str
    proxy: str = ""
    folder: str = ""
    credentials: Credentials | None = None
    asked: Sequence[tuple[str, Verdict]] = ()


class Git:
    """Git with a repository of the workspace: its objects and references, and settings of our own.

    Args:
        tree: The folder of the files.
        own: The private folder that git takes for its own.
        objects: The repository's folder of objects.
        committer: Who commits.
    """

    def __init__(self, tree: Path, own: Path, objects: Path, committer: CommitIdentity) -> None:
        self.tree, self._own, self._objects, self._committer = tree, own, objects, committer
        self._credentials: Credentials | None = None

    def settle(self, remote: Remote | None = None) -> None:
        """Write the settings, with those for a remote address."""
        protocol = remote.protocol if remote else "none"
        proxy = remote.proxy if remote else "http://127.0.0.1:9"
        self._credentials = given = remote.credentials if remote else None
        helper = f'[credential "{_quoted(given.origin)}"]\n\thelper = "{_quoted(_HELPER)}"\n' if given else ""
        who = {"name": _quoted(self._committer.name), "email": _quoted(self._committer.email)}
        (self._own / "config").write_text(_CONFIG.format(protocol=protocol, proxy=proxy, **who) + helper)
        safe = f'[safe]\n\tdirectory = "{_quoted(remote.folder)}"\n' if remote and remote.folder else ""
        (self._own / "global").write_text(safe)

    async def run(self, *arguments: str) -> str:
        """Run a command of git, and return its output.

        Raises:
            ToolError: It failed.
        """
        ended = await self.attempt(*arguments)
        if ended.code != 0:
            raise ToolError(f"git {arguments[0]}: {ended.line()}", fix="look at `status`, and mend what it names.")
        return ended.out

    async def require_inside(self) -> None:
        """Refuse an index with paths outside of the repository, or in `.git`: git reads whatever it names.

        Raises:
            ToolError: It has one, or cannot be read, or is too large.
        """
        ended = await self.attempt("ls-files", "-z", most=_MOST_LISTED)
        reason = ended.line() if ended.code != 0 else ""
        if reason or len(ended.out.encode()) >= _MOST_LISTED:  # what is not text has no fewer bytes than before
            problem = f"The repository's index cannot be used: {reason or 'it is too large'}."
            raise ToolError(problem, fix="clone it anew.")
        if not all(map(_is_inside, ended.out.split("\0")[:-1])):
            raise ToolError("The repository's index names files outside of it.", fix="clone it anew.")

    async def stage(self, files: Sequence[str]) -> None:
        """Add all changes of files to the index, and the current commits of repositories inside of this one.

        To see whether something in it changed, git would start a second one in there.

        Args:
            files: Files or folders, relative to the repository.

        Raises:
            ToolError: It failed.
        """
        listed = (await self.attempt("ls-files", "--stage", "-z", most=_MOST_LISTED)).out.split("\0")
        links = [one.partition("\t")[2] for one in listed if one.startswith(_LINKED)]
        inner = await asyncio.to_thread(_repositories_in, self.tree, links)
        named = [*(f":(literal){one}" for one in files), *(f":(exclude,literal){one}" for one in inner)]
        paths = self._own / "paths"
        await asyncio.to_thread(paths.write_text, "\0".join(named), "utf-8", "surrogateescape")
        await self.run("add", "--all", f"--pathspec-from-file={paths}", "--pathspec-file-nul")
        moved = [one for one in inner if any(each in (".", one) or one.startswith(f"{each}/") for each in files)]
        for at in range(0, len(moved), _MOST_NAMED):
            await self.run("update-index", "--", *moved[at : at + _MOST_NAMED])

    async def attempt(self, *arguments: str, most: int = MOST_OUTPUT) -> Ended:
        """Run a command of git, and return how it ended.

        Args:
            arguments: The command.
            most: Most bytes of its output that are kept.

        Raises:
            ToolError: There is no git, or it took too long.
        """
        program = shutil.which("git")
        if program is None:
            raise ToolError("The program git is not installed.", fix="install it, for example `apt install git`.")
        with _credentials_pipe(self._credentials) as inherited:
            process = await asyncio.create_subprocess_exec(
                program,
                *arguments,
                cwd=self.tree,
                env={**self._environment(program, arguments[0]), _DESCRIPTOR: "".join(map(str, inherited))},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
                pass_fds=inherited,
            )
            most_memory = _MOST_PARTED if arguments[0] in _PARTED else _MOST_MEMORY
            with suppress(ProcessLookupError):  # it has ended
                resource.prlimit(process.pid, resource.RLIMIT_DATA, (most_memory, most_memory))
        try:
            async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as group:
                out, error = (
                    group.create_task(_read(one, size))
                    for one, size in ((process.stdout, most), (process.stderr, MOST_OUTPUT))
                )
            return Ended(code=await process.wait(), out=out.result(), error=error.result())
        except TimeoutError:
            problem = f"git {arguments[0]} took longer than {SECONDS:.0f} s."
            raise ToolError(problem, fix="try again, or with a smaller repository.") from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()

    def _environment(self, program: str, command: str) -> dict[str, str]:
        programs = os.pathsep.join((os.path.dirname(program), os.defpath))
        none = {"PATH": str(self._own), "GIT_EXEC_PATH": str(self._own)}
        return {
            **({"PATH": programs} if command in _PARTED else none),
            "HOME": str(self._own),
            "LC_ALL": "C.UTF-8",
            "GIT_DIR": str(self._own),
            "GIT_WORK_TREE": str(self.tree),
            "GIT_OBJECT_DIRECTORY": str(self._objects),
            "GIT_INDEX_FILE": str(self._own / "index"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": str(self._own / "global"),
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_ALLOW_PROTOCOL": ":".join(_PROTOCOLS),
            "GIT_PROTOCOL_FROM_USER": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "false",
            "GIT_EDITOR": "false",
            "GIT_SEQUENCE_EDITOR": "false",
            "GIT_PAGER": "cat",
            "GIT_LITERAL_PATHSPECS": "0" if command == "add" else "1",  # whose paths say that they are
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_SSH_COMMAND": "false",
        }

    @asynccontextmanager
    async def aside(self, commit: str) -> AsyncGenerator["Git"]:
        """Yield git with the same objects and a temporary folder of files, at a commit."""
        with TemporaryDirectory(prefix="tea-git-", ignore_cleanup_errors=True) as folder:
            own, tree = Path(folder, "own"), Path(folder, "tree")
            await asyncio.to_thread(_lay_out, own, f"{commit}\n", tree, own / "refs", shallow=self._own / SHALLOW)
            found = Git(tree, own, self._objects, self._committer)
            found.settle()
            await found.run("reset", "--quiet", "--hard", commit)
            yield found


@asynccontextmanager
async def opened(workspace: str, folder: str, committer: CommitIdentity) -> AsyncGenerator[Git]:
    """Yield git for a repository of the workspace; its changes outside of objects are put back at the end.

    Args:
        workspace: The workspace.
        folder: The repository's folder in it.
        committer: Who commits.

    Raises:
        ToolError: There is no repository, or it leads elsewhere.
    """
    with TemporaryDirectory(prefix="tea-git-", ignore_cleanup_errors=True) as private:
        own = Path(private, "own")
        tree, objects = await asyncio.to_thread(_arrange, workspace, folder, own)
        found = Git(tree, own, objects, committer)
        found.settle()
        await found.require_inside()
        try:
            yield found
        finally:
            await asyncio.to_thread(_put_back, workspace, folder, own)


def create(workspace: str, folder: str, url: str, branch: str) -> None:
    """Make an empty repository in a new or empty folder.

    Raises:
        ToolError: The folder is taken.
    """
    with RootedFolder(workspace) as files:
        inside = files.inside(folder)
        if files.status(inside) is not None and os.listdir(files.root / inside):
            raise ToolError(f"{folder[:80]!r} is not empty.", fix="name another folder.")
        remote = f'[remote "origin"]\n\turl = "{_quoted(url)}"\n' if url else ""
        plain = f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n{remote}"
        for name, text in (("HEAD", f"ref: refs/heads/{branch}\n"), ("config", plain)):
            files.write(f"{inside}/.git/{name}", text.encode(), replace=False)
        for name in ("objects/info", "refs/heads"):  # folders are made for a file, which is not wanted
            files.write(f"{inside}/.git/{name}/.tea", b"")
            files.remove(f"{inside}/.git/{name}/.tea")


def remove(workspace: str, folder: str) -> None:
    """Remove a folder made by a failed call, with everything in it."""
    with RootedFolder(workspace) as files:
        shutil.rmtree(files.root / files.inside(folder), ignore_errors=True)


def origin_of(workspace: str, folder: str) -> str:
    """Return the text of a repository's settings, mere data and never in force."""
    with RootedFolder(workspace) as files:
        if not files.is_file(f"{folder}/.git/config"):
            return ""
        with files.reading(f"{folder}/.git/config") as file:
            return file.read(MOST_OUTPUT).decode("utf-8", "replace")


def repositories(workspace: str) -> Sequence[str]:
    """Return the repositories among the folders of the workspace, the nearest first."""
    with RootedFolder(workspace) as files:
        names = (name for name, _ in files.files(hidden=True))
        return sorted(name.removesuffix(".git/HEAD").rstrip("/") or "." for name in names if _is_head(name))


@contextmanager
def _credentials_pipe(credentials: Credentials | None) -> Generator[tuple[int, ...]]:
    """Yield the descriptors inherited by a process: a pipe with the credentials, or none."""
    if credentials is None:
        yield ()
        return
    reading, writing = os.pipe()
    try:
        with os.fdopen(writing, "wb") as file:
            file.write(f"{credentials.user}\n{credentials.word}\n".encode() * _ASKED)
        yield (reading,)
    finally:
        os.close(reading)


def _is_head(name: str) -> bool:
    return name == ".git/HEAD" or name.endswith("/.git/HEAD")


def _arrange(workspace: str, folder: str, own: Path) -> tuple[Path, Path]:
    """Arrange git's own folder for a repository, and return the folders of its files and objects."""
    with RootedFolder(workspace) as files:
        inside = files.inside(folder or ".")
        below = f"{inside}/.git"
        if not files.is_file(f"{below}/HEAD"):
            known = ", ".join(repr(one) for one in repositories(workspace)[:5]) or "none"
            raise ToolError(f"{folder[:80]!r} is not a repository.", fix=f"clone one; there are: {known}.")
        _check_plain(files, below)
        _lay_out(own, "")
        for name in COPIED:
            if files.is_file(f"{below}/{name}"):
                with files.reading(f"{below}/{name}") as file:
                    data = file.read(_MOST_COPIED)
                    if data.startswith(_SHORTENED) and len(data) > _MOST_SHORTENED:  # its square in memory
                        fix = "write it at length: `git update-index --index-version 2`."
                        raise ToolError("The repository's index is shortened, and large all the same.", fix=fix)
                    if name == SHALLOW and len(data) > _MOST_SHALLOW:  # its square in time
                        raise ToolError("The repository lacks the parents of too many commits.", fix="clone it anew.")
                    (own / name).write_bytes(data)
                    changed = os.fstat(file.fileno()).st_mtime_ns
                os.utime(own / name, ns=(changed, changed))  # git compares what changed in the second of its index
        place = files.root / files.inside(below)
        (own / "refs").symlink_to(place / "refs")
        return files.root / inside, place / "objects"


def _check_plain(files: RootedFolder, below: str) -> None:
    """Refuse a repository with links outside of its hooks, or with objects elsewhere."""
    place = files.root / below
    for folder, folders, names in os.walk(place):
        if folder == str(place / "hooks"):
            continue
        linked = [name for name in (*folders, *names) if os.path.islink(os.path.join(folder, name))]
        if linked or {"alternates", "http-alternates"} & {*names}:
            raise ToolError("The repository refers to files outside of it.", fix="clone it anew.")
    if place.is_symlink() or not (place / "objects").is_dir() or not (place / "refs").is_dir():
        raise ToolError("The repository lacks its objects.", fix="clone it anew.")


def _lay_out(own: Path, head: str, *further: Path, shallow: Path | None = None) -> None:
    for folder in (own / "info", *further):
        folder.mkdir(parents=True)
    (own / "info" / "exclude").write_text("/.tea/\n")
    (own / "HEAD").write_text(head)
    if shallow is not None and shallow.is_file():
        shutil.copyfile(shallow, own / SHALLOW)


def _put_back(workspace: str, folder: str, own: Path) -> None:
    with RootedFolder(workspace) as files:
        below = f"{files.inside(folder or '.')}/.git"
        if not files.is_file(f"{below}/HEAD"):
            return
        for name in COPIED:
            if (own / name).is_file():
                files.write(f"{below}/{name}", (own / name).read_bytes())
                files.set_modified(f"{below}/{name}", (own / name).stat().st_mtime_ns)


def _is_inside(name: str) -> bool:
    """Return whether a path of an index leads to a file of the repository's tree."""
    parts = name.lower().split("/")
    return not {"", ".", "..", ".git"} & {*parts}


def _repositories_in(tree: Path, names: Sequence[str]) -> list[str]:
    return [one for one in names if os.path.lexists(tree / one / ".git")]


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


async def _read(stream: asyncio.StreamReader | None, most: int) -> str:
    """Read a stream to its end, and return its beginning."""
    kept = bytearray()
    while stream is not None and (piece := await stream.read(65_536)):
        kept += piece[: most - len(kept)]
    return kept.decode("utf-8", "replace")
