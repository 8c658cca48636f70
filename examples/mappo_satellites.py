"""Multi-agent PPO with one agent for each satellite, in a single file in the style of CleanRL, to copy and change.

    pip install "geo_patrol[train]"
    python examples/mappo_satellites.py --method mappo --minutes 5
    geo-patrol match torch:runs/mappo_satellites/agent.pt scripted
    python examples/mappo_satellites.py --view own --config outposts --minutes 5 --out runs/own

``--method`` chooses among

- ``mappo``: one network for the orders of all satellites of a team, which reads the satellite's number and features
  beside the team's view, and a central critic (Yu et al., "The surprising effectiveness of PPO in cooperative
  multi-agent games", 2022);
- ``ippo``: a network and a critic for each satellite, which learns by itself until it is destroyed (de Witt et al., "Is
  independent learning all you need in the StarCraft multi-agent challenge?", 2020);
- ``joint``: one network whose eleven outputs are the orders of the team, as in ``ppo_geo_patrol.py``.

With ``--view own`` every satellite observes what it sees by itself, and nothing else of the enemy. One network then gives the
orders of all satellites, each from its own observation. ``mappo`` has a critic of the whole position beside it, ``ippo`` one that
observes what the satellite does, and they differ in nothing else. ``joint`` needs what the team sees.

An interrupted training continues when the same command is given again. It needs PyTorch and ``geo_patrol``, nothing of
``geo_patrol.training``. Names are those of CleanRL's ``ppo.py`` (https://docs.cleanrl.dev).
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before the imports: docs/train/training.md, Threads

import argparse
import importlib.util
import json
import sys
import time
from collections import deque
from dataclasses import dataclass, fields
from pathlib import Path

if __name__ == "__main__" and importlib.util.find_spec("torch") is None:
    sys.exit('PyTorch is not installed: pip install "geo_patrol[train]"')

import numpy as np
import torch
from torch import nn, optim
from torch.nn import functional

from geo_patrol import make_vec

METHODS = ("mappo", "ippo", "joint")
VIEWS = ("side", "own")
CLOCKS = {"wall": time.time, "cpu": time.process_time}
OPPONENTS = {"random": 1, "idle": 1, "raider": 2, "scripted": 4}  # each game samples one by these weights
SATELLITES, ORDERS = 11, 28


@dataclass
class Args:
    method: str = "mappo"  # mappo, ippo or joint
    view: str = "side"  # what a satellite observes: side (what its team sees) or own (what it sees by itself)
    minutes: float = 5.0  # training time; learning rate and score_coef are annealed over it
    clock: str = "wall"  # wall, or cpu: the time of the processor, which stands still while other programs have it
    seed: int = 1
    device: str = "auto"  # auto, cpu, cuda or mps
    num_threads: int = 1
    out: str = "runs/mappo_satellites"
    config: str = "geo_patrol"
    num_envs: int = 128  # games at once, each with an opponent of its own
    num_steps: int = 32
    learning_rate: float = 7e-4
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


class SharedActor(nn.Module):
    """The same weights for all satellites: what the team sees, and on top of it the number and features of each."""

    def __init__(self, team_size, own_size, outputs=ORDERS, width=256):
        super().__init__()
        self.team = nn.Sequential(
            layer_init(nn.Linear(team_size, width)), nn.ReLU(), layer_init(nn.Linear(width, width))
        )
        self.own = layer_init(nn.Linear(SATELLITES + own_size, width))
        self.head = layer_init(nn.Linear(width, outputs), std=0.01)
        self.register_buffer("numbers", torch.eye(SATELLITES))

    def forward(self, team, own):
        numbers = self.numbers.expand(own.shape[0], -1, -1)
        hidden = self.team(team)[:, None] + self.own(torch.cat([numbers, own], -1))
        return self.head(functional.relu(hidden))


class SeparateNetworks(nn.Module):
    """A network of its own for each satellite; the product with all first layers is one."""

    def __init__(self, team_size, own_size, outputs, std, width=64):
        super().__init__()
        self.team = layer_init(nn.Linear(team_size, SATELLITES * width))
        self.own = nn.Parameter(
            torch.stack([layer_init(nn.Linear(own_size, width)).weight.T for _ in range(SATELLITES)])
        )
        self.head = nn.Parameter(
            torch.stack([layer_init(nn.Linear(width, outputs), std).weight.T for _ in range(SATELLITES)])
        )
        self.bias = nn.Parameter(torch.zeros(SATELLITES, outputs))

    def forward(self, team, own):
        hidden = self.team(team).view(-1, SATELLITES, self.own.shape[2]) + torch.einsum("nsi,sio->nso", own, self.own)
        return torch.einsum("nsi,sio->nso", functional.relu(hidden), self.head) + self.bias


class LocalNetwork(nn.Module):
    """The same weights for all satellites, each of which observes by itself; outputs are 0 where they are not needed."""

    def __init__(self, own_size, outputs, std, width=256):
        super().__init__()
        self.outputs = outputs
        self.layers = nn.Sequential(
            layer_init(nn.Linear(own_size, width)),
            nn.ReLU(),
            layer_init(nn.Linear(width, width)),
            nn.ReLU(),
            layer_init(nn.Linear(width, outputs), std),
        )

    def forward(self, own, is_needed):
        outputs = own.new_zeros(*own.shape[:2], self.outputs)
        outputs[is_needed] = self.layers(own[is_needed])
        return outputs


class Agent(nn.Module):
    """The orders of a team's satellites, (n, 11), and values, (n, 11), which are equal where there is one critic."""

    def __init__(self, method, view, team_size, own_size, width=256):
        super().__init__()
        self.method, self.view, self.team_size, self.own_size = method, view, team_size, own_size
        if view == "own":
            self.actor = LocalNetwork(own_size, ORDERS, std=0.01)
            if method == "ippo":
                self.critic = LocalNetwork(own_size, 1, std=1.0)
                return
        elif method == "ippo":
            self.actor = SeparateNetworks(team_size, own_size, ORDERS, std=0.01)
            self.critic = SeparateNetworks(team_size, own_size, 1, std=1.0)
            return
        # What the team sees is the whole position where no enemies are hidden; with view "own" it is that in any case.
        self.critic = nn.Sequential(
            layer_init(nn.Linear(team_size, width)),
            nn.ReLU(),
            layer_init(nn.Linear(width, width)),
            nn.ReLU(),
            layer_init(nn.Linear(width, 1), std=1),
        )
        if method == "mappo" and view == "side":
            self.actor = SharedActor(team_size, own_size)
        elif view == "side":
            self.actor = nn.Sequential(
                layer_init(nn.Linear(team_size, width)),
                nn.ReLU(),
                layer_init(nn.Linear(width, width)),
                nn.ReLU(),
                layer_init(nn.Linear(width, SATELLITES * ORDERS), std=0.01),
            )

    def get_logits(self, team, own, mask=None):
        if self.view == "own":
            return self.actor(own, mask.sum(2) > 1)  # the others have no choice
        return self.actor(team).view(-1, SATELLITES, ORDERS) if self.method == "joint" else self.actor(team, own)

    def get_value(self, team, own, lives):
        if self.method != "ippo":
            return self.critic(team).expand(-1, SATELLITES)
        return (self.critic(own, lives) if self.view == "own" else self.critic(team, own))[..., 0]

    def forward(self, onehot):
        """Return the logits alone, as docs/train/networks.md says; the own features are the first ones of what a team sees."""
        own = onehot[:, : SATELLITES * self.own_size].reshape(-1, SATELLITES, self.own_size)
        return self.get_logits(onehot, own).flatten(1)

    def get_action_and_value(self, team, own, mask, lives, action=None):
        """Log-probabilities and entropies are those of each satellite's order, (n, 11)."""
        log_probs = functional.log_softmax(self.get_logits(team, own, mask).masked_fill(~mask, -1e8), -1)
        if action is None:  # the Gumbel-max trick, which is faster than Categorical.sample
            action = (log_probs - torch.empty_like(log_probs).exponential_().log_()).argmax(-1)
        logprob = log_probs.gather(-1, action[..., None])[..., 0]
        entropy = -(log_probs.exp() * log_probs).sum(-1)
        return action, logprob, entropy, self.get_value(team, own, lives)


def make_envs(args, num_envs, opponent):
    return make_vec(
        args.config,
        num_envs,
        agents="satellites",
        view=args.view,
        opponent=opponent,
        seats="alternate",
        autoreset="same_step",
    )


def to_tensors(envs, observations, infos, device):
    """Return what teams see or the whole positions, what satellites observe, which orders are legal, and who is left."""
    teams = observations["team"] if "team" in observations else envs.state(from_seats=True)
    arrays = teams, observations["own"], infos["action_mask"].astype(bool), infos["agents"]
    return [torch.as_tensor(array, device=device) for array in arrays]


def save_checkpoint(file, envs, agent, optimizer, **progress):
    """Write everything that the training needs to go on, in one step: an interruption leaves the file before."""
    state = {
        "agent": agent.state_dict(),
        "optimizer": optimizer.state_dict(),
        "torch": torch.get_rng_state(),
        **progress,
    }
    torch.save(state | {"envs": json.dumps(envs.save())}, file.with_suffix(".new"))
    file.with_suffix(".new").replace(file)


def train(args):
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.num_threads)
    if args.device == "auto":
        args.device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    device = torch.device(args.device)

    envs = make_envs(args, args.num_envs, OPPONENTS)
    envs.reset(seed=args.seed)
    envs.step(np.zeros((args.num_envs, SATELLITES), np.int64))  # compiles what is not compiled yet
    next_obs = to_tensors(envs, *envs.reset(seed=args.seed), device)
    team_size, own_size = next_obs[0].shape[-1], next_obs[1].shape[-1]
    agent = Agent(args.method, args.view, team_size, own_size).to(device)
    optimizer = optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

    # Storage
    shape = (args.num_steps, args.num_envs)
    teams = torch.zeros((*shape, team_size), device=device)
    owns = torch.zeros((*shape, SATELLITES, own_size), device=device)
    masks = torch.zeros((*shape, SATELLITES, ORDERS), dtype=torch.bool, device=device)
    alive = torch.zeros((*shape, SATELLITES), dtype=torch.bool, device=device)
    actions = torch.zeros((*shape, SATELLITES), dtype=torch.long, device=device)
    logprobs, dones, values = (torch.zeros((*shape, SATELLITES), device=device) for _ in range(3))
    rewards = torch.zeros((*shape, 1), device=device)  # shared by the team

    global_step, iteration, elapsed, outcomes = 0, 0, 0.0, deque(maxlen=2000)
    checkpoint = Path(args.out) / "checkpoint.pt"
    if checkpoint.exists():
        state = torch.load(checkpoint, map_location=device, weights_only=True)
        for option in ("method", "view"):
            if state[option] != getattr(args, option):
                raise SystemExit(f"{checkpoint} is a training by {state[option]}: give another --out, or --{option}")
        agent.load_state_dict(state["agent"])
        optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["torch"].cpu())
        global_step, iteration, elapsed = state["global_step"], state["iteration"], state["elapsed"]
        envs.restore(json.loads(state["envs"]))
        next_obs = to_tensors(envs, *envs.view(), device)
        print(f"{args.out}: continues at global_step={global_step:,}, after {elapsed / 60:.2f} minutes")
    next_done = torch.zeros((args.num_envs, SATELLITES), device=device)
    clock = CLOCKS[args.clock]
    started, saved = clock() - elapsed, elapsed
    while elapsed < 60 * args.minutes:
        iteration += 1
        frac = 1 - elapsed / (60 * args.minutes)
        optimizer.param_groups[0]["lr"] = frac * args.learning_rate

        for step in range(args.num_steps):
            global_step += args.num_envs
            teams[step], owns[step], masks[step], alive[step] = next_obs
            dones[step] = next_done
            with torch.no_grad():
                actions[step], logprobs[step], _, values[step] = agent.get_action_and_value(*next_obs)
            observations, points, terminations, truncations, infos = envs.step(actions[step].cpu().numpy())
            finished, episode = infos["_finished_episode"], infos["finished_episode"]
            reward = frac * args.score_coef * points / 100 + np.where(finished, episode["outcome"], 0)
            rewards[step, :, 0] = torch.as_tensor(reward, dtype=torch.float32, device=device)
            next_obs = to_tensors(envs, observations, infos, device)
            is_over = torch.as_tensor(terminations | truncations, device=device)[:, None]
            # A satellite that learns by itself ends with its destruction, a team with its game.
            is_done = is_over | ~next_obs[3] if args.method == "ippo" else is_over
            next_done = is_done.float().expand(-1, SATELLITES)
            outcomes.extend(episode["outcome"][finished].tolist())

        # Generalised advantage estimation
        with torch.no_grad():
            next_value = agent.get_value(next_obs[0], next_obs[1], next_obs[3])
            advantages = torch.zeros_like(values)
            lastgaelam = 0
            for t in reversed(range(args.num_steps)):
                is_last = t == args.num_steps - 1
                nextnonterminal = 1 - (next_done if is_last else dones[t + 1])
                nextvalues = next_value if is_last else values[t + 1]
                delta = rewards[t] + args.gamma * nextvalues * nextnonterminal - values[t]
                advantages[t] = lastgaelam = delta + args.gamma * args.gae_lambda * nextnonterminal * lastgaelam
            returns = advantages + values

        batch = [x.flatten(0, 1) for x in (teams, owns, masks, alive, actions, logprobs, advantages, returns)]

        # Optimising the policy and the value network
        for _ in range(args.update_epochs):
            for mb_inds in torch.randperm(len(batch[0]), device=device).chunk(args.num_minibatches):
                team, own, mask, lives, action, logprob, advantage, target = (x[mb_inds] for x in batch)
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(team, own, mask, lives, action)
                has_choice = mask.sum(2) > 1  # the others have one legal order: nothing to learn
                ratio = (newlogprob - logprob)[has_choice].exp()
                order_advantages = advantage[has_choice]
                order_advantages = (order_advantages - order_advantages.mean()) / (order_advantages.std() + 1e-8)
                pg_loss1 = -order_advantages * ratio
                pg_loss2 = -order_advantages * torch.clamp(ratio, 1 - args.clip_coef, 1 + args.clip_coef)
                pg_loss = torch.max(pg_loss1, pg_loss2).mean()
                squares = (newvalue - target) ** 2
                v_loss = 0.5 * (squares[lives] if args.method == "ippo" else squares).mean()
                entropy_loss = entropy[has_choice].mean()
                loss = pg_loss - args.ent_coef * entropy_loss + args.vf_coef * v_loss

                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()

        elapsed = clock() - started
        if iteration % 10 == 0:
            win_rate = (np.mean(outcomes) + 1) / 2 if outcomes else float("nan")
            print(
                f"global_step={global_step:,} SPS={int(global_step / elapsed):,} win_rate={win_rate:.1%} "
                f"entropy={entropy_loss.item():.2f} value_loss={v_loss.item():.3f}"
            )
        if elapsed - saved > args.save_seconds or elapsed >= 60 * args.minutes:
            progress = {"global_step": global_step, "iteration": iteration, "elapsed": elapsed}
            save_checkpoint(checkpoint, envs, agent, optimizer, method=args.method, view=args.view, **progress)
            started, saved = clock() - elapsed, elapsed  # saving is no training
    envs.close()
    return agent.cpu(), {"minutes": elapsed / 60, "steps": global_step}


def evaluate(agent, args):
    """Let the policy play games, half of them from either side; return the win rates with the ends of 95% Wilson intervals."""
    row = {}
    for opponent in ("random", "raider", "scripted"):
        envs = make_envs(args, args.eval_games, opponent)
        inputs, outcomes = to_tensors(envs, *envs.reset(seed=args.seed), "cpu"), np.full(args.eval_games, np.nan)
        while np.isnan(outcomes).any():  # the first game of each environment counts
            with torch.no_grad():
                action = agent.get_action_and_value(*inputs)[0]
            observations, _, _, _, infos = envs.step(action.numpy())
            first = infos["_finished_episode"] & np.isnan(outcomes)
            outcomes[first] = infos["finished_episode"]["outcome"][first]
            inputs = to_tensors(envs, observations, infos, "cpu")
        envs.close()
        n, rate, z = args.eval_games, float((outcomes == 1).mean()), 1.96
        middle, spread = rate + z**2 / 2 / n, z * (rate * (1 - rate) / n + (z / 2 / n) ** 2) ** 0.5
        low, high = (middle - spread) / (1 + z**2 / n), (middle + spread) / (1 + z**2 / n)
        print(f"{n:,} games against {opponent}: win rate {rate:.1%} ({low:.1%}-{high:.1%})")
        row |= {opponent: rate, f"{opponent} low": low, f"{opponent} high": high}
    return row


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for field in fields(Args):
        choices = {"method": METHODS, "view": VIEWS, "clock": tuple(CLOCKS)}.get(field.name)
        parser.add_argument(
            f"--{field.name.replace('_', '-')}", default=field.default, type=field.type, choices=choices
        )
    args = Args(**vars(parser.parse_args()))
    if args.view == "own" and args.method == "joint":
        parser.error("--method joint needs what the team sees: --view side")
    return args


if __name__ == "__main__":
    args = parse_args()
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    agent, trained = train(args)
    if args.view == "side":  # agents in matches are given what their side sees
        torch.jit.trace(agent, torch.zeros(1, agent.team_size)).save(out / "agent.pt")
        print(f"saved {out}/agent.pt")
    row = trained | evaluate(agent, args)
    (out / "result.json").write_text(json.dumps(row) + "\n", encoding="utf-8")
