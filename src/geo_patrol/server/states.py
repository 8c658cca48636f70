"""Positions, phases and legal orders of a game as parts of messages."""

from geo_patrol.game import Game
from geo_patrol.notation import Outcome, Satellite, SatelliteId
from geo_patrol.server.models import (
    Both,
    BothFleets,
    BothOrders,
    Ended,
    OutcomeState,
    Played,
    PositionState,
    SatelliteState,
)
from geo_patrol.server.protocol import OptionState
from geo_patrol.sessions.order_entry import Option, OrderEntry
from geo_patrol.sessions.timeline import Moment
from geo_patrol.sides import SIDES


def position_state(game: Game) -> PositionState:
    """Return a position."""
    alpha, bravo = ([_satellite_state(one) for one in game.satellites(side)] for side in SIDES)
    return PositionState(
        turn=game.turn,
        phase=game.phase,
        score=Both(**game.scores),
        goal_points=Both(**game.goal_points),
        goals=Both(**game.goals),
        satellites=BothFleets(alpha=alpha, bravo=bravo),
    )


def _satellite_state(satellite: Satellite) -> SatelliteState:
    return SatelliteState(
        name=satellite.id.short,
        sector=satellite.sector,
        ring=satellite.ring,
        azimuth=satellite.azimuth,
        fuel=satellite.fuel,
        ammo=satellite.ammo,
        destroyed=satellite.destroyed,
    )


def played(moment: Moment, after: Game) -> Played:
    """Return a phase that was played, and the position that followed."""
    alpha, bravo = ([str(order) for order in orders] for orders in moment.orders)
    phase = moment.game.phase
    assert phase != "drift"
    return Played(
        turn=moment.game.turn,
        phase=phase,
        orders=BothOrders(alpha=alpha, bravo=bravo),
        outcomes=[_outcome_state(outcome) for outcome in moment.outcomes],
        position=position_state(after),
    )


def _outcome_state(outcome: Outcome) -> OutcomeState:
    return OutcomeState.model_validate(
        {
            "action": outcome.action,
            "attacker": _name(outcome.attacker),
            "guardian": _name(outcome.guardian),
            "target": str(outcome.target),
            "probability": outcome.probability,
            "success": outcome.success,
        }
    )


def _name(satellite: SatelliteId | None) -> str | None:
    return None if satellite is None else str(satellite)


def ended(game: Game, seed: int) -> Ended:
    """Return the end of a game."""
    reasons = [str(reason) for reason in game.reasons]
    return Ended(winner=game.winner, reasons=reasons, score=Both(**game.scores), seed=seed)


def option_states(game: Game, entry: OrderEntry) -> dict[str, list[OptionState]]:
    """Return the legal orders of a side besides holding, by the names of its satellites."""
    listed = {one.id.short: entry.options(one.id.number) for one in game.satellites(entry.side)}
    return {name: [_option_state(option) for option in options] for name, options in listed.items() if options}


def _option_state(option: Option) -> OptionState:
    return OptionState(
        order=str(option.order),
        cost=option.cost,
        probability=option.probability,
        sector=option.sector,
        target=_name(option.target),
    )
