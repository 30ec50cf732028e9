"""The same tournament on the machines of a Dask cluster: they play, this process alone keeps the records."""
