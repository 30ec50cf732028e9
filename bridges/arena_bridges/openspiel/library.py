"""Games of open_spiel by their texts, such as `hex(board_size=5)`: each is loaded once per process, or refused with a reason."""

import os
import random
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from arena.api.errors import suggest
from arena_bridges.extras import library

EXTRA = "openspiel"
MAX_SEATS = 10
MAX_WALK_PLIES = 300
"""The plies of the random walk that shows whether a game can be played with its parameters."""
SOURCE = re.compile(r"^/\S+\.(?:cc|h):\d+ ")
"""The prefix of open_spiel's error messages: source paths on the machine that compiled it."""
FILE_WORDS = frozenset({"file", "filename", "path", "folder", "dir", "directory", "root"})
"""The last words in the names of parameters of open_spiel that name files, as in `boards_file`."""
_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", dict: "a game, as in kuhn_poker()"}


def pyspiel() -> Any:
    """Return the module of open_spiel. Raises MissingExtra if it is not installed."""
    return library("pyspiel", EXTRA)


def with_python_games() -> Any:
    """Return the module of open_spiel with its games written in Python, whose import is slow."""
    library("open_spiel.python.games", EXTRA)
    return pyspiel()


@lru_cache(maxsize=256)
def load_game(text: str) -> Any:
    """Return the game of open_spiel with this text. Raises ValueError with the reason if it cannot be played."""
    spiel = pyspiel()
    with _silence():  # open_spiel also writes its errors to stderr
        try:
            parameters = spiel.game_parameters_from_string(text)
        except Exception as error:
            expected = "a name, with parameters as in hex(board_size=5)"
            raise ValueError(f"expected {expected}, got {text!r}: {_read_fault(error)}") from error
    _check(parameters, text)
    with _silence():
        try:
            game = spiel.load_game(text)
        except Exception as error:  # the type depends on the game
            raise ValueError(f"open_spiel cannot load {text!r}: {_read_fault(error)}") from error
    reason = unplayable(game) or _find_walk_fault(game)
    if reason:
        raise ValueError(f"{text} cannot be played here: {reason}")
    at_once = game.get_type().dynamics == spiel.GameType.Dynamics.SIMULTANEOUS
    return spiel.convert_to_turn_based(game) if at_once and game.num_players() == 1 else game  # a single seat always acts in turn


def unplayable(game: Any) -> str | None:
    """Return why a game of open_spiel cannot be played here; None if it can."""
    kind, spiel = game.get_type(), pyspiel()
    if kind.dynamics == spiel.GameType.Dynamics.MEAN_FIELD:
        return "it is a mean-field game, with a population instead of seats"
    if kind.chance_mode == spiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        return "it draws chance events itself and does not list the outcomes with their probabilities"
    if kind.action_structs_only:
        return "its actions are not numbered"
    if not 1 <= game.num_players() <= MAX_SEATS:
        return f"it has {game.num_players()} seats; expected 1 to {MAX_SEATS}"
    hidden = kind.information == spiel.GameType.Information.IMPERFECT_INFORMATION
    if hidden and not (kind.provides_information_state_string or kind.provides_observation_string):
        return "it has hidden information, but no text for the observations of a seat"
    return None


def _find_walk_fault(game: Any) -> str | None:
    """Return why a random walk fails. Some wrong parameters cause an error only when the first state is made, or later."""
    rng = random.Random(0)
    with _silence():
        try:
            state = game.new_initial_state()
            for ply in range(MAX_WALK_PLIES):
                if state.is_terminal():
                    return None
                together = state.is_simultaneous_node()
                seats = [state.legal_actions(seat) for seat in range(game.num_players())] if together else [state.legal_actions()]
                if not any(seats):
                    return f"its state after {ply} random actions has no actions" if ply else "its first state has no actions"
                chosen = [rng.choice(actions) if actions else 0 for actions in seats]
                if together:
                    state.apply_actions(chosen)
                else:
                    state.apply_action(chosen[0])
        except Exception as error:  # its type depends on the game, too
            return _read_fault(error)
    return None


def _read_fault(error: Exception) -> str:
    """Return an error message of open_spiel in one line, without its source location."""
    return SOURCE.sub("", " ".join(str(error).split())) or type(error).__name__


def _check(parameters: Mapping[str, Any], text: str) -> None:
    """Raise ValueError for an unknown name or parameter, in the text or in a nested game."""
    name = parameters.get("name")
    if not name:
        raise ValueError(f"expected the name of a game in open_spiel, with parameters as in hex(board_size=5), got {text!r}")
    spiel = pyspiel()
    if name not in spiel.registered_names():
        spiel = with_python_games()
    kinds = {kind.short_name: kind for kind in spiel.registered_games()}
    if name not in kinds:
        raise ValueError(f"open_spiel has no game {name!r}; {suggest(name, kinds)}")
    known = kinds[name].parameter_specification
    for key, value in parameters.items():
        if key == "name":
            continue
        if key not in known:
            told = suggest(key, known) if known else "it has none"
            raise ValueError(f"{name} of open_spiel has no parameter {key!r}; {told}")
        if key.rpartition("_")[2] in FILE_WORDS:  # open_spiel would read any file, also one that never ends
            raise ValueError(f"{name} of open_spiel cannot be played with {key}, because open_spiel would read this file itself")
        expected = type(known[key])
        if type(value) is not expected and not (expected is float and type(value) is int):
            raise ValueError(f"{name} of open_spiel: {key}: expected {_KINDS.get(expected, expected.__name__)}, got {value!r}")
        if expected is dict:
            _check(value, text)


@contextmanager
def _silence() -> Iterator[None]:
    """Suppress messages that open_spiel writes to stderr before it raises them as exceptions."""
    kept = os.dup(2)
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 2)
        os.close(nothing)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
