"""The command try: checks what a plugin file brings and lets it play, for a few seconds in all."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from textwrap import indent, wrap
from time import monotonic
from typing import Any

import click

from arena import Agent, ArenaError, Game, PluginError, play
from arena.api.cli import describe, load, plugin_option, results_alone, say, seed_option
from arena.api.match import Record, steps
from arena.api.results import Leaderboard, figures
from arena.api.spec import Key, Spec, find_refusal, find_traits, is_file, list_references, source_line
from arena.commands.catalogue import default_games, engine_lines
from arena.commands.options import games_option
from arena.console.words import command_of
from arena.errors import Interrupted
from arena.match.match import seat_identity
from arena.processes.threads import collect_deaths
from arena.traits import find_uncoped, join_traits, read_games
from arena_check.check import contents_of, find_games
from arena_check.check_process import CheckProgress, SharedNote, supervise
from arena_check.check_run import CheckOptions, CheckRun
from arena_check.patience import CALL_SECONDS, CallTooLong, Patience
from arena_check.second_process import SecondProcess
from arena_check.trial_board import MAX_MOVES, NODES, TrialBoard, Tried, against_each, percent, place, row_of
from arena_isolation.command import called, need_startable

CHECK_MATCHES = 5
"""Matches of the check that comes first."""
TRY_SECONDS = 6.0
"""Time for everything that a file brings, without the checks."""
MAX_MATCH_LINES = 60
"""The most lines of a match whose states are all shown; of a longer one the first and the last are."""
NONE = "none"
"""Stands for no heuristic in labels."""


@click.command("try")
@click.argument("file", metavar="FILE|PROGRAM")
@games_option("What agents are checked on and play, instead of all they can; may be repeated.")
@seed_option("For everything random.")
@plugin_option
def try_(file: str, games: tuple[str, ...], seed: int, plugins: tuple[str, ...]) -> int:
    """Check a plugin file, let what it brings play for a few seconds, and say where it stands.

    An agent in another language is a PROGRAM: a file that can be started, or a command with its arguments in quotes.
    """
    note = SharedNote.inherited()
    if note is None:
        named = [word for game in games for word in ("--game", game)]
        loaded = [word for plugin in plugins for word in ("--plugin", plugin)]
        return supervise(["try", file, *named, "--seed", str(seed), *loaded], resume=False)
    progress = CheckProgress(note, sys.stderr)
    with progress.watching():
        return _try(file, games, seed, plugins, progress)


def _try(file: str, games: tuple[str, ...], seed: int, plugins: tuple[str, ...], progress: CheckProgress) -> int:
    with results_alone() as out, collect_deaths(last=True):
        program = command_of(file)
        if program is not None:
            try_program(TrialBoard(load(plugins), file, plugins, seed, out, monotonic() + TRY_SECONDS, progress, games), program)
            return 0
        if not is_file(file):
            raise PluginError(file, "expected a Python file or a program; `arena show` and `arena check` take names")
        registry = load((*plugins, file))
        kinds = list(TRIES)
        found = sorted(
            contents_of(registry, file),
            key=lambda item: (kinds.index(item[0][0]) if item[0][0] in TRIES else len(kinds), item[0]),
        )
        asked = find_games(registry, games, found, file)
        with SecondProcess(registry, [*plugins, file]) as second:
            how, alone = CheckOptions(seed, CHECK_MATCHES), len(found) == 1
            check = CheckRun(registry, file, how, plugins, out, progress, second, asked, brief=True, alone=alone)
            if [key for key, value in found if not check.passes(key, value)]:  # all of them are checked
                return 1
        tried = [(key, value) for key, value in found if key[0] in TRIES]
        _try_each(tried, TrialBoard(registry, file, (*plugins, file), seed, out, monotonic(), progress, games))
    return 0


def _try_each(tried: list[tuple[Key, Any]], board: TrialBoard) -> None:
    """Let each thing play for an equal share of the time.

    Budgets of agents are counted in nodes, so that a match is the same in every try; the number of matches depends on the clock.
    """
    try:
        with Patience(CALL_SECONDS):
            for key, value in tried:
                board.progress.begin(key, source_line(value), None)
                TRIES[key[0]](replace(board, until=monotonic() + TRY_SECONDS / len(tried)), key, value)
    except Interrupted as interrupt:
        say(f"while trying {' '.join(key)}: {describe(interrupt)}")
        raise
    except CallTooLong as late:
        raise ArenaError(f"{late} ({late.place})") from late


def try_game(attempt: TrialBoard, key: Key, kind: type[Game]) -> None:
    """Print the built-in agents that can play a game, a leaderboard of some of them, and a match."""
    game = kind()
    attempt.say(f"\n{key[1]} is {join_traits(find_traits(game))}")
    for line in engine_lines(game):
        attempt.say(line)
    agents = {name: agent for name, agent in attempt.registry.agents.items() if attempt.registry.sources["agent", name].own}
    fitting = [name for name, agent in agents.items() if find_refusal(agent, game) is None]
    attempt.say(_wrap(f"can play it: {', '.join(fitting) or 'nobody'}", attempt.width))
    obstacles: dict[str, list[str]] = {}
    for name, agent in agents.items():
        if name not in fitting:
            obstacles.setdefault(_obstacle(agent, game), []).append(name)
    for obstacle, names in obstacles.items():
        attempt.say(_wrap(f"cannot, {obstacle}: {', '.join(names)}", attempt.width))
    rivals = list_references(attempt.registry, game)
    if len(rivals) < game.players:
        return
    board = attempt.play(attempt.spec(game, rivals), attempt.until - monotonic()).board
    _show_match(attempt, game, board)


def _obstacle(agent: type[Agent], game: Game) -> str:
    """Why an agent cannot play a game, in a few words that agents share."""
    missing = agent.needs - find_traits(game)
    if read_games(agent):
        return "made for other games"
    if missing:
        return f"for want of {join_traits(missing)}"
    unknown = find_uncoped(agent, game)
    return f"since it has {join_traits(unknown)}" if unknown else "for want of single-player"


def _wrap(text: str, width: int) -> str:
    return "\n".join(wrap(text, width, subsequent_indent="  ", break_on_hyphens=False))


def _show_match(attempt: TrialBoard, game: Game, board: Leaderboard) -> None:
    seated = ([row["agent"] for row in board.rows] * game.players)[: game.players]
    record = play(game, seated, seed=attempt.seed, limits={"nodes": NODES[game.players == 1], "moves": MAX_MOVES})
    attempt.say(f"\na match of {' and '.join(seated)}:\n")
    attempt.say("\n\n".join(_draw_states(game, record, attempt.width)))
    ending = record.termination if record.termination != "normal" else "solved" if record.solved else "over"
    returns = ", ".join(map(figures.score, record.returns))
    attempt.say(f"\n{ending} after {len(record.actions)} actions, returns {returns}")


def _draw_states(game: Game, record: Record, width: int) -> list[str]:
    """The states of a match, each under the action before it, without those in the middle if all are too many lines."""
    frames = []
    for step in steps(game, record):
        who = "" if game.players == 1 or step.seat is None else f"{record.labels[step.seat]}: "
        heading = "the answer\n" if step.number < 0 else "" if step.action is None else f"{who}{step.action}\n"
        frames.append(heading + indent(game.render(step.state), "  "))
    lines = sum(frame.count("\n") + 2 for frame in frames)
    if lines <= MAX_MATCH_LINES or len(frames) <= 6:
        return frames
    actions = ", ".join(record.actions[2:-3])
    return [*frames[:3], "\n".join(wrap(f"... {actions} ...", width)), *frames[-3:]]


def try_heuristic(attempt: TrialBoard, key: Key, heuristic: Callable[..., Any]) -> None:
    """Print for every agent a leaderboard of itself with this heuristic, the default one and none, and a sentence on it."""
    game = attempt.registry.game(key[1])()
    for line in engine_lines(game, heuristic):
        attempt.say(f"\n{key[2]}: {line}")
    default = game.default_heuristic
    rivals = [default] if default not in (None, key[2]) and (key[1], default) in attempt.registry.heuristics else []
    agents = [name for name in list_references(attempt.registry, game) if attempt.registry.agents[name].wants_heuristic]
    for number, agent in enumerate(agents):
        seconds = max(0.0, attempt.until - monotonic()) / (len(agents) - number)
        names = [key[2], *rivals, NONE]
        entries = [{"agent": agent, "heuristic": name, "label": f"{agent} with {name}"} for name in names[:-1]]
        entries.append({"agent": agent, "heuristic": key[2], "label": f"{agent} with {NONE}"})
        board = attempt.play(_drop_heuristic(attempt.spec(game, entries), f"{agent} with {NONE}"), seconds).board
        attempt.say(f"\n{_describe_effect(board, agent, names)}")


def _drop_heuristic(spec: Spec, label: str) -> Spec:
    """The spec with no heuristic for one entry; a spec's file always gives one if the game has any."""
    board = spec.boards[0]
    seats = list(board.seats)
    for number, seat in enumerate(seats):
        if seat.label == label:
            identity = seat_identity(seat.agent, {}, None, seat.limits, label)
            seats[number] = replace(seat, evaluation=None, heuristic=None, identity=identity)
    return replace(spec, boards=(replace(board, seats=tuple(seats)),))


def _describe_effect(board: Leaderboard, agent: str, names: list[str]) -> str:
    labels = [f"{agent} with {name}" for name in names]
    if board.kind == "versus" and board.cross is not None:
        order = [row["agent"] for row in board.rows]
        scores = board.cross[order.index(labels[0])]
        results = [
            f"{percent(scores[order.index(other)])} against {name}" for other, name in zip(labels[1:], names[1:], strict=True)
        ]
        return f"{labels[0]} scores {', '.join(results)}."
    shares = []
    for label, name in zip(labels, names, strict=True):
        row = row_of(board, label)
        shares.append(f"{percent(row['solved'])} with {name} ({row['nodes_per_attempt'] or 0:,.0f} nodes each)")
    return f"{agent} solves {', '.join(shares)}."


def try_agent(attempt: TrialBoard, key: Key, agent: type[Agent]) -> None:
    """Print a leaderboard and the agent's place for every game that it can play, or that was asked for, until the time is up."""
    asked = default_games(attempt.registry, attempt.only)
    for game in asked:
        reason = find_refusal(agent, game)
        if reason is not None:
            raise ArenaError(f"--game {game.name}: {reason}")
    _play_boards(attempt, key[1], key[1], asked or attempt.games(agent))
    attempt.say(
        f"\nnext: arena check {attempt.file} --watch, or a tournament of your own: arena run SPEC --plugin {attempt.file}"
    )


def try_program(attempt: TrialBoard, command: Sequence[str]) -> None:
    """Print a leaderboard and the program's place for every game that was asked for.

    ArenaError: no game was asked for, or the program cannot be started.
    """
    in_spec = f"{{agent: {{command: [{', '.join(command)}]}}}}"
    manual = f"in a spec it is {in_spec}; docs/how-to/other-languages.md has the protocol and whole programs"
    need_startable(attempt.file, command, f"arena try 'node {attempt.file}' --game tic-tac-toe; {manual}")
    if not attempt.only:
        example = f"arena try {quote(attempt.file)} --game tic-tac-toe"
        raise ArenaError(f"{attempt.file}: a program; say what it plays, as in {example}; {manual}")
    label = called(command)
    entry: dict[str, Any] = {"agent": {"command": list(command)}, "label": label, "limits": {"seconds": CALL_SECONDS}}
    _play_boards(attempt, label, entry, default_games(attempt.registry, attempt.only))
    attempt.say(f"\nnext: a tournament of your own; {manual}")


def _play_boards(attempt: TrialBoard, label: str, entry: str | Mapping[str, Any], games: Sequence[Game]) -> None:
    """Print a leaderboard of an entry and its rivals and the entry's place for every game, until the time is up.

    After several boards all places are printed once more, a line a board.
    """
    places = []
    for number, game in enumerate(games):
        left = attempt.until - monotonic()
        if left <= 0 and number:
            attempt.say(f"\nno time left for {', '.join(other.name for other in games[number:])}; --game NAME tries one alone")
            break
        rivals = [name for name in list_references(attempt.registry, game) if name != label]
        tried = attempt.play(attempt.spec(game, [entry, *rivals]), max(0.0, left) / (len(games) - number), watched=label)
        attempt.say(f"\n{_standing(tried, label)}")
        places.append(f"{label} at {game.name}: {place(tried.board, label)}")
    if len(places) > 1:
        attempt.say("\n" + "\n".join(places))


def _standing(tried: Tried, name: str) -> str:
    board = tried.board
    game = board.game["name"]
    if board.kind == "versus":
        words = f"{name} at {game}: {place(board, name)}; it {against_each(tried, name)}."
    else:
        row = row_of(board, name)
        solved = f"it solves {percent(row['solved'])} of {row['attempts']}"
        words = f"{name} at {game}: {place(board, name)}; {solved}, with {row['nodes_per_attempt'] or 0:,.0f} nodes each."
    faults = [failure for failure in board.failures if failure.agent == name]
    return " ".join([words, *[f"It lost {fault.count} by {fault.kind}: {fault.message}." for fault in faults]])


TRIES: dict[str, Callable[[TrialBoard, Key, Any], None]] = {"game": try_game, "heuristic": try_heuristic, "agent": try_agent}
"""The kinds of things that can be tried, in the order in which they are: heuristics belong to games, agents use both."""
