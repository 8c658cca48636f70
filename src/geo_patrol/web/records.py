"""Drawings as data for a browser: shapes as JSON, which ``static/scene.js`` draws as SVG and moves.

The board of a phase is sent as a few frames, lists of shapes. A script moves from one to the next by interpolating
numbers of shapes that correspond, so that it needs to know nothing of the game.
"""

import functools
import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from functools import cache
from itertools import chain
from typing import Any, cast
from xml.etree import ElementTree as ET

import numpy as np

from geo_patrol.base.board import sector_at
from geo_patrol.base.sides import SIDES, Side
from geo_patrol.config.presets import load_config
from geo_patrol.config.schema import BoardConfig, GameConfig
from geo_patrol.drawing.shapes import Box, Circle, Point, Polygon, Polyline, Shape, Text, Use
from geo_patrol.drawing.svg import elements, symbol_markup, symbol_name
from geo_patrol.game.game import Game
from geo_patrol.game.notation import Order, Outcome, Satellite, SatelliteId, read_orders, short_name
from geo_patrol.game.timeline import Snapshot, Timeline
from geo_patrol.play.advice import Hint
from geo_patrol.play.analysis import Analysis, Moment
from geo_patrol.play.lesson import PLAYER, GameLesson, LessonSession
from geo_patrol.play.order_entry import Option, OrderEntry, describe
from geo_patrol.play.playback import MOVING_FRACTION, phase_seconds
from geo_patrol.play.telling import ScoreChange, aim_tab, costs_tab, score_changes, score_sums, tabs_in_colors
from geo_patrol.scenes import theme
from geo_patrol.scenes.board import (
    board_shapes,
    earth_shapes,
    goal_shapes,
    highlight_shapes,
    occupied_sectors,
    unseen_sectors,
)
from geo_patrol.scenes.layout import Layout, make_layout
from geo_patrol.scenes.orders import cost_shapes, hint_shapes, pending_order_shapes, ring_shape
from geo_patrol.scenes.picture import fleet_size, moving_shapes
from geo_patrol.scenes.satellites import (
    Anchors,
    Motion,
    all_satellites,
    by_sector,
    full_fuel,
    satellite_anchors,
    styles_of,
    token_shape,
)
from geo_patrol.web.names import player_name
from geo_patrol.web.protocol import Screen

SIZE = 720
"""Side of the board's square, in pixels."""
_NARROW = 374
"""Width in pixels of a phone's board: for it, texts and satellites are drawn larger in the same square."""
_NARROW_TOKEN, _NARROW_MARGIN, _NARROW_EDGE = 36, 32, 12
FRAMES_PER_SECOND, BEAT_FRAMES_PER_SECOND = 6, 10
"""Frames between which a browser interpolates: few while satellites move or the board turns, where 6 are off by two pixels on the
innermost ring, more for the beats of an engagement, whose lines grow within a fraction of a second."""


class SceneEncoder:
    """Encodes the boards of games of one configuration; every shape and every symbol once.

    Args:
        config: configuration of the games.
        is_narrow: whether the board is shown on a phone.

    Attributes:
        shapes: the shapes that frames refer to by their index.
        symbols: markup of the symbols that shapes refer to by name.
        layout: layout of the board.
    """

    def __init__(self, config: GameConfig, *, is_narrow: bool = False) -> None:
        self.layout = _board_layout(config.board, fleet_size(config), is_narrow)
        self.shapes: list[tuple[Any, ...]] = []
        self.symbols: dict[str, str] = {}
        self._indices: dict[Shape, int] = {}
        self._rounded: dict[tuple[Any, ...], int] = {}

    def board(self, *, is_turning: bool = False) -> str:
        """Return what stays of the board as SVG markup."""
        return _board_markup(self.layout, is_turning)

    def sectors(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return the shapes of each sector with satellites by its number; they lie beneath all that moves."""
        return _sector_records(self.layout, occupied_sectors)

    def unseen_sectors(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return the shapes of each sector out of sight by its number: above those of satellites, and then its number."""
        return _sector_records(self.layout, unseen_sectors)

    def frames(self, snapshot: Snapshot) -> dict[str, Any]:
        """Return the phase that led to a snapshot as frames at equal distances in time.

        Returns:
            ``seconds``: its duration; ``frames``: indices of the shapes of each frame, the first at the start and the
            last at the end of the phase, a single one if nothing led there; ``views``: for each frame the left and top
            edge and the width of what is shown of the board, or None for all of it; ``turning``: indices of the first and the
            last frame in which the board turns, or None; ``occupied``: numbers of the sectors with satellites at the
            start and at the end; ``unseen``: of those that a side does not see.
        """
        motion = Motion(self.layout.geometry, snapshot)
        last = snapshot.last_phase
        seconds = phase_seconds(snapshot) * MOVING_FRACTION
        rate = BEAT_FRAMES_PER_SECOND if any(motion.beats) else FRAMES_PER_SECOND
        steps = round(seconds * rate) if last is not None else 0
        clocks = [motion.clock(i / steps if steps else 1.0) for i in range(steps + 1)]
        encoded = {clock: self.encode(moving_shapes(self.layout, motion, clock)) for clock in dict.fromkeys(clocks)}
        turning = [i for i, clock in enumerate(clocks) if clock.is_drifting]
        return {
            "seconds": round(seconds, 3),
            "frames": [encoded[clock] for clock in clocks],
            "views": [self._view(*motion.view(clock)) for clock in clocks] if any(motion.aims) else None,
            "turning": [turning[0], turning[-1]] if turning else None,
            "occupied": [sorted(by_sector(motion.key(0).satellites)), sorted(by_sector(all_satellites(snapshot.game)))],
            "unseen": [self._unseen(snapshot.game if last is None else last.before), self._unseen(snapshot.game)],
        }

    def _view(self, middle: Point, zoom: float) -> list[float]:
        width = SIZE / zoom
        return [*_flat([(middle[0] - width / 2, middle[1] - width / 2)]), _number(width)]

    def _unseen(self, game: Game) -> list[int]:
        """Return the sectors that a side does not see in a game as it knows it."""
        in_sight = game.sectors_in_sight
        return [] if in_sight is None else [one for one in map(int, self.sectors()) if one not in in_sight]

    def encode(self, shapes: Iterable[Shape]) -> list[int]:
        """Return the indices of shapes, which are added to ``shapes`` if they are new."""
        return [self._index(shape) for shape in shapes]

    def _index(self, shape: Shape) -> int:
        index = self._indices.get(shape)
        if index is None:
            index = self._indices[shape] = self._add(shape)
        return index

    def _add(self, shape: Shape) -> int:
        """Return the index of a shape that is new, or differs from one by less than the rounding of numbers."""
        if isinstance(shape, Use):
            self.symbols[symbol_name(shape.symbol)] = symbol_markup(shape.symbol)
        data = shape_data(shape)
        index = self._rounded.setdefault(data, len(self.shapes))
        if index == len(self.shapes):
            self.shapes.append(data)
        return index


@functools.lru_cache(maxsize=64)
def _board_layout(board: BoardConfig, fleet: int, is_narrow: bool) -> Layout:
    layout = make_layout(2 * SIZE, SIZE, board, fleet)
    if not is_narrow:
        return layout
    scale = SIZE / _NARROW
    geometry = replace(
        layout.geometry,
        radius=SIZE / 2 - _NARROW_MARGIN,
        max_token=_NARROW_TOKEN * scale,
        min_token=theme.MIN_TOKEN * scale,
    )
    words = layout.board.inflated(-2 * _NARROW_EDGE, 0)  # a browser's font may be wider than was assumed
    return replace(layout, board=words, scale=scale, geometry=geometry)


@functools.lru_cache(maxsize=64)
def _board_markup(layout: Layout, is_turning: bool) -> str:
    return markup(board_shapes(layout, is_turning))


@functools.lru_cache(maxsize=128)
def _sector_records(
    layout: Layout, looks_of: Callable[[Layout], dict[int, tuple[Shape, ...]]]
) -> dict[str, list[tuple[Any, ...]]]:
    return {str(sector): [shape_data(shape) for shape in shapes] for sector, shapes in looks_of(layout).items()}


def markup(shapes: Iterable[Shape]) -> str:
    """Return shapes as SVG elements."""
    return "".join(ET.tostring(element, encoding="unicode") for element in elements(shapes))


@functools.lru_cache(maxsize=16384)
def shape_data(shape: Shape) -> tuple[Any, ...]:
    """Return a shape as JSON: the first letter of its class, then its numbers and texts in their order.

    Kept, because the board, which turns in every phase, is the same in all games of its size.
    """
    match shape:
        case Polygon(points, fill, stroke, width, opacity):
            return ("P", *_paint(fill, stroke, width, opacity), *_flat(points))
        case Polyline(points, color, width, dashed):
            return ("L", color, _number(width), int(dashed), *_flat(points))
        case Circle(center, radius, fill, stroke, width, opacity):
            return ("C", *_paint(fill, stroke, width, opacity), *_flat([center]), _number(radius))
        case Box(left, top, width, height, fill, stroke, stroke_width, rounding):
            numbers = map(_number, (left, top, width, height, rounding))
            return ("B", *_paint(fill, stroke, stroke_width, 1.0), *numbers)
        case Text(position, text, size, color, anchor, rotation, bold):
            return ("T", text, color, anchor, int(bold), _number(size), *_flat([position]), _number(rotation))
        case Use(symbol, center, size, rotation):
            return ("U", symbol_name(symbol), *_flat([center]), _number(size), _number(rotation or 0.0))


def _paint(fill: str | None, stroke: str | None, width: float, opacity: float) -> list[Any]:
    return [fill, stroke, _number(width), round(opacity, 3)]


def _flat(points: Iterable[tuple[float, float]]) -> list[float]:
    rounded = [round(float(value), 1) for value in chain.from_iterable(points)]
    return [int(value) if value.is_integer() else value for value in rounded]


def _number(value: float) -> float:
    """Return a coordinate in tenths of a pixel, whole ones as integers, which are shorter."""
    rounded = round(float(value), 1)
    return int(rounded) if rounded.is_integer() else rounded


def game_record(timeline: Timeline, title: str, *, is_narrow: bool = False) -> dict[str, Any]:
    """Return a whole game: what ``board_record`` returns, ``symbols``, ``shapes`` and ``moments``.

    Args:
        timeline: the game.
        title: its title.
        is_narrow: whether the board is shown on a phone.
    """
    game = timeline[0]
    encoder = SceneEncoder(game.config, is_narrow=is_narrow)
    moments = [moment_record(timeline, i, encoder) for i in range(len(timeline))]
    return {
        "title": title,
        "preset": game.config.title,
        "names": list(map(player_name, timeline.names)),
        **board_record(timeline, encoder),
        "symbols": encoder.symbols,
        "shapes": encoder.shapes,
        "moments": moments,
    }


@cache
def resting_record() -> dict[str, Any]:
    """Return the board of the usual game at its start as a game without phases, for a page that waits for its first game.

    It is found without the engine, which has not been compiled then.
    """
    config = load_config("geo_patrol")
    encoder, ring = SceneEncoder(config), config.board.goal_ring
    geometry = encoder.layout.geometry
    satellites: list[Satellite] = []
    shapes: list[Shape] = []
    for side, azimuth in zip(SIDES, (0, 2**ring // 2), strict=True):
        hva, patrols = config.side(side).hva, config.side(side).patrols
        formation = cast("tuple[tuple[int, int], ...]", patrols.formation)
        offsets = [0, *(offset for offset, count in formation for _ in range(count))]
        for number, offset in enumerate(offsets):
            fuel, ammo = (patrols.fuel, patrols.ammo) if number else (hva.fuel, hva.ammo)
            sector = int(sector_at(ring, azimuth + offset))
            satellites.append(Satellite(SatelliteId(side, number), sector, cast("int", fuel), cast("int", ammo), False))
        shapes += goal_shapes(geometry, side, int(sector_at(ring, azimuth)), 0.0)
    shapes += earth_shapes(geometry.center, geometry.earth_radius, 0.0)
    styles = styles_of(satellites, {one.id: one.fuel for one in satellites}, {})
    tokens = [
        token_shape(styles[one], geometry.point(anchor.position), anchor.radius)
        for one, anchor in satellite_anchors(geometry, satellites).items()
    ]
    occupied = sorted(by_sector(satellites))
    moment = {"turn": 1, "phase": "movement", "outcomes": [], "engaged": False, "seconds": 0.0, "turning": None}
    frames = [encoder.encode([*shapes, *tokens])]
    return {
        "size": SIZE,
        "board": encoder.board(),
        "turning": "",
        "sectors": {name: drawn for name, drawn in encoder.sectors().items() if int(name) in occupied},
        "symbols": encoder.symbols,
        "shapes": encoder.shapes,
        "names": ["", ""],
        "moments": [moment | {"frames": frames, "occupied": [occupied, occupied], "unseen": [[], []]}],
    }


def scenario_record(config: GameConfig, *, is_narrow: bool = False) -> dict[str, Any]:
    """Return the start of a game of a configuration for the editor of scenarios.

    Args:
        config: the configuration; where values are sampled, they are those of the seed 0.
        is_narrow: whether the board is shown on a phone.

    Returns:
        ``record``, the start as ``game_record`` returns it; ``board``, the rings; ``places``, the shapes of the sectors of the
        goal ring, azimuth by azimuth; ``counted``, for each side whether its number of Patrols is set apart from its
        formation; ``supplies``, fuel and rounds of its Patrols, but for those of the ``single`` ones, whose keys are listed by
        number; ``prizes``, its points for each Patrol that the enemy loses; ``sensors``, how far each side sees, None where it sees everything or that is sampled; whether bravo is ``mirrored``, and
        whether values are ``sampled``.
    """
    game = Game(config, seed=0)
    rules = game.as_games().state.rules
    fleets = [config.side("alpha" if config.mirror else side).patrols for side in SIDES]
    return {
        "record": game_record(Timeline(game), config.title, is_narrow=is_narrow),
        "board": config.board.model_dump(),
        "places": _place_records(config.board, fleet_size(config), is_narrow),
        "counted": [config.side(side).patrols.count is not None for side in SIDES],
        "supplies": np.stack([rules[field][0, :, 1] for field in ("initial_fuel", "initial_ammo")], axis=1).tolist(),
        "single": [
            {number: [name for name, value in own if value is not None] for number, own in (fleet.single or {}).items()}
            for fleet in fleets
        ],
        "prizes": rules["patrol_points"][0].tolist(),
        "sensors": [
            seen if isinstance(seen, int) else None for seen in (config.alpha.sensor_range, config.bravo.sensor_range)
        ],
        "mirrored": config.mirror,
        "sampled": config.is_randomized,
    }


@functools.lru_cache(maxsize=64)
def _place_records(board: BoardConfig, fleet: int, is_narrow: bool) -> list[tuple[Any, ...]]:
    geometry = _board_layout(board, fleet, is_narrow).geometry
    sectors = (sector_at(board.goal_ring, azimuth) for azimuth in range(1 << board.goal_ring))
    return [shape_data(Polygon(geometry.outline(sector), theme.CHOICE)) for sector in sectors]


def board_record(timeline: Timeline, encoder: SceneEncoder) -> dict[str, Any]:
    """Return what stays the same in a game.

    Returns:
        ``size``; ``board`` and ``turning`` as markup; ``sectors`` as ``SceneEncoder.sectors`` returns them, and ``unseen`` as
        ``unseen_sectors`` does where enemies are hidden; ``rules`` in words; ``winScore`` of each side and ``turnLimit``.
    """
    game = timeline[0]
    return {
        "size": SIZE,
        "board": encoder.board(),
        "turning": encoder.board(is_turning=True),
        "sectors": encoder.sectors(),
        "unseen": encoder.unseen_sectors() if game.config.hides_enemies else {},
        "rules": tabs_in_colors(aim_tab(game), costs_tab(game)),
        "winScore": [game.config.side(side).points.win for side in SIDES],
        "turnLimit": game.config.turn_limit,
    }


def moment_record(timeline: Timeline, index: int, encoder: SceneEncoder) -> dict[str, Any]:
    """Return what a browser shows of a moment; its frames refer to the shapes of the encoder.

    ``changes`` are those of the scores in the last turn that was scored; ``sums``, at the end, those of the whole game.
    """
    snapshot, engagement = timeline.snapshot(index), timeline.last_engagement(index)
    game, last = snapshot.game, snapshot.last_phase
    result = snapshot.result
    return {
        "turn": game.turn,
        "phase": game.phase if result is None else "over",
        "winner": None if result is None else result.winner or "draw",
        "ends": [] if result is None else [{"reason": one.reason, "side": one.side} for one in result.reasons],
        "score": [game.scores[side] for side in SIDES],
        "goal": [game.goal_points[side] for side in SIDES],
        "goals": [game.goals[side] for side in SIDES],
        "fleets": [[_satellite(game, satellite) for satellite in game.satellites(side)] for side in SIDES],
        "orders": [[str(order) for order in orders] for orders in last.orders] if last is not None else [[], []],
        "outcomes": [_outcome(outcome) for outcome in snapshot.outcomes],
        "outcomesTurn": snapshot.outcomes_turn,
        "changes": [] if engagement is None else [_change(one) for one in score_changes(engagement)],
        "sums": [one._asdict() for one in score_sums(timeline)] if result is not None else [],
        "engaged": last is not None and bool(last.outcomes),
        **encoder.frames(snapshot),
    }


def _change(change: ScoreChange) -> dict[str, int]:
    """Return by how much a score changed, and its parts, in points; ``patrol_count`` Patrols were destroyed."""
    fields = ("total", "hva_destroyed", "patrols_destroyed", "patrol_count", "goal", "enemy_patrols", "fuel_spent")
    return {name: getattr(change, name) for name in fields}


def _name(satellite: SatelliteId) -> str:
    """Return the name of a satellite in outcomes and areas: "bravo:HVA"."""
    return f"{satellite.side}:{satellite.short}"


def _satellite(game: Game, satellite: Satellite) -> list[Any]:
    """Return name, sector, fuel, full tank, ammo and state of a satellite, and the turn it was last seen in, if not now."""
    state = "" if satellite.is_active else "destroyed" if satellite.destroyed else "no fuel"
    full = full_fuel(game, satellite.id.side, satellite.id.number)
    last_seen = game.out_of_sight.get(satellite.id)
    return [satellite.id.short, satellite.sector, satellite.fuel, full, satellite.ammo, state, last_seen]


def _outcome(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome: its fields, with satellites as in "alpha:P3", and its odds in percent."""
    return {
        "action": outcome.action,
        "attacker": None if outcome.attacker is None else _name(outcome.attacker),
        "guardian": None if outcome.guardian is None else _name(outcome.guardian),
        "target": _name(outcome.target),
        "odds": round(100 * outcome.probability),
        "success": outcome.success,
    }


_MIN_REACH = 16.0
"""Radius of the circle around a satellite that takes clicks, at least, in pixels."""


def choices_record(game: Game, side: Side, layout: Layout) -> dict[str, Any]:
    """Return what a person of a side may order now.

    Args:
        game: the position; it is not changed.
        side: who orders.
        layout: layout of the board, as in ``SceneEncoder.layout``.

    Returns:
        ``satellites``: those with a legal order, each with its options and the shapes that mark them; ``areas``: of
        satellites ("bravo:HVA") and of sectors ("13"), its sector, the shape that takes clicks and the shapes that
        light it up; ``symbols``: markup by name.
    """
    encoder = _ChoiceEncoder(game, side, layout)
    return {
        "side": side,
        "turn": game.turn,
        "phase": game.phase,
        "satellites": encoder.choices(),
        "areas": encoder.areas,
        "symbols": encoder.symbols,
    }


def hint_record(game: Game, side: Side, layout: Layout, hint: Hint) -> dict[str, Any]:
    """Return a hint for a side.

    Returns:
        ``orders``; ``percent`` of the ``games`` played out with them that it won; ``shapes`` and ``symbols`` that show it.
    """
    encoder = _ChoiceEncoder(game, side, layout)
    shapes = hint_shapes(layout, encoder.anchors, encoder.entry, hint.orders)
    return {
        "orders": [str(order) for order in hint.orders],
        "percent": round(100 * hint.win_probability),
        "games": hint.rollouts,
        "shapes": encoder.encode(shapes),
        "symbols": encoder.symbols,
    }


def analysis_record(timeline: Timeline, side: Side, analysis: Analysis, layout: Layout) -> dict[str, Any]:
    """Return what decided a game for a side.

    Args:
        timeline: the game.
        side: the side.
        analysis: the analysis of the game, as far as it has come.
        layout: layout of the board, as in ``SceneEncoder.layout``.

    Returns:
        ``done`` of ``total`` steps of the analysis; ``chances`` of the side in percent, by moment; ``moments``, each with its
        ``index``, the ``satellite``, the order ``given`` and the ``better`` one as options without areas, chances ``before``
        and ``after``, and the ``shapes`` and ``symbols`` of the better order; ``best``, the same of the best order that was
        given by the side that won (``given``: it holds), or None; ``luck``, the index of the moment that it led
        to and by how much it changed the chance, or None.
    """

    def record(moment: Moment) -> dict[str, Any]:
        game = timeline[moment.position]
        encoder = _ChoiceEncoder(game, side, layout)
        is_move = moment.better.action != "noop"
        shapes = hint_shapes(encoder.layout, encoder.anchors, encoder.entry, [moment.better] if is_move else [])
        return {
            "index": moment.position,
            "satellite": short_name(moment.given.satellite),
            "given": _order_record(game, side, moment.given),
            "better": _order_record(game, side, moment.better),
            "before": round(100 * moment.before),
            "after": round(100 * moment.after),
            "shapes": encoder.encode(shapes),
            "symbols": encoder.symbols,
        }

    luck = analysis.luck and {"index": analysis.luck[0], "change": round(100 * analysis.luck[1])}
    return {
        "done": analysis.done,
        "total": analysis.total,
        "chances": [round(100 * chance) for chance in analysis.chances],
        "moments": [record(moment) for moment in analysis.moments],
        "best": None if analysis.best is None else record(analysis.best),
        "luck": luck,
    }


def _order_record(game: Game, side: Side, order: Order) -> dict[str, Any]:
    """Return an order as pages put it into words."""
    if order.action == "noop":
        return {"action": "hold"}
    return _option_fields(describe(game, side, order))


def _option_fields(option: Option) -> dict[str, Any]:
    return {
        "action": option.order.action,
        "cost": option.cost,
        "odds": None if option.probability is None else round(100 * option.probability),
        "sector": option.sector,
        "target": None if option.target is None else option.target.short,
    }


class _ChoiceEncoder:
    def __init__(self, game: Game, side: Side, layout: Layout) -> None:
        self.layout = layout
        self.entry = OrderEntry(game, side)
        self.satellites: Sequence[Satellite] = all_satellites(game)
        self.sectors = {one.id: one.sector for one in self.satellites}
        self.anchors: Anchors = satellite_anchors(layout.geometry, self.satellites)
        self.areas: dict[str, dict[str, Any]] = {}
        self.symbols: dict[str, str] = {}

    def choices(self) -> list[dict[str, Any]]:
        """Return the choices of every satellite that has any."""
        own = [one for one in self.satellites if one.id.side == self.entry.side]
        return [self._choice(one) for one in own if self.entry.options(one.id.number)]

    def _choice(self, satellite: Satellite) -> dict[str, Any]:
        options = self.entry.options(satellite.id.number)
        free = ring_shape(self.layout, self.anchors[satellite.id], self.layout.stroke(1.4))
        return {
            "name": satellite.id.short,
            "area": self._satellite_area(satellite.id),
            "ring": self.encode([free]),
            "costs": self.encode(cost_shapes(self.layout, self.satellites, self.anchors, options)),
            "options": [self._option(satellite.id, option) for option in options],
        }

    def _option(self, actor: SatelliteId, option: Option) -> dict[str, Any]:
        color = theme.SIDES_BRIGHT[actor.side]
        return {
            "order": str(option.order),
            **_option_fields(option),
            "area": self._sector_area(option.sector) if option.target is None else self._satellite_area(option.target),
            "arrow": self.encode(pending_order_shapes(self.layout, self.anchors, actor, option, color)),
        }

    def _satellite_area(self, satellite: SatelliteId) -> str:
        anchor = self.anchors[satellite]
        center = self.layout.geometry.point(anchor.position)
        ring = ring_shape(self.layout, anchor, max(round(3 * self.layout.scale), 2))
        hit = Circle(center, max(anchor.radius, _MIN_REACH), theme.CHOICE)
        return self._area(_name(satellite), self.sectors[satellite], hit, [ring])

    def _sector_area(self, sector: int | None) -> str:
        assert sector is not None
        outline = self.layout.geometry.outline(sector)
        lit = highlight_shapes(self.layout.geometry, sector, theme.CHOICE, 40 / 255)
        return self._area(str(sector), sector, Polygon(outline, theme.CHOICE), lit)

    def _area(self, key: str, sector: int, hit: Shape, lit: Iterable[Shape]) -> str:
        self.areas[key] = {"sector": sector, "hit": shape_data(hit), "lit": self.encode(lit)}
        return key

    def encode(self, shapes: Iterable[Shape]) -> list[tuple[Any, ...]]:
        """Return shapes as data; their symbols are added to ``symbols``."""
        shapes = list(shapes)
        for shape in shapes:
            if isinstance(shape, Use):
                self.symbols[symbol_name(shape.symbol)] = symbol_markup(shape.symbol)
        return [shape_data(shape) for shape in shapes]


@cache
def num_steps() -> int:
    """Return the number of steps."""
    return len(GameLesson().steps)


@cache
def step_record(index: int, *, is_narrow: bool = False) -> dict[str, Any]:
    """Return a step as it begins.

    Args:
        index: index of the step, from 0.
        is_narrow: whether the board is shown on a phone.

    Returns:
        ``title`` of the lesson; ``steps``, their number; ``card``, what the player reads; ``selects``, whether a satellite is to be selected and
        not orders to be committed; ``points``, the satellite that it is about and its order, None where it is to be selected; ``record`` as ``game_record`` and ``choices`` as ``choices_record`` return them.
    """
    session = _begin(index)
    game, step = session.live.game, session.lesson.step
    order = next(iter(step.orders), None)
    return {
        "title": session.lesson.title,
        "steps": len(session.lesson.steps),
        "card": asdict(session.card),
        "selects": step.select is not None,
        "points": (step.select or str(order).split()[0], order),
        "record": game_record(session.live.timeline, session.lesson.title, is_narrow=is_narrow),
        "choices": choices_record(game, PLAYER, SceneEncoder(game.config, is_narrow=is_narrow).layout),
    }


def attempt_record(index: int, select: str | None, orders: Sequence[str], *, is_narrow: bool = False) -> dict[str, Any]:
    """Return what becomes of the player's attempt at a step.

    Args:
        index: index of the step, from 0.
        select: the name of the satellite that was selected; None if orders were committed.
        orders: the orders.
        is_narrow: whether the board is shown on a phone.

    Returns:
        ``done``, whether it is what the step requires; ``card``, what the player reads then; ``record``, the phases that
        were played, or None.

    Raises:
        OrderError: one of the orders is none.
    """
    session = _begin(index)
    entry = session.entry
    assert entry is not None
    if select is not None:
        own = session.live.game.satellites(PLAYER)
        entry.select(next((one.id.number for one in own if one.id.short == select), None))
        session.check_selection()
    else:
        entry.give_all(read_orders(orders))
        session.commit()
        while session.is_showing:
            session.end_showing()
    timeline = session.live.timeline
    return {
        "done": session.lesson.is_done,
        "card": asdict(session.card),
        "record": game_record(timeline, session.lesson.title, is_narrow=is_narrow) if len(timeline) > 1 else None,
    }


def _begin(index: int) -> LessonSession:
    lesson = GameLesson()
    lesson.go(index)
    return LessonSession(lesson)


class TableScenes:
    """Moments of a game in progress, each drawn when it is first asked for, and kept compressed as JSON.

    Args:
        timeline: timeline of the game.
        screen: what they are drawn on.
    """

    def __init__(self, timeline: Timeline, screen: Screen) -> None:
        self._timeline, self._screen = timeline, screen
        self._moments: dict[tuple[int, bool], bytes] = {}  # whether the game was over there
        self._names: dict[int, frozenset[str]] = {}
        self._choices: dict[Side, tuple[tuple[int, str], dict[str, Any]]] = {}

    @property
    def layout(self) -> Layout:
        """The layout of the board."""
        return self._encoder().layout

    def moment(self, index: int) -> dict[str, Any]:
        """Return a moment: with its shapes, the symbols that the one before lacks, and the board if it is the first."""
        key = self._key(index)
        if key in self._moments:
            kept: dict[str, Any] = json.loads(zlib.decompress(self._moments[key]))
            return kept
        scene = self._draw(index)
        text = json.dumps(scene, ensure_ascii=False, separators=(",", ":"))
        self._moments[key] = zlib.compress(text.encode(), 1)
        return scene

    def has_moment(self, index: int) -> bool:
        """Return whether a moment is drawn."""
        return self._key(index) in self._moments

    def _key(self, index: int) -> tuple[int, bool]:
        return index, self._timeline.is_complete and index == len(self._timeline) - 1

    def choices(self, game: Game, side: Side) -> dict[str, Any]:
        """Return what a side may order in a position, see ``choices_record``; kept for the last one of each side."""
        when, kept = (game.turn, game.phase), self._choices.get(side)
        if kept is None or kept[0] != when:
            kept = self._choices[side] = when, choices_record(game, side, self.layout)
        return kept[1]

    def has_choices(self, game: Game, side: Side) -> bool:
        """Return whether it is drawn what a side may order in a position."""
        kept = self._choices.get(side)
        return kept is not None and kept[0] == (game.turn, game.phase)

    def _draw(self, index: int) -> dict[str, Any]:
        encoder, moment = self._encode(index)
        known = self._symbol_names(index - 1) if index > 0 else frozenset()
        symbols = {name: markup for name, markup in encoder.symbols.items() if name not in known}
        scene = {"moment": moment, "shapes": encoder.shapes, "symbols": symbols}
        if index == 0:
            scene |= board_record(self._timeline, encoder)
        return scene

    def _encoder(self) -> SceneEncoder:
        return SceneEncoder(self._timeline[0].config, is_narrow=self._screen == "narrow")

    def _encode(self, index: int) -> tuple[SceneEncoder, dict[str, Any]]:
        encoder = self._encoder()
        moment = moment_record(self._timeline, index, encoder)
        self._names[index] = frozenset(encoder.symbols)
        return encoder, moment

    def _symbol_names(self, index: int) -> frozenset[str]:
        if index not in self._names:
            self._encode(index)
        return self._names[index]
