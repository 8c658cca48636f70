"""Episodes: the record of one beside its game's, rewards, truncation, opponents, and the statistics of its end.

Everything random in a game comes from streams of its own, so that game i plays the same whatever the batch.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.rng import mix, next_key, random_bits, seed_stream
from geo_patrol.engine.sample import sample_side
from geo_patrol.engine.setup import set_up_game
from geo_patrol.engine.state import ALPHA, BRAVO, NOBODY, NOOP, SATELLITES, SIDES, IntArray, Record, Records
from geo_patrol.jit import jit, jitable

EPISODE = np.dtype(
    [
        ("action_stream", "u8", (2,)),  # key and counter of the stream from which actions are sampled
        ("opponent_stream", "u8", (2,)),  # the same of the opponent's keys, and of the choice of the opponent
        ("opponent_key", "u8"),  # the opponent's random key in this phase
        ("total_reward", "f8"),  # alpha's return so far; bravo's is the negative
        ("length", "i8"),  # phases played
        ("score_difference", "i8"),  # alpha's score minus bravo's after the last phase
        ("illegal_orders", "i8", (SIDES,)),  # so far
        ("seat", "i8"),  # the side that is not the opponent's
        ("next_seat", "i8"),
        ("opponent", "i8"),  # its index among the opponents
        ("outcome_count", "i8"),  # outcomes of the phase just played
        ("winner", "i8"),  # of a finished game: 0 alpha, 1 bravo, -1 nobody
        ("is_over", "i8"),  # 1: terminated or truncated
        ("is_new", "i8"),  # 1: reset at the start of this step, in which it is not played
        ("opponent_actions", "i8", (SATELLITES,)),
        ("legal", "i4", (SIDES, SATELLITES)),  # sets of legal orders
    ],
    align=True,
)
"""One episode, beside the record of its game."""

SETTINGS = np.dtype(
    [
        ("sides", "i8"),  # environments per game: 2, or 1 against an opponent
        ("rewards_outcome", "i8"),  # 1: rewards are -1, 0 or 1 at the end; 0: the change of the score difference
        ("max_cycles", "i8"),  # phases after which an unfinished game is truncated; 0: never
        ("first_seat", "i8"),
        ("alternates", "i8"),  # 1: the seat alternates between games, and between the episodes of a game
        ("observes_opponent", "i8"),  # 1: outputs are those of the opponent's side
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
        ("illegal_orders", "i8"),  # in the phase just played
        ("score", "i8"),
        ("enemy_score", "i8"),
        ("turn", "i8"),  # completed turns
        ("phase", "i8"),  # 0 movement, 1 engagement, 2 over
        ("reasons", "i8"),  # bit flags
        ("seat", "i8"),  # 0 alpha, 1 bravo
        ("opponent", "i8"),  # its index among the opponents; -1: none
    ],
    align=True,
)
"""What a step returns of one environment, besides arrays."""

INFO_FIELDS = ("illegal_orders", "score", "enemy_score", "turn", "phase", "reasons", "seat", "opponent")
"""Those fields of ``RESULT`` that infos consist of."""

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
    ],
    align=True,
)
"""Statistics of a finished episode, of one environment."""

_ACTIONS = np.uint64(0x6F72646572730000)  # separate the streams of actions and of opponents from the game's
_OPPONENT = np.uint64(0x6F70706F6E656E74)
_SHIFT_11 = np.uint64(11)
_UNIT = 1.0 / (1 << 53)

IDLE, RANDOM, EXTERNAL = range(3)
"""How an opponent's actions are found: all noop, sampled, or by code outside the engine."""


class Opponents(NamedTuple):
    """The opponents that new episodes choose from."""

    indices: NDArray[np.int64]
    """(choices,): their indices among all opponents."""
    cumulative: NDArray[np.float64]
    """(choices,): the cumulative sum of their probabilities; the last is 1."""
    kinds: NDArray[np.int64]
    """(opponents,): IDLE, RANDOM or EXTERNAL, of all opponents."""


NO_OPPONENTS = Opponents(np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))


# Starting


@jitable
def seed_episode(episode: Record, seed: np.uint64) -> None:
    """Restart the streams of an episode from its game's seed."""
    episode.action_stream[0] = mix(seed ^ _ACTIONS)
    episode.action_stream[1] = 0
    episode.opponent_stream[0] = mix(seed ^ _OPPONENT)
    episode.opponent_stream[1] = 0


@jit
def seed_games(
    rows: NDArray[np.int64], games: Records, episodes: Records, settings: Records, seeds: NDArray[np.uint64]
) -> None:
    """Restart all streams of the games at ``rows``, and the order of their seats; ``seeds``: one for each row."""
    for k in range(len(rows)):
        i = rows[k]
        seed_stream(games[i], seeds[k])
        seed_episode(episodes[i], seeds[k])
        episodes[i].next_seat = (settings[0].first_seat + settings[0].alternates * i) % SIDES


@jitable
def choose_opponent(episode: Record, opponents: Opponents) -> int:
    """Choose an episode's opponent, NOBODY if there is none; a single one takes no random number."""
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
    episode.total_reward = 0.0
    episode.length = 0
    episode.score_difference = 0
    episode.illegal_orders[ALPHA] = 0
    episode.illegal_orders[BRAVO] = 0
    episode.seat = episode.next_seat
    if alternates:
        episode.next_seat = 1 - episode.seat
    episode.opponent = choose_opponent(episode, opponents)
    episode.outcome_count = 0
    episode.winner = NOBODY
    episode.is_over = 0
    episode.is_new = 0


@jit
def reset_games(
    rows: NDArray[np.int64],
    games: Records,
    rules: Records,
    episodes: Records,
    settings: Records,
    opponents: Opponents,
    draws_keys: bool,
) -> None:
    """Start new episodes of the games at ``rows``.

    Args:
        rows: indices of the games.
        games: their records.
        rules: one for each game, or one for all; complete.
        episodes: their records.
        settings: (1,).
        opponents: whom they may meet.
        draws_keys: whether setup keys have to be drawn; otherwise the rules were sampled from them.
    """
    for k in range(len(rows)):
        i = rows[k]
        if draws_keys:
            games[i].setup_key = random_bits(games[i])
        set_up_game(games[i], rules[i if len(rules) > 1 else 0])
        start_episode(episodes[i], settings[0].alternates != 0, opponents)


# Playing


@jit
def choose_opponent_actions(rows: NDArray[np.int64], episodes: Records, opponents: Opponents) -> None:
    """Write the actions of those opponents that the engine plays itself, and every opponent's key of this phase."""
    random_bits = np.empty(SATELLITES, np.uint64)
    for i in rows:
        episode = episodes[i]
        if episode.is_over:
            continue
        episode.opponent_key = next_key(episode.opponent_stream)
        kind = opponents.kinds[episode.opponent]
        if kind == IDLE:
            for number in range(SATELLITES):
                episode.opponent_actions[number] = NOOP
        elif kind == RANDOM:
            legal = episode.legal[1 - episode.seat]
            sample_side(legal, episode.opponent_key, 0, random_bits, episode.opponent_actions)


@jitable
def gather_orders(episode: Record, two_sides: bool, i: int, actions: IntArray, orders: IntArray) -> None:
    """Copy the actions for game ``i`` of both sides into ``orders``, (2, 11)."""
    if two_sides:
        for side in range(SIDES):
            for number in range(SATELLITES):
                orders[side, number] = actions[SIDES * i + side, number]
    else:
        seat = episode.seat & 1
        for number in range(SATELLITES):
            orders[seat, number] = actions[i, number]
            orders[1 - seat, number] = episode.opponent_actions[number]


@jitable
def alphas_reward(game: Record, episode: Record, rewards_outcome: int) -> float:
    """Return alpha's reward of the phase just played, and update the score difference."""
    difference = int(game.score[ALPHA]) - int(game.score[BRAVO])
    change = difference - episode.score_difference
    episode.score_difference = difference
    if not rewards_outcome:
        return float(change)
    return 0.0 if episode.winner == NOBODY else 1.0 - 2.0 * episode.winner


@jitable
def write_statistics(game: Record, episode: Record, side: int, statistics: Record) -> None:
    """Write the statistics of a finished episode for one side."""
    statistics["return"] = episode.total_reward if side == ALPHA else 0.0 - episode.total_reward
    statistics.length = episode.length
    statistics.score = game.score[side]
    statistics.enemy_score = game.score[1 - side]
    statistics.reasons = game.reasons
    statistics.outcome = 0 if episode.winner == NOBODY else (1 if episode.winner == side else -1)
    statistics.illegal_orders = episode.illegal_orders[side]
    statistics.seat = side
    statistics.opponent = episode.opponent


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
