"""Options shared by several commands."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import typer

from geo_patrol.base.errors import AgentError, GeoPatrolError, optional_import
from geo_patrol.base.files import expand_user
from geo_patrol.cli.output import (
    STDOUT,
    InputError,
    bad_input,
    check_folder,
    check_outputs,
    progress_bar,
    write_results,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from geo_patrol.agents import Agent
    from geo_patrol.config.schema import GameConfig
    from geo_patrol.evaluation.ray_executor import RayExecutor


_Result = TypeVar("_Result")

ANY_AGENT = (
    "random, idle, turtle, raider, mixed, scripted, search, policy or level; with parameters: level:telstar, raider:defenders=5, "
    "search:10ms, solved:FILE; your own: file.py:Name, module:Name, onnx:FILE.onnx, torch:file.py:make, rllib:FOLDER, "
    "published:FILE.pt"
)
"""Help text: the names of agents."""


def user_path(path: str | Path) -> Path:
    """Read the path of an argument or an option: shells leave the ``~`` of ``--out=~/x`` as it is."""
    return Path(named_file(str(path)))


def named_file(path: str) -> str:
    """Read such a path where ``-`` is no name for standard output, and would be taken for one."""
    if path == STDOUT:
        raise typer.BadParameter("must be a path, got '-': standard output is not supported here")
    return user_file(path)


def user_file(path: str) -> str:
    """Read such a path where more than that matters: ``-``, or a slash at the end of a folder."""
    try:
        return expand_user(path)
    except GeoPatrolError as error:
        raise typer.BadParameter(str(error)) from None


ConfigOption: TypeAlias = Annotated[
    str, typer.Option("--config", "-c", metavar="NAME|PATH", help="A preset's name, or a TOML file.")
]
OverridesOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        metavar="KEY=VALUE",
        help="Replace a value in it, or change it by =+20, =-1, =+10%; may be repeated.",
    ),
]
First: TypeAlias = Annotated[str, typer.Argument(metavar="FIRST", help=f"Agent: {ANY_AGENT}.")]
Second: TypeAlias = Annotated[str, typer.Argument(metavar="SECOND", help="Its opponent; may be the same agent.")]
AgentNames: TypeAlias = Annotated[list[str], typer.Argument(metavar="AGENT...", help=f"Agents: {ANY_AGENT}.")]
Seed: TypeAlias = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="Repeats all games exactly; random by default.")
]
Processes: TypeAlias = Annotated[
    int | None,
    typer.Option("--processes", "-p", metavar="N", help="Number of worker processes; one per core by default."),
]
Ray: TypeAlias = Annotated[
    str | None,
    typer.Option("--ray", metavar="ADDRESS", help="Play on a Ray cluster, such as HOST:6379; local: start one here."),
]
MoveTime: TypeAlias = Annotated[
    float,
    typer.Option("--move-time", metavar="SECONDS", help="Time for a decision in one game, for user-defined agents."),
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", parser=user_path, metavar="DIR", help="Folder for games and tables; the same command resumes."
    ),
]
CellsCsv: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--csv",
        parser=user_file,
        metavar="FILE|-",
        help="Write a row per cell, pair of agents and measure as CSV.",
    ),
]
NoBrowser: TypeAlias = Annotated[bool, typer.Option("--no-browser", help="Only print the address of the page.")]
Port: TypeAlias = Annotated[
    int, typer.Option("--port", min=0, max=65_535, metavar="N", help="Port of the page; a free one by default.")
]
Json: TypeAlias = Annotated[
    str | None, typer.Option("--json", parser=user_file, metavar="FILE|-", help="Write the results as JSON.")
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no tables.")]


def load_agent(name: str) -> "Agent":
    """Create the agent of a name.

    Raises:
        InputError: no agent has that name.
    """
    from geo_patrol.agents import make_agent

    with bad_input():
        return make_agent(name)


@dataclass(frozen=True, kw_only=True)
class ConfigOptions:
    """The options that say which scenario is played."""

    config: ConfigOption = "geo_patrol"
    overrides: OverridesOption = None

    @cached_property
    def resolved(self) -> "GameConfig":
        """The configuration.

        Raises:
            InputError: it is wrong.
        """
        from geo_patrol.config.presets import load_config

        with bad_input():
            return load_config(self.config, self.overrides)

    @property
    def source(self) -> str:
        """The configuration as the user named it, and what was replaced in it, such as "case1, bravo.patrols.fuel 60 -> 80"."""
        return ", ".join([self.config, *self._changes()])

    def _changes(self) -> list[str]:
        from geo_patrol.config.presets import list_changes, load_config

        return list_changes(load_config(self.config), self.resolved, self.overrides)

    def read(self) -> "GameConfig":
        """Return the configuration for a command without a heading; print what was replaced in it.

        Raises:
            InputError: it is wrong.
        """
        with bad_input():
            print_changes(self._changes())
        return self.resolved

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as JSON data."""
        return {"source": self.config, "overrides": self.overrides or [], "values": self.resolved.to_dict()}


def print_changes(changes: Sequence[str]) -> None:
    """Print what was replaced in a configuration or a mission, such as "bravo.patrols.fuel 60 -> 80"."""
    if changes:
        print(f"geo-patrol: {', '.join(changes)}", file=sys.stderr)


def check_workers(ray: str | None, processes: int | None) -> None:
    """Check the options ``--ray`` and ``--processes`` before any work is done.

    Raises:
        InputError: an option is invalid.
        MissingPackageError: Ray is not installed.
    """
    from geo_patrol.evaluation.executors import check_processes

    with bad_input():
        check_processes(processes)
    if ray is None:
        return
    if processes is not None:
        raise InputError(f"--processes {processes}: a Ray cluster has its own number, leave it out")
    with optional_import("ray"):
        import ray as _  # noqa: F401


def check_agents(agents: Sequence[str], move_time: float) -> None:
    """Check names of agents and their time for a decision before any work is done.

    User-defined agents are not made: that is done once, before they play.

    Raises:
        InputError: there is no such built-in agent, or the time is wrong.
    """
    from geo_patrol.agents.isolation.agent import check_move_time
    from geo_patrol.agents.registry import is_user_defined, make_agent

    with bad_input():
        check_move_time(move_time)
        for name in agents:
            if not is_user_defined(name):
                make_agent(name)


@contextmanager
def bad_agents() -> Iterator[None]:
    """Convert an AgentError to an InputError where games are played: agents that fail then lose them, so it cannot be made."""
    try:
        yield
    except AgentError as error:
        raise InputError(str(error)) from error


@contextmanager
def open_workers(
    title: str, ray: str | None, agents: Sequence[str], *, quiet: bool
) -> Iterator[tuple["RayExecutor | None", Callable[[int, int], None]]]:
    """Connect to a Ray cluster if there is an address, and show a progress bar during the block.

    Yields:
        The executor, None for worker processes, and a function of the number of finished games and of all games.

    Raises:
        InputError: a user-defined agent cannot be made.
    """
    if ray is None:
        with bad_agents(), progress_bar(title, quiet=quiet) as progress:
            yield None, progress
        return
    from geo_patrol.evaluation.ray_executor import RayExecutor

    with bad_agents(), RayExecutor(ray, agents) as executor:
        with progress_bar(lambda: f"{title} ({_list_nodes(executor)})", quiet=quiet) as progress:
            yield executor, progress
        if not quiet:
            print(f"geo-patrol: finished tasks by node: {_list_nodes(executor)}", file=sys.stderr)


def _list_nodes(executor: "RayExecutor") -> str:
    return ", ".join(f"{node}: {tasks:,}" for node, tasks in sorted(executor.tasks_by_node.items())) or "starting"


def check_match(games: int, seed: int | None) -> None:
    """Check the number of games of a match and its seed before any work is done.

    Raises:
        InputError: one is wrong.
    """
    from geo_patrol.base.arguments import check_seed
    from geo_patrol.evaluation.match import check_games

    with bad_input():
        check_games(games)
        if seed is not None:
            check_seed(seed)


@dataclass(frozen=True, kw_only=True)
class Playing:
    """The options of a command that plays many games: where they are played, and what becomes of the results."""

    processes: Processes = None
    ray: Ray = None
    move_time: MoveTime = 0.1
    json: Json = None
    quiet: Quiet = False

    def check(
        self,
        agents: Sequence[str],
        *,
        folder: Path | None = None,
        used: Sequence[Path | None] = (),
        **tables: str | None,
    ) -> None:
        """Check the options before any game is played.

        Args:
            agents: the agents' names.
            folder: where games and tables are stored.
            used: files that the command writes by other means.
            tables: the files of more options, by their names.

        Raises:
            InputError: an option is invalid, or a file cannot be written.
        """
        check_outputs({"--json": self.json, **{f"--{name}": target for name, target in tables.items()}}, used)
        check_folder(folder)
        check_workers(self.ray, self.processes)
        check_agents(agents, self.move_time)

    def run(
        self,
        title: str,
        agents: Sequence[str],
        play: Callable[..., _Result],
        *,
        config: "GameConfig | None" = None,
        folder: Path | None = None,
    ) -> _Result:
        """Play games, with a progress bar.

        Args:
            title: the title of the progress bar.
            agents: the agents' names.
            play: returns the result; takes the keyword arguments of ``evaluation.executors.WorkerOptions``.
            config: what the agents play, to compile what they need before the progress bar is drawn.
            folder: where finished games are stored.
        """
        if config is not None:
            from geo_patrol.evaluation.campaign import warm_up

            warm_up(agents, config)
        try:
            with open_workers(title, self.ray, agents, quiet=self.quiet) as (executor, progress):
                workers = {"processes": self.processes, "executor": executor}
                return play(move_time=self.move_time, progress=progress, **workers)
        except KeyboardInterrupt:
            if folder is not None:
                print(f"geo-patrol: finished games are kept in {folder}: the same command goes on", file=sys.stderr)
            raise

    def write(self, to_dict: Callable[[], Mapping[str, Any]], print_tables: Callable[[], None], **outputs: Any) -> None:
        """Write results, and print them unless the user does not want that, see ``output.write_results``."""
        write_results(to_dict, print_tables, json=self.json, quiet=self.quiet, **outputs)


_PLOT_SUFFIXES = (".png", ".svg", ".pdf")


def write_plots(path: Path, make_figure: "Callable[[Any], Figure]", result: Any) -> None:
    """Plot a result into files that end in .png, .svg and .pdf, or print why that cannot be done."""
    from geo_patrol.evaluation.figures import save_figure

    try:
        figure = make_figure(result)
    except GeoPatrolError as error:
        print(f"geo-patrol: no {path.name}.png: {error}", file=sys.stderr)
        return
    save_figure(path, figure, _PLOT_SUFFIXES)
