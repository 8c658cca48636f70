"""The configuration of a game after its values have been sampled."""

import itertools
from typing import Any

from geo_patrol.config.presets import load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine import state
from geo_patrol.notation import ENGAGEMENTS, MOVES
from geo_patrol.sides import SIDES


def sampled_config(config: GameConfig, rules: state.Record) -> GameConfig:
    """Return a configuration in which the sampled values replace ranges, choices and variants.

    A game set up from it with the same seed is the same game, random stream included: values are sampled from a stream
    of their own.

    Args:
        config: configuration with ranges, choices and variants.
        rules: record of the rules that were sampled from it.
    """
    if not config.is_randomized:
        return config
    data: dict[str, Any] = config.to_dict() | {"variants": [], "mirror": False}
    for side, name in enumerate(SIDES):
        data[name] = _side(rules, side)
    return load_config(data)


def _side(rules: state.Record, side: int) -> dict[str, Any]:
    hva, patrol = (
        {"fuel": int(rules.initial_fuel[side, kind]), "ammo": int(rules.initial_ammo[side, kind])} for kind in range(2)
    )
    return {
        "hva": hva | {"weight": float(rules.weight[side, 0])},
        "patrols": patrol
        | {
            "formation": _formation(rules.formation[side].tolist()),
            "count": int(rules.patrol_count[side]),
            "weight": "auto" if rules.automatic_weight[side] else float(rules.weight[side, 1]),
        },
        "costs": {
            **{move: int(rules.move_cost[side, code]) for code, move in enumerate(MOVES) if code != state.NOOP},
            "station_keeping": int(rules.station_keeping_cost[side]),
            **{name: rules.engagement_cost[side, kind].tolist() for kind, name in enumerate(ENGAGEMENTS)},
        },
        "odds": {name: rules.engagement_odds[side, kind].tolist() for kind, name in enumerate(ENGAGEMENTS)},
        "points": {
            "goal": int(rules.goal_points[side]),
            "adjacent": int(rules.adjacent_points[side]),
            "win": int(rules.win_score[side]),
        },
    }


def _formation(row: list[int]) -> list[list[int]]:
    """Return a formation as [azimuth offset, count] pairs, in the order that numbers the Patrols."""
    offsets = row[1 : 1 + row[0]]
    return [[offset, len(list(patrols))] for offset, patrols in itertools.groupby(offsets)]
