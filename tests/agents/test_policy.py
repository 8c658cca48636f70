"""The learned agent: its orders, alone and in batches, and that untrusted files of weights do no harm."""

import io
import os
import pickle
import struct
import zipfile
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
import threadpoolctl
from safetensors.numpy import save

from geo_patrol import load_config, make_agent, make_vec, play_match, preset_names
from geo_patrol.agents import policy
from geo_patrol.agents.policy import (
    MAX_FILE_SIZE,
    PolicyAgent,
    Widths,
    initial_weights,
    probabilities,
    read_weights,
    score_orders,
    shapes,
    shipped_names,
    write_weights,
)
from geo_patrol.base.errors import AgentError, PolicyError

EXAMPLES = Path(__file__).parents[2] / "examples"
SMALL = Widths(satellite=4, context=5, order=3, key=2)


@pytest.fixture(scope="module")
def small():
    return initial_weights(shapes(SMALL), np.random.default_rng(1))


@pytest.fixture(scope="module")
def position():
    """Observations and masks of both sides of 64 games under way, of presets of four and of five rings."""
    seen = []
    for preset in ("geo_patrol", "case4", "od2d"):
        envs = make_vec(preset, 32, observation="tokens")
        observations, infos = envs.reset(seed=5)
        for _ in range(4):
            observations, _, _, _, infos = envs.step(envs.sample_actions())
        seen.append((observations, infos["action_mask"]))
    return tuple(np.concatenate(arrays) for arrays in zip(*seen, strict=True))


def test_weights_in_the_package_are_small_and_plain():
    folder = resources.files("geo_patrol.agents") / "data"
    files = [file for file in folder.iterdir() if not file.name.startswith("__")]
    assert "base" in shipped_names()
    assert {Path(file.name).suffix for file in files} == {".json", ".safetensors", ".toml"}
    assert sum(len(file.read_bytes()) for file in files) < 2_000_000


@pytest.mark.parametrize("preset", preset_names())
def test_orders_are_legal_on_every_preset_from_either_side(preset):
    result = play_match("policy:base", "mixed", config=preset, games=8, seed=3)
    assert result.summary().total.illegal_orders[0] == 0
    assert result.agents[0] == "policy:base"


@pytest.mark.parametrize("opponent", ["random", "idle"])
def test_it_beats_weak_agents(opponent):
    assert play_match("policy", opponent, games=100, seed=1).summary().total.win_rate > 0.97


@pytest.fixture(scope="module")
def mixed():
    """Return weights of two components: one moves satellites prograde, the other one retrograde."""
    weights = initial_weights(shapes(Widths(components=2)), np.random.default_rng(1))
    weights["component"][0, 0] = weights["component"][1, 1] = 2
    weights["simple"][0, 1] = weights["simple"][1, 2] = 2
    return weights


@pytest.mark.slow
def test_all_satellites_follow_the_component_that_is_drawn(mixed, position):
    """So pairs of satellites choose together more or less often than if they were independent, just as often as is said."""
    observations, masks = position
    agent = PolicyAgent(mixed)
    row = np.flatnonzero((masks.sum(axis=2) > 1).sum(axis=1) > 8)[0]
    rows = np.repeat([row], 8_000)
    weights, by_component = agent.component_probabilities(observations[rows[:1]], masks[rows[:1]])
    joint = np.einsum("k,kao,kbp->aobp", weights[0], by_component[0], by_component[0])
    independent = np.einsum("ao,bp->aobp", *[agent.order_probabilities(observations[rows[:1]], masks[rows[:1]])[0]] * 2)
    pairs = [(a, b) for a in range(11) for b in range(a)]
    assert max(np.abs(joint - independent)[a, :, b].max() for a, b in pairs) > 0.1, "otherwise this test shows nothing"
    sampled = agent.sample(observations[row], masks[row], len(rows), np.random.default_rng(3))[0]
    for orders in (agent.act(observations[rows], masks[rows], np.random.default_rng(2)), sampled):
        for a, b in pairs:
            found = np.bincount(orders[:, a] * 28 + orders[:, b], minlength=28 * 28) / len(rows)
            assert np.abs(found - joint[a, :, b].ravel()).max() < 0.03


@pytest.mark.parametrize("has_components", [False, True])
def test_greedy_takes_the_mode_of_the_likeliest_component(mixed, position, has_components):
    agent, greedy = (PolicyAgent(mixed if has_components else "base", greedy=greedy) for greedy in (False, True))
    weights, by_component = agent.component_probabilities(*position)
    modes = by_component[np.arange(len(weights)), weights.argmax(axis=1)].argmax(axis=2)
    assert (greedy.act(*position, np.random.default_rng(1)) == modes).all()
    assert (greedy.order_probabilities(*position).argmax(axis=2) == modes).all()


def test_same_generator_same_orders(position):
    agents = PolicyAgent(), make_agent("policy:base")
    first, second = (agent.act(*position, np.random.default_rng(7)) for agent in agents)
    other = agents[0].act(*position, np.random.default_rng(8))
    assert (first == second).all()
    assert (first != other).any()


def test_a_batch_is_its_rows(position):
    observations, masks = position
    weights = PolicyAgent("base").weights
    has_choice, of_components, _ = score_orders(weights, observations, masks)
    logits = of_components[:, 0]
    alone = [
        score_orders(weights, observations[row : row + 1], masks[row : row + 1]).logits for row in range(len(masks))
    ]
    assert np.allclose(probabilities(logits), probabilities(np.concatenate(alone)[:, 0]), atol=1e-5)
    assert (np.isfinite(logits) == (masks[np.nonzero(has_choice)] > 0)).all()


def test_satellites_that_swap_indices_swap_orders(small, position):
    """The network does not see the numbers of enemy Patrols: attacks are aimed at positions."""
    observations, masks = (array.copy() for array in position)
    table = observations[:, :176].reshape(-1, 22, 8)
    swapped, swapped_masks = table.copy(), masks.copy()
    swapped[:, [12, 13]] = table[:, [13, 12]]
    for kind in (5, 16):
        swapped_masks[:, :, [kind + 1, kind + 2]] = masks[:, :, [kind + 2, kind + 1]]
    mirrored = np.concatenate([swapped.reshape(len(table), -1), observations[:, 176:]], axis=1)
    logits, others = (
        score_orders(small, *inputs).logits[:, 0] for inputs in ((observations, masks), (mirrored, swapped_masks))
    )
    for kind in (5, 16):
        others[:, [kind + 1, kind + 2]] = others[:, [kind + 2, kind + 1]]
    assert np.allclose(probabilities(logits), probabilities(others), atol=1e-5)


def test_unsupported_boards():
    config = load_config("geo_patrol", ["board.outer_ring=6", "board.goal_ring=6"])
    with pytest.raises(AgentError, match=r"PolicyError: .* policies know boards of up to five rings"):
        play_match("policy", "idle", config=config, games=2, seed=1)


@pytest.mark.parametrize("has_components", [False, True])
def test_weights_survive_a_file(small, mixed, tmp_path, has_components):
    path, weights = tmp_path / "small.safetensors", mixed if has_components else small
    write_weights(path, weights, {"steps": "0"})
    read = read_weights(path)
    assert read.keys() == weights.keys()
    assert all((read[name] == weights[name]).all() for name in weights)
    assert make_agent(f"policy:{path}").name == f"policy:{path}"
    assert make_agent(f"policy:{path},greedy").greedy
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file(small, tmp_path):
    path = tmp_path / "small.safetensors"
    write_weights(path, small)
    before = path.read_bytes()
    with pytest.raises(PolicyError, match="simple_bias holds numbers that are not finite"):
        write_weights(path, {**small, "simple_bias": np.full(6, np.nan, np.float32)})
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"place": None}, "weights 'place' are missing"),
        ({"place": np.zeros(3, np.float32)}, r"place must be a matrix, got shape \(3,\)"),
        ({"order": np.zeros((4, 0), np.float32)}, r"layers must be 1 to 1024 wide, got \(4, 5, 0, 2\)"),
        ({"extra": np.zeros(3, np.float32)}, "'extra' is not a name of weights"),
        ({"pool_bias": np.zeros(6, np.float32)}, r"pool_bias has shape \(6,\): it must be \(5,\)"),
        ({"pool_bias": np.zeros(5, np.int32)}, "pool_bias must be floating-point numbers, got int32"),
        ({"pool_bias": np.full(5, np.inf, np.float32)}, "pool_bias holds numbers that are not finite"),
        ({"component": np.zeros((2, 3), np.float32)}, "weights 'mixing' are missing"),
        ({"component": np.zeros((1, 3), np.float32)}, "component must be a matrix of 2 to 16 rows"),
    ],
)
def test_wrong_weights(small, tmp_path, change, message):
    path = tmp_path / "stranger.safetensors"
    changed = {name: array for name, array in {**small, **change}.items() if array is not None}
    path.write_bytes(save(changed))
    for source in (path, changed):
        with pytest.raises(PolicyError, match=message):
            PolicyAgent(source)


class Exploding:
    def __reduce__(self):
        return os.system, ("touch exploded",)


def _zip_of_zeros():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("place.npy", bytes(50_000_000))
    return stream.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00",
        b"no weights at all",
        pickle.dumps(Exploding()),
        _zip_of_zeros(),
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 100) + b"{}",
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 100_000) + b"[" * 100_000,
        b'\x4e\x00\x00\x00\x00\x00\x00\x00{"place":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,16]}}',
    ],
    ids=["empty", "byte", "text", "pickle", "zip", "long header", "short file", "list", "nested", "gigantic shape"],
)
def test_untrusted_files(content, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "stranger.safetensors"
    path.write_bytes(content)
    with pytest.raises(PolicyError, match=r"stranger\.safetensors: no file of weights in the safetensors format"):
        read_weights(path)
    assert list(tmp_path.iterdir()) == [path]


def test_files_that_are_too_large_are_not_read_whole(tmp_path):
    path = tmp_path / "stranger.safetensors"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a file of holes
    with pytest.raises(PolicyError, match=f"more than {MAX_FILE_SIZE:,} bytes"):
        read_weights(path)


def test_files_cut_off_and_bits_flipped(small, tmp_path):
    path = tmp_path / "small.safetensors"
    write_weights(path, small)
    whole = path.read_bytes()
    for size in range(0, len(whole), max(len(whole) // 100, 1)):
        path.write_bytes(whole[:size])
        with pytest.raises(PolicyError):
            read_weights(path)
    generator = np.random.default_rng(3)
    for bit in generator.integers(len(whole) * 8, size=150):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(damaged)
        try:
            weights = read_weights(path)
        except PolicyError:
            continue
        assert all(np.isfinite(array).all() for array in weights.values())


@pytest.mark.parametrize("name", ["bass", "nowhere.safetensors", ".", "/dev/zero", "base,greed"])
def test_invalid_names_of_policies(name):
    message = f"there is no policy '{name}'; a policy is the path of a file of weights, or one of those that come with"
    with pytest.raises(PolicyError, match=message):
        make_agent(f"policy:{name}")


@pytest.mark.parametrize("rings", ["four", "five"])
def test_scenarios_to_train_on_are_the_presets(rings):
    """The variants of the presets' names hold the presets' values."""
    scenarios = load_config(EXAMPLES / f"{rings}_rings.toml")
    envs = make_vec(scenarios, 400, observation="tokens")
    sampled = {row.tobytes() for row in envs.reset(seed=1)[0]}
    named = [variant.name for variant in scenarios.variants if variant.name in preset_names()]
    assert len(named) == {"four": 6, "five": 2}[rings]
    for preset in named:
        assert {row.tobytes() for row in make_vec(preset, 1, observation="tokens").reset(seed=1)[0]} <= sampled, preset


def test_the_same_weights_give_the_same_bytes(small, tmp_path):
    """The library writes several keys of metadata in an order that changes with every call."""
    files = [tmp_path / f"{number}.safetensors" for number in range(8)]
    for file in files:
        write_weights(file, small, {"steps": "1", "seed": "2", "begun_with": "nothing"})
    assert len({file.read_bytes() for file in files}) == 1


def test_it_computes_with_one_thread_of_linear_algebra(monkeypatch):
    seen, sum_up = [], policy._sum_up

    def threads():
        libraries = [library for library in threadpoolctl.threadpool_info() if library["user_api"] == "blas"]
        return {library["num_threads"] for library in libraries if "numpy" in library["filepath"]}  # not SciPy's

    def note(*arguments):
        seen.append(threads())
        return sum_up(*arguments)

    monkeypatch.setattr(policy, "_sum_up", note)
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        play_match("policy:base", "search:rollouts=8,propose=policy:base", games=2, seed=0, overrides={"turn_limit": 1})
        assert seen
        assert all(found <= {1} for found in seen)
        assert threads() <= {2}
