"""``geo-patrol serve`` and ``join`` as processes: killed and started again, with a bot in JavaScript."""

import gc
import json
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import pytest

from geo_patrol.agents import make_agent
from geo_patrol.cli import compiling
from geo_patrol.replays import check, read_replay
from geo_patrol.web.client import AgentPlayer, Client, play_seat
from tests.support.commands import run

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


@pytest.mark.slow
def test_all_games_go_on_when_the_server_is_killed_in_the_middle_of_their_phases(tmp_path):
    port = free_port()
    server = start_server(port, tmp_path)
    results = []

    def play(answer, side, seed):
        with Client(link(port, answer, side)) as client:
            results.append(play_seat(client, AgentPlayer(make_agent("random"), seed)))

    def start(number, side):
        player = threading.Thread(target=play, args=(tables[number], side, number), daemon=True)
        player.start()
        return player

    try:
        setup = {"preset": "king_of_the_hill", "alpha": "link", "bravo": "link"}
        tables = [fetch(port, "/api/tables", setup | {"seed": seed}) for seed in range(6)]
        players = [start(number, "alpha") for number in range(6)]
        players += [start(number, "bravo") for number in range(3)]  # the others' phase has one side's orders
        while min(fetch(port, f"/api/tables/{one['table']}")["turn"] for one in tables[:3]) < 2:
            time.sleep(0.01)
        server.kill()
        server.wait()
        paths = [tmp_path / f"{one['table']}.jsonl.gz" for one in tables]
        before = [read_replay(path).phases if path.exists() else [] for path in paths]
        assert all(before[:3])
        assert not any(before[3:])
        server = start_server(port, tmp_path)
        players += [start(number, "bravo") for number in range(3, 6)]
        for player in players:
            player.join(120)
        assert len(results) == 12
        assert None not in results
        for seed, (path, phases) in enumerate(zip(paths, before, strict=True)):
            replay = read_replay(path)
            assert check(replay) is None
            assert (replay.seed, replay.is_finished) == (seed, True)
            assert [str(one.codes) for one in replay.phases[: len(phases)]] == [str(one.codes) for one in phases]
    finally:
        server.kill()
        server.wait()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("host", "addresses"),
    [
        ("0.0.0.0", [r"http://127\.0\.0\.1:[1-9]\d*/ ", r"In your network: http://[\w.-]+:[1-9]\d*/"]),
        ("::1", [r"http://\[::1\]:[1-9]\d*/ "]),
    ],
)
def test_a_server_says_what_its_own_computer_and_others_open(tmp_path, host, addresses):
    command = [*COMMAND, "serve", "--host", host, "--port", "0", "--data", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        printed = ""
        while not re.search(addresses[-1], printed) and (line := server.stderr.readline()):
            printed += line
        server.kill()
    if host == "::1" and "cannot assign" in printed.lower():
        pytest.skip("this machine has no IPv6")
    for address in addresses:
        assert re.search(address, printed)
    assert "http://0.0.0.0" not in printed


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # uvicorn leaves the socket to the end of the process
def test_a_port_in_use_ends_the_server(tmp_path, monkeypatch):
    for name in ("compile_search", "compile_flight_games", "compile_hidden_enemies"):
        monkeypatch.setattr(compiling, name, lambda: None)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = run("serve", "--port", port, "--data", tmp_path)
    code, told = ran.exit_code, ran.stderr
    del ran
    gc.collect()
    assert code != 0
    assert "in use" in told
    assert "http://" not in told


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--name", "play.example.org:8443"], "'play.example.org:8443'; did you mean play.example.org?"),
        (["--name", "https://play.example.org/"], "did you mean play.example.org?"),
        (["--name", "[::1]:8000"], "did you mean ::1?"),
        (["--name", "münchen.example"], "did you mean xn--mnchen-3ya.example?"),
        (["--name", "*bad"], "--name must be a host name alone, such as play.example.org, or *.example.org for all"),
        (["--name", ""], "got ''"),
        (["--name", "a.example,b.example"], "--name must be a host name alone"),
        (
            ["--host", ""],
            "--host must be an address of this computer, such as 127.0.0.1, or 0.0.0.0 for all of them, got ''",
        ),
        (["--host", "127.0.0.1:8000"], "did you mean 127.0.0.1?"),
        (["--host", "*"], "--host must be one address"),
    ],
)
def test_addresses_under_which_nothing_would_be_served_are_refused_at_the_start(tmp_path, arguments, text):
    result = run("serve", *arguments, "--data", tmp_path / "games")
    assert result.exit_code == 2
    assert text in " ".join(result.output.split())
    assert not (tmp_path / "games").exists()
