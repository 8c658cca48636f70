"""An executor whose workers are those of a Ray cluster. Needs Ray, the extra ``[ray]``."""

import socket
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, wait
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from geo_patrol.agents.files import AgentFiles, collect_files, unpack_files
from geo_patrol.agents.isolation.agent import check_agent_name
from geo_patrol.agents.registry import is_user_defined
from geo_patrol.base.errors import GeoPatrolError, optional_import
from geo_patrol.base.versions import __version__
from geo_patrol.evaluation.executors import ONE_THREAD, WorkerError

_T = TypeVar("_T")

_CONNECTION_SECONDS = 10
_REFUSAL_HINT = "if it has a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN here too"
MAX_RETRIES = 10
"""How often a task is started again after its node or its process died."""


class RayExecutor(Executor):
    """Runs functions as tasks of a Ray cluster, each on a CPU, in the environment of its nodes.

    Every node needs the same versions of Python, Ray and this package. A node that is lost costs only what it was
    running: those tasks start again elsewhere. Files of user-defined agents and policies go along; those agents are made
    once in every worker before it plays, so that a missing module is an error rather than lost games.

    Args:
        address: address of the cluster, such as ``192.0.2.7:6379``; "auto" is that of this machine; "local" starts one here that
            ends with the executor. Where ``ray.init`` was called before, its cluster is used.
        agents: the names of the agents that will play.

    Attributes:
        tasks_by_node: number of finished tasks by the node's name.

    Raises:
        MissingPackageError: Ray is not installed.
        WorkerError: there is no cluster at the address.
        GeoPatrolError: the agents' files are too large.
    """

    def __init__(self, address: str = "auto", agents: Sequence[str] = ()) -> None:
        with optional_import("ray"):
            import ray  # noqa: PLC0415 - an extra
        self._ray = ray
        files = collect_files(agents)
        self._connects = not ray.is_initialized()
        if self._connects:
            try:
                _check_address(address)
                ray.init(address=address, log_to_driver=False, logging_level="ERROR")
            except (RuntimeError, ValueError, OSError) as error:
                # Ray has the same error for a wrong token as for a cluster that is gone.
                hint = f"; {_REFUSAL_HINT}" if type(error) is ConnectionError else ""
                raise WorkerError(f"no Ray cluster at {address!r}: {_first_line(error)}{hint}") from error
        self._preparation = (__version__, tuple(agents), files.digest, [ray.put(files)])
        self._call = ray.remote(_call_on_node).options(
            max_retries=MAX_RETRIES, runtime_env={"env_vars": dict.fromkeys(ONE_THREAD, "1")}
        )
        self._pending: set[Future[Any]] = set()
        self.tasks_by_node: Counter[str] = Counter()

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        """Schedule a call. A future that is cancelled interrupts it, even while it runs."""
        reference = self._call.remote(self._preparation, fn, args, kwargs)
        future: Future[_T] = _RayFuture(partial(self._ray.cancel, reference))
        self._pending.add(future)
        reference.future().add_done_callback(partial(self._finish, future))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, or end it if the executor started it."""
        if cancel_futures:
            for future in list(self._pending):
                future.cancel()
        if wait:
            _wait(list(self._pending))
        if self._connects:
            self._ray.shutdown()

    def _finish(self, future: Future[Any], finished: Future[Any]) -> None:
        """Hand over a finished task; called in a thread of Ray's."""
        self._pending.discard(future)
        if not future.set_running_or_notify_cancel():
            return
        error = finished.exception()
        if error is None:
            node, value = finished.result()
            self.tasks_by_node[node] += 1
            future.set_result(value)
        elif isinstance(error, self._ray.exceptions.RayTaskError):
            future.set_exception(error.cause)
        else:
            future.set_exception(WorkerError(f"Ray gave a task up: {_first_line(error)}"))


_wait = wait  # which a parameter of ``shutdown`` hides


class _RayFuture(Future[_T]):
    """A future that cancels its task."""

    def __init__(self, cancel: Callable[[], None]) -> None:
        super().__init__()
        self._cancel_task = cancel

    def cancel(self) -> bool:
        """Cancel the task; return whether it is cancelled."""
        was_done = self.done()
        cancelled = super().cancel()
        if cancelled and not was_done:
            self._cancel_task()
        return cancelled


def _check_address(address: str) -> None:
    """Connect to HOST:PORT once: Ray itself tries for minutes.

    Raises:
        OSError: nothing answers there.
    """
    host, _, port = address.rpartition(":")
    if port.isdecimal() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECTION_SECONDS).close()


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


# On the nodes

_unpacked: dict[str, TemporaryDirectory[str]] = {}
"""Folders with the files of agents, by digest; they are removed with the process."""


def _call_on_node(
    preparation: tuple[str, tuple[str, ...], str, list[Any]], function: Any, args: Any, kwargs: Any
) -> Any:
    """Return the name of this node, and what a function returns."""
    import ray  # noqa: PLC0415 - an extra

    context = ray.get_runtime_context()
    node = f"{ray.util.get_node_ip_address()} {context.get_node_id()[:6]}"
    version, agents, digest, (files,) = preparation
    if digest not in _unpacked:
        try:
            _prepare(version, agents, digest, ray.get(files))
        except GeoPatrolError as error:
            raise WorkerError(f"node {node}: {error}") from None
    return node, function(*args, **kwargs)


def _prepare(version: str, agents: Sequence[str], digest: str, files: AgentFiles) -> None:
    if version != __version__:
        raise WorkerError(f"it has geo_patrol {__version__}, not {version}: install the same version on every node")
    folder = unpack_files(files)
    for name in agents:
        if is_user_defined(name):
            check_agent_name(name)
    _unpacked[digest] = folder
