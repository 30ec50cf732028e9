"""Checks of disguises. A disguised game has the same positions and moves as the plain game, but other words for them."""

import random
import re
from collections.abc import Sequence

from arena import CHANCE, Disguise, Game
from arena.api.games import name_of
from arena_check.finding import Abandoned
from arena_check.state_checks import PlayedStep
from arena_check.trial import Trial

PROMISE = "a disguise has a different text for each observation and move, and its rules contain all of its words"
MIN_RULES_CHARACTERS = 40
MAX_RULES_CHARACTERS = 16_000
WORDS = re.compile(r"[^\W\d_]+")


def check_disguise(game: Game, trial: Trial, steps: Sequence[PlayedStep]) -> None:
    """Check that the disguised game corresponds to the plain one, move for move, in all states that were played.

    A game may raise ValueError if it has no disguise for its parameters; then nothing is checked.
    """

    def draw(rng: random.Random) -> Disguise | None:
        try:
            return game.disguise(rng)
        except ValueError:
            return None

    drawn = trial.call("disguise", draw, trial.rng)
    if drawn is None:
        raise Abandoned
    trial.expect(isinstance(drawn, Disguise), "disguise must return a disguise", "an arena.Disguise", drawn)
    _check_rules(game, trial, drawn)
    again, other = [trial.call("disguise", draw, rng) for rng in (trial.rng, random.Random(trial.seed + 1))]
    texts = {one.rules_text for one in (again, other) if one is not None} - {drawn.rules_text}
    trial.expect(
        len(texts) == 1,
        "the disguise must depend only on the generator",
        "one for each seed",
        f"{len(texts)} different ones for two seeds",
    )
    known = set(WORDS.findall(drawn.rules_text))
    plain_texts: dict[tuple[int, str], str] = {}
    new_texts: dict[tuple[int, str], str] = {}
    for now, state, _, _ in steps:
        seat = game.to_move(state)
        if seat == CHANCE:
            continue
        seen = game.observation(state, seat)
        plain, told = game.format_state(seen), now.call("write_state", drawn.write_state, seen)
        for texts_of, key, text in ((plain_texts, plain, told), (new_texts, told, plain)):
            before = texts_of.setdefault((seat, key), text)
            now.expect(before == text, "a disguise must have one text for each observation", before, text)
        actions = [game.format_action(state, action) for action in game.actions(state)]
        moves = [now.call("write_action", drawn.write_action, action) for action in actions]
        now.expect(len(set(moves)) == len(moves), "a disguise must have different texts for the moves of a state", actions, moves)
        unknown = [word for text in (told, *moves) for word in WORDS.findall(text) if word not in known]
        now.expect(
            not unknown, "rules_text of a disguise must contain all words of its positions and moves", "no others", unknown[:1]
        )


def _check_rules(game: Game, trial: Trial, drawn: Disguise) -> None:
    text = drawn.rules_text
    length, name = len(text) if isinstance(text, str) else 0, name_of(game)
    expected = f"a text of {MIN_RULES_CHARACTERS} to {MAX_RULES_CHARACTERS:,} characters"
    what = "rules_text of a disguise must describe the game to a reader"
    trial.expect(MIN_RULES_CHARACTERS <= length <= MAX_RULES_CHARACTERS, what, expected, f"{length:,} characters")
    named = re.search(rf"\b{name.replace('-', '[- ]')}\b", text, re.IGNORECASE)
    trial.expect(named is None, "a disguise must not name the game", f"a text without {name}", text)
