"""Test the protocols of the providers against a server: each protocol plays the same matches."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, get_args

import pytest

import arena
from arena import Unavailable
from arena.spec import load_spec
from arena_bridges.llm import endpoint as endpoints
from arena_bridges.llm.apis import APIS, ApiName, Question
from tests.bridges.llm.stub import Reply, first, move, serving

NAMES: tuple[ApiName, ...] = get_args(ApiName)
SCHEMA = {
    "type": "object",
    "properties": {"move": {"type": "string"}},
    "required": ["move"],
    "additionalProperties": False,
}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Shorten the pauses, and remove all keys from the environment."""
    monkeypatch.setattr(endpoints, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(endpoints, "WAIT_SECONDS", 1.0)
    for api in APIS.values():
        monkeypatch.delenv(api.key, raising=False)
    yield
    endpoints.endpoint.cache_clear()


def spec(url: str, api: str, **own: Any) -> dict[str, Any]:
    model = {"agent": "llm", "url": url, "model": "m/1", "api": api, "tokens": 64, **own}
    return {"game": "tic-tac-toe", "seed": 3, "rounds": 1, "agents": [model, "random"]}


def test_a_match_is_the_same_with_each_protocol() -> None:
    """First answers are illegal, cut off or prose. Tokens are read as billed, and thoughts are separate from answers."""
    spoilt = [move("99"), Reply("{", finish="length"), Reply("the centre")]

    def answers(request: dict[str, Any]) -> Reply:
        messages = request["messages"]
        place = len(messages[1]["content"]) % 3
        return spoilt[place] if len(messages) == 2 else first(request)

    played: dict[str, Any] = {}
    for api in NAMES:
        with serving(answers) as stub:
            cup = spec(stub.url, api)
            cup["agents"][1] = {**cup["agents"][0], "label": "other"}  # no random agent, because its stream depends on the id
            records = arena.run(cup).records
        assert {record.termination for record in records} == {"normal"}
        exchanges = [json.loads(text) for record in records for _, text in record.transcript]
        assert {one["thoughts"] for one in exchanges} == {"" if api == "chat" else "hm"}
        assert {(one["tokens_in"], one["tokens_out"], one["model"]) for one in exchanges} == {(100, 10, "stub-1")}
        cached = {
            one.spent["tokens_cached"] / one.spent["requests"] for record in records for one in record.decisions if one.spent
        }
        assert cached == {0 if api == "chat" else 25}
        spent = [{**one.spent, "tokens_cached": 0} for record in records for one in record.decisions if one.spent]
        outcomes = [(one["outcome"], one["truncated"], one["fault"]) for one in exchanges]
        played[api] = [[record.actions for record in records], spent, outcomes]
    assert len({json.dumps(one) for one in played.values()}) == 1


def test_requests_follow_the_descriptions_of_the_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The libraries of Anthropic and Gemini send the same bodies for this question."""
    question = Question("m/1", [{"role": "system", "content": "rules"}, {"role": "user", "content": "go"}], 20, SCHEMA, 0.0)
    monkeypatch.setenv("MY_API_KEY", "sk-test")
    bodies, headers, paths = {}, {}, {}
    for api in NAMES:
        with serving(lambda _: Reply("{}")) as stub:
            endpoints.Endpoint(stub.url, "MY_API_KEY", api).ask(question)
            (bodies[api],), (headers[api],), (paths[api],) = stub.bodies, stub.headers, stub.paths
    assert bodies["anthropic"] == {
        "max_tokens": 20,
        "messages": [{"role": "user", "content": "go"}],
        "model": "m/1",
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
        "system": "rules",
        "temperature": 0.0,
    }
    assert bodies["gemini"] == {
        "contents": [{"parts": [{"text": "go"}], "role": "user"}],
        "systemInstruction": {"parts": [{"text": "rules"}]},
        "generationConfig": {
            "temperature": 0.0,
            "maxOutputTokens": 20,
            "responseMimeType": "application/json",
            "responseJsonSchema": SCHEMA,
        },
    }
    assert bodies["responses"] == {
        "model": "m/1",
        "input": question.messages,
        "max_output_tokens": 20,
        "store": False,
        "temperature": 0.0,
        "text": {"format": {"type": "json_schema", "name": "move", "strict": True, "schema": SCHEMA}},
    }
    assert paths == {
        "chat": "/v1/chat/completions",
        "responses": "/v1/responses",
        "anthropic": "/v1/messages",
        "gemini": "/v1/models/m%2F1:generateContent",
    }
    assert headers["anthropic"]["x-api-key"] == headers["gemini"]["x-goog-api-key"] == "sk-test"
    assert headers["anthropic"]["anthropic-version"] == "2023-06-01"
    assert "Authorization" not in headers["anthropic"].keys() | headers["gemini"].keys()
    assert headers["chat"]["Authorization"] == headers["responses"]["Authorization"] == "Bearer sk-test"


@pytest.mark.parametrize("api", NAMES)
def test_effort_and_extra_fields_follow_the_protocol(api: ApiName) -> None:
    extra = {"generationConfig": {"topP": 0.5}} if api == "gemini" else {"top_p": 0.5}
    with serving(first) as stub:
        arena.run(spec(stub.url, api, reasoning_effort="low", extra_body=extra, temperature=0.7))
    found: dict[str, Callable[[dict[str, Any]], tuple[Any, ...]]] = {
        "chat": lambda body: (body["reasoning_effort"], body["top_p"], body["temperature"], "seed" in body),
        "responses": lambda body: (body["reasoning"]["effort"], body["top_p"], body["temperature"], True),
        "anthropic": lambda body: (body["output_config"]["effort"], body["top_p"], body["temperature"], True),
        "gemini": lambda body: (
            body["generationConfig"]["thinkingConfig"]["thinkingLevel"],
            body["generationConfig"]["topP"],
            body["generationConfig"]["temperature"],
            "seed" in body["generationConfig"],
        ),
    }
    assert {found[api](body) for body in stub.bodies} == {("low", 0.5, 0.7, True)}


@pytest.mark.parametrize("api", NAMES)
def test_temporary_failures_change_no_record_with_any_protocol(api: ApiName) -> None:
    """The server is busy, drops a connection, is overloaded, or sends an invalid reply. The agent asks again."""
    with serving(first) as stub:
        calm = arena.run(spec(stub.url, api), concurrency=1).records
        asked = len(stub.requests)
        trouble = [Reply(status=429, headers={"Retry-After": "0"}), Reply("x", cut=10), Reply(status=529), Reply(body="{}")]
        left = list(trouble)
        stub.answers = lambda request: left.pop() if left else replace(first(request), seconds=0.002)  # slow, but in time
        records = arena.run(spec(stub.url, api), concurrency=1).records
        assert len(stub.requests) == 2 * asked + len(trouble)
    assert [record.timeless() for record in records] == [record.timeless() for record in calm]


@pytest.mark.parametrize("api", NAMES)
def test_an_answer_that_takes_too_long_is_an_error(api: ApiName, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "WAIT_SECONDS", 0.1)
    question = Question("m", [{"role": "system", "content": "rules"}, {"role": "user", "content": "go"}], 9)
    with (
        serving(lambda _: Reply("{}", seconds=60)) as stub,
        pytest.raises(Unavailable, match=r"no complete answer within 0\.1 s"),
    ):
        endpoints.Endpoint(stub.url, None, api).ask(question)


@pytest.mark.parametrize("api", NAMES)
def test_a_redirect_carries_no_key_to_another_host(api: ApiName, monkeypatch: pytest.MonkeyPatch) -> None:
    """A redirect is not followed. The libraries of Anthropic and Gemini follow it with the key."""
    monkeypatch.setenv("MY_API_KEY", "sk-test")
    with serving(first) as other, redirecting(other.url.replace("127.0.0.1", "localhost")) as url:
        with pytest.raises(Unavailable, match="status 307"):
            endpoints.Endpoint(url, "MY_API_KEY", api).ask(Question("m", [{"role": "system", "content": ""}], 9))
        assert other.headers == []


@contextmanager
def redirecting(target: str) -> Iterator[str]:
    """Run a server that redirects all requests, and yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(307)
            self.send_header("Location", target)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize(
    ("api", "reply", "answer"),
    [
        ("gemini", {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 7}}, ("", 7, 0)),
        ("anthropic", {"content": [], "stop_reason": "refusal", "usage": {"input_tokens": 7, "output_tokens": 1}}, ("", 7, 1)),
        ("responses", {"output": [], "usage": {"input_tokens": 7, "output_tokens": 1}}, ("", 7, 1)),
    ],
)
def test_a_refusal_by_the_content_filter_counts_as_an_answer_of_the_model(
    api: ApiName, reply: dict[str, Any], answer: tuple[str, int, int]
) -> None:
    """The answer is empty and counts as unreadable, but the backend is not at fault."""
    read = APIS[api].read(reply)
    assert (read.text, read.usage.tokens_in, read.usage.tokens_out) == answer


def test_two_hosts_cannot_use_the_same_environment_variable_for_their_keys() -> None:
    """Hosts of different protocols have different variables. Two hosts of one protocol with one variable are refused."""
    hosts = [
        {"agent": "llm", "url": f"https://{api}.invalid/v1", "model": "m", "api": api} for api in ("chat", "anthropic", "gemini")
    ]
    assert load_spec({"game": "pig", "agents": ["random", *hosts]}).boards
    twice = {**hosts[1], "url": "https://other.invalid/v1"}
    with pytest.raises(arena.SpecError, match=r"would receive ANTHROPIC_API_KEY, the key of https://anthropic\.invalid:443"):
        load_spec({"game": "pig", "agents": ["random", *hosts, twice]})
    with pytest.raises(arena.SpecError, match="extra_body: system is set by arena"):
        load_spec({"game": "pig", "agents": ["random", {**hosts[1], "extra_body": {"system": "x"}}]})
