"""States of open_spiel as immutable values with their history, and observations of them."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from arena import CHANCE
from arena.api.errors import abbreviate
from arena_bridges.openspiel.library import load_game

NOTHING = "-"
"""The text of a state without any actions."""
OVER = -4
"""The number that open_spiel uses as the seat at the end of a game."""
MAX_KEPT_STATES = 16
"""The number of cached states. The successor of a recent state is often needed next."""
COLOR = re.compile(r"\x1b\[[0-9;]*m")
"""Terminal colours, which some games use in their texts."""
_kept: dict[tuple[str, tuple[int, ...]], Any] = {}


class State:
    """A state of an open_spiel game. It is immutable, and the game's text and the history define it.

    States of the same game with the same history are equal, and only these two parts are pickled. All other parts are computed on
    first access.
    """

    __slots__ = ("_texts", "history", "movers", "seat", "spiel", "text")

    text: str
    """The game, as in `hex(board_size=5)`."""
    history: tuple[int, ...]
    """The numbers of all actions so far, including chance. If several seats act at the same time, there is one number for every
    seat.
    """
    seat: int
    """The seat to move, or CHANCE. At the end, or if several seats act at the same time, it is another negative number."""
    movers: tuple[int, ...]
    """The seats that act now: several if they act at the same time, (CHANCE,) when chance moves, () at the end."""
    spiel: Any
    """open_spiel's own state, which must not be changed."""
    _texts: dict[int, Mapping[int, str]]

    def __getattr__(self, name: str) -> Any:
        """Compute a part that is missing."""
        if name not in _PARTS:
            raise AttributeError(name)
        found = _PARTS[name](self)
        setattr(self, name, found)
        return found

    def texts(self, mover: int) -> Mapping[int, str]:
        """Return open_spiel's texts for the legal actions of a mover, each in one line. Equal texts get the action's number."""
        found = self._texts.get(mover)
        if found is None:
            actions = self.spiel.legal_actions(mover)
            lines = {action: " ".join(self.spiel.action_to_string(mover, action).split()) for action in actions}
            counts = Counter(lines.values())
            found = {one: text if text and counts[text] == 1 else f"{text} ({one})".strip() for one, text in lines.items()}
            self._texts = {**self._texts, mover: found}
        return found

    def __eq__(self, other: object) -> bool:
        return type(other) is State and self.history == other.history and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.history)

    def __reduce__(self) -> tuple[Any, ...]:
        return state_of, (self.text, self.history)

    def __repr__(self) -> str:
        return f"{self.text}: {self.notation()}"

    def notation(self) -> str:
        """Return the history separated by spaces, or `-` if it is empty."""
        return " ".join(map(str, self.history)) or NOTHING


def state_of(text: str, history: tuple[int, ...]) -> State:
    """Return the state of a game after a history. The history is checked only when a part is needed."""
    state = State()
    state.text, state.history = text, history
    return state


def movers_of(spiel: Any) -> tuple[int, ...]:
    """Return the seats that act in a state of open_spiel, as in `State.movers`."""
    if spiel.is_simultaneous_node():
        return tuple([seat for seat in range(spiel.num_players()) if spiel.legal_actions(seat)])
    mover = spiel.current_player()
    return (mover,) if mover >= CHANCE else ()


def act(spiel: Any, movers: Sequence[int], actions: Sequence[int]) -> Any:
    """Return open_spiel's state after all movers have acted. open_spiel gets action 0 for seats that cannot act."""
    if not spiel.is_simultaneous_node():
        return spiel.child(actions[0])
    chosen = dict(zip(movers, actions, strict=True))
    successor = spiel.clone()
    successor.apply_actions([chosen.get(seat, 0) for seat in range(spiel.num_players())])
    return successor


def seen_text(spiel: Any, seat: int, *, knows: bool) -> str:
    """Return the text of a seat's whole history if the game provides it (`knows`), otherwise of its current observation."""
    return COLOR.sub("", spiel.information_state_string(seat) if knows else spiel.observation_string(seat))


_PARTS: dict[str, Callable[[State], Any]] = {
    "spiel": lambda state: replay(state.text, state.history),
    "history": lambda state: tuple(state.spiel.history()),
    "seat": lambda state: state.spiel.current_player(),
    "movers": lambda state: movers_of(state.spiel),
    "_texts": lambda _: {},
}
"""Functions that compute one part of a state from other parts."""


class Observation(NamedTuple):
    """The observation of a seat in a game with hidden information. Of the attributes and methods of a state, and of
    open_spiel's own state, it has those that need only the knowledge of the seat.
    """

    observer: int
    movers: tuple[int, ...]
    """The seats that act now, as in a state."""
    seen: str
    """The game's own text of the seat's information: its whole history, or else its current observation."""
    legal: tuple[tuple[int, str], ...]
    """If the seat acts now, its legal actions, each with its text."""

    @property
    def spiel(self) -> "Observation":
        """The observation itself, in the role of open_spiel's state."""
        return self

    @property
    def seat(self) -> int:
        """The seat to move, as for a state."""
        return self.movers[0] if self.movers else OVER

    def legal_actions(self, mover: int | None = None) -> list[int]:
        """Return the numbers of the legal actions of the seat itself."""
        return [action for action, _ in self.legal]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return an empty list, because the seat does not know the next outcomes of chance."""
        return []

    def texts(self, mover: int) -> Mapping[int, str]:
        """Return the texts of the legal actions of the seat itself."""
        return dict(self.legal)

    def __str__(self) -> str:
        return self.seen

    def notation(self) -> str:
        """Return the observation as a JSON list in one line."""
        return json.dumps(self)


def replay(text: str, history: tuple[int, ...]) -> Any:
    """Return open_spiel's state after a history. Raises ValueError if the history is not possible in the game.

    The latest states are cached, because the successor of a state is often needed next.
    """
    known = [past for game, past in _kept if game == text and past == history[: len(past)]]
    past = max(known, key=len, default=())
    spiel = _kept[text, past] if known else load_game(text).new_initial_state()
    if past != history:
        spiel = _after(spiel.clone(), history[len(past) :])
    _kept.pop((text, history), None)
    _kept[text, history] = spiel
    if len(_kept) > MAX_KEPT_STATES:
        _kept.pop(next(iter(_kept)))
    return spiel


def _after(spiel: Any, history: Sequence[int]) -> Any:
    place = 0
    while place < len(history):
        together = spiel.num_players() if spiel.is_simultaneous_node() else 1
        actions = history[place : place + together]
        # open_spiel does not check whether actions are legal, and may abort the process
        if spiel.is_terminal() or len(actions) < together:
            raise ValueError(f"{' '.join(map(str, actions))} is not a complete turn that may follow {spiel.history()}")
        at_once = spiel.is_simultaneous_node()
        for seat, action in enumerate(actions):
            legal = spiel.legal_actions(seat if at_once else spiel.current_player())
            if action not in legal and not (at_once and not legal and action == 0):
                raise ValueError(f"{action} may not follow {spiel.history()}; expected one of {legal or [0]}")
        if spiel.is_simultaneous_node():
            spiel.apply_actions(list(actions))
        else:
            spiel.apply_action(actions[0])
        place += together
    return spiel


def parse(text: str, notation: str) -> State | Observation:
    """Parse the notation of a state or an observation of the game `text`. Raises ValueError if it is invalid."""
    words = notation.split()
    if words[:1] and words[0].startswith("["):
        try:
            observer, movers, seen, legal = json.loads(notation)
            own = tuple([(int(action), str(name)) for action, name in legal])
            return Observation(int(observer), tuple(map(int, movers)), str(seen), own)
        except (ValueError, TypeError) as error:
            raise ValueError(f"expected an observation as a JSON list, got {abbreviate(notation)}") from error
    if not words or not (words == [NOTHING] or all(word.isdecimal() for word in words)):
        raise ValueError(f"expected the numbers of the actions so far, as in 4 0 8, or {NOTHING}, got {abbreviate(notation)}")
    state = state_of(text, () if words == [NOTHING] else tuple(map(int, words)))
    if state.history:
        state.spiel = replay(text, state.history)
    return state
