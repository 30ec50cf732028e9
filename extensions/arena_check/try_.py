"""The command `try`: checks the contents of a plugin file and plays them, for a few seconds in all."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from textwrap import indent, wrap
from time import monotonic
from typing import Any

import click

from arena import Agent, ArenaError, Game, PluginError, Record, play
from arena.api.cli import load, plugin_option, results_alone, say, seed_option
from arena.api.errors import Interrupted, describe
from arena.api.games import find_refusal, find_traits, join_traits, make_default
from arena.api.match import seat_identity, steps
from arena.api.results import Leaderboard, figures
from arena.api.spec import Key, is_file, source_line
from arena_catalog.catalogue import default_games, describe_obstacle, engine_lines
from arena_check.check import contents_of, find_games
from arena_check.check_process import CheckProgress, SharedNote, supervise
from arena_check.check_run import CheckOptions, CheckRun
from arena_check.patience import CALL_SECONDS, CallTooLong, Patience
from arena_check.second_process import SecondProcess
from arena_check.threads import collect_deaths
from arena_check.trial_board import MAX_MOVES, TrialBoard, against_each, percent, place, row_of
from arena_isolation.command import called, need_startable
from arena_setup.words import command_of

CHECK_MATCHES = 5
"""Number of matches in the first check."""
TRY_SECONDS = 6.0
"""Time for everything in a file, not counting the checks."""
MAX_MATCH_LINES = 60
"""A match of at most this many lines is shown in full; for a longer one, the first and the last states."""
NONE = "none"
"""Represents the absence of a heuristic in labels."""


@click.command("try")
@click.argument("file", metavar="FILE|PROGRAM")
@click.option(
    "--game",
    "games",
    multiple=True,
    metavar="NAME",
    help="What agents are checked on and play, instead of all they can; may be repeated.",
)
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
        board = TrialBoard(registry, file, (*plugins, file), seed, out, monotonic(), progress, games)
        try:
            with Patience(CALL_SECONDS):
                # Each gets an equal share of the time. Budgets count nodes: only the number of matches depends on the clock.
                for key, value in tried:
                    progress.begin(key, source_line(value), None)
                    TRIES[key[0]](replace(board, until=monotonic() + TRY_SECONDS / len(tried)), key, value)
        except Interrupted as interrupt:
            say(f"while trying {' '.join(key)}: {describe(interrupt)}")
            raise
        except CallTooLong as late:
            raise ArenaError(f"{late} ({late.place})") from late
    return 0


def try_game(attempt: TrialBoard, key: Key, kind: type[Game]) -> None:
    """Print the built-in agents that can play a game, a leaderboard of some of them, and a match."""
    game = kind()
    attempt.say(f"\n{key[1]} is {join_traits(find_traits(game))}")
    for line in engine_lines(game):
        attempt.say(line)
    agents = {name: agent for name, agent in attempt.registry.agents.items() if attempt.registry.sources["agent", name].own}
    reasons = {name: describe_obstacle(agent, game) for name, agent in agents.items()}
    fitting = [name for name, reason in reasons.items() if reason is None]
    furnished = [name for name in fitting if make_default(agents[name], lambda _: None) is None or agents[name].waits]
    ready = [name for name in fitting if name not in furnished]
    attempt.say(_wrap(f"can play it: {', '.join(ready) or 'nobody'}", attempt.width))
    if furnished:
        attempt.say(_wrap(f"can, with a file, a program or a server: {', '.join(furnished)}", attempt.width))
    obstacles: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        if reason is not None:
            obstacles.setdefault(reason, []).append(name)
    for obstacle, names in obstacles.items():
        attempt.say(_wrap(f"cannot ({obstacle}): {', '.join(names)}", attempt.width))
    rivals = attempt.registry.list_references(game)
    if len(rivals) < game.players:
        return
    board = attempt.play(attempt.spec(game, rivals), attempt.until - monotonic()).board
    seated = ([row["agent"] for row in board.rows] * game.players)[: game.players]
    record = play(game, seated, seed=attempt.seed, limits={"nodes": attempt.nodes(game), "moves": MAX_MOVES})
    attempt.say(f"\na match of {' and '.join(seated)}:\n")
    attempt.say("\n\n".join(_draw_states(game, record, attempt.width)))
    ending = record.termination if record.termination != "normal" else "solved" if record.solved else "over"
    returns = ", ".join(map(figures.score, record.returns))
    attempt.say(f"\n{ending} after {len(record.actions)} actions, returns {returns}")


def _wrap(text: str, width: int) -> str:
    return "\n".join(wrap(text, width, subsequent_indent="  ", break_on_hyphens=False))


def _draw_states(game: Game, record: Record, width: int) -> list[str]:
    """Return the states of a match, each under its preceding action. If there are too many lines, the middle is left out."""
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
    """Print for every agent a leaderboard with this heuristic, the default one and none, and a sentence on it."""
    game = attempt.registry.game(key[1])()
    for line in engine_lines(game, heuristic):
        attempt.say(f"\n{key[2]}: {line}")
    default = game.default_heuristic
    rivals = [default] if default not in (None, key[2]) and (key[1], default) in attempt.registry.heuristics else []
    agents = [name for name in attempt.registry.list_references(game) if attempt.registry.agents[name].wants_heuristic]
    for number, agent in enumerate(agents):
        seconds = max(0.0, attempt.until - monotonic()) / (len(agents) - number)
        names = [key[2], *rivals, NONE]
        entries = [{"agent": agent, "heuristic": name, "label": f"{agent} with {name}"} for name in names[:-1]]
        entries.append({"agent": agent, "heuristic": key[2], "label": f"{agent} with {NONE}"})
        spec = attempt.spec(game, entries)
        seats = list(spec.boards[0].seats)
        bare = seats[-1]  # without a heuristic: a spec's file always sets one if the game has any
        identity = seat_identity(bare.agent, {}, None, bare.limits, bare.label)
        seats[-1] = replace(bare, evaluation=None, heuristic=None, identity=identity)
        spec = replace(spec, boards=(replace(spec.boards[0], seats=tuple(seats)),))
        board = attempt.play(spec, seconds).board
        attempt.say(f"\n{_describe_effect(board, agent, names)}")


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
    """Print a leaderboard and the agent's place for every game that it can play or that was requested, until the time is up."""
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
    """Print a leaderboard and the program's place for every requested game.

    Raises ArenaError if no game was requested, or if the program cannot be started.
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
        rivals = [name for name in attempt.registry.list_references(game) if name != label]
        tried = attempt.play(attempt.spec(game, [entry, *rivals]), max(0.0, left) / (len(games) - number), watched=label)
        placed = f"{label} at {game.name}: {place(tried.board, label)}"
        if tried.board.kind == "versus":
            words = f"{placed}; it {against_each(tried, label)}."
        else:
            row = row_of(tried.board, label)
            solved = f"it solves {percent(row['solved'])} of {row['attempts']}"
            words = f"{placed}; {solved}, with {row['nodes_per_attempt'] or 0:,.0f} nodes each."
        faults = [
            f"It lost {fault.count} by {fault.kind}: {fault.message}." for fault in tried.board.failures if fault.agent == label
        ]
        attempt.say(f"\n{' '.join([words, *faults])}")
        places.append(placed)
    if len(places) > 1:
        attempt.say("\n" + "\n".join(places))


TRIES: dict[str, Callable[[TrialBoard, Key, Any], None]] = {"game": try_game, "heuristic": try_heuristic, "agent": try_agent}
"""Kinds of things to try, in this order: heuristics belong to games, and agents use both."""
