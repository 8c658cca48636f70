"""Check that a version is ready to be released, and build it: ``make release-check TAG=v0.1.0``.

The distributions are left in ``dist/``. Every fault is listed; the exit status is 1 if there is one.
"""

import argparse
import datetime as dt
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from geo_patrol.base.versions import __version__

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
IN_WHEEL = (
    "geo_patrol/py.typed",
    "geo_patrol/configs/geo_patrol.toml",
    "geo_patrol/configs/flight/sample.toml",
    "geo_patrol/configs/lessons/geo_patrol.toml",
    "geo_patrol/agents/data/base.safetensors",
    "geo_patrol/web/static/table.html",
)
IN_SOURCES = (
    "pyproject.toml",
    "hatch_build.py",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    "conda/recipe.yaml",
    "tests/conftest.py",
    "docs/conf.py",
    "Makefile",
)
NOT_DISTRIBUTED = re.compile(r"__pycache__|\.pyc$|\.nb[ci]$|\.venv|\.env$|/runs/|/generated/")


def check_version(tag: str) -> list[str]:
    """Return what is wrong with the version in the tag, the changelog, the citation and the recipe."""
    faults = []
    if tag != f"v{__version__}":
        faults.append(f"the tag is {tag}, the package's version {__version__} (src/geo_patrol/base/versions.py)")
    if not re.fullmatch(r"\d+\.\d+\.\d+", __version__):
        faults.append(f"{__version__} is not a version to release: it needs three numbers, such as 0.1.0")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.search(r"^## (\S+) \((.*)\)$", changes, re.MULTILINE)
    if heading is None or heading[1] != __version__ or not _is_date(heading[2]):
        faults.append(f"CHANGELOG.md has to begin with a section '## {__version__} (year-month-day)'")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    if f"\nversion: {__version__}\n" not in citation:
        faults.append(f"CITATION.cff has to say 'version: {__version__}'")
    if f'\n  version: "{__version__}"\n' not in (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"):
        faults.append(f"conda/recipe.yaml has to say 'version: \"{__version__}\"'")
    return faults


def _is_date(text: str) -> bool:
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def check_tree() -> list[str]:
    """Return what is wrong with the working tree."""
    changes = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [f"uncommitted changes:\n{changes.rstrip()}"] if changes else []


def build() -> list[str]:
    """Build both distributions anew, and return what is wrong with their metadata and contents."""
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--outdir", DIST, ROOT], check=True)
    (wheel,), (sources,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    checked = subprocess.run([sys.executable, "-m", "twine", "check", "--strict", wheel, sources], check=False)
    faults = ["twine found faults in the metadata"] if checked.returncode else []
    with zipfile.ZipFile(wheel) as archive:
        faults += _check_names(wheel.name, archive.namelist(), IN_WHEEL)
        (metadata,) = (archive.read(name) for name in archive.namelist() if name.endswith("/METADATA"))
    if b"\nProject-URL: Source, " not in metadata:
        faults.append("the metadata have no addresses: set GITHUB_REPOSITORY=owner/name, as GitHub's workflows do")
    with tarfile.open(sources) as archive:
        names = [member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()]
        faults += _check_names(sources.name, names, IN_SOURCES)
    return faults


def _check_names(distribution: str, names: list[str], needed: tuple[str, ...]) -> list[str]:
    missing = [f"{distribution} lacks {name}" for name in needed if name not in names]
    return missing + [f"{distribution} has {name}" for name in names if NOT_DISTRIBUTED.search(name)]


def main() -> None:
    """Check everything, and list the faults."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tag", help="the tag of the release, such as v0.1.0")
    faults = [*check_version(parser.parse_args().tag), *check_tree(), *build()]
    for fault in faults:
        print(f"- {fault}")
    raise SystemExit(1 if faults else 0)


if __name__ == "__main__":
    main()
