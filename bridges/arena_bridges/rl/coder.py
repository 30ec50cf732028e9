"""Actions as numbers and observations as arrays, for one game object."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from arena import Action, ArenaError, Game, State, load_plugins
from arena.api.errors import abbreviate
from arena.api.games import BoundEncoding, gives, name_of

MAX_TEXT_BYTES = 1024
"""The number of bytes for the text of an observation, if a game has no encoding."""
MAX_ACTIONS = 1024
"""The maximum number of legal actions if a game has no `action_space`. Actions are then numbered among the legal ones."""


def make_game(game: Game | str | Mapping[str, Any]) -> Game:
    """Return a game object, given an instance, a name, or a mapping with `name` and parameters.

    Raises UnknownName for an unknown name, and ValueError for other values and for parameters that the game does not have.
    """
    if isinstance(game, Game):
        return game
    given = {"name": game} if isinstance(game, str) else game
    if not isinstance(given, Mapping) or "name" not in given:
        raise ValueError(f"expected a game, its name, or a mapping with its name and parameters, got {abbreviate(game)}")
    from arena.api.spec import Parameters, format_path  # slow to import, and all processes load this plugin

    faults: list[str] = []
    kind = load_plugins().game(given["name"])
    parameters = {name: value for name, value in given.items() if name != "name"}
    valid = Parameters(kind).validate(
        parameters, (), lambda path, told: faults.append(f"{format_path(path)}: {told}" if path else told)
    )
    if valid is None:
        raise ValueError(f"{given['name']}: {'; '.join(faults)}")
    return kind(**valid)


class Coder:
    """A game as a learning agent sees it: with numbers for actions and arrays for observations.

    Action k is the k-th of `action_space`, or the k-th legal action of the state if the game has none. Observations are arrays of
    float32. Without an encoding, they are the bytes (0 to 255) of their text. `encoding` is a name, a decorated object, or None
    for the first encoding.
    """

    def __init__(self, game: Game, encoding: str | Callable[..., Any] | None = None) -> None:
        import numpy as np

        self.game = game
        self.encoding = choose_encoding(game, encoding)
        self.shape = self.encoding.shape
        self.numbers = prod(self.shape)
        """The length of an observation, as a flat array."""
        self.dtype: Any = np.uint8 if self.encoding.name == "text" else np.float32
        self._space = tuple(game.action_space()) if gives(game, "action_space") else None
        self._index = {} if self._space is None else {action: number for number, action in enumerate(self._space)}
        self.actions = MAX_ACTIONS if self._space is None else len(self._space)
        """The number of different actions."""
        self._array, self._zeros, self._encode = np.array, np.zeros, self.encoding.encode

    def spaces(self) -> tuple[Any, Any]:
        """Return the spaces of Gymnasium for the observations and the actions of one seat."""
        from gymnasium import spaces

        numbers = spaces.Box(self.encoding.low, self.encoding.high, self.shape, self.dtype)
        mask = spaces.Box(0, 1, (self.actions,), "int8")
        return spaces.Dict({"observation": numbers, "action_mask": mask}), spaces.Discrete(self.actions)

    def encode_observation(self, observation: State, seat: int) -> Any:
        """Return an observation of a seat as an array."""
        return self._array(self._encode(observation, seat), self.dtype).reshape(self.shape)

    def number_actions(self, legal: Sequence[Action]) -> Sequence[int]:
        """Return the numbers of the legal actions, in order. Raises ArenaError for an action that is not in `action_space`."""
        if self._space is None:
            if len(legal) > MAX_ACTIONS:
                raise ArenaError(f"{name_of(self.game)}: expected at most {MAX_ACTIONS:,} legal actions, got {len(legal):,}")
            return range(len(legal))
        try:
            return [self._index[action] for action in legal]
        except KeyError as error:
            raise ArenaError(f"{name_of(self.game)}: action_space lacks {error.args[0]!r}") from error

    def mask(self, legal: Sequence[Action]) -> Any:
        """Return an array of int8 with a 1 for each legal action."""
        mask = self._zeros(self.actions, "int8")
        mask[self.number_actions(legal)] = 1
        return mask

    def action(self, number: Any, legal: Sequence[Action]) -> Action | None:
        """Return the action with a number; None if it is not legal. Raises ValueError for a number without an action."""
        try:
            place = number.__index__()
        except (AttributeError, TypeError):
            place = -1
        if not 0 <= place < self.actions:
            raise ValueError(f"expected an action from 0 to {self.actions - 1}, got {number!r}")
        if self._space is None:
            return legal[place] if place < len(legal) else None
        action = self._space[place]
        return action if action in legal else None


def choose_encoding(game: Game, encoding: str | Callable[..., Any] | None) -> BoundEncoding:
    """Return an encoding by its name, or the first one of a game, or the bytes of the text if the game has none."""
    if encoding is None:
        first = next(iter(BoundEncoding.find_all(game)), None)
        return text_bytes(game) if first is None else BoundEncoding.bind(first, game)
    return BoundEncoding.bind(encoding, game)


def text_bytes(game: Game) -> BoundEncoding:
    """Return the bytes of the text of an observation, padded with zeros. Raises ArenaError if it is too long."""

    def encode(observation: State, seat: int) -> Any:
        text = game.format_state(observation).encode()
        if len(text) > MAX_TEXT_BYTES:
            raise ArenaError(
                f"{name_of(game)}: expected at most {MAX_TEXT_BYTES:,} bytes of text, got {len(text):,}; "
                "define an @encoding for the game"
            )
        return list(text) + [0] * (MAX_TEXT_BYTES - len(text))

    return BoundEncoding("text", (MAX_TEXT_BYTES,), 0, 255, encode)
