"""The panel with the verdict on a bundle, for a store that `arena verify --store` has written."""

from typing import Any

from arena.api.store import Store
from arena_bundle.verdict import digest_store, read_verdict

TITLES = {
    "contradictions": "Contradictions",
    "shown": "Shown",
    "not_shown": "Not shown",
    "notes": "Notes",
    "limits": "No bundle shows",
}


def describe_verdict(store: Store) -> list[dict[str, Any]] | None:
    """Return the titles and sentences for the panel; None if the store has no verdict."""
    values = read_verdict(store.path)
    if values is None:
        return None
    if values.get("store") != digest_store(store):
        return [{"title": "Verdict", "sentences": ["out of date: the store has changed since it was verified"]}]
    lists = {
        "Verdict": [values.get("verdict")],
        "Bundle": [values.get("bundle")],
        "SHA-256 of its manifest": [values.get("manifest")],
        **{title: values.get(key) for key, title in TITLES.items()},
    }
    found = {title: list(map(str, one)) for title, one in lists.items() if isinstance(one, list) and one}
    return [{"title": title, "sentences": sentences} for title, sentences in found.items()]
