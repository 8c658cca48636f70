"""The order of phases, for one game and for a batch of games."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.drift import forfeit_game, play_drift, winner_of
from geo_patrol.engine.engagement import enact_engagements, has_orders, pay_for_engagements, resolve_engagements
from geo_patrol.engine.legal_sets import legal_sets, write_legal_sets, write_masks
from geo_patrol.engine.movement import move_satellites, strike_illegal_orders
from geo_patrol.engine.observe import observe_both
from geo_patrol.engine.sample import sample_next_orders
from geo_patrol.engine.state import DRIFT, ENGAGEMENT, MOVEMENT, SIDES, IntArray, Record, Records
from geo_patrol.engine.workspace import Scratch, make_scratch
from geo_patrol.jit import jit


@jit
def play_movement(game: Record, rules: Record, orders: IntArray) -> None:
    """Play the movement phase with legal orders."""
    move_satellites(game, rules, orders)
    game.phase = ENGAGEMENT


@jit
def play_engagement(game: Record, rules: Record, orders: IntArray, outcomes: Records) -> int:
    """Play the engagement phase with legal orders, up to the drift; return the number of outcomes."""
    count = 0
    if has_orders(orders):
        pay_for_engagements(game, rules, orders)
        count = resolve_engagements(game, rules, orders, outcomes)
        enact_engagements(game, outcomes, count)
    game.phase = DRIFT
    return count


@jit
def play_orders(game: Record, rules: Record, legal: IntArray, orders: IntArray, outcomes: Records) -> int:
    """Play one decision phase of a game; the drift follows the engagement by itself.

    Args:
        game: played on in place; a finished one stays as it is.
        rules: its rules.
        legal: (2, 11), the sets of orders that are legal in it.
        orders: (2, 11) order codes of both sides, any whole numbers; illegal ones are replaced by noop in place.
        outcomes: receives the outcomes of an engagement.

    Returns:
        The number of outcomes; 0 in the movement phase.
    """
    if game.done:
        return 0
    strike_illegal_orders(game, legal, orders)
    if rules.forfeit and (game.illegal_orders[0] > 0 or game.illegal_orders[1] > 0):
        forfeit_game(game)
        return 0
    if game.phase == MOVEMENT:
        play_movement(game, rules, orders)
        return 0
    count = play_engagement(game, rules, orders, outcomes)
    play_drift(game, rules)
    return count


@jit
def play_phase(game: Record, rules: Record, orders: IntArray, outcomes: Records) -> int:
    """Play one decision phase of a game as ``play_orders`` does; what is legal is found out here."""
    return play_orders(game, rules, legal_sets(game, rules), orders, outcomes)


DONE, REASONS, PHASE, TURN, ALPHA_SCORE, BRAVO_SCORE, ALPHA_ILLEGAL, BRAVO_ILLEGAL, WINNER, OUTCOMES = range(10)
"""Places in the report of a step: done, reasons (bits), phase, turns completed, scores, illegal orders in the phase
just played, winner (0 alpha, 1 bravo, -1 nobody), number of outcomes."""
REPORT = 10
"""Numbers in a report."""


@jit
def write_report(game: Record, outcome_count: int, report: IntArray) -> None:
    """Write what a step's caller wants to know of a game, so that it need not open the record."""
    report[DONE] = game.done
    report[REASONS] = game.reasons
    report[PHASE] = game.phase
    report[TURN] = game.turn
    for side in range(SIDES):
        report[ALPHA_SCORE + side] = game.score[side]
        report[ALPHA_ILLEGAL + side] = game.illegal_orders[side]
    report[WINNER] = winner_of(game)
    report[OUTCOMES] = outcome_count


@jit
def describe_game(
    game: Record,
    rules: Record,
    outcome_count: int,
    scratch: Scratch,
    slots: int,
    rule_figures: NDArray[Any],
    legal: IntArray,
    mask: IntArray,
    observations: NDArray[Any],
    report: IntArray,
) -> None:
    """Write a game's legal orders, as sets and as a mask, what both sides see, and the report."""
    write_legal_sets(game, rules, scratch, legal)
    write_masks(legal, mask)
    observe_both(game, rules, scratch, slots, rule_figures, observations)
    write_report(game, outcome_count, report)


@jit
def describe_games(
    games: Records,
    rules: Records,
    slots: int,
    rule_figures: NDArray[Any],
    legal: IntArray,
    masks: IntArray,
    observations: NDArray[Any],
    reports: IntArray,
) -> None:
    """Describe every game of a batch as it stands; the arrays are those of ``step_games``."""
    scratch = make_scratch(rules[0].outer_ring)
    for place in range(len(games)):
        of_rules = place if len(rules) > 1 else 0
        describe_game(
            games[place],
            rules[of_rules],
            0,
            scratch,
            slots,
            rule_figures[of_rules],
            legal[place],
            masks[place],
            observations[place],
            reports[place],
        )


@jit
def step_games(
    games: Records,
    rules: Records,
    orders: IntArray,
    outcomes: Records,
    slots: int,
    rule_figures: NDArray[Any],
    legal: IntArray,
    masks: IntArray,
    observations: NDArray[Any],
    reports: IntArray,
    streams: NDArray[np.uint64],
    sampled: IntArray,
) -> None:
    """Play one decision phase of every game of a batch, and describe what follows from it.

    Args:
        games: (n,), played on in place; finished ones stay as they are.
        rules: (n,) or (1,) for all.
        orders: (n, 2, 11) order codes; illegal ones become noop in place.
        outcomes: room for one engagement; afterwards that of the last game.
        slots: room for sectors in an observation; none for "tokens".
        rule_figures: (n, 2, RULE_FIGURES), or (1, ...) for all: what observations tell of the rules.
        legal: (n, 2, 11), the sets of orders that are legal now; receives those of the next phase.
        masks: (n, 2, 11, 7), the words of masks (n, 2, 11, 28), see ``write_masks``; receive those of the next phase.
        observations: (n, 2, size), receives what both sides see: float32 with slots, int16 without.
        reports: (n, 10), receives what ``write_report`` tells.
        streams: (n, 2), key and counter of each game's stream of sampled orders.
        sampled: (n, 2, 11), receives random legal orders for the next phase; (0, 2, 11) draws none.
    """
    scratch = make_scratch(rules[0].outer_ring)
    for place in range(len(games)):
        of_rules = place if len(rules) > 1 else 0
        game, rule = games[place], rules[of_rules]
        count = play_orders(game, rule, legal[place], orders[place], outcomes)
        describe_game(
            game,
            rule,
            count,
            scratch,
            slots,
            rule_figures[of_rules],
            legal[place],
            masks[place],
            observations[place],
            reports[place],
        )
        if len(sampled) > 0:
            sample_next_orders(legal[place], streams[place], scratch.draws, sampled[place])
