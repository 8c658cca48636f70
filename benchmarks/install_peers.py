"""Install the other libraries: all at once or, if one of them has no wheel for this machine, one by one."""

import subprocess
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def peers() -> list[str]:
    """Return the requirements of the extra ``bench``."""
    with PROJECT.open("rb") as file:
        return list(tomllib.load(file)["project"]["optional-dependencies"]["bench"])


def install(*requirements: str) -> bool:
    """Install requirements with pip, and return whether that succeeded."""
    options = ("--quiet", "--disable-pip-version-check", "--prefer-binary")
    return (
        subprocess.run([sys.executable, "-m", "pip", "install", *options, *requirements], check=False).returncode == 0
    )


def main() -> None:
    """Install the other libraries, and print those that could not be installed."""
    requirements = peers()
    if install(*requirements):
        return
    missing = [requirement for requirement in requirements if not install(requirement)]
    print(f"not installed: {', '.join(missing) or 'none'}")


if __name__ == "__main__":
    main()
