"""Dice, cards, turns and squares as rows of numbers from 0 to 1, for learning agents.

The values for `seat` itself always come first.
"""

from collections.abc import Sequence

from arena import encoding
from arena_games import backgammon, grid_path, hearts, kuhn_poker, leduc_poker, liars_dice, pig
from arena_games.backgammon import ALL_OFF, BAR, POINTS, ROLLS, count
from arena_games.checkers import Checkers
from arena_games.checkers_board import JUMPER, KING, MAN, QUIET, SQUARES, State as CheckersState
from arena_games.goofspiel import Goofspiel
from arena_games.prisoners_dilemma import PrisonersDilemma
from arena_games.rock_paper_scissors import CHOICES, RockPaperScissors

MAX_ROUND_ACTIONS = 4
"""The maximum number of actions in a betting round of Leduc poker."""


def _one_of(choices: Sequence[object], given: object) -> list[int]:
    """Return a 1 at the index of `given`; only zeros if it is not one of the choices."""
    return [int(choice == given) for choice in choices]


@encoding("features", game="pig", shape=(4,))
def pig_features(game: pig.Pig, observation: pig.State, seat: int) -> list[float]:
    """Return both scores and the points collected in this turn, as shares of the target, and whether it is the seat's turn."""
    mover, _, gathered, *scores = observation
    shares = [min(1.0, points / game.target) for points in (scores[seat], scores[1 - seat], gathered)]
    return [*shares, float(mover == seat)]


@encoding("features", game="backgammon", shape=(2 * (4 * 24 + 2) + 1 + 6,))
def backgammon_features(game: backgammon.Backgammon, observation: backgammon.State, seat: int) -> list[float]:
    """Return the checkers of both sides, each from its own view, whether it is the seat's turn, and the dice.

    A point has four numbers, for 1, 2, 3 and more checkers: G. Tesauro, Temporal difference learning and TD-Gammon, 1995. They
    are followed by the shares of checkers on the bar and off the board. Each face of the dice has a number: how often it can be
    played, divided by four.
    """
    first, second, mover, roll = observation
    own, other = (second, first) if seat else (first, second)
    dice = ROLLS[roll][0] if roll else ()
    return [
        *_checkers(own),
        *_checkers(other),
        float(mover == seat),
        *[dice.count(face) / 4 for face in range(1, 7)],
    ]


def _checkers(side: int) -> list[float]:
    found: list[float] = []
    for point in POINTS:
        number = count(side, point)
        found += (float(number > 0), float(number > 1), float(number > 2), max(0, number - 3) / (ALL_OFF - 3))
    return [*found, count(side, BAR) / ALL_OFF, count(side, 0) / ALL_OFF]


@encoding("features", game="kuhn-poker", shape=(2 * 3 + 3 * 2 + 1,))
def kuhn_poker_features(game: kuhn_poker.KuhnPoker, observation: kuhn_poker.State, seat: int) -> list[int]:
    """Return the seat's own card, the other's card if it is shown, whether each of three actions is pass or bet, and the seat."""
    cards, bets = observation
    hands = [_one_of(kuhn_poker.DECK, cards[owner : owner + 1]) for owner in (seat, 1 - seat)]
    done = [flag for turn in range(3) for flag in _one_of("pb", bets[turn : turn + 1])]
    return [*hands[0], *hands[1], *done, seat]


@encoding("features", game="leduc-poker", shape=(3 * 3 + 2 * MAX_ROUND_ACTIONS * 3 + 1,))
def leduc_poker_features(game: leduc_poker.LeducPoker, observation: leduc_poker.State, seat: int) -> list[int]:
    """Return the ranks of the seat's own card, of the public card and of the other seat's card if it is shown; the actions of
    both rounds; and the seat.
    """
    cards, *rounds = observation
    ranks = [card[0] for card in (*cards, *["?"] * (3 - len(cards)))]
    hands = [flag for place in (seat, 2, 1 - seat) for flag in _one_of(leduc_poker.RANKS, ranks[place])]
    done = [flag for bets in rounds for turn in range(MAX_ROUND_ACTIONS) for flag in _one_of("fcr", bets[turn : turn + 1])]
    return [*hands, *done, seat]


@encoding("features", game="liars-dice", shape=lambda game: (2 * game.sides + 4 * game.dice * game.sides + 2,))
def liars_dice_features(game: liars_dice.LiarsDice, observation: liars_dice.State, seat: int) -> list[float]:
    """Return the seat's own dice, the other's dice if they are shown, the bids of both, whether `liar` was said, and the seat."""
    dice, said = observation
    faces = [str(face) for face in range(1, game.sides + 1)]
    throws = [*dice, "", ""]
    thrown = [throws[owner].count(face) / game.dice for owner in (seat, 1 - seat) for face in faces]
    bids = game.action_space()[:-1]
    bid = [float(bid in said[owner::2]) for owner in (seat, 1 - seat) for bid in bids]
    return [*thrown, *bid, float(said[-1:] == (liars_dice.LIAR,)), float(seat)]


@encoding("features", game="prisoners-dilemma", shape=lambda game: (4, game.turns))
def prisoners_dilemma_features(game: PrisonersDilemma, observation: object, seat: int) -> list[int]:
    """Return the turns in which the seat has cooperated, those in which it has defected, then the same for the other seat."""
    state = game.settled(observation).upper()
    said = [state[seat::2], state[1 - seat :: 2]]
    return [flag for choices in said for letter in "CD" for flag in _where(choices, letter, game.turns)]


def _where(said: Sequence[object], wanted: object, length: int) -> list[int]:
    """Return a 1 for each turn in which `said` is `wanted`, and zeros for all other turns, including future ones."""
    return [int(each == wanted) for each in said] + [0] * (length - len(said))


@encoding("features", game="rock-paper-scissors", shape=lambda game: (6, game.rounds))
def rock_paper_scissors_features(game: RockPaperScissors, observation: object, seat: int) -> list[int]:
    """Return the rounds in which the seat has chosen rock, paper and scissors, then the same for the other seat."""
    rounds = game.settled(observation)
    said = [[chosen[one] for chosen in rounds] for one in (seat, 1 - seat)]
    return [flag for chosen in said for choice in CHOICES for flag in _where(chosen, choice, game.rounds)]


@encoding("features", game="goofspiel", shape=lambda game: (6, game.cards))
def goofspiel_features(game: Goofspiel, observation: object, seat: int) -> list[int]:
    """Return, for each card, whether it is the current prize, whether it was won, lost or discarded as a prize, and whether it is
    a known bid of the seat or of the other seat.
    """
    turns, prize = game.settled(observation)
    deck = game.action_space()
    won, lost = ("<", ">") if seat else (">", "<")
    ended = [{each for each, _, order in turns if order == wanted} for wanted in (won, lost, "=")]
    bids = [{bids[one] for _, bids, _ in turns} for one in (seat, 1 - seat)]
    return [int(card in cards) for cards in ({prize}, *ended, *bids) for card in deck]


@encoding("features", game="hearts", shape=(9 * 52 + 4,))
def hearts_features(game: hearts.Hearts, observation: hearts.State, seat: int) -> list[float]:
    """Return the seat's own hand, the cards of each seat in the current trick and before it, and the shares of the points.

    The seats are in the order of turns, beginning with `seat`.
    """
    hand = max(0, observation.hands[seat])
    trick, before = [0] * 4, [0] * 4
    *past, last = hearts.tricks_of(observation)
    for tricks, cards in ((past, before), ([last], trick)):
        for leader, played in tricks:
            for place, card in enumerate(played):
                cards[(leader + place - seat) % 4] |= 1 << card
    points = [observation.points[(seat + place) % 4] / hearts.MOON for place in range(4)]
    return [float(cards >> card & 1) for cards in (hand, *trick, *before) for card in range(52)] + points


@encoding("features", game="grid-path", shape=(4,))
def grid_path_features(game: grid_path.GridPath, observation: grid_path.State, seat: int) -> list[float]:
    """Return the column and the row of the cell and of the goal, as shares of the map."""
    return [share for cell in observation for share in (cell % game.width / game.width, cell // game.width / (game.height + 2))]


@encoding("features", game="checkers", shape=(6, 32))
def checkers_features(game: Checkers, observation: CheckersState, seat: int) -> list[float]:
    """Return the men and kings of the seat and of the opponent, the piece that must go on, and the quiet plies as a share of
    `quiet`.

    For white, the squares are counted from the other end, so that both seats move in the same direction.
    """
    squares = observation[:SQUARES][::-1] if seat else observation[:SQUARES]
    kinds = (MAN[seat], KING[seat], MAN[1 - seat], KING[1 - seat])
    places = range(SQUARES)[::-1] if seat else range(SQUARES)
    pieces = [float(piece == kind) for kind in kinds for piece in squares]
    return [*pieces, *[float(place == observation[JUMPER]) for place in places], *[observation[QUIET] / game.quiet] * SQUARES]
