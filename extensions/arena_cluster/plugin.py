"""Adds the executor for `arena run --cluster`."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from arena import hookimpl
from arena.api.run import Executor

if TYPE_CHECKING:
    from arena import Spec
    from arena_cluster.players import RunPlayers


@hookimpl
def arena_executors() -> list[Executor]:
    """Return the Dask cluster."""

    def open_cluster(
        address: str, spec: "Spec", code: Mapping[str, Any], note: Callable[[str], object]
    ) -> AbstractContextManager["RunPlayers"]:
        from arena_cluster.players import connect  # Dask takes long to import

        return connect(address, spec, code, note)

    text = "Play on a Dask cluster: tcp://HOST:PORT, tls://HOST:PORT, a scheduler file, local:N."
    return [Executor("cluster", "ADDRESS", text, open_cluster)]
