"""Which plugins the process of an agent is given: those of its own entry and of the board's game, and no others."""

from collections.abc import Collection
from os.path import realpath, relpath
from pathlib import Path
from typing import TYPE_CHECKING

from arena.plugins.sources import is_file, real_place, whole
from arena.spec.reader import SpecReader

if TYPE_CHECKING:
    from arena.spec.entry_version import VersionedAgent


def organisers(
    reading: SpecReader, games: Collection[str], *, but: str | None = None, agent: str | None = None
) -> tuple[str, ...]:
    """The plugins that were asked for and bring one of some games, a heuristic of one, or an agent; as whole paths.

    They are the organiser's: those of `plugins`, `--plugin` and ARENA_PLUGINS. The file `but` is left out.
    """
    left_out = None if but is None else reading.moved.twins.get(but, but)
    wanted = {
        source
        for key, source in reading.registry.sources.items()
        if source.asked and (key == ("agent", agent) or (key[0] in ("game", "heuristic", "encoding") and key[1] in games))
    }
    given = [plugin.source.name for plugin in reading.registry.plugins if plugin.source in wanted]
    return tuple([whole(name) for name in given if real_place(name) != left_out])


def submitted_files(reading: SpecReader) -> set[Path]:
    """The files that entries of a spec name as their `plugin`, sweeps written out; of those with faults what can be told."""
    found: set[Path] = set()
    for entry in reading.values.get("agents") or ():
        given = entry.get("plugin") if isinstance(entry, dict) else None
        swept = given.get("sweep") if isinstance(given, dict) else [given]
        texts = [text for text in swept if isinstance(text, str) and "\0" not in text] if isinstance(swept, list) else []
        found |= {Path(realpath(reading.document.folder / text)) for text in texts}
    return found


def note_trust(reading: SpecReader, agent: str, versioned: "VersionedAgent | None") -> None:
    """Note that the file of a sandboxed agent is loaded by arena's own processes, where it is, and how to have it otherwise."""
    if versioned is None:
        source = reading.registry.sources.get(("agent", agent))
        name = None if source is None or not source.asked else _named(reading, source.name)
        file = name if source is not None and is_file(source.name) else "FILE"
        advice = f"write {{agent: {agent}, plugin: {file}, isolation: sandbox}} and name it nowhere else"
    else:
        loaded = {real_place(one.source.name): one.source.name for one in reading.registry.plugins if one.source.asked}
        given = loaded.get(versioned.version.file)
        name = None if given is None else _named(reading, given)
        advice = "name it nowhere else"
    if name is not None:
        reading.note(f"{agent} plays in a sandbox, but arena itself loads its plugin {name}, so that is trusted; else {advice}")


def _named(reading: SpecReader, plugin: str) -> str:
    """A plugin as the spec may name it."""
    return relpath(plugin, reading.document.folder) if is_file(plugin) else plugin
