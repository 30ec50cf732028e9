"""Test environments of PettingZoo and Gymnasium with the libraries' own checks and against matches of arena."""

import logging
import random
import re
import sys
import warnings
from typing import Any

import pytest

from arena import Agent, ArenaError, Game, Search, UnknownName
from arena.game import CHANCE
from arena_bridges import rl
from arena_bridges.extras import MissingExtra
from arena_games.tic_tac_toe import TicTacToe
from tests.bridges.rl.conftest import NAMES, make_small_game

CYCLES = 20


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_environments_pass_the_tests_of_pettingzoo(name: str, environments: Any) -> None:
    """The tests cover both interfaces and reproducibility with the same seed."""
    from pettingzoo.test import api_test, parallel_api_test, seed_test

    game = make_small_game(name)
    api_test(environments.aec_env(game), num_cycles=CYCLES)
    seed_test(lambda: environments.aec_env(game), num_cycles=CYCLES)
    parallel_api_test(environments.parallel_env(game), num_cycles=CYCLES)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_environments_pass_the_check_of_gymnasium(name: str, environments: Any) -> None:
    """The other seats of a game play at random."""
    from gymnasium.utils.env_checker import check_env

    game = make_small_game(name)
    check_env(environments.gym_env(game, opponents=["random"] * (game.players - 1)))


@pytest.mark.parametrize("name", sorted(name for name in NAMES if make_small_game(name).players > 1))
def test_rewards_add_up_to_the_returns(name: str, environments: Any) -> None:
    """The same actions are played in the environment and with the rules of the game."""
    game = make_small_game(name)
    env = environments.aec_env(game)
    env.reset(seed=3)
    total = dict.fromkeys(env.possible_agents, 0.0)
    rng = random.Random(1)
    for agent in env.agent_iter():
        seen, reward, over, cut, _ = env.last()
        total[agent] += reward
        state = env._episode.state
        legal = [number for number, flag in enumerate(seen["action_mask"]) if flag]
        assert len(legal) == (0 if over else len(game.actions(state)))
        assert not cut
        env.step(None if over else rng.choice(legal))
    assert game.is_terminal(state)
    assert list(total.values()) == [float(value) for value in game.returns(state)]


def test_an_episode_of_tic_tac_toe_ends_with_rewards_of_1_and_minus_1(environments: Any) -> None:
    """x completes the top row."""
    env = environments.aec_env("tic-tac-toe")
    env.reset(options={"position": "x../.o./..."})
    for cell in (1, 5, 2):
        assert env.last(observe=False)[1] == 0.0
        env.step(cell)
    assert env.render() == "x x x\n. o o\n. . ."
    assert (env.rewards, env.terminations) == ({"player_0": 1.0, "player_1": -1.0}, {"player_0": True, "player_1": True})


def test_observations_hide_the_opponents_card(environments: Any) -> None:
    """In Kuhn poker, the observation of a seat is the same for each card of the opponent."""
    env = environments.aec_env("kuhn-poker")
    seen: dict[str, set[bytes]] = {}
    for other in "JK":
        env.reset(options={"position": f"Q{other}:p"})
        for agent in env.possible_agents:
            seen.setdefault(agent, set()).add(env.observe(agent)["observation"].tobytes())
    assert {agent: len(each) for agent, each in seen.items()} == {"player_0": 1, "player_1": 2}


def test_the_second_mover_does_not_see_the_first_action(environments: Any) -> None:
    env = environments.aec_env("rock-paper-scissors")
    seen = set()
    for choice in range(3):
        env.reset()
        env.step(choice)
        seen.add(env.last()[0]["observation"].tobytes())
    assert len(seen) == 1


@pytest.mark.parametrize(("first", "second", "won"), [(0, 2, 1.0), (0, 1, -1.0), (1, 1, 0.0)])
def test_simultaneous_seats_act_in_one_step(first: int, second: int, won: float, environments: Any) -> None:
    """The actions are rock (0), paper (1) and scissors (2)."""
    env = environments.parallel_env("rock-paper-scissors")
    seen, _ = env.reset(seed=1)
    assert all(seen[agent]["action_mask"].all() for agent in env.agents)
    _, rewards, over, _, _ = env.step({"player_0": first, "player_1": second})
    assert rewards == {"player_0": won, "player_1": -won}
    assert (list(over.values()), env.agents) == ([True, True], [])


def test_in_the_parallel_interface_only_the_seat_to_move_acts_in_a_sequential_game(environments: Any) -> None:
    env = environments.parallel_env("connect-four")
    seen, _ = env.reset()
    assert [seen[agent]["action_mask"].sum() for agent in env.agents] == [7, 0]
    seen, *_ = env.step({"player_0": 3, "player_1": 5})
    assert [seen[agent]["action_mask"].sum() for agent in env.agents] == [0, 7]
    assert env.render().splitlines()[-2:] == [". . . x . . .", "1 2 3 4 5 6 7"]


def test_chance_depends_only_on_the_seed(environments: Any) -> None:
    """Equal seeds give equal rolls. A reset without a seed continues the random stream."""
    env = environments.aec_env("backgammon")

    def throws(*seeds: int | None) -> list[str]:
        found = []
        for seed in seeds:
            env.reset(seed=seed)
            for _ in range(8):
                found.append(env._episode.state[3])
                env.step(0)
        return found

    assert throws(7, None) == throws(7, None)
    assert throws(7) * 2 != throws(7, None)
    assert throws(7) != throws(8)


@pytest.mark.parametrize("maker", ["aec_env", "parallel_env", "gym_env"])
def test_an_illegal_action_loses(maker: str, environments: Any, caplog: pytest.LogCaptureFixture) -> None:
    """An illegal action loses as in a match of arena. PettingZoo logs it."""
    position = {"position": "xo./.../..."}
    with caplog.at_level(logging.WARNING):
        if maker == "gym_env":
            env = environments.gym_env("tic-tac-toe", opponents=["random"])
            env.reset(options=position)
            _, reward, over, cut, info = env.step(0)
            assert (reward, over, cut, info) == (-1.0, True, False, {"illegal": True})
            return
        env = getattr(environments, maker)("tic-tac-toe")
        env.reset(options=position)
        if maker == "aec_env":
            env.step(1)
            rewards, over, infos = env.rewards, env.terminations, env.infos
        else:
            _, rewards, over, _, infos = env.step({"player_0": 1, "player_1": 0})
    assert (rewards, over) == ({"player_0": -1.0, "player_1": 1.0}, {"player_0": True, "player_1": True})
    assert infos == {"player_0": {"illegal": True}, "player_1": {}}
    assert "Illegal move" in caplog.text


@pytest.mark.parametrize("action", [9, -1, None, 1.5, "a1"])
def test_an_invalid_action_is_an_error(action: Any, environments: Any) -> None:
    env = environments.aec_env("tic-tac-toe")
    env.reset()
    with pytest.raises(ValueError, match=r"expected an action from 0 to 8, got"):
        env.step(action)


def test_an_episode_is_truncated_at_the_move_limit(environments: Any) -> None:
    env = environments.gym_env({"name": "sliding-tiles", "rows": 4, "columns": 4}, moves=3)
    env.reset(seed=0)
    ends = [env.step(int(env.action_masks().argmax()))[1:4] for _ in range(3)]
    assert ends == [(0.0, False, False), (0.0, False, False), (0.0, False, True)]


def test_a_goal_gives_a_reward_of_1(environments: Any) -> None:
    env = environments.gym_env("sliding-tiles")
    env.reset(options={"position": "1 2 3 / 4 5 6 / 7 . 8"})
    assert env.step(7)[1:3] == (1.0, True)


def test_opponents_play_the_other_seats(environments: Any) -> None:
    """A full alpha-beta search never loses tic-tac-toe, so the random player never wins, in either seat."""
    rng, results = random.Random(2), []
    for seat in (0, 1):
        env = environments.gym_env("tic-tac-toe", opponents=[{"agent": "alpha-beta", "depth": 9}], seat=seat)
        for number in range(2):
            env.reset(seed=number)
            over = False
            while not over:
                legal = [place for place, fine in enumerate(env.action_masks()) if fine]
                _, reward, over, _, _ = env.step(rng.choice(legal))
            results.append(reward)
    assert set(results) <= {-1.0, 0.0}
    assert -1.0 in results


def test_opponents_take_limits_and_heuristics_as_in_a_spec(environments: Any) -> None:
    """A search without a limit gives a warning in a large game, as in a spec, and no warning in a small game."""
    few_nodes, by_lanes = {"agent": "minimax", "limits": {"nodes": 50}}, {"agent": "greedy", "heuristic": "open-lanes"}
    entries = ["minimax", few_nodes, by_lanes]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for entry in entries:
            environments.gym_env("tic-tac-toe", opponents=[entry])
    env = environments.gym_env("tic-tac-toe", opponents=[entries[1:]])
    [[few, lanes]] = env._pools
    assert (few.limits.nodes, lanes.limits.nodes, lanes.heuristic) == (50, None, "open-lanes")
    warning = "minimax has no limit and searches connect-four to the end, through more than 200,000 states; write limits: {nodes:"
    with pytest.warns(UserWarning, match=re.escape(warning)):
        environments.gym_env("connect-four", opponents=["minimax"])
    with pytest.raises(ValueError, match="limits: unknown 'node'"):
        environments.gym_env("connect-four", opponents=[{"agent": "minimax", "limits": {"node": 3}}])


def test_the_seat_and_the_opponent_are_drawn_for_each_episode(environments: Any) -> None:
    """All pairs of a seat and an opponent of the pool occur, and a seed decides them. One opponent plays the first column."""
    pool = [Column(place=0), Column(place=-1)]
    env = environments.gym_env("connect-four", opponents=[pool], seat="random")

    def begin(seed: int) -> tuple[int, str]:
        seen, info = env.reset(seed=seed)
        if info["seat"] == 0:
            env.step(int(seen["action_mask"].argmax()) + 3)
        columns = [line.split() for line in env.render().splitlines()]
        return info["seat"], "first" if "." not in columns[-2][0] else "last"

    begun = [begin(seed) for seed in range(20)]
    assert set(begun) == {(0, "first"), (0, "last"), (1, "first"), (1, "last")}
    assert [begin(seed) for seed in range(20)] == begun
    with pytest.raises(ValueError, match="expected at least one agent in a pool"):
        environments.gym_env("connect-four", opponents=[[]])


@pytest.mark.filterwarnings("ignore:.*render fps")
def test_gymnasium_makes_each_game_by_its_id(environments: Any) -> None:
    """The id imports the module, and parameters of the game are keywords. `check_env` of Gymnasium passes."""
    import gymnasium
    from gymnasium.utils.env_checker import check_env

    env = gymnasium.make("arena_bridges.rl.envs:arena/connect-four-v0")
    check_env(env.unwrapped)
    assert {f"arena/{name}-v0" for name in NAMES} <= set(gymnasium.registry)
    small_one = gymnasium.make("arena/othello-v0", size=4, seat=1, opponents=["greedy"], moves=30)
    _, info = small_one.reset(seed=1)
    assert (info["seat"], small_one.action_space.n) == (1, 17)


class Column(Agent):
    """An agent that plays the action at `place` among the legal ones."""

    name = "column"

    def __init__(self, *, place: int) -> None:
        self.place = place

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        return game.actions(state)[self.place]


def test_invalid_opponents_seats_and_names_are_refused(environments: Any) -> None:
    with pytest.raises(ValueError, match=r"tic-tac-toe has 2 seats, got 0 opponents: give opponents=\[...\] with 1 of them"):
        environments.gym_env("tic-tac-toe")
    with pytest.raises(ValueError, match="expected 0 to 1, or 'random', got 2"):
        environments.gym_env("tic-tac-toe", opponents=["random"], seat=2)
    with pytest.raises(UnknownName, match="did you mean 'tic-tac-toe'"):
        environments.aec_env("tic-tac-to")
    with pytest.raises(UnknownName, match="unknown encoding of tic-tac-toe 'plane'"):
        environments.aec_env("tic-tac-toe", "plane")


class Plain(TicTacToe):
    """Tic-tac-toe without an encoding and without a fixed order of actions."""

    name = "plain-tic-tac-toe"
    action_space = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("game", "options", "message"),
    [
        ({"name": "othello", "rows": 4}, {}, "othello: rows: unknown key"),
        ({"name": "tic-tac-toe", "rows": "x"}, {}, "tic-tac-toe: rows: expected an integer, got 'x'"),
        ({"rows": 4}, {}, "expected a game, its name, or a mapping with its name and parameters, got {'rows': 4}"),
        (3, {}, "expected a game, its name, or a mapping with its name and parameters, got 3"),
        ("othello", {"moves": -1}, "moves: expected a whole number of at least 1, got -1"),
    ],
)
def test_invalid_games_and_limits_are_refused(game: Any, options: Any, message: str, environments: Any) -> None:
    with pytest.raises(ValueError, match=r"expected|unknown") as caught:
        environments.aec_env(game, **options)
    assert str(caught.value).startswith(message)


def test_an_episode_must_begin_with_reset(environments: Any) -> None:
    aec, parallel = environments.aec_env("othello"), environments.parallel_env("goofspiel")
    for asked in (aec.render, lambda: aec.step(0), parallel.render, lambda: parallel.step({})):
        with pytest.raises(ArenaError, match="play has not started: call reset"):
            asked()


@pytest.mark.filterwarnings("ignore")
def test_a_game_without_an_encoding_is_observed_as_text(environments: Any) -> None:
    """Without an action space, the actions are indices of the legal actions."""
    from pettingzoo.test import api_test

    env = environments.aec_env(Plain())
    api_test(env, num_cycles=CYCLES)
    env.reset(options={"position": "x../.o./..."})
    seen = env.last()[0]
    assert bytes(seen["observation"].tolist()).rstrip(b"\0") == b"x../.o./..."
    assert seen["action_mask"].sum() == 7
    env.step(4)  # the fifth empty cell
    assert env.render() == "x . .\n. o .\nx . ."


def test_numbers_of_actions_are_indices_of_the_action_space(environments: Any) -> None:
    """For every built-in game that has an action space, the number k stands for the k-th action."""
    for name in sorted({*NAMES} - {"backgammon"}):
        game: Game = make_small_game(name)
        state = game.initial(random.Random(5))
        while game.to_move(state) == CHANCE:
            state = game.result(state, game.actions(state)[0])
        coder = environments.aec_env(game).coder
        legal = list(game.actions(state))
        assert [coder.action(number, legal) for number in coder.number_actions(legal)] == legal
        assert [list(game.action_space())[number] for number in coder.number_actions(legal)] == legal


@pytest.mark.parametrize("maker", ["aec_env", "parallel_env", "gym_env"])
def test_without_the_libraries_the_environments_say_how_to_install_them(maker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("gymnasium", "pettingzoo"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=re.escape("is not installed: pip install 'gymnasium>=1.0' 'pettingzoo>=1.24'")):
        getattr(rl, maker)("tic-tac-toe")
