"""Train the weights that ``policy:base`` plays anew, in about seventeen hours on one thread.

python -m research.train_policy --out runs/policy --policy src/geo_patrol/agents/data/base.safetensors

Each stage has its own folder in --out, and the same command continues after any interruption. docs/results/experiments.md tells what
each stage is for, and in what the shipped weights differ. ``--scale 0.001`` runs all stages in a few minutes.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before the imports: docs/train/training.md, Threads

import argparse
import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from geo_patrol import ExactBoard, load_config, play_match
from geo_patrol.agents.policy import MAX_OUTER_RING, PolicyAgent, Weights, read_weights, write_by_rules, write_weights
from geo_patrol.base.errors import GeoPatrolError
from geo_patrol.cli.output import write_json
from geo_patrol.training import TrainingConfig, train, train_best_response
from geo_patrol.training.config import SCRIPTED_OPPONENTS, configure
from geo_patrol.training.population import train_population
from research import parameter_search

ROOT = Path(__file__).resolve().parents[1]
FOUR_RINGS, FIVE_RINGS = (str(ROOT / "examples" / f"{rings}_rings.toml") for rings in ("four", "five"))
"""The presets of four and of five rings as variants, and random scenarios."""
CASES = tuple(f"case{number}" for number in range(1, 6))
SPECIALISTS = ("case1", "case2", "case3", "case5")
"""Presets with a policy of their own. That of case 5 plays case 4 too: their rules differ little."""
ROUNDS: Mapping[str, tuple[str, ...]] = {
    "case1": ("itself", "itself", "nothing", "nothing"),
    "case2": ("itself", "itself", "itself"),
    "case3": ("nothing", "nothing", "nothing"),
}
"""Of these, those that are trained further, each round against one more response, and what the response starts from."""
PRESETS = ("od2d", "king_of_the_hill", *CASES)
MOSTLY_GEO_PATROL = ("geo_patrol",) * 4 * len(PRESETS) + PRESETS
"""Four fifths of the games on the main preset."""
SEEDS = (0, 1, 2)
"""Of the policies that are trained independently."""
SCRIPTS = ("scripted", "raider", "raider:defenders=3")
"""Those that are hardest to beat."""
FOUND = (
    "scripted:home_share=0.124,defenders_per_raider=0.147,haste=1.427,threshold=0.681,trust=0.175,premium=67.709,"
    "dodge=1.095,lead=0.762,foresight=0.691,temperature=7.171,ending=11.07,danger=2.538"
)
"""The best script of a search against an earlier policy."""
OTHER_SCRIPT = "scripted:home_share=0.5,dodge=0.9,lead=0.95,foresight=0.75,temperature=6,ending=16"
"""A variant of ``scripted`` that plays otherwise."""
ON_CASES = ("scripted", "raider", "mixed")
"""Scripts that are hard to beat on the cases."""
GPU_ENVS = 32
"""How many times as many environments a training has on a GPU, which smaller batches leave idle."""
STEADY: Mapping[str, Any] = {"ent_coef": 0.01, "anneal_ent_coef": False, "score_coef": 0.3}
"""Settings of the leagues on several presets and on single cases."""


@dataclass(frozen=True)
class Recipe:
    """The stages of the training.

    Attributes:
        out: a folder; each stage has its own in it.
        scale: of all budgets and evaluations; 1 for the weights of the package.
        population_size: policies of the population, those with which it begins included.
        cases: presets for which policies of their own are trained.
        device: "cpu"; or "cuda", where the games are, too, ``GPU_ENVS`` times as many in each stage.
    """

    out: Path
    scale: float = 1.0
    population_size: int = 12
    cases: tuple[str, ...] = SPECIALISTS
    device: str = "cpu"

    def run(self) -> Path:
        """Train all stages, and return the file of the last policy."""
        broad = self.train_broadly()
        league = self.train_league("league", broad, 54, self.search(broad))
        found = self.search(league)
        population = self.train_population((broad, league), found)
        scripts = (*self.search(population[-1]), *found)
        before = self.train_league("league2", population[-1], 30, scripts, population)
        after = self.train_league("league3", before, 40, (*self.search(before), *scripts), population)
        last = self.average("last", before, after, 0.4)
        boards = {"duel": self.train_on_duel(), "skirmish": self.train_on_skirmish(last)}
        return self.join(self.specialize(last), boards, last)

    def specialize(self, general: Path) -> dict[str, Path]:
        """Train a policy for each case alone, and return them.

        First responses to the policy for all rules, then from that one a policy for all presets of which the responses are
        opponents, then from this one policies for one case each.
        """
        responses = {
            preset: (
                self.respond(f"response-{preset}-same", preset, general, general),
                self.respond(f"response-{preset}-nothing", preset, general, None),
            )
            for preset in self.cases
        }
        rivals = (general, *sum(responses.values(), ()))
        cases = self.train(
            "cases",
            40,
            CASES,
            initial_policy=str(general),
            self_play_fraction=0.3,
            opponents=(*SCRIPTS, "turtle", "mixed"),
            extra_opponents=_names(rivals),
            num_envs=640,
            **STEADY,
        )
        presets = ("geo_patrol",) * 4 + PRESETS[:2] * 2 + CASES
        broad = self.train(
            "presets",
            50,
            presets,
            initial_policy=str(self.average("half", general, cases, 0.5)),
            self_play_fraction=0.3,
            opponents=(*SCRIPTS, "mixed", FOUND),
            extra_opponents=_names((cases, *rivals)),
            num_envs=64 * len(presets),
            **STEADY,
        )
        rivals = (general, broad, cases)
        policies = {preset: self.specialize_on(preset, broad, (*rivals, *responses[preset])) for preset in self.cases}
        return {
            preset: self.train_further(preset, (*rivals, *trained)) if preset in ROUNDS else trained[-1]
            for preset, trained in policies.items()
        }

    def respond(self, stage: str, preset: str, policy: Path, begin: Path | None, minutes: float = 10) -> Path:
        """Train a response to a policy on a preset, or continue, and return its file."""
        config = self.settings(
            stage,
            minutes=minutes * self.scale,
            initial_policy=None if begin is None else str(begin),
            config=(preset,),
            eval_config=preset,
            num_evaluations=1,
        )
        train_best_response(f"policy:{policy}", config)
        return config.out / "policy.safetensors"

    def specialize_on(self, preset: str, begin: Path, rivals: tuple[Path, ...]) -> tuple[Path, ...]:
        """Train policies on a preset alone, and return them; the opponents of the last one are the others and the rivals.

        One of them plays mostly against scripts: it beats them best, and is beaten most easily itself.
        """
        first, second = (
            self.train_steadily(f"{preset}-{seed}", 9, preset, begin, (FOUND, *_names(rivals)), seed=seed, num_envs=768)
            for seed in (1, 2)
        )
        match = play_match(f"policy:{first}", f"policy:{second}", config=preset, games=self.games(400))
        better, other = (first, second) if match.summary().total.score >= 0.5 else (second, first)
        weights = {"scripted": 3.0, "raider": 0.7, "mixed": 0.5, OTHER_SCRIPT: 1.0, FOUND: 0.7}
        weights |= {f"policy:{other}": 1.5, f"policy:{better}": 1.0, **dict.fromkeys(_names(rivals), 0.8)}
        against_scripts = self.train_steadily(
            f"{preset}-scripts",
            8,
            preset,
            better,
            (),
            seed=3,
            num_envs=768,
            self_play_fraction=0.4,
            opponents=tuple(weights),
            opponent_weights=tuple(weights.values()),
            learning_rate=7e-4,
        )
        rivals = (other, against_scripts, *rivals)
        last = self.train_steadily(f"{preset}-last", 8.5, preset, better, _names(rivals), seed=4)
        return other, better, against_scripts, last

    def train_further(self, preset: str, rivals: tuple[Path, ...]) -> Path:
        """Train the last of some policies on, and return the file of the policy.

        First with an entropy bonus that stays, then in rounds with one that vanishes, which makes policies stronger. All policies
        so far stay among the opponents, and with them responses to the policy so far: without them, each round only learned to
        beat the ones before. Responses from nothing find what those that start from the policy are too far from; rounds against
        them have a larger entropy bonus, and the average of the last two policies has the strengths of both.
        """
        policies = [self.train_steadily(f"{preset}-steady", 10, preset, rivals[-1], _names(rivals), seed=5)]
        for number, start in enumerate(ROUNDS[preset], 1):
            from_nothing = start == "nothing"
            begin, minutes = (None, 10) if from_nothing else (policies[-1], 5)
            response = self.respond(f"response-{preset}-{number}", preset, policies[-1], begin, minutes)
            rivals = (*rivals, policies[-1], response)
            policies.append(
                self.train(
                    f"{preset}-round{number}",
                    10,
                    (preset,),
                    eval_config=preset,
                    seed=8 + number,
                    initial_policy=str(policies[-1]),
                    num_envs=512,
                    self_play_fraction=0.3,
                    num_past_policies=8,
                    opponents=("scripted", "raider", "raider:defenders=3", "mixed"),
                    extra_opponents=_names(rivals),
                    ent_coef=0.02 if from_nothing else 0.01,
                    score_coef=0.3,
                )
            )
        is_average = ROUNDS[preset][-1] == "nothing"
        return self.average(f"{preset}-further", *policies[-2:], 0.5) if is_average else policies[-1]

    def train_steadily(
        self, stage: str, minutes: float, preset: str, begin: Path, rivals: tuple[str, ...], **settings: Any
    ) -> Path:
        """Train on a preset, half by self-play, with an entropy bonus that stays, and return the file of the policy."""
        steady = {**STEADY, "ent_coef": 0.02, "num_envs": 640, "self_play_fraction": 0.5, "opponents": ON_CASES}
        steady |= {"eval_config": preset, "initial_policy": str(begin), "extra_opponents": rivals}
        return self.train(stage, minutes, (preset,), **{**steady, **settings})

    def train_on_duel(self) -> Path:
        """Train on ``duel`` alone, from several seeds, and return the policy that its best response exploits least."""
        board = ExactBoard(load_config("duel"))
        files = []
        for seed in SEEDS:
            config = self.settings(
                f"duel{seed}",
                "self-play",
                magnet_coef=0.05,
                ent_coef=0.01,
                learning_rate=5e-4,
                gae_lambda=0.95,
                config=("duel",),
                eval_config="duel",
                total_timesteps=round(2_000_000 * self.scale),
                num_envs=64,
                seed=seed,
            )
            train(config)
            files.append(config.out / "policy.safetensors")
        return min(files, key=lambda file: board.exploitability(PolicyAgent(file))["outcome"].mean)

    def train_on_skirmish(self, begin: Path) -> Path:
        """Train on ``skirmish`` alone, half by self-play, against scripts and the policies of the arena that are not held out."""
        return self.train(
            "skirmish",
            12,
            initial_policy=str(begin),
            config=("skirmish",),
            eval_config="skirmish",
            num_envs=256,
            self_play_fraction=0.5,
            extra_opponents=_names(
                [ROOT / "src/geo_patrol/evaluation/data" / f"policy-{n}.safetensors" for n in (1, 2, 3)]
            ),
            ent_coef=0.01,
        )

    def join(self, specialists: dict[str, Path], boards: dict[str, Path], others: Path) -> Path:
        """Write the policies of presets, those of small boards and that of all other games to one file, and return it.

        All are in half precision, which takes half of the space.
        """
        file = self.out / "joined.safetensors"
        of_boards = sorted((load_config(preset).board.outer_ring, policy) for preset, policy in boards.items())
        write_by_rules(
            file,
            [(_read_halved(policy), load_config(preset)) for preset, policy in specialists.items()],
            [(_read_halved(policy), ring) for ring, policy in [*of_boards, (MAX_OUTER_RING, others)]],
        )
        return file

    def train_broadly(self) -> Path:
        """Train by self-play on all presets and boards, then more on the main preset against independent policies."""
        boards = partial(self.train, config=(FOUR_RINGS, FOUR_RINGS, FIVE_RINGS), num_envs=768, num_past_policies=40)
        boards("self-play", 46, ent_coef=0.006, self_play_fraction=0.5)
        boards("self-play", 72, ent_coef=0.006, self_play_fraction=0.2)  # continues, as the next one does
        first = boards("self-play", 87, ent_coef=0.012, self_play_fraction=0.2, learning_rate=2.4e-3, score_coef=0.3)
        late = partial(
            self.train,
            config=("geo_patrol", "geo_patrol", FOUR_RINGS, FIVE_RINGS),
            num_envs=1024,
            ent_coef=0.004,
            score_coef=0.1,
        )
        second = late("scripts", 40, initial_policy=str(first))
        independent = [self.train(f"seed{seed}", 10, seed=seed) for seed in SEEDS]
        third = late("independent", 20, initial_policy=str(second), extra_opponents=_names(independent))
        return self.average("broad", second, third, 0.7)

    def train_league(
        self, stage: str, begin: Path, minutes: float, scripts: tuple[str, ...], policies: tuple[Path, ...] = ()
    ) -> Path:
        """Train against scripts that were found against a policy, and other policies."""
        return self.train(
            stage,
            minutes,
            initial_policy=str(begin),
            opponents=SCRIPTS,
            extra_opponents=(*dict.fromkeys(scripts), *_names(policies)),
            config=MOSTLY_GEO_PATROL,
            num_envs=25 * len(MOSTLY_GEO_PATROL),
            ent_coef=0.01,
            anneal_ent_coef=False,
            num_past_policies=12,
            score_coef=0.3,
        )

    def train_population(self, begin: tuple[Path, ...], scripts: tuple[str, ...]) -> tuple[Path, ...]:
        """Train responses to the equilibrium of all policies so far, and return those that are left in the last one."""
        config = self.settings(
            "population", minutes=5 * self.scale, opponents=(*SCRIPTS, *scripts), ent_coef=0.01, num_evaluations=1
        )
        names = [str(file) for file in begin]
        meta_game = train_population(config, names, size=self.population_size, games=self.games(400))
        weights = meta_game.equilibrium.rows
        return tuple(
            Path(meta_game.policies[row].removeprefix("policy:")) for row in np.argsort(weights) if weights[row] > 0
        )

    def search(self, policy: Path) -> tuple[str, ...]:
        """Return the best ten scripts of a search for those that beat a policy."""
        results = policy.parent / f"{policy.stem}-scripts.json"
        if not results.exists():
            candidates, games = max(parameter_search.GENERATIONS, round(200 * self.scale)), self.games(400)
            found = parameter_search.search(f"policy:{policy}", "geo_patrol", candidates, games, seed=0)
            write_json(str(results), {"candidates": found})
        ranked = json.loads(results.read_text(encoding="utf-8"))["candidates"]
        return tuple(result["candidate"] for result in ranked[:10])

    def train(self, stage: str, minutes: float, config: tuple[str, ...] = ("geo_patrol",), **settings: Any) -> Path:
        """Train in the folder of a stage, or continue there, and return the file of the policy."""
        settings = {"opponents": SCRIPTED_OPPONENTS, "num_evaluations": 5} | settings
        made = self.settings(stage, minutes=minutes * self.scale, config=config, **settings)
        train(made)
        return made.out / "policy.safetensors"

    def settings(self, stage: str, method: str = "league", **settings: Any) -> TrainingConfig:
        """Make the settings of a training in the folder of a stage."""
        made = configure(method, out=self.out / stage, device=self.device, eval_games=self.games(200), **settings)
        return made.replace(num_envs=GPU_ENVS * made.num_envs) if self.device == "cuda" else made

    def average(self, stage: str, before: Path, after: Path, weight: float) -> Path:
        """Interpolate between the policies before and after a stage, and return the file of the average."""
        file = self.out / f"{stage}.safetensors"
        average(before, after, weight, file)
        return file

    def games(self, number: int) -> int:
        """Return an even number of games in the recipe's scale."""
        return max(2, 2 * round(number * self.scale / 2))


def average(before: Path, after: Path, weight: float, out: Path) -> None:
    """Write (1 - weight) times the first policy plus weight times the second, which was fine-tuned from it.

    Fine-tuning forgets some of what was learned before; policies between the two have most of both (Wortsman et al.,
    "Robust fine-tuning of zero-shot models", 2022).
    """
    first, last = read_weights(before), read_weights(after)
    interpolated = {name: (1 - weight) * first[name] + weight * last[name] for name in first}
    description = f"{1 - weight:g} of the weights before a last stage of training, {weight:g} of those after it"
    write_weights(out, interpolated, {"average": description})


def _read_halved(file: Path) -> Weights:
    """Read weights, and return them in half precision."""
    return {name: array.astype(np.float16) for name, array in read_weights(file).items()}


def _names(files: tuple[Path, ...] | list[Path]) -> tuple[str, ...]:
    return tuple(f"policy:{file}" for file in files)


def main() -> None:
    """Parse arguments and train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/policy"), help="folder of all stages (runs/policy)")
    parser.add_argument("--policy", type=Path, help="file to which the last policy is copied")
    parser.add_argument("--scale", type=float, default=Recipe.scale, help="of all budgets (1)")
    size = Recipe.population_size
    parser.add_argument("--population-size", type=int, default=size, help=f"policies of the population ({size})")
    parser.add_argument(
        "--cases", nargs="+", default=SPECIALISTS, help="presets with a policy of their own (case1 to case3, case5)"
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default=Recipe.device, help="of networks and games (cpu)")
    arguments = parser.parse_args()
    cases = tuple(arguments.cases)
    last = Recipe(arguments.out, arguments.scale, arguments.population_size, cases, arguments.device).run()
    if arguments.policy is not None:
        shutil.copyfile(last, arguments.policy)


if __name__ == "__main__":
    try:
        main()
    except GeoPatrolError as error:
        sys.exit(f"train_policy.py: {error}")
