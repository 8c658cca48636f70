"""Pictures and films of recorded games, paced as the window paces them."""

import secrets
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.errors import GeoPatrolError
from geo_patrol.rendering.picture import Picture
from geo_patrol.rendering.playback import Playback
from geo_patrol.rendering.timeline import Timeline

MP4_FPS, GIF_FPS = 30.0, 12.5
"""Pictures a second; a GIF counts in hundredths of a second."""
_PALETTE_FRAMES = 40
_REST_SECONDS = 2.0
"""How long a film rests on its last picture."""
_GIF = "paletteuse=dither=none:diff_mode=rectangle"


class FilmError(GeoPatrolError):
    """A film or a picture that cannot be made."""


def save_png(timeline: Timeline, index: int, path: Path, size: tuple[int, int]) -> None:
    """Write the picture of a moment as a PNG file.

    Raises:
        OSError: the file cannot be written.
        ValueError: the size is too small or too large.
    """
    import pygame  # noqa: PLC0415 - slow to import, and greets on standard output unless told not to

    picture = Picture(*size, timeline[0].game.config)
    surface = picture.draw(timeline.scene(index))
    with _whole(path) as beside:
        pygame.image.save(surface, beside)


def save_mp4(timeline: Timeline, path: Path, size: tuple[int, int], speed: float = 1.0) -> None:
    """Write a game as an H.264 film.

    Args:
        timeline: the game.
        path: of the film.
        size: width and height; odd ones are made even.
        speed: how many times faster than in a window.

    Raises:
        FilmError: the extra ``video`` is not installed, or ffmpeg fails.
        OSError: the file cannot be written.
        ValueError: the size is too small or too large.
    """
    even = size[0] // 2 * 2, size[1] // 2 * 2
    with _whole(path) as beside:
        _write(beside, _frames(timeline, even, MP4_FPS, speed), even, MP4_FPS, quality=8, macro_block_size=2)


def save_gif(timeline: Timeline, path: Path, size: tuple[int, int], speed: float = 1.0) -> None:
    """Write a game as a GIF, with one palette of 256 colours for all of it; the arguments are those of ``save_mp4``.

    Raises:
        FilmError: the extra ``video`` is not installed, or ffmpeg fails.
        OSError: the file cannot be written.
        ValueError: the size is too small or too large.
    """
    with _whole(path) as beside, tempfile.TemporaryDirectory() as folder:
        palette = Path(folder) / "palette.png"
        sample = ["-vf", "palettegen=stats_mode=full", "-frames:v", "1", "-update", "1"]
        _write(
            palette,
            _samples(timeline, size),
            size,
            1.0,
            codec="png",
            pix_fmt_out="rgba",
            quality=None,
            output_params=sample,
        )
        place = str(palette).replace("\\", "/").replace(":", "\\\\:")  # a colon parts the options of a filter
        given = ["-lavfi", f"movie={place}[colours];[0:v][colours]{_GIF}", "-loop", "0"]
        frames = _frames(timeline, size, GIF_FPS, speed)
        _write(beside, frames, size, GIF_FPS, codec="gif", pix_fmt_out="pal8", quality=None, output_params=given)


def _frames(timeline: Timeline, size: tuple[int, int], fps: float, speed: float) -> Iterator[NDArray[np.uint8]]:
    """Draw all pictures of a film."""
    picture, playback = Picture(*size, timeline[0].game.config), Playback(timeline)
    frame = picture.frame(playback.scene)
    while playback.is_moving:
        frame = picture.frame(playback.scene, playback.progress)
        yield frame
        playback.tick(speed / fps)
    for _ in range(round(fps * _REST_SECONDS)):
        yield frame


def _samples(timeline: Timeline, size: tuple[int, int]) -> Iterator[NDArray[np.uint8]]:
    """Draw some pictures with all the colours that a film may have."""
    picture = Picture(*size, timeline[0].game.config)
    step = max(len(timeline) // _PALETTE_FRAMES, 1)
    for index in range(0, len(timeline), step):
        yield picture.frame(timeline.scene(index), 0.5)


def _write(path: Path, frames: Iterable[NDArray[np.uint8]], size: tuple[int, int], fps: float, **options: Any) -> None:
    """Hand frames to ffmpeg one by one."""
    try:
        import imageio_ffmpeg  # noqa: PLC0415 - an extra
    except ImportError:
        raise FilmError("films need another package: pip install 'geo_patrol[video]'") from None
    options = {"macro_block_size": 1, "ffmpeg_log_level": "error"} | options
    writer = imageio_ffmpeg.write_frames(str(path), size, fps=fps, **options)
    writer.send(None)
    try:
        for frame in frames:
            writer.send(np.ascontiguousarray(frame))
    except OSError as error:
        raise FilmError(f"ffmpeg cannot write the film: {str(error).strip().splitlines()[-1]}") from None
    finally:
        writer.close()


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """Give the name of a file beside a path, of the same ending, that takes its place when it is finished."""
    beside = path.with_name(f".{secrets.token_hex(4)}.{path.name}")
    try:
        beside.touch(exist_ok=False)
        yield beside
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
