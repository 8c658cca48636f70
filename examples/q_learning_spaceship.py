"""Tabular Q-learning in plain NumPy: how close does it come to the optimal flight of a mission?

States are observations, byte for byte: turn, position, last move, wells explored, score. The table is a dictionary with 33
action values for each state; exploration is epsilon-greedy over legal actions. It takes about ten seconds.
"""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

import geo_patrol  # noqa: F401 - registers the environments
from geo_patrol.flight import Flight, load_mission, solve

MISSION = load_mission("sample")
EPISODES = 60_000

rng = np.random.default_rng(0)
env = gymnasium.make("GeoPatrol/SpaceshipCommander-v0", mission=MISSION, disable_env_checker=True).unwrapped
env.action_space.seed(0)
table: dict[bytes, NDArray[Any]] = {}


def action_values(observation: NDArray[Any], mask: NDArray[Any]) -> NDArray[Any]:
    """Return the action values of a state, -inf for illegal actions."""
    key = observation.tobytes()
    if key not in table:
        table[key] = np.where(mask, 0.0, -np.inf)
    return table[key]


for episode in range(EPISODES):
    epsilon = max(0.02, 1.0 - episode / (0.8 * EPISODES))
    observation, info = env.reset()
    values = action_values(observation, info["action_mask"])
    terminated = False
    while not terminated:
        explore = rng.random() < epsilon
        action = env.sample_action() if explore else int(values.argmax())
        observation, reward, terminated, _, info = env.step(action)
        next_values = action_values(observation, info["action_mask"])
        # The game is deterministic, so the learning rate can be 1.
        values[action] = reward if terminated else reward + next_values.max()
        values = next_values

flight = Flight(MISSION)
observation, info = env.reset()
while not flight.is_over:
    action = int(action_values(observation, info["action_mask"]).argmax())
    flight.fly(action)
    observation, *_, info = env.step(action)
best = solve(MISSION)
print(flight)
print(f"\nlearned: {flight.score} points, best: {best.score} ({best.status}), {flight.score / best.score:.0%}")
