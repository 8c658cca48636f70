"""Regenerate the golden images. Run it after an intended change of the drawing (``make golden``), and review each one."""

import os
import sys
from pathlib import Path

os.environ["SDL_VIDEODRIVER"] = "dummy"
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "rendering"))

from golden_images import PICTURES, draw, path_of
from PIL import Image

for name in PICTURES:
    path = path_of(name)
    Image.fromarray(draw(name)).quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"wrote {path.name}, {path.stat().st_size // 1024} kB")
