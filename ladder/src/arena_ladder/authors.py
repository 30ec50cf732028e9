"""The authors of a ladder: their names, their tokens and links, and who is banned."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from hashlib import sha256
from pathlib import Path
from secrets import token_hex, token_urlsafe
from typing import NamedTuple, Self

from arena import ArenaError
from arena.clock import wall_time
from arena_ladder.roster import Person
from arena_ladder.tables import LadderTables
from arena_web.errors import Refusal

HOST_TOKEN = "host token"  # noqa: S105 - the name of a setting
"""The name of the setting that holds the hash of the host's token."""
FORGOTTEN = "gone-"
"""The prefix of the public name of an author whose data were removed. A roster does not change such a name."""
KNOWN = f"name NOT IN (SELECT id FROM ladder_person WHERE handle LIKE '{FORGOTTEN}%' AND handle NOT IN (id, team))"
"""The condition for authors who were not forgotten. A roster may have an id or a team that begins with the same prefix."""
SAME_HANDLE = "(name = ? OR name IN (SELECT id FROM ladder_person WHERE handle = ?))"
"""The condition for all authors with the same public name."""


class Given(NamedTuple):
    """The token that a person has now."""

    hashed: str | None
    """The hash of the token; None if the person has none."""
    time: float
    """The time at which it was given or taken away."""


class AuthorTables(LadderTables):
    """The authors in the tables of a ladder.

    Ladders can share their authors. Each of them has the tables of its own, which decide what it accepts, so that it can also be
    hosted alone. A change of a token, of a link or of a ban is written to the tables of all of them.
    """

    _sharing: Sequence[Path] = ()
    """The stores of the other ladders with the same authors. Some of them may not exist yet."""

    def share_authors(self, stores: Iterable[Path]) -> None:
        """Share tokens, links and bans with the ladders in other `stores`, also if other processes host them.

        Take over what has changed in the other stores while this one did not exist or was not at hand, also if it is an older
        copy: the last change of a token, of a link or of a ban counts. Only ladders in which the same ids are the same people may
        share authors, because an id is all that they compare.
        """
        self._sharing = [place for place in stores if place.resolve() != self.path.resolve()]
        with self._everywhere() as others:
            self._catch_up(others)

    @contextmanager
    def _everywhere(self) -> Iterator[list[Self]]:
        """Run one transaction in all ladders that share their authors. Yield the other ladders."""
        with ExitStack() as opened:
            others = [opened.enter_context(closing(type(self)(place))) for place in self._sharing if place.is_file()]
            for ledger in sorted([self, *others], key=lambda one: one.path.resolve()):  # in one order, so that no two wait
                opened.enter_context(ledger._writing())  # noqa: SLF001 - of the same class
            yield others

    def _catch_up(self, others: Sequence[Self]) -> None:
        """Take over what happened later on other ladders: new tokens and links, and the deletion of authors."""
        for other in others:
            self._take_over(other)

    def _take_over(self, other: Self) -> None:
        own, links = self._given(), dict(other._rows("SELECT author, made FROM ladder_link"))
        for name, given in other._given(forgotten=True).items():
            if name in own:
                last = max(given.time, links.get(name, 0.0))
                self._write("DELETE FROM ladder_link WHERE author = ? AND made < ?", name, last)
                if given.hashed != own[name].hashed and given.time > own[name].time:
                    self.keep_token(name, given.hashed, "ladder", given.time)
        host = other._given_to_host()
        if host.hashed not in (None, self.setting(HOST_TOKEN)) and host.time > self._given_to_host().time:
            self.keep_host_token(host.hashed, host.time)

    def _given(self, *, forgotten: bool = False) -> Mapping[str, Given]:
        """Return the tokens of all authors, with or without forgotten authors."""
        times = "SELECT detail, max(time) AS given FROM ladder_audit WHERE what = 'token' GROUP BY detail"
        question = f"SELECT name, token, coalesce(given, 0) FROM ladder_author LEFT JOIN ({times}) ON detail = name"
        return {name: Given(*row) for name, *row in self._rows(question if forgotten else f"{question} WHERE {KNOWN}")}

    def _given_to_host(self) -> Given:
        time = self._value("SELECT max(time) FROM ladder_audit WHERE what = 'token' AND who = 'admin' AND detail = 'host'")
        return Given(self.setting(HOST_TOKEN), time or 0.0)

    def register(self, name: str, who: str) -> str:
        """Give an author a new token, and return it. An old token and a link become invalid, on all ladders that share their
        authors. Only the hash of the token is stored. Raises Refusal 409 for a banned author, whom no ladder would accept.
        """
        with self._everywhere() as others:
            return self._give_token(name, who, others)

    def _give_token(self, name: str, who: str, others: Iterable[Self]) -> str:
        token = _make_token(32)
        self.expect(name)
        self._check_not_banned(name)
        for ledger in (self, *others):
            ledger.keep_token(name, _hash(token), who)
        return token

    def keep_token(self, name: str, hashed: str | None, who: str, when: float | None = None) -> None:
        """Replace the hash of the token of an author on this ladder only, if it knows the author."""
        if self._write(f"UPDATE ladder_author SET token = ? WHERE name = ? AND {KNOWN}", hashed, name):
            self.drop_link(name)
            self.note(who, "token", name, when)

    def drop_link(self, name: str) -> None:
        """Make the link of an author invalid."""
        self._write("DELETE FROM ladder_link WHERE author = ?", name)

    def _check_not_banned(self, name: str) -> None:
        if (name, True) in self.authors():
            raise Refusal(409, f"{name} is banned", "unban the author with `admin unban`")

    def make_link(self, name: str, who: str) -> str:
        """Return a code that gives an author a token once; an older code becomes invalid, on all ladders that share their
        authors. Only the hash of the code is stored. Raises Refusal 409 for a banned author.
        """
        code = _make_token(24)
        with self._everywhere() as others:
            self.expect(name)
            self._check_not_banned(name)
            for ledger in (self, *others):
                ledger.drop_link(name)
            self._write("INSERT INTO ladder_link (code, author, made) VALUES (?, ?, ?)", _hash(code), name, wall_time())
            self.note(who, "link", name)
        return code

    def claim(self, code: str) -> tuple[str, str]:
        """Use up the code of a link. Return the id of the author and a new token, which replaces an old one on all ladders that
        share their authors. Raises Refusal 404 if the code is not valid, and 409 if its author is banned.
        """
        self._find_linked(code)  # strangers may send any code, and for a wrong one, no other ladder is opened or locked
        with self._everywhere() as others:
            author = self._find_linked(code)
            return author, self._give_token(author, author, others)

    def _find_linked(self, code: str) -> str:
        author = self._value("SELECT author FROM ladder_link WHERE code = ?", _hash(code))
        if author is None:
            raise Refusal(404, "this link is invalid or has already been used", "ask the host of the ladder for a new one")
        return str(author)

    def expect(self, name: str) -> None:
        """Register an author, without giving out a token."""
        self._write("INSERT OR IGNORE INTO ladder_author (name, registered) VALUES (?, ?)", name, wall_time())

    def join(self, name: str, who: str) -> str:
        """Register a new author and return the token. Raises Refusal if the name is taken."""
        with self._writing():
            if self._rows("SELECT 1 FROM ladder_author WHERE name = ?", name):
                raise Refusal(409, f"the name {name} is taken", "choose another one")
            return self.register(name, who)

    def author_of(self, token: str) -> str:
        """Return the public name of the author with this token. The members of a team share this name.

        Raises Refusal 401 for an unknown token, and 403 for a banned author.
        """
        question = (
            "SELECT coalesce(handle, a.name), banned FROM ladder_author a LEFT JOIN ladder_person ON id = a.name WHERE a.name = ?"
        )
        found = self._rows(question, self.find_author(token))
        if not found:
            raise Refusal(401, "this token is unknown", "ask the host of the ladder for one")
        name, banned = found[0]
        if banned is not None:
            raise Refusal(403, f"{name} is banned from this ladder", "ask the host of the ladder for the reason")
        return str(name)

    def find_author(self, token: str) -> str | None:
        """Return the author with this token, even if the author is banned; None for an unknown token."""
        found = self._value("SELECT name FROM ladder_author WHERE token = ?", _hash(token))
        return None if found is None else str(found)

    def make_host_token(self) -> str:
        """Return a new token for the page of the host. An old token becomes invalid, on all ladders that share their authors.
        Only the hash of the token is stored.
        """
        token = _make_token(32)
        with self._everywhere() as others:
            for ledger in (self, *others):
                ledger.keep_host_token(_hash(token))
        return token

    def keep_host_token(self, hashed: str | None, when: float | None = None) -> None:
        """Replace the hash of the host's token on this ladder only."""
        assert hashed is not None
        self._keep_setting(HOST_TOKEN, hashed)
        self.note("admin", "token", "host", when)

    def is_host(self, token: str) -> bool:
        """Return True if a token belongs to the host."""
        return self.setting(HOST_TOKEN) == _hash(token)

    def authors(self) -> list[tuple[str, bool]]:
        """Return the names of all authors, each with a flag that is true for banned authors."""
        return [(name, banned is not None) for name, banned in self._rows("SELECT name, banned FROM ladder_author ORDER BY name")]

    def _set_banned(self, name: str, when: float | None) -> str:
        """Ban all authors with the same public name from the time `when`; None ends the ban. `name` is the public name or the id
        of one of the authors. Return the public name.
        """
        handle = self._handle_of(name)
        if not self._write(f"UPDATE ladder_author SET banned = ? WHERE {SAME_HANDLE}", when, handle, handle):
            raise ArenaError(f"unknown author {name!r}; `arena ladder admin SPEC tokens` lists them")
        return handle

    def bans(self) -> Mapping[str, tuple[float, bool]]:
        """Return for each author that was not forgotten the time of the last ban or of its end, 0 if there was none, and whether
        the author is banned.
        """
        ends: dict[str, float] = {}
        for name, when in self._rows("SELECT detail, max(time) FROM ladder_audit WHERE what = 'unban' GROUP BY detail"):
            handle = self._handle_of(name)
            ends[handle] = max(when, ends.get(handle, 0.0))
        rows = self._rows(f"SELECT name, banned FROM ladder_author WHERE {KNOWN}")
        return {name: (ends.get(self._handle_of(name), 0.0), False) if since is None else (since, True) for name, since in rows}

    def _handle_of(self, name: str) -> str:
        handles = self._rows("SELECT handle FROM ladder_person WHERE id = ? OR handle = ?", name, name)
        return str(handles[0][0]) if handles else name

    def _known_on(self, other: Self, name: str) -> Iterator[str]:
        """Yield the ids of the authors with a public name that another ladder knows, too. Pseudonyms differ between ladders."""
        handle = self._handle_of(name)
        known = other._given()
        for (own,) in self._rows(f"SELECT name FROM ladder_author WHERE {SAME_HANDLE}", handle, handle):
            if own in known:
                yield own

    def banned(self) -> frozenset[str]:
        """Return the public names of all banned authors."""
        question = (
            "SELECT coalesce(handle, a.name) FROM ladder_author a LEFT JOIN ladder_person ON id = a.name WHERE banned NOT NULL"
        )
        return frozenset([str(handle) for (handle,) in self._rows(question)])

    # The roster

    def enrol(self, people: Iterable[Person], *, pseudonyms: bool) -> None:
        """Add authors, and change authors that are known. No author is removed, and pseudonyms stay the same."""
        with self._writing():
            for person in people:
                self.expect(person.id)
                own = self._rows("SELECT handle, team FROM ladder_person WHERE id = ?", person.id)
                shared = self._rows("SELECT handle FROM ladder_person WHERE team = ? AND team != ''", person.team)
                if own and own[0][0].startswith(FORGOTTEN):
                    continue
                handle = person.team or person.id
                if pseudonyms and shared:
                    handle = shared[0][0]
                elif pseudonyms:
                    handle = own[0][0] if own and own[0][1] == person.team else f"p-{token_hex(4)}"
                self._keep_person(person, handle)

    def _keep_person(self, person: Person, handle: str) -> None:
        self._write(
            "INSERT OR REPLACE INTO ladder_person (id, name, email, team, handle) VALUES (?, ?, ?, ?, ?)",
            *(person.id, person.name, person.email, person.team, handle),
        )

    def people(self) -> list[tuple[Person, str]]:
        """Return all authors with their public names, sorted by id."""
        return self._people("ORDER BY a.name")

    def person(self, author: str) -> Person:
        """Return what the roster says about an author, who must exist."""
        return self._people("WHERE a.name = ?", author)[0][0]

    def _people(self, which: str, *values: str) -> list[tuple[Person, str]]:
        question = (
            "SELECT a.name, coalesce(p.name, ''), coalesce(email, ''), coalesce(team, ''), coalesce(handle, a.name) "
            f"FROM ladder_author a LEFT JOIN ladder_person p ON id = a.name {which}"
        )
        return [(Person(*found), str(handle)) for *found, handle in self._rows(question, *values)]

    def without_token(self) -> list[str]:
        """Return the ids of all authors without a token. Banned authors get none."""
        question = "SELECT name FROM ladder_author WHERE token IS NULL AND banned IS NULL ORDER BY name"
        return [str(name) for (name,) in self._rows(question)]


def _make_token(size: int) -> str:
    """Return a random text of `size` bytes. It does not begin with a hyphen, which an option of a command and a formula in a
    table do, so that a CSV file holds it unchanged.
    """
    while (token := token_urlsafe(size)).startswith("-"):
        pass
    return token


def _hash(token: str) -> str:
    """Return the hash of a token for storage. A token has 256 random bits, so a simple hash cannot be reversed by a search."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()  # a string of JSON may be no valid text
