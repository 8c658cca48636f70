"""Policy-space response oracles (PSRO): a population that grows by responses to its own equilibrium.

Lanctot et al., "A unified game-theoretic approach to multiagent reinforcement learning", 2017. Policies and the scripts
that may oppose them play matches; the equilibrium of these results says how often an opponent of each kind has to be
expected; the next policy is trained as a response to that mixture. Only policies can be part of the result, but scripts
can be among its opponents.
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
from geo_patrol.training.config import TrainingConfig
from geo_patrol.training.selfplay import POLICY, Trainer, against

META_GAME = "meta_game.json"
MIXTURE = "mixture.safetensors"


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
    ``responses`` the trainings. Whatever is complete there is not done again.

    Args:
        config: settings of the responses; its ``out`` is the folder, and its opponents are the scripts of the meta-game.
        games: games of every match.
        processes: number of worker processes that play matches; None for one per core.
        executor: plays the matches instead of new processes; it is not shut down.
    """

    def __init__(
        self, config: TrainingConfig, games: int, processes: int | None = None, executor: Executor | None = None
    ) -> None:
        self.config, self.games = config, games
        self._processes, self._executor = check_processes(processes), executor
        self._folder = config.out / "policies"
        self._scripts = tuple(script for script in config.opponents if isinstance(script, str))
        if len(self._scripts) < len(config.opponents):
            raise ConfigError("opponents of a population must be names: its games are stored by them")
        if config.memory:
            raise ConfigError("memory must be false: the mixture of a population has policies without one")

    @property
    def files(self) -> list[Path]:
        """The files of the policies."""
        return sorted(self._folder.glob(f"*{SUFFIX}"))

    def begin(self, policies: Sequence[str]) -> None:
        """Let the first policies join, those that are not there yet."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for name in policies[len(self.files) :]:
            write_weights(
                self._next_file, PolicyAgent(name).weights_for(self.config.game_configs), {"copied_from": name}
            )

    @property
    def _next_file(self) -> Path:
        return self._folder / f"{len(self.files):03d}{SUFFIX}"

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

    def add_response(self, meta_game: MetaGame, console: Console) -> None:
        """Train the response to the equilibrium's mixture of opponents, or continue to; then it joins."""
        file = self._next_file
        config = self.config.replace(
            out=self.config.out / "responses" / file.stem,
            seed=self.config.seed + len(self.files),
            initial_policy=str(self.files[int(np.argmax(meta_game.equilibrium.rows))]),
        )
        trainer = Trainer(against(meta_game.opponents, config), console)
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
) -> MetaGame:
    """Train a population by PSRO, or continue the one in ``config.out``.

    Whatever interrupts it, the same call continues: from the checkpoint of a response, or after the last games.

    Args:
        config: settings of every response, its budget among them; ``opponents`` are agents that join the meta-game as
            opponents and are never part of the result.
        policies: the first policies of the population.
        size: number of policies in the end.
        games: games of every match between two members, even.
        console: where progress is printed; standard output by default.
        processes: number of worker processes that play matches; None for one per core.
        executor: plays the matches instead of new processes; it is not shut down.

    Returns:
        The results of all matches, with the equilibrium.

    Raises:
        ConfigError, PolicyError, FolderError: as ``train`` and ``play_tournament`` do.
    """
    console = console or Console(width=120)
    population = Population(config, games, processes, executor)
    population.begin(policies)
    while True:
        meta_game = population.play()
        population.save(meta_game)
        mixture = ", ".join(f"{p:.1%} {name}" for name, p in meta_game.mixture.items())
        console.print(f"{len(meta_game.policies)} policies: value {meta_game.equilibrium.value:+z.3f} of {mixture}")
        if len(meta_game.policies) >= size:
            return meta_game
        population.add_response(meta_game, console)
