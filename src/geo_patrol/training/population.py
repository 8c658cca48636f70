"""Policy-space response oracles (PSRO): a population that grows by responses to its own equilibrium.

Lanctot et al., "A unified game-theoretic approach to multiagent reinforcement learning", 2017. Policies and the scripts
that may oppose them play matches; the equilibrium of these results says how often an opponent of each kind has to be
expected; the next policy is trained as a response to that mixture. Only policies can be part of the result, but scripts
can be among its opponents.

Pure responses may have to be many before a mixture of them comes near an equilibrium of the game. Self-play PSRO (McAleer et al.,
"Self-play PSRO: toward optimal populations in two-player zero-sum games", 2022) also adds a policy that mixes by itself in each
round. Here magnetic mirror descent trains it, on from the round before, against itself, the new response and the mixture.
"""

import json
import re
import shutil
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from geo_patrol.agents.policy import SUFFIX, PolicyAgent, read_weights, write_mixture, write_weights
from geo_patrol.base.errors import ConfigError
from geo_patrol.base.files import atomic_path, atomic_write
from geo_patrol.evaluation.executors import ProcessExecutor, check_processes
from geo_patrol.evaluation.results import WinRate
from geo_patrol.evaluation.statistics import Equilibrium, equilibrium
from geo_patrol.evaluation.tournament import play_tournament
from geo_patrol.training.config import METHODS, TrainingConfig
from geo_patrol.training.selfplay import POLICY, Trainer, against

META_GAME = "meta_game.json"
MIXTURE = "mixture.safetensors"
SELF_PLAY = "self-play"
"""The folder of the training by self-play, and what the names of its policies end with, before the suffix."""
FLOOR = 0.05
"""What part of the opponents' mixture is spread equally over the policies, with self-play. The standard error of a payoff is 0.05
after 400 games: a policy without a weight in the equilibrium may owe that to chance."""
_SELF_PLAY_FRACTION = 0.8
"""Of its games; the new response and the mixture have half of the others each. In rock-paper-scissors the answer to an opponent who is
pure in more than a third of the games is pure too."""


@dataclass(frozen=True, eq=False)
class MetaGame:
    """The results of a population's matches.

    Attributes:
        policies: names of the policies, which are the rows.
        scripts: names of the agents that are opponents only; the columns are the policies, then these.
        results: results of each policy against each later policy and each script, by their indices as row and column.
    """

    policies: tuple[str, ...]
    scripts: tuple[str, ...]
    results: dict[tuple[int, int], WinRate]

    @cached_property
    def payoffs(self) -> NDArray[np.float64]:
        """(policies, policies + scripts): wins minus losses per game of the row against the column."""
        count = len(self.policies)
        payoffs = np.zeros((count, count + len(self.scripts)))
        for (row, column), result in self.results.items():
            payoffs[row, column] = 2 * result.score - 1
            if column < count:
                payoffs[column, row] = -payoffs[row, column]
        return payoffs

    @cached_property
    def equilibrium(self) -> Equilibrium:
        """The equilibrium: ``rows`` are the best mixture of the policies, ``columns`` its strongest mixture of opponents."""
        return equilibrium(self.payoffs)

    @property
    def mixture(self) -> dict[str, float]:
        """The best mixture of the policies, without those of probability 0."""
        return _positive(self.policies, self.equilibrium.rows)

    @property
    def opponents(self) -> dict[str, float]:
        """The mixture of opponents that is strongest against it, without those of probability 0."""
        return _positive((*self.policies, *self.scripts), self.equilibrium.columns)

    def opponents_with_floor(self, floor: float) -> dict[str, float]:
        """Return the mixture of opponents with a part of it, ``floor``, spread equally over the policies."""
        count = len(self.policies)
        uniform = np.zeros(count + len(self.scripts))
        uniform[:count] = 1 / count
        return _positive((*self.policies, *self.scripts), (1 - floor) * self.equilibrium.columns + floor * uniform)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON."""
        columns = (*self.policies, *self.scripts)
        return {
            "value": self.equilibrium.value,
            "mixture": self.mixture,
            "opponents": self.opponents,
            "results": [
                {"first": columns[row], "second": columns[column], **asdict(result)}
                for (row, column), result in self.results.items()
            ],
        }


def _positive(names: Sequence[str], probabilities: NDArray[np.float64]) -> dict[str, float]:
    return {name: float(p) for name, p in zip(names, probabilities, strict=True) if p > 0}


class Population:
    """A population in a folder.

    ``policies`` in the folder has a file for each policy, in the order in which they joined; ``matches`` their games;
    ``responses`` and ``self-play`` the trainings. Whatever is complete there is not done again.

    Args:
        config: settings of the responses; its ``out`` is the folder, and its opponents are the scripts of the meta-game.
        games: games of every match.
        processes: number of worker processes that play matches; None for one per core.
        executor: plays the matches instead of new processes; it is not shut down.
        self_play: as ``train_population`` takes it.
        floor: likewise.
    """

    def __init__(
        self,
        config: TrainingConfig,
        games: int,
        processes: int | None = None,
        executor: Executor | None = None,
        *,
        self_play: bool = False,
        floor: float | None = None,
    ) -> None:
        self.config, self.games, self.self_play = config, games, self_play
        self.floor = (FLOOR if self_play else 0.0) if floor is None else floor
        self._processes, self._executor = check_processes(processes), executor
        self._folder = config.out / "policies"
        self._scripts = tuple(script for script in config.opponents if isinstance(script, str))
        if len(self._scripts) < len(config.opponents):
            raise ConfigError("opponents of a population must be names: its games are stored by them")
        if config.memory:
            raise ConfigError("memory must be false: the mixture of a population has policies without one")
        if not 0 <= self.floor <= 1:
            raise ConfigError(f"floor must be from 0 to 1, got {floor}")

    @property
    def files(self) -> list[Path]:
        """The files of the policies."""
        return sorted(self._folder.glob(f"*{SUFFIX}"))

    def begin(self, policies: Sequence[str]) -> None:
        """Let the first policies join, those that are not there yet."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for name in policies[len(self.files) :]:
            write_weights(
                self._next_file(), PolicyAgent(name).weights_for(self.config.game_configs), {"copied_from": name}
            )

    def _next_file(self, ending: str = "") -> Path:
        return self._folder / f"{len(self.files):03d}{ending}{SUFFIX}"

    def play(self) -> MetaGame:
        """Play the matches that are missing, and return the results of all."""
        files, scripts = self.files, self._scripts
        policies = tuple(f"policy:{file}" for file in files)
        columns = (*policies, *scripts)
        names = [*(file.stem for file in files), *(re.sub(r"[/\\:]", " ", script) for script in scripts)]
        results = {}
        with ProcessExecutor(self._processes) if self._executor is None else nullcontext(self._executor) as executor:
            for row in range(len(policies)):
                for column in range(row + 1, len(columns)):
                    folder = self.config.out / "matches" / f"{row:03d} {names[column]}"
                    results[row, column] = self._play_match(columns[row], columns[column], folder, executor)
        return MetaGame(policies, scripts, results)

    def _play_match(self, policy: str, opponent: str, folder: Path, executor: Executor) -> WinRate:
        """Play a match, or the games of it that are missing in its folder."""
        tournament = play_tournament(
            [policy, opponent],
            config=self.config.eval_config,
            games=self.games,
            seed=self.config.seed,
            folder=folder,
            executor=executor,
        )
        return tournament.record(0, 1)

    def save(self, meta_game: MetaGame) -> None:
        """Write the results and the equilibrium as JSON, and the best mixture as a file that the agent ``policy`` plays."""
        probabilities = meta_game.equilibrium.rows.tolist()
        mixture = [(read_weights(file), p) for file, p in zip(self.files, probabilities, strict=True) if p > 0]
        write_mixture(self.config.out / MIXTURE, mixture)
        with atomic_write(self.config.out / META_GAME) as file:
            file.write(json.dumps(meta_game.to_dict(), indent=2) + "\n")

    def add_policy(self, meta_game: MetaGame, console: Console) -> None:
        """Train the next policy, or continue to; then it joins: a response, and with self-play another one after each response."""
        last_is_response = (self.config.out / "responses" / self.files[-1].stem).exists()
        if self.self_play and last_is_response:
            self._train(self._self_play_settings(meta_game), self._next_file(f"-{SELF_PLAY}"), console)
        else:
            self._train(self._response_settings(meta_game), self._next_file(), console)

    def _response_settings(self, meta_game: MetaGame) -> TrainingConfig:
        """Return the settings of a response to the equilibrium's mixture of opponents."""
        config = self.config.replace(
            out=self.config.out / "responses" / self._next_file().stem,
            seed=self.config.seed + len(self.files),
            initial_policy=self._best(meta_game),
        )
        opponents = against(meta_game.opponents_with_floor(self.floor), config)
        return opponents.replace(eval_opponents=tuple(meta_game.opponents))

    def _self_play_settings(self, meta_game: MetaGame) -> TrainingConfig:
        """Return the settings of the training by self-play, which every round continues: with the budget of one more."""
        earlier, response = sorted(self._folder.glob(f"*-{SELF_PLAY}{SUFFIX}")), f"policy:{self.files[-1]}"
        rounds, steps = len(earlier) + 1, self.config.total_timesteps
        config = self.config.replace(
            **METHODS["mmd"],
            out=self.config.out / SELF_PLAY,
            initial_policy=str(earlier[-1]) if earlier else self._best(meta_game),
            minutes=rounds * self.config.minutes,
            total_timesteps=None if steps is None else rounds * steps,
        )
        mixture = meta_game.opponents_with_floor(self.floor)
        mixture[response] = mixture.get(response, 0) + 1
        return against(mixture, config).replace(self_play_fraction=_SELF_PLAY_FRACTION, eval_opponents=(response,))

    def _best(self, meta_game: MetaGame) -> str:
        """Return the file of the policy with the largest weight."""
        return str(self.files[int(np.argmax(meta_game.equilibrium.rows))])

    def _train(self, config: TrainingConfig, file: Path, console: Console) -> None:
        trainer = Trainer(config, console)
        trainer.run()
        if trainer.progress < 1:
            raise KeyboardInterrupt  # the trainer has saved a checkpoint
        with atomic_path(file) as path:
            shutil.copyfile(config.out / POLICY, path)


def train_population(
    config: TrainingConfig,
    policies: Sequence[str] = ("base",),
    *,
    size: int = 10,
    games: int = 1000,
    console: Console | None = None,
    processes: int | None = None,
    executor: Executor | None = None,
    self_play: bool = False,
    floor: float | None = None,
) -> MetaGame:
    """Train a population by PSRO, or continue the one in ``config.out``.

    Whatever interrupts it, the same call continues: from the checkpoint of a training, or after the last games.

    Args:
        config: settings of every response, its budget among them; ``opponents`` are agents that join the meta-game as
            opponents and are never part of the result. A policy of self-play has the same but for those of ``METHODS["mmd"]``.
        policies: the first policies of the population.
        size: number of policies in the end.
        games: games of every match between two members, even.
        console: where progress is printed; standard output by default.
        processes: number of worker processes that play matches; None for one per core.
        executor: plays the matches instead of new processes; it is not shut down.
        self_play: let a policy that mixes by itself join after each response, as in Self-Play PSRO.
        floor: what part of the opponents' mixture, 0 to 1, is spread equally over the policies, so that none is forgotten
            because of noise in the results; by default 0.05 with self-play, otherwise 0.

    Returns:
        The results of all matches, with the equilibrium.

    Raises:
        ConfigError, PolicyError, FolderError: as ``train`` and ``play_tournament`` do.
    """
    console = console or Console(width=120)
    population = Population(config, games, processes, executor, self_play=self_play, floor=floor)
    population.begin(policies)
    while True:
        meta_game = population.play()
        population.save(meta_game)
        mixture = ", ".join(f"{p:.1%} {name}" for name, p in meta_game.mixture.items())
        console.print(f"{len(meta_game.policies)} policies: value {meta_game.equilibrium.value:+z.3f} of {mixture}")
        if len(meta_game.policies) >= size:
            return meta_game
        population.add_policy(meta_game, console)
