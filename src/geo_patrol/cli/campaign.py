"""What the commands that play many matches have in common: their options, a progress bar and output files."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geo_patrol.cli.errors import bad_input, leave_at_once
from geo_patrol.cli.output import STDOUT, check_output, write_json
from geo_patrol.cli.workers import check_workers, open_workers
from geo_patrol.errors import GeoPatrolError
from geo_patrol.files import atomic_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from geo_patrol.config.schema import GameConfig

_PLOT_SUFFIXES = (".png", ".svg", ".pdf")


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """The options of a command that plays matches."""

    agents: Sequence[str]
    config: str
    overrides: list[str] | None
    games: int
    seed: int | None
    move_time: float
    processes: int | None = None
    ray: str | None = None
    out: Path | None = None
    json: str | None = None
    quiet: bool = False

    @property
    def source(self) -> str:
        """The configuration as the user named it, with the values that were replaced."""
        return ", ".join([self.config, *(self.overrides or [])])

    @cached_property
    def resolved(self) -> "GameConfig":
        """The configuration, after a check of everything that can be checked before anything is compiled or played.

        Raises:
            InputError: an option is invalid, or the JSON file cannot be written.
        """
        from geo_patrol.config.presets import load_config
        from geo_patrol.evaluation.campaign import check_agents
        from geo_patrol.evaluation.match import check_games
        from geo_patrol.games import check_seed

        with bad_input():
            check_games(self.games)
            check_output(self.json)
            resolved = load_config(self.config, self.overrides)
            if self.seed is not None:
                check_seed(self.seed)
            check_workers(self.ray, self.processes)
            check_agents(self.agents, self.move_time)
        return resolved

    def run(
        self,
        name: str,
        title: str,
        play: Callable[..., Any],
        print_tables: Callable[[Any, str], None],
        write_files: Callable[[Path, Any, dict[str, Any]], None] | None = None,
    ) -> Any:
        """Play with a progress bar, output the result, and return it.

        Args:
            name: the command.
            title: the title of the progress bar.
            play: returns the result; takes the keyword arguments of ``evaluation.campaign.WorkerOptions``.
            print_tables: prints the result; takes it and the source of the configuration.
            write_files: writes files beside the JSON file in ``out``; takes the folder, the result and the JSON data.
        """
        from geo_patrol.evaluation.campaign import warm_up

        config = self.resolved
        with leave_at_once():
            warm_up(self.agents, config)
        try:
            with open_workers(title, self.ray, self.agents, quiet=self.quiet) as (executor, progress):
                workers = {"processes": self.processes, "executor": executor}
                result = play(move_time=self.move_time, progress=progress, **workers)
        except KeyboardInterrupt:
            if self.out is not None:
                print(f"geo-patrol: finished games are kept in {self.out}: the same command goes on", file=sys.stderr)
            raise
        data = {"format": f"geo_patrol {name}", "version": 1, "config": self.config_data(), **result.to_dict()}
        if self.out is not None and write_files is not None:
            write_json(str(self.out / f"{name}.json"), data)
            write_files(self.out, result, data)
        write_json(self.json, data)
        if not self.quiet and self.json != STDOUT:
            print_tables(result, self.source)
        return result

    def config_data(self) -> dict[str, Any]:
        """Return the configuration as JSON data."""
        return {"source": self.config, "overrides": self.overrides or [], "values": self.resolved.to_dict()}


def write_plots(path: Path, make_figure: "Callable[[Any], Figure]", result: Any) -> None:
    """Plot a result into files that end in .png, .svg and .pdf, or print why that cannot be done."""
    try:
        figure = make_figure(result)
    except GeoPatrolError as error:
        print(f"geo-patrol: no {path.name}.png: {error}", file=sys.stderr)
        return
    for suffix in _PLOT_SUFFIXES:
        with atomic_path(path.with_name(path.name + suffix)) as temporary:
            figure.savefig(temporary)
