"""All tables of a server: opening them, and restoring them from their files."""

import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from geo_patrol.config.presets import load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.config.toml_files import MAX_FILE_BYTES, preset_names
from geo_patrol.errors import GeoPatrolError, printable, show
from geo_patrol.files import read_limited
from geo_patrol.game import Game
from geo_patrol.games import fresh_seed
from geo_patrol.replays.files import sampled_config
from geo_patrol.server.protocol import ProtocolError
from geo_patrol.server.requests import read_scenario
from geo_patrol.server.tables import SavedTable, Seat, Table
from geo_patrol.sides import SIDES, Side

MAX_FINISHED = 50
"""Games that are over, and still in memory and in the lobby."""
_NAME = re.compile("[0-9a-f]{12}")
_PERSON = "person"
_MAX_TITLE = 80


class NewTable(BaseModel):
    """What is asked for a new table."""

    model_config = ConfigDict(extra="forbid", strict=True)

    title: Annotated[str, StringConstraints(max_length=_MAX_TITLE)] = ""
    preset: Annotated[str, StringConstraints(max_length=80)] = "geo_patrol"
    scenario: Annotated[str, StringConstraints(max_length=MAX_FILE_BYTES)] | None = None
    """A scenario as TOML instead of a preset; it may extend a preset, but no file."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    clock: Annotated[float, Field(ge=1, le=604_800)] | None = None
    """Seconds for a phase."""
    on_timeout: Literal["hold", "forfeit"] = "hold"
    hints: bool = True
    """Whether people may ask for hints."""
    alpha: Annotated[str, StringConstraints(min_length=1, max_length=100)] = "open"
    """"open": anybody may take the seat; "link": its secret is returned; otherwise the name of an agent."""
    bravo: Annotated[str, StringConstraints(min_length=1, max_length=100)] = "open"


class Hall:
    """The tables of a server.

    Args:
        folder: of all files; created if necessary.
        max_tables: how many may be open at once.
        own_agents: see ``make_seat_agent``.

    Attributes:
        folder: of all files.
        max_tables: how many may be open at once.
        own_agents: that the operator allows.
        tables: that are in memory, by identifier: games in progress, and those that ended last.
        damaged: what is wrong with tables that cannot be restored.
    """

    def __init__(self, folder: Path, max_tables: int = 200, own_agents: frozenset[str] = frozenset()) -> None:
        self.folder, self.max_tables, self.own_agents = folder, max_tables, own_agents
        self.tables: dict[str, Table] = {}
        self.damaged: list[str] = []
        folder.mkdir(parents=True, exist_ok=True)
        saved = {path: one for path in folder.glob("[!.]*.json") if (one := self._read(path)) is not None}
        for is_over, count in ((True, MAX_FINISHED), (False, max_tables)):  # others when somebody opens them
            paths = [path for path, one in saved.items() if one.is_over == is_over]
            for path in sorted(paths, key=self._last_change)[-count:]:
                self._restore(path, saved[path])

    @staticmethod
    def _last_change(path: Path) -> float:
        """Return when a table was opened, or its last phase was played."""
        replay = path.with_suffix(".jsonl.gz")
        return max(one.stat().st_mtime for one in (path, replay) if one.exists())

    def _read(self, path: Path) -> SavedTable | None:
        try:
            return SavedTable.model_validate_json(read_limited(path, MAX_FILE_BYTES))
        except (GeoPatrolError, ValidationError, OSError) as error:
            self._note_damage(path, error)
            return None

    def _restore(self, path: Path, saved: SavedTable) -> None:
        try:
            self.tables[path.stem] = Table.restore(path.stem, saved, self.folder, self.own_agents)
        except (GeoPatrolError, OSError) as error:
            self._note_damage(path, error)

    def _note_damage(self, path: Path, error: Exception) -> None:
        text = f"{path}: {str(error).splitlines()[0]}"
        if text not in self.damaged:
            self.damaged.append(text)

    def find(self, name: str) -> Table | None:
        """Return a table, from its files if it is not in memory; None if there is none of that name."""
        path = self.folder / f"{name}.json"
        if name not in self.tables and _NAME.fullmatch(name) and path.exists():
            saved = self._read(path)
            if saved is not None:
                self._restore(path, saved)
        return self.tables.get(name)

    def unload(self, name: str) -> None:
        """Remove a table from memory; its files stay."""
        self.tables.pop(name).close()

    def table(self, name: str) -> Table:
        """Return a table.

        Raises:
            ProtocolError: there is none of that name.
        """
        table = self.find(name)
        if table is None:
            raise ProtocolError("no_table", f"there is no table {show(name)}")
        return table

    def open_table(self, new: NewTable, taken: Mapping[Side, Seat] | None = None) -> tuple[Table, dict[Side, str]]:
        """Open a table; return it with the secrets of the seats that links lead to.

        Args:
            new: what is asked for.
            taken: seats that are taken already, whatever is asked for them.

        Raises:
            ProtocolError: there are too many, or an agent is unknown.
            ConfigError: the scenario is wrong.
        """
        if sum(not table.is_over for table in self.tables.values()) >= self.max_tables:
            raise ProtocolError("too_many", f"{self.max_tables} games are in progress: try again later", 60.0)
        seed = fresh_seed() >> 1 if new.seed is None else new.seed
        config = self.load_setup(new)
        sampled = sampled_config(Game(config, seed=seed))
        seats: list[Seat] = []
        links: dict[Side, str] = {}
        for side, name in zip(SIDES, (new.alpha, new.bravo), strict=True):
            is_person = name in ("open", "link")
            seat = Seat(kind="open" if is_person else "agent", name=_PERSON if is_person else name)
            seats.append((taken or {}).get(side, seat))
            if name == "link":
                links[side] = seats[-1].take()
        saved = SavedTable(
            title=printable(new.title or config.title, _MAX_TITLE),
            config=sampled.to_dict(),
            seed=seed,
            clock=new.clock,
            on_timeout=new.on_timeout,
            hints=new.hints,
            alpha=seats[0],
            bravo=seats[1],
        )
        table = Table(secrets.token_hex(6), saved, self.folder, self.own_agents)
        table.save()
        self.tables[table.id] = table
        return table, links

    def load_setup(self, new: NewTable) -> GameConfig:
        """Return the configuration of a new table.

        Raises:
            ProtocolError: there is no such preset, or the scenario is no TOML.
            ConfigError: the scenario is wrong.
        """
        source = read_scenario("preset", new.preset, new.scenario, preset_names())
        return load_config(source, {"illegal_orders": "forfeit"} if new.on_timeout == "forfeit" else None)

    def close(self) -> None:
        """Close the files of all tables."""
        for table in self.tables.values():
            table.close()
