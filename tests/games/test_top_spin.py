"""Test TopSpin against a naive implementation with a whole ring, and against breadth-first search."""

import json
import random
from math import factorial
from pathlib import Path
from typing import Any

import pytest

import arena
from arena import load_plugins
from arena.cli import cli
from arena.heuristics import bind
from arena.plugins.registry import Registry
from arena.testing import check_game, check_heuristic
from arena.tracking import listening
from arena_games.top_spin import TopSpin, TopSpinPatterns
from tests.games.game_tree import distances


@pytest.mark.parametrize(
    ("game", "options", "states"),
    [
        ({"name": "top-spin", "n": 9, "k": 4}, {"tokens": 2}, 56),
        ({"name": "hanoi", "discs": 5}, {"partition": "5"}, 4**5),
        ({"name": "rubik-2x2"}, {}, 7 * 6 * 5 * 27),
    ],
)
def test_a_pattern_database_reports_the_progress_of_its_build(
    game: dict[str, Any], options: dict[str, Any], states: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each search visits the known number of placements. `arena validate` only checks the file and builds no database."""
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    (tmp_path / "spec.json").write_text(
        json.dumps({"game": game, "agents": [{"agent": "a-star", "heuristic": {"name": "pattern-db", **options}}]})
    )
    assert cli.main(["validate", str(tmp_path / "spec.json")], standalone_mode=False) in (0, None)
    assert not (tmp_path / "cache").exists()
    reports: list[tuple[str, int, int]] = []
    with listening(lambda *report: reports.append(report)):
        registry = load_plugins(environ=False)
        puzzle = registry.game(game["name"])(**{key: value for key, value in game.items() if key != "name"})
        bind(registry.heuristic(game["name"], "pattern-db"), puzzle, options)
    shares = [(done, total) for name, done, total in reports if name == reports[0][0]]
    assert shares == sorted(shares)
    assert shares[0] == (0, states)
    assert shares[-1] == (states, states)
    assert reports[0][0].startswith("pattern database of ")


@pytest.mark.parametrize(("n", "k"), [(4, 2), (7, 3), (8, 6), (12, 4)])
def test_a_turn_reverses_neighbours_on_the_ring(n: int, k: int) -> None:
    """The expected ring is reversed in place and then rotated until token 1 comes first."""
    puzzle, rng = TopSpin(n=n, k=k), random.Random(n)
    for _ in range(30):
        state = puzzle.initial(rng)
        for action in puzzle.actions(state):
            ring, places = list(state), [(action - 1 + number) % n for number in range(k)]
            for place, token in zip(places, [state[place] for place in reversed(places)], strict=True):
                ring[place] = token
            start = ring.index(1)
            assert puzzle.result(state, action) == (*ring[start:], *ring[:start])


@pytest.mark.parametrize(("n", "k"), [(5, 2), (5, 3), (6, 2), (6, 4), (7, 2), (7, 4), (7, 5)])
def test_the_number_of_reachable_states_is_known(n: int, k: int) -> None:
    """All orders of the other tokens are reachable, or half of them if a turn and a step of the ring are even permutations."""
    known = distances(TopSpin(n=n, k=k), tuple(range(1, n + 1)))
    half = n % 2 == 1 and k * (k - 1) // 2 % 2 == 0
    assert len(known) == factorial(n - 1) // (2 if half else 1)


@pytest.mark.parametrize(("n", "k", "tokens"), [(7, 4, 3), (6, 4, 2), (7, 3, 6), (5, 2, 8)])
def test_pattern_databases_are_admissible_and_consistent(n: int, k: int, tokens: int) -> None:
    """All states are compared. If all tokens are in one set, the estimate is the distance."""
    puzzle = TopSpin(n=n, k=k)
    known, estimate = distances(puzzle, puzzle.goal), TopSpinPatterns(puzzle, tokens=tokens)
    for state, distance in known.items():
        value = estimate(state)
        assert value == distance if tokens >= n - 1 else value <= distance
        assert all(abs(value - estimate(puzzle.result(state, action))) <= 1 for action in puzzle.actions(state))


def test_a_star_finds_the_shortest_solutions() -> None:
    puzzle = TopSpin(n=7, k=4)
    known = distances(puzzle, puzzle.goal)
    for state in random.Random(5).sample(list(known), 5):
        record = arena.play({"name": "top-spin", "n": 7, "k": 4}, "a-star", position=puzzle.format_state(state))
        assert len(record.actions) == known[state]


def test_invalid_parameters_and_texts_are_refused_with_a_reason() -> None:
    for n, k, reason in ((6, 5, "at most 4 and an even number"), (6, 3, "an even number"), (7, 6, "at most 5 with 7")):
        with pytest.raises(ValueError, match=reason):
            TopSpin(n=n, k=k)
    puzzle = TopSpin(n=5, k=4 - 1)
    assert puzzle.parse_state("4 5 1 2 3") == puzzle.goal
    for text in ("1 2 3 4", "1 2 3 4 4", "a"):
        with pytest.raises(ValueError, match="each of 1 to 5"):
            puzzle.parse_state(text)
    with pytest.raises(ValueError, match="unsolvable"):
        TopSpin(n=7, k=4).parse_state("1 3 2 4 5 6 7")
    with pytest.raises(ValueError, match="too large"):
        TopSpinPatterns(TopSpin(n=30), tokens=8)


def test_the_conformance_checks_pass(registry: Registry) -> None:
    game = registry.game("top-spin")(n=6, k=4, shuffle=4)
    check_game(game, matches=1)
    check_heuristic("pattern-db", game, matches=1)
