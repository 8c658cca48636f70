"""Films of episodes by Gymnasium's RecordVideo, which writes them with MoviePy: pip install "geo_patrol[moviepy]"."""

import importlib.util
import sys

if importlib.util.find_spec("moviepy") is None:
    sys.exit('MoviePy is not installed: pip install "geo_patrol[moviepy]"')

import gymnasium
from gymnasium.wrappers import RecordVideo

import geo_patrol  # noqa: F401 - registers the environments

# Even numbers of pixels: other sizes make videos that browsers do not play.
env = gymnasium.make("GeoPatrol/Case1-v0", opponent="scripted", render_mode="rgb_array", render_size=(960, 540))
env = RecordVideo(env, "runs/films", episode_trigger=lambda episode: episode % 2 == 0)  # every other episode

for episode in range(3):
    observation, info = env.reset(seed=episode)
    over = False
    while not over:
        orders = env.unwrapped.sample_action()  # random legal orders; your policy goes here
        observation, reward, terminated, truncated, info = env.step(orders)
        over = terminated or truncated
env.close()
print("see runs/films/rl-video-episode-0.mp4 and runs/films/rl-video-episode-2.mp4")
