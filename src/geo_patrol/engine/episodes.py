"""Many episodes side by side: games that begin anew, what each side earns, and whom it plays against.

A step of a batch is a handful of loops over the games, each of which needs one kind of thing: play, reset, find the
legal orders, observe. Everything that a game draws comes from streams of its own, so that game i plays the same
whatever stands beside it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.drift import winner_of
from geo_patrol.engine.encodings import NO_SLOTS
from geo_patrol.engine.observe import write_rule_figures
from geo_patrol.engine.rng import mix
from geo_patrol.engine.sample import draw_bits, draw_order, next_key
from geo_patrol.engine.setup import Scenario, Slots, reset_game
from geo_patrol.engine.state import (
    ALPHA,
    BRAVO,
    NOBODY,
    NOOP,
    SATELLITES,
    SIDES,
    IntArray,
    Record,
    Records,
)
from geo_patrol.engine.turn import play_orders
from geo_patrol.jit import jit

EPISODE = np.dtype(
    [
        ("sampler", "u8", (2,)),  # key and counter of the stream of sampled orders
        ("opponent_stream", "u8", (2,)),  # the same of what the opponent draws, and of who it is
        ("total", "f8"),  # alpha's return so far; bravo's is the negative
        ("length", "i8"),  # phases played
        ("difference", "i8"),  # of the scores, alpha's less bravo's, after the last phase
        ("illegal_orders", "i8", (SIDES,)),  # so far
        ("seat", "i8"),  # the side that is not the opponent's
        ("next_seat", "i8"),
        ("opponent", "i8"),  # its place among the opponents
        ("is_over", "i8"),  # 1: ended or cut short, waits for a reset
        ("is_fresh", "i8"),  # 1: reset in this step, nothing is played
    ],
    align=True,
)
"""One episode beside its game's record."""

_SAMPLER = np.uint64(0x6F72646572730000)  # sets the streams of sampled orders and of opponents apart from the game's
_OPPONENT = np.uint64(0x6F70706F6E656E74)
_SHIFT_11 = np.uint64(11)
_UNIT = 1.0 / (1 << 53)

ILLEGAL, SCORE, ENEMY_SCORE, TURN, PHASE, REASONS, SEAT, OPPONENT = range(8)
"""Places among the figures of a slot: illegal orders in this phase, scores, turns completed, phase, reasons (bits), side
(0 alpha, 1 bravo), and the opponent's place among the opponents (-1: none)."""
FIGURES = 8
LENGTH, FINAL_SCORE, FINAL_ENEMY_SCORE, FINAL_REASONS, OUTCOME, ALL_ILLEGAL, FINAL_SEAT, FINAL_OPPONENT = range(8)
"""Places among the statistics of a finished episode: phases, scores, reasons, outcome (1 won, 0 drawn, -1 lost), illegal
orders in all, side, opponent."""
STATISTICS = 8

IDLE, RANDOM, ELSEWHERE = range(3)
"""How an opponent's orders are found: none, drawn, or by code that is no business of the engine."""


NEXT_STEP, SAME_STEP, DISABLED = range(3)


class Terms(NamedTuple):
    """What holds for all episodes of a batch."""

    sides: int
    """Slots of a game: 2 for both sides, or 1 against an opponent."""
    rewards_outcome: bool
    """Rewards are -1, 0 or 1 at the end, not the change of the score difference."""
    max_cycles: int
    """Phases after which an unfinished game is truncated; 0 never does."""
    first_seat: int
    alternates: bool
    """The seat changes from game to game, and from episode to episode."""
    mode: int
    """When episodes that are over begin anew: NEXT_STEP, SAME_STEP, or DISABLED (never by themselves)."""


class Results(NamedTuple):
    """What a step tells of each slot; n slots."""

    rewards: NDArray[np.float64]
    terminations: NDArray[np.bool_]
    truncations: NDArray[np.bool_]
    returns: NDArray[np.float64]
    """Of finished episodes; 0 of others."""
    statistics: NDArray[np.int64]
    """(n, STATISTICS), of finished episodes; 0 of others."""
    is_finished: NDArray[np.bool_]


class Part(NamedTuple):
    """Games that are played one after the other, with what they hold from step to step; n games."""

    games: Records
    rules: Records
    """(n,) or (1,) for all; a part's own, as resets write to it."""
    rule_slots: Slots
    """The same memory."""
    onehot_figures: NDArray[np.float32]
    token_figures: NDArray[np.int16]
    """(n or 1, 2, RULE_FIGURES): what observations tell of the rules."""
    episodes: Records
    legal: NDArray[np.int32]
    """(n, 2, 11), the sets of legal orders."""
    enemy_orders: NDArray[np.int64]
    """(n, 11), the opponents' orders."""
    keys: NDArray[np.uint64]
    """(n,): where each opponent's chance comes from in this phase."""
    waiting: NDArray[np.bool_]
    """(n,): games that are reset in this step."""
    outcomes: Records
    """Room for one engagement."""


class Page(NamedTuple):
    """What a step tells of the slots of a part; n slots."""

    observations: NDArray[Any]
    """(n, size)"""
    mask_words: NDArray[np.int32]
    """(n, 11, 7)"""
    figures: NDArray[np.int64]
    """(n, FIGURES)"""
    final_observations: NDArray[Any]
    final_mask_words: NDArray[np.int32]
    final_figures: NDArray[np.int64]
    final_rows: NDArray[np.bool_]
    """What episodes ended with, and where there is something; nothing is there but in mode SAME_STEP."""
    results: Results
    sampled: NDArray[np.int64]
    """(n, 11), random legal orders for the next phase."""


class Opponents(NamedTuple):
    """Who may be drawn as an opponent."""

    places: NDArray[np.int64]
    """(drawn,): their places among all opponents."""
    chances: NDArray[np.float64]
    """(drawn,): their shares, summed up so far; the last is 1."""
    kinds: NDArray[np.int64]
    """(opponents,): IDLE, RANDOM or ELSEWHERE, of all opponents."""


@jit
def side_of_slot(episode: Record, terms: Terms, slot: int) -> int:
    """Return the side of a game's slot, 0 or 1."""
    return slot if terms.sides == SIDES else episode.seat


# Beginning


@jit
def seed_sampler(stream: NDArray[np.uint64], seed: np.uint64) -> None:
    """Start a stream of sampled orders (key, counter) afresh from a game's seed."""
    stream[0] = mix(seed ^ _SAMPLER)
    stream[1] = 0


@jit
def seed_opponent(stream: NDArray[np.uint64], seed: np.uint64) -> None:
    """Start a stream of an opponent's chance (key, counter) afresh from a game's seed."""
    stream[0] = mix(seed ^ _OPPONENT)
    stream[1] = 0


@jit
def seed_episodes(
    episodes: Records, seeds: NDArray[np.uint64], which: NDArray[np.bool_], first_place: int, terms: Terms
) -> None:
    """Start the streams and the order of seats of marked episodes afresh; ``first_place``: the first one's number."""
    for place in range(len(episodes)):
        if which[place]:
            episode = episodes[place]
            seed_sampler(episode.sampler, seeds[place])
            seed_opponent(episode.opponent_stream, seeds[place])
            episode.next_seat = terms.first_seat
            if terms.alternates:
                episode.next_seat = (first_place + place) % SIDES


@jit
def draw_opponent(episode: Record, opponents: Opponents) -> int:
    """Draw who plays the other side, NOBODY if there are no opponents; a single one takes no random number."""
    if len(opponents.places) <= 1:
        return opponents.places[0] if len(opponents.places) == 1 else NOBODY
    unit = int(next_key(episode.opponent_stream) >> _SHIFT_11) * _UNIT
    drawn = 0
    while unit >= opponents.chances[drawn]:
        drawn += 1
    return opponents.places[drawn]


@jit
def begin_episode(episode: Record, terms: Terms, opponents: Opponents) -> None:
    """Begin a new episode of a game that was just reset."""
    episode.total = 0.0
    episode.length = 0
    episode.difference = 0
    episode.illegal_orders[:] = 0
    episode.seat = episode.next_seat
    if terms.alternates:
        episode.next_seat = 1 - episode.seat
    episode.opponent = draw_opponent(episode, opponents)
    episode.is_over = 0
    episode.is_fresh = 1


@jit
def reset_episodes(part: Part, scenario: Scenario, terms: Terms, opponents: Opponents, slots: int) -> None:
    """Begin anew the episodes of a part's waiting games. ``slots``: room for sectors in "onehot"."""
    for place in range(len(part.games)):
        if part.waiting[place]:
            of_rules = place if len(part.rules) > 1 else 0
            reset_game(part.games[place], scenario, part.rules[of_rules], part.rule_slots[of_rules])
            begin_episode(part.episodes[place], terms, opponents)
            if len(part.rules) > 1:
                write_both_rule_figures(part, place, slots)
    if len(part.rules) == 1:
        write_both_rule_figures(part, 0, slots)


@jit
def write_both_rule_figures(part: Part, place: int, slots: int) -> None:
    """Write what observations of either encoding tell of one record of rules."""
    write_rule_figures(part.rules[place], slots, part.onehot_figures[place])
    write_rule_figures(part.rules[place], NO_SLOTS, part.token_figures[place])


@jit
def mark_over(episodes: Records, which: NDArray[np.bool_]) -> None:
    """Mark the episodes that wait for a reset."""
    for place in range(len(episodes)):
        which[place] = episodes[place].is_over != 0


# Playing


@jit
def order_for_opponents(part: Part, opponents: Opponents) -> None:
    """Write the orders of those opponents that the engine plays by itself, and each opponent's key of this phase."""
    draws = np.empty(SATELLITES, np.uint64)
    for place in range(len(part.games)):
        episode, orders = part.episodes[place], part.enemy_orders[place]
        if episode.is_over:
            continue
        part.keys[place] = next_key(episode.opponent_stream)
        kind = opponents.kinds[episode.opponent]
        if kind == IDLE:
            orders[:] = NOOP
        elif kind == RANDOM:
            draw_bits(part.keys[place], 0, draws)
            for number in range(SATELLITES):
                orders[number] = draw_order(int(part.legal[place, 1 - episode.seat, number]), draws[number])


@jit
def gather_orders(
    episode: Record, terms: Terms, place: int, actions: IntArray, enemy_orders: IntArray, orders: IntArray
) -> None:
    """Put the orders of both sides of one game into ``orders``, (2, 11)."""
    if terms.sides == SIDES:
        for side in range(SIDES):
            for number in range(SATELLITES):
                orders[side, number] = actions[SIDES * place + side, number]
    else:
        for number in range(SATELLITES):
            orders[episode.seat, number] = actions[place, number]
            orders[1 - episode.seat, number] = enemy_orders[place, number]


@jit
def reward_of_alpha(game: Record, episode: Record, terms: Terms) -> float:
    """Return what alpha earns in the phase just played, and note the score difference."""
    difference = int(game.score[ALPHA]) - int(game.score[BRAVO])
    change = difference - episode.difference
    episode.difference = difference
    if not terms.rewards_outcome:
        return float(change)
    winner = winner_of(game)
    return 0.0 if winner == NOBODY else 1.0 - 2.0 * winner


@jit
def play_episode(
    game: Record, rules: Record, episode: Record, legal: IntArray, orders: IntArray, outcomes: Records
) -> None:
    """Play one decision phase with orders of both sides."""
    play_orders(game, rules, legal, orders, outcomes)
    episode.length += 1
    for side in range(SIDES):
        episode.illegal_orders[side] += game.illegal_orders[side]


@jit
def write_statistics(game: Record, episode: Record, side: int, slot: int, results: Results) -> None:
    """Write what became of a finished episode, for one side."""
    winner = winner_of(game)
    results.returns[slot] = episode.total if side == ALPHA else 0.0 - episode.total
    statistics = results.statistics[slot]
    statistics[LENGTH] = episode.length
    statistics[FINAL_SCORE] = game.score[side]
    statistics[FINAL_ENEMY_SCORE] = game.score[1 - side]
    statistics[FINAL_REASONS] = game.reasons
    statistics[OUTCOME] = 0 if winner == NOBODY else (1 if winner == side else -1)
    statistics[ALL_ILLEGAL] = episode.illegal_orders[side]
    statistics[FINAL_SEAT] = side
    statistics[FINAL_OPPONENT] = episode.opponent


@jit
def clear_results(slot: int, results: Results) -> None:
    """Write that nothing was played in a slot."""
    results.rewards[slot] = 0.0
    results.terminations[slot] = False
    results.truncations[slot] = False
    if results.is_finished[slot]:  # in the step that was written here before
        results.is_finished[slot] = False
        results.returns[slot] = 0.0
        for figure in range(STATISTICS):
            results.statistics[slot, figure] = 0


@jit
def play_episodes(part: Part, terms: Terms, actions: IntArray, results: Results) -> int:
    """Play one decision phase of every episode that goes on, and write what its sides earn.

    Args:
        part: the games; those that were reset in this step play nothing.
        terms: what holds for all.
        actions: (slots, 11) order codes, left alone.
        results: receives what it is about.

    Returns:
        How many games finished.
    """
    orders = np.empty((SIDES, SATELLITES), np.int64)
    finished = 0
    for place in range(len(part.games)):
        game, episode = part.games[place], part.episodes[place]
        first_slot = place * terms.sides
        for slot in range(terms.sides):
            clear_results(first_slot + slot, results)
        if episode.is_fresh:
            continue
        rules = part.rules[place if len(part.rules) > 1 else 0]
        gather_orders(episode, terms, place, actions, part.enemy_orders, orders)
        play_episode(game, rules, episode, part.legal[place], orders, part.outcomes)
        reward = reward_of_alpha(game, episode, terms)
        episode.total += reward
        is_terminated = game.done != 0
        is_truncated = not is_terminated and terms.max_cycles > 0 and episode.length >= terms.max_cycles
        episode.is_over = is_terminated or is_truncated
        finished += episode.is_over
        for slot in range(terms.sides):
            side = side_of_slot(episode, terms, slot)
            results.rewards[first_slot + slot] = reward if side == ALPHA else 0.0 - reward
            results.terminations[first_slot + slot] = is_terminated
            results.truncations[first_slot + slot] = is_truncated
            results.is_finished[first_slot + slot] = episode.is_over
            if episode.is_over:
                write_statistics(game, episode, side, first_slot + slot, results)
    return finished
