"""Files of positions with their good actions, as `arena review` writes them, and the decisions of agents at these positions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, NamedTuple

import click

from arena import Agent, ArenaError, Game, Puzzle, Registry
from arena.api.games import Abilities, move_limit, read_whole
from arena.api.match import Match, play_match
from arena.api.results import figures
from arena.api.spec import Document, load_spec

MAX_FILE_BYTES = 64 << 20
"""The largest file of positions, in bytes."""
EXPECTED = "expected `game`, and `positions`: a list of mappings with `position` and a list `good`, as arena review writes them"


positions_option = click.option(
    "--positions", metavar="FILE", help="Also test the agents on the positions in a file made by `arena review STORE -o FILE`."
)
"""The option `--positions` of `arena check` and `arena try`."""


class Exercise(NamedTuple):
    """A position, and the actions that solve it."""

    position: str
    good: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PositionsFile:
    """The contents of a file of positions."""

    name: str
    game: Any
    """The game as in a spec: its name, or a mapping with parameters."""
    entry: Mapping[str, Any]
    """The entry that lost in these positions, as in a spec; empty if the file names none."""
    limits: Mapping[str, Any]
    exercises: tuple[Exercise, ...]

    @property
    def game_name(self) -> str:
        """The name of the game."""
        name: str = self.game if isinstance(self.game, str) else self.game["name"]
        return name

    def make_game(self, registry: Registry) -> Game:
        """Return the game; raises ArenaError if it is unknown."""
        kind = registry.game(self.game_name)
        return kind() if isinstance(self.game, str) else kind(**{key: one for key, one in self.game.items() if key != "name"})


def read_texts(name: str, text: str, folder: Path) -> list[tuple[int, str]]:
    """Return the positions in a YAML file that a spec names, each with its line number. Raises ValueError if the file has no list
    of positions.
    """
    document = Document.parse(name, text, folder)
    listed = document.values.get("positions")
    if not isinstance(listed, list) or not all(isinstance(one, dict) and isinstance(one.get("position"), str) for one in listed):
        raise ValueError("expected `positions`, a list of mappings, each with a `position`")
    return [(document.place(("positions", number))[0], one["position"]) for number, one in enumerate(listed)]


class Asked(NamedTuple):
    """The action of an agent in an exercise."""

    exercise: Exercise
    action: str | None
    """None if the agent has not chosen an action."""
    reason: str
    """Why the action is missing."""

    @property
    def solved(self) -> bool:
        """Return True if the action is a good one."""
        return self.action in self.exercise.good


def read_positions(place: str) -> PositionsFile:
    """Read a file of positions; raises ArenaError if the file is not valid."""
    try:
        text = read_whole(Path(place), MAX_FILE_BYTES).decode()
        values = Document.parse(place, text, Path(place).resolve().parent).values
    except UnicodeDecodeError as error:
        raise ArenaError(f"{place} cannot be read: it is not UTF-8; {EXPECTED}") from error
    except ValueError as error:
        raise ArenaError(f"{error}; {EXPECTED}") from error
    game, listed = values.get("game"), values.get("positions")
    named = isinstance(game, str) or (isinstance(game, dict) and isinstance(game.get("name"), str))
    entry, limits = values.get("entry") or {}, values.get("limits") or {}
    if not (named and isinstance(listed, list) and listed and isinstance(entry, dict) and isinstance(limits, dict)):
        raise ArenaError(f"{place}: {EXPECTED}")
    exercises = []
    for number, one in enumerate(listed, 1):
        good = one.get("good") if isinstance(one, dict) else None
        if not (isinstance(good, list) and good and isinstance(one.get("position"), str)):
            raise ArenaError(f"{place}: position {number}: {EXPECTED}")
        exercises.append(Exercise(one["position"], tuple(map(str, good))))
    return PositionsFile(place, game, entry, limits, tuple(exercises))


def ask_positions(
    file: PositionsFile, entry: str | Mapping[str, Any], registry: Registry, plugins: Sequence[str], seed: int = 0
) -> Iterator[Asked]:
    """Yield the action that an entry chooses at each position; raises ArenaError if the entry cannot play the game.

    Each position is given to a new agent, within the limits of the file. The action of a solver is the first one of its solution.
    """
    given = {"agent": entry} if isinstance(entry, str) else dict(entry)
    entries = [{**given, "label": f"seat {seat + 1}"} for seat in range(file.make_game(registry).players)]
    keys = {"game": file.game, "positions": [one.position for one in file.exercises], "agents": entries, "seed": seed}
    board = load_spec(keys | ({"limits": dict(file.limits)} if file.limits else {}), plugins=plugins).boards[0]
    moves = move_limit(board.game) if isinstance(board.game, Puzzle) and board.seats[0].solver else 1
    seats = tuple([replace(seat, limits=replace(seat.limits, moves=moves)) for seat in board.seats])
    for number, exercise in enumerate(file.exercises):
        position = board.positions[number]
        record = play_match(Match.of(board.game, position, seats, seed))
        action = record.actions[0] if record.actions else None
        yield Asked(exercise, action, "" if action else record.message or record.termination)


def agents_of(found: Iterable[tuple[tuple[str, ...], Any]]) -> dict[str, type[Agent]]:
    """Return the agents among the contents of a plugin, by name."""
    return {key[1]: value for key, value in found if key[0] == "agent"}


def entry_of_agent(file: PositionsFile, name: str) -> str | dict[str, Any]:
    """Return the entry that the file names, with its options, if it uses this agent; otherwise return the agent without
    options.
    """
    return dict(file.entry) if file.entry.get("agent") == name else name


def report_positions(
    file: PositionsFile, agents: Mapping[str, type[Agent]], registry: Registry, plugins: Sequence[str], out: IO[str]
) -> bool:
    """Print a line for each position with the action of an agent. Return True if all positions are solved.

    Raises ArenaError if none of the agents can play the game.
    """
    game = file.make_game(registry)
    fitting = {name: agent for name, agent in agents.items() if Abilities(agent).find_refusal(game) is None}
    if not fitting:
        raise ArenaError(f"{file.name}: no agent here can play {file.game_name}")
    whole = True
    for name in fitting:
        found = list(ask_positions(file, entry_of_agent(file, name), registry, plugins))
        solved = sum(one.solved for one in found)
        whole = whole and solved == len(found)
        print(f"{name} solves {solved} of {figures.amount(len(found), 'position')} of {file.name}", file=out)
        for one in found:
            good = ", ".join(one.exercise.good)
            said = f"plays {one.action}" if one.action is not None else f"does not choose an action ({one.reason})"
            better = "" if one.solved else f"; good: {good}"
            print(f"  {'ok' if one.solved else 'FAILED':<6}  {one.exercise.position}: {said}{better}", file=out)
    return whole
