"""A position, a fleet and an engagement as plain text."""

# ruff: noqa: D102 - the members of SupportsText are documented in Game

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from geo_patrol.base.board import azimuth_of, ring_of, sector_at
from geo_patrol.base.sides import SIDES, Side
from geo_patrol.config.schema import GameConfig
from geo_patrol.game.notation import Outcome, PhaseName, Result, Satellite, SatelliteId

_VISIBLE_RINGS = 5
"""Boards up to this ring are drawn round; further out there is no room for the letters."""
_COLUMNS_PER_RING = 8
_ROWS_PER_RING = 4


class SupportsText(Protocol):
    """The properties of a ``Game`` that its text shows."""

    @property
    def config(self) -> GameConfig: ...
    @property
    def turn(self) -> int: ...
    @property
    def phase(self) -> PhaseName: ...
    @property
    def result(self) -> Result | None: ...
    @property
    def scores(self) -> dict[Side, int]: ...
    @property
    def goals(self) -> dict[Side, int]: ...
    @property
    def out_of_sight(self) -> Mapping[SatelliteId, int]: ...
    def satellites(self, side: Side) -> tuple[Satellite, ...]: ...


def position_text(game: SupportsText, *, with_sectors: bool = False, result: Result | None = None) -> str:
    """Return a whole position: heading, board (perhaps with the numbers of its sectors) and both fleets.

    Args:
        game: the position.
        with_sectors: whether the board has the numbers of its sectors.
        result: how the game ended there where the rules would let it go on.
    """
    return f"{heading_text(game, result)}\n\n{board_text(game, with_sectors=with_sectors)}\n\n{fleets_text(game)}"


def heading_text(game: SupportsText, result: Result | None = None) -> str:
    """Return title, turn, phase and score in a line, "~" before an estimate; for a finished game, how it ended."""
    estimated = {one.side for one in game.out_of_sight}
    scores = ", ".join(f"{side} {'~' * (side in estimated)}{score}" for side, score in game.scores.items())
    line = f"{game.config.title} | turn {game.turn}, {game.phase} | score {scores}"
    result = result or game.result
    if result is None:
        return line
    won = "draw" if result.winner is None else f"{result.winner} wins"
    return f"{line} | {won}: {', '.join(map(str, result.reasons))}"


def board_text(game: SupportsText, *, with_sectors: bool = False) -> str:
    """Return the board, perhaps with the numbers of its sectors: of an empty one alone, otherwise before a colon.

    Up to ring 5 it is drawn round, azimuth 0 on the right and prograde counterclockwise: "A" and "B" are the HVAs,
    "a3" three of alpha's Patrols with fuel, "b?2" two of bravo's that are out of sight, "." an empty sector; [ ] marks
    alpha's goal sector, { } bravo's. Larger boards are listed ring by ring.
    """
    if game.config.board.outer_ring <= _VISIBLE_RINGS:
        return _round_board(game, with_sectors)
    return _listed_board(game)


def _occupants(game: SupportsText) -> dict[int, str]:
    """Return a label for every sector where something is: satellites with fuel, and the goals."""
    labels: dict[int, str] = {}
    for side, hva, patrol in zip(SIDES, "AB", "ab", strict=True):
        fleet = [satellite for satellite in game.satellites(side) if satellite.is_active]
        for sector in sorted({satellite.sector for satellite in fleet}):
            here = [satellite.id for satellite in fleet if satellite.sector == sector]
            label = labels.get(sector, "")
            for mark, group in (
                ("", [one.number for one in here if one not in game.out_of_sight]),
                ("?", [one.number for one in here if one in game.out_of_sight]),
            ):
                patrols = sum(number > 0 for number in group)
                label += f"{hva}{mark}" * (0 in group) + (f"{patrol}{mark}{patrols}" if patrols else "")
            labels[sector] = label
    for side, brackets in zip(SIDES, ("[]", "{}"), strict=True):
        goal = game.goals[side]
        labels[goal] = brackets[0] + labels.get(goal, "") + brackets[1]
    return labels


def _round_board(game: SupportsText, with_sectors: bool) -> str:
    board = game.config.board
    labels = _occupants(game)
    if with_sectors:
        labels = {sector: f"{sector}:{label}" for sector, label in labels.items()}
    rows, columns = board.outer_ring * _ROWS_PER_RING, board.outer_ring * _COLUMNS_PER_RING
    margin = max(map(len, labels.values()))
    width = 2 * (columns + margin) + 1
    canvas = [[" "] * width for _ in range(2 * rows + 1)]

    def put(row: float, column: float, label: str) -> None:
        left = round(column) + columns + margin - len(label) // 2
        for offset, letter in enumerate(label):
            canvas[round(row) + rows][left + offset] = letter

    put(0, 0, "Earth")
    for ring in range(board.inner_ring, board.outer_ring + 1):
        for azimuth in range(1 << ring):
            angle = 2 * math.pi * azimuth / (1 << ring)
            sector = int(sector_at(ring, azimuth))
            label = labels.get(sector, str(sector) if with_sectors else ".")
            put(-ring * _ROWS_PER_RING * math.sin(angle), ring * _COLUMNS_PER_RING * math.cos(angle), label)
    lines = ["".join(row).rstrip() for row in canvas]
    indent = min(len(line) - len(line.lstrip()) for line in lines if line)
    return "\n".join(line[indent:] for line in lines)


def _listed_board(game: SupportsText) -> str:
    board = game.config.board
    labels = _occupants(game)
    lines = []
    for ring in range(board.outer_ring, board.inner_ring - 1, -1):
        here = [f"{sector} {label}" for sector, label in sorted(labels.items()) if ring_of(sector) == ring]
        lines.append(f"ring {ring:>2}: {', '.join(here) if here else '-'}")
    return "\n".join(lines)


def fleets_text(game: SupportsText) -> str:
    """Return both fleets side by side: sector, position (ring/azimuth), fuel and ammo."""
    tables = [_fleet_lines(side, game) for side in SIDES]
    height = max(map(len, tables))
    width = max(len(line) for table in tables for line in table)
    padded = [[*table, *[""] * (height - len(table))] for table in tables]
    return "\n".join(f"{left:<{width}}  {right}".rstrip() for left, right in zip(*padded, strict=True))


def _fleet_lines(side: Side, game: SupportsText) -> list[str]:
    lines, out_of_sight = [f"{side:<6}sector   place  fuel  ammo"], game.out_of_sight
    for satellite in game.satellites(side):
        position = f"{ring_of(satellite.sector)}/{azimuth_of(satellite.sector)}"
        note = "" if satellite.is_active else " destroyed" if satellite.destroyed else " no fuel"
        note += f" last seen in turn {out_of_sight[satellite.id]}" if satellite.id in out_of_sight else ""
        lines.append(
            f" {satellite.id.short:<5}{satellite.sector:>6}{position:>8}{satellite.fuel:>6}{satellite.ammo:>6}{note}"
        )
    return lines


def outcomes_text(outcomes: Sequence[Outcome]) -> str:
    """Return the table of engagement outcomes as the rule books print it."""
    if not outcomes:
        return "ENGAGEMENT OUTCOMES:\n  No engagements"
    lines = ["ENGAGEMENT OUTCOMES:", _outcome_line("Action", "Attacker", "Guardian", "Target", "Odds", "Result")]
    for outcome in outcomes:
        result = "Success" if outcome.success else "Failure"
        odds = f"{outcome.probability:.1%}"
        lines.append(
            _outcome_line(
                outcome.action, _name(outcome.attacker), _name(outcome.guardian), str(outcome.target), odds, result
            )
        )
    return "\n".join(lines)


def _name(satellite: SatelliteId | None) -> str:
    return "" if satellite is None else str(satellite)


def _outcome_line(action: str, attacker: str, guardian: str, target: str, odds: str, result: str) -> str:
    return f"  {action:<7} {attacker:<15} {guardian:<15} {target:<15} {odds:>6} |---> {result}"
