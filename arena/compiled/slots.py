"""Where a table of a fixed size keeps a state: a number that is the same in plain Python and in compiled code, on any machine."""

from collections.abc import Callable
from zlib import crc32

from arena.compiled.edition import rules_of
from arena.compiled.fields import NotCompilable
from arena.compiled.rules import Words
from arena.game import Game, State

BITS = 31
FACTOR = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio, made odd. D. E. Knuth, The Art of Computer Programming 3, 6.4."""
_LOW = (1 << 64) - 1


def words_of(game: Game) -> Callable[[State], Words]:
    """Return a function for the whole numbers of a state: those of compiled rules, its own, or one that follows from its text."""
    try:
        rules = rules_of(game)
    except NotCompilable:
        rules = None
    if rules is not None:
        return rules.encode

    def words(state: State) -> Words:
        if type(state) is tuple and all(map(_is_whole, state)):
            return state
        return (crc32(game.format_state(state).encode()),)

    return words


def _is_whole(word: object) -> bool:
    return type(word) is int


def slot_of(words: Words, slots: int) -> int:
    """Return a place below `slots`, of which there are at most 2^31; `negamax.kernel` has the same in `mixed`."""
    number = 0
    for word in words:
        number = (number ^ word) * FACTOR & _LOW
        number ^= number >> 32
    return (number >> 64 - BITS) * slots >> BITS
