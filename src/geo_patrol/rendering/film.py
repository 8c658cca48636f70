"""A game as a film: one picture after the other."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from geo_patrol.rendering.picture import Picture
from geo_patrol.sessions.playback import MOVING_PART, phase_seconds
from geo_patrol.sessions.timeline import Scene, Timeline

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
        speed: how many times faster than in a window it goes.

    Yields:
        (height, width, 3) uint8, new arrays; pictures that stand still are repeated.
    """
    yield from _still(picture.frame(timeline.scene(0)), FIRST_SECONDS * frames_per_second)
    for index in range(1, len(timeline)):
        scene = timeline.scene(index)
        frames = _frames_of(scene, frames_per_second, speed)
        for frame in range(1, frames + 1):
            yield picture.frame(scene, min(frame / frames / MOVING_PART, 1.0))
    yield from _still(picture.frame(timeline.scene(-1)), LAST_SECONDS * frames_per_second)


def film_length(timeline: Timeline, frames_per_second: float = 20.0, speed: float = 1.0) -> int:
    """Return how many pictures ``film`` yields."""
    still = sum(round(seconds * frames_per_second) for seconds in (FIRST_SECONDS, LAST_SECONDS))
    scenes = map(timeline.scene, range(1, len(timeline)))
    return still + sum(_frames_of(scene, frames_per_second, speed) for scene in scenes)


def _frames_of(scene: Scene, frames_per_second: float, speed: float) -> int:
    return max(round(phase_seconds(scene) / speed * frames_per_second), 1)


def _still(frame: NDArray[np.uint8], count: float) -> Iterator[NDArray[np.uint8]]:
    for _ in range(round(count)):
        yield frame.copy()
