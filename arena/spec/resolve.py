"""Turns a spec file into a Spec that can be played. After a fault, the rest of the file is still checked."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from os import PathLike
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Any

from arena.errors import PluginError, escape_line, expect
from arena.plugins.registry import Registry
from arena.plugins.sources import PluginPlace, add_plugin, load_plugins
from arena.secret import SECRET, Seed, draw_secret
from arena.spec.board import Spec
from arena.spec.boards import read_boards
from arena.spec.document import Document, make_document
from arena.spec.entries import Entry, read_entries
from arena.spec.games import read_games
from arena.spec.isolation import KEY as ISOLATION, check_name, isolation_names
from arena.spec.model import AdjudicateKeys, DrawKeys, EntryKeys, MatchLimits, OpeningKeys, ReportKeys, ResignKeys, SpecKeys
from arena.spec.reader import Faults, SpecReader, format_path
from arena.spec.source import source_keys


def load_spec(
    source: str | PathLike[str] | Mapping[str, Any] | Document | Spec, *, plugins: Sequence[str] = (), seed: Seed | None = None
) -> Spec:
    """Read and check a spec. `source` is a path, a mapping of its keys, a Document, or a Spec, which is returned unchanged.

    `plugins` are loaded in addition to the plugins that the spec names. `seed` replaces the seed of the spec; it is a number, or
    the digits of a secret. Raises SpecError with all faults of the spec, PluginError if one of `plugins` cannot be loaded, and
    TypeError if `source` is none of these.
    """
    expect("spec", source, (str, PathLike, Mapping, Document, Spec), "a path, a mapping with the keys of a spec, or a Spec")
    if isinstance(source, Spec):
        return source
    if isinstance(source, Mapping):
        source = make_document(source)
    elif not isinstance(source, Document):
        source = Document.read(source)
    return _resolve(source, plugins, seed)


def reload_spec(
    document: Document,
    plugins: Sequence[str],
    seed: Seed,
    *,
    secret: bool = False,
    shared: Mapping[str, Any] = MappingProxyType({}),
) -> Spec:
    """Rebuild the spec of another process from its `document`, `plugins` and `seed`; `secret` says whether the seed is secret.

    `shared` is the attribute `shared` of that spec. With it, agent sources need not inspect their files again.
    """
    return replace(_resolve(document, plugins, seed, shared), secret=secret)


def _resolve(
    document: Document, plugins: Sequence[str], seed: Seed | None, shared: Mapping[str, Any] = MappingProxyType({})
) -> Spec:
    faults = Faults(document)
    values = check_keys(document, faults)
    if isinstance(values.get("name"), str) and not values["name"].isprintable():
        faults.add(("name",), f"expected printable text, got {values['name']!r}")
    registry, loaded = _load_plugins(document, values, plugins, faults)
    if not check_name(registry, values.get(ISOLATION), (ISOLATION,), faults.add):
        values[ISOLATION] = None
    reading = SpecReader(document, values, registry, faults, 0, loaded, shared=shared)
    try:
        rules = read_games(reading)
        if values.get("report"):
            import_module("arena_records.report_key").read_report(reading, rules)
        entries = read_entries(reading, rules)
        secret = seed is None and _wants_secret(reading, entries)
        reading.seed = seed if seed is not None else draw_secret() if secret else values.get("seed") or 0
        boards = read_boards(reading, rules, entries)
    finally:
        for source in reading.sources.values():
            source.close()
    faults.stop_if_any()
    name = values.get("name") or escape_line(FilePath(document.name).stem)
    for path, texts in reading.lines.items():  # the spec is now self-contained: workers and stores need no other file
        given = texts if len(path) == 1 else {**document.values["positions"], path[1]: texts}
        document = replace(document, values={**document.values, "positions": given})
    for source in reading.sources.values():
        agents = source.pin(document.values["agents"])
        if agents is not document.values["agents"]:
            document = replace(document, values={**document.values, "agents": agents})
    found = {name: kept for name, source in reading.sources.items() if (kept := source.share()) is not None}
    shared = {**shared, **found}
    return Spec(name, reading.seed, tuple(boards), tuple(reading.notes), document, registry, loaded, secret, shared)


def _wants_secret(reading: SpecReader, entries: Sequence[Entry]) -> bool:
    """Return whether a spec asks for a secret seed, or names no seed although an entry may use a known seed to win."""
    if "seed" in reading.values:
        return bool(reading.values["seed"] == SECRET)
    foreign = next((entry for entry in entries if entry.is_foreign(reading.registry)), None)
    if foreign is None:
        return False
    reading.note(
        f"the seed is secret, because {format_path(foreign.path)} has code that could compute random numbers from a known "
        "seed; to choose the seed yourself, write for example seed: 0"
    )
    return True


def _load_plugins(
    document: Document, values: Mapping[str, Any], asked: Sequence[str], faults: Faults
) -> tuple[Registry, tuple[str, ...]]:
    """Load the plugins of the caller, then the plugins of the spec one by one, so that each fault gets its own line."""
    wanted = list(asked)
    registry = load_plugins(wanted)
    for number, name in enumerate(values.get("plugins") or ()):
        if not isinstance(name, str) or not name:
            continue  # the fault is noted
        place = PluginPlace.locate(document.folder, name)
        try:
            add_plugin(registry, place)
            wanted.append(place)
        except PluginError as error:
            faults.add(("plugins", number), str(error))
    return registry, tuple(wanted)


KEPT = ("agents", "games", "plugins", "positions")
"""Lists in which the correct items are checked even if other items have faults."""

KEYS_BELOW: Mapping[str, Collection[str]] = {
    "adjudicate": {**AdjudicateKeys.model_fields, **DrawKeys.model_fields, **ResignKeys.model_fields},
    "openings": OpeningKeys.model_fields,
    "report": ReportKeys.model_fields,
}
"""For each of these keys: the keys that its mapping may contain, also at deeper levels. Mappings of other keys contain limits."""


def check_keys(document: Document, faults: Faults) -> dict[str, Any]:
    """Return the keys of a spec; a value of the wrong type becomes None. Faults are noted."""
    values = dict(document.values)
    if "game" in values:
        values["game"] = _name_as_text(values["game"])
    if isinstance(values.get("games"), list):
        values["games"] = [_name_as_text(game) for game in values["games"]]
    _check_names(values, faults)
    for key, model in SpecKeys.model_fields.items():
        if key in values:
            before = faults.noted
            faults.check((key,), model.rebuild_annotation(), values[key], KEYS_BELOW.get(key, MatchLimits.model_fields))
            if faults.noted > before and not (key in KEPT and isinstance(values[key], list)):
                values[key] = None
    return values


def _name_as_text(game: Any) -> Any:
    """Return a game of the spec with its name as text. YAML reads a name such as 2048 as a number."""
    if isinstance(game, dict) and "name" in game:
        return {**game, "name": _name_as_text(game["name"])}
    return str(game) if isinstance(game, int) and not isinstance(game, bool) else game


def _check_names(values: dict[str, Any], faults: Faults) -> None:
    for key in values:
        if key not in SpecKeys.model_fields:
            faults.add_unknown(key, SpecKeys.model_fields)
    if values.get("game") is not None and values.get("games") is not None:
        faults.add(("games",), "expected game or games, got both", key=True)
    if values.get("game") is None and values.get("games") is None:
        faults.add(("game",) if "game" in values else (), "game is missing: choose one from `arena list games`")
    if "agents" not in values:
        faults.add((), "agents is missing: add some from `arena list agents`")
    if values.get("rounds") is not None and not isinstance(values.get("positions"), (dict, type(None))):
        faults.add(("rounds",), "expected rounds or positions, got both; each position in the list is played once", key=True)


def json_schema(registry: Registry) -> dict[str, Any]:
    """Return the JSON Schema of spec files, including the keys and names that loaded plugins add."""
    schema = SpecKeys.model_json_schema()
    entry = EntryKeys.model_json_schema(ref_template="#/$defs/{model}")
    schema.setdefault("$defs", {}).update(entry.pop("$defs", {}))
    schema["$defs"]["Entry"] = entry
    schema["properties"]["agents"]["items"] = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/Entry"}]}
    names = {"anyOf": [{"enum": list(isolation_names(registry)), "type": "string"}, {"type": "null"}]}
    for keys in (schema["properties"], entry["properties"]):
        keys["isolation"] = names | keys["isolation"]
    for key, text in source_keys(registry).items():
        entry["properties"][key] = {"default": None, "description": text, "title": key.capitalize()}
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return schema
