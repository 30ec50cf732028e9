"""The panel with the verdict on a bundle, for a store that `arena verify --store` has written."""

import hmac
from typing import Any

from arena.api.store import Store
from arena_bundle.verdict import digest_store, read_verdict, sign_verdict, verdict_file

FOREIGN = (
    "not shown: {file} was not written by `arena verify` on this account, and anybody can write such a file; "
    "verify the bundle yourself with `arena verify BUNDLE --store FILE`"
)
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
    mac = sign_verdict(values)
    if mac is None or not hmac.compare_digest(mac.encode(), str(values.get("mac")).encode()):
        return [{"title": "Verdict", "sentences": [FOREIGN.format(file=verdict_file(store.path).name)]}]
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
