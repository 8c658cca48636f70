"""Engagements on the board: shots, collisions and guards, each with a mark of its own.

A shot is a thin line, a collision a double one, a guard carries a shield. Successes are drawn in full, with a star on
what was hit and a filled shield; failures are drawn dashed, with an open ring and an empty shield. Where a guard takes an
attack, a faint line to the HVA, which ends at a shield, shows what it was aimed at. A list beside the board names the
results, and a legend explains the marks.
"""

import functools
import math
from collections.abc import Iterator, Sequence

from geo_patrol.notation import Outcome, SatelliteId
from geo_patrol.scenes import theme
from geo_patrol.scenes.layout import BoardGeometry, Layout
from geo_patrol.scenes.satellites import Clock, DiscStyle, Motion, satellite_shape
from geo_patrol.scenes.shapes import (
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
    blend,
)
from geo_patrol.sessions.live import Snapshot, intercepted_attacks

_SHIELD = ((-0.8, -0.85), (0, -1.0), (0.8, -0.85), (0.76, 0.1), (0.45, 0.62), (0, 1.0), (-0.45, 0.62), (-0.76, 0.1))
_MORE = ("all, and the score (O)", "all (O)", "(O)")
_LEGEND = (("shoot", "shot"), ("collide", "collision"), ("guard", "guard"), ("hit", "hit"), ("miss", "miss"))


def engagement_shapes(layout: Layout, motion: Motion, clock: Clock) -> Iterator[Shape]:
    """Draw the marks of the engagement that led to a snapshot, at a time of its phase."""
    if clock.growth <= 0:
        return
    width = max(round(2.2 * layout.scale), 1)
    for attacker, hva in intercepted_attacks(motion.snapshot.outcomes).items():
        yield from _intercepted(layout, motion, attacker, hva, clock)
    for outcome in motion.snapshot.outcomes:
        ends = _ends(layout.geometry, motion, outcome.actor, outcome.target, clock)
        if ends is not None:
            start, tip = ends[0], between(*ends, clock.growth)
            offset = 1.3 * width if outcome.action == "collide" else 0.0
            head = 0.0 if outcome.action == "guard" else 4.2 * width
            color = theme.SIDES_BRIGHT[outcome.actor.side]
            yield from arrow(start, tip, color, width, head, offset, dashed=not outcome.success)
    if clock.shows_results:
        for outcome in motion.snapshot.outcomes:
            yield _result(layout, motion, outcome, clock)


def _intercepted(
    layout: Layout, motion: Motion, attacker: SatelliteId, hva: SatelliteId, clock: Clock
) -> Iterator[Shape]:
    """Draw what an attack was aimed at that a guard took: a faint line, and a shield where it would have hit."""
    ends = _ends(layout.geometry, motion, attacker, hva, clock)
    if ends is None:
        return
    start, edge = ends
    color = blend(theme.SIDES_BRIGHT[attacker.side], theme.SPACE, 0.35)
    yield Polyline((start, between(start, edge, clock.growth)), color, layout.stroke(1.2), dashed=True)
    if clock.shows_results:
        size = max(round(motion.anchor(hva, clock).radius * 0.8), round(8 * layout.scale), 6)
        yield Use(shield(theme.SIDES_BRIGHT[hva.side], True), edge, size)


def _ends(
    geometry: BoardGeometry, motion: Motion, actor: SatelliteId, target: SatelliteId, clock: Clock
) -> tuple[Point, Point] | None:
    """Return the ends of a line, which are at the satellites' edges; None for a guard beside its HVA, which has none."""
    start, end = (geometry.point(motion.origin(one, clock)) for one in (actor, target))
    radii = [motion.anchor(one, clock).radius for one in (actor, target)]
    distance = math.dist(start, end)
    if distance <= sum(radii) * 1.02:
        return None if actor.side == target.side else (start, end)
    return between(start, end, radii[0] / distance), between(end, start, radii[1] / distance)


def _result(layout: Layout, motion: Motion, outcome: Outcome, clock: Clock) -> Use:
    geometry, scale, actor = layout.geometry, layout.scale, outcome.actor
    if outcome.action == "guard":
        anchor = motion.anchor(actor, clock)
        (x, y), shift = geometry.point(anchor.position), anchor.radius * 0.8
        return outcome_symbol(outcome, (x + shift, y - shift), round(max(anchor.radius, 8 * scale)))
    target = geometry.point(motion.origin(outcome.target, clock))
    radius = motion.anchor(outcome.target, clock).radius
    if outcome.success:
        return outcome_symbol(outcome, target, round(max(radius * 2.3, 14 * scale)))
    source = geometry.point(motion.origin(actor, clock))
    edge = between(target, source, radius / (math.dist(source, target) or 1.0))
    return outcome_symbol(outcome, edge, round(max(radius * 0.9, 8 * scale)))


def outcome_symbol(outcome: Outcome, center: Point, size: int) -> Use:
    """Draw the symbol of a result: star or open ring, filled or empty shield."""
    color = theme.SIDES_BRIGHT[outcome.actor.side]
    if outcome.action != "guard":
        symbol = _star(color, outcome.action == "collide") if outcome.success else _miss(color)
    elif outcome.attacker is None:
        symbol = shield(blend(color, theme.PANEL, 0.45), outcome.success)
    else:
        symbol = shield(color, outcome.success)
    return Use(symbol, center, max(size, 6))


@functools.cache
def _star(color: Color, is_collision: bool) -> Symbol:
    """Return the star of a hit, open in the middle so that the satellite stays visible."""
    points = 12 if is_collision else 8
    stars = []
    for reach, fill in ((0.98, theme.SATELLITE_EDGE), (0.9, color), (0.8, theme.HIT)):
        corners = []
        for corner in range(2 * points):
            distance = reach * (1 if corner % 2 == 0 else 0.66)
            angle = math.pi * corner / points
            corners.append((distance * math.cos(angle), distance * math.sin(angle)))
        stars.append(Polygon(tuple(corners), fill))
    return Symbol(tuple(stars), theme.SATELLITE_EDGE, hole=0.42)


@functools.cache
def _miss(color: Color) -> Symbol:
    radii = ((0.98, theme.SATELLITE_EDGE), (0.86, color), (0.5, theme.SATELLITE_EDGE))
    return Symbol(tuple(Circle((0, 0), radius, fill) for radius, fill in radii), theme.SATELLITE_EDGE)


@functools.cache
def shield(color: Color, filled: bool) -> Symbol:
    """Return a guard's shield."""

    def outline(reach: float, fill: Color) -> PlainShape:
        return Polygon(tuple((x * reach, y * reach) for x, y in _SHIELD), fill)

    inner = theme.HIT if filled else theme.SATELLITE_EDGE
    shapes = outline(1.0, theme.SATELLITE_EDGE), outline(0.84, color), outline(0.56, inner)
    return Symbol(shapes, theme.SATELLITE_EDGE)


def outcome_list_shapes(layout: Layout, snapshot: Snapshot, shows_results: bool) -> Iterator[Shape]:
    """Draw the list of the last engagement's outcomes, in as many columns as fit.

    Args:
        layout: layout of the picture.
        snapshot: what is shown.
        shows_results: whether the engagement's results show on the board already.
    """
    area, outcomes = layout.outcomes, snapshot.outcomes
    line, size = layout.line_height("small"), layout.text_size("small")
    if area.height < 2 * line:
        return
    yield Text((area.left, area.top + line / 2), _heading(snapshot), layout.text_size("tiny"), theme.FAINT)
    if not outcomes or not shows_results:
        text = "none yet" if not snapshot.outcomes_turn else "under way" if outcomes else "nobody engaged"
        yield Text((area.left, area.top + line * 1.6), text, size, theme.SOFT)
        return
    height = round(line * 1.12)
    rows = max((area.height - line) // height, 1)
    columns = max(min(area.width // round(13.8 * size), 1 + (len(outcomes) - 1) // rows), 1)
    listed = select_outcomes(outcomes, rows * columns)
    width = area.width // columns
    saved = intercepted_attacks(outcomes)
    for i, outcome in enumerate(listed):
        row = Rect(area.left + i // rows * width, area.top + line + i % rows * height, width, height)
        yield from _outcome(layout, outcome, row, " (aimed at HVA)" if outcome.actor in saved else "")
    if len(listed) < len(outcomes):
        position = area.left + (columns - 1) * width, area.top + line + (rows - 0.5) * height
        yield Text(position, f"and {len(outcomes) - len(listed)} more", size, theme.SOFT)


def more_shapes(layout: Layout, snapshot: Snapshot, pointer: tuple[int, int] | None) -> Iterator[Shape]:
    """Draw, in a window, how to see the whole list of outcomes and why the score changed."""
    area, size = layout.outcomes, layout.text_size("tiny")
    if not snapshot.outcomes_turn or area.height < layout.line_height("small"):
        return
    space = area.width - layout.text_width(_heading(snapshot), size) - size
    fitting = [text for text in _MORE if layout.text_width(text, size) <= space]
    if fitting:
        is_lit = pointer is not None and area.contains(pointer)
        position = area.right, area.top + layout.line_height("small") / 2
        yield Text(position, fitting[0], size, theme.TEXT if is_lit else theme.SOFT, "midright")


def _heading(snapshot: Snapshot) -> str:
    return f"ENGAGEMENT OF TURN {snapshot.outcomes_turn}" if snapshot.outcomes_turn else "ENGAGEMENT"


def select_outcomes(outcomes: Sequence[Outcome], count: int) -> list[Outcome]:
    """Return at most so many outcomes, in their order, leaving a line for the rest: idle guards are dropped first."""
    if len(outcomes) <= count:
        return list(outcomes)
    ranked = sorted(range(len(outcomes)), key=lambda i: _rank(outcomes[i]))
    return [outcomes[i] for i in sorted(ranked[: max(count - 1, 0)])]


def _rank(outcome: Outcome) -> int:
    if outcome.action == "guard":
        return 4 if outcome.attacker is None else 2 if outcome.success else 3
    return 0 if outcome.success else 1


def result_text(outcome: Outcome) -> str:
    """Return the result of an engagement in a word or two."""
    if outcome.action == "guard":
        return "no attack" if outcome.attacker is None else "diverted" if outcome.success else "failed"
    return {"shoot": ("miss", "hit"), "collide": ("miss", "rammed")}[outcome.action][outcome.success]


def _outcome(layout: Layout, outcome: Outcome, row: Rect, note: str) -> Iterator[Shape]:
    unit = row.height
    radius = unit * 0.42
    actor = outcome.actor
    other = outcome.attacker if outcome.action == "guard" else outcome.target
    y = row.center[1]
    yield _satellite(actor, (row.left + radius, y), radius)
    start, end = (row.left + unit * 1.05, y), (row.left + unit * 2.55, y)
    if outcome.action == "guard":
        yield outcome_symbol(outcome, ((start[0] + end[0]) / 2, y), round(unit * 0.85))
    else:
        yield from _list_arrow(outcome, start, end, theme.SIDES_BRIGHT[actor.side], layout.stroke(1.6), unit * 0.36)
    size = layout.text_size("small")
    left = row.left + unit * 3.8
    if other is not None:
        yield _satellite(other, (row.left + unit * 2.65 + radius, y), radius)
        yield Text((left + 2.6 * size, y), f"{outcome.probability:.0%}", size, theme.SOFT, "midright")
    text = layout.fitted(result_text(outcome) + note, size, round(row.right - left - 2.95 * size))
    yield Text((left + 3.0 * size, y), text, size, theme.TEXT if outcome.success else theme.FAINT)


def _list_arrow(outcome: Outcome, start: Point, end: Point, color: Color, width: int, head: float) -> Iterator[Shape]:
    offset = 1.5 * width if outcome.action == "collide" else 0.0
    return arrow(start, end, color, width, head, offset, dashed=not outcome.success)


def _satellite(satellite: SatelliteId, center: Point, radius: float) -> Use:
    return satellite_shape(DiscStyle(satellite.side, satellite.number), center, radius, with_gauges=False)


def legend_shapes(layout: Layout) -> Iterator[Shape]:
    """Draw what the marks mean, in as many rows as the legend is high."""
    area = layout.legend
    rows = max(area.height // layout.line_height("tiny"), 1)
    columns = -(-len(_LEGEND) // rows)
    for i, (kind, text) in enumerate(_LEGEND):
        left = area.left + i % columns * area.width // columns
        top = area.top + i // columns * area.height // rows
        unit, y = layout.text_size("tiny"), top + layout.line_height("tiny") / 2
        yield Text((left + 2.4 * unit, y), text, unit, theme.FAINT)
        outcome = _example(kind)
        if kind in ("guard", "hit", "miss"):
            yield outcome_symbol(outcome, (left + unit, y), round(unit * 1.2))
        else:
            ends = (left, y), (left + 2 * unit, y)
            yield from _list_arrow(outcome, *ends, theme.SOFT, layout.stroke(1.6), unit * 0.5)


def _example(kind: str) -> Outcome:
    """Return an outcome that the legend explains."""
    someone, enemy = SatelliteId("alpha", 1), SatelliteId("bravo", 1)
    if kind == "guard":
        return Outcome("guard", enemy, someone, SatelliteId("alpha", 0), 1.0, True)
    return Outcome("collide" if kind == "collide" else "shoot", someone, None, enemy, 1.0, kind != "miss")
