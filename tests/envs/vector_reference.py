"""What a vector environment must return, found with single environments that are stepped one after the other."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from geo_patrol.envs.parallel import ParallelGeoPatrol
from geo_patrol.envs.solo import SoloGeoPatrol
from geo_patrol.sides import SIDES

FIGURES = ("illegal_orders", "score", "enemy_score", "turn", "phase", "reasons", "seat", "opponent")
STATISTICS = ("return", "length", "score", "enemy_score", "reasons", "outcome", "illegal_orders", "seat", "opponent")
HUGE = np.array([-(2**63), 2**63 - 1, -(2**31), 2**32, 28, -1, 127, 256 + 1], np.int64)


class Single:
    """One single environment, whichever kind, and what its sides have earned in the episode."""

    def __init__(self, place: int, seats: str, opponent: str | None, mask_in: str, **options: Any) -> None:
        self.seats, self.mask_in = seats, mask_in
        self.env: Any
        if seats == "both":
            self.env = ParallelGeoPatrol(mask_in=mask_in, **options)
        else:
            first = ("alpha", "bravo")[place % 2] if seats == "alternate" else seats
            self.env = SoloGeoPatrol(opponent=opponent, seat=first, mask_in=mask_in, **options)
        self.place = place

    def reset(self, seed: int | None) -> tuple[list[Any], list[dict[str, Any]]]:
        if self.seats == "alternate":
            begins = seed is not None or not hasattr(self, "next_seat")
            self.env._seat_choice = ("alpha", "bravo")[self.place % 2] if begins else self.next_seat
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
            seen, reward, terminated, truncated, info = self.env.step(orders[0])
            side = self.env.seat
            step = ({side: seen}, {side: reward}, {side: terminated}, {side: truncated}, {side: info})
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
        found = []
        for side, info in zip(self.total, infos, strict=True):
            numbers = {name: info[name] for name in STATISTICS if name in info}
            outcome = 0 if winner is None else (1 if winner == side else -1)
            numbers |= {"return": self.total[side], "length": self.length, "outcome": outcome}
            found.append(numbers | {"illegal_orders": self.illegal[side]})
        return found

    def sample(self) -> np.ndarray:
        if self.seats != "both":
            return self.env.sample_action()[None]
        return np.stack(list(self.env.sample_actions().values()))


class Singles:
    """As many single environments as a vector environment has games, handled as its mode demands."""

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
        self.games = [Single(place, seats, opponent, mask_in, config=config, **options) for place in range(games)]
        self.seen: list[Any] = [None] * (games * self.sides)
        self.infos: list[Any] = [None] * (games * self.sides)

    def _slots(self, place: int) -> slice:
        return slice(place * self.sides, (place + 1) * self.sides)

    def reset(self, seeds: Any = None, which: Any = None) -> tuple[Any, dict[str, Any]]:
        for place, game in enumerate(self.games):
            if which is None or which[place]:
                here, seed = self._slots(place), None if seeds is None else seeds[place]
                self.seen[here], self.infos[here] = game.reset(seed)
        nothing = {"finished": {}, "final": {}}
        return self._batched(self.seen), self._packed(**nothing)

    def step(self, actions: np.ndarray) -> tuple[Any, ...]:
        slots = len(self.games) * self.sides
        rewards, terminations, truncations = np.zeros(slots), np.zeros(slots, bool), np.zeros(slots, bool)
        finished: dict[int, Any] = {}
        final: dict[int, Any] = {}
        for place, game in enumerate(self.games):
            here = self._slots(place)
            if game.is_over:
                self.seen[here], self.infos[here] = game.reset(None)
                continue
            played = game.step(actions[here])
            self.seen[here], rewards[here], terminations[here], truncations[here], self.infos[here] = played
            if not game.is_over:
                continue
            finished |= dict(zip(range(here.start, here.stop), game.statistics(self.infos[here]), strict=True))
            if self.mode == "same_step":
                ends = zip(self.seen[here], self.infos[here], strict=True)
                final |= dict(zip(range(here.start, here.stop), ends, strict=True))
                self.seen[here], self.infos[here] = game.reset(None)
        return self._batched(self.seen), rewards, terminations, truncations, self._packed(finished, final)

    def _batched(self, seen: list[Any]) -> Any:
        if isinstance(seen[0], dict):
            return {key: np.stack([one[key] for one in seen]) for key in seen[0]}
        return np.stack(seen)

    def _table(self, infos: list[dict[str, Any]], has: np.ndarray) -> dict[str, Any]:
        table: dict[str, Any] = {}
        for name in FIGURES:
            table[name], table[f"_{name}"] = np.array([info[name] for info in infos], np.int64), has
        if self.mask_in == "info":
            table["action_mask"], table["_action_mask"] = np.stack([info["action_mask"] for info in infos]), has
        return table

    def _packed(self, finished: dict[int, Any], final: dict[int, Any]) -> dict[str, Any]:
        slots = len(self.infos)
        over, nobody = np.isin(np.arange(slots), list(finished)), dict.fromkeys(STATISTICS, 0)
        infos = self._table(self.infos, np.ones(slots, bool))
        numbers: dict[str, Any] = {}
        for name in STATISTICS:
            of_slots = [finished.get(slot, nobody)[name] for slot in range(slots)]
            numbers[name], numbers[f"_{name}"] = np.array(of_slots, float if name == "return" else np.int64), over
        infos |= {"finished_episode": numbers, "_finished_episode": over}
        if self.mode == "same_step":
            zeros = [_zeros_like(one) for one in self.seen]
            ends = [final.get(slot, (zeros[slot], _zeros_like(self.infos[slot]))) for slot in range(slots)]
            infos |= {"final_obs": self._batched([seen for seen, _ in ends]), "_final_obs": over}
            infos |= {"final_info": self._table([info for _, info in ends], over), "_final_info": over}
        return infos

    def sample(self) -> np.ndarray:
        return np.concatenate([game.sample() for game in self.games])


def _zeros_like(one: Any) -> Any:
    if isinstance(one, dict):
        return {key: _zeros_like(value) for key, value in one.items()}
    return one * 0


def assert_same(one: Any, other: Any, where: str = "") -> None:
    """Compare nested tuples, dicts and arrays bit for bit, types and shapes included."""
    if isinstance(other, dict):
        assert one.keys() == other.keys(), where
        for key in other:
            assert_same(one[key], other[key], f"{where}[{key!r}]")
    elif isinstance(other, (tuple, list)):
        assert len(one) == len(other), where
        for place, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_same(a, b, f"{where}[{place}]")
    else:
        assert (one.dtype, one.shape) == (other.dtype, other.shape), f"{where}: {one.dtype} {one.shape}"
        if one.tobytes() != other.tobytes():
            places = np.argwhere(one != other)
            raise AssertionError(f"{where}: {len(places)} differ, the first at {places[:1].tolist()}")


def spoil(actions: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Replace some orders by whatever somebody might send."""
    spoiled = actions.copy()
    where = random.random(actions.shape) < 0.2
    spoiled[where] = random.integers(-4, 36, int(where.sum()))
    where = random.random(actions.shape) < 0.02
    spoiled[where] = random.choice(HUGE, int(where.sum()))
    return spoiled


def assert_plays_as_singles(
    envs: Any, singles: Singles, steps: int, *, seed: int = 5, spoils: bool = False, games: bool = True
) -> int:
    """Step both, with the same random orders, and compare everything; return how many episodes finished."""
    random = np.random.default_rng(seed)
    count = len(singles.games)
    assert_same(envs.reset(seed=seed), singles.reset([seed + place for place in range(count)]), "reset")
    finished = 0
    for step in range(steps):
        actions = envs.sample_actions()
        assert_same(actions, singles.sample(), f"step {step}, sampled")
        actions = spoil(actions, random) if spoils else actions
        played = envs.step(actions)
        assert_same(played, singles.step(actions), f"step {step}")
        over = played[2] | played[3]
        finished += int(over.sum())
        if games and (step % 16 == 0 or over.any()):
            for place in range(count):
                assert envs.game(place) == singles.games[place].env.game(), f"step {step}, game {place}"
        if singles.mode == "disabled" and over.any():
            which = over.reshape(count, singles.sides)[:, 0]
            begun = envs.reset(options={"reset_mask": over})
            assert_same(begun, singles.reset(which=which), f"step {step}, reset")
    return finished
