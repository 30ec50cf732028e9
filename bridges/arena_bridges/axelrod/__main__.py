"""Lists the strategies that can play: `python -m arena_bridges.axelrod`."""

import sys

from arena_bridges.axelrod.strategies import table
from arena_bridges.extras import MissingExtra

try:
    print(table())
except MissingExtra as missing:
    sys.exit(str(missing))
