"""Finds the opponent version and the game for a duel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

from arena import ArenaError, Game, Refused, Registry, UnknownName
from arena.api.errors import describe, suggest
from arena.api.games import Abilities, Traits
from arena.api.results import figures
from arena.api.spec import Parameters, PluginPlace
from arena_duel.duel_history import past_duels
from arena_duel.version_folder import KeptVersion, VersionFolder
from arena_isolation.describe import DescribeHost, Description
from arena_isolation.own_code import stand_in
from arena_isolation.revisions import GIT, NotInRevision, RevisionError
from arena_isolation.versions import NoVersion, PluginVersion, version_beside

DEFAULT_GAME = "connect-four"
"""The game of a duel if neither the command line nor the file suggests one. It is rarely drawn."""


MAX_PLIES = 4
"""The largest default number of random moves before each game."""
SHARE_OF_PLIES = 1 / 4
"""The share of a random game that they may take, so that the versions play most of the game."""
TRIED_GAMES = 20
MAX_TRIED_MOVES = 100
"""Longer games have MAX_PLIES random moves anyway."""


@dataclass(frozen=True, slots=True)
class PastVersion:
    """The version to play against, or None. If there is no earlier version, `why` says so."""

    version: KeptVersion | None
    why: str = ""


def describe_file(version: PluginVersion, file: Path, plugins: Sequence[str]) -> Description:
    """Return a description of the contents of a file, which a separate process makes."""
    with DescribeHost(version, [PluginPlace(one).absolute for one in plugins], str(file.parent)) as host:
        return host.description


def agent_of(description: Description, file: Path, asked: str | None) -> str:
    """Return the name of the agent in a file: the requested one, or the only one. Raises ArenaError if there is no such agent."""
    names = sorted(description.agents)
    if asked is not None and asked not in names:
        raise UnknownName(f"agent of {file}", asked, names)
    if not names:
        raise ArenaError(f"{file} defines no agent; a duel is between two versions of an agent")
    if asked is None and len(names) > 1:
        raise ArenaError(f"{file} defines several agents; choose one with --agent: {', '.join(names)}")
    return asked or names[0]


def choose_plies(registry: Registry, values: Mapping[str, Any]) -> int:
    """Return the default number of random moves before each game. `values` are the name and the parameters of the game.

    It is 0 if the game has chance, or if most of TRIED_GAMES start positions differ, because then games differ without random
    moves. In other games, versions without randomness would repeat one pair of games.
    """
    game = registry.game(values["name"])(**{key: value for key, value in values.items() if key != "name"})
    if "chance" in Traits.of(game):
        return 0
    try:
        starts = {game.format_state(game.initial(Random(seed))) for seed in range(TRIED_GAMES)}
        if len(starts) > TRIED_GAMES / 2:
            return 0
        mean = fmean([_measure_length(game, Random(seed)) for seed in range(TRIED_GAMES)])
    except (Exception, SystemExit):  # the referee reports a fault of the game
        return MAX_PLIES
    return min(MAX_PLIES, max(1, round(mean * SHARE_OF_PLIES)))


def _measure_length(game: Game, rng: Random) -> int:
    """Return the length of a random game in moves, at most MAX_TRIED_MOVES."""
    state = game.initial(rng)
    for length in range(MAX_TRIED_MOVES):
        if game.is_terminal(state):
            return length
        state = game.result(state, rng.choice(list(game.actions(state))))
    return MAX_TRIED_MOVES


def past_version(folder: VersionFolder, file: Path, code: str, against: str | None, *, allow_new: bool = False) -> PastVersion:
    """Return the version to play against: `against` if it is given; otherwise, the last other version that has played; otherwise,
    the last other version that is kept; otherwise, the version in the last commit.

    If `allow_new` is true, the file may be missing in the revision `against`; then there is no earlier version.
    """
    if against is not None:
        try:
            known = None if Path(against).is_file() else folder.named(against)
            return PastVersion(known or _keep(folder, file, against))
        except (NoVersion, RevisionError) as error:
            if allow_new and isinstance(error, NotInRevision):
                return PastVersion(None, f"no earlier version exists to play against ({error})")
            names = ", ".join([one.name for one in folder.versions()])
            raise ArenaError(f"--against: {error}{f'; or one of {names}' if names else ''}") from error
    duels = past_duels(folder)
    # The last version that has played before this one, even if --against has named other opponents since then. A start that was
    # interrupted leaves a copy of its version, and perhaps a store without games; neither makes it an earlier version.
    played = [one.new for one in duels if one.new.code != code and one.games]
    played = played or [one.old for one in duels if one.new.code == code][:1]
    earlier = played or [one for one in folder.versions() if one.code != code]
    if earlier:
        return PastVersion(earlier[-1])
    try:
        return PastVersion(_keep(folder, file, f"{GIT}HEAD"))
    except RevisionError as error:
        return PastVersion(None, f"no earlier version exists to play against ({error})")


def _keep(folder: VersionFolder, file: Path, text: str) -> KeptVersion:
    found = version_beside(file, text, Path.cwd())
    return folder.keep(found, found.short)


def game_of(
    registry: Registry, description: Description, agent: str, asked: str | None, parameters: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Return the game for a duel with its parameters, and the names of the other suitable games.

    If the user names no game, the choice is, in this order: a game that the file defines, a game for which the file has a
    heuristic, DEFAULT_GAME, and the first game by name. Raises Refused or UnknownName if no game is suitable.
    """
    kind = stand_in(description.agents[agent])
    fitting = [name for name, game in sorted(registry.games_for(kind).items()) if game.players == 2]
    if asked is not None:
        rules = registry.game(asked)
        known = list(Parameters(rules).known)
        for key in parameters:
            if key not in known:
                raise ArenaError(
                    f"--set: {asked} has no parameter {key!r}; {suggest(key, known)} (several values of an option of the agent, "
                    "as in --set depth=2,3, are compared with each other)"
                )
        try:
            game = rules(**parameters)
        except (TypeError, ValueError) as error:
            raise ArenaError(
                f"--set: {asked} cannot be created with these parameters: {describe(error)}; `arena show {asked}` lists them"
            ) from error
        reason = Abilities(kind).find_refusal(game)
        if reason is not None or game.players != 2:
            seats = figures.amount(game.players, "seat")
            raise Refused(reason or f"a duel needs a game for two players, but {asked} has {seats}; {suggest('', fitting)}")
        return {"name": asked, **parameters}, []
    if not fitting:
        raise Refused(f"{agent} cannot play any two-player game with the default parameters; choose a game with --game and --set")
    liked = {game for game, _ in description.heuristics}
    ordered = sorted(fitting, key=lambda name: (name not in description.games, name not in liked, name != DEFAULT_GAME, name))
    return {"name": ordered[0], **parameters}, ordered[1:]
