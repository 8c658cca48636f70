"""Where the games of a command are played, with a progress bar: worker processes, or a Ray cluster (``--ray``)."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from geo_patrol.cli.errors import InputError
from geo_patrol.cli.output import progress_bar
from geo_patrol.errors import optional_import

if TYPE_CHECKING:
    from geo_patrol.evaluation.ray_executor import RayExecutor


def check_workers(ray: str | None, processes: int | None) -> None:
    """Check the options ``--ray`` and ``--processes`` before any work is done.

    Raises:
        InputError: an option is invalid.
        MissingPackageError: Ray is not installed.
    """
    from geo_patrol.evaluation.executors import check_processes

    check_processes(processes)
    if ray is None:
        return
    if processes is not None:
        raise InputError(f"--processes {processes}: a Ray cluster has its own number, leave it out")
    with optional_import("ray"):
        import ray as _  # noqa: F401


@contextmanager
def open_workers(
    title: str, ray: str | None, agents: Sequence[str], *, quiet: bool
) -> Iterator[tuple["RayExecutor | None", Callable[[int, int], None]]]:
    """Connect to a Ray cluster if there is an address, and show a progress bar during the block.

    Yields:
        The executor, None for worker processes, and a function of the number of finished games and of all games.
    """
    if ray is None:
        with progress_bar(title, quiet=quiet) as progress:
            yield None, progress
        return
    from geo_patrol.evaluation.ray_executor import RayExecutor

    with RayExecutor(ray, agents) as executor:
        with progress_bar(lambda: f"{title} ({_list_nodes(executor)})", quiet=quiet) as progress:
            yield executor, progress
        if not quiet:
            print(f"geo-patrol: finished tasks by node: {_list_nodes(executor)}", file=sys.stderr)


def _list_nodes(executor: "RayExecutor") -> str:
    return ", ".join(f"{node}: {tasks:,}" for node, tasks in sorted(executor.tasks_by_node.items())) or "starting"
