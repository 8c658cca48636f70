"""``geo-patrol serve`` and ``join`` as processes: killed and started again, with a bot in JavaScript."""

import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from geo_patrol.replays import check, read_replay

COMMAND = [sys.executable, "-m", "geo_patrol"]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def fetch(port, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", data, timeout=10) as response:
        return json.load(response)


def start_server(port, folder):
    server = subprocess.Popen([*COMMAND, "serve", "--port", str(port), "--data", str(folder)])
    for _ in range(3000):  # the first start compiles
        try:
            fetch(port, "/api/tables")
        except OSError:
            time.sleep(0.1)
        else:
            return server
    server.kill()
    server.wait()
    pytest.fail("the server does not answer")


def link(port, answer, side):
    return f"http://127.0.0.1:{port}/static/table.html#table={answer['table']}&secret={answer['secrets'][side]}"


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
def test_a_bot_in_javascript_plays_a_game_over_a_killed_server(tmp_path):
    port = free_port()
    server = start_server(port, tmp_path)
    try:
        setup = {"preset": "king_of_the_hill", "alpha": "link", "bravo": "scripted", "seed": 2}
        answer = fetch(port, "/api/tables", setup)
        join = [*COMMAND, "join", link(port, answer, "alpha"), "--command", "node examples/bot.js"]
        bot = subprocess.Popen(join, stdout=subprocess.DEVNULL)
        while fetch(port, f"/api/tables/{answer['table']}")["turn"] < 3:
            time.sleep(0.02)
        server.kill()
        server.wait()
        server = start_server(port, tmp_path)  # the bot connects again by itself
        assert bot.wait(60) == 0
        assert fetch(port, f"/api/tables/{answer['table']}")["over"]
        replay = read_replay(tmp_path / f"{answer['table']}.jsonl.gz")
        assert check(replay) is None
        assert replay.is_finished
    finally:
        server.kill()
        server.wait()
