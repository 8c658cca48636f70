"""What is compiled or loaded before a game begins, and interrupts of commands."""

import os
import signal
import subprocess
import sys
import time
from typing import Annotated

import pytest
from pydantic import BaseModel, PlainSerializer

from geo_patrol.cli.output import Commands

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
from geo_patrol.cli.options import load_agent
from geo_patrol.cli.play import GameSaver, start_game
from geo_patrol.play.order_entry import OrderEntry

live = start_game("case1", (None, load_agent("scripted")), 3, has_window=False)
GameSaver.create("games/", live)
before = loaded()
rng = random.Random(1)
while not live.is_over:
    entry = OrderEntry(live.game, "alpha")
    for number in range(11):
        if entry.options(number):
            entry.give(rng.choice(entry.options(number)).order)
    live.play((entry.orders, ()))
print(" ".join(before))
print(sorted(set(loaded()) - set(before)))
"""


@pytest.mark.slow
def test_all_that_a_game_needs_is_compiled_before_it_begins(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    command = [sys.executable, "-c", COUNT + PLAYING]
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

    app = Commands()
    app.command()(lambda: Value(value=1).model_dump())
    with pytest.raises(SystemExit) as leaving:
        app([])
    assert leaving.value.code == 130
    assert capsys.readouterr().err == "geo-patrol: interrupted\n"
