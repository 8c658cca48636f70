"""The arrays that a step of the vector environment returns, and their recycling.

What was returned belongs to the caller: it is written to again only when nobody holds it any more, or a view of it,
which its number of references tells. A loop that keeps the latest step alone allocates nothing.
"""

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.episodes import FIGURES, STATISTICS, Page, Results
from geo_patrol.engine.legal_sets import MASK_WORDS
from geo_patrol.engine.state import ORDERS, SATELLITES

KEPT = 3
"""Frames that are looked at again: the one that the caller holds, the next, and one for a caller who holds two."""


class Layout(NamedTuple):
    """What the arrays of a frame look like."""

    slots: int
    size: int
    dtype: np.dtype[Any]
    """Size and type of an observation."""
    has_final: bool
    """Whether episodes end and begin in the same step, so that what they end with is returned beside."""
    parts: tuple[tuple[int, int], ...]
    """The slots that each thread writes: the first, and the one after the last."""


class Seen(NamedTuple):
    """Observations, masks and figures of every slot."""

    observations: NDArray[Any]
    """(slots, size)"""
    masks: NDArray[np.int8]
    """(slots, 11, 28)"""
    words: NDArray[np.int32]
    """(slots, 11, 7), the memory of the masks."""
    figures: NDArray[np.int64]
    """(slots, FIGURES)"""


class Frame:
    """Everything that one step returns."""

    def __init__(self, layout: Layout) -> None:
        slots = layout.slots
        self.seen = _make_seen(layout)
        self.final = _make_seen(layout if layout.has_final else layout._replace(slots=0))
        self.sampled = np.zeros((slots, SATELLITES), np.int64)
        self.results = Results(
            rewards=np.zeros(slots),
            terminations=np.zeros(slots, np.bool_),
            truncations=np.zeros(slots, np.bool_),
            returns=np.zeros(slots),
            statistics=np.zeros((slots, STATISTICS), np.int64),
            is_finished=np.zeros(slots, np.bool_),
        )
        self.final_rows = np.zeros(slots if layout.has_final else 0, np.bool_)
        """The rows of ``final`` that hold something."""
        self.pages = [self._page(start, stop) for start, stop in layout.parts]
        """The parts of it that threads write."""
        self._held_by_itself = self._references()

    def _references(self) -> list[int]:
        return [sys.getrefcount(array) for array in self._arrays()]

    def _arrays(self) -> Iterator[NDArray[Any]]:
        for seen in (self.seen, self.final):
            yield seen.observations
            yield seen.masks
            yield seen.figures
        results = self.results
        yield results.rewards
        yield results.terminations
        yield results.truncations
        yield results.returns
        yield results.statistics
        yield results.is_finished
        yield self.sampled

    @property
    def is_free(self) -> bool:
        """Whether nobody else holds any of the arrays."""
        return self._references() == self._held_by_itself

    def _page(self, start: int, stop: int) -> Page:
        """Return the part of the frame for some slots."""
        seen, final, here = self.seen, self.final, slice(start, stop)
        return Page(
            seen.observations[here],
            seen.words[here],
            seen.figures[here],
            final.observations[here],
            final.words[here],
            final.figures[here],
            self.final_rows[here],
            Results(*(array[here] for array in self.results)),  # type: ignore[arg-type]
            self.sampled[here],
        )

    def clear_results(self) -> None:
        """Write that nothing was played and nothing ended, as after a reset."""
        for array in (*self.results, self.final.observations, self.final.masks, self.final.figures, self.final_rows):
            array[:] = 0


def _make_seen(layout: Layout) -> Seen:
    masks = np.zeros((layout.slots, SATELLITES, ORDERS), np.int8)
    return Seen(
        observations=np.zeros((layout.slots, layout.size), layout.dtype),
        masks=masks,
        words=masks.view(np.int32).reshape(layout.slots, SATELLITES, MASK_WORDS),
        figures=np.zeros((layout.slots, FIGURES), np.int64),
    )


class FramePool:
    """Frames to write to.

    Args:
        layout: what they look like.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._frames: list[Frame] = []

    def next(self, current: Frame | None) -> Frame:
        """Return a frame that nobody holds and that is not the current one; the oldest that is held is let go."""
        for frame in self._frames:
            if frame is not current and frame.is_free:
                return frame
        frame = Frame(self._layout)
        self._frames = [*self._frames[-KEPT + 1 :], frame]
        return frame
