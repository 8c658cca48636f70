"""Many games at once: episodes, and the compiled step that plays one phase of each game and writes what follows from it.

``step_games`` plays the games of users, a single one and thousands, with the bookkeeping of environments or without. Search,
the exact solver and recorded games call ``turn.play_orders`` themselves. The games of a batch do not affect each other and
the GIL is released, so threads may step different rows of the same arrays at the same time.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.jit import jit, jitable, jitable_call
from geo_patrol.engine.legal import sample_side, sample_sides, write_legal_orders, write_mask
from geo_patrol.engine.observe import (
    NUM_SIGHT_FEATURES,
    SENSOR_RANGE_SCALE,
    UNSEEN_SCALE,
    find_positions,
    make_surroundings,
    observe_onehot,
    observe_satellites_onehot,
    observe_satellites_tokens,
    observe_tokens,
    write_sight,
)
from geo_patrol.engine.rng import next_key, random_bits
from geo_patrol.engine.setup import set_up_game
from geo_patrol.engine.state import (
    ALPHA,
    BRAVO,
    COLLISION,
    GUARDING,
    NOBODY,
    NOOP,
    NUM_SIDES,
    SATELLITES,
    SHOT,
    IntArray,
    Record,
    Records,
    Sight,
    State,
    Workspace,
    make_workspace,
    records,
)
from geo_patrol.engine.turn import play_orders, winner_of

EPISODE = np.dtype(
    [
        ("opponent_stream", "u8", (2,)),  # key and counter of the stream of the opponent's choice, and of a key a phase
        ("reward", "f8", (NUM_SIDES,)),  # of the phase last played, as the side knows the score
        ("total_reward", "f8", (NUM_SIDES,)),  # the return so far
        ("length", "i8"),  # phases played
        ("score_difference", "i8", (NUM_SIDES,)),  # own score minus the enemy's after that phase, likewise
        ("illegal_orders", "i8", (NUM_SIDES,)),  # so far
        ("seat", "i8"),  # the side that is not the opponent's
        ("next_seat", "i8"),
        ("opponent", "i8"),  # its index among the opponents
        ("opponent_kind", "i8"),  # IDLE, RANDOM or EXTERNAL
        ("winner", "i8"),  # of a finished game: 0 alpha, 1 bravo, -1 nobody
        ("is_over", "i8"),  # 1: terminated or truncated
        ("is_new", "i8"),  # 1: reset at the start of this step, in which it is not played
        ("shots", "i8", (NUM_SIDES,)),  # in the phase last played, as the next two; 0 unless events are counted
        ("hits", "i8", (NUM_SIDES,)),  # shots that destroyed their target
        ("losses", "i8", (NUM_SIDES,)),  # satellites that were destroyed
        ("opponent_actions", "i8", (SATELLITES,)),  # in the next phase, of an EXTERNAL one
    ],
    align=True,
)
"""One episode of an environment, beside the record of its game."""

SETTINGS = np.dtype(
    [
        ("sides", "i8"),  # environments per game: 2, or 1 against an opponent
        ("rewards_outcome", "i8"),  # 1: rewards are -1, 0 or 1 at the end; 0: the change of the score difference
        ("max_cycles", "i8"),  # phases after which an unfinished game is truncated; 0: never
        ("first_seat", "i8"),
        ("alternates", "i8"),  # 1: the seat alternates between games, and between the episodes of a game
        ("observes_opponent", "i8"),  # 1: outputs are those of the opponent's side
        ("counts_events", "i8"),  # 1: episodes count the shots, the hits and the losses of each phase
    ],
    align=True,
)
"""What all episodes of a batch have in common; one record."""

RESULT = np.dtype(
    [
        ("reward", "f8"),
        ("terminated", "?"),
        ("truncated", "?"),
        ("is_finished", "?"),  # the episode ended in this step: there are statistics of it
        # From here to the variant, ``envs.episodes.make_infos`` reads fields by their positions.
        ("illegal_orders", "i8"),  # in the phase just played
        ("score", "i8"),
        ("enemy_score", "i8"),
        ("turn", "i8"),  # completed turns; the last turn of a game is not counted
        ("phase", "i8"),  # 0 movement, 1 engagement, 2 over
        ("reasons", "i8"),  # bit flags
        ("variant", "i8"),  # its index among the configuration's variants; -1: none
        ("seat", "i8"),  # 0 alpha, 1 bravo
        ("opponent", "i8"),  # its index among the opponents; -1: none
    ],
    align=True,
)
"""What a step returns of one environment, besides arrays."""

INFO_FIELDS = ("illegal_orders", "score", "enemy_score", "turn", "phase", "reasons", "seat", "opponent", "variant")
"""Those fields of ``RESULT`` that infos consist of."""
EVENT_FIELDS = ("shots", "hits", "losses")
"""Those fields of ``EPISODE`` that count what an engagement did."""

STATISTICS = np.dtype(
    [
        ("return", "f8"),
        ("length", "i8"),  # phases
        ("score", "i8"),
        ("enemy_score", "i8"),
        ("reasons", "i8"),
        ("outcome", "i8"),  # 1 won, 0 drawn, -1 lost
        ("illegal_orders", "i8"),  # in the whole episode
        ("seat", "i8"),
        ("opponent", "i8"),
        ("variant", "i8"),
    ],
    align=True,
)
"""Statistics of a finished episode, of one environment."""


class EpisodeState(NamedTuple):
    """The bookkeeping of environments beside the ``State`` of their games. Games by themselves have no episodes."""

    records: Records
    """(n,) of layout ``EPISODE``, or (0,)."""
    settings: Records
    """(1,) of layout ``SETTINGS``."""


class Outputs(NamedTuple):
    """The arrays that a step writes; those without rows are not written.

    There is a row for each environment: two for each game, alpha's and bravo's, or one if an opponent plays the other side.
    """

    results: Records
    """(rows,) of layout ``RESULT``."""
    statistics: Records
    """(rows,) of layout ``STATISTICS``: of episodes that ended in this step, zero elsewhere."""
    sampled: NDArray[np.int64]
    """(rows, 11), random legal actions."""
    masks: NDArray[np.int8]
    """(rows, 11, 28), 1 where an order is legal."""
    onehot: NDArray[np.float32]
    """(rows, size), observations."""
    tokens: NDArray[np.int16]
    """(rows, size), observations."""


class Opponents(NamedTuple):
    """The opponents that new episodes choose from."""

    indices: NDArray[np.int64]
    """(choices,): their indices among all opponents."""
    cumulative: NDArray[np.float64]
    """(choices,): the cumulative sum of their probabilities; the last is 1."""
    kinds: NDArray[np.int64]
    """(opponents,): IDLE, RANDOM or EXTERNAL, of all opponents."""


IDLE, RANDOM, EXTERNAL = range(3)
"""How an opponent's actions are found: all noop, sampled, or by code outside the engine."""

NO_OPPONENTS = Opponents(np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))
NO_EPISODES = EpisodeState(records(EPISODE, 0), records(SETTINGS, 1))
NO_EPISODES.settings["sides"] = NUM_SIDES

_SHIFT_11 = np.uint64(11)
_UNIT = 1.0 / (1 << 53)


# Starting episodes


@jitable_call
def choose_opponent(episode: Record, opponents: Opponents) -> int:
    """Choose the opponent of an episode, NOBODY if there is none; a single one takes no random number."""
    if len(opponents.indices) <= 1:
        return opponents.indices[0] if len(opponents.indices) == 1 else NOBODY
    unit = int(next_key(episode.opponent_stream) >> _SHIFT_11) * _UNIT
    choice = 0
    while unit >= opponents.cumulative[choice]:
        choice += 1
    return opponents.indices[choice]


@jitable
def start_episode(episode: Record, alternates: bool, opponents: Opponents) -> None:
    """Start a new episode of a game that was just reset."""
    episode.length = 0
    for side in range(NUM_SIDES):
        episode.total_reward[side] = 0.0
        episode.score_difference[side] = 0
        episode.illegal_orders[side] = 0
    episode.seat = episode.next_seat
    if alternates:
        episode.next_seat = 1 - episode.seat
    episode.opponent = choose_opponent(episode, opponents)
    episode.opponent_kind = IDLE if episode.opponent == NOBODY else opponents.kinds[episode.opponent]
    episode.winner = NOBODY
    episode.is_over = 0
    episode.is_new = 0
    clear_events(episode)


@jitable
def clear_events(episode: Record) -> None:
    """Write that nobody has shot, hit or lost anything."""
    for side in range(NUM_SIDES):
        episode.shots[side] = 0
        episode.hits[side] = 0
        episode.losses[side] = 0


@jit
def reset_games(
    rows: NDArray[np.int64], state: State, episodes: EpisodeState, opponents: Opponents, skips_keys: bool
) -> None:
    """Set up the games at ``rows``, and start new episodes of them.

    Args:
        rows: indices of the games.
        state: the games, modified in place; their rules are complete.
        episodes: their episodes, modified in place.
        opponents: the opponents that new episodes choose from.
        skips_keys: whether the games' streams still have to pass by the keys with which rules are sampled.
    """
    for k in range(len(rows)):
        reset_row(rows[k], state, episodes, opponents, skips_keys)


@jitable
def reset_row(i: int, state: State, episodes: EpisodeState, opponents: Opponents, skips_keys: bool) -> None:
    """Set up one game, and start a new episode of it; see ``reset_games``."""
    game, rules, all_episodes = state.games[i], state.rules, episodes.records
    if skips_keys:
        random_bits(game)
    set_up_game(game, rules[i if len(rules) > 1 else 0])
    if len(all_episodes) > 0:
        start_episode(all_episodes[i], episodes.settings[0].alternates != 0, opponents)


# Playing


@jitable
def reward_side(known: Record, side: int, episode: Record, rewards_outcome: int) -> None:
    """Write a side's reward of the phase just played, and update its return and score difference.

    Args:
        known: the game as the side knows it: rewards follow its score.
        side: the side.
        episode: the episode, modified in place.
        rewards_outcome: whether rewards are the outcome at the end.
    """
    difference = int(known.score[side]) - int(known.score[1 - side])
    reward = float(difference - episode.score_difference[side])
    episode.score_difference[side] = difference
    if rewards_outcome:
        reward = 0.0 if episode.winner == NOBODY else (1.0 if episode.winner == side else -1.0)
    episode.reward[side] = reward
    episode.total_reward[side] += reward


@jitable
def write_statistics(game: Record, rules: Record, episode: Record, side: int, statistics: Record) -> None:
    """Write the statistics of a finished episode for one side."""
    statistics["return"] = episode.total_reward[side]
    statistics.length = episode.length
    statistics.score = game.score[side]
    statistics.enemy_score = game.score[1 - side]
    statistics.reasons = game.reasons
    statistics.outcome = 0 if episode.winner == NOBODY else (1 if episode.winner == side else -1)
    statistics.illegal_orders = episode.illegal_orders[side]
    statistics.seat = side
    statistics.opponent = episode.opponent
    statistics.variant = rules.variant


@jitable
def clear_statistics(statistics: Record) -> None:
    """Write zeros."""
    statistics["return"] = 0.0
    statistics.length = 0
    statistics.score = 0
    statistics.enemy_score = 0
    statistics.reasons = 0
    statistics.outcome = 0
    statistics.illegal_orders = 0
    statistics.seat = 0
    statistics.opponent = 0
    statistics.variant = 0


@jitable
def side_at_seat(episode: Record, settings: Record) -> int:
    """Return the side of a game's only environment; ``& 1`` tells the compiler that it is a valid index."""
    return (episode.seat ^ settings.observes_opponent) & 1


@jitable
def write_result(
    game: Record,
    rules: Record,
    episode: Record,
    side: int,
    is_finished: bool,
    result: Record,
    statistics: Record,
) -> None:
    """Write what a step returns of one environment, besides the infos."""
    if is_finished:
        write_statistics(game, rules, episode, side, statistics)
    elif result.is_finished:  # in the step that was written here before
        clear_statistics(statistics)
    is_over, is_done = episode.is_over != 0, game.done != 0
    result.reward = episode.reward[side]
    result.terminated = is_over & is_done
    result.truncated = is_over & (not is_done)
    result.is_finished = is_finished


@jitable
def gather_orders(actions: IntArray, row: int, orders: IntArray) -> None:
    """Copy the actions of both sides from two rows into ``orders``, (2, 11)."""
    for side in range(NUM_SIDES):
        for number in range(SATELLITES):
            orders[side, number] = actions[row + side, number]


@jitable
def gather_orders_against_opponent(
    legal: IntArray, episode: Record, actions: IntArray, row: int, bits: NDArray[np.uint64], orders: IntArray
) -> None:
    """Write the action of an environment, from its row, and that of its opponent into ``orders``, (2, 11).

    Opponents that are not EXTERNAL are played here. Every opponent takes a key from its stream, whether it needs one or not.
    """
    seat = episode.seat & 1
    enemy = 1 - seat
    key = next_key(episode.opponent_stream)
    for number in range(SATELLITES):
        orders[seat, number] = actions[row, number]
        orders[enemy, number] = episode.opponent_actions[number] if episode.opponent_kind == EXTERNAL else NOOP
    if episode.opponent_kind == RANDOM:
        sample_side(legal[enemy], key, 0, bits[enemy], orders[enemy])


@jitable
def count_events(game: Record, outcomes: Records, episode: Record) -> None:
    """Count the shots, the hits and the losses of the phase just played from its outcomes.

    A satellite that several shots hit is lost once; a collision that succeeds destroys both.
    """
    lost_by_alpha, lost_by_bravo = 0, 0  # satellites as bits
    for i in range(game.outcome_count):
        outcome = outcomes[i]
        side, kind, succeeds = int(outcome.side), outcome.kind, outcome.success != 0
        if kind == SHOT:
            episode.shots[side] += 1
            episode.hits[side] += succeeds
        if kind == GUARDING or not succeeds:
            continue
        target, attacker = 1 << int(outcome.target), (1 << int(outcome.attacker)) if kind == COLLISION else 0
        lost_by_alpha |= attacker if side == ALPHA else target
        lost_by_bravo |= target if side == ALPHA else attacker
    for number in range(SATELLITES):
        episode.losses[ALPHA] += (lost_by_alpha >> number) & 1
        episode.losses[BRAVO] += (lost_by_bravo >> number) & 1


@jitable
def count_phase(game: Record, outcomes: Records, episode: Record, settings: Record) -> None:
    """Bring the bookkeeping of an episode, but for its rewards, up to date after a phase was played.

    Args:
        game: the game.
        outcomes: those of the phase.
        episode: the episode, modified in place.
        settings: what all episodes have in common.
    """
    if settings.counts_events and game.outcome_count > 0:
        count_events(game, outcomes, episode)
    episode.length += 1
    for side in range(NUM_SIDES):
        episode.illegal_orders[side] += game.illegal_orders[side]
    episode.winner = winner_of(game)
    is_truncated = settings.max_cycles > 0 and episode.length >= settings.max_cycles
    episode.is_over = game.done != 0 or is_truncated


@jitable
def play_games(
    start: int,
    stop: int,
    state: State,
    sight: Sight | None,
    episodes: EpisodeState,
    workspace: Workspace,
    actions: IntArray,
    outcomes: Records,
    outputs: Outputs,
) -> int:
    """Play one phase of the games ``start`` to ``stop`` - 1 and write their results; return how many episodes ended.

    An episode that is new starts with the next step, one that is over stays as it is; so does a finished game.
    """
    games, all_rules, choices = state.games, state.rules, state.choices
    all_episodes, results, statistics = episodes.records, outputs.results, outputs.statistics
    settings, orders, bits, count = episodes.settings[0], workspace.orders, workspace.random_bits, 0
    has_episodes, two_sides, per_game = len(all_episodes) > 0, settings.sides == NUM_SIDES, len(all_rules) > 1
    for i in range(start, stop):
        game, rules = games[i], all_rules[i if per_game else 0]
        is_played = True
        if has_episodes:
            is_played = all_episodes[i].is_new == 0 and all_episodes[i].is_over == 0
        if is_played:
            if two_sides:
                gather_orders(actions, NUM_SIDES * i, orders)
            else:
                gather_orders_against_opponent(choices[i].legal, all_episodes[i], actions, i, bits, orders)
            play_orders(game, rules, choices[i].legal, orders, None, outcomes, sight, i)
        if not has_episodes:
            continue
        episode = all_episodes[i]
        if settings.counts_events:
            clear_events(episode)
        if is_played:
            count_phase(game, outcomes, episode, settings)
        for side in range(NUM_SIDES):
            episode.reward[side] = 0.0
            if is_played:
                known = game if sight is None else sight.beliefs[NUM_SIDES * i + side]
                reward_side(known, side, episode, settings.rewards_outcome)
        episode.is_new = 0
        is_finished = is_played and episode.is_over != 0
        count += is_finished
        if two_sides:
            for side in range(NUM_SIDES):
                row = NUM_SIDES * i + side
                write_result(game, rules, episode, side, is_finished, results[row], statistics[row])
                if sight is not None:
                    if is_finished:
                        statistics[row].enemy_score = sight.beliefs[row].score[1 - side]
        else:
            side = side_at_seat(episode, settings)
            write_result(game, rules, episode, side, is_finished, results[i], statistics[i])
            if sight is not None:
                if is_finished:
                    statistics[i].enemy_score = sight.beliefs[NUM_SIDES * i + side].score[1 - side]
    return count


@jit
def pay_rewards(
    start: int,
    stop: int,
    episodes: EpisodeState,
    rewards: NDArray[np.float64],
    totals: NDArray[np.float64],
    outputs: Outputs,
) -> None:
    """Replace the rewards of the phase just played, and what follows from them.

    Args:
        start: index of the first game.
        stop: one more than the index of the last game.
        episodes: their episodes, modified in place.
        rewards: (stop - start, 2), the rewards of both sides; those of games that were not played in the step are ignored.
        totals: (stop - start, 2), the returns before the phase.
        outputs: what the step has written, modified in place.
    """
    all_episodes, settings = episodes.records, episodes.settings[0]
    results, statistics, two_sides = outputs.results, outputs.statistics, settings.sides == NUM_SIDES
    for i in range(start, stop):
        episode, row = all_episodes[i], settings.sides * i
        is_finished = results[row].is_finished
        if episode.length == 0 or (episode.is_over and not is_finished):
            continue  # it starts with the next step, or was over before
        for side in range(NUM_SIDES):
            episode.reward[side] = rewards[i - start, side]
            episode.total_reward[side] = totals[i - start, side] + rewards[i - start, side]
        for seat in range(settings.sides):
            side = seat if two_sides else side_at_seat(episode, settings)
            results[row + seat].reward = episode.reward[side]
            if is_finished:
                statistics[row + seat]["return"] = episode.total_reward[side]


# Writing what environments return


@jitable
def write_info(game: Record, rules: Record, episode: Record, side: int, result: Record) -> None:
    """Write the infos of one environment."""
    result.illegal_orders = game.illegal_orders[side]
    result.score = game.score[side]
    result.enemy_score = game.score[1 - side]
    result.turn = game.turn
    result.phase = game.phase
    result.reasons = game.reasons
    result.seat = side
    result.opponent = episode.opponent
    result.variant = rules.variant


@jitable
def describe_games(
    start: int,
    stop: int,
    selected: NDArray[np.bool_],
    state: State,
    sight: Sight | None,
    episodes: EpisodeState,
    workspace: Workspace,
    outputs: Outputs,
) -> None:
    """Write legal orders, infos and sampled actions of the selected games."""
    games, all_rules, choices, all_episodes = state.games, state.rules, state.choices, episodes.records
    results, sampled = outputs.results, outputs.sampled
    settings, bits = episodes.settings[0], workspace.random_bits
    two_sides, per_game = settings.sides == NUM_SIDES, len(all_rules) > 1
    has_results, samples = len(results) > 0, len(sampled) > 0
    for i in range(start, stop):
        if not selected[i]:
            continue
        game, rules, legal, stream = games[i], all_rules[i if per_game else 0], choices[i].legal, choices[i].stream
        write_legal_orders(game, rules, workspace, legal)
        if two_sides:
            if has_results:
                for side in range(NUM_SIDES):
                    write_info(game, rules, all_episodes[i], side, results[NUM_SIDES * i + side])
                    if sight is not None:
                        belief = sight.beliefs[NUM_SIDES * i + side]
                        results[NUM_SIDES * i + side].enemy_score = belief.score[1 - side]
            if samples:
                sample_sides(legal, next_key(stream), bits, sampled, NUM_SIDES * i)
        else:
            episode = all_episodes[i]
            side = side_at_seat(episode, settings)
            write_info(game, rules, episode, side, results[i])
            if sight is not None:
                results[i].enemy_score = sight.beliefs[NUM_SIDES * i + side].score[1 - side]
            if samples:
                sample_side(legal[side], next_key(stream), side, bits[0], sampled[i])


@jitable
def observe_games(
    start: int,
    stop: int,
    selected: NDArray[np.bool_],
    state: State,
    episodes: EpisodeState,
    workspace: Workspace,
    observations: NDArray[Any],
    observe: Callable[..., None],
) -> None:
    """Write the observations of the selected games by ``observe_onehot`` or ``observe_tokens``.

    The function is a parameter, so that there is a compiled loop for each: one that tests for the encoding is far slower.
    """
    games, all_rules, all_episodes = state.games, state.rules, episodes.records
    settings, positions = episodes.settings[0], workspace.positions
    two_sides, per_game = settings.sides == NUM_SIDES, len(all_rules) > 1
    for i in range(start, stop):
        if not selected[i]:
            continue
        game, rules = games[i], all_rules[i if per_game else 0]
        find_positions(game, rules, workspace)
        if two_sides:
            for side in range(NUM_SIDES):
                observe(game, rules, side, positions, observations[NUM_SIDES * i + side])
        else:
            observe(game, rules, side_at_seat(all_episodes[i], settings), positions, observations[i])


@jitable
def observe_beliefs(
    start: int,
    stop: int,
    selected: NDArray[np.bool_],
    state: State,
    sight: Sight,
    episodes: EpisodeState,
    workspace: Workspace,
    observations: NDArray[Any],
    observe: Callable[..., None],
    sensor_range_scale: float,
    unseen_scale: float,
) -> None:
    """Write the observations of the selected games as ``observe_games`` does, of what each side knows of its game."""
    all_rules, all_episodes, settings = state.rules, episodes.records, episodes.settings[0]
    beliefs, sightings = sight.beliefs, sight.sightings
    two_sides, per_game = settings.sides == NUM_SIDES, len(all_rules) > 1
    end = observations.shape[1] - NUM_SIGHT_FEATURES
    for i in range(start, stop):
        if not selected[i]:
            continue
        rules, last_seen = all_rules[i if per_game else 0], sightings[i].phase
        for seat in range(settings.sides):
            side = seat if two_sides else side_at_seat(all_episodes[i], settings)
            belief, observation = beliefs[NUM_SIDES * i + side], observations[settings.sides * i + seat]
            find_positions(belief, rules, workspace)
            observe(belief, rules, side, workspace.positions, observation)
            write_sight(belief, rules, side, last_seen, sensor_range_scale, unseen_scale, observation[end:])


@jitable
def mask_games(
    start: int,
    stop: int,
    selected: NDArray[np.bool_],
    choices: Records,
    episodes: EpisodeState,
    masks: NDArray[np.int8],
) -> None:
    """Write the action masks of the selected games; ``masks``: (rows, 11, 28), contiguous."""
    settings, all_episodes = episodes.settings[0], episodes.records
    two_sides, words = settings.sides == NUM_SIDES, masks.view(np.int32)
    for i in range(start, stop):
        if not selected[i]:
            continue
        legal = choices[i].legal
        if two_sides:
            for side in range(NUM_SIDES):
                write_mask(legal[side], words[NUM_SIDES * i + side])
        else:
            write_mask(legal[side_at_seat(all_episodes[i], settings)], words[i])


PLAY, DESCRIBE, OBSERVE = range(3)
"""What ``step_games`` does: play a phase and write everything that follows from it; write it for the games as they are;
write their observations and masks alone."""


@jitable
def step_rows(
    task: int,
    start: int,
    stop: int,
    selected: NDArray[np.bool_],
    state: State,
    sight: Sight | None,
    episodes: EpisodeState,
    workspace: Workspace,
    actions: IntArray,
    outcomes: Records,
    outputs: Outputs,
) -> int:
    """Do what ``step_games`` says with temporary arrays of the caller's: on a GPU, those of a thread."""
    count = 0
    if task == PLAY:
        count = play_games(start, stop, state, sight, episodes, workspace, actions, outcomes, outputs)
    if task != OBSERVE:
        describe_games(start, stop, selected, state, sight, episodes, workspace, outputs)
    tokens, onehot = outputs.tokens, outputs.onehot
    if sight is None:
        if len(tokens) > 0:
            observe_games(start, stop, selected, state, episodes, workspace, tokens, observe_tokens)
        if len(onehot) > 0:
            observe_games(start, stop, selected, state, episodes, workspace, onehot, observe_onehot)
    else:
        scales = SENSOR_RANGE_SCALE, UNSEEN_SCALE
        if len(tokens) > 0:
            observe_beliefs(start, stop, selected, state, sight, episodes, workspace, tokens, observe_tokens, 1, 1)
        if len(onehot) > 0:
            observe_beliefs(start, stop, selected, state, sight, episodes, workspace, onehot, observe_onehot, *scales)
    if len(outputs.masks) > 0:
        mask_games(start, stop, selected, state.choices, episodes, outputs.masks)
    return count


@jit
def step_games(
    task: int,
    start: int,
    stop: int,
    selected: NDArray[np.bool_],
    state: State,
    sight: Sight | None,
    episodes: EpisodeState,
    actions: IntArray,
    outcomes: Records,
    outputs: Outputs,
) -> int:
    """Play one decision phase of games, write what follows from it, and return how many episodes ended.

    Args:
        task: PLAY, DESCRIBE or OBSERVE. Fields of results that are no infos are only written when playing.
        start: index of the first game.
        stop: one more than the index of the last game.
        selected: (n,), the games whose outputs are written.
        state: the games, modified in place.
        sight: what the sides know of them, modified in place; None if everything is seen. The compiler removes the branches
            of ``sight is not None`` then, so that only who hides enemies waits for their compilation.
        episodes: their episodes, modified in place.
        actions: (rows, 11) order codes.
        outcomes: (128,) of layout ``OUTCOME``, overwritten by each engagement: after one game, its outcomes; after several,
            of no use. Threads must not share it. Only used when playing.
        outputs: the arrays to write.
    """
    workspace = make_workspace(state.rules[0].outer_ring)
    return step_rows(task, start, stop, selected, state, sight, episodes, workspace, actions, outcomes, outputs)


# What single satellites observe


@jitable
def observe_satellites(
    start: int,
    stop: int,
    selected: NDArray[np.bool_],
    state: State,
    episodes: EpisodeState,
    sensor_range: int,
    sees_fleet: bool,
    observations: NDArray[Any],
    observe: Callable[..., None],
) -> None:
    """Write what each satellite of the selected games observes; see ``write_onehot_of_satellites``."""
    games, all_rules, all_episodes = state.games, state.rules, episodes.records
    settings, surroundings, per_game = episodes.settings[0], make_surroundings(observations), len(all_rules) > 1
    for i in range(start, stop):
        if not selected[i]:
            continue
        game, rules = games[i], all_rules[i if per_game else 0]
        for seat in range(settings.sides):
            side = seat if settings.sides == NUM_SIDES else side_at_seat(all_episodes[i], settings)
            reach = rules.sensor_range[side] if rules.sensor_range[side] > 0 else sensor_range
            row = settings.sides * i + seat
            observe(game, rules, side, reach, sees_fleet, surroundings, observations[row])


@jit
def write_onehot_of_satellites(
    start: int,
    stop: int,
    selected: NDArray[np.bool_],
    state: State,
    episodes: EpisodeState,
    sensor_range: int,
    sees_fleet: bool,
    observations: NDArray[np.float32],
) -> None:
    """Write what each satellite of games observes by itself, as "onehot".

    Args:
        start: index of the first game.
        stop: one more than the index of the last game.
        selected: (n,), the games whose observations are written.
        state: the games.
        episodes: their episodes.
        sensor_range: steps that a satellite sees where its side has no sensor range.
        sees_fleet: whether it sees its whole side, and not only what is within its range.
        observations: (rows, 11, size), overwritten.
    """
    observe_satellites(
        start, stop, selected, state, episodes, sensor_range, sees_fleet, observations, observe_satellites_onehot
    )


@jit
def write_tokens_of_satellites(
    start: int,
    stop: int,
    selected: NDArray[np.bool_],
    state: State,
    episodes: EpisodeState,
    sensor_range: int,
    sees_fleet: bool,
    observations: NDArray[np.int16],
) -> None:
    """Do what ``write_onehot_of_satellites`` does, as "tokens"."""
    observe_satellites(
        start, stop, selected, state, episodes, sensor_range, sees_fleet, observations, observe_satellites_tokens
    )
