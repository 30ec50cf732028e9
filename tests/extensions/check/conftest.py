"""What the tests of the kit share: a check that must fail, and a look at what it says."""

import re
from collections.abc import Callable

import pytest

FINDING = re.compile(
    r"(?P<subject>[^\n]+?): (?P<what>[^\n]+)\n"
    r"(  position: (?P<position>[^\n]+)\n)?"
    r"  actions: (?P<actions>[^\n]+)\n"
    r"  expected: (?P<expected>[^\n]+)\n"
    r"  got: (?P<got>[^\n].*)\n"
    r"  seed: (?P<seed>\d+), matches: (?P<matches>\d+)",
    re.DOTALL,
)


@pytest.fixture(scope="session")
def finding() -> Callable[[Callable[[], object]], dict[str, str]]:
    """Run a check that must fail, and return the parts of its message; a message without one of them is a failure."""

    def finding(check: Callable[[], object]) -> dict[str, str]:
        with pytest.raises(AssertionError) as failure:
            check()
        found = FINDING.fullmatch(str(failure.value))
        assert found, f"not the message of a check: {failure.value}"
        return found.groupdict()

    return finding
