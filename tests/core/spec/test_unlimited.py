"""The warning about searches without a limit in large games."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from arena import Game, Limits, load_plugins
from arena.plugins.registry import Registry
from arena.spec import limit_warnings, load_spec
from arena.spec.unlimited import count_nodes, count_states, needs_limit
from tests.conftest import Arena

LARGE = "has no limit and searches connect-four to the end, through more than 200,000 states"


def warned(**keys: Any) -> list[str]:
    return list(limit_warnings(load_spec({"rounds": 1, **keys})))


def test_a_warning_names_each_search_of_a_large_game_without_a_limit() -> None:
    unlimited: list[Any] = ["alpha-beta", {"agent": "alpha-beta", "table": True}, "minimax"]
    limits: list[dict[str, Any]] = [
        {"depth": 4},
        {"limits": {"nodes": 500}},
        {"limits": {"seconds": 1}},
        {"limits": {"depth": 4}},
    ]
    limited = [{"agent": "alpha-beta", "label": str(number), **limit} for number, limit in enumerate(limits)]
    told = warned(game="connect-four", agents=[*unlimited, *limited, "type-a", "mcts", "lookahead", "random"])
    advice = f"{LARGE}; write limits: {{nodes: 100000}} or limits: {{depth: 4}}"
    names = ["alpha-beta", "alpha-beta", "minimax"]
    assert [one.partition(": ")[2] for one in told] == [f"agents[{seat}]: {name} {advice}" for seat, name in enumerate(names)]


@pytest.mark.parametrize(
    ("game", "agents"),
    [
        ("tic-tac-toe", ["alpha-beta", "minimax"]),
        ("sliding-tiles", ["a-star", "ida-star", "bfs", "dfs", "iterative-deepening", "uniform-cost", "best-first"]),
        ({"name": "n-queens", "n": 8}, ["dfs", "hill-climb"]),
    ],
)
def test_a_small_game_gives_no_warning(game: Any, agents: list[str]) -> None:
    assert warned(game=game, agents=agents) == []


def test_a_warning_names_each_search_of_a_large_puzzle(registry: Registry) -> None:
    agents = ["a-star", "ida-star", "bfs", "dfs", "iterative-deepening", "uniform-cost", "best-first"]
    told = warned(game={"name": "sliding-tiles", "rows": 4, "columns": 4}, agents=agents)
    assert len(told) == len(agents)
    for one, name in zip(told, agents, strict=True):
        assert one.endswith("write limits: {nodes: 100000}")
        made = registry.agent(name)()
        assert not needs_limit(made, Limits(nodes=1))
        assert not needs_limit(made, Limits(seconds=1.0))


def test_a_swept_entry_gets_one_warning() -> None:
    agents = ["random", {"agent": "alpha-beta", "table": {"sweep": [True, False]}}]
    assert len(warned(games=["connect-four", "tic-tac-toe"], agents=agents)) == 1


@pytest.mark.parametrize(
    ("game", "parameters", "states"),
    [
        ("tic-tac-toe", {}, 5478),  # H. Schaefer, Solution: How Many Games of Tic-Tac-Toe Are There?, 2002
        # half of 8!: W. W. Johnson, W. E. Story, Notes on the "15" Puzzle, 1879
        ("sliding-tiles", {"rows": 2, "columns": 4}, 20_160),
    ],
)
def test_numbers_of_states_agree_with_the_literature(
    registry: Registry, game: str, parameters: dict[str, int], states: int
) -> None:
    rules = registry.game(game)(**parameters)
    start = rules.initial(Random(1))
    assert count_states(rules, start, states, 60.0) == states
    assert count_states(rules, start, states - 1, 60.0) is None
    assert count_states(rules, start, states, 0.0) is None


def walk(game: Game, state: Any) -> int:
    """Generate each node below a state, as minimax does, and return their number."""
    if game.is_terminal(state):
        return 0
    return sum(1 + walk(game, game.result(state, action)) for action in game.actions(state))


@pytest.mark.parametrize(
    ("game", "parameters"), [("tic-tac-toe", {}), ("nim", {"heaps": [1, 2, 3]}), ("connect-four", {"columns": 3, "rows": 4})]
)
def test_the_computed_number_of_nodes_equals_that_of_a_walk_through_the_tree(
    registry: Registry, game: str, parameters: dict[str, Any]
) -> None:
    rules = registry.game(game)(**parameters)
    start = rules.initial(Random(1))
    assert count_nodes(rules, start) == walk(rules, start)


def test_a_walk_through_tic_tac_toe_generates_the_published_number_of_nodes(registry: Registry) -> None:
    """H. Schaefer, Solution: How Many Games of Tic-Tac-Toe Are There?, 2002: 549,946 nodes with the root."""
    rules = registry.game("tic-tac-toe")()
    assert count_nodes(rules, rules.initial(Random(1))) == 549_946 - 1


def test_a_small_game_with_a_large_tree_gives_a_warning_to_searches_without_a_table() -> None:
    """The number of nodes is what `minimax` reports if it runs to the end. A table visits each position only once."""
    agents: list[Any] = ["minimax", "alpha-beta", {"agent": "alpha-beta", "table": True}, {"agent": "minimax", "depth": 3}]
    [told] = warned(game="nim", agents=agents)
    assert told.partition(": ")[2] == (
        "agents[0]: minimax has no limit and searches nim to the end, through a tree of 516,124,194 nodes; "
        "write limits: {nodes: 100000} or limits: {depth: 4}"
    )
    larger = warned(game={"name": "nim", "heaps": [5, 6, 7, 8]}, agents=agents)
    assert [one.split("agents[")[1][0] for one in larger] == ["0", "1"]
    assert all("through a tree of more than 10^15 nodes" in one for one in larger)


OWN = """
from arena import hookimpl
from arena_agents.full_width import Minimax


class Own(Minimax):
    name = "own"
    {member}


@hookimpl
def arena_agents():
    return [Own]
"""


@pytest.mark.parametrize(
    ("member", "needs"),
    [
        ("pass", True),  # inherited
        ("def needs_limit(self, limits): return limits.moves == 1000", True),
        ("def needs_limit(self, limits): return False", False),
        ("def needs_limit(self, limits): return 1 / 0", False),
        ("needs_limit = True", False),
        ("def needs_limit(self): return True", False),
        ("needs_limit = property(lambda self: True)", False),
    ],
)
def test_an_agent_may_declare_that_it_needs_a_limit(member: str, needs: bool, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN.format(member=member))
    registry = load_plugins([tmp_path / "own.py"])
    assert needs_limit(registry.agent("own")(), Limits()) is needs


@pytest.mark.parametrize("command", [["validate"], ["run", "--workers", "1"]], ids=["validate", "run"])
def test_the_commands_warn_and_continue(command: list[str], invoke: Arena, tmp_path: Path) -> None:
    (tmp_path / "cup.yaml").write_text("game: connect-four\nrounds: 1\nlimits: {moves: 1}\nagents:\n- random\n- own\n")
    text = OWN.format(member="def needs_limit(self, limits): return True\n    def choose(self, game, state, search): return 1")
    (tmp_path / "own.py").write_text(text)
    done = invoke(*command, "cup.yaml", "--plugin", "own.py")
    assert done.returncode == 0, done.stderr
    assert f"warning: cup.yaml:6:3: agents[1]: own {LARGE}; write limits: {{nodes: 100000}}\n" in done.stderr
    if "run" not in command:
        assert done.stdout == "cup.yaml: no faults, 1 warning, 2 matches\n"
    else:
        assert "warning" not in invoke(*command, "cup.yaml", "--plugin", "own.py", "--quiet").stderr


PLAIN = """\
import arena
from arena_games.tic_tac_toe import TicTacToe


class Plain(TicTacToe):
    name = "plain"
    default_heuristic = None


@arena.hookimpl
def arena_games():
    return [Plain]
"""


@pytest.mark.parametrize(
    ("entry", "noted"),
    [
        ("{agent: alpha-beta, depth: 3}", True),
        ("{agent: minimax, depth: 3}", True),
        ("{agent: alpha-beta, limits: {depth: 3}}", True),
        ("{agent: alpha-beta, depth: 3, limits: {nodes: 50}}", True),
        ("star2", True),
        ("expectimax", True),
        ("lookahead", True),
        ("alpha-beta", False),
        ("minimax", False),
        ("mcts", False),
        ("random", False),
    ],
)
def test_a_depth_limit_without_a_heuristic_is_noted(entry: str, noted: bool, tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(PLAIN)
    given = yaml.safe_load(entry)
    spec = load_spec(
        {"game": "plain", "agents": [given, {"agent": "random", "label": "other"}]}, plugins=[f"{tmp_path}/plain.py"]
    )
    assert any("it values all unfinished states equally" in note for note in spec.notes) == noted
