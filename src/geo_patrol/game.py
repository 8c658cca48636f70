"""``Game``: one game in progress."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from geo_patrol.board_text import outcomes_text, position_text
from geo_patrol.config.presets import ConfigSource, Overrides, load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine import state
from geo_patrol.engine.batch import Batch, check_seed, fresh_seed
from geo_patrol.engine.distribution import OutcomeDistribution, outcome_distribution
from geo_patrol.engine.drift import winner_of
from geo_patrol.engine.encodings import Encoding
from geo_patrol.engine.engagement import attack_probability, guard_probability
from geo_patrol.engine.legality import ILLEGAL, order_cost
from geo_patrol.engine.rng import fork_stream
from geo_patrol.errors import OrderError
from geo_patrol.explain import why_illegal
from geo_patrol.notation import (
    ENGAGEMENTS,
    MOVES,
    PHASES,
    EndReason,
    Order,
    Orders,
    Outcome,
    PhaseName,
    Satellite,
    SatelliteId,
    as_order,
    read_orders,
    read_outcomes,
    read_reasons,
    short_name,
)
from geo_patrol.saving import position_bytes, restore_game, save_game
from geo_patrol.sides import SIDES, Side


class Game:
    """One game of GEO Patrol, or of whatever its configuration says.

    >>> game = Game("geo_patrol", seed=7)
    >>> game.step(alpha="P1 radial_in; P10 prograde", bravo=["P3 retrograde"])
    ()
    >>> game.phase
    'engagement'

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        seed: of the random stream, a whole number from 0, taken modulo 2^64; None takes one from the operating
            system.
        overrides: single values of the configuration, such as ``{"bravo.patrols.ammo": 3}``.

    Raises:
        ConfigError: the configuration is wrong.
        ValueError: the seed is.
    """

    def __init__(
        self, config: ConfigSource = "geo_patrol", *, seed: int | None = None, overrides: Overrides | None = None
    ) -> None:
        self._batch = Batch(load_config(config, overrides))
        self._batch.seed([fresh_seed() if seed is None else check_seed(seed)])
        self._batch.reset()
        self._batch.describe()

    @property
    def _game(self) -> state.Record:
        return self._batch.games[0]

    @property
    def _rules(self) -> state.Record:
        return self._batch.rules[0]

    # Properties

    @property
    def config(self) -> GameConfig:
        """The configuration, with its ranges and choices, before any of them is sampled."""
        return self._batch.config

    @property
    def turn(self) -> int:
        """The number of the turn being played, from 1; of a finished game, of its last turn."""
        return int(self._game.turn) + 1

    @property
    def phase(self) -> PhaseName:
        """What is to be ordered now, "movement" or "engagement"; "drift" when the game is over."""
        phase: PhaseName = PHASES[self._game.phase]
        return phase

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return bool(self._game.done)

    @property
    def reasons(self) -> tuple[EndReason, ...]:
        """Why the game ended; empty while it goes on. Several reasons may hold at once."""
        return read_reasons(int(self._game.reasons))

    @property
    def winner(self) -> Side | None:
        """The side with more points when the game has ended; None for a draw, or while it goes on.

        A side that forfeits loses whatever the points; if both do, it is a draw.
        """
        winners: dict[int, Side] = {state.ALPHA: "alpha", state.BRAVO: "bravo"}
        return winners.get(int(winner_of(self._game)))

    @property
    def scores(self) -> dict[Side, int]:
        """Points of each side when they were last counted: goal points so far and fuel points."""
        return dict(zip(SIDES, self._game.score.tolist(), strict=True))

    @property
    def goal_points(self) -> dict[Side, int]:
        """Goal points of each side so far."""
        return dict(zip(SIDES, self._game.goal_points.tolist(), strict=True))

    @property
    def goals(self) -> dict[Side, int]:
        """The goal sector of each side now."""
        return dict(zip(SIDES, self._game.goal.tolist(), strict=True))

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What became of the orders of the last engagement phase, in the order in which it happened."""
        return read_outcomes(self._batch.outcomes, self._batch.outcome_count)

    def satellites(self, side: Side) -> tuple[Satellite, ...]:
        """Return a side's satellites, HVA first: the index in the tuple is the number."""
        index, games = _side_index(side), self._batch.games
        fleet = 1 + int(self._batch.rules["patrol_count"][0, index])
        # Whole rows: reading a record value by value takes ten times as long.
        rows = (games[field][0, index, :fleet].tolist() for field in ("sector", "fuel", "ammo", "destroyed"))
        return tuple(
            Satellite(SatelliteId(side, number), sector, fuel, ammo, bool(destroyed))
            for number, (sector, fuel, ammo, destroyed) in enumerate(zip(*rows, strict=True))
        )

    def satellite(self, side: Side, number: int) -> Satellite:
        """Return one satellite.

        Raises:
            OrderError: the side has none of that number.
        """
        index, game = _side_index(side), self._game
        last = int(self._rules.patrol_count[index])
        if isinstance(number, bool) or number not in range(last + 1):
            raise OrderError(f"satellite {number!r}: {side} has 0 (HVA) to {last}")
        return Satellite(
            id=SatelliteId(side, int(number)),
            sector=int(game.sector[index, number]),
            fuel=int(game.fuel[index, number]),
            ammo=int(game.ammo[index, number]),
            destroyed=bool(game.destroyed[index, number]),
        )

    def action_mask(self, side: Side) -> NDArray[np.int8]:
        """Return a side's legal orders as (11, 28) int8: 1 where a satellite may be given an order code."""
        mask: NDArray[np.int8] = self._batch.masks()[0, _side_index(side)]
        return mask

    def observation(self, side: Side, encoding: Encoding = "onehot") -> NDArray[Any]:
        """Return what a side sees, as in the environments; ``observation_names`` names its components."""
        observation: NDArray[Any] = self._batch.observe(encoding)[0, _side_index(side)]
        return observation

    def legal_orders(self, side: Side) -> dict[int, tuple[Order, ...]]:
        """Return the legal orders of each of a side's satellites by number; noop is always among them."""
        mask = self.action_mask(side)
        fleet = len(self.satellites(side))
        return {
            number: tuple(Order.from_code(number, int(code)) for code in np.flatnonzero(mask[number]))
            for number in range(fleet)
        }

    def is_legal(self, side: Side, order: Order | str) -> bool:
        """Return whether a side may give an order now: the phase, range and fuel allow it."""
        order = as_order(order)
        return bool(self._batch.episodes["legal"][0, _side_index(side), order.satellite] >> order.code & 1)

    def cost(self, side: Side, order: Order | str) -> int:
        """Return the fuel that an order would cost now.

        Raises:
            OrderError: the rules do not allow the order, whatever the fuel.
        """
        order = as_order(order)
        cost = int(order_cost(self._game, self._rules, _side_index(side), order.satellite, order.code))
        if cost == ILLEGAL:
            raise OrderError(f"{side} {order}: {why_illegal(self._game, self._rules, _side_index(side), order)}")
        return cost

    def probability(self, side: Side, order: Order | str) -> float:
        """Return the probability that an engagement order succeeds, by the range as it is now.

        Raises:
            OrderError: the order is no engagement, or not allowed now.
        """
        order = as_order(order)
        if order.action in MOVES:
            raise OrderError(f"{side} {order}: only {', '.join(ENGAGEMENTS)} have a probability")
        self.cost(side, order)
        if order.action == "guard":
            return float(guard_probability(self._game, self._rules, _side_index(side), order.satellite))
        return float(attack_probability(self._game, self._rules, _side_index(side), order.satellite, order.code))

    def outcome_distribution(self, alpha: Orders = None, bravo: Orders = None) -> OutcomeDistribution:
        """Return every position to which an engagement can lead, before the drift, with its exact probability.

        Raises:
            OrderError: this is no engagement phase, an order is not legal, or there are over 1,000,000 random branches.
        """
        orders = np.array([self._codes("alpha", alpha), self._codes("bravo", bravo)], np.int64)
        return outcome_distribution(self._game, self._rules, orders)

    # Playing

    def step(self, alpha: Orders = None, bravo: Orders = None) -> tuple[Outcome, ...]:
        """Play one decision phase: movement, or engagement with the drift that follows it.

        Args:
            alpha: orders of alpha's satellites, see ``Orders``.
            bravo: orders of bravo's.

        Returns:
            The outcomes of the engagement; none after a movement.

        Raises:
            OrderError: the game is over, or an order is not legal; nothing has happened then.
        """
        if self.is_over:
            raise OrderError(f"the game is over: {', '.join(map(str, self.reasons))}")
        self._batch.step(np.array([self._codes("alpha", alpha), self._codes("bravo", bravo)], np.int64))
        return self.outcomes

    def _codes(self, side: Side, orders: Orders) -> list[int]:
        listed = read_orders(orders)
        for order in listed:
            if not self.is_legal(side, order):
                raise OrderError(f"{side} {order}: {why_illegal(self._game, self._rules, _side_index(side), order)}")
        return order_codes(listed, side)

    # Copies

    def copy(self) -> Self:
        """Return an independent copy with the same random stream: given the same orders, it plays the same."""
        twin = object.__new__(type(self))
        twin._batch = self._batch.copy()
        return twin

    def fork(self, seed: int | None = None) -> Self:
        """Return an independent copy with a new random stream, for planners: it reveals nothing of this game's future.

        Args:
            seed: of the new stream; None takes one from the operating system.
        """
        twin = self.copy()
        fork_stream(twin._game, fresh_seed() if seed is None else check_seed(seed))
        return twin

    def save(self) -> dict[str, Any]:
        """Return the game as plain data that ``json.dumps`` takes, random stream included, at any phase of a turn."""
        return save_game(self._batch)

    @classmethod
    def from_batch(cls, batch: Batch) -> Self:
        """Return a game that is an independent copy of a batch of one, with the outcomes of its last phase."""
        game = object.__new__(cls)
        game._batch = batch.single(0)
        return game

    def to_batch(self) -> Batch:
        """Return an independent copy of the game as a batch of one, the inverse of ``from_batch``."""
        return self._batch.copy()

    @classmethod
    def restore(cls, saved: Mapping[str, Any]) -> Self:
        """Rebuild a saved game; it goes on exactly as the original would. The last outcomes are not saved.

        Raises:
            RecordingError: the data are not a saved game, or damaged.
            ConfigError: the configuration in it is wrong.
        """
        return cls.from_batch(restore_game(saved))

    def is_same_position(self, other: "Game") -> bool:
        """Return whether another game is in the same position, whatever its random stream."""
        return self.config == other.config and position_bytes(self._batch) == position_bytes(other._batch)

    def __eq__(self, other: object) -> bool:
        """Two games are equal if position and random stream are the same."""
        if not isinstance(other, Game):
            return NotImplemented
        streams = [(game._game.rng_key, game._game.rng_counter) for game in (self, other)]
        return streams[0] == streams[1] and self.is_same_position(other)

    __hash__ = None  # type: ignore[assignment]  # games change

    def svg(self, size: tuple[int, int] = (1280, 720)) -> str:
        """Return the position as an SVG document, as the window shows it.

        Args:
            size: width and height of the layout in pixels; the document scales.

        Raises:
            ValueError: the size is too small or too large.
        """
        from geo_patrol.rendering.svg_writer import position_svg  # noqa: PLC0415 - drawing is above the game

        return position_svg(self, size)

    def _repr_svg_(self) -> str:
        """Show the position in notebooks."""
        return self.svg()

    def __repr__(self) -> str:
        scores = f"{self.scores['alpha']} | {self.scores['bravo']}"
        end = f", over: {', '.join(map(str, self.reasons))}" if self.is_over else ""
        return f"<Game {self.config.title!r}: turn {self.turn}, {self.phase}, score {scores}{end}>"

    def __str__(self) -> str:
        return f"{position_text(self)}\n\n{outcomes_text(self.outcomes)}" if self.outcomes else position_text(self)


def order_codes(orders: Orders, side: Side) -> list[int]:
    """Return the orders of one side as eleven order codes.

    Raises:
        OrderError: one cannot be read, or a satellite has two.
    """
    codes: dict[int, int] = {}
    for order in read_orders(orders):
        if order.satellite in codes:
            raise OrderError(f"{side} {order}: {short_name(order.satellite)} has an order already")
        codes[order.satellite] = order.code
    return [codes.get(number, state.NOOP) for number in range(state.SATELLITES)]


def _side_index(side: str) -> int:
    if side not in SIDES:
        raise OrderError(f"side {side!r}: give alpha or bravo")
    return SIDES.index(side)
