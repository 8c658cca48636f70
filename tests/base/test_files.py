"""Writing of files, and paths as people write them."""

import errno
import os
from pathlib import Path

import pytest

from geo_patrol import GeoPatrolError
from geo_patrol.base.files import atomic_path, atomic_write, expand_user, sweep_temporary_files


@pytest.mark.parametrize("name", ["n" * 250 + ".json", "é" * 125 + ".gz", "n." + "s" * 253])
def test_a_name_may_be_as_long_as_the_file_system_allows(name, tmp_path):
    for text in ("first", "second"):
        with atomic_write(tmp_path / name) as file:
            file.write(text)
        assert [path.name for path in tmp_path.iterdir()] == [name]
        assert (tmp_path / name).read_text() == text


def test_the_temporary_file_has_the_suffix_of_the_target(tmp_path):
    with atomic_path(tmp_path / "games.jsonl.gz") as temporary:
        assert temporary.suffix == ".gz"
        assert temporary.parent == tmp_path


@pytest.mark.parametrize("before", ["old", None])
def test_a_file_whose_name_the_disk_does_not_store_is_what_it_was(before, tmp_path, monkeypatch):
    path = tmp_path / "table.json"
    if before is not None:
        path.write_text(before)
    synced, fsync = [], os.fsync

    def fail_at_the_folder(descriptor):
        synced.append(descriptor)
        if len(synced) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fail_at_the_folder)
    with pytest.raises(OSError, match="No space left"), atomic_write(path) as file:
        file.write("new")
    assert [each.name for each in tmp_path.iterdir()] == ([] if before is None else ["table.json"])
    assert before is None or path.read_text() == before


def test_temporary_files_of_killed_processes_are_swept(tmp_path):
    kept = {tmp_path / name for name in ("a.json", ".lock", ".abc.json", "0123456789abcdef.json")}
    for folder in (tmp_path, tmp_path / "classes"):
        folder.mkdir(exist_ok=True)
        with atomic_path(folder / "games.jsonl.gz") as temporary:
            pass
        left = folder / temporary.name
        left.touch()
        os.utime(left, (0, 0))
    for path in kept:
        path.touch()
        os.utime(path, (0, 0))
    with atomic_path(tmp_path / "now.json") as temporary:
        sweep_temporary_files(tmp_path)
        assert temporary.exists()
    written = {tmp_path / "now.json", tmp_path / "games.jsonl.gz", tmp_path / "classes" / "games.jsonl.gz"}
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == kept | written


def test_home_directories_are_expanded(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert expand_user("~/games") == f"{tmp_path}/games"
    assert expand_user(Path("~")) == str(tmp_path)
    for path in ("./~/games", "games/~", "-", "games/"):
        assert expand_user(path) == path


def test_a_home_directory_that_is_not_known_is_named(monkeypatch):
    with pytest.raises(GeoPatrolError, match="~nobody-of-that-name/x: there is no user 'nobody-of-that-name'"):
        expand_user("~nobody-of-that-name/x")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    with pytest.raises(GeoPatrolError, match="~/x: no home directory is known, set HOME"):
        expand_user("~/x")
