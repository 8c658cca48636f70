"""Pictures and films of recorded games, paced as the window paces them."""

import itertools
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from pathlib import Path

import numpy as np
import pygame
from numpy.typing import NDArray

from geo_patrol.base.errors import GeoPatrolError, optional_import
from geo_patrol.base.files import atomic_path, atomic_write
from geo_patrol.drawing.figures import pdf_bytes
from geo_patrol.drawing.painter import text_extent
from geo_patrol.game.timeline import Timeline
from geo_patrol.play.playback import MOVING_FRACTION, phase_seconds
from geo_patrol.scenes.picture import picture, picture_svg
from geo_patrol.window.picture import Picture

FIRST_SECONDS, LAST_SECONDS = 1.0, 3.0
"""How long the first and the last position stand still."""
MP4_FPS, GIF_FPS = 30.0, 12.5
"""Pictures a second; a GIF counts in hundredths of a second."""
Progress = Callable[[int, int], None]
"""Called with the number of frames drawn so far, and of all frames."""
_PALETTE_FRAMES = 40
_H264 = ["-c:v", "libx264", "-preset", "medium", "-crf", "20", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]
_GIF = "paletteuse=dither=none:diff_mode=rectangle"


class FilmError(GeoPatrolError):
    """A film or a picture that cannot be made."""


def film(
    timeline: Timeline,
    picture: Picture,
    frames_per_second: float = 20.0,
    speed: float = 1.0,
    progress: Progress = lambda *_: None,
) -> Iterator[NDArray[np.uint8]]:
    """Yield the pictures of a whole game.

    Args:
        timeline: the game.
        picture: draws it.
        frames_per_second: number of frames a second of the film.
        speed: how many times faster than in a window.
        progress: called after every frame.

    Yields:
        (height, width, 3) uint8, new arrays; the same picture repeatedly where nothing moves.
    """
    first, last = (round(seconds * frames_per_second) for seconds in (FIRST_SECONDS, LAST_SECONDS))
    schedule = [(0, 1.0)] * first  # the moment and the progress of each frame
    for i in range(1, len(timeline)):
        count = max(round(phase_seconds(timeline.snapshot(i)) / speed * frames_per_second), 1)
        schedule += [(i, min(frame / count / MOVING_FRACTION, 1.0)) for frame in range(1, count + 1)]
    schedule += [(len(timeline) - 1, 1.0)] * last
    done = itertools.count(1)
    for i, frames in itertools.groupby(schedule, key=itemgetter(0)):
        snapshot = timeline.snapshot(i)
        for _, fraction in frames:
            yield picture.frame(snapshot, fraction)
            progress(next(done), len(schedule))


def save_picture(timeline: Timeline, index: int, path: Path, size: tuple[int, int]) -> None:
    """Write the picture of a moment as .png, .svg or .pdf, by the ending of the path.

    Raises:
        FilmError: the path has another ending.
        MissingPackageError: a PDF needs the extra ``plots``, which is not installed.
        OSError: the file cannot be written.
        ValueError: the size is too small or too large.
    """
    snapshot = timeline.snapshot(index)
    suffix = path.suffix.lower()
    if suffix == ".png":
        surface = Picture(*size, snapshot.game.config).draw(snapshot)
        with atomic_path(path) as temporary:
            pygame.image.save(surface, temporary)
    elif suffix == ".svg":
        text = picture_svg(snapshot, size, text_extent)
        with atomic_write(path) as file:
            file.write(text)
    elif suffix == ".pdf":
        content = pdf_bytes([picture(snapshot, size=size, measure=text_extent)], snapshot.game.config.title)
        with atomic_path(path) as temporary:
            Path(temporary).write_bytes(content)
    else:
        raise FilmError(f"{path} must end in .png, .svg or .pdf")


def save_mp4(
    timeline: Timeline, path: Path, size: tuple[int, int], speed: float = 1.0, progress: Progress = lambda *_: None
) -> None:
    """Write a game as an H.264 film.

    Args:
        timeline: the game.
        path: path of the film.
        size: width and height; odd ones are made even.
        speed: how many times faster than in a window.
        progress: called after every frame.

    Raises:
        FilmError: ffmpeg fails.
        MissingPackageError: the extra ``video`` is not installed.
        OSError: the file cannot be written.
        ValueError: the size is too small or too large.
    """
    even = size[0] // 2 * 2, size[1] // 2 * 2
    canvas = Picture(*even, timeline[0].config)
    with atomic_path(path) as temporary:
        _encode(film(timeline, canvas, MP4_FPS, speed, progress), even, MP4_FPS, [*_H264, f"file:{temporary}"])


def save_gif(
    timeline: Timeline, path: Path, size: tuple[int, int], speed: float = 1.0, progress: Progress = lambda *_: None
) -> None:
    """Write a game as a GIF, with one palette of 256 colours for all of it; the arguments are those of ``save_mp4``.

    Raises:
        FilmError: ffmpeg fails.
        MissingPackageError: the extra ``video`` is not installed.
        OSError: the file cannot be written.
        ValueError: the size is too small or too large.
    """
    with atomic_path(path) as temporary, tempfile.TemporaryDirectory() as folder:
        palette = str(Path(folder) / "palette.png")
        _encode(_samples(timeline, size), size, 1.0, ["-vf", "palettegen", "-update", "1", palette])
        frames = film(timeline, Picture(*size, timeline[0].config), GIF_FPS, speed, progress)
        _encode(frames, size, GIF_FPS, ["-i", palette, "-lavfi", _GIF, "-loop", "0", f"file:{temporary}"])


def _samples(timeline: Timeline, size: tuple[int, int]) -> Iterator[NDArray[np.uint8]]:
    """Draw some pictures with all the colors of a film."""
    canvas = Picture(*size, timeline[0].config)
    step = max(len(timeline) // _PALETTE_FRAMES, 1)
    for index in range(0, len(timeline), step):
        yield canvas.frame(timeline.snapshot(index), 0.5)


def _encode(frames: Iterable[NDArray[np.uint8]], size: tuple[int, int], fps: float, output: list[str]) -> None:
    """Pipe frames to ffmpeg.

    Args:
        frames: (height, width, 3) uint8.
        size: width and height.
        fps: frames a second.
        output: further arguments of ffmpeg: inputs, filters, the file.
    """
    frame_format = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", f"{fps:g}", "-i", "-"]
    command = [_ffmpeg(), "-y", "-nostdin", "-loglevel", "error", *frame_format, *output]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log)  # noqa: S603
        assert process.stdin is not None
        try:
            with process.stdin as pipe:
                for frame in frames:
                    pipe.write(np.ascontiguousarray(frame).data)
        except BrokenPipeError:
            pass  # ffmpeg has failed, and says why
        except BaseException:
            process.kill()
            raise
        finally:
            status = process.wait()
        if status != 0:
            log.seek(0)
            message = log.read(10_000).decode(errors="replace").strip().splitlines() or [f"status {status}"]
            raise FilmError(f"ffmpeg cannot write the film: {message[-1]}")


def _ffmpeg() -> str:
    with optional_import("video"):
        from imageio_ffmpeg import get_ffmpeg_exe  # noqa: PLC0415 - an extra
    return str(get_ffmpeg_exe())
