"""Install a wheel with its dependencies into a clean environment, and use it there; without an argument, build it first."""

import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
USE = """
import gymnasium, geo_patrol
from geo_patrol import geo_patrol_v0
for preset in geo_patrol.preset_names():
    env = geo_patrol_v0.parallel_env(config=preset)
    env.reset(seed=1)
    while env.agents:
        env.step(env.sample_actions())
    gymnasium.make(geo_patrol.environment_id(preset)).reset(seed=1)
for name in ("GeoPatrol/PlanetaryProbe-v0", "GeoPatrol/SpaceshipCommander-v0"):
    gymnasium.make(name).reset(seed=1)
print(geo_patrol.__file__)
"""


def main() -> None:
    """Test the wheel in a temporary folder; raise CalledProcessError if a step fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", nargs="?", type=Path)
    wheel = parser.parse_args().wheel
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if wheel is None:
            subprocess.run([sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT], check=True)
            (wheel,) = folder.glob("*.whl")
        environment = folder / "environment"
        venv.create(environment, with_pip=True)
        scripts = environment / ("Scripts" if sys.platform == "win32" else "bin")
        python = scripts / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", wheel.resolve()], check=True)
        result = subprocess.run([python, "-c", USE], cwd=folder, check=True, capture_output=True, text=True)
        command = scripts / "geo-patrol"
        match = ["match", "scripted", "random", "--games", "20", "--seed", "7", "--show", "--save", "games.jsonl.zst"]
        subprocess.run([command, *match], cwd=folder, check=True)
        subprocess.run([command, "replay", "games.jsonl.zst", "--html", "games.html"], cwd=folder, check=True)
        if not Path(result.stdout.strip()).resolve().is_relative_to(environment.resolve()):
            raise SystemExit(f"the package was imported from {result.stdout.strip()}, not from the clean environment")
        print(f"{wheel.name} works in a clean environment")


if __name__ == "__main__":
    main()
