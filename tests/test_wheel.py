"""The wheel works without the checkout: it contains the package and its presets."""

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from geo_patrol import __version__, environment_id, preset_names
from scripts.check_release import IN_SOURCES

ROOT = Path(__file__).parents[1]
USE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import gymnasium
import geo_patrol
from geo_patrol import geo_patrol_v0
from geo_patrol.flight.lesson import FlightLesson
from geo_patrol.play.lesson import GameLesson
GameLesson(), FlightLesson()
env = geo_patrol_v0.parallel_env(config="case3")
env.reset(seed=1)
env.step(env.sample_actions())
gymnasium.make("GeoPatrol/SpaceshipCommander-v0", mission="courier").reset()
print(json.dumps([geo_patrol.__file__, geo_patrol.preset_names(), sorted(gymnasium.registry), str(env.game())]))
"""


def test_what_the_sources_of_a_release_must_have_is_there():
    assert [name for name in IN_SOURCES if not (ROOT / name).is_file()] == []


def test_the_recipe_for_conda_has_the_requirements_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [requirement.partition(";")[0].replace(">=", " >=") for requirement in project["dependencies"]]
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    run = re.search(r"\n  run:\n    - python >=.*\n((?:    - .*\n)+)", recipe)[1]
    assert re.findall(r"- ([^#\n]+?) *(?:#.*)?\n", run) == needed


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT]
    subprocess.run(build, check=True, capture_output=True, env=os.environ | {"GITHUB_REPOSITORY": "owner/name"})
    (wheel,) = folder.glob("*.whl")
    target = folder / "installed"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", target, wheel]
    subprocess.run(install, check=True, capture_output=True)
    return wheel, target


@pytest.mark.slow
def test_installed_wheel_finds_its_presets_missions_and_lessons(installed, tmp_path):
    wheel, target = installed
    assert wheel.name.endswith("-py3-none-any.whl")
    plain = os.environ | {"NUMBA_DISABLE_JIT": "1"}  # the sources of the wheel would be compiled anew
    result = subprocess.run(
        [sys.executable, "-c", USE, str(target)], cwd=tmp_path, env=plain, capture_output=True, text=True, check=True
    )
    file, presets, ids, text = json.loads(result.stdout)
    assert Path(file).is_relative_to(target)
    assert tuple(presets) == preset_names()
    assert {environment_id(preset) for preset in presets} <= set(ids)
    assert "Case 3" in text


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the program is an .exe there")
def test_installed_program_runs(installed, tmp_path):
    _, target = installed
    result = subprocess.run(
        [sys.executable, target / "bin" / "geo-patrol", "--version"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(target)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert result.stdout == f"geo-patrol {__version__}\n"
    assert "geo_patrol_command" in (target / "bin" / "geo-patrol").read_text()


def test_metadata_lead_to_the_repository(installed):
    wheel, _ = installed
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(f"geo_patrol-{__version__}.dist-info/METADATA").decode()
    assert "\nProject-URL: Source, https://github.com/owner/name\n" in metadata
    assert f"](https://github.com/owner/name/raw/v{__version__}/docs/pictures/game.gif)" in metadata
    assert f"](https://github.com/owner/name/blob/v{__version__}/docs/play/rules.md)" in metadata
    assert re.findall(r"\]\((?!https:)", metadata) == []


@pytest.mark.slow
def test_installed_wheel_writes_a_replay_as_html(installed, tmp_path):
    _, target = installed
    recorded = ROOT / "tests" / "data" / "replay.jsonl.gz"
    replay = [sys.executable, "-m", "geo_patrol", "replay", recorded, "--game", "0", "--html", "game.html"]
    environment = os.environ | {"PYTHONPATH": str(target), "NUMBA_DISABLE_JIT": "1"}  # which is quicker than compiling
    subprocess.run(replay, cwd=tmp_path, check=True, capture_output=True, env=environment)
    written = (tmp_path / "game.html").read_text(encoding="utf-8")
    assert "class Player {" in written
    assert 'id="game-0"' in written
