"""Games of open_spiel by their texts, such as `hex(board_size=5)`: each is loaded once per process, or refused with a reason."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from arena.api.errors import suggest
from arena.api.games import read_whole
from arena.api.processes import ProcessTree, PythonProcess
from arena_bridges.extras import library
from arena_bridges.openspiel.trial import find_crash, find_walk_fault

EXTRA = "openspiel"
MAX_SEATS = 10
SOURCE = re.compile(r"^/\S+\.(?:cc|h):\d+ ")
"""The prefix of open_spiel's error messages: source paths on the machine that compiled it."""
FILE_WORDS = frozenset({"file", "filename", "path", "folder", "dir", "directory", "root"})
"""The last words in the names of parameters of open_spiel that name files, as in `boards_file`."""
FILE_GAMES = ("efg_game", "nfg_game")
"""Games that arena reads from a file."""
MAX_FILE_BYTES = 16 << 20
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}]|[^\s{},"]+', re.DOTALL)
_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", dict: "a game, as in kuhn_poker()"}


def pyspiel() -> Any:
    """Return the open_spiel module. Raises MissingExtra if it is not installed."""
    return library("pyspiel", EXTRA)


def with_python_games() -> Any:
    """Return the open_spiel module with its games written in Python. Its import is slow."""
    library("open_spiel.python.games", EXTRA)
    return pyspiel()


class FileText(str):
    """The text of a game that arena reads from a file, as in `efg_game(filename=/home/me/cup.efg)`."""

    @classmethod
    def of(cls, game: str, file: str) -> "FileText":
        """Return the text. Raises ValueError for a game that is not read from a file."""
        if game not in FILE_GAMES:
            raise ValueError(f"file: expected game: {' or '.join(FILE_GAMES)} for a game from a file, got {game!r}")
        return cls(f"{game}(filename={Path(file).expanduser().absolute()})")

    def load(self) -> Any:
        """Return the game. Raises ValueError if the file cannot be read, or if it is damaged."""
        game, _, file = self.removesuffix(")").partition("(filename=")
        spiel, place = pyspiel(), Path(file)
        try:
            content = read_whole(place, MAX_FILE_BYTES).decode()
            if game == "efg_game":
                try:
                    check_tree(content)
                except ValueError as error:
                    raise ValueError(f"{place}: {error}") from None
            if crash := _find_crash(content, game):
                raise ValueError(f"{place} cannot be played: {crash}")
            with _silence():
                return (spiel.load_efg_game if game == "efg_game" else spiel.load_nfg_game)(content)
        except UnicodeDecodeError as error:
            raise ValueError(f"{place} cannot be read: {error}") from error
        except spiel.SpielError as error:
            raise ValueError(f"open_spiel cannot load {place}: {_read_fault(error)}") from error


def check_tree(text: str) -> None:
    """Raise ValueError unless a game in extensive form has all nodes of its tree, and only its own players. open_spiel crashes
    otherwise.

    >>> check_tree('EFG 2 R "" { "A" } p "" 1 1 "" { "l" "r" } 0 t "" 1 "" { 1 }')
    Traceback (most recent call last):
    ValueError: expected a tree with all its nodes, but some are missing at the end
    """
    depth, names, nodes, missing, lists_actions, seats = 0, 0, 0, 1, False, 0
    words = _TOKEN.findall(text)
    for place, word in enumerate(words):
        if word == "{":
            depth, names = depth + 1, 0
        elif word == "}":
            depth, seats = depth - 1, seats or names  # the head ends with the names of the players
            missing, lists_actions = missing + names * lists_actions, False
        elif depth:
            names += word.startswith('"')
        elif seats and word in ("c", "p", "t"):
            nodes, missing = nodes + 1, missing - 1
            if missing < 0 or lists_actions:
                fault = f"no actions at node {nodes - 1}" if lists_actions else "a node after the end of the tree"
                raise ValueError(f"expected a tree, got {fault}")
            if word == "p" and words[place + 2 : place + 3] not in [[str(seat + 1)] for seat in range(min(seats, MAX_SEATS))]:
                raise ValueError(f"expected a tree with players 1 to {seats}, got another player at node {nodes}")
            lists_actions = word != "t"
    if missing or lists_actions or depth:
        raise ValueError("expected a tree with all its nodes, but some are missing at the end")


@lru_cache(maxsize=256, typed=True)  # a text from a spec is no FileText
def load_game(text: str) -> Any:
    """Return the open_spiel game with this text. Raises ValueError with the reason if it cannot be played."""
    spiel = pyspiel()
    if isinstance(text, FileText):
        return _check_game(text.load(), text)
    with _silence():  # open_spiel also writes its errors to stderr
        try:
            parameters = spiel.game_parameters_from_string(text)
        except Exception as error:
            expected = "a name, with parameters as in hex(board_size=5)"
            raise ValueError(f"expected {expected}, got {text!r}: {_read_fault(error)}") from error
    _check(parameters, text)
    if "(" in text and (crash := _find_crash(text)):  # all games without parameters are known to be harmless
        raise ValueError(f"{text!r} cannot be played: {crash}; choose other parameters")
    with _silence():
        try:
            game = spiel.load_game(text)
        except Exception as error:  # the type depends on the game
            raise ValueError(f"open_spiel cannot load {text!r}: {_read_fault(error)}") from error
    return _check_game(game, text)


def _find_crash(text: str, kind: str = "") -> str | None:
    """Return how open_spiel fails if it loads a game; None if it does not crash, also with an error that it raises.

    A process of an agent, a helper or a worker does not try the game. The process that started it has tried the game already, or
    survives if it ends.
    """
    if {ProcessTree.OF_AGENT, ProcessTree.OF_WORKER} & os.environ.keys():
        return None
    return find_crash(text, kind, PythonProcess.environment())


def _check_game(game: Any, text: str) -> Any:
    """Return a game in the form in which it is played. Raises ValueError with the reason if it cannot be played."""
    spiel = pyspiel()
    with _silence():
        reason = unplayable(game) or find_walk_fault(game)
    if reason:
        told = _read_fault(reason) if isinstance(reason, Exception) else reason
        raise ValueError(f"{text} cannot be played in arena: {told}")
    at_once = game.get_type().dynamics == spiel.GameType.Dynamics.SIMULTANEOUS
    return spiel.convert_to_turn_based(game) if at_once and game.num_players() == 1 else game  # a single seat always acts in turn


def unplayable(game: Any) -> str | None:
    """Return why an open_spiel game cannot be played here; None if it can."""
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
            advice = f"; write {{name: openspiel, game: {name}, file: PATH}}" if name in FILE_GAMES else ""
            reason = f"because open_spiel would read this file itself{advice}"
            raise ValueError(f"{name} of open_spiel cannot be played with {key}, {reason}")
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
