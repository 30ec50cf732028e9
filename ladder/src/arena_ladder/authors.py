"""The authors of a ladder: their names, their tokens and links, and who is banned."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from secrets import token_hex, token_urlsafe

from arena import ArenaError
from arena.clock import wall_time
from arena_ladder.roster import Person
from arena_ladder.tables import LadderTables
from arena_web.errors import Refusal

HOST_TOKEN = "host token"  # noqa: S105 - the name of a setting
"""The name of the setting that holds the hash of the host's token."""
FORGOTTEN = "gone-"
"""The prefix of the public name of an author whose data were removed. A roster does not change such a name."""


class AuthorTables(LadderTables):
    """The authors in the tables of a ladder."""

    _others: Sequence["AuthorTables"] = ()

    def register(self, name: str, who: str) -> str:
        """Give an author a new token, and return it. An old token becomes invalid. Only the hash of the token is stored."""
        token = _make_token(32)
        with self._writing():
            self._write(
                "INSERT INTO ladder_author (name, token, registered) VALUES (?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET token = excluded.token",
                *(name, _hash(token), wall_time()),
            )
            self.note(who, "token", name)
        return token

    def make_link(self, name: str, who: str) -> str:
        """Return a code that gives an author a token once; an older code becomes invalid. Only the hash of the code is stored."""
        code = _make_token(24)
        with self._writing():
            self.expect(name)
            self._write(
                "INSERT OR REPLACE INTO ladder_link (code, author, made) VALUES (?, ?, ?)", _hash(code), name, wall_time()
            )
            self.note(who, "link", name)
        return code

    def claim(self, code: str) -> tuple[str, str]:
        """Use up the code of a link. Return the id of the author and a new token. Raises Refusal 404 if the code is not valid."""
        with self._writing():
            author = self._value("SELECT author FROM ladder_link WHERE code = ?", _hash(code))
            if author is None:
                raise Refusal(404, "this link is invalid or has already been used", "ask the host of the ladder for a new one")
            self._write("DELETE FROM ladder_link WHERE author = ?", author)
            return str(author), self.register(str(author), str(author))

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
        return next((found for ledger in (self, *self._others) if (found := ledger.find_own_author(token)) is not None), None)

    def find_own_author(self, token: str) -> str | None:
        """Return the author to whom this ladder itself has given a token; None for any other token."""
        found = self._value("SELECT name FROM ladder_author WHERE token = ?", _hash(token))
        return None if found is None else str(found)

    def share_tokens(self, others: Iterable["AuthorTables"]) -> None:
        """Also accept the tokens that other ladders have given to authors with the same ids, and to the host.

        Only ladders in which the same ids are the same people may share tokens, because an id is all that they compare.
        """
        self._others = [ledger for ledger in others if ledger is not self]

    def make_host_token(self) -> str:
        """Return a new token for the page of the host; an old token becomes invalid. Only the hash of the token is stored."""
        token = _make_token(32)
        with self._writing():
            self._keep_setting(HOST_TOKEN, _hash(token))
            self.note("admin", "token", "host")
        return token

    def is_host(self, token: str) -> bool:
        """Return True if a token belongs to the host."""
        return any(ledger.setting(HOST_TOKEN) == _hash(token) for ledger in (self, *self._others))

    def authors(self) -> list[tuple[str, bool]]:
        """Return the names of all authors, each with a flag that is true for banned authors."""
        return [(name, banned is not None) for name, banned in self._rows("SELECT name, banned FROM ladder_author ORDER BY name")]

    def _set_banned(self, name: str, when: float | None) -> str:
        """Ban all authors with the same public name from the time `when`; None ends the ban. `name` is the public name or the id
        of one of the authors. Return the public name.
        """
        handles = self._rows("SELECT handle FROM ladder_person WHERE id = ? OR handle = ?", name, name)
        handle = str(handles[0][0]) if handles else name
        concerned = "name = ? OR name IN (SELECT id FROM ladder_person WHERE handle = ?)"
        if not self._write(f"UPDATE ladder_author SET banned = ? WHERE {concerned}", when, handle, handle):
            raise ArenaError(f"unknown author {name!r}; `arena ladder admin SPEC tokens` lists them")
        return handle

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
        """Return the ids of all authors without a token."""
        return [str(name) for (name,) in self._rows("SELECT name FROM ladder_author WHERE token IS NULL ORDER BY name")]


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
