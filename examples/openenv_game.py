"""Three answers to a game over OpenEnv: put a language model in place of ``answer``.

pip install "geo_patrol[openenv]"
python examples/openenv_game.py
"""

import importlib.util
import socket
import sys
import threading
import time

if importlib.util.find_spec("openenv") is None:
    sys.exit('OpenEnv is not installed: pip install "geo_patrol[openenv]"')

import uvicorn
from openenv import GenericEnvClient

from geo_patrol.adapters.openenv import create_server


def answer(prompt: str) -> str:
    """Answer with the first order that the prompt lists for each satellite; a language model would think first."""
    listed = prompt.rpartition("Legal orders:\n")[2].partition("\n\n")[0]
    return "The first ones.\n```\n" + "\n".join(line.partition(";")[0] for line in listed.splitlines()) + "\n```"


# A server of its own would be started with: uvicorn --factory geo_patrol.adapters.openenv:create_server
listener = socket.create_server(("127.0.0.1", 0))
server = uvicorn.Server(uvicorn.Config(create_server(), log_level="warning"))
threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True).start()
while not server.started:
    time.sleep(0.05)

with GenericEnvClient(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}").sync() as env:
    for side in ("alpha", "bravo"):
        result = env.reset(seed=0, config="case1", opponent="scripted", side=side, reward="score")
        print(f"{result.observation['system'][:50]}...")
        total = 0.0
        while not result.done:
            result = env.step({"text": answer(result.observation["prompt"])})
            total += result.reward
        print(f"{side}: {env.state()['step_count']} answers, return {total:+g}")
server.should_exit = True
