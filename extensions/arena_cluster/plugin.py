"""Brings the executor behind `arena run --cluster`."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from arena import hookimpl
from arena.api.run import Executor, Players
from arena.api.spec import Spec


@contextmanager
def _open(address: str, spec: Spec, code: Mapping[str, Any], note: Callable[[str], object]) -> Iterator[Players]:
    from arena_cluster.players import connect  # Dask is heavy

    with connect(address, spec, code, note) as players:
        yield players


@hookimpl
def arena_executors() -> list[Executor]:
    """The Dask cluster."""
    text = "Play on a Dask cluster: tcp://HOST:PORT, tls://HOST:PORT, a scheduler file, local:N."
    return [Executor("cluster", "ADDRESS", text, _open)]
