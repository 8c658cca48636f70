"""Engagements: the marks of each beat on the board, and cards beside it that tell who attacked whom with which result.

A shot is a line; who collides flies to its target; a guard steps in the way of an attack, and carries a shield. A star is
on what was hit, an open ring on what was missed; a shield is filled where the guard stepped in. While a guard acts, faint
lines show what it may draw to itself. An attack on an HVA has its odds beside it, and the verdict in large letters.
"""

import functools
import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

from geo_patrol.base.sides import SIDES
from geo_patrol.drawing.shapes import (
    Box,
    Circle,
    Color,
    PlainShape,
    Point,
    Polygon,
    Polyline,
    Rect,
    Shape,
    Symbol,
    Text,
    Use,
    arrow,
    between,
    box,
)
from geo_patrol.game.notation import Outcome, SatelliteId
from geo_patrol.game.timeline import Snapshot
from geo_patrol.play.telling import Attack, TargetCard, cards, destroyed, resolved_outcomes
from geo_patrol.scenes import theme
from geo_patrol.scenes.layout import BoardGeometry, Layout
from geo_patrol.scenes.satellites import Anchor, Anchors, Clock, Motion, TokenStyle, token_shape

_SHIELD = ((-0.8, -0.85), (0, -1.0), (0.8, -0.85), (0.76, 0.1), (0.45, 0.62), (0, 1.0), (-0.45, 0.62), (-0.76, 0.1))
_SWINGS = 1.5
"""How often the needle swings over the odds of an attack."""
_MORE = ("all, and the score (O)", "all (O)", "(O)")


def beat_shapes(layout: Layout, motion: Motion, clock: Clock) -> Iterator[Shape]:
    """Draw the marks of the beat that is played."""
    if not clock.growth:
        return
    before, aim = motion.key(clock.beat).anchors, motion.aims[clock.beat]
    after = motion.key(clock.beat + 1).anchors
    for outcome in motion.beats[clock.beat]:
        yield from _lines(layout, before, outcome, clock.growth, is_told=clock.roll >= 1)
    if clock.roll >= 1:
        for outcome in motion.beats[clock.beat]:
            yield _result(layout, after, outcome)
    if aim is not None and clock.growth >= 1:
        yield from _roll_shapes(layout, before[aim], motion.beats[clock.beat][0], clock.roll)


def attack_lines(layout: Layout, motion: Motion, card: TargetCard) -> Iterator[Shape]:
    """Draw the attacks of a card on the position before the engagement, where they were ordered."""
    attackers = {attack.attacker for attack in card.attacks}
    for outcome in itertools.chain.from_iterable(motion.beats):
        if outcome.action != "guard" and outcome.actor in attackers:
            yield from _lines(layout, motion.key(0).anchors, outcome, 1.0, is_told=True)


def _lines(layout: Layout, anchors: Anchors, outcome: Outcome, growth: float, *, is_told: bool) -> Iterator[Shape]:
    """Draw an attack as far as it has grown, dashed once it is known to have failed; faintly one that a guard tries to take."""
    width = layout.stroke(2.2)
    if outcome.action == "guard":
        faint = outcome.attacker and _ends(layout.geometry, anchors, outcome.attacker, outcome.target)
        if faint:
            yield Polyline((faint[0], between(*faint, growth)), theme.FAINT, layout.stroke(1.2), dashed=True)
        return
    ends = _ends(layout.geometry, anchors, outcome.actor, outcome.target)
    if ends is not None:
        offset = 1.3 * width if outcome.action == "collide" else 0.0
        color = theme.SIDES_BRIGHT[outcome.actor.side]
        tip = between(*ends, growth)
        yield from arrow(ends[0], tip, color, width, 4.2 * width, offset, dashed=is_told and not outcome.success)


def _ends(
    geometry: BoardGeometry, anchors: Anchors, actor: SatelliteId, target: SatelliteId
) -> tuple[Point, Point] | None:
    """Return the ends of a line, which are at the satellites' edges; None where they are in one place."""
    one, other = anchors[actor], anchors[target]
    start, end = geometry.point(one.position), geometry.point(other.position)
    distance = math.dist(start, end)
    if distance <= 1:
        return None
    return between(start, end, one.radius / distance), between(end, start, min(other.radius / distance, 0.5))


def _result(layout: Layout, anchors: Anchors, outcome: Outcome) -> Use:
    """Draw the result of an attempt: at the target, or at the guard."""
    geometry, scale, actor = layout.geometry, layout.scale, outcome.actor
    if outcome.action == "guard":
        return _guard_shape(geometry, anchors[actor], theme.SIDES_BRIGHT[actor.side], outcome.success)
    anchor = anchors[outcome.target]
    target = geometry.point(anchor.position)
    color = theme.SIDES_BRIGHT[actor.side]
    if outcome.success:
        return Use(
            _star(color, outcome.action == "collide"), target, max(round(2.3 * anchor.radius), round(14 * scale))
        )
    source = geometry.point(anchors[actor].position)
    edge = between(target, source, anchor.radius / (math.dist(source, target) or 1.0))
    return Use(_miss(color), edge, max(round(0.7 * anchor.radius), 6))


def _roll_shapes(layout: Layout, hva: Anchor, outcome: Outcome, roll: float) -> Iterator[Shape]:
    """Draw who attacks whom, the odds as a bar, a needle that swings over it, and the verdict when it has stopped.

    The verdict has the color of the side for which it is good.
    """
    geometry = layout.geometry
    unit = min(18 * layout.scale, geometry.radius / 14)  # on a phone too, it leaves the attackers in sight
    x, y = between(geometry.point(hva.position), geometry.center, 0.72)  # inside of all who can attack it
    odds, width, height = outcome.probability, 7.4 * unit, 0.6 * unit
    left, top = x - width / 2, y + 1.1 * unit
    frame = theme.PANEL, theme.GRID, layout.stroke(1)
    yield Box(left - 0.7 * unit, y - 1.9 * unit, width + 1.4 * unit, 4.2 * unit, *frame, 0.4 * unit)
    attacker, target = outcome.actor, outcome.target
    text, color = f"{odds:.0%}", theme.TEXT
    told = f"{attacker.short} at {'' if target.number == 0 else 'guard '}{target.short}"
    if roll >= 1:
        lost = "HVA LOST" if target.number == 0 else "GUARD LOST"
        text = lost if outcome.success else "MISSED"
        color = theme.SIDES_BRIGHT[attacker.side if outcome.success else target.side]
        told = f"{told}, {odds:.0%}"
    yield Text((x, y - 0.9 * unit), text, 1.1 * unit, color, "center", bold=True)
    yield Text((x, y + 0.35 * unit), told, 0.72 * unit, theme.TEXT, "center")
    yield Box(left, top, width, height, theme.FUEL_TRACK)
    yield Box(left, top, odds * width, height, theme.SIDES[attacker.side])
    stop = odds / 2 if outcome.success else (1 + odds) / 2
    swing = (1 - roll) * math.sin(_SWINGS * math.tau * roll) * min(stop, 1 - stop)
    place = left + width * (stop + swing)
    yield Polyline(((place, top - 0.2 * unit), (place, top + height + 0.2 * unit)), theme.HIT, layout.stroke(3))


def _guard_shape(geometry: BoardGeometry, anchor: Anchor, color: Color, filled: bool) -> Use:
    x, y = geometry.point(anchor.position)
    shift = 0.8 * anchor.radius
    return Use(shield(color, filled), (x + shift, y - shift), max(round(anchor.radius), 8))


@functools.cache
def _star(color: Color, is_collision: bool) -> Symbol:
    """Return the star of a hit, open in the middle so that the satellite stays visible."""
    points = 12 if is_collision else 8
    stars = []
    for reach, fill in ((0.98, theme.OUTLINE), (0.9, color), (0.8, theme.HIT)):
        corners = []
        for corner in range(2 * points):
            distance = reach * (1 if corner % 2 == 0 else 0.66)
            angle = math.pi * corner / points
            corners.append((distance * math.cos(angle), distance * math.sin(angle)))
        stars.append(Polygon(tuple(corners), fill))
    return Symbol(tuple(stars), theme.OUTLINE, hole=0.42)


@functools.cache
def _miss(color: Color) -> Symbol:
    radii = ((0.98, theme.OUTLINE), (0.86, color), (0.5, theme.OUTLINE))
    return Symbol(tuple(Circle((0, 0), radius, fill) for radius, fill in radii), theme.OUTLINE)


@functools.cache
def shield(color: Color, filled: bool) -> Symbol:
    """Return a guard's shield."""

    def outline(reach: float, fill: Color) -> PlainShape:
        return Polygon(tuple((x * reach, y * reach) for x, y in _SHIELD), fill)

    inner = theme.HIT if filled else theme.OUTLINE
    shapes = outline(1.0, theme.OUTLINE), outline(0.84, color), outline(0.56, inner)
    return Symbol(shapes, theme.OUTLINE)


_TOKENS = (40, 34, 30, 26, 22, 18)
"""Diameters of the satellites of cards, in a picture of 1280 x 720: the largest with which all cards fit."""


_SMALL_LABELS = 30
"""Largest of them with labels in small type."""


class _CardStyle(NamedTuple):
    """Lengths of cards in pixels."""

    token: int
    step: int
    label: int
    padding: int

    @property
    def first(self) -> int:
        """Where the attacks begin, from the left edge."""
        return self.padding + round(1.6 * max(self.token, self.label * 2))

    def per_line(self, width: int) -> int:
        """Return how many attacks fit in a line of a card of a width."""
        return max((width - self.first) // self.step, 1)

    def height(self, lines: int, has_note: bool) -> int:
        """Return the height of a card."""
        return lines * (self.token + round(1.5 * self.label)) + 2 * self.padding + has_note * round(1.4 * self.label)


def card_shapes(layout: Layout, snapshot: Snapshot, resolved: int | None = None) -> Iterator[Shape]:
    """Draw the last engagement as cards, HVAs first, in lines.

    Args:
        layout: layout of the picture.
        snapshot: what is shown.
        resolved: how many beats have been played; None for all.
    """
    area, outcomes = layout.outcomes, snapshot.outcomes
    line, size = layout.line_height("small"), layout.text_size("small")
    if area.height < 2 * line:
        return
    told = cards(outcomes, snapshot.outcomes_orders, resolved)
    lost = destroyed(resolved_outcomes(outcomes, resolved))
    losses = ", ".join(f"{side} loses {sum(one.side == side for one in lost)}" for side in SIDES)
    room = area.width
    if told and told[0].result:
        yield Text((area.right, area.top + line / 2), losses, size, theme.TEXT, "midright", bold=True)
        room -= layout.text_width(losses, size) + size
    if layout.text_width(_heading(snapshot), layout.text_size("tiny")) <= room:
        yield Text((area.left, area.top + line / 2), _heading(snapshot), layout.text_size("tiny"), theme.FAINT)
    if not told:
        text = "nobody engaged" if snapshot.outcomes_turn else "none yet"
        yield Text((area.left, area.top + line * 1.6), text, size, theme.SOFT)
        return
    style, rects = _placed(layout, told)
    for card, rect in zip(told, rects, strict=False):
        yield from _card(layout, style, card, rect, lost)
    if len(rects) < len(told):
        text = f"and {len(told) - len(rects)} more"
        yield Text((area.right, area.bottom - size / 2), text, size, theme.SOFT, "midright")


def card_at(layout: Layout, snapshot: Snapshot, pixel: tuple[int, int]) -> TargetCard | None:
    """Return the card at a pixel; None if there is none."""
    told = cards(snapshot.outcomes, snapshot.outcomes_orders)
    placed = zip(told, _placed(layout, told)[1], strict=False)
    return next((card for card, rect in placed if rect.contains(pixel)), None)


def _placed(layout: Layout, told: list[TargetCard]) -> tuple[_CardStyle, list[Rect]]:
    """Place the cards, as large as all fit; at the smallest size, those that fit."""
    area, line = layout.outcomes, layout.line_height("small")
    space = Rect(area.left, area.top + line, area.width, max(area.height - line, 0))
    for token in _TOKENS:
        style = _card_style(layout, token)
        rects = _lay_out(layout, style, space, told)
        fitting = [rect for rect in rects if rect.bottom <= space.bottom]
        if len(fitting) == len(told):
            break
    return style, fitting


def _card_style(layout: Layout, token: int) -> _CardStyle:
    label = layout.text_size("small" if token > _SMALL_LABELS else "tiny")
    diameter = max(round(token * layout.scale), 12)
    step = max(round(1.6 * diameter), layout.text_width("100% miss", label) + label // 2)
    return _CardStyle(diameter, step, label, max(round(6 * layout.scale), 3))


def _lay_out(layout: Layout, style: _CardStyle, space: Rect, told: list[TargetCard]) -> list[Rect]:
    """Place cards beside each other while they fit, as words in lines; those of a line are equally high."""
    gap = style.padding
    lines: list[list[tuple[int, int]]] = []  # widths and heights
    for card in told:
        count = min(len(card.attacks), style.per_line(space.width - style.padding))
        words = layout.text_width(card.note, style.label)
        width = min(max(style.first + count * style.step, words + style.padding) + style.padding, space.width)
        height = style.height(-(-len(card.attacks) // max(count, 1)) or 1, bool(card.note))
        if not lines or sum(w + gap for w, _ in lines[-1]) + width > space.width:
            lines.append([])
        lines[-1].append((width, height))
    rects, top = [], space.top
    for line in lines:
        left, height = space.left, max(height for _, height in line)
        for width, _ in line:
            rects.append(Rect(left, top, width, height))
            left += width + gap
        top += height + gap
    return rects


def _card(layout: Layout, style: _CardStyle, card: TargetCard, rect: Rect, lost: set[SatelliteId]) -> Iterator[Shape]:
    """Draw a card: the target with what became of it, its attackers with odds and results, what its guards did."""
    yield box(rect, theme.CARD, r=style.padding)
    radius, below = style.token / 2, round(0.8 * style.label)
    x, y = rect.left + style.padding + (style.first - style.padding) * 0.4, rect.top + style.padding + radius
    yield _token(card.target, (x, y), radius, card.target in lost)
    color = {"lost": theme.LOST, "safe": theme.SAFE}.get(card.result, theme.SOFT)
    yield Text((x, y + radius + below), card.result, style.label, color, "center", bold=True)
    per_line = style.per_line(rect.width - style.padding)
    for i, attack in enumerate(card.attacks):
        center = (
            rect.left + style.first + (i % per_line + 0.5) * style.step,
            y + i // per_line * (style.token + round(1.5 * style.label)),
        )
        yield from _attack(style, attack, center, below, lost)
    if card.note:
        place = rect.left + style.padding, rect.bottom - style.padding - 0.45 * style.label
        words = layout.fitted(card.note, style.label, rect.width - 2 * style.padding)
        yield Text(place, words, style.label, theme.SOFT)


def _attack(style: _CardStyle, attack: Attack, center: Point, below: int, lost: set[SatelliteId]) -> Iterator[Shape]:
    """Draw an attacker, the guard that took its attack beside it, and its odds and result beneath."""
    x, y = center
    radius = style.token / 2
    shift = 0.28 * style.token if attack.guard is not None else 0.0
    yield _token(attack.attacker, (x - shift, y), radius, attack.attacker in lost)
    if attack.guard is not None:
        yield _token(
            attack.guard, (x - shift + 0.86 * style.token, y + 0.14 * style.token), 0.72 * radius, attack.guard in lost
        )
    odds = "" if attack.probability is None else f"{attack.probability:.0%}"
    is_hit = attack.result == "hit"
    label = f"{odds} {attack.result}".strip()
    yield Text((x, y + radius + below), label, style.label, theme.LOST if is_hit else theme.SOFT, "center", bold=is_hit)


def _token(satellite: SatelliteId, center: Point, radius: float, is_dead: bool) -> Use:
    state = "destroyed" if is_dead else "active"
    return token_shape(TokenStyle(satellite.side, satellite.number, state=state), center, radius)


def more_shapes(layout: Layout, snapshot: Snapshot, pointer: tuple[int, int] | None) -> Iterator[Shape]:
    """Draw, in a window, how to see the whole list of outcomes and why the score changed."""
    area, size = layout.outcomes, layout.text_size("tiny")
    if not snapshot.outcomes_turn or area.height < layout.line_height("small"):
        return
    space = area.width - layout.text_width(_heading(snapshot), size) - size
    fitting = [text for text in _MORE if layout.text_width(text, size) <= space]
    if fitting:
        is_lit = pointer is not None and area.contains(pointer)
        position = area.right, area.bottom - size / 2
        yield Text(position, fitting[0], size, theme.TEXT if is_lit else theme.SOFT, "midright")


def _heading(snapshot: Snapshot) -> str:
    return f"ENGAGEMENT OF TURN {snapshot.outcomes_turn}" if snapshot.outcomes_turn else "ENGAGEMENT"
