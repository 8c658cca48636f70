"""The folder of compiled code."""

import os

from geo_patrol import jit


def test_old_folders_are_removed_and_those_of_others_are_left_alone(tmp_path):
    ours = [tmp_path / f"geo_patrol-kernels-{number}" for number in range(9)]
    theirs = tmp_path / "kernels-of-somebody-else"
    for age, folder in enumerate([*ours, theirs]):
        folder.mkdir()
        os.utime(folder, (1_000_000 - age, 1_000_000 - age))
    jit._remove_old_kernels(tmp_path, keep=ours[-1].name)
    assert sorted(tmp_path.iterdir()) == sorted([*ours[:5], ours[-1], theirs])
