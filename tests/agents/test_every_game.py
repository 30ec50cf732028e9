"""Play each built-in agent on each built-in game with chance, hidden information or simultaneous moves, or see it refused."""

import random
import re
from pathlib import Path
from typing import Any

import pytest

from arena import CHANCE, Agent, Game, load_plugins, play
from arena.configured import settings
from arena.traits import Abilities, Traits

REGISTRY = load_plugins(environ=False)
AGENTS = {name: kind for name, kind in REGISTRY.agents.items() if kind.__module__.startswith("arena_agents")}
SMALL: dict[str, dict[str, Any]] = {
    "pig": {"target": 10},
    "2048": {"rows": 2, "columns": 2},
    "liars-dice": {"sides": 2},
    "prisoners-dilemma": {"turns": 3},
    "goofspiel": {"cards": 3},
    "pancake": {"n": 5},
    "nim": {"heaps": (1, 2, 3)},
    "gomoku": {"rows": 3, "columns": 3, "in_a_row": 3},
    "hex": {"size": 3},
    "kalah": {"pits": 3, "stones": 2},
    "dots-and-boxes": {"rows": 1, "columns": 2},
    "breakthrough": {"rows": 5, "columns": 2},
    "hanoi": {"discs": 3},
    "top-spin": {"n": 5, "k": 2},
    "rubik-2x2": {"shuffle": 2},
    "grid-path": {"map": "maze"},
    "checkers": {"quiet": 4},
}
"""Parameters that keep matches short and game trees small."""
LATE = {"backgammon": f"0.{'0.' * 21}1.1.1.12 0.{'0.' * 21}1.1.1.12 a"}
"""A position near the end, for games with long matches."""
OPEN = {"random", "greedy", "lookahead", "mcts", "expectimax", "policy-table"}
HIDDEN = {"random", "ismcts", "pimc", "policy-table"}
SOLVED = HIDDEN | {"cfr-plus", "mccfr"}
PLAYERS = {
    "pig": OPEN | {"star2", "hold-at"},
    "backgammon": OPEN | {"star2"},
    "2048": OPEN,
    "kuhn-poker": SOLVED,
    "leduc-poker": SOLVED,
    "liars-dice": SOLVED,
    "prisoners-dilemma": HIDDEN | {"tit-for-tat", "generous-tit-for-tat", "grim", "win-stay-lose-shift", "always", "alternate"},
    "rock-paper-scissors": SOLVED,
    "goofspiel": SOLVED,
    "hearts": HIDDEN,
}
"""The agents that can play each game. Other agents would ignore chance or hidden information."""
OPTIONS: dict[str, dict[str, object]] = {
    "lookahead": {"depth": 1},
    "expectimax": {"depth": 1},
    "star2": {"depth": 1},
    "ismcts": {"rollouts": 3},
    "pimc": {"rollouts": 2, "worlds": 2},
    "mcts": {"rollouts": 3},
    "cfr-plus": {"iterations": 1},
    "mccfr": {"iterations": 10},
}


def write_policy(game: Game, folder: Path) -> str:
    """Write a policy file for the first decision of a match and return its path."""
    state = game.initial(random.Random(1))
    while game.to_move(state) == CHANCE:
        state = game.result(state, game.actions(state)[0])
    seen = game.observation(state, game.to_move(state))
    file = folder / "policy.txt"
    file.write_text(f"{game.format_state(seen)}\t{game.format_action(seen, game.actions(seen)[0])}=1\n", "utf-8")
    return str(file)


def make_agent(name: str, policy: str) -> Agent:
    """Return an agent with options that make it fast."""
    options = {"file": policy, "missing": "uniform"} if name == "policy-table" else OPTIONS.get(name, {})
    return REGISTRY.agents[name](**options)


def test_the_table_lists_every_game_that_may_refuse_an_agent() -> None:
    """An agent may be refused if the rules have chance, hidden information or simultaneous moves."""
    assert set(PLAYERS) == {name for name, kind in REGISTRY.games.items() if Traits.of(kind()) & set(Traits.COPED)}


@pytest.mark.parametrize("name", PLAYERS)
def test_agents_play_to_the_end_or_are_refused(name: str, tmp_path: Path) -> None:
    """An agent that can play the game ends a match against itself normally. All other agents are refused with a reason."""
    game = REGISTRY.games[name](**SMALL.get(name, {}))
    policy = write_policy(game, tmp_path)
    for agent, kind in AGENTS.items():
        refusal = Abilities(kind).find_refusal(game)
        if agent not in PLAYERS[name]:
            assert refusal is not None, agent
            assert re.fullmatch(rf"{agent} cannot play {name}: \w.*\w", refusal)
            continue
        assert refusal is None
        record = play(game, [make_agent(agent, policy) for _ in range(game.players)], seed=1, position=LATE.get(name))
        assert record.termination == "normal", (agent, record.message)
        assert len(record.returns) == game.players
        assert all(game.min_return <= got <= game.max_return for got in record.returns)


def test_names_and_options_of_the_tables_exist() -> None:
    """The tables name only registered agents and existing parameters of games."""
    assert set(OPTIONS) | set().union(*PLAYERS.values()) <= set(REGISTRY.agents)
    assert all(settings(REGISTRY.games[name](**SMALL[name])).items() >= SMALL[name].items() for name in SMALL)
