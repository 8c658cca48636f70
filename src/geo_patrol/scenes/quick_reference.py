"""The quick reference of an orbital game, two pages to print: a turn step by step, and the values of the game."""

from geo_patrol.board import sector_at
from geo_patrol.game import Game
from geo_patrol.scenes.diagrams import adjacency_diagram, drift_diagram
from geo_patrol.scenes.paper import INK, SIZE, SOFT
from geo_patrol.scenes.shapes import Drawing, Text, placed
from geo_patrol.scenes.sheet_layout import HEIGHT, TEXT, WIDTH, add_tab, new_sheet
from geo_patrol.sessions.game_pages import aim_tab, costs_tab, fuel_points_text, guard_odds_texts, station_keeping_text
from geo_patrol.sessions.pages import Line, Tab

_MAX_DIAGRAM = 345.0
"""Side of a diagram on the page, where the text leaves room for it."""
_CLEAR_RING = 2
"""The innermost ring on which prograde and retrograde lead to different sectors."""
_CAPTION = 36.0
"""Room below a diagram."""


def turn_sheet(game: Game) -> Drawing:
    """Return a page with the steps of a turn, and diagrams of adjacent sectors and of the drift."""
    drawing = new_sheet("A turn, step by step", game.config.title)
    top = 90.0
    for tab in (_movement_tab(), _engagement_tab(), _end_tab(game)):
        top = add_tab(drawing, tab, top) + 14
    board = game.config.board
    ring = min(max(board.goal_ring - 1, board.inner_ring, _CLEAR_RING), board.outer_ring)
    sector = int(sector_at(ring, 1))
    diagrams = (
        (adjacency_diagram(board, sector), f"moves from {sector}, adjacent sectors"),
        (drift_diagram(board), "drift on each ring"),
    )
    size = min(HEIGHT - top - _CAPTION, _MAX_DIAGRAM)
    for number, (diagram, caption) in enumerate(diagrams):
        left = 20 + number * (WIDTH - 40 - size)
        drawing.add(*placed(diagram.shapes, (left, top), size / SIZE))
        drawing.add(Text((left + size / 2, top + size + 16), caption, 12, SOFT, "center"))
    return drawing


def reference_sheet(game: Game) -> Drawing:
    """Return aim, scoring, costs and odds of a game on a page."""
    drawing = new_sheet("Quick reference", game.config.title)
    top = 90.0
    for tab in (aim_tab(game), costs_tab(game)):
        top = add_tab(drawing, tab, top) + 26
    drawing.add(
        Text(
            (20, top),
            "Odds of one guard for its 1st, 2nd, 3rd, 4th attack; half as much for each further one",
            TEXT,
            INK,
            bold=True,
        )
    )
    for number, (distance, odds) in enumerate(guard_odds_texts(game).items(), start=1):
        y = top + 20 * number
        drawing.add(Text((20, y), distance, TEXT, SOFT), Text((150, y), odds, TEXT, INK))
    return drawing


def _movement_tab() -> Tab:
    return Tab(
        "1 Movement",
        (
            Line("orders", "both write a move for any of their satellites in secret, then show them"),
            Line(
                "moves",
                "+ prograde: the next sector counterclockwise; - retrograde: clockwise; in: radial in; out: radial out, into "
                "the one of the two outer sectors that is further clockwise. A satellite may also stay",
            ),
            Line("fuel", "pay for every move; an order that a satellite cannot pay is not allowed"),
        ),
    )


def _engagement_tab() -> Tab:
    return Tab(
        "2 Engagement",
        (
            Line(
                "orders",
                "both write in secret, then show: shoot or collide with an enemy that has fuel, or guard the own HVA, each "
                "in the same or an adjacent sector. Guard only while an enemy with fuel is that near to the HVA. Pay for "
                "all first; an order paid with the last fuel still counts, and its satellite can still be hit in this phase",
            ),
            Line(
                "dice",
                "two ten-sided dice, tens and units, 00 is 100: success with at most the percentage, by the distance of "
                "this moment, before anything is resolved. For a random order each rolls, the highest begins; equal "
                "rolls again",
            ),
            Line(
                "first: guards",
                "in random order. A guard takes on the attacks that are aimed at its HVA now, in random order: the first "
                "with its odds, each further one with half of those before. An attack that it takes is aimed at the "
                "guard, with the odds it had. Then the guard moves to its HVA's sector, with or without success",
            ),
            Line(
                "second: shots", "all at once, so a satellite that is hit still fires; each spends a round, hit or miss"
            ),
            Line(
                "third: collisions",
                "one by one in random order: success destroys both; the attacker moves to the sector where its target is now, "
                "with or without success",
            ),
            Line(
                "void",
                "collisions by or against a satellite that is destroyed by then; their fuel stays spent, and the attacker "
                "stays where it is",
            ),
            Line("destroyed", "fuel 0, off the board. Without fuel: no orders, cannot be attacked, still drifts"),
        ),
    )


def _end_tab(game: Game) -> Tab:
    return Tab(
        "3 Score and 4 drift",
        (
            Line("score", f"goal points so far + fuel points now. {fuel_points_text(game)}"),
            Line("goal points", "for an HVA with fuel in its goal sector, or adjacent to it, before the drift"),
            Line(
                "end",
                "if the game ends now, there is no drift: more points win, whoever lost an HVA; equal points are a draw",
            ),
            Line(
                "drift",
                f"every satellite and both goals move one sector counterclockwise. {station_keeping_text(game)}",
            ),
        ),
    )
