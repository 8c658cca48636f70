"""Golden images: making them, and comparing pictures with them. A picture of 4K is stored at a third of its size."""

from pathlib import Path

import numpy as np
import pygame

from geo_patrol.window.picture import Picture
from geo_patrol.window.watch import WatchWindow
from tests.support.positions import PICTURES, guards, snapshot_of

FOLDER = Path(__file__).parent / "golden"
LARGEST = 2000
"""Pictures wider than this are stored smaller."""
NOTICEABLE = 48
"""Smallest difference of a channel, of 255, that counts as another colour."""
TOLERANCE = 0.0002
"""Fraction of the pixels that may have another colour: smoothing differs a little from one version of SDL to the next."""


def watching():
    """Return a window to watch in, after an engagement."""
    window = WatchWindow(guards())
    window.playback.to_end()
    return window


WINDOWS = {
    f"watching {width}x{height}": (watching, (width, height))
    for width, height in ((480, 360), (400, 724), (1920, 1080))
}
"""Name: what makes the window, its size."""
NAMES = (*PICTURES, *WINDOWS)


def path_of(name):
    return FOLDER / f"{name.replace(' ', '_')}.png"


def draw(name):
    """Draw a picture or window as it is stored: (height, width, 3)."""
    if name in WINDOWS:
        make, size = WINDOWS[name]
        window = make()
        window.screen.window.size = size
        pixels = pygame.surfarray.array3d(window.draw()).swapaxes(0, 1)
        window.screen.close()
        return pixels
    make, progress, size = PICTURES[name]
    snapshot = snapshot_of(make)
    frame = Picture(*size, snapshot.game.config).frame(snapshot, progress)
    assert frame.shape == (size[1], size[0], 3)
    if size[0] > LARGEST:
        frame = frame.reshape(size[1] // 3, 3, size[0] // 3, 3, 3).mean(axis=(1, 3)).astype(np.uint8)
    return frame


def load(name):
    surface = pygame.image.load(str(path_of(name)))
    return pygame.surfarray.array3d(surface).swapaxes(0, 1)


def difference(one, other):
    """Return the fraction of the pixels that have another colour."""
    assert one.shape == other.shape
    return float((np.abs(one.astype(int) - other.astype(int)).max(axis=-1) > NOTICEABLE).mean())
