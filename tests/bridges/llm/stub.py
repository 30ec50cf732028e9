"""A server that answers as a language model's does, or does not: the model is outside, so it is what stands in for it."""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """What the server does with a request; `seconds` is how long it takes."""

    content: str | None = None
    status: int = 200
    finish: str = "stop"
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    cut: int | None = None
    """Bytes of the body after which the connection is closed."""
    body: str | None = None
    """The whole body, where it is no chat completion."""
    usage: tuple[int, int] = (100, 10)


Answers = Callable[[dict[str, Any]], Reply]


def legal(request: Mapping[str, Any]) -> list[str]:
    """The legal moves that the first question lists."""
    found = re.search(r"Legal moves: (.*)", request["messages"][1]["content"])
    assert found
    return found[1].split(", ")


def move(text: str, **more: Any) -> Reply:
    """An answer with a move."""
    return Reply(json.dumps({"move": text}), **more)


def first(request: Mapping[str, Any]) -> Reply:
    """The first legal move."""
    return move(legal(request)[0])


class Server(ThreadingHTTPServer):
    """One that takes many calls at a time, and says nothing of those that are hung up."""

    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Return: who does not wait for an answer is part of the tests."""


class Stub:
    """The server, what it was asked, and how many requests it had at a time."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.requests: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.at_a_time = self.most = 0
        self.lock = threading.Lock()
        self.models = 200
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(stub.models, {}, b'{"data": []}')

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with stub.lock:
                    stub.requests.append(request)
                    stub.headers.append(dict(self.headers))
                    stub.at_a_time += 1
                    stub.most = max(stub.most, stub.at_a_time)
                reply = stub.answers(request)
                stub.ended.wait(reply.seconds)
                with stub.lock:
                    stub.at_a_time -= 1
                self._send(reply.status, reply.headers, _body(reply), reply.cut)

            def _send(self, status: int, headers: Mapping[str, str], body: bytes, cut: int | None = None) -> None:
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body[:cut])

            def log_message(self, *_: Any) -> None:
                pass

        self.ended = threading.Event()
        self.server = Server(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1"


def _body(reply: Reply) -> bytes:
    if reply.body is not None:
        return reply.body.encode()
    if reply.status != 200:
        return json.dumps({"error": {"message": reply.content or "busy"}}).encode()
    choice = {"message": {"role": "assistant", "content": reply.content}, "finish_reason": reply.finish}
    usage = dict(zip(("prompt_tokens", "completion_tokens"), reply.usage, strict=True))
    return json.dumps({"model": "stub-1", "choices": [choice], "usage": usage}).encode()


@contextmanager
def serving(answers: Answers) -> Iterator[Stub]:
    """A server for a while."""
    stub = Stub(answers)
    thread = threading.Thread(target=stub.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        stub.ended.set()
        stub.server.shutdown()
        stub.server.server_close()
        thread.join()
