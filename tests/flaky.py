"""The flaky tests, which may fail although nothing is wrong, each with the reason. If one fails, it is run up to twice more.

The list must not grow. Repair a new flaky test, or let it replace a test in the list.
"""

MAX_FLAKY = 3
FLAKY: dict[str, str] = {
    "tests/hostile/test_clock.py::test_an_agent_that_lacks_a_processor_is_not_late": "a virtual machine loses its processor",
    "tests/hostile/test_clock.py::test_a_sleep_beyond_the_limit_is_late_on_a_busy_machine": "the same",
    "tests/extensions/isolation/test_isolation.py::test_a_hostile_agent_loses_its_matches": "timed by the clock",
}
"""The keys are `tests/file.py::test_name`, without parameters; the values are the reasons."""
