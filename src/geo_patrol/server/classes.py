"""Classes: pupils who come by one link and play each other or an agent, and a teacher who sees all of their tables."""

import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from geo_patrol.errors import show
from geo_patrol.files import atomic_write, read_limited
from geo_patrol.server.class_models import MAX_GAMES, MAX_PUPILS, ClassGame, NewClass, Pupil, SavedClass
from geo_patrol.server.hall import Hall, NewTable
from geo_patrol.server.limits import MessageLimit
from geo_patrol.server.people import csv_text, read_name
from geo_patrol.server.protocol import ProtocolError
from geo_patrol.server.seats import Seat, accepts, hash_secret, make_seat_agent
from geo_patrol.server.tables import Table
from geo_patrol.sides import SIDES

MAX_CLASSES = 50
_MAX_FILE_BYTES = 1 << 20
_REQUESTS = (100.0, 300)
"""A second, and at once, of a class: sixty pupils ask for their tables every two seconds."""
_COLUMNS = (
    *("game", "alpha", "alpha_is", "bravo", "bravo_is", "alpha_score", "bravo_score"),
    *("winner", "reasons", "turns", "over", "replay"),
)


class SchoolClass:
    """A class.

    Args:
        name: its identifier, which is in the link for everybody.
        saved: its setup, pupils and games.
        hall: opens its tables.
        folder: of its file.
    """

    def __init__(self, name: str, saved: SavedClass, hall: Hall, folder: Path) -> None:
        self.id, self.saved, self._hall, self._folder = name, saved, hall, folder
        self.limit = MessageLimit(*_REQUESTS)
        for game, table in self._tables():
            table.is_paused = game.is_paused and not table.is_over

    def save(self) -> None:
        """Save pupils and games."""
        with atomic_write(self._folder / f"{self.id}.json") as stream:
            stream.write(self.saved.model_dump_json())

    @property
    def title(self) -> str:
        """What the teacher calls it."""
        return self.saved.new.title or "A class"

    def _tables(self) -> list[tuple[ClassGame, Table]]:
        """Return its games with their tables, those that could not be restored left out."""
        found = [(game, self._hall.find(game.table)) for game in self.saved.games]
        return [(game, table) for game, table in found if table is not None]

    @property
    def tables(self) -> list[Table]:
        """The tables of its games, those that could not be restored left out."""
        return [table for _, table in self._tables()]

    def check_teacher(self, secret: str) -> None:
        """Raise ProtocolError if a secret is not the teacher's."""
        if not accepts(self.saved.teacher_hash, secret):
            raise ProtocolError("wrong_secret", "this secret is not the teacher's")

    # Pupils

    def add_pupil(self, name: str) -> str:
        """Let somebody in; return the secret, which is that of all seats that the pupil gets.

        Raises:
            ProtocolError: the class is full, or has somebody of that name.
        """
        name = read_name(name, (pupil.name for pupil in self.saved.pupils))
        if len(self.saved.pupils) >= MAX_PUPILS:
            raise ProtocolError("too_many", f"a class has at most {MAX_PUPILS} pupils")
        secret = secrets.token_urlsafe(24)
        self.saved.pupils.append(Pupil(name=name, secret_hash=hash_secret(secret)))
        self.seat_if_possible()
        return secret

    def pupil_of(self, secret: str) -> int:
        """Return the number of the pupil with a secret.

        Raises:
            ProtocolError: nobody has it.
        """
        found = [i for i, pupil in enumerate(self.saved.pupils) if accepts(pupil.secret_hash, secret)]
        if not found:
            raise ProtocolError("wrong_secret", "this secret is nobody's in the class")
        return found[0]

    def seat_record(self, number: int) -> dict[str, Any]:
        """Return where a pupil is: name, title, table with the side, None while there is none, whether it is over."""
        game = next((game for game in reversed(self.saved.games) if number in (game.alpha, game.bravo)), None)
        table = None if game is None else self._hall.find(game.table)
        return {
            "title": self.title,
            "name": self.saved.pupils[number].name,
            "waiting": self.saved.pupils[number].is_waiting,
            "paused": self.saved.is_paused,
            "table": None if table is None else table.id,
            "over": table is None or table.is_over,
        }

    def play_again(self, number: int) -> None:
        """Let a pupil whose game is over wait for the next one.

        Raises:
            ProtocolError: the game is not over.
        """
        if not self.seat_record(number)["over"]:
            raise ProtocolError("no_seat", "your game is not over")
        self.saved.pupils[number].is_waiting = True
        self.seat_if_possible()

    def seat_if_possible(self) -> None:
        """Seat those who wait; while there are too many tables, they go on waiting."""
        with suppress(ProtocolError):
            self.seat_pupils()
        self.save()

    def seat_pupils(self, *, with_agent: bool = False) -> None:
        """Open tables for those who wait, in pairs, in the order in which they came.

        Args:
            with_agent: whether the one without a partner plays the agent.

        Raises:
            ProtocolError: there are too many tables.
        """
        waiting = [i for i, pupil in enumerate(self.saved.pupils) if pupil.is_waiting]
        if self.saved.new.pairs:
            while len(waiting) > 1:
                self._open_table(waiting.pop(0), waiting.pop(0))
        if with_agent or not self.saved.new.pairs:
            for number in waiting:
                self._open_table(number, None)

    def _open_table(self, first: int, second: int | None) -> None:
        """Open a table; whoever has played alpha less often than the other does now."""
        if len(self.saved.games) >= MAX_GAMES:
            raise ProtocolError("too_many", f"a class has at most {MAX_GAMES} games")
        is_swapped = self._alpha_games(first) > (self._alpha_games(second) if second is not None else 0)
        alpha, bravo = (second, first) if is_swapped else (first, second)
        seats = {side: self._make_seat(number) for side, number in zip(SIDES, (alpha, bravo), strict=True)}
        new = NewTable.model_validate(self.saved.new.model_dump(exclude={"agent", "pairs"}))
        table, _ = self._hall.open_table(new, seats)
        table.is_paused = self.saved.is_paused
        paused = self.saved.is_paused
        self.saved.games.append(ClassGame(table=table.id, alpha=alpha, bravo=bravo, is_paused=paused))
        for number in (first, second):
            if number is not None:
                self.saved.pupils[number].is_waiting = False

    def _alpha_games(self, number: int) -> int:
        """Return how many more games a pupil has played as alpha than as bravo."""
        return sum((game.alpha == number) - (game.bravo == number) for game in self.saved.games)

    def _make_seat(self, number: int | None) -> Seat:
        if number is None:
            return Seat(kind="agent", name=self.saved.new.agent)
        pupil = self.saved.pupils[number]
        return Seat(kind="taken", name=pupil.name, secret_hash=pupil.secret_hash)

    # The teacher

    def overview(self) -> dict[str, Any]:
        """Return what the teacher sees: who waits, and all tables, the latest first."""
        return {
            "title": self.title,
            "paused": self.saved.is_paused,
            "pairs": self.saved.new.pairs,
            "agent": self.saved.new.agent,
            "pupils": [pupil.name for pupil in self.saved.pupils],
            "waiting": [pupil.name for pupil in self.saved.pupils if pupil.is_waiting],
            "tables": [
                _table_record(table) | {"names": self._names(game, table)} for game, table in reversed(self._tables())
            ],
        }

    def _names(self, game: ClassGame, table: Table) -> list[str]:
        """Return who plays alpha and bravo: pupils by their names in the class, whatever they call themselves at the table."""
        seats = zip(game.pupils, (table.names.alpha, table.names.bravo), strict=True)
        return [agent if number is None else self.saved.pupils[number].name for number, agent in seats]

    def pause(self, table: str | None, *, is_paused: bool) -> list[Table]:
        """Take down that games are paused or go on; return the tables for which that is new.

        Args:
            table: of the game; None for all of them, and those to come.
            is_paused: whether they are paused.
        """
        if table is None:
            self.saved.is_paused = is_paused
        changed = [(game, one) for game, one in self._tables() if table in (None, one.id) and not one.is_over]
        for game, _ in changed:
            game.is_paused = is_paused
        self.save()
        return [one for _, one in changed]

    def results(self, address: str) -> str:
        """Return a row for each game as CSV.

        Args:
            address: of the server, for links to replays.
        """
        rows = []
        for number, game in enumerate(self.saved.games, start=1):
            if (table := self._hall.find(game.table)) is not None:
                kinds = ("agent" if pupil is None else "pupil" for pupil in game.pupils)
                alpha, bravo = self._names(game, table)
                players = (alpha, next(kinds), bravo, next(kinds))
                winner = "" if not table.is_over else table.game.winner or "draw"
                replay = f"{address}replays/{table.id}.jsonl.gz" if table.is_over else ""
                reasons = ", ".join(map(str, table.game.reasons))
                scores = table.game.scores.values()
                rows.append((number, *players, *scores, winner, reasons, table.game.turn, table.is_over, replay))
        return csv_text(_COLUMNS, rows)


def _table_record(table: Table) -> dict[str, Any]:
    """Return what the teacher sees of a table."""
    missing = [side for side in table.people if side not in table.submitted]
    return {
        "table": table.id,
        "turn": table.game.turn,
        "phase": table.game.phase,
        "score": list(table.game.scores.values()),
        "over": table.is_over,
        "winner": table.game.winner,
        "paused": table.is_paused,
        "waiting_for": [] if table.is_over else missing,
        "away": [] if table.is_over else [side for side in table.people if side not in table.connected],
    }


class Classes:
    """All classes of a server.

    Args:
        hall: opens their tables.

    Attributes:
        damaged: what is wrong with those that cannot be restored.
    """

    def __init__(self, hall: Hall) -> None:
        self._hall, self._folder = hall, hall.folder / "classes"
        self._classes: dict[str, SchoolClass] = {}
        self.damaged: list[str] = []
        for path in sorted(self._folder.glob("[!.]*.json")):
            try:
                saved = SavedClass.model_validate_json(read_limited(path, _MAX_FILE_BYTES))
                self._classes[path.stem] = SchoolClass(path.stem, saved, hall, self._folder)
            except (ValidationError, OSError, ValueError) as error:
                self.damaged.append(f"{path}: {str(error).splitlines()[0]}")

    @property
    def tables(self) -> set[str]:
        """The identifiers of all tables of classes."""
        return {game.table for one in self._classes.values() for game in one.saved.games}

    def open_class(self, new: NewClass) -> tuple[SchoolClass, str]:
        """Open a class; return it with the teacher's secret.

        Raises:
            ProtocolError: there are too many, or the agent or the game is wrong.
            ConfigError: the scenario is wrong.
        """
        if len(self._classes) >= MAX_CLASSES:
            raise ProtocolError("too_many", f"there are {MAX_CLASSES} classes: remove the files of old ones")
        self._hall.load_setup(new)
        make_seat_agent(new.agent, self._hall.own_agents)
        secret = secrets.token_urlsafe(24)
        saved = SavedClass(new=new, teacher_hash=hash_secret(secret))
        self._folder.mkdir(exist_ok=True)
        opened = SchoolClass(secrets.token_urlsafe(8), saved, self._hall, self._folder)
        opened.save()
        self._classes[opened.id] = opened
        return opened, secret

    def find(self, name: str) -> SchoolClass:
        """Return a class.

        Raises:
            ProtocolError: there is none of that name.
        """
        if name not in self._classes:
            raise ProtocolError("no_table", f"there is no class {show(name)}")
        return self._classes[name]
