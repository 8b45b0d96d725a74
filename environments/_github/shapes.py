"""The shapes of results: repositories, issues, pull requests and files, read from GitHub's answers."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any, TypedDict, cast

from tea import ToolError

MOST_SHOWN = 16_000
MOST_BODY = 8_000


class Repository(TypedDict):
    """A repository; `name` is `owner/name`."""

    name: str
    description: str
    url: str
    branch: str
    private: bool
    fork: bool
    archived: bool
    language: str
    stars: int
    open_issues: int
    pushed: str


class IssueLine(TypedDict):
    """An issue or pull request in a list."""

    number: int
    title: str
    state: str
    author: str
    labels: list[str]
    comments: int
    created: str
    updated: str
    url: str


class Comment(TypedDict):
    """A comment; `path` and `line` are those of code under review."""

    author: str
    date: str
    body: str
    path: str
    line: int


class Issue(TypedDict):
    """An issue; of a long list of comments the first ones."""

    issue: IssueLine
    body: str
    assignees: list[str]
    comments: list[Comment]


class PullLine(TypedDict):
    """A pull request in a list; `head` is `owner:branch`."""

    number: int
    title: str
    state: str
    author: str
    head: str
    base: str
    draft: bool
    created: str
    updated: str
    url: str


class Pull(TypedDict):
    """A pull request; `mergeable` is `yes`, `no` or `unknown`, and `head_commit` the commit to review."""

    pull: PullLine
    body: str
    merged: bool
    mergeable: str
    head_commit: str
    commits: int
    additions: int
    deletions: int
    changed_files: int
    comments: list[Comment]


class ChangedFile(TypedDict):
    """A changed file of a pull request, and the beginning of its diff."""

    name: str
    status: str
    additions: int
    deletions: int
    patch: str


class Branch(TypedDict):
    """A branch and its last commit."""

    name: str
    commit: str
    protected: bool


class Commit(TypedDict):
    """A commit."""

    commit: str
    author: str
    date: str
    subject: str


class Check(TypedDict):
    """A check of a commit; `state` is its conclusion, or how far it is."""

    name: str
    state: str
    url: str


class Asset(TypedDict):
    """A file of a release."""

    name: str
    size: int
    downloads: int
    url: str


class Release(TypedDict):
    """A release; `state` is `published`, `prerelease` or `draft`, and `notes` the beginning of its words."""

    tag: str
    name: str
    state: str
    author: str
    published: str
    notes: str
    assets: list[Asset]
    url: str


class Entry(TypedDict):
    """An entry of a folder; `kind` is `file`, `dir`, `symlink` or `submodule`."""

    name: str
    kind: str
    size: int


class Text(TypedDict):
    """A piece of a text; `next` is the start of the next one, 0 at the end."""

    text: str
    next: int


class File(TypedDict):
    """A piece of a file; `sha` names its content, `next` is the start of the next piece, 0 at the end."""

    name: str
    text: str
    size: int
    sha: str
    next: int


class Found(TypedDict):
    """A result of a search."""

    repository: str
    name: str
    words: str
    url: str


class Made(TypedDict):
    """The number and address of a new or changed object, and its state."""

    number: int
    url: str
    state: str


class Written(TypedDict):
    """A commit on a branch; empty if the branch holds it already."""

    branch: str
    commit: str


def repository_of(data: dict[str, Any]) -> Repository:
    """Return a repository."""
    return Repository(
        name=needed(data, "full_name"),
        description=text(data, "description")[:500],
        url=text(data, "html_url"),
        branch=text(data, "default_branch"),
        private=flag(data, "private"),
        fork=flag(data, "fork"),
        archived=flag(data, "archived"),
        language=text(data, "language"),
        stars=number(data, "stargazers_count"),
        open_issues=number(data, "open_issues_count"),
        pushed=text(data, "pushed_at"),
    )


def issue_line(data: dict[str, Any]) -> IssueLine:
    """Return an issue of a list."""
    return IssueLine(
        number=needed_number(data, "number"),
        title=text(data, "title")[:300],
        state=text(data, "state"),
        author=text(data, "user", "login"),
        labels=[text(one, "name") for one in members(data, "labels")],
        comments=number(data, "comments"),
        created=text(data, "created_at"),
        updated=text(data, "updated_at"),
        url=text(data, "html_url"),
    )


def issue_of(data: dict[str, Any], comments: list[dict[str, Any]]) -> Issue:
    """Return an issue with its comments."""
    return Issue(
        issue=issue_line(data),
        body=text(data, "body")[:MOST_BODY],
        assignees=[text(one, "login") for one in members(data, "assignees")],
        comments=[comment_of(one) for one in comments],
    )


def comment_of(data: dict[str, Any]) -> Comment:
    """Return a comment of an issue, a review, or a line under review."""
    state = text(data, "state")  # of a review
    return Comment(
        author=text(data, "user", "login"),
        date=text(data, "created_at") or text(data, "submitted_at"),
        body=": ".join(filter(None, (state, text(data, "body")[:MOST_BODY]))),
        path=text(data, "path"),
        line=number(data, "line"),
    )


def pull_line(data: dict[str, Any]) -> PullLine:
    """Return a pull request of a list."""
    return PullLine(
        number=needed_number(data, "number"),
        title=text(data, "title")[:300],
        state=text(data, "state"),
        author=text(data, "user", "login"),
        head=text(data, "head", "label"),
        base=text(data, "base", "ref"),
        draft=flag(data, "draft"),
        created=text(data, "created_at"),
        updated=text(data, "updated_at"),
        url=text(data, "html_url"),
    )


def pull_of(data: dict[str, Any], comments: list[dict[str, Any]]) -> Pull:
    """Return a pull request with its comments and reviews."""
    told = {True: "yes", False: "no", None: "unknown"}
    said = sorted(map(comment_of, comments), key=lambda one: one["date"])
    return Pull(
        pull=pull_line(data),
        body=text(data, "body")[:MOST_BODY],
        merged=flag(data, "merged"),
        mergeable=told[data.get("mergeable") if isinstance(data.get("mergeable"), bool) else None],
        head_commit=text(data, "head", "sha"),
        commits=number(data, "commits"),
        additions=number(data, "additions"),
        deletions=number(data, "deletions"),
        changed_files=number(data, "changed_files"),
        comments=said,
    )


def changed_file(data: dict[str, Any]) -> ChangedFile:
    """Return a changed file."""
    return ChangedFile(
        name=needed(data, "filename"),
        status=text(data, "status"),
        additions=number(data, "additions"),
        deletions=number(data, "deletions"),
        patch=text(data, "patch")[:4_000],
    )


def commit_of(data: dict[str, Any]) -> Commit:
    """Return a commit."""
    return Commit(
        commit=needed(data, "sha"),
        author=text(data, "commit", "author", "name"),
        date=text(data, "commit", "author", "date"),
        subject=(text(data, "commit", "message").splitlines() or [""])[0][:300],
    )


def branch_of(data: dict[str, Any]) -> Branch:
    """Return a branch."""
    return Branch(name=needed(data, "name"), commit=needed(data, "commit", "sha"), protected=flag(data, "protected"))


def check_of(data: dict[str, Any]) -> Check:
    """Return a check."""
    state = text(data, "conclusion") or text(data, "status")
    return Check(name=needed(data, "name"), state=state, url=text(data, "html_url"))


def release_of(data: dict[str, Any], most: int = MOST_BODY) -> Release:
    """Return a release with so many characters of its notes."""
    state = "draft" if flag(data, "draft") else "prerelease" if flag(data, "prerelease") else "published"
    return Release(
        tag=needed(data, "tag_name"),
        name=text(data, "name"),
        state=state,
        author=text(data, "author", "login"),
        published=text(data, "published_at") or text(data, "created_at"),
        notes=text(data, "body")[:most],
        assets=[_asset(one) for one in members(data, "assets")],
        url=text(data, "html_url"),
    )


def _asset(data: dict[str, Any]) -> Asset:
    size, downloads = number(data, "size"), number(data, "download_count")
    return Asset(name=text(data, "name"), size=size, downloads=downloads, url=text(data, "browser_download_url"))


def entry_of(data: dict[str, Any]) -> Entry:
    """Return an entry of a folder."""
    return Entry(name=needed(data, "path"), kind=needed(data, "type"), size=number(data, "size"))


def made_of(data: dict[str, Any]) -> Made:
    """Return the number, address and state of an issue or pull request."""
    return Made(number=needed_number(data, "number"), url=needed(data, "html_url"), state=text(data, "state"))


def found_of(data: dict[str, Any]) -> Found:
    """Return a result of a search for issues, code or repositories."""
    place = text(data, "repository", "full_name") or "/".join(text(data, "repository_url").split("/")[-2:])
    told = f"#{number(data, 'number')}" if number(data, "number") else text(data, "path")
    return Found(
        repository=place or text(data, "full_name"),
        name=told or text(data, "name"),
        words=(text(data, "title") or text(data, "description"))[:300],
        url=needed(data, "html_url"),
    )


def file_of(data: object, name: str, offset: int) -> File:
    """Return a piece of a file.

    Raises:
        ToolError: It is a folder, too large, or not a text.
    """
    if isinstance(data, list):
        raise ToolError(f"{name[:100]!r} is a folder.", fix="list it with `list_files`.")
    needed(data, "sha")
    content = cast("dict[str, Any]", data)
    fix = "clone the repository with the environment `git`."
    if text(content, "encoding") != "base64":
        raise ToolError(f"{name[:100]!r} is not given as a text here ({number(content, 'size')} bytes).", fix=fix)
    try:
        whole = base64.b64decode(text(content, "content")).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ToolError(f"{name[:100]!r} is not a text in UTF-8.", fix=fix) from error
    piece = piece_of(whole, offset)
    size = number(content, "size")
    return File(name=text(content, "path"), text=piece["text"], size=size, sha=text(content, "sha"), next=piece["next"])


def piece_of(whole: str, offset: int) -> Text:
    """Return the piece of a text from an offset on."""
    end = max(0, offset) + MOST_SHOWN
    return Text(text=whole[max(0, offset) : end], next=end if end < len(whole) else 0)


def text(data: object, *path: str) -> str:
    """Return the text at a path of members, empty if there is none."""
    found = _at(data, path)
    return found if isinstance(found, str) else ""


def needed(data: object, *path: str) -> str:
    """Return the text at a path of members found in every such answer.

    Raises:
        ToolError: There is none.
    """
    found = text(data, *path)
    if not found:
        raise wrong(f"no text `{'.'.join(path)}` is in it")
    return found


def needed_number(data: object, *path: str) -> int:
    """Return the number at a path of members found in every such answer.

    Raises:
        ToolError: There is none.
    """
    found = number(data, *path)
    if not found:
        raise wrong(f"no number `{'.'.join(path)}` is in it")
    return found


def wrong(what: str) -> ToolError:
    """Return the error for an answer of another form than the documented one.

    Args:
        what: What is wrong with it.
    """
    problem = f"GitHub's answer is not of the documented form: {what}."
    fix = (
        "look if [hosts.github] api in tea.toml is the address of the API, and whether a change was made all the same."
    )
    return ToolError(problem, fix=fix)


def number(data: object, *path: str) -> int:
    """Return the whole number at a path of members, 0 if there is none."""
    found = _at(data, path)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def flag(data: object, *path: str) -> bool:
    """Return whether a member at a path is true."""
    return _at(data, path) is True


def members(data: object, *path: str) -> list[dict[str, Any]]:
    """Return the objects of the list at a path of members."""
    found = _at(data, path)
    return (
        [cast("dict[str, Any]", one) for one in cast("list[Any]", found) if isinstance(one, dict)]
        if isinstance(found, list)
        else []
    )


def _at(data: object, path: tuple[str, ...]) -> object:
    for name in path:
        data = cast("Mapping[str, object]", data).get(name) if isinstance(data, Mapping) else None
    return data
