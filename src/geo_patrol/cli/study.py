"""``geo-patrol study``: questions about scenarios, from files or from options."""

import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from geo_patrol.cli import options, output
from geo_patrol.cli.output import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.table import Table

    from geo_patrol.studies import study as studies
    from geo_patrol.studies.plan import StudyFile, StudyPlan
    from geo_patrol.studies.study import Study

study = output.Commands(
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Answer questions about scenarios: from a study file, or by one of the commands for a single question.",
)

_Searched: TypeAlias = Annotated[
    str, typer.Option("--vary", "-v", metavar="KEY=VALUES", help="What is searched, such as bravo.patrols.count=1..8.")
]
_Pairs: TypeAlias = Annotated[
    list[str],
    typer.Option(
        "--agents", "-a", metavar="AGENT|'ALPHA BRAVO'", help="An agent on both sides, or a pair; may be repeated."
    ),
]
_Measure: TypeAlias = Annotated[
    str,
    typer.Option(
        "--measure",
        metavar="NAME",
        help="alpha wins, bravo wins, draws, alpha score, bravo score, margin or turns.",
    ),
]
_RateMeasure: TypeAlias = Annotated[
    Literal["alpha wins", "bravo wins", "draws"],
    typer.Option("--measure", help="Of which share of games the rate is."),
]
_All: TypeAlias = Annotated[
    bool, typer.Option("--all", help="Print every cell, also of a ranking or where there are many.")
]
_Seed: TypeAlias = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of all games.")]
_SCRIPTED = ["scripted"]
_MAX_ROWS = 200
_MAX_KEY_WIDTH = 12
_MAX_SETTINGS = 20
_PAIR_HEADING = "alpha / bravo"
_CELL_GAMES = 2_000
"""Games of the scenario as it stands that a question for itself plays beside its answer, unless it may play fewer."""


@dataclass(frozen=True, kw_only=True)
class StudyPlaying(options.Playing):
    """The options of a command that plays a study."""

    out: options.Out = None
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only say how many games would be played, and about how long that takes."),
    ] = False

    def play(
        self, plan: "StudyPlan", *, prints_all: bool = False, csv: str | None = None, parquet: str | None = None
    ) -> None:
        """Play a study, write and print its results; or say of a dry run what it would take."""
        from geo_patrol.studies.study import play_study

        agents = list(dict.fromkeys(name for pair in plan.file.agents for name in pair))
        self.check(agents, folder=self.out, csv=csv, parquet=parquet)
        if self.dry_run:
            with options.bad_agents():
                _print_estimate(plan, self.processes, self.move_time)
            return
        result = self.run("study", agents, partial(play_study, plan, folder=self.out), folder=self.out)
        if self.out is not None:
            _write_files(self.out, result)

        def print_result() -> None:
            print_study(result, prints_all=prints_all)
            if self.out is not None:
                print(f"\nTables are in {self.out}; the page about it: geo-patrol study report {self.out}")

        self.write(lambda: _json_data(result), print_result, csv=csv, parquet=parquet, table=result.columns)


@study.command("run", short_help="Play a study file and answer its questions.")
def run_study(
    *,
    file: Annotated[
        Path,
        typer.Argument(
            parser=options.user_path,
            metavar="FILE.toml",
            help="The study file, or a study of the package: case2_defenders.",
        ),
    ],
    playing: StudyPlaying,
    prints_all: _All = False,
) -> None:
    """Play a study file and answer its questions.

    --out DIR stores games and tables (CSV, JSON; Parquet with the extra study). The same command resumes a study that was
    interrupted, and plays only what is new if the file has got further questions or values.
    """
    from geo_patrol.studies.study import load_plan

    playing.play(load_plan(file), prints_all=prints_all)


@study.command(short_help="Find the largest or smallest value for which a rate is reached.")
def threshold(
    *,
    vary: _Searched,
    rate: Annotated[
        float, typer.Option("--rate", metavar="P", help="The rate to be reached, a share such as 0.8 for 80%.")
    ],
    measure: _RateMeasure = "alpha wins",
    find: Annotated[Literal["largest", "smallest"], typer.Option("--find", help="Which value.")] = "largest",
    agents: _Pairs = _SCRIPTED,
    scenario: options.ConfigOptions,
    games: Annotated[int, typer.Option("--games", "-n", metavar="N", help="At most, for every pair.")] = 20_000,
    seed: _Seed = 1,
    playing: StudyPlaying,
) -> None:
    """Find the largest or smallest value of a factor for which a rate is reached, with an interval.

    A sequential search plays most games near the value.
    """
    if not 0 < rate < 1:
        raise InputError(f"--rate: a share from 0 to 1, such as 0.8 for 80%, got {rate:g}")
    question = {
        "kind": "threshold",
        "factor": _factor(vary),
        "rate": rate,
        "measure": measure,
        "find": find,
        "games": games,
    }
    playing.play(_plan_question(question, agents, scenario, seed))


@study.command(short_help="Find the value for which both sides win half.")
def fair(
    *,
    vary: _Searched,
    agents: _Pairs = _SCRIPTED,
    scenario: options.ConfigOptions,
    games: Annotated[int, typer.Option("--games", "-n", metavar="N", help="At most, for every pair.")] = 20_000,
    check: Annotated[int, typer.Option("--check", metavar="N", help="New games that check the answer.")] = 10_000,
    seed: _Seed = 1,
    playing: StudyPlaying,
) -> None:
    """Make a scenario fair: find the value of a factor for which both sides win half, a draw counting half."""
    question = {"kind": "fair", "factor": _factor(vary), "games": games, "check": check}
    playing.play(_plan_question(question, agents, scenario, seed))


@study.command(short_help="Measure what a satellite, fuel or ammunition is worth.")
def worth(
    *,
    change: Annotated[
        list[str],
        typer.Option("--change", metavar="KEY=VALUE", help="Such as bravo.patrols.ammo=+1; may be repeated."),
    ],
    measure: _Measure = "alpha wins",
    agents: _Pairs = _SCRIPTED,
    scenario: options.ConfigOptions,
    games: Annotated[int, typer.Option("--games", "-n", metavar="N", help="With and without a change.")] = 2_000,
    seed: _Seed = 1,
    playing: StudyPlaying,
) -> None:
    """Measure what changes are worth, each for itself: differences between games with the same seeds."""
    question = {"kind": "worth", "of": change, "measure": measure, "games": games}
    playing.play(_plan_question(question, agents, scenario, seed))


@study.command(short_help="Rank factors by how much they matter.")
def ranking(
    *,
    vary: Annotated[
        list[str],
        typer.Option("--vary", "-v", metavar="KEY=LOW..HIGH", help="A range, or values 1,2,4; at least two factors."),
    ],
    method: Annotated[
        Literal["morris", "sobol"], typer.Option("--method", help="Morris' elementary effects, or Sobol' indices.")
    ] = "morris",
    samples: Annotated[
        int | None, typer.Option("--samples", metavar="N", help="Trajectories (20), or base points, a power of 2 (64).")
    ] = None,
    measure: _Measure = "alpha wins",
    agents: _Pairs = _SCRIPTED,
    scenario: options.ConfigOptions,
    games: Annotated[int, typer.Option("--games", "-n", metavar="N", help="Games per point of the design.")] = 200,
    seed: _Seed = 1,
    playing: StudyPlaying,
    prints_all: _All = False,
) -> None:
    """Rank factors by how much they matter, by Morris trajectories or Sobol' indices (the extra study)."""
    from geo_patrol.studies.factors import parse_factors

    factors = parse_factors(vary, "kept")
    if len(factors) < 2:
        raise InputError(f"--vary must be given for at least two factors, got {', '.join(factors)}")
    design = {
        "design": "morris" if method == "morris" else "saltelli",
        "samples": samples or (20 if method == "morris" else 64),
        "factors": factors,
        "games": games,
    }
    question = {"kind": "ranking", "measure": measure}
    playing.play(_plan_question(question, agents, scenario, seed, design), prints_all=prints_all)


def _factor(vary: str) -> dict[str, Any]:
    from geo_patrol.studies.factors import parse_factors

    return parse_factors([vary], "searched")


def _plan_question(
    question: dict[str, Any],
    agents: list[str],
    scenario: options.ConfigOptions,
    seed: int,
    design: "dict[str, Any] | None" = None,
) -> "StudyPlan":
    """Return the study of a single question, which is its title."""
    from geo_patrol.config.toml_files import parse_overrides
    from geo_patrol.studies.study import load_plan

    games = max(min(question.get("games", _CELL_GAMES), _CELL_GAMES), 2)
    data = {
        "title": question["kind"],
        "games": games + games % 2,
        "config": scenario.config,
        "set": dict(parse_overrides(scenario.overrides)),
        "agents": [pair.split() if " " in pair.strip() else pair.strip() for pair in agents],
        "seed": seed,
        "question": [question],
        **(design or {}),
    }
    asked = _parse_options(data).question[0].heading
    return load_plan(_parse_options({**data, "title": f"{asked} ({Path(scenario.config).stem})"}))


_OPTIONS = {"question.0.factor": "vary", "factors": "vary", "question.0.of": "change", "question.0.": ""}
"""Keys of a study file that options with other names stand for."""


def _parse_options(data: "dict[str, Any]") -> "StudyFile":
    """Return the study of a single question; faults are those of options.

    Raises:
        InputError: an option is invalid.
    """
    from geo_patrol.config.schema import FaultsError
    from geo_patrol.studies.study_file import parse_study

    try:
        return parse_study(data, "options")
    except FaultsError as error:
        faults = []
        for fault in error.faults:
            key, name = next(((key, name) for key, name in _OPTIONS.items() if fault.key.startswith(key)), ("", ""))
            faults.append(f"--{name}{str(fault).removeprefix(key)}")
        raise InputError("\n".join(faults)) from None


def _json_data(result: "Study") -> dict[str, Any]:
    return {"format": "geo_patrol study results", "version": 1, **result.to_dict()}


def _write_files(out: Path, result: "Study") -> None:
    """Write all tables as CSV, and as Parquet where pyarrow is installed, and everything as JSON."""
    from importlib.util import find_spec

    output.write_json(str(out / "results.json"), _json_data(result))
    tables: tuple[studies.TableName, ...] = ("results", "curves", "answers", "levels")
    for table in tables:
        columns = result.columns(table)
        if columns:
            output.write_csv(str(out / f"{table}.csv"), columns)
            if find_spec("pyarrow") is not None:
                output.write_parquet(str(out / f"{table}.parquet"), columns)


def _print_estimate(plan: "StudyPlan", processes: int | None, move_time: float) -> None:
    from geo_patrol.studies.study import estimate_study

    estimate = estimate_study(plan, processes, move_time)
    print(f"{plan.file.title}")
    print(
        f"cells: {estimate.cells:,}; pairs of agents: {len(plan.file.agents):,}; games of the cells: {estimate.games:,}"
    )
    if plan.file.question:
        print(f"with the questions: about {estimate.expected:,} games, {estimate.most:,} at most")
    print(f"time: about {_duration(estimate.seconds)} in {estimate.processes} processes of this machine")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5_400 else f"{seconds / 3_600:.1f} hours"


@study.command(short_help="Compare two studies, cell by cell.")
def compare(
    first: Annotated[Path, typer.Argument(parser=options.user_path, metavar="DIR", help="Folder of a study.")],
    second: Annotated[Path, typer.Argument(parser=options.user_path, metavar="DIR", help="Folder of another one.")],
    measure: Annotated[
        list[str] | None, typer.Option("--measure", metavar="NAME", help="Such as alpha wins; may be repeated.")
    ] = None,
    json: options.Json = None,
    csv: options.CellsCsv = None,
) -> None:
    """Print the differences between two studies, the second less the first, with 95% intervals, and in what they differ.

    Both vary the same factors; cells are aligned by scenario, values of factors and agents. Where the seeds are the same, the
    differences are paired game by game.
    """
    from geo_patrol.studies import compare_studies, read_study
    from geo_patrol.studies.answers import MEASURES

    output.check_outputs({"--csv": csv, "--json": json})
    chosen = tuple(dict.fromkeys(measure or ("alpha wins", "margin", "turns")))
    for name in chosen:
        if name not in MEASURES:
            raise InputError(f"--measure {name!r}: there are {', '.join(MEASURES)}")
    both = read_study(first), read_study(second)
    rows = compare_studies(*both, chosen)
    data = {"format": "geo_patrol comparison", "version": 1, "differences": rows}
    output.write_results(lambda: data, lambda: _print_differences(both, rows), json=json, csv=csv, table=lambda: rows)


def _print_differences(both: "tuple[Study, Study]", rows: list[dict[str, Any]]) -> None:
    from rich.text import Text

    from geo_patrol.config.toml_files import value_text
    from geo_patrol.studies import compare_settings
    from geo_patrol.studies.answers import difference_text, is_rate
    from geo_patrol.studies.factors import in_words

    titles = " less ".join(f"{each.plan.file.title} ({each.digest})" for each in reversed(both))
    console = output.print_heading(titles, f"differences with 95% intervals, {_pairing(both, rows)}")
    settings = compare_settings(*both)
    for line in settings[:_MAX_SETTINGS]:
        console.print(Text(line), soft_wrap=True)
    if len(settings) > _MAX_SETTINGS:
        console.print(f"and {len(settings) - _MAX_SETTINGS:,} more differences of the scenarios")
    if settings:
        console.print()
    factors = list(both[0].plan.file.factors)
    scenarios = len({row["scenario"] for row in rows}) > 1
    headings = [*(["scenario"] if scenarios else []), *map(in_words, factors), _PAIR_HEADING, "measure"]
    table = output.plain_table(*headings, numbers=("games", "first", "second"))
    table.add_column("difference", justify="right", overflow="fold")
    for row in rows[:_MAX_ROWS]:
        games, measure = (row["first_games"], row["second_games"]), row["measure"]
        shown = [difference_text(measure, row[name]) for name in ("difference", "low", "high")]
        interval = f"{shown[1]} to {shown[2]}" if math.isfinite(row["low"]) else "not known from one game"
        unit = " points" if is_rate(measure) else ""
        table.add_row(
            *([row["scenario"]] if scenarios else []),
            *(value_text(row[name]) for name in factors),
            _agents(row["alpha"], row["bravo"]),
            measure,
            " and ".join(f"{number:,}" for number in dict.fromkeys(games)),
            _figure(measure, row["first"]),
            _figure(measure, row["second"]),
            f"{shown[0]}{unit} ({interval})",
        )
    output.print_table(console, table)
    if len(rows) > _MAX_ROWS:
        console.print(f"and {len(rows) - _MAX_ROWS:,} more: --csv FILE writes all")


def _pairing(both: "tuple[Study, Study]", rows: list[dict[str, Any]]) -> str:
    """Say which rows are paired game by game, and why others are not."""
    paired = {row["paired"] for row in rows}
    if paired == {True}:
        return "paired game by game, over the games that both have"
    if both[0].plan.file.seed != both[1].plan.file.seed:
        return "not paired: the seeds differ"
    reason = "not paired: an agent plays both sides in one study only"
    return reason if paired == {False} else f"paired game by game; some {reason}"


def _figure(measure: str, value: float) -> str:
    from geo_patrol.studies.answers import is_rate

    return f"{value:.1%}" if is_rate(measure) else f"{value:z.1f}"


def _agents(alpha: str, bravo: str) -> str:
    from geo_patrol.evaluation.figures import short_names

    return " / ".join(short_names([alpha, bravo]))


@study.command(short_help="Write one HTML page about a study, and its figures.")
def report(
    folder: Annotated[
        Path, typer.Argument(parser=options.user_path, metavar="DIR", help="Folder of a study that was played.")
    ],
    target: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", parser=options.user_path, metavar="FILE", help="The page; DIR/report.html by default."
        ),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(
            "--figures",
            parser=options.user_path,
            metavar="DIR",
            help="Where figures go as SVG and PDF; DIR/figures by default.",
        ),
    ] = None,
    width: Annotated[
        float,
        typer.Option(
            "--width", metavar="INCHES", min=2.5, max=20, help="Of the figures' files; 3.5 for one column of a paper."
        ),
    ] = 7.2,
) -> None:
    """Write one HTML page about a study that needs neither network nor command line, and its figures as SVG and PDF."""
    from geo_patrol.evaluation.figures import save_figure
    from geo_patrol.studies import read_study
    from geo_patrol.studies.figures import COLUMN_WIDTH, PAGE_WIDTH, study_figures
    from geo_patrol.studies.report import study_page

    page = target or folder / "report.html"
    drawn, result = figures or folder / "figures", read_study(folder)
    with output.output_file(str(page)) as stream:
        by_width = {each: study_figures(result, each) for each in {PAGE_WIDTH, COLUMN_WIDTH, width}}
        stream.write(study_page(result, by_width[PAGE_WIDTH], by_width[COLUMN_WIDTH]))
    named = by_width[width]
    drawn.mkdir(parents=True, exist_ok=True)
    for figure in named:
        save_figure(drawn / figure.name, figure.figure, (".svg", ".pdf"), figure.metadata)
    print(f"written: {page}, and {len(named)} figures in {drawn}")


def print_study(result: "Study", *, prints_all: bool = False) -> None:
    """Print the answers, then a row for every cell and pair of agents; of a design for rankings only if all are asked for."""
    from rich.text import Text

    from geo_patrol.config.presets import list_changes
    from geo_patrol.studies.plan import RANKING_DESIGNS

    plan = result.plan
    scenarios = ", ".join(
        f"{each.name} ({', '.join([each.source, *list_changes(each.base, each.config, each.overrides)])})"
        for each in plan.scenarios[:6]
    )
    console = output.print_heading(plan.file.title, f"{scenarios}, seed {plan.file.seed}")
    for line in result.describe_agents():
        console.print(Text(line), soft_wrap=True)
    for warning in result.warnings:
        console.print(Text(warning, style="bold"), soft_wrap=True)
    for answered in result.answered:
        console.print(Text(answered.title, style="bold"), soft_wrap=True)
        for answer in answered.answers[:_MAX_ROWS]:
            if answer.text:
                where = plan.describe(answer.cell)
                console.print(Text(f"  {where}: {answer.text}" if where else f"  {answer.text}"), soft_wrap=True)
        for sentence in answered.summary:
            console.print(Text(sentence, style="bold"), soft_wrap=True)
        console.print()
    places = len(plan.cells) * len(plan.file.agents)
    if not prints_all and (places > _MAX_ROWS or plan.design.kind in RANKING_DESIGNS):
        console.print(
            f"{places:,} cells and pairs of agents are not printed: --all does; --out DIR or --json FILE keeps them",
            soft_wrap=True,
        )
    else:
        for title, table in _cells_tables(result):
            if title:
                console.print(Text(title), soft_wrap=True)
            output.print_table(console, table, least=("mean turns", "draws", "mean margin"))
    _print_failures(console, result)


def _cells_tables(result: "Study") -> "Iterator[tuple[str, Table]]":
    """Yield the table of every pair of agents with its title; of a single cell, one table of all pairs."""
    from geo_patrol.studies.factors import short_pair

    plan, pairs = result.plan, result.plan.file.agents
    is_asked = plan.varies_further
    where = "the scenario as it stands" if len(plan.scenarios) == 1 else "the scenarios as they stand"
    numbers = {len(result.games[number, index]) for number, _, index, _ in result.places()}
    if len(numbers) == 1:  # otherwise they are a column; answers may be from more
        where += f", {numbers.pop():,} games" + (" each" if len(list(result.places())) > 1 else "")
    if len(plan.cells) == 1:
        yield where if is_asked else "", _cells_table(result, list(range(len(pairs))))
        return
    other = ("; otherwise " if plan.file.factors else "; ") + where if is_asked else ""
    for index, pair in enumerate(pairs):
        yield short_pair(pair) + other, _cells_table(result, [index])


def _cells_table(result: "Study", pairs: list[int]) -> "Table":
    """Return a table with a row for every cell and pair of agents."""
    from geo_patrol.config.toml_files import value_text
    from geo_patrol.studies.answers import summarise_games
    from geo_patrol.studies.factors import in_words
    from geo_patrol.studies.study_agents import join_versions

    plan = result.plan
    table = output.plain_table()
    has_scenarios, has_pairs = len(plan.scenarios) > 1, len(plan.cells) == 1
    for name in [*(["scenario"] if has_scenarios else []), *map(in_words, plan.file.factors)]:
        longest = max(map(len, name.split()), default=1)
        table.add_column(name, justify="right", overflow="fold", min_width=min(longest, _MAX_KEY_WIDTH))
    if has_pairs:
        table.add_column(_PAIR_HEADING, overflow="fold")
    shown = [place for place in result.places() if place[2] in pairs]
    has_games = len({len(result.games[number, index]) for number, _, index, _ in shown}) > 1
    if has_games:
        table.add_column("games", justify="right", no_wrap=True)
    if result.warnings:
        table.add_column("networks", overflow="fold")
    measures = ("alpha wins", "bravo wins", "draws", "margin", "turns")
    for name in ("alpha wins", "95% interval", "bravo wins", "draws", "mean margin", "mean turns"):
        table.add_column(name, justify="right", no_wrap=True)
    for number, cell, index, pair in shown:
        games = result.games[number, index]
        alpha, *others = (summarise_games(games, measure, ()) for measure in measures)
        table.add_row(
            *([plan.scenarios[cell.scenario].name] if has_scenarios else []),
            *map(value_text, cell.values),
            *([_agents(*pair)] if has_pairs else []),
            *([f"{len(games):,}"] if has_games else []),
            *([join_versions(result.versions[number, index])] if result.warnings else []),
            f"{alpha['mean']:.1%}",
            f"{100 * alpha['low']:.1f} to {alpha['high']:.1%}",
            *(_figure(measure, found["mean"]) for measure, found in zip(measures[1:], others, strict=True)),
        )
    return table


def _print_failures(console: "Console", result: "Study") -> None:
    from rich.text import Text

    messages = [failure.message for failure in result.failures]
    lost = sum(failure.games for failure in result.failures)
    if messages:
        console.print(f"\n{len(messages):,} failures of agents cost {lost:,} games:")
        for message in dict.fromkeys(messages):
            console.print(Text(message), soft_wrap=True)
