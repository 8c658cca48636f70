"""The command on a cluster of ``ray start``, which only those use who have its token."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray")

TOKEN = "of-the-cluster-" + "0123456789abcdef" * 2


@pytest.fixture(scope="module")
def address():
    """Start a node in processes of its own, as on another machine; return its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = ["--port", str(port), "--num-cpus", "1", "--include-dashboard=false", "--disable-usage-stats", "--block"]
    head = subprocess.Popen(
        [Path(sys.executable).with_name("ray"), "start", "--head", *options],
        env=with_token(TOKEN),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    output = ""
    for line in head.stdout:
        output += line
        if found := re.search(r"--address='([^']+)'", output):
            break
    else:
        pytest.fail(output)
    yield found[1]
    head.send_signal(signal.SIGTERM)  # it ends what it has started
    head.communicate(timeout=60)


def with_token(token):
    return os.environ | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}


def match(address, token):
    games = ["match", "random", "turtle", "-c", "case4", "-n", "4", "--seed", "1"]
    return subprocess.run(
        [sys.executable, "-m", "geo_patrol", *games, "--ray", address],
        env=with_token(token),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_a_command_with_the_token_plays(address):
    result = match(address, TOKEN)
    assert result.returncode == 0, result.stderr
    assert "4 games in" in result.stdout
    assert re.search(r"finished tasks by node: .+: 1", result.stderr)


def test_one_with_another_token_says_what_to_set(address):
    result = match(address, TOKEN[::-1])
    assert result.returncode != 0
    last = result.stderr.splitlines()[-1]  # behind lines of Ray's own
    assert last.startswith(f"geo-patrol: no Ray cluster at '{address}': ")
    assert "RAY_AUTH_TOKEN" in last
