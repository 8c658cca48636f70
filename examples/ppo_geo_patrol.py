"""PPO in a single file, in the style of CleanRL, to copy and change.

    pip install "geo_patrol[train]"
    python examples/ppo_geo_patrol.py
    geo-patrol match runs/ppo_geo_patrol/agent.py:TrainedAgent scripted

It trains for ``--total-timesteps``, with the same result for the same seed, or for ``--minutes``. Opponents are a mixture of agents;
with ``--self-play`` both sides of every game learn. The folder of a training, ``--out``, gets checkpoints, from which the same
command continues after an interruption, and at the end its weights and a copy of this file, which plays them.

It needs PyTorch and ``geo_patrol``, nothing of ``geo_patrol.training``. The names are those of CleanRL's ``ppo.py``
(https://docs.cleanrl.dev). Two things differ, because an action is eleven orders under masks: logits of illegal orders
are -1e8, and the probability ratio is clipped for each order by itself. docs/results/experiments.md reports results.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before the imports: docs/train/training.md, Threads

import argparse
import importlib.util
import json
import shutil
import sys
import time
from collections import deque
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path

if __name__ == "__main__" and importlib.util.find_spec("torch") is None:
    sys.exit('PyTorch is not installed: pip install "geo_patrol[train]"')

import numpy as np
import torch
from torch import nn, optim
from torch.nn import functional

from geo_patrol import make_vec, play_match

try:
    from torch.utils.tensorboard import SummaryWriter
except ImportError:  # TensorBoard is optional
    SummaryWriter = None
try:
    import wandb
except ImportError:  # and so is Weights and Biases
    wandb = None

OPPONENTS = {"random": 1, "idle": 1, "raider": 2, "scripted": 4}  # each game samples one by these weights
MAY_CHANGE = ("device", "num_threads", "out", "track", "wandb_project_name", "save_seconds", "eval_games")
"""Options with which a training may continue that began with others."""


@dataclass
class Args:
    total_timesteps: int = 1_500_000  # learning rate and score_coef are annealed over them
    minutes: float = 0.0  # if not 0, the training ends after this time instead, and a seed does not repeat it
    seed: int = 1
    device: str = "auto"  # auto, cpu, cuda or mps
    num_threads: int = 1
    out: str = "runs/ppo_geo_patrol"
    config: str = "geo_patrol"
    self_play: bool = False  # both sides of every game learn, instead of one against the mixture of opponents
    track: bool = False  # send the curves to Weights and Biases
    wandb_project_name: str = "geo_patrol"
    num_envs: int = 128  # sides that play at once
    num_steps: int = 32
    learning_rate: float = 7e-4
    anneal_lr: bool = True
    gamma: float = 0.995
    gae_lambda: float = 0.95
    num_minibatches: int = 8
    update_epochs: int = 3
    clip_coef: float = 0.2
    ent_coef: float = 0.005
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    score_coef: float = 0.5  # reward of 100 points of score, annealed; a win is 1
    save_seconds: float = 30.0  # between two checkpoints
    eval_games: int = 1000


def layer_init(layer, std=2**0.5, bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    """One trunk for actor and critic; the actor's logits are (11 satellites, 28 orders)."""

    def __init__(self, obs_size, num_satellites, num_orders, width=256):
        super().__init__()
        self.action_shape = (num_satellites, num_orders)
        self.trunk = nn.Sequential(
            layer_init(nn.Linear(obs_size, width)), nn.ReLU(), layer_init(nn.Linear(width, width)), nn.ReLU()
        )
        self.actor = layer_init(nn.Linear(width, num_satellites * num_orders), std=0.01)
        self.critic = layer_init(nn.Linear(width, 1), std=1)

    def forward(self, onehot):
        """Return the logits alone, as docs/train/networks.md says: ``examples/export_onnx.py`` saves the network with them."""
        return self.actor(self.trunk(onehot))

    def get_value(self, x):
        return self.critic(self.trunk(x)).flatten()

    def get_action_and_value(self, x, mask, action=None, generator=None):
        """Log-probabilities and entropies are those of each satellite's order, (n, 11)."""
        hidden = self.trunk(x)
        logits = self.actor(hidden).view(-1, *self.action_shape).masked_fill(~mask, -1e8)
        log_probs = functional.log_softmax(logits, -1)
        if action is None:  # the Gumbel-max trick, which is faster than Categorical.sample
            action = (log_probs - torch.empty_like(log_probs).exponential_(generator=generator).log_()).argmax(-1)
        logprob = log_probs.gather(-1, action[..., None])[..., 0]
        entropy = -(log_probs.exp() * log_probs).sum(-1)
        return action, logprob, entropy, self.critic(hidden).flatten()


class TrainedAgent:
    """A trained network as an agent that ``play_match`` and the command line take."""

    name = "ppo"
    observation = "onehot"
    stateless = True

    def __init__(self, agent=None):
        if agent is None:  # made by the command line from its name
            torch.set_num_threads(1)
            weights = Path(__file__).with_name("agent.pt")
            if not weights.exists():
                weights = Path(Args.out) / "agent.pt"
            if not weights.exists():
                raise FileNotFoundError(f"no {weights}: train first, or name the agent.py in the folder given as --out")
            state = torch.load(weights, map_location="cpu", weights_only=True)
            agent = Agent(state["trunk.0.weight"].shape[1], 11, 28)
            agent.load_state_dict(state)
        self.agent = agent

    def reset(self, new_games):
        pass

    def act(self, observations, action_masks, generator):
        device = self.agent.critic.weight.device
        obs, mask = torch.as_tensor(observations, device=device), torch.as_tensor(action_masks, device=device).bool()
        seeded = torch.Generator(device).manual_seed(int(generator.integers(1 << 63)))  # the same games for a seed
        with torch.no_grad():
            return self.agent.get_action_and_value(obs, mask, generator=seeded)[0].cpu().numpy()


class Stopwatch:
    """Where the time of a training goes: seconds by part."""

    def __init__(self):
        self.seconds = dict.fromkeys(("environment", "sampling", "optimising"), 0.0)

    @contextmanager
    def time(self, part):
        started = time.perf_counter()
        yield
        self.seconds[part] += time.perf_counter() - started

    def __str__(self):
        total = sum(self.seconds.values())
        return ", ".join(f"{part} {seconds / total:.0%}" for part, seconds in self.seconds.items())


def make_envs(args):
    if args.self_play:  # a row for each side of a game; on a GPU, the games are there as well
        device = args.device if args.device.startswith("cuda") else "cpu"
        return make_vec(args.config, args.num_envs // 2, observation="onehot", autoreset="same_step", device=device)
    return make_vec(
        args.config, args.num_envs, opponent=OPPONENTS, seats="alternate", observation="onehot", autoreset="same_step"
    )


def make_writer(args):
    """Return a writer of TensorBoard's event files, or None without TensorBoard."""
    if args.track:
        if wandb is None:
            sys.exit("--track needs Weights and Biases: pip install wandb tensorboard")
        wandb.init(
            project=args.wandb_project_name, name=Path(args.out).name, config=asdict(args), sync_tensorboard=True
        )
    return SummaryWriter(args.out) if SummaryWriter else None


def save_checkpoint(args, envs, agent, optimizer, **progress):
    """Write everything that the training needs to go on, in one step: an interruption leaves the file before."""
    file = Path(args.out) / "checkpoint.pt"
    file.parent.mkdir(parents=True, exist_ok=True)
    state = {"agent": agent.state_dict(), "optimizer": optimizer.state_dict(), "torch": torch.get_rng_state()}
    state |= {"args": asdict(args), "envs": json.dumps(envs.save()), **progress}
    torch.save(state, file.with_suffix(".new"))
    file.with_suffix(".new").replace(file)


def load_checkpoint(args, device):
    """Return the checkpoint in the folder of the training; None if there is none."""
    file = Path(args.out) / "checkpoint.pt"
    if not file.exists():
        return None
    state = torch.load(file, map_location=device, weights_only=True)
    for name, value in asdict(args).items():
        if name not in MAY_CHANGE and state["args"].get(name) != value:
            option = f"--{name.replace('_', '-')}"
            sys.exit(
                f"{file} is of a training with {option} {state['args'].get(name)}: give another --out, or this {option}"
            )
    return state


def train(args):
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.num_threads)
    if args.device == "auto":
        args.device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    device = torch.device(args.device)
    checkpoint = load_checkpoint(args, device)
    writer, stopwatch = make_writer(args), Stopwatch()

    envs = make_envs(args)
    num_satellites, num_orders = envs.single_action_space.shape[0], int(envs.single_action_space.nvec[0])
    obs_size = envs.single_observation_space.shape[0]
    agent = Agent(obs_size, num_satellites, num_orders).to(device)
    optimizer = optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

    # Storage
    shape = (args.num_steps, args.num_envs)
    obs = torch.zeros((*shape, obs_size), device=device)
    masks = torch.zeros((*shape, num_satellites, num_orders), dtype=torch.bool, device=device)
    actions = torch.zeros((*shape, num_satellites), dtype=torch.long, device=device)
    logprobs = torch.zeros((*shape, num_satellites), device=device)
    rewards, dones, values = (torch.zeros(shape, device=device) for _ in range(3))
    finished = torch.zeros(shape, dtype=torch.bool, device=device)
    outcomes = torch.zeros(shape, dtype=torch.long, device=device)

    def to_tensors(observations, infos):
        next_obs = torch.as_tensor(observations, device=device)
        return next_obs, torch.as_tensor(infos["action_mask"], device=device).bool()

    envs.reset(seed=args.seed)
    envs.step(envs.sample_actions())  # compiles what is not compiled yet
    next_obs, next_mask = to_tensors(*envs.reset(seed=args.seed))
    games_on_device = isinstance(envs.action_masks(), torch.Tensor)
    next_done = torch.zeros(args.num_envs, device=device)
    global_step, iteration, elapsed, latest = 0, 0, 0.0, deque(maxlen=2000)
    if checkpoint is not None:
        agent.load_state_dict(checkpoint["agent"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        torch.set_rng_state(checkpoint["torch"].cpu())
        global_step, iteration, elapsed = (checkpoint[name] for name in ("global_step", "iteration", "elapsed"))
        envs.restore(json.loads(checkpoint["envs"]))
        next_obs, next_mask = to_tensors(*envs.view())
        next_done = checkpoint["next_done"]
        latest.extend(checkpoint["outcomes"])
        print(f"{args.out}: continues at global_step={global_step:,}, after {elapsed / 60:.2f} minutes")
    budget = f"{args.minutes:g} minutes" if args.minutes else f"{args.total_timesteps:,} steps"
    print(
        f"{args.out}: {budget} of {args.config} on {device}; a line for every {10 * args.num_envs * args.num_steps:,} steps"
    )

    def progress():
        return elapsed / (60 * args.minutes) if args.minutes else global_step / args.total_timesteps

    start_time, saved = time.time() - elapsed, elapsed
    while progress() < 1:
        iteration += 1
        frac = 1 - progress()
        if args.anneal_lr:
            optimizer.param_groups[0]["lr"] = frac * args.learning_rate

        for step in range(args.num_steps):
            global_step += args.num_envs
            obs[step], masks[step], dones[step] = next_obs, next_mask, next_done
            with torch.no_grad(), stopwatch.time("sampling"):
                actions[step], logprobs[step], _, values[step] = agent.get_action_and_value(next_obs, next_mask)
            with stopwatch.time("environment"):
                orders = actions[step] if games_on_device else actions[step].cpu().numpy()
                observations, points, terminations, truncations, infos = envs.step(orders)
            finished[step] = torch.as_tensor(infos["_finished_episode"], device=device)
            outcomes[step] = torch.as_tensor(infos["finished_episode"]["outcome"], device=device)  # 0 of the others
            rewards[step] = frac * args.score_coef / 100 * torch.as_tensor(points, device=device) + outcomes[step]
            next_obs, next_mask = to_tensors(observations, infos)
            next_done = torch.as_tensor(terminations | truncations, dtype=torch.float32, device=device)

        latest.extend(outcomes[finished].tolist())
        # Generalised advantage estimation
        with torch.no_grad():
            next_value = agent.get_value(next_obs)
            advantages = torch.zeros_like(rewards)
            lastgaelam = 0
            for t in reversed(range(args.num_steps)):
                is_last = t == args.num_steps - 1
                nextnonterminal = 1 - (next_done if is_last else dones[t + 1])
                nextvalues = next_value if is_last else values[t + 1]
                delta = rewards[t] + args.gamma * nextvalues * nextnonterminal - values[t]
                advantages[t] = lastgaelam = delta + args.gamma * args.gae_lambda * nextnonterminal * lastgaelam
            returns = advantages + values

        b_obs, b_masks, b_actions = obs.flatten(0, 1), masks.flatten(0, 1), actions.flatten(0, 1)
        b_logprobs, b_advantages = logprobs.flatten(0, 1), advantages.flatten()
        b_returns, b_values = returns.flatten(), values.flatten()
        batch_size = len(b_obs)

        # Optimising the policy and the value network
        clipfracs, started = [], time.perf_counter()
        for _ in range(args.update_epochs):
            for mb_inds in torch.randperm(batch_size, device=device).chunk(args.num_minibatches):
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(
                    b_obs[mb_inds], b_masks[mb_inds], b_actions[mb_inds]
                )
                has_choice = b_masks[mb_inds].sum(2) > 1  # the others have one legal order: nothing to learn
                logratio = (newlogprob - b_logprobs[mb_inds])[has_choice]
                ratio = logratio.exp()
                mb_advantages = b_advantages[mb_inds]
                mb_advantages = (mb_advantages - mb_advantages.mean()) / (mb_advantages.std() + 1e-8)
                order_advantages = mb_advantages[:, None].expand_as(has_choice)[has_choice]

                with torch.no_grad():
                    approx_kl = ((ratio - 1) - logratio).mean()
                    clipfracs.append(((ratio - 1).abs() > args.clip_coef).float().mean().item())

                pg_loss1 = -order_advantages * ratio
                pg_loss2 = -order_advantages * torch.clamp(ratio, 1 - args.clip_coef, 1 + args.clip_coef)
                pg_loss = torch.max(pg_loss1, pg_loss2).mean()
                v_loss = 0.5 * ((newvalue - b_returns[mb_inds]) ** 2).mean()
                entropy_loss = entropy[has_choice].mean()
                loss = pg_loss - args.ent_coef * entropy_loss + args.vf_coef * v_loss

                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()

        stopwatch.seconds["optimising"] += time.perf_counter() - started
        explained_variance = float(1 - (b_returns - b_values).var() / b_returns.var())
        elapsed = time.time() - start_time
        SPS = int(global_step / elapsed)
        win_rate = (np.mean(latest) + 1) / 2 if latest else float("nan")
        if iteration % 10 == 0:
            print(f"global_step={global_step:,} SPS={SPS:,} win_rate={win_rate:.1%} entropy={entropy_loss.item():.2f}")
        if writer is not None:
            writer.add_scalar("charts/learning_rate", optimizer.param_groups[0]["lr"], global_step)
            writer.add_scalar("charts/SPS", SPS, global_step)
            writer.add_scalar("charts/win_rate", win_rate, global_step)
            writer.add_scalar("losses/value_loss", v_loss.item(), global_step)
            writer.add_scalar("losses/policy_loss", pg_loss.item(), global_step)
            writer.add_scalar("losses/entropy", entropy_loss.item(), global_step)
            writer.add_scalar("losses/approx_kl", approx_kl.item(), global_step)
            writer.add_scalar("losses/clipfrac", np.mean(clipfracs), global_step)
            writer.add_scalar("losses/explained_variance", explained_variance, global_step)
        if elapsed - saved > args.save_seconds:
            reached = {"global_step": global_step, "iteration": iteration, "elapsed": elapsed}
            save_checkpoint(args, envs, agent, optimizer, next_done=next_done, outcomes=[*latest], **reached)
            saved = elapsed
    print(f"time: {stopwatch}")
    envs.close()
    if writer is not None:
        writer.close()
    return agent, {"steps": global_step, "minutes": elapsed / 60, "seconds": stopwatch.seconds}


def evaluate(agent, args):
    """Play matches, print the win rates, and return them with the ends of their 95% intervals."""
    win_rates = {}
    for opponent in ("random", "raider", "scripted"):
        print(f"final evaluation: {args.eval_games:,} games against {opponent} ...")
        result = play_match(TrainedAgent(agent), opponent, config=args.config, games=args.eval_games, seed=args.seed)
        total = result.summary().total
        low, high = map(float, total.win_interval)
        print(f"  win rate {total.win_rate:.1%} (95% interval {low:.1%}-{high:.1%})")
        win_rates[opponent] = {"win_rate": float(total.win_rate), "win_interval": [low, high]}
    return win_rates


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for field in fields(Args):
        kind = {"action": argparse.BooleanOptionalAction} if field.type is bool else {"type": field.type}
        parser.add_argument(
            f"--{field.name.replace('_', '-')}", default=field.default, help="default: %(default)s", **kind
        )
    return Args(**vars(parser.parse_args()))


if __name__ == "__main__":
    args = parse_args()
    out = Path(args.out)
    if (out / "agent.pt").exists():
        sys.exit(f"{out}/agent.pt exists: give another --out, or remove it")
    try:
        agent, trained = train(args)
    except KeyboardInterrupt:
        begins = "continues from its checkpoint" if (out / "checkpoint.pt").exists() else "begins anew"
        sys.exit(f"\nstopped; the same command {begins}")
    out.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(__file__, out / "agent.py")
    torch.save(agent.state_dict(), out / "agent.pt")
    (out / "checkpoint.pt").unlink(missing_ok=True)
    print(f"saved {out}/agent.pt, which plays as {out}/agent.py:TrainedAgent")
    result = trained | {"win_rates": evaluate(agent, args)}
    (out / "result.json").write_text(json.dumps(result) + "\n", encoding="utf-8")
