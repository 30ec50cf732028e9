"""Reads the games of a spec: it looks up names, expands sweeps, checks parameters, and creates the games."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from arena.configured import make_default
from arena.errors import escape_line
from arena.game import Game, Puzzle
from arena.heuristics import Evaluation
from arena.identity import canonical
from arena.match.adjudication import Adjudication
from arena.returns import Returns
from arena.spec.document import Path
from arena.spec.labels import format_setting
from arena.spec.parameters import Parameters, locate_options, make_plain
from arena.spec.reader import SpecReader, drop_keys, format_path
from arena.spec.sweep import list_variants


@dataclass(slots=True)
class Rules:
    """One game with its parameters."""

    name: str
    parameters: Mapping[str, Any]
    game: Game
    files: Mapping[str, str]
    """The parameters that name files, with the absolute paths."""
    bound: dict[str, Evaluation] = field(default_factory=dict)
    """Heuristics prepared for this game, so that entries share their tables."""

    @property
    def puzzle(self) -> bool:
        """Whether the game is a puzzle."""
        return isinstance(self.game, Puzzle)

    @property
    def alone(self) -> bool:
        """Whether each agent plays alone: in a puzzle, or for a score in a game with one seat."""
        return self.puzzle or self.game.players == 1


def list_games(reading: SpecReader) -> list[tuple[Path, dict[str, Any]]]:
    """Return the games of a spec as mappings with a name, each with its place. Faults are noted."""
    if reading.several:
        given: list[tuple[Path, Any]] = [(("games", number), value) for number, value in enumerate(reading.values["games"])]
    else:
        given = [(("game",), reading.values.get("game"))]
    found = []
    for path, value in given:
        if isinstance(value, str):
            found.append((path, {"name": value}))
        elif isinstance(value, dict) and isinstance(value.get("name"), str):
            found.append((path, value))
        elif isinstance(value, dict):
            reading.faults.add(path, "expected a name, as in {name: tic-tac-toe}")
    return found


def read_games(reading: SpecReader) -> list[Rules]:
    """Return all games of a spec with their parameters, in the order of the file. Faults are noted."""
    given = list_games(reading)
    reading.games = tuple(dict.fromkeys(value["name"] for _, value in given if value["name"] in reading.registry.games))
    found: list[Rules] = []
    first: dict[str, Path] = {}
    for path, value in given:
        if value["name"].isdecimal() and value["name"] not in reading.registry.games:
            reading.unknown(path, f"expected the name of a game, got {value['name']}")
            continue
        for rules in _read_rules(reading, path, value):
            other = first.setdefault(canonical([rules.name, rules.parameters]), path)
            if len(first) > len(found):
                found.append(rules)
            else:
                message = f"the same board as {format_path(other)}: {rules.name} with the same parameters; leave one of them out"
                reading.faults.add(path, message)
    return found


def _read_rules(reading: SpecReader, path: Path, value: dict[str, Any]) -> Iterator[Rules]:
    name_path = (*path, "name") if reading.is_mapping(path) else path
    kind = reading.known(reading.registry.game, value["name"], name_path)
    if kind is None:
        return
    for variant in list_variants(value, reading.below(path)):
        parameters = Parameters(kind).validate(drop_keys(variant.values, "name"), (), reading.below(path, variant))
        if parameters is not None:
            files = Parameters(kind).find_files(parameters, reading.document.folder)
            game = reading.made(kind, locate_options(parameters, files, FilePath.cwd()), path)
            if game is not None and reading.made(Returns, {"game": game}, path) is not None:
                yield Rules(value["name"], make_plain(parameters), game, files)
        else:
            stand_in = make_default(kind)
            if stand_in is not None and not {"players", "zero_sum", "perfect_recall"} & set(getattr(stand_in, "__dict__", ())):
                # The parameters do not decide the traits of the game, so a refusal by traits does not depend on them.
                reading.stand_ins.append(Rules(value["name"], {}, stand_in, {}))


def read_adjudication(reading: SpecReader, rules: Rules) -> Adjudication | None:
    """Return the adjudication for a board. If the game does not allow it, add a fault; with several games, only a note."""
    given = reading.values.get("adjudicate")
    if given is None:
        return None
    found = Adjudication.of(given)
    if found == Adjudication():
        reading.faults.add(("adjudicate",), "expected draw or resign, as in {resign: {moves: 4, value: 0.95}}")
        return None
    if not rules.puzzle and rules.game.players == 2 and rules.game.zero_sum and Returns(rules.game).range == (-1, 1):
        return found
    what = "a puzzle" if rules.puzzle else "not a two-player zero-sum game with returns from -1 to 1"
    message = f"{rules.name} is {what}, so its matches cannot be adjudicated"
    if reading.several:
        reading.note(f"adjudicate: {message}")
    else:
        reading.faults.add(("adjudicate",), f"{message}; leave adjudicate out", key=True)
    return None


def make_titles(rules: list[Rules]) -> list[str]:
    """Return the title of each board in tables: the game, and the parameters that differ between boards of the same game."""
    made = []
    for one in rules:
        rivals = [other for other in rules if other.name == one.name]
        parts = [
            f"{name}={format_setting(value)}"
            for name, value in one.parameters.items()
            if any(other.parameters.get(name) != value for other in rivals)
        ]
        made.append(escape_line(f"{one.name} ({', '.join(parts)})") if parts else one.name)
    return made
