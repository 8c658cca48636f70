"""One side against an agent through Gymnasium, with random legal orders for lack of a better policy."""

import gymnasium

import geo_patrol  # noqa: F401 - registers the environments

env = gymnasium.make("GeoPatrol/GeoPatrol-v0", opponent="scripted", seat="random", reward="outcome")
results = []
for episode in range(10):
    observation, info = env.reset(seed=episode)
    over = False
    while not over:
        orders = env.action_space.sample(mask=info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(orders)
        over = terminated or truncated
    results.append(reward)
    print(
        f"game {episode}: seat {info['seat']}, {info['turn'] + 1} turns, score {info['score']} | {info['enemy_score']}"
    )
print(f"mean outcome: {sum(results) / len(results):+.2f}")
