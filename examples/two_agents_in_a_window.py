"""Two agents play episodes in a window, through PettingZoo's parallel API.

A closed window changes nothing else: the episodes go on to the end without it.
"""

import numpy as np

from geo_patrol import geo_patrol_v0, make_agent

players = {"alpha": make_agent("policy:base"), "bravo": make_agent("scripted")}
env = geo_patrol_v0.parallel_env(config="case1", observation="tokens", render_mode="human")
generator = np.random.default_rng(0)

for episode in range(2):
    observations, infos = env.reset(seed=episode)
    for player in players.values():
        player.reset(np.ones(1, np.bool_))
    while env.agents:  # a step is one phase, and takes half a second in the window
        actions = {}
        for side, player in players.items():  # agents act on batches; this is a batch of one
            view = observations[side]
            actions[side] = player.act(view["observation"][None], view["action_mask"][None], generator)[0]
        observations, rewards, terminations, truncations, infos = env.step(actions)
    game = env.game()
    print(f"episode {episode}: {game.winner or 'nobody'} wins in turn {game.turn}")
env.close()
