"""The command matrix: agents against games."""

from collections.abc import Container, Iterator, Sequence
from functools import partial

import click

from arena.agent import Agent
from arena.commands.options import plugin_option
from arena.compiled.edition import why_plain
from arena.compiled.engines import engine_of, fitting
from arena.configured import with_defaults
from arena.console.notices import load, say
from arena.console.output import results_alone, room
from arena.errors import ArenaError, describe
from arena.game import Game
from arena.results.layout import crossing, fits, folded
from arena.traits import listed, made_for, not_coped_with, refusal, traits

YES, COMPILED = "yes", "yes *"


@click.command()
@plugin_option
def matrix(plugins: tuple[str, ...]) -> int:
    """Show which agent can play which game, or which trait is missing."""
    with results_alone() as out:
        registry = load(plugins)
        boards = [with_defaults(kind, partial(_left_out, name)) for name, kind in sorted(registry.games.items())]
        games = [board for board in boards if board is not None]
        agents, names = sorted(registry.agents.items()), [game.name for game in games]
        engines = {game.name: fitting(game) for game in games}
        marks = [[_mark(agent, game, engines[game.name]) for game in games] for _, agent in agents]
        width = room(out)
        labelled = [[name, *line] for (name, _), line in zip(agents, marks, strict=True)]
        told = list(_compiled_notes(agents, games, marks))
        narrow = width is not None and not fits(["", *names], labelled, width)
        if narrow:
            marks = [[mark if mark in (YES, COMPILED) else "-" for mark in line] for line in marks]
        print(crossing([name for name, _ in agents], names, marks, width=width), file=out)
        if narrow:
            told.append("- : a trait is missing that the agent needs; `arena list agents` and `arena list games` tell them.")
        if told:
            print("", *[folded(note, width) for note in told], sep="\n", file=out)
    return 0


def _engine(agent: type[Agent]) -> str | None:
    made = with_defaults(agent, lambda _: None)
    return None if made is None else engine_of(made)


def _compiled_notes(
    agents: Sequence[tuple[str, type[Agent]]], games: Sequence[Game], marks: Sequence[Sequence[str]]
) -> Iterator[str]:
    """Say what the mark of compiled searches means, and what keeps other games from them."""
    if any(COMPILED in line for line in marks):
        yield f"{COMPILED} : compiled where the extra fast is installed and the heuristic compiles, too; see `arena show`."
    engines = [number for number, (_, agent) in enumerate(agents) if _engine(agent) is not None]
    for place, game in enumerate(games):
        if any(marks[number][place] == YES for number in engines) and (reason := why_plain(game)) is not None:
            yield f"{game.name} runs plain: {reason}"


def _left_out(name: str, error: Exception) -> None:
    if not isinstance(error, ArenaError):  # such as a library that is not installed, which is told where the game is used
        say(f"game {name} left out: it cannot be made without parameters: {describe(error)}")


def _mark(agent: type[Agent], game: Game, engines: Container[str | None]) -> str:
    if refusal(agent, game) is None:
        return COMPILED if _engine(agent) in engines else YES
    games = made_for(agent)
    if games and game.name not in games:
        return f"plays {' and '.join(sorted(games))} alone"
    missing = agent.needs - traits(game)
    unknown = not_coped_with(agent, game)
    return f"needs {listed(missing)}" if missing else f"no {listed(unknown)}" if unknown else "needs single-player"
