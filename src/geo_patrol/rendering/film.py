"""A game as a film."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from geo_patrol.rendering.picture import Picture
from geo_patrol.sessions.playback import MOVING_FRACTION, phase_seconds
from geo_patrol.sessions.timeline import Snapshot, Timeline

FIRST_SECONDS, LAST_SECONDS = 1.0, 3.0
"""How long the first and the last position stand still."""


def film(
    timeline: Timeline, picture: Picture, frames_per_second: float = 20.0, speed: float = 1.0
) -> Iterator[NDArray[np.uint8]]:
    """Yield the pictures of a whole game.

    Args:
        timeline: the game.
        picture: draws it.
        frames_per_second: of the film.
        speed: how many times faster than in a window.

    Yields:
        (height, width, 3) uint8, new arrays; the same picture repeatedly where nothing moves.
    """
    yield from _still(picture.frame(timeline.snapshot(0)), FIRST_SECONDS * frames_per_second)
    for index in range(1, len(timeline)):
        snapshot = timeline.snapshot(index)
        frames = _frames_of(snapshot, frames_per_second, speed)
        for frame in range(1, frames + 1):
            yield picture.frame(snapshot, min(frame / frames / MOVING_FRACTION, 1.0))
    yield from _still(picture.frame(timeline.snapshot(-1)), LAST_SECONDS * frames_per_second)


def film_length(timeline: Timeline, frames_per_second: float = 20.0, speed: float = 1.0) -> int:
    """Return how many pictures ``film`` yields."""
    still = sum(round(seconds * frames_per_second) for seconds in (FIRST_SECONDS, LAST_SECONDS))
    snapshots = map(timeline.snapshot, range(1, len(timeline)))
    return still + sum(_frames_of(snapshot, frames_per_second, speed) for snapshot in snapshots)


def _frames_of(snapshot: Snapshot, frames_per_second: float, speed: float) -> int:
    return max(round(phase_seconds(snapshot) / speed * frames_per_second), 1)


def _still(frame: NDArray[np.uint8], count: float) -> Iterator[NDArray[np.uint8]]:
    for _ in range(round(count)):
        yield frame.copy()
