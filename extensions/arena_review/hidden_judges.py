"""The judges (which grade the decisions of agents in a review) for games with hidden information: `equilibrium` for small games,
`estimate` for the others.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from statistics import fmean
from typing import Any

from arena import Game, State
from arena.api.errors import GameTooLarge
from arena.api.games import Returns, Traits, gives
from arena.api.match import Stream
from arena_review.api import BEST, DECISIVE, MISTAKE, Decision, Review, Verdict
from arena_review.deepening import Climber, seat_of
from arena_review.game_judges import DEEPEST, Scale, grade_loss
from arena_solution.best_response import nash_gap, realization
from arena_solution.sequence_form import SequenceForm, check_size, sequence_form

ITERATIONS = 500
"""The number of iterations of CFR+ that are used to find an equilibrium."""
MAX_STATES = 100_000
"""The largest number of states of a game tree that is solved. CFR+ takes about a minute for such a tree."""
GAPS_OF_TOLERANCE = 4.0
"""Up to this loss, an action counts as best. The loss is given in multiples of the distance between the policies that CFR+ has
found and an equilibrium.
"""
SAMPLES = 10
"""The number of states that are drawn for an estimate."""


def refuse_small(game: Game) -> str | None:
    """Return the reason why no equilibrium can be computed for a game; None if one can."""
    traits = Traits.of(game)
    if "hidden-information" not in traits or "simultaneous" in traits:
        return "it has no hidden information, or it has simultaneous moves"
    if not {"two-player", "zero-sum"} <= traits or "imperfect-recall" in traits:
        return "it is not a two-player zero-sum game with perfect recall"
    try:
        state = game.initial(Stream("size"))
        if (estimate := check_size(game, state, MAX_STATES, "")) > MAX_STATES:
            return f"it has about {estimate:.0e} states, and this judge searches at most {MAX_STATES:,}"
    except GameTooLarge as error:
        return str(error)
    return None


def refuse_hidden(game: Game) -> str | None:
    """Return the reason why no estimate can be computed for a game; None if one can."""
    traits = Traits.of(game)
    if "hidden-information" not in traits or "simultaneous" in traits:
        return "it has no hidden information, or it has simultaneous moves"
    return None if gives(game, "resample") else "it has no `resample`, which draws the states that a seat considers possible"


def action_values(
    form: SequenceForm, masses: SequenceForm, seat: int, plans: Sequence[Sequence[float]]
) -> dict[State, list[float]]:
    """For each observation of a seat that can occur against the plans of the other seats, return the value of every action.

    `form` is the sequence form of the game. `masses` is the sequence form of the same game with a return of 1 at every end; it
    gives the probability that chance and the other seats reach an observation. `plans` are the realization plans of all seats.
    The values assume that the seat plays a best response after the action.
    """
    worth, mass = [[0.0] * form.sequences[seat] for _ in range(2)]
    others = [(place, plan) for place, plan in enumerate(plans) if place != seat]
    for table, outcomes in ((worth, form.outcomes), (mass, masses.outcomes)):
        for sequences, returns in outcomes.items():
            weight = returns[seat]
            for place, plan in others:
                weight *= plan[sequences[place]]
            table[sequences[seat]] += weight
    found: dict[State, list[float]] = {}
    for here in reversed(form.information_sets[seat]):
        values, reach = worth[here.first : here.last], mass[here.first]
        worth[here.parent] += max(values)
        mass[here.parent] += reach
        if reach > 0.0:
            found[here.observation] = [value / reach for value in values]
    return found


class EquilibriumJudge:
    """Compares actions with an equilibrium that CFR+ has found for the whole game."""

    def __init__(self, review: Review) -> None:
        self.game = review.game
        self.effort = ITERATIONS
        self.key = "equilibrium cfr-plus"
        self.word: str | None = None
        self._review = review
        self._scale = Scale(self.game)
        self._tables: list[dict[State, list[float]]] = []
        self._gap = 0.0

    def questions(self, decision: Decision) -> Sequence[str]:
        """Return the position."""
        return [decision.text]

    def answer(self, question: str) -> tuple[float, list[float]] | None:
        """Return the distance of the policies from an equilibrium and the value of each action; None for a position to which the
        policies of the other seats never lead.
        """
        game = self.game
        if not self._tables:
            agent = seat_of(self._review, f"cfr-plus:iterations={ITERATIONS}").make()
            form = sequence_form(game, most=10 * MAX_STATES)
            ones = copy(game)
            ones.__dict__["returns"] = lambda _: (1.0,) * game.players
            masses = sequence_form(ones, most=10 * MAX_STATES)
            behave = lambda _, observation: agent.policy(game, observation)  # noqa: E731
            plans = [realization(form, seat, behave) for seat in range(game.players)]
            self._gap = nash_gap(form, behave).exploitability
            self._tables = [action_values(form, masses, seat, plans) for seat in range(game.players)]
        state = game.parse_state(question)
        seat = game.to_move(state)
        found = self._tables[seat].get(game.observation(state, seat))
        return None if found is None else (self._gap, found)

    def verdict(self, decision: Decision, answers: Mapping[str, Any]) -> Verdict | None:
        """Return the loss against an equilibrium. No single decision is graded as decisive, because no result is certain."""
        answer = answers[decision.text]
        if answer is None:
            return None
        gap, values = answer
        actions = list(self.game.actions(decision.state))
        value, most = values[actions.index(decision.action)], max(values)
        loss, tolerance = most - value, GAPS_OF_TOLERANCE * gap
        size = self._scale.size_of(Returns(self.game).scale(most) - Returns(self.game).scale(value), most)
        grade = BEST if loss <= tolerance else grade_loss(size, 0.0)
        best = self.game.format_action(decision.state, actions[values.index(most)])
        return Verdict(
            "equilibrium",
            best,
            round(most, 6),
            round(value, 6),
            round(loss, 6),
            MISTAKE if grade == DECISIVE else grade,
            exact=False,
        )


class EstimateJudge:
    """Estimates the value of an action as the mean over states that the seat considers possible. Each state is searched as if it
    were known.

    The search in each state knows facts that the seat does not know, and may choose a different reply in each state. This error
    is called strategy fusion, and because of it, estimates have no grade. I. Frank, D. Basin, Search in Games with Incomplete
    Information, 1998.
    """

    def __init__(self, review: Review) -> None:
        self.game = game = review.game
        self.effort = review.nodes * review.effort
        self.word: str | None = None
        self.key = f"estimate {SAMPLES}"
        self._review = review
        self._scale = Scale(game)
        self._climber: Climber | None = None

    def questions(self, decision: Decision) -> Sequence[str]:
        """Return the position."""
        return [decision.text]

    def answer(self, question: str) -> list[float] | None:
        """Return the mean value of every action, on the scale from -1 to 1; None if a search ended before its first ply."""
        game = self.game
        if self._climber is None:
            from arena.api.cli import load

            agent = load(self._review.plugins).agents["star2" if game.players == 2 and game.zero_sum else "expectimax"]
            make = lambda: agent(depth=DEEPEST)  # noqa: E731 - a spec would refuse this agent for a game with hidden information
            self._climber = Climber(game, make, None)
        state = game.parse_state(question)
        seat = game.to_move(state)
        observation, rng = game.observation(state, seat), Stream(f"estimate {question}")
        actions = game.actions(state)
        share = max(1, self.effort // (SAMPLES * len(actions)))
        found: list[list[float]] = [[] for _ in actions]
        for _ in range(SAMPLES):
            drawn = game.resample(observation, seat, rng)
            for place, action in enumerate(actions):
                rungs = self._climber.climb(drawn, share, question, action)
                if rungs:
                    found[place].append(rungs[-1].value)
        return [fmean(values) for values in found] if all(found) else None

    def verdict(self, decision: Decision, answers: Mapping[str, Any]) -> Verdict | None:
        """Return the estimate, which has no grade."""
        values = answers[decision.text]
        if values is None:
            return None
        actions = list(self.game.actions(decision.state))
        most, value = max(values), values[actions.index(decision.action)]
        best = self.game.format_action(decision.state, actions[values.index(most)])
        top, got = self._scale.returns_of(most), self._scale.returns_of(value)
        return Verdict("estimate", best, top, got, round(max(0.0, top - got), 6), None, exact=False)
