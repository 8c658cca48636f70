"""Train a policy by self-play against a league of scripts and of its own past selves.

    pip install "geo_patrol[train]"
    python examples/train_selfplay.py --minutes 10 --out runs/first
    geo-patrol match policy:runs/first/policy.safetensors scripted

One file, in the manner of CleanRL, to be read from top to bottom: network, players, league, games, update (PPO that
clips each satellite's order by itself), training. The same command goes on where an interrupted one was. docs/training.md
says what it reaches. ``--config`` takes presets and configuration files, ranges and variants included.
"""

import argparse
import csv
import itertools
import time
from collections import Counter, deque
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from torch import nn
from torch.nn import functional

from geo_patrol import make_vec, play_match
from geo_patrol.agents.policy import PolicyAgent
from geo_patrol.agents.policy.network import (
    ACTIVE,
    FLEETS,
    GAME_SCALES,
    HIGHEST_INPUT,
    KIND_OF_ROW,
    SATELLITE_SCALES,
    initial_weights,
)
from geo_patrol.agents.policy.weights import (
    ATTACKS,
    SECTORS,
    SIMPLE_ORDERS,
    Widths,
    shapes,
    write_weights,
)
from geo_patrol.engine.encodings import ROWS, TOKEN_COLUMNS, TOKEN_TABLE
from geo_patrol.engine.state import GUARD, ORDERS, SATELLITES, SHOOT

SCRIPTS = (
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
DISCOUNT = 0.995
TRACE = 0.92  # lambda of generalised advantage estimation
CLIP = 0.2
VALUE_WEIGHT = 0.5
GRADIENT_NORM = 0.5
PAST_SELVES_AT_ONCE = 2  # drawn for new games; each is asked by itself, so that many cost time
MOST_PAST_SELVES = 24
DRAW_OPPONENTS_EVERY = 8  # updates: a game that has begun keeps its opponent, so that more often means more at once


# --- The network: geo_patrol.agents.policy.network in PyTorch ---------------------------------------------------------


class Network(nn.Module):
    """Scores every legal order of every satellite that has a choice, and values the position."""

    def __init__(self, weights):
        super().__init__()
        self.w = nn.ParameterDict({name: torch.tensor(array) for name, array in weights.items()})
        self.register_buffer("satellite_scales", torch.tensor(SATELLITE_SCALES))
        self.register_buffer("game_scales", torch.tensor(GAME_SCALES))
        self.register_buffer("kinds", torch.tensor(KIND_OF_ROW * SECTORS))
        self.register_buffer("fleets", torch.tensor(FLEETS))
        self.register_buffer("numbers", torch.eye(SATELLITES))

    def forward(self, observations, masks):
        """(n, 249) int16, (n, 11, 28) bool -> places of those with a choice, their logits (choices, 28), values (n,)."""
        w = self.w
        table = observations[:, :TOKEN_TABLE].view(-1, ROWS, TOKEN_COLUMNS)
        sectors = table[:, :, 0].long()
        figures = (table[:, :, 1:] * self.satellite_scales).clamp_(0, HIGHEST_INPUT)
        game = (observations[:, TOKEN_TABLE:] * self.game_scales).clamp_(-HIGHEST_INPUT, HIGHEST_INPUT)
        places = sectors + self.kinds

        about_game = torch.addmm(w["satellite_bias"], game, w["game"])[:, None]
        own_inputs = torch.cat([figures[:, :SATELLITES], self.numbers.expand(len(game), -1, -1)], 2)
        own_weights = torch.cat([w["own_figures"], w["number"]])
        own = self.embed(places[:, :SATELLITES], own_inputs, own_weights, about_game)
        enemy = self.embed(places[:, SATELLITES:], figures[:, SATELLITES:], w["enemy_figures"], about_game)

        is_active = figures[:, :, ACTIVE]
        counts = self.fleets * is_active[:, None]  # own HVA, own Patrols, enemy HVA, enemy Patrols
        sums = [counts[:, :2, :SATELLITES] @ own, counts[:, 2:, SATELLITES:] @ enemy]
        board = torch.zeros(len(game), len(w["board"])).scatter_add_(1, places, is_active)
        pooled = torch.cat([*(of_side.flatten(1) for of_side in sums), game, board], 1)
        context = functional.relu(torch.addmm(w["pool_bias"], pooled, torch.cat([w["pool"], w["board"]])))
        context = functional.relu(torch.addmm(w["context_bias"], context, w["context"]))
        values = (context @ w["value"] + w["value_bias"])[:, 0]

        chosen = (masks.sum(2) > 1).view(-1).nonzero()[:, 0]  # places in (n, 11), laid flat
        rows, numbers = chosen // SATELLITES, chosen % SATELLITES
        deciding = own.flatten(0, 1).index_select(0, chosen)
        about_position = torch.addmm(w["order_bias"], context, w["order_context"]).index_select(0, rows)
        wishes = functional.relu(torch.addmm(about_position, deciding, w["order"]))
        simple = wishes @ w["simple"] + w["simple_bias"]
        width = w["key"].shape[1] // ATTACKS
        queries = torch.zeros(len(game) * SATELLITES, ATTACKS * width).index_copy(0, chosen, wishes @ w["query"])
        queries = queries.view(-1, SATELLITES, ATTACKS, width).transpose(1, 2)
        keys = (enemy @ w["key"]).view(-1, SATELLITES, ATTACKS, width).permute(0, 2, 3, 1)
        attacks = (queries @ keys).transpose(1, 2).reshape(-1, ATTACKS, SATELLITES).index_select(0, chosen) / width**0.5
        is_same = sectors.view(-1)[rows * ROWS + numbers][:, None] == sectors[rows, SATELLITES:]
        attacks = attacks + (wishes @ w["attack"])[:, :, None]
        attacks = attacks + (wishes @ w["attack_same_sector"])[:, :, None] * is_same[:, None]
        last = SIMPLE_ORDERS - 1
        logits = torch.cat([simple[:, :last], attacks.reshape(-1, ATTACKS * SATELLITES), simple[:, last:]], 1)
        return chosen, logits.masked_fill(~masks.view(-1, ORDERS)[chosen], -1e9), values

    def embed(self, places, inputs, weights, about_game):
        """What is known of the satellites of a side, (n, 11, width); few passes over memory, which take the time."""
        at_place = functional.embedding(places.flatten(), self.w["place"])
        known = torch.addmm(at_place, inputs.flatten(0, 1), weights).view(*places.shape, -1)
        return (known + about_game).relu_()

    def arrays(self):
        """Return the weights as NumPy arrays, as geo_patrol reads and writes them."""
        return {name: array.detach().numpy().copy() for name, array in self.w.items()}


assert (SHOOT, GUARD) == (SIMPLE_ORDERS - 1, ORDERS - 1), "forward puts the scores of attacks between these"


@torch.no_grad()
def draw(network, observations, masks):
    """Return drawn orders (n, 11), their log-probabilities (n, 11), 0 where there is no choice, and values (n,)."""
    masks = torch.as_tensor(masks).bool()
    chosen, logits, values = network(torch.as_tensor(observations), masks)
    drawn = (logits - torch.empty_like(logits).exponential_().log_()).argmax(1)
    likely = functional.log_softmax(logits, 1).gather(1, drawn[:, None])[:, 0]
    orders = torch.zeros(masks.shape[:2], dtype=torch.long)
    log_chances = torch.zeros(masks.shape[:2])
    orders.view(-1)[chosen] = drawn
    log_chances.view(-1)[chosen] = likely
    return orders, log_chances, values


class Player:
    """A network as an agent: a past self in the league, or the present one in an evaluation."""

    observation = "tokens"
    stateless = True

    def __init__(self, network, name):
        self.network, self.name = network, name

    def reset(self, new_games):
        pass

    def act(self, observations, action_masks, generator):
        return draw(self.network, observations, action_masks)[0].numpy()


# --- The league: scripts and past selves, drawn by prioritised fictitious self-play -----------------------------------


class League:
    """Opponents, and how often each was beaten of late; those that are hard to beat are drawn more often."""

    def __init__(self, scripts, generator):
        self.generator = generator
        self.players = {name: name for name in scripts}
        self.results = {name: deque(maxlen=400) for name in scripts}

    def add(self, network, name):
        """Take a copy of a network in; the easiest past self goes when there are too many."""
        copy = Network(network.arrays())
        self.players[name], self.results[name] = Player(copy, name), deque(maxlen=400)
        past = [name for name, player in self.players.items() if isinstance(player, Player)]
        if len(past) > MOST_PAST_SELVES:
            easiest = max(past[:-1], key=self.win_rate)
            del self.players[easiest], self.results[easiest]

    def win_rate(self, name):
        """Return how often it was beaten in its last 400 games; one half until there are some."""
        results = self.results.get(name, ())
        return (sum(results) + 5) / (len(results) + 10)

    def mixture(self):
        """Return opponents for the next games, with weights: all scripts, and a few past selves."""
        scripts = {name: 0.01 + (1 - self.win_rate(name)) ** 1.5 for name, p in self.players.items() if p is name}
        past = [name for name in self.players if name not in scripts]
        if past:
            hardness = np.array([0.05 + (1 - self.win_rate(name)) ** 2 for name in past])
            count = min(PAST_SELVES_AT_ONCE, len(past))
            drawn = self.generator.choice(past, count, replace=False, p=hardness / hardness.sum())
            share = sum(scripts.values()) / 2 / count  # a third of all games
            return [*scripts.items(), *((self.players[name], share) for name in drawn)]
        return list(scripts.items())

    def report(self, names, outcomes):
        """Hear how games ended: outcomes 1, 0, -1, a draw half a win."""
        for name, outcome in zip(names, outcomes, strict=True):
            if name in self.results:
                self.results[name].append(float(outcome + 1) / 2)


# --- The games: for each configuration some against the league and some of self-play ----------------------------------


class Games:
    """Vector environments side by side, one batch of slots."""

    def __init__(self, arguments, league, seed):
        self.league, self.score_weight, self.seconds = league, arguments.score_weight, 0.0
        shared = {"observation": "tokens", "reward": "score", "autoreset": "same_step"}
        self.envs = []
        for config, share in Counter(arguments.config).items():
            slots = arguments.slots * share // len(arguments.config)
            both = round(slots * arguments.self_play / 2)  # games that fill two slots each
            if slots > 2 * both:
                mixture = league.mixture()
                self.envs.append(make_vec(config, slots - 2 * both, opponent=mixture, seats="alternate", **shared))
            if both:
                self.envs.append(make_vec(config, both, **shared))
        ends = np.cumsum([0, *(env.num_envs for env in self.envs)])
        self.parts = [slice(start, stop) for start, stop in itertools.pairwise(ends)]
        self.slots = int(ends[-1])
        seen = [env.reset(seed=seed + 1_000_003 * place) for place, env in enumerate(self.envs)]
        self.observations = np.concatenate([observations for observations, _ in seen])
        self.masks = np.concatenate([infos["action_mask"] for _, infos in seen])

    def step(self, orders):
        """Play one phase of all games; return rewards and ends, (slots,).

        Winning is what counts; points count a little at first, without which learning takes off much later.
        """
        rewards, ends = np.empty(self.slots, np.float32), np.empty(self.slots, bool)
        for env, part in zip(self.envs, self.parts, strict=True):
            start = time.perf_counter()
            self.observations[part], rewards[part], ends[part], _, infos = env.step(orders[part])
            self.masks[part] = infos["action_mask"]
            self.seconds += time.perf_counter() - start
            told, finished = infos["finished_episode"], infos["_finished_episode"]
            rewards[part] = self.score_weight * rewards[part] / 100 + np.where(finished, told["outcome"], 0)
            if env.opponent_names and finished.any():
                names = [env.opponent_names[place] for place in told["opponent"][finished]]
                self.league.report(names, told["outcome"][finished])
        return rewards, ends

    def draw_opponents(self):
        """Let new games draw from the league as it stands."""
        for env in self.envs:
            if env.opponent_names:
                env.set_opponents(self.league.mixture())


# --- Learning ---------------------------------------------------------------------------------------------------------


class Rollout:
    """What was seen, ordered and won in some phases of all games: arrays (phases, slots, ...)."""

    def __init__(self, phases, slots):
        self.observations = torch.empty((phases, slots, TOKEN_TABLE + len(GAME_SCALES)), dtype=torch.int16)
        self.masks = torch.empty((phases, slots, SATELLITES, ORDERS), dtype=torch.bool)
        self.orders = torch.empty((phases, slots, SATELLITES), dtype=torch.long)
        self.log_chances = torch.empty((phases, slots, SATELLITES))
        self.values = torch.empty((phases + 1, slots))
        self.rewards = torch.empty((phases, slots))
        self.ends = torch.empty((phases, slots), dtype=torch.bool)

    def play(self, network, games):
        """Fill it with the next phases."""
        phases = len(self.orders)
        for phase in range(phases):
            self.observations[phase] = torch.from_numpy(games.observations)
            self.masks[phase] = torch.from_numpy(games.masks)
            drawn = draw(network, self.observations[phase], self.masks[phase])
            self.orders[phase], self.log_chances[phase], self.values[phase] = drawn
            rewards, ends = games.step(drawn[0].numpy())
            self.rewards[phase], self.ends[phase] = torch.from_numpy(rewards), torch.from_numpy(ends)
        self.values[phases] = draw(network, games.observations, games.masks)[2]

    def advantages(self):
        """Return generalised advantage estimates, (phases, slots)."""
        goes_on = (~self.ends).float()
        errors = self.rewards + DISCOUNT * self.values[1:] * goes_on - self.values[:-1]
        found, later = torch.empty_like(errors), torch.zeros(errors.shape[1])
        for phase in reversed(range(len(errors))):
            later = errors[phase] + DISCOUNT * TRACE * goes_on[phase] * later
            found[phase] = later
        return found


def update(network, optimizer, rollout, epochs, minibatch, entropy_weight):
    """Improve the network by PPO; return what curves show."""
    advantages = rollout.advantages().view(-1)
    returns = advantages + rollout.values[:-1].reshape(-1)
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    observations, masks = rollout.observations.flatten(0, 1), rollout.masks.flatten(0, 1)
    orders, old = rollout.orders.flatten(0, 1), rollout.log_chances.flatten(0, 1)
    told = {"entropy": [], "clipped": [], "value_loss": []}
    for _ in range(epochs):
        for batch in torch.randperm(len(advantages)).split(minibatch):
            chosen, logits, values = network(observations[batch], masks[batch])
            every = functional.log_softmax(logits, 1)
            new = every.gather(1, orders[batch].view(-1)[chosen][:, None])[:, 0]
            ratio = (new - old[batch].view(-1)[chosen]).exp()  # of one satellite's order, not of the joint one
            gain = advantages[batch][chosen // SATELLITES]
            policy_loss = -torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
            entropy = -(every.exp() * every).sum(1).mean()
            value_loss = functional.mse_loss(values, returns[batch])
            loss = policy_loss + VALUE_WEIGHT * value_loss - entropy_weight * entropy
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), GRADIENT_NORM)
            optimizer.step()
            told["entropy"].append(entropy.item())
            told["clipped"].append(((ratio - 1).abs() > CLIP).float().mean().item())
            told["value_loss"].append(value_loss.item())
    return {name: float(np.mean(figures)) for name, figures in told.items()}


# --- Training ---------------------------------------------------------------------------------------------------------


class Training:
    """All that a training consists of, and how it is kept."""

    def __init__(self, arguments):
        self.arguments = arguments
        torch.manual_seed(arguments.seed)
        generator = np.random.default_rng(arguments.seed)
        fresh = initial_weights(shapes(Widths()), generator)
        self.network = Network(fresh if arguments.begin is None else PolicyAgent(arguments.begin).weights)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=arguments.rate, eps=1e-5, fused=True)
        self.league = League([*arguments.league, *arguments.others], generator)
        self.steps, self.minutes, self.updates, self.evaluations, self.curve = 0, 0.0, 0, 0, []
        arguments.out.mkdir(parents=True, exist_ok=True)
        self.checkpoint = arguments.out / "checkpoint.pt"
        if self.checkpoint.exists():
            self.load()
        self.games = Games(arguments, self.league, arguments.seed + self.steps)

    @property
    def done(self):
        return min(self.minutes / self.arguments.minutes, 1.0)

    def save(self):
        """Keep everything that goes on later, and the weights by themselves."""
        past = {name: p.network.state_dict() for name, p in self.league.players.items() if isinstance(p, Player)}
        kept = {
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "past": past,
            "results": {name: list(results) for name, results in self.league.results.items()},
            "counters": (self.steps, self.minutes, self.evaluations),
            "curve": self.curve,
            "chance": torch.get_rng_state(),
        }
        unfinished = self.checkpoint.with_suffix(".unfinished")
        torch.save(kept, unfinished)
        unfinished.replace(self.checkpoint)
        told = {"steps": f"{self.steps}", "minutes": f"{self.minutes:.1f}", "seed": f"{self.arguments.seed}"}
        told["begun_with"] = self.arguments.begin or "random weights"
        told["configs"] = ", ".join(c if isinstance(c, str) else c.title for c in self.arguments.config)
        write_weights(self.arguments.out / "policy.safetensors", self.network.arrays(), told)

    def load(self):
        """Go on where an interrupted training was."""
        kept = torch.load(self.checkpoint, weights_only=True)  # numbers alone: nothing in it is executed
        self.network.load_state_dict(kept["network"])
        self.optimizer.load_state_dict(kept["optimizer"])
        for name, state in kept["past"].items():
            self.league.add(self.network, name)
            self.league.players[name].network.load_state_dict(state)
        for name, results in kept["results"].items():
            if name in self.league.results:
                self.league.results[name].extend(results)
        self.steps, self.minutes, self.evaluations = kept["counters"]
        self.curve = kept["curve"]
        torch.set_rng_state(kept["chance"])

    def evaluate(self, games, console):
        """Play fresh games against every rival, half of them from each side, and note the win rates."""
        self.evaluations += 1
        row = {"minutes": round(self.minutes, 3), "steps": self.steps}
        for rival in self.arguments.rivals:
            player = Player(self.network, "training")
            seed = 1_000 * self.arguments.seed + self.evaluations
            match = play_match(player, rival, config=self.arguments.play_on, games=games, seed=seed)
            total = match.summary().total
            row[rival], row[f"{rival} low"], row[f"{rival} high"] = map(float, (total.win_rate, *total.win_interval))
        self.curve.append(row)
        with (self.arguments.out / "curve.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(self.curve[0]))
            writer.writeheader()
            writer.writerows(self.curve)
        said = ", ".join(f"{rival} {row[rival]:.1%}" for rival in self.arguments.rivals)
        console.print(f"{self.minutes:6.2f} min {self.steps:>11,} steps: win rate against {said}")

    def learn(self, rollout):
        """Play some phases and learn from them; learning, exploring and the weight of points decline together."""
        arguments, ease = self.arguments, max(1 - self.done, 0.02)
        if self.updates % DRAW_OPPONENTS_EVERY == 0:
            self.games.draw_opponents()
        self.updates += 1
        self.games.score_weight = arguments.score_weight * ease
        rollout.play(self.network, self.games)
        for group in self.optimizer.param_groups:
            group["lr"] = arguments.rate * ease
        entropy_weight = arguments.entropy * ease
        told = update(self.network, self.optimizer, rollout, arguments.epochs, arguments.minibatch, entropy_weight)
        self.steps += rollout.rewards.numel()
        return told

    def run(self, progress):
        """Train until the time is over."""
        arguments, console = self.arguments, progress.console
        if self.done == 1:
            console.print(f"{arguments.out}: has its {arguments.minutes:g} minutes already; give more to go on")
            return
        evaluations, selves = Milestones(arguments.evaluations, self.done), Milestones(arguments.selves, self.done)
        rollout, task = Rollout(arguments.phases, self.games.slots), progress.add_task("training", total=1.0, said="")
        rollout.play(self.network, self.games)  # compiles what is not compiled, before the clock starts
        first_steps, first_minutes, self.games.seconds = self.steps, self.minutes, 0.0
        start = time.perf_counter()
        while self.done < 1:
            told = self.learn(rollout)
            seconds = time.perf_counter() - start
            self.minutes = first_minutes + seconds / 60
            speed, in_games = (self.steps - first_steps) / seconds, self.games.seconds / seconds
            said = f"{self.steps:,} steps, {speed:,.0f} a second, games {in_games:.0%}, entropy {told['entropy']:.2f}"
            progress.update(task, completed=self.done, said=said)
            if selves.is_reached(self.done):
                self.league.add(self.network, f"self at {self.steps:,}")
                self.save()
            if evaluations.is_reached(self.done):
                self.evaluate(arguments.games, console)
        console.print(f"{said}, clipped {told['clipped']:.1%}, value loss {told['value_loss']:.3f}")
        self.evaluate(5 * arguments.games, console)
        self.save()
        for name in self.league.players:
            console.print(f"  {self.league.win_rate(name):6.1%} of late against {name}")


class Milestones:
    """Shares of the time, at even distances, at which something is done; the end is none of them."""

    def __init__(self, count, done):
        self.shares = [share for share in np.linspace(0, 1, count + 1)[1:-1] if share > done]

    def is_reached(self, done):
        """Tell whether one was passed since the last time."""
        is_passed = bool(self.shares) and done >= self.shares[0]
        self.shares = [share for share in self.shares if share > done]
        return is_passed and done < 1


def read_arguments(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--config", nargs="+", default=["geo_patrol"], help="presets or files; twice means twice as many games"
    )
    parser.add_argument("--minutes", type=float, default=10, help="how long to train, all in all (default 10)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/selfplay"), help="folder for policy, curve, checkpoint")
    parser.add_argument("--begin", help="policy to begin with, such as base or a file, in place of random weights")
    parser.add_argument("--league", nargs="+", default=SCRIPTS, help="agents that are there from the beginning")
    parser.add_argument("--others", nargs="+", default=[], help="further ones, such as policy:FILE")
    parser.add_argument("--rivals", nargs="+", default=["random", "raider", "scripted"], help="played in evaluations")
    parser.add_argument("--play-on", default="geo_patrol", help="configuration of evaluations (default geo_patrol)")
    parser.add_argument("--games", type=int, default=200, help="games of each evaluation (default 200)")
    parser.add_argument("--evaluations", type=int, default=20, help="how often to evaluate (default 20)")
    parser.add_argument("--selves", type=int, default=20, help="how many past selves join the league (default 20)")
    parser.add_argument("--threads", type=int, default=2, help="threads of PyTorch (default 2)")
    parser.add_argument("--slots", type=int, default=512, help="sides of games that learn at once (default 512)")
    parser.add_argument("--self-play", type=float, default=0.1, help="share of them in self-play (default 0.1)")
    parser.add_argument("--phases", type=int, default=16, help="phases between updates (default 16)")
    parser.add_argument(
        "--score-weight", type=float, default=0.5, help="of 100 points at first; of a win 1 (default 0.5)"
    )
    parser.add_argument("--epochs", type=int, default=2, help="how often each phase is learned from (default 2)")
    parser.add_argument("--minibatch", type=int, default=1024, help="phases of a gradient step (default 1024)")
    parser.add_argument("--rate", type=float, default=1e-3, help="learning rate at first; it declines (default 0.001)")
    parser.add_argument(
        "--entropy", type=float, default=0.005, help="weight of the entropy bonus at first (default 0.005)"
    )
    return parser.parse_args(argv)


def train(arguments):
    """Train, and return the training."""
    torch.set_num_threads(arguments.threads)
    training = Training(arguments)
    columns = TextColumn("training"), BarColumn(), TextColumn("{task.fields[said]}"), TimeRemainingColumn()
    with Progress(*columns, console=Console(width=120)) as progress:
        try:
            training.run(progress)
        except KeyboardInterrupt:
            training.save()
            progress.console.print(f"interrupted: the same command goes on, with what is kept in {arguments.out}")
    return training


if __name__ == "__main__":
    train(read_arguments())
