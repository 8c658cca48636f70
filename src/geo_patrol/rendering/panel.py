"""The words beside the board: title, turn, phase and score, the list of engagements, the legend."""

from collections.abc import Sequence

import pygame

from geo_patrol.game import Game
from geo_patrol.notation import EndReason, Outcome, SatelliteId
from geo_patrol.rendering import glyphs, theme
from geo_patrol.rendering.layout import Layout
from geo_patrol.rendering.marks import put_arrowhead, put_stroke, put_symbol
from geo_patrol.rendering.tokens import Look, put_token
from geo_patrol.sessions.timeline import Scene
from geo_patrol.sides import SIDES

_ANCHORS = ("midleft", "midright")
_REASONS = {
    "hva_destroyed": "{side}'s HVA destroyed",
    "hva_out_of_fuel": "{side}'s HVA out of fuel",
    "win_score": "{side} reached the win score",
    "forfeit": "{side} forfeits",
    "turn_limit": "turn limit",
}


def reason_text(reason: EndReason) -> str:
    """Return a reason of an end in words."""
    return _REASONS[reason.reason].format(side=reason.side)


def draw_header(surface: pygame.Surface, layout: Layout, scene: Scene, game: Game, phase: str) -> None:
    """Draw title, turn, phase and score.

    Args:
        surface: on which.
        layout: where.
        scene: what is shown.
        game: the position whose figures are shown: the scene's, or the one before it.
        phase: what the phase is called.
    """
    header = layout.header
    normal, huge = layout.text_size("normal"), layout.text_size("huge")
    line = layout.line("normal")
    turn = f"TURN {game.turn} OF {game.config.turn_limit}"
    middle = header.top + line // 2
    right = glyphs.put_text(surface, turn, normal, theme.TEXT, (header.right, middle), "midright")
    title = glyphs.fitted(game.config.title, normal, right.left - header.left - normal)
    glyphs.put_text(surface, title, normal, theme.SOFT, (header.left, middle))
    middle = header.top + line + round(huge * 0.55)
    for side, place, anchor in zip(SIDES, (header.left, header.right), _ANCHORS, strict=True):
        score = str(game.scores[side])
        glyphs.put_text(surface, score, huge, theme.SIDES_BRIGHT[side], (place, middle), anchor)
    _draw_phase(surface, layout, game, phase, middle)
    _draw_names(surface, layout, scene, game)


def _draw_phase(surface: pygame.Surface, layout: Layout, game: Game, phase: str, middle: int) -> None:
    header = layout.header
    if not game.is_over:
        size, words, colour = layout.text_size("normal"), phase.upper(), theme.TEXT
    elif game.winner is None:
        size, words, colour = layout.text_size("large"), "DRAW", theme.TEXT
    else:
        size, words, colour = layout.text_size("large"), f"{game.winner.upper()} WINS", theme.SIDES_BRIGHT[game.winner]
    label = glyphs.text(words, size, colour)
    frame = label.get_rect(center=(header.centerx, middle)).inflate(size * 1.6, size * 0.7)
    pygame.draw.rect(surface, theme.CARD_BRIGHT, frame, border_radius=frame.height // 2)
    if game.is_over:
        pygame.draw.rect(
            surface, colour, frame, width=max(round(1.5 * layout.scale), 1), border_radius=frame.height // 2
        )
    surface.blit(label, label.get_rect(center=frame.center))


def _draw_names(surface: pygame.Surface, layout: Layout, scene: Scene, game: Game) -> None:
    header = layout.header
    size, line = layout.text_size("small"), layout.line("normal")
    middle = header.bottom - line - layout.line("small") // 2
    for side, place, anchor, name in zip(SIDES, (header.left, header.right), _ANCHORS, scene.names, strict=True):
        words = f"{side}, {name}" if name else side
        words = glyphs.fitted(words, size, round(header.width * 0.36))
        glyphs.put_text(surface, words, size, theme.SOFT, (place, middle), anchor)
    if game.is_over:
        words = ", ".join(map(reason_text, game.reasons))
        fitted = glyphs.fitted(words, size, header.width)
        glyphs.put_text(surface, fitted, size, theme.TEXT, (header.centerx, header.bottom - line * 0.45), "center")
        return
    for side, place, anchor in zip(SIDES, (header.left, header.right), _ANCHORS, strict=True):
        words = f"{game.goal_points[side]} from the goal"
        glyphs.put_text(surface, words, size, theme.FAINT, (place, header.bottom - line * 0.45), anchor)


def draw_outcomes(surface: pygame.Surface, layout: Layout, scene: Scene, revealed: bool) -> None:
    """Draw the list of the last engagement's outcomes, in columns, as many as there is room for.

    Args:
        surface: on which.
        layout: where.
        scene: what is shown.
        revealed: whether the engagement has come so far that its results show on the board.
    """
    area = layout.outcomes
    line, size = layout.line("small"), layout.text_size("tiny")
    if area.height < 2 * line:
        return
    heading = f"ENGAGEMENT OF TURN {scene.outcomes_turn}" if scene.outcomes_turn else "ENGAGEMENT"
    glyphs.put_text(surface, heading, size, theme.FAINT, (area.left, area.top + line / 2))
    if not scene.outcomes or not revealed:
        words = "none yet" if not scene.outcomes_turn else "under way" if scene.outcomes else "nobody engaged"
        glyphs.put_text(surface, words, layout.text_size("small"), theme.SOFT, (area.left, area.top + line * 1.6))
        return
    height = round(line * 1.12)
    rows = max((area.height - line) // height, 1)
    columns = max(min(area.width // round(13.8 * layout.text_size("small")), 1 + (len(scene.outcomes) - 1) // rows), 1)
    shown = most_telling(scene.outcomes, rows * columns)
    width = area.width // columns
    for place, outcome in enumerate(shown):
        corner = area.left + place // rows * width, area.top + line + place % rows * height
        _draw_outcome(surface, layout, outcome, pygame.Rect(*corner, width, height))
    if len(shown) < len(scene.outcomes):
        words = f"and {len(scene.outcomes) - len(shown)} more"
        place_of = area.left + (columns - 1) * width, area.top + line + (rows - 0.5) * height
        glyphs.put_text(surface, words, layout.text_size("small"), theme.SOFT, place_of)


def most_telling(outcomes: Sequence[Outcome], room: int) -> list[Outcome]:
    """Return the outcomes for which there is room, in their order: guards that did nothing give way first."""
    if len(outcomes) <= room:
        return list(outcomes)
    importance = sorted(range(len(outcomes)), key=lambda place: _dullness(outcomes[place]))
    return [outcomes[place] for place in sorted(importance[: max(room - 1, 0)])]


def _dullness(outcome: Outcome) -> int:
    if outcome.action == "guard":
        return 4 if outcome.attacker is None else 2 if outcome.success else 3
    return 0 if outcome.success else 1


def outcome_words(outcome: Outcome) -> str:
    """Return what became of an engagement, in a word or two."""
    if outcome.action == "guard":
        return "no attack" if outcome.attacker is None else "diverted" if outcome.success else "failed"
    return {"shoot": ("miss", "hit"), "collide": ("miss", "rammed")}[outcome.action][outcome.success]


def _draw_outcome(surface: pygame.Surface, layout: Layout, outcome: Outcome, row: pygame.Rect) -> None:
    radius = row.height * 0.42
    unit = row.height
    actor = outcome.guardian if outcome.action == "guard" else outcome.attacker
    other = outcome.attacker if outcome.action == "guard" else outcome.target
    assert actor is not None
    middle = row.centery
    _put_chip(surface, actor, (row.left + radius, middle), radius)
    start, end = (row.left + unit * 1.05, middle), (row.left + unit * 2.55, middle)
    colour = theme.SIDES_BRIGHT[actor.side]
    if outcome.action == "guard":
        put_symbol(surface, outcome, ((start[0] + end[0]) / 2, middle), round(unit * 0.85))
    else:
        width = max(round(1.6 * layout.scale), 1)
        for offset in (-1.5 * width, 1.5 * width) if outcome.action == "collide" else (0,):
            put_stroke(surface, colour, (start[0], middle + offset), (end[0], middle + offset), width, outcome.success)
        put_arrowhead(surface, colour, start, end, unit * 0.36)
    if other is not None:
        _put_chip(surface, other, (row.left + unit * 2.65 + radius, middle), radius)
    size = layout.text_size("small")
    left = row.left + unit * 3.8
    if other is not None:
        glyphs.put_text(
            surface, f"{outcome.probability:.0%}", size, theme.SOFT, (left + 2.6 * size, middle), "midright"
        )
    words = glyphs.fitted(outcome_words(outcome), size, round(row.right - left - 2.95 * size))
    glyphs.put_text(surface, words, size, theme.TEXT if outcome.success else theme.FAINT, (left + 3.0 * size, middle))


def _put_chip(surface: pygame.Surface, satellite: SatelliteId, place: tuple[float, float], radius: float) -> None:
    look = Look(satellite.side, satellite.number, 0, 0, "active")
    put_token(surface, look, place, radius, with_gauges=False)


_LEGEND = (("shoot", "shot"), ("collide", "collision"), ("guard", "guard"), ("hit", "hit"), ("miss", "miss"))


def draw_legend(surface: pygame.Surface, layout: Layout) -> None:
    """Draw what the marks mean: one below the other, or side by side in a flat place."""
    area = layout.legend
    flat = area.height < area.width / len(_LEGEND)
    for place, (kind, words) in enumerate(_LEGEND):
        if flat:
            corner = area.left + place * area.width // len(_LEGEND), area.top
        else:
            corner = area.left, area.top + place * area.height // len(_LEGEND)
        _draw_legend_entry(surface, layout, kind, words, corner)


def _draw_legend_entry(surface: pygame.Surface, layout: Layout, kind: str, words: str, corner: tuple[int, int]) -> None:
    unit = layout.text_size("tiny")
    left, middle = corner[0], corner[1] + layout.line("tiny") / 2
    glyphs.put_text(surface, words, unit, theme.FAINT, (left + 2.4 * unit, middle))
    if kind in ("guard", "hit", "miss"):
        action = "guard" if kind == "guard" else "shoot"
        put_symbol(surface, _sample(action, kind != "miss"), (left + unit, middle), round(unit * 1.2))
        return
    width = max(round(1.6 * layout.scale), 1)
    for offset in (-1.5 * width, 1.5 * width) if kind == "collide" else (0,):
        put_stroke(surface, theme.SOFT, (left, middle + offset), (left + 2 * unit, middle + offset), width, whole=True)
    put_arrowhead(surface, theme.SOFT, (left, middle), (left + 2 * unit, middle), unit * 0.5)


def _sample(action: str, success: bool = True) -> Outcome:
    someone, enemy = SatelliteId("alpha", 1), SatelliteId("bravo", 1)
    if action == "guard":
        return Outcome(action, enemy, someone, SatelliteId("alpha", 0), 1.0, success)
    return Outcome(action, someone, None, enemy, 1.0, success)
