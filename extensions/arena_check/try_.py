"""The command `try`: checks the contents of a plugin file and lets them play, all within a few seconds."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from textwrap import indent, wrap
from typing import Any

import click

from arena import Agent, ArenaError, Game, Limits, PluginError, Record, play
from arena.api.cli import Number, load, plugin_option, results_alone, say
from arena.api.errors import Interrupted, describe
from arena.api.games import NO_HEURISTIC, Abilities, Traits, make_default
from arena.api.match import Step
from arena.api.results import Leaderboard, figures
from arena.api.spec import PluginPlace, source_line
from arena.clock import monotonic
from arena_catalog.catalogue import default_games, describe_obstacle, engine_lines
from arena_check.check import choose_parts, contents_of, find_games, report_broken
from arena_check.check_process import CheckProgress, SharedNote, supervise
from arena_check.check_run import CheckOptions, CheckRun
from arena_check.patience import CALL_SECONDS, CallTooLong, Patience
from arena_check.positions import PositionsFile, agents_of, positions_option, read_positions, report_positions
from arena_check.printed_lines import few_printed_lines
from arena_check.report_lines import format_option
from arena_check.second_process import SecondProcess
from arena_check.threads import collect_deaths
from arena_check.trial_board import NO_ROUND, TrialBoard, against_each, has_played, move_limit_of, percent, place, row_of
from arena_isolation.command import called, need_startable
from arena_setup.options import seed_option
from arena_setup.words import command_of

CHECK_MATCHES = 5
"""Number of matches in the first check."""
TRY_SECONDS = 6.0
"""The default number of seconds for everything in a file, not counting the checks."""
MAX_MATCH_LINES = 60
"""The maximum number of lines of a match that is shown in full. If a match is longer, its first and last states are shown."""
SHORT = "--details shows the leaderboards, and --seconds S plays more games"
"""What to do if the leaderboards are left out."""
Entry = str | Mapping[str, Any]
"""An entry of a spec: the name of an agent, or a mapping with an agent, its options and a label."""


@click.command("try")
@click.argument("file", metavar="FILE|PROGRAM")
@click.option(
    "--game",
    "games",
    multiple=True,
    metavar="NAME",
    help="Check and try agents on this game only, instead of all that they can play; may be repeated.",
)
@click.option(
    "--seconds",
    type=Number(0, 10**6, min_open=True),
    default=TRY_SECONDS,
    show_default=True,
    metavar="S",
    help="Total seconds of play for everything in the file.",
)
@click.option("--details", is_flag=True, help="For an agent or a heuristic, print the leaderboards, too.")
@seed_option("Seed of all random numbers.")
@format_option
@positions_option
@plugin_option
def try_(
    file: str,
    games: tuple[str, ...],
    seconds: float,
    seed: int,
    positions: str | None,
    plugins: tuple[str, ...],
    style: str,
    *,
    details: bool,
) -> int:
    """Check a plugin file, let its parts play for a few seconds, and print their standing.

    PROGRAM is an agent in another language: an executable file, or a command with its arguments in quotes.
    """
    as_json = style == "json"
    if as_json and positions is not None:
        raise click.UsageError("--format json cannot be used with --positions")
    exercises = None if positions is None else read_positions(positions)
    note = SharedNote.inherited()
    if note is None:
        named = [("--game", game) for game in games]
        named += [("--format", style)] if as_json else []
        named += [("--seconds", str(seconds)), ("--seed", str(seed))]
        named += [] if positions is None else [("--positions", positions)]
        named += [("--plugin", plugin) for plugin in plugins]
        words = [word for pair in named for word in pair] + ["--details"] * details
        return supervise(["try", file, *words], resume=False, as_json=as_json)
    progress = CheckProgress(note, sys.stderr)
    with progress.watching(), results_alone() as out, few_printed_lines(), collect_deaths(last=True):
        program = command_of(file)
        if program is None and not PluginPlace(file).is_file:
            raise PluginError(
                file, "expected a Python file or a program; for the name of an agent, use `arena show` or `arena check`"
            )
        loaded = plugins if program is not None else (*plugins, file)
        until = monotonic() + seconds
        broken: list[PluginError] = []
        registry = load(loaded, broken if program is None else None)
        board = TrialBoard(registry, file, loaded, seed, out, until, progress, games, details=details, as_json=as_json)
        if program is not None:
            try_program(board, program)
            return 0
        return _try_contents(board, seconds, exercises, broken)


def _try_contents(board: TrialBoard, seconds: float, exercises: PositionsFile | None, broken: Sequence[PluginError]) -> int:
    """Check everything in a plugin file, and try it if nothing is `broken` and the checks pass. Return the exit code."""
    registry, file, progress = board.registry, board.file, board.progress
    kinds = list(TRIES)
    found = sorted(
        choose_parts(contents_of(registry, file, broken), board.only, file),
        key=lambda item: (kinds.index(item[0][0]) if item[0][0] in TRIES else len(kinds), item[0]),
    )
    asked = find_games(registry, board.only, found, file)
    with SecondProcess(registry, board.plugins) as second:
        how, alone, before = CheckOptions(board.seed, CHECK_MATCHES), len(found) == 1, board.plugins[:-1]
        agents = sum(key[0] == "agent" for key, _ in found)
        share = max(seconds, TRY_SECONDS) / max(1, agents)
        out, as_json = board.out, board.as_json
        check = CheckRun(
            registry, file, how, before, out, progress, second, asked, brief=True, alone=alone, seconds=share, as_json=as_json
        )
        failed = [key for key, value in found if not check.passes(key, value)]  # a list, so that every object is checked
        report_broken(broken)
        if broken or failed:
            told = f"these failed: {figures.listing([' '.join(key) for key in failed])}" if failed else "a part cannot be loaded"
            board.say(f"\nnothing was played, because {told}")
            return PluginError.EXIT_CODE if broken else 1
    if exercises is not None:
        report_positions(exercises, agents_of(found), registry, board.plugins, board.out)
    tried = [(key, value) for key, value in found if key[0] in TRIES]
    tried.sort(key=lambda item: item[0][0] != "agent" or not board.plays_own_game(item[1]))
    try:
        with Patience(CALL_SECONDS):
            # Each object gets an equal share of the time. Budgets count nodes, so only the number of matches depends on the
            # clock.
            for key, value in tried:
                progress.begin(key, source_line(value), None)
                TRIES[key[0]](replace(board, until=monotonic() + seconds / len(tried)), key, value)
    except Interrupted as interrupt:
        say(f"while trying {' '.join(key)}{describe(interrupt).removeprefix(type(interrupt).__name__)}")
        raise
    except CallTooLong as late:
        raise ArenaError(f"{late} ({late.place})") from late
    if any(key[0] == "agent" for key, _ in tried):
        named = "".join([f" --game {quote(game)}" for game in board.only])
        board.say(f"\nnext: check it after each save: arena check {quote(board.file)} --watch{named}{board.plugin_options}")
        board.say(f"      play your own tournament: arena run SPEC --plugin {quote(board.file)}{board.plugin_options}")
    return 0


def try_game(attempt: TrialBoard, key: tuple[str, ...], kind: type[Game]) -> None:
    """Print which built-in agents can play a game, a leaderboard with some of them, and a match."""
    game = kind()
    attempt.say(f"\n{key[1]} is {Traits.of(game)}")
    for line in engine_lines(game):
        attempt.say(line)
    agents = {name: agent for name, agent in attempt.registry.agents.items() if attempt.registry.sources["agent", name].own}
    reasons = {name: describe_obstacle(agent, game) for name, agent in agents.items()}
    fitting = [name for name, reason in reasons.items() if reason is None]
    furnished = [name for name in fitting if make_default(agents[name], lambda _: None) is None or agents[name].waits]
    ready = [name for name in fitting if name not in furnished]
    attempt.say(_wrap(f"can play it: {', '.join(ready) or 'no agent'}", attempt.width))
    if furnished:
        attempt.say(_wrap(f"can play it if you supply a file, program or server: {', '.join(furnished)}", attempt.width))
    obstacles: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        if reason is not None:
            obstacles.setdefault(reason, []).append(name)
    for obstacle, names in obstacles.items():
        attempt.say(_wrap(f"cannot play it ({obstacle}): {', '.join(names)}", attempt.width))
    entries = _fill_up(attempt, game, attempt.registry.list_references(game))
    if not entries:
        attempt.say(f"\n{game.name}: not played, because no built-in agent can play it")
        return
    board = attempt.play(attempt.spec(game, entries), attempt.until - monotonic()).board
    named = {label_of(entry): entry if isinstance(entry, str) else entry["agent"] for entry in entries}
    seated = [named[row["agent"]] for row in board.rows][: game.players]
    limits = Limits(nodes=attempt.nodes(game), moves=move_limit_of(game), patient=True)
    record = play(game, seated, seed=attempt.seed, limits=limits)
    attempt.say(f"\na match of {figures.listing(seated)}:\n")
    attempt.say("\n\n".join(_draw_states(game, record, attempt.width)))
    ending = record.termination if record.termination != "normal" else "solved" if record.solved else "over"
    returns = ", ".join(map(figures.score, record.returns))
    attempt.say(f"\n{ending} after {figures.amount(len(record.actions), 'action')}, returns {returns}")


def _fill_up(attempt: TrialBoard, game: Game, entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries and, if there are fewer entries than seats, further ones: first arena's other agents that can play, then
    agents that are there already, under labels such as `random 2`. Without any agent, there is no entry.

    The agent that is tried plays against copies of itself only if no other agent can play.
    """
    filled, agents = list(entries), attempt.registry.agents
    names = [*attempt.registry.list_references(game), *agents]
    for name in dict.fromkeys(names):
        if len(filled) >= game.players:
            return filled
        own, taken = attempt.registry.sources["agent", name].own, name in map(label_of, filled)
        if own and not taken and _can_fill(agents[name], game):
            filled.append(name)
    copied = [entry for entry in filled if entry not in entries[:1]] or list(filled)
    for number in range(game.players - len(filled) if copied else 0):
        entry, copy = copied[number % len(copied)], 2 + number // len(copied)
        plain = {"agent": entry} if isinstance(entry, str) else entry
        filled.append({**plain, "label": f"{label_of(entry)} {copy}"})
    return filled


def _can_fill(agent: type[Agent], game: Game) -> bool:
    """Return whether an agent can play a game with its default options and nothing else."""
    ready = describe_obstacle(agent, game) is None and not agent.waits and make_default(agent, lambda _: None) is not None
    return ready and (not agent.wants_heuristic or game.default_heuristic is not None)


def label_of(entry: Entry) -> str:
    """Return the label of an entry of a spec."""
    return entry if isinstance(entry, str) else str(entry.get("label", entry["agent"]))


def _wrap(text: str, width: int) -> str:
    return "\n".join(wrap(text, width, subsequent_indent="  ", break_on_hyphens=False))


def _draw_states(game: Game, record: Record, width: int) -> list[str]:
    """Return the states of a match, each below the action that led to it. If there are too many lines, the middle is left out."""
    frames = []
    for step in Step.follow(game, record):
        who = "" if game.players == 1 or step.seat is None else f"{record.labels[step.seat]}: "
        heading = "the answer\n" if step.number < 0 else "" if step.action is None else f"{who}{step.action}\n"
        frames.append(heading + indent(game.render(step.state), "  "))
    lines = sum(frame.count("\n") + 2 for frame in frames)
    if lines <= MAX_MATCH_LINES or len(frames) <= 6:
        return frames
    actions = ", ".join(record.actions[2:-3])
    return [*frames[:3], "\n".join(wrap(f"... {actions} ...", width)), *frames[-3:]]


def try_heuristic(attempt: TrialBoard, key: tuple[str, ...], heuristic: Callable[..., Any]) -> None:
    """Let every reference agent that uses heuristics play, and print a sentence about its leaderboard. There, the agent
    plays with this heuristic, with the default heuristic, and without a heuristic (`none`, as in a spec).
    """
    game = attempt.registry.game(key[1])()
    for line in engine_lines(game, heuristic):
        attempt.say(f"\n{key[2]}: {line}")
    default = game.default_heuristic
    rivals = [default] if default not in (None, key[2]) and (key[1], default) in attempt.registry.heuristics else []
    agents = [name for name in attempt.registry.list_references(game) if attempt.registry.agents[name].wants_heuristic]
    if not agents:
        attempt.say(f"\n{key[2]}: not played, because no built-in agent that uses heuristics can play {game.name}")
    for number, agent in enumerate(agents):
        seconds = max(0.0, attempt.until - monotonic()) / (len(agents) - number)
        names = [key[2], *rivals, NO_HEURISTIC]
        entries = [{"agent": agent, "heuristic": name, "label": f"{agent} with {name}"} for name in names]
        watched = entries[0]["label"]
        tried = attempt.play(attempt.spec(game, _fill_up(attempt, game, entries)), seconds, watched=watched)
        gap = "\n" if attempt.details or not number else ""
        attempt.say(f"{gap}{_describe_effect(tried.board, agent, names, many_seats=game.players > 2)}")
        for remark in tried.remarks:
            attempt.say(remark)
    if agents and not attempt.details:
        attempt.say(SHORT)


def _describe_effect(board: Leaderboard, agent: str, names: list[str], *, many_seats: bool = False) -> str:
    labels = [f"{agent} with {name}" for name in names]
    idle = [name for label, name in zip(labels, names, strict=True) if not has_played(row_of(board, label))]
    if board.kind == "versus" and board.cross is not None:
        order = [row["agent"] for row in board.rows]
        scores = dict(zip(order, board.cross[order.index(labels[0])], strict=True))
        idle = [name for label, name in zip(labels[1:], names[1:], strict=True) if scores[label] is None]
    if idle:
        return f"There was not enough time to compare {agent} with {names[0]} to {agent} with {figures.listing(idle, 'or')}."
    own = row_of(board, labels[0])
    if board.kind == "versus" and board.cross is not None:
        word = "finishes ahead of the agent with" if many_seats else "scores"
        results = [
            f"{name} in {percent(scores[label])}" if many_seats else f"{percent(scores[label])} against {name}"
            for label, name in zip(labels[1:], names[1:], strict=True)
        ]
        return f"{labels[0]} {word} {', '.join(results)}, in {figures.amount(own['games'], 'game')} against all agents."
    if board.kind != "puzzle":
        means = [
            f"{figures.figure(row_of(board, label)['mean_return'])} with {name}"
            for label, name in zip(labels, names, strict=True)
        ]
        return f"In {figures.amount(own['attempts'], 'attempt')}, {agent} has a mean return of {', '.join(means)}."
    shares = []
    for label, name in zip(labels, names, strict=True):
        row = row_of(board, label)
        shares.append(f"{percent(row['solved'])} with {name}")
        shares[-1] += "" if row["nodes_per_attempt"] is None else f" ({row['nodes_per_attempt']:,.0f} nodes each)"
    return f"Of {figures.amount(own['attempts'], 'position')}, {agent} solves {', '.join(shares)}."


def try_agent(attempt: TrialBoard, key: tuple[str, ...], agent: type[Agent]) -> None:
    """Print a leaderboard and the place of the agent for every requested game or, without requested games, for a few games that
    it can play. Games for which the time does not suffice are named at the end.
    """
    asked = default_games(attempt.registry, attempt.only)
    for reason in filter(None, map(Abilities(agent).find_refusal, asked)):
        attempt.say(f"\n{key[1]}: not played: {reason}")
    games = [game for game in asked if Abilities(agent).find_refusal(game) is None] if asked else attempt.games(agent)
    if not games:
        return
    _play_boards(attempt, key[1], key[1], games)
    others = [name for name in attempt.registry.games_for(agent) if name not in {game.name for game in games}]
    if others and not asked:
        named = ", ".join(others) if attempt.details else f"such as {others[0]}"
        attempt.say(f"\n--game NAME plays another game{':' if attempt.details else ','} {named}")
    if not attempt.details:
        attempt.say(SHORT)


def try_program(attempt: TrialBoard, command: Sequence[str]) -> None:
    """Print a leaderboard and the place of the program for every requested game.

    Raises ArenaError if no game was requested or the program cannot be started.
    """
    in_spec = f"{{agent: {{command: [{', '.join(command)}]}}}}"
    manual = f"in a spec, write {in_spec}; `arena docs other-languages` describes the protocol and has complete programs"
    example = f"arena try {quote(f'node {attempt.file}')} --game tic-tac-toe"
    need_startable(attempt.file, command, f"{example}; {manual}")
    if not attempt.only:
        example = f"arena try {quote(attempt.file)} --game tic-tac-toe"
        raise ArenaError(f"{attempt.file} is a program; name the game that it plays, as in {example}; {manual}")
    label = called(command)
    entry: dict[str, Any] = {"agent": {"command": list(command)}, "label": label, "limits": {"seconds": CALL_SECONDS}}
    _play_boards(attempt, label, entry, default_games(attempt.registry, attempt.only))
    attempt.say(f"\nnext: play your own tournament: arena run SPEC{attempt.plugin_options}; {manual}")


def _play_boards(attempt: TrialBoard, label: str, entry: Entry, games: Sequence[Game]) -> None:
    """Print, for one game after the other until the time is up, a leaderboard with an entry and its rivals, and the place of the
    entry.

    After several boards, all places are printed once more, with a line for each board.
    """
    places: list[str] = []
    for number, game in enumerate(games):
        left = attempt.until - monotonic()
        if left <= 0 and number:
            attempt.say(
                f"\nnot played, because the time ran out: {', '.join(other.name for other in games[number:])}; "
                "--game NAME plays only that one, and --seconds S gives more time"
            )
            break
        rivals = [name for name in attempt.registry.list_references(game) if name != label]
        entries = _fill_up(attempt, game, [entry, *rivals])
        tried = attempt.play(attempt.spec(game, entries), max(0.0, left) / (len(games) - number), watched=label)
        failed = row_of(tried.board, label)["failures"]
        placed = f"{label} at {game.name}: {place(tried.board, label) if tried.rounds or failed else NO_ROUND}"
        row = row_of(tried.board, label)
        if not has_played(row):
            words = f"{placed}."
        elif tried.board.kind == "versus":
            words = f"{placed}; it {against_each(tried, label)}."
        elif tried.board.kind == "score":
            mean = figures.figure(row["mean_return"])
            words = f"{placed}; its mean return is {mean} in {figures.amount(row['attempts'], 'attempt')}."
        else:
            solved = f"it solves {percent(row['solved'])} of {row['attempts']}"
            nodes = "" if row["nodes_per_attempt"] is None else f", with {row['nodes_per_attempt']:,.0f} nodes each"
            words = f"{placed}; {solved}{nodes}."
        faults = [
            f"It lost {fault.count} of them by {fault.kind}: {fault.message}."
            for fault in tried.board.failures
            if fault.agent == label
        ]
        gap = "\n" if attempt.details or not places else ""
        attempt.say(f"{gap}{' '.join([words, *faults])}")
        for remark in tried.remarks:
            attempt.say(remark)
        plain = {key: value for key, value in row.items() if value is None or isinstance(value, (bool, int, float, str))}
        attempt.report(game=game.name, agent=label, entries=len(tried.board.rows), faults=faults, row=plain)
        places.append(placed)
    if len(places) > 1 and attempt.details:
        attempt.say("\n" + "\n".join(places))


TRIES: dict[str, Callable[[TrialBoard, tuple[str, ...], Any], None]] = {
    "game": try_game,
    "heuristic": try_heuristic,
    "agent": try_agent,
}
"""The kinds of objects to try, in this order: heuristics belong to games, and agents use both. An agent that can play a game of
its file comes first, because this is what its author wants to see.
"""
