"""Two random agents play a game through PettingZoo's parallel API."""

from geo_patrol import geo_patrol_v0

env = geo_patrol_v0.parallel_env(config="geo_patrol")
observations, infos = env.reset(seed=42)
returns = dict.fromkeys(env.agents, 0.0)

while env.agents:
    # any policy goes here; an action is one order code for each of eleven satellites
    actions = {agent: env.action_space(agent).sample(mask=observations[agent]["action_mask"]) for agent in env.agents}
    observations, rewards, terminations, truncations, infos = env.step(actions)
    for agent, reward in rewards.items():
        returns[agent] += reward

print(env.game())
print(f"returns: {returns}")
