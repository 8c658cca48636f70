"""Tabular Q-learning in plain NumPy: how near does it come to the proved best flight of a mission?

A state is an observation as it stands: turn, place, last move, wells explored, score. The table is a dictionary of rows
of 33 action values; only legal actions are tried. It takes some ten seconds.
"""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

import geo_patrol  # noqa: F401 - registers the environments
from geo_patrol.flight import Flight, load_mission, solve

MISSION = load_mission("sample")
EPISODES = 60_000

random = np.random.default_rng(0)
env = gymnasium.make("GeoPatrol/SpaceshipCommander-v0", mission=MISSION, disable_env_checker=True).unwrapped
env.action_space.seed(0)
table: dict[bytes, NDArray[Any]] = {}


def row(observation: NDArray[Any], mask: NDArray[Any]) -> NDArray[Any]:
    """Return the action values of a state; illegal actions are worth nothing at all."""
    key = observation.tobytes()
    if key not in table:
        table[key] = np.where(mask, 0.0, -np.inf)
    return table[key]


for episode in range(EPISODES):
    curiosity = max(0.02, 1.0 - episode / (0.8 * EPISODES))
    observation, info = env.reset()
    values = row(observation, info["action_mask"])
    over = False
    while not over:
        explore = random.random() < curiosity
        action = env.sample_action() if explore else int(values.argmax())
        observation, reward, over, _, info = env.step(action)
        after = row(observation, info["action_mask"])
        # Nothing in this game is left to chance, so a value can be set rather than nudged.
        values[action] = reward if over else reward + after.max()
        values = after

flight = Flight(MISSION)
observation, info = env.reset()
while not flight.is_over:
    action = int(row(observation, info["action_mask"]).argmax())
    flight.fly(action)
    observation, *_, info = env.step(action)
best = solve(MISSION)
print(flight)
print(f"\nlearned: {flight.score} points, best: {best.score} ({best.status}), {flight.score / best.score:.0%}")
