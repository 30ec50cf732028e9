"""Subtracts the luck of chance from the returns of a match, and computes exact mean returns from policies."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from json import loads
from math import fsum

from arena import CHANCE, Agent, Game, Record, Spec, State
from arena.api.errors import call_foreign
from arena.api.games import Chance, Evaluation, Returns, bind, gives
from arena.api.match import Position, Seat, Step
from arena.api.results import RunMatches, figures
from arena.api.run import Scheduled
from arena_solution.policies import may_tell

MAX_BLIND_NODES = 3
"""If this many chance nodes at the beginning of a match do not change the value, values are taken one ply later from then on (see
`adjusted_returns`).
"""
MIN_NODES_PER_OUTCOME = 500
"""Values are taken one ply later only if the agents have generated at least this many nodes per move and outcome of chance."""


def adjusted_returns(
    game: Game,
    record: Record,
    evaluation: Evaluation | None = None,
    start: State | None = None,
    *,
    sees_chance: bool = False,
) -> tuple[float, ...] | None:
    """Return `returns - sum over chance nodes of (V(after) - E V(after))` for every seat, in which V is the value of a state;
    None for a void match.

    The result is an unbiased estimate of the strength of a seat, with less variance than the returns. At every chance node, the
    value of the actual outcome is compared with the mean over all outcomes. The sum of these differences has the mean 0 for any
    V, so it is a control variate. (For games, White and Bowling 2009 call such an estimate MIVAT, and Zinkevich and others 2006
    call it the advantage sum.)

    In a terminal state, V is the return. In other states it is `evaluation`, usually the default heuristic of the game, converted
    to the scale of returns; without an evaluation it is 0. When all outcomes have the same value at each of the first
    MAX_BLIND_NODES chance nodes, it is assumed that `evaluation` ignores chance, unless `sees_chance` is true. From then on, V is
    the value after the best reply to the outcome. This visits many states. To save time, nothing at all is subtracted if the
    agents have generated fewer than MIN_NODES_PER_OUTCOME nodes per move and outcome up to that point. (This depends only on
    earlier events, so it does not cause a bias.)

    For a game without chance, the result equals the returns. The match begins at `start`, by default at the position of the
    record. Raises Differs if the rules do not allow the record.
    """
    if record.termination == "void":
        return None
    if not gives(game, "chance_outcomes"):
        return record.returns
    adjusted = list(record.returns)
    blind = -1 if sees_chance else 0  # the number of chance nodes so far, until one changes the value; then -1
    ahead, nodes = False, 0
    before: State = None
    for step in Step.follow(game, record, start):
        nodes += step.decision.nodes if step.decision else 0
        if step.seat == CHANCE:
            outcomes = Chance.outcomes(game, before)
            if blind == MAX_BLIND_NODES and not ahead:
                ahead = nodes >= MIN_NODES_PER_OUTCOME * len(outcomes) * max(1, step.moves)
                if not ahead:
                    return record.returns
            means = [0.0] * game.players
            seen = set()
            for action, probability in outcomes:
                values = _estimate_returns(game, game.result(before, action), evaluation, ahead=ahead)
                means = [mean + probability * value for mean, value in zip(means, values, strict=True)]
                seen.add(tuple(values))
            if not ahead:
                blind = blind + 1 if blind >= 0 and len(seen) == 1 else -1
            came = _estimate_returns(game, step.state, evaluation, ahead=ahead)
            adjusted = [value - (own - mean) for value, own, mean in zip(adjusted, came, means, strict=True)]
        before = step.state
    return tuple(adjusted)


def _estimate_returns(game: Game, state: State, evaluation: Evaluation | None, *, ahead: bool) -> Sequence[float]:
    """Return the value of a state for every seat; with `ahead`, the value of the state after the best reply of the
    seat to move.
    """
    if game.is_terminal(state):
        return game.returns(state)
    if evaluation is None:
        return [0.0] * game.players
    unscale = Returns(game).unscale
    if ahead and (seat := game.to_move(state)) != CHANCE:

        def value(after: State) -> float:
            return game.returns(after)[seat] if game.is_terminal(after) else unscale(evaluation(after, seat))

        best = max([game.result(state, action) for action in game.actions(state)], key=value)
        return _estimate_returns(game, best, evaluation, ahead=False)
    return [unscale(evaluation(state, seat)) for seat in range(game.players)]


MAX_TOLD_STATES = 20_000
"""The maximum number of states of a game for which exact values are computed from policies."""
MAX_KEPT_TABLES = 64
"""The number of tables of exact values that a process keeps; each is for one start and the agents in the seats."""


class Luck:
    """Corrects the returns of the matches of one spec, as `arena.api.run.Correction` requires.

    If all agents give their policies (the probabilities of their actions) and the game is small, the value of a state is its
    exact value under these policies (N. Burch, M. Schmid, M. Moravcik, D. Morrill and M. Bowling, AIVAT, 2018; here only the luck
    of chance is subtracted, so a false policy does not cause a bias). Otherwise, the value of a state is the one that the default
    heuristic of the game gives.
    """

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._evaluations: dict[int, Evaluation | None] = {}
        self._agents: dict[tuple[int, int], Agent | None] = {}
        self._tables: dict[tuple[object, ...], Mapping[State, Sequence[float]]] = {}
        self._kinds = [[str({**loads(seat.identity), "label": None}) for seat in board.seats] for board in spec.boards]
        """For each entry, everything that affects its policy. Its label does not."""
        self._unknown: set[int] = set()
        """The boards with a game that is too large or a policy that has failed."""

    def __call__(self, scheduled: Scheduled, record: Record, position: Position) -> Sequence[float] | None:
        """Return the returns minus the luck of chance; None when the values of states are not known."""
        board = self._spec.boards[scheduled.board]
        told = self.told_values(scheduled.board, scheduled.pairing.seats, position.state)
        if told is not None:
            scale = Returns(board.game).scale

            def exact(state: State, seat: int = 0) -> float:
                return scale(told[state][seat])

            return adjusted_returns(board.game, record, exact, position.state, sees_chance=True)
        return self.correct_by_heuristic(scheduled, record, position)

    def correct_by_heuristic(self, scheduled: Scheduled, record: Record, position: Position) -> Sequence[float] | None:
        """Return the returns minus the luck of chance by the default heuristic of the game; None if it has none."""
        board = self._spec.boards[scheduled.board]
        if scheduled.board not in self._evaluations:
            heuristic = self._spec.registry.heuristics.get((board.name, board.game.default_heuristic or ""))
            self._evaluations[scheduled.board] = None if heuristic is None else bind(heuristic, board.game)
        evaluation = self._evaluations[scheduled.board]
        return None if evaluation is None else adjusted_returns(board.game, record, evaluation, position.state)

    def told_values(self, board: int, entries: Sequence[int], start: State) -> Mapping[State, Sequence[float]] | None:
        """Return the exact values of all states that can follow `start`, under the policies of the entries in the seats; None
        when these values are not known.
        """
        if board in self._unknown:
            return None
        key = (board, *[self._kinds[board][entry] for entry in entries], start)
        if key not in self._tables:
            game = self._spec.boards[board].game
            agents = [self._agent(board, entry) for entry in entries]
            policies = [partial(agent.policy, game) for agent in agents if agent is not None]
            if len(policies) < len(entries):
                return None
            values = call_foreign(lambda: told_values(game, start, policies), lambda _: None)
            if values is None:
                self._unknown.add(board)
                return None
            while len(self._tables) >= MAX_KEPT_TABLES:
                self._tables.pop(next(iter(self._tables)))
            self._tables[key] = values
        return self._tables[key]

    def list_told(self, board: int) -> set[int]:
        """Return the entries of a board whose agents give their policies. The result is empty if there are too few such agents
        for a match, or if the game is too large for exact values.
        """
        here = self._spec.boards[board]
        hopeful = [entry for entry, seat in enumerate(here.seats) if may_tell(self._spec, seat)]
        if here.kind != "versus" or len(hopeful) < here.game.players:
            return set()
        told = [entry for entry in hopeful if self._agent(board, entry) is not None]
        if len(told) < here.game.players:
            return set()
        first = tuple(told[: here.game.players])
        return set() if self.told_values(board, first, here.positions[0].state) is None else set(told)

    def _agent(self, board: int, entry: int) -> Agent | None:
        """Return the agent of an entry if it plays in this process and gives its policy. This agent is created only once, and
        plays no matches.
        """
        if (board, entry) not in self._agents:
            seat: Seat = self._spec.boards[board].seats[entry]
            agent = call_foreign(seat.make, lambda _: None) if may_tell(self._spec, seat) else None
            tells = agent is not None and gives(agent, "policy")
            self._agents[board, entry] = agent if tells else None
        return self._agents[board, entry]


def told_values(
    game: Game, start: State, policies: Sequence[Callable[[State], Sequence[float]]], most: int = MAX_TOLD_STATES
) -> dict[State, Sequence[float]] | None:
    """Return the mean returns from each state that can follow `start`, if each seat plays its policy.

    A policy is called with the observation of its seat. The result is None for more than `most` states, and when a state can
    occur twice in a match.
    """
    hidden = gives(game, "observation")
    to_move, result, is_terminal = game.to_move, game.result, game.is_terminal
    seen = {start}
    values: dict[State, Sequence[float]] = {}
    following: dict[State, tuple[list[State], Sequence[float]]] = {}
    unfinished = [start]
    while unfinished:
        state = unfinished[-1]
        if state in values:
            unfinished.pop()
        elif state in following:
            worth = [0.0] * game.players
            for after, odds in zip(*following[state], strict=True):
                for seat, value in enumerate(values[after]):
                    worth[seat] += odds * value
            values[state] = worth
        elif is_terminal(state):
            values[state] = game.returns(state)
        else:
            seat = to_move(state)
            if seat == CHANCE:
                actions, shares = zip(*Chance.outcomes(game, state), strict=True)
            else:
                shares = tuple(policies[seat](game.observation(state, seat) if hidden else state))
                actions = tuple(game.actions(state))
            following[state] = [result(state, action) for action in actions], shares
            for after in following[state][0]:
                seen.add(after)  # in a large game, far more states than have been visited
                if after not in values:
                    if after in following:
                        return None
                    unfinished.append(after)
            if len(seen) > most:
                return None
    return values


MAX_EXACT_PAIRINGS = 6
"""The maximum number of pairings with exact returns in the remarks of a board."""


def read_exact_returns(spec: Spec, records: RunMatches) -> Iterator[tuple[int, int, float, None, None] | tuple[int, str]]:
    """Yield the exact mean return of each entry over its matches.

    If some agents of a board give no policy, it yields remarks on the pairings of the other agents. It leaves out boards with a
    game that is too large, and entries and pairings with a match in which something besides the policies decided the actions or
    the result. Matches are read only for the remaining boards.
    """
    luck = Luck(spec)
    boards = {number: entries for number in range(len(spec.boards)) if (entries := luck.list_told(number))}
    exact: dict[tuple[int, frozenset[int], int], list[tuple[float, int]]] = defaultdict(list)
    sampled: dict[tuple[int, frozenset[int], int], list[tuple[float, int]]] = defaultdict(list)
    inexact = set()
    for one in records.groups() if boards else ():
        if one.board in boards and boards[one.board].issuperset(one.seats):
            start = spec.boards[one.board].positions[one.round].state
            told = luck.told_values(one.board, one.seats, start)
            if told is None or one.termination != "normal" or one.fell_back:
                inexact.add((one.board, frozenset(one.seats)))
                continue
            for seat, entry in enumerate(one.seats):
                exact[one.board, frozenset(one.seats), entry].append((told[start][seat], one.matches))
                sampled[one.board, frozenset(one.seats), entry].append((one.returns[seat], one.matches))
    for board, entries in boards.items():
        bad = {entry for number, both in inexact if number == board for entry in both}
        own = {key: values for key, values in exact.items() if key[0] == board}
        if len(entries) == len(spec.boards[board].seats):
            for entry in sorted(entries - bad):
                values = [value for key, found in own.items() if key[2] == entry for value in found]
                if values:
                    yield board, entry, _mean(values), None, None
            continue
        shown = [key for key in own if key[:2] not in inexact and key[2] == min(key[1])][:MAX_EXACT_PAIRINGS]
        for key in shown:
            name, *others = [spec.boards[board].seats[entry].label for entry in (key[2], *sorted(key[1] - {key[2]}))]
            means = [figures.figure(_mean(found[key])) for found in (exact, sampled)]
            said = f"the exact mean return of their policies is {means[0]}; in the matches it was {means[1]}"
            yield board, f"{name} against {figures.listing(others)}: {said}."


def _mean(values: Sequence[tuple[float, int]]) -> float:
    """Return the mean of values that occur several times."""
    mean = fsum([value * count for value, count in values]) / sum([count for _, count in values])
    return round(mean, 15)  # the values of opposite seats cancel each other, except for the last digits
