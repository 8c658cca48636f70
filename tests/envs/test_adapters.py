"""The adapters say which extra installs the library that they need."""

import importlib
import importlib.util

import pytest

from geo_patrol import MissingPackageError

LIBRARIES = {
    "pufferlib": "pufferlib",
    "sb3": "stable_baselines3",
    "tianshou": "tianshou",
    "torchrl": "torchrl",
}


@pytest.mark.parametrize("adapter", LIBRARIES)
def test_a_missing_library_is_named_with_its_extra(adapter):
    if importlib.util.find_spec(LIBRARIES[adapter]):
        pytest.skip(f"{LIBRARIES[adapter]} is installed")
    with pytest.raises(MissingPackageError, match=rf"is not installed: pip install 'geo_patrol\[{adapter}\]'"):
        importlib.import_module(f"geo_patrol.adapters.{adapter}")
