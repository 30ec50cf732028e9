"""From a file to a spec that can be played. Whatever is wrong is noted and the rest is read all the same."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Any

from arena.errors import PluginError
from arena.plugins.registry import Registry
from arena.plugins.sources import add_plugin, beside, load_plugins
from arena.secret import SECRET, Seed, drawn_secret
from arena.spec.board import Spec
from arena.spec.boards import read_boards
from arena.spec.document import Document, as_document, read_document
from arena.spec.entries import read_entries
from arena.spec.faults import Faults
from arena.spec.games import read_games
from arena.spec.isolation import KEY as ISOLATION
from arena.spec.isolation import check_name
from arena.spec.keys import checked_keys
from arena.spec.reader import SpecReader


def load_spec(
    source: str | PathLike[str] | Mapping[str, Any] | Document | Spec,
    *,
    plugins: Sequence[str] = (),
    seed: Seed | None = None,
) -> Spec:
    """Read and check a spec: a path, its keys as a mapping or a document, or a Spec, which is returned as it is.

    `plugins` are loaded beside those that the spec names; `seed`, a number or the digits of a secret, replaces the spec's.
    SpecError has all faults of the spec; PluginError is for a plugin of `plugins`.
    """
    if isinstance(source, Spec):
        return source
    if isinstance(source, Document):
        return _resolved(source, plugins, seed)
    if isinstance(source, Mapping):
        return _resolved(as_document(source), plugins, seed)
    return _resolved(read_document(source), plugins, seed)


def reload_spec(
    document: Document,
    plugins: Sequence[str],
    seed: Seed,
    *,
    secret: bool = False,
    shared: Mapping[str, Any] = MappingProxyType({}),
) -> Spec:
    """The spec of another process, from what its `document`, `plugins` and `seed` say, and whether that is `secret`.

    `shared` is the attribute of that name of its spec: sources of agents need not find out again what it holds.
    """
    return replace(_resolved(document, plugins, seed, shared), secret=secret)


def _resolved(
    document: Document,
    plugins: Sequence[str],
    seed: Seed | None,
    shared: Mapping[str, Any] = MappingProxyType({}),
) -> Spec:
    faults = Faults(document)
    values = checked_keys(document, faults)
    registry, loaded = _plugins(document, values, plugins, faults)
    if not check_name(registry, values.get(ISOLATION), (ISOLATION,), faults.add):
        values[ISOLATION] = None
    secret = seed is None and values.get("seed") == SECRET
    chosen = seed if seed is not None else drawn_secret() if secret else values.get("seed") or 0
    reading = SpecReader(document, values, registry, faults, chosen, loaded, shared=shared)
    try:
        rules = read_games(reading)
        entries = read_entries(reading, rules)
        boards = read_boards(reading, rules, entries)
    finally:
        for source in reading.sources.values():
            source.close()
    faults.stop_if_any()
    name = values.get("name") or FilePath(document.name).stem
    if reading.lines is not None:  # from here on the spec stands alone: workers and stores need no other file
        document = replace(document, values={**document.values, "positions": reading.lines})
    for source in reading.sources.values():
        agents = source.pin(document.values["agents"])
        if agents is not document.values["agents"]:
            document = replace(document, values={**document.values, "agents": agents})
    found = {name: kept for name, source in reading.sources.items() if (kept := source.share()) is not None}
    shared = {**shared, **found}
    return Spec(name, reading.seed, tuple(boards), tuple(reading.notes), document, registry, loaded, secret, shared)


def _plugins(
    document: Document, values: Mapping[str, Any], asked: Sequence[str], faults: Faults
) -> tuple[Registry, tuple[str, ...]]:
    """Load what the caller and the spec ask for, those of the spec one by one, so that each fault finds its line."""
    wanted = list(asked)
    registry = load_plugins(wanted)
    for number, name in enumerate(values.get("plugins") or ()):
        if not isinstance(name, str) or not name:
            continue  # its fault is noted
        place = beside(document.folder, name)
        try:
            add_plugin(registry, place)
            wanted.append(place)
        except PluginError as error:
            faults.add(("plugins", number), str(error))
    return registry, tuple(wanted)
