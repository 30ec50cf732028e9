"""Writes the table of `explanation/trust.md` from the marks of the tests that attack: `make figures`.

A test that attacks has the mark `@pytest.mark.promise(hole="file", isolation=("process", "sandbox"))`. `hole` is one of HOLES,
and `isolation` names the levels at which the test attacks (`any` means all three). `holds=False` means that the attack succeeds
there; the default is True. `pytestmark` marks a whole module. The marks are read from the source, and no test is run.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).parents[1]
TESTS = [TOP / "tests" / "hostile", TOP / "ladder" / "tests" / "hostile"]
PAGE = TOP / "docs" / "explanation" / "trust.md"
BEGIN, END = "<!-- promises: written by make figures -->\n", "<!-- end of promises -->\n"
ISOLATIONS = ("none", "process", "sandbox")
HOLES = {
    "judge": "a submission to a ladder answers in place of the process that judges it, or delays the other submissions",
    "season": "an author of a ladder hands in or withdraws agents again and again, so that seasons (the times between two "
    "changes of the agents in play) keep restarting and the matches of all authors stop",
    "versions": "authors of a ladder hand in so many versions, or strangers ask for so many pages, that the time for a plan or a "
    "page grows with all agents and matches of the ladder",
    "late": "a submission to a ladder passes its check and hangs at its start afterwards, so that the contest stands still",
    "abilities": "a program announces an ability in its check on a ladder and no longer afterwards, so that the contest ends",
    "rush": "somebody hands in many slow agents to a ladder at once, under many names, so that matches stop, or that the checks "
    "of other authors wait until all of these were checked",
    "author": "a stranger acts as an author of a ladder, because he takes the same name on another ladder of the same folder",
    "token": "a token or link that was replaced, or the token of a banned or deleted author, stays valid on another ladder of "
    "the same folder",
    "modes": "another user of the machine reads what a ladder writes, such as its seed, e-mail addresses and code",
    "banned": "an author whom a ladder bans or deletes while his file is still on its way goes on to play",
    "room": "authors hand in more agents than a ladder can play, so that its contest ends for all of them",
    "figures": "a solver on a ladder sends the hidden positions of a puzzle to its author, through figures that it chooses, such "
    "as the nodes that it reports or the costs of its solutions",
    "turns": "a submission plays as slowly as it may, so that all ladders beside hidden positions wait for its match, or so that "
    "its match is dropped and replayed whenever it is losing",
    "positions": "a solver on a ladder tells a process of another version of its author, whose output he can read, about the "
    "hidden position that it attempts at the same time",
    "collusion": "agents of one author on a ladder lose to each other on purpose, so that one of them gets a better rating",
    "public dice": "an author reads dice or deals on the public pages of a ladder, and his agent meets them in a later match",
    "similar": "the code of a submission stops a ladder when the host compares the code of all authors",
    "file": "the file of an agent runs code in arena's own process or in the process of a rival",
    "dice": "an agent computes the random numbers of a rival or of chance from the messages that it gets or, "
    "with a secret seed (the default for code from strangers), from the tournament file",
    "clock": "an agent or its child processes use processor time in the turn of a rival, also if timers continue them "
    "or if each of them lives only for a moment",
    "blame": "an agent ends the process that plays the match in the rival's turn, so that the rival is blamed",
    "deal": "a process of an agent that has met hidden cards or dice tells another process of its entry about them, directly or "
    "by the compiler of its entry, which plays with the same deal and swapped seats",
    "void": "an agent claims that its backend is unavailable, or other entries use up what the kernel gives to a user, "
    "so that a match that it would lose becomes void",
    "crowd": "an agent starts more processes than arena can watch, so that a match that it would lose becomes void, "
    "or the worker can play no others",
    "start": "an agent thinks before its clock starts, its answer is read after its time is up, or it gains time by processes "
    "that no count sees",
    "hello": "a program that never sends its first message, or that reports without end, delays a run for ever",
    "busy": "the machine is so busy that an honest agent starts late, and loses or is suspended from a ladder",
    "counts": "an agent generates states that no node limit counts",
    "memory": "an agent uses memory or processes that no limit counts, or that outlive the run",
    "shared": "an agent uses up what the kernel gives to all programs of a user together (descriptors in unread messages, "
    "queued signals), so that a rival fails and loses",
    "system": "an agent makes system calls that no player needs",
    "settings": "an agent changes settings of the kernel in `/proc/sys`, or acts as root",
    "network": "an agent uses the network or the files of the user",
    "key": "the key for one provider of language models is sent to another provider",
    "page": "a page in the browser, through `arena serve`, reads files of the user, or uses keys or the network of the user",
    "script": "a label, a name, the output of an agent or any other text runs a script in a page, or hides the rows of others",
    "channel": "seats exchange messages, or delay arena, through files that both can read or counters in `/proc`",
    "record": "someone changes a record after it was written",
    "leftovers": "a run that is killed, or a submission that is refused, leaves files behind",
    "foreign": "a store from a stranger has views or other SQL that never ends, rows of any size or values of any kind",
    "beside": "a file beside a store is a pipe, a link, without end, or names another file, so that arena waits for ever, "
    "fills the memory, or changes or deletes a file of the user",
    "named": "a spec, a store or a bundle names a pipe, a device, or a file that is too long or never ends, so that arena waits "
    "for ever, or fills the memory",
    "prompt": "a template of a prompt for language models multiplies texts or loops, so that arena computes for ever, or fills "
    "the memory",
    "store": "a store names code, and the code runs when someone looks at the store",
    "crash": "a spec or a store names a game of open_spiel with parameters that crash the process which loads it, or fill the "
    "memory, or never end",
    "text": "a text contains formulas for a spreadsheet or control codes for a terminal, or takes minutes to parse, "
    "or a file never ends",
    "cache": "another user, who may write in the cache folder, puts files there that arena would run, such as machine code",
    "server": "connections or specs make other users wait",
}
"""The descriptions of the attacks; the keys are the words in the marks. Each attack has a row in the table."""


class Promise(NamedTuple):
    """A mark of a test, which says what the test shows."""

    hole: str
    isolation: tuple[str, ...]
    holds: bool
    file: str


def promises() -> Iterator[Promise]:
    """Yield the marks of all tests that attack. Raises ValueError if a mark has another form."""
    for file in sorted([file for folder in TESTS for file in folder.glob("test_*.py")]):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "promise":
                yield _promise(node, f"ladder:{file.name}" if "ladder" in file.relative_to(TOP).parts else file.name)


def _promise(mark: ast.Call, file: str) -> Promise:
    given = {str(word.arg): ast.literal_eval(word.value) for word in mark.keywords}
    hole, isolation, holds = given.pop("hole", None), given.pop("isolation", None), given.pop("holds", True)
    levels = ISOLATIONS if isolation == "any" else (isolation,) if isinstance(isolation, str) else tuple(isolation or ())
    known = hole in HOLES and bool(levels) and set(levels) <= set(ISOLATIONS)
    if mark.args or given or not known or type(holds) is not bool:
        expected = f"hole= one of {', '.join(HOLES)}; isolation= any, or of {', '.join(ISOLATIONS)}; holds= True or False"
        raise ValueError(f"{file}:{mark.lineno}: promise: expected {expected}")
    return Promise(hole, levels, holds, file)


def table() -> str:
    """Return the table in Markdown, with a row for every attack, a column for every level of isolation, and a column for the
    tests.
    """
    shown: defaultdict[tuple[str, str], set[bool]] = defaultdict(set)
    files: defaultdict[str, set[str]] = defaultdict(set)
    for promise in promises():
        files[promise.hole].add(promise.file)
        for isolation in promise.isolation:
            shown[promise.hole, isolation].add(promise.holds)
    rows = [
        (
            "attack",
            *[f"`{isolation}`" for isolation in ISOLATIONS],
            "tests in `tests/hostile/`, and with `ladder:` in `ladder/tests/hostile/`",
        ),
        ("---",) * 5,
    ]
    for hole, words in HOLES.items():
        cells = [_cell(shown[hole, isolation]) for isolation in ISOLATIONS]
        rows.append((words, *cells, ", ".join([f"`{file}`" for file in sorted(files[hole])])))
    return "".join([f"| {' | '.join(row)} |\n" for row in rows])


def _cell(found: set[bool]) -> str:
    if not found:
        return "no promise"
    return "in part" if len(found) == 2 else "holds" if True in found else "open"


def page(text: str) -> str:
    """Return the text of the page with the table that follows from the tests."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE.name}: expected the lines {BEGIN.strip()} and {END.strip()}")
    return f"{before}{begin}\n{table()}\n{end}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
