"""The subject of a tuning: agent, game and opponents. They come from a spec, a plugin file or the name of an agent."""

import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from arena import Agent, ArenaError, Game, Puzzle, Refused, Registry, Spec, SpecError, UnknownName
from arena.api.cli import load
from arena.api.errors import describe
from arena.api.games import NO_HEURISTIC, Abilities, HeuristicInfo
from arena.api.spec import Document, Parameters, PluginPlace, load_spec
from arena_duel.duel_setup import choose_plies
from arena_setup.words import values_of
from arena_tune.space import HEURISTIC, Option, Options, Space, list_options, read_space

DEFAULT = "default"
"""The label of the options that the agent has before the search."""
PUZZLE_NODES = 20_000
"""The default node limit of a solver, because many puzzles are too hard for some options. Decisions in games have no default
limit, because under a budget that the agent does not know, its moves could be random.
"""
KEPT_KEYS = ("limits", "isolation", "pondering", "openings", "adjudicate", "positions", "rank")
"""The keys of a spec that also apply to the matches of a search."""
OPTIONS = {"game": "--game", "limits": "--limits", "openings": "--openings"}
"""The options of the command that set keys of the spec."""
SPECS = (".yaml", ".yml", ".json")
MAX_LABEL = 90

Kind = Literal["versus", "alone"]


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of the command that determine what is tuned."""

    file: str
    agent: str | None
    game: str | None
    given: tuple[str, ...]
    limits: str | None
    plies: int | None
    seed: int | None
    plugins: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Terms:
    """Everything that determines the matches of a tuning, except its budget."""

    name: str
    """The name of the agent, or the label of its entry."""
    entry: Mapping[str, Any]
    """The entry that is tuned, as in a spec."""
    rivals: tuple[Any, ...]
    """The entries that the tuned entry plays against; empty if it plays against its own default."""
    keys: Mapping[str, Any]
    """The other keys of the spec."""
    plugins: tuple[str, ...]
    folder: Path
    space: Space
    default: Options
    """The values of the searched options in the entry that is tuned."""
    alone: bool
    """True if the game has one seat, so that options are compared position by position."""
    parameters: frozenset[str] = field(default_factory=frozenset)
    """The searched options that are parameters of the heuristic."""
    heuristic: str | None = None

    @property
    def game(self) -> str:
        """The name of the game."""
        game = self.keys["game"]
        return str(game if isinstance(game, str) else game["name"])

    @property
    def seed(self) -> int:
        """The seed of the spec."""
        seed: int = self.keys["seed"]
        return seed

    def entry_of(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return an entry of a spec with these options."""
        entry = {key: deepcopy(value) for key, value in self.entry.items() if key != "label"}
        entry |= {name: value for name, value in options.items() if name not in self.parameters}
        own = {name.removeprefix(HEURISTIC): value for name, value in options.items() if name in self.parameters}
        if own:
            given = entry.get("heuristic")
            entry["heuristic"] = {"name": self.heuristic, **(given if isinstance(given, dict) else {}), **own}
        return entry

    def labelled(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the entry with a label that depends only on the options, so that its stored matches are found."""
        if repr(options) == repr(self.default):
            return {**self.entry_of({}), "label": DEFAULT}
        text = ", ".join([f"{name}={value}" for name, value in options.items()])
        return {**self.entry_of(options), "label": text if len(text) <= MAX_LABEL else f"{text[:MAX_LABEL]} {_digest(text)}"}

    def digest(self, budget: Mapping[str, Any]) -> str:
        """Return a short hash of these terms and a budget."""
        named = [self.entry, self.rivals, self.keys, self.space.describe(), budget]
        return _digest(json.dumps(named, default=str, sort_keys=True))

    def load(self, name: str, entries: Sequence[Any], format_: Mapping[str, Any], more: Mapping[str, Any]) -> Spec:
        """Return the spec for some entries. If it has faults, an ArenaError describes them in the words of the command line."""
        values = {"name": name, **self.keys, **more, "format": dict(format_), "agents": list(entries)}
        try:
            return load_spec(Document(name, values, self.folder), plugins=self.plugins)
        except SpecError as error:
            lines = []
            for fault in error.faults:
                head = fault.where.partition(".")[0]
                number = head.removeprefix("agents[").removesuffix("]")
                if number.isdecimal() and isinstance(entries[int(number)], dict):
                    head = str(entries[int(number)].get("label", entries[int(number)]["agent"]))
                where = OPTIONS.get(head, head) + fault.where[len(fault.where.partition(".")[0]) :]
                lines.append(f"{where}: {fault.message}")
            raise ArenaError("\n".join(dict.fromkeys(lines))) from error


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]


def read_terms(asked: Asked) -> Terms:
    """Return the terms that the options of the command describe; raises ArenaError if they are wrong."""
    if asked.file.endswith(SPECS):
        return _read_spec(asked)
    plugins = [PluginPlace(one).absolute for one in asked.plugins]
    registry = load(asked.plugins)
    entry: dict[str, Any]
    liked: list[str] = []
    if asked.file.endswith(".py"):
        if not Path(asked.file).is_file():
            raise ArenaError(f"no such file: {asked.file}; expected the Python file of an agent, a spec or the name of an agent")
        place = PluginPlace(asked.file).absolute
        plugins = list(dict.fromkeys([*plugins, place]))
        registry = load(plugins)
        brought = [key for key, _ in registry.items() if registry.sources[key].name == place]
        agents = sorted(key[1] for key in brought if key[0] == "agent")
        heuristics = [key for key in brought if key[0] == "heuristic"]
        if asked.agent is None and len(agents) != 1:
            named = f"choose one with --agent: {', '.join(agents)}"
            hint = named if agents else "use --agent to name an agent that uses its heuristic"
            raise ArenaError(f"{asked.file} has {'several agents' if agents else 'no agent'}; {hint}")
        entry = {"agent": asked.agent or agents[0]}
        liked = [key[1] for key in brought if key[0] == "game"] + [key[1] for key in heuristics]
        game = asked.game or next(iter(liked), None)
        if entry["agent"] not in agents and heuristics:
            entry["heuristic"] = next((key[2] for key in heuristics if key[1] == game), heuristics[0][2])
    else:
        if asked.agent not in (None, asked.file):
            raise ArenaError(f"--agent: {asked.file} is already the name of an agent")
        registry.agent(asked.file)
        entry = {"agent": asked.file}
    kind = registry.agent(entry["agent"])
    return _finish(
        asked, registry, entry, (), {"seed": asked.seed or 0}, plugins, Path.cwd(), _find_game(kind, registry, asked, liked)
    )


def _find_game(agent: type[Agent], registry: Registry, asked: Asked, liked: Sequence[str]) -> str:
    if asked.game is not None:
        registry.game(asked.game)
        return asked.game
    fitting = sorted(name for name, game in registry.games_for(agent).items() if game.players <= 2)
    if not fitting:
        raise Refused(f"{asked.file} cannot play any game with its default parameters; choose a game with --game")
    return min(fitting, key=lambda name: (name not in liked, name))


def _read_spec(asked: Asked) -> Terms:
    document = Document.read(asked.file)
    listed = document.values.get("agents")
    if isinstance(listed, list) and len(listed) == 1:  # a single entry plays against its own default
        twin = {**(listed[0] if isinstance(listed[0], dict) else {"agent": listed[0]}), "label": DEFAULT}
        document = replace(document, values={**document.values, "agents": [*listed, twin]})
    seed = None if "seed" in document.values else 0  # even against programs, whose default is a secret seed
    spec = load_spec(document, plugins=[PluginPlace(one).absolute for one in asked.plugins], seed=seed)  # reports all faults
    values = {**document.values, "agents": listed}
    if len(spec.boards) != 1:
        raise ArenaError(f"{asked.file}: expected one game, got {len(spec.boards)}; agents are tuned for one game at a time")
    if not isinstance(spec.seed, int) or spec.secret:
        raise ArenaError(f"{asked.file}: seed: expected a number, because an interrupted search must continue with the same seed")
    entries = [{"agent": one} if isinstance(one, str) else dict(one) for one in values["agents"]]
    labels = [str(one.get("label", one["agent"])) for one in entries]
    if asked.agent is not None and asked.agent not in labels:
        raise UnknownName(f"entry of {asked.file}", asked.agent, labels)
    chosen = 0 if asked.agent is None else labels.index(asked.agent)
    if not isinstance(entries[chosen]["agent"], str):
        raise ArenaError(f"{asked.file}: {labels[chosen]} is a program; arena does not know the options of programs")
    if asked.game is not None:
        raise ArenaError(f"--game: {asked.file} already names the game")
    rivals = tuple([one for number, one in enumerate(entries) if number != chosen])
    keys = {key: values[key] for key in KEPT_KEYS if values.get(key) is not None}
    keys["seed"] = spec.seed if asked.seed is None else asked.seed
    game = values.get("game") or values["games"][0]
    if isinstance(keys.get("positions"), dict):  # those of each game
        del keys["positions"]
        if (texts := spec.boards[0].positions.texts) is not None:
            keys["positions"] = list(texts)
    plugins = list(spec.plugins)
    return _finish(asked, spec.registry, entries[chosen], rivals, keys, plugins, document.folder, game)


def _finish(
    asked: Asked,
    registry: Registry,
    entry: dict[str, Any],
    rivals: tuple[Any, ...],
    keys: dict[str, Any],
    plugins: Sequence[str],
    folder: Path,
    game: Any,
) -> Terms:
    name = game if isinstance(game, str) else str(game["name"])
    parameters = {} if isinstance(game, str) else {key: value for key, value in game.items() if key != "name"}
    agent, rules = registry.agent(entry["agent"]), registry.game(name)
    heuristic, own = _find_heuristic(registry, agent, rules, name, entry)
    options = list_options(agent, heuristic, entry, own)
    words = [word for word in asked.given if not word.strip().startswith("heuristic=")]
    chosen = _choose_heuristics(registry, name, [word for word in asked.given if word not in words], entry)
    space, rest = read_space(words, {**options}) if words or not chosen else (Space(()), [])
    if chosen:
        if any(one.name in options and options[one.name].parameters.constructor is heuristic for one in space.dimensions):
            raise ArenaError(
                "--set: expected either heuristics to compare (heuristic=A,B) or parameters of one heuristic, got both"
            )
        space = Space((*space.dimensions, chosen))
    parameters |= values_of(rest, what="--set")
    known = Parameters(rules).known
    for key in parameters:
        if key not in known:
            raise ArenaError(f"--set: neither {entry['agent']} nor {name} has an option {key!r}; `arena show` lists them")
    try:
        made = rules(**parameters)
    except Exception as error:  # a check by the game itself
        raise ArenaError(
            f"--set: {name} cannot be created with these parameters: {describe(error)}; `arena show {name}` lists its parameters"
        ) from error
    reason = Abilities(agent).find_refusal(made)
    if reason is not None:
        raise Refused(reason)
    if made.players > 2:
        raise Refused(f"{name} has {made.players} seats; expected a game for one or two players")
    if isinstance(made, Puzzle) or made.players == 1:
        rivals = ()
    keys["game"] = {"name": name, **parameters} if parameters else name
    _set_limits(asked, registry, keys, made, folder, solver=isinstance(made, Puzzle) and Abilities(agent).solves)
    default = {
        one.name: entry.get("heuristic", made.default_heuristic) if one.name == "heuristic" else options[one.name].default
        for one in space.dimensions
    }
    info = HeuristicInfo.of(heuristic)
    own_names = [one.name for one in space.dimensions if one.name in options]
    return Terms(
        name=str(entry.get("label", entry["agent"])),
        entry=entry,
        rivals=rivals,
        keys=keys,
        plugins=tuple(plugins),
        folder=folder,
        space=space,
        default=default,
        alone=made.players == 1,
        parameters=frozenset([key for key in own_names if options[key].parameters.constructor is heuristic]),
        heuristic=None if info is None else info.name,
    )


def _find_heuristic(
    registry: Registry, agent: type[Agent], rules: type[Game], game: str, entry: Mapping[str, Any]
) -> tuple[Callable[..., Any] | None, Mapping[str, Any]]:
    """Return the heuristic of an entry with its parameters; None if the agent does not use one."""
    given = entry.get("heuristic")
    if isinstance(given, dict) and "name" not in given:
        given = given.get(game)
    if given is None:
        given = rules.default_heuristic if agent.wants_heuristic else None
    if given in (None, NO_HEURISTIC):
        return None, {}
    name = given if isinstance(given, str) else given["name"]
    return registry.heuristic(game, name), {} if isinstance(given, str) else {k: v for k, v in given.items() if k != "name"}


def _choose_heuristics(registry: Registry, game: str, words: Sequence[str], entry: Mapping[str, Any]) -> Any:
    """Return the heuristics to compare, from a word such as `heuristic=a,b` in `--set`; None without such a word."""
    if not words:
        return None
    names = registry.heuristics_of(game)

    def choose(*, heuristic: str) -> None:
        """Stand in for an agent that has the option `heuristic`."""

    choose.__annotations__["heuristic"] = Literal[tuple(names)] if names else str
    space, _ = read_space(words, {"heuristic": Option("heuristic", Parameters(choose), "heuristic", entry.get("heuristic"))})
    return space.dimensions[0]


def _set_limits(asked: Asked, registry: Registry, keys: dict[str, Any], game: Game, folder: Path, *, solver: bool) -> None:
    """Set the limits, the openings and the positions in the spec. Values from the command line take precedence."""
    alone = game.players == 1
    if asked.limits is not None:
        limits = {} if asked.limits.strip() == "none" else values_of([asked.limits], what="--limits")
        keys["limits"] = limits
    elif "limits" not in keys and not asked.file.endswith(SPECS):
        keys["limits"] = {"nodes": PUZZLE_NODES} if solver else {}
    if not keys.get("limits"):
        keys.pop("limits", None)
    if alone:
        if asked.plies is not None:
            raise ArenaError("--openings: a game for one player has no openings")
        keys.pop("openings", None)
    elif asked.plies is not None or not ({"openings", "positions"} & set(keys)):
        values = {"name": keys["game"]} if isinstance(keys["game"], str) else keys["game"]
        plies = choose_plies(registry, values) if asked.plies is None else asked.plies
        keys["openings"] = {"plies": plies} if plies else None
    if not keys.get("openings"):
        keys.pop("openings", None)
    positions = keys.get("positions")
    if isinstance(positions, str):  # positions in a file
        spec = load_spec(Document("positions", {"game": keys["game"], "positions": positions, "agents": ["random"]}, folder))
        keys["positions"] = list(spec.document.values["positions"])
