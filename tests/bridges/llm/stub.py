"""A server in place of a language model for tests. It answers like a provider, or with faults."""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from arena_bridges.llm.budget import close_budget
from arena_bridges.llm.gate import open_limits


@dataclass
class Reply:
    """The reaction of the server to a request. It comes after `seconds`."""

    content: str | None = None
    status: int = 200
    finish: str = "stop"
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    cut: int | None = None
    """The number of bytes of the body that are sent before the connection is closed; None for all."""
    body: str | None = None
    """The whole body, if the answer is not a chat completion."""
    usage: tuple[int, int] = (100, 10)


Answers = Callable[[dict[str, Any]], Reply]


def legal(request: Mapping[str, Any]) -> list[str]:
    """Return the legal moves in the first question."""
    found = re.search(r"Legal moves: (.*)", request["messages"][1]["content"])
    assert found
    return found[1].split(", ")


def move(text: str, **more: Any) -> Reply:
    """Return an answer with a move."""
    return Reply(json.dumps({"move": text}), **more)


def first(request: Mapping[str, Any]) -> Reply:
    """Return an answer with the first legal move."""
    return move(legal(request)[0])


class Server(ThreadingHTTPServer):
    """A server that accepts many requests at a time, and ignores clients that close their connection."""

    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Do nothing, because in some tests a client does not wait for the answer."""


class Stub:
    """The server, with the requests that it got, and the largest number of requests at a time (`most`)."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.requests: list[dict[str, Any]] = []
        """The requests, converted to chat completions."""
        self.bodies: list[dict[str, Any]] = []
        """The requests as they were sent."""
        self.paths: list[str] = []
        self.headers: list[Mapping[str, str]] = []
        self.at_a_time = self.most = 0
        self.lock = threading.Lock()
        self.models = 200
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(stub.models, {}, b'{"data": []}')

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                request = as_chat(self.path, body)
                with stub.lock:
                    stub.bodies.append(body)
                    stub.paths.append(self.path)
                    stub.requests.append(request)
                    stub.headers.append(dict(self.headers))
                    stub.at_a_time += 1
                    stub.most = max(stub.most, stub.at_a_time)
                reply = stub.answers(request)
                stub.ended.wait(reply.seconds)
                with stub.lock:
                    stub.at_a_time -= 1
                self._send(reply.status, reply.headers, _body(reply, self.path), reply.cut)

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
        """The address of the server."""
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1"


def as_chat(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Convert a request in any protocol to a chat completion, so that a test needs only one function for all protocols."""
    if path.endswith("/responses"):
        return {**body, "messages": body["input"]}
    if path.endswith("/messages"):
        return {**body, "messages": [{"role": "system", "content": body["system"]}, *body["messages"]]}
    if path.endswith(":generateContent"):
        turns = [body["systemInstruction"], *body["contents"]]
        roles = ["system", *["assistant" if turn["role"] == "model" else "user" for turn in body["contents"]]]
        texts = ["".join(part["text"] for part in turn["parts"]) for turn in turns]
        return {**body, "messages": [{"role": role, "content": text} for role, text in zip(roles, texts, strict=True)]}
    return body


def _body(reply: Reply, path: str) -> bytes:
    if reply.body is not None:
        return reply.body.encode()
    if reply.status != 200:
        return json.dumps({"error": {"message": reply.content or "busy"}}).encode()
    asked, answered = reply.usage
    cut_off = reply.finish == "length"
    if path.endswith("/responses"):
        said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": reply.content}]}
        thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
        ending = (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
            if cut_off
            else {"status": "completed"}
        )
        tokens = {"input_tokens": asked, "output_tokens": answered, "input_tokens_details": {"cached_tokens": asked // 4}}
        return json.dumps({"model": "stub-1", "output": [thought, said], "usage": tokens, **ending}).encode()
    if path.endswith("/messages"):
        blocks = [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": reply.content}]
        fresh, cached = asked - asked // 2, asked // 4  # Anthropic counts cached tokens separately
        tokens = {
            "input_tokens": fresh,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": asked - fresh - cached,
            "output_tokens": answered,
        }
        stop = "max_tokens" if cut_off else "end_turn"
        return json.dumps({"model": "stub-1", "content": blocks, "stop_reason": stop, "usage": tokens}).encode()
    if path.endswith(":generateContent"):
        parts = [{"text": "hm", "thought": True}, {"text": reply.content}]
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "MAX_TOKENS" if cut_off else "STOP"}
        tokens = {
            "promptTokenCount": asked,
            "cachedContentTokenCount": asked // 4,
            "candidatesTokenCount": answered - answered // 2,
            "thoughtsTokenCount": answered // 2,
        }
        return json.dumps({"modelVersion": "stub-1", "candidates": [candidate], "usageMetadata": tokens}).encode()
    choice = {"message": {"role": "assistant", "content": reply.content}, "finish_reason": reply.finish}
    usage = dict(zip(("prompt_tokens", "completion_tokens"), reply.usage, strict=True))
    return json.dumps({"model": "stub-1", "choices": [choice], "usage": usage}).encode()


@contextmanager
def serving(answers: Answers) -> Iterator[Stub]:
    """Run a server inside a `with` statement. Afterwards, forget the budget and the limits of the last run in this process."""
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
        close_budget()
        open_limits(shared=False)
