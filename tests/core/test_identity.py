"""Streams, keys and secrets."""

import copy
import json
import pickle
import random
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import pytest

from arena.identity import Stream, canonical, key
from arena.limits import Limits
from arena.match.match import seat_identity
from arena.schedule.schedule import Schedule
from arena.secret import commitment, draw_secret, extend_secret, newest_digits, seed_of_round
from arena.spec import Spec, load_spec

USES: list[Callable[[random.Random], Any]] = [
    lambda rng: [rng.random() for _ in range(5)],
    lambda rng: [rng.choice("abc") for _ in range(50)],
    lambda rng: [rng.randrange(5) for _ in range(50)],
    lambda rng: rng.sample(range(100), 10),
    lambda rng: rng.gauss(0, 1),
    lambda rng: rng.getrandbits(70),
    lambda rng: rng.randbytes(5),
    lambda rng: rng.shuffle(list(range(9))),
    lambda rng: rng.getstate(),
    lambda rng: pickle.loads(pickle.dumps(rng)).random(),
    lambda rng: copy.deepcopy(rng).random(),
]


@pytest.mark.parametrize("use", USES)
def test_a_stream_agrees_with_an_ordinary_generator(use: Callable[[random.Random], Any]) -> None:
    one, twin, other = Stream("a"), Stream("a"), Stream("b")
    assert isinstance(one, random.Random)
    assert isinstance(one, Stream)
    first = use(one)
    assert not isinstance(one, Stream)
    assert type(one) is random.Random
    assert first == use(twin)
    assert use(one) == use(twin)
    assert one.random() == twin.random() != other.random()


def test_a_stream_can_be_reseeded_and_restored() -> None:
    stream, plain = Stream("a"), random.Random(3)
    stream.seed(3)
    assert stream.random() == plain.random()
    late = Stream("b")
    late.setstate(plain.getstate())
    assert late.random() == plain.random()


def test_canonical_text_does_not_depend_on_order() -> None:
    """A key is the BLAKE2b-128 hash of this text."""
    assert canonical({"b": 1, "a": [True, None, 1.0]}) == '{"a":[true,null,1.0],"b":1}'
    assert canonical({"f": len, "k": dict}) == '{"f":"builtins.builtin_function_or_method","k":"builtins.dict"}'
    assert key("abc") == "cf4ab791c62b8d2b2109c90275287816"  # the published test vector of BLAKE2b-128


def by_hand(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=16).hexdigest()


def loaded(spec: dict[str, Any]) -> Spec:
    return load_spec({**spec, "seed": 7, "rounds": 1})


def test_defaults_are_not_part_of_an_id() -> None:
    short = {"game": {"name": "sliding-tiles", "shuffle": 8}, "agents": [{"agent": "a-star", "heuristic": "pattern-db"}]}
    spoken = {
        "game": {"name": "sliding-tiles", "shuffle": 8, "rows": 3, "columns": 3, "goal": "blank-last"},
        "agents": [{"agent": "a-star", "weight": 1, "heuristic": {"name": "pattern-db", "partition": None}}],
    }
    pairs = [[one.match_id(spec) for one in Schedule(spec).take(1)] for spec in (loaded(short), loaded(spoken))]
    position = by_hand({"game": "sliding-tiles", "openings": None, "parameters": {"shuffle": 8}, "position": 0, "seed": 7})
    limits = {"depth": None, "memory_mb": None, "nodes": None, "seconds": None}
    own = {"name": "pattern-db", "parameters": {}}
    seat = {"agent": "a-star", "heuristic": own, "label": None, "limits": limits, "options": {}}
    match = by_hand({"moves": 1000, "position": position, "repetition": 0, "seats": [seat]})
    assert pairs == [[match], [match]]


def test_a_limit_of_a_newer_version_is_part_of_an_id_only_if_it_is_not_the_default() -> None:
    limits = '{"depth":null,"memory_mb":null,"nodes":null,"seconds":1.0%s}'
    text = f'{{"agent":"random","heuristic":null,"label":null,"limits":{limits},"options":{{}}}}'

    def told(**limits: Any) -> str:
        return seat_identity("random", {}, None, Limits(seconds=1, **limits), None)

    assert told() == told(start_seconds=10) == text % ""
    assert told(start_seconds=5) == told(start_seconds=5.0) == text % ',"start_seconds":5.0'


def test_an_extended_secret_does_not_change_earlier_rounds() -> None:
    """Only rounds from 40 on use the new digits."""
    secret = draw_secret()
    longer = extend_secret(secret, 40)
    longest = extend_secret(longer, 60)
    assert [seed_of_round(longest, number) for number in (0, 39)] == [secret, secret]
    seeds = [seed_of_round(longest, number) for number in (0, 40, 59, 60, 10**6)]
    assert seeds[1] == seeds[2] == newest_digits(longer)
    assert seeds[3] == seeds[4] == newest_digits(longest)
    assert len({*seeds}) == 3
    assert commitment(longest) == blake2b(str(seeds[4]).encode(), digest_size=32).hexdigest()
