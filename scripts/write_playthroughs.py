"""Write the golden playthroughs: a whole game on each preset as text, to be read and compared in review.

Both sides give random legal orders and engage where they can, so that every kind of event occurs. Run it after an
intended change of the rules or the random streams (``make golden``), and review the difference before committing it.
"""

import zlib
from pathlib import Path

import numpy as np

from geo_patrol import Game, Order, preset_names
from geo_patrol.engine.legal import sample_legal
from geo_patrol.engine.observe import ENCODINGS
from geo_patrol.game.text import heading_text, outcomes_text

FOLDER = Path(__file__).parents[1] / "tests" / "golden"
SIDES = ("alpha", "bravo")
SEED = 2024


def playthrough(preset: str) -> str:
    """Play a game to its end and return its full record."""
    game = Game(preset, seed=SEED)
    rng = np.random.default_rng(SEED)
    lines = [f"{preset}, seed {SEED}", ""]
    while not game.is_over:
        lines += [heading_text(game), *position_lines(game)]
        orders = choose_orders(game, rng)
        lines += [f"  {side} orders: {orders_line(codes)}" for side, codes in zip(SIDES, orders, strict=True)]
        outcomes = game.step(*orders).outcomes
        if game.phase != "engagement" and outcomes:
            lines.append(outcomes_text(outcomes))
        lines.append("")
    lines += [heading_text(game), *position_lines(game), f"  winner: {game.winner}"]
    return "\n".join(lines) + "\n"


def choose_orders(game: Game, rng: np.random.Generator) -> np.ndarray:
    """Sample legal orders for both sides; a satellite that can engage does."""
    masks = np.stack([game.action_mask(side) for side in SIDES])
    if game.phase == "engagement":
        masks[..., 0] = masks[..., 1:].max(axis=-1) == 0
    return sample_legal(masks, rng)


def position_lines(game: Game) -> list[str]:
    """Return both fleets, goals, goal points, the number of legal orders and the observations' checksums."""
    lines = []
    for side in SIDES:
        fleet = " ".join(f"{s.sector}/{s.fuel}/{s.ammo}{'x' * s.destroyed}" for s in game.satellites(side))
        sums = [f"{zlib.crc32(game.observation(side, encoding).tobytes()):08x}" for encoding in ENCODINGS]
        legal = int(game.action_mask(side).sum())
        lines.append(
            f"  {side}: goal {game.goals[side]}, goal points {game.goal_points[side]}, {legal} legal, seen {' '.join(sums)}"
        )
        lines.append(f"    sector/fuel/ammo: {fleet}")
    return lines


def orders_line(codes: np.ndarray) -> str:
    """Return the orders of one side that are not noop."""
    orders = [str(Order.from_code(number, int(code))) for number, code in enumerate(codes) if code]
    return "; ".join(orders) or "none"


if __name__ == "__main__":
    for name in preset_names():
        (FOLDER / f"{name}.txt").write_text(playthrough(name), encoding="utf-8", newline="\n")
        print(f"wrote {name}.txt")
