"""Multi-agent PPO with one agent for each satellite, in a single file in the style of CleanRL, to copy and change.

    pip install "geo_patrol[train]"
    python examples/mappo_satellites.py --method mappo --minutes 5
    geo-patrol match torch:runs/mappo_satellites/agent.pt scripted

``--method`` chooses among

- ``mappo``: one network for the orders of all satellites of a team, which reads the satellite's number and features
  beside the team's view, and a central critic (Yu et al., "The surprising effectiveness of PPO in cooperative
  multi-agent games", 2022);
- ``ippo``: a network and a critic for each satellite, which learns by itself until it is destroyed (de Witt et al., "Is
  independent learning all you need in the StarCraft multi-agent challenge?", 2020);
- ``joint``: one network whose eleven outputs are the orders of the team, as in ``ppo_geo_patrol.py``.

An interrupted training continues when the same command is given again. It needs PyTorch and ``geo_patrol``, nothing of
``geo_patrol.training``. Names are those of CleanRL's ``ppo.py`` (https://docs.cleanrl.dev).
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before the imports: docs/training.md, Threads

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

from geo_patrol import make_vec, play_match

METHODS = ("mappo", "ippo", "joint")
CLOCKS = {"wall": time.time, "cpu": time.process_time}
OPPONENTS = {"random": 1, "idle": 1, "raider": 2, "scripted": 4}  # each game samples one by these weights
SATELLITES, ORDERS = 11, 28


@dataclass
class Args:
    method: str = "mappo"  # mappo, ippo or joint
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


class Agent(nn.Module):
    """The orders of a team's satellites, (n, 11), and values, (n, 11), which are equal where there is one critic."""

    def __init__(self, method, team_size, own_size, width=256):
        super().__init__()
        self.method, self.team_size, self.own_size = method, team_size, own_size
        if method == "ippo":
            self.actor = SeparateNetworks(team_size, own_size, ORDERS, std=0.01)
            self.critic = SeparateNetworks(team_size, own_size, 1, std=1.0)
            return
        # All is seen in this game, so what the team sees is the whole state, from its own side.
        self.critic = nn.Sequential(
            layer_init(nn.Linear(team_size, width)),
            nn.ReLU(),
            layer_init(nn.Linear(width, width)),
            nn.ReLU(),
            layer_init(nn.Linear(width, 1), std=1),
        )
        if method == "mappo":
            self.actor = SharedActor(team_size, own_size)
        else:
            self.actor = nn.Sequential(
                layer_init(nn.Linear(team_size, width)),
                nn.ReLU(),
                layer_init(nn.Linear(width, width)),
                nn.ReLU(),
                layer_init(nn.Linear(width, SATELLITES * ORDERS), std=0.01),
            )

    def get_logits(self, team, own):
        return self.actor(team).view(-1, SATELLITES, ORDERS) if self.method == "joint" else self.actor(team, own)

    def get_value(self, team, own):
        return self.critic(team, own)[..., 0] if self.method == "ippo" else self.critic(team).expand(-1, SATELLITES)

    def forward(self, onehot):
        """Return the logits alone, as docs/networks.md says; the own features are the first ones of what a team sees."""
        own = onehot[:, : SATELLITES * self.own_size].reshape(-1, SATELLITES, self.own_size)
        return self.get_logits(onehot, own).flatten(1)

    def get_action_and_value(self, team, own, mask, action=None):
        """Log-probabilities and entropies are those of each satellite's order, (n, 11)."""
        log_probs = functional.log_softmax(self.get_logits(team, own).masked_fill(~mask, -1e8), -1)
        if action is None:  # the Gumbel-max trick, which is faster than Categorical.sample
            action = (log_probs - torch.empty_like(log_probs).exponential_().log_()).argmax(-1)
        logprob = log_probs.gather(-1, action[..., None])[..., 0]
        entropy = -(log_probs.exp() * log_probs).sum(-1)
        return action, logprob, entropy, self.get_value(team, own)


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

    envs = make_vec(
        args.config, args.num_envs, agents="satellites", opponent=OPPONENTS, seats="alternate", autoreset="same_step"
    )
    spaces = envs.single_observation_space
    team_size, own_size = spaces["team"].shape[0], spaces["own"].shape[1]
    agent = Agent(args.method, team_size, own_size).to(device)
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

    def to_tensors(observations, infos):
        arrays = observations["team"], observations["own"], infos["action_mask"].astype(bool), infos["agents"]
        return [torch.as_tensor(array, device=device) for array in arrays]

    envs.reset(seed=args.seed)
    envs.step(np.zeros((args.num_envs, SATELLITES), np.int64))  # compiles what is not compiled yet
    next_obs = to_tensors(*envs.reset(seed=args.seed))
    global_step, iteration, elapsed, outcomes = 0, 0, 0.0, deque(maxlen=2000)
    checkpoint = Path(args.out) / "checkpoint.pt"
    if checkpoint.exists():
        state = torch.load(checkpoint, map_location=device, weights_only=True)
        if state["method"] != args.method:
            raise SystemExit(f"{checkpoint} is a training by {state['method']}: give another --out, or --method")
        agent.load_state_dict(state["agent"])
        optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["torch"].cpu())
        global_step, iteration, elapsed = state["global_step"], state["iteration"], state["elapsed"]
        envs.restore(json.loads(state["envs"]))
        next_obs = to_tensors(*envs.view())
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
                actions[step], logprobs[step], _, values[step] = agent.get_action_and_value(*next_obs[:3])
            observations, points, terminations, truncations, infos = envs.step(actions[step].cpu().numpy())
            finished, episode = infos["_finished_episode"], infos["finished_episode"]
            reward = frac * args.score_coef * points / 100 + np.where(finished, episode["outcome"], 0)
            rewards[step, :, 0] = torch.as_tensor(reward, dtype=torch.float32, device=device)
            next_obs = to_tensors(observations, infos)
            is_over = torch.as_tensor(terminations | truncations, device=device)[:, None]
            # A satellite that learns by itself ends with its destruction, a team with its game.
            is_done = is_over | ~next_obs[3] if args.method == "ippo" else is_over
            next_done = is_done.float().expand(-1, SATELLITES)
            outcomes.extend(episode["outcome"][finished].tolist())

        # Generalised advantage estimation
        with torch.no_grad():
            next_value = agent.get_value(*next_obs[:2])
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
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(team, own, mask, action)
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
            progress = {"method": args.method, "global_step": global_step, "iteration": iteration, "elapsed": elapsed}
            save_checkpoint(checkpoint, envs, agent, optimizer, **progress)
            started, saved = clock() - elapsed, elapsed  # saving is no training
    envs.close()
    return agent.cpu(), {"minutes": elapsed / 60, "steps": global_step}


def evaluate(file, args):
    """Let the policy in a file play matches; return the win rates with the ends of their 95% intervals."""
    row = {}
    for opponent in ("random", "raider", "scripted"):
        result = play_match(f"torch:{file}", opponent, config=args.config, games=args.eval_games, seed=args.seed)
        total = result.summary().total
        low, high = map(float, total.win_interval)
        print(f"{args.eval_games:,} games against {opponent}: win rate {total.win_rate:.1%} ({low:.1%}-{high:.1%})")
        row |= {opponent: float(total.win_rate), f"{opponent} low": low, f"{opponent} high": high}
    return row


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for field in fields(Args):
        choices = {"method": METHODS, "clock": tuple(CLOCKS)}.get(field.name)
        parser.add_argument(
            f"--{field.name.replace('_', '-')}", default=field.default, type=field.type, choices=choices
        )
    return Args(**vars(parser.parse_args()))


if __name__ == "__main__":
    args = parse_args()
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    agent, trained = train(args)
    torch.jit.trace(agent, torch.zeros(1, agent.team_size)).save(out / "agent.pt")
    print(f"saved {out}/agent.pt")
    row = trained | evaluate(out / "agent.pt", args)
    (out / "result.json").write_text(json.dumps(row) + "\n", encoding="utf-8")
