"""All games of open_spiel as one game of ours, whose traits follow from the one that its parameter names."""

import random
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any, Self

from arena import CHANCE, Game, Simultaneous
from arena.dialects import Dialect, Gtp, Uci
from arena.limits import DEFAULT_MOVES
from arena_bridges.openspiel.library import load_game, pyspiel
from arena_bridges.openspiel.resampling import draw_state, is_listed
from arena_bridges.openspiel.state import COLOR, OVER, Observation, State, act, parse, seen_text, state_of

FORGETFUL = "_ir"
"""The end of the names of games of imperfect recall."""
IN_TURNS = "turn_based_simultaneous_game"
"""What open_spiel calls a game whose seats act in turns and not at once."""
Seen = State | Observation


class OpenSpiel(Game):
    """A game of open_spiel, named by its parameter `game`, such as `kuhn_poker` or `hex(board_size=5)`.

    M. Lanctot et al., OpenSpiel: A Framework for Reinforcement Learning in Games, 2019. Traits follow from the game. Actions are
    open_spiel's numbers; their texts are its own, with the number behind those that would not be one line of their own. Text
    notation: the numbers of the actions so far, `-` at first.
    """

    name = "openspiel"
    native = True
    game: str

    def __new__(cls, *, game: str = "tic_tac_toe") -> Self:
        """Make a game of the class that has the traits of this one; ValueError if open_spiel has none that can be played."""
        if cls is not OpenSpiel:
            return super().__new__(cls, game=game)
        spiel = load_game(game)
        chance, hidden, at_once, rewarded = _traits(spiel)
        alone = spiel.num_players() == 1 and not chance  # nothing happens that its seat does not do
        resamples = not alone and is_listed(game) if hidden else at_once  # choices at once are all that is hidden
        return super().__new__(_kind(chance, hidden, at_once, rewarded, resamples=resamples), game=game)

    def __init__(self, *, game: str = "tic_tac_toe") -> None:
        spiel, kind = load_game(game), load_game(game).get_type()
        self.game = game
        self.players = spiel.num_players()
        self.zero_sum = kind.utility == pyspiel().GameType.Utility.ZERO_SUM
        self.min_return, self.max_return = float(spiel.min_utility()), float(spiel.max_utility())
        forgets = kind.short_name.endswith(FORGETFUL)
        self._knows = kind.provides_information_state_string and not (forgets and kind.provides_observation_string)
        self.perfect_recall = not _hides(spiel) or (self._knows and not forgets)
        moves = spiel.max_game_length() * (self.players if _at_once(spiel) else 1)
        self.default_moves = moves if moves > DEFAULT_MOVES else None

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(OpenSpiel, game=self.game), ()

    def initial(self, rng: random.Random) -> State:
        """Return the state before the first action; what is drawn by lot comes later, by chance."""
        return state_of(self.game, ())

    def to_move(self, state: Seen) -> int:
        """Return the seat whose turn it is, CHANCE if chance moves, 0 at the end."""
        seat = state.seat
        return seat if seat >= CHANCE else 0

    def actions(self, state: Seen) -> Sequence[int]:
        """Return the numbers of the legal actions."""
        legal: list[int] = state.spiel.legal_actions()
        return legal

    def result(self, state: State, action: int) -> State:
        """Return the state after an action."""
        successor = State()
        successor.text = state.text
        successor.spiel = spiel = state.spiel.child(action)
        successor.seat = spiel.current_player()
        return successor

    def is_terminal(self, state: Seen) -> bool:
        """Tell whether play is over."""
        return state.seat == OVER

    def returns(self, state: State) -> Sequence[float]:
        """Return what each seat gets."""
        returns: list[float] = state.spiel.returns()
        return returns

    def dialects(self) -> Mapping[str, Dialect]:
        """Return how engines are told of go and chess; nothing of others."""
        return dialects_of(load_game(self.game))

    def render(self, state: Seen) -> str:
        """Return the game's own text, without colours."""
        return COLOR.sub("", str(state.spiel))

    def format_state(self, state: Seen) -> str:
        """Return `4 0 8`, `-` at first; of an observation a JSON list."""
        return state.notation()

    def parse_state(self, text: str) -> Seen:
        """Return the state of `4 0 8`; ValueError if an action is not legal."""
        return parse(self.game, text)

    def format_action(self, state: Seen, action: int) -> str:
        """Return the game's own text of an action."""
        return state.texts(state.seat)[action]

    def _observe(self, state: Seen, seat: int) -> Observation:
        """Return what the game tells a seat: all that it has seen and done, else what it sees now."""
        if isinstance(state, Observation):
            return state
        movers, seen = state.movers, seen_text(state.spiel, seat, knows=self._knows)
        return Observation(seat, movers, seen, tuple(state.texts(seat).items()) if seat in movers else ())


class _Chance(OpenSpiel):
    """One in which chance moves."""

    def actions(self, state: Seen) -> Sequence[int]:
        """Return the numbers of the legal actions; of chance those of the outcomes that may be."""
        spiel = state.spiel
        if state.seat == CHANCE:
            return [outcome for outcome, probability in spiel.chance_outcomes() if probability > 0]
        legal: list[int] = spiel.legal_actions()
        return legal

    def chance_outcomes(self, state: State) -> Sequence[tuple[int, float]]:
        """Return the outcomes that may be, with their probabilities."""
        return [(outcome, probability) for outcome, probability in state.spiel.chance_outcomes() if probability > 0]


class _Hidden(OpenSpiel):
    """One in which a seat does not see the whole state."""

    def observation(self, state: Seen, seat: int) -> Observation:
        """Return what the seat knows."""
        return self._observe(state, seat)


class _AtOnce(Simultaneous, OpenSpiel):
    """One in which several seats act at once."""

    format_state = OpenSpiel.format_state
    parse_state = OpenSpiel.parse_state

    def begin(self, rng: random.Random) -> State:
        """Return the state before the first action."""
        return OpenSpiel.initial(self, rng)

    def movers(self, state: Seen) -> Sequence[int]:
        """Return who acts now."""
        return state.movers

    def legal(self, state: Seen, seat: int) -> Sequence[int]:
        """Return the numbers of the legal actions of a seat."""
        legal: list[int] = state.spiel.legal_actions(seat)
        return legal

    def joint(self, state: State, actions: Sequence[int]) -> State:
        """Return the state after all have acted; seats that cannot act count as 0."""
        if not state.spiel.is_simultaneous_node():
            return OpenSpiel.result(self, state, actions[0])
        successor = State()
        successor.text, successor.spiel = state.text, act(state.spiel, state.movers, actions)
        return successor

    def payoffs(self, state: State) -> Sequence[float]:
        """Return what each seat gets."""
        return OpenSpiel.returns(self, state)

    def format_action(self, state: Any, action: int) -> str:
        """Return the game's own text of an action, which may depend on who acts."""
        own: Seen = self.settled(state)
        return own.texts(self.to_move(state))[action]

    format_action.adapted = True  # type: ignore[attr-defined]  # it is to meet turns in which some have chosen


class _Unseen(_AtOnce):
    """One in which several seats act at once, and a seat does not see the whole state, either."""

    def seen(self, state: Seen, seat: int) -> Observation:
        """Return what the seat knows."""
        return self._observe(state, seat)


class _Rewarded(OpenSpiel):
    """One in which seats get something on the way."""

    def standing(self, state: State) -> Sequence[float]:
        """Return what each seat has so far."""
        return OpenSpiel.returns(self, state)


def _resample(self: OpenSpiel, observation: Seen, seat: int, rng: random.Random) -> State:
    """Return a state drawn from those that the seat cannot tell from the one that it observes."""
    return draw_state(self.game, self._knows, observation, seat, rng) if isinstance(observation, Observation) else observation


def _at_once(spiel: Any) -> bool:
    return bool(spiel.get_type().dynamics == pyspiel().GameType.Dynamics.SIMULTANEOUS)


def _hides(spiel: Any) -> bool:
    kind = spiel.get_type()
    turned = spiel.num_players() == 1 and kind.short_name == IN_TURNS  # there is nobody from whom a choice is hidden
    return bool(kind.information == pyspiel().GameType.Information.IMPERFECT_INFORMATION and not turned)


def _traits(spiel: Any) -> tuple[bool, bool, bool, bool]:
    """Return whether a game has chance, hidden information, seats that act at once, and rewards on the way."""
    kind, words = spiel.get_type(), pyspiel().GameType
    chance = kind.chance_mode == words.ChanceMode.EXPLICIT_STOCHASTIC
    return chance, _hides(spiel), _at_once(spiel), kind.reward_model == words.RewardModel.REWARDS


@cache
def _kind(chance: bool, hidden: bool, at_once: bool, rewarded: bool, *, resamples: bool) -> type:
    """Return the class of games with these traits: what a class gives decides what its games are."""
    turns = (_Unseen if hidden else _AtOnce) if at_once else _Hidden if hidden else OpenSpiel
    optional = [*[_Rewarded] * rewarded, turns]
    given: dict[str, Any] = {"__doc__": OpenSpiel.__doc__, **({"resample": _resample} if resamples else {})}
    if chance and not at_once:
        return type("OpenSpiel", (_Chance, *optional), given)
    outcomes = {"chance_outcomes": _Chance.chance_outcomes} if chance else {}
    return type("OpenSpiel", tuple(optional), {**given, **outcomes})


def dialects_of(game: Any) -> Mapping[str, Dialect]:
    """Return the dialects of a game of open_spiel: GTP for go without handicap, UCI for chess, none for others.

    Go is scored by area with every stone on the board alive (J. Tromp, B. Taylor), so an engine has to take dead stones off.
    """
    name, parameters = game.get_type().short_name, game.get_parameters()
    if name == "go" and not parameters["handicap"]:
        return {"gtp": Gtp(parameters["board_size"], _write_vertex, _read_vertex, parameters["komi"], _list_stones)}
    if name == "chess" and not parameters.get("chess960"):
        return {"uci": Uci(_write_fen, _write_move, _read_move)}
    return {}


def _write_vertex(state: Any, action: int) -> str:
    return _vertex_of(state.spiel, state.spiel.current_player(), action)


def _vertex_of(spiel: Any, seat: int, action: int) -> str:
    """The vertex of `B d4`; `pass` of `B PASS`."""
    text: str = spiel.action_to_string(seat, action).split()[1].upper()
    return "pass" if text == "PASS" else text


def _read_vertex(state: Any, text: str) -> int:
    for action in state.spiel.legal_actions():
        if _write_vertex(state, action).lower() == text.lower():
            return int(action)
    raise ValueError(f"expected a free vertex where one may play, or pass, got {text!r}")


def _list_stones(state: Any) -> Sequence[tuple[int, str]]:
    return [(one.player, _vertex_of(state.spiel, one.player, one.action)) for one in state.spiel.full_history()]


def _write_fen(state: Any) -> str:
    moves = " ".join([move.to_lan() for move in state.spiel.moves_history()])
    return f"{state.spiel.start_fen()} moves {moves}" if moves else str(state.spiel.start_fen())


def _write_move(state: Any, action: int) -> str:
    import pyspiel

    return str(pyspiel.chess.action_to_move(action, state.spiel.board()).to_lan())


def _read_move(state: Any, text: str) -> int:
    for action in state.spiel.legal_actions():
        if _write_move(state, action) == text:
            return int(action)
    raise ValueError(f"expected a legal move such as e2e4, got {text!r}")
