"""The settings of a training run, with the names that CleanRL gives them."""

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, ValidationError, model_validator

from geo_patrol.agents.policy import MAX_COMPONENTS
from geo_patrol.agents.protocol import Agent
from geo_patrol.base.errors import ConfigError, GeoPatrolError, suggest
from geo_patrol.base.files import expand_user
from geo_patrol.config.presets import ConfigSource, load_config
from geo_patrol.config.schema import Fault, GameConfig, list_faults, refuse, wrong_key

SCRIPTED_OPPONENTS = (
    "random",
    "idle",
    "turtle",
    "mixed",
    "raider",
    "raider:defenders=3",
    "raider:defenders=7",
    "raider:path=cheap,reach=sector",
    "scripted",
)
EVAL_OPPONENTS = ("random", "raider", "scripted")


class TrainingConfig(BaseModel):
    """Settings of a training run; the description of each field is its help text.

    An iteration collects ``num_steps`` decision phases of ``num_envs`` environments and then updates the policy by PPO.
    What is annealed declines linearly, down to 2% of its initial value, over ``minutes`` or ``total_timesteps``.

    Raises:
        ConfigError: a setting is unknown, has another type or is out of bounds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    out: Path = Field(Path("runs/selfplay"), description="folder of the policy, the curve and the checkpoint")
    minutes: float = Field(
        10.0, ge=1e-3, le=100_000, description="training time in all, the time before an interruption included"
    )
    total_timesteps: StrictInt | None = Field(None, ge=1, description="environment steps in all, instead of --minutes")
    seed: StrictInt = Field(0, ge=0, le=2**32, description="seed of all random streams")
    device: Literal["auto", "cpu", "cuda", "mps"] = Field(
        "auto", description="auto, cpu, cuda or mps; auto takes a GPU if there is one"
    )
    num_threads: StrictInt = Field(
        1, ge=1, le=256, description="threads of PyTorch; more pay off only on cores that are idle otherwise"
    )
    initial_policy: str | None = Field(
        None, description="policy to start from, such as base or a file; default random weights"
    )
    num_components: StrictInt = Field(
        1,
        ge=1,
        le=MAX_COMPONENTS,
        description="products over satellites that the policy mixes, so that the orders of its satellites can depend on each "
        "other; a policy to start from has as many, or one",
    )
    memory: StrictBool = Field(
        False,
        description="let the policy remember how often the enemy gave each order in a game; a policy to start from may have no "
        "memory yet",
    )

    config: tuple[ConfigSource, ...] = Field(
        ("geo_patrol",),
        min_length=1,
        description="presets or TOML files to train on; naming one twice gives it twice as many environments",
    )
    num_envs: StrictInt = Field(
        512, ge=2, le=2**20, description="environments, that is sides that learn, stepped together"
    )
    self_play_fraction: float = Field(
        0.1, ge=0, le=1, description="fraction of the environments whose games are self-play"
    )
    opponents: tuple[str | Agent, ...] = Field(
        SCRIPTED_OPPONENTS, min_length=1, description="agents in the league from the beginning"
    )
    extra_opponents: tuple[str | Agent, ...] = Field((), description="more of them, such as policy:FILE")
    opponent_weights: tuple[float, ...] = Field(
        (),
        description="fixed weights of all these opponents; by default those that are hard to beat are sampled more often",
    )
    num_past_policies: StrictInt = Field(
        20, ge=0, le=10_000, description="how many snapshots of the policy join the league over the run"
    )
    score_coef: float = Field(0.5, ge=0, le=100, description="reward of 100 points of score, annealed; a win is 1")

    num_steps: StrictInt = Field(16, ge=1, le=10_000, description="decision phases per environment and iteration")
    learning_rate: float = Field(1e-3, ge=0, le=1, description="learning rate of Adam")
    anneal_lr: StrictBool = Field(True, description="anneal the learning rate")
    gamma: float = Field(0.995, ge=0, le=1, description="discount factor")
    gae_lambda: float = Field(0.92, ge=0, le=1, description="lambda of generalised advantage estimation")
    num_minibatches: StrictInt = Field(8, ge=1, le=10_000, description="minibatches per epoch")
    update_epochs: StrictInt = Field(2, ge=1, le=1_000, description="epochs per iteration")
    clip_coef: float = Field(
        0.2, ge=0, le=10, description="clipping range of the probability ratio of a satellite's order"
    )
    ent_coef: float = Field(0.005, ge=0, le=10, description="coefficient of the entropy bonus")
    anneal_ent_coef: StrictBool = Field(True, description="anneal the entropy bonus")
    magnet_coef: float = Field(
        0.0,
        ge=0,
        le=10,
        description="coefficient of the KL divergence from the magnet: the policy with averaged weights, or an earlier one",
    )
    magnet_interval: StrictInt | None = Field(
        None,
        ge=1,
        description="environment steps after which the policy becomes the magnet, which stands still until then; by default "
        "the magnet is the policy with averaged weights",
    )
    average_step_size: float = Field(
        0.05,
        ge=0,
        le=1,
        description="fraction of its way to the weights that their moving average goes in an iteration",
    )
    vf_coef: float = Field(0.5, ge=0, le=100, description="coefficient of the value loss")
    max_grad_norm: float = Field(0.5, ge=0, le=1_000, description="gradients are clipped to this norm")

    num_evaluations: StrictInt = Field(
        20, ge=1, le=10_000, description="evaluations over the run, the final one included"
    )
    save_policies: StrictBool = Field(
        False, description="save the policy of every evaluation, as policies/STEPS.safetensors"
    )
    eval_opponents: tuple[str | Agent, ...] = Field(
        EVAL_OPPONENTS, min_length=1, description="agents to play against in evaluations"
    )
    eval_config: ConfigSource = Field("geo_patrol", description="preset or TOML file of the evaluations")
    eval_games: StrictInt = Field(
        200, ge=2, description="games of an evaluation per opponent; the final one plays five times that"
    )

    @model_validator(mode="after")
    def _check_settings_together(self) -> Self:
        steps, weights = self.num_envs * self.num_steps, self.opponent_weights
        opponents = len(self.opponents) + len(self.extra_opponents)
        if self.num_envs < 2 * len(self.config):
            raise wrong_key("num_envs", self.num_envs, f"at least {2 * len(self.config)}, two per configuration")
        if steps < self.num_minibatches:
            raise wrong_key("num_minibatches", self.num_minibatches, f"at most {steps}, the steps of an iteration")
        if self.eval_games % 2:
            raise wrong_key("eval_games", self.eval_games, "even: every second game swaps the sides")
        if weights and (
            len(weights) != opponents or min(weights) < 0 or not math.isfinite(sum(weights)) or not sum(weights)
        ):
            right = f"a weight for each of {opponents} opponents, none negative and not all 0"
            raise wrong_key("opponent_weights", weights, right)
        return self

    def __init__(self, **settings: Any) -> None:
        faults: list[Fault] = []
        try:
            super().__init__(**settings)
        except ValidationError as error:
            faults = list(list_faults(type(self), error))
        refuse("training settings", faults)

    @property
    def game_configs(self) -> list[GameConfig]:
        """The configurations that are trained on, as often as they are named."""
        return [load_config(source) for source in self.config]

    def replace(self, **settings: Any) -> "TrainingConfig":
        """Return these settings with others in the place of those that are given.

        Raises:
            ConfigError: a setting is invalid.
        """
        return TrainingConfig(**{**dict(self), **settings})


_SELF_PLAY = {"self_play_fraction": 1.0, "num_past_policies": 0}

_REGULARISED = {
    **_SELF_PLAY,
    "ent_coef": 0.05,
    "anneal_ent_coef": False,
    "clip_coef": 0.1,
    "learning_rate": 2.5e-4,
    "num_minibatches": 4,
    "update_epochs": 4,
    "gamma": 0.99,
    "gae_lambda": 0.95,
}

METHODS: Mapping[str, Mapping[str, Any]] = {
    "league": {},
    "self-play": _SELF_PLAY,
    "entropy": _REGULARISED,
    "mmd": {**_REGULARISED, "magnet_coef": 0.05, "magnet_interval": 1},
    "nashpg": {
        **_SELF_PLAY,
        "magnet_coef": 0.2,
        "magnet_interval": 4_000_000,
        "ent_coef": 0.05,
        "anneal_ent_coef": False,
        "learning_rate": 3e-4,
        "gae_lambda": 0.95,
        "gamma": 1.0,
    },
}
"""``league``: PPO against scripts and past policies, with a tenth of self-play. ``self-play``: PPO against itself alone.
``entropy``: the same with an entropy bonus that stays, small clipping and learning rate, with the settings that Rudolph et al.
(arXiv 2502.08938) start from. ``mmd``: magnetic mirror descent (Sokota et al., arXiv 2206.05825) with their settings of it: the
entropy bonus draws to the uniform policy, which is its magnet, and the divergence from the policy of the rollout keeps the step of
mirror descent small. ``nashpg``: a magnet that stands still for 4 million steps, with the settings of NashPG (arXiv 2510.18183)."""


def configure(method: str = "league", **settings: Any) -> TrainingConfig:
    """Make the settings of a run by a method; those that are given replace the method's.

    Raises:
        ConfigError: there is no such method, or a setting is wrong.
    """
    if method not in METHODS:
        hint = suggest(method, METHODS) or "."
        raise ConfigError(f"there is no method {method!r}{hint} The methods are: {', '.join(METHODS)}.")
    return TrainingConfig(**{**METHODS[method], **settings})


class _StoreOnce(argparse.Action):
    """Store the value of an option that must be given once, where argparse would take the last one silently."""

    def __call__(self, _parser: Any, namespace: argparse.Namespace, values: Any, _option: str | None = None) -> None:
        if getattr(namespace, self.dest) is not None:
            raise argparse.ArgumentError(self, "must be given once")
        setattr(namespace, self.dest, values)


def parse_settings(description: str | None, argv: Sequence[str] | None = None) -> TrainingConfig:
    """Read ``--method`` and an option for every field of ``TrainingConfig``; errors end the program with a message.

    Args:
        description: what ``--help`` says first.
        argv: the arguments; those of the process by default.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.register("action", None, _StoreOnce)
    methods = ", ".join(METHODS)
    parser.add_argument("--method", metavar="NAME", help=f"other defaults: {methods} (default league)")
    for name, setting in TrainingConfig.model_fields.items():
        default = " ".join(map(str, setting.default)) if isinstance(setting.default, tuple) else setting.default
        note = "" if default in (None, "") else f" (default {default})"
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, help=f"{setting.description}{note}", **_argument_type(name, setting.default))
    provided = {name: value for name, value in vars(parser.parse_args(argv)).items() if value is not None}
    arguments: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in provided.items()}
    try:
        return configure(**arguments)
    except GeoPatrolError as error:
        parser.error(str(error))


def _argument_type(name: str, default: Any) -> dict[str, Any]:
    if isinstance(default, bool):
        return {"action": argparse.BooleanOptionalAction}
    types: dict[str, Any] = {
        "out": _path,
        "total_timesteps": int,
        "magnet_interval": int,
        "initial_policy": str,
        "eval_config": str,
        "opponent_weights": float,
    }
    if isinstance(default, tuple):
        return {"nargs": "*", "metavar": "NAME", "type": types.get(name, str)}
    return {"type": types.get(name, type(default)), "metavar": "VALUE"}


def _path(text: str) -> Path:
    try:
        return Path(expand_user(text))
    except GeoPatrolError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
