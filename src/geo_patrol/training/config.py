"""The settings of a training run, with the names that CleanRL gives them."""

import argparse
import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from geo_patrol.config.presets import ConfigSource
from geo_patrol.errors import ConfigError, GeoPatrolError, show, suggest

DEVICES = ("auto", "cpu", "cuda", "mps")
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


def _setting(default: Any, help_text: str, low: float | None = None, high: float = math.inf) -> Any:
    """Declare a field: its default, what ``--help`` says of it, and the bounds of a number."""
    return field(default=default, metadata={"help": help_text, "low": low, "high": high})


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """Settings of a training run; the metadata of each field have its help text.

    An iteration collects ``num_steps`` decision phases of ``num_envs`` environments and then updates the policy by PPO.
    What is annealed declines linearly, down to 2 % of its initial value, over ``minutes`` or ``total_timesteps``.

    Raises:
        ConfigError: a setting has another type or is out of bounds.
    """

    out: Path = _setting(Path("runs/selfplay"), "folder of the policy, the curve and the checkpoint")
    minutes: float = _setting(10.0, "training time in all, the time before an interruption included", 1e-3, 100_000)
    total_timesteps: int | None = _setting(None, "environment steps in all, instead of --minutes", 1)
    seed: int = _setting(0, "seed of all random streams", 0, 2**32)
    device: str = _setting("auto", "auto, cpu, cuda or mps; auto takes a GPU if there is one")
    num_threads: int = _setting(1, "threads of PyTorch; more pay off only on cores that are idle otherwise", 1, 256)
    initial_policy: str | None = _setting(None, "policy to start from, such as base or a file; default random weights")

    config: tuple[ConfigSource, ...] = _setting(
        ("geo_patrol",), "presets or TOML files to train on; naming one twice gives it twice as many environments"
    )
    num_envs: int = _setting(512, "environments, that is sides that learn, stepped together", 2, 2**20)
    self_play_fraction: float = _setting(0.1, "fraction of the environments whose games are self-play", 0, 1)
    opponents: tuple[str, ...] = _setting(SCRIPTED_OPPONENTS, "agents in the league from the beginning")
    extra_opponents: tuple[str, ...] = _setting((), "more of them, such as policy:FILE")
    opponent_weights: tuple[float, ...] = _setting(
        (), "fixed weights of all these opponents; by default those that are hard to beat are sampled more often"
    )
    num_past_policies: int = _setting(20, "how many snapshots of the policy join the league over the run", 0, 10_000)
    score_coef: float = _setting(0.5, "reward of 100 points of score, annealed; a win is 1", 0, 100)

    num_steps: int = _setting(16, "decision phases per environment and iteration", 1, 10_000)
    learning_rate: float = _setting(1e-3, "learning rate of Adam", 0, 1)
    anneal_lr: bool = _setting(True, "anneal the learning rate")
    gamma: float = _setting(0.995, "discount factor", 0, 1)
    gae_lambda: float = _setting(0.92, "lambda of generalised advantage estimation", 0, 1)
    num_minibatches: int = _setting(8, "minibatches per epoch", 1, 10_000)
    update_epochs: int = _setting(2, "epochs per iteration", 1, 1_000)
    clip_coef: float = _setting(0.2, "clipping range of the probability ratio of a satellite's order", 0, 10)
    ent_coef: float = _setting(0.005, "coefficient of the entropy bonus", 0, 10)
    anneal_ent_coef: bool = _setting(True, "anneal the entropy bonus")
    magnet_coef: float = _setting(
        0.0, "coefficient of the KL divergence from a slowly moving magnet; 0: no magnet", 0, 10
    )
    magnet_step_size: float = _setting(
        0.05, "fraction of its way to the policy that the magnet moves in an iteration", 0, 1
    )
    vf_coef: float = _setting(0.5, "coefficient of the value loss", 0, 100)
    max_grad_norm: float = _setting(0.5, "gradients are clipped to this norm", 0, 1_000)

    num_evaluations: int = _setting(20, "evaluations over the run, the final one included", 1, 10_000)
    save_policies: bool = _setting(False, "save the policy of every evaluation, as policies/STEPS.safetensors")
    eval_opponents: tuple[str, ...] = _setting(EVAL_OPPONENTS, "agents to play against in evaluations")
    eval_config: ConfigSource = _setting("geo_patrol", "preset or TOML file of the evaluations")
    eval_games: int = _setting(200, "games of an evaluation per opponent; the final one plays five times that", 2)

    def __post_init__(self) -> None:
        for setting in fields(self):
            value = getattr(self, setting.name)
            _check_number(setting, value)
            if isinstance(setting.default, tuple) and not isinstance(value, tuple):
                raise ConfigError(f"{setting.name} = {show(value)}: must be a tuple, such as {(value,)!r}")
        for name in ("config", "opponents", "eval_opponents"):
            if not getattr(self, name):
                raise ConfigError(f"{name} is empty: name at least one")
        self._check_weights()
        if not isinstance(self.out, Path):
            raise ConfigError(f"out = {show(self.out)}: must be a Path")
        if self.device not in DEVICES:
            raise ConfigError(f"device = {show(self.device)}: choose {', '.join(DEVICES)}")
        if self.num_envs < 2 * len(self.config):
            raise ConfigError(f"num_envs = {self.num_envs}: at least {2 * len(self.config)}, two per configuration")
        if self.num_envs * self.num_steps < self.num_minibatches:
            steps = self.num_envs * self.num_steps
            raise ConfigError(f"num_minibatches = {self.num_minibatches}: at most {steps}, the steps of an iteration")
        if self.eval_games % 2:
            raise ConfigError(f"eval_games = {self.eval_games}: must be even; every second game swaps the sides")

    def _check_weights(self) -> None:
        weights, opponents = self.opponent_weights, len(self.opponents) + len(self.extra_opponents)
        if weights and (
            len(weights) != opponents or min(weights) < 0 or not math.isfinite(sum(weights)) or not sum(weights)
        ):
            raise ConfigError(
                f"opponent_weights must be {opponents}, one for each opponent, none negative, not all 0, got {show(weights)}"
            )


def _check_number(setting: Field[Any], value: Any) -> None:
    low, high = setting.metadata["low"], setting.metadata["high"]
    if low is None or (value is None and setting.default is None):
        return
    is_real = setting.type is float
    has_type = isinstance(value, Real if is_real else Integral) and not isinstance(value, bool)
    if not has_type or not low <= value <= high:
        kind = "a number" if is_real else "an integer"
        limit = f"from {low:g} to {high:,}" if math.isfinite(high) else f"of at least {low:g}"
        raise ConfigError(f"{setting.name} = {show(value)}: must be {kind} {limit}")


_SELF_PLAY = {"self_play_fraction": 1.0, "num_past_policies": 0}

METHODS: Mapping[str, Mapping[str, Any]] = {
    "league": {},
    "self-play": _SELF_PLAY,
    "mmd": {
        **_SELF_PLAY,
        "magnet_coef": 0.05,
        "ent_coef": 0.01,
        "learning_rate": 5e-4,
        "gae_lambda": 0.95,
    },
    "entropy": {
        **_SELF_PLAY,
        "ent_coef": 0.05,
        "anneal_ent_coef": False,
        "clip_coef": 0.05,
        "learning_rate": 5e-4,
        "gae_lambda": 0.95,
    },
}
"""``league``: PPO against scripts and past policies, with a tenth of self-play. ``self-play``: PPO against itself alone.
``mmd``: the same with a magnet, magnetic mirror descent (Sokota et al., arXiv 2206.05825). ``entropy``: self-play with a
strong entropy bonus that stays, small clipping and learning rate (Rudolph et al., arXiv 2502.08938)."""


def configure(method: str = "league", **settings: Any) -> TrainingConfig:
    """Make the settings of a run by a method; those that are given replace the method's.

    Raises:
        ConfigError: there is no such method, or a setting is wrong.
    """
    if method not in METHODS:
        hint = suggest(method, METHODS) or "."
        raise ConfigError(f"there is no method {method!r}{hint} The methods are: {', '.join(METHODS)}.")
    return TrainingConfig(**{**METHODS[method], **settings})


def parse_settings(description: str | None, argv: Sequence[str] | None = None) -> TrainingConfig:
    """Read ``--method`` and an option for every field of ``TrainingConfig``; errors end the program with a message.

    Args:
        description: what ``--help`` says first.
        argv: the arguments; those of the process by default.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    methods = ", ".join(METHODS)
    parser.add_argument("--method", metavar="NAME", help=f"other defaults: {methods} (default league)")
    for setting in dataclasses.fields(TrainingConfig):
        default = " ".join(map(str, setting.default)) if isinstance(setting.default, tuple) else setting.default
        note = "" if default in (None, "") else f" (default {default})"
        option = f"--{setting.name.replace('_', '-')}"
        parser.add_argument(option, help=setting.metadata["help"] + note, **_argument_type(setting))
    provided = {name: value for name, value in vars(parser.parse_args(argv)).items() if value is not None}
    arguments: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in provided.items()}
    try:
        return configure(**arguments)
    except GeoPatrolError as error:
        parser.error(str(error))


def _argument_type(setting: dataclasses.Field[Any]) -> dict[str, Any]:
    if isinstance(setting.default, bool):
        return {"action": argparse.BooleanOptionalAction}
    types = {"total_timesteps": int, "initial_policy": str, "eval_config": str, "opponent_weights": float}
    if isinstance(setting.default, tuple):
        return {"nargs": "*", "metavar": "NAME", "type": types.get(setting.name, str)}
    return {"type": types.get(setting.name, type(setting.default)), "metavar": "VALUE"}
