"""Match play: two agents, many games, batch by batch.

Games come in pairs that share a seed: in game 2 k the first agent is alpha, in game 2 k + 1 it is bravo. Pair k's
seed, ``game_seed(seed, k)``, depends on the match's seed and k alone, so ``Game(config, seed=...)`` sets the same game
up and draws the same chance for the same orders.

Pairs are played in chunks of ``CHUNK_PAIRS``: first the games of a chunk where the first agent is alpha, as one batch,
then those where it is bravo. An agent's own chance comes from a generator for each batch, seeded from the match's
seed, the chunk, the agent's side and its name (``agent_chance``). Hence

- the same arguments give the same games;
- a chunk does not depend on how many others there are;
- exchanging the two agents exchanges the two games of each pair and changes nothing else, as long as the agents
  remember nothing from one batch to the next.
"""

import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.protocol import Agent, check_agent, compute_actions, reset_agent
from geo_patrol.agents.registry import make_agent
from geo_patrol.config.presets import ConfigSource, Overrides, load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.batch import Batch, check_seed, fresh_seed
from geo_patrol.engine.encodings import observation_size, observation_type, sector_slots
from geo_patrol.engine.rng import mix, stream_number
from geo_patrol.engine.state import ALPHA, BRAVO, FORFEIT, ORDERS, SATELLITES, SIDES
from geo_patrol.engine.turn import (
    ALPHA_ILLEGAL,
    ALPHA_SCORE,
    BRAVO_ILLEGAL,
    BRAVO_SCORE,
    DONE,
    REASONS,
    REPORT,
    TURN,
    WINNER,
    describe_games,
    step_games,
)
from geo_patrol.errors import AgentError
from geo_patrol.evaluation.results import DRAW, FIRST, SECOND, Failure, MatchResult, join_results

CHUNK_PAIRS = 128
"""Pairs whose games are played side by side. Agents' chance depends on it, so it is the same for everybody."""

_SEATINGS = ((FIRST, SECOND), (SECOND, FIRST))
"""Who is alpha and who is bravo, in either batch of a chunk."""
_SPARE_BITS = 11  # of 64: what reads JSON numbers as floats gets the other 53 right
_NO_STREAMS = np.empty((0, 2), np.uint64)
_NO_SAMPLES = np.empty((0, SIDES, SATELLITES), np.int64)

OnFailure: TypeAlias = Literal["raise", "forfeit"]
"""What a match does when an agent fails."""
Keeper: TypeAlias = Callable[[tuple[str, str], list[int], list[list[NDArray[np.int8]]]], None]
"""Takes a chunk: the agents' names, the seeds of its pairs, and the orders of either batch."""
Progress = Callable[[int, int], None]
"""Hears how many games of a match are finished, and of how many."""


def game_seed(seed: int, pair: int) -> int:
    """Return the seed of both games of a pair.

    Args:
        seed: the match's.
        pair: the pair's number, from 0.

    Returns:
        A whole number below 2^53.
    """
    key = mix(np.uint64(seed % 2**64))
    return int(stream_number(np.uint64(key), np.uint64(pair))) >> _SPARE_BITS


def agent_chance(seed: int, chunk: int, side: int, name: str) -> np.random.Generator:
    """Return the generator from which an agent takes its chance while it plays one side of a chunk's games."""
    return np.random.default_rng([seed % 2**64, chunk, side, zlib.crc32(name.encode())])


def play_match(
    first: str | Agent,
    second: str | Agent,
    *,
    config: ConfigSource = "geo_patrol",
    overrides: Overrides | None = None,
    games: int = 1000,
    seed: int | None = None,
    save: str | Path | None = None,
    progress: Progress | None = None,
    on_failure: OnFailure = "raise",
) -> MatchResult:
    """Play a match between two agents.

    Args:
        first: an agent's name, see ``agent_names``, or an ``Agent``.
        second: its opponent; another object, even if it is of the same kind.
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        overrides: single values of it, such as ``{"bravo.patrols.ammo": 3}``.
        games: how many, an even number: half of them with the sides swapped.
        seed: where all chance comes from, a whole number from 0; None takes one from the operating system.
        save: a new file that keeps all games, see ``replays``; those of a chunk are written when it has been played. Games that
            an agent lost by failing stand in it unfinished, for the rules do not know that end, and those that it
            lost before the first phase not at all.
        progress: is called after every phase with the number of finished games and of all games.
        on_failure: what happens when an agent raises an exception or returns something else than orders: "raise"
            ends the match by an ``AgentError``, "forfeit" lets the agent lose all games of the batch that are still
            running, with no points, lists that in ``failures``, and goes on with the next batch.

    Returns:
        Every game's figures. Two agents of one name are told apart: the second is called "scripted (2)".

    Raises:
        ConfigError: the configuration is wrong.
        AgentError: an agent raised an exception, or returned orders of a wrong shape or type, and ``on_failure`` is
            "raise".
        ValueError: another argument is wrong.
        OSError: the file cannot be written; ``FileExistsError`` if it is there already.
    """
    agents = _take_agents(first, second)
    names = tell_apart(agents[0].name, agents[1].name)
    pairs = check_games(games) // 2
    if on_failure not in ("raise", "forfeit"):
        raise ValueError(f"on_failure = {on_failure!r}: give 'raise' or 'forfeit'")
    seed = new_seed() if seed is None else check_seed(seed)
    settled = load_config(config, overrides)
    parts = []
    with _keep_games(save, settled) as keep:
        for chunk, count in enumerate(chunk_sizes(pairs)):
            hear = _onward(progress, 2 * CHUNK_PAIRS * chunk, games)
            parts.append(
                play_chunk(agents, names, settled, seed, chunk, count, on_failure=on_failure, keep=keep, progress=hear)
            )
    return join_results(parts)


def new_seed() -> int:
    """Take a seed from the operating system, short enough to be typed again."""
    return fresh_seed() >> 31


def chunk_sizes(pairs: int) -> list[int]:
    """Return the number of pairs in every chunk of a match."""
    return [min(CHUNK_PAIRS, pairs - start) for start in range(0, pairs, CHUNK_PAIRS)]


def play_chunk(
    agents: tuple[Agent, Agent],
    names: tuple[str, str],
    config: GameConfig,
    seed: int,
    chunk: int,
    pairs: int,
    *,
    on_failure: OnFailure = "raise",
    keep: Keeper | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> MatchResult:
    """Play one chunk of a match, by itself.

    Args:
        agents: two different ones.
        names: of the two, different ones; agents' chance depends on them.
        config: what is played.
        seed: the match's.
        chunk: its number, from 0; its first pair is number ``CHUNK_PAIRS * chunk`` of the match.
        pairs: how many to play, at most ``CHUNK_PAIRS``.
        on_failure: as in ``play_match``.
        keep: is given the orders of all games when the chunk has been played.
        progress: is called after every phase with the number of the chunk's finished games.

    Returns:
        The games of this chunk; ``results.join_results`` puts those of a match together.
    """
    start = time.perf_counter()
    seeds = [game_seed(seed, CHUNK_PAIRS * chunk + pair) for pair in range(pairs)]
    played, given = [], []
    for batch, seating in enumerate(_SEATINGS):
        seats = [
            _Seat(agents[place], names[place], side, agent_chance(seed, chunk, side, names[place]))
            for side, place in enumerate(seating)
        ]
        given.append(_Given(keep_all=keep is not None))
        played.append(_play_batch(config, seats, seeds, given[batch], on_failure, _after(progress, batch * pairs)))
    if keep is not None:
        keep(names, seeds, [batch.orders for batch in given])
    return _gather(names, config, seed, time.perf_counter() - start, played)


def check_games(games: Any) -> int:
    """Return the number of games of a match.

    Raises:
        ValueError: it is odd, not positive, or not a whole number.
    """
    if isinstance(games, bool) or not hasattr(games, "__index__") or games < 2 or games % 2:
        raise ValueError(f"games = {games!r}: give an even number from 2 on; every second game swaps the sides")
    return int(games)


def _after(progress: Callable[[int], None], before: int) -> Callable[[int], None]:
    """Let a batch, which knows only its own games, report the progress of its chunk."""
    return lambda finished: progress(before + finished)


def _onward(progress: Progress | None, before: int, games: int) -> Callable[[int], None]:
    """Let a chunk, which knows only its own games, report the progress of the match."""

    def report(finished: int) -> None:
        if progress is not None:
            progress(before + finished, games)

    return report


# Agents


def _take_agents(first: str | Agent, second: str | Agent) -> tuple[Agent, Agent]:
    agents = [_take_agent(place, given) for place, given in (("first", first), ("second", second))]
    if agents[0] is agents[1]:
        raise ValueError(f"first and second are the same object, agent {agents[0].name!r}: give two")
    return agents[0], agents[1]


def _take_agent(place: str, given: str | Agent) -> Agent:
    return check_agent(make_agent(given) if isinstance(given, str) else given, place)


def tell_apart(first: Any, second: Any) -> tuple[str, str]:
    """Return two different names for the agents of a match."""
    first, second = str(first), str(second)
    return first, second if second != first else f"{second} (2)"


@dataclass(frozen=True)
class _Seat:
    """An agent on one side of a batch of games."""

    agent: Agent
    name: str
    side: int
    chance: np.random.Generator

    def begin(self, games: int) -> None:
        """Tell the agent that all games are new."""
        reset_agent(self.agent, self.name, np.ones(games, np.bool_))

    def order(self, observations: NDArray[Any], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Ask the agent for the orders of a phase, (n, 11); the arrays are its own to keep."""
        seen, allowed = observations[:, self.side].copy(), masks[:, self.side].copy()
        return compute_actions(self.agent, self.name, seen, allowed, self.chance)


# Play


@dataclass(frozen=True)
class _Played:
    """A batch of finished games, as the sides see them."""

    seeds: list[int]
    reports: NDArray[np.int64]  # (n, 10), see engine.turn.write_report
    illegal_orders: NDArray[np.int64]  # (n, 2), in the whole game
    first_game: NDArray[np.int64]  # (phases, 2, 11), orders given in game 0
    failures: dict[int, tuple[int, str]]  # by side: how many games were running, and what the agent did


class _Given:
    """The orders given in a batch of games, illegal ones included: they count, and may forfeit the game."""

    def __init__(self, keep_all: bool) -> None:
        self._keep_all = keep_all
        self.orders: list[NDArray[np.int8]] = []
        """(n, 2, 11) for each phase, of all games, or of game 0 alone."""
        self.first_phases = 0

    def take(self, orders: NDArray[np.int64], is_first_running: bool) -> None:
        """Take in the orders of a phase."""
        self.first_phases += is_first_running
        if self._keep_all or is_first_running:
            self.orders.append((orders if self._keep_all else orders[:1]).astype(np.int8))

    def first_game(self) -> NDArray[np.int64]:
        """Return the orders of game 0, (phases, 2, 11); an agent that fails at once leaves none."""
        orders = [orders[0] for orders in self.orders[: self.first_phases]]
        return np.array(orders, np.int64).reshape(-1, SIDES, SATELLITES)


def _play_batch(
    config: GameConfig,
    seats: list[_Seat],
    seeds: list[int],
    given: _Given,
    on_failure: OnFailure,
    progress: Callable[[int], None],
) -> _Played:
    """Play games side by side to the end; finished ones stay as they are, so that rows keep their places."""
    field = _Field(config, seats, seeds)
    illegal = np.zeros((len(seeds), SIDES), np.int64)
    running = np.ones(len(seeds), np.bool_)
    failed = field.begin()
    failures: dict[int, tuple[int, str]] = {}
    while running.any():
        orders, failed = (field.no_orders, failed) if failed else field.ask()
        if failed:
            if on_failure == "raise":
                raise next(iter(failed.values()))
            failures = {side: (int(running.sum()), str(error)) for side, error in failed.items()}
            reports = field.forfeit(running, list(failed))
        else:
            given.take(orders, bool(running[0]))
            reports = field.step(orders)
            illegal[running] += reports[running][:, [ALPHA_ILLEGAL, BRAVO_ILLEGAL]]
        running = reports[:, DONE] == 0
        progress(len(seeds) - int(running.sum()))
    return _Played(seeds, reports, illegal, given.first_game(), failures)


class _Field:
    """A batch of games with what its two agents see of it."""

    def __init__(self, config: GameConfig, seats: list[_Seat], seeds: list[int]) -> None:
        self._seats = seats
        self._batch = batch = Batch(config, len(seeds))
        batch.seed(seeds)
        batch.reset()
        self._encoding = encoding = seats[ALPHA].agent.observation
        outer_ring, count = config.board.outer_ring, len(seeds)
        self._slots = sector_slots(encoding, outer_ring)
        self._observations = np.empty(
            (count, SIDES, observation_size(encoding, outer_ring)), observation_type(encoding)
        )
        self._masks = np.empty((count, SIDES, SATELLITES, ORDERS), np.int8)
        self._reports = np.empty((count, REPORT), np.int64)
        self._rule_figures = batch.rule_figures(encoding)
        words = self._masks.view(np.int32)
        self._described = (self._slots, self._rule_figures, batch.legal, words, self._observations, self._reports)
        describe_games(batch.games, batch.rules, *self._described)

    def begin(self) -> dict[int, AgentError]:
        """Tell both agents that all games are new; return who failed, by side."""
        failed = {}
        for side, seat in enumerate(self._seats):
            try:
                seat.begin(len(self._batch.games))
            except AgentError as error:
                failed[side] = error
        return failed

    def ask(self) -> tuple[NDArray[np.int64], dict[int, AgentError]]:
        """Return the orders of both sides, (n, 2, 11), and who failed, by side."""
        orders, failed = self.no_orders, {}
        for side, seat in enumerate(self._seats):
            try:
                orders[:, side] = seat.order(self._seen_by(seat), self._masks)
            except AgentError as error:
                failed[side] = error
        return orders, failed

    @property
    def no_orders(self) -> NDArray[np.int64]:
        """Noops for everybody, (n, 2, 11)."""
        return np.zeros((len(self._batch.games), SIDES, SATELLITES), np.int64)

    def _seen_by(self, seat: _Seat) -> NDArray[Any]:
        encoding = seat.agent.observation
        return self._observations if encoding == self._encoding else self._batch.observe(encoding)

    def step(self, orders: NDArray[np.int64]) -> NDArray[np.int64]:
        """Play a phase, and return the reports."""
        batch = self._batch
        step_games(batch.games, batch.rules, orders, batch.outcomes, *self._described, _NO_STREAMS, _NO_SAMPLES)
        return self._reports

    def forfeit(self, running: NDArray[np.bool_], sides: list[int]) -> NDArray[np.int64]:
        """End the running games against sides whose agents failed: they lose all their points, and the game.

        If both failed, it is drawn. No game of the batch goes on after that, so only the reports are written.
        """
        reports = self._reports
        reports[running, DONE] = 1
        reports[running, REASONS] = sum(FORFEIT << side for side in sides)
        reports[running, WINNER] = 1 - sides[0] if len(sides) == 1 else DRAW
        for side in sides:
            reports[running, ALPHA_SCORE + side] = 0
        return reports


# Replays


@contextmanager
def _keep_games(path: str | Path | None, config: GameConfig) -> Iterator[Keeper | None]:
    """Open the file that keeps the games of a match, if there is to be one."""
    if path is None:
        yield None
        return
    from geo_patrol.replays.recorder import Recorder  # noqa: PLC0415 - only where games are kept

    with Recorder(path, config, sync=False) as recorder:

        def keep(names: tuple[str, str], seeds: list[int], orders: list[list[NDArray[np.int8]]]) -> None:
            for pair, seed in enumerate(seeds):
                for (alpha, bravo), given in zip(_SEATINGS, orders, strict=True):
                    recorder.begin(seed=seed, alpha=names[alpha], bravo=names[bravo])
                    for phase in given:
                        if recorder.is_over:
                            break
                        recorder.record_codes(phase[pair])
            recorder.sync()

        yield keep


# Results


def _gather(
    names: tuple[str, str], config: GameConfig, seed: int, seconds: float, played: list[_Played]
) -> MatchResult:
    """Put the games of both batches in the order of the match, and the sides' figures in that of the agents."""
    reports = _interleave([batch.reports for batch in played])
    first_side = np.tile(np.array([ALPHA, BRAVO]), len(reports) // 2)
    by_agent = np.stack([first_side, 1 - first_side], axis=1)  # (games, 2): the side of each agent
    winner = reports[:, WINNER]
    return MatchResult(
        agents=names,
        config=config,
        seed=seed,
        seconds=seconds,
        seeds=_interleave([np.array(batch.seeds, np.uint64) for batch in played]),
        first_side=first_side,
        scores=np.take_along_axis(reports[:, [ALPHA_SCORE, BRAVO_SCORE]], by_agent, axis=1),
        turns=reports[:, TURN] + 1,
        reasons=reports[:, REASONS].copy(),
        winner=np.where(winner == DRAW, DRAW, winner ^ first_side),
        illegal_orders=np.take_along_axis(_interleave([batch.illegal_orders for batch in played]), by_agent, axis=1),
        first_game=played[0].first_game,
        failures=tuple(
            Failure(_SEATINGS[place][side], side, games, message)
            for place, batch in enumerate(played)
            for side, (games, message) in batch.failures.items()
        ),
    )


def _interleave(batches: list[NDArray[Any]]) -> NDArray[Any]:
    """Join the two batches of a chunk alternately."""
    return np.stack(batches, axis=1).reshape(-1, *batches[0].shape[1:])
