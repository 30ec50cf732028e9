"""The id of a match changes if the match does, and only then."""

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import arena
from arena import Results
from arena.schedule.schedule import Schedule
from arena.spec import load_spec

PLUGIN = '''
import enum
from arena import Agent, Puzzle, heuristic, hookimpl

class Mood(enum.Enum):
    CALM = "calm"
    WILD = "wild"

class Moody(Agent):
    """Plays the first legal action, in a mood."""
    name = "moody"

    def __init__(
        self,
        *,
        mood: Mood = Mood.CALM,
        weight: float = 1,
        colours: frozenset[str] = frozenset({"red"}),
        numbers: frozenset[int] = frozenset(),
    ):
        self.mood = mood

    def choose(self, game, state, search):
        return game.actions(state)[0]

class Stairs(Puzzle):
    """Up, to the top."""
    name = "stairs"
    default_heuristic = "left"

    def __init__(self, *, steps: int = 3, mood: Mood = Mood.CALM):
        self.steps = steps

    def initial(self, rng):
        return 0

    def actions(self, state):
        return (1, 2)

    def result(self, state, action):
        return min(self.steps, state + action)

    def is_goal(self, state):
        return state == self.steps

@heuristic("left", game="stairs")
class Left:
    """The steps that are left, as seen in a mood."""

    def __init__(self, game, *, scale: float = 1, mood: Mood = Mood.CALM):
        self.top, self.scale = game.steps, scale

    def __call__(self, state, player=0):
        return (self.top - state) * self.scale

@hookimpl
def arena_agents():
    return [Moody]

@hookimpl
def arena_games():
    return [Stairs]

@hookimpl
def arena_heuristics():
    return [Left]
'''

GAME: dict[str, Any] = {"game": "tic-tac-toe", "rounds": 2, "agents": ["random", "lookahead", "greedy"]}
PUZZLE: dict[str, Any] = {"game": {"name": "sliding-tiles", "shuffle": 4}, "rounds": 2, "agents": ["random", "greedy"]}


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file with an agent, a puzzle and a heuristic that take options of many kinds."""
    file = tmp_path_factory.mktemp("plugins") / "moody.py"
    file.write_text(PLUGIN)
    return str(file)


def ids(spec: Mapping[str, Any]) -> set[str]:
    """The ids of the matches of a spec. The matches are not played."""
    ready = load_spec(spec)
    return {scheduled.match_id(ready) for scheduled in Schedule(ready).take(1000)}


def changed(spec: Mapping[str, Any], **keys: Any) -> dict[str, Any]:
    return {**spec, **keys}


def test_an_id_has_32_hexadecimal_digits() -> None:
    """Three agents in two rounds with swapped seats have twelve ids."""
    found = [record.id for record in arena.run(GAME).records]
    assert len(set(found)) == 12
    assert set(found) == ids(GAME)
    assert all(len(one) == 32 and set(one) <= set("0123456789abcdef") for one in found)


@pytest.mark.parametrize("order", [*itertools.permutations(GAME["agents"])])
def test_the_order_of_the_agents_does_not_matter(order: tuple[str, ...]) -> None:
    assert ids(changed(GAME, agents=order)) == ids(GAME)


def test_additional_agents_do_not_change_the_ids_of_other_matches() -> None:
    more = [*GAME["agents"], "type-a", {"agent": "lookahead", "depth": 1}]
    assert ids(GAME) < ids(changed(GAME, agents=more))


def test_additional_rounds_and_boards_do_not_change_the_ids_of_other_matches() -> None:
    assert ids(GAME) < ids(changed(GAME, rounds=3))
    games = {key: value for key, value in GAME.items() if key != "game"} | {"games": ["sliding-tiles", "tic-tac-toe"]}
    assert ids(GAME) < ids(games)


@pytest.mark.parametrize(
    "same",
    [
        {"seed": 0},
        {"name": "another"},
        {"format": "round-robin"},
        {"limits": {"moves": 1000}},
        {"limits": {"nodes": None}},
        {"game": {"name": "tic-tac-toe"}},
        {"game": {"in_a_row": 3, "rows": 3, "columns": 3, "name": "tic-tac-toe"}},
        {"agents": [{"agent": "random"}, {"agent": "lookahead", "depth": 2}, "greedy"]},
        {"agents": ["random", "lookahead", {"agent": "greedy", "heuristic": "open-lanes"}]},
        {"agents": ["random", "lookahead", {"agent": "greedy", "heuristic": {"name": "open-lanes"}}]},
        {"agents": ["random", "lookahead", {"agent": "greedy", "heuristic": {"tic-tac-toe": "open-lanes"}}]},
        {"agents": ["random", "lookahead", {"agent": "greedy", "isolation": "none", "limits": {}}]},
        {"agents": ["random", {"agent": "lookahead", "depth": {"sweep": [2]}}, "greedy"]},
        {"agents": ["random", {"agent": "lookahead", "label": None}, "greedy"]},
    ],
)
def test_defaults_that_are_written_out_do_not_change_any_id(same: Mapping[str, Any]) -> None:
    assert ids(changed(GAME, **same)) == ids(GAME)


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 1},
        {"limits": {"moves": 999}},
        {"limits": {"nodes": 100}},
        {"limits": {"seconds": 100}},
        {"limits": {"depth": 1}},
        {"game": {"name": "tic-tac-toe", "rows": 4}},
        {"game": {"name": "tic-tac-toe", "columns": 4}},
        {"game": {"name": "tic-tac-toe", "in_a_row": 2}},
        {"rounds": None, "positions": ["x../.../..."]},
        {"rounds": None, "positions": [".../.../..."]},
    ],
)
def test_changes_of_common_keys_change_all_ids(other: Mapping[str, Any]) -> None:
    assert ids(changed(GAME, **other)).isdisjoint(ids(GAME))


@pytest.mark.parametrize(
    "entry",
    [
        {"agent": "lookahead", "depth": 1},
        {"agent": "lookahead", "label": "mine"},
        {"agent": "lookahead", "label": "lookahead"},
        {"agent": "lookahead", "limits": {"nodes": 100}},
        {"agent": "lookahead", "limits": {"seconds": 100}},
        {"agent": "lookahead", "limits": {"depth": 1}},
    ],
)
def test_changes_of_keys_of_an_entry_change_only_the_ids_of_its_matches(entry: Mapping[str, Any]) -> None:
    both = ids(GAME) & ids(changed(GAME, agents=["random", entry, "greedy"]))
    assert both == ids(changed(GAME, agents=["random", "greedy"]))
    assert len(both) == 4


def test_matches_with_different_heuristics_have_different_ids() -> None:
    plain = ids(PUZZLE)
    misplaced = ids(changed(PUZZLE, agents=["random", {"agent": "greedy", "heuristic": "misplaced"}]))
    manhattan = ids(changed(PUZZLE, agents=["random", {"agent": "greedy", "heuristic": "manhattan"}]))
    assert manhattan == plain
    assert len(misplaced & plain) == 2


@pytest.mark.parametrize(
    "options",
    [{"mood": "wild"}, {"weight": 1.5}, {"colours": ["blue"]}, {"colours": ["red", "blue"]}, {"colours": []}, {"numbers": [1]}],
)
def test_options_of_every_kind_are_part_of_the_id(plugin: str, options: Mapping[str, Any]) -> None:
    spec = {"game": "tic-tac-toe", "rounds": 1, "plugins": [plugin], "agents": ["random", "moody"]}
    assert ids(changed(spec, agents=["random", {"agent": "moody", **options}])).isdisjoint(ids(spec))


@pytest.mark.parametrize("options", [{"mood": "calm"}, {"weight": 1}, {"weight": 1.0}, {"colours": ["red"]}, {"numbers": []}])
def test_defaults_of_every_kind_do_not_change_the_id_if_they_are_written_out(plugin: str, options: Mapping[str, Any]) -> None:
    spec = {"game": "tic-tac-toe", "rounds": 1, "plugins": [plugin], "agents": ["random", "moody"]}
    assert ids(changed(spec, agents=["random", {"agent": "moody", **options}])) == ids(spec)


def test_the_order_within_a_set_does_not_change_the_id(plugin: str) -> None:
    """Python iterates over these two equal sets in different orders."""
    one, other = [0, 8], [8, 0]
    assert [*frozenset(one)] != [*frozenset(other)]
    spec = {"game": "tic-tac-toe", "rounds": 1, "plugins": [plugin]}
    assert ids(changed(spec, agents=["random", {"agent": "moody", "numbers": one}])) == ids(
        changed(spec, agents=["random", {"agent": "moody", "numbers": other}])
    )


@pytest.mark.parametrize("game", [{"steps": 4}, {"mood": "wild"}])
def test_parameters_of_a_game_are_part_of_the_id(plugin: str, game: Mapping[str, Any]) -> None:
    spec = {"game": "stairs", "rounds": 1, "plugins": [plugin], "agents": ["random", "greedy"]}
    assert ids(changed(spec, game={"name": "stairs", **game})).isdisjoint(ids(spec))


@pytest.mark.parametrize("parameters", [{"scale": 2}, {"mood": "wild"}])
def test_parameters_of_a_heuristic_are_part_of_the_id(plugin: str, parameters: Mapping[str, Any]) -> None:
    spec = {"game": "stairs", "rounds": 1, "plugins": [plugin], "agents": ["greedy"]}
    written = [{"agent": "greedy", "heuristic": {"name": "left", "scale": 1, "mood": "calm"}}]
    other = [{"agent": "greedy", "heuristic": {"name": "left", **parameters}}]
    assert ids(changed(spec, agents=written)) == ids(spec)
    assert ids(changed(spec, agents=other)).isdisjoint(ids(spec))


def test_a_position_given_twice_gives_two_matches() -> None:
    once = ids({"game": "tic-tac-toe", "positions": ["x../.../..."], "agents": ["random", "greedy"]})
    twice = ids({"game": "tic-tac-toe", "positions": ["x../.../...", "x../.../..."], "agents": ["random", "greedy"]})
    assert once < twice
    assert len(twice) == 2 * len(once)


def test_the_id_of_a_given_position_depends_only_on_its_text() -> None:
    agents = ["random", "greedy"]
    one = ids({"game": "tic-tac-toe", "positions": ["x../.../..."], "agents": agents})
    assert one < ids({"game": "tic-tac-toe", "positions": [".../.x./...", "x../.../..."], "agents": agents})


def test_an_integer_and_a_float_limit_of_seconds_give_the_same_id() -> None:
    ids = [arena.play("tic-tac-toe", ["random", "random"], limits={"seconds": seconds}).id for seconds in (5, 5.0)]
    assert ids[0] == ids[1]


def test_a_position_has_the_same_key_in_all_its_notations() -> None:
    ids = [arena.play("tic-tac-toe", ["random", "random"], position=text).id for text in ("x../.../...", " X../.../... ")]
    assert ids[0] == ids[1]
    specs = [
        {"game": "tic-tac-toe", "positions": [text], "agents": ["random", "greedy"]} for text in ("x../.../...", "X../.../...")
    ]
    assert [record.id for record in arena.run(specs[0]).records] == [record.id for record in arena.run(specs[1]).records]


def met(results: Results) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {}
    for played in results.played:
        found.setdefault(played.pairing.round, set()).add(played.record.position)
    return found


def test_all_agents_get_the_same_positions() -> None:
    spec = {"game": "sliding-tiles", "rounds": 5, "limits": {"moves": 3}, "agents": ["random", "greedy", "lookahead"]}
    first = met(arena.run(spec))
    assert [len(texts) for texts in first.values()] == [1] * 5
    assert len(set.union(*first.values())) == 5
    assert met(arena.run(changed(spec, agents=["greedy"], limits={"moves": 2, "nodes": 1}))) == first
    assert met(arena.run(changed(spec, seed=1))) != first


def test_a_file_and_a_mapping_give_the_same_matches(tmp_path: Path) -> None:
    file = tmp_path / "cup.yaml"
    file.write_text("game: tic-tac-toe\nrounds: 2\nagents: [random, lookahead, greedy]\n")
    assert {record.id for record in arena.run(file).records} == ids(GAME)
