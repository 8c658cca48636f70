"""A seat played by text: put a language model in place of ``answer``.

python examples/text_agent.py
"""

import random

from geo_patrol import play_match
from geo_patrol.play.text_game import TextAgent

rng = random.Random(0)  # noqa: S311 - a game


def answer(prompt: str) -> str:
    """Answer with random orders out of those that the prompt lists; a language model would think first."""
    listed = prompt.rpartition("Legal orders:\n")[2].partition("\n\n")[0]
    lines = []
    for line in listed.splitlines():
        satellite, _, options = line.partition(": ")
        order = rng.choice(options.split("; ")).partition(" (")[0]
        lines.append(f"{satellite} {order}")
    return "I give every satellite an order.\n" + "\n".join(lines)


agent = TextAgent(answer, name="language model")
print(play_match(agent, "turtle", config="case1", games=20, seed=0))
print(f"{agent.prompts} prompts, {agent.forfeited_phases} phases without a readable answer")
