"""Which legal action a text stands for: one answer for typed moves, pages and recorded matches."""

from arena.errors import describe
from arena.game import Action, Game, State


class IllegalAction(Exception):
    """A text stands for no legal action. `complaint` is what the game's parser objected to, None if it could read the text."""

    def __init__(self, text: str, complaint: str | None) -> None:
        self.complaint = complaint
        super().__init__(f"{text!r} is not legal")


def legal_action(game: Game, state: State, text: str) -> Action:
    """Return the legal action of `state` that `text` stands for, as the game's own object; IllegalAction if there is none.

    A text is read by `parse_action`; failing that, compared with what `format_action` writes, since a game may write a notation
    that it does not read. Whatever the game raises, except a ValueError of its parser, is passed on.
    """
    legal, complaint = game.actions(state), None
    try:
        parsed = game.parse_action(state, text)
        if parsed in legal:
            return legal[legal.index(parsed)]
    except ValueError as error:
        complaint = str(error) or describe(error)
    for action in legal:
        if game.format_action(state, action) == text:
            return action
    raise IllegalAction(text, complaint)
