"""Shapes (``shapes``) and what they become: pixels (``painter``), SVG (``svg``), PDF (``figures``), in a window (``screen``)."""

import os

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # pygame's greeting on standard output
