"""A run whose seed is secret: a later run of the same store goes on with the secret, or with a new one for new rounds."""

from pathlib import Path

from arena.errors import ArenaError
from arena.secret import extended
from arena.spec import Spec, reload_spec
from arena.store import Store


def with_secret(spec: Spec, path: Path | None, *, shared: bool = False) -> Spec:
    """Return the spec with the secret of the store at `path`; once that is revealed, with another one for further rounds.

    A spec without a secret of its own is returned as it is. ArenaError where the run is `shared` among machines and the store
    holds no secret yet: then each of them would draw another one.
    """
    if not spec.secret:
        return spec
    held = _held(path)
    if held is None:
        if shared:
            raise ArenaError(
                "seed: secret: every shard needs the same secret; start the run on one machine (`arena run` without --shard, "
                "ended by Ctrl-C), and give each shard a copy of its store by --store"
            )
        return spec
    secret, revealed, rounds = held
    if not revealed or max(board.field.rounds for board in spec.boards) <= rounds:
        return reload_spec(spec.document, spec.plugins, secret, secret=not revealed, described=spec.described)
    return reload_spec(spec.document, spec.plugins, extended(secret, rounds), secret=True, described=spec.described)


def _held(path: Path | None) -> tuple[str, bool, int] | None:
    """Return the secret of the last run of a store, whether it is revealed, and how many rounds were played with it."""
    if path is None or not path.is_file():
        return None
    with Store.open(path) as store:
        runs = store.runs()
        if not runs or runs[-1].secret is None:
            return None
        last = next(iter(store.query("SELECT max(round) FROM place")))[0]
        return runs[-1].secret, runs[-1].revealed is not None, 0 if last is None else last + 1
