"""The scripted agent plays bravo against random orders through PettingZoo's AEC API."""

import numpy as np

from geo_patrol import geo_patrol_v0, make_agent

scripted = make_agent("scripted")
env = geo_patrol_v0.env(config="case1", observation=scripted.observation)
env.reset(seed=7)
generator = np.random.default_rng(7)
scripted.reset(np.ones(1, np.bool_))

for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    if terminated or truncated:
        action = None
    elif agent == "bravo":  # agents act on batches; this is a batch of one
        action = scripted.act(observation["observation"][None], observation["action_mask"][None], generator)[0]
    else:
        action = env.action_space(agent).sample(mask=observation["action_mask"])
    env.step(action)

game = env.game()
print(game)
print(f"winner: {game.winner}")
