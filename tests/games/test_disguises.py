"""Test disguised games against referees that know only the text of the disguise: its rules and positions."""

import random
import re
from abc import ABC, abstractmethod
from typing import Any

import pytest

from arena import CHANCE, Disguise, Registry

Board = dict[str, list[str]]


class Referee(ABC):
    """A game as its rules text describes it, from a position in the words of the disguise."""

    def __init__(self, rules: str, position: str, mover: int) -> None:
        self.rules = rules
        self.board: Board = {}
        for part in position.split("; "):
            name, _, content = part.partition(": ")
            self.board[name] = [] if content == "-" else content.split()
        self.mover = mover

    def find(self, pattern: str) -> tuple[str, ...]:
        found = re.search(pattern, self.rules)
        assert found, pattern
        return found.groups()

    def position(self) -> str:
        return "; ".join(f"{name}: {' '.join(found) or '-'}" for name, found in sorted(self.board.items()))

    def owned(self, colour: str) -> set[str]:
        return {name for name, found in self.board.items() if found == [colour]}

    @abstractmethod
    def moves(self) -> set[str]:
        """Return the legal moves, even at the end of the game."""

    @abstractmethod
    def play(self, move: str) -> None:
        """Make a move."""

    @abstractmethod
    def result(self) -> tuple[float, float] | None:
        """Return the result of both players, or None while the game goes on."""


class Stones(Referee):
    def moves(self) -> set[str]:
        return {name for name, paint in self.board.items() if not paint}

    def play(self, move: str) -> None:
        self.board[move] = [self.find(r"player 1 (\w+) and player 2 (\w+)\.")[self.mover]]
        self.mover = 1 - self.mover

    def result(self) -> tuple[float, float] | None:
        groups = [set(group.split()) for group in self.find(r"in groups: (.*?)\. The first")[0].split(", ")]
        one, two = [
            any(group <= self.owned(paint) for group in groups) for paint in self.find(r"player 1 (\w+) and player 2 (\w+)\.")
        ]
        return (1, -1) if one else (-1, 1) if two else None if self.moves() else (0, 0)


class Shelves(Referee):
    def moves(self) -> set[str]:
        (room,) = self.find(r"A shelf takes (\d+) books")
        return {name for name, books in self.board.items() if len(books) < int(room)}

    def play(self, move: str) -> None:
        self.board[move].append(self.find(r"player 1 (\w+) books and player 2 (\w+) ones")[self.mover])
        self.mover = 1 - self.mover

    def result(self) -> tuple[float, float] | None:
        order = self.find(r"they are: (.*?)\. A shelf")[0].split(", ")
        assert sorted(order) == sorted(self.board)
        count = int(self.find(r"wins with (\d+) books")[0])
        for seat, colour in enumerate(self.find(r"player 1 (\w+) books and player 2 (\w+) ones")):
            own = {
                (place, level)
                for place, name in enumerate(order)
                for level, book in enumerate(self.board[name])
                if book == colour
            }
            for place, level in own:
                if any(
                    all((place + n * a, level + n * b) in own for n in range(count)) for a, b in ((0, 1), (1, 0), (1, 1), (1, -1))
                ):
                    return (-1, 1) if seat else (1, -1)
        return None if self.moves() else (0, 0)


class Villages(Referee):
    def flags(self) -> tuple[str, ...]:
        return self.find(r"player 1 are (\w+), and the flags of player 2 are (\w+)")

    def turned(self, village: str, seat: int) -> set[str]:
        """Return the villages in which a raised flag changes the flag."""
        own, other = self.flags()[seat], self.flags()[1 - seat]
        found: set[str] = set()
        for road in self.find(r"is given: (.*?)\. A village")[0].split(", "):
            for way in (road.split("-"), road.split("-")[::-1]):
                ahead = way[way.index(village) + 1 :] if village in way else []
                row = 0
                while row < len(ahead) and self.board[ahead[row]] == [other]:
                    row += 1
                if 0 < row < len(ahead) and self.board[ahead[row]] == [own]:
                    found |= set(ahead[:row])
        return found

    def raised(self, seat: int) -> set[str]:
        return {name for name, flag in self.board.items() if not flag and self.turned(name, seat)}

    def moves(self) -> set[str]:
        return self.raised(self.mover) or {"rest"}

    def play(self, move: str) -> None:
        if move != "rest":
            for name in {move, *self.turned(move, self.mover)}:
                self.board[name] = [self.flags()[self.mover]]
        self.mover = 1 - self.mover

    def result(self) -> tuple[float, float] | None:
        if self.raised(0) or self.raised(1):
            return None
        ahead = len(self.owned(self.flags()[0])) - len(self.owned(self.flags()[1]))
        return (0, 0) if not ahead else (1, -1) if ahead > 0 else (-1, 1)


class Towns(Referee):
    def moves(self) -> set[str]:
        return {name for name, owner in self.board.items() if not owner}

    def play(self, move: str) -> None:
        self.board[move] = [self.find(r"player 1 are (\w+), and the towns of player 2 are (\w+)")[self.mover]]
        self.mover = 1 - self.mover

    def result(self) -> tuple[float, float] | None:
        roads = [set(pair.split()) for pair in self.find(r"pairs of towns: (.*?)\. Two players")[0].split(", ")]
        coasts = [set(towns.split()) for towns in re.findall(r"one of the towns ([a-z ]+?)(?= and ends|\.| to one)", self.rules)]
        assert len(coasts) == 4
        for seat, colour in enumerate(self.find(r"player 1 are (\w+), and the towns of player 2 are (\w+)")):
            own = self.owned(colour)
            reached: set[str] = set()
            more = own & coasts[2 * seat]
            while more:
                reached |= more
                more = {town for road in roads if road & more for town in road} & own - reached
            if reached & coasts[2 * seat + 1]:
                return (-1, 1) if seat else (1, -1)
        return None


class Lamps(Referee):
    def moves(self) -> set[str]:
        return {f"{name} {steps}" for name, (light,) in self.board.items() for steps in range(1, int(light) + 1)}

    def play(self, move: str) -> None:
        name, steps = move.split()
        self.board[name] = [str(int(self.board[name][0]) - int(steps))]
        self.mover = 1 - self.mover

    def result(self) -> tuple[float, float] | None:
        wins = self.find(r"moved last (wins|loses)")[0] == "wins"
        return None if self.moves() else (-1, 1) if (self.mover == 0) == wins else (1, -1)


class Gems(Referee):
    def moves(self) -> set[str]:
        return {"wait", "add"}

    def play(self, move: str) -> None:
        self.board[self.find(r"under (\w+) the moves")[0]].append(move)
        self.mover = 1 - self.mover

    def result(self) -> tuple[float, float] | None:
        done = self.board[self.find(r"under (\w+) the moves")[0]]
        low, middle, high = self.find(r"three gems: (\w+), (\w+) and (\w+)\.")
        assert self.find(rf"The {high} gem is worth more than the {middle} gem, which is worth more than the {low} (gem)")
        gems = [
            self.board[box][0] for box in self.find(r"player 1 lies in the box (\w+), the gem of player 2 in the box (\w+)\.")
        ]
        coins = [1 + sum(move == "add" for move in done[seat::2]) for seat in range(2)]
        if done[-2:] == ["add", "wait"]:
            loser = (len(done) - 1) % 2
            return (-coins[0], coins[0]) if loser == 0 else (coins[1], -coins[1])
        if done == ["wait", "wait"] or done[-2:] == ["add", "add"]:
            order = [low, middle, high]
            return (coins[1], -coins[1]) if order.index(gems[0]) > order.index(gems[1]) else (-coins[0], coins[0])
        return None


CASES: list[tuple[str, type[Referee], dict[str, Any]]] = [
    ("tic-tac-toe", Stones, {}),
    ("tic-tac-toe", Stones, {"rows": 3, "columns": 4, "in_a_row": 3}),
    ("connect-four", Shelves, {}),
    ("connect-four", Shelves, {"rows": 3, "columns": 5, "in_a_row": 3}),
    ("othello", Villages, {"size": 4}),
    ("othello", Villages, {"size": 6}),
    ("hex", Towns, {"size": 4}),
    ("hex", Towns, {"size": 1}),
    ("nim", Lamps, {}),
    ("nim", Lamps, {"heaps": (2, 2, 11), "misere": True}),
    ("kuhn-poker", Gems, {}),
]


@pytest.mark.parametrize(("name", "referee", "parameters"), CASES)
def test_a_disguise_plays_the_same_game(
    name: str, referee: type[Referee], parameters: dict[str, Any], registry: Registry
) -> None:
    """In random matches, moves, positions, ends and results agree with a referee that knows only the disguise."""
    game = registry.games[name](**parameters)
    for number in range(1 if name == "othello" else 8):
        rng = random.Random(number)
        disguise: Disguise = game.disguise(random.Random(number))
        state = game.initial(rng)
        while game.to_move(state) == CHANCE:
            state = game.result(state, rng.choice(list(game.actions(state))))
        umpire = referee(disguise.rules_text, disguise.write_state(state), game.to_move(state))
        while not game.is_terminal(state):
            moves = {disguise.write_action(game.format_action(state, action)): action for action in game.actions(state)}
            assert umpire.result() is None
            assert umpire.mover == game.to_move(state)
            assert umpire.moves() == set(moves)
            move = rng.choice(sorted(moves))
            state = game.result(state, moves[move])
            umpire.play(move)
            assert umpire.position() == disguise.write_state(state)
        assert umpire.result() == tuple(game.returns(state))


def test_a_disguise_keeps_a_hidden_card_hidden(registry: Registry) -> None:
    """In Kuhn poker, one of the two gems is hidden until the showdown."""
    game = registry.games["kuhn-poker"]()
    disguise = game.disguise(random.Random(3))
    seen = disguise.write_state(game.observation(game.parse_state("JK:p"), 1))
    assert (seen.count("hidden"), seen.count(disguise.symbols["K"]), seen.count(disguise.symbols["J"])) == (1, 1, 0)


def test_disguises_differ_by_seed_and_avoid_words_of_the_game(registry: Registry) -> None:
    for name, _, parameters in CASES:
        game = registry.games[name](**parameters)
        texts = [game.disguise(random.Random(seed)).rules_text for seed in (1, 1, 2)]
        assert texts[0] == texts[1] != texts[2]
        words = {*name.split("-"), "cell", "column", "disc", "stick", "heap", "card", "bet", "pot", "hexagon"}
        assert not words & set(re.findall("[a-z]+", texts[0].lower()))


def test_a_board_that_is_too_large_has_no_disguise(registry: Registry) -> None:
    for name, parameters, reason in (
        ("tic-tac-toe", {"rows": 50, "columns": 50}, "needs 2,500 names"),
        ("tic-tac-toe", {"rows": 19, "columns": 19, "in_a_row": 5}, "characters, more than 8,000"),
    ):
        with pytest.raises(ValueError, match=reason):
            registry.games[name](**parameters).disguise(random.Random(0))
