"""The game in the form of an OpenEnv environment: ``reset`` and ``step`` return observations with reward and ``done``.

With OpenEnv installed, derive ``TextAction``, ``TextObservation`` and ``GeoPatrolEnvironment`` from its ``Action``,
``Observation`` and ``Environment``; ``create_app(GeoPatrolEnvironment, TextAction, TextObservation)`` then serves it.

python examples/openenv_game.py
"""

from pydantic import BaseModel

from geo_patrol.envs.solo import SoloGeoPatrol
from geo_patrol.errors import OrderError
from geo_patrol.notation import order_codes
from geo_patrol.textplay import parse_orders, prompt_text


class TextAction(BaseModel):
    """What the model answers."""

    text: str


class TextObservation(BaseModel):
    """What the model reads.

    Attributes:
        prompt: rules, position and legal orders; and, if the last answer could not be read, why.
        reward: the change of the score difference; 0 for an answer that could not be read, which changes nothing.
        done: whether the game is over.
    """

    prompt: str
    reward: float = 0.0
    done: bool = False


class GeoPatrolEnvironment:
    """One side of a game against an agent."""

    def __init__(self, config: str = "geo_patrol", opponent: str = "scripted") -> None:
        self._env = SoloGeoPatrol(config=config, opponent=opponent, seat="alpha")
        self.step_count = 0

    @property
    def state(self) -> dict[str, int]:
        """The number of answers in this episode."""
        return {"step_count": self.step_count}

    def reset(self, seed: int | None = None) -> TextObservation:
        """Start a new game."""
        self._env.reset(seed=seed)
        self.step_count = 0
        return TextObservation(prompt=prompt_text(self._env.game(), "alpha"))

    def step(self, action: TextAction) -> TextObservation:
        """Give the orders of an answer."""
        self.step_count += 1
        game = self._env.game()
        try:
            codes = order_codes(parse_orders(action.text, game, "alpha"), "alpha")
        except OrderError as error:
            return TextObservation(
                prompt=f"{prompt_text(game, 'alpha')}\n\nYour last answer could not be read: {error}"
            )
        _, reward, terminated, truncated, _ = self._env.step(codes)
        done = terminated or truncated
        prompt = "The game is over." if done else prompt_text(self._env.game(), "alpha")
        return TextObservation(prompt=prompt, reward=float(reward), done=done)


if __name__ == "__main__":
    environment = GeoPatrolEnvironment("case1")
    observation, total = environment.reset(seed=0), 0.0
    while not observation.done:
        observation = environment.step(TextAction(text="none"))
        total += observation.reward
    print(f"{environment.step_count} answers, return {total:+g}")
