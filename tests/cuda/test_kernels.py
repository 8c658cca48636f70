"""Kernels compile for every kind of game and GPU, without one, and round as a processor does."""

import re
import types

import pytest

pytest.importorskip("numba_cuda")
pytest.importorskip("torch")

import numba
import numpy as np
from numba import cuda

from geo_patrol.agents.scripted import cuda as scripts
from geo_patrol.engine import cuda as kernels

if kernels.IS_SIMULATED:
    pytest.skip("kernels are simulated", allow_module_level=True)


def compile_to_ptx(function, arguments, capability):
    with kernels.separate_rounding():
        types_of = tuple(map(numba.typeof, arguments))
        ptx, _ = cuda.compile(function, types_of, device=False, cc=capability, output="ptx", abi="numba")
    return ptx if isinstance(ptx, str) else ptx.decode()


@pytest.fixture(autouse=True)
def capability(monkeypatch):
    """Pretend that there is a GPU, as far as typing asks for one."""
    device = types.SimpleNamespace(compute_capability=(9, 0))
    if not cuda.is_available():
        monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", lambda: device)
    kernels.register()


def test_a_kernel_comes_from_the_cache_in_the_next_run(monkeypatch, tmp_path, capfd):
    """The machine code is not made here, as that needs a GPU; all that is stored beside it is."""
    device = types.SimpleNamespace(compute_capability=(9, 0), id=0)
    if not cuda.is_available():
        monkeypatch.setattr("numba.cuda.cudadrv.devices.get_context", lambda *_: types.SimpleNamespace(device=device))
        monkeypatch.setattr("numba.cuda.dispatcher._Kernel.bind", lambda kernel: kernel.inspect_asm((9, 0)))
    monkeypatch.setattr(kernels, "CACHE_FOLDERS", (tmp_path,))
    monkeypatch.setattr("geo_patrol.base.compile_cache.CACHE_FOLDERS", (tmp_path,))
    monkeypatch.setattr("geo_patrol.base.compile_cache.CACHE_FOLDER", tmp_path)

    def compiled(**options):
        function, arguments = kernels.reset_kernel(**options)
        (kernel,) = kernels.compile_kernel(function, *arguments).overloads.values()
        return capfd.readouterr().err, kernel.inspect_asm((9, 0))

    said, code = compiled(is_randomized=False, hides_enemies=False)
    assert "compiling games on a GPU" in said
    assert compiled(is_randomized=False, hides_enemies=False) == ("", code)
    assert compiled(is_randomized=False, hides_enemies=True)[1] != code  # what a kernel encloses is part of its key
    for file in tmp_path.rglob("*.nbc"):
        file.write_bytes(b"damaged" + file.read_bytes())
    assert "is damaged: compiling it again" in compiled(is_randomized=False, hides_enemies=False)[0]


def observe_fuel(game, rules, side, out):
    for number in range(11):
        out[number] = game.fuel[side, number] / 100


def reward_losses(game, rules, episode, side):
    return episode.reward[side] + 0.5 * episode.losses[1 - side]


OWN = {"function": observe_fuel, "dtype": np.dtype(np.float32)}
KERNELS = {
    "step, 5 rings": (kernels.step_kernel, {"outer_ring": 5, "hides_enemies": False}),
    "step, 10 rings, hidden": (kernels.step_kernel, {"outer_ring": 10, "hides_enemies": True}),
    "reset": (kernels.reset_kernel, {"is_randomized": False, "hides_enemies": False}),
    "reset, sampled, hidden": (kernels.reset_kernel, {"is_randomized": True, "hides_enemies": True}),
    "own observation": (kernels.observation_kernel, {**OWN, "hides_enemies": False}),
    "own observation, hidden": (kernels.observation_kernel, {**OWN, "hides_enemies": True}),
    "own reward": (kernels.reward_kernel, {"function": reward_losses, "hides_enemies": True}),
    "satellites, onehot": (kernels.satellites_kernel, {"is_onehot": True}),
    "satellites, tokens": (kernels.satellites_kernel, {"is_onehot": False}),
    "raider": (scripts.raider_kernel, {}),
    "scripted": (scripts.scripted_kernel, {}),
}
ROUNDS_OTHERWISE = (
    "scripted",
)  # it takes exponentials and powers, which are not those of a processor in their last bits


@pytest.mark.parametrize("capability_of", [(8, 0), (9, 0), (10, 0)])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_compile_and_round_each_product(name, capability_of, record_property):
    make, options = KERNELS[name]
    ptx = compile_to_ptx(*make(**options), capability_of)
    local = [int(size) for size in re.findall(r"\.local .*?__local_depot\d+\[(\d+)\]", ptx)]
    record_property(f"{name}, compute capability {capability_of}: local memory of a thread", sum(local))
    assert ".entry" in ptx
    # Without a mode of rounding, or fused, a sum of products may differ from a processor's in its last bit.
    if name not in ROUNDS_OTHERWISE:
        assert not re.findall(r"fma\.rn\.f\d+|\b(?:mul|add|sub)\.f\d+", ptx)
