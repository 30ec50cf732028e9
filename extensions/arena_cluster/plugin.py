"""Provides the executor of `arena run --cluster`."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from arena import Spec, hookimpl
from arena.api.run import Executor, Players


@hookimpl
def arena_executors() -> list[Executor]:
    """The Dask cluster."""

    def open_cluster(
        address: str, spec: Spec, code: Mapping[str, Any], note: Callable[[str], object]
    ) -> AbstractContextManager[Players]:
        from arena_cluster.players import connect  # Dask is heavy

        return connect(address, spec, code, note)

    text = "Play on a Dask cluster: tcp://HOST:PORT, tls://HOST:PORT, a scheduler file, local:N."
    return [Executor("cluster", "ADDRESS", text, open_cluster)]
