"""The time of a request to a language model without the model's own time, and how well a run uses its limit of requests."""

import json
from http.client import HTTPConnection
from time import perf_counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import arena
from arena_bridges.llm.apis import APIS, Question
from arena_bridges.llm.endpoint import Endpoint
from tests.bridges.llm.stub import Reply, first, move, serving

if TYPE_CHECKING:
    from tests.bench.conftest import Bench

REQUESTS = 100
IN_FLIGHT = 8
ANSWER_SECONDS = 0.1
MATCHES = 64


def test_a_request_costs_little_more_than_a_bare_one(bench: "Bench") -> None:
    """A question takes at most 2 ms more than the same body sent by `http.client`; each request opens its own connection."""
    question = Question("m", [{"role": "system", "content": "rules"}, {"role": "user", "content": "go"}], 64)
    body = json.dumps(APIS["chat"].write(question))
    with serving(lambda _: move("5")) as stub:
        endpoint, parts = Endpoint(stub.url), urlsplit(stub.url)

        def ours() -> None:
            for _ in range(REQUESTS):
                endpoint.ask(question)

        def theirs() -> None:
            for _ in range(REQUESTS):
                connection = HTTPConnection(parts.hostname or "", parts.port)
                connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
                json.loads(connection.getresponse().read())
                connection.close()

        timings = bench.in_turns(ours, theirs, rounds=5)
    own, bare = [1000 * seconds / REQUESTS for seconds in timings.best]
    bench.at_most(2.0, "more time of a request to a model than of a bare one", own - bare, " ms", bare=f"{bare:.2f} ms")


def test_a_run_keeps_as_many_requests_in_flight_as_it_may(bench: "Bench") -> None:
    """Answers take 0.1 s. The mean number of requests in progress is the sum of these times, divided by the time of the run."""
    asked: list[float] = []

    def slow(request: dict[str, object]) -> Reply:
        asked.append(perf_counter())
        reply = first(request)
        reply.seconds = ANSWER_SECONDS
        return reply

    with serving(slow) as stub:
        model = {"agent": "llm", "url": stub.url, "model": "m"}
        arena.run({"game": "tic-tac-toe", "rounds": MATCHES // 2, "agents": [model, "random"]}, concurrency=IN_FLIGHT)
        mean = len(asked) * ANSWER_SECONDS / (asked[-1] + ANSWER_SECONDS - asked[0])
        most = stub.most
    assert most <= IN_FLIGHT
    bench.at_least(0.7 * IN_FLIGHT, "requests in flight of at most 8", mean, "", most=str(most))
