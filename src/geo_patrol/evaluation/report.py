"""Reports of recorded games: what is counted, its charts and maps, and the page that shows them."""

import base64
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.registry import describe_agent
from geo_patrol.base.board import azimuth_of, ring_of, sector_at
from geo_patrol.base.errors import RecordingError, optional_import
from geo_patrol.base.sides import SIDES
from geo_patrol.base.versions import __version__
from geo_patrol.config.schema import BoardConfig
from geo_patrol.drawing.shapes import Polygon, Shape, Text
from geo_patrol.drawing.sheet import INK, PAPER
from geo_patrol.drawing.svg import elements
from geo_patrol.evaluation.figures import GREY, SIZE, figure_svg, new_figure, style_axes
from geo_patrol.evaluation.statistics import Rate, clustered_interval
from geo_patrol.game.game import Game, Phase
from geo_patrol.replays.files import ReplayReader
from geo_patrol.replays.replay import Replay
from geo_patrol.replays.summaries import GameSummary, summarise
from geo_patrol.scenes import paper
from geo_patrol.scenes.layout import middle_angle

if TYPE_CHECKING:
    from jinja2 import Template
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

__all__ = ["report_page"]

_STATIC = Path(__file__).parent / "static"
MAX_GAMES = 100_000
MAX_LISTED = 200
"""Rows of the table of games."""
MAX_FAULTS = 20
MAX_SNAPSHOTS = 6
"""Positions shown of a game."""
_CURVE_TURNS = 200
"""Score curves and losses are drawn up to this turn."""


@dataclass
class AgentResults:
    """Results of an agent, on one side or on both.

    Attributes:
        margin: sum of score differences.
        by_seed: number of games and of wins by seed; games without a seed have negative numbers of their own.
    """

    games: int = 0
    wins: int = 0
    draws: int = 0
    margin: int = 0
    by_seed: dict[int, tuple[int, int]] = field(default_factory=dict)

    def add(self, seed: int | None, *, is_win: bool, is_draw: bool, margin: int) -> None:
        """Count a game."""
        self.games += 1
        self.wins += is_win
        self.draws += is_draw
        self.margin += margin
        key = -self.games if seed is None else seed
        games, wins = self.by_seed.get(key, (0, 0))
        self.by_seed[key] = games + 1, wins + is_win

    @property
    def won(self) -> Rate:
        """The win rate with its 95% interval, from the variance between seeds."""
        return clustered_interval(Counter(self.by_seed.values()))

    @property
    def losses(self) -> int:
        """Games that the other side won."""
        return self.games - self.wins - self.draws


@dataclass
class BoardHeat:
    """Where satellites were and were lost, on boards of one shape, by sector relative to alpha's goal sector."""

    presence: dict[str, Counter[int]] = field(default_factory=lambda: {side: Counter() for side in SIDES})
    """By side: counts of active Patrols at the start of each turn."""
    losses: Counter[int] = field(default_factory=Counter)
    games: int = 0


@dataclass(frozen=True)
class KeyPosition:
    """A position of the report."""

    game: Game
    occasion: str
    outcomes: tuple[str, ...]


@dataclass
class ListedGame:
    """A row of the table of games."""

    number: int
    summary: GameSummary
    snapshots: list[KeyPosition]


@dataclass
class Collected:
    """The content of a report, to which games are added.

    Attributes:
        positions: number of games of which positions are shown.
        titles: number of games by title of the configuration.
        games: number of games that follow the rules; only these are counted below.
        unfinished: number of games without an end; they have no result.
        agent_results: by agent and side ("alpha", "bravo", "either").
        reasons: number of games by reason of their end; several may hold at once.
        turns: histogram of the lengths of finished games.
        curves: by side, for each turn a list of the games' scores after it.
        losses: by (turn, side, whether it is the HVA).
        causes: by (side, cause).
        engagements: by (side, action): tries and successes.
        heat: by board.
        listed: the first games.
        faults: the first messages about games that do not follow the rules, and damaged files.
        fault_count: number of all such messages.
        cut_off: whether there were more games than ``MAX_GAMES``.
    """

    positions: int
    titles: Counter[str] = field(default_factory=Counter)
    games: int = 0
    unfinished: int = 0
    agent_results: dict[tuple[str, str], AgentResults] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    turns: Counter[int] = field(default_factory=Counter)
    curves: dict[str, defaultdict[int, list[int]]] = field(
        default_factory=lambda: {side: defaultdict(list) for side in SIDES}
    )
    losses: Counter[tuple[int, str, bool]] = field(default_factory=Counter)
    causes: Counter[tuple[str, str]] = field(default_factory=Counter)
    engagements: dict[tuple[str, str], NDArray[np.int64]] = field(default_factory=dict)
    heat: dict[tuple[int, int, int], BoardHeat] = field(default_factory=dict)
    listed: list[ListedGame] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    fault_count: int = 0
    cut_off: bool = False

    def add_fault(self, fault: str) -> None:
        """Count a fault, and list it if there are not too many."""
        self.fault_count += 1
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(fault)

    def add(self, replay: Replay, source: str) -> None:
        """Add a game of a file."""
        observer = _Observer(keeps_snapshots=len(self.listed) < self.positions)
        summary = summarise(replay, observer.observe)
        if summary.status == "disagrees":
            self.add_fault(f"{source}: {summary.fault}")
            return
        self._count(summary)
        board = replay.config.board
        heat = self.heat.setdefault((board.inner_ring, board.outer_ring, board.goal_ring), BoardHeat())
        heat.games += 1
        heat.losses += observer.lost_at
        for side in SIDES:
            heat.presence[side] += observer.presence[side]
        if len(self.listed) < MAX_LISTED:
            self.listed.append(ListedGame(len(self.listed) + 1, summary, observer.snapshots))

    def _count(self, summary: GameSummary) -> None:
        self.games += 1
        self.titles[summary.replay.config.title] += 1
        if summary.status == "finished":
            self._count_result(summary)
        else:
            self.unfinished += 1
        for side, curve in zip(SIDES, zip(*summary.curve, strict=True), strict=True):
            for turn, score in enumerate(curve[: _CURVE_TURNS + 1]):
                self.curves[side][turn].append(score)
        for loss in summary.losses:
            is_hva = loss.satellite.number == 0
            self.losses[min(loss.turn, _CURVE_TURNS), loss.satellite.side, is_hva] += 1
            self.causes[loss.satellite.side, loss.cause] += 1
        for key, counts in summary.engagements.items():
            self.engagements[key] = self.engagements.get(key, np.zeros(2, np.int64)) + counts

    def _count_result(self, summary: GameSummary) -> None:
        self.turns[min(summary.turns, _CURVE_TURNS)] += 1
        self.reasons.update(reason.in_words for reason in summary.reasons)
        for i, side in enumerate(SIDES):
            for where in (side, "either"):
                results = self.agent_results.setdefault((summary.replay.agents[i], where), AgentResults())
                margin = summary.scores[i] - summary.scores[1 - i]
                results.add(
                    summary.replay.seed, is_win=summary.winner == side, is_draw=summary.winner is None, margin=margin
                )


class _Observer:
    """Observes the positions of one game while it is replayed."""

    def __init__(self, *, keeps_snapshots: bool) -> None:
        self.presence: dict[str, Counter[int]] = {side: Counter() for side in SIDES}
        self.lost_at: Counter[int] = Counter()
        self.snapshots: list[KeyPosition] = []
        self._keeps_snapshots = keeps_snapshots

    def observe(self, played: Phase) -> None:
        """Count a phase."""
        if played.name == "movement":
            self._count_presence(played.before)
        lost = self._count_losses(played.before, played.after)
        if self._keeps_snapshots and (lost or played.after.is_over):
            end = "The end" if played.after.is_over else f"After turn {played.turn}"
            occasion = f"{end}: {', '.join(lost)} lost" if lost else end
            if len(self.snapshots) == MAX_SNAPSHOTS:  # the first ones and the last are kept
                self.snapshots.pop()
            self.snapshots.append(KeyPosition(played.after, occasion, tuple(map(str, played.outcomes))))

    def _count_presence(self, game: Game) -> None:
        board, goal = game.config.board, game.goals["alpha"]
        for side in SIDES:
            for satellite in game.satellites(side)[1:]:
                if satellite.is_active:
                    self.presence[side][relative_sector(satellite.sector, goal, board)] += 1

    def _count_losses(self, before: Game, after: Game) -> list[str]:
        """Count the satellites lost in a phase, in the sectors where it began; return their names."""
        lost = []
        board, goal = before.config.board, before.goals["alpha"]
        for side in SIDES:
            for old, new in zip(before.satellites(side), after.satellites(side), strict=True):
                if old.is_active and not new.is_active:
                    self.lost_at[relative_sector(old.sector, goal, board)] += 1
                    lost.append(f"{side} {old.id.short}")
        return lost


def relative_sector(sector: int, goal: int, board: BoardConfig) -> int:
    """Return a sector rotated with the board so that alpha's goal is at azimuth 0.

    The board drifts, its inner rings faster than the outer ones; the position relative to the goals is invariant.
    """
    ring, goal_ring = int(ring_of(sector)), board.goal_ring
    rotation = int(azimuth_of(goal))
    rotation = rotation << (ring - goal_ring) if ring > goal_ring else rotation >> (goal_ring - ring)
    return int(sector_at(ring, int(azimuth_of(sector)) - rotation))


_MAX_BARS = 24
"""Rows of the chart of win rates."""


def _subplots(width: float, height: float, xlabel: str, ylabel: str = "") -> "tuple[Figure, Axes]":
    figure = new_figure(width, height)
    axes = figure.add_subplot()
    style_axes(axes, xlabel, ylabel)
    axes.xaxis.set_major_locator(_whole_numbers(12))
    return figure, axes


def _whole_numbers(most: int) -> "MaxNLocator":
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - an extra

    return MaxNLocator(integer=True, nbins=most)


def win_rates(collected: Collected) -> str:
    """Plot every agent's win rate with its 95% interval, by side and in total."""
    marks = {
        "alpha": ("s", paper.SIDE_FILLS["alpha"]),
        "bravo": ("D", paper.SIDE_FILLS["bravo"]),
        "either": ("o", INK),
    }
    names = list(dict.fromkeys(name for name, _ in collected.agent_results))[:_MAX_BARS]
    figure, axes = _subplots(7.2, 1.0 + 0.62 * len(names), "games won, 95% interval")
    for row, name in enumerate(reversed(names)):
        for i, (where, (marker, colour)) in enumerate(marks.items()):
            results = collected.agent_results.get((name, where))
            if results is not None and results.games:
                _interval(axes, results.won, row + 0.22 * (1 - i), marker, colour)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.6, len(names) - 0.4))
    axes.set_yticks(range(len(names)), [_short(name) for name in reversed(names)], parse_math=False)
    axes.set_xticks(np.linspace(0, 1, 6), [f"{rate:.0%}" for rate in np.linspace(0, 1, 6)])
    handles = [
        axes.plot([], [], marker, color=colour, label=f"as {where}" if where != "either" else "on both sides")[0]
        for where, (marker, colour) in marks.items()
    ]
    figure.legend(handles=handles, loc="outside upper right", ncols=3, frameon=False, fontsize=SIZE)
    return figure_svg(figure)


def _interval(axes: "Axes", won: Rate, height: float, marker: str, colour: str) -> None:
    axes.plot(won.interval, [height, height], color=colour, linewidth=2.2, solid_capstyle="round")
    axes.plot([won.value], [height], marker, color=colour, markersize=7)


def _short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:27]}\N{HORIZONTAL ELLIPSIS}"


def score_curves(collected: Collected) -> str:
    """Plot the mean score after every turn with the central 80% of the games, and the number of running games."""
    figure, axes = _subplots(7.2, 3.3, "turns played", "score")
    counts: list[int] = []
    for side in SIDES:
        scores = [np.array(turn) for turn in collected.curves[side].values()]
        counts = [len(turn) for turn in scores]
        turns = np.arange(len(scores))
        low, high = (np.array([np.quantile(turn, q) for turn in scores]) for q in (0.1, 0.9))
        colour = paper.SIDE_FILLS[side]
        axes.fill_between(turns, low, high, color=colour, alpha=0.16, linewidth=0)
        axes.plot(turns, [turn.mean() for turn in scores], color=colour, linewidth=2.2, label=side)
    axes.set_xlim(0, max(len(counts) - 1, 1))
    axes.legend(frameon=False, fontsize=SIZE, loc="upper center", ncols=2)
    _plot_num_running(axes, counts)
    return figure_svg(figure)


def _plot_num_running(axes: "Axes", counts: Sequence[int]) -> None:
    right = axes.twinx()
    right.spines[["top", "left", "bottom"]].set_visible(False)
    right.plot(range(len(counts)), counts, color=GREY, linewidth=1.2, linestyle=(0, (2, 2)))
    right.set_ylim(0, max(counts, default=1) * 1.08)
    right.tick_params(colors=GREY, labelsize=SIZE)
    right.set_ylabel("games that got so far (dotted)", color=GREY, fontsize=SIZE)


def losses(collected: Collected) -> str:
    """Plot the number of satellites lost in each turn."""
    figure, axes = _subplots(7.2, 2.8, "turn", "satellites lost")
    last = max((turn for turn, _, _ in collected.losses), default=1)
    turns = np.arange(1, last + 1)
    for offset, side in zip((-0.2, 0.2), SIDES, strict=True):
        patrols, hvas = (
            np.array([collected.losses[turn, side, is_hva] for turn in turns.tolist()]) for is_hva in (False, True)
        )
        axes.bar(turns + offset, patrols, 0.38, color=paper.SIDE_FILLS[side], label=f"{side} Patrols")
        axes.bar(
            turns + offset, hvas, 0.38, bottom=patrols, color="white", edgecolor=paper.SIDE_LINES[side], hatch="////",
            linewidth=0.9, label=f"{side} HVA",
        )  # fmt: skip
    axes.set_xlim(0.4, last + 0.6)
    axes.legend(frameon=False, fontsize=SIZE, ncols=2)
    return figure_svg(figure)


def lengths(turns: Counter[int]) -> str:
    """Plot a histogram of the lengths of games."""
    figure, axes = _subplots(7.2, 2.2, "turns of a game", "games")
    axes.bar(list(turns), list(turns.values()), 0.8, color=GREY)
    axes.set_xlim(min(turns) - 2.5, max(turns) + 2.5)  # a few turns wide, even for a single game
    axes.yaxis.set_major_locator(_whole_numbers(6))
    return figure_svg(figure)


_LOSSES = "#8e2f6e"
_COLOURS = {"alpha": "#1f4fa3", "bravo": "#b86e00", "losses": _LOSSES}
_LABELLED_RING = 5
"""Boards up to this outer ring have percentages in their sectors."""


def heat_map(board: BoardConfig, counts: Counter[int], kind: str, title: str) -> str:
    """Return a heat map of counts over the sectors, with alpha's goal sector on the right.

    Args:
        board: board of the games.
        counts: by sector relative to alpha's goal.
        kind: "alpha", "bravo" or "losses", which sets the colour.
        title: for screen readers.
    """
    total = counts.total()
    highest = max(counts.values(), default=1)
    strength = {
        sector: (count / highest) ** 0.6 for sector, count in counts.items()
    }  # small counts must be visible, too
    fills = {sector: _mix_with_white(_COLOURS[kind], weight) for sector, weight in strength.items()}
    shapes: list[Shape] = [*paper.board_shapes(board, fills), *_goals(board)]
    if board.outer_ring <= _LABELLED_RING:
        shapes += _percentages(board, counts, total, strength)
    return _picture(shapes, title)


def _mix_with_white(colour: str, weight: float) -> str:
    channels = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(255 + (channel - 255) * (0.06 + 0.94 * weight)):02x}" for channel in channels)


def _goals(board: BoardConfig) -> Iterable[Shape]:
    geometry = paper.geometry_of(board)
    for side, azimuth in (("alpha", 0), ("bravo", 1 << (board.goal_ring - 1))):
        outline = geometry.outline(int(sector_at(board.goal_ring, azimuth)), inset=3)
        yield Polygon(outline, None, PAPER, 11)  # separates the frame from a sector of its own colour
        yield Polygon(outline, None, _COLOURS[side], 5)


def _percentages(board: BoardConfig, counts: Counter[int], total: int, strength: dict[int, float]) -> Iterable[Shape]:
    geometry = paper.geometry_of(board)
    for ring in range(board.inner_ring, board.outer_ring + 1):
        distance, size = (
            geometry.middle(ring),
            min(0.28 * (geometry.outer_edge(ring) - geometry.inner_edge(ring)), 20.0),
        )
        for azimuth in range(1 << ring):
            sector = int(sector_at(ring, azimuth))
            if counts[sector] * 1000 >= total > 0:
                ink = PAPER if strength[sector] > 0.55 else INK
                text = f"{counts[sector] / total:.1%}"
                position = geometry.point((distance, middle_angle(sector)))
                yield Text(position, text, size, ink, "center")


def position(game: Game) -> str:
    """Return a picture of a position."""
    return _picture(paper.position_shapes(game), paper.caption(game), uses=board_id(game.config.board))


def board_id(board: BoardConfig) -> str:
    """Return the id of a board's symbol."""
    return f"board-{board.inner_ring}-{board.outer_ring}-{board.goal_ring}"


def board_symbol(board: BoardConfig) -> str:
    """Return an empty board as an SVG symbol, once in a page, that positions on it refer to."""
    root = ET.Element("svg", {"width": "0", "height": "0", "aria-hidden": "true", "class": "symbols"})
    symbol = ET.SubElement(root, "symbol", {"id": board_id(board), "viewBox": f"0 0 {paper.SIZE:g} {paper.SIZE:g}"})
    symbol.extend(elements(paper.board_shapes(board)))
    return ET.tostring(root, encoding="unicode")


def _picture(shapes: Iterable[Shape], title: str, uses: str | None = None) -> str:
    root = ET.Element("svg", {"viewBox": f"0 0 {paper.SIZE:g} {paper.SIZE:g}", "role": "img"})
    ET.SubElement(root, "title").text = title
    if uses is not None:
        ET.SubElement(root, "use", {"href": f"#{uses}", "width": f"{paper.SIZE:g}", "height": f"{paper.SIZE:g}"})
    root.extend(elements(shapes))
    return ET.tostring(root, encoding="unicode")


_CAUSES = {"shoot": "shot", "collide": "in a collision", "fuel": "out of fuel"}
_MAX_BOARDS = 4
"""Board shapes with heat maps."""


def report_page(readers: Iterable[ReplayReader], title: str, positions: int = 40) -> str:
    """Return an HTML page that summarises the games of replay files.

    Args:
        readers: readers of the files.
        title: title of the page.
        positions: number of games of which positions are shown.

    Raises:
        RecordingError: no game follows the rules.
        MissingPackageError: the extra ``plots`` is not installed.
    """
    collected = Collected(positions)
    for reader in readers:
        for replay in reader:
            if collected.games >= MAX_GAMES:
                collected.cut_off = True
                break
            collected.add(replay, str(reader.path))
        for fault in reader.faults:
            collected.add_fault(f"{reader.path}: {fault}")
    if collected.games == 0:
        raise RecordingError(f"no game can be counted: {collected.faults[0]}")
    return load_template(_STATIC / "page.html.j2").render(
        title=title,
        collected=collected,
        agent_results=_agent_rows(collected),
        agents={name: describe_agent(name) for name, _ in collected.agent_results},
        causes=_CAUSES,
        sides=SIDES,
        charts=_charts(collected),
        boards=_boards(collected),
        symbols=_symbols(collected),
        position=position,
        max_games=MAX_GAMES,
        max_listed=MAX_LISTED,
    )


def load_template(page: Path) -> "Template":
    """Return the template of a page, from its file. It escapes all text, and knows the pages' style and the version."""
    with optional_import("plots"):
        from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - an extra
        from markupsafe import Markup  # noqa: PLC0415 - comes with it
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["image"] = _image
    environment.filters["svg"] = Markup  # our own drawings and style; ElementTree has escaped the texts in drawings
    environment.filters["percent"] = "{:.1%}".format
    style = (_STATIC / "style.css").read_text("utf-8")
    environment.globals |= {"version": __version__, "style": style}
    return environment.from_string(page.read_text("utf-8"))


def _image(svg: str) -> str:
    """Return an SVG picture as a data URL: scripts in it cannot reach the page."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _charts(collected: Collected) -> dict[str, str]:
    images = {"curves": score_curves(collected)}
    if collected.agent_results:
        images["wins"] = win_rates(collected)
        images["lengths"] = lengths(collected.turns)
    if collected.losses:
        images["losses"] = losses(collected)
    return images


def _agent_rows(collected: Collected) -> list[dict[str, Any]]:
    """Return the rows of the table of agents."""
    rows = []
    for (name, where), results in sorted(collected.agent_results.items(), key=lambda item: item[0]):
        won = results.won
        rows.append(
            {
                "name": name,
                "where": where,
                "results": results,
                "rate": won.value,
                "interval": f"{100 * won.low:.1f} to {won.high:.1%}",
                "margin": f"{results.margin / results.games:+z.1f}",
            }
        )
    return rows


def _boards(collected: Collected) -> list[dict[str, Any]]:
    """Draw the heat maps of the boards with the most games."""
    boards_by_games = sorted(collected.heat.items(), key=lambda item: -item[1].games)[:_MAX_BOARDS]
    boards = []
    for (inner, outer, goal), heat in boards_by_games:
        board = BoardConfig(inner_ring=inner, outer_ring=outer, goal_ring=goal)
        heat_maps = [
            (f"{side}'s Patrols", heat_map(board, heat.presence[side], side, f"where {side}'s Patrols were"))
            for side in SIDES
        ]
        heat_maps.append(("satellites lost", heat_map(board, heat.losses, "losses", "where satellites were lost")))
        boards.append({"name": f"rings {inner} to {outer}, goal ring {goal}", "games": heat.games, "maps": heat_maps})
    return boards


def _symbols(collected: Collected) -> list[str]:
    """Return the SVG symbols of the boards under the positions."""
    shown = [snapshot.game.config.board for listed in collected.listed for snapshot in listed.snapshots]
    return [board_symbol(board) for board in {board_id(board): board for board in shown}.values()]
