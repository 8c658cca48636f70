"""Challenges: one mission of the flight games that many pilots fly, each as often as they like, and their ranking."""

import secrets
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from geo_patrol.config.preset_files import mission_names
from geo_patrol.errors import show
from geo_patrol.files import atomic_write, read_limited
from geo_patrol.flight.best import best_known
from geo_patrol.flight.flight import Flight
from geo_patrol.flight.generator import random_mission
from geo_patrol.flight.mission import Mission, load_mission
from geo_patrol.flight.solver import rank, solve
from geo_patrol.server.flight_models import (
    MAX_PILOTS,
    RANDOM,
    BestFlight,
    KnownScore,
    NewChallenge,
    Pilot,
    SavedChallenge,
)
from geo_patrol.server.limits import MessageLimit
from geo_patrol.server.people import csv_text, read_name
from geo_patrol.server.protocol import ProtocolError
from geo_patrol.server.scenarios import read_scenario
from geo_patrol.server.seats import accepts, hash_secret

MAX_CHALLENGES = 200
_MAX_FILE_BYTES = 1 << 20
_MAX_RANDOM_SEED = 1_000_000
_MAX_STATES = 1_000
"""Width of the search for a good flight of a mission that is not of the package: about a second."""
_REQUESTS = (100.0, 300)
"""A second, and at once, of a challenge: a class flies, and asks for the ranking every few seconds."""
_COLUMNS = ("rank", "name", "score", "turns", "accomplished", "flights", "orders")


class Challenge:
    """A challenge. Pilots take back turns and fly again as often as they like; each flight that ends is ranked.

    Args:
        name: its identifier, which is in the link for everybody.
        saved: its mission and its pilots.
        folder: of its file.
    """

    def __init__(self, name: str, saved: SavedChallenge, folder: Path) -> None:
        self.id, self.saved, self._folder = name, saved, folder
        self.limit = MessageLimit(*_REQUESTS)

    @property
    def mission(self) -> Mission:
        """What everybody flies."""
        return self.saved.mission

    def save(self) -> None:
        """Save mission and pilots."""
        with atomic_write(self._folder / f"{self.id}.json") as stream:
            stream.write(self.saved.model_dump_json())

    # Pilots

    def add_pilot(self, name: str) -> str:
        """Let somebody fly; return the secret.

        Raises:
            ProtocolError: there are too many, or there is somebody of that name.
        """
        name = read_name(name, (pilot.name for pilot in self.saved.pilots))
        if len(self.saved.pilots) >= MAX_PILOTS:
            raise ProtocolError("too_many", f"at most {MAX_PILOTS} pilots fly a mission")
        secret = secrets.token_urlsafe(24)
        self.saved.pilots.append(Pilot(name=name, secret_hash=hash_secret(secret)))
        self.save()
        return secret

    def pilot_of(self, secret: str) -> Pilot:
        """Return the pilot with a secret.

        Raises:
            ProtocolError: nobody has it.
        """
        found = [pilot for pilot in self.saved.pilots if accepts(pilot.secret_hash, secret)]
        if not found:
            raise ProtocolError("wrong_secret", "this secret is no pilot's of this mission")
        return found[0]

    def flight_of(self, pilot: Pilot) -> Flight:
        """Return the flight in progress, or the last one."""
        return Flight.from_orders(self.mission, pilot.orders)

    # Orders; each names the number of orders before it, so that one that is sent twice counts once

    def fly(self, pilot: Pilot, number: int, order: str) -> Flight:
        """Fly a turn; return the flight.

        Raises:
            ProtocolError: the flight is elsewhere.
            OrderError: the order cannot be read or is illegal.
        """
        flight = self.flight_of(pilot)
        if number == len(pilot.orders) - 1 and order == pilot.orders[number]:
            return flight
        _check_number(pilot, number)
        pilot.orders = [*pilot.orders, flight.fly(order).order]
        if flight.is_over:
            pilot.num_flights += 1
            if pilot.best is None or rank(flight) > pilot.best.rank:
                pilot.best = BestFlight(orders=pilot.orders, turns=flight.turn, rank=rank(flight))
        self.save()
        return flight

    def take_back(self, pilot: Pilot, number: int, *, everything: bool) -> Flight:
        """Take back the last order, or all of them; return the flight.

        Raises:
            ProtocolError: the flight is elsewhere.
        """
        _check_number(pilot, number)
        pilot.orders = [] if everything else pilot.orders[:-1]
        self.save()
        return self.flight_of(pilot)

    # The ranking

    def ranking(self) -> list[dict[str, Any]]:
        """Return a row for each pilot, the best first; equal flights share a rank, who has not ended one has none."""
        flown = sorted(
            ((pilot, pilot.best) for pilot in self.saved.pilots if pilot.best is not None),
            key=lambda pair: pair[1].rank,
            reverse=True,
        )
        ranks = [best.rank for _, best in flown]
        rows = [_row(pilot, ranks.index(best.rank) + 1, best) for pilot, best in flown]
        return [*rows, *(_row(pilot, None, None) for pilot in self.saved.pilots if pilot.best is None)]

    def results(self) -> str:
        """Return the ranking as CSV, with the orders of each best flight, which ``geo-patrol fly --orders`` takes."""
        orders = {pilot.name: "; ".join(pilot.best.orders) for pilot in self.saved.pilots if pilot.best is not None}
        rows = self.ranking()
        return csv_text(_COLUMNS, ([*row.values(), orders.get(row["name"], "")] for row in rows))


def _row(pilot: Pilot, number: int | None, best: BestFlight | None) -> dict[str, Any]:
    return {
        "rank": number,
        "name": pilot.name,
        "score": None if best is None else best.score,
        "turns": None if best is None else best.turns,
        "accomplished": best is not None and best.success,
        "flights": pilot.num_flights,
    }


def _check_number(pilot: Pilot, number: int) -> None:
    if number != len(pilot.orders):
        text = f"number = {number}: {len(pilot.orders)} orders have been flown; load the page again"
        raise ProtocolError("too_late" if number < len(pilot.orders) else "too_soon", text)


class Challenges:
    """All challenges of a server.

    Args:
        folder: of the server's files.

    Attributes:
        damaged: what is wrong with those that cannot be restored.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "flights"
        self._challenges: dict[str, Challenge] = {}
        self.damaged: list[str] = []
        for path in sorted(self._folder.glob("[!.]*.json")):
            try:
                saved = SavedChallenge.model_validate_json(read_limited(path, _MAX_FILE_BYTES))
                self._challenges[path.stem] = Challenge(path.stem, saved, self._folder)
            except (ValidationError, OSError, ValueError) as error:
                self.damaged.append(f"{path}: {str(error).splitlines()[0]}")

    def open_challenge(self, new: NewChallenge) -> Challenge:
        """Open a challenge. This takes a second for a mission that is not of the package.

        Raises:
            ProtocolError: there are too many, or there is no such mission.
            ConfigError: the mission is wrong.
        """
        if len(self._challenges) >= MAX_CHALLENGES:
            raise ProtocolError("too_many", f"there are {MAX_CHALLENGES} challenges: remove the files of old ones")
        mission = _make_mission(new)
        saved = SavedChallenge(title=new.title or mission.title, mission=mission, best_known=_find_best(mission))
        self._folder.mkdir(exist_ok=True)
        opened = Challenge(secrets.token_urlsafe(8), saved, self._folder)
        opened.save()
        self._challenges[opened.id] = opened
        return opened

    def find(self, name: str) -> Challenge:
        """Return a challenge.

        Raises:
            ProtocolError: there is none of that name.
        """
        if name not in self._challenges:
            raise ProtocolError("no_table", f"there is no challenge {show(name)}")
        return self._challenges[name]


def _make_mission(new: NewChallenge) -> Mission:
    if new.scenario is None and new.mission == RANDOM:
        seed = secrets.randbelow(_MAX_RANDOM_SEED) if new.seed is None else new.seed
        mission = random_mission(np.random.default_rng(seed), game=new.game)
        return mission.model_copy(update={"title": f"Random mission {seed}"})
    return load_mission(read_scenario("mission", new.mission, new.scenario, mission_names()))


def _find_best(mission: Mission) -> KnownScore | None:
    """Return the best flight that is known or found quickly; None if no flight is found that accomplishes the mission."""
    known = best_known(mission)
    if known is not None:
        return KnownScore(**known._asdict())
    found = solve(mission, max_states=_MAX_STATES)
    if not found.flight.is_success:
        return None
    return KnownScore(score=found.score, turns=found.flight.turn, is_proved=found.is_proved)
