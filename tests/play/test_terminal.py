"""The text game in a real terminal: a game to its end with wrong answers on the way, Ctrl-C, a closed pipe."""

import os
import re
import select
import signal
import subprocess
import sys
import time

import pytest

from geo_patrol.replays import check, read_replay

pty = pytest.importorskip("pty", reason="pseudo-terminals are of Unix")

COMMAND = [sys.executable, "-m", "geo_patrol", "play", "--text"]


class Terminal:
    """A text game behind a pseudo-terminal."""

    def __init__(self, *arguments):
        self._own, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        self.text = ""
        self._seen = 0

    def wait_for(self, *words, seconds=120):
        """Wait until one of some words is printed after what was waited for last; return it, or None at the end."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            positions = {word: self.text.find(word, self._seen) for word in words}
            found = [(position, word) for word, position in positions.items() if position >= 0]
            if found:
                position, word = min(found)
                self._seen = position + len(word)
                return word
            if not self._read():
                return None
        raise AssertionError(f"waited for {words}, got {self.text[-2000:]!r}")

    def _read(self):
        ready, _, _ = select.select([self._own], [], [], 0.2)
        if not ready:
            return True
        try:
            data = os.read(self._own, 65536)
        except OSError:  # the other end is closed
            return False
        self.text += data.decode().replace("\r\n", "\n")
        return bool(data)

    def type(self, answer):
        os.write(self._own, answer.encode())

    def finish(self, seconds=60):
        """Wait for the end; return the exit status."""
        deadline = time.monotonic() + seconds
        while self._read() and time.monotonic() < deadline:
            pass
        os.close(self._own)
        self.process.kill()
        return self.process.wait(60)


@pytest.mark.slow
def test_a_game_to_its_end_with_wrong_answers_on_the_way(tmp_path):
    path = tmp_path / "game.jsonl.gz"
    terminal = Terminal("--as", "bravo", "--against", "scripted", "--config", "case1", "--seed", 5, "--save", path)
    prompts = ("Select action: ", "Select target: ", "Commit (Enter), undo the last (u), or begin again (r)? ")
    num_prompts = 0
    while word := terminal.wait_for(*prompts):
        num_prompts += 1
        if num_prompts % 5 == 1:  # a wrong answer, at various prompts
            terminal.type("banana\n")
            terminal.wait_for("Invalid selection. P")
            assert terminal.wait_for(*prompts) == word
        if word.startswith("Commit"):
            terminal.type("\n")
        elif word == "Select target: ":
            terminal.type(re.findall(r"^ +(\d+) - ", terminal.text, re.MULTILINE)[-1] + "\n")
        else:
            listed = terminal.text.rpartition("Select an action")[2]
            terminal.type("1\n" if "Shoot" in listed or num_prompts % 4 == 0 else "rest\n")
    assert terminal.finish() == 0
    replay = read_replay(path)
    assert check(replay) is None
    assert replay.is_finished
    assert re.search(rf"(wins|Draw) in turn {replay.end.turns}, ", terminal.text)
    shown = subprocess.run(
        [sys.executable, "-m", "geo_patrol", "replay", str(path), "--text"],
        capture_output=True, text=True, timeout=120, check=True,
    ).stdout  # fmt: skip
    for score in re.findall(r"^SCORE: .*$", shown, re.MULTILINE):
        assert score in terminal.text  # what was played and what is replayed are the same
    assert shown.count("ENGAGEMENT OUTCOMES") == terminal.text.count("ENGAGEMENT OUTCOMES") == replay.end.turns


@pytest.mark.slow
def test_a_game_can_be_resumed_after_ctrl_c(tmp_path):
    path = tmp_path / "game.jsonl.zst"
    terminal = Terminal("--config", "case1", "--seed", 5, "--save", path)
    terminal.wait_for("Select action: ")
    terminal.type("all prograde\n")
    terminal.wait_for("Commit")
    terminal.type("\n")
    terminal.wait_for("Turnphase: movement")
    os.killpg(terminal.process.pid, signal.SIGINT)
    assert terminal.finish() == 130
    assert f"Go on with: geo-patrol play --text --resume {path}" in terminal.text
    assert "Traceback" not in terminal.text
    phases = len(read_replay(path).phases)
    assert phases == 2
    again = Terminal("--resume", path)
    again.wait_for("turn 2, movement")
    again.wait_for("Select action: ")
    again.type("rest\n")
    again.wait_for("Commit")
    again.type("\n")
    again.wait_for("Turnphase: ", "wins")
    again.type("q\n")
    assert again.finish() == 0
    replay = read_replay(path)
    assert check(replay) is None
    assert len(replay.phases) > phases


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["stdin", "stdout"])
def test_a_closed_pipe_leaves_the_game(closed, tmp_path):
    path = tmp_path / "game.jsonl"
    process = subprocess.Popen(
        [*COMMAND, "--config", "case1", "--seed", "5", "--save", str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    process.stdin.write("all prograde\n\n")
    process.stdin.flush()
    while "ENGAGEMENT OUTCOMES" not in (line := process.stdout.readline()):
        assert line
    if closed == "stdout":
        process.stdout.close()
        process.stdin.write("rest\n\n" * 100)
        process.stdin.close()
    else:
        process.stdin.close()
        process.stdout.read()
    stderr = process.stderr.read()
    assert process.wait(60) == (0 if closed == "stdin" else 1)
    assert f"Go on with: geo-patrol play --text --resume {path}" in stderr
    assert "Traceback" not in stderr
    assert check(read_replay(path)) is None
    assert len(read_replay(path).phases) >= 2
    process.stdout.close()
    process.stderr.close()
