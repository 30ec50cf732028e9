"""Checks of agents. Each agent plays with and without a budget, and plays the same matches again."""

import random
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from math import inf
from typing import Any, Literal, NamedTuple

from arena import (
    CHANCE,
    Action,
    Agent,
    Answer,
    Game,
    Limits,
    Path,
    Puzzle,
    Record,
    Refused,
    Registry,
    Search,
    State,
    load_plugins,
)
from arena.api.errors import Interrupted, call_foreign, describe, expect
from arena.api.games import Abilities, Evaluation, HeuristicInfo, bind, name_of, settings
from arena.api.match import FAULTS, Match, Position, Stream, play_match
from arena.api.processes import user_interrupts
from arena.api.spec import make_seat, source_line
from arena.clock import monotonic
from arena_catalog.catalogue import choose_games
from arena_check.admissibility import TOLERANCE, WHOLE_PUZZLE_STATES
from arena_check.distances import near_goal, shortest_way, way_to_goal
from arena_check.finding import Abandoned, Finding
from arena_check.minimal_actions import Reproduction
from arena_check.patience import CALL_SECONDS
from arena_check.state_checks import check_value
from arena_check.threads import collect_deaths, find_lingering
from arena_check.trial import A_GAME, CheckLog, Trial, copy_value, position_text
from arena_check.verdicts import CheckSuite, Verdict


@dataclass(slots=True)
class SideEffects:
    """Side effects of an agent's decisions in a play."""

    changed: list[tuple[State, State]] = field(default_factory=list)
    """The states that the agent has changed, each as it was before and after."""
    left: str | None = None
    """The place in the code at which a thread was still running after the decision; None if there was no such thread."""
    nodes: int = 0
    """The nodes of its decisions so far."""
    decisions: int = 0
    ended: bool = False
    """Whether the match ended because the agent had used MATCH_NODES, or its time."""


class EnoughNodes(Exception):
    """The agent has used MATCH_NODES, or its time. This error ends the match, so that a check of a slow agent ends in time."""


class LingeringThread(Exception):
    """A thread is still running after a decision. This error ends the match, because every further decision would leave another
    thread.
    """


class WatchedAgent(Agent):
    """Wraps the agent that is checked, and records its side effects."""

    name = "watched"

    def __init__(self, agent: Agent, trial: Trial, seen: SideEffects) -> None:
        self._agent = agent
        self._trial = trial
        self._seen = seen

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Let the agent choose, and record side effects."""
        return self._watch(self._agent.choose, game, state, search)

    def solve(self, game: Game, state: State, search: Search) -> Path | Answer | None:
        """Let the agent solve, and record side effects."""
        found: Path | Answer | None = self._watch(self._agent.solve, game, state, search)
        return found

    def _watch(self, decide: Callable[..., Any], game: Game, state: State, search: Search) -> Any:
        late = self._seen.decisions > 0 and monotonic() > self._trial.log.until
        if self._seen.nodes >= MATCH_NODES or late:
            self._seen.ended = True
            raise EnoughNodes
        before, threads = copy_value(state), threading.enumerate()
        self._trial.tell(decide.__name__, lambda: position_text(game, before))
        try:
            answer = decide(game, state, search)
        except Interrupted as interrupt:
            interrupt.add_note(f"  asked at: {position_text(game, before)}")
            raise
        finally:
            self._seen.nodes += search.nodes
            self._seen.decisions += 1
            self._trial.tell("a method of the game")
            if state != before:
                self._seen.changed.append((before, state))
        self._trial.log.answers += 1
        for thread, place in find_lingering(threads).items():
            started = f"{decide.__qualname__} ({source_line(decide) or 'unknown file'})"
            self._seen.left = place or f"{thread.name}, started in {started}"
            raise LingeringThread
        return answer


NEAR_STATES = 1_000
"""Positions are drawn from this many states near a goal."""
LAST_STATES = 20
"""Positions are also drawn from this many states at the end of a path to a goal, because not all actions can be undone."""
CLAIM_POSITIONS = 3
"""Number of positions at which a claim is checked, for each match of the check."""
CLAIM_NODES = 20_000
"""Node limit of the agent for a position. A path that it returns after this limit does not count."""

Measure = Literal["cost", "length"]


NODES = 2_000
"""Node limit for a decision of an agent that reports its actions. Any other agent decides without a limit, because the checks are
about the agent's own actions.
"""
MOVES = 60
MATCH_NODES = NODES * MOVES // 2
"""A match ends before a decision if the agent has used this many nodes, and the checks end if it has used as many for each match.
"""
MAX_SEARCH_STATES = 150
"""Maximum number of states in the search for fewer actions that show a fault, because the agent has to decide in each of them."""

THREADS = "a thread continues to run after the answer"
NO_THREAD = "no thread that outlives the decision"


class Anyone(Agent):
    """The opponent of the agent that is checked. It plays at random."""

    name = "anyone"

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Choose any legal action."""
        return search.rng.choice(game.actions(state))


CHECKS = {
    "plays": "legal actions or solutions, without an exception, against a random player and against itself",
    "one node": "continues to play with a budget of one node",
    "repeats": "the same seed gives the same actions",
    "optimal": "from small positions, no solution is worse than the solution from uniform-cost search",
    "purity": "no state is changed",
    "threads": "no thread continues to run after the answer",
    "randomness": "all random numbers come from search.rng",
    "the game": "the game itself passes its checks",
}
"""Promises (properties to be checked) of an agent on every game; the keys are the names of their checks. `optimal` applies
only to solvers that claim optimal solutions.
"""


@user_interrupts()
def check_agent(
    agent: Agent | type[Agent] | str,
    game: Game | type[Game] | str | None = None,
    *,
    seed: int = 0,
    matches: int = 5,
    registry: Registry | None = None,
    patience: float = CALL_SECONDS,
) -> tuple[str, ...]:
    """Let `agent` play `matches` matches on `game`, and return the checks. Without `game`, it plays on games of plugins and on
    three built-in games.

    The agent is an object, a class, or a name. A name is looked up in `registry` (by default all installed plugins).

    The checks are: actions or solutions are legal, without an exception; the same `seed` gives the same actions; the agent can
    play with a budget of one node; it does not change states, leave threads running or use the global random generator; and a
    claim in `Agent.optimal` holds, compared with uniform-cost search from small positions. Opponents play at random. From states
    that random play has reached, the agent also plays against itself. No call may take longer than `patience` seconds.

    A broken promise raises Violation, an AssertionError. Its message gives the promise, as few preceding actions as
    possible, and a seed that reproduces the fault with one match. Raises Refused if no game fits.
    """
    checked = []
    for setup in agent_setups(agent, game, registry):
        passed = setup.suite(seed, matches, patience).passed()
        claim = ", optimal" if "optimal" in passed else ""
        checked.append(f"{name_of(setup.game)}: plays, repeats, one node, randomness{claim}")
    if not checked:
        raise Refused(
            f"{agent if isinstance(agent, str) else name_of(agent)} cannot play any installed game; pass a game as an argument"
        )
    return tuple(checked)


def agent_verdicts(
    agent: Agent | type[Agent] | str,
    game: Game | type[Game] | str | None = None,
    *,
    seed: int = 0,
    matches: int = 5,
    registry: Registry | None = None,
    patience: float = CALL_SECONDS,
) -> Iterator[tuple[Game, list[Verdict]]]:
    """Do as `check_agent` does, but continue after a fault: yield every game with a verdict for every promise."""
    for setup in agent_setups(agent, game, registry):
        with user_interrupts():
            found = list(setup.suite(seed, matches, patience).verdicts())
        yield setup.game, found


class AgentSetup(NamedTuple):
    """Everything that the checks of an agent need, such as a function that creates a new instance of the agent, and the game."""

    kind: type[Agent]
    make: Callable[[], Agent]
    game: Game
    evaluation: Evaluation | None
    measure: Measure | None
    """The measure, cost or length, in which the agent claims that its paths are optimal; None if it makes no claim or cannot be
    created.
    """
    seconds: float = inf
    """The time for all matches."""
    foresee: Callable[[float], None] = lambda _: None
    """Is called after the first of several matches with the seconds that it has taken."""

    def suite(self, seed: int, matches: int, patience: float) -> CheckSuite:
        """Return the checks of the agent on the game."""
        promises = {name: promise for name, promise in CHECKS.items() if name != "optimal" or self.measure is not None}

        def examine(trial: Trial, state: State) -> None:
            """Ask for one decision."""
            if not self.game.is_terminal(state) and self.game.to_move(state) != CHANCE:
                _check_decisions(self, trial, state, [self.game.to_move(state)], 1)

        def reproduce(finding: Finding) -> Reproduction:
            return Reproduction(self.game, self.game.initial(_position_rng(finding.seed)), examine, MAX_SEARCH_STATES)

        return CheckSuite(partial(_play, self), reproduce, promises, seed, matches, patience)

    def trace(self, seed: int, matches: int) -> list[list[str]]:
        """Return a list for each of the first plays of the checks: the position, the actions and, if there is one, the answer."""
        plays = []
        for number in range(matches):
            trial = Trial(name_of(self.kind), seed, number)
            state = self.game.initial(_position_rng(trial.play))
            seats = [trial.play % self.game.players]
            record = _play_from(self, trial, state, seats, Limits(nodes=NODES, moves=MOVES, patient=True))
            plays.append([record.position, *record.actions, *([] if record.answer is None else [record.answer])])
        return plays


def agent_setups(
    agent: Agent | type[Agent] | str, game: Game | type[Game] | str | None, registry: Registry | None
) -> Iterator[AgentSetup]:
    """Yield the agent on `game`, or on the games that `choose_games` finds for it.

    Raises Refused if the agent cannot play `game`.
    """
    expect("agent", agent, (Agent, type, str), "an agent, its class or its name")
    if game is not None:
        expect("game", game, (Game, type, str), f"{A_GAME}, or None")
    registry = registry or load_plugins()
    known = registry.agent(agent) if isinstance(agent, str) else agent
    kind = known if isinstance(known, type) else type(known)
    make = known if isinstance(known, type) else partial(kind, **settings(known))
    if game is None:
        games = list(choose_games(registry, kind)[0].values())
    else:
        asked = registry.game(game) if isinstance(game, str) else game
        games = [asked() if isinstance(asked, type) else asked]
        reason = Abilities(kind).find_refusal(games[0])
        if reason:
            raise Refused(reason)
    for one in games:
        yield _setup(kind, make, one, registry)


def _setup(kind: type[Agent], make: Callable[[], Agent], game: Game, registry: Registry) -> AgentSetup:
    target = registry.heuristics.get((name_of(game), game.default_heuristic or ""))
    evaluation = None if target is None else bind(target, game)
    measure = None
    if isinstance(game, Puzzle):
        info = HeuristicInfo.of(target)
        measure = call_foreign(
            lambda: Abilities(make()).find_claim(game, admissible=info is None or info.admissible), lambda _: None
        )
    return AgentSetup(kind, make, game, evaluation, measure)


UNREPEATED = (
    "; take random numbers from search.rng, and seed other generators with them, as numpy.random.default_rng; "
    "keep nothing from match to match, such as a list or dict in a class attribute"
)
"""What to do about answers that differ, because neither a generator without a seed nor a memory leaves another trace."""
ANSWER_CHECKS = {"repeats", "purity", "threads", "randomness"}
"""The checks that pass only if the agent has made a decision. An exception alone shows nothing about them."""


def _play(setup: AgentSetup, seed: int, matches: int, log: CheckLog) -> None:
    try:
        _play_all(setup, seed, matches, log)
    finally:
        if not log.answers:
            log.passed -= ANSWER_CHECKS


def _play_all(setup: AgentSetup, seed: int, matches: int, log: CheckLog) -> None:
    began = monotonic()
    log.until = began + setup.seconds
    for number in range(matches):
        if log.nodes > matches * MATCH_NODES or (number > 0 and monotonic() > log.until):
            break
        if number == 1:
            setup.foresee(monotonic() - began)
        trial = Trial(f"{name_of(setup.kind)} on {name_of(setup.game)}", seed, number, log, check="the game")
        with suppress(Abandoned):
            with collect_deaths() as died:
                trial.call("a method of the game", _check_match, setup, trial)
                if setup.measure is not None:
                    trial.call("a method of the game", _check_claim, setup, trial)
            with trial.checking("threads"):
                trial.expect(
                    not died, THREADS, NO_THREAD, "".join([f"a thread that raised {describe(each)}" for each in died[:1]])
                )


def _position_rng(play: int) -> random.Random:
    return Stream.of_position(f"check/{play}")


def _check_match(setup: AgentSetup, trial: Trial) -> None:
    game = setup.game
    state = game.initial(_position_rng(trial.play))
    trial.position = position_text(game, state)
    check_value(trial, state)
    trial.log.passed.add(trial.check)
    _check_decisions(setup, trial, state, [trial.play % game.players], MOVES)
    if not isinstance(game, Puzzle):
        trial.actions, later = _draw_state(setup, trial, state)
        _check_plays(setup, trial, later, range(game.players), Limits(nodes=NODES, moves=MOVES, patient=True))


def _check_claim(setup: AgentSetup, trial: Trial) -> None:
    """Check, at positions near a goal, that the paths of the agent are cheapest paths or, if it claims the least length, shortest
    ones.

    If no goal is found, no position is checked.
    """
    puzzle, measure = setup.game, setup.measure
    assert isinstance(puzzle, Puzzle)
    way = way_to_goal(puzzle, puzzle.initial(_position_rng(trial.play)), WHOLE_PUZZLE_STATES, setup.evaluation)
    near = [*way[:LAST_STATES], *near_goal(puzzle, way[:2], NEAR_STATES)]
    states = [state for state in dict.fromkeys([state for state, _ in near]) if not puzzle.is_goal(state)]
    step_cost = puzzle.step_cost if measure == "cost" else lambda *_: 1.0
    for state in trial.rng.sample(states, min(CLAIM_POSITIONS, len(states))):
        for _, least in shortest_way(puzzle, state, WHOLE_PUZZLE_STATES, step_cost)[-1:]:
            trial.position, trial.actions = position_text(puzzle, state), []
            record = trial.call("a small position", _play_from, setup, trial, state, [0], Limits(nodes=CLAIM_NODES))
            found = record.cost if measure == "cost" else record.moves
            if found is None or not record.solved or len(record.decisions) != 1 or record.decisions[0].nodes >= CLAIM_NODES:
                continue
            with trial.checking("optimal"):
                trial.expect(
                    found <= least + TOLERANCE,
                    f"it claims to find the lowest {measure}, but uniform-cost search finds a lower one",
                    f"{measure} {least:g}",
                    f"{measure} {found:g}: {' '.join(record.actions)}",
                )


def _draw_state(setup: AgentSetup, trial: Trial, state: State) -> tuple[list[str], State]:
    """Return a state of random play from `state`, and the actions that lead to it."""
    game, rng = setup.game, trial.rng
    ways: list[tuple[list[str], State]] = []
    actions: list[str] = []
    while not game.is_terminal(state) and len(ways) < MOVES:
        ways.append((list(actions), state))
        action = rng.choice(game.actions(state))
        actions.append(game.format_action(state, action))
        state = game.result(state, action)
    return rng.choice(ways) if ways else ([], state)


def _check_decisions(setup: AgentSetup, trial: Trial, state: State, seats: Collection[int], moves: int) -> None:
    """Let the agent continue from `state`, twice with its own actions and twice with one node."""
    for check, nodes in (("plays", NODES), ("one node", 1)):
        if check == "one node" and "plays" in trial.log.failed:
            break  # a decision with one node would show the same fault
        limits = Limits(nodes=nodes, moves=moves, patient=check == "plays")
        way = list(trial.actions)
        seen, later = SideEffects(), SideEffects()
        first = _check_plays(setup, trial, state, seats, limits, check, seen)
        with trial.checking("repeats"):
            before = random.getstate()
            random.seed("elsewhere")
            try:
                again = _play_from(setup, trial, state, seats, limits, later)
            finally:
                random.setstate(before)
            trial.on_time()
            if trial.log.until < inf and (seen.ended or later.ended):  # the clock decides how many actions there are
                both = min(len(first.actions), len(again.actions))
                first, again = (
                    first._replace(actions=first.actions[:both]),
                    again._replace(actions=again.actions[:both], answer=first.answer),
                )
            if again.actions != first.actions:  # the violation shows the first action that differs
                common = next(n for n, pair in enumerate(zip_longest(first.actions, again.actions)) if len(set(pair)) == 2)
                trial.actions = [*way, *first.actions[:common]]
                expected, got = [" ".join(record.actions[common : common + 1]) or "the end" for record in (first, again)]
                raise trial.violation(
                    "the same seed gives different actions", f"{expected}, as in the first match{UNREPEATED}", got
                )
            trial.expect(again.answer == first.answer, "the same seed gives different answers", first.answer, again.answer)
        trial.actions = way


def _check_plays(
    setup: AgentSetup,
    trial: Trial,
    state: State,
    seats: Collection[int],
    limits: Limits,
    check: str = "plays",
    effects: SideEffects | None = None,
) -> Record:
    """Let the agent play from `state` in some seats, and check its side effects and how the play ends. The actions are added to
    the trial.
    """
    seen = effects or SideEffects()
    with trial.own_randomness("the agent"):
        record = _play_from(setup, trial, state, seats, limits, seen)
    trial.actions = [*trial.actions, *record.actions]
    with trial.checking(check):
        trial.on_time()
    with trial.checking("threads"):
        if seen.left is not None:
            trial.log.over = True
            raise trial.violation(THREADS, NO_THREAD, f"a thread at {seen.left}")
    with trial.checking("purity"):
        for before, after in seen.changed:
            raise trial.violation("the agent changes the state it is given", before, after)
    with trial.checking(check):
        if record.termination in (*FAULTS, "void") and not seen.ended:
            what = "must play with a budget of one node" if check == "one node" else "must play without a fault"
            fault = trial.violation(what, "an ending without a fault", f"{record.termination}: {record.message}")
            fault.add_note(record.traceback or "")
            raise fault
    return record


def _play_from(
    setup: AgentSetup, trial: Trial, state: State, seats: Collection[int], limits: Limits, seen: SideEffects | None = None
) -> Record:
    """Play a match from `state`, with the agent in some seats and random players in the others."""
    kind, game = setup.kind, setup.game
    puzzle, effects = isinstance(game, Puzzle), seen or SideEffects()
    own = make_seat(kind, {}, setup.evaluation, None, limits, name_of(kind), puzzle)
    own = replace(own, make=lambda: WatchedAgent(setup.make(), trial, effects))
    other = make_seat(Anyone, {}, setup.evaluation, None, limits, "anyone", puzzle)
    seated = tuple([own if seat in seats else other for seat in range(game.players)])
    position = Position("check", state, game.format_state(state))
    record = play_match(Match(f"check/{trial.play}", game, position, seated, trial.play))
    trial.log.nodes += effects.nodes
    return record
