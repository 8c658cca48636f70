"""Regenerate the golden images and SVG files. Run it after an intended change of the drawing (``make golden``), and review each one."""

import os

os.environ["SDL_VIDEODRIVER"] = "dummy"

from PIL import Image

from tests.window.golden_images import NAMES, TOLERANCE, difference, draw, load, path_of
from tests.window.test_golden_svg import PICTURES, golden_text

for name in NAMES:
    path, pixels = path_of(name), draw(name)
    image = Image.fromarray(pixels)
    image.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    if difference(pixels, load(name)) > TOLERANCE / 4:  # a small picture with many colours
        image.save(path, optimize=True)
    print(f"wrote {path.name}, {path.stat().st_size // 1024} kB")
for name in PICTURES:
    path_of(name).with_suffix(".svg").write_text(golden_text(name), encoding="utf-8")
    print(f"wrote {name}.svg")
