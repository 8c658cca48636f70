"""Games of verifiers, with the real package: rollouts end with the rewards of the game, whatever the model answers."""

import asyncio
import socket
import subprocess
import sys
from pathlib import Path

import pytest

vf = pytest.importorskip("verifiers.v1")

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from geo_patrol.play.text_game import TextGame

EXAMPLE = Path(__file__).parents[2] / "examples" / "verifiers_game.py"


async def episodes(answer, taskset, **env):
    """Return an episode of every task, played with a function from messages to an answer as the model."""

    async def complete(request):
        requests.append(await request.json())
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": answer(requests[-1]["messages"])},
            "finish_reason": "stop",
        }
        usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        return JSONResponse(
            {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
        )

    requests = []
    listener = socket.create_server(("127.0.0.1", 0))
    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    config = {"taskset": {"id": "geo-patrol-verifiers", "config": "case1", "opponent": "turtle"} | taskset, **env}
    environment = vf.load_environment(vf.resolve_env_config(config))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    model = vf.ModelContext("m", vf.EvalClientConfig(base_url=address, api_key_var="NO_KEY"))
    async with environment.serving():
        played = [await environment.run_slot(environment.slots(task)[0], model) for task in environment.taskset]
    server.should_exit = True
    await serving
    return played, requests


def first_listed(messages):
    listed = messages[-1]["content"].rpartition("Legal orders:\n")[2].partition("\n\n")[0]
    return "\n".join(line.partition(";")[0] for line in listed.splitlines())


@pytest.mark.parametrize("reward", ["outcome", "score"])
def test_rewards_are_those_of_the_game_on_both_sides(reward):
    played, requests = asyncio.run(episodes(first_listed, {"games": 2, "seed": 5, "reward": reward}))
    for episode, side in zip(played, ("alpha", "bravo"), strict=True):
        assert episode.ok
        game, total = TextGame("case1", "turtle", side, reward=reward, seed=5), 0.0
        while not game.is_over:
            total += game.answer(first_listed([{"content": game.prompt}]))
        (trace,) = episode.traces
        assert trace.reward == total
        assert trace.rewards.keys() == {reward}
        assert trace.metrics["won"] == (game.outcome == 1)
        assert trace.metrics["score_difference"] == game.score_difference
        assert trace.num_turns == trace.metrics["answers"] == game.answers
        assert trace.metrics["is_over"] == 1
    system = [message for message in requests[-1]["messages"] if message["role"] == "system"]
    assert len(system) == 1, "the rules are told once"
    assert "A turn has three parts" in system[0]["content"]


def test_nonsense_forfeits_every_phase_and_the_game_ends():
    (episode,), _ = asyncio.run(
        episodes(lambda _: "I do not know.", {"games": 1, "side": "alpha", "retries": 0, "config": "duel"})
    )
    (trace,) = episode.traces
    assert episode.ok
    assert trace.metrics["is_over"] == 1
    assert trace.metrics["unreadable"] == trace.metrics["forfeited_phases"] == trace.metrics["answers"] > 0


def test_a_limit_of_turns_cuts_a_game_short():
    (episode,), _ = asyncio.run(episodes(first_listed, {"games": 1}, player={"max_turns": 3}))
    (trace,) = episode.traces
    assert (trace.metrics["is_over"], trace.metrics["answers"], trace.reward) == (0, 3, 0)


def test_the_command_of_verifiers_finds_the_environment(tmp_path):
    command = [Path(sys.executable).parent / "vf-eval", "geo-patrol-verifiers", "--env.taskset.opponent", "raider"]
    result = subprocess.run([*command, "--dry-run", "true"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    (config,) = tmp_path.glob("outputs/*/configs/**/*.json")
    assert '"raider"' in config.read_text(encoding="utf-8")


def test_example():
    result = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "case1#0 alpha 11 turns, reward -90" in result.stdout
    assert "case1#0 bravo 10 turns, reward -92" in result.stdout
