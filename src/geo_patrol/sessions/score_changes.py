"""Why a score rose or fell in a turn."""

from dataclasses import dataclass

from geo_patrol.game import Game
from geo_patrol.notation import Order
from geo_patrol.sessions.timeline import Moment
from geo_patrol.sides import SIDES, Side


@dataclass(frozen=True)
class ScoreChange:
    """How the score of one side changed in a turn, in points.

    Attributes:
        side: the side.
        goal: goal points that its HVA earned.
        hva_destroyed: fuel points lost with its HVA, 0 or less.
        patrols_destroyed: fuel points lost with its Patrols, 0 or less.
        patrol_count: Patrols that were destroyed.
        fuel_spent: fuel points spent on orders and station keeping, 0 or less; the rounding of the score is in here.
    """

    side: Side
    goal: int
    hva_destroyed: int
    patrols_destroyed: int
    patrol_count: int
    fuel_spent: int

    @property
    def total(self) -> int:
        """By how much the score changed."""
        return self.goal + self.hva_destroyed + self.patrols_destroyed + self.fuel_spent

    @property
    def reasons(self) -> tuple[str, ...]:
        """What changed it, in words."""
        patrols = f"{self.patrol_count} Patrol{'s' * (self.patrol_count != 1)} destroyed"
        reasons = (
            ("HVA destroyed", self.hva_destroyed, " fuel points"),
            (patrols, self.patrols_destroyed, ""),
            ("goal", self.goal, ""),
            ("fuel spent", self.fuel_spent, ""),
        )
        return tuple(f"{name}: {points:+}{unit}" for name, points, unit in reasons if points)

    def __str__(self) -> str:
        return f"{self.side} {self.total:+} ({', '.join(self.reasons) or 'no change'})"


def score_changes(before: Moment, after: Game) -> tuple[ScoreChange, ScoreChange]:
    """Return how the scores of alpha and bravo changed in a turn.

    Args:
        before: the engagement phase of the turn, with its orders.
        after: the position that followed, in which the turn is scored.
    """
    alpha, bravo = (_change(before, after, index) for index in range(len(SIDES)))
    return alpha, bravo


def _change(before: Moment, after: Game, index: int) -> ScoreChange:
    side = SIDES[index]
    goal = after.goal_points[side] - before.game.goal_points[side]
    fuel = after.scores[side] - before.game.scores[side] - goal
    weights = after.as_games().state.rules["weight"][0, index].tolist()
    orders = {order.satellite: order for order in before.orders[index]}
    lost = [
        weights[one.id.number > 0] * (then.fuel - _cost(before.game, side, orders.get(one.id.number)))
        if one.destroyed and not then.destroyed
        else 0.0
        for then, one in zip(before.game.satellites(side), after.satellites(side), strict=True)
    ]
    hva, patrols = -round(lost[0]), -round(sum(lost[1:]))
    return ScoreChange(side, goal, hva, patrols, sum(map(bool, lost[1:])), fuel - hva - patrols)


def _cost(game: Game, side: Side, order: Order | None) -> int:
    return 0 if order is None else game.cost(side, order)
