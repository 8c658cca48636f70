"""The folder of compiled code, damaged, full or forbidden."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from geo_patrol.base import compile_cache

MODULE = """
import sys

from numba.core import event
from geo_patrol.base.jit import jit

compiled = []

class Compiled(event.Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event): ...

event.register("numba:compile", Compiled())

@jit
def double(number):
    return 2 * number

def main():
    print(double(21), double(0.5), len(compiled))
"""
COMPILED, LOADED = "42 1.0 2\n", "42 1.0 0\n"


@pytest.fixture
def run(tmp_path):
    """Run a compiled function for two types in a process of its own; return its output and error messages."""
    (tmp_path / "doubling.py").write_text(MODULE, encoding="utf-8")

    def start(before="", first=""):
        paths = os.pathsep.join([str(tmp_path), *sys.path])
        environment = os.environ | {"PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        environment.pop("COVERAGE_PROCESS_CONFIG", None)  # its files would be counted, and refused on a full disk
        command = [sys.executable, "-c", f"{first}\nimport doubling\n{before}\ndoubling.main()"]
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        return result.stdout, result.stderr.splitlines()

    return start


def empty(content):
    return content[:0]


def cut_off(content):
    return content[: len(content) // 2]


def change_last_bit(content):
    return content[:-1] + bytes([content[-1] ^ 1])


@pytest.mark.slow
def test_damaged_files_are_recompiled_and_replaced(run, tmp_path):
    assert run()[0] == COMPILED
    for suffix, damage in ((".nbc", change_last_bit), (".nbi", cut_off)):
        assert run() == (LOADED, [])
        for path in (tmp_path / "cache").rglob(f"*{suffix}"):
            path.write_bytes(damage(path.read_bytes()))
        output, (error,) = run()
        assert output == COMPILED
        assert error.endswith("is damaged: compiling it again")


def make_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("damage", "reported"),
    [
        (empty, "is damaged"),
        (cut_off, "is damaged"),
        (change_last_bit, "is damaged"),
        (None, "cannot be read (Is a directory)"),
    ],
)
@pytest.mark.parametrize("suffix", [".nbc", ".nbi"])
def test_what_cannot_be_read_is_reported_once_and_missing(damage, reported, suffix, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(compile_cache, "_reported", set())
    cache = compile_cache._CheckedFile(str(tmp_path), "function", "stamp")
    cache.save("key", "code" * 50)
    assert (cache.load("key"), cache.load("other")) == ("code" * 50, None)
    (path,) = tmp_path.glob(f"*{suffix}")
    make_folder(path) if damage is None else path.write_bytes(damage(path.read_bytes()))
    assert cache.load("key") is cache.load("key") is None
    (error,) = capsys.readouterr().err.splitlines()
    assert error.startswith("geo_patrol: compiled code in ")
    assert f"{reported}: compiling it again" in error


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits of resources are POSIX")
def test_a_full_disk_lets_the_program_run_uncached(run):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))"
    output, errors = run(limit)
    assert output == COMPILED
    (error,) = errors
    assert "cannot be stored" in error
    assert error.endswith("(File too large): the next run compiles again")


READ_ONLY = """
import os

access = os.access
os.access = lambda path, mode: access(path, mode) and not mode & os.W_OK
"""


@pytest.mark.slow
def test_code_in_a_folder_that_cannot_be_written_is_used(run, tmp_path):
    assert run(first=READ_ONLY)[0] == COMPILED
    assert run()[0] == COMPILED
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}
    assert run(first=READ_ONLY) == (LOADED, [])
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")} == before


@pytest.mark.slow
def test_what_a_read_only_folder_does_not_hold_is_stored_elsewhere(run, tmp_path):
    run()
    (folder,) = (tmp_path / "cache").iterdir()
    for path in folder.rglob("*.1.nbc"):
        path.unlink()
    left = sorted(folder.rglob("*.nb?"))
    own = tmp_path / "own"
    several = f"""
from pathlib import Path
from geo_patrol.base import compile_cache

compile_cache.CACHE_FOLDER = Path({str(own)!r})
compile_cache.CACHE_FOLDERS = compile_cache.CACHE_FOLDER, Path({str(folder)!r})
"""
    assert run(first=several)[0] == COMPILED.replace("2\n", "1\n")
    assert run(first=several) == (LOADED, [])
    assert sorted(folder.rglob("*.nb?")) == left
    assert len(list(own.rglob("*.nbc"))) == 1


def test_the_first_folder_that_can_be_written_stores_and_the_others_are_read(tmp_path, monkeypatch):
    bases = [tmp_path / name for name in ("package", "user")]
    access = os.access
    monkeypatch.setattr(compile_cache, "_cache_bases", lambda: bases)
    monkeypatch.setattr(
        os, "access", lambda path, mode: access(path, mode) and not (mode & os.W_OK and path.parent == bases[0])
    )
    writable, folders = compile_cache._find_cache_folders()
    assert [folder.parent for folder in folders] == [bases[1], bases[0]]
    assert writable == folders[0]
    monkeypatch.setattr(os, "access", lambda path, mode: access(path, mode) and not mode & os.W_OK)
    assert compile_cache._find_cache_folders() == (None, (folders[1], folders[0]))


def test_a_folder_that_another_process_has_just_made_is_used(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    found, _ = compile_cache._find_cache_folders()
    assert found is not None
    is_dir = Path.is_dir
    asked = []

    def not_yet(path, **options):
        """Answer as if the folder had been made after the question."""
        if path == found and not asked:
            asked.append(path)
            return False
        return is_dir(path, **options)

    monkeypatch.setattr(Path, "is_dir", not_yet)
    assert compile_cache._find_cache_folders() == (found, (found,))
    assert asked


def test_old_folders_are_removed_and_those_of_others_are_left_alone(tmp_path):
    ours = [tmp_path / f"geo_patrol-kernels-{number}" for number in range(9)]
    theirs = tmp_path / "kernels-of-somebody-else"
    for age, folder in enumerate([*ours, theirs]):
        folder.mkdir()
        os.utime(folder, (1_000_000 - age, 1_000_000 - age))
    compile_cache.remove_old_kernels(tmp_path, keep=ours[-1].name)
    assert sorted(tmp_path.iterdir()) == sorted([*ours[:5], ours[-1], theirs])


def test_the_name_of_the_folder_depends_on_every_compiled_module():
    sources = Path(compile_cache.__file__).parents[1]
    compiled = {path for path in sources.rglob("*.py") if "@jit" in path.read_text(encoding="utf-8")}
    constants = {sources / "flight" / "mission.py"}  # whose values are compiled into the rules
    assert (compiled | constants) - set(compile_cache._COMPILED) == set()
