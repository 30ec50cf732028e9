"""Checks of compiled rules and compiled heuristics. They compare the results with those of the game, check that numbers fit into
64 bits, run the machine code, and compare whole decisions.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from arena import Agent, Game, State
from arena.api.games import Evaluation, name_of
from arena.api.results import figures
from arena.api.search import search_engines
from arena.compiled import NoEstimate, NotCompilable
from arena_check.finding import Abandoned, Finding
from arena_check.minimal_actions import Reproduction
from arena_check.trial import CheckLog, Trial, walk
from arena_check.verdicts import CheckSuite, Verdict

RULES, HELD, CODE, SEARCHES = "compiled rules", "64 bits", "compiled code", "compiled searches"
CHECKS = {
    RULES: "encode and all methods over whole numbers agree with the game",
    HELD: "every intermediate number fits into 64 bits, and no index is below 0",
    CODE: "the rules return the same values compiled and uncompiled",
    SEARCHES: "searches find the same results compiled and uncompiled",
}
"""The promises (properties to be checked) of compiled rules; the keys are the names of their checks."""
MAX_ACTIONS = 200
"""Maximum number of actions in a random play."""
MAX_STATES = 600
"""Maximum number of compared states."""
NODES = (1, 7, 100, 5_000)
"""Node limits under which searches are compared."""


def compiled_verdicts(
    game: Game,
    evaluation: Evaluation | None,
    agents: Mapping[str, type[Agent]],
    *,
    seed: int,
    matches: int,
    patience: float,
    compiling: bool = True,
) -> Iterator[Verdict]:
    """Yield a verdict for every promise about the compiled searches of a game and a heuristic.

    There is no verdict if the states and actions of the game are not numbers and its author has not written rules in numbers.
    There is none, either, for games with chance or hidden information, which are never compiled. If the game's own methods cannot
    be compiled, or its returns are not from -1 to 1, one verdict gives the reason; this is not a fault. If the author has written
    rules in numbers, however, they must keep their promises. `agents` maps names to the agents whose decisions are compared.
    `seed`, `matches` and `patience` are the same as in `check_game`; `compiling` allows compilation.
    """
    reason = None if compiling else "it takes too long"
    for engine in search_engines():
        setup = engine.checks(game, evaluation, agents, reason)
        if setup is not None:
            yield from _verdicts(setup, seed, matches, patience)


def _verdicts(setup: Any, seed: int, matches: int, patience: float) -> Iterator[Verdict]:
    """Yield the verdicts of a comparison, see `arena_compiled.checks.CompiledSetup`."""
    try:
        setup.begin()
    except NotCompilable as reason:
        if not reason.broken:
            if setup.derived or setup.graded or isinstance(reason, NoEstimate):
                yield Verdict("compiled", f"not compiled: {reason}", reached=False)
            return
        setup.refused = reason
    promises = {name: promise for name, promise in CHECKS.items() if setup.reason is None or name in (RULES, HELD)}

    def reproduce(finding: Finding) -> Reproduction:
        if finding.check == SEARCHES:
            raise ValueError("searching from every state takes too long")
        position = setup.game.initial(Trial(finding.subject, finding.seed, 0).rng)
        return Reproduction(setup.game, position, partial(_probe_one if finding.check == CODE else _rehearse, setup))

    for verdict in CheckSuite(partial(_play, setup), reproduce, promises, seed, matches, patience).verdicts():
        if verdict.check != SEARCHES or not verdict.kept:
            yield verdict
        elif verdict.reached and setup.loops:
            limits, named = ", ".join(f"{nodes:,}" for nodes in NODES), figures.listing([*setup.loops])
            yield Verdict(
                SEARCHES, f"compiled and uncompiled searches find the same results with {named} under limits of {limits} nodes"
            )
        else:
            unreached = "none of the known agents has a compiled search for it" if verdict.reached else verdict.promise
            yield Verdict(SEARCHES, unreached, reached=False)
    if setup.reason is not None:
        yield from [Verdict(name, f"not run: {setup.reason}", reached=False) for name in (CODE, SEARCHES)]


def _play(setup: Any, seed: int, matches: int, log: CheckLog) -> None:
    trial = Trial(name_of(setup.game), seed, 0, log)
    if setup.refused is not None:
        with trial.checking(RULES):
            raise trial.violation(
                "compiled() must return rules and code that can be compiled", "rules over whole numbers", str(setup.refused)
            )
        return
    met: list[tuple[Trial, State]] = []
    for number in range(matches):
        trial = Trial(name_of(setup.game), seed, number, log)
        with suppress(Abandoned):
            first = len(met)
            met += _walk_states(setup.game, trial, max(2, MAX_STATES // matches))
            for at, state in met[first:]:
                _rehearse(setup, at, state)
    with suppress(Abandoned):
        if setup.probe is not None:  # all states in one call; if the results differ, one state after the other
            probed = met[-setup.rows :] + met[: setup.rows]
            states = [state for _, state in probed]
            parts = [states[first : first + setup.rows] for first in range(0, len(states), setup.rows)]
            if not all(setup.probe(part) == setup.probe.uncompiled(setup.space, part) for part in parts):
                for at, state in probed:
                    _probe_one(setup, at, state)
        for name, (agent, loop) in setup.loops.items():
            for at, state in (met[0], met[len(met) // 2]):
                for nodes in () if setup.game.is_terminal(state) else NODES:
                    with at.checking(SEARCHES):
                        found, plain = [setup.decision(agent, state, nodes, used) for used in (loop, None)]
                        at.expect(found == plain, f"{name} finds the same result under a limit of {nodes:,} nodes", plain, found)
    log.passed |= {RULES, HELD, *([CODE, SEARCHES] if setup.probe is not None else [])}


def _walk_states(game: Game, trial: Trial, most: int) -> list[tuple[Trial, State]]:
    """Return some states of a random play, including the last state. Each state comes with the play up to this state."""
    met: list[tuple[int, State]] = []
    for before, _, successor in walk(game, trial, MAX_ACTIONS):
        met[-1:] = [(len(trial.actions), before), (len(trial.actions) + 1, successor)]
    step = -(-len(met) // most) or 1
    return [
        (Trial(trial.subject, trial.seed, trial.number, trial.log, trial.actions[:plies], None, trial.position), state)
        for plies, state in reversed(met[::-step])
    ]


def _rehearse(setup: Any, trial: Trial, state: State) -> None:
    for held, rehearsal in setup.rehearsals.items():
        with trial.checking(HELD if held else RULES):
            try:
                rehearsal.state(state)
            except setup.fault as fault:
                if fault.held is not held:
                    continue
                what, expected = f"{fault.what} differs between the compiled rules and the game", fault.expected
                if expected is None:
                    what, expected = "calling the compiled rules must return a value", "a value"
                place = f" ({fault.place})" if fault.place else ""
                raise trial.violation(what, expected, f"{fault.got}{place}") from fault
            except NotCompilable as reason:
                raise trial.violation("calling the compiled rules must return a value", "a value", str(reason)) from reason


def _probe_one(setup: Any, trial: Trial, state: State) -> None:
    probe = setup.probe
    assert probe is not None
    with trial.checking(CODE):
        found, expected = probe([state]), probe.uncompiled(setup.space, [state])
        text = setup.game.format_state(state)
        trial.expect(
            found == expected, f"the compiled and the uncompiled rules return different values for {text}", expected, found
        )
