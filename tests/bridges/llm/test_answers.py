"""Test the requests of the agent and its use of answers, with a real server in place of a model."""

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


def play_model(stub: Stub, game: str = "tic-tac-toe", rounds: int = 1, seed: int = 3, **options: Any) -> tuple[Record, ...]:
    """Return the records of matches between a model and a random agent."""
    entry = {"agent": "llm", "url": stub.url, "model": "m", **options}
    return arena.run({"game": game, "seed": seed, "rounds": rounds, "agents": [entry, "random"]}).records


def sum_spent(record: Record) -> dict[str, float]:
    """Return the sum of the amounts that the decisions of the model have spent."""
    amounts = [decision.spent for decision in record.decisions if decision.spent is not None]
    return {name: sum(one[name] for one in amounts) for name in amounts[0]}


def answer_badly_first(*bad: Reply) -> Answers:
    """Return a function that first gives some bad answers to each question."""

    def answers(request: dict[str, Any]) -> Reply:
        asked_again = sum(message["role"] == "assistant" for message in request["messages"])
        return bad[asked_again] if asked_again < len(bad) else first(request)

    return answers


def test_a_request_asks_for_one_structured_answer() -> None:
    """The format follows OpenAI's structured outputs. The key is sent if there is one."""
    with serving(first) as stub, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MY_API_KEY", "sk-test")
        (one, _) = play_model(stub, key_env="MY_API_KEY")
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
def test_a_move_is_read_only_from_a_json_object(text: str, expected: str | None) -> None:
    assert read_move(text) == expected


def test_illegal_and_unreadable_answers_are_counted_and_the_question_is_repeated_with_a_reason() -> None:
    """Each decision counts one answer of either kind, and all amounts are added up. At prices of 2 and 8 per million, 100 and 10
    tokens cost 0.00028.
    """
    with serving(answer_badly_first(move("99"), Reply("I take the centre"))) as stub:
        (one, _) = play_model(stub, price={"in": 2, "out": 8})
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
    ("bad", "message"),
    [(move("99"), "illegal: '99'"), (Reply("hm"), "unreadable: 'hm'"), (Reply('{"mo', finish="length"), "cut off after 64")],
)
def test_a_model_without_a_legal_move_loses_or_plays_at_random(bad: Reply, message: str) -> None:
    """After `retries`, the message describes the last answer. With `fallback: random`, the match continues with a random move."""
    with serving(lambda _: bad) as stub:
        lost = play_model(stub, retries=1, tokens=64)
        drawn = play_model(stub, retries=1, tokens=64, fallback="random")
    for record in lost:
        model = record.labels.index("llm")
        assert (record.termination, record.seat) == ("illegal-action", model)
        assert f"no legal move in 2 answers; the last answer: {message}" in (record.message or "")
        assert sum_spent(record)["truncated"] == (2 if bad.finish == "length" else 0)
    assert all(record.termination == "normal" for record in drawn)
    assert all(record.drew[record.labels.index("llm")] for record in drawn)


def test_legal_moves_are_listed_or_hidden_even_after_an_illegal_move() -> None:
    def at_random(request: dict[str, Any]) -> Reply:
        return move(str(random.Random(len(request["messages"])).randint(1, 9)))

    with serving(at_random) as stub:
        play_model(stub, legal="hidden", retries=0)
        play_model(stub, legal="hidden", retries=1)
        assert not [request for request in stub.requests if "Legal moves" in str(request["messages"])]
    with serving(answer_badly_first(move("99"))) as stub:
        play_model(stub)
        assert all("Legal moves" in request["messages"][-1]["content"] for request in stub.requests)


@pytest.mark.parametrize("history", ["none", "own", "both"])
def test_history_agrees_with_the_actions_of_the_record(history: str) -> None:
    """An agent does not receive the actions of its opponents, so their moves are reconstructed from the rules."""
    with serving(first) as stub:
        records = play_model(stub, history=history)
        last = {list_legal(request): read_history(request) for request in stub.requests}
    for record in records:
        seat = record.labels.index("llm")
        moves = [f"seat {ply % 2 + 1}{' (you)' if ply % 2 == seat else ''}: {text}" for ply, text in enumerate(record.actions)]
        longest = (len(moves) - 1 - seat) // 2 * 2 + seat  # up to the last own turn
        before = moves[:longest]
        expected = {"none": [], "own": before[seat::2], "both": before[seat:]}[history]  # an own first turn has no history
        assert ["; ".join(expected)] == [
            shown for left, shown in last.items() if len(left) == 9 - longest and shown == "; ".join(expected)
        ]


def list_legal(request: dict[str, Any]) -> tuple[str, ...]:
    return tuple(legal(request))


def read_history(request: dict[str, Any]) -> str:
    text = request["messages"][1]["content"]
    return str(text.partition("Moves so far: ")[2].partition("\n")[0])


def test_built_in_games_are_described_without_words_of_the_implementation(registry: Registry) -> None:
    """The description contains no value or word of Python, like `rules_text` in `arena check`."""
    for name, kind in registry.games.items():
        if kind.__module__.startswith("arena_games"):
            text = Words(kind()).describe()
            assert not CODE_WORDS.search(text), name
            assert MIN_RULES_CHARACTERS < len(text) < MAX_RULES_CHARACTERS


def test_the_opponents_moves_are_not_guessed_if_no_legal_ones_lead_to_the_state() -> None:
    game = TicTacToe()
    start = game.initial(random.Random(0))
    later = game.parse_state("x.o/.x./..o")
    assert replies(game, start, 1, later) is None
    assert replies(game, start, 1, game.parse_state("x.o/.../...")) == ["seat 2: 3"]


@pytest.mark.parametrize("game", ["kuhn-poker", "pig", "rock-paper-scissors", "goofspiel"])
def test_a_model_plays_from_the_observation_of_its_seat(game: str) -> None:
    """In Kuhn poker, each question names only one of the two cards."""
    with serving(first) as stub:
        records = play_model(stub, game, rounds=2, history="both")
        assert {record.termination for record in records} <= {"normal", "move-limit"}
        if game == "kuhn-poker":
            for request in stub.requests:
                position = request["messages"][1]["content"].partition("Position: ")[2].partition("\n")[0]
                assert sum(position.count(card) for card in "JQK") == 1


def test_a_model_with_a_temperature_gets_seeds_from_the_stream_of_its_seat() -> None:
    """A repeated match has the same seeds. With `temperature: null`, no temperature is sent."""
    with serving(first) as stub:
        seeds: list[list[int]] = []
        for _ in range(2):
            stub.requests.clear()
            (one, _) = play_model(stub, temperature=0.7)
            seeds.append(sorted(request["seed"] for request in stub.requests))
        assert seeds[0] == seeds[1]
        assert len(set(seeds[0])) == len(seeds[0])
        assert one.drew[one.labels.index("llm")]
        stub.requests.clear()
        play_model(stub, temperature=None)
        assert not any("temperature" in request for request in stub.requests)


def test_an_invalid_chat_completion_voids_the_match(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena_bridges.llm.endpoint.WAIT_SECONDS", 1.0)
    monkeypatch.setattr("arena_bridges.llm.endpoint.FIRST_PAUSE_SECONDS", 0.01)
    with serving(lambda _: Reply(body=json.dumps({"choices": []}))) as stub:
        records = play_model(stub)
    assert {(record.termination, record.seat) for record in records} == {("void", None)}
    assert all("is not a chat completion" in (record.message or "") for record in records)


@pytest.mark.parametrize(
    ("options", "message"),
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
def test_invalid_options_are_refused(options: dict[str, Any], message: str) -> None:
    entry = {"agent": "llm", "url": "http://127.0.0.1:1/v1", "model": "m", **options}
    with pytest.raises(arena.SpecError, match=message):
        load_spec({"game": "tic-tac-toe", "agents": [entry, "random"]})


TEMPLATE = """{% block system %}{{ rules }}
{{ form }}{% endblock %}
{% block user %}{{ board }} You are {{ seat }} of {{ seats }}.{% if legal %}
Legal moves: {{ legal | join(", ") }}{% endif %}
{% for line in history %}- {{ line }}
{% endfor %}{% if fault %}Mind: {{ fault }}{% endif %}{% endblock %}
"""


def test_prompts_are_template_files_and_can_be_swept(tmp_path: Path) -> None:
    """Two prompts make two entries. A template with `fault` asks again, and other templates continue the conversation."""
    (tmp_path / "a.j2").write_text(TEMPLATE)
    (tmp_path / "b.j2").write_text("{{ game }} {{ position }}\nLegal moves: {{ legal | join(', ') }}")
    asked: list[list[dict[str, str]]] = []

    def answers(request: dict[str, Any]) -> Reply:
        messages = request["messages"]
        asked.append(messages)
        text = "\n".join(message["content"] for message in messages)
        found = re.search(r"Legal moves: (.*)", text)
        return (
            move("99") if not ("Mind:" in text or "not a legal move" in text) or found is None else move(found[1].split(", ")[0])
        )

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
    ("text", "message"),
    [
        ("{{ rule }}", "unknown variable rule; expected one of game, rules"),
        ("a\n{% if %}", "line 2"),
        ("", "expected text, got an empty string"),
        ("{{ legal.append('x') }}", "prompt:"),
        ("{{ rules.__class__ }}", "prompt:"),
        (None, "cannot be read"),
    ],
)
def test_an_invalid_template_is_refused(text: str | None, message: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "p.j2").write_text(text)
    entry = {"agent": "llm", "url": "http://127.0.0.1:1/v1", "model": "m", "prompt": str(tmp_path / "p.j2")}
    with pytest.raises(arena.SpecError, match=message):
        load_spec({"game": "tic-tac-toe", "agents": [entry, "random"]})


def test_legal_moves_may_be_listed_only_after_an_illegal_one() -> None:
    def answers(request: dict[str, Any]) -> Reply:
        moves = re.search(r"Legal moves: (\S*?),? ", request["messages"][-1]["content"] + " ")
        return move(moves[1] if moves else "99")

    with serving(answers) as stub:
        records = play_model(stub, legal="on-error")
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
def test_a_thinking_model_gives_its_move_in_a_field_or_at_the_end(text: str, expected: str | None) -> None:
    assert read_move(text, think=True) == expected
    with serving(lambda _: Reply(text)) as stub:
        play_model(stub, think=True, retries=0, fallback="random")
        schema = stub.requests[0]["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == schema["required"] == ["thoughts", "move"]


def test_the_move_with_the_most_votes_is_played() -> None:
    """Two of five answers are the last legal move, one is the first, one illegal and one prose. Each has a seed of its own."""

    def answers(request: dict[str, Any]) -> Reply:
        number = asked.setdefault(json.dumps(request["messages"]), 0)
        asked[json.dumps(request["messages"])] += 1
        moves = legal(request)
        return [move(moves[0]), move("99"), Reply("hm"), move(moves[-1]), move(moves[-1])][number % 5]

    asked: dict[str, int] = {}
    with serving(answers) as stub:
        records = play_model(stub, votes=5, temperature=0.7, history="none")
        assert len({request["seed"] for request in stub.requests}) == len(stub.requests)
    for record in records:
        own = [one.spent for one in record.decisions if one.spent]
        assert {(one["requests"], one["retries"], one["illegal"], one["unreadable"]) for one in own} == {(5, 0, 1, 1)}
        free = [str(number) for number in range(1, 10)]
        for ply, action in enumerate(record.actions):
            assert ply % 2 != record.labels.index("llm") or action == max(set(free) - set(record.actions[:ply]))
    with pytest.raises(arena.SpecError, match="votes: all answers are identical at temperature 0"):
        load_spec({"game": "pig", "agents": ["random", {"agent": "llm", "url": "http://127.0.0.1/v1", "model": "m", "votes": 3}]})
