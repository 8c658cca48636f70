"""Compiled code is loaded before a game begins: a Ctrl-C that arrives while LLVM loads code may be lost."""

import os
import signal
import subprocess
import sys
import time
from typing import Annotated

import pytest
import typer
from pydantic import BaseModel, PlainSerializer

from geo_patrol import play_match
from geo_patrol.cli.errors import plain_errors

COUNT = """
import gc, random
from numba.core.dispatcher import Dispatcher

def loaded():
    functions = [one for one in gc.get_objects() if isinstance(one, Dispatcher)]
    return sorted(f"{one.py_func.__module__}.{one.py_func.__name__}" for one in functions for _ in one.overloads)
"""
ENGINE = {f"geo_patrol.engine.steps.{name}" for name in ("reset_games", "step_games")}
"""What Python calls of the engine; all other compiled functions are parts of these."""
PLAYING = """
from geo_patrol.cli.games import GameSaver, load_agent, start_game
from geo_patrol.rendering.play import PlayWindow

live = start_game("case1", None, (None, load_agent("scripted")), 3)
GameSaver.create("games/", live)
before = loaded()
rng = random.Random(1)
window = PlayWindow(lambda: live)
while not live.is_over:
    entry = window.session.entry
    for number in range(11 if entry else 0):
        if entry.options(number):
            entry.select(number)
            window.draw()
            entry.give(rng.choice(entry.options(number)).order)
    window._commit()
    window.tick(10)
    window.tick(10)
print(" ".join(before))
print(sorted(set(loaded()) - set(before)))
"""
REPLAYING = """
from pathlib import Path
from geo_patrol.cli.games import load_rules
from geo_patrol.sessions.timeline import Timeline
from geo_patrol.replays import ReplayReader, check, play, start
from geo_patrol.report import write_report

load_rules()
before = loaded()
path = Path({path!r})
for replay in ReplayReader(path):
    check(replay)
    timeline = Timeline(start(replay), replay.agents)
    for phase in play(replay):
        timeline.append(phase.orders, phase.after)
write_report([ReplayReader(path)], "games", 3)
print(" ".join(before))
print(sorted(set(loaded()) - set(before)))
"""


@pytest.mark.parametrize("what", [PLAYING, REPLAYING])
def test_all_compiled_code_is_loaded_before(what, tmp_path):
    path = tmp_path / "games.jsonl"
    play_match("scripted", "random", config="case1", games=2, seed=1, save=path)
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    command = [sys.executable, "-c", COUNT + what.replace("{path!r}", repr(str(path)))]
    ran = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr
    before, later = ran.stdout.splitlines()[-2:]
    assert {*before.split()} >= ENGINE
    assert later == "[]"


def test_an_interrupt_that_pydantic_wraps_is_one(capsys):
    class Value(BaseModel):
        value: Annotated[int, PlainSerializer(lambda _: os.kill(os.getpid(), signal.SIGINT) or time.sleep(1))]

    with pytest.raises(typer.Exit) as leaving:
        plain_errors(lambda: Value(value=1).model_dump())()
    assert leaving.value.exit_code == 130
    assert capsys.readouterr().err == "geo-patrol: interrupted\n"
