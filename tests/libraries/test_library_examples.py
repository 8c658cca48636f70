"""The example of each library trains a network, which then plays a match."""

import subprocess
import sys
from pathlib import Path

import pytest
from gymnasium.wrappers.vector import RecordVideo as VectorRecordVideo
from pettingzoo.utils.wrappers import RecordVideo, RecordVideoParallel

from geo_patrol import geo_patrol_v0, make_vec, play_match

EXAMPLES = Path(__file__).parents[2] / "examples"
LIBRARIES = {
    "sb3": "MaskablePPO",
    "agilerl": "AgileRL",
    "pufferlib": "PufferLib",
    "tianshou": "Tianshou",
    "torchrl": "TorchRL",
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_example_trains_and_plays(library, tmp_path):
    pytest.importorskip("sb3_contrib" if library == "sb3" else library)
    example = [sys.executable, EXAMPLES / f"{library}_ppo.py", "0"]  # minutes: a single iteration
    result = subprocess.run(example, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert f"<MatchResult {LIBRARIES[library]} against scripted, GEO Patrol, 200 games" in result.stdout


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's own, of TorchScript
def test_the_network_of_sb3_is_saved_and_plays_by_name(tmp_path):
    pytest.importorskip("sb3_contrib")
    subprocess.run([sys.executable, EXAMPLES / "sb3_ppo.py", "0", "--out", "net.pt"], cwd=tmp_path, check=True)
    assert play_match(f"torch:{tmp_path}/net.pt", "random", config="case1", games=2, seed=0).agents[1] == "random"


def frames(film):
    with pytest.importorskip("moviepy").VideoFileClip(str(film)) as clip:
        return list(clip.iter_frames())


def test_films_of_episodes(tmp_path):
    pytest.importorskip("moviepy")
    example = [sys.executable, "-W", "error", EXAMPLES / "record_video.py"]
    result = subprocess.run(example, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    films = sorted((tmp_path / "runs" / "films").glob("*.mp4"))
    assert [film.name for film in films] == ["rl-video-episode-0.mp4", "rl-video-episode-2.mp4"]
    for pictures in map(frames, films):
        assert pictures[0].shape == (540, 960, 3)
        assert (pictures[0] != pictures[-1]).any()


def test_films_of_vector_environments(tmp_path):
    pytest.importorskip("moviepy")
    options = {"opponent": "idle", "max_cycles": 3, "render_mode": "rgb_array", "render_size": (320, 240)}
    envs = make_vec("case1", 4, **options)
    envs = VectorRecordVideo(envs, str(tmp_path / "films"), episode_trigger=lambda episode: episode == 0)
    envs.reset(seed=0)
    for _ in range(6):
        envs.step(envs.unwrapped.sample_actions())
    envs.close()
    (film,) = (tmp_path / "films").glob("*.mp4")
    pictures = frames(film)
    assert pictures[0].shape == (480, 640, 3)  # the four environments
    assert (pictures[0] != pictures[-1]).any()


@pytest.mark.parametrize("make", [geo_patrol_v0.parallel_env, geo_patrol_v0.env])
def test_films_of_pettingzoo_environments(make, tmp_path):
    pytest.importorskip("moviepy")
    env = make(config="case1", max_cycles=3, render_mode="rgb_array", render_size=(320, 240))
    is_parallel = make is geo_patrol_v0.parallel_env
    wrapper = RecordVideoParallel if is_parallel else RecordVideo
    env = wrapper(env, str(tmp_path / "films"), episode_trigger=lambda episode: episode == 1)
    for seed in range(3):
        env.reset(seed=seed)
        while env.agents:
            actions = env.unwrapped.sample_actions()
            if is_parallel:
                env.step(actions)
            else:
                agent = env.agent_selection
                env.step(None if env.terminations[agent] or env.truncations[agent] else actions[agent])
    env.close()
    (film,) = (tmp_path / "films").glob("*.mp4")
    assert film.name == "rl-video-episode-1.mp4"
    pictures = frames(film)
    assert pictures[0].shape == (240, 320, 3)
    assert (pictures[0] != pictures[-1]).any()


def test_supersuit_plays_legal_orders():
    pytest.importorskip("supersuit")
    example = [sys.executable, EXAMPLES / "supersuit_random.py", "60"]
    result = subprocess.run(example, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    num_episodes, rest = result.stdout.split(maxsplit=1)
    assert int(num_episodes) > 0
    assert rest == "episodes, 0 illegal orders\n"
