"""Positions of chess as immutable values, by the rules of python-chess.

A position is the board and its history since the last capture or pawn move, because repetitions depend on the history.
"""

from functools import cached_property
from typing import Any

import chess

Key = tuple[Any, ...]

REPETITIONS = 3
"""The number of occurrences of a position that draws a game."""
QUIET_PLIES = 100
"""The number of plies without a capture or a pawn move that draws a game."""


class Position:
    """An immutable position. Two positions are equal if they have the same `root` and the same moves since `root`."""

    def __init__(self, board: chess.Board, root: chess.Board, moves: tuple[str, ...], seen: tuple[Key, ...]) -> None:
        self.board = board
        self.root = root
        """The board after the last capture or move of a pawn, or at the start."""
        self.moves = moves
        """The moves since `root`, as UCI writes them."""
        self.seen = seen
        """The repetition keys of `root`, of every position since, and of this one."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and self._identity == other._identity

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Position({text_of(self)!r})"

    @cached_property
    def _identity(self) -> Key:
        return (self.seen[0], self.root.halfmove_clock, self.root.fullmove_number, self.moves)

    @cached_property
    def _hash(self) -> int:
        return hash(self._identity)

    @cached_property
    def drawn(self) -> bool:
        """Whether repetition, fifty moves or insufficient material draws the game. Checkmate takes precedence."""
        repeated = self.seen.count(self.seen[-1]) >= REPETITIONS
        quiet = self.board.halfmove_clock >= QUIET_PLIES and any(self.board.generate_legal_moves())
        return repeated or quiet or self.board.is_insufficient_material()

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """Return the legal moves as UCI writes them; empty if the game is over."""
        return () if self.drawn else tuple([move.uci() for move in self.board.legal_moves])


def _is_epd(text: str) -> bool:
    """Return whether opcodes, such as `bm Nf3;`, follow the first four fields."""
    fields = text.split()
    return len(fields) > 4 and not fields[4].isdigit() and fields[4] != "moves"


def begin(fen: str) -> Position:
    """Return the position for a FEN, or for a line of EPD: four fields, then opcodes, of which `hmvc` and `fmvn` are counters.

    Raises ValueError if it is invalid.
    """
    board = chess.Board(None)
    if _is_epd(fen):
        try:
            board.set_epd(fen)
        except ValueError as error:
            raise ValueError(f"read as EPD, because opcodes follow its four fields: {error}") from error
    else:
        board.set_fen(fen)
    status = board.status()
    if status:
        wrong = ", ".join([flag.name.lower().replace("_", " ") for flag in chess.Status if status & flag and flag.name])
        raise ValueError(f"no position of chess: {wrong}, got {fen!r}")
    return Position(board, board, (), (_key(board),))


def after(position: Position, action: str) -> Position:
    """Return the position after a legal move."""
    move = chess.Move.from_uci(action)
    board = position.board.copy(stack=False)
    board.push(move)
    board.clear_stack()
    if position.board.is_zeroing(move):
        return Position(board, board, (), (_key(board),))
    return Position(board, position.root, (*position.moves, action), (*position.seen, _key(board)))


def _key(board: chess.Board) -> Key:
    """Return the key by which repetitions are found: the pieces, the side to move, castling rights, and en passant if it is
    legal.
    """
    kinds = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
    square = board.ep_square if board.has_legal_en_passant() else None
    return (*kinds, board.occupied_co[chess.WHITE], board.turn, board.clean_castling_rights(), square)


def text_of(position: Position) -> str:
    """Return the FEN of the root, followed by `moves` and the moves since the root."""
    fen = position.root.fen(en_passant="legal")
    return f"{fen} moves {' '.join(position.moves)}" if position.moves else fen


def position_of(text: str) -> Position:
    """Parse a text as `text_of` writes it. Raises ValueError if it is invalid."""
    fen, _, moves = (text, "", "") if _is_epd(text) else text.partition(" moves ")
    position = begin(fen)
    for move in moves.split():
        if move not in position.actions:
            raise ValueError(f"expected a legal move after {text_of(position)!r}, got {move!r}")
        position = after(position, move)
    return position


def san(position: Position, action: str) -> str:
    """Return a legal move in standard algebraic notation."""
    return position.board.san(chess.Move.from_uci(action))


def action_of(position: Position, text: str) -> str:
    """Return the action for a text in UCI notation or standard algebraic notation. Raises ValueError if it is neither."""
    text = text.strip()
    if text in position.actions:
        return text
    try:
        action = position.board.parse_san(text).uci()
    except ValueError:
        action = ""
    if action not in position.actions:
        legal = ", ".join([f"{one} ({san(position, one)})" for one in position.actions]) or "no move, the game is over"
        raise ValueError(f"expected one of {legal}; got {text!r}")
    return action
