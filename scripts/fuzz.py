"""Play random phases on random boards with bounds checks, and check the invariants of every game after each phase.

    python scripts/fuzz.py --phases 1000000 --seed 0

A violation ends the run with exit status 1 and prints the seed that reproduces it.
"""

import argparse
import os
import subprocess
import sys
import time

import numba
import numpy as np
from rich.console import Console
from rich.progress import Progress

from geo_patrol import GameConfig, load_config
from geo_patrol.board import EARTH, prograde, ring_of
from geo_patrol.engine import state
from geo_patrol.engine.batch import Batch
from geo_patrol.engine.encodings import (
    NO_SLOTS,
    RULE_FIGURES,
    observation_bounds,
    observation_size,
    observation_type,
    sector_slots,
)
from geo_patrol.engine.legal_sets import write_legal_sets, write_masks
from geo_patrol.engine.legality import is_legal
from geo_patrol.engine.observe import observe_both, write_rule_figures
from geo_patrol.engine.rng import stream_number
from geo_patrol.engine.sample import sample_next_orders
from geo_patrol.engine.setup import reset_game
from geo_patrol.engine.turn import play_phase
from geo_patrol.engine.workspace import make_scratch

GAMES = 4
"""Games per board."""
PHASES = 80
"""Phases per game; a finished game is reset."""

FAULTS = (
    "fuel rose or fell below zero",
    "ammo rose or fell below zero",
    "a satellite became active again",
    "a destroyed satellite has fuel, or is whole again",
    "a satellite is off the board",
    "the goals are not opposite, or off their ring",
    "the phase, the end and its reasons contradict each other",
    "the turn limit was passed",
    "goal points fell, or the score is below them",
    "a mask and the legality of an order disagree",
    "a sampled order is not legal",
    "illegal orders were miscounted",
    "more outcomes than the buffer holds",
    "an observation is out of its bounds",
    "a function did not clear its workspace",
)
FINE = -1

HUGE = np.array([-(2**63), 2**63 - 1, -(2**31), 2**32, 28, -1, 127, 256 + 1], np.int64)


def random_pair(random: np.random.Generator, high: int) -> list[int]:
    """Return the costs for the same and for an adjacent sector."""
    return [int(cost) for cost in random.integers(0, high + 1, 2)]


def random_side(random: np.random.Generator) -> dict:
    """Return all values of one side."""
    patrols = int(random.integers(1, 11))
    counts = np.bincount(random.integers(0, 4, patrols))
    offsets = (
        random.integers(-3, 4, len(counts)) if random.random() < 0.8 else random.integers(-1023, 1024, len(counts))
    )
    max_cost = 12 if random.random() < 0.7 else 100
    odds = [0.0, 0.5, 1.0] if random.random() < 0.5 else random.random(3).tolist()
    return {
        "hva": {
            "fuel": int(random.integers(1, 201)),
            "ammo": int(random.integers(0, 4)),
            "weight": round(float(random.random() * 2), 3),
        },
        "patrols": {
            "formation": [[int(offset), int(count)] for offset, count in zip(offsets, counts, strict=True) if count],
            "fuel": int(random.integers(1, 201)),
            "ammo": int(random.integers(0, 4)),
            "weight": "auto" if random.random() < 0.5 else round(float(random.random() * 2), 3),
        },
        "costs": {
            **{
                move: int(random.integers(0, max_cost + 1))
                for move in ("prograde", "retrograde", "radial_in", "radial_out")
            },
            "station_keeping": int(random.integers(0, 6)),
            **{kind: random_pair(random, max_cost) for kind in ("shoot", "collide", "guard")},
        },
        "odds": {kind: random.choice(odds, 2).tolist() for kind in ("shoot", "collide", "guard")},
        "points": {
            "goal": int(random.integers(0, 20)),
            "adjacent": int(random.integers(0, 20)),
            "win": int(random.integers(1, 2000)),
        },
    }


def random_config(random: np.random.Generator) -> GameConfig:
    """Return a configuration of any board; small ones, where the sides meet, are the most frequent."""
    max_ring = 4 if random.random() < 0.7 else 10
    inner, goal, outer = sorted(int(ring) for ring in random.integers(1, max_ring + 1, 3))
    return load_config(
        {
            "title": "fuzz",
            "rules": str(random.choice(["book", "code"])),
            "illegal_orders": "noop" if random.random() < 0.9 else "forfeit",
            "turn_limit": int(random.integers(1, 61)),
            "board": {"inner_ring": inner, "goal_ring": goal, "outer_ring": outer},
            "alpha": random_side(random),
            "bravo": random_side(random),
        }
    )


@numba.njit
def scramble_orders(mode: int, bits: np.uint64, orders: state.IntArray) -> None:
    """Replace legal orders, (2, 11), by whatever somebody might send: now and then some, now and then all."""
    for side in range(state.SIDES):
        for number in range(state.SATELLITES):
            draw = int(stream_number(bits, np.uint64(side * state.SATELLITES + number)) >> np.uint64(33))
            if draw % 4 >= mode:
                continue
            draw //= 4
            orders[side, number] = HUGE[draw % len(HUGE)] if draw % 7 == 0 else draw % 40 - 4


@numba.njit
def find_mask_fault(game: state.Record, rules: state.Record, mask: state.IntArray, orders: state.IntArray) -> int:
    """Compare the masks with the legality of each order, and with the orders sampled from them."""
    for side in range(state.SIDES):
        for number in range(state.SATELLITES):
            if mask[side, number, orders[side, number]] != 1:
                return 10
            for code in range(state.ORDERS):
                if (mask[side, number, code] == 1) != is_legal(game, rules, side, number, code):
                    return 9
    return FINE


@numba.njit
def count_illegal(mask: state.IntArray, orders: state.IntArray) -> int:
    """Count orders that the mask does not allow."""
    illegal = 0
    for code, allowed in zip(orders, mask):  # noqa: B905 - compiled
        if code < 0 or code >= state.ORDERS or allowed[code] == 0:
            illegal += 1
    return illegal


@numba.njit
def find_fault(game: state.Record, rules: state.Record, fuel: state.IntArray, ammo: state.IntArray) -> int:
    """Return the first invariant that a game breaks after a phase, as an index into ``FAULTS``."""
    for side in range(state.SIDES):
        for number in range(state.SATELLITES):
            now, before = game.fuel[side, number], fuel[side, number]
            if now < 0 or now > before > 0:
                return 0
            if game.ammo[side, number] > ammo[side, number] or game.ammo[side, number] < 0:
                return 1
            if now > 0 and before <= 0:
                return 2
            if game.destroyed[side, number] and now > 0:
                return 3
            sector = game.sector[side, number]
            is_absent = number > rules.patrol_count[side]
            if is_absent != (sector == EARTH):
                return 4
            if not is_absent and not rules.inner_ring <= ring_of(sector) <= rules.outer_ring:
                return 4
        if ring_of(game.goal[side]) != rules.goal_ring:
            return 5
        if game.score[side] < game.goal_points[side] or game.goal_points[side] < 0:
            return 8
    half = game.goal[0]
    for _ in range(1 << (rules.goal_ring - 1)):
        half = prograde(half)
    if half != game.goal[1]:
        return 5
    if (game.done != 0) != (game.phase == state.DRIFT) or (game.done != 0) != (game.reasons != 0):
        return 6
    if game.turn > rules.turn_limit + rules.code_rules:
        return 7
    return FINE


@numba.njit
def is_within(observations: np.ndarray, bounds: np.ndarray) -> bool:
    """Return whether the observations of both sides are within the bounds of the observation space."""
    for side in range(state.SIDES):
        for i in range(len(bounds)):
            if not 0 <= observations[side, i] <= bounds[i]:
                return False
    return True


@numba.njit
def play(
    games: state.Records,
    scenario: tuple,
    rules: state.Records,
    rule_slots: np.ndarray,
    outcomes: state.Records,
    streams: np.ndarray,
    phases: int,
    slots: int,
    onehot: np.ndarray,
    tokens: np.ndarray,
    onehot_bounds: np.ndarray,
    token_bounds: np.ndarray,
    tally: np.ndarray,
) -> int:
    """Play phases of every game with legal and illegal orders; return the first fault.

    ``tally`` counts phases, outcomes, illegal orders and finished games.
    """
    scratch = make_scratch(rules[0].outer_ring)
    onehot_figures = np.empty((state.SIDES, RULE_FIGURES), np.float32)
    token_figures = np.empty((state.SIDES, RULE_FIGURES), np.int16)
    legal = np.empty((state.SIDES, state.SATELLITES), np.int32)
    mask = np.empty((state.SIDES, state.SATELLITES, state.ORDERS), np.int8)
    orders = np.empty((state.SIDES, state.SATELLITES), np.int64)
    for i in range(len(games)):
        game, rule = games[i], rules[0]
        write_rule_figures(rule, slots, onehot_figures)
        write_rule_figures(rule, NO_SLOTS, token_figures)
        for _ in range(phases):
            if game.done:
                reset_game(game, scenario, rule, rule_slots[0])
                write_rule_figures(rule, slots, onehot_figures)
                write_rule_figures(rule, NO_SLOTS, token_figures)
                tally[3] += 1
            write_legal_sets(game, rule, scratch, legal)
            write_masks(legal, mask.view(np.int32))
            sample_next_orders(legal, streams[i], scratch.draws, orders)
            fault = find_mask_fault(game, rule, mask, orders)
            if fault != FINE:
                return fault
            bits = stream_number(streams[i, 0], ~streams[i, 1])
            mode = int(bits >> np.uint64(60))
            if mode < 4:
                scramble_orders(mode, bits, orders)
            illegal = np.array([count_illegal(mask[side], orders[side]) for side in range(state.SIDES)])
            fuel, ammo, points = game.fuel.copy(), game.ammo.copy(), game.goal_points.copy()
            count = play_phase(game, rule, orders, outcomes)
            if count >= state.MAX_OUTCOMES:
                return 12
            if illegal[0] != game.illegal_orders[0] or illegal[1] != game.illegal_orders[1]:
                return 11
            fault = find_fault(game, rule, fuel, ammo)
            if fault != FINE:
                return fault
            forfeited = game.reasons >= state.FORFEIT and rule.forfeit
            if not forfeited and (game.goal_points[0] < points[0] or game.goal_points[1] < points[1]):
                return 8
            observe_both(game, rule, scratch, slots, onehot_figures, onehot)
            observe_both(game, rule, scratch, NO_SLOTS, token_figures, tokens)
            if scratch.occupancy.any() or scratch.nearness.any():
                return 14
            if not is_within(onehot, onehot_bounds) or not is_within(tokens, token_bounds):
                return 13
            tally[0] += 1
            tally[1] += count
            tally[2] += illegal[0] + illegal[1]
    return FINE


def play_board(seed: int, board: int, phases: int, tally: np.ndarray) -> int:
    """Play on the random board of a seed and a number; return the first fault."""
    random = np.random.default_rng([seed, board])
    config = random_config(random)
    outer_ring = config.board.outer_ring
    batch = Batch(config, GAMES)
    batch.seed([int(number) for number in random.integers(2**63, size=GAMES)])
    batch.reset()
    observations = [
        np.empty((state.SIDES, observation_size(encoding, outer_ring)), observation_type(encoding))
        for encoding in ("onehot", "tokens")
    ]
    bounds = [observation_bounds(encoding, outer_ring) for encoding in ("onehot", "tokens")]
    streams = random.integers(2**63, size=(GAMES, 2), dtype=np.uint64)
    slots = sector_slots("onehot", outer_ring)
    rules = (batch.scenario, batch.rules, batch.slots, batch.outcomes)
    return play(batch.games, *rules, streams, phases, slots, *observations, *bounds, tally)


def fuzz(phases: int, seed: int) -> int:
    """Play about that many phases; print the result and return the exit status."""
    tally = np.zeros(4, np.int64)
    start = time.perf_counter()
    board = 0
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("playing", total=phases)
        while tally[0] < phases:
            per_game = min(PHASES, max(1, (phases - int(tally[0]) + GAMES - 1) // GAMES))
            fault = play_board(seed, board, per_game, tally)
            if fault != FINE:
                progress.stop()
                print(f"VIOLATION on board {board}, --seed {seed}: {FAULTS[fault]}")
                return 1
            board += 1
            progress.update(bar, completed=int(tally[0]))
    seconds = time.perf_counter() - start
    done, outcomes, illegal, finished = tally.tolist()
    print(
        f"ok: {done:,} phases on {board:,} boards, {outcomes:,} outcomes, {illegal:,} illegal orders, "
        f"{finished:,} finished games, no violation, seed {seed}, {seconds:.1f} s"
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
            [sys.executable, *sys.argv], env=os.environ | {"NUMBA_BOUNDSCHECK": "1"}, check=False
        ).returncode
    return fuzz(arguments.phases, arguments.seed)


if __name__ == "__main__":
    sys.exit(main())
