"""The step of a batch: play one phase of each game and write its outputs, in one call.

It is the only entry point that plays games, for a single game and for thousands. The rows of a batch do not affect each
other and the GIL is released, so threads may step different rows at the same time.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.drift import winner_of
from geo_patrol.engine.episodes import alphas_reward, clear_statistics, gather_orders, write_statistics
from geo_patrol.engine.legal_sets import write_legal_sets, write_mask, write_masks
from geo_patrol.engine.observe import find_positions, observe_onehot, observe_tokens
from geo_patrol.engine.rng import next_key
from geo_patrol.engine.sample import sample_side, sample_sides
from geo_patrol.engine.state import ALPHA, ORDERS, SATELLITES, SIDES, IntArray, Record, Records
from geo_patrol.engine.turn import play_orders
from geo_patrol.engine.workspace import Workspace, make_workspace
from geo_patrol.jit import jit, jitable


@jitable
def side_at_seat(episode: Record, settings: Record) -> int:
    """Return the side of a game's only environment; ``& 1`` tells the compiler that it is a valid index."""
    return (episode.seat ^ settings.observes_opponent) & 1


@jitable
def play_episode(
    game: Record, rules: Record, episode: Record, settings: Record, orders: IntArray, outcomes: Records
) -> float:
    """Play one decision phase with the orders of both sides, (2, 11); return alpha's reward."""
    episode.outcome_count = play_orders(game, rules, episode.legal, orders, outcomes)
    episode.length += 1
    for side in range(SIDES):
        episode.illegal_orders[side] += game.illegal_orders[side]
    episode.winner = winner_of(game)
    reward = alphas_reward(game, episode, settings.rewards_outcome)
    episode.total_reward += reward
    is_truncated = settings.max_cycles > 0 and episode.length >= settings.max_cycles
    episode.is_over = game.done != 0 or is_truncated
    return reward


@jitable
def write_result(
    game: Record, episode: Record, side: int, reward: float, is_finished: bool, result: Record, statistics: Record
) -> None:
    """Write what a step returns of one environment, besides the infos."""
    if is_finished:
        write_statistics(game, episode, side, statistics)
    elif result.is_finished:  # in the step that was written here before
        clear_statistics(statistics)
    is_over, is_done = episode.is_over != 0, game.done != 0
    result.reward = reward if side == ALPHA else 0.0 - reward
    result.terminated = is_over & is_done
    result.truncated = is_over & (not is_done)
    result.is_finished = is_finished


@jitable
def play_games(
    start: int,
    stop: int,
    games: Records,
    rules: Records,
    episodes: Records,
    settings: Record,
    workspace: Workspace,
    outcomes: Records,
    actions: IntArray,
    results: Records,
    statistics: Records,
) -> int:
    """Play one phase of games ``start`` to ``stop`` - 1 and write their results; return how many episodes ended.

    An episode that is new starts with the next step, one that is over stays as it is.
    """
    orders, count, two_sides, per_game = workspace.orders, 0, settings.sides == SIDES, len(rules) > 1
    for i in range(start, stop):
        game, episode = games[i], episodes[i]
        reward, is_played = 0.0, episode.is_new == 0 and episode.is_over == 0
        if is_played:
            gather_orders(episode, two_sides, i, actions, orders)
            reward = play_episode(game, rules[i if per_game else 0], episode, settings, orders, outcomes)
        episode.is_new = 0
        is_finished = is_played and episode.is_over != 0
        count += is_finished
        if two_sides:
            for side in range(SIDES):
                row = SIDES * i + side
                write_result(game, episode, side, reward, is_finished, results[row], statistics[row])
        else:
            side = side_at_seat(episode, settings)
            write_result(game, episode, side, reward, is_finished, results[i], statistics[i])
    return count


@jitable
def write_info(game: Record, side: int, opponent: int, result: Record) -> None:
    """Write the infos of one environment."""
    result.illegal_orders = game.illegal_orders[side]
    result.score = game.score[side]
    result.enemy_score = game.score[1 - side]
    result.turn = game.turn
    result.phase = game.phase
    result.reasons = game.reasons
    result.seat = side
    result.opponent = opponent


@jitable
def describe_games(
    start: int,
    stop: int,
    selected: NDArray[np.bool_],
    games: Records,
    rules: Records,
    episodes: Records,
    settings: Record,
    workspace: Workspace,
    results: Records,
    sampled: IntArray,
) -> None:
    """Write legal orders, infos and (unless ``sampled`` is empty) sampled actions of the selected games."""
    two_sides, per_game, samples, random_bits = (
        settings.sides == SIDES,
        len(rules) > 1,
        len(sampled) > 0,
        workspace.random_bits,
    )
    for i in range(start, stop):
        if not selected[i]:
            continue
        game, episode = games[i], episodes[i]
        legal, opponent = episode.legal, episode.opponent
        write_legal_sets(game, rules[i if per_game else 0], workspace, legal)
        if two_sides:
            for side in range(SIDES):
                write_info(game, side, opponent, results[SIDES * i + side])
            if samples:
                sample_sides(legal, next_key(episode.action_stream), random_bits, sampled, SIDES * i)
        else:
            side = side_at_seat(episode, settings)
            write_info(game, side, opponent, results[i])
            if samples:
                sample_side(legal[side], next_key(episode.action_stream), side, random_bits[0], sampled[i])


@jitable
def observe_games(
    start: int,
    stop: int,
    selected: NDArray[np.bool_],
    games: Records,
    rules: Records,
    episodes: Records,
    settings: Record,
    workspace: Workspace,
    observations: NDArray[Any],
    observe: Callable[..., None],
) -> None:
    """Write the observations of the selected games by ``observe_onehot`` or ``observe_tokens``."""
    two_sides, per_game, positions = settings.sides == SIDES, len(rules) > 1, workspace.positions
    for i in range(start, stop):
        if not selected[i]:
            continue
        game, rule = games[i], rules[i if per_game else 0]
        find_positions(game, rule, workspace)
        if two_sides:
            for side in range(SIDES):
                observe(game, rule, side, positions, observations[SIDES * i + side])
        else:
            observe(game, rule, side_at_seat(episodes[i], settings), positions, observations[i])


@jitable
def mask_games(
    start: int, stop: int, selected: NDArray[np.bool_], episodes: Records, settings: Record, masks: NDArray[np.int8]
) -> None:
    """Write the action masks of the selected games; ``masks``: (num_envs, 11, 28), contiguous."""
    if settings.sides == SIDES:
        size = SIDES * SATELLITES * ORDERS // 8
        words = masks.reshape(masks.size).view(np.uint64)
        for i in range(start, stop):
            if selected[i]:
                write_masks(episodes[i].legal, words[i * size : (i + 1) * size])
    else:
        narrow_words = masks.view(np.int32)
        for i in range(start, stop):
            if selected[i]:
                write_mask(episodes[i].legal[side_at_seat(episodes[i], settings)], narrow_words[i])


@jit
def step_games(
    start: int,
    stop: int,
    selected: NDArray[np.bool_],
    plays: bool,
    games: Records,
    rules: Records,
    episodes: Records,
    settings: Records,
    outcomes: Records,
    actions: IntArray,
    results: Records,
    statistics: Records,
    sampled: IntArray,
    masks: NDArray[np.int8],
    onehot: NDArray[np.float32],
    tokens: NDArray[np.int16],
) -> int:
    """Play one decision phase of games, write what follows from it, and return how many episodes ended.

    Args:
        start: index of the first game. Row i of the outputs is game i's; with two sides, rows 2i and 2i + 1 are.
        stop: one more than the index of the last game.
        selected: (n,), the games to describe.
        plays: whether to play; otherwise results other than infos stay.
        games: (n,), modified in place, like episodes.
        rules: (n,), or (1,) for all games.
        episodes: (n,).
        settings: (1,).
        outcomes: (128,), receives the outcomes of an engagement; afterwards those of the last game.
        actions: (num_envs, 11) order codes.
        results: (num_envs,).
        statistics: (num_envs,), of episodes that end in this step, zero elsewhere.
        sampled: (num_envs, 11), random legal actions; here and below, arrays without rows are not written.
        masks: (num_envs, 11, 28).
        onehot: (num_envs, size).
        tokens: (num_envs, size).
    """
    workspace, setting, count = make_workspace(rules[0].outer_ring), settings[0], 0
    if plays:
        buffers = results, statistics
        count = play_games(start, stop, games, rules, episodes, setting, workspace, outcomes, actions, *buffers)
    describe_games(start, stop, selected, games, rules, episodes, setting, workspace, results, sampled)
    if len(tokens) > 0:
        observe_games(start, stop, selected, games, rules, episodes, setting, workspace, tokens, observe_tokens)
    if len(onehot) > 0:
        observe_games(start, stop, selected, games, rules, episodes, setting, workspace, onehot, observe_onehot)
    if len(masks) > 0:
        mask_games(start, stop, selected, episodes, setting, masks)
    return count
