"""Git: repositories in the workspace, cloned, changed, committed and pushed."""

import asyncio
import configparser
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, ClassVar, TypedDict

from tea import Context, Environment, ToolError, action
from tea.web import commit_identity

from ._git.process import Ended, Git, Remote, create, opened, origin_of, remove, repositories
from ._git.way import denied, opened_way

MOST_SHOWN = 16_000
MOST_COMMITS = 200
MOST_FILES = 200
PUSHES = 3
_REVISION = r"[A-Za-z0-9_][A-Za-z0-9_./@^~{}+-]{0,199}"
_BRANCH = r"[A-Za-z0-9_][A-Za-z0-9_./+-]{0,199}"
_APART = "--ignore-submodules=dirty"  # looks into no repository inside of one
_BEHIND = ("fetch first", "non-fast-forward", "stale info")


class Cloned(TypedDict):
    """A clone: its folder, branch and commit; `commit` is empty where the repository is."""

    folder: str
    branch: str
    commit: str


class Status(TypedDict):
    """The state of a repository; each change is two letters as of `git status --porcelain`, and a name."""

    branch: str
    commit: str
    branches: list[str]
    ahead: int
    behind: int
    changes: list[str]


class Commit(TypedDict):
    """A commit."""

    commit: str
    author: str
    date: str
    subject: str


class Committed(TypedDict):
    """A new commit, its branch, and how many files it changed."""

    commit: str
    branch: str
    files: int


class Text(TypedDict):
    """A text, and whether its end is left out."""

    text: str
    more: bool


class Pushed(TypedDict):
    """A pushed branch; `rebased` tells whether others had pushed before, and the own commits follow theirs now."""

    branch: str
    commit: str
    rebased: bool


class GitRepositories(Environment):
    """Git repositories in the workspace: clone, look, commit, branch, pull and push.

    Addresses are `https://...`, or folders that the operator opened. No hook, filter or setting of a repository runs.
    """

    name = "git"
    metadata: ClassVar[Mapping[str, Any]] = {"category": "code"}
    recovery = "durable"
    rules = """
        A repository is a folder of the workspace; change its files as any others, then commit and push.
        A rejected push puts your commits behind those of others, and pushes again; where both changed the same lines
        nothing is pushed, and the files are named.
    """

    async def state(self, ctx: Context) -> list[str]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the folders with a repository."""
        return list(await asyncio.to_thread(repositories, _root(ctx)))[:MOST_FILES]

    @action(
        effects="writes",
        network=True,
        destinations=("url",),
        after="the folder is a repository with the branch's files",
    )
    async def clone(self, ctx: Context, url: str, folder: str = "", branch: str = "") -> Cloned:
        """Clone a repository into a new folder.

        Args:
            url: Its address.
            folder: Named after the address by default.
            branch: The one to check out; its own by default.
        """
        name = folder or re.sub(r"\.git$", "", url.rstrip("/").rpartition("/")[2])
        _check_folder(ctx, name)
        _check(_BRANCH, branch or "x", "branch")
        async with opened_way(ctx, url) as remote:
            await asyncio.to_thread(create, ctx.workspace, name, url, branch or "main")
            try:
                async with opened(ctx.workspace, name, await commit_identity(ctx)) as git:
                    git.settle(remote)
                    return await _cloned(git, remote, name, branch)
            except BaseException:
                await asyncio.to_thread(remove, ctx.workspace, name)
                raise

    @action(effects="reads", idempotent=True, network=False)
    async def status(self, ctx: Context, folder: str) -> Status:
        """Tell branch, branches, and what is changed.

        Args:
            folder: The repository.
        """
        async with _opened(ctx, folder) as git:
            branch = await _branch(git)
            names = (await git.run("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes")).split()
            changes = (await git.run("status", "--porcelain", "--untracked-files=all", _APART)).splitlines()
            ahead, behind = await _distance(git, branch)
            return Status(
                branch=branch,
                commit=await _commit(git, "HEAD"),
                branches=names[:MOST_FILES],
                ahead=ahead,
                behind=behind,
                changes=changes[:MOST_FILES],
            )

    @action(effects="reads", idempotent=True, network=False)
    async def log(self, ctx: Context, folder: str, limit: int = 20, revision: str = "HEAD") -> list[Commit]:
        """Tell the last commits, the newest first.

        Args:
            folder: The repository.
            limit: Most commits.
            revision: Where to begin.
        """
        _check(_REVISION, revision, "revision")
        if not 0 < limit <= MOST_COMMITS:
            raise ToolError(f"The limit {limit} is out of range.", fix=f"ask for 1 to {MOST_COMMITS} commits.")
        async with _opened(ctx, folder) as git:
            if not await _commit(git, "HEAD"):
                return []
            form = "--format=%H%x1f%an%x1f%aI%x1f%s"
            lines = (await git.run("log", f"-n{limit}", form, revision, "--")).splitlines()
        parts = [line.split("\x1f", 3) for line in lines]
        return [Commit(commit=one[0], author=one[1], date=one[2], subject=one[3][:300]) for one in parts]

    @action(effects="reads", idempotent=True, network=False)
    async def diff(self, ctx: Context, folder: str, old: str = "HEAD", new: str = "", name: str = "") -> Text:
        """Compare commits, or a commit with the files.

        Args:
            folder: The repository.
            old: A revision.
            new: Another; the files by default.
            name: Only this file.
        """
        for one in (old, new or "x"):
            _check(_REVISION, one, "revision")
        async with _opened(ctx, folder) as git:
            revisions = (old, new) if new else (old,)
            names = (name,) if name else ()
            text = await git.run(
                "diff", "--no-color", "--no-ext-diff", "--no-textconv", _APART, *revisions, "--", *names
            )
        return Text(text=text[:MOST_SHOWN], more=len(text) > MOST_SHOWN)

    @action(effects="writes", idempotent=True, network=False, after="the files are in the branch's last commit")
    async def commit(self, ctx: Context, folder: str, message: str, files: tuple[str, ...] = ()) -> Committed:
        """Commit changed, new and deleted files.

        Args:
            folder: The repository.
            message: What the commit says.
            files: Only these, relative to the repository.
        """
        if not message.strip():
            raise ToolError("The message is empty.", fix="say what the commit changes.")
        async with _opened(ctx, folder) as git:
            await git.stage(files or (".",))
            limits = ("--", *files) if files else ()
            staged = (await git.run("diff", "--cached", "--name-only", *limits)).splitlines()
            if not staged:
                return await _same_commit(git, message)
            await git.run("commit", "--quiet", "--no-verify", "--cleanup=strip", f"--message={message}", *limits)
            return Committed(commit=await _commit(git, "HEAD"), branch=await _branch(git), files=len(staged))

    @action(effects="writes", idempotent=True, network=False, after="the branch is checked out")
    async def branch(self, ctx: Context, folder: str, name: str, start: str = "") -> Cloned:
        """Check out a branch; a new one begins at the present commit.

        Args:
            folder: The repository.
            name: Name of the branch.
            start: Where a new one begins.
        """
        _check(_BRANCH, name, "branch")
        _check(_REVISION, start or "x", "revision")
        async with _opened(ctx, folder) as git:
            if await _commit(git, f"refs/heads/{name}"):
                await git.run("checkout", "--quiet", name, "--")
            else:
                remote = await _commit(git, f"refs/remotes/origin/{name}")
                begin = (start,) if start else (remote,) if remote else ()
                await git.run("checkout", "--quiet", "--no-track", "-b", name, *begin)
            return Cloned(folder=folder, branch=name, commit=await _commit(git, "HEAD"))

    @action(
        effects="writes",
        idempotent=True,
        network=True,
        destinations=("url",),
        after="the branch holds what the remote one holds",
    )
    async def pull(self, ctx: Context, folder: str, url: str = "") -> Pushed:
        """Fetch, and put own commits behind those of the remote branch.

        Args:
            folder: The repository.
            url: Where it was cloned from; with it a person who named that need not be asked.
        """
        async with _opened(ctx, folder) as git, opened_way(ctx, await _origin(ctx, folder, url)) as remote:
            git.settle(remote)
            branch = await _branch(git)
            await _fetch(git, remote)
            base, own = await _commit(git, f"refs/remotes/origin/{branch}"), await _commit(git, "HEAD")
            commit = await _rebased(git, own, base) if own and base else own or base
            if commit:
                await _take(git, commit)
            return Pushed(branch=branch, commit=commit, rebased=commit not in (own, base))

    @action(
        effects="external",
        idempotent=True,
        network=True,
        destinations=("url",),
        after="the remote branch holds the own commits",
    )
    async def push(self, ctx: Context, folder: str, url: str, branch: str = "", rebase: bool = True) -> Pushed:
        """Push a branch to where the repository was cloned from.

        Args:
            folder: The repository.
            url: Where it was cloned from: its own settings are files, and anything may change them.
            branch: The present one by default.
            rebase: After a rejection, put own commits behind those of others, and push again.
        """
        _check(_BRANCH, branch or "x", "branch")
        if not url:
            raise ToolError("The call does not say where to push to.", fix="give the address of the clone as `url`.")
        async with _opened(ctx, folder) as git, opened_way(ctx, await _origin(ctx, folder, url)) as remote:
            git.settle(remote)
            present = await _branch(git)
            name = branch or present
            commit = own = await _commit(git, f"refs/heads/{name}")
            if not own:
                raise ToolError(f"There is no branch {name[:80]!r}.", fix="commit first, or look at `status`.")
            for _ in range(PUSHES):
                ended = await git.attempt("push", "--porcelain", remote.url, f"{commit}:refs/heads/{name}")
                if ended.code == 0:
                    await _pushed(git, name, own, commit, present=name == present)
                    return Pushed(branch=name, commit=commit, rebased=commit != own)
                if reason := denied(ended, remote):
                    raise reason
                if not rebase or not any(word in ended.out for word in _BEHIND):
                    raise _rejected(ended, name)
                await _fetch(git, remote)
                commit = await _rebased(git, commit, await _commit(git, f"refs/remotes/origin/{name}"))
            raise ToolError("Others pushed again and again; nothing was pushed.", fix="try again.")


async def _cloned(git: Git, remote: Remote, folder: str, branch: str) -> Cloned:
    """Fetch into an empty repository, and check a branch out."""
    await _fetch(git, remote)
    if not branch:
        told = await git.run("ls-remote", "--symref", remote.url, "HEAD")
        match = re.search(rf"^ref: refs/heads/({_BRANCH})\tHEAD$", told, re.MULTILINE)
        branch = match[1] if match else "main"
    elif not await _commit(git, f"refs/remotes/origin/{branch}"):
        raise ToolError(f"There is no branch {branch[:80]!r}.", fix="clone without a branch, and look at `status`.")
    commit = await _commit(git, f"refs/remotes/origin/{branch}")
    if commit:
        await git.run("checkout", "--quiet", "--no-track", "-B", branch, commit)
    else:
        await git.run("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    return Cloned(folder=folder, branch=branch, commit=commit)


async def _fetch(git: Git, remote: Remote) -> None:
    specs = ("+refs/heads/*:refs/remotes/origin/*", "refs/tags/*:refs/tags/*")
    ended = await git.attempt("fetch", "--quiet", "--no-write-fetch-head", "--prune", remote.url, *specs)
    if ended.code != 0:
        raise denied(ended, remote) or ToolError(
            f"The repository cannot be fetched: {ended.line()}", fix="check the address."
        )


async def _rebased(git: Git, own: str, base: str) -> str:
    """Return the commit with the own commits after others, made aside so no file changes before it stands.

    Raises:
        ToolError: Both changed the same lines; nothing is changed.
    """
    async with git.aside(own) as aside:
        ended = await aside.attempt("rebase", "--quiet", "--no-autostash", base)
        if ended.code == 0:
            return await _commit(aside, "HEAD")
        names = (await aside.run("diff", "--name-only", "--diff-filter=U")).split("\n")
    told = ", ".join(repr(name) for name in names[:10] if name) or ended.line()
    problem = f"Others changed the same lines: {told}. No branch and no file is changed, here or there."
    fix = f"make a branch from {base[:12]} (`branch` with `start`), and bring your changes into it."
    raise ToolError(problem, fix=fix)


async def _pushed(git: Git, name: str, own: str, commit: str, *, present: bool) -> None:
    """Let the own branch follow the pushed one."""
    await git.run("update-ref", f"refs/remotes/origin/{name}", commit)
    if present and commit != own:
        await _take(git, commit)
    elif commit != own:
        await git.run("update-ref", f"refs/heads/{name}", commit, own)


async def _take(git: Git, commit: str) -> None:
    """Bring the present branch and its files to a commit.

    Raises:
        ToolError: Changes without a commit stand in the way.
    """
    if commit != await _commit(git, "HEAD"):
        ended = await git.attempt("reset", "--quiet", "--keep", commit)
        if ended.code != 0:
            problem = f"Changes that are not committed stand in the way: {ended.line()}"
            raise ToolError(problem, fix="commit them first, then pull.")


async def _same_commit(git: Git, message: str) -> Committed:
    """Return the last commit if a repeated call made it already."""
    last = await _commit(git, "HEAD")
    if last and (await git.run("log", "-n1", "--format=%B", "HEAD")).strip() == message.strip():
        files = (await git.run("show", "--format=", "--name-only", "HEAD")).split("\n")
        return Committed(commit=last, branch=await _branch(git), files=len([name for name in files if name]))
    raise ToolError("Nothing is changed since the last commit.", fix="change files first; look at `status`.")


def _rejected(ended: Ended, name: str) -> ToolError:
    words = " ".join(re.findall(r"\[(?:remote )?rejected\] ?(.*)", ended.out)) or ended.line()
    remote = " ".join(line.removeprefix("remote: ") for line in ended.error.splitlines() if line.startswith("remote:"))
    problem = f"The push of {name[:80]!r} was rejected: {words.strip()[:120]} {remote.strip()[:120]}".rstrip()
    return ToolError(f"{problem}.", fix="read the reason; push another branch if this one is protected.")


async def _branch(git: Git) -> str:
    ended = await git.attempt("symbolic-ref", "--short", "HEAD")
    return ended.out.strip() if ended.code == 0 else ""


async def _commit(git: Git, revision: str) -> str:
    """Return the id of a commit, empty if there is none."""
    ended = await git.attempt("rev-parse", "--quiet", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    return ended.out.strip() if ended.code == 0 else ""


async def _distance(git: Git, branch: str) -> tuple[int, int]:
    """Return how many commits of a branch the remote one lacks, and the other way around."""
    ended = await git.attempt("rev-list", "--left-right", "--count", f"HEAD...refs/remotes/origin/{branch}")
    if ended.code != 0:
        return 0, 0
    ahead, behind = ended.out.split()
    return int(ahead), int(behind)


@asynccontextmanager
async def _opened(ctx: Context, folder: str) -> AsyncGenerator[Git]:
    _check_folder(ctx, folder)
    async with opened(_root(ctx), folder, await commit_identity(ctx)) as git:
        yield git


async def _origin(ctx: Context, folder: str, address: str) -> str:
    """Return the address of a clone's origin.

    Raises:
        ToolError: There is none, or it is not the one that was told, since files of the workspace may say anything.
    """
    text = await asyncio.to_thread(origin_of, _root(ctx), folder)
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string("\n".join(line.strip() for line in text.splitlines()))
        url = parser.get('remote "origin"', "url", fallback=None)
    except configparser.Error:
        url = None
    if not url:
        raise ToolError(
            f"{folder[:80]!r} has no remote address.", fix="clone it from an address, to pull and push there."
        )
    url = url.strip('"')
    if address not in ("", url):
        problem = f"{folder[:80]!r} belongs to {url[:100]!r}, not to {address[:100]!r}."
        raise ToolError(problem, fix="give that address, or clone the other one.")
    return url


def _root(ctx: Context) -> str:
    ctx.path("")
    return ctx.workspace


def _check_folder(ctx: Context, folder: str) -> None:
    """Refuse anything but a name of a folder inside the workspace."""
    path = ctx.path(folder)
    parts = path.relative_to(ctx.path("")).parts
    if any(part.lower() in (".git", ".tea") for part in parts) or any(ord(letter) < 32 for letter in folder):
        raise ToolError(f"{folder[:80]!r} is not a folder for a repository.", fix="name a plain folder.")


def _check(pattern: str, text: str, what: str) -> None:
    if not re.fullmatch(pattern, text) or ".." in text or "@{" in text:
        raise ToolError(f"{text[:60]!r} is not a name of a {what}.", fix="use letters, digits, / - _ and .")
