"""Games of OpenEnv, with the real package: its server and client, both sides, and what strangers may not ask for."""

import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

openenv = pytest.importorskip("openenv")

import uvicorn

from geo_patrol.adapters.openenv import GeoPatrolEnvironment, TextAction, create_server
from geo_patrol.play.text_game import TextGame

EXAMPLE = Path(__file__).parents[2] / "examples" / "openenv_game.py"


@pytest.fixture
def address():
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_server(), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join()


def first_listed(prompt):
    listed = prompt.rpartition("Legal orders:\n")[2].partition("\n\n")[0]
    return "\n".join(line.partition(";")[0] for line in listed.splitlines())


@pytest.mark.parametrize("side", ["alpha", "bravo"])
@pytest.mark.parametrize("reward", ["outcome", "score"])
def test_a_client_plays_the_same_game(address, side, reward):
    game, total, expected = TextGame("case1", "turtle", side, reward=reward, seed=5), 0.0, 0.0
    while not game.is_over:
        expected += game.answer(first_listed(game.prompt))
    with openenv.GenericEnvClient(base_url=address).sync() as env:
        result = env.reset(seed=5, config="case1", opponent="turtle", side=side, reward=reward)
        assert "A turn has three parts" in result.observation["system"]
        while not result.done:
            result = env.step({"text": first_listed(result.observation["prompt"])})
            assert result.observation["system"] == ""
            total += result.reward
        state = env.state()
    assert total == expected
    assert (state["side"], state["outcome"], state["score_difference"]) == (side, game.outcome, game.score_difference)
    assert state["step_count"] == game.answers


def test_an_answer_that_cannot_be_read_is_reported():
    env = GeoPatrolEnvironment()
    env.reset(seed=0, config="case1", opponent="idle")
    observation = env.step(TextAction(text="P1 \x1b[31mjump"))
    assert (observation.reward, observation.done) == (0, False)
    assert observation.problems[0].startswith("order 'P1 31mjump': 'jump'".replace("'jump'", "'31mjump'"))
    assert env.state.unreadable == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"config": "/etc/passwd"}, "config must be .*, got '/etc/passwd'"),
        ({"opponent": "agent.py:Mine"}, "opponent must be .*, got 'agent.py:Mine'"),
        ({"side": "gamma"}, "side must be 'alpha' or 'bravo', got 'gamma'"),
        ({"oponent": "idle"}, "reset has no argument 'oponent'; did you mean 'opponent'"),
    ],
)
def test_what_strangers_may_not_ask_for(arguments, message):
    with pytest.raises(ValueError, match=message):
        GeoPatrolEnvironment().reset(**arguments)


def test_the_server_refuses_them_too_and_long_answers(address):
    with openenv.GenericEnvClient(base_url=address).sync() as env:
        with pytest.raises(Exception, match="config must be"):
            env.reset(config="/etc/passwd")
        env.reset(seed=0, config="duel")
        with pytest.raises(Exception, match="VALIDATION_ERROR"):
            env.step({"text": "x" * 20_001})


def test_a_game_has_to_be_started():
    with pytest.raises(ValueError, match="call reset"):
        GeoPatrolEnvironment().step(TextAction(text="none"))


def test_example():
    result = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "alpha: 11 answers, return -90" in result.stdout
    assert "bravo: 10 answers, return -92" in result.stdout
