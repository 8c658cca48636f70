"""A turn: movement, engagement, drift (rule book, Turn; Movement Phase; Drift Phase and Scoring; End of the Game).

The engagement phase has a file of its own, ``engagement.py``.
"""

import math

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.board import EARTH, are_adjacent, prograde, radial_in, radial_out, retrograde
from geo_patrol.base.jit import jit, jitable, jitable_call
from geo_patrol.engine import state
from geo_patrol.engine.engagement import play_engagement
from geo_patrol.engine.sight import find_involved, look

# Movement


@jitable
def replace_illegal_orders(game: state.Record, legal: state.IntArray, orders: state.IntArray) -> None:
    """Replace illegal orders by noop in place, and count them in the game's record.

    Args:
        game: the game before anything is paid for: an enemy that spends its last fuel on an order of this phase is still
            a legal target in it.
        legal: (2, 11), the sets of legal orders.
        orders: (2, 11), any integers.
    """
    for side in range(state.NUM_SIDES):
        illegal = 0
        for number in range(state.SATELLITES):
            order = orders[side, number]
            if order < state.NOOP or order >= state.ORDERS or not (legal[side, number] >> order) & 1:
                orders[side, number] = state.NOOP
                illegal += 1
        game.illegal_orders[side] = illegal


@jitable
def destination(sector: int, order: int) -> int:
    """Return the sector where a move leads.

    All four are computed and one is selected: a mispredicted branch would take longer.
    """
    along = prograde(sector) if order == state.PROGRADE else retrograde(sector)
    across = radial_in(sector) if order == state.RADIAL_IN else radial_out(sector)
    moved = across if order >= state.RADIAL_IN else along
    return sector if order == state.NOOP else moved


@jitable
def move_satellites(game: state.Record, rules: state.Record, orders: state.IntArray) -> None:
    """Pay for the legal moves of both sides and carry them out; a noop costs nothing and stays."""
    for side in range(state.NUM_SIDES):
        for number in range(state.SATELLITES):
            order = orders[side, number]
            game.fuel[side, number] -= rules.move_cost[side, order]
            game.sector[side, number] = destination(int(game.sector[side, number]), order)


# Drift: scoring, the end of the game, station keeping


@jitable
def exact_fuel_points(game: state.Record, rules: state.Record, side: int) -> int:
    """Return a side's fuel points: the floor of the exact weighted sum, in integers."""
    patrol_fuel = 0
    for number in range(1, state.SATELLITES):
        patrol_fuel += int(game.fuel[side, number])
    hva_denominator = rules.weight_denominator[side, 0]
    patrol_denominator = rules.weight_denominator[side, 1]
    hva_points = rules.weight_numerator[side, 0] * int(game.fuel[side, state.HVA]) * patrol_denominator
    patrol_points = rules.weight_numerator[side, 1] * patrol_fuel * hva_denominator
    return (hva_points + patrol_points) // (hva_denominator * patrol_denominator)


@jitable_call
def float_fuel_points(game: state.Record, rules: state.Record, side: int) -> int:
    """Return a side's fuel points as the published code adds them up: in float64, satellite by satellite."""
    points = game.fuel[side, state.HVA] * rules.weight[side, 0]
    for number in range(1, state.SATELLITES):
        points += game.fuel[side, number] * rules.weight[side, 1]
    return math.floor(points)


@jitable
def fuel_points(game: state.Record, rules: state.Record, side: int) -> int:
    """Return a side's fuel points by the rules of the game: book or code."""
    if rules.code_rules:
        return float_fuel_points(game, rules, side)
    return exact_fuel_points(game, rules, side)


@jitable
def earned_goal_points(game: state.Record, rules: state.Record, side: int) -> int:
    """Return the goal points that a side's HVA earns where it is."""
    if game.fuel[side, state.HVA] <= 0 and not rules.code_rules:
        return 0
    if game.sector[side, state.HVA] == game.goal[side]:
        return rules.goal_points[side]
    if are_adjacent(game.sector[side, state.HVA], game.goal[side]):
        return rules.adjacent_points[side]
    return 0


@jitable
def score_turn(game: state.Record, rules: state.Record) -> None:
    """Add this turn's goal points and count the fuel points anew."""
    for side in range(state.NUM_SIDES):
        game.goal_points[side] += earned_goal_points(game, rules, side)
        game.score[side] = game.goal_points[side] + fuel_points(game, rules, side)


@jitable
def hva_end_reasons(game: state.Record) -> int:
    """Return the reasons of an end that lie in the HVAs, as bits."""
    reasons = 0
    for side in range(state.NUM_SIDES):
        if game.destroyed[side, state.HVA]:
            reasons |= state.HVA_DESTROYED << side
        elif game.fuel[side, state.HVA] <= 0:
            reasons |= state.HVA_OUT_OF_FUEL << side
    return reasons


@jitable
def end_reasons(game: state.Record, rules: state.Record) -> int:
    """Return the reasons why the game ends after scoring, as bits; 0 while it goes on."""
    reasons = hva_end_reasons(game)
    for side in range(state.NUM_SIDES):
        if game.score[side] >= rules.win_score[side]:
            reasons |= state.WIN_SCORE << side
    # The published code looks at its turn counter before raising it, and so plays one turn more.
    turns_played = game.turn if rules.code_rules else game.turn + 1
    if turns_played >= rules.turn_limit:
        reasons |= state.TURN_LIMIT
    return reasons


@jitable
def end_game(game: state.Record, reasons: int) -> None:
    """End a game."""
    game.done = 1
    game.reasons = reasons
    game.phase = state.DRIFT


@jitable
def winner_of(game: state.Record) -> int:
    """Return the side that has won a finished game, or NOBODY: more points win; a side that forfeits alone loses."""
    alpha_forfeits = game.reasons & state.FORFEIT != 0
    bravo_forfeits = game.reasons & (state.FORFEIT << 1) != 0
    if not game.done:
        return state.NOBODY
    if alpha_forfeits != bravo_forfeits:
        return state.BRAVO if alpha_forfeits else state.ALPHA
    if game.score[state.ALPHA] == game.score[state.BRAVO]:
        return state.NOBODY
    return state.ALPHA if game.score[state.ALPHA] > game.score[state.BRAVO] else state.BRAVO


@jit
def winners_of(games: state.Records) -> NDArray[np.int64]:
    """Return the winners of all games, (n,), see ``winner_of``."""
    winners = np.empty(len(games), np.int64)
    for i in range(len(games)):
        winners[i] = winner_of(games[i])
    return winners


@jitable_call
def forfeit_game(game: state.Record) -> None:
    """End the game at once against every side that gave illegal orders: it loses its whole score."""
    reasons = 0
    for side in range(state.NUM_SIDES):
        if game.illegal_orders[side] > 0:
            reasons |= state.FORFEIT << side
            game.goal_points[side] = 0
            game.score[side] = 0
    end_game(game, reasons)


@jitable
def drift_satellites(game: state.Record, rules: state.Record) -> None:
    """Move every satellite and both goal sectors one sector prograde, and charge for station keeping."""
    for side in range(state.NUM_SIDES):
        for number in range(state.SATELLITES):
            if game.sector[side, number] != EARTH:
                game.sector[side, number] = prograde(game.sector[side, number])
                game.fuel[side, number] = max(game.fuel[side, number] - rules.station_keeping_cost[side], 0)
        game.goal[side] = prograde(game.goal[side])


@jitable
def play_drift(game: state.Record, rules: state.Record) -> None:
    """Play the drift phase: score, end the game or drift on into the next turn."""
    score_turn(game, rules)
    reasons = end_reasons(game, rules)
    if reasons:
        end_game(game, reasons)
        return
    drift_satellites(game, rules)
    reasons = hva_end_reasons(game)
    if reasons and not rules.code_rules:
        end_game(game, reasons)
        return
    game.turn += 1
    game.phase = state.MOVEMENT


@jitable
def drift_beliefs(rules: state.Record, sight: state.Sight, row: int) -> None:
    """Score and drift on in what both sides know of a game."""
    for side in range(state.NUM_SIDES):
        belief = sight.beliefs[state.NUM_SIDES * row + side]
        score_turn(belief, rules)
        drift_satellites(belief, rules)


# A whole phase


@jit
def play_orders(
    game: state.Record,
    rules: state.Record,
    legal: state.IntArray,
    orders: state.IntArray,
    recorded: state.Records | None,
    outcomes: state.Records,
    sight: state.Sight | None,
    row: int,
) -> None:
    """Play one decision phase of a game; an engagement is followed by the drift.

    Args:
        game: the game, modified in place; a finished one stays as it is.
        rules: its rules.
        legal: (2, 11) sets of legal orders.
        orders: (2, 11) order codes of both sides, any integers; illegal ones are replaced by noop in place.
        recorded: (k,) outcomes that decide an engagement; None to sample them.
        outcomes: (128,), overwritten with the outcomes of an engagement, ``game.outcome_count`` of them.
        sight: what the sides know of all games, modified in place; None where nothing is hidden.
        row: the game's index in it.
    """
    if game.done:
        return
    replace_illegal_orders(game, legal, orders)
    game.outcome_count = 0
    if rules.forfeit and (game.illegal_orders[0] > 0 or game.illegal_orders[1] > 0):
        forfeit_game(game)
    elif game.phase == state.MOVEMENT:
        move_satellites(game, rules, orders)
        game.phase = state.ENGAGEMENT
    else:
        game.outcome_count = play_engagement(game, rules, orders, recorded, outcomes)
        if sight is not None:
            look(game, rules, sight, row, find_involved(outcomes, game.outcome_count))
            drift_beliefs(rules, sight, row)
        play_drift(game, rules)
    if sight is not None:
        look(game, rules, sight, row, 0)
