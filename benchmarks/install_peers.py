"""Installs what is measured beside ours: all at once, or else, where something has no wheel, one after another."""

import subprocess
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def peers() -> list[str]:
    """Return the requirements of the extra "bench"."""
    with PROJECT.open("rb") as file:
        return list(tomllib.load(file)["project"]["optional-dependencies"]["bench"])


def install(*requirements: str) -> bool:
    """Return whether pip could install them."""
    options = ("--quiet", "--disable-pip-version-check", "--prefer-binary")
    return (
        subprocess.run([sys.executable, "-m", "pip", "install", *options, *requirements], check=False).returncode == 0
    )


def main() -> None:
    """Install the peers, and name those that are left out."""
    requirements = peers()
    if install(*requirements):
        return
    missing = [requirement for requirement in requirements if not install(requirement)]
    print(f"left out: {', '.join(missing) or 'none'}")


if __name__ == "__main__":
    main()
