"""The public names, and the cost of importing the package."""

import importlib.util
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

import geo_patrol
from geo_patrol.base import jit
from geo_patrol.engine import setup, steps


def test_every_public_name_exists():
    assert all(getattr(geo_patrol, name) is not None for name in geo_patrol.__all__)
    assert dir(geo_patrol) == sorted(geo_patrol.__all__)


def test_every_lazy_name_is_public():
    lazy = {name for names in geo_patrol._MODULES.values() for name in names}
    assert lazy - {"make_sb3_vec"} | {"__version__", "environment_id"} == set(geo_patrol.__all__)


def test_names_of_extras_say_what_to_install():
    if importlib.util.find_spec("stable_baselines3"):
        assert callable(geo_patrol.make_sb3_vec)
    else:
        with pytest.raises(geo_patrol.MissingPackageError, match=r"geo_patrol\[sb3\]"):
            geo_patrol.make_sb3_vec  # noqa: B018


def test_unknown_name():
    with pytest.raises(AttributeError, match="has no attribute 'Gmae'"):
        geo_patrol.Gmae  # noqa: B018


def test_importing_the_package_compiles_nothing_and_registers_the_environments():
    code = (
        "import sys, geo_patrol, gymnasium; print('numba' in sys.modules, 'GeoPatrol/Case1-v0' in gymnasium.registry)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False", "True"]


def test_pieces_that_are_compiled_later_are_announced_by_their_names(capsys):
    announcer = jit._Announcer()
    for function in (setup.sample_rules_of_games, steps.step_games):
        event = SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=getattr(function, "py_func", function))})
        announcer.on_start(event)
        announcer.on_end(event)
    pieces = [
        line.removeprefix("geo_patrol: compiling ").partition(" for this machine")[0]
        for line in capsys.readouterr().err.splitlines()
    ]
    assert pieces == ["sampled scenarios", "the game engine"]


@pytest.mark.slow
def test_a_cold_compile_is_announced_once_and_a_warm_start_is_silent(tmp_path):
    code = "import numpy; from geo_patrol.engine.rng import mix; mix(numpy.uint64(3)); mix(numpy.uint64(4))"
    for announcement in ("geo_patrol: compiling the game engine for this machine, once ...\n", ""):
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
        )
        assert result.stderr == announcement


@pytest.mark.slow
def test_a_reload_replaces_the_environments_without_warnings():
    code = "import importlib, geo_patrol, gymnasium; importlib.reload(geo_patrol); print(len(gymnasium.registry))"
    fresh = "import geo_patrol, gymnasium; print(len(gymnasium.registry))"
    ran, plain = (
        subprocess.run([sys.executable, "-W", "error", "-c", one], capture_output=True, text=True, check=True)
        for one in (code, fresh)
    )
    assert (ran.stdout, ran.stderr) == (plain.stdout, "")
