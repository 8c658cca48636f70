"""The game in the form of a verifiers environment: a dataset of games, replies to a model, and reward functions.

With verifiers installed, derive ``GeoPatrolGames`` from ``verifiers.MultiTurnEnv``, give it ``dataset`` as a
``datasets.Dataset`` and ``verifiers.Rubric(funcs=[won, score_difference, readable], weights=[1.0, 0.01, 0.1])``.

python examples/verifiers_game.py
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from geo_patrol.envs.solo import SoloGeoPatrol
from geo_patrol.errors import OrderError
from geo_patrol.notation import order_codes
from geo_patrol.textplay import parse_orders, prompt_text

Messages = list[dict[str, str]]
State = dict[str, Any]


def dataset(games: int, config: str = "case1") -> list[State]:
    """Return a row for each game: its prompt, and in ``info`` what makes the game."""
    rows = []
    for seed in range(games):
        info = {"config": config, "opponent": "scripted", "seed": seed}
        rows.append({"prompt": _message(prompt_text(_begin(info).game(), "alpha")), "info": info})
    return rows


class GeoPatrolGames:
    """Games against an agent, a decision phase for each answer of the model."""

    async def setup_state(self, state: State) -> State:
        """Begin the game of a row."""
        return state | {"env": _begin(state["info"]), "answers": 0, "unreadable": 0, "is_over": False, "return": 0.0}

    async def env_response(self, messages: Messages, state: State) -> Messages:
        """Give the orders of the model's last message, and return the next prompt."""
        env = state["env"]
        state["answers"] += 1
        try:
            codes = order_codes(parse_orders(messages[-1]["content"], env.game(), "alpha"), "alpha")
        except OrderError as error:
            state["unreadable"] += 1
            return _message(f"Your last answer could not be read: {error}")
        _, reward, terminated, _, _ = env.step(codes)
        state["return"] += reward
        state["is_over"] = terminated
        return _message("The game is over." if terminated else prompt_text(env.game(), "alpha"))

    async def is_completed(self, state: State) -> bool:
        """Return whether the game is over, or the model does not answer with orders."""
        return state["is_over"] or state["unreadable"] > 10


def won(state: State) -> float:
    """Return 1 for a game won, 0.5 for a draw."""
    outcome = state["env"].game().winner if state["is_over"] else "bravo"
    return {"alpha": 1.0, None: 0.5, "bravo": 0.0}[outcome]


def score_difference(state: State) -> float:
    """Return the final difference of the scores."""
    return float(state["return"])


def readable(state: State) -> float:
    """Return the fraction of answers that could be read."""
    return 1 - state["unreadable"] / max(state["answers"], 1)


async def rollout(model: Callable[[Messages], Awaitable[str]], row: State) -> dict[str, float]:
    """Play a game with a model as verifiers would, and return its rewards."""
    games = GeoPatrolGames()
    state, messages = await games.setup_state(row), row["prompt"]
    while not await games.is_completed(state):
        messages = [*messages, {"role": "assistant", "content": await model(messages)}]
        messages += await games.env_response(messages, state)
    return {reward.__name__: reward(state) for reward in (won, score_difference, readable)}


def _begin(info: State) -> SoloGeoPatrol:
    env = SoloGeoPatrol(config=info["config"], opponent=info["opponent"], seat="alpha")
    env.reset(seed=info["seed"])
    return env


def _message(content: str) -> Messages:
    return [{"role": "user", "content": content}]


async def _hold(messages: Messages) -> str:
    return "none" if len(messages) > 1 else "I have to think about that."


if __name__ == "__main__":
    for row in dataset(2):
        print(asyncio.run(rollout(_hold, row)))
