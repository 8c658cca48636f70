"""The games of a batch, and the shares of them that threads play."""

import itertools
from collections.abc import Iterator

import numpy as np

from geo_patrol.engine.batch import Batch
from geo_patrol.engine.episodes import EPISODE, Part
from geo_patrol.engine.setup import as_slots
from geo_patrol.engine.state import MAX_OUTCOMES, OUTCOME, SATELLITES, records

GAMES_PER_THREAD = 32
"""Fewer games are not worth a thread of their own."""
HEAD_START = 64
"""Games that are played, about, while another thread wakes up."""


def share_out(games: int, threads: int) -> Iterator[tuple[int, int]]:
    """Cut games into shares for threads: the first and the last place after it of each.

    The caller's thread, which does the first, begins while the others are being woken, so it gets some games more, as
    far as the others keep enough of them.
    """
    shares = max(min(threads, games // GAMES_PER_THREAD), 1)
    head_start = min(HEAD_START, games // 8, games - shares * GAMES_PER_THREAD) if shares > 1 else 0
    ends = [0, *(head_start + (games - head_start) * share // shares for share in range(1, shares + 1))]
    return itertools.pairwise(ends)


class Share:
    """The games that one thread plays."""

    def __init__(self, part: Part, start: int, stop: int) -> None:
        self.part, self.start, self.stop = part, start, stop
        self.pending = 0
        """How many episodes are over and wait for a reset."""


def make_whole(batch: Batch) -> Part:
    """Return all games of a batch, with an episode each."""
    count = len(batch)
    return Part(
        batch.games,
        batch.rules,
        batch.slots,
        batch.rule_figures("onehot"),
        batch.rule_figures("tokens"),
        records(EPISODE, count),
        batch.legal,
        np.zeros((count, SATELLITES), np.int64),
        np.zeros(count, np.uint64),
        np.zeros(count, np.bool_),
        records(OUTCOME, MAX_OUTCOMES),
    )


def make_share(whole: Part, start: int, stop: int) -> Share:
    """Return some of the games, the same memory, with rules that no other thread writes to."""
    here, of_rules = slice(start, stop), slice(None)
    if len(whole.rules) > 1:
        of_rules = here
    elif start > 0:  # one record for all, to which resets write
        rules = whole.rules.copy()
        whole = whole._replace(
            rules=rules,
            rule_slots=as_slots(rules),
            onehot_figures=whole.onehot_figures.copy(),
            token_figures=whole.token_figures.copy(),
        )
    part = Part(
        whole.games[here],
        whole.rules[of_rules],
        whole.rule_slots[of_rules],
        whole.onehot_figures[of_rules],
        whole.token_figures[of_rules],
        whole.episodes[here],
        whole.legal[here],
        whole.enemy_orders[here],
        whole.keys[here],
        whole.waiting[here],
        records(OUTCOME, MAX_OUTCOMES),
    )
    return Share(part, start, stop)
