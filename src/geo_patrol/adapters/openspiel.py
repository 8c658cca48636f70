"""OpenSpiel: games of simultaneous moves for small boards, and turn-based ones, satellite by satellite, for all.

Importing this module registers two games:

- ``geo_patrol_simultaneous``: both sides choose their joint orders at once;
- ``geo_patrol``: one satellite after another gets its order, alpha's first. Orders are hidden from the other side until
  both have given all of theirs. Satellites that can only do nothing are passed over.

The chance of an engagement is one explicit chance node, whose outcomes are the positions after the drift. They are exact
where the fleets are small; in large ones an engagement has up to millions of results, and they are sampled.

``AgentPolicy`` is an agent of this package as a policy of OpenSpiel in either game.
"""

import functools
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.protocol import Agent, ProbabilisticAgent, mixture_of
from geo_patrol.agents.registry import as_agent
from geo_patrol.base.errors import ConfigError, optional_import
from geo_patrol.base.sides import SIDES
from geo_patrol.config.presets import load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine import rng
from geo_patrol.engine.distribution import outcome_distribution
from geo_patrol.engine.observe import observation_size
from geo_patrol.engine.state import DRIFT, ENGAGEMENT, GAME, NOOP, NUM_SIDES, ORDERS, SATELLITES
from geo_patrol.game.game import Games
from geo_patrol.game.notation import PHASES, Order, codes_in
from geo_patrol.game.position import FLEET_FIELDS

with optional_import("openspiel"):
    import pyspiel
    from open_spiel.python import policy

EXACT_SATELLITES: Final = 10
"""Chance is exact by default where both sides together have at most so many satellites."""
NUM_SAMPLES: Final = 64
"""Results of an engagement that are sampled by default where it is not exact."""
MAX_OUTCOMES: Final = 1 << 16
MAX_JOINT_ORDERS: Final = 1 << 20
_CACHE: Final = 10_000
_PARAMETERS: Final = {"config": "duel", "reward": "outcome", "chance_samples": -1}
_STREAM_FIELDS: Final = ("rng_key", "rng_counter", "illegal_orders", "outcome_count")

_COMMON = {
    "utility": pyspiel.GameType.Utility.ZERO_SUM,
    "reward_model": pyspiel.GameType.RewardModel.TERMINAL,
    "chance_mode": pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    "max_num_players": NUM_SIDES,
    "min_num_players": NUM_SIDES,
    "provides_information_state_string": True,
    "provides_information_state_tensor": True,
    "provides_observation_string": True,
    "provides_observation_tensor": True,
    "provides_factored_observation_string": False,
    "parameter_specification": _PARAMETERS,
}
SIMULTANEOUS: Final = pyspiel.GameType(
    short_name="geo_patrol_simultaneous",
    long_name="GEO Patrol, joint orders at once",
    dynamics=pyspiel.GameType.Dynamics.SIMULTANEOUS,
    information=pyspiel.GameType.Information.PERFECT_INFORMATION,
    **_COMMON,
)
TURN_BASED: Final = pyspiel.GameType(
    short_name="geo_patrol",
    long_name="GEO Patrol, satellite by satellite",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    **_COMMON,
)

Results = tuple[tuple[bytes, float], ...]
"""Positions after a phase, with their probabilities."""


class PositionRules:
    """The rules of one configuration for positions given as bytes, which states hold because they are cheap to copy.

    Args:
        config: the configuration.
        num_samples: results of an engagement to sample; 0 for its exact distribution.

    Raises:
        ConfigError: values are sampled at each reset, or enemies are hidden.
    """

    def __init__(self, config: GameConfig, num_samples: int) -> None:
        if config.is_randomized:
            raise ConfigError(f"{config.title}: values are sampled at each reset; they must be single values")
        if config.hides_enemies:
            raise ConfigError(f"{config.title}: it has sensor ranges; these games show both sides the whole position")
        self.config, self.num_samples = config, num_samples
        self._games = Games(config, 1, seed=0)
        self.start = self._write(self._games)[0]
        rules = self._games.state.rules[0]
        self.fleets: list[int] = [1 + int(count) for count in rules["patrol_count"]]
        self.max_turns = int(rules["turn_limit"]) + 1  # by the rules of the published code there is one turn more
        points = int(max(rules["goal_points"].max(), rules["adjacent_points"].max()))
        prizes = int((rules["patrol_points"] * rules["patrol_count"][::-1]).max())
        self.max_difference = self.max_turns * points + prizes + int(self._games.scores.max())
        # States are copied all the time, and searches come back to the same positions.
        self.legal = functools.lru_cache(_CACHE)(self._legal)
        self.follow = functools.lru_cache(_CACHE)(self._follow)

    def read(self, positions: list[bytes]) -> Games:
        """Return positions as games."""
        games = self._games[np.zeros(len(positions), np.int64)]
        games.state.games[:] = np.frombuffer(b"".join(positions), GAME)
        games.describe()
        return games

    def _write(self, games: Games) -> list[bytes]:
        records = games.state.games.copy()
        for field in _STREAM_FIELDS:
            records[field] = 0
        return [bytes(record) for record in records]

    def _legal(self, position: bytes) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """Return the legal order codes of each satellite of each side."""
        legal = self.read([position]).state.choices["legal"][0].tolist()
        return tuple(tuple(map(codes_in, codes[:fleet])) for codes, fleet in zip(legal, self.fleets, strict=True))

    def _follow(self, position: bytes, orders: tuple[tuple[int, ...], tuple[int, ...]]) -> Results:
        """Return the positions to which legal orders lead; after an engagement, those after the drift."""
        codes = np.full((1, NUM_SIDES, SATELLITES), NOOP, np.int64)
        for side in range(NUM_SIDES):
            codes[0, side, : self.fleets[side]] = orders[side]
        games = self.read([position])
        if games.phase[0] != ENGAGEMENT or not codes.any():
            games.step(codes)
            return ((self._write(games)[0], 1.0),)
        return self._sample(games, codes) if self.num_samples else self._enumerate(games, codes[0])

    def _enumerate(self, games: Games, codes: NDArray[np.int64]) -> Results:
        positions, probabilities = outcome_distribution(games.state.games[0], games.state.rules[0], codes)
        ends = self.read([bytes(record) for record in positions])
        ends.step(np.full((len(ends), NUM_SIDES, SATELLITES), NOOP))  # nothing is left to order: the drift
        return self._merge(ends, probabilities.tolist())

    def _sample(self, games: Games, codes: NDArray[np.int64]) -> Results:
        """Return sampled results, always the same for a position and orders: a game is replayed from its actions."""
        many = games[np.zeros(self.num_samples, np.int64)]
        words = np.frombuffer(games.state.games.tobytes() + codes.astype(np.int8).tobytes() + bytes(2), np.uint64)
        key = np.uint64(0)
        for word in words:
            key = rng.fork_keys(np.array([key ^ word]))[0]
        many.reseed([int(key >> np.uint64(2)) + i for i in range(self.num_samples)])
        many.step(np.repeat(codes, self.num_samples, axis=0))
        return self._merge(many, [1 / self.num_samples] * self.num_samples)

    def _merge(self, games: Games, probabilities: list[float]) -> Results:
        """Return distinct positions with the sums of their probabilities."""
        merged: dict[bytes, float] = {}
        for position, probability in zip(self._write(games), probabilities, strict=True):
            merged[position] = merged.get(position, 0.0) + probability
        assert len(merged) <= MAX_OUTCOMES
        return tuple(merged.items())

    def observation(self, position: bytes, side: int) -> NDArray[np.float32]:
        """Return what a side sees of a position, with the encoding "onehot"."""
        seen: NDArray[np.float32] = self.read([position]).observe("onehot")[0, side]
        return seen

    def returns(self, position: bytes, reward: str) -> list[float]:
        """Return the payoffs of both sides; 0 while the game goes on."""
        game = np.frombuffer(position, GAME)
        if not game["done"][0]:
            return [0.0, 0.0]
        if reward == "outcome":
            alpha = float(self.read([position]).returns[0, 0])
        else:
            alpha = float(np.subtract(*game["score"][0], dtype=np.int64))
        return [alpha, 0.0 - alpha]

    def describe(self, position: bytes) -> str:
        """Return everything that the future depends on, and the score, as a short text."""
        game = np.frombuffer(position, GAME)[0]
        sides = []
        for side, name in enumerate(SIDES):
            fields = (game[field][side, : self.fleets[side]].tolist() for field in FLEET_FIELDS)
            fleet = " ".join(f"{sector}:{fuel}:{ammo}" for sector, fuel, ammo in zip(*fields, strict=True))
            sides.append(f"{name} {game['score'][side]} ({game['goal_points'][side]}) {fleet}")
        return f"turn {game['turn'] + 1} {PHASES[game['phase']]}; goals {game['goal'].tolist()}; {'; '.join(sides)}"


class _GeoPatrol(pyspiel.Game):
    """What both games have in common."""

    def __init__(self, game_type: Any, params: dict[str, Any] | None) -> None:
        given = {**_PARAMETERS, **(params or {})}
        if given["reward"] not in ("outcome", "score"):
            raise ValueError(f"reward must be 'outcome' or 'score', got {given['reward']!r}")
        num_samples = given["chance_samples"]
        if not -1 <= num_samples <= MAX_OUTCOMES:
            raise ValueError(f"chance_samples must be from -1 to {MAX_OUTCOMES:,}, got {num_samples}")
        config = load_config(given["config"])
        self.positions = PositionRules(config, 0)
        if num_samples < 0:
            num_samples = 0 if sum(self.positions.fleets) <= EXACT_SATELLITES else NUM_SAMPLES
        self.positions.num_samples, self.reward = num_samples, given["reward"]
        bound = 1.0 if self.reward == "outcome" else float(self.positions.max_difference)
        info = pyspiel.GameInfo(
            num_distinct_actions=self.count_actions(),
            max_chance_outcomes=num_samples or MAX_OUTCOMES,
            num_players=NUM_SIDES,
            min_utility=-bound,
            max_utility=bound,
            utility_sum=0.0,
            max_game_length=2 * self.positions.max_turns * self.count_decisions(),
        )
        super().__init__(game_type, info, params or {})

    def count_actions(self) -> int:
        """Return the number of distinct actions."""
        raise NotImplementedError

    def count_decisions(self) -> int:
        """Return how many decisions a phase has at most."""
        raise NotImplementedError

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "Observer":
        """Return an observer; observations and information states are the same."""
        if params:
            raise ValueError(f"an observer has no parameters, got {params!r}")
        return Observer(self, iig_obs_type)


class SimultaneousGeoPatrol(_GeoPatrol):
    """Both sides choose joint orders at once; for at most four satellites a side.

    An action is the order codes of a side's satellites as a number in base 28, the HVA's the last digit.

    Args:
        params: ``config``, a preset's name or the path of a TOML file; ``reward``, "outcome" (1 won, -1 lost, 0 drawn) or
            "score" (the difference at the end); ``chance_samples``, how many results of an engagement to sample, 0 for
            its exact distribution, or -1: exact for up to ten satellites, otherwise 64.

    Raises:
        ConfigError: the configuration is invalid, sampled at each reset, or has too many satellites.
        ValueError: another parameter is wrong.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        super().__init__(SIMULTANEOUS, params)

    def count_actions(self) -> int:
        """Return the number of distinct actions."""
        actions: int = ORDERS ** max(self.positions.fleets)
        if actions > MAX_JOINT_ORDERS:
            raise ConfigError(
                f"{self.positions.config.title}: {max(self.positions.fleets)} satellites a side have too many joint orders; "
                "four are the most: use the turn-based game, geo_patrol"
            )
        return actions

    def count_decisions(self) -> int:
        """Return how many decisions a phase has: both sides at once."""
        return 1

    def new_initial_state(self) -> "SimultaneousState":
        """Return the start of the game."""
        return SimultaneousState(self)


class TurnBasedGeoPatrol(_GeoPatrol):
    """One satellite after another gets its order, hidden from the other side.

    Actions are order codes, 0 to 27.

    Args:
        params: as of ``SimultaneousGeoPatrol``.

    Raises:
        ConfigError: the configuration is invalid, or sampled at each reset.
        ValueError: another parameter is wrong.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        super().__init__(TURN_BASED, params)

    def count_actions(self) -> int:
        """Return the number of distinct actions."""
        return ORDERS

    def count_decisions(self) -> int:
        """Return how many decisions a phase has at most: one for each satellite."""
        return sum(self.positions.fleets)

    def new_initial_state(self) -> "TurnBasedState":
        """Return the start of the game."""
        return TurnBasedState(self)


class _State(pyspiel.State):
    """A position, or the results of an engagement of which chance has to choose one."""

    def __init__(self, game: _GeoPatrol) -> None:
        super().__init__(game)
        self.position = game.positions.start
        self.results: Results = ()

    def _follow(self, orders: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
        """Carry out the orders of a phase."""
        results = self.get_game().positions.follow(self.position, orders)
        if len(results) == 1:
            self.position = results[0][0]
        else:
            self.results = results

    def _phase(self) -> int:
        return int(np.frombuffer(self.position, GAME)["phase"][0])

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return not self.results and self._phase() == DRIFT

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the results of the engagement and their probabilities."""
        return [(index, probability) for index, (_, probability) in enumerate(self.results)]

    def _apply_chance(self, outcome: int) -> None:
        if not 0 <= outcome < len(self.results):
            raise ValueError(f"action must be a result of the engagement, 0 to {len(self.results) - 1}, got {outcome}")
        self.position, self.results = self.results[outcome][0], ()

    def _check_in_play(self) -> None:
        if self.is_terminal():
            raise ValueError("the game is over: there is no action any more")

    def returns(self) -> list[float]:
        """Return the payoffs of both sides; 0 while the game goes on."""
        game = self.get_game()
        values: list[float] = game.positions.returns(self.position, game.reward)
        return values

    def pending(self, player: int) -> tuple[int, ...]:  # noqa: ARG002 - of turn-based games
        """Return the orders that a side has given in this phase so far."""
        return ()

    def __str__(self) -> str:
        text = self.get_game().positions.describe(self.position)
        given = [" ".join(map(str, self.pending(side))) for side in range(NUM_SIDES)]
        chance = f"; chance of {len(self.results)}" if self.results else ""
        return f"{text}; ordered {' | '.join(given)}{chance}" if any(given) else f"{text}{chance}"


class SimultaneousState(_State):
    """A state of ``SimultaneousGeoPatrol``."""

    def current_player(self) -> int:
        """Return who is to choose."""
        if self.is_terminal():
            return int(pyspiel.PlayerId.TERMINAL)
        return int(pyspiel.PlayerId.CHANCE if self.results else pyspiel.PlayerId.SIMULTANEOUS)

    def _legal_actions(self, player: int) -> list[int]:
        actions = [0]
        for codes in reversed(self.get_game().positions.legal(self.position)[player]):
            actions = [action * ORDERS + code for action in actions for code in codes]
        return actions  # ascending, because the codes are

    def _apply_action(self, action: int) -> None:
        self._check_in_play()
        if not self.results:
            raise ValueError(f"actions must be those of both sides at once, got {action} of one")
        self._apply_chance(action)

    def _apply_actions(self, actions: list[int]) -> None:
        self._check_in_play()
        if self.results:
            raise ValueError(f"action must be a result of the engagement, got actions of both sides, {actions}")
        positions = self.get_game().positions
        legal = positions.legal(self.position)
        for side, action, codes in zip(SIDES, actions, legal, strict=True):
            orders = read_joint_orders(action, len(codes))
            if not 0 <= action < ORDERS ** len(codes) or not all(map(_is_among, orders, codes)):
                raise ValueError(f"action of {side} must be one of its legal actions, got {action}")
        alpha, bravo = (
            read_joint_orders(action, fleet) for action, fleet in zip(actions, positions.fleets, strict=True)
        )
        self._follow((alpha, bravo))

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"result {action}"
        return _orders_text(read_joint_orders(action, self.get_game().positions.fleets[player]))


def _is_among(code: int, codes: tuple[int, ...]) -> bool:
    return code in codes


def read_joint_orders(action: int, fleet: int) -> tuple[int, ...]:
    """Return the order codes of a side's satellites that an action of ``SimultaneousGeoPatrol`` stands for."""
    return tuple(action // ORDERS**number % ORDERS for number in range(fleet))


def _orders_text(codes: tuple[int, ...]) -> str:
    given = [str(Order.from_code(number, code)) for number, code in enumerate(codes) if code != NOOP]
    return "; ".join(given) or "noop"


class TurnBasedState(_State):
    """A state of ``TurnBasedGeoPatrol``."""

    def __init__(self, game: TurnBasedGeoPatrol) -> None:
        super().__init__(game)
        self.given: tuple[int, ...] = ()  # orders of this phase: alpha's satellites, then bravo's
        self._pass_over()

    def _at(self, count: int) -> tuple[int, int]:
        """Return side and number of the satellite that comes after so many others."""
        first = int(self.get_game().positions.fleets[0])
        return (0, count) if count < first else (1, count - first)

    def _pass_over(self) -> None:
        """Give noops to the satellites that have no choice; play the phase once all have orders."""
        positions = self.get_game().positions
        total = sum(positions.fleets)
        while not self.results and not self.is_terminal():
            legal = positions.legal(self.position)
            while len(self.given) < total:
                side, number = self._at(len(self.given))
                if len(legal[side][number]) > 1:
                    return
                self.given = (*self.given, NOOP)
            first, orders, self.given = positions.fleets[0], self.given, ()
            self._follow((orders[:first], orders[first:]))

    def current_player(self) -> int:
        """Return who is to choose."""
        if self.is_terminal():
            return int(pyspiel.PlayerId.TERMINAL)
        return int(pyspiel.PlayerId.CHANCE) if self.results else self._at(len(self.given))[0]

    def _legal_actions(self, player: int) -> list[int]:
        side, number = self._at(len(self.given))
        return list(self.get_game().positions.legal(self.position)[side][number]) if player == side else []

    def _apply_action(self, action: int) -> None:
        self._check_in_play()
        if self.results:
            self._apply_chance(action)
        else:
            legal = self._legal_actions(self.current_player())
            if action not in legal:
                raise ValueError(f"action must be one of the legal actions, {legal}, got {action}")
            self.given = (*self.given, action)
        self._pass_over()

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"result {action}"
        return f"{SIDES[player]} {Order.from_code(self._at(len(self.given))[1], action)}"

    def pending(self, player: int) -> tuple[int, ...]:
        """Return the orders that a side has given in this phase so far."""
        first = self.get_game().positions.fleets[0]
        return self.given[:first] if player == 0 else self.given[first:]

    def resample_from_infostate(self, player: int, probability_sampler: Any) -> "TurnBasedState":
        """Return a state that ``player`` cannot tell from this one: the other side's hidden orders are drawn anew.

        Args:
            player: the side that is to choose.
            probability_sampler: returns a number from 0 up to 1.
        """
        twin = self.clone()
        if player == 1:
            legal = self.get_game().positions.legal(self.position)[0]
            drawn = [codes[int(probability_sampler() * len(codes))] for codes in legal]
            twin.given = (*drawn, *self.pending(1))
        return twin


class Observer:
    """What a side sees: the position, and its own orders of the phase.

    The tensor has the side, its observation with the encoding "onehot", and 28 values for each of its satellites that
    has an order in this phase. Positions are public and hold all that the future depends on, so information states need
    no history: states that differ only in how they came about share one.
    """

    def __init__(self, game: _GeoPatrol, iig_obs_type: Any) -> None:
        self._sees_own_orders = iig_obs_type is None or (
            iig_obs_type.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        )
        self._sees_position = iig_obs_type is None or iig_obs_type.public_info
        self._positions = game.positions
        size = observation_size("onehot", game.positions.config.board.outer_ring)
        shapes: dict[str, tuple[int, ...]] = {"player": (NUM_SIDES,)}
        if self._sees_position:
            shapes["position"] = (size,)
        if self._sees_own_orders:
            shapes["orders"] = (SATELLITES, ORDERS)
        self.tensor = np.zeros(sum(int(np.prod(shape)) for shape in shapes.values()), np.float32)
        self.dict: dict[str, NDArray[np.float32]] = {}
        start = 0
        for name, shape in shapes.items():
            stop = start + int(np.prod(shape))
            self.dict[name] = self.tensor[start:stop].reshape(shape)
            start = stop

    def set_from(self, state: _State, player: int) -> None:
        """Write what a player sees of a state."""
        self.tensor.fill(0)
        self.dict["player"][player] = 1
        if "position" in self.dict:
            self.dict["position"][:] = self._positions.observation(state.position, player)
        if "orders" in self.dict:
            for number, code in enumerate(state.pending(player)):
                self.dict["orders"][number, code] = 1

    def string_from(self, state: _State, player: int) -> str:
        """Return what a player sees of a state as text."""
        parts: list[str] = [SIDES[player]]
        if self._sees_position:
            parts.append(self._positions.describe(state.position))
        if self._sees_own_orders:
            parts.append("ordered " + " ".join(map(str, state.pending(player))))
        return "; ".join(parts)


class AgentPolicy(policy.Policy):
    """An agent as a policy of OpenSpiel, for either game.

    In the turn-based game, its satellites choose one after the other: each given the orders of those before it, where they
    depend on each other.

    Args:
        game: one of the two games.
        agent: its name, see ``make_agent``, or itself: one that gives the probabilities of its orders (``order_probabilities``).

    Raises:
        ValueError: the agent does not give probabilities, as one that searches or remembers.
    """

    def __init__(self, game: _GeoPatrol, agent: str | Agent) -> None:
        super().__init__(game, list(range(NUM_SIDES)))
        made = as_agent(agent, "agent")
        if not isinstance(made, ProbabilisticAgent):
            raise ValueError(f"agent {made.name!r} does not give the probabilities of its orders (order_probabilities)")
        self._agent, self._positions = made, game.positions
        self._mixture = functools.lru_cache(_CACHE)(self._compute_mixture)

    def _compute_mixture(self, position: bytes, player: int) -> tuple[NDArray[np.floating[Any]], ...]:
        """Return the probabilities of components, (k,), and of the orders of each satellite by each, (k, 11, 28)."""
        games = self._positions.read([position])
        seen, masks = games.observe(self._agent.observation)[:, player], games.action_masks()[:, player]
        weights, orders = mixture_of(self._agent, seen, masks)
        return weights[0], orders[0]

    def action_probabilities(self, state: _State, player_id: int | None = None) -> dict[int, float]:
        """Return the probabilities of the legal actions of a player; by default of the one that is to choose."""
        player = state.current_player() if player_id is None else player_id
        if not 0 <= player < NUM_SIDES:
            raise ValueError(f"player_id must be 0 or 1 where both choose at once, got {player}")
        weights, orders = self._mixture(state.position, player)
        legal = state.legal_actions(player)
        if isinstance(state, TurnBasedState):
            given = list(state.pending(player))
            likely = weights * orders[:, range(len(given)), given].prod(axis=1)
            if likely.sum() == 0:  # it never gives these orders
                likely = weights
            chosen = likely / likely.sum() @ orders[:, len(given)]
            return {action: float(chosen[action]) for action in legal}
        fleet = self._positions.fleets[player]
        codes = np.array([read_joint_orders(action, fleet) for action in legal])
        joint = weights @ orders[:, range(fleet), codes].prod(axis=2)
        return dict(zip(legal, joint.tolist(), strict=True))


pyspiel.register_game(SIMULTANEOUS, SimultaneousGeoPatrol)
pyspiel.register_game(TURN_BASED, TurnBasedGeoPatrol)
