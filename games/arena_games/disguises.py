"""Names for games in disguise: invented syllables for squares, and colours for the pieces of the seats."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from arena import Disguise

CONSONANTS = "bdfgklmnprstvz"
VOWELS = "aeiou"
COLOURS = ("amber", "azure", "crimson", "ivory", "jade", "ochre", "olive", "russet", "teal", "violet")
GAME_WORDS = {"dot", "nim", "pig", "pit", "pot"}
"""Names and pieces of games that the syllables can form. An invented name must not remind a model of a game."""
MAX_RULES_CHARACTERS = 8_000
"""The maximum number of characters in the rules of a disguise. Every question to a model contains these rules."""


def draw_names(rng: random.Random, number: int) -> list[str]:
    """Return `number` different invented names, such as `kav`. Raises ValueError if fewer names can be made."""
    names = [a + vowel + b for a in CONSONANTS for vowel in VOWELS for b in CONSONANTS]
    names = [name for name in names if name not in GAME_WORDS]
    if number > len(names):
        raise ValueError(f"its disguise needs {number:,} names for squares, but only {len(names):,} are available")
    return rng.sample(names, number)


def make_disguise(
    symbols: Mapping[str, str],
    squares: Mapping[str, str],
    rules: str,
    signs: Callable[[Any], Mapping[str, Sequence[str]]],
) -> Disguise:
    """Return a disguise. Raises ValueError if its rules are too long for a question."""
    if len(rules) > MAX_RULES_CHARACTERS:
        raise ValueError(f"the rules of its disguise have {len(rules):,} characters, more than {MAX_RULES_CHARACTERS:,}")
    return Disguise(symbols, squares, rules, signs)


def mark_signs(names: Iterable[str], rows: Sequence[str]) -> dict[str, str]:
    """Return the mark on each square of a board, from its rows; an empty text for an empty square."""
    return {name: mark.strip(".") for name, mark in zip(names, "".join(rows), strict=True)}
