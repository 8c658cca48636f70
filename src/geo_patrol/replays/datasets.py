"""Data sets: recorded games as arrays, for imitation and offline learning.

A replay holds orders, not observations, so its games are played again. Many are played side by side: the seed and the
orders give every position, and the positions of hundreds of games are observed in one compiled call. The positions that
the file records are compared with those that the rules give.

Half of the time goes into reading the files, so that phases are checked in a shorter way than those of single games: their
recorded positions become numbers, which are compared with those of the rules anyway.
"""

import functools
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.protocol import Agent, ProbabilisticAgent, mixture_of
from geo_patrol.agents.registry import as_agent, is_builtin
from geo_patrol.base.arguments import check_choice
from geo_patrol.base.errors import ConfigError, RecordingError, optional_import, show
from geo_patrol.base.sides import SIDES
from geo_patrol.config.presets import ConfigSource, load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine import state, steps
from geo_patrol.engine.observe import Encoding, check_encoding
from geo_patrol.envs.arguments import RewardName
from geo_patrol.envs.opponents import Mixture
from geo_patrol.envs.registration import environment_id
from geo_patrol.envs.spaces import OrderSpace, box, masked
from geo_patrol.game.game import Games, make_outputs
from geo_patrol.game.notation import PHASES, read_reasons
from geo_patrol.game.position import FLEET_FIELDS, SIDE_FIELDS, VISIBLE_FIELDS
from geo_patrol.replays.checking import play
from geo_patrol.replays.files import MAX_FAULTS, ReplayReader
from geo_patrol.replays.replay import EndLine, PhaseLine, RecordedPhase, Replay, read_orders

__all__ = ["RecordedGame", "ReplayDataset", "Samples", "Transitions"]

OnDamage: TypeAlias = Literal["raise", "skip"]

SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
"""Endings of the replay files of a folder."""
_PHASES_AT_ONCE = 16_384
"""Games are played together until they have so many phases."""
_OBSERVED_AT_ONCE = 2048
"""Phases that are observed at once. Their observations on four rings are 26 MB: for arrays above 32 MB glibc asks the system for
new memory each time, whose pages take longer to map than to fill."""


class Samples(NamedTuple):
    """Decisions of single sides, row by row: those of a game follow each other, alpha's before bravo's in each phase."""

    observations: NDArray[Any]
    """(n, size) float32 ("onehot") or int16 ("tokens"), as the side saw the position."""
    action_masks: NDArray[np.int8]
    """(n, 11, 28), 1 where an order was legal."""
    actions: NDArray[np.int64]
    """(n, 11) order codes as they were carried out: illegal orders became noop."""
    rewards: NDArray[np.float32]
    """(n,) reward of the side for this phase, as in the environments."""
    returns: NDArray[np.float32]
    """(n,) sum of its rewards from this phase on, not discounted."""
    outcomes: NDArray[np.float32]
    """(n,) how the game ended for the side: 1 won, 0 drawn, -1 lost; NaN if it was not recorded to its end."""
    terminations: NDArray[np.bool_]
    """(n,) whether the game ended with this phase."""
    games: NDArray[np.int64]
    """(n,) index of the game in ``ReplayDataset.games``."""
    sides: NDArray[np.int8]
    """(n,) 0 alpha, 1 bravo."""
    turns: NDArray[np.int32]
    """(n,) turn, from 1."""
    phases: NDArray[np.int8]
    """(n,) 0 movement, 1 engagement."""


class Transitions(NamedTuple):
    """Decisions of single sides with what followed, row by row in the order of ``Samples``: each row is complete."""

    observations: NDArray[Any]
    """(n, size) float32 ("onehot") or int16 ("tokens"), as the side saw the position."""
    action_masks: NDArray[np.int8]
    """(n, 11, 28), 1 where an order was legal."""
    actions: NDArray[np.int64]
    """(n, 11) order codes as they were carried out: illegal orders became noop."""
    rewards: NDArray[np.float32]
    """(n,) reward of the side for this phase, as in the environments."""
    next_observations: NDArray[Any]
    """(n, size), as the side saw the position after the phase, the last one of a game included."""
    next_action_masks: NDArray[np.int8]
    """(n, 11, 28), the legal orders there: noop alone when the game is over."""
    terminations: NDArray[np.bool_]
    """(n,) whether the game ended with this phase."""
    truncations: NDArray[np.bool_]
    """(n,) whether the recording ended with this phase, and the game did not."""
    log_probs: NDArray[np.float64]
    """(n,) logarithm of the probability with which the agent gave these orders; NaN where it is not known."""
    games: NDArray[np.int64]
    """(n,) index of the game in ``ReplayDataset.games``."""
    sides: NDArray[np.int8]
    """(n,) 0 alpha, 1 bravo."""


_Rows = TypeVar("_Rows", Samples, Transitions)


class RecordedGame(NamedTuple):
    """Where the samples of a game come from."""

    path: Path
    number: int
    """Index of the game in its file, for ``read_replay``."""
    agents: tuple[str, str]
    """Names of the agents of alpha and bravo."""
    seed: int | None


class ReplayDataset:
    """The decisions in replay files as arrays, read in batches.

    >>> dataset = ReplayDataset("games/", encoding="tokens")         # doctest: +SKIP
    >>> for samples in dataset.batches(4096):                        # doctest: +SKIP
    ...     print(samples.observations.shape, samples.actions.shape)

    All games have the same configuration, unless ``mixed`` says otherwise; observations hold the figures of the rules.

    Args:
        sources: a replay file, a folder, whose replay files are read by name, folders in it too; or several of them.
        encoding: encoding of the observations, "onehot" or "tokens".
        reward: "score", the change of the score difference, or "outcome", as in the environments.
        agent: only the decisions of the agent of this name, such as "policy:base"; None takes those of both sides.
        config: only the games of this configuration.
        mixed: whether games may have different configurations, such as those sampled from ranges; their boards must have
            the same rings.
        on_damage: "raise" stops at a damaged file, or a game that does not follow the rules; "skip" leaves such games out
            and lists them in ``faults``.

    Attributes:
        paths: the files.
        games: the games read so far, in the iteration begun last.
        faults: what was left out, with the names of the files: the first twenty.
        fault_count: how much was left out.

    Raises:
        RecordingError: there are no replay files.
        ConfigError: the configuration is invalid.
        ValueError: another argument is invalid.
    """

    def __init__(
        self,
        sources: str | Path | Iterable[str | Path],
        *,
        encoding: Encoding = "onehot",
        reward: RewardName = "score",
        agent: str | None = None,
        config: ConfigSource | None = None,
        mixed: bool = False,
        on_damage: OnDamage = "raise",
    ) -> None:
        check_choice("reward", reward, get_args(RewardName))
        check_choice("on_damage", on_damage, get_args(OnDamage))
        if config is not None and mixed:
            raise ValueError("config selects the games of one configuration: leave it out, or mixed")
        self.paths = _find_files([sources] if isinstance(sources, (str, Path)) else sources)
        self.encoding, self.reward, self.agent = check_encoding(encoding), reward, agent
        self.mixed, self.on_damage = mixed, on_damage
        self._selected = None if config is None else load_config(config)
        self.games: list[RecordedGame] = []
        self.faults: list[str] = []
        self.fault_count = 0

    def batches(self, size: int = 4096) -> Iterator[Samples]:
        """Yield samples in batches of a size; the last one may be smaller.

        Raises:
            RecordingError: a file is damaged or a game does not follow the rules, and ``on_damage`` is "raise".
            ConfigError: games have different configurations.
            ValueError: the size is not a positive integer.
        """
        return self._batches(_check_size(size), self._samples)

    def transitions(
        self, size: int = 4096, *, behavior: Mapping[str, str | Agent] | None = None
    ) -> Iterator[Transitions]:
        """Yield transitions in batches of a size; the last one may be smaller.

        Args:
            size: transitions of a batch.
            behavior: by the name under which it was recorded, the agent that gave the orders, or how ``make_agent`` makes it:
                ``{"policy:base": "policy:base"}``. It must have ``order_probabilities``; ``log_probs`` follow from these, and are
                NaN for agents that are not given.

        Raises:
            RecordingError, ConfigError: as for ``batches``.
            ValueError: the size is not a positive integer, or an agent does not exist or has no ``order_probabilities``.
        """
        agents: dict[str, ProbabilisticAgent] = {}
        for name, given in (behavior or {}).items():
            agent = as_agent(given, "behavior")
            if not isinstance(agent, ProbabilisticAgent):
                raise ValueError(f"behavior: agent {name!r} must have order_probabilities, see ProbabilisticAgent")
            agents[name] = agent
        return self._batches(_check_size(size), functools.partial(self._transitions, agents))

    def read(self) -> Samples:
        """Read all samples into memory; with "onehot" these are gigabytes for a million.

        Raises:
            RecordingError: as for ``batches``; or there are no samples.
            ConfigError: games have different configurations.
        """
        parts = list(self.batches())
        if not parts:
            raise self._no_decisions()
        return _join(parts)

    def to_minari(self, dataset_id: str, *, opponent: Mixture | None = None, **metadata: Any) -> Any:
        """Write a Minari data set, an episode for each side of each game.

        Observations are those of the Gymnasium environment with ``mask_in="obs"``, which the data set recovers, on the recorded
        sides; the infos of each position are seat, turn (completed ones) and phase.

        Args:
            dataset_id: name of the data set, such as "geo_patrol/scripted-v0".
            opponent: whom the recovered environment plays against; by default the recorded opponents, each as often as it is
                recorded.
            metadata: more arguments of ``minari.create_dataset_from_buffers``, such as ``author``.

        Returns:
            The ``minari.MinariDataset``.

        Raises:
            MissingPackageError: Minari is not installed.
            RecordingError: as for ``batches``; or there are no games.
            ConfigError: games have different configurations.
            ValueError: the data set exists already, Minari refuses an argument, or a recorded opponent is not an agent of the
                package, so that ``opponent`` must be given.
        """
        with optional_import("minari"):
            import gymnasium  # noqa: PLC0415
            import minari  # noqa: PLC0415
            from minari.data_collector import EpisodeBuffer  # noqa: PLC0415

        opponents, sides = self._count_opponents()
        played = self._played()
        first = next(played, None)
        if first is None:
            raise RecordingError(f"{self.paths[0]}: there are no games in it")
        options: dict[str, Any] = {
            "config": first.config.to_dict(),
            "opponent": _as_mixture(opponents) if opponent is None else opponent,
            "seat": "random" if len(sides) > 1 else SIDES[sides.pop()],
            "observation": self.encoding,
            "reward": self.reward,
        }
        env = gymnasium.make(environment_id("geo_patrol"), mask_in="obs", disable_env_checker=True, **options)

        num_written = 0

        def episodes() -> Iterator[Any]:
            nonlocal num_written
            for part in chain([first], played):
                for episode in self._episodes(part):
                    num_written += 1
                    yield EpisodeBuffer(**episode)

        try:
            return minari.create_dataset_from_buffers(
                dataset_id,
                episodes(),
                env=env,
                observation_space=masked(box(first.config, self.encoding)),
                action_space=OrderSpace(),
                **{"eval_env": env} | metadata,  # as it would be without, but for a warning
            )
        except BaseException:
            if num_written:  # half of a data set, and a new one: Minari writes into no other
                minari.delete_dataset(dataset_id)
            raise

    # Reading and playing

    def _played(self) -> Iterator["_Played"]:
        """Yield games that have been played, some at a time."""
        self.games = []
        pending: list[_Recording] = []
        num_phases = 0
        for recording in self._recordings():
            pending.append(recording)
            num_phases += recording.length
            if num_phases >= _PHASES_AT_ONCE:
                yield from self._play(pending)
                pending, num_phases = [], 0
        if pending:
            yield from self._play(pending)

    def _recordings(self) -> Iterator["_Recording"]:
        """Yield the games of all files that can be read, have phases, and are of the right configuration."""
        self.faults, self.fault_count = [], 0
        expected: tuple[GameConfig, RecordedGame] | None = None
        for path in self.paths:
            for recording in self._read(path):
                config, game = recording.config, recording.game
                if self._selected is not None and config != self._selected:
                    continue
                if expected is None:
                    expected = config, game
                self._check_configuration(config, game, *expected)
                yield recording

    def _count_opponents(self) -> tuple[Counter[str], set[int]]:
        """Return in how many episodes each opponent was met, and on which sides the data set's agent plays.

        Raises:
            RecordingError: there is no episode.
        """
        opponents: Counter[str] = Counter()
        sides: set[int] = set()
        for recording in self._recordings():
            for side, name in enumerate(recording.game.agents):
                if self.agent in (None, name):
                    opponents[recording.game.agents[1 - side]] += 1
                    sides.add(side)
        if not opponents:
            raise self._no_decisions()
        return opponents, sides

    def _no_decisions(self) -> RecordingError:
        return RecordingError(f"{self.paths[0]}: no decisions{f' of {self.agent!r}' if self.agent else ''}")

    def _check_configuration(
        self, config: GameConfig, game: RecordedGame, expected: GameConfig, first: RecordedGame
    ) -> None:
        if self.mixed:
            rings, others = config.board.outer_ring, expected.board.outer_ring
            if rings != others:
                raise ConfigError(
                    f"{game.path}, game {game.number}: a board of {rings} rings, {first.path} has {others}: "
                    "observations would have different sizes; read them as two data sets"
                )
            if config.counts_patrols != expected.counts_patrols:
                raise ConfigError(
                    f"{game.path}, game {game.number}: only one of {show(config.title)} and {show(expected.title)} has points for "
                    "destroyed Patrols: observations would have different sizes; read them as two data sets"
                )
            if config.hides_enemies != expected.hides_enemies:
                raise ConfigError(
                    f"{game.path}, game {game.number}: only one of {show(config.title)} and {show(expected.title)} hides "
                    "enemies: observations would have different sizes; read them as two data sets"
                )
        elif config != expected:
            raise ConfigError(
                f"{game.path}, game {game.number}: {show(config.title)}, but game {first.number} of {first.path} is "
                f"{show(expected.title)} or has other values: select one with config, or give mixed=True"
            )

    def _read(self, path: Path) -> Iterator["_Recording"]:
        """Yield the games of a file that can be read and have phases."""
        reader, known = _PhaseReader(path), 0
        replays = iter(reader)
        while True:
            try:
                replay = next(replays, None)
                faults = [f"{path}: {text}" for text in reader.faults[known:]]
            except RecordingError as error:  # there is no game in it
                replay, faults = None, [str(error)]
            known = len(reader.faults)
            for fault in faults:
                self._report(fault)
            if replay is None:
                self.fault_count += reader.fault_count - len(reader.faults)
                return
            if replay.fault is None and replay.phases:
                yield _Recording.of(path, replay, reader.after)

    def _report(self, fault: str) -> None:
        if self.on_damage == "raise":
            raise RecordingError(fault)
        self.fault_count += 1
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(str(RecordingError(fault)))

    def _play(self, recordings: Sequence["_Recording"]) -> Iterator["_Played"]:
        """Play games, report those that do not follow the rules, and yield the others."""
        played, faults = _play_games(recordings)
        for fault in faults:
            if fault:
                self._report(fault)
        is_valid = np.array([fault is None for fault in faults])
        if is_valid.any():
            first = len(self.games)
            self.games += [recording.game for recording, fault in zip(recordings, faults, strict=True) if fault is None]
            yield played._replace(numbers=np.where(is_valid, first + np.cumsum(is_valid) - 1, -1))

    # Arrays

    def _batches(self, size: int, make: "Callable[[_Played, _Values, slice], _Rows]") -> Iterator[_Rows]:
        """Yield batches; those that do not begin or end within games that were played together are not copied."""
        pending: list[_Rows] = []
        missing = size
        for played in self._played():
            values, start = self._values(played), 0
            while start < played.num_decisions:
                stop = min(start + min((missing + 1) // 2, _OBSERVED_AT_ONCE), played.num_decisions)
                pending.append(make(played, values, slice(start, stop)))
                missing -= len(pending[-1].actions)
                start = stop
                while missing <= 0:  # one sample is left over where the size is odd
                    rows = _join(pending)
                    yield _take(rows, slice(size))
                    pending, missing = [_take(rows, slice(size, None))], missing + size
        if missing < size:
            yield _join(pending)

    def _samples(self, played: "_Played", values: "_Values", part: slice) -> Samples:
        """Return the samples of some decisions in games."""
        return self._taken(played, part, self._samples_of_both(played, values, part))

    def _transitions(
        self, agents: Mapping[str, ProbabilisticAgent], played: "_Played", values: "_Values", part: slice
    ) -> Transitions:
        """Return the transitions of some decisions in games."""
        samples = self._samples_of_both(played, values, part)
        next_observations, next_action_masks = self._observe(played, played.positions[played.following[part]])
        is_cut = played.is_last[part] & ~values.terminations[part]
        transitions = Transitions(
            observations=samples.observations,
            action_masks=samples.action_masks,
            actions=samples.actions,
            rewards=samples.rewards,
            next_observations=next_observations,
            next_action_masks=next_action_masks,
            terminations=samples.terminations,
            truncations=np.repeat(is_cut, 2),
            log_probs=self._log_probs(played, part, samples, agents),
            games=samples.games,
            sides=samples.sides,
        )
        return self._taken(played, part, transitions)

    def _log_probs(
        self, played: "_Played", part: slice, samples: Samples, agents: Mapping[str, ProbabilisticAgent]
    ) -> NDArray[np.float64]:
        log_probs = np.full(len(samples.actions), np.nan)
        for name, agent in agents.items():
            rows = np.flatnonzero(played.is_by(name)[played.game_of[part]])
            observations = samples.observations
            if agent.observation != self.encoding:
                seen = played.positions[part].observe(agent.observation)
                observations = seen.reshape(len(log_probs), seen.shape[2])
            weights, orders = mixture_of(agent, observations[rows], samples.action_masks[rows])
            given = np.take_along_axis(orders, samples.actions[rows, None, :, None], axis=3)[..., 0]
            with np.errstate(divide="ignore"):
                log_probs[rows] = np.log((weights * given.prod(axis=2)).sum(axis=1))
        return log_probs

    def _observe(self, played: "_Played", positions: Games) -> tuple[NDArray[Any], NDArray[np.int8]]:
        """Return the observations and the action masks of both sides, (2 * n, size) and (2 * n, 11, 28)."""
        features = {"hides_enemies": positions.hides_enemies, "counts_patrols": played.config.counts_patrols}
        outer_ring = played.config.board.outer_ring
        outputs = make_outputs(2 * len(positions), self.encoding, outer_ring, **features, masks=True)
        positions.run(steps.OBSERVE, outputs=outputs)
        return outputs.tokens if self.encoding == "tokens" else outputs.onehot, outputs.masks

    def _taken(self, played: "_Played", part: slice, rows: _Rows) -> _Rows:
        """Return those rows of both sides that the data set has."""
        game_of = played.game_of[part]
        is_taken = (played.numbers[game_of] >= 0)[:, None] & played.is_by(self.agent)[game_of]
        return rows if is_taken.all() else _take(rows, is_taken.reshape(-1))

    def _samples_of_both(self, played: "_Played", values: "_Values", part: slice) -> Samples:
        """Return the samples of both sides of some decisions, whoever played them."""
        decisions, game_of = played.positions[part], played.game_of[part]
        observations, action_masks = self._observe(played, decisions)
        return Samples(
            observations=observations,
            action_masks=action_masks,
            actions=decisions.replace_illegal(played.codes[part]).reshape(-1, state.SATELLITES),
            rewards=values.rewards[part].reshape(-1),
            returns=values.returns[part].reshape(-1),
            outcomes=values.outcomes[game_of].reshape(-1),
            terminations=np.repeat(values.terminations[part], 2),
            games=np.repeat(played.numbers[game_of], 2),
            sides=np.tile(np.arange(2, dtype=np.int8), len(decisions)),
            turns=np.repeat(decisions.turn, 2),
            phases=np.repeat(decisions.phase.astype(np.int8), 2),
        )

    def _values(self, played: "_Played") -> "_Values":
        """Return what decisions were worth."""
        positions, num = played.positions, played.num_decisions
        ends = positions[num:]
        is_last, is_over = played.is_last, ends.is_over
        terminations = is_last & is_over[played.game_of]
        outcomes = np.where(is_over[:, None], ends.returns, np.nan).astype(np.float32)
        if self.reward == "outcome":
            final = np.where(is_over, ends.returns[:, 0], 0)
            worth = np.where(terminations, final[played.game_of], 0)
            return _Values(_both(worth), _both(final[played.game_of]), outcomes, terminations)
        known, sides = positions.known_scores, np.arange(state.NUM_SIDES)
        difference = np.subtract(known[:, sides, sides], known[:, sides, 1 - sides], dtype=np.int64)
        # As in the environments, the first reward includes the difference at the start, so that they sum to the last one.
        before = np.where(played.is_first[:, None], 0, difference[:num])
        rewards, returns = difference[played.following] - before, difference[num:][played.game_of] - before
        return _Values(rewards.astype(np.float32), returns.astype(np.float32), outcomes, terminations)

    def _episodes(self, played: "_Played") -> Iterator[dict[str, Any]]:
        """Yield episodes as arguments of Minari's ``EpisodeBuffer``."""
        num, values, is_by = played.num_decisions, self._values(played), played.is_by(self.agent)
        for game in np.flatnonzero(played.numbers >= 0).tolist():
            rows = np.flatnonzero(played.game_of == game)
            positions = played.positions[np.append(rows, num + game)]
            observations, masks = positions.observe(self.encoding), positions.action_masks()
            actions = positions[:-1].replace_illegal(played.codes[rows])
            for side in np.flatnonzero(is_by[game]).tolist():
                yield {
                    "observations": {
                        "observation": observations[:, side],
                        "action_mask": masks[:, side],
                    },
                    "actions": actions[:, side],
                    "rewards": values.rewards[rows, side],
                    "terminations": values.terminations[rows],
                    "truncations": played.is_last[rows] & ~values.terminations[rows],
                    "infos": {
                        "seat": np.full(len(positions), side),
                        "turn": positions.turn - 1,
                        "phase": positions.phase,
                    },
                }


class _Values(NamedTuple):
    rewards: NDArray[np.float32]
    """(decisions, 2)."""
    returns: NDArray[np.float32]
    """(decisions, 2)."""
    outcomes: NDArray[np.float32]
    """(games, 2)."""
    terminations: NDArray[np.bool_]
    """(decisions,)."""


def _both(alpha: NDArray[Any]) -> NDArray[np.float32]:
    """Return values of alpha, (n,), for both sides of a zero-sum game, (n, 2)."""
    return np.stack([alpha, -alpha], axis=1).astype(np.float32)


def _as_mixture(opponents: Counter[str]) -> str | dict[str, int]:
    """Return recorded opponents as an environment takes them. A name from a file never leads to code of a user."""
    mixture: Counter[str] = Counter()
    for recorded, episodes in opponents.items():
        name = recorded.removesuffix(" (2)")  # of a match of two agents with the same name
        if not is_builtin(name):
            raise ValueError(
                f"opponent must be given: the recorded one, {show(recorded)}, is not an agent of the package; "
                'for example opponent="random"'
            )
        mixture[name] += episodes
    return next(iter(mixture)) if len(mixture) == 1 else dict(mixture)


def _find_files(sources: Iterable[str | Path]) -> list[Path]:
    """Return the replay files of files and folders.

    Raises:
        RecordingError: a source does not exist, or is a folder without replay files.
    """
    paths: list[Path] = []
    for source in map(Path, sources):
        if source.is_dir():
            found = sorted(path for path in source.rglob("*") if path.name.endswith(SUFFIXES) and path.is_file())
            if not found:
                raise RecordingError(f"{source}: there is no replay file in this folder: {', '.join(SUFFIXES)}")
            paths += found
        elif source.exists():
            paths.append(source)
        else:
            raise RecordingError(f"{source}: there is no such file or folder")
    if not paths:
        raise RecordingError("sources must name at least one replay file or folder")
    return paths


def _check_size(size: Any) -> int:
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
        raise ValueError(f"size must be a positive integer, got {size!r}")
    return int(size)


def _join(parts: Sequence[_Rows]) -> _Rows:
    return parts[0] if len(parts) == 1 else type(parts[0])._make(map(np.concatenate, zip(*parts, strict=True)))


def _take(rows: _Rows, selected: slice | NDArray[np.bool_]) -> _Rows:
    arrays: Iterable[Any] = rows
    return type(rows)._make(array[selected] for array in arrays)


# Files


@dataclass
class _Recording:
    """A game as it is recorded, before it is played.

    Attributes:
        game: where it stands.
        config: its configuration.
        codes: (phases, 2, 11) int8 order codes, -1 for those that do not exist.
        turns: (phases,) their turns.
        phases: (phases,) 0 movement, 1 engagement.
        after: the numbers of the positions after each phase, one position after the other.
        end: the result, where it is recorded.
        replay: the game without a seed, which is played with its recorded outcomes, by itself; otherwise None.
    """

    game: RecordedGame
    config: GameConfig
    codes: NDArray[np.int8]
    turns: NDArray[np.int64]
    phases: NDArray[np.int64]
    after: NDArray[np.int64]
    end: EndLine | None
    replay: Replay | None

    @classmethod
    def of(cls, path: Path, replay: Replay, after: "array[int]") -> "_Recording":
        """Return a game from its replay and the numbers of its positions."""
        return cls(
            RecordedGame(path, replay.number, replay.agents, replay.seed),
            replay.config,
            np.array([phase.codes for phase in replay.phases]),
            np.array([phase.turn for phase in replay.phases]),
            np.array([PHASES.index(phase.name) for phase in replay.phases]),
            np.array(after),
            replay.end,
            replay if replay.seed is None else None,
        )

    @property
    def length(self) -> int:
        return len(self.codes)


class _PhaseReader(ReplayReader):
    """Reads the positions of games with a seed as numbers, without outcomes.

    Attributes:
        after: those of the game that was read last, one position after the other.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.after, self._after = array("q"), array("q")

    def _finish_game(self) -> list[Replay]:
        if self._current is not None:
            self.after, self._after = self._after, array("q")
        return super()._finish_game()

    def _read_phase(self, number: int, data: dict[str, Any]) -> RecordedPhase:
        if self._current is None or self._current.seed is None:
            return super()._read_phase(number, data)
        try:
            phase, after = _read_phase(number, data)
        except (
            RecordingError,
            LookupError,
            TypeError,
            ValueError,
            OverflowError,
        ):  # which names what is wrong, if anything
            phase = super()._read_phase(number, data)
            assert phase.after is not None
            after = _numbers(vars(phase.after))
        self._after += after
        return phase


def _read_phase(number: int, data: dict[str, Any]) -> "tuple[RecordedPhase, array[int]]":
    """Return a phase without outcomes and the numbers of the position after it.

    Raises:
        RecordingError, LookupError, TypeError, ValueError, OverflowError: it is not as ``Recorder`` writes it.
    """
    turn, name, orders, position = data["turn"], data["phase"], data["orders"], data["after"]
    has_all = (
        len(data) == _NUM_FIELDS + ("outcomes" in data) and len(orders) == 2 and len(position) == len(VISIBLE_FIELDS)
    )
    if not has_all or type(turn) is not int or name not in PHASES[:-1]:
        raise ValueError("it has other fields")
    codes = read_orders((orders["alpha"], orders["bravo"]), f"line {number}")
    return RecordedPhase(number, turn, name, codes, (), None), _numbers(position)


_NUM_FIELDS = len(PhaseLine.model_fields) - 1  # but for outcomes, which are left out where there are none


def _numbers(position: Mapping[str, Any]) -> "array[int]":
    """Return what replays hold of a position, in the order of ``_recorded_numbers``."""
    fleets = *position["sector"], *position["fuel"], *position["ammo"]
    return array("q", chain(*fleets, position["goal"], position["score"]))


# Playing


class _Played(NamedTuple):
    """Games that have been played, with all their positions: first those of all decisions, then the last of each game."""

    config: GameConfig
    """That of the first game."""
    positions: Games
    """(decisions + games,)."""
    codes: NDArray[np.int8]
    """(decisions, 2, 11), the orders as they were given."""
    game_of: NDArray[np.int64]
    """(decisions,), ascending: index of the game, here."""
    agents: list[tuple[str, str]]
    """(games,)."""
    numbers: NDArray[np.int64]
    """(games,), their indices in the data set; -1 for one that is left out."""

    @property
    def num_decisions(self) -> int:
        return len(self.game_of)

    @property
    def is_first(self) -> NDArray[np.bool_]:
        """(decisions,), whether a decision is the first of its game."""
        return np.diff(self.game_of, prepend=-1) > 0

    @property
    def is_last(self) -> NDArray[np.bool_]:
        """(decisions,), whether a decision is the last of its game."""
        return np.diff(self.game_of, append=len(self.agents)) > 0

    @property
    def following(self) -> NDArray[np.int64]:
        """(decisions,), the index of the position after each decision."""
        return np.where(self.is_last, self.num_decisions + self.game_of, np.arange(self.num_decisions) + 1)

    def is_by(self, agent: str | None) -> NDArray[np.bool_]:
        """Return which sides of each game an agent plays, (games, 2); all for None."""
        return np.array([[agent in (None, name) for name in names] for names in self.agents])


def _play_games(recordings: Sequence[_Recording]) -> tuple[_Played, list[str | None]]:
    """Play games side by side, and compare them with what is recorded.

    Returns:
        The games, and of each what is wrong with it; None if it follows the rules.
    """
    lengths = np.array([recording.length for recording in recordings])
    starts = np.append(0, np.cumsum(lengths))
    games = _start(recordings)
    # Where the positions of all decisions and all ends are written to, each with the rules of its game.
    positions = games[np.append(np.repeat(np.arange(len(recordings)), lengths), np.arange(len(recordings)))]
    # The longest games first, so that those that go on are always the first ones.
    live = sorted((i for i, one in enumerate(recordings) if one.replay is None), key=lambda i: -lengths[i])
    codes = np.concatenate([recording.codes for recording in recordings])
    if live:
        _play_side_by_side(games, np.array(live), starts, codes, positions)
    ends = starts[-1] + np.arange(len(recordings))
    faults = [
        None if recording.replay is None else _copy_game(recording, start, end, positions)
        for recording, start, end in zip(recordings, starts.tolist(), ends.tolist(), strict=False)
    ]
    numbers, results = _recorded_numbers(positions.state.games), _results(positions[ends])
    for i in live:
        held = slice(int(starts[i]), int(starts[i + 1]))
        faults[i] = _compare(recordings[i], positions, held, int(ends[i]), numbers) or _compare_end(
            recordings[i], results[i]
        )
    played = _Played(
        recordings[0].config,
        positions,
        codes,
        np.repeat(np.arange(len(recordings)), lengths),
        [recording.game.agents for recording in recordings],
        np.arange(len(recordings)),
    )
    return played, faults


def _start(recordings: Sequence[_Recording]) -> Games:
    """Return recorded games at their start, with rules of their own if their configurations differ."""
    config = recordings[0].config
    games = _game_of(config)[np.zeros(len(recordings), np.int64)]
    if any(recording.config is not config for recording in recordings):
        rules = [_game_of(recording.config).state.rules for recording in recordings]
        games.state = games.state._replace(rules=np.concatenate(rules))
    games.seed_streams([recording.game.seed or 0 for recording in recordings])
    games.set_up()
    games.describe()
    return games


@functools.lru_cache(maxsize=64)
def _game_of(config: GameConfig) -> Games:
    """Return a game with the rules of a configuration, (1,), that is neither seeded nor set up."""
    return Games.unseeded(config, 1)


def _play_side_by_side(
    games: Games, indices: NDArray[np.int64], starts: NDArray[np.int64], codes: NDArray[np.int8], positions: Games
) -> None:
    """Play games from their start, and write their positions.

    Args:
        games: at their start.
        indices: which to play, in the order of falling lengths.
        starts: the first of their decisions, and behind the last game the number of all.
        codes: the orders of all decisions.
        positions: where to write those of all decisions, and then the last one of each game.
    """
    first, lengths = starts[:-1][indices], np.diff(starts)[indices]
    ends = starts[-1] + indices
    games = games[indices]
    for t in range(int(lengths[0]) + 1):
        is_end = lengths[: len(games)] == t
        rows = np.where(is_end, ends[: len(games)], first[: len(games)] + t)
        positions.put(rows, games)
        if is_end.any():
            games = games[: len(games) - int(is_end.sum())]
        if len(games):
            games.step(codes[first[: len(games)] + t])


def _copy_game(recording: _Recording, start: int, end: int, positions: Games) -> str | None:
    """Play a game by itself, with its recorded outcomes if it has no seed, and write its positions.

    Returns:
        The first difference from the rules, None if there is none.
    """
    assert recording.replay is not None
    try:
        for row, phase in enumerate(play(recording.replay), start):
            for at, game in ((row, phase.before), (end, phase.after)):
                positions.put(np.array([at]), game.as_games())
    except RecordingError as error:
        return f"{recording.game.path}: {error}"
    return None


def _recorded_numbers(games: state.Records) -> NDArray[np.int64]:
    """Return what replays hold of positions, (n, 70): by field, side and satellite, absent ones too."""
    fields = [games[name].reshape(len(games), -1) for name in (*FLEET_FIELDS, *SIDE_FIELDS)]
    return np.concatenate(fields, axis=1, dtype=np.int64)


@functools.cache
def _columns(alpha: int, bravo: int) -> NDArray[np.int64]:
    """Return the columns of ``_recorded_numbers`` of the satellites that sides with so many Patrols have."""
    fleet = np.repeat([True, False, True, False], [1 + alpha, state.PATROLS - alpha, 1 + bravo, state.PATROLS - bravo])
    return np.flatnonzero(np.append(np.tile(fleet, len(FLEET_FIELDS)), [True] * (2 * len(SIDE_FIELDS))))


def _compare(recording: _Recording, positions: Games, held: slice, end: int, numbers: NDArray[np.int64]) -> str | None:
    """Return how a game differs from its recording; None if it does not.

    Args:
        recording: the recording.
        positions: positions of many games.
        held: those before the phases of the game.
        end: its last one.
        numbers: what replays hold of all positions.
    """
    where = f"{recording.game.path}: game {recording.game.number} does not follow the rules"
    rules, records = positions.state.rules, positions.state.games[held]
    columns = _columns(*rules["patrol_count"][end if len(rules) > 1 else 0].tolist())
    after = np.append(np.arange(held.start + 1, held.stop), end)
    if recording.after.size != after.size * columns.size:
        return f"{where}: its configuration has another number of satellites"
    differs = (recording.after.reshape(after.size, columns.size) != numbers[after][:, columns]).any(axis=1)
    differs |= (records["turn"] + 1 != recording.turns) | (records["phase"] != recording.phases)
    differs |= records["done"] != 0
    if not differs.any():
        return None
    turn = recording.turns[np.argmax(differs)]
    return f"{where} from turn {turn} on; geo-patrol verify names the difference"


def _results(last: Games) -> list[tuple[bool, int, list[int], int, int]]:
    """Return of the last positions of games whether they are over, the winner, the score, the turn and the reasons."""
    columns = last.is_over, last.winner, last.scores, last.turn, last.reasons
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _compare_end(recording: _Recording, result: tuple[bool, int, list[int], int, int]) -> str | None:
    """Return whether a game ends otherwise than it is recorded."""
    end = recording.end
    if end is None:  # not played to the end, or the last line is lost
        return None
    is_over, winner, score, turn, reasons = result
    played = (*SIDES, None)[winner], score, turn, [str(reason) for reason in read_reasons(reasons)]
    if is_over and played == (end.winner, end.score, end.turns, end.reasons):
        return None
    settled = None if is_over else end.settled
    if settled is not None and (end.winner, end.score, end.turns) == (settled.settled_for, score, turn):
        return None  # it was ended there, and its last position is not the end of a game
    where = f"{recording.game.path}: game {recording.game.number}"
    return f"{where} does not end as it is recorded; geo-patrol verify names the difference"
