"""Goes through a match by its rules, step by step. The referee, `arena play`, replays and audits use it."""

from collections.abc import Sequence

from arena.configured import name_of
from arena.errors import GameError
from arena.game import CHANCE, Action, Game, Puzzle, State
from arena.match.chance_streams import MAX_OUTCOMES_IN_A_ROW, Chance, endless, has_chance
from arena.match.record import Reason
from arena.returns import check_step_cost


class Stepper:
    """The state of a match, the texts of the actions that led to this state, and the cost of these actions.

    `turn` returns the legal actions of the seat to move, and `advance` plays one of them. The caller must check that the action
    is legal. Exceptions from the game are passed on. Raises GameError if a seat does not exist or has no action.
    """

    def __init__(self, game: Game, state: State, moves: int) -> None:
        self.game = game
        self.state = state
        self.seat = 0
        """The seat to move, as of the last `turn`."""
        self.over = False
        """Whether the last `turn` found the end: a terminal state, or the goal of a puzzle."""
        self.actions: list[str] = []
        self.cost: float = 0
        """The sum of the step costs of a puzzle."""
        self._moves = moves
        self.puzzle = puzzle = game if isinstance(game, Puzzle) else None
        """The game if it is a puzzle."""
        # bound once, because a small match spends most of its time in these calls
        self._is_over = game.is_terminal if puzzle is None else puzzle.is_goal
        self._to_move, self._actions, self._result, self._text = game.to_move, game.actions, game.result, game.format_action
        self._seats = tuple(range(game.players))  # lookups are faster than in a range

    def turn(self) -> Sequence[Action] | None:
        """Return the legal actions of the seat to move; empty if a puzzle is stuck; None at the end and at the move limit."""
        state = self.state
        if self._is_over(state):
            self.over = True
            return None
        if len(self.actions) >= self._moves:
            return None
        self.seat = seat = self._to_move(state)
        legal = self._actions(state)
        if seat not in self._seats:
            name = name_of(self.game)
            if seat == CHANCE and not has_chance(self.game):
                raise GameError(f"{name}: to_move returned CHANCE, but the game has no method chance_outcomes; define it")
            raise GameError(f"{name}: to_move returned {seat!r}; expected a seat below {self.game.players}")
        if not legal and self.puzzle is None:
            raise GameError(f"{name_of(self.game)}: no actions in a state that is not terminal, {self.game.format_state(state)}")
        return legal

    @property
    def moves(self) -> int:
        """The number of decisions so far: all actions except chance actions."""
        return len(self.actions)

    def advance(self, action: Action, text: str | None = None) -> None:
        """Play a legal action. `text` is its notation, if known."""
        state = self.state
        self.actions.append(self._text(state, action) if text is None else text)
        self.state = successor = self._result(state, action)
        if self.puzzle is not None:
            self.cost += check_step_cost(self.puzzle, state, action, self.puzzle.step_cost(state, action, successor))

    def ending(self) -> Reason:
        """Return how a match ended, after the last `turn` returned no action."""
        if self.over:
            return "normal"
        return "stuck" if self.puzzle is not None and not self._actions(self.state) else "move-limit"

    @staticmethod
    def of(game: Game, state: State, moves: int, position_key: str, repetition: int) -> "Stepper":
        """Return a stepper for a match from `state`. Chance depends on the key of the position and on the repetition."""
        if has_chance(game):
            return ChanceStepper(game, state, moves, Chance.of(game, position_key, repetition))
        return Stepper(game, state, moves)


class ChanceStepper(Stepper):
    """A stepper that draws the outcomes of chance: `turn` continues to the next decision or to the end."""

    def __init__(self, game: Game, state: State, moves: int, chance: Chance) -> None:
        super().__init__(game, state, moves)
        self._chance = chance
        self._outcomes = 0

    @property
    def moves(self) -> int:
        """The number of decisions so far: all actions except chance actions."""
        return len(self.actions) - self._outcomes

    def turn(self) -> Sequence[Action] | None:
        """Return the legal actions of the seat that decides next, after chance has moved; None as in `Stepper.turn`."""
        for _ in range(MAX_OUTCOMES_IN_A_ROW):
            if self._is_over(self.state) or self._to_move(self.state) != CHANCE:
                return super().turn()
            self.advance(self._chance.outcome(self.state))
            self._outcomes += 1
            self._moves += 1  # the move limit counts decisions, but all actions are stored
        raise endless(self.game)
