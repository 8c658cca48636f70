"""Satellites as they are drawn, alpha's as discs and bravo's as rounded squares, and how they move through a phase."""

import functools
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from geo_patrol.base.board import azimuth_of, retrograde, ring_of
from geo_patrol.base.sides import SIDES, Side
from geo_patrol.config.toml_files import largest
from geo_patrol.drawing.shapes import Box, Circle, Color, PlainShape, Point, Symbol, Text, Use, between
from geo_patrol.game.game import Game, Phase
from geo_patrol.game.notation import Outcome, Satellite, SatelliteId
from geo_patrol.game.timeline import Snapshot
from geo_patrol.play.playback import DRIFT_SECONDS, MOVING_FRACTION, SETTLING_SECONDS, beat_seconds
from geo_patrol.play.telling import beats, destroyed, intercepted_attacks, is_decisive
from geo_patrol.scenes import theme
from geo_patrol.scenes.layout import BoardGeometry, Polar, middle_angle, sector_angle

FUEL_STEPS = 16
"""Number of different lengths of the fuel bar."""
_MAX_PIPS = 4
_MAX_ROWS = 6
_PRECISION = 0.02
"""Pixels to which the largest radius of satellites that fit into a sector is found."""
_LARGE = 0.85
"""The part of the largest diameter from which satellites are large enough."""
_EDGE = 4.0
"""Pixels between a satellite and the edge of its sector, at least, where the sector is wide."""


@dataclass(frozen=True)
class Anchor:
    """Where a satellite is drawn: a polar position, and its radius in pixels. Satellites of a stack share theirs."""

    position: Polar
    radius: float


Anchors: TypeAlias = dict[SatelliteId, Anchor]


@functools.lru_cache(maxsize=4096)
def sector_anchors(geometry: BoardGeometry, ring: int, count: int) -> tuple[Anchor, ...]:
    """Return the anchors of a number of satellites in a sector of a ring, with angles from the sector's middle.

    They form rows along the ring, the outermost row first, against the direction of flight, and have the largest
    diameter with which they do not touch. Rows stay spread over the ring where dense ones would not help much.
    """
    spread, dense = (_largest(geometry, ring, count, is_dense) for is_dense in (False, True))
    is_large = 2 * spread[0].radius >= _LARGE * geometry.max_token
    return spread if is_large or spread[0].radius >= dense[0].radius else dense


def _largest(geometry: BoardGeometry, ring: int, count: int, is_dense: bool) -> tuple[Anchor, ...]:
    """Return the anchors with the largest radius, which is found by bisection."""
    low, radius = 0.0, geometry.max_token / 2
    high, fitting = radius, None
    while fitting is None or high - low > _PRECISION:
        positions = _arrange(geometry, ring, radius, count, is_dense)
        if positions is None:
            high = radius
        else:
            low, fitting = radius, positions
        radius = (low + high) / 2
    return tuple(Anchor(position, low) for position in fitting)


def _arrange(geometry: BoardGeometry, ring: int, radius: float, count: int, is_dense: bool) -> list[Polar] | None:
    """Return positions for satellites of a radius, in rows spread over the ring or dense at its outer edge.

    None if they do not fit.
    """
    inner, outer, angle = geometry.inner_edge(ring), geometry.outer_edge(ring), sector_angle(ring)
    pitch = 2 * radius * theme.TOKEN_SPACING
    margin = radius + min(_EDGE, 0.25 * radius)
    depth = outer - inner - 2 * margin
    if depth < 0:
        return None
    middle = (inner + outer) / 2
    for rows in range(1, min(_MAX_ROWS, 1 + math.floor(depth / pitch)) + 1):
        step = pitch if is_dense else max(depth / rows, pitch)
        top = outer - margin if is_dense else middle + (rows - 1) / 2 * step
        distances = [top - row * step for row in range(rows)]
        if distances[-1] < inner + margin - 1e-9:
            continue
        capacities = [_capacity(distance, angle, pitch, margin) for distance in distances]
        if sum(capacities) >= count and min(capacities) > 0:
            return _distribute(distances, capacities, (angle, pitch, margin), count)
    return None


def _capacity(distance: float, angle: float, pitch: float, margin: float) -> int:
    if distance <= max(pitch, margin):
        return 0
    usable = angle - 2 * math.asin(margin / distance)
    return 0 if usable < 0 else 1 + math.floor(usable / (2 * math.asin(pitch / 2 / distance)) + 1e-9)


def _distribute(
    distances: list[float], capacities: list[int], extent: tuple[float, float, float], count: int
) -> list[Polar]:
    """Distribute satellites over rows in proportion to the rows' capacities, with some air between them."""
    angle, pitch, margin = extent
    positions: list[Polar] = []
    remaining = sum(capacities)
    for distance, capacity in zip(distances, capacities, strict=True):
        here = min(capacity, math.ceil((count - len(positions)) * capacity / remaining))
        remaining -= capacity
        usable = angle - 2 * math.asin(margin / distance)
        step = 2 * math.asin(pitch / 2 / distance)
        step = min(1.25 * step, usable / (here - 1)) if here > 1 else step
        positions += [(distance, ((here - 1) / 2 - i) * step) for i in range(here)]
    return positions


def all_satellites(game: Game) -> tuple[Satellite, ...]:
    """Return the satellites of both sides, alpha's first."""
    return tuple(satellite for side in SIDES for satellite in game.satellites(side))


def satellite_anchors(geometry: BoardGeometry, satellites: Iterable[Satellite]) -> Anchors:
    """Return the anchor of every satellite that is not destroyed."""
    anchors: Anchors = {}
    for sector, here in by_sector(satellites).items():
        middle, ring = middle_angle(sector), int(ring_of(sector))
        groups = [[satellite.id] for satellite in here]
        if 2 * sector_anchors(geometry, ring, len(groups))[0].radius < geometry.min_token:
            groups = _stacks(here)
        for group, anchor in zip(groups, sector_anchors(geometry, ring, len(groups)), strict=True):
            distance, angle = anchor.position
            anchors.update(dict.fromkeys(group, Anchor((distance, middle + angle), anchor.radius)))
    return anchors


def at_one_place(anchors: Anchors) -> Iterable[tuple[Anchor, list[SatelliteId]]]:
    """Return the places where satellites are drawn, with those that are there: more than one are a stack."""
    places: dict[Anchor, list[SatelliteId]] = {}
    for satellite, anchor in anchors.items():
        places.setdefault(anchor, []).append(satellite)
    return places.items()


def _stacks(satellites: list[Satellite]) -> list[list[SatelliteId]]:
    """Return the satellites of a sector as stacks: a side's Patrols in one, HVAs alone."""
    stacks: dict[tuple[Side, bool], list[SatelliteId]] = {}
    for satellite in satellites:
        stacks.setdefault((satellite.id.side, satellite.id.number > 0), []).append(satellite.id)
    return list(stacks.values())


def by_sector(satellites: Iterable[Satellite]) -> dict[int, list[Satellite]]:
    """Return the satellites of each sector that are not destroyed: alpha's before bravo's, HVAs first."""
    sectors: dict[int, list[Satellite]] = {}
    for satellite in sorted(satellites, key=lambda one: (one.id.side, one.id.number)):
        if not satellite.destroyed:
            sectors.setdefault(satellite.sector, []).append(satellite)
    return sectors


@dataclass(frozen=True)
class TokenStyle:
    """All that decides how a satellite looks.

    Attributes:
        side: its side.
        number: 0 for the HVA.
        fuel: the rest of its initial fuel, in steps of ``FUEL_STEPS``; None draws no bar.
        ammo: rounds left.
        state: "active", "empty" (no fuel) or "destroyed".
        is_seen: whether it is in sight of whoever looks; otherwise only its outline is drawn, where it may be.
    """

    side: Side
    number: int
    fuel: int | None = None
    ammo: int = 0
    state: str = "active"
    is_seen: bool = True


def full_fuel(game: Game, side: Side, number: int) -> int:
    """Return the most fuel that a satellite may have started with."""
    config = game.config
    fleet = config.side("alpha" if config.mirror else side)
    return int(largest(fleet.hva.fuel if number == 0 else fleet.patrols.fuel_of(number)))


def style_of(satellite: Satellite, full: int, *, is_seen: bool = True) -> TokenStyle:
    """Return how a satellite looks whose tank holds so much fuel."""
    state = "active" if satellite.is_active else "destroyed" if satellite.destroyed else "empty"
    steps = min(math.ceil(FUEL_STEPS * satellite.fuel / max(full, 1)), FUEL_STEPS)  # of the bar
    return TokenStyle(satellite.id.side, satellite.id.number, steps, satellite.ammo, state, is_seen)


def token_shape(style: TokenStyle, center: Point, radius: float) -> Use:
    """Draw a satellite; ``radius`` is that of its outer edge, in pixels."""
    return symbol_shape(token_symbol(style), center, radius)


def symbol_shape(symbol: Symbol, center: Point, radius: float) -> Use:
    """Draw the symbol of a satellite or a stack; ``radius`` is that of its outer edge, in pixels."""
    return Use(symbol, center, 2 * max(round(radius), 2))


def place_symbol(here: Sequence[SatelliteId], styles: Mapping[SatelliteId, TokenStyle]) -> Symbol:
    """Return what is drawn for the satellites at one place: one alone, or a stack, perhaps with some not in sight."""
    if len(here) == 1:
        return token_symbol(styles[here[0]])
    return stack_symbol(here[0].side, len(here), all(styles[one].is_seen for one in here))


@functools.lru_cache(maxsize=4096)
def token_symbol(style: TokenStyle) -> Symbol:
    """Return a satellite: an HVA has a double edge, a bar shows its fuel, a dot each round of ammunition."""
    return Symbol(tuple(_token(style)), theme.OUTLINE)


def token_label(number: int) -> str:
    """Return what stands on a satellite: H on an HVA, its number on a Patrol."""
    return "H" if number == 0 else str(number)


@functools.cache
def stack_symbol(side: Side, count: int, are_seen: bool = True) -> Symbol:
    """Return a stack of satellites."""
    shapes: list[PlainShape] = []
    for shift in (0.16, 0.02, -0.12):
        center = shift, -shift
        shapes += [_body(side, 0.84, theme.OUTLINE, center), _body(side, 0.75, theme.SIDES[side], center)]
    label = f"\u00d7{count}" if are_seen else f"{count}?"
    shapes.append(Text((-0.12, 0.15), label, 0.84, theme.INK[side], "center", bold=True))
    return Symbol(tuple(shapes), theme.OUTLINE)


def _body(side: Side, radius: float, color: Color, center: Point = (0.0, 0.0)) -> PlainShape:
    """Return the shape of a side's satellites: alpha's are discs, bravo's rounded squares."""
    if side == "alpha":
        return Circle(center, radius, color)
    half = 0.9 * radius
    return Box(center[0] - half, center[1] - half, 2 * half, 2 * half, color, rounding=0.34 * radius)


def _token(style: TokenStyle) -> Iterator[PlainShape]:
    side, is_active = style.side, style.state == "active"
    if not style.is_seen:
        yield from _outline(side, style.number)
        return
    fill = {"active": theme.SIDES, "destroyed": theme.SIDES_LOST}.get(style.state, {}).get(side, theme.INACTIVE)
    ink = {"active": theme.INK[side], "destroyed": theme.LOST_INK}.get(style.state, theme.INACTIVE_INK)
    edges = ((1.0, theme.OUTLINE), (0.95, theme.RIM), (0.8, theme.OUTLINE), (0.7, fill))
    for radius, color in edges if style.number == 0 else ((1.0, theme.OUTLINE), (0.9, fill)):
        yield _body(side, radius, color)
    label = token_label(style.number)
    fuel = style.fuel if is_active else None
    size = (0.9 if style.number == 0 else 1.06) * (1 if len(label) == 1 else 0.86)
    yield Text((0, 0.02 if fuel is None else -0.17), label, size, ink, "center", bold=True)
    if fuel is not None:
        half = 0.46 if style.number == 0 else 0.54
        yield Box(-half, 0.36, 2 * half, 0.2, theme.BURNT[side])
        yield Box(-half, 0.36, 2 * half * fuel / FUEL_STEPS, 0.2, ink)
    pips = min(style.ammo, _MAX_PIPS) if is_active else 0
    for i in range(pips):
        angle = math.radians(45 - 30 * (i - (pips - 1) / 2))
        center = 0.8 * math.cos(angle), -0.8 * math.sin(angle)
        yield Circle(center, 0.2, theme.OUTLINE)
        yield Circle(center, 0.14, theme.RIM)


def _outline(side: Side, number: int) -> Iterator[PlainShape]:
    """Return a satellite out of sight: an edge in its side's color, and its number with a question mark."""
    for radius, color in ((1.0, theme.OUTLINE), (0.9, theme.SIDES[side]), (0.76, theme.SIDES_DARK[side])):
        yield _body(side, radius, color)
    label = "H?" if number == 0 else f"{number}?"
    size = 0.86 if len(label) == 2 else 0.7
    yield Text((0, 0.02), label, size, theme.SIDES_BRIGHT[side], "center", bold=True)


class Clock(NamedTuple):
    """A time within a phase.

    Attributes:
        beat: index of the beat that is played; the number of beats when all have been.
        growth: how far the marks of the beat have grown, from 0 to 1.
        movement: progress of the moves that the beat makes, from 0 to 1.
        roll: how long the beat has been undecided, from 0 to 1: its results show from then on.
        settling: progress of the survivors of an engagement to their places, from 0 to 1.
        drift: progress of the drift, from 0 to 1.
    """

    beat: int
    growth: float = 0.0
    movement: float = 0.0
    roll: float = 0.0
    settling: float = 0.0
    drift: float = 0.0

    @property
    def key(self) -> int:
        """Number of beats whose results show."""
        return self.beat + (self.roll >= 1)

    @property
    def is_drifting(self) -> bool:
        """Whether the board is turning."""
        return 0 < self.drift < 1


_MARKED, _DECIDED = 0.2, 0.6
"""The parts of a beat after which its lines have grown, and after which it is decided."""
_ZOOM = 1.7
"""How many times larger the board is while an HVA is attacked."""


class Arrangement(NamedTuple):
    """The satellites of a position, alpha's first.

    Attributes:
        satellites: satellites of both sides.
        styles: how they look.
        anchors: where they are drawn, wrecks of the engagement in progress included.
        out_of_sight: those that are not seen, each with the turn it was last seen in.
    """

    satellites: Sequence[Satellite]
    styles: Mapping[SatelliteId, TokenStyle]
    anchors: Anchors
    out_of_sight: Mapping[SatelliteId, int]


def styles_of(
    satellites: Sequence[Satellite], full: Mapping[SatelliteId, int], out_of_sight: Mapping[SatelliteId, int]
) -> dict[SatelliteId, TokenStyle]:
    """Return how satellites look whose tanks hold so much fuel."""
    return {one.id: style_of(one, full[one.id], is_seen=one.id not in out_of_sight) for one in satellites}


def arrange(geometry: BoardGeometry, game: Game) -> Arrangement:
    """Return the satellites of a game at rest."""
    satellites, out_of_sight = all_satellites(game), game.out_of_sight
    styles = styles_of(satellites, tanks(game), out_of_sight)
    return Arrangement(satellites, styles, satellite_anchors(geometry, satellites), out_of_sight)


def tanks(game: Game) -> dict[SatelliteId, int]:
    """Return the most fuel that each satellite may have started with."""
    return {one.id: full_fuel(game, one.id.side, one.id.number) for one in all_satellites(game)}


class Motion:
    """The motion from the position before a snapshot to its own: beat by beat, then the drift.

    During an engagement satellites keep their places but for those that step in the way of an attack or collide.

    Args:
        geometry: geometry of the board.
        snapshot: the snapshot.

    Attributes:
        snapshot: whose position is at the end.
        beats: what is played back, in this order; movement is a single beat without outcomes.
        aims: for each beat the HVA that it attacks, or None.
        has_drifted: whether the phase ended with a drift.
    """

    def __init__(self, geometry: BoardGeometry, snapshot: Snapshot) -> None:
        phase, game = snapshot.last_phase, snapshot.game
        self.snapshot, self._geometry = snapshot, geometry
        self.has_drifted = phase is not None and phase.before.goals != game.goals
        self.beats: tuple[tuple[Outcome, ...], ...] = ()
        outcomes = () if phase is None else phase.outcomes
        if phase is not None:
            self.beats = ((),) if phase.name == "movement" else beats(outcomes)
        self._lengths, intercepted = beat_seconds(outcomes), intercepted_attacks(outcomes)
        self.aims = tuple(
            next((intercepted.get(one.actor, one.target) for one in beat if is_decisive(one, intercepted)), None)
            for beat in self.beats
        )
        self._end, self._tanks = all_satellites(game), tanks(game)
        self._positions = tuple(self._play(phase))
        self._settled = satellite_anchors(geometry, self._positions[-1])
        is_still = phase is None or phase.name == "movement"
        self._places = (
            tuple(satellite_anchors(geometry, one) for one in self._positions) if is_still else tuple(self._stage())
        )
        self._keys: dict[int, Arrangement] = {}
        moves = () if phase is None else phase.orders
        self._directions = {
            SatelliteId(side, order.satellite): {"prograde": 1, "retrograde": -1}.get(order.action, 0)
            for side, orders in zip(SIDES, moves, strict=False)
            for order in orders
        }

    def key(self, beat: int) -> Arrangement:
        """Return the satellites before a beat, or after the last one, as they are before the drift."""
        if beat not in self._keys:
            self._keys[beat] = self._arrangement(beat)
        return self._keys[beat]

    def _arrangement(self, beat: int) -> Arrangement:
        game, phase = self.snapshot.game, self.snapshot.last_phase
        # Until a phase is over, what was in sight before it or is so after it.
        out_of_sight = game.out_of_sight
        if phase is not None and beat < len(self.beats):
            before = phase.before.out_of_sight
            out_of_sight = {one: turn for one, turn in before.items() if one in out_of_sight}
        satellites = self._positions[beat]
        styles = styles_of(satellites, self._tanks, out_of_sight)
        return Arrangement(satellites, styles, self._places[beat], out_of_sight)

    def satellites(self, beat: int, *, has_drifted: bool) -> Sequence[Satellite]:
        """Return the satellites before a beat, or after the last one and perhaps the drift."""
        is_end = has_drifted and beat == len(self.beats)
        return self._end if is_end else self._positions[beat]

    def _play(self, phase: Phase | None) -> Iterator[tuple[Satellite, ...]]:
        """Yield the satellites before each beat, and after the last one; shots destroy when all of them have been shown."""
        end = self._end
        if self.has_drifted:
            end = tuple(replace(one, sector=int(retrograde(one.sector))) for one in end)
        if phase is not None and self.beats:
            now = all_satellites(phase.before)
            yield now
            volley: tuple[Outcome, ...] = ()
            for beat, following in itertools.pairwise(self.beats):
                volley += beat
                if not (beat[0].action == following[0].action == "shoot"):
                    now, volley = _after(now, volley, end), ()
                yield now
        yield end

    def _stage(self) -> Iterator[Anchors]:
        """Yield where satellites are before each beat of an engagement, and after the last one."""
        now, guards = satellite_anchors(self._geometry, self._positions[0]), Counter[SatelliteId]()
        yield now
        for beat in self.beats:
            before, now = now, dict(now)
            for one in beat:
                if one.action == "shoot" or one.attacker is None or now[one.actor] != before[one.actor]:
                    continue
                own, target, attacker = now[one.actor], now[one.target], now[one.attacker]
                if one.action == "collide":
                    gap = 0.6 * target.radius if one.success else own.radius + target.radius
                    now[one.actor] = self._beside(target, own, own.radius, gap)
                elif one.success:
                    gap = target.radius + own.radius * (1 + 2 * guards[one.target])  # beside other guards
                    guards[one.target] += 1
                    now[one.actor] = self._beside(target, attacker, own.radius, gap)
            yield now

    def _beside(self, target: Anchor, other: Anchor, radius: float, gap: float) -> Anchor:
        """Return a place for a satellite of a radius, at a distance from a target on the way to another one."""
        start, end = self._geometry.point(target.position), self._geometry.point(other.position)
        place = between(start, end, min(gap / (math.dist(start, end) or gap), 0.85))
        return Anchor(self._geometry.polar(place), radius)

    def clock(self, progress: float) -> Clock:
        """Return the time after a fraction of the phase, which is clamped to [0, 1]."""
        progress, count = min(max(progress, 0.0), 1.0), len(self.beats)
        phase = self.snapshot.last_phase
        if phase is None or (progress == 1 and not self.has_drifted):
            return Clock(count, settling=1.0, drift=1.0)
        if phase.name == "movement":
            movement = _smooth_step(progress)
            return Clock(0, movement=movement, roll=float(movement >= 0.5), drift=1.0)
        lengths, settling = self._lengths, SETTLING_SECONDS * (count > 0)
        drifting = DRIFT_SECONDS * MOVING_FRACTION * self.has_drifted
        seconds = progress * (sum(lengths) + settling + drifting)
        for beat, length in enumerate(lengths):
            if seconds < length:
                part = seconds / length
                roll = min(max((part - _MARKED) / (_DECIDED - _MARKED), 0.0), 1.0)
                return Clock(beat, min(part / _MARKED, 1.0), _smooth_step(roll), roll)
            seconds -= length
        if seconds < settling:
            return Clock(count, settling=_smooth_step(seconds / settling))
        return Clock(count, settling=1.0, drift=_smooth_step((seconds - settling) / drifting if drifting else 1.0))

    def anchors(self, clock: Clock) -> Anchors:
        """Return where the satellites are that are shown; angles may be beyond a full turn."""
        if clock.beat < len(self.beats):
            return self._between(self._places[clock.beat], self._places[clock.beat + 1], clock.movement)
        if clock.settling < 1:
            return self._between(self._places[-1], self._settled, clock.settling)
        if not self.has_drifted or not clock.drift:
            return self._settled
        angles = {one.id: sector_angle(one.ring) * clock.drift for one in self._positions[-1]}
        return {
            satellite: Anchor((anchor.position[0], anchor.position[1] + angles[satellite]), anchor.radius)
            for satellite, anchor in self._settled.items()
        }

    def _between(self, start: Anchors, end: Anchors, fraction: float) -> Anchors:
        """Return anchors between two; what is not among the later ones fades."""
        anchors: Anchors = {}
        for satellite, before in start.items():
            after = end.get(satellite)
            if after is None:
                anchors[satellite] = replace(before, radius=before.radius * (1 - fraction))
                continue
            if after == before or not fraction:
                anchors[satellite] = before
                continue
            (distance, angle), radius = before.position, before.radius
            turn = _directed(after.position[1] - angle, self._directions.get(satellite, 0))
            position = _lerp(distance, after.position[0], fraction), angle + turn * fraction
            anchors[satellite] = Anchor(position, _lerp(radius, after.radius, fraction))
        return anchors

    def view(self, clock: Clock) -> tuple[Point, float]:
        """Return the middle of what is shown of the board, and how many times larger: the HVA that is attacked, closer."""
        if not any(self.aims):
            return self._geometry.center, 1.0
        is_over = clock.beat == len(self.beats)
        aims = (None, *self.aims, None)
        start, end = (self._close_up(aim) for aim in aims[clock.beat : clock.beat + 2])
        fraction = clock.settling if is_over else _smooth_step(clock.growth)
        return between(start[0], end[0], fraction), _lerp(start[1], end[1], fraction)

    def _close_up(self, aim: SatelliteId | None) -> tuple[Point, float]:
        """Return the view of an HVA, as near to the middle of the picture as the board's edge allows."""
        center, radius = self._geometry.center, self._geometry.radius
        if aim is None:
            return center, 1.0
        reach = radius - radius / _ZOOM
        x, y = (
            min(max(value, middle - reach), middle + reach)
            for value, middle in zip(self._geometry.point(self._places[0][aim].position), center, strict=True)
        )
        return (x, y), _ZOOM

    def goal(self, side: Side, clock: Clock) -> tuple[int, float]:
        """Return a goal sector, and how many sectors it is turned from there."""
        return self.snapshot.game.goals[side], clock.drift - 1 if self.has_drifted else 0.0

    def earth_rotation(self, clock: Clock) -> float:
        """Return the Earth's rotation in radians: it turns with the goal sectors."""
        goal, turned = self.goal("alpha", clock)
        return (int(azimuth_of(goal)) + turned) * sector_angle(int(ring_of(goal)))


def _after(
    before: tuple[Satellite, ...], beat: tuple[Outcome, ...], end: tuple[Satellite, ...]
) -> tuple[Satellite, ...]:
    """Return the satellites after a beat: guards have moved to their HVA, attackers to what they collided with.

    Those that survive the engagement have paid for it from then on.
    """
    sectors = {one.id: one.sector for one in before}
    lost = destroyed(beat)
    moved = {one.actor: sectors[one.target] for one in beat if one.action != "shoot"}
    return tuple(
        replace(
            one if last.destroyed else last,
            sector=moved.get(one.id, one.sector),
            destroyed=one.destroyed or one.id in lost,
            fuel=0 if one.id in lost else one.fuel if last.destroyed else last.fuel,
        )
        for one, last in zip(before, end, strict=True)
    )


def _directed(change: float, direction: int) -> float:
    """Return the shortest angle that makes a change, or the one in the ordered direction if it is half a turn."""
    angle = (change + math.pi) % math.tau - math.pi
    if direction and angle * direction < 0 and abs(angle) > math.pi / 2:  # half a turn, on ring 1
        angle += direction * math.tau
    return angle


def _lerp(start: float, end: float, fraction: float) -> float:
    return start + (end - start) * fraction


def _smooth_step(x: float) -> float:
    """Return the smoothstep polynomial 3x^2 - 2x^3 of x clamped to [0, 1]."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3 - 2 * x)
