"""How engines are told of open_spiel's go and chess. A state of ours has the one of open_spiel as `spiel`."""

from collections.abc import Mapping, Sequence
from typing import Any

from arena.dialects import Dialect, Gtp, Uci


def dialects_of(game: Any) -> Mapping[str, Dialect]:
    """Return the dialects of a game of open_spiel: GTP for go without handicap, UCI for chess, none for others.

    Go is scored by area with every stone on the board alive (J. Tromp, B. Taylor), so an engine has to take dead stones off.
    """
    name, parameters = game.get_type().short_name, game.get_parameters()
    if name == "go" and not parameters["handicap"]:
        return {"gtp": Gtp(parameters["board_size"], _vertex, _played_at, parameters["komi"], _plays)}
    if name == "chess" and not parameters.get("chess960"):
        return {"uci": Uci(_fen, _move, _moved)}
    return {}


def _vertex(state: Any, action: int) -> str:
    return _vertex_of(state.spiel, state.spiel.current_player(), action)


def _vertex_of(spiel: Any, seat: int, action: int) -> str:
    """The vertex of `B d4`; `pass` of `B PASS`."""
    text: str = spiel.action_to_string(seat, action).split()[1].upper()
    return "pass" if text == "PASS" else text


def _played_at(state: Any, text: str) -> int:
    for action in state.spiel.legal_actions():
        if _vertex(state, action).lower() == text.lower():
            return int(action)
    raise ValueError(f"expected a free vertex where one may play, or pass, got {text!r}")


def _plays(state: Any) -> Sequence[tuple[int, str]]:
    return [(one.player, _vertex_of(state.spiel, one.player, one.action)) for one in state.spiel.full_history()]


def _fen(state: Any) -> str:
    moves = " ".join([move.to_lan() for move in state.spiel.moves_history()])
    return f"{state.spiel.start_fen()} moves {moves}" if moves else str(state.spiel.start_fen())


def _move(state: Any, action: int) -> str:
    import pyspiel

    return str(pyspiel.chess.action_to_move(action, state.spiel.board()).to_lan())


def _moved(state: Any, text: str) -> int:
    for action in state.spiel.legal_actions():
        if _move(state, action) == text:
            return int(action)
    raise ValueError(f"expected a legal move such as e2e4, got {text!r}")
