"""A step of many episodes: reset, play, describe, in one call.

The parts of a batch do not touch each other and the interpreter is left alone meanwhile, so threads may step one each.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.encodings import NO_SLOTS
from geo_patrol.engine.episodes import (
    ENEMY_SCORE,
    ILLEGAL,
    NEXT_STEP,
    OPPONENT,
    PHASE,
    REASONS,
    SAME_STEP,
    SCORE,
    SEAT,
    TURN,
    Opponents,
    Page,
    Part,
    Terms,
    mark_over,
    play_episodes,
    reset_episodes,
    side_of_slot,
)
from geo_patrol.engine.legal_sets import write_legal_sets, write_masks
from geo_patrol.engine.observe import find_places, observe_as_onehot, observe_as_tokens, observe_games, observe_side
from geo_patrol.engine.sample import draw_bits, draw_order, next_key
from geo_patrol.engine.setup import Scenario
from geo_patrol.engine.state import SATELLITES, SIDES, IntArray, Record, Records
from geo_patrol.engine.workspace import make_scratch
from geo_patrol.jit import jit


@jit
def write_figures(game: Record, episode: Record, side: int, figures: IntArray) -> None:
    """Write the figures of one slot."""
    figures[ILLEGAL] = game.illegal_orders[side]
    figures[SCORE] = game.score[side]
    figures[ENEMY_SCORE] = game.score[1 - side]
    figures[TURN] = game.turn
    figures[PHASE] = game.phase
    figures[REASONS] = game.reasons
    figures[SEAT] = side
    figures[OPPONENT] = episode.opponent


@jit
def sample_slots(
    episode: Record, terms: Terms, place: int, legal: IntArray, draws: NDArray[np.uint64], sampled: IntArray
) -> None:
    """Draw orders for the slots of one game, as ``sample_next_orders`` would."""
    key = next_key(episode.sampler)
    for slot in range(terms.sides):
        draw_bits(key, side_of_slot(episode, terms, slot), draws[slot])
    for slot in range(terms.sides):
        side = side_of_slot(episode, terms, slot)
        for number in range(SATELLITES):
            sampled[place * terms.sides + slot, number] = draw_order(int(legal[side, number]), draws[slot, number])


@jit
def sample_episodes(
    episodes: Records, which: NDArray[np.bool_], terms: Terms, legal: IntArray, sampled: IntArray
) -> None:
    """Draw random legal orders for the slots of marked games, (slots, 11)."""
    draws = np.empty((SIDES, SATELLITES), np.uint64)
    for place in range(len(episodes)):
        if which[place]:
            sample_slots(episodes[place], terms, place, legal[place], draws, sampled)


@jit
def look_at_games(part: Part, terms: Terms, page: Page, samples: bool) -> None:
    """Write legal orders, figures, and (``samples``) random legal orders; from now on no episode is just reset."""
    scratch = make_scratch(part.rules[0].outer_ring)
    for place in range(len(part.games)):
        game, episode = part.games[place], part.episodes[place]
        write_legal_sets(game, part.rules[place if len(part.rules) > 1 else 0], scratch, part.legal[place])
        episode.is_fresh = 0
        for slot in range(terms.sides):
            side = side_of_slot(episode, terms, slot)
            write_figures(game, episode, side, page.figures[place * terms.sides + slot])
        if samples:
            sample_slots(episode, terms, place, part.legal[place], scratch.draws, page.sampled)


@jit
def describe_part(part: Part, terms: Terms, page: Page, slots: int, rule_figures: NDArray[Any], samples: bool) -> None:
    """Write what follows from a step or a reset: legal orders, figures, observations, masks, sampled orders.

    Args:
        part: the games.
        terms: what holds for all.
        page: receives what it is about.
        slots: room for sectors in the observations; none for "tokens".
        rule_figures: what observations of that encoding tell of the rules.
        samples: whether to draw orders for the next phase.
    """
    look_at_games(part, terms, page, samples)
    games = len(part.games)
    if terms.sides == SIDES:
        observations = page.observations.reshape((games, SIDES, page.observations.shape[1]))
        observe_games(part.games, part.rules, slots, rule_figures, observations)
        write_masks(part.legal.reshape((games * SIDES, SATELLITES)), page.mask_words)
    else:
        rows = np.arange(games)
        observe_seats(part, rows, False, slots, rule_figures, page.observations)
        write_seat_masks(part, rows, False, page.mask_words)


# One side of each game


@jit
def side_at(episode: Record, of_opponent: bool) -> int:
    """Return the side at the seat, or the opponent's."""
    return 1 - episode.seat if of_opponent else episode.seat


@jit
def observe_seats(
    part: Part,
    rows: NDArray[np.int64],
    of_opponent: bool,
    slots: int,
    rule_figures: NDArray[Any],
    observations: NDArray[Any],
) -> None:
    """Write what one side sees of the games whose places ``rows`` lists; ``observations``: (rows, size).

    A loop for each encoding, as in ``observe_games``.
    """
    scratch = make_scratch(part.rules[0].outer_ring)
    if slots == NO_SLOTS:
        for row in range(len(rows)):
            place, of_rules = rows[row], rows[row] if len(part.rules) > 1 else 0
            game, rules, side = part.games[place], part.rules[of_rules], side_at(part.episodes[place], of_opponent)
            find_places(game, rules, scratch)
            observe_as_tokens(game, rules, side, scratch.places, rule_figures[of_rules], observations[row])
    else:
        for row in range(len(rows)):
            place, of_rules = rows[row], rows[row] if len(part.rules) > 1 else 0
            game, rules, side = part.games[place], part.rules[of_rules], side_at(part.episodes[place], of_opponent)
            find_places(game, rules, scratch)
            observe_as_onehot(game, rules, side, scratch.places, slots, rule_figures[of_rules], observations[row])


@jit
def write_seat_masks(part: Part, rows: NDArray[np.int64], of_opponent: bool, mask_words: IntArray) -> None:
    """Write the masks of one side of the games whose places ``rows`` lists; ``mask_words``: (rows, 11, 7) int32."""
    for row in range(len(rows)):
        side = side_at(part.episodes[rows[row]], of_opponent)
        write_masks(part.legal[rows[row], side : side + 1], mask_words[row : row + 1])


# What episodes end with


@jit
def clear_final(page: Page) -> None:
    """Empty the rows that tell what episodes ended with."""
    for row in range(len(page.final_rows)):
        if page.final_rows[row]:
            page.final_observations[row] = 0
            page.final_mask_words[row] = 0
            page.final_figures[row] = 0
            page.final_rows[row] = False


@jit
def write_final(part: Part, terms: Terms, page: Page, slots: int, rule_figures: NDArray[Any], samples: bool) -> None:
    """Write what the episodes that are over ended with, before they are reset.

    With ``samples``, orders for the end are drawn and thrown away, as the single environments and the other modes do.
    """
    scratch = make_scratch(part.rules[0].outer_ring)
    for place in range(len(part.games)):
        game, episode, legal = part.games[place], part.episodes[place], part.legal[place]
        if not episode.is_over:
            continue
        of_rules = place if len(part.rules) > 1 else 0
        rules = part.rules[of_rules]
        write_legal_sets(game, rules, scratch, legal)
        if samples:
            next_key(episode.sampler)
        find_places(game, rules, scratch)
        for slot in range(terms.sides):
            row, side = place * terms.sides + slot, side_of_slot(episode, terms, slot)
            seen = page.final_observations[row]
            observe_side(game, rules, side, scratch.places, slots, rule_figures[of_rules], seen)
            write_masks(legal[side : side + 1], page.final_mask_words[row : row + 1])
            write_figures(game, episode, side, page.final_figures[row])
            page.final_rows[row] = True


# All of it


@jit
def begin_waiting(part: Part, scenario: Scenario, terms: Terms, opponents: Opponents, onehot_slots: int) -> None:
    """Begin anew the episodes that are over."""
    mark_over(part.episodes, part.waiting)
    reset_episodes(part, scenario, terms, opponents, onehot_slots)


@jit
def step_part(
    part: Part,
    pending: int,
    scenario: Scenario,
    terms: Terms,
    opponents: Opponents,
    actions: IntArray,
    page: Page,
    onehot_slots: int,
    slots: int,
    rule_figures: NDArray[Any],
    samples: bool,
) -> int:
    """Step the games of a part.

    Args:
        part: the games.
        pending: how many of them are over and wait for a reset.
        scenario: what resets draw from.
        terms: what holds for all.
        opponents: who may be drawn as an opponent.
        actions: (slots, 11) order codes, left alone.
        page: receives everything.
        onehot_slots: room for sectors in "onehot".
        slots: the same in the encoding of the page; none for "tokens".
        rule_figures: what observations of that encoding tell of the rules.
        samples: whether to draw orders for the next phase.

    Returns:
        How many games are over and wait for a reset now.
    """
    part.waiting[:] = False
    if terms.mode == NEXT_STEP and pending > 0:
        begin_waiting(part, scenario, terms, opponents, onehot_slots)
    pending = play_episodes(part, terms, actions, page.results)
    if terms.mode == SAME_STEP:
        clear_final(page)
        if pending > 0:
            write_final(part, terms, page, slots, rule_figures, samples)
            begin_waiting(part, scenario, terms, opponents, onehot_slots)
            pending = 0
    describe_part(part, terms, page, slots, rule_figures, samples)
    return pending
