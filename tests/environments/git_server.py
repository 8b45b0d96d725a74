"""Git for tests: its own program, and a loopback server of repositories with a password and a log."""

import base64
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

ENV = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "ada" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


def git(folder: Path, *arguments: str) -> str:
    """Run git without this machine's settings, and return its output."""
    done = subprocess.run(["git", *arguments], cwd=folder, env=ENV, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@dataclass(kw_only=True)
class GitServer:
    """The settings of a server, and its requests.

    Args:
        root: The folder of its bare repositories.
        password: Given as `user:password`, it is asked for; none by default.
        moved: Where it redirects to, by the beginning of a path.
        status: What it answers to everything, if not 0.
    """

    root: Path
    password: str = ""
    moved: Mapping[str, str] = field(default_factory=dict[str, str])
    status: int = 0
    port: int = 0
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.place}"

    def given(self) -> set[str]:
        """Return the received credentials."""
        words = (one.removeprefix("Basic ") for _, one in self.asked if one)
        return {base64.b64decode(one).decode() for one in words}

    @contextmanager
    def open(self) -> Iterator["GitServer"]:
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        server.daemon_threads = False
        self.port = server.server_port
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


def _handler(own: GitServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            authorization = self.headers.get("Authorization", "")
            own.asked.append((self.path, authorization))
            body = self._body()
            wanted = "Basic " + base64.b64encode(own.password.encode()).decode()
            to = next((to for start, to in own.moved.items() if self.path.startswith(start)), "")
            if own.status:
                self._say(own.status)
            elif own.password and authorization != wanted:
                self._say(401, WWW_Authenticate='Basic realm="git"')
            elif to:
                self._say(301, Location=to + self.path)
            else:
                self._run(body)

        do_POST = do_GET

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            found = b""
            while size := int(self.rfile.readline(), 16):
                found += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return found

        def _say(self, status: int, body: bytes = b"", **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _run(self, body: bytes) -> None:
            """Answer with git's own program, as CGI has it (RFC 3875)."""
            parts = urlsplit(self.path)
            given = {
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(own.root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_CONFIG_GLOBAL": "/dev/null",
                "PATH_INFO": parts.path,
                "QUERY_STRING": parts.query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "REMOTE_USER": "ada",
                "REMOTE_ADDR": "127.0.0.1",
            }
            ended = subprocess.run(["git", "http-backend"], input=body, env=given, capture_output=True, check=True)
            head, _, content = ended.stdout.partition(b"\r\n\r\n")
            pairs = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            status = int(pairs.pop("Status", "200").split()[0])
            self._say(status, content, **pairs)

        def log_message(self, format: str, *args: object) -> None:
            """Write nothing."""

    return Handler
