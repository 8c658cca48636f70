"""Make the pictures of the documents in ``docs/pictures``: a real game as an animated picture, and single ones."""

import os
from pathlib import Path

os.environ["SDL_VIDEODRIVER"] = "dummy"

import pygame
from PIL import Image

from geo_patrol import load_config, make_agent
from geo_patrol.play.live import LiveGame
from geo_patrol.window.film import film
from geo_patrol.window.picture import Picture
from geo_patrol.window.watch import WatchWindow

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
SIZE = (768, 432)
FRAMES_PER_SECOND = 8
SEED = 13


def play_game(seed: int) -> LiveGame:
    """Play the game that the pictures show."""
    live = LiveGame(load_config("geo_patrol"), (make_agent("scripted"), make_agent("scripted")), seed)
    while not live.is_over:
        live.advance()
    return live


def write_animation(live: LiveGame, path: Path) -> None:
    """Write the whole game as an animated GIF with one palette; pictures that stand still take no room."""
    picture = Picture(*SIZE, live.config)
    frames = [Image.fromarray(frame) for frame in film(live.timeline, picture, FRAMES_PER_SECOND, speed=1.25)]
    samples = frames[:: max(len(frames) // 12, 1)]
    strip = Image.new("RGB", (SIZE[0], SIZE[1] * len(samples)))
    for i, sample in enumerate(samples):
        strip.paste(sample, (0, SIZE[1] * i))
    palette = strip.quantize(96, dither=Image.Dither.NONE)
    first, *others = (frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames)
    first.save(path, save_all=True, append_images=others, duration=1000 // FRAMES_PER_SECOND, loop=0, optimize=True)


def write_still(surface: pygame.Surface, path: Path) -> None:
    """Write a picture as a small PNG."""
    picture = Image.frombytes("RGB", surface.get_size(), pygame.image.tobytes(surface, "RGB"))
    picture.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


def write_window(live: LiveGame) -> None:
    """Write what the window to watch in looks like."""
    watching = WatchWindow(live.timeline)
    watching.playback.next_engagement()
    watching.playback.skip()
    write_still(watching.draw(), FOLDER / "watching.png")
    watching.screen.close()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    game = play_game(SEED)
    print(repr(game.game))
    write_animation(game, FOLDER / "game.gif")
    write_window(game)
    for made in sorted(FOLDER.iterdir()):
        print(f"{made.name}: {made.stat().st_size // 1024} kB")
