"""Games and environments on a GPU play what they play on a processor: in Numba's simulator, where kernels run as Python.

``make test-cuda`` sets the variables of the environment that turn it on.
"""

import runpy
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba_cuda")
torch = pytest.importorskip("torch")

# ruff: noqa: E402 - after the packages that they need
from geo_patrol import Game, Games, Observation, Reward, load_config, make_vec, preset_names
from geo_patrol.base.errors import AgentError
from geo_patrol.engine import cuda as kernels
from geo_patrol.game.cuda import CudaError, find_device

ROOT = Path(__file__).parents[2]
PLAYTHROUGHS = runpy.run_path(str(ROOT / "scripts" / "write_playthroughs.py"))
EXAMPLES = ROOT / "examples"
SAMPLED = EXAMPLES / "random_scenarios.toml"
COSTS = load_config("case1", {"alpha.costs.prograde": {"choices": [1, 9]}})
UNEQUAL = load_config("case1", {"mirror": False, "alpha.costs.prograde": 9, "bravo.costs.radial_out": 1})
ON_DEVICE = kernels.IS_SIMULATED or torch.cuda.is_available()
needs_device = pytest.mark.skipif(
    not ON_DEVICE, reason="needs a GPU, or NUMBA_ENABLE_CUDASIM=1 and NUMBA_DISABLE_JIT=1"
)
CONFIGS = pytest.mark.parametrize("config", ["case1", "geo_patrol_hidden", SAMPLED], ids=["plain", "hidden", "sampled"])


def observe_own(game, rules, side, out):
    for number in range(11):
        out[number] = game.fuel[side, number] / 7
        out[11 + number] = game.sector[1 - side, number]
    out[22] = rules.turn_limit - game.turn


def reward_own(game, rules, episode, side):
    return episode.reward[side] / 3 + episode.losses[1 - side] - 2 * episode.illegal_orders[side]


OWN, OWN_REWARD = Observation(observe_own, 23, low=0, high=10_000), Reward(reward_own)


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
    on_device = games.to("cuda")
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
@pytest.mark.parametrize("preset", preset_names())
def test_golden_playthroughs(preset):
    golden = (ROOT / "tests" / "golden" / f"{preset}.txt").read_text(encoding="utf-8").split("\n\n")[1:]
    game, rng = Game(preset, seed=PLAYTHROUGHS["SEED"]), np.random.default_rng(PLAYTHROUGHS["SEED"])
    games = game.repeat(1, same_chance=True).to("cuda")
    for recorded in golden:
        found = [PLAYTHROUGHS["heading_text"](game), *PLAYTHROUGHS["position_lines"](game)]
        assert recorded.split("\n")[: len(found)] == found
        if not game.is_over:
            orders = PLAYTHROUGHS["choose_orders"](game, rng)
            games.step(torch.as_tensor(orders[None], device=games.device))
            game = games.to("cpu")[0]


@needs_device
@CONFIGS
def test_play_outs_of_copies(config):
    games = Games(config, 3, seed=5)
    first = games.to("cuda").copy()
    assert first.to("cuda") is first
    assert games.to("cpu") is games
    assert_same_games(games.copy().play_randomly(5), first.play_randomly(5).to("cpu"))
    assert_same_games(games.reseed(8).copy().play_randomly(), games.to("cuda").reseed(8).play_randomly().to("cpu"))


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
        {"opponent": {"scripted": 2, "turtle": 1, "random": 1}, "seats": "alternate", "max_cycles": 6},
        {"observation": OWN, "reward": OWN_REWARD, "autoreset": "same_step", "max_cycles": 3},
        {"observation": OWN, "reward": OWN_REWARD, "opponent": "random", "seats": "alternate", "max_cycles": 3},
        {"count_events": True, "autoreset": "same_step", "max_cycles": 4, "opponent": "random", "seats": "alternate"},
        {"agents": "satellites", "mask_in": "obs", "autoreset": "same_step", "max_cycles": 3, "count_events": True},
        {"agents": "satellites", "view": "own", "autoreset": "same_step", "max_cycles": 3, "observation": "tokens"},
        {"agents": "satellites", "view": "own", "sensor_range": 1, "fleet": "in_range", "opponent": "random"},
    ],
    ids=[
        "self-play",
        "mixture",
        "bravo",
        "outcome",
        "no-copy",
        "scripts",
        "own",
        "own, against an opponent",
        "events",
        "satellites",
        "view=own",
        "view=own, in range",
    ],
)
def test_environments(config, options):
    host, device = make_vec(config, 3, **options), make_vec(config, 3, device="cuda", **options)
    for expected, found in zip(host.reset(seed=5), device.reset(seed=5), strict=True):
        assert_equal(expected, found)
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
        (
            {"opponent": "search"},
            "opponent 'search' cannot play on a GPU: it is none of the scripts that have a kernel; 'idle'",
        ),
        ({"opponent": "policy:base"}, "opponent 'policy:base' cannot play on a GPU: .* agents with act_tensors can"),
        (
            {"opponent": "raider", "config": COSTS},
            "its tables of paths need costs of moves that are the same in all games",
        ),
        (
            {"reward": Reward(lambda *games: games[1].scores, compiled=False)},
            "reward must be a name or compiled with device = 'cuda', got Reward",
        ),
        ({"threads": 2}, "threads cannot be given with device = 'cuda'"),
        ({"agents": "satellites", "fleet": "all"}, "fleet = 'all' needs view = \"own\""),
    ],
)
def test_what_a_device_cannot_do(options, message):
    with pytest.raises(ValueError, match=message):
        make_vec(**{"config": "case1", "num_games": 2, "device": "cuda", **options})


@needs_device
@pytest.mark.parametrize("config", ["case1", UNEQUAL], ids=["equal", "unequal costs"])
def test_raiders_fly_by_the_costs_of_their_side(config):
    options = {
        "opponent": {"raider": 1, "raider:defenders=1,dodge=0.5": 1},
        "seats": "alternate",
        "autoreset": "same_step",
    }
    host, device = make_vec(config, 4, **options), make_vec(config, 4, device="cuda", **options)
    host.reset(seed=2), device.reset(seed=2)
    for _ in range(12):
        expected, found = host.step(host.sample_actions()), device.step(device.sample_actions())
        for i, of_host in enumerate(expected):
            assert_equal(of_host, found[i], str(i))


@needs_device
def test_mixed_keeps_the_tactics_of_a_game():
    device = make_vec("case1", 4, opponent="mixed", device="cuda")
    device.reset(seed=2)
    device.step(device.sample_actions())
    ((_, script),) = device._players.values()
    chosen = [
        choices for choices in script._arguments if getattr(choices, "shape", ()) == (4,) and choices.dtype == "i4"
    ]
    before = chosen[0].copy() if kernels.IS_SIMULATED else chosen[0].copy_to_host()
    assert len(set(before.tolist())) > 1
    for _ in range(3):
        device.step(device.sample_actions())
    after = chosen[0] if kernels.IS_SIMULATED else chosen[0].copy_to_host()
    assert before.tolist() == after.tolist()


class FirstOrder:
    """Gives every satellite its last legal order."""

    observation, stateless = "tokens", True

    def __init__(self, name="first"):
        self.name, self.calls = name, 0

    def reset(self, new_games):
        pass

    def act(self, observations, action_masks, generator):
        return self.act_tensors(torch.as_tensor(observations), torch.as_tensor(action_masks)).numpy()

    def act_tensors(self, observations, action_masks):
        self.calls += 1
        assert observations.dtype == torch.int16
        assert action_masks.dtype == torch.int8
        return 27 - action_masks.flip(2).argmax(2)


@needs_device
def test_an_agent_of_tensors_as_an_opponent():
    agent, other = FirstOrder(), FirstOrder("other")
    options = {"seats": "alternate", "observation": "onehot"}
    host = make_vec("case1", 4, opponent={agent: 1, "idle": 1}, **options)
    device = make_vec("case1", 4, opponent={agent: 1, "idle": 1}, device="cuda", **options)
    host.reset(seed=1), device.reset(seed=1)
    for phase in range(10):
        if phase == 5:
            for env in (host, device):
                env.set_opponents([(other, 1.0)])
        for i, (expected, found) in enumerate(
            zip(host.step(host.sample_actions()), device.step(device.sample_actions()), strict=True)
        ):
            assert_equal(expected, found, str(i))
    other.act_tensors = lambda *_: torch.zeros(4, 11)
    device.reset()
    with pytest.raises(AgentError, match="agent 'other': act_tensors: actions must be integers"):
        device.step(device.sample_actions())
    other.observation = OWN
    with pytest.raises(ValueError, match="opponent 'other' cannot play on a GPU: it has an observation of its own"):
        make_vec("case1", 4, opponent=other, device="cuda")


@pytest.mark.skipif(ON_DEVICE, reason="there is a device")
def test_without_a_device():
    with pytest.raises(CudaError, match="there is no GPU that PyTorch can use"):
        find_device("cuda")
    with pytest.raises(ValueError, match="device must be"):
        find_device("gpu")
    with pytest.raises(CudaError, match="there is no GPU"):
        make_vec("case1", 2, device="cuda")
