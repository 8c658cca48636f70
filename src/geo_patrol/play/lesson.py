"""The guided first game: a lesson about GEO Patrol, whose positions are played by its real rules."""

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from geo_patrol.base.sides import SIDES, Side
from geo_patrol.config.lesson import Card, Lesson, LessonTable, Step
from geo_patrol.config.presets import load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.config.toml_files import config_path, read_toml
from geo_patrol.engine.state import SATELLITES
from geo_patrol.game.game import Game
from geo_patrol.game.notation import Order, PhaseName, read_orders, short_name
from geo_patrol.play.live import LiveGame
from geo_patrol.play.order_entry import OrderEntry, describe

PLAYER: Side = "alpha"
_NUMBERS = {short_name(number): number for number in range(SATELLITES)}


class SatelliteSetup(LessonTable):
    """Values of a satellite that differ from those at the start of a game."""

    sector: int | None = None
    fuel: int | None = None
    ammo: int | None = None


class GameStep(Step):
    """A step of a lesson about an orbital game.

    Attributes:
        select: the satellite to be selected; None where orders are to be committed.
        enemy: the other side's orders.
        phases: how many are played after the orders.
        phase: the phase of the position.
        seed: seed of the random stream.
        alpha: satellites of alpha that are not where a game starts, by name.
        bravo: satellites of bravo.
    """

    select: str | None = None
    enemy: tuple[str, ...] = ()
    phases: Annotated[int, Field(ge=1, le=2)] = 1
    phase: PhaseName = "movement"
    seed: int = 0
    alpha: dict[str, SatelliteSetup] = Field(default_factory=dict)
    bravo: dict[str, SatelliteSetup] = Field(default_factory=dict)

    def position(self, config: GameConfig) -> Game:
        """Return the position that the step begins with."""
        position = Game(config, seed=self.seed).position.model_dump() | {"phase": self.phase}
        for side, changes in enumerate((self.alpha, self.bravo)):
            for name, state in changes.items():
                for field, value in state.model_dump(exclude_none=True).items():
                    position[field][side][_NUMBERS[name]] = value
        return Game.from_position(position, config, seed=self.seed)


class _GameLessonData(LessonTable):
    title: str
    config: str
    overrides: dict[str, Any] = Field(default_factory=dict)
    steps: tuple[GameStep, ...]


class GameLesson(Lesson[GameStep]):
    """The guided first game, a lesson about GEO Patrol; the player is alpha."""

    def __init__(self) -> None:
        data = _GameLessonData.model_validate(read_toml(config_path("lessons/geo_patrol")))
        super().__init__(data.title, data.steps)
        self.config = load_config(data.config, data.overrides)

    def begin(self) -> LiveGame:
        """Return a game that begins with the position of the current step."""
        live = LiveGame(self.config, (None, None), start=self.step.position(self.config))
        live.timeline.names = "you", "instructor"
        return live

    def values(self, live: LiveGame) -> dict[str, Any]:
        """Return what the texts of the step refer to, taken from the rules and from the game."""
        start, now = live.timeline[0], live.game
        config = self.config
        hva_points = config.to_dict()[PLAYER]["hva"]["weight"] * Game(config, seed=0).satellite(PLAYER, 0).fuel
        option = describe(start, PLAYER, Order.parse(self.step.orders[0])) if self.step.orders else None
        return {
            **config.to_dict()[PLAYER],
            **_values_of(now),
            "before": _values_of(start),
            "order": option,
            "hva_points": hva_points,
            "patrol_points": Game(config, seed=0).scores[PLAYER] - hva_points,
            "ammo": config.side(PLAYER).patrols.ammo,
            "rings": config.board.outer_ring - config.board.inner_ring + 1,
            "turn_limit": config.turn_limit,
        }


def _values_of(game: Game) -> dict[str, Any]:
    fleets: dict[str, Any] = {side: {one.id.short: one for one in game.satellites(side)} for side in SIDES}
    return {**fleets, "goals": game.goals, "scores": game.scores, "goal_points": game.goal_points}


class LessonSession:
    """The game of one step: other orders than those of the step are not played, and nothing is played after it.

    Args:
        lesson: the lesson in that step.

    Attributes:
        live: the game.
        is_showing: whether a phase that was played is being shown.
        entry: the orders that are being entered, if any are.
    """

    def __init__(self, lesson: GameLesson) -> None:
        self.lesson = lesson
        self.live = lesson.begin()
        self._begin_phase()

    def _begin_phase(self) -> None:
        """Ask for orders, or play on where there is nothing to order."""
        self.is_showing = False
        self.entry: OrderEntry | None = None
        if self.live.is_over:
            return
        self.entry = OrderEntry(self.live.game, PLAYER)
        if not self.entry.has_choice:
            self._play(())

    def _play(self, orders: tuple[Order, ...]) -> None:
        self.entry = None
        self.live.play((orders, tuple(read_orders(self.lesson.step.enemy))))  # those that are illegal count as none
        self.is_showing = True

    @property
    def card(self) -> Card:
        """What the player reads now."""
        lesson, card = self.lesson, self.lesson.card(self.lesson.values(self.live))
        if not lesson.has_failed or lesson.has_ordered or not lesson.step.orders:
            return card
        number = Order.parse(lesson.step.orders[0]).satellite
        chosen = f"Patrol {number}" if number else "your HVA"
        return replace(card, hint=f"You have not ordered anything yet: choose {chosen}.")

    def check_selection(self) -> None:
        """Compare the selected satellite with the one that the step requires, if it requires one."""
        step, entry = self.lesson.step, self.entry
        if step.select is None or self.lesson.is_done or entry is None or entry.selected is None:
            return
        if entry.selected == _NUMBERS[step.select]:
            self.lesson.finish()
        else:
            self.lesson.has_failed = True

    def commit(self) -> None:
        """Commit the orders if they are those of the step."""
        if self.entry is None or self.lesson.is_done:
            return
        if self.lesson.step.select is not None:
            self.lesson.has_failed = True
        elif self.lesson.attempt(self.entry.orders):
            self._play(self.entry.orders)

    def end_showing(self) -> None:
        """Go on after a phase has been shown, or complete the step after its last one."""
        if len(self.live.timeline) > self.lesson.step.phases:
            self.is_showing = False
            self.lesson.finish()
        else:
            self._begin_phase()
