"""What the agent asks a model, and what it makes of its answers: a real server in the place of the model."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.match.record import Record
from arena.plugins.registry import Registry
from arena.spec import load_spec
from arena_bridges.llm.prompts import Words, read_move, replies
from arena_check.game_checks import CODE_WORDS, MAX_RULES_CHARACTERS, MIN_RULES_CHARACTERS
from arena_games.tic_tac_toe import TicTacToe
from tests.bridges.llm.stub import Answers, Reply, Stub, first, legal, move, serving


def played(stub: Stub, game: str = "tic-tac-toe", rounds: int = 1, seed: int = 3, **options: Any) -> tuple[Record, ...]:
    """The records of matches between a model and a random agent."""
    entry = {"agent": "llm", "url": stub.url, "model": "m", **options}
    return arena.run({"game": game, "seed": seed, "rounds": rounds, "agents": [entry, "random"]}).records


def spent(record: Record) -> dict[str, float]:
    """What the decisions of the model have spent, all together."""
    told = [decision.spent for decision in record.decisions if decision.spent is not None]
    return {name: sum(one[name] for one in told) for name in told[0]}


def spoilt(*bad: Reply) -> Answers:
    """Answers every question first with some bad ones."""

    def answers(request: dict[str, Any]) -> Reply:
        asked_again = sum(message["role"] == "assistant" for message in request["messages"])
        return bad[asked_again] if asked_again < len(bad) else first(request)

    return answers


def test_a_request_asks_for_one_structured_answer() -> None:
    """As the interface of OpenAI describes structured outputs; the key is sent where there is one."""
    with serving(first) as stub, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MY_API_KEY", "sk-test")
        (one, _) = played(stub, key_env="MY_API_KEY")
        request, headers = stub.requests[0], stub.headers[0]
    assert one.termination == "normal"
    assert (request["model"], request["temperature"], request["max_tokens"]) == ("m", 0, 1024)
    assert "seed" not in request
    schema = request["response_format"]["json_schema"]
    assert request["response_format"]["type"] == "json_schema"
    assert schema["strict"] is True
    assert schema["schema"]["required"] == ["move"]
    assert headers["Authorization"] == "Bearer sk-test"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"move": "5"}', "5"),
        (' {"move": "5"}\n', "5"),
        ('I play {"move": "5"}', None),
        ('```json\n{"move": "5"}\n```', None),
        ('{"move": 5}', None),
        ('["5"]', None),
        ('{"move": "5", "why": "it is free"}', None),
        ("[" * 100_000, None),
        ("", None),
    ],
)
def test_nothing_is_looked_for_in_prose(text: str, expected: str | None) -> None:
    assert read_move(text) == expected


def test_illegal_and_unreadable_answers_are_told_apart_and_asked_again_with_the_reason() -> None:
    """Each decision has one of either, and all that was spent; 100 and 10 tokens an answer at 2 and 8 a million are 0.00028."""
    with serving(spoilt(move("99"), Reply("I take the centre"))) as stub:
        (one, _) = played(stub, price={"in": 2, "out": 8})
        third = max((request["messages"] for request in stub.requests), key=len)
    assert one.termination == "normal"
    own = [decision.spent for decision in one.decisions if decision.spent is not None]
    for amounts in own:
        assert {**amounts, "money": round(amounts["money"], 9)} == {
            "requests": 3,
            "retries": 2,
            "illegal": 1,
            "unreadable": 1,
            "truncated": 0,
            "tokens_in": 300,
            "tokens_out": 30,
            "tokens_cached": 0,
            "money": 0.00084,
        }
    assert [message["role"] for message in third] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert "'99' is not a legal move" in third[3]["content"]
    assert "not that JSON object" in third[5]["content"]


@pytest.mark.parametrize(
    ("bad", "told"),
    [(move("99"), "illegal: '99'"), (Reply("hm"), "unreadable: 'hm'"), (Reply('{"mo', finish="length"), "cut off after 64")],
)
def test_who_gives_no_legal_move_loses_or_plays_at_random(bad: Reply, told: str) -> None:
    """After `retries`; the message says how the last answer was wrong. At random the match goes on, from the seat's stream."""
    with serving(lambda _: bad) as stub:
        lost = played(stub, retries=1, tokens=64)
        drawn = played(stub, retries=1, tokens=64, fallback="random")
    for record in lost:
        model = record.labels.index("llm")
        assert (record.termination, record.seat) == ("illegal-action", model)
        assert f"no legal move in 2 answers, the last {told}" in (record.message or "")
        assert spent(record)["truncated"] == (2 if bad.finish == "length" else 0)
    assert all(record.termination == "normal" for record in drawn)
    assert all(record.drew[record.labels.index("llm")] for record in drawn)


def test_legal_moves_are_listed_or_hidden_also_after_an_illegal_one() -> None:
    def at_random(request: dict[str, Any]) -> Reply:
        return move(str(random.Random(len(request["messages"])).randint(1, 9)))

    with serving(at_random) as stub:
        played(stub, legal="hidden", retries=0)
        played(stub, legal="hidden", retries=1)
        assert not [request for request in stub.requests if "Legal moves" in str(request["messages"])]
    with serving(spoilt(move("99"))) as stub:
        played(stub)
        assert all("Legal moves" in request["messages"][-1]["content"] for request in stub.requests)


@pytest.mark.parametrize("history", ["none", "own", "both"])
def test_history_is_what_the_rules_say_was_played(history: str) -> None:
    """Against the actions of the record: nobody tells an agent what others do, so their moves are found in the rules."""
    with serving(first) as stub:
        records = played(stub, history=history)
        last = {legal_of(request): told_of(request) for request in stub.requests}
    for record in records:
        seat = record.labels.index("llm")
        moves = [f"seat {ply % 2 + 1}{' (you)' if ply % 2 == seat else ''}: {text}" for ply, text in enumerate(record.actions)]
        longest = (len(moves) - 1 - seat) // 2 * 2 + seat  # the last own turn
        before = moves[:longest]
        expected = {"none": [], "own": before[seat::2], "both": before[seat:]}[history]  # a first reply has nothing before it
        assert ["; ".join(expected)] == [
            told for left, told in last.items() if len(left) == 9 - longest and told == "; ".join(expected)
        ]


def legal_of(request: dict[str, Any]) -> tuple[str, ...]:
    return tuple(legal(request))


def told_of(request: dict[str, Any]) -> str:
    text = request["messages"][1]["content"]
    return str(text.partition("Moves so far: ")[2].partition("\n")[0])


def test_built_in_games_are_described_without_words_of_the_implementation(registry: Registry) -> None:
    """What a model reads of each: no value or word of Python, as `arena check` looks for in `rules_text`."""
    for name, kind in registry.games.items():
        if kind.__module__.startswith("arena_games"):
            text = Words(kind()).describe()
            assert not CODE_WORDS.search(text), name
            assert MIN_RULES_CHARACTERS < len(text) < MAX_RULES_CHARACTERS


def test_moves_that_cannot_have_led_here_are_not_found() -> None:
    game = TicTacToe()
    start = game.initial(random.Random(0))
    later = game.parse_state("x.o/.x./..o")
    assert replies(game, start, 1, later) is None
    assert replies(game, start, 1, game.parse_state("x.o/.../...")) == ["seat 2: 3"]


@pytest.mark.parametrize("game", ["kuhn-poker", "pig", "rock-paper-scissors", "goofspiel"])
def test_it_plays_with_chance_and_hidden_information_from_what_its_seat_sees(game: str) -> None:
    """No question shows what the other holds: at Kuhn poker one card of two is named."""
    with serving(first) as stub:
        records = played(stub, game, rounds=2, history="both")
        assert {record.termination for record in records} <= {"normal", "move-limit"}
        if game == "kuhn-poker":
            for request in stub.requests:
                position = request["messages"][1]["content"].partition("Position: ")[2].partition("\n")[0]
                assert sum(position.count(card) for card in "JQK") == 1


def test_a_model_that_draws_its_answers_is_given_seeds_from_the_stream_of_its_seat() -> None:
    """The same in the same match again, others elsewhere; no temperature is sent where none is wanted."""
    with serving(first) as stub:
        seeds: list[list[int]] = []
        for _ in range(2):
            stub.requests.clear()
            (one, _) = played(stub, temperature=0.7)
            seeds.append(sorted(request["seed"] for request in stub.requests))
        assert seeds[0] == seeds[1]
        assert len(set(seeds[0])) == len(seeds[0])
        assert one.drew[one.labels.index("llm")]
        stub.requests.clear()
        played(stub, temperature=None)
        assert not any("temperature" in request for request in stub.requests)


def test_an_answer_that_is_no_chat_completion_is_nobodys_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena_bridges.llm.endpoint.WAIT_SECONDS", 1.0)
    monkeypatch.setattr("arena_bridges.llm.endpoint.FIRST_PAUSE_SECONDS", 0.01)
    with serving(lambda _: Reply(body=json.dumps({"choices": []}))) as stub:
        records = played(stub)
    assert {(record.termination, record.seat) for record in records} == {("void", None)}
    assert all("does not have the form of a chat completion" in (record.message or "") for record in records)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"url": "localhost:8000"}, "url: expected an address such as http://127.0.0.1:8000/v1"),
        ({"url": "ftp://localhost"}, "url: expected an address"),
        ({"url": "http://127.0.0.1:0/v1"}, "expected a port"),
        ({"legal": "some"}, "legal"),
        ({"model": ""}, "model"),
        ({"retries": -1}, "retries"),
        ({"temprature": 1}, "temperature"),
    ],
)
def test_options_that_are_wrong_are_faults_of_the_spec(options: dict[str, Any], told: str) -> None:
    entry = {"agent": "llm", "url": "http://127.0.0.1:1/v1", "model": "m", **options}
    with pytest.raises(arena.SpecError, match=told):
        load_spec({"game": "tic-tac-toe", "agents": [entry, "random"]})


TEMPLATE = """{% block system %}{{ rules }}
{{ form }}{% endblock %}
{% block user %}{{ board }} You are {{ seat }} of {{ seats }}.{% if legal %}
Legal moves: {{ legal | join(", ") }}{% endif %}
{% for line in history %}- {{ line }}
{% endfor %}{% if fault %}Mind: {{ fault }}{% endif %}{% endblock %}
"""


def test_a_prompt_is_a_template_of_a_file_and_an_axis_of_the_spec(tmp_path: Path) -> None:
    """Two prompts of a sweep make two entries; a template with `fault` asks anew, another one goes on in the conversation."""
    (tmp_path / "a.j2").write_text(TEMPLATE)
    (tmp_path / "b.j2").write_text("{{ game }} {{ position }}\nLegal moves: {{ legal | join(', ') }}")
    asked: list[list[dict[str, str]]] = []

    def answers(request: dict[str, Any]) -> Reply:
        messages = request["messages"]
        asked.append(messages)
        text = "\n".join(message["content"] for message in messages)
        told = re.search(r"Legal moves: (.*)", text)
        return move("99") if not ("Mind:" in text or "not a legal move" in text) or told is None else move(told[1].split(", ")[0])

    with serving(answers) as stub:
        prompts = {"sweep": [str(tmp_path / name) for name in ("a.j2", "b.j2")]}
        model = {"agent": "llm", "url": stub.url, "model": "m", "prompt": prompts}
        results = arena.run({"game": "tic-tac-toe", "rounds": 1, "agents": [model, "random"]}, concurrency=1)
    assert len(results.spec.boards[0].seats) == 3
    assert {record.termination for record in results.records} == {"normal"}
    own = [messages for messages in asked if messages[0]["role"] == "system"]
    assert {tuple(message["role"] for message in messages) for messages in own} == {("system", "user")}
    assert own[0][0]["content"].startswith("You play tic-tac-toe (rows=3, columns=3, in_a_row=3).\nTwo sides, x and o")
    listed = ", ".join(legal({"messages": own[0]}))
    assert own[1][1]["content"].endswith(f"Mind: '99' is not a legal move here. Legal moves: {listed}")
    others = [messages for messages in asked if messages[0]["role"] == "user"]
    assert {tuple(message["role"] for message in messages) for messages in others} == {("user",), ("user", "assistant", "user")}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{{ rule }}", "unknown variable rule; expected one of game, rules"),
        ("a\n{% if %}", "line 2"),
        ("", "expected a text"),
        ("{{ legal.append('x') }}", "prompt:"),
        ("{{ rules.__class__ }}", "prompt:"),
        (None, "cannot read"),
    ],
)
def test_a_prompt_that_is_no_template_is_a_fault_of_the_spec(text: str | None, told: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "p.j2").write_text(text)
    entry = {"agent": "llm", "url": "http://127.0.0.1:1/v1", "model": "m", "prompt": str(tmp_path / "p.j2")}
    with pytest.raises(arena.SpecError, match=told):
        load_spec({"game": "tic-tac-toe", "agents": [entry, "random"]})


def test_legal_moves_may_be_listed_only_after_an_illegal_one() -> None:
    def answers(request: dict[str, Any]) -> Reply:
        told = re.search(r"Legal moves: (\S*?),? ", request["messages"][-1]["content"] + " ")
        return move(told[1] if told else "99")

    with serving(answers) as stub:
        records = played(stub, legal="on-error")
    assert {record.termination for record in records} == {"normal"}
    assert all(one.spent["illegal"] == 1 for record in records for one in record.decisions if one.spent)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"thoughts": "the centre is free", "move": "5"}', "5"),
        ('{"move": "5"}', "5"),
        ('I see {"move": "1"} but no. {x} So:\n```json\n{"move": "5"}\n```', "5"),
        ('{"move": "5"} is best', None),
        ('{"thoughts": "{", "move": 5}', None),
        ("{" * 10_000, None),
    ],
)
def test_a_model_that_thinks_has_its_move_in_a_field_or_at_the_end(text: str, expected: str | None) -> None:
    assert read_move(text, think=True) == expected
    with serving(lambda _: Reply(text)) as stub:
        played(stub, think=True, retries=0, fallback="random")
        schema = stub.requests[0]["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == schema["required"] == ["thoughts", "move"]


def test_the_move_with_most_votes_is_played() -> None:
    """Of five answers two are the last legal move, one the first, one illegal and one prose; each has a seed of its own."""

    def answers(request: dict[str, Any]) -> Reply:
        number = asked.setdefault(json.dumps(request["messages"]), 0)
        asked[json.dumps(request["messages"])] += 1
        moves = legal(request)
        return [move(moves[0]), move("99"), Reply("hm"), move(moves[-1]), move(moves[-1])][number % 5]

    asked: dict[str, int] = {}
    with serving(answers) as stub:
        records = played(stub, votes=5, temperature=0.7, history="none")
        assert len({request["seed"] for request in stub.requests}) == len(stub.requests)
    for record in records:
        own = [one.spent for one in record.decisions if one.spent]
        assert {(one["requests"], one["retries"], one["illegal"], one["unreadable"]) for one in own} == {(5, 0, 1, 1)}
        free = [str(number) for number in range(1, 10)]
        for ply, action in enumerate(record.actions):
            assert ply % 2 != record.labels.index("llm") or action == max(set(free) - set(record.actions[:ply]))
    with pytest.raises(arena.SpecError, match="votes: the answers are all alike at temperature 0"):
        load_spec({"game": "pig", "agents": ["random", {"agent": "llm", "url": "http://127.0.0.1/v1", "model": "m", "votes": 3}]})
