"""Finds the opponent version and the game for a duel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena import ArenaError, Refused, Registry, UnknownName
from arena.api.errors import describe, suggest
from arena.api.games import find_refusal
from arena.api.spec import make_absolute
from arena_duel.duel_history import past_duels
from arena_duel.version_folder import KeptVersion, VersionFolder
from arena_isolation.describe import DescribeHost, Description
from arena_isolation.own_code import stand_in
from arena_isolation.revisions import GIT, RevisionError
from arena_isolation.versions import NoVersion, PluginVersion, version_beside


@dataclass(frozen=True, slots=True)
class PastVersion:
    """The version to play against, or None; and the reason if there may be nothing to play."""

    version: KeptVersion | None
    why: str = ""


def describe_file(version: PluginVersion, file: Path, plugins: Sequence[str]) -> Description:
    """Describe the contents of a file, in a separate process."""
    with DescribeHost(version, [make_absolute(one) for one in plugins], str(file.parent)) as host:
        return host.description


def agent_of(description: Description, file: Path, asked: str | None) -> str:
    """Return the agent of a file: the requested one, or the only one. Raises ArenaError if there is no such agent."""
    names = sorted(description.agents)
    if asked is not None and asked not in names:
        raise UnknownName(f"agent of {file}", asked, names)
    if not names:
        raise ArenaError(f"{file} brings no agent; a duel is between two versions of one")
    if asked is None and len(names) > 1:
        raise ArenaError(f"{file} brings several agents; name one by --agent: {', '.join(names)}")
    return asked or names[0]


def past_version(folder: VersionFolder, file: Path, code: str, against: str | None) -> PastVersion:
    """Return the version to play against: the requested one, or else the last of the folder, or else the last commit's."""
    if against is not None:
        try:
            known = None if Path(against).is_file() else folder.named(against)
            return PastVersion(known or _keep(folder, file, against))
        except (NoVersion, RevisionError) as error:
            names = ", ".join([one.name for one in folder.versions()])
            raise ArenaError(f"--against: {error}{f'; or one of {names}' if names else ''}") from error
    last = next(reversed(past_duels(folder)), None)
    if last is not None:
        if last.new.code != code:
            return PastVersion(last.new)
        if last.ended is None:
            return PastVersion(last.old)
        return PastVersion(last.old, f"the same code as {last.new.told}, which has played")
    kept = folder.versions()
    if kept:
        return PastVersion(kept[-1], "")
    try:
        return PastVersion(_keep(folder, file, f"{GIT}HEAD"))
    except RevisionError as error:
        return PastVersion(None, f"nothing to play against yet ({error})")


def _keep(folder: VersionFolder, file: Path, text: str) -> KeptVersion:
    found = version_beside(file, text, Path.cwd())
    return folder.keep(found, found.short)


def game_of(
    registry: Registry, description: Description, agent: str, asked: str | None, parameters: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Return the game of a duel with its parameters, and the other suitable games.

    If no name is given, the game is one that the file defines, or else one that the file has a heuristic for, or else the first
    built-in game. Raises Refused or UnknownName if there is no suitable game.
    """
    kind = stand_in(description.agents[agent])
    fitting = [name for name, game in sorted(registry.games_for(kind).items()) if game.players == 2]
    if asked is not None:
        try:
            game = registry.game(asked)(**parameters)
        except (TypeError, ValueError) as error:
            raise ArenaError(
                f"--set: {asked} cannot be made so: {describe(error)}; `arena show {asked}` lists its parameters"
            ) from error
        reason = find_refusal(kind, game)
        if reason is not None or game.players != 2:
            raise Refused(reason or f"a duel is for two, and {asked} has {game.players} seats; {suggest('', fitting)}")
        return {"name": asked, **parameters}, []
    if not fitting:
        raise Refused(f"no game for two that {agent} can play with its default parameters; name one by --game and --set")
    liked = {game for game, _ in description.heuristics}
    ordered = sorted(fitting, key=lambda name: (name not in description.games, name not in liked, name))
    return {"name": ordered[0], **parameters}, ordered[1:]
