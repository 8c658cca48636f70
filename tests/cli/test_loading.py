"""What is compiled is loaded before a game begins: a Ctrl-C that comes while LLVM loads code may be lost."""

import os
import subprocess
import sys

LOADED = """
import gc, random
from numba.core.dispatcher import Dispatcher
from geo_patrol.cli.saving import Keeper
from geo_patrol.cli.watch import begin_game, seat
from geo_patrol.rendering.play import PlayWindow

def loaded():
    functions = [one for one in gc.get_objects() if isinstance(one, Dispatcher)]
    return sorted(f"{one.py_func.__module__}.{one.py_func.__name__}" for one in functions for _ in one.overloads)

live = begin_game("case1", None, (None, seat("scripted")), 3)
Keeper.begin("games/", live)
before = loaded()
chance = random.Random(1)
window = PlayWindow(lambda: live)
while not live.is_over:
    desk = window.session.desk
    for number in range(11 if desk else 0):
        if desk.options(number):
            desk.select(number)
            window.draw()
            desk.give(chance.choice(desk.options(number)).order)
    window._commit()
    window.tick(10)
    window.tick(10)
print(len(before), sorted(set(loaded()) - set(before)))
"""


def test_playing_loads_no_compiled_code(tmp_path):
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    ran = subprocess.run(
        [sys.executable, "-c", LOADED], env=kept, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr
    count, later = ran.stdout.splitlines()[-1].split(" ", 1)
    assert int(count) > 10
    assert later == "[]"
