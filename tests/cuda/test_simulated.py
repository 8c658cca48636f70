"""Games and environments on a GPU play what they play on a processor: in Numba's simulator, where kernels run as Python.

``make test-cuda`` sets the variables of the environment that turn it on.
"""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba_cuda")
torch = pytest.importorskip("torch")

# ruff: noqa: E402 - after the packages that they need
from geo_patrol import Games, make_vec
from geo_patrol.engine import cuda as kernels
from geo_patrol.game.cuda import CudaError, CudaGames, find_device

EXAMPLES = Path(__file__).parents[2] / "examples"
SAMPLED = EXAMPLES / "random_scenarios.toml"
ON_DEVICE = kernels.IS_SIMULATED or torch.cuda.is_available()
needs_device = pytest.mark.skipif(
    not ON_DEVICE, reason="needs a GPU, or NUMBA_ENABLE_CUDASIM=1 and NUMBA_DISABLE_JIT=1"
)
CONFIGS = pytest.mark.parametrize("config", ["case1", "geo_patrol_hidden", SAMPLED], ids=["plain", "hidden", "sampled"])


def assert_same_games(games, others):
    for expected, found in zip((*games.state, *games.sight), (*others.state, *others.sight), strict=True):
        differing = [name for name in expected.dtype.names if not np.array_equal(expected[name], found[name])]
        assert not differing


def assert_equal(expected, found, where=""):
    if isinstance(expected, dict):
        assert expected.keys() == found.keys(), where
        for key, value in expected.items():
            assert_equal(value, found[key], f"{where}.{key}")
    else:
        array = found.cpu().numpy() if isinstance(found, torch.Tensor) else found
        assert expected.dtype == array.dtype, where
        np.testing.assert_array_equal(expected, array, where)


@needs_device
@CONFIGS
def test_games(config):
    games = Games(config, 4, seed=3)
    on_device = CudaGames(games)
    for _ in range(6):
        actions = games.sample_actions()
        assert_equal(actions, on_device.sample_actions())
        assert_equal(games.action_masks(), on_device.action_masks())
        assert_equal(games.observe("onehot"), on_device.observe("onehot"))
        assert_equal(games.observe("tokens"), on_device.observe("tokens"))
        games.step(actions)
        on_device.step(torch.as_tensor(actions, device=on_device.device))
        assert_same_games(games, on_device.to("cpu"))
    for name in ("turn", "phase", "is_over", "scores", "sector", "fuel"):
        assert_equal(getattr(games, name), getattr(on_device, name), name)


@needs_device
@CONFIGS
def test_play_outs_of_copies(config):
    games = Games(config, 3, seed=5)
    first = CudaGames(games).copy()
    assert_same_games(games.copy().play_randomly(5), first.play_randomly(5).to("cpu"))
    assert_same_games(games.reseed(8).copy().play_randomly(), CudaGames(games).reseed(8).play_randomly().to("cpu"))


@needs_device
@CONFIGS
@pytest.mark.parametrize(
    "options",
    [
        {"observation": "tokens"},
        {"opponent": {"random": 1, "idle": 1}, "seats": "alternate", "autoreset": "same_step"},
        {"opponent": "random", "seats": "bravo", "mask_in": "obs", "observation": "tokens", "max_cycles": 3},
        {"autoreset": "same_step", "max_cycles": 4, "reward": "outcome", "mask_in": "none"},
        {"autoreset": "same_step", "max_cycles": 3, "copy": False},
    ],
    ids=["self-play", "mixture", "bravo", "outcome", "no-copy"],
)
def test_environments(config, options):
    host, device = make_vec(config, 3, **options), make_vec(config, 3, device="cuda", **options)
    assert_equal(host.reset(seed=5)[0], device.reset(seed=5)[0])
    for _ in range(8):
        actions = host.sample_actions().copy()
        on_device = device.sample_actions()
        assert_equal(actions, on_device)
        for i, (expected, found) in enumerate(zip(host.step(actions), device.step(on_device), strict=True)):
            assert_equal(expected, found, str(i))
    # Either restores what the other has saved.
    saved_host, saved_device = host.save(), device.save()
    others = make_vec(config, 3, **options), make_vec(config, 3, device="cuda", **options)
    others[0].restore(saved_device)
    others[1].restore(saved_host)
    for _ in range(3):
        actions = host.sample_actions().copy()
        expected = host.step(actions)
        for env in (device, *others):
            own = env.sample_actions()
            assert_equal(actions, own)
            for i, found in enumerate(env.step(own)):
                assert_equal(expected[i], found, str(i))


@needs_device
def test_a_partial_reset_goes_on_with_the_streams():
    host, device = make_vec("case1", 3), make_vec("case1", 3, device="cuda")
    mask = np.array([True, True, False, False, True, True])
    for env in (host, device):
        env.reset(seed=1)
        env.step(env.sample_actions())
    expected = host.reset(options={"reset_mask": mask})
    found = device.reset(options={"reset_mask": torch.from_numpy(mask)})
    assert_equal(expected[0], found[0])
    assert_equal(host.step(host.sample_actions())[0], device.step(device.sample_actions())[0])


@needs_device
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"opponent": "scripted"}, "opponent 'scripted' cannot play on a GPU: it must be 'idle' or 'random'"),
        ({"threads": 2}, "threads cannot be given with device = 'cuda'"),
        ({"count_events": True}, "count_events cannot be given with device = 'cuda'"),
    ],
)
def test_what_a_device_cannot_do(options, message):
    with pytest.raises(ValueError, match=message):
        make_vec("case1", 2, device="cuda", **options)


@needs_device
def test_wrong_actions():
    env = make_vec("case1", 2, device="cuda")
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(torch.zeros((4, 11), dtype=torch.int64, device=env.device))
    env.reset(seed=0)
    with pytest.raises(
        ValueError, match=r"actions must be a tensor of integers of shape \(4, 11\), got shape \(4, 10\)"
    ):
        env.step(torch.zeros((4, 10), dtype=torch.int64, device=env.device))
    with pytest.raises(ValueError, match=r"actions must be integers, got torch\.float32"):
        env.step(torch.zeros((4, 11), device=env.device))


@pytest.mark.skipif(ON_DEVICE, reason="there is a device")
def test_without_a_device():
    with pytest.raises(CudaError, match="there is no GPU that PyTorch can use"):
        find_device("cuda")
    with pytest.raises(ValueError, match="device must be"):
        find_device("gpu")
    with pytest.raises(CudaError, match="there is no GPU"):
        make_vec("case1", 2, device="cuda")
