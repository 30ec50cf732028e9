"""Checks of games and puzzles."""

from collections.abc import Iterator
from math import isfinite
from typing import Any

from arena.game import Action, Game, Puzzle, State, overrides
from arena.plugins import load_plugins
from arena.testing.trial import Trial, copied, walk

LONGEST_GAME = 10_000
"""Plies after which a game is taken to go on for ever."""
LONGEST_WALK = 200
"""Actions of a random walk through a puzzle, which need not end."""

Step = tuple[Trial, State, Action, State]


def check_game(game: Game | type[Game] | str, *, seed: int = 0, matches: int = 20) -> tuple[str, ...]:
    """Play `matches` random matches and hold a game to its contract; return what was checked.

    Checked are: the same position from the same seed; states and actions that hash, compare by value and pickle; seats in
    range; actions in a fixed order without duplicates; `result` that changes nothing and always says the same, also with
    another match played in between; both text notations there and back; an end to every match; returns in range, and
    zero-sum if claimed; threats that win; of a puzzle the goal, the step costs and the views for local search; and that
    the global random generator is left alone. AssertionError says what broke, and how to see it.
    """
    made = _instance(game)
    if matches < 1:
        raise ValueError(f"matches: expected at least 1, got {matches}")
    steps: list[Step] = []
    for number in range(matches):
        trial = Trial(getattr(made, "name", type(made).__name__), seed, number)
        with trial.own_randomness("the game"):
            steps += _check_match(made, trial)
    _check_again(made, steps)
    _check_pickle(made, steps)
    local = ("local search",) if isinstance(made, Puzzle) else ()
    return ("positions", "states", "actions", "purity", "notation", "termination", "returns", "threats", *local, "pickling")


def _instance(game: Game | type[Game] | str) -> Game:
    if isinstance(game, str):
        game = load_plugins().game(game)
    return game() if isinstance(game, type) else game


def _check_match(game: Game, trial: Trial) -> list[Step]:
    first = trial.call("initial", game.initial, trial.rng)
    again = trial.call("initial", game.initial, trial.rng)
    trial.expect(first == again, "initial gives two positions from one seed", first, again)
    steps: list[Step] = []
    state = first
    puzzle = isinstance(game, Puzzle)
    _check_state(game, trial, first)
    for before, action, successor in walk(game, trial, LONGEST_WALK if puzzle else LONGEST_GAME):
        _check_step(game, trial, before, action, successor)
        seen = Trial(trial.subject, trial.seed, trial.number, list(trial.actions[-20:]))
        steps.append((seen, before, action, successor))
        trial.actions.append(str(action))
        _check_state(game, trial, successor)
        trial.actions.pop()
        state = successor
    over = trial.call("is_terminal", game.is_terminal, state)
    trial.expect(over or puzzle, "the match does not end", f"an end within {LONGEST_GAME} plies", "none")
    if over:
        _check_end(game, trial, state)
    if isinstance(game, Puzzle):
        _check_local_search(game, trial, first)
    return steps


def _check_state(game: Game, trial: Trial, state: State) -> None:
    trial.call("states must be hashable: hash(state)", hash, state)
    copy = trial.call("states must pickle", copied, state)
    trial.expect(copy == state and hash(copy) == hash(state), "states must compare by value", state, copy)
    text = trial.call("format_state", game.format_state, state)
    trial.expect(
        isinstance(text, str) and text != "" and "\n" not in text, "format_state gives one line", "one line of text", text
    )
    parsed = trial.call(f"parse_state of {text!r}", game.parse_state, text)
    trial.expect(parsed == state, f"parse_state reads {text!r} back", state, parsed)
    drawn = trial.call("render", game.render, state)
    trial.expect(isinstance(drawn, str), "render gives text", "text", drawn)
    seat = trial.call("to_move", game.to_move, state)
    trial.expect(seat in range(game.players), "to_move gives a seat", f"0 to {game.players - 1}", seat)
    if not trial.call("is_terminal", game.is_terminal, state):
        _check_actions(game, trial, state)
    _check_threats(game, trial, state)
    trial.expect(copy == state, "a method that only looks changes the state", copy, state)


def _check_actions(game: Game, trial: Trial, state: State) -> None:
    legal = list(trial.call("actions", game.actions, state))
    again = list(trial.call("actions", game.actions, copied(state)))
    trial.expect(legal == again, "actions come in another order the second time", legal, again)
    for action in legal:
        trial.call(f"actions must be hashable: hash({action!r})", hash, action)
    trial.expect(len(set(legal)) == len(legal), "actions come twice", "no duplicates", legal)
    texts = [trial.call("format_action", game.format_action, state, action) for action in legal]
    trial.expect(len(set(texts)) == len(texts), "two actions have one text", "different texts", texts)
    for action, text in zip(legal, texts, strict=True):
        plain = isinstance(text, str) and text == text.strip() != "" and "\n" not in text
        trial.expect(plain, "format_action gives one line", "one line of text", text)
        parsed = trial.call(f"parse_action of {text!r}", game.parse_action, state, text)
        trial.expect(parsed == action, f"parse_action reads {text!r} back", action, parsed)


def _check_step(game: Game, trial: Trial, state: State, action: Action, successor: State) -> None:
    before = copied(state)
    again = trial.call("result", game.result, state, action)
    trial.expect(state == before, "result changes the state it is given", before, state)
    trial.expect(again == successor, "result says something else the second time", successor, again)
    if isinstance(game, Puzzle):
        cost = trial.call("step_cost", game.step_cost, state, action, successor)
        fine = isinstance(cost, (int, float)) and isfinite(cost) and cost >= 0
        trial.expect(fine, "step_cost gives a cost", "a finite number, 0 or more", cost)


def _check_threats(game: Game, trial: Trial, state: State) -> None:
    quiet = trial.call("is_quiet", game.is_quiet, state)
    trial.expect(isinstance(quiet, bool), "is_quiet tells yes or no", "True or False", quiet)
    if not overrides(game, "threats") or trial.call("is_terminal", game.is_terminal, state):
        return
    seat = game.to_move(state)
    wins = [action for action in game.actions(state) if _wins(game, game.result(state, action), seat)]
    threats = list(trial.call("threats", game.threats, state, seat))
    told = [action for action in game.actions(state) if action in threats]
    trial.expect(told == wins and len(threats) == len(wins), "threats are the actions that win at once", wins, threats)


def _wins(game: Game, state: State, seat: int) -> bool:
    return game.is_terminal(state) and game.returns(state)[seat] > 0


def _check_end(game: Game, trial: Trial, state: State) -> None:
    returns = list(trial.call("returns", game.returns, state))
    trial.expect(len(returns) == game.players, "returns has a value for every seat", f"{game.players} values", returns)
    for value in returns:
        trial.expect(isinstance(value, (int, float)) and -1 <= value <= 1, "returns are in range", "numbers in [-1, 1]", returns)
    if game.zero_sum:
        trial.expect(abs(sum(returns)) < 1e-9, "returns add up to zero", 0, f"{sum(returns)} from {returns}")
    if isinstance(game, Puzzle):
        solved = trial.call("is_goal", game.is_goal, state)
        trial.expect(returns == [1.0 if solved else 0.0], "returns of a puzzle say whether it is solved", float(solved), returns)


def _check_again(game: Game, steps: list[Step]) -> None:
    for trial, state, action, successor in steps:
        again = trial.call("result", game.result, state, action)
        trial.expect(
            again == successor, f"result of {action!r} says something else after other matches were played", successor, again
        )


def _check_pickle(game: Game, steps: list[Step]) -> None:
    trial = Trial(game.name, steps[0][0].seed if steps else 0, 0)
    twin = trial.call("the game must pickle", copied, game)
    for seen, state, action, successor in steps[:200]:
        again = seen.call("result of the pickled game", twin.result, copied(state), copied(action))
        seen.expect(again == successor, "the pickled game plays differently", successor, again)


# Views for local search


def _check_local_search(puzzle: Puzzle, trial: Trial, position: State) -> None:
    rng = trial.rng
    states = list(_complete_states(puzzle, trial, position))
    for state in states:
        _check_complete(puzzle, trial, state)
        if overrides(puzzle, "neighbors"):
            for neighbor in list(trial.call("neighbors", puzzle.neighbors, state))[:50]:
                _check_complete(puzzle, trial, neighbor)
                trial.expect(neighbor != state, "a state is not its own neighbor", "another state", neighbor)
        if overrides(puzzle, "local"):
            _check_view(puzzle, trial, state, rng)
        if overrides(puzzle, "mutate"):
            _check_complete(puzzle, trial, trial.call("mutate", puzzle.mutate, state, rng))
        if overrides(puzzle, "crossover"):
            _check_complete(puzzle, trial, trial.call("crossover", puzzle.crossover, state, states[0], rng))


def _complete_states(puzzle: Puzzle, trial: Trial, position: State) -> Iterator[State]:
    if not overrides(puzzle, "random_state"):
        if overrides(puzzle, "local") or overrides(puzzle, "neighbors"):
            yield position
        return
    first = trial.call("random_state", puzzle.random_state, trial.rng)
    again = trial.call("random_state", puzzle.random_state, trial.rng)
    trial.expect(first == again, "random_state gives two states from one seed", first, again)
    yield first
    yield trial.call("random_state", puzzle.random_state, trial.rng)


def _check_complete(puzzle: Puzzle, trial: Trial, state: State) -> None:
    trial.call("states must be hashable: hash(state)", hash, state)
    text = trial.call("format_state", puzzle.format_state, state)
    parsed = trial.call(f"parse_state of {text!r}", puzzle.parse_state, text)
    trial.expect(parsed == state, f"parse_state reads {text!r} back", state, parsed)
    solved = trial.call("is_goal", puzzle.is_goal, state)
    trial.expect(isinstance(solved, bool), "is_goal tells yes or no", "True or False", solved)


def _check_view(puzzle: Puzzle, trial: Trial, state: State, rng: Any) -> None:
    view = trial.call("local", puzzle.local, state)
    trial.expect(view.state() == state, "a fresh local view is at its state", state, view.state())
    for _ in range(20):
        move = trial.call("propose", view.propose, rng)
        before, change = view.cost, trial.call("delta", view.delta, move)
        trial.expect(view.cost == before, "delta only looks", before, view.cost)
        trial.call("apply", view.apply, move)
        trial.expect(abs(view.cost - before - change) < 1e-9, "apply changes the cost by delta", before + change, view.cost)
        fresh = trial.call("local", puzzle.local, view.state())
        trial.expect(abs(fresh.cost - view.cost) < 1e-9, "the cost of a view is that of its state", fresh.cost, view.cost)
