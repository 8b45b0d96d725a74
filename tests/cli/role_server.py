"""A model on loopback answering by the role named in a conversation."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@contextmanager
def serving(folder: Path, roles: Mapping[str, Any]) -> Iterator[None]:
    """Make a model the one of a home: it gives the first answer with its words in the messages."""
    with address_of(roles) as address:
        (folder / "tea.toml").write_text(
            f'model = "played"\n[models.played]\nbase_url = "{address}"\nmodel = "played"\n'
        )
        yield


@contextmanager
def address_of(roles: Mapping[str, Any]) -> Iterator[str]:
    """Serve a model, and yield its address: it gives the first answer with its words in the messages."""

    class Roles(BaseHTTPRequestHandler):
        """Answers a chat completion."""

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            said = json.dumps(body["messages"])
            answer = next(one for words, one in roles.items() if words in said)
            calls = isinstance(answer, dict) and "tool_calls" in answer
            message = {"role": "assistant", **(answer if calls else {"content": json.dumps(answer)})}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "played", "usage": usage}
            choice = {"index": 0, "delta": message, "finish_reason": "stop"}
            assert body["stream"]
            data = f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\ndata: [DONE]\n\n".encode()
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Roles)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
