"""A loopback API in the shapes of GitHub's documentation (https://docs.github.com/en/rest), with its errors."""

import base64
import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from sites import Asked, Page, Site

Answer = tuple[int, Any]
DIFF = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"


class GitHubSite(Site):
    """A server with one repository, `octo/hello`, its issues, pull requests, branches and files.

    `odd` answers in place of the next requests, one after another.
    """

    def __init__(self, key: str) -> None:
        super().__init__({})
        self.key = key
        self.reset()

    def reset(self) -> None:
        """Forget all requests and changes."""
        self.asked.clear()
        self.odd: list[Page] = []
        self.issues: dict[int, dict[str, Any]] = {}
        self.comments: dict[int, list[dict[str, Any]]] = {}
        self.reviews: list[dict[str, Any]] = []
        self.files = {"README.md": "Hello\n", "src/a.txt": "one\n"}
        self.branches = {"main": "a" * 40}
        self.repositories = {"octo/hello": repository("octo/hello")}
        self.releases = [release(tag, day=3 - at) for at, tag in enumerate(("v2-rc", "v1", "v0"))]
        for number in range(1, 4):
            self.issue(f"Issue {number}", "It breaks.")
        self.pull("Change a", "work")

    def issue(self, title: str, body: str, **more: Any) -> dict[str, Any]:
        number = len(self.issues) + 1
        made = {
            "number": number,
            "title": title,
            "body": body,
            "state": "open",
            "user": {"login": "ada"},
            "labels": [{"name": "bug"}],
            "assignees": [],
            "comments": 0,
            "created_at": f"2024-05-0{min(number, 9)}T00:00:00Z",
            "updated_at": "2024-05-09T00:00:00Z",
            "html_url": f"https://github.example/octo/hello/issues/{number}",
            **more,
        }
        self.issues[number], self.comments[number] = made, []
        return made

    def pull(self, title: str, head: str, base: str = "main") -> dict[str, Any]:
        ends = {"head": {"label": f"octo:{head}", "ref": head, "sha": "b" * 40}, "base": {"ref": base}}
        return self.issue(title, "", pull_request={}, draft=False, merged=False, mergeable=True, **ends)

    def _page(self, asked: Asked) -> Page:
        if self.odd:
            return self.odd.pop(0)
        given = asked.headers.get("authorization", "")
        if given not in ("", f"token {self.key}"):
            return told(401, {"message": "Bad credentials"})
        parts = urlsplit(asked.path)
        path = parts.path.removeprefix("/api/v3")
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        if asked.method != "GET" and not given:
            return told(401, {"message": "Requires authentication"})
        for method, pattern, work in self._routes():
            if method == asked.method and (match := re.fullmatch(pattern, path)):
                found = work(*map(unquote, match.groups()), query, json.loads(asked.body or b"{}"))
                if asked.headers.get("accept", "").endswith(".diff"):
                    return Page(body=DIFF.encode(), headers={"content-type": "application/vnd.github.v3.diff"})
                return self._listed(asked, query, *found)
        return told(404, {"message": "Not Found"})

    def _listed(self, asked: Asked, query: dict[str, str], status: int, found: Any) -> Page:
        """Return an answer; of a list one page, with the address of the next one."""
        if not isinstance(found, list) or "per_page" not in query:
            return told(status, found)
        size, number = int(query["per_page"]), int(query.get("page", "1"))
        size = min(size, 2)  # so that a few items make several pages
        headers = dict[str, str]()
        if len(found) > size * number:
            begin = asked.path.partition("&page=")[0]
            headers["link"] = f'<{self.url}{begin}&page={number + 1}>; rel="next"'
        return told(status, found[size * (number - 1) : size * number], **headers)

    def _routes(self) -> list[tuple[str, str, Callable[..., Answer]]]:
        repo = "/repos/octo/hello"
        return [
            ("GET", "/repos/([^/]+/[^/]+)", self._repository),
            ("GET", "/user/repos", lambda query, data: (200, [*self.repositories.values()])),
            ("POST", "/user/repos", self._create_repository),
            ("POST", f"{repo}/forks", lambda query, data: (202, repository("ada/hello", fork=True))),
            ("GET", "/search/(.+)", self._search),
            ("GET", f"{repo}/issues", lambda query, data: (200, [*self.issues.values()])),
            ("POST", f"{repo}/issues", lambda query, data: (201, self.issue(data["title"], data["body"]))),
            ("GET", rf"{repo}/(?:issues|pulls)/(\d+)", self._issue),
            ("PATCH", rf"{repo}/issues/(\d+)", self._edit),
            ("GET", rf"{repo}/issues/(\d+)/comments", lambda n, query, data: (200, self.comments[int(n)])),
            ("POST", rf"{repo}/issues/(\d+)/comments", self._comment),
            ("GET", f"{repo}/pulls", lambda query, data: (200, [i for i in self.issues.values() if "head" in i])),
            ("POST", f"{repo}/pulls", self._create_pull),
            ("GET", rf"{repo}/pulls/(\d+)/reviews", lambda n, query, data: (200, self.reviews)),
            ("POST", rf"{repo}/pulls/(\d+)/reviews", self._review),
            ("GET", rf"{repo}/pulls/(\d+)/comments", lambda n, query, data: (200, [])),
            ("GET", rf"{repo}/pulls/(\d+)/files", lambda n, query, data: (200, [CHANGED])),
            ("PUT", rf"{repo}/pulls/(\d+)/merge", self._merge),
            ("GET", f"{repo}/commits/(.+)/check-runs", lambda at, query, data: (200, {"check_runs": [CHECK]})),
            ("GET", f"{repo}/commits", lambda query, data: (200, [COMMIT])),
            ("GET", f"{repo}/commits/(.+)", self._commit),
            ("GET", f"{repo}/branches", self._branches),
            ("GET", f"{repo}/git/ref/heads/(.+)", self._ref),
            ("POST", f"{repo}/git/refs", self._create_ref),
            ("GET", f"{repo}/releases", lambda query, data: (200, self.releases)),
            ("GET", f"{repo}/releases/(latest|tags/.+)", self._release),
            ("POST", f"{repo}/releases", self._create_release),
            ("GET", f"{repo}/contents/?(.*)", self._contents),
            ("PUT", f"{repo}/contents/(.+)", self._write),
        ]

    def _repository(self, name: str, query: Any, data: Any) -> Answer:
        found = self.repositories.get(name)
        return (200, found) if found else (404, {"message": "Not Found"})

    def _create_repository(self, query: Any, data: Any) -> Answer:
        if f"ada/{data['name']}" in self.repositories:
            errors = [{"resource": "Repository", "code": "custom", "message": "name already exists on this account"}]
            return 422, {"message": "Repository creation failed.", "errors": errors}
        made = self.repositories[f"ada/{data['name']}"] = repository(f"ada/{data['name']}", private=data["private"])
        return 201, made

    def _search(self, kind: str, query: dict[str, str], data: Any) -> Answer:
        found = [i for i in self.issues.values() if query["q"] in i["title"]]
        place = f"{self.url}/api/v3/repos/octo/hello"
        return 200, {"total_count": len(found), "items": [{**one, "repository_url": place} for one in found]}

    def _issue(self, number: str, query: Any, data: Any) -> Answer:
        found = self.issues.get(int(number))
        return (200, found) if found else (404, {"message": "Not Found"})

    def _edit(self, number: str, query: Any, data: Any) -> Answer:
        self.issues[int(number)].update(data)
        return 200, self.issues[int(number)]

    def _comment(self, number: str, query: Any, data: Any) -> Answer:
        made = {"body": data["body"], "user": {"login": "me"}, "created_at": "2024-05-10T00:00:00Z", "html_url": "u"}
        self.comments[int(number)].append(made)
        return 201, made

    def _create_pull(self, query: Any, data: Any) -> Answer:
        if data["head"] not in self.branches:
            errors = [{"resource": "PullRequest", "field": "head", "code": "invalid"}]
            return 422, {"message": "Validation Failed", "errors": errors}
        return 201, self.pull(data["title"], data["head"], data["base"])

    def _review(self, number: str, query: Any, data: Any) -> Answer:
        states = {"APPROVE": "APPROVED", "COMMENT": "COMMENTED", "REQUEST_CHANGES": "CHANGES_REQUESTED"}
        at = {"user": {"login": "me"}, "submitted_at": "2024-05-11T00:00:00Z", "html_url": "u"}
        made = {**data, "state": states[data["event"]], **at}
        self.reviews.append(made)
        return 200, made

    def _merge(self, number: str, query: Any, data: Any) -> Answer:
        pull = self.issues[int(number)]
        if data.get("sha", pull["head"]["sha"]) != pull["head"]["sha"]:
            return 409, {"message": "Head branch was modified. Review and try the merge again."}
        pull |= {"merged": True, "state": "closed", "merge_commit_sha": "c" * 40}
        return 200, {"sha": "c" * 40, "merged": True, "message": "Pull Request successfully merged"}

    def _commit(self, at: str, query: Any, data: Any) -> Answer:
        found = self.branches.get(at)
        return (200, {**COMMIT, "sha": found}) if found else (404, {"message": "No commit found"})

    def _branches(self, query: Any, data: Any) -> Answer:
        return 200, [{"name": n, "commit": {"sha": c}, "protected": n == "main"} for n, c in self.branches.items()]

    def _ref(self, name: str, query: Any, data: Any) -> Answer:
        found = self.branches.get(name)
        return (200, {"object": {"sha": found}}) if found else (404, {"message": "Not Found"})

    def _create_ref(self, query: Any, data: Any) -> Answer:
        self.branches[data["ref"].removeprefix("refs/heads/")] = data["sha"]
        return 201, {"ref": data["ref"], "object": {"sha": data["sha"]}}

    def _release(self, which: str, query: Any, data: Any) -> Answer:
        tag = which.removeprefix("tags/")
        fits = (one for one in self.releases if one["tag_name"] == tag or (tag == "latest" and not one["prerelease"]))
        found = next(fits, None)
        return (200, found) if found else (404, {"message": "Not Found"})

    def _create_release(self, query: Any, data: Any) -> Answer:
        if any(one["tag_name"] == data["tag_name"] for one in self.releases):
            errors = [{"resource": "Release", "code": "already_exists", "field": "tag_name"}]
            return 422, {"message": "Validation Failed", "errors": errors}
        self.releases.insert(0, {**release(data["tag_name"], day=9), **data})
        return 201, self.releases[0]

    def _contents(self, path: str, query: Any, data: Any) -> Answer:
        if path in self.files:
            return 200, self._file(path)
        inside = [name for name in self.files if name.startswith(f"{path}/" if path else "")]
        listed = [{"path": name, "type": "file", "size": len(self.files[name])} for name in inside]
        return (200, listed) if listed else (404, {"message": "Not Found"})

    def _file(self, path: str) -> dict[str, Any]:
        content = base64.encodebytes(self.files[path].encode()).decode()
        return {"path": path, "size": 6, "sha": sha(self.files[path]), "encoding": "base64", "content": content}

    def _write(self, path: str, query: Any, data: Any) -> Answer:
        if path in self.files and data.get("sha") != sha(self.files[path]):
            return 409, {"message": f"{path} does not match {data.get('sha')}"}
        self.files[path] = base64.b64decode(data["content"]).decode()
        return 200, {"content": self._file(path), "commit": {"sha": "d" * 40}}


def told(status: int, data: Any, **headers: str) -> Page:
    """Return an answer as the API gives it."""
    given = {"content-type": "application/json; charset=utf-8", **{n.replace("_", "-"): v for n, v in headers.items()}}
    return Page(status=status, body=json.dumps(data).encode(), headers=given)


def repository(name: str, **more: Any) -> dict[str, Any]:
    return {
        "full_name": name,
        "description": "A greeting",
        "html_url": f"https://github.example/{name}",
        "default_branch": "main",
        "private": False,
        "fork": False,
        "archived": False,
        "language": None,
        "stargazers_count": 7,
        "open_issues_count": 3,
        "pushed_at": "2024-05-09T00:00:00Z",
        **more,
    }


def release(tag: str, *, day: int) -> dict[str, Any]:
    asset = {"name": "hello.tar.gz", "size": 120, "download_count": 7, "browser_download_url": "u"}
    return {
        "tag_name": tag,
        "name": tag,
        "body": "x" * 800,
        "draft": False,
        "prerelease": "-" in tag,
        "author": {"login": "ada"},
        "published_at": f"2024-05-0{day + 1}T00:00:00Z",
        "assets": [asset],
        "html_url": "u",
    }


def sha(text: str) -> str:
    return f"{sum(text.encode()):040x}"


CHANGED = {"filename": "a.txt", "status": "modified", "additions": 1, "deletions": 1, "patch": "@@ -1 +1 @@"}
CHECK = {"name": "tests", "status": "completed", "conclusion": "success", "html_url": "u"}
COMMIT = {
    "sha": "a" * 40,
    "commit": {"message": "Begin\n\nMore.", "author": {"name": "Ada", "date": "2024-05-01T00:00:00Z"}},
}
