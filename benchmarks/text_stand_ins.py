"""Scripted stand-ins for language models, to know that the rewards of text games are right.

Each plays by text alone against an agent. Beside it stands what it has to be equal to: a match of the agent whose orders it
writes down. Orders and outcomes differ only by chance, so the rewards have to agree within their intervals.

python -m benchmarks.text_stand_ins --games 200
"""

import argparse
from collections.abc import Callable

import numpy as np

from geo_patrol import play_match
from geo_patrol.agents import make_agent
from geo_patrol.agents.protocol import compute_actions
from geo_patrol.base.sides import SIDES
from geo_patrol.game.notation import legal_orders_from_codes
from geo_patrol.play.text_game import TextGame

Player = Callable[[TextGame, np.random.Generator], str]


def writes(name: str) -> Player:
    """Return a player who writes down the orders of an agent, in words as a model would."""
    agent = make_agent(name)

    def answer(text: TextGame, rng: np.random.Generator) -> str:
        games, side = text.game.as_games(), SIDES.index(text.side)
        observation = games.observe(agent.observation)[:, side].copy()
        mask = games.action_masks()[:, side].copy()
        codes = compute_actions(agent, name, observation, mask, rng, lambda: [text.game], side)[0]
        legal = games.state.choices["legal"][0, side].tolist()
        orders = [f"- **{str(order).replace('_', ' ')}**" for order in legal_orders_from_codes(codes.tolist(), legal)]
        return "My orders for P1 and the others:\n```\n" + ("\n".join(orders) or "none") + "\n```"

    return answer


def listed(text: TextGame, rng: np.random.Generator) -> str:
    """Answer with one of the orders that the prompt lists for each satellite, or none, as ``random`` does."""
    lines = []
    for line in text.prompt.rpartition("Legal orders:\n")[2].partition("\n\n")[0].splitlines():
        satellite, _, options = line.partition(": ")
        lines.append(f"{satellite}: {rng.choice(['noop', *options.split('; ')])}")
    return "\n".join(lines)


def nonsense(text: TextGame, rng: np.random.Generator) -> str:
    """Answer with something about satellites that is no order."""
    del text
    return f"Attack! P{rng.integers(1, 10)} should fly to the moon and shoot everything."


PLAYERS: dict[str, tuple[Player, str]] = {
    "orders of `scripted` in words": (writes("scripted"), "scripted"),
    "random ones of the listed orders": (listed, "random"),
    "nonsense": (nonsense, "idle"),
}
"""Players, and the agent that each has to be equal to; every phase is forfeited by nonsense, and illegal orders do nothing."""


def measure(player: Player, config: str, opponent: str, games: int, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return outcomes and scores of games, half of them from each side, and the fraction of answers that were unreadable."""
    rng = np.random.default_rng(seed)
    outcomes, differences, answers, unreadable = [], [], 0, 0
    for index in range(games):
        text = TextGame(config, opponent, SIDES[index % 2], reward="score", seed=seed + index // 2)
        start, earned = text.score_difference, 0.0
        while not text.is_over:
            earned += text.answer(player(text, rng))
        assert start + earned == text.score_difference, "the rewards of a game add up to its score"
        outcomes.append(text.outcome)
        differences.append(text.score_difference)
        answers, unreadable = answers + text.answers, unreadable + text.unreadable
    return np.array(outcomes), np.array(differences), unreadable / answers


def interval(values: np.ndarray) -> str:
    """Return a mean with its 95% interval."""
    return f"{values.mean():+.2f} ± {1.96 * values.std() / len(values) ** 0.5:.2f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", default="case1")
    parser.add_argument("--opponent", default="raider")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print("| stand-in | reward `outcome` | the agent in a match | final score difference | unreadable answers |")
    print("|---|---|---|---|---|")
    for name, (player, agent) in PLAYERS.items():
        outcomes, differences, unreadable = measure(
            player, options.config, options.opponent, options.games, options.seed
        )
        match = play_match(agent, options.opponent, config=options.config, games=options.games, seed=options.seed)
        total = match.summary().total
        expected = np.repeat([1, 0, -1], [total.wins, total.draws, total.losses])
        print(
            f"| {name} | {interval(outcomes)} | `{agent}` {interval(expected)} | {interval(differences)} | {unreadable:.0%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
