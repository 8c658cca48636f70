"""PPO by self-play with everything on a GPU, in a single file in the style of CleanRL, to copy and change.

    pip install "geo_patrol[train,cuda]"
    python examples/ppo_cuda.py
    geo-patrol match runs/ppo_cuda/agent.py:TrainedAgent scripted

Games, observations, masks, rewards, the network and its updates stay in the memory of the GPU: nothing is copied to the host in a
rollout. Shapes do not depend on values, so that the host never waits for the GPU, and ``--compile`` fuses the network. With
``--device cpu`` the same file runs on a processor, where ``examples/ppo_geo_patrol.py`` is the better start. docs/train/gpu.md says
what was run on a GPU, and what was not.
"""

import argparse
import importlib.util
import json
import shutil
import sys
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path

if __name__ == "__main__" and importlib.util.find_spec("torch") is None:
    sys.exit('PyTorch is not installed: pip install "geo_patrol[train,cuda]"')

import torch
from torch import nn, optim
from torch.nn import functional

from geo_patrol import make_vec, play_match

NUM_SATELLITES, NUM_ORDERS = 11, 28
TABLE = (22, 8)  # satellites of both sides; sector and features of each
SCALES = (1 / 100, 1, 1, 1, 1, 1, 1)  # of the features of a satellite: its fuel first


@dataclass
class Args:
    total_timesteps: int = 200_000_000
    minutes: float = 0.0  # if not 0, the training ends after this time instead, and a seed does not repeat it
    seed: int = 1
    device: str = "cuda"  # or cpu
    out: str = "runs/ppo_cuda"
    config: str = "geo_patrol"
    num_games: int = 16_384  # a game has two sides, which both learn
    num_steps: int = 16
    learning_rate: float = 1e-3
    anneal_lr: bool = True
    gamma: float = 0.995
    gae_lambda: float = 0.95
    num_minibatches: int = 8
    update_epochs: int = 2
    clip_coef: float = 0.2
    ent_coef: float = 0.02
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    score_coef: float = 0.5  # reward of 100 points of score, annealed; a win is 1
    width: int = 512
    bf16: bool = True  # matrix products of the network in bfloat16, on a GPU
    compile: bool = False  # torch.compile, which takes a minute at the start
    eval_games: int = 1000


def layer_init(layer, std=2**0.5, bias_const=0.0):
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    """One trunk for actor and critic on observations in tokens; sectors are embedded, other numbers scaled."""

    def __init__(self, obs_size, width, num_sectors=2048, sector_size=16):
        super().__init__()
        self.place = nn.Embedding(num_sectors, sector_size)
        rows, columns = TABLE
        inputs = rows * (sector_size + columns - 1) + obs_size - rows * columns
        self.register_buffer("scales", torch.tensor(SCALES))
        self.trunk = nn.Sequential(
            layer_init(nn.Linear(inputs, width)), nn.ReLU(), layer_init(nn.Linear(width, width)), nn.ReLU()
        )
        self.actor = layer_init(nn.Linear(width, NUM_SATELLITES * NUM_ORDERS), std=0.01)
        self.critic = layer_init(nn.Linear(width, 1), std=1)

    def forward(self, x, mask):
        """Return logits, (n, 11, 28), with those of illegal orders at -1e8, and values, (n,), both float32."""
        rows, columns = TABLE
        table, game = x[:, : rows * columns].view(-1, rows, columns), x[:, rows * columns :]
        features = (table[:, :, 1:] * self.scales).flatten(1)
        game = torch.log1p(game.abs().float()) * game.sign() / 4  # scores, costs, points: of very different sizes
        hidden = self.trunk(torch.cat([self.place(table[:, :, 0].long()).flatten(1), features, game], 1))
        logits = self.actor(hidden).float().view(-1, NUM_SATELLITES, NUM_ORDERS)
        return logits.masked_fill(mask == 0, -1e8), self.critic(hidden).float().flatten()


def sample(logits):
    """Return sampled orders and their log-probabilities, (n, 11), by the Gumbel-max trick."""
    log_probs = functional.log_softmax(logits, -1)
    action = (log_probs - torch.empty_like(log_probs).exponential_().log_()).argmax(-1)
    return action, log_probs.gather(-1, action[..., None])[..., 0]


class TrainedAgent:
    """A trained network as an agent: of ``play_match`` and the command line, and on a GPU as an opponent of ``make_vec``."""

    name = "ppo_cuda"
    observation = "tokens"
    stateless = True

    def __init__(self, agent=None):
        if agent is None:  # made by the command line from its name
            torch.set_num_threads(1)
            weights = Path(__file__).with_name("agent.pt")
            if not weights.exists():
                raise FileNotFoundError(f"no {weights}: train first, or name the agent.py in the folder given as --out")
            state = torch.load(weights, map_location="cpu", weights_only=True)
            # The trunk has an embedded sector where an observation has a number, for each satellite.
            inputs = state["trunk.0.weight"].shape[1]
            agent = Agent(inputs + TABLE[0] * (1 - state["place.weight"].shape[1]), len(state["trunk.0.bias"]))
            agent.load_state_dict(state)
        self.agent = agent

    def reset(self, new_games):
        pass

    def act(self, observations, action_masks, generator):
        device = self.agent.critic.weight.device
        torch.manual_seed(int(generator.integers(1 << 63)))  # the same games for a seed
        return (
            self.act_tensors(*(torch.as_tensor(x, device=device) for x in (observations, action_masks))).cpu().numpy()
        )

    @torch.no_grad()
    def act_tensors(self, observations, action_masks):
        return sample(self.agent(observations, action_masks)[0])[0]


def train(args):
    torch.manual_seed(args.seed)
    torch.set_float32_matmul_precision("high")  # TF32 on a GPU
    device = torch.device(args.device)
    envs = make_vec(
        args.config, args.num_games, observation="tokens", autoreset="same_step", copy=False, device=args.device
    )
    obs_size, num_envs = envs.single_observation_space.shape[0], envs.num_envs
    agent = Agent(obs_size, args.width).to(device)
    network = torch.compile(agent) if args.compile else agent
    optimizer = optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5, fused=True)
    autocast = torch.autocast(device.type, torch.bfloat16, enabled=args.bf16 and device.type == "cuda")

    def to_tensors(observations, infos):
        return torch.as_tensor(observations), torch.as_tensor(infos["action_mask"])

    # Storage: 1 GB for a million rows
    shape = (args.num_steps, num_envs)
    obs = torch.zeros((*shape, obs_size), dtype=torch.int16, device=device)
    masks = torch.zeros((*shape, NUM_SATELLITES, NUM_ORDERS), dtype=torch.int8, device=device)
    actions = torch.zeros((*shape, NUM_SATELLITES), dtype=torch.int64, device=device)
    logprobs = torch.zeros((*shape, NUM_SATELLITES), device=device)
    rewards, dones, values = (torch.zeros(shape, device=device) for _ in range(3))

    next_obs, next_mask = to_tensors(*envs.reset(seed=args.seed))
    next_done = torch.zeros(num_envs, device=device)
    global_step, iteration, start_time = 0, 0, time.time()
    curve = []

    def progress():
        elapsed = time.time() - start_time
        return elapsed / (60 * args.minutes) if args.minutes else global_step / args.total_timesteps

    while (done := progress()) < 1:
        iteration += 1
        frac = 1 - done
        if args.anneal_lr:
            optimizer.param_groups[0]["lr"] = frac * args.learning_rate

        for step in range(args.num_steps):
            global_step += num_envs
            obs[step], masks[step], dones[step] = next_obs, next_mask, next_done
            with torch.no_grad(), autocast:
                logits, values[step] = network(obs[step], masks[step])
                actions[step], logprobs[step] = sample(logits)
            orders = actions[step] if device.type == "cuda" else actions[step].numpy()
            observations, points, terminations, truncations, infos = envs.step(orders)
            outcome = torch.as_tensor(infos["finished_episode"]["outcome"])  # 0 of the others
            rewards[step] = frac * args.score_coef / 100 * torch.as_tensor(points) + outcome
            next_obs, next_mask = to_tensors(observations, infos)
            next_done = (torch.as_tensor(terminations) | torch.as_tensor(truncations)).float()

        # Generalised advantage estimation
        with torch.no_grad():
            with autocast:
                next_value = network(next_obs, next_mask)[1]
            advantages, lastgaelam = torch.zeros_like(rewards), 0
            for t in reversed(range(args.num_steps)):
                is_last = t == args.num_steps - 1
                nextnonterminal = 1 - (next_done if is_last else dones[t + 1])
                nextvalues = next_value if is_last else values[t + 1]
                delta = rewards[t] + args.gamma * nextvalues * nextnonterminal - values[t]
                advantages[t] = lastgaelam = delta + args.gamma * args.gae_lambda * nextnonterminal * lastgaelam
            returns = advantages + values

        columns = obs, masks, actions, logprobs, advantages, returns
        batch = [column.flatten(0, 1) for column in columns]
        # Optimising the policy and the value network
        for _ in range(args.update_epochs):
            for mb_inds in torch.randperm(len(batch[0]), device=device).chunk(args.num_minibatches):
                mb_obs, mb_masks, mb_actions, mb_logprobs, mb_advantages, mb_returns = (x[mb_inds] for x in batch)
                with autocast:
                    logits, newvalue = network(mb_obs, mb_masks)
                log_probs = functional.log_softmax(logits, -1)
                # Satellites with one legal order have nothing to learn; a mean with weights keeps shapes the same.
                weight = (mb_masks.sum(2) > 1).float()
                weight = weight / weight.sum()
                ratio = (log_probs.gather(-1, mb_actions[..., None])[..., 0] - mb_logprobs).exp()
                mb_advantages = (mb_advantages - mb_advantages.mean()) / (mb_advantages.std() + 1e-8)
                pg_loss1 = -mb_advantages[:, None] * ratio
                pg_loss2 = -mb_advantages[:, None] * torch.clamp(ratio, 1 - args.clip_coef, 1 + args.clip_coef)
                pg_loss = (weight * torch.max(pg_loss1, pg_loss2)).sum()
                v_loss = 0.5 * ((newvalue - mb_returns) ** 2).mean()
                entropy_loss = (weight * -(log_probs.exp() * log_probs).sum(-1)).sum()
                loss = pg_loss - args.ent_coef * entropy_loss + args.vf_coef * v_loss

                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()

        if iteration % 10 == 0 or progress() >= 1:  # the host waits for the GPU here alone
            elapsed = time.time() - start_time
            point = {"global_step": global_step, "seconds": elapsed, "SPS": global_step / elapsed}
            point |= {"entropy": entropy_loss.item(), "value_loss": v_loss.item()}
            curve.append(point)
            print(f"global_step={global_step:,} SPS={point['SPS']:,.0f} entropy={point['entropy']:.2f}")
    envs.close()
    return agent.cpu(), curve


def evaluate(agent, args):
    """Play matches on the processor; return the win rates with the ends of their 95% intervals."""
    win_rates = {}
    for opponent in ("random", "raider", "scripted"):
        result = play_match(TrainedAgent(agent), opponent, config=args.config, games=args.eval_games, seed=args.seed)
        total = result.summary().total
        low, high = map(float, total.win_interval)
        print(f"{args.eval_games:,} games against {opponent}: {total.win_rate:.1%} (95% interval {low:.1%}-{high:.1%})")
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
    agent, curve = train(args)
    out.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(__file__, out / "agent.py")
    torch.save(agent.state_dict(), out / "agent.pt")
    print(f"saved {out}/agent.pt, which plays as {out}/agent.py:TrainedAgent")
    result = {"args": asdict(args), "curve": curve, "win_rates": evaluate(agent, args)}
    (out / "result.json").write_text(json.dumps(result) + "\n", encoding="utf-8")
