"""The JSON Schema of a spec, from which editors complete keys."""

from typing import Any

from arena.plugins.registry import Registry
from arena.spec.isolation import isolation_names
from arena.spec.model import EntryKeys, SpecKeys
from arena.spec.source import source_keys


def json_schema(registry: Registry) -> dict[str, Any]:
    """The JSON Schema of a spec file, with the keys and names that loaded plugins bring."""
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
