"""Controls of a window: what they do, their keys, and their buttons."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pygame

from geo_patrol.drawing.shapes import Rect, Shape
from geo_patrol.scenes.buttons import button_shapes
from geo_patrol.scenes.layout import TextStyle


@dataclass(frozen=True)
class Control:
    """Something that can be done in a window.

    Attributes:
        name: what it does, in a few words, as the page of keys lists it.
        run: does it.
        keys: names of keys as pygame gives them, "space", "left", or characters, "+".
        sign: the picture on its button; "" writes ``label``.
        label: the word on its button; a control without sign and label has keys only.
        is_open: returns whether it can be used now.
    """

    name: str
    run: Callable[[], None]
    keys: tuple[str, ...] = ()
    sign: str = ""
    label: str = ""
    is_open: Callable[[], bool] = field(default=lambda: True)


def find_key(controls: Sequence[Control], event: pygame.event.Event) -> Control | None:
    """Return the control that a key belongs to; None if there is none."""
    names = {pygame.key.name(event.key), getattr(event, "unicode", "")}
    has_shift = getattr(event, "mod", 0) & pygame.KMOD_SHIFT
    for candidates in ({f"shift+{name}" for name in names if name}, names) if has_shift else (names,):
        for control in controls:
            if candidates & set(control.keys):
                return control
    return None


class ButtonBar:
    """Buttons in a row, which wraps where it is full.

    Args:
        controls: those with a sign or label get a button.
    """

    def __init__(self, controls: Sequence[Control]) -> None:
        self.controls = [control for control in controls if control.sign or control.label]
        self._buttons: list[tuple[Control, Rect]] = []

    def arrange(self, style: TextStyle, area: Rect) -> None:
        """Lay the buttons out in an area."""
        self._buttons = self._placed(style, area)

    def height(self, style: TextStyle, width: int) -> int:
        """Return the height of the buttons in a width."""
        return max(rect.bottom for _, rect in self._placed(style, Rect(0, 0, width, 0)))

    def _placed(self, style: TextStyle, area: Rect) -> list[tuple[Control, Rect]]:
        size = style.text_size("normal")
        height, gap = round(size * 2.1), max(round(size * 0.35), 3)
        left, top = area.left, area.top
        buttons: list[tuple[Control, Rect]] = []
        for control in self.controls:
            width = height if control.sign else round(style.text_width(control.label, size) + size * 1.2)
            if left + width > area.right and left > area.left:
                left, top = area.left, top + height + gap
            buttons.append((control, Rect(left, top, width, height)))
            left += width + gap
        return buttons

    def rect_of(self, name: str) -> Rect:
        """Return where the button of a control is."""
        return next(rect for control, rect in self._buttons if control.name == name)

    def at(self, pixel: tuple[int, int]) -> Control | None:
        """Return the control whose button is at a pixel; None if there is none."""
        return next((control for control, rect in self._buttons if rect.contains(pixel)), None)

    def shapes(self, style: TextStyle, pointer: tuple[int, int] | None) -> Iterator[Shape]:
        """Draw the buttons; the one under the pointer is lit."""
        for control, rect in self._buttons:
            is_open = control.is_open()
            is_lit = is_open and pointer is not None and rect.contains(pointer)
            yield from button_shapes(
                style, rect, sign=control.sign, label=control.label, is_lit=is_lit, is_open=is_open
            )
