"""Errors about texts that a game cannot read are short, even if the texts are long."""

import random
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from arena import CHANCE, Registry
from arena.game import gives
from arena_games.plugin import arena_games

LENGTH = 100_000
MOST = 2_000
"""More than any message needs: it may list the legal actions, and quote two texts of 120 characters."""


def lengthen(text: str) -> Iterator[str]:
    """Yield long texts that resemble a notation, so that they reach different checks of its parser."""
    times = LENGTH // max(1, len(text))
    yield from ("x" * LENGTH, "1" * LENGTH, "1 " * LENGTH, "-" * LENGTH, "'" * LENGTH, text * times)
    yield from (separator.join([text] * times) for separator in (" ", "/", ",", ":", "\n", "|"))
    for place in range(len(text)):
        yield text[:place] + text[place] * LENGTH + text[place:]
        yield text[:place] + "?" * LENGTH + text[place + 1 :]
    for separator in (" ", "/", ",", ":", "|"):
        words = text.split(separator)
        for place, word in enumerate(words):
            yield separator.join([*words[:place], *[word] * (LENGTH // 50), *words[place:]])


@pytest.mark.parametrize("name", arena_games())
def test_an_error_about_a_long_text_is_short(name: str, registry: Registry) -> None:
    game, rng = registry.game(name)(), random.Random(1)
    state = game.initial(rng)
    while gives(game, "chance_outcomes") and game.to_move(state) == CHANCE:
        state = game.result(state, game.chance_outcomes(state)[0][0])
    action = game.actions(state)[0]
    messages = [message for text in lengthen(game.format_state(state)) if (message := refuse(game.parse_state, text))]
    assert messages
    messages += [refuse(partial(game.parse_action, state), text) for text in lengthen(game.format_action(state, action))]
    assert max(messages, key=len)[MOST:] == ""


def refuse(parse: Callable[[str], object], text: str) -> str:
    """Return the message with which a parser refuses a text; an empty text if it accepts it."""
    try:
        parse(text)
    except ValueError as error:
        return str(error)
    return ""
