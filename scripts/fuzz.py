"""Play random phases on random boards with bounds checks, and check the invariants of every game after each phase.

    python -m scripts.fuzz --phases 1000000 --seed 0

A violation ends the run with exit status 1 and prints the seed that reproduces it.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress

from geo_patrol import GameConfig, load_config
from geo_patrol.base.board import EARTH
from geo_patrol.engine.observe import ENCODINGS, observation_bounds
from geo_patrol.engine.state import DRIFT, FORFEIT, MAX_OUTCOMES, NUM_SIDES, ORDERS, SATELLITES, Records
from geo_patrol.engine.steps import Outputs
from geo_patrol.envs.episodes import Episodes
from tests.support.plain_legality import is_legal

GAMES = 16
"""Games per board, played as one batch."""
PHASES = 48
"""Phases per game; a finished game is reset."""

HUGE = np.array([-(2**63), 2**63 - 1, -(2**31), 2**32, 28, -1, 127, 256 + 1], np.int64)

Check = tuple[str, NDArray[np.bool_]]
"""The message of a violation, and where it occurs."""


@dataclass
class Tally:
    """What has been played."""

    phases: int = 0
    outcomes: int = 0
    illegal: int = 0
    finished: int = 0


def random_pair(rng: np.random.Generator, high: int) -> list[int]:
    """Return the costs for the same and for an adjacent sector."""
    return [int(cost) for cost in rng.integers(0, high + 1, 2)]


def random_fuel(rng: np.random.Generator) -> int | dict[str, int]:
    """Return an amount of fuel, or now and then a range from which each reset samples one."""
    low, high = sorted(int(fuel) for fuel in rng.integers(1, 201, 2))
    return {"low": low, "high": high} if rng.random() < 0.1 else low


def random_singles(rng: np.random.Generator) -> dict[str, Any]:
    """Return Patrols with fuel and ammo of their own, by number."""
    numbers = rng.choice(np.arange(1, 11), 3, replace=False).tolist()
    return {str(number): {"fuel": random_fuel(rng), "ammo": int(rng.integers(0, 4))} for number in numbers}


def random_side(rng: np.random.Generator) -> dict[str, Any]:
    """Return all values of one side."""
    patrols = int(rng.integers(1, 11))
    counts = np.bincount(rng.integers(0, 4, patrols))
    offsets = rng.integers(-3, 4, len(counts)) if rng.random() < 0.8 else rng.integers(-1023, 1024, len(counts))
    max_cost = 12 if rng.random() < 0.7 else 100
    odds = [0.0, 0.5, 1.0] if rng.random() < 0.5 else rng.random(3).tolist()
    return {
        "hva": {
            "fuel": int(rng.integers(1, 201)),
            "ammo": int(rng.integers(0, 4)),
            "weight": round(float(rng.random() * 2), 3),
        },
        "patrols": {
            "formation": [[int(offset), int(count)] for offset, count in zip(offsets, counts, strict=True) if count],
            **({"count": int(rng.integers(1, 11))} if rng.random() < 0.2 else {}),
            "fuel": random_fuel(rng),
            "ammo": int(rng.integers(0, 4)),
            **({"single": random_singles(rng)} if rng.random() < 0.2 else {}),
            "weight": "auto" if rng.random() < 0.5 else round(float(rng.random() * 2), 3),
        },
        "costs": {
            **{
                move: int(rng.integers(0, max_cost + 1))
                for move in ("prograde", "retrograde", "radial_in", "radial_out")
            },
            "station_keeping": int(rng.integers(0, 6)),
            **{kind: random_pair(rng, max_cost) for kind in ("shoot", "collide", "guard")},
        },
        "odds": {kind: rng.choice(odds, 2).tolist() for kind in ("shoot", "collide", "guard")},
        "points": {
            "goal": int(rng.integers(0, 20)),
            "adjacent": int(rng.integers(0, 20)),
            "win": int(rng.integers(1, 2000)),
            **({"patrol": int(rng.integers(0, 20))} if rng.random() < 0.2 else {}),
        },
    }


def random_sight(rng: np.random.Generator) -> dict[str, int]:
    """Return how far a side sees, which is hardly ever everything."""
    return {"sensor_range": int(rng.integers(1, 5))} if rng.random() < 0.7 else {}


def random_config(rng: np.random.Generator) -> GameConfig:
    """Return a configuration of any board; small ones, where the sides meet, are the most frequent.

    Enemies are hidden in a quarter of them.
    """
    max_ring = 4 if rng.random() < 0.7 else 10
    inner, goal, outer = sorted(int(ring) for ring in rng.integers(1, max_ring + 1, 3))
    hides_enemies = rng.random() < 0.25
    return load_config(
        {
            "title": "fuzz",
            "rules": str(rng.choice(["book", "code"])),
            "illegal_orders": "noop" if rng.random() < 0.9 else "forfeit",
            "turn_limit": int(rng.integers(1, 61)),
            "board": {"inner_ring": inner, "goal_ring": goal, "outer_ring": outer},
            "alpha": random_side(rng) | (random_sight(rng) if hides_enemies else {}),
            "bravo": random_side(rng) | (random_sight(rng) if hides_enemies else {}),
        }
    )


def scramble(rng: np.random.Generator, actions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return legal actions, (n, 2, 11), with orders replaced by any numbers: none in most games, all in some."""
    fraction = rng.choice([0.0, 0.25, 0.5, 1.0], (len(actions), 1, 1), p=[0.8, 0.1, 0.05, 0.05])
    is_huge = rng.random(actions.shape) < 1 / 7
    codes = np.where(is_huge, rng.choice(HUGE, actions.shape), rng.integers(-4, ORDERS + 8, actions.shape))
    return np.where(rng.random(actions.shape) < fraction, codes, actions)


@numba.njit
def judge_every_order(games: Records, rules: Records, legality: NDArray[np.int8]) -> None:
    """Write the legality of each order by itself, (n, 2, 11, 28), as the rules define it."""
    for i in range(len(games)):
        game, rule = games[i], rules[i if len(rules) > 1 else 0]
        for side in range(NUM_SIDES):
            for number in range(SATELLITES):
                for code in range(ORDERS):
                    legality[i, side, number, code] = is_legal(game, rule, side, number, code)


def allows(masks: NDArray[np.int8], actions: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which orders, (n, 2, 11), masks allow, (n, 2, 11, 28)."""
    is_code = (actions >= 0) & (actions < ORDERS)
    codes = np.where(is_code, actions, 0)[..., None]
    return is_code & (np.take_along_axis(masks, codes, -1)[..., 0] == 1)


def check_satellites(before: Records, games: Records, rules: Records) -> Iterator[Check]:
    """Check the satellites of games against the phase before."""
    fuel, ammo, sector = games["fuel"], games["ammo"], games["sector"]
    yield "fuel rose or fell below zero", (fuel < 0) | (fuel > before["fuel"]) & (before["fuel"] > 0)
    yield "ammo rose or fell below zero", (ammo < 0) | (ammo > before["ammo"])
    yield "a satellite became active again", (fuel > 0) & (before["fuel"] <= 0)
    is_destroyed = games["destroyed"] != 0
    is_intact_again = (before["destroyed"] != 0) & ~is_destroyed
    yield "a destroyed satellite has fuel, or is whole again", is_destroyed & (fuel > 0) | is_intact_again
    is_absent = np.arange(SATELLITES) > rules["patrol_count"][..., None]
    first, last = 2 ** rules["inner_ring"] - 1, 2 ** (rules["outer_ring"] + 1) - 2
    is_on_board = (sector >= first[:, None, None]) & (sector <= last[:, None, None])
    yield "a satellite is off the board", np.where(is_absent, sector != EARTH, ~is_on_board)


def check_games(before: Records, games: Records, rules: Records) -> Iterator[Check]:
    """Check goals, phases and points of games against the phase before."""
    first, sectors = 2 ** rules["goal_ring"] - 1, 2 ** rules["goal_ring"]
    azimuths = games["goal"] - first[:, None]
    is_off_ring = ((azimuths < 0) | (azimuths >= sectors[:, None])).any(1)
    is_aslant = (azimuths[:, 1] - azimuths[:, 0]) % sectors != sectors // 2
    yield "the goals are not opposite, or off their ring", is_off_ring | is_aslant
    is_done = games["done"] != 0
    contradicts = (is_done != (games["phase"] == DRIFT)) | (is_done != (games["reasons"] != 0))
    yield "the phase, the end and its reasons contradict each other", contradicts
    yield "the turn limit was passed", games["turn"] > rules["turn_limit"] + rules["code_rules"]
    points = games["goal_points"]
    is_below = (games["score"] < points) | (points < 0)
    has_forfeited = (games["reasons"] >= FORFEIT) & (rules["forfeit"] != 0)
    fell = (points < before["goal_points"]) & ~has_forfeited[:, None]
    yield "goal points fell, or the score is below them", is_below | fell


def check_results(batch: Episodes, masks: NDArray[np.int8], actions: NDArray[np.int64]) -> Iterator[Check]:
    """Check what a step reports, after it was played with actions of which masks allow some."""
    games, results = batch.games.state.games, batch.outputs.results.reshape(len(batch), NUM_SIDES)
    illegal = np.count_nonzero(~allows(masks, actions), axis=-1)
    is_miscounted = (games["illegal_orders"] != illegal) | (results["illegal_orders"] != illegal)
    yield "illegal orders were miscounted", is_miscounted
    yield "more outcomes than there is room for", games["outcome_count"] >= MAX_OUTCOMES
    yield "the end of a game is not reported", results["terminated"] != (games["done"] != 0)[:, None]
    if not batch.games.hides_enemies:
        yield "the rewards of the sides do not cancel out", results["reward"].sum(1) != 0


def check_beliefs(batch: Episodes) -> Iterator[Check]:
    """Check what the sides know where enemies are hidden: of what they see it is true, and own satellites are seen."""
    if not batch.games.hides_enemies:
        return
    games, unseen, ranges = batch.games.state.games, batch.games.unseen, batch.games.state.rules["sensor_range"]
    yield "a sighting is in the future", unseen < 0
    yield "a finished game is hidden", (unseen != 0) & (games["done"] != 0)[:, None, None]
    for side in range(NUM_SIDES):
        belief, enemy = batch.games.sight.beliefs[side::NUM_SIDES], 1 - side
        for name in ("sector", "fuel", "ammo", "destroyed"):
            yield f"the own {name} is not known", belief[name][:, side] != games[name][:, side]
            is_wrong = (belief[name][:, enemy] != games[name][:, enemy]) & (unseen[:, enemy] == 0)
            yield f"the {name} of an enemy in sight is not known", is_wrong
        sees_all = ranges[:, side] == 0
        yield "a side that sees everything does not", (unseen[:, enemy] != 0).any(1) & sees_all
        yield "the own score is not known", belief["score"][:, side] != games["score"][:, side]
        is_wrong = (belief["score"][:, enemy] != games["score"][:, enemy]) & (sees_all | (games["done"] != 0))
        yield "the enemy's score is not known", is_wrong


def check_legality(batch: Episodes) -> Iterator[Check]:
    """Check masks and sampled actions by the legality of each order."""
    masks = batch.outputs.masks.reshape(len(batch), NUM_SIDES, SATELLITES, ORDERS)
    legality = np.empty_like(masks)
    judge_every_order(batch.games.state.games, batch.games.state.rules, legality)
    yield "a mask and the legality of an order disagree", masks != legality
    sampled = batch.outputs.sampled.reshape(len(batch), NUM_SIDES, SATELLITES)
    yield "a sampled order is not legal", ~allows(legality, sampled)


def check_observations(batch: Episodes, bounds: list[NDArray[Any]], single: Outputs) -> Iterator[Check]:
    """Check observations by the bounds of their spaces, and by those of one game that is described alone."""
    own = batch.observations(batch.outputs)
    for encoding, highest in zip(ENCODINGS, bounds, strict=True):
        is_own = encoding == batch.encoding
        observations = own if is_own else batch.games.observe(encoding).reshape(batch.num_envs, -1)
        yield "an observation is out of its bounds", is_outside(observations, highest)
    batch.describe(single, np.arange(len(batch)) == len(batch) - 1)
    for all_rows, rows in ((own, batch.observations(single)), (batch.outputs.masks, single.masks)):
        yield "a game's outputs depend on the games before it", all_rows[-NUM_SIDES:] != rows[-NUM_SIDES:]


def is_outside(observations: NDArray[Any], highest: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which columns of observations have values that are negative, too high, or not numbers."""
    is_inside = (observations.min(0) >= 0) & (observations.max(0) <= highest)
    return ~is_inside


def first_violation(*checks: Iterator[Check]) -> str | None:
    """Return the message of the first violation."""
    return next((message for check in checks for message, is_broken in check if is_broken.any()), None)


def play_board(seed: int, board: int, phases: int, tally: Tally) -> str | None:
    """Play on the random board of a seed and a number; return the first violation."""
    rng = np.random.default_rng([seed, board])
    config = random_config(rng)
    batch = Episodes(config, GAMES, ENCODINGS[board % len(ENCODINGS)], counts_events=True)
    bounds = [
        observation_bounds(
            encoding,
            config.board.outer_ring,
            hides_enemies=config.hides_enemies,
            counts_patrols=config.counts_patrols,
        )
        for encoding in ENCODINGS
    ]
    single, batch.outputs = batch.new_outputs(), batch.new_outputs(sampled=np.empty((batch.num_envs, 11), np.int64))
    batch.seed(rng.integers(2**63, size=GAMES, dtype=np.uint64))
    batch.reset()
    batch.describe(batch.outputs)
    games, rules = batch.games.state.games, batch.games.state.rules
    for _ in range(phases):
        over = np.flatnonzero(games["done"])
        if len(over) > 0:
            batch.reset(over)
            batch.describe(batch.outputs)
        masks = batch.outputs.masks.reshape(GAMES, NUM_SIDES, SATELLITES, ORDERS).copy()
        actions = scramble(rng, batch.outputs.sampled.reshape(GAMES, NUM_SIDES, SATELLITES))
        before = games.copy()
        tally.finished += batch.step(actions.reshape(batch.num_envs, SATELLITES), batch.outputs)
        violation = first_violation(
            check_satellites(before, games, rules),
            check_games(before, games, rules),
            check_results(batch, masks, actions),
            check_beliefs(batch),
            check_legality(batch),
            check_observations(batch, bounds, single),
        )
        if violation is not None:
            return violation
        tally.phases += GAMES
        tally.outcomes += int(games["outcome_count"].sum())
        tally.illegal += int(games["illegal_orders"].sum())
    return None


def fuzz(phases: int, seed: int) -> int:
    """Play about that many phases; print the result and return the exit status."""
    tally = Tally()
    start = time.perf_counter()
    board = 0
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("playing", total=phases)
        while tally.phases < phases:
            per_game = min(PHASES, max(1, (phases - tally.phases + GAMES - 1) // GAMES))
            violation = play_board(seed, board, per_game, tally)
            if violation is not None:
                progress.stop()
                print(f"VIOLATION on board {board}, --seed {seed}: {violation}")
                return 1
            board += 1
            progress.update(bar, completed=tally.phases)
    seconds = time.perf_counter() - start
    print(
        f"ok: {tally.phases:,} phases on {board:,} boards, {tally.outcomes:,} outcomes, "
        f"{tally.illegal:,} illegal orders, {tally.finished:,} finished games, "
        f"no violation, seed {seed}, {seconds:.1f} s"
    )
    return 0


def main() -> int:
    """Parse the command line; without bounds checks, run again with them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--phases", type=int, default=1_000_000, help="the number of phases (default: a million)")
    parser.add_argument("--seed", type=int, default=0, help="the seed of all random numbers")
    arguments = parser.parse_args()
    if arguments.phases < 1 or arguments.seed < 0:
        parser.error("phases must be at least 1, and the seed not negative")
    if os.environ.get("NUMBA_BOUNDSCHECK") != "1":
        return subprocess.run(
            [sys.executable, "-m", "scripts.fuzz", *sys.argv[1:]],
            env=os.environ | {"NUMBA_BOUNDSCHECK": "1"},
            check=False,
        ).returncode
    return fuzz(arguments.phases, arguments.seed)


if __name__ == "__main__":
    sys.exit(main())
