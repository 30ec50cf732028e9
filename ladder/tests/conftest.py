"""Fixtures of the tests of extensions, for the tests of the ladder that use these extensions."""

from tests.extensions.cluster.conftest import clusters as clusters, dask as dask
