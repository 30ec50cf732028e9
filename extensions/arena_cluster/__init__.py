"""Tournaments on the machines of a Dask cluster. The nodes (the workers of Dask) play the matches, and only this process, the
coordinator, stores the records.
"""
