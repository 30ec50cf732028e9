"""Fixtures of the attacks on arena, for the attacks on a ladder."""

from tests.hostile.conftest import one_core as one_core
from tests.hostile.test_clock import load as load
