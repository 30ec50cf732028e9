"""Tournaments on the machines of a Dask cluster. The nodes play, and only this process keeps the records."""
