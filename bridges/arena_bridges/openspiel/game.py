"""All games of open_spiel as one game of arena, whose traits follow from the game that the parameter `game` names."""

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import accumulate, product
from math import prod
from typing import Any, NamedTuple, Self

from arena import CHANCE, Game, Limits, Simultaneous
from arena.api.errors import abbreviate
from arena.api.games import SpecFile
from arena_bridges.dialects import Dialect, Gtp, Uci
from arena_bridges.openspiel.library import FileText, load_game, pyspiel
from arena_bridges.openspiel.state import COLOR, OVER, Observation, State, act, movers_of, parse, seen_text, state_of

FORGETFUL = "_ir"
"""The suffix of the names of games with imperfect recall."""
IN_TURNS = "turn_based_simultaneous_game"
"""The prefix that open_spiel gives to names of simultaneous games that are played in turns."""
MAX_LISTED_STATES = 400_000
"""The states of a game are listed unless their estimated number is larger than this."""
DESCENTS = 100
"""The number of random plays from which the number of states is estimated."""
Key = tuple[int, tuple[int, ...], str]
"""The observer, the seats that act, and the text of the observer's information."""
Seen = State | Observation


class OpenSpiel(Game):
    """A game of open_spiel, named by its parameter `game`, such as `kuhn_poker` or `hex(board_size=5)`. For `efg_game` and
    `nfg_game`, `file` names the file with the game.

    The traits follow from the named game. M. Lanctot et al., OpenSpiel: A Framework for Reinforcement Learning in Games, 2019.
    Actions are open_spiel's numbers and are written as open_spiel's texts; the number is appended if a text is not unique or not
    a single line. Text notation: the numbers of the actions so far, or `-` at the start.
    """

    name = "openspiel"
    native = True
    game: str

    def __new__(cls, *, game: str = "tic_tac_toe", file: SpecFile | None = None) -> Self:
        """Create the game as an instance of a class that has its traits. Raises ValueError if open_spiel has no playable game of
        this name.
        """
        if cls is not OpenSpiel:
            return super().__new__(cls, game=game, file=file)
        text = game if file is None else FileText.of(game, file)
        spiel = load_game(text)
        kind, words = spiel.get_type(), pyspiel().GameType
        chance = kind.chance_mode == words.ChanceMode.EXPLICIT_STOCHASTIC
        hidden, at_once = _hides(spiel), _at_once(spiel)
        rewarded = kind.reward_model == words.RewardModel.REWARDS
        alone = spiel.num_players() == 1 and not chance  # neither chance nor another seat acts
        resamples = not alone and is_listed(text) if hidden else at_once  # here, only choices made at the same time are hidden
        return super().__new__(_kind(chance, hidden, at_once, rewarded, resamples=resamples), game=game, file=file)

    def __init__(self, *, game: str = "tic_tac_toe", file: SpecFile | None = None) -> None:
        self.game = game
        self.file = file
        self.text = text = game if file is None else FileText.of(game, file)
        spiel, kind = load_game(text), load_game(text).get_type()
        self.players = spiel.num_players()
        self.zero_sum = kind.utility == pyspiel().GameType.Utility.ZERO_SUM
        self.min_return, self.max_return = float(spiel.min_utility()), float(spiel.max_utility())
        forgets = kind.short_name.endswith(FORGETFUL)
        self._knows = kind.provides_information_state_string and not (forgets and kind.provides_observation_string)
        self.perfect_recall = not _hides(spiel) or (self._knows and not forgets)
        moves = spiel.max_game_length() * (self.players if _at_once(spiel) else 1)
        self.default_moves = moves if moves > Limits().moves else None

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(OpenSpiel, game=self.game, file=self.file), ()

    def initial(self, rng: random.Random) -> State:
        """Return the state before the first action. Chance draws all random parts later."""
        return state_of(self.text, ())

    def to_move(self, state: Seen) -> int:
        """Return the seat whose turn it is, CHANCE when chance moves, or 0 at the end."""
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
        """Return whether the game is over."""
        return state.seat == OVER

    def returns(self, state: State) -> Sequence[float]:
        """Return the result of each seat."""
        returns: list[float] = state.spiel.returns()
        return returns

    def dialects(self) -> Mapping[str, Dialect]:
        """Return the dialects for go and chess; empty for other games."""
        return dialects_of(load_game(self.text))

    def render(self, state: Seen) -> str:
        """Return the game's own text, without colours."""
        return COLOR.sub("", str(state.spiel))

    def format_state(self, state: Seen) -> str:
        """Return the text notation, such as `4 0 8`, or `-` at the start. For an observation, return a JSON list."""
        return state.notation()

    def parse_state(self, text: str) -> Seen:
        """Parse a text such as `4 0 8`. Raises ValueError if an action is not legal."""
        return parse(self.text, text)

    def format_action(self, state: Seen, action: int) -> str:
        """Return the game's own text for an action."""
        return state.texts(state.seat)[action]

    def _observe(self, state: Seen, seat: int) -> Observation:
        """Return the information of a seat: its whole history if the game provides it, otherwise its current observation."""
        if isinstance(state, Observation):
            return state
        movers, seen = state.movers, seen_text(state.spiel, seat, knows=self._knows)
        return Observation(seat, movers, seen, tuple(state.texts(seat).items()) if seat in movers else ())


class _Chance(OpenSpiel):
    """A game in which chance moves."""

    def actions(self, state: Seen) -> Sequence[int]:
        """Return the numbers of the legal actions, or of the possible outcomes of chance."""
        spiel = state.spiel
        if state.seat == CHANCE:
            return [outcome for outcome, probability in spiel.chance_outcomes() if probability > 0]
        legal: list[int] = spiel.legal_actions()
        return legal

    def chance_outcomes(self, state: State) -> Sequence[tuple[int, float]]:
        """Return the possible outcomes with their probabilities."""
        return [(outcome, probability) for outcome, probability in state.spiel.chance_outcomes() if probability > 0]


class _Hidden(OpenSpiel):
    """A game in which a seat does not see the whole state."""

    def observation(self, state: Seen, seat: int) -> Observation:
        """Return the information of the seat."""
        return self._observe(state, seat)


class _AtOnce(Simultaneous, OpenSpiel):
    """A game in which several seats act at the same time."""

    format_state = OpenSpiel.format_state
    parse_state = OpenSpiel.parse_state

    def begin(self, rng: random.Random) -> State:
        """Return the state before the first action."""
        return OpenSpiel.initial(self, rng)

    def movers(self, state: Seen) -> Sequence[int]:
        """Return the seats that act now."""
        return state.movers

    def legal(self, state: Seen, seat: int) -> Sequence[int]:
        """Return the numbers of the legal actions of a seat."""
        legal: list[int] = state.spiel.legal_actions(seat)
        return legal

    def joint(self, state: State, actions: Sequence[int]) -> State:
        """Return the state after all seats have acted. open_spiel gets action 0 for seats that cannot act."""
        if not state.spiel.is_simultaneous_node():
            return OpenSpiel.result(self, state, actions[0])
        successor = State()
        successor.text, successor.spiel = state.text, act(state.spiel, state.movers, actions)
        return successor

    def payoffs(self, state: State) -> Sequence[float]:
        """Return the result of each seat."""
        return OpenSpiel.returns(self, state)

    def format_action(self, state: Any, action: int) -> str:
        """Return the game's own text for an action, which may depend on the seat."""
        own: Seen = self.settled(state)
        return own.texts(self.to_move(state))[action]

    format_action.adapted = True  # type: ignore[attr-defined]  # not wrapped: it handles turns in which some seats have chosen


class _Unseen(_AtOnce):
    """A game in which several seats act at the same time and a seat does not see the whole state."""

    def seen(self, state: Seen, seat: int) -> Observation:
        """Return the information of the seat."""
        return self._observe(state, seat)


class _Rewarded(OpenSpiel):
    """A game in which seats get rewards during play."""

    def standing(self, state: State) -> Sequence[float]:
        """Return the rewards of each seat so far, or `min_return` if no complete play has such a return."""
        low, high = self.min_return, self.max_return
        return [value if low <= value <= high else low for value in OpenSpiel.returns(self, state)]


class _Resampling(OpenSpiel):
    """A game whose states can be sampled from an observation."""

    def resample(self, observation: Seen, seat: int, rng: random.Random) -> State:
        """Return a state drawn from the states that are consistent with the observation."""
        return draw_state(self.text, self._knows, observation, seat, rng) if isinstance(observation, Observation) else observation


def _at_once(spiel: Any) -> bool:
    return bool(spiel.get_type().dynamics == pyspiel().GameType.Dynamics.SIMULTANEOUS)


def _hides(spiel: Any) -> bool:
    kind = spiel.get_type()
    turned = spiel.num_players() == 1 and kind.short_name == IN_TURNS  # with one seat, no choice has to be hidden
    return bool(kind.information == pyspiel().GameType.Information.IMPERFECT_INFORMATION and not turned)


@cache
def _kind(chance: bool, hidden: bool, at_once: bool, rewarded: bool, *, resamples: bool) -> type:
    """Return a class of games with these traits. The methods of a class determine its traits, so each combination has a class."""
    turns = (_Unseen if hidden else _AtOnce) if at_once else _Hidden if hidden else OpenSpiel
    optional = [*[_Rewarded] * rewarded, *[_Resampling] * resamples, turns]
    given: dict[str, Any] = {"__doc__": OpenSpiel.__doc__}
    if chance and not at_once:
        return type("OpenSpiel", (_Chance, *optional), given)
    outcomes = {"chance_outcomes": _Chance.chance_outcomes} if chance else {}
    return type("OpenSpiel", tuple(optional), {**given, **outcomes})


def dialects_of(game: Any) -> Mapping[str, Dialect]:
    """Return the dialects of an open_spiel game: GTP for go without handicap, UCI for chess, none for others."""
    name, parameters = game.get_type().short_name, game.get_parameters()
    if name == "go" and not parameters["handicap"]:
        return {"gtp": _speak_gtp(parameters["board_size"], parameters["komi"])}
    if name == "chess" and not parameters.get("chess960"):
        return {"uci": _speak_uci()}
    return {}


def _speak_gtp(size: int, komi: float) -> Gtp:
    """Return the dialect of go.

    Games are scored by area, and every stone on the board counts as alive (J. Tromp, B. Taylor). So an engine has to capture dead
    stones.
    """

    def vertex_of(spiel: Any, seat: int, action: int) -> str:
        """Return the vertex for a text such as `B d4`, or `pass` for `B PASS`."""
        text: str = spiel.action_to_string(seat, action).split()[1].upper()
        return "pass" if text == "PASS" else text

    def write_vertex(state: Any, action: int) -> str:
        return vertex_of(state.spiel, state.spiel.current_player(), action)

    def read_vertex(state: Any, text: str) -> int:
        for action in state.spiel.legal_actions():
            if write_vertex(state, action).lower() == text.lower():
                return int(action)
        raise ValueError(f"expected a free vertex with a legal move, or pass, got {abbreviate(text)}")

    def list_stones(state: Any) -> Sequence[tuple[int, str]]:
        return [(one.player, vertex_of(state.spiel, one.player, one.action)) for one in state.spiel.full_history()]

    return Gtp(size, write_vertex, read_vertex, komi, list_stones)


def _speak_uci() -> Uci:
    """Return the dialect of chess."""

    def write_fen(state: Any) -> str:
        moves = " ".join([move.to_lan() for move in state.spiel.moves_history()])
        return f"{state.spiel.start_fen()} moves {moves}" if moves else str(state.spiel.start_fen())

    def write_move(state: Any, action: int) -> str:
        import pyspiel

        return str(pyspiel.chess.action_to_move(action, state.spiel.board()).to_lan())

    def read_move(state: Any, text: str) -> int:
        for action in state.spiel.legal_actions():
            if write_move(state, action) == text:
                return int(action)
        raise ValueError(f"expected a legal move such as e2e4, got {abbreviate(text)}")

    return Uci(write_fen, write_move, read_move)


# For small games, list all states that a seat cannot distinguish, because open_spiel can sample them only in few games


class InformationSet(NamedTuple):
    """The states that a seat cannot distinguish, with the cumulative sums of their weights."""

    states: Sequence[State]
    weights: Sequence[float]


@lru_cache(maxsize=256)
def is_listed(text: str) -> bool:
    """Return whether a game has few enough states to list them, estimated from random descents (D. E. Knuth, 1975)."""
    rng = random.Random(0)
    total = 0
    for _ in range(DESCENTS):
        spiel, width = load_game(text).new_initial_state(), 1
        while not spiel.is_terminal():
            movers = movers_of(spiel)
            choices = [_legal(spiel, mover) for mover in movers]
            width *= prod(map(len, choices))
            total += width
            if total > DESCENTS * MAX_LISTED_STATES:
                return False
            spiel = act(spiel, movers, [rng.choice(legal) for legal in choices])
    return True


def draw_state(text: str, knows: bool, observation: Observation, seat: int, rng: random.Random) -> State:
    """Draw one of the states in which `seat` makes this observation.

    The probabilities are those that the states have if all seats act at random. Raises ValueError if there is no such state.
    `knows` is passed to `seen_text`. The first call for a game lists all of its states.
    """
    found = _information_sets(text, knows).get((seat, observation.movers, observation.seen))
    if found is None:
        raise ValueError(f"seat {seat} of {text} never observes {observation.seen!r}")
    return rng.choices(found.states, cum_weights=found.weights)[0]


@lru_cache(maxsize=2)
def _information_sets(text: str, knows: bool) -> dict[Key, InformationSet]:
    seats = range(load_game(text).num_players())
    met: dict[Key, tuple[list[State], list[float]]] = {}
    for spiel, weight in _states(text):
        movers = movers_of(spiel)
        state = state_of(text, tuple(spiel.history()))
        for seat in seats:
            states, weights = met.setdefault((seat, movers, seen_text(spiel, seat, knows=knows)), ([], []))
            states.append(state)
            weights.append(weight)
    return {key: InformationSet(states, list(accumulate(weights))) for key, (states, weights) in met.items()}


def _states(text: str) -> Iterator[tuple[Any, float]]:
    """Yield every unfinished state, with its probability if all seats act at random."""
    waiting = [(load_game(text).new_initial_state(), 1.0)]
    while waiting:
        spiel, weight = waiting.pop()
        if spiel.is_terminal():
            continue
        yield spiel, weight
        if spiel.is_chance_node():
            waiting += [(spiel.child(outcome), weight * share) for outcome, share in spiel.chance_outcomes() if share > 0]
        else:
            movers = movers_of(spiel)
            choices = list(product(*[_legal(spiel, mover) for mover in movers]))
            waiting += [(act(spiel, movers, chosen), weight / len(choices)) for chosen in choices]


def _legal(spiel: Any, mover: int) -> Sequence[int]:
    if spiel.is_chance_node():
        return [outcome for outcome, share in spiel.chance_outcomes() if share > 0]
    legal: list[int] = spiel.legal_actions(mover)
    return legal
