"""Test backgammon against a naive search of single-checker moves, open_spiel and known positions."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from arena_games.backgammon import ROLLS, Backgammon, count, pip_count, pips
from tests.games.game_tree import check_state, random_match, start

Side = tuple[int, ...]
"""The checkers of a side for the naive search, by point in its own view: off, 1 to 24, the bar."""
START = ".".join(["0"] + [{24: "2", 13: "5", 8: "3", 6: "5"}.get(point, "0") for point in range(24, -1, -1)])

# D. Kleinman's table of the probability to win a race, by (D + 4)^2 / (S - 4), as quoted on rec.games.backgammon, February 2001.
KLEINMAN = {0.5: 0.69, 0.7: 0.72, 1.0: 0.76, 1.2: 0.78, 1.4: 0.80, 2.0: 0.84}


def list_checkers(state: Any) -> tuple[Side, Side]:
    """Return the checkers of both sides in the form of the naive search."""
    x, o = [tuple([count(side, point) for point in range(26)]) for side in state[:2]]
    return x, o


def single_moves(own: Side, other: Side, die: int) -> Iterator[tuple[Side, Side]]:
    """Yield every move of one checker: from the bar first, never onto a made point, off only if all checkers are at home."""
    for point in range(1, 26):
        target = point - die
        if not own[point] or (own[25] and point != 25) or (target > 0 and other[25 - target] > 1):
            continue
        if target <= 0 and (any(own[7:]) or (target < 0 and any(own[point + 1 :]))):
            continue
        mine, theirs = list(own), list(other)
        mine[point] -= 1
        mine[max(0, target)] += 1
        if target > 0 and other[25 - target]:
            theirs[25 - target], theirs[25] = 0, theirs[25] + 1
        yield tuple(mine), tuple(theirs)


def sequences(own: Side, other: Side, dice: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Side, Side]]:
    """Yield the dice played and the position for every play of the dice in this order, until a die cannot be played."""
    stuck = True
    for mine, theirs in single_moves(own, other, dice[0]) if dice else ():
        stuck = False
        for played, *after in sequences(mine, theirs, dice[1:]):
            yield (dice[0], *played), after[0], after[1]
    if stuck:
        yield (), own, other


def legal_positions(own: Side, other: Side, roll: str) -> set[tuple[Side, Side]]:
    """Return the positions after each legal play: as many dice as possible, and the higher die if only one can be played."""
    high, low = map(int, roll.split("-"))
    orders = [(high,) * 4] if high == low else [(high, low), (low, high)]
    found = [way for order in orders for way in sequences(own, other, order)]
    most = max(len(played) for played, *_ in found)
    longest = [way for way in found if len(way[0]) == most]
    best = max(played for played, *_ in longest) if most == 1 else None
    return {(mine, theirs) for played, mine, theirs in longest if best in (None, played)}


def check_plays(game: Backgammon, state: Any) -> int:
    """Compare the successors of a state with the naive search, and return their number. Each has exactly one action."""
    own, other = list_checkers(state) if state[2] == 0 else list_checkers(state)[::-1]
    expected = legal_positions(own, other, state[3])
    actions = list(game.actions(state))
    reached = [list_checkers(game.result(state, action)) for action in actions]
    assert {pair if state[2] == 0 else pair[::-1] for pair in reached} == expected
    assert len(actions) == len(expected)
    return len(actions)


def test_plays_from_the_start_agree_with_a_naive_search() -> None:
    """The test compares each play of each roll from the start, and of each roll after every twentieth of these plays."""
    game, answers, plays = Backgammon(), [], 0
    for roll in ROLLS:
        thrown = game.result(start(game), roll)
        plays += check_plays(game, thrown)
        answers += [game.result(thrown, action) for action in game.actions(thrown)]
    assert plays == len(answers) == sum(len(legal_positions(*list_checkers(start(game)), roll)) for roll in ROLLS)
    for state in answers[::20]:
        for roll in ROLLS:
            check_plays(game, game.result(state, roll))


@pytest.mark.parametrize("seed", [0])
def test_random_matches_agree_with_a_naive_search(seed: int) -> None:
    """Whole matches include entering from the bar, hits, blocks and bearing off."""
    game, rng = Backgammon(), random.Random(seed)
    for state, _ in random_match(game, seed):
        check_state(game, state)
        if state[3]:
            check_plays(game, state)
            check_plays(game, (*state[:3], rng.choice(list(ROLLS))))
        assert [sum(side) for side in list_checkers(state)] == [15, 15]


@pytest.mark.parametrize(
    ("own", "other", "roll", "actions"),
    [
        ({25: 1, 6: 14}, {6: 2, 3: 13}, "6-3", ["pass"]),  # both entry points are made
        ({25: 1, 6: 14}, {6: 2, 2: 13}, "6-3", ["bar/22 22/16"]),  # the 6 cannot bear off, because a checker is outside home
        ({25: 2, 6: 13}, {1: 15}, "5-4", ["bar/20 bar/21"]),
        ({7: 1, 1: 14}, {20: 15}, "6-1", ["7/1 1/off"]),  # at home after either die; 7/6 6/off is the same
        ({2: 1, 0: 14}, {24: 15}, "6-5", ["2/off"]),
        ({6: 1, 2: 1, 0: 13}, {20: 15}, "5-4", ["6/1 2/off", "6/2 2/off"]),  # a higher checker must go first
        ({20: 1, 0: 14}, {16: 2, 24: 13}, "6-5", ["20/14"]),  # either die can be played, but not both, so the higher one is
        ({20: 1, 0: 14}, {10: 2, 24: 13}, "5-1", ["20/19 19/14"]),  # only one order is open
        ({10: 1, 0: 14}, {21: 2, 24: 13}, "2-2", ["10/8 8/6"]),  # then it is blocked
    ],
)
def test_known_positions_have_the_expected_actions(
    own: dict[int, int], other: dict[int, int], roll: str, actions: list[str]
) -> None:
    game = Backgammon()
    texts = [".".join([str(side.get(point, 0)) for point in range(25, -1, -1)]) for side in (own, other)]
    state = game.parse_state(f"{texts[0]} {texts[1]} a {roll}")
    check_plays(game, state)
    assert sorted(game.actions(state)) == sorted(actions)
    mirror = game.parse_state(f"{texts[1]} {texts[0]} b {roll}")
    assert list(game.actions(mirror)) == list(game.actions(state))


class Spiel:
    """A position of open_spiel in the form of the naive search."""

    def __init__(self, state: Any) -> None:
        self.state = state

    def list_checkers(self) -> tuple[Side, Side]:
        """open_spiel numbers the points from 24 to 1 of x, and the bar is 100."""
        found = []
        for player in (0, 1):
            points = [self.state.board(player, 24 - point if player == 0 else point - 1) for point in range(1, 25)]
            side = [*points, self.state.board(player, 100)]
            found.append((15 - sum(side), *side))
        return found[0], found[1]

    def plays(self) -> dict[tuple[Side, Side], Any]:
        """Return open_spiel's states by position after plays of the most dice. A double takes two turns."""
        seat, found = self.state.current_player(), {}
        waiting = [(0, self.state)]
        while waiting:
            moves, before = waiting.pop()
            for action in before.legal_actions():
                after = before.child(action)
                played = moves + sum(
                    move.pos in range(24) or move.pos == 100 for move in before.spiel_move_to_checker_moves(seat, action)
                )
                if after.current_player() == seat:
                    waiting.append((played, after))
                else:
                    found[Spiel(after).list_checkers()] = (played, after)
        most = max(played for played, _ in found.values())
        return {position: after for position, (played, after) in found.items() if played == most}

    def throw(self, roll: str) -> Any:
        high, low = roll.split("-")
        chances = {self.state.action_to_string(action)[-3:-1]: action for action, _ in self.state.chance_outcomes()}
        return self.state.child(chances.get(low + high, chances.get(high + low)))


@pytest.mark.parametrize("seed", range(2))
def test_random_matches_agree_with_open_spiel(seed: int, pyspiel: Any) -> None:
    """In open_spiel, a double is two turns and never comes first. Its plays of fewer dice than possible are left out."""
    game = Backgammon()
    theirs = Spiel(pyspiel.load_game("backgammon(scoring_type=winloss_scoring,max_player_turns=100000)").new_initial_state())
    unequal = [roll for roll in ROLLS if roll[0] != roll[2]]
    for state, action in random_match(game, seed, lambda state: unequal if state == start(game) else game.actions(state)):
        assert list_checkers(state) == theirs.list_checkers()
        assert game.is_terminal(state) == theirs.state.is_terminal()
        if action is None:
            assert list(game.returns(state)) == theirs.state.returns()
            return
        assert game.to_move(state) == theirs.state.current_player()
        if state[3]:
            plays = theirs.plays()
            assert {list_checkers(game.result(state, one)) for one in game.actions(state)} == set(plays)
            theirs = Spiel(plays[list_checkers(game.result(state, action))])
        else:
            theirs = Spiel(theirs.throw(action))


def test_rolls_have_the_probabilities_of_two_dice() -> None:
    game = Backgammon()
    thrown = [f"{max(pair)}-{min(pair)}" for pair in ((one, two) for one in range(1, 7) for two in range(1, 7))]
    assert dict(game.chance_outcomes(start(game))) == {roll: thrown.count(roll) / 36 for roll in thrown}
    assert [game.chance_stream((*start(game)[:2], seat, "")) for seat in (0, 1)] == [0, 1]


def test_the_start_and_the_notation() -> None:
    """Seat 0 begins with any roll. Points are counted in the view of the seat that moves."""
    game = Backgammon()
    assert game.format_state(start(game)) == f"{START} {START} a"
    state = game.parse_state(f"{START} {START} a 3-1")
    assert "8/5 6/5" in game.actions(state)
    assert game.parse_action(state, " 6/5 8/5") == "8/5 6/5"
    assert len({game.parse_action(state, text) for text in ("24/20", "24/23 23/20", "24/21 21/20")}) == 1
    answer = game.result(game.result(state, "8/5 6/5"), "3-1")
    assert answer[2] == 1
    assert "8/5 6/5" in game.actions(answer)
    assert [pips(side) for side in answer[:2]] == [163, 167]
    assert game.render(state).splitlines() == [
        "5x  .  .  . 3o  . 5o  .  .  .  . 2x   13 to 24",
        "5o  .  .  . 3x  . 5x  .  .  .  . 2o   12 to 1",
        "a x: bar 0, off 0",
        "b o: bar 0, off 0",
        "a has rolled 3-1",
    ]
    with pytest.raises(ValueError, match=r"expected one of .*8/5 6/5.*, got '24/20 x'"):
        game.parse_action(state, "24/20 x")
    with pytest.raises(ValueError, match="expected one of "):
        game.parse_action(state, "24/22 13/12")


def test_a_hit_checker_goes_to_the_bar() -> None:
    game = Backgammon()
    blots = ".".join(["0"] * 6 + ["1"] + ["0"] * 18 + ["14"])  # point 19 of b is point 6 of a
    home = ".".join(["0"] * 18 + ["1"] + ["0"] * 6 + ["14"])
    hit = game.result(game.parse_state(f"{home} {blots} a 1-1"), "7/6 6/5 5/4 4/3")
    assert game.format_state(hit).split()[1].startswith("1.0.0.")


def test_pip_count_agrees_with_kleinmans_table() -> None:
    """In races with 100 pips for the side on roll, the value is 0.99 (2p - 1) for the probability p of a win."""
    game = Backgammon()
    for metric, probability in KLEINMAN.items():
        lead = max((lead for lead in range(40)), key=lambda lead: -abs((lead + 4) ** 2 / (196 + lead) - metric))
        own, other = {20: 5, 0: 10}, {20: 5, lead % 20: 1, 0: 9 if lead % 20 else 10}
        if lead >= 20:
            other = {**other, 20: 6, 0: other[0] - 1}
        texts = [".".join([str(side.get(point, 0)) for point in range(25, -1, -1)]) for side in (own, other)]
        for state in (game.parse_state(f"{texts[0]} {texts[1]} a"), game.parse_state(f"{texts[1]} {texts[0]} b")):
            seat = state[2]
            assert (pip_count(game, state, seat) / 0.99 + 1) / 2 == pytest.approx(probability, abs=0.015)
            assert pip_count(game, state, 1 - seat) == -pip_count(game, state, seat)
