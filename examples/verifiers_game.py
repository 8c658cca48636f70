"""Rollouts of verifiers: games of a model against an agent, from both sides.

The model here is a stand-in behind an address like OpenAI's; for a real one, give its address and name, or run
``vf-eval geo-patrol-verifiers --model NAME``.

pip install "geo_patrol[verifiers]"
python examples/verifiers_game.py
"""

import asyncio
import importlib.util
import socket
import sys
from typing import Any

if importlib.util.find_spec("verifiers") is None:
    sys.exit('verifiers is not installed: pip install "geo_patrol[verifiers]"')

import uvicorn
import verifiers.v1 as vf
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


def answer(messages: list[dict[str, Any]]) -> str:
    """Answer with the first order that the prompt lists for each satellite; a language model would think first."""
    content = messages[-1]["content"]
    prompt = content if isinstance(content, str) else "".join(part["text"] for part in content)
    listed = prompt.rpartition("Legal orders:\n")[2].partition("\n\n")[0]
    return "The first ones.\n```\n" + "\n".join(line.partition(";")[0] for line in listed.splitlines()) + "\n```"


async def complete(request: Request) -> JSONResponse:
    """Answer a request for a chat completion."""
    message = {"role": "assistant", "content": answer((await request.json())["messages"])}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    return JSONResponse(
        {
            "id": "answer",
            "object": "chat.completion",
            "created": 0,
            "model": "stand-in",
            "choices": [choice],
            "usage": usage,
        }
    )


async def play() -> None:
    """Play two games and print their rewards."""
    listener = socket.create_server(("127.0.0.1", 0))
    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))

    taskset = {"id": "geo-patrol-verifiers", "config": "case1", "opponent": "scripted", "games": 2, "reward": "score"}
    env = vf.load_environment(vf.resolve_env_config({"taskset": taskset}))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    model = vf.ModelContext("stand-in", vf.EvalClientConfig(base_url=address, api_key_var="STAND_IN_KEY"))
    async with env.serving():
        for task in env.taskset:
            (slot,) = env.slots(task)
            episode = await env.run_slot(slot, model)
            for error in [*episode.errors, *(error for trace in episode.traces for error in trace.errors)]:
                print(error)
            (trace,) = episode.traces
            print(task.data.name, f"{trace.num_turns} turns, reward {trace.reward:+g},", dict(trace.metrics))
    server.should_exit = True
    await serving


asyncio.run(play())
