"""What a side sees of the enemy where its satellites have a sensor range: an option of this package, in no rule book.

A side sees an enemy that is within its sensor range, in steps on the board, of one of its own satellites that is not
destroyed; a satellite without fuel still sees. It looks after the movement, after the engagement, and after the drift.
Whoever takes part in an outcome of an engagement is seen by both sides, even if nobody is left to look, and what was seen to
be destroyed is known from then on. The start and the end of a game are seen by both sides.

What a side knows is a game of its own, its *belief*: its own satellites as they are, the enemy as last seen, and since then
as it would be without any orders, drifting and paying for it (``turn.drift_beliefs``). So the enemy's score in a belief is an estimate as well. With a
range that reaches across the board, a belief equals the game. Whatever a side receives is made from its belief alone, except
its legal orders. These follow from the game, but tell nothing more: only an enemy in the same or an adjacent sector of one of
its own satellites matters for them, and the sensor range is at least 1.
"""

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.board import EARTH, are_within
from geo_patrol.base.jit import jit, jitable, jitable_call
from geo_patrol.engine import state

_FLEET = (1 << state.SATELLITES) - 1
"""All satellites of a side, as bits."""
_EVERYBODY = (1 << (state.NUM_SIDES * state.SATELLITES)) - 1


@jitable
def phase_number(game: state.Record) -> int:
    """Return the number of a game's decision phase, from 0: two a turn. An engagement goes on until after the drift."""
    return 2 * int(game.turn) + (game.phase != state.MOVEMENT)


@jitable
def is_in_sight(game: state.Record, rules: state.Record, side: int, sector: int) -> bool:
    """Return whether a satellite of a side that is not destroyed has a sector within its sensor range."""
    reach, inner_ring = rules.sensor_range[side], rules.inner_ring
    for number in range(state.SATELLITES):
        own = int(game.sector[side, number])
        if own != EARTH and not game.destroyed[side, number] and are_within(own, sector, reach, inner_ring):
            return True
    return False


@jitable
def find_visible(game: state.Record, rules: state.Record, belief: state.Record, side: int) -> int:
    """Return the enemy's satellites that a side sees, as bits. What is known for ever counts as seen: absent, destroyed."""
    if rules.sensor_range[side] == 0:
        return _FLEET
    visible, enemy = 0, 1 - side
    for number in range(state.SATELLITES):
        sector = int(game.sector[enemy, number])
        if sector == EARTH or belief.destroyed[enemy, number] or is_in_sight(game, rules, side, sector):
            visible |= 1 << number
    return visible


@jitable
def find_involved(outcomes: state.Records, count: int) -> int:
    """Return the satellites that take part in outcomes, as bits: 11 * side + number.

    A guard with nothing to intercept is not among them.
    """
    involved = 0
    for i in range(count):
        outcome = outcomes[i]
        side, attacker, guardian = int(outcome.side), int(outcome.attacker), int(outcome.guardian)
        if attacker == state.NOBODY:
            continue
        if outcome.kind == state.GUARDING:
            involved |= 1 << (side * state.SATELLITES + guardian) | 1 << ((1 - side) * state.SATELLITES + attacker)
        else:
            target = (1 - side) * state.SATELLITES + int(outcome.target)
            involved |= 1 << (side * state.SATELLITES + attacker) | 1 << target
    return involved


@jitable
def copy_satellite(source: state.Record, target: state.Record, side: int, number: int) -> None:
    """Copy a satellite from one game to another."""
    target.sector[side, number] = source.sector[side, number]
    target.fuel[side, number] = source.fuel[side, number]
    target.ammo[side, number] = source.ammo[side, number]
    target.destroyed[side, number] = source.destroyed[side, number]


@jitable_call
def look(game: state.Record, rules: state.Record, sight: state.Sight, row: int, involved: int) -> None:
    """Bring what both sides know of a game up to date.

    Args:
        game: the game.
        rules: its rules.
        sight: what is known of all games.
        row: the game's index.
        involved: satellites that are seen wherever they are, as bits.
    """
    last_seen, phase = sight.sightings[row].phase, phase_number(game)
    for side in range(state.NUM_SIDES):
        belief, enemy = sight.beliefs[state.NUM_SIDES * row + side], 1 - side
        belief.turn = game.turn
        belief.phase = game.phase
        belief.done = game.done
        belief.reasons = game.reasons
        belief.illegal_orders[side] = game.illegal_orders[side]
        belief.goal_points[side] = game.goal_points[side]
        belief.score[side] = game.score[side]
        visible = find_visible(game, rules, belief, side) | involved >> (enemy * state.SATELLITES)
        if game.done:
            visible = _FLEET
            belief.goal_points[enemy] = game.goal_points[enemy]
            belief.score[enemy] = game.score[enemy]
        for owner in range(state.NUM_SIDES):
            belief.goal[owner] = game.goal[owner]
        for number in range(state.SATELLITES):
            lost = number != state.HVA and game.destroyed[side, number] and not belief.destroyed[side, number]
            if lost and not game.done:  # at the end the points are known
                belief.goal_points[enemy] += rules.patrol_points[enemy]
            copy_satellite(game, belief, side, number)
            if (visible >> number) & 1:
                copy_satellite(game, belief, enemy, number)
                last_seen[enemy, number] = phase


@jitable
def reveal(game: state.Record, rules: state.Record, sight: state.Sight, row: int) -> None:
    """Show both sides everything of a game as it is now, as at its start; see ``look``."""
    look(game, rules, sight, row, _EVERYBODY)
    for side in range(state.NUM_SIDES):
        belief, enemy = sight.beliefs[state.NUM_SIDES * row + side], 1 - side
        belief.goal_points[enemy] = game.goal_points[enemy]
        belief.score[enemy] = game.score[enemy]


@jit
def reveal_games(rows: NDArray[np.int64], games: state.Records, rules: state.Records, sight: state.Sight) -> None:
    """Show both sides of the games at ``rows`` everything as it is now."""
    for row in rows:
        reveal(games[row], rules[row if len(rules) > 1 else 0], sight, row)
