"""Golden files of SVG, an element on a line: ``make golden`` writes them."""

import re

import numpy as np
import pytest

from geo_patrol.flight import Flight
from geo_patrol.scenes.picture import picture_svg
from tests.support.positions import guards
from tests.window.golden_images import FOLDER

FLIGHT = ["launch D13", *["coast"] * 5, "engines down-right", *["coast"] * 6, "engines down", "coast"]
PICTURES = {
    "guards": lambda: picture_svg(guards().snapshot(-1)),
    "flight": lambda: Flight.from_orders("sample", FLIGHT).svg(),
}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
TOLERANCE = 0.02
"""Of a coordinate: the mathematical functions of platforms differ in the last digit."""


def golden_text(name):
    """Return a picture as it is stored: an element on a line, symbols by their number instead of a digest."""
    text = PICTURES[name]().replace("><", ">\n<")
    for number, digest in enumerate(dict.fromkeys(re.findall(r"symbol-[0-9a-f]{16}", text))):
        text = text.replace(digest, f"symbol-{number}")
    return f"{text}\n"


@pytest.mark.parametrize("name", PICTURES)
def test_golden_svg(name):
    stored, written = (FOLDER / f"{name}.svg").read_text(encoding="utf-8"), golden_text(name)
    assert NUMBER.sub("0", written) == NUMBER.sub("0", stored)
    numbers = [np.array(NUMBER.findall(text), float) for text in (written, stored)]
    np.testing.assert_allclose(*numbers, rtol=0, atol=TOLERANCE)
