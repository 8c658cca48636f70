"""The texts beside the board: title, turn, phase and score, the list of engagements, the legend."""

from collections.abc import Iterator, Sequence

from geo_patrol.game import Game
from geo_patrol.notation import EndReason, Outcome, SatelliteId
from geo_patrol.scenes import theme
from geo_patrol.scenes.engagements import outcome_symbol
from geo_patrol.scenes.layout import Layout
from geo_patrol.scenes.satellites import Style, satellite_shape
from geo_patrol.scenes.shapes import Color, Point, Polyline, Rect, Shape, Text, TextAnchor, Use, arrowhead, box
from geo_patrol.sessions.timeline import Snapshot
from geo_patrol.sides import SIDES

_ANCHORS: tuple[TextAnchor, TextAnchor] = ("midleft", "midright")
_REASONS = {
    "hva_destroyed": "{side}'s HVA destroyed",
    "hva_out_of_fuel": "{side}'s HVA out of fuel",
    "win_score": "{side} reached the win score",
    "forfeit": "{side} forfeits",
    "turn_limit": "turn limit",
}
_LEGEND = (("shoot", "shot"), ("collide", "collision"), ("guard", "guard"), ("hit", "hit"), ("miss", "miss"))


def reason_text(reason: EndReason) -> str:
    """Return a reason for an end in words."""
    return _REASONS[reason.reason].format(side=reason.side)


def header_shapes(layout: Layout, snapshot: Snapshot, game: Game, phase: str) -> Iterator[Shape]:
    """Draw title, turn, phase and score.

    Args:
        layout: of the picture.
        snapshot: what is shown.
        game: the position whose score is shown: the snapshot's, or the one before it.
        phase: name of the phase.
    """
    header = layout.header
    normal, huge = layout.text_size("normal"), layout.text_size("huge")
    line = layout.line_height("normal")
    turn = f"TURN {game.turn} OF {game.config.turn_limit}"
    y = header.top + line // 2
    yield Text((header.right, y), turn, normal, theme.TEXT, "midright")
    width = header.width - layout.text_width(turn, normal) - normal
    yield Text((header.left, y), layout.fitted(game.config.title, normal, width), normal, theme.SOFT)
    y = header.top + line + round(huge * 0.55)
    for side, x, anchor in zip(SIDES, (header.left, header.right), _ANCHORS, strict=True):
        yield Text((x, y), str(game.scores[side]), huge, theme.SIDES_BRIGHT[side], anchor)
    yield from _phase(layout, game, phase, y)
    yield from _names(layout, snapshot, game)


def _phase(layout: Layout, game: Game, phase: str, y: int) -> Iterator[Shape]:
    if not game.is_over:
        size, text, color = layout.text_size("normal"), phase.upper(), theme.TEXT
    elif game.winner is None:
        size, text, color = layout.text_size("large"), "DRAW", theme.TEXT
    else:
        size, text, color = layout.text_size("large"), f"{game.winner.upper()} WINS", theme.SIDES_BRIGHT[game.winner]
    center = layout.header.center[0], y
    rect = Rect.anchored(layout.measure(text, size), "center", center).inflated(size * 1.6, size * 0.7)
    edge = color if game.is_over else None
    yield box(rect, theme.CARD_BRIGHT, edge, layout.stroke(1.5), rect.height // 2)
    yield Text(rect.center, text, size, color, "center")


def _names(layout: Layout, snapshot: Snapshot, game: Game) -> Iterator[Text]:
    header = layout.header
    size, line = layout.text_size("small"), layout.line_height("normal")
    edges = header.left, header.right
    y = header.bottom - line - layout.line_height("small") // 2
    for side, x, anchor, name in zip(SIDES, edges, _ANCHORS, snapshot.names, strict=True):
        text = layout.fitted(f"{side}, {name}" if name else side, size, round(header.width * 0.36))
        yield Text((x, y), text, size, theme.SOFT, anchor)
    below = header.bottom - line * 0.45
    if game.is_over:
        text = layout.fitted(", ".join(map(reason_text, game.reasons)), size, header.width)
        yield Text((header.center[0], below), text, size, theme.TEXT, "center")
        return
    for side, x, anchor in zip(SIDES, edges, _ANCHORS, strict=True):
        yield Text((x, below), f"{game.goal_points[side]} from the goal", size, theme.FAINT, anchor)


def outcome_list_shapes(layout: Layout, snapshot: Snapshot, shows_results: bool) -> Iterator[Shape]:
    """Draw the list of the last engagement's outcomes, in as many columns as fit.

    Args:
        layout: of the picture.
        snapshot: what is shown.
        shows_results: whether the engagement's results show on the board already.
    """
    area, outcomes = layout.outcomes, snapshot.outcomes
    line, size = layout.line_height("small"), layout.text_size("small")
    if area.height < 2 * line:
        return
    heading = f"ENGAGEMENT OF TURN {snapshot.outcomes_turn}" if snapshot.outcomes_turn else "ENGAGEMENT"
    yield Text((area.left, area.top + line / 2), heading, layout.text_size("tiny"), theme.FAINT)
    if not outcomes or not shows_results:
        text = "none yet" if not snapshot.outcomes_turn else "under way" if outcomes else "nobody engaged"
        yield Text((area.left, area.top + line * 1.6), text, size, theme.SOFT)
        return
    height = round(line * 1.12)
    rows = max((area.height - line) // height, 1)
    columns = max(min(area.width // round(13.8 * size), 1 + (len(outcomes) - 1) // rows), 1)
    listed = select_outcomes(outcomes, rows * columns)
    width = area.width // columns
    for i, outcome in enumerate(listed):
        row = Rect(area.left + i // rows * width, area.top + line + i % rows * height, width, height)
        yield from _outcome(layout, outcome, row)
    if len(listed) < len(outcomes):
        position = area.left + (columns - 1) * width, area.top + line + (rows - 0.5) * height
        yield Text(position, f"and {len(outcomes) - len(listed)} more", size, theme.SOFT)


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


def _outcome(layout: Layout, outcome: Outcome, row: Rect) -> Iterator[Shape]:
    unit = row.height
    radius = unit * 0.42
    actor = outcome.actor
    other = outcome.attacker if outcome.action == "guard" else outcome.target
    y = row.center[1]
    yield _satellite(actor, (row.left + radius, y), radius)
    start, end = (row.left + unit * 1.05, y), (row.left + unit * 2.55, y)
    color = theme.SIDES_BRIGHT[actor.side]
    if outcome.action == "guard":
        yield outcome_symbol(outcome, ((start[0] + end[0]) / 2, y), round(unit * 0.85))
    else:
        yield from _arrow(start, end, color, layout.stroke(1.6), unit * 0.36, outcome)
    size = layout.text_size("small")
    left = row.left + unit * 3.8
    if other is not None:
        yield _satellite(other, (row.left + unit * 2.65 + radius, y), radius)
        yield Text((left + 2.6 * size, y), f"{outcome.probability:.0%}", size, theme.SOFT, "midright")
    text = layout.fitted(result_text(outcome), size, round(row.right - left - 2.95 * size))
    yield Text((left + 3.0 * size, y), text, size, theme.TEXT if outcome.success else theme.FAINT)


def _arrow(start: Point, end: Point, color: Color, width: int, head: float, outcome: Outcome) -> Iterator[Shape]:
    """Draw a horizontal arrow of an engagement, a double one of a collision."""
    for offset in (-1.5 * width, 1.5 * width) if outcome.action == "collide" else (0,):
        line = (start[0], start[1] + offset), (end[0], end[1] + offset)
        yield Polyline(line, color, width, dashed=not outcome.success)
    yield arrowhead(start, end, color, head)


def _satellite(satellite: SatelliteId, center: Point, radius: float) -> Use:
    return satellite_shape(Style(satellite.side, satellite.number), center, radius, with_gauges=False)


def legend_shapes(layout: Layout) -> Iterator[Shape]:
    """Draw what the marks mean: one below the other, or side by side where the legend is flat."""
    area = layout.legend
    is_flat = area.height < area.width / len(_LEGEND)
    for i, (kind, text) in enumerate(_LEGEND):
        if is_flat:
            left, top = area.left + i * area.width // len(_LEGEND), area.top
        else:
            left, top = area.left, area.top + i * area.height // len(_LEGEND)
        unit, y = layout.text_size("tiny"), top + layout.line_height("tiny") / 2
        yield Text((left + 2.4 * unit, y), text, unit, theme.FAINT)
        outcome = _example(kind)
        if kind in ("guard", "hit", "miss"):
            yield outcome_symbol(outcome, (left + unit, y), round(unit * 1.2))
        else:
            yield from _arrow((left, y), (left + 2 * unit, y), theme.SOFT, layout.stroke(1.6), unit * 0.5, outcome)


def _example(kind: str) -> Outcome:
    """Return an outcome that the legend explains."""
    someone, enemy = SatelliteId("alpha", 1), SatelliteId("bravo", 1)
    if kind == "guard":
        return Outcome("guard", enemy, someone, SatelliteId("alpha", 0), 1.0, True)
    return Outcome("collide" if kind == "collide" else "shoot", someone, None, enemy, 1.0, kind != "miss")
