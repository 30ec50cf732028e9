"""A new agent can play the game for which `arena new agent NAME --game GAME` writes it."""

import pytest

from arena import load_plugins, play
from arena.api.games import Abilities, make_default
from arena_check.new import starter

REGISTRY = load_plugins()
GAMES = {name: game for name, kind in REGISTRY.games.items() if not kind.native and (game := make_default(kind)) is not None}


@pytest.mark.parametrize("name", sorted(GAMES))
def test_a_new_agent_can_play_its_game(name: str) -> None:
    """It plays a match of its game without a fault: with chance, hidden cards, any number of seats and any returns."""
    namespace: dict[str, object] = {"__name__": "my_agent"}
    exec(starter(name, REGISTRY), namespace)
    (kind,) = namespace["arena_agents"]()  # type: ignore[operator]
    game = GAMES[name]
    assert Abilities(kind).find_refusal(game) is None
    record = play(game, [kind() for _ in range(game.players)], limits={"nodes": 2_000, "moves": 40})
    assert record.termination in ("normal", "move-limit", "gave-up", "out-of-budget")
    assert record.fallbacks == 0
