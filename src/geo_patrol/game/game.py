"""``Game``: one position, with satellites, orders and outcomes as values; ``Phase``: a phase that was played."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.arguments import check_count
from geo_patrol.base.board import adjacent_sectors, are_adjacent, ring_of
from geo_patrol.base.errors import OrderError
from geo_patrol.base.sides import SIDES, Side, enemy_of
from geo_patrol.config.presets import ConfigSource, Overrides
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine import rng, state, steps
from geo_patrol.engine.distribution import outcome_distribution
from geo_patrol.engine.engagement import attack_probability, engagement_cost, guard_probability
from geo_patrol.engine.legal import to_masks
from geo_patrol.engine.observe import Encoding
from geo_patrol.engine.setup import sampled_config
from geo_patrol.game import notation
from geo_patrol.game.games import MAX_GAMES, Games
from geo_patrol.game.position import Position, check_saved, restore_game, save_game
from geo_patrol.game.text import outcomes_text, position_text

_ACTION_SHAPE = state.NUM_SIDES, state.SATELLITES


class Phase(NamedTuple):
    """A decision phase that was played: movement, or engagement with the drift that follows it."""

    turn: int
    """Number of the turn, from 1."""
    name: notation.PhaseName
    """"movement" or "engagement"."""
    orders: tuple[tuple[notation.Order, ...], tuple[notation.Order, ...]]
    """The legal orders of alpha and of bravo, without noops."""
    actions: NDArray[np.int8]
    """(2, 11) order codes as they were given, illegal ones included."""
    illegal_orders: tuple[int, int]
    """How many orders of alpha and of bravo were illegal and became noop."""
    outcomes: tuple[notation.Outcome, ...]
    """The outcomes of an engagement, in the order in which they happened."""
    before: "Game"
    after: "Game"

    @property
    def hides_enemies(self) -> bool:
        """Whether the sides may know different things of it."""
        return self.before.config.hides_enemies

    def seen_by(self, side: Side) -> "Phase":
        """Return the phase as a side knows it; the phase itself where the configuration hides nothing.

        Orders of an enemy are those of satellites that the side saw before and after it, or that took part in an outcome.
        Outcomes are known to both sides, except those of guards who had nothing to intercept and were not seen.
        """
        if not self.before.hides_enemies:  # nothing is hidden, or it is what a side knows already
            return self
        before, after = self.before.known_to(side), self.after.known_to(side)
        enemy = enemy_of(side)
        unseen = zip(before.unseen(enemy), after.unseen(enemy), strict=True)
        seen = {number for number, phases in enumerate(unseen) if after.is_over or not any(phases)}
        actors = [one for outcome in after.outcomes for one in (outcome.actor, outcome.attacker)]
        seen |= {actor.number for actor in actors if actor is not None and actor.side == enemy}
        index, actions = SIDES.index(enemy), self.actions.copy()
        actions[index, [number for number in range(state.SATELLITES) if number not in seen]] = state.NOOP
        own, told = self.orders[1 - index], tuple(order for order in self.orders[index] if order.satellite in seen)
        illegal = self.illegal_orders[1 - index]
        return self._replace(
            orders=(told, own) if index == 0 else (own, told),
            actions=actions,
            illegal_orders=(0, illegal) if index == 0 else (illegal, 0),
            outcomes=after.outcomes,
            before=before,
            after=after,
        )


class OutcomeDistribution(NamedTuple):
    """All that an engagement phase can lead to.

    The games are as after ``Game.step``, drift included, no two of them in the same position. They have the random streams of
    the game that they follow, all the same one; ``Games.reseed`` gives each its own.
    """

    games: Games
    probabilities: NDArray[np.float64]
    """(n,), above 0; they sum to 1."""


class Game:
    """One game of GEO Patrol, or of whatever its configuration says.

    >>> game = Game("geo_patrol", seed=7)
    >>> phase = game.step(alpha="P1 radial_in; P10 prograde", bravo=["P3 retrograde"])
    >>> phase.name, game.phase
    ('movement', 'engagement')

    Copies are cheap: a position is never changed in place, a step replaces it.

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        seed: seed of the random stream, a non-negative integer, taken modulo 2^64; None takes one from the operating
            system.
        overrides: single values of the configuration, such as ``{"bravo.patrols.ammo": 3}``.
        keep_history: whether the game, and its copies, keep their ``history``.

    Raises:
        ConfigError: the configuration is invalid.
        ValueError: the seed is invalid.
    """

    def __init__(
        self,
        config: ConfigSource = "geo_patrol",
        *,
        seed: int | None = None,
        overrides: Overrides | None = None,
        keep_history: bool = False,
    ) -> None:
        self._games = Games(config, 1, seed=seed, overrides=overrides)
        self._configs: list[GameConfig] = []
        self._outcomes: tuple[notation.Outcome, ...] = ()
        self._allowed: NDArray[np.int32] | None = None
        self._history: tuple[Phase, ...] | None = () if keep_history else None
        self._viewer: Side | None = None

    @classmethod
    def from_games(cls, games: Games, *, outcomes: Sequence[notation.Outcome] = (), keep_history: bool = False) -> Self:
        """Return the game of a batch of one, which must not be stepped any more.

        Args:
            games: the batch.
            outcomes: those of the phase last played, which a batch does not hold.
            keep_history: whether the game keeps its ``history`` from here on.
        """
        game = object.__new__(cls)
        game._games, game._configs, game._outcomes, game._allowed = games, [], tuple(outcomes), None
        game._history = () if keep_history else None
        game._viewer = None
        return game

    @property
    def _game(self) -> state.Record:
        return self._games.state.games[0]

    @property
    def _rules(self) -> state.Record:
        return self._games.state.rules[0]

    def _value(self, field: str) -> Any:
        """Return a field of the game; as an attribute of its record it would take twenty times as long."""
        return self._games.state.games[field][0]

    # Properties

    @property
    def config(self) -> GameConfig:
        """The configuration that is played: one that leaves values to chance with those that were sampled for this game.

        ``config.variant`` is the name of the sampled variant.
        """
        if not self._games.is_randomized:
            return self._games.config
        if not self._configs:  # shared by all copies: the first that is asked for it makes it
            self._configs.append(sampled_config(self._games.config, self._rules))
        return self._configs[0]

    @property
    def turn(self) -> int:
        """The number of the turn being played, from 1; of a finished game, of its last turn."""
        return int(self._value("turn")) + 1

    @property
    def phase(self) -> notation.PhaseName:
        """What is to be ordered now, "movement" or "engagement"; "drift" when the game is over."""
        phase: notation.PhaseName = notation.PHASES[self._value("phase")]
        return phase

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return bool(self._value("done"))

    @property
    def reasons(self) -> tuple[notation.EndReason, ...]:
        """Why the game ended; empty while it goes on. Several reasons may hold at once."""
        return notation.read_reasons(int(self._value("reasons")))

    @property
    def winner(self) -> Side | None:
        """The side with more points when the game has ended; None for a draw, or while it goes on.

        A side that forfeits loses whatever the points; if both do, it is a draw.
        """
        winners: dict[int, Side] = {state.ALPHA: "alpha", state.BRAVO: "bravo"}
        return winners.get(int(self._games.winner[0]))

    @property
    def result(self) -> notation.Result | None:
        """Winner and reasons when the game has ended; None while it goes on."""
        return notation.Result(self.winner, self.reasons) if self.is_over else None

    @property
    def returns(self) -> dict[Side, int]:
        """Outcome of the game for each side: 1 won, -1 lost, 0 drawn or not finished (see ``is_over``)."""
        return dict(zip(SIDES, self._games.returns[0].tolist(), strict=True))

    @property
    def key(self) -> bytes:
        """A hashable key of the position, for dictionaries of positions; it stays what it is when the game goes on.

        Keys are equal where positions, with what their configuration sampled for them, are equal, whatever their random
        streams; they are the same in every process.
        """
        return self._games.position_keys()[0]

    @property
    def history(self) -> "tuple[Phase, ...]":
        """The phases that were played since the game was created, the oldest first.

        Raises:
            AttributeError: the game does not keep them: create it with ``keep_history=True``.
        """
        if self._history is None:
            raise AttributeError("this game keeps no history: create it with keep_history=True")
        return self._history

    @property
    def scores(self) -> dict[Side, int]:
        """Points of each side when they were last counted: goal points so far and fuel points."""
        return dict(zip(SIDES, self._value("score").tolist(), strict=True))

    @property
    def goal_points(self) -> dict[Side, int]:
        """Goal points of each side so far."""
        return dict(zip(SIDES, self._value("goal_points").tolist(), strict=True))

    @property
    def goals(self) -> dict[Side, int]:
        """The goal sector of each side now."""
        return dict(zip(SIDES, self._value("goal").tolist(), strict=True))

    @property
    def outcomes(self) -> tuple[notation.Outcome, ...]:
        """Outcomes of the last phase in the order in which they happened; empty after a movement.

        Also empty, until its next phase, in a game that comes out of ``Games``, of a vector environment, of a position or of a
        save, which do not hold them.
        """
        return self._outcomes

    def satellites(self, side: Side) -> tuple[notation.Satellite, ...]:
        """Return a side's satellites, HVA first: the index in the tuple is the number."""
        index, games = _side_index(side), self._games.state.games
        fleet = 1 + int(self._games.state.rules["patrol_count"][0, index])
        # Whole rows: reading a record value by value takes ten times as long.
        rows = (games[field][0, index, :fleet].tolist() for field in ("sector", "fuel", "ammo", "destroyed"))
        return tuple(
            notation.Satellite(notation.SatelliteId(side, number), sector, fuel, ammo, bool(destroyed))
            for number, (sector, fuel, ammo, destroyed) in enumerate(zip(*rows, strict=True))
        )

    def satellite(self, side: Side, number: int) -> notation.Satellite:
        """Return one satellite.

        Raises:
            OrderError: the side has none of that number.
        """
        fleet = self.satellites(side)
        if isinstance(number, bool) or number not in range(len(fleet)):
            raise OrderError(f"satellite {number!r}: {side} has 0 (HVA) to {len(fleet) - 1}")
        return fleet[number]

    @property
    def hides_enemies(self) -> bool:
        """Whether a side may not see all of the other: its configuration has sensor ranges."""
        return self._games.hides_enemies

    def seen_by(self, side: Side) -> Self:
        """Return the game as a side knows it; the game itself where its configuration hides nothing.

        Enemies out of sight stand where they would be if they had drifted since the side last saw them, see ``last_seen``,
        and the enemy's score follows from that. The side's legal orders and the outcomes that it knows of are those of the
        game. Nothing more is hidden in it, so it can be played on; its random stream is not that of the game.
        """
        seen = self.known_to(side)
        if self._history is not None and seen is not self:
            seen._history = tuple(phase.seen_by(side) for phase in self._history)
        return seen

    def known_to(self, side: Side) -> Self:
        """Return the same as ``seen_by``, without a history where the configuration hides enemies."""
        index = _side_index(side)
        if not self.hides_enemies:
            return self
        seen = object.__new__(type(self))
        seen._games, seen._configs, seen._allowed = self._games.seen_by(index), self._configs, None
        unseen = self._games.unseen[0, 1 - index].tolist()
        seen._outcomes = tuple(
            outcome
            for outcome in self.outcomes
            if outcome.attacker is not None or outcome.actor.side == side or unseen[outcome.actor.number] <= 1
        )
        seen._history, seen._viewer = None, side
        return seen

    def unseen(self, side: Side) -> tuple[int, ...]:
        """Return for how many decision phases the other side has not seen each of a side's satellites; 0: in sight."""
        return tuple(self._of_fleet(self._games.unseen, side))

    @property
    def out_of_sight(self) -> dict[notation.SatelliteId, int]:
        """Satellites that are not seen, in a game as a side knows it (``seen_by``), each with the turn it was last seen in."""
        games = self._games
        if self.hides_enemies or len(games.sight.sightings) == 0:
            return {}
        return {
            notation.SatelliteId(side, number): turn
            for side in SIDES
            for number, (phases, turn) in enumerate(zip(self.unseen(side), self.last_seen(side), strict=True))
            if phases
        }

    @property
    def sectors_in_sight(self) -> frozenset[int] | None:
        """The sectors that a side sees, in a game as the side knows it (``seen_by``); None where it sees everything."""
        rules, side = self._rules, self._viewer
        reach = 0 if side is None else int(rules.sensor_range[_side_index(side)])
        if side is None or reach == 0 or self.is_over:
            return None
        found = {one.sector for one in self.satellites(side) if not one.destroyed}
        latest, inner, outer = found, int(rules.inner_ring), int(rules.outer_ring)
        for _ in range(reach):
            around = {
                other for sector in latest for other in adjacent_sectors(sector, outer) if ring_of(other) >= inner
            }
            latest = around - found
            found = found | latest
            if not latest:
                break
        return frozenset(found)

    def last_seen(self, side: Side) -> tuple[int, ...]:
        """Return the turn in which the other side last saw each of a side's satellites."""
        return tuple(self._of_fleet(self._games.last_seen, side))

    def _of_fleet(self, values: NDArray[np.integer[Any]], side: Side) -> list[int]:
        index = _side_index(side)
        numbers: list[int] = values[0, index, : 1 + int(self._games.state.rules["patrol_count"][0, index])].tolist()
        return numbers

    def action_mask(self, side: Side) -> NDArray[np.int8]:
        """Return a side's legal orders as (11, 28) int8: 1 where a satellite may be given an order code."""
        mask: NDArray[np.int8] = self._games.action_masks()[0, _side_index(side)]
        return mask

    def observation(self, side: Side, encoding: Encoding = "onehot") -> NDArray[Any]:
        """Return what a side sees, as in the environments; ``observation_names`` names its components."""
        observation: NDArray[Any] = self._games.observe(encoding)[0, _side_index(side)]
        return observation

    def allowed_mask(self, side: Side) -> NDArray[np.int8]:
        """Return the orders that the rules allow whatever the fuel, as (11, 28) int8; ``action_mask`` is a part of it."""
        return to_masks(self._allowed_orders()[_side_index(side)])

    def legal_orders(self, side: Side) -> dict[int, tuple[notation.Order, ...]]:
        """Return the legal orders of each of a side's satellites by number; noop is always among them."""
        index = _side_index(side)
        fleet = 1 + int(self._games.state.rules["patrol_count"][0, index])
        legal = self._games.state.choices["legal"][0, index, :fleet].tolist()
        return {number: notation.orders_in(number, codes) for number, codes in enumerate(legal)}

    def legal_actions(self, side: Side) -> tuple[tuple[int, ...], ...]:
        """Return the legal order codes of each of a side's eleven satellites; noop, 0, is always among them.

        ``itertools.product(*game.legal_actions(side))`` are all joint actions of the side.
        """
        legal = self._games.state.choices["legal"][0, _side_index(side)].tolist()
        return tuple(map(notation.codes_in, legal))

    def is_legal(self, side: Side, order: notation.Order | str) -> bool:
        """Return whether a side may give an order now: the phase, range and fuel allow it."""
        order = notation.as_order(order)
        return bool(self._games.state.choices["legal"][0, _side_index(side), order.satellite] >> order.code & 1)

    def cost(self, side: Side, order: notation.Order | str) -> int:
        """Return the fuel that an order would cost now.

        Raises:
            OrderError: the rules do not allow the order, whatever the fuel.
        """
        order, index = notation.as_order(order), _side_index(side)
        self._check_allowed(index, order)
        return self._cost(index, order)

    def _check_allowed(self, side: int, order: notation.Order) -> None:
        if not self._allowed_orders()[side, order.satellite] >> order.code & 1:
            raise OrderError(f"{SIDES[side]} {order}: {self._why_illegal(side, order)}")

    def _cost(self, side: int, order: notation.Order) -> int:
        """Return the cost of an order that is legal but perhaps cannot be paid."""
        if order.action in notation.MOVES:
            return int(self._rules.move_cost[side, order.code])
        return int(engagement_cost(self._game, self._rules, side, order.satellite, order.code))

    def _allowed_orders(self) -> NDArray[np.int32]:
        """Return the orders that the rules allow whatever the fuel, (2, 11) sets: the legal ones if all tanks were full."""
        if self._allowed is None:
            full = self._games.copy()
            fuel = full.state.games["fuel"]
            fuel[fuel > 0] = np.iinfo(fuel.dtype).max
            full.describe()
            self._allowed = full.state.choices["legal"][0]
        return self._allowed

    def probability(self, side: Side, order: notation.Order | str) -> float:
        """Return the probability that an engagement order succeeds, by the range as it is now.

        Raises:
            OrderError: the order is no engagement, or not allowed now.
        """
        order = notation.as_order(order)
        if order.action in notation.MOVES:
            raise OrderError(f"{side} {order}: only {', '.join(notation.ENGAGEMENTS)} have a probability")
        index = _side_index(side)
        self._check_allowed(index, order)
        if order.action == "guard":
            return float(guard_probability(self._game, self._rules, index, order.satellite))
        return float(attack_probability(self._game, self._rules, index, order.satellite, order.code))

    def outcome_distribution(self, alpha: notation.Orders = None, bravo: notation.Orders = None) -> OutcomeDistribution:
        """Return all that an engagement phase can lead to, as games to go on from, with exact probabilities.

        Raises:
            OrderError: this is no engagement phase, an order is not legal, or there are over 1,000,000 random branches.
        """
        positions, probabilities = outcome_distribution(self._game, self._rules, self._check_both(alpha, bravo))
        games = self.repeat(len(positions), same_chance=True)
        for stream in ("rng_key", "rng_counter"):
            positions[stream] = games.state.games[stream]
        games.state = games.state._replace(games=positions)
        games.step(np.zeros((len(games), len(SIDES), state.SATELLITES), np.int64))  # all have acted: the drift
        return OutcomeDistribution(games, probabilities)

    def _why_illegal(self, side: int, order: notation.Order) -> str:
        """Return why an order of a side is not legal now."""
        game, rules = self._game, self._rules
        number, name = order.satellite, notation.short_name(order.satellite)
        if number > rules.patrol_count[side]:
            return f"{SIDES[side]} has no {name}"
        if game.done:
            return "the game is over"
        if game.fuel[side, number] <= 0:
            return f"{name} has no fuel and takes no orders"
        if (order.action in notation.MOVES) != (game.phase == state.MOVEMENT):
            return f"not in the {notation.PHASES[game.phase]} phase"
        if order.target is not None and order.target <= rules.patrol_count[1 - side]:
            unseen, turn = (
                int(array[0, 1 - side, order.target]) for array in (self._games.unseen, self._games.last_seen)
            )
            if unseen:
                target_name = notation.SatelliteId(SIDES[1 - side], order.target)
                return f"{target_name} is out of sight; it was last seen in turn {turn}"
        is_allowed = self._allowed_orders()[side, number] >> order.code & 1
        if is_allowed and self._cost(side, order) > game.fuel[side, number]:
            return f"it costs {self._cost(side, order)} fuel, and {name} has {game.fuel[side, number]}"
        if order.action in notation.MOVES:
            where = "inner" if order.action == "radial_in" else "outer"
            return f"ring {ring_of(game.sector[side, number])} is the {where}most of the board"
        if number == state.HVA and order.action != "shoot":
            return f"an HVA cannot {order.action}"
        if order.action == "shoot" and game.ammo[side, number] == 0:
            return f"{name} has no ammo"
        target_side, target = (side, state.HVA) if order.target is None else (1 - side, order.target)
        target_name = notation.SatelliteId(SIDES[target_side], target)
        if target > rules.patrol_count[target_side]:
            return f"{SIDES[target_side]} has no {notation.short_name(target)}"
        here, there = game.sector[side, number], game.sector[target_side, target]
        if here != there and not are_adjacent(here, there):
            return f"{target_name} in sector {there} is out of range of sector {here}"
        if order.action == "guard":
            return "no active enemy is in the same or an adjacent sector of the HVA"
        return f"{target_name} is inactive"

    # Playing

    def step(self, alpha: notation.Orders = None, bravo: notation.Orders = None) -> Phase:
        """Play one decision phase: movement, or engagement with the drift that follows it.

        Args:
            alpha: orders of alpha's satellites, see ``Orders``.
            bravo: orders of bravo's satellites.

        Returns:
            The phase that was played, with the outcomes of an engagement.

        Raises:
            OrderError: the game is over, or an order is not legal; the game is unchanged then.
        """
        if self.is_over:
            raise OrderError(f"the game is over: {', '.join(map(str, self.reasons))}")
        return self.step_actions(self._check_both(alpha, bravo))

    def _check_both(self, alpha: notation.Orders, bravo: notation.Orders) -> NDArray[np.int64]:
        codes = np.zeros(_ACTION_SHAPE, np.int64)
        for index, orders in enumerate((alpha, bravo)):
            if orders is not None:
                codes[index] = self.check_orders(SIDES[index], orders)
        return codes

    def check_orders(self, side: Side, orders: notation.Orders) -> list[int]:
        """Return the order codes of a side's satellites, (11,), for orders that it may give now.

        Raises:
            OrderError: an order cannot be read or is not legal; the message says why.
        """
        codes = notation.order_codes(orders, side)
        index = _side_index(side)
        legal = self._games.state.choices["legal"][0, index].tolist()
        for number, code in enumerate(codes):
            if code != state.NOOP and not legal[number] >> code & 1:
                order = notation.Order.from_code(number, code)
                raise OrderError(f"{side} {order}: {self._why_illegal(index, order)}")
        return codes

    def step_actions(
        self, actions: NDArray[np.integer[Any]], outcomes: Sequence[notation.Outcome] | None = None
    ) -> Phase:
        """Play one decision phase with order codes, as environments do: illegal ones become noop and are counted.

        Args:
            actions: (2, 11) order codes.
            outcomes: recorded outcomes that decide an engagement instead of the random stream. Where they are impossible,
                the outcomes of the phase differ from them.

        Returns:
            The phase that was played.

        Raises:
            ValueError: the actions have another shape or are not integers; the game is unchanged then.
        """
        before, codes = self.copy(), np.asarray(actions)
        if codes.shape != _ACTION_SHAPE or codes.dtype.kind not in "iu":
            raise ValueError(f"actions must be integers of shape {_ACTION_SHAPE}, got {codes.shape} of {codes.dtype}")
        (alpha, bravo), legal = codes.tolist(), self._games.state.choices["legal"][0].tolist()
        self._games, found = self._games.copy(), state.make_outcomes()
        if outcomes is None:
            self._games.run(steps.PLAY, actions=codes, outcomes=found)
        else:
            self._games.play_recorded(codes, notation.outcome_records(outcomes), found)
        if not before.is_over:  # a finished game stays as it is
            self._outcomes = notation.read_outcomes(found, int(self._value("outcome_count")))
        self._allowed = None
        phase = Phase(
            turn=before.turn,
            name=before.phase,
            orders=(
                notation.legal_orders_from_codes(alpha, legal[0]),
                notation.legal_orders_from_codes(bravo, legal[1]),
            ),
            actions=codes.astype(np.int8),
            illegal_orders=tuple(self._value("illegal_orders").tolist()),
            outcomes=self.outcomes,
            before=before,
            after=self.copy(),
        )
        if self._history is not None:
            self._history = phase.after._history = (*self._history, phase)
        return phase

    # Copies

    def copy(self) -> Self:
        """Return an independent copy with the same random stream: given the same orders, it plays the same."""
        twin = object.__new__(type(self))
        twin._games, twin._configs = self._games, self._configs
        twin._outcomes, twin._allowed = self._outcomes, self._allowed
        twin._history, twin._viewer = self._history, self._viewer
        return twin

    def fork(self, seed: int | None = None) -> Self:
        """Return an independent copy with a new random stream, for planners: it reveals nothing of this game's future.

        Args:
            seed: seed of the new stream; None takes one from the operating system.
        """
        twin = self._reseeded(seed)
        if self._history is not None:  # the games of its phases could be played on to this one's future
            past: tuple[Phase, ...] = ()
            for phase in self._history:
                before, after = phase.before._reseeded(seed), phase.after._reseeded(seed)
                past = (*past, phase._replace(before=before, after=after))
                before._history, after._history = past[:-1], past
            twin._history = past
        return twin

    def _reseeded(self, seed: int | None) -> Self:
        twin = self.copy()
        twin._games = self._games.copy().reseed(seed)
        return twin

    def repeat(self, n: int, *, same_chance: bool = False) -> Games:
        """Return n copies of the game as a batch.

        Each has a random stream of its own, which follows from that of the game: a game that is repeated again without being
        played on has the same copies, and copy i is the same whatever the number of copies. ``Games.reseed`` gives them others.

        Args:
            n: the number of copies, 1 to 1,048,576.
            same_chance: whether all keep the random stream of the game, so that, given the same orders, they play the same.

        Raises:
            ValueError: there can be no such number of copies.
        """
        games = self._games[np.zeros(check_count("n", n, MAX_GAMES), np.int64)]
        if not same_chance:
            own = self._games.state.games
            key = rng.fork_keys(rng.fork_keys(own["rng_key"]) + own["rng_counter"])
            games.fork_streams(rng.stream_keys(np.arange(n, dtype=np.uint64), key))
        return games

    def as_games(self) -> Games:
        """Return the game as a batch of one, which must not be changed; ``as_games().copy()`` returns a copy."""
        return self._games

    @property
    def position(self) -> Position:
        """The position as plain data."""
        return Position.of(self._games)

    @classmethod
    def from_position(
        cls,
        position: Position | Mapping[str, Any],
        config: ConfigSource = "geo_patrol",
        *,
        seed: int | None = None,
        overrides: Overrides | None = None,
        keep_history: bool = False,
    ) -> Self:
        """Return a game in a position.

        Args:
            position: the position, or the same as a mapping.
            config: configuration of the game, see ``Game``; values that it leaves to chance are sampled from the seed.
            seed: seed of the random stream; None takes one from the operating system.
            overrides: single values of the configuration.
            keep_history: whether the game keeps its ``history`` from here on.

        Raises:
            RecordingError: the position is impossible with the configuration.
            ConfigError: the configuration is invalid.
        """
        games = Games(config, 1, seed=seed, overrides=overrides)
        if not isinstance(position, Position):
            position = check_saved(Position, position, "position")
        position.write(games)
        return cls.from_games(games, keep_history=keep_history)

    def save(self) -> dict[str, Any]:
        """Return the game as plain data that ``json.dumps`` takes, random stream included, at any phase of a turn."""
        return save_game(self._games)

    @classmethod
    def restore(cls, saved: Mapping[str, Any], *, keep_history: bool = False) -> Self:
        """Rebuild a saved game; it goes on exactly as the original would. The last outcomes are not saved.

        Args:
            saved: what ``save`` returned.
            keep_history: whether the game keeps its ``history`` from here on.

        Raises:
            RecordingError: the data are not a saved game, or damaged.
            ConfigError: the configuration in it is invalid.
        """
        return cls.from_games(restore_game(saved), keep_history=keep_history)

    def is_same_position(self, other: "Game") -> bool:
        """Return whether another game is in the same position by the same rules, whatever its random stream."""
        return self.key == other.key

    def __eq__(self, other: object) -> bool:
        """Two games are equal if position and random stream are the same."""
        if not isinstance(other, Game):
            return NotImplemented
        streams = [(game._value("rng_key"), game._value("rng_counter")) for game in (self, other)]
        return streams[0] == streams[1] and self.key == other.key

    __hash__ = None  # type: ignore[assignment]  # games change

    def svg(self, size: tuple[int, int] = (1280, 720)) -> str:
        """Return the position as an SVG document, as the window shows it.

        Args:
            size: width and height of the layout in pixels; the document scales.

        Raises:
            ValueError: the size is too small or too large.
        """
        from geo_patrol.scenes.picture import picture_svg  # noqa: PLC0415 - drawing is above the game

        return picture_svg(self, size)

    def _repr_svg_(self) -> str:
        """Show the position in notebooks."""
        return self.svg()

    def __repr__(self) -> str:
        scores = f"{self.scores['alpha']} | {self.scores['bravo']}"
        end = f", over: {', '.join(map(str, self.reasons))}" if self.is_over else ""
        return f"<Game {self.config.title!r}: turn {self.turn}, {self.phase}, score {scores}{end}>"

    def __str__(self) -> str:
        return f"{position_text(self)}\n\n{outcomes_text(self.outcomes)}" if self.outcomes else position_text(self)


def replay_orders(config: GameConfig, seed: int, orders: Iterable[NDArray[np.integer[Any]]]) -> Iterator[Phase]:
    """Play a game again from its orders.

    Args:
        config: configuration of the game.
        seed: seed of the game, as in ``MatchResult.seeds``.
        orders: (phases, 2, 11) order codes, as in ``MatchResult.first_game``.

    Yields:
        Every phase in turn.
    """
    game = Game(config, seed=seed)
    for codes in orders:
        yield game.step_actions(codes)


def _side_index(side: str) -> int:
    if side not in SIDES:
        raise OrderError(f"side must be 'alpha' or 'bravo', got {side!r}")
    return SIDES.index(side)
