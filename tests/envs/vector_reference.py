"""Reference for the vector environment: single environments that are stepped one after the other."""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from geo_patrol.base.sides import SIDES
from geo_patrol.envs.parallel import ParallelGeoPatrol
from geo_patrol.envs.single import SoloGeoPatrol

STATISTICS = (
    *("return", "length", "score", "enemy_score", "reasons", "outcome", "illegal_orders"),
    *("seat", "opponent", "variant"),
)
INFO_FIELDS = ("illegal_orders", "score", "enemy_score", "turn", "phase", "reasons", "seat", "opponent", "variant")
EVENTS = ("shots", "hits", "losses", "enemy_shots", "enemy_hits", "enemy_losses")
EPISODE = ("next_seat", "is_over", "length", "total", "illegal")
HUGE = np.array([-(2**63), 2**63 - 1, -(2**31), 2**32, 28, -1, 127, 256 + 1], np.int64)


class Single:
    """A single environment of either kind, with the statistics of its episode."""

    def __init__(self, index: int, seats: str, opponent: str | None, mask_in: str, **options: Any) -> None:
        self.seats, self.mask_in = seats, mask_in
        self.env: Any
        if seats == "both":
            self.env = ParallelGeoPatrol(mask_in=mask_in, **options)
        else:
            first = ("alpha", "bravo")[index % 2] if seats == "alternate" else seats
            self.env = SoloGeoPatrol(opponent=opponent, seat=first, mask_in=mask_in, **options)
        self.index = index

    @property
    def sides(self) -> list[tuple[str, ...]]:
        """The arguments of methods about one side, of each that is played."""
        return [(side,) for side in SIDES] if self.seats == "both" else [()]

    def reset(self, seed: int | None) -> tuple[list[Any], list[dict[str, Any]]]:
        if self.seats == "alternate":
            begins = seed is not None or not hasattr(self, "next_seat")
            self.env._seat_choice = ("alpha", "bravo")[self.index % 2] if begins else self.next_seat
            self.next_seat = "bravo" if self.env._seat_choice == "alpha" else "alpha"
        self.is_over = False
        self.length = 0
        observations, infos = self.env.reset(seed=seed)
        if self.seats != "both":
            observations, infos = {self.env.seat: observations}, {self.env.seat: infos}
        self.total = dict.fromkeys(observations, 0.0)
        self.illegal = dict.fromkeys(observations, 0)
        return list(observations.values()), self._complete(infos)

    def _complete(self, infos: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
        opponent = -1 if self.seats == "both" else 0
        return [{"seat": SIDES.index(side), "opponent": opponent} | info for side, info in infos.items()]

    def step(self, orders: Any) -> tuple[list[Any], list[float], bool, bool, list[dict[str, Any]]]:
        if self.seats == "both":
            step = self.env.step(dict(zip(SIDES, orders, strict=True)))
        else:
            observation, reward, terminated, truncated, info = self.env.step(orders[0])
            side = self.env.seat
            step = ({side: observation}, {side: reward}, {side: terminated}, {side: truncated}, {side: info})
        observations, rewards, terminations, truncations, infos = step
        self.length += 1
        for side in rewards:
            self.total[side] += rewards[side]
            self.illegal[side] += infos[side]["illegal_orders"]
        terminated, truncated = (next(iter(flags.values())) for flags in (terminations, truncations))
        self.is_over = terminated or truncated
        return list(observations.values()), list(rewards.values()), terminated, truncated, self._complete(infos)

    def statistics(self, infos: list[dict[str, Any]]) -> list[dict[str, Any]]:
        winner = self.env.game().winner
        statistics = []
        for side, info in zip(self.total, infos, strict=True):
            values = {name: info[name] for name in (*STATISTICS, "sampled") if name in info}
            outcome = 0 if winner is None else (1 if winner == side else -1)
            values |= {"return": self.total[side], "length": self.length, "outcome": outcome}
            statistics.append(values | {"illegal_orders": self.illegal[side]})
        return statistics

    def save(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the saved environment, and what is known of its episode."""
        return self.env.save(), {name: copy.copy(value) for name, value in vars(self).items() if name in EPISODE}

    def restore(self, saved: tuple[dict[str, Any], dict[str, Any]]) -> None:
        self.env.restore(saved[0])
        vars(self).update({name: copy.copy(value) for name, value in saved[1].items()})

    def sample(self) -> np.ndarray:
        if self.seats != "both":
            return self.env.sample_action()[None]
        return np.stack(list(self.env.sample_actions().values()))


class Singles:
    """A single environment for each game of a vector environment, reset as its autoreset mode demands."""

    def __init__(
        self,
        config: Any,
        games: int,
        *,
        mode: str = "next_step",
        opponent: str | None = None,
        seats: str | None = None,
        mask_in: str = "info",
        **options: Any,
    ) -> None:
        seats = seats or ("both" if opponent is None else "alpha")
        self.sides, self.mode, self.mask_in = (2 if seats == "both" else 1), mode, mask_in
        self.games = [Single(i, seats, opponent, mask_in, config=config, **options) for i in range(games)]
        self.observations: list[Any] = [None] * (games * self.sides)
        self.infos: list[Any] = [None] * (games * self.sides)

    def _rows(self, i: int) -> slice:
        return slice(i * self.sides, (i + 1) * self.sides)

    def reset(self, seeds: Any = None, mask: Any = None) -> tuple[Any, dict[str, Any]]:
        for i, game in enumerate(self.games):
            if mask is None or mask[i]:
                rows, seed = self._rows(i), None if seeds is None else seeds[i]
                self.observations[rows], self.infos[rows] = game.reset(seed)
        return self.view()

    def step(self, actions: np.ndarray) -> tuple[Any, ...]:
        num_envs = len(self.games) * self.sides
        rewards, terminations, truncations = np.zeros(num_envs), np.zeros(num_envs, bool), np.zeros(num_envs, bool)
        finished: dict[int, Any] = {}
        final: dict[int, Any] = {}
        for i, game in enumerate(self.games):
            rows = self._rows(i)
            if game.is_over:
                self.observations[rows], self.infos[rows] = game.reset(None)
                continue
            played = game.step(actions[rows])
            self.observations[rows], rewards[rows], terminations[rows], truncations[rows], self.infos[rows] = played
            if not game.is_over:
                continue
            finished |= dict(zip(range(rows.start, rows.stop), game.statistics(self.infos[rows]), strict=True))
            if self.mode == "same_step":
                ends = zip(self.observations[rows], self.infos[rows], strict=True)
                final |= dict(zip(range(rows.start, rows.stop), ends, strict=True))
                self.observations[rows], self.infos[rows] = game.reset(None)
        return self._batched(self.observations), rewards, terminations, truncations, self._packed(finished, final)

    def _batched(self, observations: list[Any]) -> Any:
        if isinstance(observations[0], dict):
            return {key: np.stack([one[key] for one in observations]) for key in observations[0]}
        return np.stack(observations)

    def _table(self, infos: list[dict[str, Any]], mask: np.ndarray) -> dict[str, Any]:
        table: dict[str, Any] = {}
        for name in (*INFO_FIELDS, *(name for name in EVENTS if name in infos[0])):
            table[name], table[f"_{name}"] = np.array([info[name] for info in infos], np.int64), mask
        if self.mask_in == "info":
            table["action_mask"], table["_action_mask"] = np.stack([info["action_mask"] for info in infos]), mask
        return table | _sampled_values(infos, mask)

    def _packed(self, finished: dict[int, Any], final: dict[int, Any]) -> dict[str, Any]:
        num_envs = len(self.infos)
        over, empty = np.isin(np.arange(num_envs), list(finished)), dict.fromkeys(STATISTICS, 0)
        infos = self._table(self.infos, np.ones(num_envs, bool))
        columns: dict[str, Any] = {}
        for name in STATISTICS:
            column = [finished.get(row, empty)[name] for row in range(num_envs)]
            columns[name], columns[f"_{name}"] = np.array(column, float if name == "return" else np.int64), over
        columns |= _sampled_values([finished.get(row, _zeros_like(info)) for row, info in enumerate(self.infos)], over)
        infos |= {"finished_episode": columns, "_finished_episode": over}
        if self.mode == "same_step":
            zeros = [_zeros_like(one) for one in self.observations]
            final_rows = [final.get(row, (zeros[row], _zeros_like(self.infos[row]))) for row in range(num_envs)]
            infos |= {"final_obs": self._batched([observations for observations, _ in final_rows]), "_final_obs": over}
            infos |= {"final_info": self._table([info for _, info in final_rows], over), "_final_info": over}
        return infos

    def view(self) -> tuple[Any, dict[str, Any]]:
        return self._batched(self.observations), self._packed(finished={}, final={})

    def save(self) -> Any:
        return [game.save() for game in self.games], list(self.observations), list(self.infos)

    def restore(self, saved: Any) -> None:
        games, observations, infos = saved
        for game, one in zip(self.games, games, strict=True):
            game.restore(one)
        self.observations, self.infos = list(observations), list(infos)

    def sample(self) -> np.ndarray:
        return np.concatenate([game.sample() for game in self.games])


def _sampled_values(infos: list[dict[str, Any]], mask: np.ndarray) -> dict[str, Any]:
    """Return the info about sampled values as a vector environment has it."""
    values: dict[str, Any] = {}
    for key in infos[0].get("sampled", {}):
        values[key], values[f"_{key}"] = np.array([info["sampled"][key] for info in infos]), mask
    return {"sampled": values, "_sampled": mask} if values else {}


def _zeros_like(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _zeros_like(item) for key, item in value.items()}
    return value * 0


def assert_same(one: Any, other: Any, where: str = "") -> None:
    """Compare nested tuples, dicts and arrays bit for bit, types and shapes included."""
    if isinstance(other, dict):
        assert one.keys() == other.keys(), where
        for key in other:
            assert_same(one[key], other[key], f"{where}[{key!r}]")
    elif isinstance(other, (tuple, list)):
        assert len(one) == len(other), where
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_same(a, b, f"{where}[{i}]")
    else:
        assert (one.dtype, one.shape) == (other.dtype, other.shape), f"{where}: {one.dtype} {one.shape}"
        if one.tobytes() != other.tobytes():
            indices = np.argwhere(one != other)
            raise AssertionError(f"{where}: {len(indices)} differ, the first at {indices[:1].tolist()}")


def scramble(actions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Replace some orders by any integers."""
    scrambled = actions.copy()
    mask = rng.random(actions.shape) < 0.2
    scrambled[mask] = rng.integers(-4, 36, int(mask.sum()))
    mask = rng.random(actions.shape) < 0.02
    scrambled[mask] = rng.choice(HUGE, int(mask.sum()))
    return scrambled


def assert_plays_as_singles(
    envs: Any, singles: Singles, steps: int, *, seed: int = 5, scrambles: bool = False, games: bool = True
) -> int:
    """Step both with the same random orders and compare all outputs; return the number of finished episodes."""
    rng = np.random.default_rng(seed)
    count = len(singles.games)
    assert_same(envs.reset(seed=seed), singles.reset([seed + i for i in range(count)]), "reset")
    finished = 0
    for step in range(steps):
        actions = envs.sample_actions()
        assert_same(actions, singles.sample(), f"step {step}, sampled")
        actions = scramble(actions, rng) if scrambles else actions
        played = envs.step(actions)
        assert_same(played, singles.step(actions), f"step {step}")
        over = played[2] | played[3]
        finished += int(over.sum())
        if games and (step % 16 == 0 or over.any()):
            for i in range(count):
                assert envs.game(i) == singles.games[i].env.game(), f"step {step}, game {i}"
        if singles.mode == "disabled" and over.any():
            mask = over.reshape(count, singles.sides)[:, 0]
            returned = envs.reset(options={"reset_mask": over})
            assert_same(returned, singles.reset(mask=mask), f"step {step}, reset")
    return finished
