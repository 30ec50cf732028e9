"""A new agent or heuristic fits the game for which `arena new KIND NAME --game GAME` writes it."""

import math
import random

import pytest

from arena import Puzzle, load_plugins, play
from arena.api.games import Abilities, make_default
from arena_check.new import FilePlan, _find_opponent, starter

REGISTRY = load_plugins()
GAMES = {name: game for name, kind in REGISTRY.games.items() if not kind.native and (game := make_default(kind)) is not None}


@pytest.mark.parametrize("name", sorted(GAMES))
def test_a_new_agent_can_play_its_game(name: str) -> None:
    """It plays without faults in games with chance, hidden cards, any number of seats and any returns."""
    namespace: dict[str, object] = {"__name__": "my_agent"}
    exec(starter(name, REGISTRY), namespace)
    (kind,) = namespace["arena_agents"]()  # type: ignore[operator]
    game = GAMES[name]
    assert Abilities(kind).find_refusal(game) is None
    record = play(game, [kind() for _ in range(game.players)], limits={"nodes": 2_000, "moves": 40})
    assert record.termination in ("normal", "move-limit", "gave-up", "out-of-budget")
    assert record.fallbacks == 0


@pytest.mark.parametrize("name", sorted(GAMES))
def test_a_new_heuristic_uses_only_seats_that_its_game_has(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The values are within [-0.99, 0.99], and those for puzzles are costs, which are not negative."""
    game = GAMES[name]
    namespace: dict[str, object] = {"__name__": "mine"}
    exec(FilePlan("heuristic", "mine", _find_opponent("heuristic", name, REGISTRY)).module_text, namespace)
    (value,) = namespace["arena_heuristics"]()  # type: ignore[operator]
    state = game.initial(random.Random(1))
    asked: list[int] = []

    def threats(_: object, state: object, seat: int) -> tuple[str, ...]:
        asked.append(seat)
        return ("a",) * seat

    monkeypatch.setattr(type(game), "threats", threats)
    low, high = (0.0, math.inf) if isinstance(game, Puzzle) else (-0.99, 0.99)
    assert all(low <= value(game, state, player) <= high for player in range(game.players))
    assert set(asked) <= set(range(game.players))
