"""Comparing the engine's odds with recorded ones: the same engagement resolved as often, counts held side by side."""

from collections import Counter

import numpy as np

from geo_patrol.engine import state
from geo_patrol.engine.batch import Batch
from geo_patrol.engine.engagement import pay_for_engagements
from geo_patrol.engine.legal_sets import legal_sets
from geo_patrol.engine.movement import strike_illegal_orders
from geo_patrol.engine.odds import resolve_repeatedly
from geo_patrol.sides import SIDES
from geo_patrol.verify.chi_square import homogeneity
from geo_patrol.verify.games import load_state, read_orders
from geo_patrol.verify.recording import RecordedOdds, read_config

SIGNIFICANCE = 1e-4
"""Below this p-value two distributions count as different."""
_SEED = 20240401
_CHUNK = 100_000
"""Draws held in memory at a time."""


def check_odds(recorded: RecordedOdds) -> str | None:
    """Resolve a recorded engagement as often as it was recorded; return what differs, or None.

    Raises:
        RecordingError: the recording does not make sense.
        ConfigError: its configuration does not.
    """
    destroyed, kinds = count_outcomes(recorded)
    recorded_destroyed = Counter[str]()
    for label, count in recorded.destroyed_counts.items():
        recorded_destroyed[_sorted_label(label)] += count
    for field, theirs, ours in (
        ("destroyed_counts", recorded_destroyed, destroyed),
        ("outcome_counts_guard_shoot_collide", recorded.outcome_counts_guard_shoot_collide, kinds),
    ):
        p_value = homogeneity(theirs, ours)
        if p_value < SIGNIFICANCE:
            return f"{field}: recorded {_shares(theirs)}, drawn {_shares(ours)}: p = {p_value:.2g} < {SIGNIFICANCE:g}"
    return None


def count_outcomes(recorded: RecordedOdds, seed: int = _SEED) -> tuple[Counter[str], Counter[str]]:
    """Resolve a recorded engagement as often as it was recorded.

    Returns:
        How often who was destroyed ("a3,b0": alpha's Patrol 3 and bravo's HVA), and how often there were how many
        outcomes ("3/2/1": guard, shoot, collide).
    """
    batch = Batch(read_config(recorded.config))
    batch.seed([seed])
    batch.reset()
    load_state(batch, recorded.state)
    game, rules = batch.games[0], batch.rules[0]
    orders = read_orders(recorded.orders)
    strike_illegal_orders(game, legal_sets(game, rules), orders)
    pay_for_engagements(game, rules, orders)
    destroyed, kinds = Counter[str](), Counter[str]()
    for start in range(0, recorded.draws, _CHUNK):
        chunk = min(_CHUNK, recorded.draws - start)
        bits, counts = np.empty(chunk, np.int64), np.empty((chunk, 3), np.int64)
        resolve_repeatedly(game, rules, orders, batch.outcomes, bits, counts)
        for value, times in zip(*np.unique(bits, return_counts=True), strict=True):
            destroyed[_label(int(value))] += int(times)
        of_kinds = counts[:, [state.GUARDING, state.SHOT, state.COLLISION]]
        for row, times in zip(*np.unique(of_kinds, axis=0, return_counts=True), strict=True):
            kinds["/".join(map(str, row))] += int(times)
    return destroyed, kinds


def _label(bits: int) -> str:
    places = [place for place in range(state.SIDES * state.SATELLITES) if bits >> place & 1]
    return ",".join(f"{SIDES[place // state.SATELLITES][0]}{place % state.SATELLITES}" for place in places)


def _sorted_label(label: str) -> str:
    return ",".join(sorted(label.split(","), key=lambda name: (name[:1], len(name), name)))


def _shares(counts: "Counter[str] | dict[str, int]") -> str:
    total = sum(counts.values())
    most = sorted(counts.items(), key=lambda item: -item[1])[:4]
    return "{" + ", ".join(f"{label or 'nobody'}: {count / total:.4f}" for label, count in most) + ", ..}"
